#include "kernelrank/preferences.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace kernelrank {

Preferences::Preferences(const Edges& edges, std::size_t n_rows, std::size_t n_queries)
    : edges_(edges), n_rows_(n_rows), n_queries_(n_queries) {}

// Calls body(edge, winner, loser, query, weight). In one thread, so that the rounded sums of a row are always added in
// the order of its edges.
template <class Body>
void Preferences::over_edges(Cancellation& cancel, Body&& body) const {
  run_team(1, cancel, [&](Member& member) {
    member.blocks({0, edges_.winners.size()}, [&](std::size_t begin, std::size_t end) {
      for (std::size_t e = begin; e < end; ++e) {
        body(e, static_cast<std::size_t>(edges_.winners[e]), static_cast<std::size_t>(edges_.losers[e]),
             edges_.queries.empty() ? std::size_t{0} : static_cast<std::size_t>(edges_.queries[e]),
             edges_.weights.empty() ? 1.0 : edges_.weights[e]);
      }
    });
  });
}

void Preferences::require_count() const {
  if (violated_.empty()) throw std::logic_error("violated pairs must be counted first");
}

void Preferences::count(std::span<const double> scores, const double* scale, double* g, double* violations,
                        double* inner, int /*n_threads*/, Cancellation& cancel) {
  violated_.clear();  // until all of them are counted
  std::vector<std::uint8_t> violated(edges_.winners.size(), 0);
  std::fill_n(g, n_rows_, 0.0);
  std::fill_n(violations, n_queries_, 0.0);
  std::fill_n(inner, n_queries_, 0.0);
  over_edges(cancel, [&](std::size_t e, std::size_t winner, std::size_t loser, std::size_t query, double weight) {
    if (scores[winner] >= scores[loser] + 1.0) return;  // NaN passes, and propagates
    violated[e] = 1;
    violations[query] += weight;
    inner[query] += weight * (scores[loser] - scores[winner]);
    g[loser] += scale[query] * weight;
    g[winner] -= scale[query] * weight;
  });
  violated_ = std::move(violated);
}

void Preferences::multiply(std::span<const double> v, const double* scale, Store store, double* out, double* inner,
                           int /*n_threads*/, Cancellation& cancel) {
  require_count();
  if (store == Store::replace) std::fill_n(out, n_rows_, 0.0);
  std::fill_n(inner, n_queries_, 0.0);
  over_edges(cancel, [&](std::size_t e, std::size_t winner, std::size_t loser, std::size_t query, double weight) {
    if (violated_[e] == 0) return;
    const double difference = weight * (v[loser] - v[winner]);
    inner[query] += difference * (v[loser] - v[winner]);
    out[loser] += scale[query] * difference;
    out[winner] -= scale[query] * difference;
  });
}

void Preferences::degrees(const double* scale, double* out) const {
  require_count();
  std::fill_n(out, n_rows_, 0.0);
  Cancellation never;
  over_edges(never, [&](std::size_t e, std::size_t winner, std::size_t loser, std::size_t query, double weight) {
    if (violated_[e] == 0) return;
    out[loser] += scale[query] * weight;
    out[winner] += scale[query] * weight;
  });
}

}  // namespace kernelrank
