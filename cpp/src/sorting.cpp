#include "kernelrank/sorting.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace kernelrank {
namespace {

constexpr std::size_t kInsertion = 20;   // at most so many records are sorted by insertion
constexpr std::size_t kTogether = 8192;  // more are cut into steps by the whole team

// Maps lowest..highest onto 0..n_digits-1 in equal steps, never decreasing.
class ByValue {
 public:
  ByValue(double lowest, double highest, std::size_t n_digits)
      : half_lowest_(0.5 * lowest),  // halves, because the difference may overflow
        factor_(static_cast<double>(n_digits) / (0.5 * highest - half_lowest_)),
        last_(static_cast<std::uint32_t>(n_digits - 1)) {}
  // A range of subnormal width has no finite factor.
  bool usable() const noexcept { return std::isfinite(factor_); }
  std::uint32_t operator()(double score) const noexcept {
    const double step = (0.5 * score - half_lowest_) * factor_;
    return step >= 0 ? static_cast<std::uint32_t>(std::min<double>(last_, step)) : 0;  // NaN: any digit
  }

 private:
  double half_lowest_, factor_;
  std::uint32_t last_;
};

// The same for the bit patterns, read as integers that grow with the number.
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

// Moves n records, none far from its place, from `from` to `to` and sorts them on the way.
void insert_into(const Record* from, std::size_t n, Record* to) {
  for (std::size_t i = 0; i < n; ++i) {
    const Record record = from[i];
    std::size_t hole = i;
    for (; hole > 0 && record.score < to[hole - 1].score; --hole) to[hole] = to[hole - 1];
    to[hole] = record;
  }
}

void sort_alone(Member& member, SortMemory& memory, Record* records, std::size_t n, std::size_t round);

// One round: records go to their digits' places; if all of these are handfuls, insertion finishes them.
template <class Digit>
void distribute(Member& member, SortMemory& memory, Record* records, std::size_t n, std::size_t round,
                const Digit& digit, std::size_t n_digits) {
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
    sort_alone(member, memory, records + begin, end - begin, round + 1);
    begin = end;
  }
}

void sort_alone(Member& member, SortMemory& memory, Record* records, std::size_t n, std::size_t round) {
  if (n <= kInsertion) return insert_into(records, n, records);
  if (n >= Member::kBlock && member.stop()) return;
  double lowest = records[0].score, highest = lowest;
  for (std::size_t i = 1; i < n; ++i) {
    lowest = records[i].score < lowest ? records[i].score : lowest;
    highest = records[i].score > highest ? records[i].score : highest;
  }
  if (!(lowest < highest)) return;
  const std::size_t n_digits = std::clamp<std::size_t>(2 * std::bit_floor(n), 32, SortMemory::kMostDigits);
  const ByValue by_value(lowest, highest, n_digits);
  if (round == 0 && by_value.usable()) {
    distribute(member, memory, records, n, round, by_value, n_digits);
  } else {
    distribute(member, memory, records, n, round, ByBits(lowest, highest, n_digits), n_digits);
  }
}

}  // namespace

void sort_scores(Member& member, TeamSortMemory& team, SortMemory& own, std::span<const double> scores,
                 const std::uint32_t* keys, Record* records) {
  constexpr std::size_t kDigits = TeamSortMemory::kDigits;
  const std::size_t n = scores.size();
  const auto record = [&](std::size_t i) {
    return Record{scores[i], static_cast<std::uint32_t>(i), keys == nullptr ? 0u : keys[i]};
  };
  if (member.size() == 1 && n <= kTogether) {
    for (std::size_t i = 0; i < n; ++i) records[i] = record(i);
    return sort_alone(member, own, records, n, 0);
  }
  TeamSortMemory& shared = member.size() > 1 ? team : own.alone;
  const Range mine = member.share(n);
  const auto index = static_cast<std::size_t>(member.index());

  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  member.blocks(mine, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      lowest = scores[i] < lowest ? scores[i] : lowest;
      highest = scores[i] > highest ? scores[i] : highest;
    }
  });
  shared.extremes[index] = {lowest, highest};
  member.wait();
  for (const auto& part : shared.extremes) {
    lowest = std::min(lowest, part.lowest);
    highest = std::max(highest, part.highest);
  }
  const ByValue by_value(lowest, highest, kDigits);
  const bool one_step = !(lowest < highest) || !by_value.usable();
  const auto digit = [&](double score) { return one_step ? 0u : by_value(score); };

  auto& next = shared.next[index];
  next.fill(0);
  member.blocks(mine, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) ++next[digit(scores[i])];
  });
  member.wait();
  if (member.first()) {
    std::uint32_t position = 0;
    for (std::size_t k = 0; k < kDigits; ++k) {
      shared.starts[k] = position;
      for (auto& part : shared.next) position += std::exchange(part[k], position);
    }
    shared.starts[kDigits] = position;
  }
  member.wait();
  member.blocks(mine, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) records[next[digit(scores[i])]++] = record(i);
  });
  member.wait();
  // Steps are shared out by where they begin.
  for (std::size_t k = 0; k < kDigits; ++k) {
    const std::size_t begin = shared.starts[k], end = shared.starts[k + 1];
    if (begin < mine.begin || begin >= mine.end || begin == end) continue;
    if (member.stop()) break;  // the records may be half written
    sort_alone(member, own, records + begin, end - begin, 1);
  }
  member.wait();
}

}  // namespace kernelrank
