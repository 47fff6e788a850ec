// Sweeps over rows in order of score: how much of each row's window lies above or below its utility.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernelrank/counting.hpp"
#include "kernelrank/parallel.hpp"
#include "kernelrank/sorting.hpp"
#include "kernelrank/store.hpp"
#include "kernelrank/workspace.hpp"

namespace kernelrank {

// One query's rows, in ascending order of score or (Method::pairs) of utility.
struct Arranged {
  std::size_t n, n_levels;
  const Record* records;        // their key is the place, or the level if levels are counted; both with kCensored
  const std::uint32_t* levels;  // of each row, without kCensored; null when the key is enough
  const std::uint32_t* level_starts;
  const double* values;  // of each row, what is summed; null to count
  double margin;

  double score(std::size_t i) const noexcept { return records[i].score; }
  std::uint32_t key(std::size_t i) const noexcept { return records[i].key & ~kCensored; }
  bool censored(std::size_t i) const noexcept { return (records[i].key & kCensored) != 0; }
  std::uint32_t slot(std::size_t i) const noexcept { return records[i].slot; }
  bool violated(std::size_t lower, std::size_t higher) const noexcept { return score(higher) < score(lower) + margin; }
  std::uint32_t level_begin(std::size_t i) const noexcept {
    return levels == nullptr ? key(i) : level_starts[levels[i]];
  }
  std::uint32_t level_end(std::size_t i) const noexcept {
    return levels == nullptr ? key(i) + 1 : level_starts[levels[i] + 1];
  }
};

// How a query is counted.
inline Method resolve(Method method, const Query& query) {
  // Up to here adding to every level above is cheaper than walking down a tree (benchmarks/counting.py).
  constexpr std::size_t kFewLevels = 16;
  if (method != Method::automatic) return method;
  return query.n_levels <= kFewLevels ? Method::levels : Method::tree;
}

// Which rows a row is compared with: those of a higher utility, or those of a lower one.
enum class Side { above, below };

// For every row i of `mine`, out[i] is the number of rows j on that side that are violated together with i. Of the two,
// the row of lower utility must not be censored.
void sweep_counts(Side side, Method method, const Arranged& q, ThreadMemory& memory, Member& member, Range mine,
                  std::uint32_t* out);

// The sum of their values instead. One call for all rows: sums are rounded, and must not depend on how rows are shared.
void sweep_sums(Side side, Store store, Method method, const Arranged& q, ThreadMemory& memory, Member& member,
                double* out);

}  // namespace kernelrank
