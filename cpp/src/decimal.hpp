// Conversion of decimal numbers to the nearest float or double.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <system_error>

namespace kernelrank {

enum class Reading { done, malformed, too_large };

namespace detail {

inline constexpr std::array<double, 23> kPowersOfTen{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Returns whether the second rounding, from double to float, equals a single rounding of the decimal.
inline bool rounds_once(double value) {
  constexpr std::uint64_t kDropped = (std::uint64_t{1} << 29) - 1, kHalfway = std::uint64_t{1} << 28;
  const double size = std::abs(value);
  const bool normal = size == 0 || (size >= double{std::numeric_limits<float>::min()} &&
                                    size <= double{std::numeric_limits<float>::max()});
  return normal && (std::bit_cast<std::uint64_t>(value) & kDropped) != kHalfway;
}

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

inline const char* read_digits(const char* at, std::uint64_t& number) {
  for (; is_digit(*at); ++at) number = 10 * number + static_cast<unsigned char>(*at - '0');
  return at;
}

inline bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b; });
}

// Returns whether a decimal that is out of range is too large rather than too small: the sign of its exponent when its
// first nonzero digit is placed before the point.
inline bool is_large(std::string_view text) {
  constexpr std::int64_t kFar = std::int64_t{1} << 40;  // beyond the length of any text
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::size_t point = std::min(text.find('.'), e), lead = text.find_first_of("123456789");
  std::int64_t exponent = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(lead);
  if (e < text.size()) {
    const bool negative = text[e + 1] == '-';
    std::int64_t written = 0;
    for (const char c : text.substr(e + 1)) {
      if (is_digit(c)) written = std::min(kFar, 10 * written + (c - '0'));
    }
    exponent += negative ? -written : written;
  }
  return exponent > 0;
}

}  // namespace detail

// Parses a short decimal: its digits are an integer that a double represents exactly, and so is the power of ten it is
// multiplied or divided by. One operation on exact numbers is rounded once, correctly. Returns the end of the number,
// or null for other texts. The text must end with a character that is not part of a number.
template <class Number>
const char* read_short_decimal(const char* at, Number& number) {
  constexpr std::ptrdiff_t kMostDigits = 19;  // that always fit 64 bits
  const bool negative = *at == '-';
  at += negative || *at == '+';
  std::uint64_t digits = 0;
  const char* const begin = at;
  at = detail::read_digits(at, digits);
  std::ptrdiff_t n_digits = at - begin, exponent = 0;
  if (*at == '.') {
    const char* const point = ++at;
    at = detail::read_digits(at, digits);
    exponent = point - at;
    n_digits -= exponent;
  }
  if (n_digits == 0 || n_digits > kMostDigits || digits > (std::uint64_t{1} << 53)) return nullptr;
  if (*at == 'e' || *at == 'E') {
    ++at;
    const bool down = *at == '-';
    at += down || *at == '+';
    const char* const first = at;
    std::uint64_t written = 0;
    at = detail::read_digits(at, written);
    if (at == first || at - first > 3) return nullptr;
    exponent += down ? -static_cast<std::ptrdiff_t>(written) : static_cast<std::ptrdiff_t>(written);
  }
  constexpr auto kMostPower = static_cast<std::ptrdiff_t>(detail::kPowersOfTen.size()) - 1;
  if (exponent < -kMostPower || exponent > kMostPower) return nullptr;
  double value = static_cast<double>(digits);
  if (exponent < 0) {
    value /= detail::kPowersOfTen[static_cast<std::size_t>(-exponent)];
  } else {
    value *= detail::kPowersOfTen[static_cast<std::size_t>(exponent)];
  }
  if constexpr (sizeof(Number) < sizeof(double)) {
    if (!detail::rounds_once(value)) return nullptr;
  }
  number = static_cast<Number>(negative ? -value : value);
  return at;
}

// Parses any decimal, "nan", "inf" or "infinity", which must be all of `text`. Underflow gives zero.
template <class Number>
Reading read_decimal(std::string_view text, Number& number) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return Reading::malformed;
  if (detail::equals_ignoring_case(text, "nan")) {
    number = std::numeric_limits<Number>::quiet_NaN();
  } else if (detail::equals_ignoring_case(text, "inf") || detail::equals_ignoring_case(text, "infinity")) {
    number = std::numeric_limits<Number>::infinity();
  } else {
    if (!detail::is_digit(text.front()) && text.front() != '.') return Reading::malformed;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end != text.data() + text.size() || error == std::errc::invalid_argument) return Reading::malformed;
    if (error == std::errc::result_out_of_range) {
      if (detail::is_large(text)) return Reading::too_large;
      number = 0;
    }
    if (std::isinf(number)) return Reading::too_large;  // some libraries report overflow this way
  }
  if (negative) number = -number;
  return Reading::done;
}

}  // namespace kernelrank
