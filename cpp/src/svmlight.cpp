#include "kernelrank/svmlight.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include "decimal.hpp"

namespace kernelrank {
namespace {

constexpr std::size_t kBytesAPoll = std::size_t{1} << 16;
constexpr std::size_t kLeastPiece = std::size_t{1} << 14;  // bytes: smaller pieces are not worth a thread
constexpr std::size_t kMostQuoted = 200;
constexpr std::int64_t kLargestIndex = std::numeric_limits<std::int64_t>::max() - 1;
constexpr std::int64_t kLargestNarrow = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// All lines end with '\n', so no loop below checks for the end of the text: every loop stops at a '\n'.
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool ends_line(const char* at) { return *at == '\n' || *at == '#' || (*at == '\r' && at[1] == '\n'); }
bool ends_token(const char* at) { return is_blank(*at) || ends_line(at); }

const char* skip_blanks(const char* at) {
  while (is_blank(*at)) ++at;
  return at;
}

std::string_view token_at(const char* at) {
  const char* end = at;
  while (!ends_token(end)) ++end;
  return {at, static_cast<std::size_t>(end - at)};
}

bool starts_with(const char* at, const char* prefix) {
  for (; *prefix != '\0'; ++at, ++prefix) {
    if (*at != *prefix) return false;
  }
  return true;
}

std::string_view strip(std::string_view text) {
  constexpr const char* kStripped = " \t\r";
  const std::size_t first = text.find_first_not_of(kStripped);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kStripped) + 1 - first);
}

std::string mixed_queries(bool has_one) {
  return has_one ? "this row has a qid, the rows before have none" : "this row has no qid, the rows before have one";
}

}  // namespace

FormatError::FormatError(std::size_t line, std::string problem, std::string_view text)
    : line_(line), problem_(std::move(problem)), text_(text.substr(0, kMostQuoted)) {}

namespace detail {

template <class Number>
void SvmlightPiece<Number>::clear() {
  targets.clear();
  row_ends.clear();
  indices.clear();
  values.clear();
  queries.clear();
  comments.clear();
  n_lines = first_row_line = largest_index_line = 0;
  has_queries = has_zero = false;
  largest_index = -1;
  error.reset();
}

}  // namespace detail

namespace {

// Parses lines into a piece; throws FormatError with the line number within the piece.
template <class Number>
class LineParser {
 public:
  LineParser(detail::SvmlightPiece<Number>& piece, IndexBase base, std::optional<std::int64_t> n_features,
             std::int64_t limit)
      : piece_(piece), base_(base), n_features_(n_features), limit_(limit) {}

  // Parses the line at `at`, which ends before `end`, and returns the start of the next one.
  const char* parse(const char* at, const char* end) {
    ++piece_.n_lines;
    at = skip_blanks(at);
    const bool is_row = !ends_line(at);
    if (is_row) at = read_features(read_query(read_target(at)));
    const auto* const newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    if (is_row && *at == '#') {
      const std::string_view comment = strip({at + 1, static_cast<std::size_t>(newline - at - 1)});
      if (!comment.empty()) piece_.comments.set(piece_.targets.size() - 1, comment);
    }
    return newline + 1;
  }

 private:
  [[noreturn]] void fail(std::string problem, std::string_view text = {}) const {
    throw FormatError(piece_.n_lines, std::move(problem), text);
  }

  const char* read_target(const char* at) {
    double target = 0;
    const char* end = read_short_decimal(at, target);
    if (end == nullptr || !ends_token(end)) {
      const std::string_view token = token_at(at);
      const Reading reading = read_decimal(token, target);
      if (reading == Reading::too_large) fail("target too large for float64, got", token);
      if (reading == Reading::malformed && token.find(',') != token.npos) fail("several targets, got", token);
      if (reading == Reading::malformed) fail("expected a number as target, got", token);
      end = token.data() + token.size();
    }
    if (piece_.targets.empty()) piece_.first_row_line = piece_.n_lines;
    piece_.targets.push(target);
    return skip_blanks(end);
  }

  const char* read_query(const char* at) {
    const bool has_one = starts_with(at, "qid:");
    if (piece_.targets.size() == 1) piece_.has_queries = has_one;
    if (has_one != piece_.has_queries) fail(mixed_queries(has_one));
    if (!has_one) return at;
    const std::string_view token = token_at(at), id = token.substr(4);
    if (id.empty() || id.find_first_of("\r\v\f") != id.npos) fail("expected qid:id, got", token);
    piece_.queries.add(id);
    return skip_blanks(token.data() + token.size());
  }

  const char* read_features(const char* at) {
    std::int64_t* const index = piece_.indices.reserve(0);  // there is room for all elements of the lines
    Number* const value = piece_.values.reserve(0);
    std::int64_t previous = -1;
    bool sorted = true;
    std::size_t n = 0;
    for (; !ends_line(at); ++n) {
      const char* const token = at;
      at = read_index(token, index[n]);
      at = skip_blanks(read_value(at, token, value[n]));
      sorted &= index[n] > previous;
      previous = index[n];
    }
    if (!sorted) sort(index, value, n);
    piece_.indices.extend(n);
    piece_.values.extend(n);
    piece_.row_ends.push(static_cast<std::int64_t>(piece_.indices.size()));
    if (n == 0) return at;
    piece_.has_zero |= index[0] == 0;
    if (index[n - 1] > piece_.largest_index) {
      piece_.largest_index = index[n - 1];
      piece_.largest_index_line = piece_.n_lines;
    }
    return at;
  }

