#include "sweeps.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "kernelrank/dispatch.hpp"

namespace kernelrank {
namespace {

// Rows whose treatment takes some milliseconds, if one of them takes `cost` steps.
std::size_t rows_between_polls(std::size_t cost) {
  return std::clamp<std::size_t>((std::size_t{1} << 24) / cost, 1, Member::kBlock);
}

// Whether a row of the window counts: not below others, if it is censored.
template <Side kSide>
bool counts(const Arranged& q, std::size_t i) noexcept {
  return kSide == Side::above || !q.censored(i);
}

// By how much it counts. Where that is 0, it can be left out, or not: a branch that is hard to predict takes time, too.
template <Side kSide, class Value>
Value value_of(const Arranged& q, std::size_t i) noexcept {
  if constexpr (std::is_same_v<Value, double>) {
    return counts<kSide>(q, i) ? q.values[i] : 0.0;
  } else {
    return Value{counts<kSide>(q, i)};
  }
}

// The three ways of keeping the rows of the window. Each answers, for row i, how much of the
// window lies above or below its utility. Side::above mirrors the keys, so that the structures only ever count
// what is below and sums of weights never cancel. cost() is the time of an insertion and a count, in units of one step
// along an array: it says how often to look at the cancellation flag.
template <Side kSide, class Set>
struct PlaceTally {
  static constexpr bool kCounts = !std::is_same_v<Set, SumTree>;
  static constexpr bool kUp = kSide == Side::above;
  Set set;
  static std::size_t cost(const Arranged&) { return kCounts ? 1 : 1024; }
  void insert(const Arranged& q, std::size_t i) {
    if (kCounts || counts<kSide>(q, i)) set.insert(key(q, i), value_of<kSide, Value>(q, i));
  }
  // Many rows at once: load() each, then settle().
  void load(const Arranged& q, std::size_t i) {
    if constexpr (kCounts) {
      set.mark(key(q, i), value_of<kSide, Value>(q, i));
    } else {
      insert(q, i);
    }
  }
  void settle() {
    if constexpr (kCounts) set.settle();
  }
  auto count(const Arranged& q, std::size_t i) const {
    return set.below(kUp ? static_cast<std::uint32_t>(q.n) - q.level_end(i) : q.level_begin(i));
  }

 private:
  using Value = std::conditional_t<kCounts, std::uint32_t, double>;
  static std::uint32_t key(const Arranged& q, std::size_t i) {
    return kUp ? static_cast<std::uint32_t>(q.n) - 1 - q.key(i) : q.key(i);
  }
};

template <Side kSide, class Value>
struct LevelTally {
  static constexpr bool kUp = kSide == Side::above;
  LevelSums<Value> sums;
  static std::size_t cost(const Arranged& q) { return q.n_levels; }
  static std::uint32_t key(const Arranged& q, std::size_t i) {
    const std::uint32_t level = q.key(i);
    return kUp ? static_cast<std::uint32_t>(q.n_levels) - 1 - level : level;
  }
  void insert(const Arranged& q, std::size_t i) { sums.insert(key(q, i), value_of<kSide, Value>(q, i)); }
  void load(const Arranged& q, std::size_t i) { insert(q, i); }
  void settle() {}
  Value count(const Arranged& q, std::size_t i) const { return sums.below(key(q, i)); }
};

template <Side kSide, class Value>
struct RedBlackTally {
  static constexpr bool kUp = kSide == Side::above;
  RedBlackTree<Value> tree;
  // Two walks down a tree that is larger than any cache, some 30 misses each.
  static std::size_t cost(const Arranged&) { return std::size_t{1} << 14; }
  void insert(const Arranged& q, std::size_t i) { tree.insert(q.key(i), value_of<kSide, Value>(q, i)); }
  void load(const Arranged& q, std::size_t i) { insert(q, i); }
  void settle() {}
  Value count(const Arranged& q, std::size_t i) const {
    return kUp ? tree.count_larger(q.key(i)) : tree.count_smaller(q.key(i));
  }
};

// Where the answer for each row goes: over what is there, or in addition to it.
template <class Count>
struct Output {
  Count* data;
  Store store;
  void write(std::size_t i, Count count) const noexcept { data[i] = store == Store::add ? data[i] + count : count; }
};

// Rows treated together: where a window ends is hard to predict, and this way it is asked for less often.
constexpr std::size_t kTogether = 16;

// What a row keeps of the sum over its window: nothing of what is above, if it is censored.
template <Side kSide, class Count>
Count kept(const Arranged& q, std::size_t i, Count sum) noexcept {
  return kSide == Side::above && q.censored(i) ? Count{0} : sum;
}

// Algorithm 3 of the paper for the rows in `mine`: c (Side::above) walks up the scores while the window
// takes in what is not clearly higher, d walks down. Steps count rows in the direction of the walk.
template <Side kSide, class Tally, class Count>
class Sweep {
  static constexpr bool kUp = kSide == Side::above;

