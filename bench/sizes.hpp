// The sizes, shapes and types of a sweep, from the words of the command line. Errors: std::invalid_argument with the
// word.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct Shape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  bool operator==(const Shape&) const = default;
};

/// The parts of `text` between separators; empty parts are kept.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

/// A whole word as a positive integer; no sign, no rest.
inline std::int64_t parse_positive(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < 1)
    throw std::invalid_argument("'" + std::string(word) + "' is not a positive integer");
  return value;
}

/// Items separated by commas, each a size "4000" or a range "first:last:step" (last is in it if a step hits it;
/// without a step it is first). Example: "500,1000:3000:1000" is 500, 1000, 2000, 3000.
inline std::vector<std::int64_t> parse_sizes(std::string_view text) {
  std::vector<std::int64_t> sizes;
  for (const std::string_view item : split(text, ',')) {
    const auto parts = split(item, ':');
    if (parts.size() > 3)
      throw std::invalid_argument("'" + std::string(item) + "' is not a size or a range first:last:step");
    const std::int64_t first = parse_positive(parts[0]);
    const std::int64_t last = parts.size() > 1 ? parse_positive(parts[1]) : first;
    const std::int64_t step = parts.size() > 2 ? parse_positive(parts[2]) : first;
    if (last < first) throw std::invalid_argument("the range '" + std::string(item) + "' is empty");
    if ((last - first) / step >= 100000)
      throw std::invalid_argument("the range '" + std::string(item) + "' has more than 100,000 sizes");
    for (std::int64_t i = 0; i <= (last - first) / step; ++i) sizes.push_back(first + i * step);
  }
  return sizes;
}

/// The shapes of a sweep: "square" is n x n, "p:q" is (n p / q, rounded down, at least 1) x n, both for n in `sizes`;
/// "MxN,MxN,..." names the shapes and leaves `sizes` aside.
inline std::vector<Shape> parse_shapes(std::string_view text, const std::vector<std::int64_t>& sizes) {
  std::vector<Shape> shapes;
  if (text.find('x') != std::string_view::npos) {
    for (const std::string_view item : split(text, ',')) {
      const auto parts = split(item, 'x');
      if (parts.size() != 2) throw std::invalid_argument("'" + std::string(item) + "' is not a shape MxN");
      shapes.push_back({parse_positive(parts[0]), parse_positive(parts[1])});
    }
    return shapes;
  }
  std::int64_t p = 1, q = 1;
  if (text != "square") {
    const auto parts = split(text, ':');
    if (parts.size() != 2) throw std::invalid_argument("'" + std::string(text) + "' is not square, p:q or MxN,...");
    p = parse_positive(parts[0]);
    q = parse_positive(parts[1]);
  }
  for (const std::int64_t n : sizes) {
    if (n > std::numeric_limits<std::int64_t>::max() / p)
      throw std::invalid_argument("the shape '" + std::string(text) + "' is too large for n = " + std::to_string(n));
    shapes.push_back({std::max<std::int64_t>(1, n * p / q), n});
  }
  return shapes;
}

/// LAPACK's letters of the four types, "s,d,c,z" or "sdcz".
inline std::vector<char> parse_types(std::string_view text) {
  std::vector<char> types;
  for (const std::string_view item : split(text, ','))
    for (const char letter : item.empty() ? std::string_view("?") : item) {
      if (std::string_view("sdcz").find(letter) == std::string_view::npos)
        throw std::invalid_argument("'" + std::string(text) + "' is not a list of the types s, d, c, z");
      types.push_back(letter);
    }
  return types;
}

/// Numbers of bytes separated by commas, with a suffix K, M or G for powers of 1024: "4K,1M,1G".
inline std::vector<std::int64_t> parse_bytes(std::string_view text) {
  std::vector<std::int64_t> bytes;
  for (std::string_view item : split(text, ',')) {
    int shift = 0;
    if (item.ends_with('K')) shift = 10;
    if (item.ends_with('M')) shift = 20;
    if (item.ends_with('G')) shift = 30;
    if (shift != 0) item.remove_suffix(1);
    const std::int64_t value = parse_positive(item);
    if (value > (std::numeric_limits<std::int64_t>::max() >> shift))
      throw std::invalid_argument("'" + std::string(text) + "' is too many bytes");
    bytes.push_back(value << shift);
  }
  return bytes;
}

}  // namespace bench