  // Returns the start of the value.
  const char* read_index(const char* token, std::int64_t& index) const {
    std::uint64_t number = 0;
    const char* end = detail::read_digits(token, number);
    if (end == token || *end != ':') fail_at_name(token);
    const char* first = token;
    while (*first == '0') ++first;
    constexpr std::ptrdiff_t kMostDigits = 19;  // more may have wrapped around
    if (end - first > kMostDigits || number > static_cast<std::uint64_t>(kLargestIndex)) {
      fail("index too large, got", token_at(token));
    }
    index = static_cast<std::int64_t>(number);
    if (index > limit_) fail("index beyond n_features=" + std::to_string(*n_features_) + ", got", token_at(token));
    if (index == 0 && base_ == IndexBase::one) fail("index 0 although zero_based=False, got", token_at(token));
    return end + 1;
  }

  [[noreturn]] void fail_at_name(const char* token) const {
    for (const char* name : {"sid:", "cost:"}) {
      if (starts_with(token, name)) fail(std::string(name) + " is not supported, got", token_at(token));
    }
    if (starts_with(token, "qid:")) fail("qid must come right after the target, got", token_at(token));
    fail("expected index:value, got", token_at(token));
  }

  const char* read_value(const char* at, const char* token, Number& value) const {
    const char* const end = read_short_decimal(at, value);
    if (end != nullptr && ends_token(end)) return end;
    const std::string_view text = token_at(at);
    const Reading reading = read_decimal(text, value);
    if (reading == Reading::malformed) fail("expected index:value, got", token_at(token));
    if (reading == Reading::too_large) {
      fail(sizeof(Number) == 8 ? "value too large for float64, got" : "value too large for float32, got",
           token_at(token));
    }
    return text.data() + text.size();
  }

  void sort(std::int64_t* index, Number* value, std::size_t n) {
    row_.resize(n);
    for (std::size_t k = 0; k < n; ++k) row_[k] = {index[k], value[k]};
    const auto index_of = [](const auto& element) { return element.first; };
    std::ranges::sort(row_, {}, index_of);
    const auto twice = std::ranges::adjacent_find(row_, {}, index_of);
    if (twice != row_.end()) fail("an index occurs twice in the row:", std::to_string(twice->first));
    for (std::size_t k = 0; k < n; ++k) std::tie(index[k], value[k]) = row_[k];
  }

  detail::SvmlightPiece<Number>& piece_;
  IndexBase base_;
  std::optional<std::int64_t> n_features_;
  std::int64_t limit_;
  std::vector<std::pair<std::int64_t, Number>> row_;
};

}  // namespace

template <class Number>
SvmlightReader<Number>::SvmlightReader(IndexBase base, std::optional<std::int64_t> n_features)
    : base_(base),
      wanted_features_(n_features),
      limit_(n_features ? *n_features - (base == IndexBase::zero ? 1 : 0) : kLargestIndex),
      offset_(base == IndexBase::zero ? 0 : 1) {
  row_starts_.push(0);
}

template <class Number>
void SvmlightReader<Number>::feed(std::string_view block, int n_threads, Cancellation& cancel) {
  const std::size_t first = block.find('\n');
  if (first == block.npos) {
    carried_.append(block);
    return;
  }
  if (!carried_.empty()) {
    carried_.append(block.substr(0, first + 1));
    parse(carried_, 1, cancel);
    block.remove_prefix(first + 1);
  }
  const std::size_t end = block.rfind('\n') + 1;  // npos + 1 is 0
  if (end > 0) parse(block.substr(0, end), n_threads, cancel);
  carried_.assign(block.substr(end));
}

template <class Number>
void SvmlightReader<Number>::finish(Cancellation& cancel) {
  if (!carried_.empty()) parse(carried_.append("\n"), 1, cancel);
  carried_ = {};
  pieces_.clear();
  const std::int64_t found = largest_index_ < 0 ? 0 : largest_index_ + 1 - offset_;
  n_features_ = wanted_features_.value_or(found);
  if (found > n_features_) {  // only now is it certain that indices start at 0
    throw FormatError(largest_index_line_,
                      "zero-based index beyond n_features=" + std::to_string(n_features_) + ", got",
                      std::to_string(largest_index_));
  }
  if (n_features_ > kLargestNarrow || values_.size() > static_cast<std::size_t>(kLargestNarrow)) widen();
}

