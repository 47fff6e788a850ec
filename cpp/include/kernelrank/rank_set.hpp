// Dynamic sets over 0 .. n-1 that count the inserted elements below k.
//
// The fast path of the library: the paper uses a red-black tree, but the universe here is known in
// advance (the places of a query), so that a static wide tree is sufficient. Each node keeps the
// running counts of its children: an insertion adds a 0/1 vector to one block per level, and a query
// reads one number per level.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernelrank/buffer.hpp"

namespace kernelrank {

namespace detail {
template <class T>
T* zeros(Buffer<T>& buffer, std::size_t n) {
  return std::fill_n(buffer.resize(n), n, T{0}) - n;
}

// after[i][j] = 1 where j > i.
template <class T, std::size_t N>
constexpr auto make_steps() {
  std::array<std::array<T, N>, N> after{};
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = i + 1; j < N; ++j) after[i][j] = 1;
  }
  return after;
}
template <class T, std::size_t N>
alignas(64) inline constexpr auto kSteps = make_steps<T, N>();

// counts += factor * step, in vector registers: a plain loop of this length is unrolled into scalars.
template <class T, std::size_t N>
void add(T* counts, const std::array<T, N>& step, T factor = T{1}) noexcept {
#if defined(__GNUC__)
  using Vector [[gnu::vector_size(64), gnu::may_alias]] = T;
  constexpr std::size_t kLanes = 64 / sizeof(T);
  for (std::size_t j = 0; j < N; j += kLanes) {
    auto* target = reinterpret_cast<Vector*>(counts + j);
    const auto* addend = reinterpret_cast<const Vector*>(step.data() + j);
    *target += *addend * factor;
  }
#else
  for (std::size_t j = 0; j < N; ++j) counts[j] = static_cast<T>(counts[j] + factor * step[j]);
#endif
}
}  // namespace detail

// Working memory, shared by sets of any depth: only one is in use at a time.
struct RankSetMemory {
  Buffer<std::uint64_t> words;
  Buffer<std::uint16_t> word_counts, block_counts;
  Buffer<std::uint32_t> page_counts, chapter_counts, volume_counts;
};

// A set of distinct numbers. Depth levels hold up to 64, 2^11, 2^16, 2^20, 2^24, 2^31 of them:
// bits, then counts before each word, block, page, chapter and volume. The count before a
// block in its page is at most 2^16 - 2^11 and fits 16 bits. Memory is about 1.3 bits per element.
template <int Depth>
class RankSet {
  static constexpr std::size_t kWord = 6, kBlock = 11, kPage = 16, kChapter = 20, kVolume = 24;

 public:
  static constexpr std::size_t kCapacity = std::size_t{1}
                                           << std::array{0, 6, 11, 16, 20, 24, 31}[static_cast<std::size_t>(Depth)];

  RankSet(RankSetMemory& memory, std::size_t n) {
    const auto units = [n](std::size_t shift) { return (n >> shift) + 1; };  // n itself is a valid argument of a count
    words_ = detail::zeros(memory.words, units(kWord));
    if constexpr (Depth > 1) word_counts_ = detail::zeros(memory.word_counts, units(kBlock) * 32);
    if constexpr (Depth > 2) block_counts_ = detail::zeros(memory.block_counts, units(kPage) * 32);
    if constexpr (Depth > 3) page_counts_ = detail::zeros(memory.page_counts, units(kChapter) * 16);
    if constexpr (Depth > 4) chapter_counts_ = detail::zeros(memory.chapter_counts, units(kVolume) * 16);
    if constexpr (Depth > 5) {
      n_volumes_ = units(kVolume);
      volume_counts_ = detail::zeros(memory.volume_counts, n_volumes_);
    }
    n_words_ = units(kWord);
  }

  // Inserts k once, or not at all if `times` is 0: a branch would be hard to predict.
  void insert(std::uint32_t k, std::uint32_t times) noexcept {
    const auto narrow = static_cast<std::uint16_t>(times);
    mark(k, times);
    if constexpr (Depth > 1)
      detail::add(word_counts_ + ((k >> kBlock) << 5), detail::kSteps<std::uint16_t, 32>[(k >> kWord) & 31], narrow);
    if constexpr (Depth > 2)
      detail::add(block_counts_ + ((k >> kPage) << 5), detail::kSteps<std::uint16_t, 32>[(k >> kBlock) & 31], narrow);
    if constexpr (Depth > 3)
      detail::add(page_counts_ + ((k >> kChapter) << 4), detail::kSteps<std::uint32_t, 16>[(k >> kPage) & 15], times);
    if constexpr (Depth > 4)
      detail::add(chapter_counts_ + ((k >> kVolume) << 4), detail::kSteps<std::uint32_t, 16>[(k >> kChapter) & 15],
                  times);
    if constexpr (Depth > 5) {
      for (std::size_t volume = (k >> kVolume) + 1; volume < n_volumes_; ++volume) volume_counts_[volume] += times;
    }
  }

