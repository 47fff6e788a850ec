// Compiled without contraction of products and sums, which would leave the rounding to the compiler.
#include "kernelrank/entry_products.hpp"

#include <algorithm>

#include "kernelrank/dispatch.hpp"

namespace kernelrank {
namespace {

constexpr std::size_t kEntriesAPoll = 1024;
constexpr std::size_t kLanes = 8;  // interleaved sums

using Lanes = double __attribute__((vector_size(kLanes * sizeof(double)), aligned(alignof(double)), may_alias));

// Returns the sum of products of a line and a row of numbers.
template <class Number>
double multiply(const double* line, const DenseRows<Number>& rows, std::size_t row) {
  const std::size_t n = rows.n_columns;
  const Number* with = rows.data + row * n;
  Lanes sums = {};
  std::size_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    Lanes factors;
    for (std::size_t lane = 0; lane < kLanes; ++lane) factors[lane] = static_cast<double>(with[k + lane]);
    sums += *reinterpret_cast<const Lanes*>(line + k) * factors;
  }
  double rest = 0;
  for (; k < n; ++k) rest += line[k] * static_cast<double>(with[k]);
  return (((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))) + rest;
}

template <class Number>
double multiply(const double* line, const SparseRows<Number>& rows, std::size_t row) {
  double sum = 0;
  for (std::int64_t k = rows.starts[row]; k < rows.starts[row + 1]; ++k) {
    sum += line[rows.indices[k]] * static_cast<double>(rows.numbers[k]);
  }
  return sum;
}

// Adds a multiple of a row to a line.
template <class Number>
void add(double factor, const DenseRows<Number>& rows, std::size_t row, double* line) {
  const Number* addend = rows.data + row * rows.n_columns;
#pragma omp simd
  for (std::size_t k = 0; k < rows.n_columns; ++k) line[k] += factor * static_cast<double>(addend[k]);
}

template <class Number>
void add(double factor, const SparseRows<Number>& rows, std::size_t row, double* line) {
  for (std::int64_t k = rows.starts[row]; k < rows.starts[row + 1]; ++k) {
    line[rows.indices[k]] += factor * static_cast<double>(rows.numbers[k]);
  }
}

std::size_t line_of(const Entries& entries, std::size_t entry) {
  const auto* end = entries.starts + entries.n_lines + 1;
  return static_cast<std::size_t>(std::upper_bound(entries.starts, end, static_cast<std::int64_t>(entry)) -
                                  entries.starts - 1);
}

template <class Rows>
KERNELRANK_CLONES void sample(const Entries& entries, const double* lines, const Rows& rows, Range range, double* out) {
  std::size_t line = line_of(entries, range.begin);
  for (std::size_t entry = range.begin; entry < range.end; ++entry) {
    while (static_cast<std::size_t>(entries.starts[line + 1]) <= entry) ++line;
    const auto partner = static_cast<std::size_t>(entries.partners[entry]);
    out[entries.numbers[entry]] = multiply(lines + line * rows.n_columns, rows, partner);
  }
}

template <class Rows>
KERNELRANK_CLONES void spread(const Entries& entries, const double* g, const Rows& rows, Range range, double* out) {
  std::size_t line = line_of(entries, range.begin);
  for (std::size_t entry = range.begin; entry < range.end; ++entry) {
    while (static_cast<std::size_t>(entries.starts[line + 1]) <= entry) ++line;
    const double factor = g[entries.numbers[entry]];
    if (factor == 0) continue;  // pairs in the right order
    add(factor, rows, static_cast<std::size_t>(entries.partners[entry]), out + line * rows.n_columns);
  }
}

// Lines of a member, which have about as many entries as those of others.
Range share_of_lines(const Entries& entries, const Member& member) {
  const Range mine = member.share(entries.n_entries);
  const auto* end = entries.starts + entries.n_lines;
  const auto cut = [&](std::size_t entry) {
    return static_cast<std::size_t>(std::lower_bound(entries.starts, end, static_cast<std::int64_t>(entry)) -
                                    entries.starts);
  };
  return {member.first() ? 0 : cut(mine.begin), member.last() ? entries.n_lines : cut(mine.end)};
}

}  // namespace

template <class Rows>
void sample_product(const Entries& entries, const double* lines, const Rows& rows, double* out, int n_threads,
                    Cancellation& cancel) {
  run_team(n_threads, cancel, [&](Member& member) {
    member.blocks(
        member.share(entries.n_entries),
        [&](std::size_t begin, std::size_t end) { sample(entries, lines, rows, {begin, end}, out); }, kEntriesAPoll);
  });
}

template <class Rows>
void spread_product(const Entries& entries, const double* g, const Rows& rows, double* out, int n_threads,
                    Cancellation& cancel) {
  run_team(n_threads, cancel, [&](Member& member) {
    const Range lines = share_of_lines(entries, member);
    std::fill(out + lines.begin * rows.n_columns, out + lines.end * rows.n_columns, 0.0);
    const auto at = [&](std::size_t line) { return static_cast<std::size_t>(entries.starts[line]); };
    member.blocks(
        {at(lines.begin), at(lines.end)},
        [&](std::size_t begin, std::size_t end) { spread(entries, g, rows, {begin, end}, out); }, kEntriesAPoll);
  });
}

#define KERNELRANK_INSTANTIATE(ROWS)                                                                     \
  template void sample_product(const Entries&, const double*, const ROWS&, double*, int, Cancellation&); \
  template void spread_product(const Entries&, const double*, const ROWS&, double*, int, Cancellation&)
KERNELRANK_INSTANTIATE(DenseRows<float>);
KERNELRANK_INSTANTIATE(DenseRows<double>);
KERNELRANK_INSTANTIATE(SparseRows<float>);
KERNELRANK_INSTANTIATE(SparseRows<double>);
#undef KERNELRANK_INSTANTIATE

}  // namespace kernelrank
