#include "kernelrank/counting.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "kernelrank/workspace.hpp"
#include "sweeps.hpp"

namespace kernelrank {
namespace {

// A counting pass. The members of the team share an object of this class.
template <class Value>
class Pass {
  static constexpr bool kWeighted = std::is_same_v<Value, double>;
  using Count = std::conditional_t<kWeighted, double, std::uint32_t>;

 public:
  Pass(const Ranking& ranking, const CountRequest& request, const CountAnswer<Value>& answer, Workspace& workspace)
      : ranking_(ranking),
        request_(request),
        answer_(answer),
        workspace_(workspace),
        memory_(counts_of<kWeighted>(workspace)) {
    const std::size_t m = ranking.n_rows();
    workspace.prepare(static_cast<std::size_t>(request.n_threads));
    workspace.records.resize(m);
    workspace.levels.resize(m);
    memory_.c.resize(m);
    if (wants_d()) memory_.d.resize(m);
    if constexpr (kWeighted) workspace.values.resize(m);
    memory_.partial_sums.resize(first_block(m, ranking.queries().size()));
    workspace.partial_inner.resize(first_block(m, ranking.queries().size()));
    scores_ = ranking.grouped() ? request.scores.data() : workspace.scores.resize(m);
  }

  void run(Member& member) {
    const std::size_t m = ranking_.n_rows();
    if (!ranking_.grouped()) {
      double* by_slot = workspace_.scores.data();
      member.blocks(member.share(m), [&](std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot) by_slot[slot] = request_.scores[ranking_.row(slot)];
      });
      member.wait();
    }
    over_queries(member, ranking_.queries(), m,
                 [&](Member& team, int thread, std::size_t q) { count_query(team, thread, q); });
  }

 private:
  bool wants_d() const { return answer_.d != nullptr || answer_.g != nullptr; }

  void count_query(Member& team, int thread, std::size_t index) {
    const Query& query = ranking_.queries()[index];
    if (query.n_levels < 2) {
      if (team.first()) write_nothing(query, index);
      return;
    }
    const Method method = resolve(request_.method, query);
    auto& own = workspace_.threads[static_cast<std::size_t>(thread)];
    const Arranged arranged =
        method == Method::pairs ? arrange_by_utility(team, query) : arrange_by_score(team, own, query, method);
    const Range rows = team.share(query.size, kSumBlock);
    Count* c = memory_.c.data() + query.begin;
    Count* d = memory_.d.data() + query.begin;
    if constexpr (kWeighted) {
      gather_weights(team, query, arranged);
      if (team.first()) sweep_sums(Side::above, Store::replace, method, arranged, own, team, c);
      if (wants_d() && team.last()) sweep_sums(Side::below, Store::replace, method, arranged, own, team, d);
    } else {
      sweep_counts(Side::above, method, arranged, own, team, rows, c);
      if (wants_d()) sweep_counts(Side::below, method, arranged, own, team, rows, d);
    }
    team.wait();
    write(team, query, index, arranged, rows);
    team.wait();
    if (team.first() && !team.stop()) total(query, index);
  }

