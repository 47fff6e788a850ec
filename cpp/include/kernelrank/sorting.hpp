// Sorting of scores: a distribution sort, linear for typical scores and bounded for all others.
//
// With std::sort in its place, a counting pass over a million distinct scores takes 3.2 times as long, one over 16,000
// scores 3.9 times, one over queries of 50 rows 1.8 times (benchmarks/counting.py, column "risk ms";
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
  std::uint32_t slot;  // index of the score
  std::uint32_t key;   // payload
};

// State shared by the members of a team that sort together.
struct TeamSortMemory {
  explicit TeamSortMemory(int n_threads)
      : extremes(static_cast<std::size_t>(n_threads)), next(static_cast<std::size_t>(n_threads)) {}
  // Converts the counts in `next` to the start of each member's records of a step.
  void begin_steps(std::size_t n_steps, std::size_t n_members);

  struct Extremes {
    double lowest, highest;
  };
  std::vector<Extremes> extremes;
  std::vector<Buffer<std::uint32_t>> next;  // one per member
  std::uint32_t most = 0;                   // largest number of records per step
};

// Working memory of one thread.
struct SortMemory {
  static constexpr std::size_t kMostDigits = 8192;
  Buffer<Record> scratch;
  TeamSortMemory alone{1};
  std::vector<std::array<std::uint32_t, kMostDigits + 1>> starts;  // one per round
};

// Writes the record of every slot, in ascending order of score. With scores that are not finite the order is
// unspecified, but the behaviour is defined. `keys` may be null. All members of a team call it together, each with
// its own memory; the records do not depend on the number of threads.
//
// The first round divides the range of scores into equal steps: up to 65536 scores into at least two
// steps per score, so that only neighbours remain to be exchanged. For more scores, or very uneven
// ones, later rounds divide the range of bit patterns within a step: a round resolves at least five
// of 64 bits, and typical scores are separated after one. Small groups are finished by insertion
// sort.
void sort_scores(Member& member, TeamSortMemory& team, SortMemory& own, std::span<const double> scores,
                 const std::uint32_t* keys, Record* records);

}  // namespace kernelrank
