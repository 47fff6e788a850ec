// The compiled module: conversion of arrays to spans and release of the GIL only.
#include <nanobind/nanobind.h>

#include "bindings.hpp"

NB_MODULE(_core, module) {
  module.doc() = "Compiled core of kernelrank.";
  bind_all_paths(module);
  bind_counting(module);
  bind_dense_products(module);
  bind_entry_products(module);
  bind_held_out_pairs(module);
  bind_products(module);
  bind_svmlight(module);
  bind_violated(module);
}
