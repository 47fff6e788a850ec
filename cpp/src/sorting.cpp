#include "kernelrank/sorting.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace kernelrank {
namespace {

constexpr std::size_t kInsertion = 20;  // at most this number of records is sorted by insertion
constexpr std::size_t kFew = 65536;     // up to this number, which no team shares, there are two steps per record
constexpr std::size_t kSteps = 2048;    // number of steps otherwise

// Maps lowest..highest onto 0..n_steps-1 in equal steps, never decreasing.
class ByValue {
 public:
  ByValue(double lowest, double highest, std::size_t n_steps)
      : half_lowest_(0.5 * lowest),  // halved, because the difference may overflow
        factor_(static_cast<double>(n_steps) / (0.5 * highest - half_lowest_)),
        last_(static_cast<double>(n_steps - 1)) {}
  // A range of subnormal width has no finite factor.
  bool usable() const noexcept { return std::isfinite(factor_); }
  std::uint32_t operator()(double score) const noexcept {
    const double step = (0.5 * score - half_lowest_) * factor_;
    const double positive = step > 0 ? step : 0;  // NaN: any step
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(positive < last_ ? positive : last_));
  }

 private:
  double half_lowest_, factor_, last_;
};

// The same for bit patterns, interpreted as integers that increase with the number.
class ByBits {
 public:
  ByBits(double lowest, double highest, std::size_t n_digits)
      : lowest_(ordered(lowest)), last_(static_cast<std::uint32_t>(n_digits - 1)) {
    const int needed = std::bit_width(ordered(highest) - lowest_), given = std::bit_width(n_digits) - 1;
    shift_ = std::max(0, needed - given);
  }
  std::uint32_t operator()(double score) const noexcept {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(last_, (ordered(score) - lowest_) >> shift_));
  }

 private:
  static std::uint64_t ordered(double score) noexcept {
    const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);  // -0.0 is 0.0
    return bits ^ ((bits >> 63) != 0 ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
  }
  std::uint64_t lowest_;
  std::uint32_t last_;
  int shift_;
};

// Moves n records, none far from its place, from `from` to `to` and sorts them in the same pass.
void insert_into(const Record* from, std::size_t n, Record* to) {
  if (n == 0) return;
  Record last = to[0] = from[0];
  for (std::size_t i = 1; i < n; ++i) {
    const Record record = from[i];
    if (!(record.score < last.score)) {
      to[i] = last = record;
      continue;
    }
    to[i] = last;
    std::size_t hole = i - 1;
    for (; hole > 0 && record.score < to[hole - 1].score; --hole) to[hole] = to[hole - 1];
    to[hole] = record;
  }
}

// Extends a range to include the scores. In lanes, to avoid a chain of dependent minima.
void widen(std::span<const double> scores, double& lowest, double& highest) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> low, high;
  low.fill(lowest);
  high.fill(highest);
  const auto take = [&](std::size_t i, std::size_t lane) {
    low[lane] = scores[i] < low[lane] ? scores[i] : low[lane];
    high[lane] = scores[i] > high[lane] ? scores[i] : high[lane];
  };
  std::size_t i = 0;
  for (; i + kLanes <= scores.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) take(i + lane, lane);
  }
  for (; i < scores.size(); ++i) take(i, 0);
  lowest = *std::min_element(low.begin(), low.end());
  highest = *std::max_element(high.begin(), high.end());
}

// Sorts by the bits of the scores, one digit per round.
void sort_by_bits(Member& member, SortMemory& memory, Record* records, std::size_t n, std::size_t round = 0) {
  if (n <= kInsertion) return insert_into(records, n, records);
  if (n >= Member::kBlock && member.stop()) return;
  double lowest = records[0].score, highest = lowest;
  for (std::size_t i = 1; i < n; ++i) {
    lowest = records[i].score < lowest ? records[i].score : lowest;
    highest = records[i].score > highest ? records[i].score : highest;
  }
  if (!(lowest < highest)) return;
  const std::size_t n_digits = std::clamp<std::size_t>(2 * std::bit_floor(n), 32, SortMemory::kMostDigits);
  const ByBits digit(lowest, highest, n_digits);
  if (memory.starts.size() <= round) memory.starts.resize(round + 1);
  std::uint32_t* starts = memory.starts[round].data();
  Record* scratch = memory.scratch.resize(n);
  std::fill_n(starts, n_digits + 1, 0u);
  for (std::size_t i = 0; i < n; ++i) ++starts[digit(records[i].score) + 1];
  std::uint32_t most = starts[1];
  for (std::size_t k = 1; k < n_digits; ++k) {
    most = std::max(most, starts[k + 1]);
    starts[k + 1] += starts[k];
  }
  // starts[k] moves up to the end of digit k, which is where digit k + 1 begins.
  for (std::size_t i = 0; i < n; ++i) scratch[starts[digit(records[i].score)]++] = records[i];
  if (most <= kInsertion) return insert_into(scratch, n, records);
  std::copy_n(scratch, n, records);
  for (std::size_t k = 0, begin = 0; k < n_digits; ++k) {
    const std::size_t end = memory.starts[round][k];  // deeper rounds may have moved the vector
    sort_by_bits(member, memory, records + begin, end - begin, round + 1);
    begin = end;
  }
}

}  // namespace

