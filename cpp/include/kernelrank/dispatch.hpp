// KERNELRANK_CLONES compiles a function once for every instruction set below and
// lets the loader choose the best one for the processor. `flatten` inlines the
// callees, so that they are compiled for that instruction set as well.
#pragma once

#if defined(KERNELRANK_HAVE_TARGET_CLONES)
#define KERNELRANK_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"), flatten))
#else
#define KERNELRANK_CLONES
#endif
