#include "kernelrank/ranking.hpp"

#include <algorithm>
#include <utility>

#include "kernelrank/workspace.hpp"

namespace kernelrank {

Ranking::~Ranking() = default;

Ranking::Ranking(const Rows& rows, int n_threads, Cancellation& cancel)
    : n_rows_(rows.utilities.size()), weighted_(!rows.weights.empty()) {
  const std::size_t m = n_rows_, n_queries = rows.n_queries;
  const auto codes = rows.codes;
  // Rows grouped by query, in their original order within each: a counting sort of the codes.
  std::vector<std::size_t> starts(n_queries + 1, 0);
  if (codes.empty()) {
    starts.back() = m;
  } else {
    for (const auto code : codes) ++starts[static_cast<std::size_t>(code) + 1];
    for (std::size_t q = 0; q < n_queries; ++q) starts[q + 1] += starts[q];
    if (!std::is_sorted(codes.begin(), codes.end())) {
      grouped_ = false;
      std::uint32_t* by_slot = rows_.resize(m);
      auto next = starts;
      for (std::size_t row = 0; row < m; ++row) {
        by_slot[next[static_cast<std::size_t>(codes[row])]++] = static_cast<std::uint32_t>(row);
      }
    }
  }
  queries_.resize(n_queries);
  for (std::size_t q = 0; q < n_queries; ++q) {
    queries_[q] = {starts[q], starts[q + 1] - starts[q], starts[q] + q, 0};
  }
  places_.resize(m);
  levels_.resize(m);
  level_starts_.resize(m + n_queries);
  pair_counts_.resize(n_queries);

  auto workspace = std::make_unique<Workspace>();
  workspace->prepare(static_cast<std::size_t>(n_threads));
  workspace->records.resize(m);
  const auto by_slot = [&](std::span<const double> values, Buffer<double>& buffer) {
    double* gathered = buffer.resize(m);
    for (std::size_t slot = 0; slot < m; ++slot) gathered[slot] = values[row(slot)];
    return std::span<const double>(gathered, m);
  };
  const std::span<const double> values = grouped_ ? rows.utilities : by_slot(rows.utilities, workspace->scores);
  if (weighted_) {
    by_slot(rows.weights, weights_);
    pair_weights_.resize(n_queries);
  }
  run_team(n_threads, cancel, [&](Member& member) {
    over_queries(member, queries_, m, [&](Member& team, int thread, std::size_t q) {
      Query& query = queries_[q];
      auto& sort = workspace->threads[static_cast<std::size_t>(thread)].sort;
      Record* records = workspace->records.data() + query.begin;
      sort_scores(team, workspace->team_sort, sort, values.subspan(query.begin, query.size), nullptr, records);
      if (team.first() && !team.stop()) {
        Member alone = team.alone();
        if (!rows.observed.empty()) order_ties(alone, query, rows.observed, records);
        rank_query(alone, query, records);
        total_pairs(alone, query, q, records);
      }
      team.wait();
    });
  });
  return_workspace(std::move(workspace));
  if (std::all_of(queries_.begin(), queries_.end(), [](const Query& query) { return query.distinct(); })) {
    levels_ = {};
    level_starts_ = {};
  }
}

void Ranking::order_ties(Member& member, const Query& query, std::span<const std::uint8_t> observed,
                         Record* records) const {
  member.blocks({0, query.size}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t place = begin; place < end; ++place) {
      records[place].key = observed[row(query.begin + records[place].slot)] == 0 ? kCensored : 0;
    }
  });
  std::size_t first = 0;  // of the rows of one utility
  member.blocks({1, query.size + 1}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t place = begin; place < end; ++place) {
      if (place < query.size && records[place].score == records[first].score) continue;
      std::stable_partition(records + first, records + place, [](const Record& each) { return each.key == 0; });
      first = place;
    }
  });
}

void Ranking::rank_query(Member& member, Query& query, const Record* records) {
  std::uint32_t* starts = level_starts_.data() + query.first_level;
  std::uint32_t* places = places_.data() + query.begin;
  std::uint32_t* levels = levels_.data() + query.begin;
  std::size_t n_levels = 0;
  member.blocks({0, query.size}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t place = begin; place < end; ++place) {
      const auto [score, slot, censored] = records[place];
      if (place == 0 || records[place - 1].score < score || records[place - 1].key != censored) {
        starts[n_levels++] = static_cast<std::uint32_t>(place);
      }
      places[slot] = static_cast<std::uint32_t>(place) | censored;
      levels[slot] = static_cast<std::uint32_t>(n_levels - 1) | censored;
    }
  });
  starts[n_levels] = static_cast<std::uint32_t>(query.size);
  query.n_levels = n_levels;
}

void Ranking::total_pairs(Member& member, const Query& query, std::size_t index, const Record* records) {
  const std::uint32_t* starts = level_starts_.data() + query.first_level;
  std::int64_t lower = 0, pairs = 0;
  double lower_weight = 0, weighted_pairs = 0;
  member.blocks({0, query.n_levels}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t level = begin; level < end; ++level) {
      const bool observed = records[starts[level]].key == 0;
      const std::int64_t size = starts[level + 1] - starts[level];
      pairs += lower * size;
      if (observed) lower += size;
      if (!weighted_) continue;
      double weight = 0;
      for (std::uint32_t place = starts[level]; place < starts[level + 1]; ++place) {
        weight += weights(query)[records[place].slot];
      }
      weighted_pairs += lower_weight * weight;
      if (observed) lower_weight += weight;
    }
  });
  pair_counts_[index] = pairs;
  if (weighted_) pair_weights_[index] = weighted_pairs;
}

void Ranking::write_order(std::int64_t* rows) const {
  for (const Query& query : queries_) {
    const std::uint32_t* of = places(query);
    for (std::size_t slot = 0; slot < query.size; ++slot) {
      rows[query.begin + (of[slot] & ~kCensored)] = static_cast<std::int64_t>(row(query.begin + slot));
    }
  }
}

std::unique_ptr<Workspace> Ranking::borrow_workspace() const {
  const std::scoped_lock lock(mutex_);
  if (idle_.empty()) return std::make_unique<Workspace>();
  auto workspace = std::move(idle_.back());
  idle_.pop_back();
  return workspace;
}

void Ranking::return_workspace(std::unique_ptr<Workspace> workspace) const {
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(workspace));
}

}  // namespace kernelrank
