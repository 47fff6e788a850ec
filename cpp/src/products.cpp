#include "kernelrank/products.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernelrank/dispatch.hpp"

namespace kernelrank {
namespace {

constexpr std::size_t kLinesAPoll = 4096;
constexpr std::size_t kMostBlocks = 8;

// An element, or its square.
template <Elements kElements, class Number>
double element(Number number) {
  const auto value = static_cast<double>(number);
  return kElements == Elements::squared ? value * value : value;
}

template <Elements kElements, class Number, class Index>
void gather(const Compressed<Number, Index>& x, const double* v, std::size_t begin, std::size_t end, double* out) {
  for (std::size_t line = begin; line < end; ++line) {
    // Four sums hide the latency of the additions.
    double a = 0, b = 0, c = 0, d = 0;
    auto k = static_cast<std::size_t>(x.starts[line]);
    const auto last = static_cast<std::size_t>(x.starts[line + 1]);
    for (; k + 4 <= last; k += 4) {
      a += element<kElements>(x.numbers[k]) * v[x.indices[k]];
      b += element<kElements>(x.numbers[k + 1]) * v[x.indices[k + 1]];
      c += element<kElements>(x.numbers[k + 2]) * v[x.indices[k + 2]];
      d += element<kElements>(x.numbers[k + 3]) * v[x.indices[k + 3]];
    }
    for (; k < last; ++k) a += element<kElements>(x.numbers[k]) * v[x.indices[k]];
    out[line] = (a + b) + (c + d);
  }
}

template <Elements kElements, class Number, class Index>
void scatter(const Compressed<Number, Index>& x, const double* v, std::size_t begin, std::size_t end, double* out) {
  for (std::size_t line = begin; line < end; ++line) {
    const double factor = v[line];
    if (factor == 0) continue;
    const auto last = static_cast<std::size_t>(x.starts[line + 1]);
    for (auto k = static_cast<std::size_t>(x.starts[line]); k < last; ++k) {
      out[x.indices[k]] += factor * element<kElements>(x.numbers[k]);
    }
  }
}

// Number of blocks for which adding their vectors is a small part of the work.
template <class Number, class Index>
std::size_t count_blocks(const Compressed<Number, Index>& x) {
  const auto stored = static_cast<std::size_t>(x.starts[x.n_lines]);
  return std::clamp<std::size_t>(stored / (16 * std::max<std::size_t>(x.n_across, 1)), 1, kMostBlocks);
}

}  // namespace

template <class Number, class Index>
void gather_product(const Compressed<Number, Index>& matrix, Elements elements, const double* v, double* out,
                    int n_threads, Cancellation& cancel) {
  const auto work = elements == Elements::squared ? &gather<Elements::squared, Number, Index>
                                                  : &gather<Elements::plain, Number, Index>;
  run_team(n_threads, cancel, [&](Member& member) {
    member.blocks(
        member.share(matrix.n_lines), [&](std::size_t begin, std::size_t end) { work(matrix, v, begin, end, out); },
        kLinesAPoll);
  });
}

template <class Number, class Index>
void scatter_product(const Compressed<Number, Index>& matrix, Elements elements, const double* v, double* out,
                     int n_threads, Cancellation& cancel) {
  const auto work = elements == Elements::squared ? &scatter<Elements::squared, Number, Index>
                                                  : &scatter<Elements::plain, Number, Index>;
  const std::size_t n_blocks = count_blocks(matrix), n = matrix.n_across;
  std::vector<double> parts((n_blocks - 1) * n);  // the first block adds to `out` itself
  std::fill_n(out, n, 0.0);
  const auto part = [&](std::size_t block) { return block == 0 ? out : parts.data() + (block - 1) * n; };
  run_team(std::min(n_threads, static_cast<int>(n_blocks)), cancel, [&](Member& member) {
    const Range mine = member.share(n_blocks);
    for (std::size_t block = mine.begin; block < mine.end; ++block) {
      const Range lines{matrix.n_lines * block / n_blocks, matrix.n_lines * (block + 1) / n_blocks};
      member.blocks(
          lines, [&](std::size_t begin, std::size_t end) { work(matrix, v, begin, end, part(block)); }, kLinesAPoll);
    }
    member.wait();
    const Range columns = member.share(n);
    for (std::size_t block = 1; block < n_blocks; ++block) {
      const double* addend = part(block);
      for (std::size_t j = columns.begin; j < columns.end; ++j) out[j] += addend[j];
    }
  });
}

#define KERNELRANK_INSTANTIATE(NUMBER, INDEX)                                                           \
  template void gather_product(const Compressed<NUMBER, INDEX>&, Elements, const double*, double*, int, \
                               Cancellation&);                                                          \
  template void scatter_product(const Compressed<NUMBER, INDEX>&, Elements, const double*, double*, int, Cancellation&)
KERNELRANK_INSTANTIATE(float, std::int32_t);
KERNELRANK_INSTANTIATE(float, std::int64_t);
KERNELRANK_INSTANTIATE(double, std::int32_t);
KERNELRANK_INSTANTIATE(double, std::int64_t);
#undef KERNELRANK_INSTANTIATE

}  // namespace kernelrank
