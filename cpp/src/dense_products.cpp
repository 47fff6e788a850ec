// Compiled without contraction of products and sums, which would leave the rounding to the compiler.
#include "kernelrank/dense_products.hpp"

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "kernelrank/dispatch.hpp"

namespace kernelrank {
namespace {

constexpr std::size_t kLanes = 4;                    // interleaved sums
constexpr std::size_t kBlock = 4096;                 // terms per block of a sum
constexpr std::size_t kSegment = 512;                // elements of a line per read
constexpr std::size_t kTogether = 16;                // lines per read, if they are long
constexpr std::size_t kFew = kLanes, kShort = 128;   // lines per read, if they are short: then they follow in memory
constexpr std::size_t kWide = 8;                     // elements of a line per multiplication
constexpr std::size_t kTask = std::size_t{1} << 16;  // elements between two checks of the cancellation flag
// Lines in working memory are padded: at distances of 4096 bytes they would share few sets of the cache.
constexpr std::size_t kPadded = kSegment + 2 * kWide;

using Wide = double __attribute__((vector_size(kWide * sizeof(double)), aligned(alignof(double)), may_alias));
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double)), aligned(alignof(double)), may_alias));
using Bits = std::int64_t __attribute__((vector_size(kLanes * sizeof(double)), aligned(alignof(double)), may_alias));

// Lines at distances of `stride` elements. Memory behind their ends is readable by wide vectors and has any content.
struct Lines {
  const double* data;
  std::size_t stride;
};

// The matrix as lines of neighbouring elements in memory: its rows or its columns.
template <class Number>
class Lined {
 public:
  Lined(const Dense<Number>& matrix, Elements elements)
      : by_row(std::abs(matrix.column_stride) <= std::abs(matrix.row_stride)),
        n_lines(by_row ? matrix.n_rows : matrix.n_columns),
        length(by_row ? matrix.n_columns : matrix.n_rows),
        matrix_(matrix),
        stride_(by_row ? matrix.row_stride : matrix.column_stride),
        step_(by_row ? matrix.column_stride : matrix.row_stride),
        squared_(elements == Elements::squared),
        n_stored_(count_stored()) {}

  // Elements of some lines as they are multiplied, copied to `memory` if necessary, with zeros behind the last line.
  Lines read(Range lines, Range positions, double* memory) const {
    if constexpr (std::is_same_v<Number, double>) {
      if (lines.end <= n_stored_) {
        const auto stride = static_cast<std::size_t>(stride_);
        return {matrix_.data + lines.begin * stride + positions.begin, stride};
      }
    }
    for (std::size_t line = lines.begin; line < lines.end; ++line) {
      double* to = memory + (line - lines.begin) * kPadded;
      line < n_lines ? copy(line, positions, to) : void(std::fill_n(to, positions.size(), 0.0));
    }
    return {memory, kPadded};
  }

  const bool by_row;
  const std::size_t n_lines, length;

 private:
  // Number of lines that can be multiplied in place: not the last ones, which have no readable memory behind them.
  std::size_t count_stored() const {
    if (!std::is_same_v<Number, double> || step_ != 1 || matrix_.shift != nullptr || squared_) return 0;
    if (stride_ <= 0 || n_lines == 0) return 0;
    const auto stride = static_cast<std::size_t>(stride_), needed = (length + kWide - 1) / kWide * kWide;
    const std::size_t there = (n_lines - 1) * stride + length;
    return there < needed ? 0 : std::min(n_lines, (there - needed) / stride + 1);
  }

  void copy(std::size_t line, Range positions, double* to) const {
    const std::size_t n = positions.size();
    const auto begin = static_cast<std::ptrdiff_t>(positions.begin);
    const Number* from = matrix_.data + static_cast<std::ptrdiff_t>(line) * stride_ + begin * step_;
    if (step_ == 1) {
      for (std::size_t k = 0; k < n; ++k) to[k] = static_cast<double>(from[k]);
    } else {
      for (std::size_t k = 0; k < n; ++k) to[k] = static_cast<double>(from[static_cast<std::ptrdiff_t>(k) * step_]);
    }
    if (matrix_.shift != nullptr) shift(line, positions, to);
    if (squared_) {
      for (std::size_t k = 0; k < n; ++k) to[k] *= to[k];
    }
  }

