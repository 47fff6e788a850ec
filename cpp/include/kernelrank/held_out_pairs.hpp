// Least-squares predictions for the two rows of a held-out pair, and their order.
//
// With W = I - A, where A maps the targets to the predictions of a model of all rows, and r = W y, the errors of rows
// i and j, both held out, are
//
//   e_i = (W_jj r_i - W_ij r_j) / det,   e_j = (W_ii r_j - W_ij r_i) / det,   det = W_ii W_jj - W_ij^2.
//
// Rows of W come in blocks, as computed by a matrix product. The quantities of a pair are computed once for all
// outputs; tiles of the block stay in the cache while the outputs are processed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernelrank/parallel.hpp"

namespace kernelrank {

// Rows, with their residuals and targets for each output, which are contiguous per output.
struct HeldOutRows {
  std::size_t n_rows, n_outputs;
  const double* diagonal;   // of W: n_rows
  const double* residuals;  // n_outputs x n_rows
  const double* targets;    // n_outputs x n_rows
  const double* scales;     // of the errors of each row of W and of the residuals: n_rows
};

// Block of W: some rows, and the columns from the first of these rows on. Pairs below the diagonal equal those above.
struct PairBlock {
  const HeldOutRows& rows;
  std::size_t first;
  std::size_t n_rows, n_columns;
  const double* between;  // n_rows x n_columns
  double shift;           // to be added to each element of `between`
};

// In all functions below, predictions of a pair count as equal if they differ by no more than the errors of the
// equations explain: the error of row i is at most scales[i] times the tolerance of the output, up to a limit.
// Identical rows, or the rows of a constant model, must not be ordered by rounding.
struct Ties {
  double tolerance, limit;

  // Error of a difference for which the errors of the scales are `slack`.
  double noise(double slack) const { return std::min(slack * tolerance, limit); }
};

// out[output, row, column] = prediction of the row, with the column held out as well, and vice versa; of shape
// (n_outputs, rows.n_rows, rows.n_rows). Both are the same number if they are equal. The diagonal is NaN.
void predict_held_out(const PairBlock& block, const Ties* ties, double* out, int n_threads, Cancellation& cancel);

// out[output, row, column] = 1 if the prediction of the row is the higher one when both are held out, -1 if that of the
// column is, 0 if they are equal, and vice versa; shape as above. The diagonal is not written.
void order_held_out(const PairBlock& block, const Ties* ties, std::int8_t* out, int n_threads, Cancellation& cancel);

// Adds, per output, over the pairs with different targets: to halves 2 if they are in the right order and 1 if their
// predictions are equal; to pairs their number.
void count_held_out(const PairBlock& block, const Ties* ties, std::int64_t* halves, std::int64_t* pairs, int n_threads,
                    Cancellation& cancel);

}  // namespace kernelrank
