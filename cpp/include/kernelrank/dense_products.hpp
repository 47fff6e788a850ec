// Products with dense matrices, X w and X' g, whose bits depend on the numbers alone.
//
// Every sum has a fixed order of additions: eight interleaved sums over a block of 4096 terms, added in pairs, and then
// the blocks one after the other. Equal rows therefore have equal products at any position in a matrix of any size, and
// the result does not depend on the number of threads, the storage order, the alignment or the instruction set. BLAS
// guarantees none of this: rows at the edge of a tile take another path, and sums are split by the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernelrank/elements.hpp"
#include "kernelrank/parallel.hpp"

namespace kernelrank {

// A matrix with any strides, counted in elements, and the values that are subtracted before it is multiplied.
template <class Number>
struct Dense {
  std::size_t n_rows, n_columns;
  const Number* data;
  std::ptrdiff_t row_stride, column_stride;
  const double* shift = nullptr;          // per column, or null
  const std::int32_t* origins = nullptr;  // a row index per row, or null: where a column drifts, its element
  const std::uint8_t* drifts = nullptr;   // in that row is subtracted instead of the shift
};

// out[i] = row i . w
template <class Number>
void multiply_rows(const Dense<Number>& matrix, const double* w, double* out, int n_threads, Cancellation& cancel);

// out[k] = column k . g, or with squared elements
template <class Number>
void multiply_columns(const Dense<Number>& matrix, Elements elements, const double* g, double* out, int n_threads,
                      Cancellation& cancel);

// out[i, j] = row i of the left matrix . column j of the right one, in C order; shifts are ignored. Every sum has a
// fixed order of additions, from the first to the last term, so equal rows have equal products here as well. This holds
// on the same processor: fused multiply-add instructions are used if available.
template <class Number>
void multiply_matrices(const Dense<Number>& left, const Dense<double>& right, double* out, int n_threads,
                       Cancellation& cancel);

}  // namespace kernelrank
