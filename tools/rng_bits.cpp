// devobj-rng-bits [GENERATOR [SEED [STREAM [WORDS]]]]: the generator's 32-bit words on standard output, in the
// machine's order of bytes, for batteries of tests: devobj-rng-bits philox 1 | dieharder -g 200 -a. WORDS: how many;
// without it, until the reader has enough.
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "devobj/rng.hpp"

namespace {

std::uint64_t number(const char* text, const char* what) {
  std::uint64_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  devobj::require(error == std::errc() && stop == end, what, " is '", text, "', must be a number of at most 64 bits");
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    using namespace devobj;
    require(argc <= 5, "usage: devobj-rng-bits [GENERATOR [SEED [STREAM [WORDS]]]]");
    std::signal(SIGPIPE, SIG_IGN);
    Queue q;
    Rng rng(q, generator_of(argc > 1 ? argv[1] : "philox"), argc > 2 ? number(argv[2], "SEED") : 1,
            argc > 3 ? number(argv[3], "STREAM") : 0);
    std::uint64_t left = argc > 4 ? number(argv[4], "WORDS") : std::numeric_limits<std::uint64_t>::max();
    constexpr std::uint64_t most = 1u << 20;
    Matrix<std::int32_t> words(most, 1, q);
    std::vector<std::int32_t> bits(most);
    while (left > 0) {
      const auto count = static_cast<std::int64_t>(std::min(left, most));
      const View<std::int32_t> part = words({0, count}, {0, 1});
      rng.words(part, q);
      to_host<std::int32_t>(part, {bits.data(), count, 1, count}, q);
      if (std::fwrite(bits.data(), sizeof(std::int32_t), static_cast<std::size_t>(count), stdout) !=
          static_cast<std::size_t>(count))
        return 0;  // the reader has enough
      left -= static_cast<std::uint64_t>(count);
    }
    return std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "devobj-rng-bits: %s\n", e.what());
    return 1;
  }
}
