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

// A few rows and columns of the block, and what all outputs need of a pair.
struct Tile {
  Range rows, columns;  // of the block
  alignas(64) TileRow first[kTileRows], second[kTileRows], slack[kTileRows];

  TileRow& first_of(std::size_t i) { return first[i - rows.begin]; }
  TileRow& second_of(std::size_t i) { return second[i - rows.begin]; }
  TileRow& slack_of(std::size_t i) { return slack[i - rows.begin]; }
  // Columns that make a pair with row i.
  Range pairs_of(std::size_t i) const { return {std::clamp(i + 1, columns.begin, columns.end), columns.end}; }
};

// One output's numbers of the rows of a block, which begin as its columns do.
struct Output {
  const double* residuals;
  const double* targets;
};

Output output_of(const PairBlock& block, std::size_t output) {
  const std::size_t place = output * block.rows.n_rows + block.first;
  return {block.rows.residuals + place, block.rows.targets + place};
}

// first = W_ij, second = 1 / det.
void invert(const PairBlock& block, Tile& tile) {
  const double* across = block.rows.diagonal + block.first;
  for (std::size_t i = tile.rows.begin; i < tile.rows.end; ++i) {
    const double* between = block.between + i * block.n_columns;
    const double own = block.rows.diagonal[block.first + i];
    double* w = tile.first_of(i);
    double* inverse = tile.second_of(i);
    for (std::size_t j = tile.columns.begin; j < tile.columns.end; ++j) {
      const double w_ij = between[j] + block.shift;
      w[j - tile.columns.begin] = w_ij;
      inverse[j - tile.columns.begin] = 1.0 / (own * across[j] - w_ij * w_ij);
    }
  }
}

// From there to the difference, f_i - f_j = y_i - y_j - first r_i + second r_j, and to what it makes of errors of the
// residuals. The determinant has lost digits where it is much less than its first term, and `slack` allows for that.
void turn_into_differences(const PairBlock& block, Tile& tile) {
  const double* across = block.rows.diagonal + block.first;
  for (std::size_t i = tile.rows.begin; i < tile.rows.end; ++i) {
    const double own = block.rows.diagonal[block.first + i];
    double* first = tile.first_of(i);
    double* second = tile.second_of(i);
    double* slack = tile.slack_of(i);
    for (std::size_t j = tile.columns.begin; j < tile.columns.end; ++j) {
      const std::size_t k = j - tile.columns.begin;
      const double w_ij = first[k], inverse = second[k];
      first[k] = (across[j] + w_ij) * inverse;
      second[k] = (own + w_ij) * inverse;
      slack[k] = std::abs(own * across[j] * inverse) * (std::abs(first[k]) + std::abs(second[k]));
    }
  }
}

// Writes the predictions of the rows of the tile, for one output.
void predict_rows(const PairBlock& block, Tile& tile, const Output& values, double* out) {
  const std::size_t stride = block.rows.n_rows;
  const double* across = block.rows.diagonal + block.first;
  for (std::size_t i = tile.rows.begin; i < tile.rows.end; ++i) {
    const double *w = tile.first_of(i), *inverse = tile.second_of(i);
    const double r_i = values.residuals[i], y_i = values.targets[i];
    double* line = out + (block.first + i) * stride + block.first;
    const Range pairs = tile.pairs_of(i);
    for (std::size_t j = pairs.begin; j < pairs.end; ++j) {
      const std::size_t k = j - tile.columns.begin;
      line[j] = y_i - (across[j] * r_i - w[k] * values.residuals[j]) * inverse[k];
    }
  }
}

// Writes the predictions of the columns of the tile, where they are rows of the same matrix.
void predict_columns(const PairBlock& block, Tile& tile, const Output& values, double* out) {
  alignas(64) TileRow predicted[kTileRows];
  for (std::size_t i = tile.rows.begin; i < tile.rows.end; ++i) {
    const double *w = tile.first_of(i), *inverse = tile.second_of(i);
    const double r_i = values.residuals[i], own = block.rows.diagonal[block.first + i];
    double* line = predicted[i - tile.rows.begin];
    for (std::size_t j = tile.columns.begin; j < tile.columns.end; ++j) {
      const std::size_t k = j - tile.columns.begin;
      line[k] = values.targets[j] - (own * values.residuals[j] - w[k] * r_i) * inverse[k];
    }
  }
  const std::size_t stride = block.rows.n_rows;
  for (std::size_t j = tile.columns.begin; j < tile.columns.end; ++j) {
    double* line = out + (block.first + j) * stride + block.first;
    for (std::size_t i = tile.rows.begin; i < std::min(tile.rows.end, j); ++i) {
      line[i] = predicted[i - tile.rows.begin][j - tile.columns.begin];
    }
  }
}

