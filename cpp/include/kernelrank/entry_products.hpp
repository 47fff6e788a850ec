// Products at some entries of a matrix that is a product of two others, or is multiplied by one: no matrix of the size
// of all entries is formed. Each sum has a fixed order of additions, whatever the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernelrank/parallel.hpp"

namespace kernelrank {

// Entries sorted by line; a line and a partner may have several entries.
struct Entries {
  std::size_t n_lines, n_entries;
  const std::int64_t* starts;    // n_lines + 1: the first entry of each line
  const std::int64_t* numbers;   // of the entries, as their values are stored
  const std::int32_t* partners;  // the row of the other matrix that belongs to each entry
};

// Rows of a dense matrix, contiguous in memory.
template <class Number>
struct DenseRows {
  std::size_t n_columns;
  const Number* data;
};

// Rows of a CSR matrix.
template <class Number>
struct SparseRows {
  std::size_t n_columns;
  const std::int64_t* starts;
  const std::int32_t* indices;
  const Number* numbers;
};

// out[number] = lines[line] . rows[partner] for each entry; the matrix of lines is in C order, and as wide as the rows.
template <class Rows>
void sample_product(const Entries& entries, const double* lines, const Rows& rows, double* out, int n_threads,
                    Cancellation& cancel);

// out[line] = sum over the entries of the line of g[number] * rows[partner]; `out` is in C order. Each line belongs to
// one thread, which adds its entries in their order.
template <class Rows>
void spread_product(const Entries& entries, const double* g, const Rows& rows, double* out, int n_threads,
                    Cancellation& cancel);

}  // namespace kernelrank
