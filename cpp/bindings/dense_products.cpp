#include "kernelrank/dense_products.hpp"

#include <nanobind/stl/optional.h>

#include "bindings.hpp"

namespace {

using kernelrank::Dense;

template <class Number>
using Matrix = nb::ndarray<const Number, nb::ndim<2>, nb::device::cpu>;

template <class Number>
Dense<Number> as_dense(const Matrix<Number>& matrix) {
  return {matrix.shape(0), matrix.shape(1), matrix.data(), matrix.stride(0), matrix.stride(1)};
}

template <class Number>
Dense<Number> shifted(const Matrix<Number>& matrix, const std::optional<Vector<double>>& shift,
                      const std::optional<Vector<std::int32_t>>& origins,
                      const std::optional<Vector<std::uint8_t>>& drifts) {
  Dense<Number> dense = as_dense(matrix);
  if (shift) {
    require(shift->shape(0) == dense.n_columns, "shift must have one element per column");
    dense.shift = shift->data();
  }
  if (origins) {
    require(shift && drifts, "origins require shift and drifts");
    require(origins->shape(0) == dense.n_rows, "origins must have one element per row");
    require(drifts->shape(0) == dense.n_columns, "drifts must have one element per column");
    for (const std::int32_t row : as_span(*origins)) {
      require(row >= 0 && static_cast<std::size_t>(row) < dense.n_rows, "origins must be row indices");
    }
    dense.origins = origins->data();
    dense.drifts = drifts->data();
  }
  return dense;
}

template <class Number>
void multiply_rows(const Matrix<Number>& matrix, const Vector<double>& w, OutVector<double> out, int n_threads,
                   const std::optional<Vector<double>>& shift, const std::optional<Vector<std::int32_t>>& origins,
                   const std::optional<Vector<std::uint8_t>>& drifts) {
  const Dense<Number> dense = shifted(matrix, shift, origins, drifts);
  require(w.shape(0) == dense.n_columns && out.shape(0) == dense.n_rows,
          "the vectors must match the shape of the matrix");
  SignalCancellation cancel;
  cancel.guard([&] { kernelrank::multiply_rows(dense, w.data(), out.data(), n_threads, cancel); });
}

template <class Number>
void multiply_columns(const Matrix<Number>& matrix, const Vector<double>& g, OutVector<double> out, int n_threads,
                      const std::optional<Vector<double>>& shift, const std::optional<Vector<std::int32_t>>& origins,
                      const std::optional<Vector<std::uint8_t>>& drifts, bool squared) {
  const Dense<Number> dense = shifted(matrix, shift, origins, drifts);
  require(g.shape(0) == dense.n_rows && out.shape(0) == dense.n_columns,
          "the vectors must match the shape of the matrix");
  const auto elements = squared ? kernelrank::Elements::squared : kernelrank::Elements::plain;
  SignalCancellation cancel;
  cancel.guard([&] { kernelrank::multiply_columns(dense, elements, g.data(), out.data(), n_threads, cancel); });
}

template <class Number>
void multiply_matrices(const Matrix<Number>& left, const Matrix<double>& right,
                       nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> out, int n_threads) {
  const Dense<Number> a = as_dense(left);
  const Dense<double> b = as_dense(right);
  require(a.n_columns == b.n_rows && out.shape(0) == a.n_rows && out.shape(1) == b.n_columns,
          "the shapes of the matrices must match");
  SignalCancellation cancel;
  cancel.guard([&] { kernelrank::multiply_matrices(a, b, out.data(), n_threads, cancel); });
}

double inner_product(const Vector<double>& a, const Vector<double>& b) {
  require(a.shape(0) == b.shape(0), "the vectors must have the same length");
  const auto n = static_cast<std::ptrdiff_t>(a.shape(0));
  double out = 0.0;
  SignalCancellation cancel;
  cancel.guard(
      [&] { kernelrank::multiply_rows(Dense<double>{1, a.shape(0), a.data(), n, 1}, b.data(), &out, 1, cancel); });
  return out;
}

template <class Number>
void bind(nb::module_& module) {
  using namespace nb::literals;
  // noconvert: a silent copy of the matrix would be a bug.
  module.def("multiply_rows", &multiply_rows<Number>, "matrix"_a.noconvert(), "w"_a.noconvert(), "out"_a.noconvert(),
             "n_threads"_a, "shift"_a.noconvert() = nb::none(), "origins"_a.noconvert() = nb::none(),
             "drifts"_a.noconvert() = nb::none(), "Write out[i] = (row i - shift) . w.");
  module.def("multiply_columns", &multiply_columns<Number>, "matrix"_a.noconvert(), "g"_a.noconvert(),
             "out"_a.noconvert(), "n_threads"_a, "shift"_a.noconvert() = nb::none(),
             "origins"_a.noconvert() = nb::none(), "drifts"_a.noconvert() = nb::none(), "squared"_a = false,
             "Write out[k] = (column k - shift) . g, or with the squares of the elements.");
  module.def("multiply_matrices", &multiply_matrices<Number>, "left"_a.noconvert(), "right"_a.noconvert(),
             "out"_a.noconvert(), "n_threads"_a, "Write out = left times right.");
}

}  // namespace

void bind_dense_products(nb::module_& module) {
  using namespace nb::literals;
  module.def("inner_product", &inner_product, "a"_a.noconvert(), "b"_a.noconvert(), "Return a . b.");
  bind<float>(module);
  bind<double>(module);
}
