#include "kernelrank/held_out_pairs.hpp"

#include <vector>

#include "bindings.hpp"

namespace {

using kernelrank::HeldOutRows;
using kernelrank::PairBlock;
using kernelrank::Ties;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutCube = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void construct(HeldOutRows* self, const Vector<double>& diagonal, const Matrix& residuals, const Matrix& targets,
               const Vector<double>& scales) {
  const std::size_t n_outputs = residuals.shape(0), n_rows = diagonal.shape(0);
  require(residuals.shape(1) == n_rows && targets.shape(1) == n_rows && scales.shape(0) == n_rows,
          "arrays must have one element per row");
  require(targets.shape(0) == n_outputs, "residuals and targets must have the same outputs");
  new (self) HeldOutRows{n_rows, n_outputs, diagonal.data(), residuals.data(), targets.data(), scales.data()};
}

PairBlock make_block(const HeldOutRows& rows, const Matrix& between, std::size_t first, double shift, int n_threads) {
  require(first <= rows.n_rows && between.shape(0) <= rows.n_rows - first, "the block has too many rows");
  require(between.shape(1) == rows.n_rows - first, "the block must have one column per remaining row");
  require(n_threads >= 1, "n_threads must be positive");
  return {rows, first, between.shape(0), between.shape(1), between.data(), shift};
}

std::vector<Ties> make_ties(const HeldOutRows& rows, const Vector<double>& tolerances, const Vector<double>& limits) {
  require(tolerances.shape(0) == rows.n_outputs && limits.shape(0) == rows.n_outputs,
          "tolerances and limits must have one element per output");
  std::vector<Ties> ties(rows.n_outputs);
  for (std::size_t k = 0; k < ties.size(); ++k) ties[k] = {tolerances.data()[k], limits.data()[k]};
  return ties;
}

template <class T>
void require_shape(const OutCube<T>& out, const PairBlock& block) {
  const std::size_t n = block.rows.n_rows;
  require(out.shape(0) == block.rows.n_outputs && out.shape(1) == n && out.shape(2) == n,
          "out must have the shape (n_outputs, n_rows, n_rows)");
}

void predict(const HeldOutRows& rows, const Matrix& between, OutCube<double> out, std::size_t first, double shift,
             int n_threads, const Vector<double>& tolerances, const Vector<double>& limits) {
  const PairBlock block = make_block(rows, between, first, shift, n_threads);
  require_shape(out, block);
  const auto ties = make_ties(rows, tolerances, limits);
  SignalCancellation cancel;
  cancel.guard([&] { kernelrank::predict_held_out(block, ties.data(), out.data(), n_threads, cancel); });
}

void order(const HeldOutRows& rows, const Matrix& between, OutCube<std::int8_t> out, std::size_t first, double shift,
           int n_threads, const Vector<double>& tolerances, const Vector<double>& limits) {
  const PairBlock block = make_block(rows, between, first, shift, n_threads);
  require_shape(out, block);
  const auto ties = make_ties(rows, tolerances, limits);
  SignalCancellation cancel;
  cancel.guard([&] { kernelrank::order_held_out(block, ties.data(), out.data(), n_threads, cancel); });
}

void count(const HeldOutRows& rows, const Matrix& between, OutVector<std::int64_t> halves,
           OutVector<std::int64_t> pairs, std::size_t first, double shift, int n_threads,
           const Vector<double>& tolerances, const Vector<double>& limits) {
  const PairBlock block = make_block(rows, between, first, shift, n_threads);
  const auto ties = make_ties(rows, tolerances, limits);
  require(halves.shape(0) == rows.n_outputs && pairs.shape(0) == rows.n_outputs,
          "halves and pairs must have one element per output");
  SignalCancellation cancel;
  cancel.guard([&] { kernelrank::count_held_out(block, ties.data(), halves.data(), pairs.data(), n_threads, cancel); });
}

}  // namespace

void bind_held_out_pairs(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<HeldOutRows>(module, "HeldOutRows", "Rows of which two at a time are held out.")
      .def("__init__", &construct, "diagonal"_a.noconvert(), "residuals"_a.noconvert(), "targets"_a.noconvert(),
           "scales"_a.noconvert(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
           nb::keep_alive<1, 5>());
  module.def("predict_held_out", &predict, "rows"_a, "between"_a.noconvert(), "out"_a.noconvert(), "first"_a, "shift"_a,
             "n_threads"_a, "tolerances"_a.noconvert(), "limits"_a.noconvert(),
             "Write the predictions of rows that are held out with a column.");
  module.def("order_held_out", &order, "rows"_a, "between"_a.noconvert(), "out"_a.noconvert(), "first"_a, "shift"_a,
             "n_threads"_a, "tolerances"_a.noconvert(), "limits"_a.noconvert(),
             "Write the signs of the differences of rows and columns that are held out together.");
  module.def("count_held_out", &count, "rows"_a, "between"_a.noconvert(), "halves"_a.noconvert(), "pairs"_a.noconvert(),
             "first"_a, "shift"_a, "n_threads"_a, "tolerances"_a.noconvert(), "limits"_a.noconvert(),
             "Add the pairs with different targets, and twice those in the right order, ties once.");
}
