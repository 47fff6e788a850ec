// KERNELRANK_CLONES compiles a function once for every instruction set below and
// lets the loader pick the best one for the machine at hand. `flatten` pulls the
// callees in, so that they are compiled for that instruction set as well.
#pragma once

#if defined(KERNELRANK_HAVE_TARGET_CLONES)
#define KERNELRANK_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"), flatten))
#else
#define KERNELRANK_CLONES
#endif
