#include "kernelrank/counting.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "kernelrank/dispatch.hpp"
#include "kernelrank/workspace.hpp"

namespace kernelrank {
namespace {

// Sums are taken over blocks of this many rows, whatever the number of threads.
constexpr std::size_t kSumBlock = 1024;
// Up to here adding to every level above is cheaper than walking down a tree (benchmarks/counting.py).
constexpr std::size_t kFewLevels = 16;

// One query's rows, in ascending order of score or (Method::pairs) of utility.
struct Arranged {
  std::size_t n, n_levels;
  const Record* records;        // their key is the place, or the level if levels are counted
  const std::uint32_t* levels;  // of each row; null when the key is enough
  const std::uint32_t* level_starts;
  const double* weights;  // by slot, or null
  double margin;

  double score(std::size_t i) const noexcept { return records[i].score; }
  std::uint32_t key(std::size_t i) const noexcept { return records[i].key; }
  std::uint32_t slot(std::size_t i) const noexcept { return records[i].slot; }
  bool violated(std::size_t lower, std::size_t higher) const noexcept { return score(higher) < score(lower) + margin; }
  std::uint32_t level_begin(std::size_t i) const noexcept {
    return levels == nullptr ? key(i) : level_starts[levels[i]];
  }
  std::uint32_t level_end(std::size_t i) const noexcept {
    return levels == nullptr ? key(i) + 1 : level_starts[levels[i] + 1];
  }
};

// Rows whose treatment takes some milliseconds, if one of them takes `cost` steps.
std::size_t rows_between_polls(std::size_t cost) {
  return std::clamp<std::size_t>((std::size_t{1} << 24) / cost, 1, Member::kBlock);
}

// The three ways of keeping the rows of the window. Each answers, for row i, how much of the
// window lies above (Up) or below (not Up) its utility; cost() counts the steps of an insertion. Up mirrors the keys,
// so that the structures only ever count what is below and sums of weights never cancel.
template <bool Up, class Set>
struct PlaceTally {
  static constexpr bool kCounts = !std::is_same_v<Set, SumTree>;
  Set set;
  static std::size_t cost(const Arranged&) { return 1; }
  void insert(const Arranged& q, std::size_t i) {
    put(q, i, [&](auto... args) { set.insert(args...); });
  }
  // Many rows at once: load() each, then settle().
  void load(const Arranged& q, std::size_t i) {
    if constexpr (kCounts) {
      put(q, i, [&](std::uint32_t k) { set.mark(k); });
    } else {
      insert(q, i);
    }
  }
  void settle() {
    if constexpr (kCounts) set.settle();
  }
  auto count(const Arranged& q, std::size_t i) const {
    return set.below(Up ? static_cast<std::uint32_t>(q.n) - q.level_end(i) : q.level_begin(i));
  }

