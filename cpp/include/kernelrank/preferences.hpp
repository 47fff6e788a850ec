// Explicitly given pairs, instead of pairs that follow from utilities.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernelrank/parallel.hpp"
#include "kernelrank/store.hpp"

namespace kernelrank {

// Preferences "winner before loser": edges of a graph over rows. Duplicates and cycles are allowed. A pass takes
// O(edges) and computes the same quantities as ViolatedPairs, with the loser as the lower row of a pair and the weight
// of the edge as the weight of the pair. The arrays are not copied and must outlive the object.
class Preferences {
 public:
  struct Edges {
    std::span<const std::int32_t> winners, losers;
    std::span<const std::int32_t> queries;  // of each edge, 0 .. n_queries-1; empty means one query
    std::span<const double> weights;        // empty means 1 for each edge
  };
  Preferences(const Edges& edges, std::size_t n_rows, std::size_t n_queries);

  std::size_t n_rows() const noexcept { return n_rows_; }
  std::size_t n_queries() const noexcept { return n_queries_; }

  void count(std::span<const double> scores, const double* scale, double* g, double* violations, double* inner,
             int n_threads, Cancellation& cancel);
  void multiply(std::span<const double> v, const double* scale, Store store, double* out, double* inner, int n_threads,
                Cancellation& cancel);
  void degrees(const double* scale, double* out) const;

 private:
  template <class Body>
  void over_edges(Cancellation& cancel, Body&& body) const;
  void require_count() const;

  Edges edges_;
  std::size_t n_rows_, n_queries_;
  std::vector<std::uint8_t> violated_;
};

}  // namespace kernelrank
