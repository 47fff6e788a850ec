#include "kernelrank/all_paths.hpp"

#include <algorithm>
#include <numeric>

#include "kernelrank/dispatch.hpp"

namespace kernelrank {
namespace {

struct Edge {
  std::size_t from, to;
  double weight;
};

// A square matrix.
struct Square {
  std::size_t n = 0;
  std::vector<double> values;

  void reset(std::size_t size) {
    n = size;
    values.assign(size * size, 0.0);
  }
  double* row(std::size_t i) { return values.data() + i * n; }
};

// Components of connected vertices, ignoring directions: W is zero between components.
class Components {
 public:
  void find(std::size_t n, const std::vector<Edge>& edges) {
    parent_.resize(n);
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    for (const Edge& edge : edges) parent_[root(edge.from)] = root(edge.to);
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    for (std::size_t v = 0; v < n; ++v) parent_[v] = root(v);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return parent_[a] < parent_[b]; });
    place_.resize(n);
    starts_.assign(1, 0);
    for (std::size_t k = 0; k < n; ++k) {
      if (k > 0 && parent_[order_[k]] != parent_[order_[k - 1]]) starts_.push_back(k);
      place_[order_[k]] = k - starts_.back();
    }
    starts_.push_back(n);
  }
  std::size_t size() const { return starts_.size() - 1; }
  Range range(std::size_t component) const { return {starts_[component], starts_[component + 1]}; }
  std::size_t vertex(std::size_t k) const { return order_[k]; }  // in the order of the components
  std::size_t place(std::size_t vertex) const { return place_[vertex]; }
  bool same(std::size_t component, std::size_t vertex) const {
    return parent_[vertex] == parent_[order_[starts_[component]]];
  }

 private:
  std::size_t root(std::size_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  std::vector<std::size_t> parent_, order_, place_, starts_;
};

// target += factor * source
void add_multiple(const double* source, double factor, double* target, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) target[j] += factor * source[j];
}

// Least value of a pivot, relative to 1. Below it, rounding has cost ten digits, and the matrix is treated as singular.
constexpr double kSmallestPivot = 1e-10;
// Vertices or steps between two checks for a cancellation; small graphs are never checked.
constexpr std::size_t kBetweenPolls = 64;

bool finite(const Square& a) {
  return std::all_of(a.values.begin(), a.values.end(), [](double w) { return w <= 1e300; });
}

// Replaces A by (I - A)^-1 - I. Returns false if the spectral radius of A is not below 1, or too close to it: for
// non-negative A, elimination without pivoting then meets a pivot that is not positive, or nearly so.
KERNELRANK_CLONES
bool sum_all_walks(Square& a, Member& member) {
  const std::size_t n = a.n;
  // W is the sum over walks whose inner vertices are among the first ones; each step adds one vertex to these.
  for (std::size_t k = 0; k < n; ++k) {
    double* through = a.row(k);
    const double pivot = 1.0 - through[k];
    if (!(pivot > kSmallestPivot)) return false;
    if (k % kBetweenPolls == kBetweenPolls - 1 && member.stop()) return true;
    const double around = 1.0 / pivot;  // no loop at k, one, two, ...
    for (std::size_t j = 0; j < n; ++j) through[j] *= around;
    for (std::size_t i = 0; i < n; ++i) {
      double* row = a.row(i);
      if (i == k || row[k] == 0.0) continue;
      const double reach = row[k];
      add_multiple(through, reach, row, n);
    }
  }
  return finite(a);
}

// Replaces A by A + A^2 + ... + A^length. Returns false if that overflows.
KERNELRANK_CLONES
bool sum_short_walks(Square& a, std::int64_t length, const std::vector<Edge>& edges, Square& other, Member& member) {
  const std::size_t n = a.n;
  for (std::int64_t step = 1; step < length; ++step) {
    if (static_cast<std::size_t>(step) % kBetweenPolls == 0 && (member.stop() || !finite(a))) break;
    other.reset(n);
    for (const Edge& edge : edges) {  // other = A (I + a)
      other.row(edge.from)[edge.to] += edge.weight;
      add_multiple(a.row(edge.to), edge.weight, other.row(edge.from), n);
    }
    if (other.values == a.values) break;  // there are no longer walks
    std::swap(a, other);
  }
  return finite(a);
}

// Processes one graph at a time and reuses its memory.
class Connector {
 public:
  Connector(const Graphs& graphs, Combine combine, std::int64_t max_length, Member& member)
      : graphs_(graphs), combine_(combine), max_length_(max_length), member_(member) {}

