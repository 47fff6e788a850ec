// Data that do not change with the scores: the comparable rows and their order by utility.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "kernelrank/buffer.hpp"
#include "kernelrank/parallel.hpp"
#include "kernelrank/sorting.hpp"

namespace kernelrank {

struct Workspace;

// Numbers of rows are below 2^31, which leaves a bit of a place or level.
constexpr std::uint32_t kCensored = std::uint32_t{1} << 31;

// Part of a query in the slots and levels below.
struct Query {
  std::size_t begin, size;            // slots
  std::size_t first_level, n_levels;  // into level_starts; n_levels + 1 entries
  bool distinct() const noexcept { return n_levels == size; }
};

// Utilities ranked once and counted against many score vectors.
//
//   slot   position of a row when rows are grouped by query (the row itself if they come grouped)
//   place  position of a slot in the order of utility in its query, 0 .. size-1; ties broken by row
//   level  dense rank of the utility of a slot in its query, 0 .. n_levels-1
//
// The true utility of a censored row is at least the given one, so that it is never the lower row of a pair. Among rows
// of equal utility it comes after the others, in a level of its own. Its place and its level have the bit kCensored.
class Ranking {
 public:
  struct Rows {
    std::span<const double> utilities;
    std::span<const std::int32_t> codes;  // query of each row, 0 .. n_queries-1; empty means one query
    std::size_t n_queries = 1;
    std::span<const double> weights;         // finite and non-negative; empty means 1 for each row
    std::span<const std::uint8_t> observed;  // 0 for censored rows; empty means that none are
  };
  Ranking(const Rows& rows, int n_threads, Cancellation& cancel);
  ~Ranking();

  std::size_t n_rows() const noexcept { return n_rows_; }
  std::span<const Query> queries() const noexcept { return queries_; }
  bool weighted() const noexcept { return weighted_; }
  bool grouped() const noexcept { return grouped_; }  // slot == row

  std::size_t row(std::size_t slot) const noexcept { return grouped_ ? slot : rows_.data()[slot]; }
  const std::uint32_t* places(const Query& query) const noexcept { return places_.data() + query.begin; }
  // In a query of distinct utilities the levels are the places, and there may be no starts.
  const std::uint32_t* levels(const Query& query) const noexcept {
    return query.distinct() ? places(query) : levels_.data() + query.begin;
  }
  const std::uint32_t* level_starts(const Query& query) const noexcept {
    return query.distinct() ? nullptr : level_starts_.data() + query.first_level;
  }
  const double* weights(const Query& query) const noexcept { return weights_.data() + query.begin; }

  // Comparable pairs of each query (int64_t); with weights, the sum of w_i * w_j over them (double).
  template <class Value>
  std::span<const Value> pair_totals() const {
    if (weighted_ != std::is_same_v<Value, double>) throw std::logic_error("only weighted pairs have a weight");
    if constexpr (std::is_same_v<Value, double>) {
      return pair_weights_;
    } else {
      return pair_counts_;
    }
  }

  // Writes the rows sorted by query and ascending utility, ties in the order of the rows.
  void write_order(std::int64_t* rows) const;

  // Working memory is kept between calls; concurrent calls get separate memory.
  std::unique_ptr<Workspace> borrow_workspace() const;
  void return_workspace(std::unique_ptr<Workspace> workspace) const;

 private:
  // They take the records of the query sorted by utility; the first completes the order, and marks censored rows.
  void order_ties(Member& member, const Query& query, std::span<const std::uint8_t> observed, Record* records) const;
  void rank_query(Member& member, Query& query, const Record* records);
  void total_pairs(Member& member, const Query& query, std::size_t index, const Record* records);

  std::vector<Query> queries_;
  std::size_t n_rows_;
  bool grouped_ = true, weighted_ = false;
  Buffer<std::uint32_t> rows_, places_, levels_, level_starts_;
  Buffer<double> weights_;
  std::vector<std::int64_t> pair_counts_;
  std::vector<double> pair_weights_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

// Calls body(team, thread, query index) for every query: large queries with all members of
// the team together, the others distributed among them as teams of one.
template <class Body>
void over_queries(Member& member, std::span<const Query> queries, std::size_t n_rows, Body&& body) {
  constexpr std::size_t kLarge = std::size_t{1} << 16;
  const bool may_join = member.size() > 1;
  const Range mine = member.share(n_rows + 1);  // an empty query may begin at n_rows
  Member alone = member.alone();
  for (std::size_t index = 0; index < queries.size(); ++index) {
    const Query& query = queries[index];
    if (may_join && query.size >= kLarge) {
      body(member, member.index(), index);
    } else if (mine.begin <= query.begin && query.begin < mine.end) {
      if ((index & 255) == 0 && alone.stop()) continue;
      body(alone, member.index(), index);
    }
  }
}

}  // namespace kernelrank