 private:
  template <class Put>
  static void put(const Arranged& q, std::size_t i, Put&& into) {
    const std::uint32_t place = q.key(i);
    const std::uint32_t key = Up ? static_cast<std::uint32_t>(q.n) - 1 - place : place;
    if constexpr (kCounts) {
      into(key);
    } else {
      into(key, q.weights[q.slot(i)]);
    }
  }
};

template <class Value>
Value weight_of(const Arranged& q, std::size_t i) {
  if constexpr (std::is_same_v<Value, double>) {
    return q.weights[q.slot(i)];
  } else {
    return Value{1};
  }
}

template <bool Up, class Value>
struct LevelTally {
  LevelSums<Value> sums;
  static std::size_t cost(const Arranged& q) { return q.n_levels; }
  static std::uint32_t key(const Arranged& q, std::size_t i) {
    const std::uint32_t level = q.key(i);
    return Up ? static_cast<std::uint32_t>(q.n_levels) - 1 - level : level;
  }
  void insert(const Arranged& q, std::size_t i) { sums.insert(key(q, i), weight_of<Value>(q, i)); }
  void load(const Arranged& q, std::size_t i) { insert(q, i); }
  void settle() {}
  Value count(const Arranged& q, std::size_t i) const { return sums.below(key(q, i)); }
};

template <bool Up, class Value>
struct RedBlackTally {
  RedBlackTree<Value> tree;
  static std::size_t cost(const Arranged&) { return 1; }
  void insert(const Arranged& q, std::size_t i) { tree.insert(q.key(i), weight_of<Value>(q, i)); }
  void load(const Arranged& q, std::size_t i) { insert(q, i); }
  void settle() {}
  Value count(const Arranged& q, std::size_t i) const {
    return Up ? tree.count_larger(q.key(i)) : tree.count_smaller(q.key(i));
  }
};

// Algorithm 3 of the paper for the rows in `mine`: c (Up) walks up the scores while the window
// takes in what is not clearly higher, d walks down.
template <bool Up, class Tally, class Count>
void sweep(const Arranged q, Tally tally, Member& member, Range mine, Count* out) {
  if (mine.size() == 0 || member.stop()) return;  // after a stop the records may be half written
  // What the window of the first row holds goes in at once.
  std::size_t edge = 0;
  for (std::size_t end = q.n; edge < end;) {
    const std::size_t middle = edge + (end - edge) / 2;
    const bool in_front = Up ? q.violated(mine.begin, middle) : !q.violated(middle, mine.end - 1);
    (in_front ? edge : end) = in_front ? middle + 1 : middle;
  }
  const std::size_t rows_a_poll = rows_between_polls(Tally::cost(q));
  const auto load = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) tally.load(q, i);
  };
  member.blocks(Up ? Range{0, edge} : Range{edge, q.n}, load, rows_a_poll);
  tally.settle();
  if constexpr (Up) {
    const auto up = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        for (; edge < q.n && q.violated(i, edge); ++edge) tally.insert(q, edge);
        out[i] = tally.count(q, i);
      }
    };
    member.blocks(mine, up, rows_a_poll);
  } else {
    const auto down = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = q.n - begin; i-- > q.n - end;) {
        for (; edge > 0 && q.violated(edge - 1, i); --edge) tally.insert(q, edge - 1);
        out[i] = tally.count(q, i);
      }
    };
    member.blocks({q.n - mine.end, q.n - mine.begin}, down, rows_a_poll);
  }
}

template <bool Up>
void tree_sweep(const Arranged& q, ThreadMemory& memory, Member& member, Range mine, std::uint32_t* out) {
  const auto with = [&]<int Depth>(std::integral_constant<int, Depth>) {
    sweep<Up>(q, PlaceTally<Up, RankSet<Depth>>{RankSet<Depth>(memory.set, q.n)}, member, mine, out);
  };
  if (q.n < RankSet<1>::kCapacity) return with(std::integral_constant<int, 1>{});
  if (q.n < RankSet<2>::kCapacity) return with(std::integral_constant<int, 2>{});
  if (q.n < RankSet<3>::kCapacity) return with(std::integral_constant<int, 3>{});
  if (q.n < RankSet<4>::kCapacity) return with(std::integral_constant<int, 4>{});
  if (q.n < RankSet<5>::kCapacity) return with(std::integral_constant<int, 5>{});
  with(std::integral_constant<int, 6>{});
}

template <bool Up>
void tree_sweep(const Arranged& q, ThreadMemory& memory, Member& member, Range mine, double* out) {
  sweep<Up>(q, PlaceTally<Up, SumTree>{SumTree(memory.sums, q.n)}, member, mine, out);
}

template <bool Up, class Count>
void sweep_by(Method method, const Arranged& q, ThreadMemory& memory, Member& member, Range mine, Count* out) {
  constexpr bool kCounts = std::is_same_v<Count, std::uint32_t>;
  if (method == Method::tree) {
    tree_sweep<Up>(q, memory, member, mine, out);
  } else if (method == Method::levels) {
    auto& room = [&]() -> auto& {
      if constexpr (kCounts)
        return memory.level_counts;
      else
        return memory.level_sums;
    }();
    sweep<Up>(q, LevelTally<Up, Count>{LevelSums<Count>(room, q.n_levels)}, member, mine, out);
  } else {
    auto& room = [&]() -> auto& {
      if constexpr (kCounts)
        return memory.count_nodes;
      else
        return memory.sum_nodes;
    }();
    sweep<Up>(q, RedBlackTally<Up, Count>{RedBlackTree<Count>(room, q.n_levels)}, member, mine, out);
  }
}

