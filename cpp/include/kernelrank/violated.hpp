// The violated pairs at one score vector, as a graph that can be multiplied with many vectors.
#pragma once

#include <memory>
#include <span>

#include "kernelrank/parallel.hpp"
#include "kernelrank/ranking.hpp"
#include "kernelrank/store.hpp"

namespace kernelrank {

// What a pairwise loss needs: counts of the violated pairs, and products with the Laplacian of the graph whose edges
// they are. With w_i * w_j the weight of an edge, c and d as in counting.hpp,
//
//   (L v)_i = sum over the edges (i, j) of w_i * w_j * (v_i - v_j) = (c_i + d_i) * v_i - w_i * sum of w_j * v_j
//
// A product takes two sweeps over the order of the last count, O(m log m), and no sort.
class ViolatedPairs {
 public:
  // The ranking must live as long.
  explicit ViolatedPairs(const Ranking& ranking);
  ~ViolatedPairs();

  // A row: g = scale[query] * (c - d). A query: the sum of c, and the sum of (c - d) * p.
  void count(std::span<const double> scores, const double* scale, double* g, double* violations, double* inner,
             int n_threads, Cancellation& cancel);
  // At the scores counted last. A row: out = scale[query] * L v, or added to it. A query: the sum of v * L v.
  void multiply(std::span<const double> v, const double* scale, Store store, double* out, double* inner, int n_threads,
                Cancellation& cancel);
  // At the scores counted last. A row: out = scale[query] * (c + d), the diagonal of L.
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
