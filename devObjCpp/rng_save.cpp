// A generator's state in six words, and in a file.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "devobj/rng.hpp"
#include "rng_impl.hpp"

namespace devobj {
namespace {

// "devRng 1", the first byte in the lowest bits
constexpr std::uint64_t mark = 0x3120676e52766564u;

// FNV-1a over the first five words: a state that is damaged or no state is known for one.
std::uint64_t checksum(const RngState& saved) {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (int i = 0; i < 5; ++i)
    for (int byte = 0; byte < 8; ++byte)
      sum =
          (sum ^ (static_cast<std::uint64_t>(saved[static_cast<std::size_t>(i)]) >> 8 * byte & 0xff)) * 0x100000001b3u;
  return sum;
}

constexpr std::size_t file_bytes = 48;

}  // namespace

RngState Rng::save() const {
  const auto word = [](std::uint64_t x) { return static_cast<std::int64_t>(x); };
  RngState saved = {word(mark),
                    static_cast<std::int64_t>(impl().generator),
                    word(impl().seed),
                    word(impl().stream),
                    word(impl().position),
                    0};
  saved[5] = word(checksum(saved));
  return saved;
}

void Rng::restore(const RngState& saved) {
  require(saved[0] == static_cast<std::int64_t>(mark), "rng_restore: this is no saved state: it begins with ", saved[0],
          ", not with ", static_cast<std::int64_t>(mark));
  const auto sum = static_cast<std::int64_t>(checksum(saved));
  require(saved[5] == sum, "rng_restore: the saved state is damaged: its checksum is ", saved[5], ", must be ", sum);
  require(saved[1] >= 0 && saved[1] < generators, "rng_restore: the saved state is of generator number ", saved[1],
          ", which this version does not know");
  const auto generator = static_cast<Generator>(saved[1]);
  const auto number = [&](std::size_t i) { return static_cast<std::uint64_t>(saved[i]); };
  front_.reset(new Impl(impl().made_on, generator, number(2), number(3), number(4)));
}

void Rng::save(const std::string& file) const {
  const RngState saved = save();
  char bytes[file_bytes];
  for (std::size_t i = 0; i < file_bytes; ++i)
    bytes[i] = static_cast<char>(static_cast<std::uint64_t>(saved[i / 8]) >> 8 * (i % 8) & 0xff);
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(bytes, file_bytes);
  out.close();
  require(!out.fail(), "rng_save: file '", file, "' cannot be written: ", std::strerror(errno));
}

void Rng::restore(const std::string& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  require(in.is_open(), "rng_restore: file '", file, "' cannot be read: ", std::strerror(errno));
  char bytes[file_bytes + 1] = {};
  in.read(bytes, file_bytes + 1);
  require(in.gcount() == static_cast<std::streamsize>(file_bytes), "rng_restore: file '", file, "' has ",
          in.gcount() > static_cast<std::streamsize>(file_bytes) ? "more than " : "only ",
          std::min<std::streamsize>(in.gcount(), file_bytes), " bytes, a saved state has ", file_bytes);
  RngState saved = {};
  for (std::size_t i = 0; i < file_bytes; ++i)
    saved[i / 8] =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(saved[i / 8]) |
                                  static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << 8 * (i % 8));
  restore(saved);
}

}  // namespace devobj