 public:
  Sweep(const Arranged& q, Tally& tally, Output<Count> out, Member& member)
      : q_(q), tally_(tally), out_(out), member_(member) {}

  void run(Range mine) {
    if (mine.size() == 0 || member_.stop()) return;  // after a stop the records may be half written
    const Range steps = kUp ? mine : Range{q_.n - mine.end, q_.n - mine.begin};
    // What the window of the first row holds goes in at once.
    std::size_t end = q_.n;
    while (edge_ < end) {
      const std::size_t middle = edge_ + (end - edge_) / 2;
      in_window(steps.begin, middle) ? edge_ = middle + 1 : end = middle;
    }
    const auto load = [&](std::size_t from, std::size_t to) {
      for (std::size_t step = from; step < to; ++step) tally_.load(q_, row(step));
    };
    member_.blocks({0, edge_}, load, rows_a_poll_);
    tally_.settle();
    const auto walk = [&](std::size_t from, std::size_t to) {
      for (; from + kTogether <= to; from += kTogether) advance_together(from);
      for (; from < to; ++from) advance_one(from);
    };
    member_.blocks(steps, walk, rows_a_poll_);
  }

 private:
  std::size_t row(std::size_t step) const noexcept { return kUp ? step : q_.n - 1 - step; }
  bool in_window(std::size_t of, std::size_t other) const noexcept {
    return kUp ? q_.violated(row(of), row(other)) : q_.violated(row(other), row(of));
  }

  // Calls enter(row) for what comes into the window of a step. That may be most of the rows, where scores have a gap:
  // if a row takes long, it looks at the cancellation flag in between.
  template <class Enter>
  void take_in(std::size_t step, Enter&& enter) {
    if (rows_a_poll_ == Member::kBlock) {
      for (; edge_ < q_.n && in_window(step, edge_); ++edge_) enter(row(edge_));
      return;
    }
    std::size_t end = 0;
    do {
      end = std::min(q_.n, edge_ + rows_a_poll_);
      for (; edge_ < end && in_window(step, edge_); ++edge_) enter(row(edge_));
    } while (edge_ == end && end < q_.n && !member_.stop());
  }

  void advance_one(std::size_t step) {
    take_in(step, [&](std::size_t j) { tally_.insert(q_, j); });
    write(row(step), tally_.count(q_, row(step)));
  }

  // kTogether rows. What entered the window before them is in the tally; what enters with them is compared with each.
  void advance_together(std::size_t from) {
    alignas(64) double reach[kTogether];
    alignas(64) std::uint32_t bound[kTogether];
    alignas(64) Count sums[kTogether];
    for (std::size_t r = 0; r < kTogether; ++r) {
      const std::size_t i = row(from + r);
      reach[r] = kUp ? q_.score(i) + q_.margin : q_.score(i);
      bound[r] = kUp ? q_.level_end(i) : q_.level_begin(i);
      sums[r] = tally_.count(q_, i);
    }
    take_in(from + kTogether - 1, [&](std::size_t j) {
      const double score = kUp ? q_.score(j) : q_.score(j) + q_.margin;
      const std::uint32_t key = q_.key(j);
      const Count value = value_of<kSide, Count>(q_, j);
#pragma omp simd
      for (std::size_t r = 0; r < kTogether; ++r) {
        const bool violated = kUp ? (score < reach[r]) & (key >= bound[r]) : (reach[r] < score) & (key < bound[r]);
        sums[r] += violated ? value : Count{0};
      }
      tally_.insert(q_, j);
    });
    for (std::size_t r = 0; r < kTogether; ++r) write(row(from + r), sums[r]);
  }

  void write(std::size_t i, Count sum) const noexcept { out_.write(i, kept<kSide>(q_, i, sum)); }

