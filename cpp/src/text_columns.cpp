#include "kernelrank/text_columns.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace kernelrank {
namespace {

std::optional<std::int64_t> as_plain_integer(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || (digits.front() == '0' && text != "0")) return {};
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (at != end || error != std::errc{}) return {};
  return number;
}

}  // namespace

void QueryColumn::add(std::string_view id) {
  if (!are_texts_) {
    if (const auto number = as_plain_integer(id)) {
      numbers_.push(*number);
      return;
    }
    become_texts();
  }
  const bool repeats = !numbers_.empty() && texts_[static_cast<std::size_t>(numbers_.back())] == id;
  numbers_.push(repeats ? numbers_.back() : place_of(id));
}

void QueryColumn::append(const QueryColumn& other) {
  if (other.are_texts_ && !are_texts_) become_texts();
  const std::int64_t* const theirs = other.numbers_.data();
  const std::size_t n = other.numbers_.size();
  std::int64_t* const ours = numbers_.extend(n);
  if (!are_texts_) {
    std::copy_n(theirs, n, ours);
  } else if (other.are_texts_) {
    std::vector<std::int64_t> places;
    places.reserve(other.texts_.size());
    for (const std::string& text : other.texts_) places.push_back(place_of(text));
    std::transform(theirs, theirs + n, ours, [&](std::int64_t k) { return places[static_cast<std::size_t>(k)]; });
  } else {
    std::transform(theirs, theirs + n, ours, [&](std::int64_t number) { return place_of(std::to_string(number)); });
  }
}

void QueryColumn::clear() {
  are_texts_ = false;
  numbers_.clear();
  texts_.clear();
  places_.clear();
}

std::int64_t QueryColumn::place_of(std::string_view text) {
  if (const auto found = places_.find(text); found != places_.end()) return found->second;
  const auto place = static_cast<std::int64_t>(texts_.size());
  texts_.emplace_back(text);
  places_.emplace(text, place);
  return place;
}

// Lossless: the integers have the form that std::to_string writes.
void QueryColumn::become_texts() {
  are_texts_ = true;
  for (std::size_t row = 0; row < numbers_.size(); ++row) numbers_[row] = place_of(std::to_string(numbers_[row]));
}

void TextColumn::set(std::size_t row, std::string_view text) {
  const std::size_t n_skipped = row - ends_.size();
  std::fill_n(ends_.extend(n_skipped), n_skipped, bytes_.size());
  std::copy_n(text.data(), text.size(), bytes_.extend(text.size()));
  ends_.push(bytes_.size());
}

void TextColumn::append(const TextColumn& other, std::size_t first_row) {
  for (std::size_t row = 0; row < other.ends_.size(); ++row) {
    if (const std::string_view text = other[row]; !text.empty()) set(first_row + row, text);
  }
}

void TextColumn::clear() {
  bytes_.clear();
  ends_.clear();
}

std::string_view TextColumn::operator[](std::size_t row) const noexcept {
  if (row >= ends_.size()) return {};
  const std::size_t begin = row == 0 ? 0 : ends_[row - 1];
  return {bytes_.data() + begin, ends_[row] - begin};
}

}  // namespace kernelrank
