// Products with dense matrices, X w and X' g, whose bits depend on the numbers alone.
//
// Every sum has the same order of additions: eight interleaved sums over a block of 4096 terms, added up in pairs, and
// the blocks one after the other. So equal rows have equal products wherever they are and however many there are, and
// neither the number of threads, the order of storage, alignment nor the instruction set changes a bit. BLAS promises
// none of this: rows at the edge of a tile go another way there, and sums are cut by the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernelrank/elements.hpp"
#include "kernelrank/parallel.hpp"

namespace kernelrank {

// A matrix of any strides, counted in elements, and what is subtracted from it before it is multiplied.
template <class Number>
struct Dense {
  std::size_t n_rows, n_columns;
  const Number* data;
  std::ptrdiff_t row_stride, column_stride;
  const double* shift = nullptr;          // of each column, or none
  const std::int32_t* origins = nullptr;  // a row for each row, or none: where a column drifts, its element
  const std::uint8_t* drifts = nullptr;   // in that row is subtracted instead of the shift
};

// out[i] = row i . w
template <class Number>
void multiply_rows(const Dense<Number>& matrix, const double* w, double* out, int n_threads, Cancellation& cancel);

// out[k] = column k . g, or with the squares of the elements
template <class Number>
void multiply_columns(const Dense<Number>& matrix, Elements elements, const double* g, double* out, int n_threads,
                      Cancellation& cancel);

// out[i, j] = row i of the left matrix . column j of the right one, in C order; shifts are not looked at. Every sum has
// one order of additions, from the first to the last term, so here, too, equal rows have equal products. On the same
// processor, that is: where it has fused multiplications and additions, these are used.
template <class Number>
void multiply_matrices(const Dense<Number>& left, const Dense<double>& right, double* out, int n_threads,
                       Cancellation& cancel);

}  // namespace kernelrank
