#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>
#include <optional>
#include <span>
#include <utility>

#include "kernelrank/parallel.hpp"

namespace nb = nanobind;

void bind_all_paths(nb::module_& module);
void bind_counting(nb::module_& module);
void bind_dense_products(nb::module_& module);
void bind_entry_products(nb::module_& module);
void bind_held_out_pairs(nb::module_& module);
void bind_products(nb::module_& module);
void bind_svmlight(nb::module_& module);
void bind_violated(nb::module_& module);

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> as_span(const Vector<T>& array) {
  return {array.data(), array.shape(0)};
}

inline void require(bool holds, const char* message) {
  if (!holds) throw nb::value_error(message);
}

// Checks ten times per second whether Python has received a signal, such as Ctrl-C.
class SignalCancellation final : public kernelrank::Cancellation {
 public:
  void poll() override {
    if (++calls_ % 16 != 0) return;  // reading the clock costs as much as a small query
    const auto now = std::chrono::steady_clock::now();
    if (requested() || now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) {
      raised_.emplace();  // takes ownership of the exception
      request();
    }
  }
  // Runs `work` without the GIL and re-raises an exception of the signal handler.
  template <class Work>
  void guard(Work&& work) {
    try {
      const nb::gil_scoped_release release;
      work();
    } catch (const kernelrank::Cancelled&) {
      throw std::move(*raised_);
    }
  }

 private:
  unsigned calls_ = 0;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  std::optional<nb::python_error> raised_;
};