  void shift(std::size_t line, Range positions, double* to) const {
    const std::size_t n = positions.size();
    const bool some_drift = matrix_.origins != nullptr;
    if (!by_row && !(some_drift && matrix_.drifts[line])) {
      for (std::size_t k = 0; k < n; ++k) to[k] -= matrix_.shift[line];
    } else if (!by_row) {
      for (std::size_t k = 0; k < n; ++k) to[k] -= origin(positions.begin + k, line);
    } else if (!some_drift) {
      for (std::size_t k = 0; k < n; ++k) to[k] -= matrix_.shift[positions.begin + k];
    } else {
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t column = positions.begin + k;
        to[k] -= matrix_.drifts[column] ? origin(line, column) : matrix_.shift[column];
      }
    }
  }

  double origin(std::size_t row, std::size_t column) const {
    return static_cast<double>(matrix_.data[matrix_.origins[row] * matrix_.row_stride +
                                            static_cast<std::ptrdiff_t>(column) * matrix_.column_stride]);
  }

  const Dense<Number>& matrix_;
  const std::ptrdiff_t stride_, step_;
  const bool squared_;
  const std::size_t n_stored_;
};

// Factors of the remainder of a line after whole lanes.
struct Rest {
  Rest(const double* v, std::size_t n) {
    for (std::size_t lane = 0; lane < n % kLanes; ++lane) factors[lane] = v[n - n % kLanes + lane], mask[lane] = -1;
  }
  Lanes factors = {};
  Bits mask = {};
};

// Adds the products of four lines and v to the lanes of each.
void add_along(Lines lines, const double* v, const Rest& rest, std::size_t n, Lanes* sums) {
  const double *a = lines.data, *b = a + lines.stride, *c = b + lines.stride, *d = c + lines.stride;
  Lanes of_a = sums[0], of_b = sums[1], of_c = sums[2], of_d = sums[3];
  const auto at = [](const double* from) -> const Lanes& { return *reinterpret_cast<const Lanes*>(from); };
  std::size_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    of_a += at(a + k) * at(v + k);
    of_b += at(b + k) * at(v + k);
    of_c += at(c + k) * at(v + k);
    of_d += at(d + k) * at(v + k);
  }
  if (k < n) {
    const auto add = [&](const double* from, Lanes& sum) {
      sum += reinterpret_cast<Lanes>(*reinterpret_cast<const Bits*>(from + k) & rest.mask) * rest.factors;
    };
    add(a, of_a), add(b, of_b), add(c, of_c), add(d, of_d);
  }
  sums[0] = of_a, sums[1] = of_b, sums[2] = of_c, sums[3] = of_d;
}

// Adds the lanes of four sums, (0 + 2) + (1 + 3) of each.
void add_lanes(const Lanes* sums, Lanes& out) {
  const Lanes a = sums[0], b = sums[1], c = sums[2], d = sums[3];
  const Lanes ab = __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
  const Lanes cd = __builtin_shufflevector(c, d, 0, 1, 4, 5) + __builtin_shufflevector(c, d, 2, 3, 6, 7);
  out = __builtin_shufflevector(ab, cd, 0, 2, 4, 6) + __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
}

// out[line] = sum over a block of the elements of the line, times v
template <class Number>
KERNELRANK_CLONES void sum_along(const Lined<Number>& matrix, Range lines, Range block, const double* v, double* out) {
  double memory[kLanes * kPadded];
  const Rest rest(v + block.begin, block.size());
  for (std::size_t line = lines.begin; line < lines.end; line += kLanes) {
    Lanes sums[kLanes] = {}, found;
    for (std::size_t begin = block.begin; begin < block.end; begin += kSegment) {
      const std::size_t end = std::min(block.end, begin + kSegment);
      add_along(matrix.read({line, line + kLanes}, {begin, end}, memory), v + begin, rest, end - begin, sums);
    }
    add_lanes(sums, found);
    for (std::size_t j = 0; j < std::min(kLanes, lines.end - line); ++j) out[line + j] = found[j];
  }
}

// Adds products of n lines to the lanes. Elements behind the end of a line are included and ignored later.
template <std::size_t n>
void add_across(Lines lines, const double* v, std::size_t length, double* sums) {
  for (std::size_t k = 0; k < length; k += kWide) {
    for (std::size_t lane = 0; lane < std::min(n, kLanes); ++lane) {
      Wide& kept = *reinterpret_cast<Wide*>(sums + lane * kPadded + k);
      Wide sum = kept;
      for (std::size_t line = lane; line < n; line += kLanes) {
        const double* from = lines.data + line * lines.stride + k;
        sum += *reinterpret_cast<const Wide*>(from) * v[line];
      }
      kept = sum;
    }
  }
}

// Adds a block of lines to the lanes, `n_together` at a time. The number changes the speed, not the order of the sums.
template <std::size_t n_together, class Number>
void add_lines(const Lined<Number>& matrix, Range positions, Range block, const double* v, double* memory,
               double* sums) {
  const std::size_t n = positions.size();
  for (std::size_t line = block.begin; line < block.end; line += n_together) {
    const std::size_t end = std::min(block.end, line + n_together);
    const Lines read = matrix.read({line, end}, positions, memory);
    if (end - line == n_together) {
      add_across<n_together>(read, v + line, n, sums);
    } else {
      for (std::size_t j = 0; j < end - line; ++j) {
        add_across<1>({read.data + j * read.stride, 0}, v + line + j, n, sums + j % kLanes * kPadded);
      }
    }
  }
}

