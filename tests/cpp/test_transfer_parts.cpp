// The parts of a staged transfer's pieces: each is taken once, none before its piece is open, and a piece is done when
// all of its parts are.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "devObjCpp/transfer_parts.hpp"

namespace devobj {
namespace {

using host::Part;
using host::Team;

TEST(TransferParts, EachIsTakenOnce) {
  constexpr std::int64_t m = 1543, n = 2000, ahead = 3;
  for (const int threads : {1, 2, 5, 20})
    for (const Short end : {Short::first, Short::last}) {
      SCOPED_TRACE(::testing::Message() << threads << " threads, " << int(end));
      const TransferPieces pieces(m, n, 4, mebibyte, end);
      TransferParts parts(pieces);
      std::vector<std::vector<int>> times(static_cast<std::size_t>(pieces.count()));
      for (std::int64_t p = 0; p < pieces.count(); ++p) {
        std::int64_t count = 0;
        TransferParts alone(pieces);
        alone.open(p + 1);
        while (alone.take([&](std::int64_t piece, Part part) { count = piece == p ? part.count : 0; })) {
        }
        times[p].assign(static_cast<std::size_t>(count), 0);
      }
      std::atomic<std::int64_t> open{0}, early{0};
      const auto work = [&](std::int64_t p, Part part) {
        early += p >= open;
        ++times[p][part.number];
      };
      std::int64_t done = 0;
      const auto open_to = [&](std::int64_t end) { parts.open(open = std::min(end, pieces.count())); };
      const auto turn = [&](Team::Member& me) {
        if (me.rank() > 0)
          return parts.take(work)    ? Team::Turn::something
                 : parts.all_taken() ? Team::Turn::finished
                                     : Team::Turn::nothing;
        if (parts.done(done)) {
          EXPECT_EQ(times[done], std::vector<int>(times[done].size(), 1));
          EXPECT_TRUE(parts.taken(done));
          open_to(++done + ahead);
          return done == pieces.count() ? Team::Turn::finished : Team::Turn::something;
        }
        return parts.take(work) ? Team::Turn::something : Team::Turn::nothing;
      };
      EXPECT_FALSE(parts.take(work)) << "nothing is open";
      open_to(ahead);
      Team::shared().run_turns(threads, turn);
      EXPECT_EQ(early, 0);
      EXPECT_TRUE(parts.all_taken());
      EXPECT_FALSE(parts.take(work)) << "nothing is left";
    }
}

TEST(TransferParts, AShortPieceIsOnePart) {
  const TransferPieces pieces(100, 1, 4, mebibyte, Short::first);
  TransferParts parts(pieces);
  EXPECT_FALSE(parts.taken(0));
  EXPECT_FALSE(parts.done(0));
  parts.open(1);
  std::int64_t seen = 0;
  EXPECT_TRUE(parts.take([&](std::int64_t p, Part part) {
    EXPECT_EQ(p, 0);
    EXPECT_EQ(part.number, 0);
    EXPECT_TRUE(parts.taken(0));
    EXPECT_FALSE(parts.done(0));
    seen = part.count;
  }));
  EXPECT_EQ(seen, 1);
  EXPECT_TRUE(parts.done(0));
}

}  // namespace
}  // namespace devobj