template <class Number>
void SvmlightReader<Number>::parse(std::string_view lines, int n_threads, Cancellation& cancel) {
  const std::size_t n = std::min(static_cast<std::size_t>(n_threads), lines.size() / kLeastPiece + 1);
  if (pieces_.size() < n) pieces_.resize(n);
  const auto cut = [&](std::size_t k, std::size_t n_pieces) {
    const std::size_t near = lines.size() * k / n_pieces;
    return near == 0 ? 0 : lines.find('\n', near - 1) + 1;
  };
  bool accepted = false;
  const bool at_start = n_lines_ == 0;
  run_team(static_cast<int>(n), cancel, [&](Member& member) {
    const auto k = static_cast<std::size_t>(member.index()), n_pieces = static_cast<std::size_t>(member.size());
    const std::span<Piece> pieces(pieces_.data(), n_pieces);
    const std::size_t begin = cut(k, n_pieces);
    parse_piece(lines.substr(begin, cut(k + 1, n_pieces) - begin), at_start && k == 0, pieces[k], member);
    member.wait();
    if (member.first() && !member.stop()) {
      accept(pieces);
      accepted = true;
    }
    member.wait();
    if (accepted) copy(pieces[k], places_[k]);
  });
}

template <class Number>
void SvmlightReader<Number>::parse_piece(std::string_view lines, bool at_start, Piece& piece, Member& member) const {
  piece.clear();
  if (at_start && lines.starts_with(kByteOrderMark)) lines.remove_prefix(kByteOrderMark.size());
  const std::size_t most_elements = lines.size() / 4 + 1;  // " 1:2"
  piece.indices.reserve(most_elements);
  piece.values.reserve(most_elements);
  LineParser<Number> parser(piece, base_, wanted_features_, limit_);
  const char *at = lines.data(), *const end = at + lines.size();
  try {
    while (at != end && !member.stop()) {
      const char* const pause = at + std::min(kBytesAPoll, static_cast<std::size_t>(end - at));
      while (at < pause) at = parser.parse(at, end);
    }
  } catch (FormatError& error) {
    piece.error = std::move(error);
  }
}

// Combines the properties of the pieces, in their order, and makes room for their rows.
template <class Number>
void SvmlightReader<Number>::accept(std::span<Piece> pieces) {
  places_.clear();
  Place place{targets_.size(), values_.size()};
  for (Piece& piece : pieces) {
    const std::size_t n_rows = piece.targets.size();
    if (n_rows > 0) {
      if (place.row == 0) has_queries_ = piece.has_queries;
      if (piece.has_queries != has_queries_) {
        throw FormatError(n_lines_ + piece.first_row_line, mixed_queries(piece.has_queries), {});
      }
    }
    if (piece.error) {
      piece.error->count_lines_before(n_lines_);
      throw *piece.error;
    }
    accept_indices(piece);
    queries_.append(piece.queries);
    comments_.append(piece.comments, place.row);
    n_lines_ += piece.n_lines;
    places_.push_back(place);
    place.row += n_rows;
    place.element += piece.values.size();
  }
  targets_.extend(place.row - targets_.size());
  row_starts_.extend(place.row + 1 - row_starts_.size());
  const std::size_t n_new = place.element - values_.size();
  values_.extend(n_new);
  is_wide_ ? void(wide_indices_.extend(n_new)) : void(indices_.extend(n_new));
}

template <class Number>
void SvmlightReader<Number>::accept_indices(const Piece& piece) {
  if (piece.largest_index > largest_index_) {
    largest_index_ = piece.largest_index;
    largest_index_line_ = n_lines_ + piece.largest_index_line;
  }
  if (largest_index_ > kLargestNarrow) widen();
  if (piece.has_zero && offset_ == 1) {  // so the previous indices were zero-based as well
    offset_ = 0;
    for (std::size_t k = 0; k < indices_.size(); ++k) ++indices_[k];
    for (std::size_t k = 0; k < wide_indices_.size(); ++k) ++wide_indices_[k];
  }
}

template <class Number>
void SvmlightReader<Number>::copy(const Piece& piece, Place place) {
  const std::size_t n_rows = piece.targets.size(), n = piece.values.size();
  std::copy_n(piece.targets.data(), n_rows, targets_.data() + place.row);
  std::transform(piece.row_ends.data(), piece.row_ends.data() + n_rows, row_starts_.data() + place.row + 1,
                 [&](std::int64_t end) { return end + static_cast<std::int64_t>(place.element); });
  std::copy_n(piece.values.data(), n, values_.data() + place.element);
  const auto copy_indices = [&]<class Index>(Index* target) {
    std::transform(piece.indices.data(), piece.indices.data() + n, target + place.element,
                   [offset = offset_](std::int64_t index) { return static_cast<Index>(index - offset); });
  };
  is_wide_ ? copy_indices(wide_indices_.data()) : copy_indices(indices_.data());
}

template <class Number>
void SvmlightReader<Number>::widen() {
  if (is_wide_) return;
  is_wide_ = true;
  std::copy_n(indices_.data(), indices_.size(), wide_indices_.extend(indices_.size()));
  indices_ = {};
}

template class SvmlightReader<float>;
template class SvmlightReader<double>;

}  // namespace kernelrank
