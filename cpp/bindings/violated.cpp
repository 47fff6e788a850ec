#include "kernelrank/violated.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>

#include "bindings.hpp"
#include "kernelrank/preferences.hpp"

namespace {

using kernelrank::Preferences;
using kernelrank::Ranking;
using kernelrank::ViolatedPairs;

std::size_t rows_of(const ViolatedPairs& self) { return self.ranking().n_rows(); }
std::size_t rows_of(const Preferences& self) { return self.n_rows(); }
std::size_t queries_of(const ViolatedPairs& self) { return self.ranking().queries().size(); }
std::size_t queries_of(const Preferences& self) { return self.n_queries(); }

template <class Pairs>
void check(const Pairs& self, const Vector<double>& v, const Vector<double>& scale, const OutVector<double>& out,
           const OutVector<double>& totals, int n_threads) {
  require(v.shape(0) == rows_of(self) && out.shape(0) == rows_of(self), "vectors must have one element per row");
  require(scale.shape(0) == queries_of(self) && totals.shape(0) == queries_of(self),
          "scale and totals must have one element per query");
  require(n_threads >= 1, "n_threads must be positive");
}

template <class Pairs>
void count(Pairs& self, const Vector<double>& scores, const Vector<double>& scale, OutVector<double> g,
           OutVector<double> violations, OutVector<double> inner, int n_threads) {
  check(self, scores, scale, g, violations, n_threads);
  require(inner.shape(0) == queries_of(self), "inner must have one element per query");
  SignalCancellation cancel;
  cancel.guard(
      [&] { self.count(as_span(scores), scale.data(), g.data(), violations.data(), inner.data(), n_threads, cancel); });
}

template <class Pairs>
void multiply(Pairs& self, const Vector<double>& v, const Vector<double>& scale, bool add, OutVector<double> out,
              OutVector<double> inner, int n_threads) {
  check(self, v, scale, out, inner, n_threads);
  const auto store = add ? kernelrank::Store::add : kernelrank::Store::replace;
  SignalCancellation cancel;
  cancel.guard([&] { self.multiply(as_span(v), scale.data(), store, out.data(), inner.data(), n_threads, cancel); });
}

template <class Pairs>
void degrees(const Pairs& self, const Vector<double>& scale, OutVector<double> out) {
  require(scale.shape(0) == queries_of(self), "scale must have one element per query");
  require(out.shape(0) == rows_of(self), "out must have one element per row");
  self.degrees(scale.data(), out.data());
}

template <class Pairs>
nb::class_<Pairs> bind(nb::module_& module, const char* name, const char* doc) {
  using namespace nb::literals;
  return nb::class_<Pairs>(module, name, doc)
      .def("count", &count<Pairs>, "scores"_a.noconvert(), "scale"_a.noconvert(), "g"_a.noconvert(),
           "violations"_a.noconvert(), "inner"_a.noconvert(), "n_threads"_a)
      .def("multiply", &multiply<Pairs>, "v"_a.noconvert(), "scale"_a.noconvert(), "add"_a, "out"_a.noconvert(),
           "inner"_a.noconvert(), "n_threads"_a)
      .def("degrees", &degrees<Pairs>, "scale"_a.noconvert(), "out"_a.noconvert());
}

bool all_below(const Vector<std::int32_t>& indices, std::size_t bound) {
  const auto span = as_span(indices);
  return std::all_of(span.begin(), span.end(),
                     [&](std::int32_t k) { return k >= 0 && static_cast<std::size_t>(k) < bound; });
}

void construct(Preferences* self, const Vector<std::int32_t>& winners, const Vector<std::int32_t>& losers,
               const std::optional<Vector<std::int32_t>>& queries, const std::optional<Vector<double>>& weights,
               std::size_t n_rows, std::size_t n_queries) {
  const std::size_t n = winners.shape(0);
  require(losers.shape(0) == n && (!queries || queries->shape(0) == n) && (!weights || weights->shape(0) == n),
          "all arrays must have one element per preference");
  require(all_below(winners, n_rows) && all_below(losers, n_rows), "winners and losers must be row indices");
  require(queries ? all_below(*queries, n_queries) : n_queries == 1, "queries must lie in 0 .. n_queries - 1");
  new (self)
      Preferences({as_span(winners), as_span(losers), queries ? as_span(*queries) : std::span<const std::int32_t>{},
                   weights ? as_span(*weights) : std::span<const double>{}},
                  n_rows, n_queries);
}

}  // namespace

void bind_violated(nb::module_& module) {
  using namespace nb::literals;
  bind<ViolatedPairs>(module, "ViolatedPairs", "Violated pairs of ranked utilities, counted and multiplied.")
      .def(nb::init<const Ranking&>(), "ranking"_a, nb::keep_alive<1, 2>());
  bind<Preferences>(module, "Preferences", "Violated pairs of given preferences, counted and multiplied.")
      .def("__init__", &construct, "winners"_a.noconvert(), "losers"_a.noconvert(), "queries"_a.noconvert().none(),
           "weights"_a.noconvert().none(), "n_rows"_a, "n_queries"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
           nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());
}
