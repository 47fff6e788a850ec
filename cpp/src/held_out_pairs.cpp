#include "kernelrank/held_out_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernelrank/dispatch.hpp"

namespace kernelrank {
namespace {

constexpr std::size_t kTileRows = 16;
constexpr std::size_t kTileColumns = 128;

using TileRow = double[kTileColumns];

// Rows and columns of a tile of the block, and the quantities of its pairs that all outputs share.
struct Tile {
  Range rows, columns;  // of the block
  alignas(64) TileRow between[kTileRows], inverse[kTileRows], first[kTileRows], second[kTileRows], slack[kTileRows];

  // Columns that form a pair with row i.
  Range pairs_of(std::size_t i) const { return {std::clamp(i + 1, columns.begin, columns.end), columns.end}; }
};

// Values of an output for the rows of a block; its columns begin at the same row.
struct Output {
  const double* residuals;
  const double* targets;
};

Output output_of(const PairBlock& block, std::size_t output) {
  const std::size_t place = output * block.rows.n_rows + block.first;
  return {block.rows.residuals + place, block.rows.targets + place};
}

// W_ij and 1 / det; then the difference f_i - f_j = y_i - y_j - first r_i + second r_j, and its error from errors of
// the equations. Where the determinant is much smaller than its first term, it has lost digits; `slack` allows for it.
void solve(const PairBlock& block, Tile& tile) {
  const double* across = block.rows.diagonal + block.first;
  const double* scales = block.rows.scales + block.first;
  for (std::size_t i = tile.rows.begin; i < tile.rows.end; ++i) {
    const double* w = block.between + i * block.n_columns;
    const std::size_t line = i - tile.rows.begin;
    const double own = across[i], scale = scales[i];
    for (std::size_t j = tile.columns.begin; j < tile.columns.end; ++j) {
      const std::size_t k = j - tile.columns.begin;
      const double w_ij = w[j] + block.shift, inverse = 1.0 / (own * across[j] - w_ij * w_ij);
      const double first = (across[j] + w_ij) * inverse, second = (own + w_ij) * inverse;
      tile.between[line][k] = w_ij;
      tile.inverse[line][k] = inverse;
      tile.first[line][k] = first;
      tile.second[line][k] = second;
      tile.slack[line][k] =
          std::abs(own * across[j] * inverse) * (std::abs(first) * scale + std::abs(second) * scales[j]);
    }
  }
}

// Writes the predictions of the rows of the tile, and those of its columns, which are rows of the same matrix.
void predict_output(const PairBlock& block, const Tile& tile, const Output& values, Ties ties, double* out) {
  alignas(64) TileRow of_rows[kTileRows], of_columns[kTileRows];
  const std::size_t stride = block.rows.n_rows;
  const double* across = block.rows.diagonal + block.first;
  for (std::size_t i = tile.rows.begin; i < tile.rows.end; ++i) {
    const std::size_t line = i - tile.rows.begin;
    const double *w = tile.between[line], *inverse = tile.inverse[line], *slack = tile.slack[line];
    const double *first = tile.first[line], *second = tile.second[line];
    const double r_i = values.residuals[i], y_i = values.targets[i], own = across[i];
    for (std::size_t j = tile.columns.begin; j < tile.columns.end; ++j) {
      const std::size_t k = j - tile.columns.begin;
      const double r_j = values.residuals[j], y_j = values.targets[j];
      const double f_i = y_i - (across[j] * r_i - w[k] * r_j) * inverse[k];
      const double f_j = y_j - (own * r_j - w[k] * r_i) * inverse[k];
      const bool tied = std::abs(y_i - y_j - first[k] * r_i + second[k] * r_j) <= ties.noise(slack[k]);
      const double mean = (f_i + f_j) / 2;
      of_rows[line][k] = tied ? mean : f_i;
      of_columns[line][k] = tied ? mean : f_j;
    }
    const Range pairs = tile.pairs_of(i);
    std::copy(of_rows[line] + (pairs.begin - tile.columns.begin), of_rows[line] + (pairs.end - tile.columns.begin),
              out + (block.first + i) * stride + block.first + pairs.begin);
  }
  for (std::size_t j = tile.columns.begin; j < tile.columns.end; ++j) {
    double* line = out + (block.first + j) * stride + block.first;
    for (std::size_t i = tile.rows.begin; i < std::min(tile.rows.end, j); ++i) {
      line[i] = of_columns[i - tile.rows.begin][j - tile.columns.begin];
    }
  }
}

// Writes the order of each pair of the tile, for one output.
void order_rows(const PairBlock& block, const Tile& tile, const Output& values, Ties ties, std::int8_t* out) {
  const std::size_t stride = block.rows.n_rows;
  alignas(64) std::int8_t signs[kTileRows][kTileColumns];
  for (std::size_t i = tile.rows.begin; i < tile.rows.end; ++i) {
    const std::size_t row = i - tile.rows.begin;
    const double *first = tile.first[row], *second = tile.second[row], *slack = tile.slack[row];
    const double r_i = values.residuals[i], y_i = values.targets[i];
    std::int8_t* line = signs[row];
    for (std::size_t j = tile.columns.begin; j < tile.columns.end; ++j) {
      const std::size_t k = j - tile.columns.begin;
      const double predicted = y_i - values.targets[j] - first[k] * r_i + second[k] * values.residuals[j];
      const double noise = ties.noise(slack[k]);
      line[k] = static_cast<std::int8_t>((predicted > noise) - (predicted < -noise));
    }
    const Range pairs = tile.pairs_of(i);
    std::copy(line + (pairs.begin - tile.columns.begin), line + (pairs.end - tile.columns.begin),
              out + (block.first + i) * stride + block.first + pairs.begin);
  }
  for (std::size_t j = tile.columns.begin; j < tile.columns.end; ++j) {
    std::int8_t* line = out + (block.first + j) * stride + block.first;
    for (std::size_t i = tile.rows.begin; i < std::min(tile.rows.end, j); ++i) {
      line[i] = static_cast<std::int8_t>(-signs[i - tile.rows.begin][j - tile.columns.begin]);
    }
  }
}

struct Counts {
  std::int64_t halves = 0, pairs = 0;
};

Counts count_tile(const Tile& tile, const Output& values, Ties ties) {
  std::int64_t halves = 0, relevant = 0;
  for (std::size_t i = tile.rows.begin; i < tile.rows.end; ++i) {
    const std::size_t row = i - tile.rows.begin;
    const double *first = tile.first[row], *second = tile.second[row], *slack = tile.slack[row];
    const double r_i = values.residuals[i], y_i = values.targets[i];
    const Range pairs = tile.pairs_of(i);
    for (std::size_t j = pairs.begin; j < pairs.end; ++j) {
      const std::size_t k = j - tile.columns.begin;
      const double target = y_i - values.targets[j];
      const double predicted = target - first[k] * r_i + second[k] * values.residuals[j];
      const double agreement = std::copysign(1.0, target) * predicted, noise = ties.noise(slack[k]);
      const std::int64_t differ = target != 0.0;
      halves += differ & static_cast<std::int64_t>(agreement > noise);
      halves += differ & static_cast<std::int64_t>(agreement >= -noise);
      relevant += differ;
    }
  }
  return {halves, relevant};
}

// Predictions of a tile and all outputs.
KERNELRANK_CLONES
void predict_tile(const PairBlock& block, Tile& tile, const Ties* ties, double* out) {
  solve(block, tile);
  const std::size_t size = block.rows.n_rows * block.rows.n_rows;
  for (std::size_t output = 0; output < block.rows.n_outputs; ++output) {
    predict_output(block, tile, output_of(block, output), ties[output], out + output * size);
  }
}

KERNELRANK_CLONES
void order_tile(const PairBlock& block, Tile& tile, const Ties* ties, std::int8_t* out) {
  solve(block, tile);
  const std::size_t size = block.rows.n_rows * block.rows.n_rows;
  for (std::size_t output = 0; output < block.rows.n_outputs; ++output) {
    order_rows(block, tile, output_of(block, output), ties[output], out + output * size);
  }
}

KERNELRANK_CLONES
void count_outputs(const PairBlock& block, Tile& tile, const Ties* ties, Counts* counts) {
  solve(block, tile);
  for (std::size_t output = 0; output < block.rows.n_outputs; ++output) {
    const Counts found = count_tile(tile, output_of(block, output), ties[output]);
    counts[output].halves += found.halves;
    counts[output].pairs += found.pairs;
  }
}

// Calls body(tile) for the tiles of this member: rows of tiles are distributed in turns, because upper ones are longer.
template <class Body>
void for_each_tile(const PairBlock& block, Member& member, Body&& body) {
  Tile tile;
  const auto step = kTileRows * static_cast<std::size_t>(member.size());
  for (auto i = kTileRows * static_cast<std::size_t>(member.index()); i < block.n_rows; i += step) {
    tile.rows = {i, std::min(block.n_rows, i + kTileRows)};
    for (std::size_t j = i; j < block.n_columns; j += kTileColumns) {
      if (member.stop()) return;
      tile.columns = {j, std::min(block.n_columns, j + kTileColumns)};
      body(tile);
    }
  }
}

}  // namespace

void predict_held_out(const PairBlock& block, const Ties* ties, double* out, int n_threads, Cancellation& cancel) {
  run_team(n_threads, cancel, [&](Member& member) {
    for_each_tile(block, member, [&](Tile& tile) { predict_tile(block, tile, ties, out); });
  });
  const std::size_t n = block.rows.n_rows;
  for (std::size_t output = 0; output < block.rows.n_outputs; ++output) {
    for (std::size_t i = block.first; i < block.first + block.n_rows; ++i) {
      out[(output * n + i) * n + i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

void order_held_out(const PairBlock& block, const Ties* ties, std::int8_t* out, int n_threads, Cancellation& cancel) {
  run_team(n_threads, cancel, [&](Member& member) {
    for_each_tile(block, member, [&](Tile& tile) { order_tile(block, tile, ties, out); });
  });
}

void count_held_out(const PairBlock& block, const Ties* ties, std::int64_t* halves, std::int64_t* pairs, int n_threads,
                    Cancellation& cancel) {
  const std::size_t n_outputs = block.rows.n_outputs;
  std::vector<std::vector<Counts>> counts(static_cast<std::size_t>(n_threads));
  run_team(n_threads, cancel, [&](Member& member) {
    auto& mine = counts[static_cast<std::size_t>(member.index())];
    mine.resize(n_outputs);
    for_each_tile(block, member, [&](Tile& tile) { count_outputs(block, tile, ties, mine.data()); });
  });
  for (const auto& each : counts) {
    for (std::size_t output = 0; output < n_outputs; ++output) {
      halves[output] += each[output].halves;
      pairs[output] += each[output].pairs;
    }
  }
}

}  // namespace kernelrank
