#include "kernelrank/entry_products.hpp"

#include "bindings.hpp"

namespace {

using kernelrank::DenseRows;
using kernelrank::Entries;
using kernelrank::SparseRows;

template <class Number>
using Matrix = nb::ndarray<const Number, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Long = Vector<std::int64_t>;
using Short = Vector<std::int32_t>;

Entries as_entries(const Long& starts, const Long& numbers, const Short& partners) {
  require(starts.shape(0) >= 1, "starts must not be empty");
  require(numbers.shape(0) == partners.shape(0), "numbers and partners must have the same length");
  const std::size_t n_lines = starts.shape(0) - 1;
  require(static_cast<std::size_t>(starts.data()[n_lines]) == numbers.shape(0), "starts must end with the last entry");
  return {n_lines, numbers.shape(0), starts.data(), numbers.data(), partners.data()};
}

template <class Number>
DenseRows<Number> as_rows(std::size_t n_columns, const Matrix<Number>& rows) {
  require(rows.shape(1) == n_columns, "lines must be as wide as the rows");
  return {n_columns, rows.data()};
}

template <class Number>
SparseRows<Number> as_rows(std::size_t n_columns, const Long& starts, const Short& indices,
                           const Vector<Number>& numbers) {
  require(indices.shape(0) == numbers.shape(0), "indices and numbers must have the same length");
  return {n_columns, starts.data(), indices.data(), numbers.data()};
}

// Parts are the arrays of a matrix of rows, dense or CSR. Indices are not checked: they come from checked matrices.
template <class... Parts>
void sample_product(const Long& starts, const Long& numbers, const Short& partners, const Matrix<double>& lines,
                    const Parts&... parts, OutVector<double> out, int n_threads) {
  const Entries entries = as_entries(starts, numbers, partners);
  const auto rows = as_rows(lines.shape(1), parts...);
  require(lines.shape(0) == entries.n_lines, "there must be a line for each start");
  require(out.shape(0) == entries.n_entries, "out must have one element per entry");
  SignalCancellation cancel;
  cancel.guard([&] { kernelrank::sample_product(entries, lines.data(), rows, out.data(), n_threads, cancel); });
}

template <class... Parts>
void spread_product(const Long& starts, const Long& numbers, const Short& partners, const Vector<double>& g,
                    const Parts&... parts, OutMatrix out, int n_threads) {
  const Entries entries = as_entries(starts, numbers, partners);
  const auto rows = as_rows(out.shape(1), parts...);
  require(out.shape(0) == entries.n_lines, "there must be a line for each start");
  require(g.shape(0) == entries.n_entries, "g must have one element per entry");
  SignalCancellation cancel;
  cancel.guard([&] { kernelrank::spread_product(entries, g.data(), rows, out.data(), n_threads, cancel); });
}

constexpr const char* kSample = "Write out[number] = lines[line] . rows[partner] for each entry.";
constexpr const char* kSpread = "Write out[line] = sum of g[number] * rows[partner] over the entries of the line.";

template <class Number>
void bind(nb::module_& module) {
  using namespace nb::literals;
  using Dense = Matrix<Number>;
  using Values = Vector<Number>;
  // noconvert: a silent copy of a matrix would be a bug.
  const auto starts = "starts"_a.noconvert(), numbers = "numbers"_a.noconvert(), partners = "partners"_a.noconvert(),
             lines = "lines"_a.noconvert(), g = "g"_a.noconvert(), rows = "rows"_a.noconvert(),
             row_starts = "row_starts"_a.noconvert(), indices = "indices"_a.noconvert(),
             values = "values"_a.noconvert(), out = "out"_a.noconvert();
  const auto n_threads = "n_threads"_a;
  module.def("sample_product", &sample_product<Dense>, starts, numbers, partners, lines, rows, out, n_threads, kSample);
  module.def("sample_product", &sample_product<Long, Short, Values>, starts, numbers, partners, lines, row_starts,
             indices, values, out, n_threads, kSample);
  module.def("spread_product", &spread_product<Dense>, starts, numbers, partners, g, rows, out, n_threads, kSpread);
  module.def("spread_product", &spread_product<Long, Short, Values>, starts, numbers, partners, g, row_starts, indices,
             values, out, n_threads, kSpread);
}

}  // namespace

void bind_entry_products(nb::module_& module) {
  bind<float>(module);
  bind<double>(module);
}