// Writes which row of each pair of the tile is the higher one, for one output.
void order_rows(const PairBlock& block, Tile& tile, const Output& values, double tolerance, std::int8_t* out) {
  const std::size_t stride = block.rows.n_rows;
  alignas(64) std::int8_t signs[kTileRows][kTileColumns];
  for (std::size_t i = tile.rows.begin; i < tile.rows.end; ++i) {
    const double *first = tile.first_of(i), *second = tile.second_of(i), *slack = tile.slack_of(i);
    const double r_i = values.residuals[i], y_i = values.targets[i];
    std::int8_t* line = signs[i - tile.rows.begin];
    for (std::size_t j = tile.columns.begin; j < tile.columns.end; ++j) {
      const std::size_t k = j - tile.columns.begin;
      const double predicted = y_i - values.targets[j] - first[k] * r_i + second[k] * values.residuals[j];
      const double noise = slack[k] * tolerance;
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

Counts count_tile(Tile& tile, const Output& values, double tolerance) {
  std::int64_t halves = 0, relevant = 0;
  for (std::size_t i = tile.rows.begin; i < tile.rows.end; ++i) {
    const double *first = tile.first_of(i), *second = tile.second_of(i), *slack = tile.slack_of(i);
    const double r_i = values.residuals[i], y_i = values.targets[i];
    const Range pairs = tile.pairs_of(i);
    for (std::size_t j = pairs.begin; j < pairs.end; ++j) {
      const std::size_t k = j - tile.columns.begin;
      const double target = y_i - values.targets[j];
      const double predicted = target - first[k] * r_i + second[k] * values.residuals[j];
      const double agreement = std::copysign(1.0, target) * predicted, noise = slack[k] * tolerance;
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
void predict_tile(const PairBlock& block, Tile& tile, double* out) {
  invert(block, tile);
  const std::size_t size = block.rows.n_rows * block.rows.n_rows;
  for (std::size_t output = 0; output < block.rows.n_outputs; ++output) {
    const Output values = output_of(block, output);
    predict_rows(block, tile, values, out + output * size);
    predict_columns(block, tile, values, out + output * size);
  }
}

KERNELRANK_CLONES
void order_tile(const PairBlock& block, Tile& tile, const double* tolerances, std::int8_t* out) {
  invert(block, tile);
  turn_into_differences(block, tile);
  const std::size_t size = block.rows.n_rows * block.rows.n_rows;
  for (std::size_t output = 0; output < block.rows.n_outputs; ++output) {
    order_rows(block, tile, output_of(block, output), tolerances[output], out + output * size);
  }
}

KERNELRANK_CLONES
void count_outputs(const PairBlock& block, Tile& tile, const double* tolerances, Counts* counts) {
  invert(block, tile);
  turn_into_differences(block, tile);
  for (std::size_t output = 0; output < block.rows.n_outputs; ++output) {
    const Counts found = count_tile(tile, output_of(block, output), tolerances[output]);
    counts[output].halves += found.halves;
    counts[output].pairs += found.pairs;
  }
}

// body(tile) for this member's tiles: rows of tiles are dealt out in turns, because upper ones are longer.
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

void predict_held_out(const PairBlock& block, double* out, int n_threads, Cancellation& cancel) {
  run_team(n_threads, cancel,
           [&](Member& member) { for_each_tile(block, member, [&](Tile& tile) { predict_tile(block, tile, out); }); });
  const std::size_t n = block.rows.n_rows;
  for (std::size_t output = 0; output < block.rows.n_outputs; ++output) {
    for (std::size_t i = block.first; i < block.first + block.n_rows; ++i) {
      out[(output * n + i) * n + i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

void order_held_out(const PairBlock& block, const double* tolerances, std::int8_t* out, int n_threads,
                    Cancellation& cancel) {
  run_team(n_threads, cancel, [&](Member& member) {
    for_each_tile(block, member, [&](Tile& tile) { order_tile(block, tile, tolerances, out); });
  });
}

void count_held_out(const PairBlock& block, const double* tolerances, std::int64_t* halves, std::int64_t* pairs,
                    int n_threads, Cancellation& cancel) {
  const std::size_t n_outputs = block.rows.n_outputs;
  std::vector<std::vector<Counts>> counts(static_cast<std::size_t>(n_threads));
  run_team(n_threads, cancel, [&](Member& member) {
    auto& mine = counts[static_cast<std::size_t>(member.index())];
    mine.resize(n_outputs);
    for_each_tile(block, member, [&](Tile& tile) { count_outputs(block, tile, tolerances, mine.data()); });
  });
  for (const auto& each : counts) {
    for (std::size_t output = 0; output < n_outputs; ++output) {
      halves[output] += each[output].halves;
      pairs[output] += each[output].pairs;
    }
  }
}

}  // namespace kernelrank
