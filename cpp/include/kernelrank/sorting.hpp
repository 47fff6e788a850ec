// Sorting scores: a distribution sort, linear for scores as they occur and bounded for all others.
//
// It is worth its code: with std::sort in its place, a counting pass over a million distinct scores takes 3.2 times as
// long, one over 16,000 3.9 times, one over queries of 50 rows 1.8 times (benchmarks/counting.py, column "risk ms";
// docs/benchmarks.md, "The sort of a counting pass").
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
  explicit TeamSortMemory(int n_threads)
      : extremes(static_cast<std::size_t>(n_threads)), next(static_cast<std::size_t>(n_threads)) {}
  // Turns the counts in `next` into where each member's records of a step begin.
  void begin_steps(std::size_t n_steps, std::size_t n_members);

  struct Extremes {
    double lowest, highest;
  };
  std::vector<Extremes> extremes;
  std::vector<Buffer<std::uint32_t>> next;  // one a member
  std::uint32_t most = 0;                   // records that a step has
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
// The first round cuts the range of scores into equal steps: up to 65536 scores into two steps
// each at least, so that only neighbours are left to exchange. Where there are more scores, or
// very uneven ones, later rounds cut the range of bit patterns inside a step: a round resolves
// at least five of 64 bits, and ordinary scores are apart after one. Handfuls are finished by
// insertion.
void sort_scores(Member& member, TeamSortMemory& team, SortMemory& own, std::span<const double> scores,
                 const std::uint32_t* keys, Record* records);

}  // namespace kernelrank