void sort_scores(Member& member, TeamSortMemory& team, SortMemory& own, std::span<const double> scores,
                 const std::uint32_t* keys, Record* records) {
  const std::size_t n = scores.size();
  const auto record = [&](std::size_t i) {
    return Record{scores[i], static_cast<std::uint32_t>(i), keys == nullptr ? 0u : keys[i]};
  };
  const bool alone = member.size() == 1;
  if (alone && n <= kInsertion) {
    for (std::size_t i = 0; i < n; ++i) records[i] = record(i);
    return insert_into(records, n, records);
  }
  TeamSortMemory& shared = alone ? own.alone : team;
  const Range mine = member.share(n);
  const auto index = static_cast<std::size_t>(member.index());

  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  member.blocks(
      mine, [&](std::size_t begin, std::size_t end) { widen(scores.subspan(begin, end - begin), lowest, highest); });
  shared.extremes[index] = {lowest, highest};
  member.wait();
  const auto n_members = static_cast<std::size_t>(member.size());
  for (const auto& part : std::span(shared.extremes).first(n_members)) {
    lowest = std::min(lowest, part.lowest);
    highest = std::max(highest, part.highest);
  }
  const std::size_t n_steps = alone && n <= kFew ? 2 * std::bit_ceil(n) : kSteps;
  const ByValue by_value(lowest, highest, n_steps);
  const bool one_step = !(lowest < highest) || !by_value.usable();
  const auto step = [&](double score) { return one_step ? 0u : by_value(score); };

  std::uint32_t* next = std::fill_n(shared.next[index].resize(n_steps), n_steps, 0u) - n_steps;
  member.blocks(mine, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) ++next[step(scores[i])];
  });
  member.wait();
  if (member.first() && !member.stop()) shared.begin_steps(n_steps, n_members);  // a failed member has no counts
  member.wait();
  member.blocks(mine, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) records[next[step(scores[i])]++] = record(i);
  });
  member.wait();
  // Steps are distributed by their start. The last member determines their ends.
  const std::uint32_t* ends = shared.next[n_members - 1].data();
  const auto cut = [&](std::size_t at) { return at == 0 ? ends : std::lower_bound(ends, ends + n_steps, at) + 1; };
  const auto begin_of = [&](const std::uint32_t* end) { return end == ends ? 0 : end[-1]; };
  if (!member.stop()) {  // otherwise the records may be incomplete
    const std::uint32_t *end = cut(mine.begin), *last = cut(mine.end);
    std::size_t begin = begin_of(end);
    if (shared.most <= kInsertion) {
      insert_into(records + begin, begin_of(last) - begin, records + begin);
      end = last;
    }
    for (; end < last; begin = *end++) {
      const std::size_t size = *end - begin;
      if (size < 2) continue;
      if (size > kInsertion && member.stop()) break;
      sort_by_bits(member, own, records + begin, size);
    }
  }
  member.wait();
}

void TeamSortMemory::begin_steps(std::size_t n_steps, std::size_t n_members) {
  std::uint32_t *first = next.front().data(), position = 0, largest = 0;
  for (std::size_t k = 0; k < n_steps; ++k) {
    const std::uint32_t begin = position;
    position += std::exchange(first[k], position);
    for (std::size_t i = 1; i < n_members; ++i) position += std::exchange(next[i].data()[k], position);
    largest = std::max(largest, position - begin);
  }
  most = largest;
}

}  // namespace kernelrank
