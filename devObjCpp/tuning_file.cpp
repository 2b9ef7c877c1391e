#include "tuning_file.hpp"

#include <array>
#include <charconv>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <string_view>

#include "devobj/error.hpp"
#include "qr_orthogonal.hpp"
#include "shapes.hpp"

namespace devobj {
namespace {

// Columns of LU's blocks at most: far more than any matrix gains from.
constexpr std::int64_t lu_block_max = 65536;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// One line of the file: its words, and what an error says of it.
class Line {
 public:
  Line(const std::string& file, int number, std::string_view text) : file_(file), number_(number), text_(text) {
    const std::size_t open = text.find('(');
    check(open != text.npos && text.back() == ')', "is neither METHOD(...) nor BLOCK(...)");
    name_ = trimmed(text.substr(0, open));
    std::string_view rest = text.substr(open + 1, text.size() - open - 2);
    while (true) {
      const std::size_t comma = rest.find(',');
      words_.push_back(trimmed(rest.substr(0, comma)));
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  std::string_view name() const { return name_; }

  template <class... Parts>
  void check(bool ok, const Parts&... parts) const {
    require(ok, "environment variable DEVOBJ_TUNING: ", file_, ", line ", number_, ", '", text_, "': ", parts...);
  }
  void require_words(std::size_t count) const {
    check(words_.size() == count, name_, " has ", words_.size(), " values, must have ", count);
  }

  Tuned routine(std::size_t i) const {
    const std::string_view word = words_[i];
    check(word == "lu" || word == "qr" || word == "qr_apply", "routine is '", word, "', must be lu, qr or qr_apply");
    return word == "lu" ? Tuned::lu : word == "qr" ? Tuned::qr : Tuned::qr_apply;
  }
  Method method(std::size_t i, std::initializer_list<Method> possible) const {
    std::string names;
    for (const Method method : possible) {
      if (method_name(method) == words_[i]) return method;
      names.append(names.empty() ? "" : ", ").append(method_name(method));
    }
    check(false, "method is '", words_[i], "', must be one of: ", names);
    return {};
  }
  /// As a string that stays.
  std::string_view types(std::size_t i) const {
    constexpr std::string_view letters = "sdcz";
    constexpr std::array<std::string_view, 16> sets = {"",  "s",  "d",  "sd",  "c",  "sc",  "dc",  "sdc",
                                                       "z", "sz", "dz", "sdz", "cz", "scz", "dcz", "sdcz"};
    const std::string_view word = words_[i];
    check(!word.empty() && word.find_first_not_of(letters) == word.npos, "types are '", word,
          "', must be letters of sdcz");
    std::size_t set = 0;
    for (const char letter : word) set |= std::size_t(1) << letters.find(letter);
    return sets[set];
  }
  std::int64_t number(std::size_t i, const char* what, std::int64_t least,
                      std::int64_t most = std::numeric_limits<std::int64_t>::max()) const {
    const std::string_view word = words_[i];
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool ok = error == std::errc() && end == word.data() + word.size() && value >= least && value <= most;
    const bool limited = most < std::numeric_limits<std::int64_t>::max();
    check(ok, what, " is '", word, "', must be a number from ", least, limited ? " to " + std::to_string(most) : "");
    return value;
  }

 private:
  const std::string& file_;
  int number_;
  std::string_view text_, name_;
  std::vector<std::string_view> words_;
};

MethodLine method_line(const Line& line) {
  line.require_words(4);
  const Tuned routine = line.routine(0);
  line.check(routine != Tuned::qr_apply, "routine is 'qr_apply', which has no methods");
  return {routine, line.types(1), line.number(2, "from", 0),
          line.method(3, {Method::lapack, Method::hybrid, Method::native})};
}

BlockLine block_line(const Line& line) {
  line.require_words(6);
  const Tuned routine = line.routine(0);
  const Method method =
      routine == Tuned::lu ? line.method(1, {Method::hybrid, Method::native})
      : routine == Tuned::qr
          ? line.method(1, {Method::hybrid, Method::native, Method::block_householder, Method::givens})
          : line.method(1, {Method::hybrid});
  const bool wide = method == Method::native || routine == Tuned::qr_apply;
  const std::int64_t most = routine == Tuned::lu ? lu_block_max : wide ? qr_native_block_max : qr_block_max;
  const std::int64_t block = line.number(4, "block", 1, most);
  const bool halves = routine == Tuned::lu && method == Method::native;
  const std::int64_t inner_block = line.number(5, "inner_block", 0, halves ? block : 0);
  return {routine, method, line.types(2), line.number(3, "from", 0), {block, inner_block}};
}

}  // namespace

TuningLines read_tuning(std::istream& in, const std::string& file) {
  TuningLines lines{file, {}, {}};
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    const std::string_view code = trimmed(std::string_view(text).substr(0, text.find("//")));
    if (code.empty()) continue;
    const Line line(file, number, code);
    line.check(line.name() == "METHOD" || line.name() == "BLOCK", "is neither METHOD(...) nor BLOCK(...)");
    if (line.name() == "METHOD")
      lines.methods.push_back(method_line(line));
    else
      lines.blocks.push_back(block_line(line));
  }
  require(!in.bad(), "environment variable DEVOBJ_TUNING: ", file, " cannot be read");
  require(!lines.blocks.empty() || !lines.methods.empty(), "environment variable DEVOBJ_TUNING: ", file,
          " has no line METHOD(...) or BLOCK(...)");
  return lines;
}

TuningLines read_tuning(const std::string& file) {
  std::ifstream in(file);
  require(in.is_open(), "environment variable DEVOBJ_TUNING is '", file, "', which cannot be opened");
  return read_tuning(in, file);
}

}  // namespace devobj
