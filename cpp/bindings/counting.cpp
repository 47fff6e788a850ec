#include "kernelrank/counting.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "bindings.hpp"

namespace {

using kernelrank::CountAnswer;
using kernelrank::CountRequest;
using kernelrank::Method;
using kernelrank::Ranking;

Method method_named(const std::string& name) {
  static const std::unordered_map<std::string, Method> names{{"auto", Method::automatic},
                                                             {"tree", Method::tree},
                                                             {"levels", Method::levels},
                                                             {"pairs", Method::pairs},
                                                             {"rbtree", Method::rbtree}};
  const auto found = names.find(name);
  if (found == names.end()) {
    throw nb::value_error(("method must be 'auto', 'tree', 'levels', 'pairs' or 'rbtree', not '" + name + "'").c_str());
  }
  return found->second;
}

CountRequest make_request(const Ranking& self, const Vector<double>& scores, double margin, const std::string& method,
                          int n_threads) {
  require(scores.shape(0) == self.n_rows(), "scores must have one element per row");
  require(n_threads >= 1, "n_threads must be positive");
  return {as_span(scores), margin, method_named(method), n_threads};
}

template <class Value>
void run(const Ranking& self, const CountRequest& request, const CountAnswer<Value>& answer, std::size_t n_violations) {
  require(n_violations == self.queries().size(), "violations must have one element per query");
  SignalCancellation cancel;
  cancel.guard([&] { kernelrank::count_violations(self, request, answer, cancel); });
}

// Overloaded for rankings without weights (integers) and with (doubles).
template <class Value>
void count(const Ranking& self, const Vector<double>& scores, OutVector<Value> c, OutVector<Value> d,
           OutVector<Value> violations, double margin, const std::string& method, int n_threads) {
  const auto request = make_request(self, scores, margin, method, n_threads);
  require(c.shape(0) == self.n_rows() && d.shape(0) == self.n_rows(), "c and d must have one element per row");
  run<Value>(self, request, {.violations = violations.data(), .c = c.data(), .d = d.data()}, violations.shape(0));
}

template <class Value>
void count_totals(const Ranking& self, const Vector<double>& scores, OutVector<Value> violations, double margin,
                  const std::string& method, int n_threads) {
  const auto request = make_request(self, scores, margin, method, n_threads);
  run<Value>(self, request, {.violations = violations.data()}, violations.shape(0));
}

void construct(Ranking* self, const Vector<double>& utilities, const std::optional<Vector<std::int32_t>>& codes,
               std::size_t n_queries, const std::optional<Vector<double>>& weights,
               const std::optional<Vector<std::uint8_t>>& observed, int n_threads) {
  const std::size_t m = utilities.shape(0);
  require(m < (std::size_t{1} << 31), "at most 2^31 - 1 rows can be ranked");
  require(n_threads >= 1, "n_threads must be positive");
  require(codes ? codes->shape(0) == m : n_queries == 1, "codes must have one element per row");
  require(!weights || weights->shape(0) == m, "weights must have one element per row");
  require(!observed || observed->shape(0) == m, "observed must have one element per row");
  if (codes) {
    const auto span = as_span(*codes);
    require(std::all_of(span.begin(), span.end(),
                        [&](std::int32_t code) { return code >= 0 && static_cast<std::size_t>(code) < n_queries; }),
            "codes must lie in 0 .. n_queries - 1");
  }
  SignalCancellation cancel;
  cancel.guard([&] {
    new (self) Ranking({.utilities = as_span(utilities),
                        .codes = codes ? as_span(*codes) : std::span<const std::int32_t>{},
                        .n_queries = n_queries,
                        .weights = weights ? as_span(*weights) : std::span<const double>{},
                        .observed = observed ? as_span(*observed) : std::span<const std::uint8_t>{}},
                       n_threads, cancel);
  });
}

template <class Value>
void pair_totals(const Ranking& self, OutVector<Value> out) {
  require(out.shape(0) == self.queries().size(), "out must have one element per query");
  const auto totals = self.pair_totals<Value>();
  std::copy(totals.begin(), totals.end(), out.data());
}

void write_order(const Ranking& self, OutVector<std::int64_t> out) {
  require(out.shape(0) == self.n_rows(), "out must have one element per row");
  self.write_order(out.data());
}

template <class Value>
void bind_value(nb::class_<Ranking>& ranking) {
  using namespace nb::literals;
  ranking
      .def("count", &count<Value>, "scores"_a, "c"_a.noconvert(), "d"_a.noconvert(), "violations"_a.noconvert(),
           "margin"_a, "method"_a, "n_threads"_a)
      .def("count_totals", &count_totals<Value>, "scores"_a, "violations"_a.noconvert(), "margin"_a, "method"_a,
           "n_threads"_a);
}

}  // namespace

void bind_counting(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Ranking> ranking(module, "Ranking", "Utilities ranked once and counted against many score vectors.");
  ranking
      .def("__init__", &construct, "utilities"_a, "codes"_a.none(), "n_queries"_a, "weights"_a.none(),
           "observed"_a.none(), "n_threads"_a)
      .def("order", &write_order, "out"_a.noconvert())
      .def("pair_totals", &pair_totals<std::int64_t>, "out"_a.noconvert())
      .def("pair_totals", &pair_totals<double>, "out"_a.noconvert());
  bind_value<std::int64_t>(ranking);
  bind_value<double>(ranking);
}