  // Returns false if the sum is infinite.
  bool connect(std::size_t graph, std::vector<LabelPair>& found) {
    read(graph);
    components_.find(n_vertices_, edges_);
    pairs_.reset(known_.size());
    for (std::size_t component = 0; component < components_.size(); ++component) {
      if (!sum_walks(component)) return false;
      const Range range = components_.range(component);
      for (std::size_t i = 0; i < walks_.n; ++i) {
        const double* row = walks_.row(i);
        for (std::size_t j = 0; j < walks_.n; ++j) {
          if (row[j] != 0.0) add(components_.vertex(range.begin + i), components_.vertex(range.begin + j), row[j]);
        }
      }
    }
    for (std::size_t a = 0; a < known_.size(); ++a) {
      for (std::size_t b = 0; b < known_.size(); ++b) {
        const double value = pairs_.row(a)[b];
        if (value != 0.0) found.push_back({known_[a], known_[b], value});
      }
    }
    return true;
  }

 private:
  void read(std::size_t graph) {
    first_ = static_cast<std::size_t>(graphs_.vertices[graph]);
    n_vertices_ = static_cast<std::size_t>(graphs_.vertices[graph + 1]) - first_;
    read_edges(graph);
    known_.clear();  // labels with edges
    for (std::size_t v = 0; v < n_vertices_; ++v) {
      const auto* label = graphs_.label + graphs_.labels[first_ + v];
      if (has_edge_[v]) known_.insert(known_.end(), label, graphs_.label + graphs_.labels[first_ + v + 1]);
    }
    std::sort(known_.begin(), known_.end());
    known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
    local_.clear();
    const auto* begin = graphs_.label + graphs_.labels[first_];
    for (auto* label = begin; label < graphs_.label + graphs_.labels[first_ + n_vertices_]; ++label) {
      local_.push_back(
          static_cast<std::size_t>(std::lower_bound(known_.begin(), known_.end(), *label) - known_.begin()));
    }
  }

  // Edges of weight zero are ignored.
  void read_edges(std::size_t graph) {
    edges_.clear();
    has_edge_.assign(n_vertices_, 0);
    for (auto e = graphs_.edges[graph]; e < graphs_.edges[graph + 1]; ++e) {
      if (graphs_.weight[e] == 0.0) continue;
      const auto from = static_cast<std::size_t>(graphs_.from[e]), to = static_cast<std::size_t>(graphs_.to[e]);
      edges_.push_back({from, to, graphs_.weight[e]});
      has_edge_[from] = has_edge_[to] = 1;
    }
  }

  bool sum_walks(std::size_t component) {
    inside_.clear();
    const Range range = components_.range(component);
    walks_.reset(range.size());
    for (const Edge& edge : edges_) {
      if (!components_.same(component, edge.from)) continue;
      inside_.push_back({components_.place(edge.from), components_.place(edge.to), edge.weight});
      walks_.row(inside_.back().from)[inside_.back().to] += edge.weight;
    }
    if (max_length_ == 0) return sum_all_walks(walks_, member_);
    return sum_short_walks(walks_, max_length_, inside_, other_, member_);
  }

  void add(std::size_t from, std::size_t to, double weight) {
    for (auto a = offset(from); a < offset(from + 1); ++a) {
      double* row = pairs_.row(local_[a]);
      for (auto b = offset(to); b < offset(to + 1); ++b) {
        double& value = row[local_[b]];
        value = combine_ == Combine::strongest ? std::max(value, weight) : value + weight;
      }
    }
  }
  std::size_t offset(std::size_t vertex) const {
    return static_cast<std::size_t>(graphs_.labels[first_ + vertex] - graphs_.labels[first_]);
  }

  const Graphs& graphs_;
  Combine combine_;
  std::int64_t max_length_;
  Member& member_;
  std::size_t first_ = 0, n_vertices_ = 0;
  std::vector<std::int32_t> known_;  // labels of the graph
  std::vector<std::size_t> local_;   // of the vertices: indices into `known_`
  std::vector<char> has_edge_;       // of the vertices
  std::vector<Edge> edges_, inside_;
  Components components_;
  Square walks_, other_, pairs_;
};

}  // namespace

LabelPairs connect_labels(const Graphs& graphs, Combine combine, std::int64_t max_length, int n_threads,
                          Cancellation& cancel) {
  LabelPairs found{std::vector<std::vector<LabelPair>>(graphs.n_graphs), {}};
  std::vector<char> diverges(graphs.n_graphs, 0);
  run_team(n_threads, cancel, [&](Member& member) {
    Connector connector(graphs, combine, max_length, member);
    // Distributed in turns, because neighbouring graphs are often of similar size.
    for (auto g = static_cast<std::size_t>(member.index()); g < graphs.n_graphs && !member.stop();
         g += static_cast<std::size_t>(member.size())) {
      diverges[g] = !connector.connect(g, found.graphs[g]);
    }
  });
  for (std::size_t g = 0; g < graphs.n_graphs; ++g) {
    if (diverges[g] != 0) found.diverging.push_back(g);
  }
  return found;
}

}  // namespace kernelrank