  Arranged arrange_by_score(Member& team, ThreadMemory& own, const Query& query, Method method) {
    const bool by_level = method != Method::tree;
    Record* records = workspace_.records.data() + query.begin;
    sort_scores(team, workspace_.team_sort, own.sort, {scores_ + query.begin, query.size},
                by_level ? ranking_.levels(query) : ranking_.places(query), records);
    if (by_level || query.distinct()) return arranged(query, nullptr);
    std::uint32_t* levels = workspace_.levels.data() + query.begin;
    team.blocks(team.share(query.size), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) levels[i] = ranking_.levels(query)[records[i].slot] & ~kCensored;
    });
    team.wait();
    return arranged(query, levels);
  }

  Arranged arrange_by_utility(Member& team, const Query& query) {
    Record* records = workspace_.records.data() + query.begin;
    std::uint32_t* levels = workspace_.levels.data() + query.begin;
    const Range mine = team.share(query.size);
    for (std::size_t slot = mine.begin; slot < mine.end; ++slot) {
      const std::uint32_t key = ranking_.places(query)[slot], place = key & ~kCensored;
      records[place] = {scores_[query.begin + slot], static_cast<std::uint32_t>(slot), key};
      levels[place] = ranking_.levels(query)[slot] & ~kCensored;
    }
    team.wait();
    return arranged(query, query.distinct() ? nullptr : levels);
  }

  Arranged arranged(const Query& query, const std::uint32_t* levels) const {
    return {query.size,
            query.n_levels,
            workspace_.records.data() + query.begin,
            levels,
            ranking_.level_starts(query),
            kWeighted ? workspace_.values.data() + query.begin : nullptr,
            request_.margin};
  }

  void gather_weights(Member& team, const Query& query, const Arranged& q) {
    double* values = workspace_.values.data() + query.begin;
    team.blocks(team.share(query.size), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) values[i] = ranking_.weights(query)[q.slot(i)];
    });
    team.wait();
  }

  void write(Member& team, const Query& query, std::size_t index, const Arranged& q, Range rows) {
    const Count* c = memory_.c.data() + query.begin;
    const Count* d = memory_.d.data() + query.begin;
    const double centre = q.score(query.size / 2);
    const double scale = answer_.scale == nullptr ? 0.0 : answer_.scale[index];
    const std::size_t first = first_block(query.begin, index);
    team.blocks(
        rows,
        [&](std::size_t begin, std::size_t end) {
          Value sum{0};
          double inner = 0;
          for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t slot = q.slot(i);
            const std::size_t row = ranking_.row(query.begin + slot);
            const Value weight = kWeighted ? static_cast<Value>(q.values[i]) : Value{1};
            const Value lower = weight * static_cast<Value>(c[i]);
            sum += lower;
            if (answer_.c != nullptr) answer_.c[row] = lower;
            if (!wants_d()) continue;
            const Value higher = weight * static_cast<Value>(d[i]);
            if (answer_.d != nullptr) answer_.d[row] = higher;
            if (answer_.g != nullptr) {
              const auto difference = static_cast<double>(lower - higher);
              answer_.g[row] = scale * difference;
              inner += difference * (q.score(i) - centre);
            }
          }
          memory_.partial_sums.data()[first + begin / kSumBlock] = sum;
          workspace_.partial_inner.data()[first + begin / kSumBlock] = inner;
        },
        kSumBlock);
  }

  void total(const Query& query, std::size_t index) {
    const std::size_t first = first_block(query.begin, index);
    const std::size_t n_blocks = (query.size + kSumBlock - 1) / kSumBlock;
    Value violations{0};
    double inner = 0;
    for (std::size_t block = first; block < first + n_blocks; ++block) {
      violations += memory_.partial_sums.data()[block];
      inner += workspace_.partial_inner.data()[block];
    }
    answer_.violations[index] = violations;
    if (answer_.inner != nullptr) answer_.inner[index] = inner;
  }

  void write_nothing(const Query& query, std::size_t index) {
    answer_.violations[index] = 0;
    if (answer_.inner != nullptr) answer_.inner[index] = 0;
    for (std::size_t slot = query.begin; slot < query.begin + query.size; ++slot) {
      const std::size_t row = ranking_.row(slot);
      if (answer_.c != nullptr) answer_.c[row] = 0;
      if (answer_.d != nullptr) answer_.d[row] = 0;
      if (answer_.g != nullptr) answer_.g[row] = 0;
    }
  }

  using Memory = std::remove_reference_t<decltype(counts_of<kWeighted>(std::declval<Workspace&>()))>;
  const Ranking& ranking_;
  const CountRequest& request_;
  const CountAnswer<Value>& answer_;
  Workspace& workspace_;
  Memory& memory_;
  const double* scores_;
};

}  // namespace

template <class Value>
void count_violations(const Ranking& ranking, const CountRequest& request, const CountAnswer<Value>& answer,
                      Workspace& workspace, Cancellation& cancel) {
  if (ranking.weighted() != std::is_same_v<Value, double>) {
    throw std::logic_error("weighted rankings are counted in doubles, others in integers");
  }
  Pass<Value> pass(ranking, request, answer, workspace);
  run_team(request.n_threads, cancel, [&](Member& member) { pass.run(member); });
}

template <class Value>
void count_violations(const Ranking& ranking, const CountRequest& request, const CountAnswer<Value>& answer,
                      Cancellation& cancel) {
  auto workspace = ranking.borrow_workspace();
  count_violations(ranking, request, answer, *workspace, cancel);
  ranking.return_workspace(std::move(workspace));
}

#define KERNELRANK_INSTANTIATE(VALUE)                                                                        \
  template void count_violations(const Ranking&, const CountRequest&, const CountAnswer<VALUE>&, Workspace&, \
                                 Cancellation&);                                                             \
  template void count_violations(const Ranking&, const CountRequest&, const CountAnswer<VALUE>&, Cancellation&)
KERNELRANK_INSTANTIATE(std::int64_t);
KERNELRANK_INSTANTIATE(double);
#undef KERNELRANK_INSTANTIATE

}  // namespace kernelrank