// Every pair looked at, in order of utility: what PairRSVM of the paper does.
template <bool Up, class Count>
void look_at_pairs(const Arranged& q, Member& member, Range mine, Count* out) {
  member.blocks(
      mine,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const Range others = Up ? Range{q.level_end(i), q.n} : Range{0, q.level_begin(i)};
          Count sum{0};
          for (std::size_t j = others.begin; j < others.end; ++j) {
            const bool counts = Up ? q.violated(i, j) : q.violated(j, i);
            sum += counts ? weight_of<Count>(q, j) : Count{0};
          }
          out[i] = sum;
        }
      },
      rows_between_polls(q.n));
}

template <class Count>
void fill(bool up, Method method, const Arranged& q, ThreadMemory& memory, Member& member, Range mine, Count* out) {
  if (method == Method::pairs) {
    up ? look_at_pairs<true>(q, member, mine, out) : look_at_pairs<false>(q, member, mine, out);
  } else {
    up ? sweep_by<true>(method, q, memory, member, mine, out) : sweep_by<false>(method, q, memory, member, mine, out);
  }
}

KERNELRANK_CLONES
void fill_counts(bool up, Method method, const Arranged& q, ThreadMemory& memory, Member& member, Range mine,
                 std::uint32_t* out) {
  fill(up, method, q, memory, member, mine, out);
}

KERNELRANK_CLONES
void fill_sums(bool up, Method method, const Arranged& q, ThreadMemory& memory, Member& member, Range mine,
               double* out) {
  fill(up, method, q, memory, member, mine, out);
}

Method resolve(Method method, const Query& query) {
  if (method != Method::automatic) return method;
  return query.n_levels <= kFewLevels ? Method::levels : Method::tree;
}

// One counting pass. The members of the team share an object of this class.
template <class Value>
class Pass {
  static constexpr bool kWeighted = std::is_same_v<Value, double>;
  using Count = std::conditional_t<kWeighted, double, std::uint32_t>;

 public:
  Pass(const Ranking& ranking, const CountRequest& request, const CountAnswer<Value>& answer, Workspace& workspace)
      : ranking_(ranking), request_(request), answer_(answer), workspace_(workspace), memory_(memory_of(workspace)) {
    const std::size_t m = ranking.n_rows();
    workspace.prepare(static_cast<std::size_t>(request.n_threads));
    workspace.records.resize(m);
    workspace.levels.resize(m);
    memory_.c.resize(m);
    if (wants_d()) memory_.d.resize(m);
    memory_.partial_sums.resize(partial_offset(m, ranking.queries().size()));
    workspace.partial_inner.resize(partial_offset(m, ranking.queries().size()));
    scores_ = ranking.grouped() ? request.scores.data() : workspace.scores.resize(m);
  }

