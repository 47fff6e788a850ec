#include "kernelrank/all_paths.hpp"

#include <algorithm>

#include "bindings.hpp"

namespace {

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return {kept->data(), {kept->size()}, owner};
}

// Offsets begin with 0, do not decrease, and end with the number of elements they refer to.
void check_offsets(const Vector<std::int64_t>& offsets, std::size_t end, const char* message) {
  const auto* values = offsets.data();
  const std::size_t n = offsets.shape(0);
  require(
      n >= 1 && values[0] == 0 && std::is_sorted(values, values + n) && static_cast<std::size_t>(values[n - 1]) == end,
      message);
}

nb::tuple connect(const Vector<std::int64_t>& vertices, const Vector<std::int64_t>& labels,
                  const Vector<std::int32_t>& label, const Vector<std::int64_t>& edges,
                  const Vector<std::int32_t>& from, const Vector<std::int32_t>& to, const Vector<double>& weight,
                  bool strongest, std::int64_t max_length, int n_threads) {
  require(labels.shape(0) >= 1 && vertices.shape(0) == edges.shape(0), "arrays must refer to the same graphs");
  check_offsets(vertices, labels.shape(0) - 1, "vertices must be offsets of graphs");
  check_offsets(labels, label.shape(0), "labels must be offsets of vertices");
  check_offsets(edges, from.shape(0), "edges must be offsets of graphs");
  require(to.shape(0) == from.shape(0) && weight.shape(0) == from.shape(0),
          "from_, to and weight must have one element per edge");
  require(max_length >= 0 && n_threads >= 1, "max_length and n_threads must not be negative");
  const std::size_t n_graphs = vertices.shape(0) - 1;
  for (std::size_t g = 0; g < n_graphs; ++g) {
    const auto n = vertices.data()[g + 1] - vertices.data()[g];
    for (auto e = edges.data()[g]; e < edges.data()[g + 1]; ++e) {
      require(from.data()[e] >= 0 && from.data()[e] < n && to.data()[e] >= 0 && to.data()[e] < n,
              "an edge refers to a vertex outside of its graph");
      require(weight.data()[e] >= 0.0, "weights must not be negative");
    }
  }
  const kernelrank::Graphs graphs{n_graphs,     vertices.data(), labels.data(), label.data(),
                                  edges.data(), from.data(),     to.data(),     weight.data()};
  SignalCancellation cancel;
  std::vector<std::int64_t> offsets(1, 0);
  std::vector<std::int32_t> first, second;
  std::vector<double> values;
  std::vector<std::int64_t> diverging;
  cancel.guard([&] {
    const auto combine = strongest ? kernelrank::Combine::strongest : kernelrank::Combine::sum;
    auto found = kernelrank::connect_labels(graphs, combine, max_length, n_threads, cancel);
    diverging.assign(found.diverging.begin(), found.diverging.end());
    std::size_t total = 0;
    for (const auto& each : found.graphs) total += each.size();
    first.reserve(total);
    second.reserve(total);
    values.reserve(total);
    for (auto& each : found.graphs) {
      for (const auto& pair : each) {
        first.push_back(pair.first);
        second.push_back(pair.second);
        values.push_back(pair.value);
      }
      offsets.push_back(static_cast<std::int64_t>(values.size()));
      std::vector<kernelrank::LabelPair>().swap(each);
    }
  });
  return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(first)), to_numpy(std::move(second)),
                        to_numpy(std::move(values)), to_numpy(std::move(diverging)));
}

}  // namespace

void bind_all_paths(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "connect_labels", &connect, "vertices"_a.noconvert(), "labels"_a.noconvert(), "label"_a.noconvert(),
      "edges"_a.noconvert(), "from_"_a.noconvert(), "to"_a.noconvert(), "weight"_a.noconvert(), "strongest"_a,
      "max_length"_a, "n_threads"_a,
      "Return offsets of graphs, first and second labels and values of their connected pairs, and the indices of "
      "graphs whose sum is infinite.");
}
