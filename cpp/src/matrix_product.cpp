// After Goto and van de Geijn: Anatomy of high-performance matrix multiplication (2008). Parts of both matrices are
// copied into panels that fit into the cache, padded with zeros to whole tiles: there is a single inner loop, which
// does not depend on the position of its tile in the matrix.
#include <algorithm>
#include <cstdlib>

#include "kernelrank/buffer.hpp"
#include "kernelrank/dense_products.hpp"
#include "kernelrank/dispatch.hpp"

namespace kernelrank {
namespace {

constexpr std::size_t kTileRows = 6;     // of sums in registers
constexpr std::size_t kTileVectors = 2;  // per row of a tile
constexpr std::size_t kDepth = 256;      // terms per panel
constexpr std::size_t kPanelRows = 16 * kTileRows;
constexpr std::size_t kPanelColumns = 512;

// A vector as wide as a register: compilers keep a tile of wider ones in memory, which takes ten times as long.
template <std::size_t n_elements>
struct Register;
template <>
struct Register<2> {
  using Type = double __attribute__((vector_size(16), aligned(alignof(double)), may_alias));
};
template <>
struct Register<4> {
  using Type = double __attribute__((vector_size(32), aligned(alignof(double)), may_alias));
};
template <>
struct Register<8> {
  using Type = double __attribute__((vector_size(64), aligned(alignof(double)), may_alias));
};

// Returns how many numbers a register holds.
std::size_t register_elements() {
#if defined(KERNELRANK_HAVE_TARGET_CLONES)
  if (__builtin_cpu_supports("avx512f")) return 8;
  if (__builtin_cpu_supports("avx2")) return 4;
#endif
  return 2;
}

// Copies `lines` of a matrix, `width` of them interleaved, for some terms; zeros behind the last.
template <std::size_t width, class Number>
void pack(const Number* data, std::ptrdiff_t line_stride, std::ptrdiff_t term_stride, Range lines, Range terms,
          double* to) {
  for (std::size_t line = lines.begin; line < lines.end; line += width, to += width * terms.size()) {
    const std::size_t n = std::min(width, lines.end - line);
    const Number* from =
        data + static_cast<std::ptrdiff_t>(line) * line_stride + static_cast<std::ptrdiff_t>(terms.begin) * term_stride;
    if (n < width) std::fill_n(to, width * terms.size(), 0.0);
    for (std::size_t k = 0; k < terms.size(); ++k, from += term_stride) {
      if (n == width) {  // a loop of fixed length
        for (std::size_t j = 0; j < width; ++j) {
          to[k * width + j] = static_cast<double>(from[static_cast<std::ptrdiff_t>(j) * line_stride]);
        }
      } else {
        for (std::size_t j = 0; j < n; ++j) {
          to[k * width + j] = static_cast<double>(from[static_cast<std::ptrdiff_t>(j) * line_stride]);
        }
      }
    }
  }
}

// Adds the products of a tile's rows and columns to its sums, or to zero; rows of sums are `stride` apart.
template <std::size_t n_elements>
void add_tile(const double* rows, const double* columns, std::size_t n_terms, bool to_zero, double* sums,
              std::size_t stride) {
  using Vector = typename Register<n_elements>::Type;
  Vector tile[kTileRows][kTileVectors] = {};
  const auto at = [](double* from) -> Vector& { return *reinterpret_cast<Vector*>(from); };
  for (std::size_t i = 0; !to_zero && i < kTileRows; ++i) {
    for (std::size_t v = 0; v < kTileVectors; ++v) tile[i][v] = at(sums + i * stride + v * n_elements);
  }
  for (std::size_t k = 0; k < n_terms; ++k, rows += kTileRows, columns += kTileVectors * n_elements) {
    for (std::size_t i = 0; i < kTileRows; ++i) {
      for (std::size_t v = 0; v < kTileVectors; ++v) {
        tile[i][v] += rows[i] * *reinterpret_cast<const Vector*>(columns + v * n_elements);
      }
    }
  }
  for (std::size_t i = 0; i < kTileRows; ++i) {
    for (std::size_t v = 0; v < kTileVectors; ++v) at(sums + i * stride + v * n_elements) = tile[i][v];
  }
}

// Adds the products of two panels to a part of `out`, or to zero; rows of `out` are `stride` apart.
template <std::size_t n_elements>
KERNELRANK_CLONES void add_panels(const double* rows, const double* columns, std::size_t n_rows, std::size_t n_columns,
                                  std::size_t n_terms, bool to_zero, double* out, std::size_t stride) {
  constexpr std::size_t kTileColumns = kTileVectors * n_elements;
  double edge[kTileRows * kTileColumns] = {};
  for (std::size_t j = 0; j < n_columns; j += kTileColumns) {
    for (std::size_t i = 0; i < n_rows; i += kTileRows) {
      const std::size_t height = std::min(kTileRows, n_rows - i), width = std::min(kTileColumns, n_columns - j);
      const bool whole = height == kTileRows && width == kTileColumns;
      double* at = out + i * stride + j;
      if (!whole && !to_zero) {
        for (std::size_t r = 0; r < height; ++r) std::copy_n(at + r * stride, width, edge + r * kTileColumns);
      }
      add_tile<n_elements>(rows + i * n_terms, columns + j * n_terms, n_terms, to_zero, whole ? at : edge,
                           whole ? stride : kTileColumns);
      if (!whole) {
        for (std::size_t r = 0; r < height; ++r) std::copy_n(edge + r * kTileColumns, width, at + r * stride);
      }
    }
  }
}

template <std::size_t n_elements, class Number>
void multiply(const Dense<Number>& left, const Dense<double>& right, double* out, int n_threads, Cancellation& cancel) {
  const std::size_t n_rows = left.n_rows, n_terms = left.n_columns, n_columns = right.n_columns;
  const std::size_t n_tasks = (n_rows + kPanelRows - 1) / kPanelRows;
  const auto most_threads = static_cast<int>(std::clamp<std::size_t>(n_tasks, 1, 1024));
  run_team(std::min(n_threads, most_threads), cancel, [&](Member& member) {
    Buffer<double> row_panel, column_panel;
    row_panel.resize(kPanelRows * kDepth), column_panel.resize(kPanelColumns * kDepth);
    const Range mine = member.share(n_rows, kPanelRows);
    if (n_terms == 0) std::fill(out + mine.begin * n_columns, out + mine.end * n_columns, 0.0);
    for (std::size_t j = 0; j < n_columns; j += kPanelColumns) {
      const Range columns{j, std::min(n_columns, j + kPanelColumns)};
      for (std::size_t k = 0; k < n_terms; k += kDepth) {
        const Range terms{k, std::min(n_terms, k + kDepth)};
        pack<kTileVectors * n_elements>(right.data, right.column_stride, right.row_stride, columns, terms,
                                        column_panel.data());
        member.blocks(
            mine,
            [&](std::size_t begin, std::size_t end) {
              pack<kTileRows>(left.data, left.row_stride, left.column_stride, {begin, end}, terms, row_panel.data());
              add_panels<n_elements>(row_panel.data(), column_panel.data(), end - begin, columns.size(), terms.size(),
                                     k == 0, out + begin * n_columns + j, n_columns);
            },
            kPanelRows);
      }
    }
  });
}

}  // namespace

template <class Number>
void multiply_matrices(const Dense<Number>& left, const Dense<double>& right, double* out, int n_threads,
                       Cancellation& cancel) {
  const std::size_t n_elements = register_elements();
  const auto work = n_elements == 8   ? &multiply<8, Number>
                    : n_elements == 4 ? &multiply<4, Number>
                                      : &multiply<2, Number>;
  work(left, right, out, n_threads, cancel);
}

template void multiply_matrices(const Dense<float>&, const Dense<double>&, double*, int, Cancellation&);
template void multiply_matrices(const Dense<double>&, const Dense<double>&, double*, int, Cancellation&);

}  // namespace kernelrank