  void run(Member& member) {
    const std::size_t m = ranking_.n_rows();
    if (!ranking_.grouped()) {
      double* by_slot = workspace_.scores.data();
      member.blocks(member.share(m), [&](std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin; slot < end; ++slot) by_slot[slot] = request_.scores[ranking_.rows()[slot]];
      });
      member.wait();
    }
    over_queries(member, ranking_.queries(), m,
                 [&](Member& team, int thread, std::size_t q) { count_query(team, thread, q); });
  }

 private:
  static auto& memory_of(Workspace& workspace) {
    if constexpr (kWeighted) {
      return workspace.sums;
    } else {
      return workspace.counts;
    }
  }
  static std::size_t partial_offset(std::size_t begin, std::size_t index) { return begin / kSumBlock + index; }
  bool wants_d() const { return answer_.d != nullptr || answer_.g != nullptr; }

  void count_query(Member& team, int thread, std::size_t index) {
    const Query& query = ranking_.queries()[index];
    if (query.n_levels < 2) {
      if (team.first()) write_nothing(query, index);
      return;
    }
    const Method method = resolve(request_.method, query);
    auto& own = workspace_.threads[static_cast<std::size_t>(thread)];
    const Arranged arranged = method == Method::pairs ? arrange_by_utility(team, query)
                                                      : arrange_by_score(team, own, query, method != Method::tree);
    const Range rows = team.share(query.size, kSumBlock);
    Count* c = memory_.c.data() + query.begin;
    Count* d = memory_.d.data() + query.begin;
    if constexpr (kWeighted) {
      // Sums of weights are rounded: one thread takes each of them whole, or the number of threads would show.
      if (team.first()) fill_sums(true, method, arranged, own, team, {0, query.size}, c);
      if (wants_d() && team.index() == team.size() - 1) {
        fill_sums(false, method, arranged, own, team, {0, query.size}, d);
      }
    } else {
      fill_counts(true, method, arranged, own, team, rows, c);
      if (wants_d()) fill_counts(false, method, arranged, own, team, rows, d);
    }
    team.wait();
    write(team, query, index, arranged, rows);
    team.wait();
    if (team.first() && !team.stop()) total(query, index);
  }

  Arranged arrange_by_score(Member& team, ThreadMemory& own, const Query& query, bool by_level) {
    Record* records = workspace_.records.data() + query.begin;
    sort_scores(team, workspace_.team_sort, own.sort, {scores_ + query.begin, query.size},
                by_level ? ranking_.levels(query) : ranking_.places(query), records);
    if (by_level || query.distinct()) return arranged(query, nullptr);
    std::uint32_t* levels = workspace_.levels.data() + query.begin;
    team.blocks(team.share(query.size), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) levels[i] = ranking_.levels(query)[records[i].slot];
    });
    team.wait();
    return arranged(query, levels);
  }

  Arranged arrange_by_utility(Member& team, const Query& query) {
    Record* records = workspace_.records.data() + query.begin;
    std::uint32_t* levels = workspace_.levels.data() + query.begin;
    const Range mine = team.share(query.size);
    for (std::size_t slot = mine.begin; slot < mine.end; ++slot) {
      const std::uint32_t place = ranking_.places(query)[slot];
      records[place] = {scores_[query.begin + slot], static_cast<std::uint32_t>(slot), place};
      levels[place] = ranking_.levels(query)[slot];
    }
    team.wait();
    return arranged(query, levels);
  }

  Arranged arranged(const Query& query, const std::uint32_t* levels) const {
    return {query.size,
            query.n_levels,
            workspace_.records.data() + query.begin,
            levels,
            ranking_.level_starts(query),
            kWeighted ? ranking_.weights(query) : nullptr,
            request_.margin};
  }

  void write(Member& team, const Query& query, std::size_t index, const Arranged& q, Range rows) {
    const Count* c = memory_.c.data() + query.begin;
    const Count* d = memory_.d.data() + query.begin;
    const double centre = q.score(query.size / 2);
    const double scale = answer_.scale == nullptr ? 0.0 : answer_.scale[index];
    const std::size_t first = partial_offset(query.begin, index);
    team.blocks(
        rows,
        [&](std::size_t begin, std::size_t end) {
          Value sum{0};
          double inner = 0;
          for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t slot = q.slot(i);
            const std::size_t row = ranking_.grouped() ? query.begin + slot : ranking_.rows()[query.begin + slot];
            const Value weight = weight_of<Value>(q, i);
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
    const std::size_t first = partial_offset(query.begin, index);
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
      const std::size_t row = ranking_.grouped() ? slot : ranking_.rows()[slot];
      if (answer_.c != nullptr) answer_.c[row] = 0;
      if (answer_.d != nullptr) answer_.d[row] = 0;
      if (answer_.g != nullptr) answer_.g[row] = 0;
    }
  }

  using Memory = std::remove_reference_t<decltype(memory_of(std::declval<Workspace&>()))>;
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
                      Cancellation& cancel) {
  if (ranking.weighted() != std::is_same_v<Value, double>) {
    throw std::logic_error("weighted rankings are counted in doubles, others in integers");
  }
  auto workspace = ranking.borrow_workspace();
  Pass<Value> pass(ranking, request, answer, *workspace);
  run_team(request.n_threads, cancel, [&](Member& member) { pass.run(member); });
  ranking.return_workspace(std::move(workspace));
}

template void count_violations(const Ranking&, const CountRequest&, const CountAnswer<std::int64_t>&, Cancellation&);
template void count_violations(const Ranking&, const CountRequest&, const CountAnswer<double>&, Cancellation&);

}  // namespace kernelrank
