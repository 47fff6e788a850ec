// Reader and writer of svmlight files: <target> [qid:<id>] <index>:<value> ... # comment
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelrank/column.hpp"
#include "kernelrank/parallel.hpp"
#include "kernelrank/text_columns.hpp"

namespace kernelrank {

// An error in a file: the line, the problem, and the offending text, shortened; bytes of the file, not UTF-8.
class FormatError : public std::exception {
 public:
  FormatError(std::size_t line, std::string problem, std::string_view text);
  const char* what() const noexcept override { return problem_.c_str(); }
  const std::string& text() const noexcept { return text_; }
  std::size_t line() const noexcept { return line_; }
  void count_lines_before(std::size_t n) noexcept { line_ += n; }

 private:
  std::size_t line_;
  std::string problem_, text_;
};

enum class IndexBase { automatic, zero, one };

namespace detail {

// Rows of consecutive lines, parsed by one thread.
template <class Number>
struct SvmlightPiece {
  Column<double> targets;
  Column<std::int64_t> row_ends;
  Column<std::int64_t> indices;  // as written
  Column<Number> values;
  QueryColumn queries;
  TextColumn comments;
  std::size_t n_lines = 0;
  std::size_t first_row_line = 0;  // lines count from 1
  bool has_queries = false, has_zero = false;
  std::int64_t largest_index = -1;
  std::size_t largest_index_line = 0;
  std::optional<FormatError> error;

  void clear();
};

}  // namespace detail

// The rows of a file as a CSR matrix with targets, query ids and comments. It is fed with blocks of any size and then
// finished; the result depends neither on the blocks nor on the number of threads. It cannot be used after an
// exception.
template <class Number>
class SvmlightReader {
 public:
  SvmlightReader(IndexBase base, std::optional<std::int64_t> n_features);

  void feed(std::string_view block, int n_threads, Cancellation& cancel);
  void finish(Cancellation& cancel);

  std::size_t n_rows() const noexcept { return targets_.size(); }
  std::int64_t n_features() const noexcept { return n_features_; }
  bool has_queries() const noexcept { return has_queries_; }
  bool has_wide_indices() const noexcept { return is_wide_; }
  Column<double>& targets() noexcept { return targets_; }
  Column<Number>& values() noexcept { return values_; }
  template <class Index>
  Column<Index>& indices() noexcept {
    if constexpr (sizeof(Index) == 8) {
      return wide_indices_;
    } else {
      return indices_;
    }
  }
  Column<std::int64_t>& row_starts() noexcept { return row_starts_; }
  QueryColumn& queries() noexcept { return queries_; }
  const TextColumn& comments() const noexcept { return comments_; }

 private:
  using Piece = detail::SvmlightPiece<Number>;
  struct Place {
    std::size_t row, element;
  };
  void parse(std::string_view lines, int n_threads, Cancellation& cancel);
  void parse_piece(std::string_view lines, bool at_start, Piece& piece, Member& member) const;
  void accept(std::span<Piece> pieces);
  void accept_indices(const Piece& piece);
  void copy(const Piece& piece, Place place);
  void widen();

  IndexBase base_;
  std::optional<std::int64_t> wanted_features_;
  std::int64_t limit_;   // a larger index is an error
  std::int64_t offset_;  // subtracted from every index
  std::int64_t n_features_ = 0;
  std::int64_t largest_index_ = -1;
  std::size_t largest_index_line_ = 0;
  std::size_t n_lines_ = 0;
  bool has_queries_ = false, is_wide_ = false;
  std::string carried_;  // incomplete last line of a block
  std::vector<Piece> pieces_;
  std::vector<Place> places_;

  Column<double> targets_;
  Column<std::int64_t> row_starts_;
  Column<std::int32_t> indices_;
  Column<std::int64_t> wide_indices_;  // replaces indices_ once an index needs 64 bits
  Column<Number> values_;
  QueryColumn queries_;
  TextColumn comments_;
};

// Rows to write. `starts` may begin anywhere; an empty span of texts means that no row has one.
template <class Number>
struct SvmlightRows {
  std::span<const double> targets;
  std::span<const std::int64_t> starts;  // one more than rows
  std::span<const std::int64_t> indices;
  std::span<const Number> values;
  std::span<const std::string_view> queries, comments;
};

// Formats rows as lines, with the fewest digits that round to the same number; zeros are omitted.
template <class Number>
std::string format_svmlight(const SvmlightRows<Number>& rows, std::int64_t first_index);

}  // namespace kernelrank