  // Number of inserted elements smaller than k, 0 <= k <= n.
  std::uint32_t below(std::uint32_t k) const noexcept {
    const std::uint64_t mask = (std::uint64_t{1} << (k & 63)) - 1;
    auto count = static_cast<std::uint32_t>(std::popcount(words_[k >> kWord] & mask));
    if constexpr (Depth > 1) count += word_counts_[k >> kWord];
    if constexpr (Depth > 2) count += block_counts_[k >> kBlock];
    if constexpr (Depth > 3) count += page_counts_[k >> kPage];
    if constexpr (Depth > 4) count += chapter_counts_[k >> kChapter];
    if constexpr (Depth > 5) count += volume_counts_[k >> kVolume];
    return count;
  }

  // Bulk insertion into an empty set: mark() each element, then settle() the counts.
  void mark(std::uint32_t k, std::uint32_t times) noexcept { words_[k >> kWord] |= std::uint64_t{times} << (k & 63); }
  void settle() noexcept {
    if constexpr (Depth == 1) return;
    // Counts before the current word in its block, before the block in its page, and so on.
    std::array<std::uint32_t, 5> before{};
    for (std::size_t word = 0; word < n_words_; ++word) {
      const std::size_t k = word << kWord;
      const auto begins = [k](std::size_t shift) { return (k & ((std::size_t{1} << shift) - 1)) == 0; };
      if (begins(kBlock)) {
        before[1] += std::exchange(before[0], 0u);
        if (begins(kPage)) before[2] += std::exchange(before[1], 0u);
        if (begins(kChapter)) before[3] += std::exchange(before[2], 0u);
        if (begins(kVolume)) before[4] += std::exchange(before[3], 0u);
        if constexpr (Depth > 2) block_counts_[k >> kBlock] = static_cast<std::uint16_t>(before[1]);
        if constexpr (Depth > 3) page_counts_[k >> kPage] = before[2];
        if constexpr (Depth > 4) chapter_counts_[k >> kChapter] = before[3];
        if constexpr (Depth > 5) volume_counts_[k >> kVolume] = before[4];
      }
      word_counts_[word] = static_cast<std::uint16_t>(before[0]);
      before[0] += static_cast<std::uint32_t>(std::popcount(words_[word]));
    }
  }

 private:
  std::uint64_t* words_ = nullptr;
  std::uint16_t *word_counts_ = nullptr, *block_counts_ = nullptr;
  std::uint32_t *page_counts_ = nullptr, *chapter_counts_ = nullptr, *volume_counts_ = nullptr;
  std::size_t n_words_ = 0, n_volumes_ = 0;
};

// The same tree for sums of real weights: 16 running sums per node, five levels for a million elements.
class SumTree {
 public:
  SumTree(Buffer<double>& memory, std::size_t n) {
    std::size_t total = 0;
    for (std::size_t size = n + 1; n_levels_ == 0 || size > 1; size = (size + 15) >> 4) {
      starts_[n_levels_++] = total;
      total += (size + 15) & ~std::size_t{15};
    }
    sums_ = detail::zeros(memory, total);
  }
  void insert(std::uint32_t k, double weight) noexcept {
    for (std::size_t level = 0; level < n_levels_; ++level, k >>= 4) {
      detail::add(sums_ + starts_[level] + (k & ~15u), detail::kSteps<double, 16>[k & 15], weight);
    }
  }
  double below(std::uint32_t k) const noexcept {
    double sum = 0;
    for (std::size_t level = 0; level < n_levels_; ++level, k >>= 4) sum += sums_[starts_[level] + k];
    return sum;
  }

 private:
  double* sums_ = nullptr;
  std::array<std::size_t, 9> starts_{};
  std::size_t n_levels_ = 0;
};

// Running sums over few levels: O(levels) per insertion, one load per count (D06, algorithm 2).
template <class Value>
class LevelSums {
  static constexpr std::size_t kGroup = 16;  // levels added to at once

 public:
  LevelSums(Buffer<Value>& memory, std::size_t n_levels)
      : n_((n_levels / kGroup + 1) * kGroup), sums_(detail::zeros(memory, n_)) {}
  void insert(std::uint32_t level, Value weight) noexcept {
    const std::size_t group = level & ~(kGroup - 1);
    detail::add(sums_ + group, detail::kSteps<Value, kGroup>[level & (kGroup - 1)], weight);
    for (std::size_t j = group + kGroup; j < n_; ++j) sums_[j] += weight;
  }
  Value below(std::uint32_t level) const noexcept { return sums_[level]; }

 private:
  std::size_t n_;
  Value* sums_;
};

}  // namespace kernelrank
