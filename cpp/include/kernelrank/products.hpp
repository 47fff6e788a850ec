// Products with compressed sparse matrices: X w and X' g for CSR, X' g and X w for CSC.
#pragma once

#include <cstddef>
#include <span>

#include "kernelrank/elements.hpp"
#include "kernelrank/parallel.hpp"

namespace kernelrank {

// A matrix stored line by line: the rows of a CSR matrix, the columns of a CSC matrix.
template <class Number, class Index>
struct Compressed {
  std::size_t n_lines, n_across;
  const Index* starts;   // n_lines + 1
  const Index* indices;  // into 0 .. n_across-1
  const Number* numbers;
};

// out[line] = line . v, or with squared elements. Sums are float64 for any type of the matrix, and each line is summed
// by one thread.
template <class Number, class Index>
void gather_product(const Compressed<Number, Index>& matrix, Elements elements, const double* v, double* out,
                    int n_threads, Cancellation& cancel);

// out = sum over lines of v[line] * line. Fixed blocks of lines have a vector each, and these are added in
// order: the result does not depend on the number of threads.
template <class Number, class Index>
void scatter_product(const Compressed<Number, Index>& matrix, Elements elements, const double* v, double* out,
                     int n_threads, Cancellation& cancel);

}  // namespace kernelrank
