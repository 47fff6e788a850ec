// Pairs of connected labels of a graph and their strength: G = L W L', where L are the labels of the vertices and W
// sums the weights of all walks from one vertex to another,
//
//   W = A + A^2 + A^3 + ... = (I - A)^-1 - I,
//
// for the matrix A of edge weights. The sum is finite if the spectral radius of A is below 1. Alternatively, the
// strongest connection of two labels is taken instead of the sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernelrank/parallel.hpp"

namespace kernelrank {

// Graphs; their vertices, labels and edges are concatenated.
struct Graphs {
  std::size_t n_graphs;
  const std::int64_t* vertices;  // n_graphs + 1: first vertex of each graph
  const std::int64_t* labels;    // n_vertices + 1: first of `label` of each vertex
  const std::int32_t* label;     // labels of a vertex are distinct
  const std::int64_t* edges;     // n_graphs + 1: first edge of each graph
  const std::int32_t* from;      // index of the vertex in its graph
  const std::int32_t* to;
  const double* weight;  // non-negative
};

struct LabelPair {
  std::int32_t first, second;
  double value;
};

// Computes the label pairs of each graph, sorted, without zeros. `max_length` is the maximum number of edges of a walk;
// 0 means no limit. A graph whose sum is infinite or overflows has no pairs, and its index is in `diverging`.
struct LabelPairs {
  std::vector<std::vector<LabelPair>> graphs;
  std::vector<std::size_t> diverging;
};

// What two labels get of the walks between their vertices.
enum class Combine { sum, strongest };

LabelPairs connect_labels(const Graphs& graphs, Combine combine, std::int64_t max_length, int n_threads,
                          Cancellation& cancel);

}  // namespace kernelrank