  const Arranged q_;
  Tally& tally_;
  Output<Count> out_;
  Member& member_;
  const std::size_t rows_a_poll_ = rows_between_polls(Tally::cost(q_));
  std::size_t edge_ = 0;  // steps whose rows are in the window
};

template <Side kSide, class Tally, class Count>
void sweep(const Arranged& q, Tally tally, Member& member, Range mine, Output<Count> out) {
  Sweep<kSide, Tally, Count>(q, tally, out, member).run(mine);
}

template <Side kSide>
void tree_sweep(const Arranged& q, ThreadMemory& memory, Member& member, Range mine, Output<std::uint32_t> out) {
  const auto with = [&]<int Depth>(std::integral_constant<int, Depth>) {
    sweep<kSide>(q, PlaceTally<kSide, RankSet<Depth>>{RankSet<Depth>(memory.set, q.n)}, member, mine, out);
  };
  if (q.n < RankSet<1>::kCapacity) return with(std::integral_constant<int, 1>{});
  if (q.n < RankSet<2>::kCapacity) return with(std::integral_constant<int, 2>{});
  if (q.n < RankSet<3>::kCapacity) return with(std::integral_constant<int, 3>{});
  if (q.n < RankSet<4>::kCapacity) return with(std::integral_constant<int, 4>{});
  if (q.n < RankSet<5>::kCapacity) return with(std::integral_constant<int, 5>{});
  with(std::integral_constant<int, 6>{});
}

template <Side kSide>
void tree_sweep(const Arranged& q, ThreadMemory& memory, Member& member, Range mine, Output<double> out) {
  sweep<kSide>(q, PlaceTally<kSide, SumTree>{SumTree(memory.sums, q.n)}, member, mine, out);
}

template <Side kSide, class Count>
void sweep_by(Method method, const Arranged& q, ThreadMemory& memory, Member& member, Range mine, Output<Count> out) {
  constexpr bool kCounts = std::is_same_v<Count, std::uint32_t>;
  if (method == Method::tree) {
    tree_sweep<kSide>(q, memory, member, mine, out);
  } else if (method == Method::levels) {
    auto& room = [&]() -> auto& {
      if constexpr (kCounts)
        return memory.level_counts;
      else
        return memory.level_sums;
    }();
    sweep<kSide>(q, LevelTally<kSide, Count>{LevelSums<Count>(room, q.n_levels)}, member, mine, out);
  } else {
    auto& room = [&]() -> auto& {
      if constexpr (kCounts)
        return memory.count_nodes;
      else
        return memory.sum_nodes;
    }();
    sweep<kSide>(q, RedBlackTally<kSide, Count>{RedBlackTree<Count>(room, q.n_levels)}, member, mine, out);
  }
}

// Every pair looked at, in order of utility: what PairRSVM of the paper does.
template <Side kSide, class Count>
void look_at_pairs(const Arranged& q, Member& member, Range mine, Output<Count> out) {
  constexpr bool kUp = kSide == Side::above;
  member.blocks(
      mine,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const Range others = kUp ? Range{q.level_end(i), q.n} : Range{0, q.level_begin(i)};
          Count sum{0};
          for (std::size_t j = others.begin; j < others.end; ++j) {
            const bool violated = kUp ? q.violated(i, j) : q.violated(j, i);
            sum += violated ? value_of<kSide, Count>(q, j) : Count{0};
          }
          out.write(i, kept<kSide>(q, i, sum));
        }
      },
      rows_between_polls(q.n));
}

template <class Count>
void fill(Side side, Method method, const Arranged& q, ThreadMemory& memory, Member& member, Range mine,
          Output<Count> out) {
  if (method == Method::pairs) {
    side == Side::above ? look_at_pairs<Side::above>(q, member, mine, out)
                        : look_at_pairs<Side::below>(q, member, mine, out);
  } else {
    side == Side::above ? sweep_by<Side::above>(method, q, memory, member, mine, out)
                        : sweep_by<Side::below>(method, q, memory, member, mine, out);
  }
}

}  // namespace

KERNELRANK_CLONES
void sweep_counts(Side side, Method method, const Arranged& q, ThreadMemory& memory, Member& member, Range mine,
                  std::uint32_t* out) {
  fill(side, method, q, memory, member, mine, Output<std::uint32_t>{out, Store::replace});
}

KERNELRANK_CLONES
void sweep_sums(Side side, Store store, Method method, const Arranged& q, ThreadMemory& memory, Member& member,
                double* out) {
  fill(side, method, q, memory, member, {0, q.n}, Output<double>{out, store});
}

}  // namespace kernelrank
