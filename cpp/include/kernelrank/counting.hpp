// Counting the pairs that a score vector orders wrongly, or not clearly enough.
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
  pairs,   // O(m^2), every pair looked at
  rbtree,  // O(m log m), the paper's red-black tree
};

struct CountRequest {
  std::span<const double> scores;
  double margin = 1.0;
  Method method = Method::automatic;
  int n_threads = 1;
};

// Rows i and j of one query with y_i < y_j are violated when p_j < fl(p_i + margin): one
// comparison for both sums below, so that they always describe the same set of pairs.
//
//   c_i = sum of w_i * w_j over violated pairs (i, j)     i is the lower of the two
//   d_j = sum of w_i * w_j over violated pairs (i, j)     j is the higher
//
// `Value` is int64_t for a ranking without weights (all w = 1), double for one with.
// Only what is not null is written.
template <class Value>
struct CountAnswer {
  Value* violations;   // a query: the sum of its c, which is the sum of its d
  Value* c = nullptr;  // a row
  Value* d = nullptr;  // a row
  // The risk seen by a loss: g = scale[query] * (c - d) a row, and sum of (c - d) * p a query,
  // taken from scores centred on the query's median, because (c - d) sums to zero.
  double* g = nullptr;
  const double* scale = nullptr;
  double* inner = nullptr;
};

template <class Value>
void count_violations(const Ranking& ranking, const CountRequest& request, const CountAnswer<Value>& answer,
                      Cancellation& cancel);

// The same in working memory of the caller, which then holds the rows in order of score with their counts.
template <class Value>
void count_violations(const Ranking& ranking, const CountRequest& request, const CountAnswer<Value>& answer,
                      Workspace& workspace, Cancellation& cancel);

}  // namespace kernelrank
