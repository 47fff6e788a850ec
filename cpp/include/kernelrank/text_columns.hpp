// Textual columns of a file: query ids and comments.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernelrank/column.hpp"

namespace kernelrank {

// Query ids, one per row: numbers as long as all of them are integers in canonical form, otherwise texts.
class QueryColumn {
 public:
  void add(std::string_view id);
  void append(const QueryColumn& other);
  void clear();
  bool are_texts() const noexcept { return are_texts_; }
  const std::vector<std::string>& texts() const noexcept { return texts_; }  // in order of appearance
  Column<std::int64_t>& numbers() noexcept { return numbers_; }              // the ids, or indices into texts()

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::int64_t place_of(std::string_view text);
  void become_texts();

  bool are_texts_ = false;
  Column<std::int64_t> numbers_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> places_;
};

// Texts, one per row, mostly different. No memory is used before the first row with a text.
class TextColumn {
 public:
  void set(std::size_t row, std::string_view text);  // rows are set in order
  void append(const TextColumn& other, std::size_t first_row);
  void clear();
  bool empty() const noexcept { return ends_.empty(); }
  std::string_view operator[](std::size_t row) const noexcept;  // empty for a row that was not set

 private:
  Column<char> bytes_;
  Column<std::size_t> ends_;
};

}  // namespace kernelrank
