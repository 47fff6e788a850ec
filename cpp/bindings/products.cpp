#include "kernelrank/products.hpp"

#include "bindings.hpp"

namespace {

using kernelrank::Compressed;

template <class Number, class Index>
using Product = void (*)(const Compressed<Number, Index>&, kernelrank::Elements, const double*, double*, int,
                         kernelrank::Cancellation&);

// gather: `v` has as many elements as a line. scatter: `v` has one element per line.
enum class Kind { gather, scatter };

template <Kind kKind, class Number, class Index>
void product(const Vector<Index>& starts, const Vector<Index>& indices, const Vector<Number>& numbers,
             const Vector<double>& v, OutVector<double> out, int n_threads, bool squared) {
  constexpr bool kGather = kKind == Kind::gather;
  require(starts.shape(0) >= 1, "starts must not be empty");
  require(n_threads >= 1, "n_threads must be positive");
  const Compressed<Number, Index> matrix{starts.shape(0) - 1, kGather ? v.shape(0) : out.shape(0), starts.data(),
                                         indices.data(), numbers.data()};
  require((kGather ? out.shape(0) : v.shape(0)) == matrix.n_lines, "the vectors must match the shape of the matrix");
  const auto stored = static_cast<std::size_t>(matrix.starts[matrix.n_lines]);
  require(indices.shape(0) >= stored && numbers.shape(0) >= stored,
          "indices and numbers are shorter than starts require");
  constexpr Product<Number, Index> kProduct =
      kGather ? &kernelrank::gather_product<Number, Index> : &kernelrank::scatter_product<Number, Index>;
  const auto elements = squared ? kernelrank::Elements::squared : kernelrank::Elements::plain;
  SignalCancellation cancel;
  cancel.guard([&] { kProduct(matrix, elements, v.data(), out.data(), n_threads, cancel); });
}

template <class Number, class Index>
void bind(nb::module_& module) {
  using namespace nb::literals;
  const auto def = [&](const char* name, auto function, const char* doc) {
    // noconvert: a silent copy of the matrix would be a bug.
    module.def(name, function, "starts"_a.noconvert(), "indices"_a.noconvert(), "numbers"_a.noconvert(),
               "v"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a, "squared"_a = false, doc);
  };
  def("gather_product", &product<Kind::gather, Number, Index>, "Write out[line] = line . v for a compressed matrix.");
  def("scatter_product", &product<Kind::scatter, Number, Index>,
      "Write out = sum of v[line] * line for a compressed matrix.");
}

}  // namespace

void bind_products(nb::module_& module) {
  bind<float, std::int32_t>(module);
  bind<float, std::int64_t>(module);
  bind<double, std::int32_t>(module);
  bind<double, std::int64_t>(module);
}
