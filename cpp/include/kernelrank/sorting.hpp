// Sorting scores: a distribution sort, linear for scores as they occur and bounded for all others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernelrank/buffer.hpp"
#include "kernelrank/parallel.hpp"

namespace kernelrank {

struct Record {
  double score;
  std::uint32_t slot;  // where the score came from
  std::uint32_t key;   // travels along
};

// What the members of a team share when they sort together.
struct TeamSortMemory {
  static constexpr std::size_t kDigits = 2048;
  explicit TeamSortMemory(int n_threads)
      : extremes(static_cast<std::size_t>(n_threads)), next(static_cast<std::size_t>(n_threads)) {}
  struct Extremes {
    double lowest, highest;
  };
  std::vector<Extremes> extremes;
  std::vector<std::array<std::uint32_t, kDigits>> next;
  std::array<std::uint32_t, kDigits + 1> starts;
};

// What one thread needs to sort by itself.
struct SortMemory {
  static constexpr std::size_t kMostDigits = 8192;
  Buffer<Record> scratch;
  TeamSortMemory alone{1};
  std::vector<std::array<std::uint32_t, kMostDigits + 1>> starts;  // one a round
};

// Writes the record of every slot, in ascending order of score; with scores that are not finite
// the order means nothing, but nothing breaks. `keys` may be null. All members of a team call it together, each with
// memory of its own; the records do not depend on the number of threads.
//
// The first round cuts the range of scores into equal steps, later ones the range of their
// bit patterns inside one step: a round resolves at least five of 64 bits, and ordinary
// scores are apart after two. Handfuls are finished by insertion.
void sort_scores(Member& member, TeamSortMemory& team, SortMemory& own, std::span<const double> scores,
                 const std::uint32_t* keys, Record* records);

}  // namespace kernelrank
