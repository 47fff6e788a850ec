// Memory of a counting pass: 28 bytes per row (44 with weights, 8 more if the rows of queries are not contiguous), and
// 16 more (8 with weights) once the violated pairs have been multiplied; 8 more with several threads. Each thread adds
// up to 16 bytes per row of its largest query of up to 65536 rows. If scores are so uneven that most of them are in one
// step of the sort, it adds 16 bytes for each of these.
#pragma once

#include <cstdint>
#include <vector>

#include "kernelrank/buffer.hpp"
#include "kernelrank/rank_set.hpp"
#include "kernelrank/red_black_tree.hpp"
#include "kernelrank/sorting.hpp"

namespace kernelrank {

// Sums are taken over blocks of this many rows, for any number of threads; the blocks of a query begin here.
constexpr std::size_t kSumBlock = 1024;
constexpr std::size_t first_block(std::size_t query_begin, std::size_t query_index) {
  return query_begin / kSumBlock + query_index;
}

// c and d sorted by score, and sums of c over fixed blocks of rows.
template <class Count, class Sum>
struct CountMemory {
  Buffer<Count> c, d;
  Buffer<Sum> partial_sums;
};

// Working memory of one thread.
struct ThreadMemory {
  SortMemory sort;
  RankSetMemory set;
  Buffer<double> sums;
  Buffer<std::uint32_t> level_counts;
  Buffer<double> level_sums;
  RedBlackTree<std::uint32_t>::Memory count_nodes;
  RedBlackTree<double>::Memory sum_nodes;
};

struct Workspace {
  void prepare(std::size_t n_threads) {
    if (threads.size() < n_threads) threads.resize(n_threads);
    if (team_size != n_threads) {
      team_sort = TeamSortMemory(static_cast<int>(n_threads));
      team_size = n_threads;
    }
  }

  Buffer<Record> records;        // sorted by score
  Buffer<std::uint32_t> levels;  // sorted by score
  Buffer<double> scores;         // by slot
  Buffer<double> values;         // sorted by score: the values to sum
  Buffer<double> above, below;   // sorted by score: sums of values; the second if two threads sum
  CountMemory<std::uint32_t, std::int64_t> counts;
  CountMemory<double, double> sums;
  Buffer<double> partial_inner;
  std::vector<ThreadMemory> threads;
  TeamSortMemory team_sort{1};
  std::size_t team_size = 1;
};

template <bool kWeighted>
auto& counts_of(Workspace& workspace) {
  if constexpr (kWeighted) {
    return workspace.sums;
  } else {
    return workspace.counts;
  }
}

}  // namespace kernelrank
