// What least squares would predict for the two rows of a pair that was held out, and whether their order is right.
//
// With W = I - A, where A takes the targets to the predictions of a model of all rows, and r = W y, the errors of rows
// i and j, both held out, are
//
//   e_i = (W_jj r_i - W_ij r_j) / det,   e_j = (W_ii r_j - W_ij r_i) / det,   det = W_ii W_jj - W_ij^2.
//
// Rows of W come in blocks, as a matrix product made them. All that an element needs of its pair is found once,
// whatever the number of outputs; tiles of the block stay in the caches while the outputs take their turns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernelrank/parallel.hpp"

namespace kernelrank {

// Some rows, and of each output their residuals and targets; an output's are next to each other.
struct HeldOutRows {
  std::size_t n_rows, n_outputs;
  const double* diagonal;   // of W: n_rows
  const double* residuals;  // n_outputs x n_rows
  const double* targets;    // n_outputs x n_rows
  const double* scales;     // of the errors of each row of W and of the residuals: n_rows
};

// W between some rows, from the first one on, and the columns from the same one on: pairs below the diagonal are those
// above.
struct PairBlock {
  const HeldOutRows& rows;
  std::size_t first;
  std::size_t n_rows, n_columns;
  const double* between;  // n_rows x n_columns
  double shift;           // to be added to each element of `between`
};

// Everywhere below, predictions of a pair are equal if they differ by no more than errors of the equations make of
// them: those of row i are at most scales[i] times the tolerance of the output; but only up to a limit. Rows that are
// alike, or a model that knows nothing, must not be told apart by rounding.
struct Ties {
  double tolerance, limit;

  // What errors make of a difference that makes `slack` of the scales.
  double noise(double slack) const { return std::min(slack * tolerance, limit); }
};

// out[output, row, column] = prediction of the row, with the column held out as well, and the other way round; of shape
// (n_outputs, rows.n_rows, rows.n_rows). Both are the same number if they are equal. NaN on the diagonal.
void predict_held_out(const PairBlock& block, const Ties* ties, double* out, int n_threads, Cancellation& cancel);

// out[output, row, column] = 1 if the row's prediction is the higher one when both are held out, -1 if the column's
// is, 0 if they are equal, and the other way round; shape as above. The diagonal is left as it is.
void order_held_out(const PairBlock& block, const Ties* ties, std::int8_t* out, int n_threads, Cancellation& cancel);

// Adds, for each output, over the pairs with different targets: to halves 2 if they are in the right order, 1 if
// their predictions are equal; to pairs their number.
void count_held_out(const PairBlock& block, const Ties* ties, std::int64_t* halves, std::int64_t* pairs, int n_threads,
                    Cancellation& cancel);

}  // namespace kernelrank
