// Counting of the pairs that a score vector orders incorrectly, or by less than a margin.
#pragma once

#include <cstdint>
#include <span>

#include "kernelrank/parallel.hpp"
#include "kernelrank/ranking.hpp"

namespace kernelrank {

enum class Method {
  automatic,
  tree,    // O(m log m), the fast path
  levels,  // O(m r) for r distinct utilities in a query
  pairs,   // O(m^2), a loop over all pairs
  rbtree,  // O(m log m), the paper's red-black tree
};

struct CountRequest {
  std::span<const double> scores;
  double margin = 1.0;
  Method method = Method::automatic;
  int n_threads = 1;
};

// Rows i and j of a query with y_i < y_j are violated when p_j < fl(p_i + margin). Both sums below use this
// comparison, so that they always refer to the same set of pairs. If y_i is censored, the pair does not count; if it is
// not, and y_j is, then it counts for y_i = y_j as well.
//
//   c_i = sum of w_i * w_j over violated pairs (i, j)     i is the row with the lower utility
//   d_j = sum of w_i * w_j over violated pairs (i, j)     j is the row with the higher utility
//
// `Value` is int64_t for a ranking without weights (all w = 1), double with weights.
// Only arrays that are not null are written.
template <class Value>
struct CountAnswer {
  Value* violations;   // per query: the sum of its c, which equals the sum of its d
  Value* c = nullptr;  // per row
  Value* d = nullptr;  // per row
  // For a loss: g = scale[query] * (c - d) per row, and the sum of (c - d) * p per query, computed
  // from scores centred on the query's median, because (c - d) sums to zero.
  double* g = nullptr;
  const double* scale = nullptr;
  double* inner = nullptr;
};

template <class Value>
void count_violations(const Ranking& ranking, const CountRequest& request, const CountAnswer<Value>& answer,
                      Cancellation& cancel);

// The same in working memory of the caller, which then holds the rows sorted by score with their counts.
template <class Value>
void count_violations(const Ranking& ranking, const CountRequest& request, const CountAnswer<Value>& answer,
                      Workspace& workspace, Cancellation& cancel);

}  // namespace kernelrank