// out[position] = sum over a block of lines of the element at the position, times v[line]
template <class Number>
KERNELRANK_CLONES void sum_across(const Lined<Number>& matrix, Range positions, Range block, const double* v,
                                  double* out) {
  double memory[kTogether * kPadded], sums[kLanes * kPadded];
  const std::size_t n = positions.size();
  for (std::size_t lane = 0; lane < kLanes; ++lane) std::fill_n(sums + lane * kPadded, n, 0.0);
  if (matrix.length <= kShort) {
    add_lines<kFew>(matrix, positions, block, v, memory, sums);
  } else {
    add_lines<kTogether>(matrix, positions, block, v, memory, sums);
  }
  const auto at = [&](std::size_t lane, std::size_t k) { return sums[lane * kPadded + k]; };
  for (std::size_t k = 0; k < n; ++k) out[positions.begin + k] = (at(0, k) + at(2, k)) + (at(1, k) + at(3, k));
}

// out[k] = sum of `n_terms` products, where work(outputs, terms, out) computes some outputs of one block of terms.
template <class Work>
void add_blocks(std::size_t n_outputs, std::size_t n_terms, std::size_t outputs_a_task, double* out, int n_threads,
                Cancellation& cancel, const Work& work) {
  const std::size_t n_blocks = std::max<std::size_t>(1, (n_terms + kBlock - 1) / kBlock);
  const std::size_t n_parts = (n_outputs + outputs_a_task - 1) / outputs_a_task, n_tasks = n_parts * n_blocks;
  std::vector<double> later((n_blocks - 1) * n_outputs);  // sums of all blocks but the first
  const auto sums = [&](std::size_t block) { return block == 0 ? out : later.data() + (block - 1) * n_outputs; };
  const auto do_task = [&](std::size_t task, std::size_t) {
    const std::size_t block = task / n_parts, first = task % n_parts * outputs_a_task;
    work(Range{first, std::min(n_outputs, first + outputs_a_task)},
         Range{block * kBlock, std::min(n_terms, (block + 1) * kBlock)}, sums(block));
  };
  const auto most_threads = static_cast<int>(std::clamp<std::size_t>(n_tasks, 1, 1024));
  run_team(std::min(n_threads, most_threads), cancel, [&](Member& member) {
    member.blocks(member.share(n_tasks), do_task, 1);
    member.wait();
    const Range mine = member.share(n_outputs);
    for (std::size_t block = 1; block < n_blocks; ++block) {
      const double* addend = sums(block);
      for (std::size_t k = mine.begin; k < mine.end; ++k) out[k] += addend[k];
    }
  });
}

// What is multiplied with v: each row, or each column.
enum class Each { row, column };

template <class Number>
void multiply(const Dense<Number>& dense, Elements elements, Each each, const double* v, double* out, int n_threads,
              Cancellation& cancel) {
  const Lined<Number> matrix(dense, elements);
  if (matrix.by_row == (each == Each::row)) {
    const std::size_t lines_a_task = std::max(kLanes, kTask / std::clamp<std::size_t>(matrix.length, 1, kBlock));
    add_blocks(matrix.n_lines, matrix.length, lines_a_task, out, n_threads, cancel,
               [&](Range lines, Range block, double* sums) { sum_along(matrix, lines, block, v, sums); });
  } else {
    add_blocks(matrix.length, matrix.n_lines, kSegment, out, n_threads, cancel,
               [&](Range positions, Range block, double* sums) { sum_across(matrix, positions, block, v, sums); });
  }
}

}  // namespace

template <class Number>
void multiply_rows(const Dense<Number>& matrix, const double* w, double* out, int n_threads, Cancellation& cancel) {
  multiply(matrix, Elements::plain, Each::row, w, out, n_threads, cancel);
}

template <class Number>
void multiply_columns(const Dense<Number>& matrix, Elements elements, const double* g, double* out, int n_threads,
                      Cancellation& cancel) {
  multiply(matrix, elements, Each::column, g, out, n_threads, cancel);
}

#define KERNELRANK_INSTANTIATE(NUMBER)                                                           \
  template void multiply_rows(const Dense<NUMBER>&, const double*, double*, int, Cancellation&); \
  template void multiply_columns(const Dense<NUMBER>&, Elements, const double*, double*, int, Cancellation&)
KERNELRANK_INSTANTIATE(float);
KERNELRANK_INSTANTIATE(double);
#undef KERNELRANK_INSTANTIATE

}  // namespace kernelrank
