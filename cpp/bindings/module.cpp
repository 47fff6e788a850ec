// The compiled module: arrays become spans, the GIL is released, nothing else happens here.
#include <nanobind/nanobind.h>

#include "bindings.hpp"

NB_MODULE(_core, module) {
  module.doc() = "The compiled core of kernelrank.";
  bind_all_paths(module);
  bind_counting(module);
  bind_dense_products(module);
  bind_held_out_pairs(module);
  bind_products(module);
  bind_svmlight(module);
  bind_violated(module);
}
