#include <array>
#include <charconv>

#include "kernelrank/svmlight.hpp"

namespace kernelrank {
namespace {

// Appends a number with the fewest digits that round to the same number.
template <class Number>
void append(std::string& text, Number number) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  text.append(digits.data(), end);
}

}  // namespace

template <class Number>
std::string format_svmlight(const SvmlightRows<Number>& rows, std::int64_t first_index) {
  std::string text;
  for (std::size_t row = 0; row < rows.targets.size(); ++row) {
    append(text, rows.targets[row]);
    if (!rows.queries.empty()) text.append(" qid:").append(rows.queries[row]);
    const auto end = static_cast<std::size_t>(rows.starts[row + 1]);
    for (auto k = static_cast<std::size_t>(rows.starts[row]); k < end; ++k) {
      if (rows.values[k] == 0) continue;
      text += ' ';
      append(text, rows.indices[k] + first_index);
      text += ':';
      append(text, rows.values[k]);
    }
    if (!rows.comments.empty() && !rows.comments[row].empty()) text.append(" # ").append(rows.comments[row]);
    text += '\n';
  }
  return text;
}

template std::string format_svmlight(const SvmlightRows<float>&, std::int64_t);
template std::string format_svmlight(const SvmlightRows<double>&, std::int64_t);

}  // namespace kernelrank
