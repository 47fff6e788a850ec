// The violated pairs at a score vector, as a graph whose Laplacian is multiplied with many vectors.
#pragma once

#include <memory>
#include <span>

#include "kernelrank/parallel.hpp"
#include "kernelrank/ranking.hpp"
#include "kernelrank/store.hpp"

namespace kernelrank {

// Quantities that a pairwise loss needs: counts of the violated pairs, and products with the Laplacian of the graph
// whose edges they are. With w_i * w_j the weight of an edge, and c and d as in counting.hpp,
//
//   (L v)_i = sum over the edges (i, j) of w_i * w_j * (v_i - v_j) = (c_i + d_i) * v_i - w_i * sum of w_j * v_j
//
// A product takes two sweeps over the rows in the order of the last count, O(m log m), without a sort.
class ViolatedPairs {
 public:
  // The ranking must outlive the object.
  explicit ViolatedPairs(const Ranking& ranking);
  ~ViolatedPairs();

  // Per row: g = scale[query] * (c - d). Per query: the sum of c, and the sum of (c - d) * p.
  void count(std::span<const double> scores, const double* scale, double* g, double* violations, double* inner,
             int n_threads, Cancellation& cancel);
  // At the scores counted last. Per row: out = scale[query] * L v, or added to it. Per query: the sum of v * L v.
  void multiply(std::span<const double> v, const double* scale, Store store, double* out, double* inner, int n_threads,
                Cancellation& cancel);
  // At the scores counted last. Per row: out = scale[query] * (c + d), the diagonal of L.
  void degrees(const double* scale, double* out) const;

  const Ranking& ranking() const noexcept { return ranking_; }

 private:
  template <class Value>
  void count_as(std::span<const double> scores, const double* scale, double* g, double* violations, double* inner,
                int n_threads, Cancellation& cancel);
  void require_count() const;

  const Ranking& ranking_;
  std::unique_ptr<Workspace> workspace_;
  bool counted_ = false;
};

}  // namespace kernelrank
