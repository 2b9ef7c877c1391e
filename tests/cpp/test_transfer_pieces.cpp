// The pieces of a staged transfer: each element once, in order, none too long, short ones at the right end; and how they are
// packed.
#include <gtest/gtest.h>

#include "devObjCpp/transfer_pieces.hpp"

namespace devobj {
namespace {

using host::Leave;

TEST(TransferPieces, CoverARangeInOrder) {
  for (const std::int64_t total : {1, 2, 3, 7, 8, 9, 64, 100, 1000, 1023, 1024, 1025})
    for (const std::int64_t least : {0, 1, 3, 8, 200})
      for (const std::int64_t most : {1, 2, 8, 100, 2000})
        for (const Short end : {Short::first, Short::last}) {
          SCOPED_TRACE(::testing::Message() << total << " from " << least << " to " << most << ", " << int(end));
          const std::vector<Range> pieces = ramp(total, least, most, end);
          std::int64_t at = 0;
          for (const Range& piece : pieces) {
            EXPECT_EQ(piece.begin, at);
            EXPECT_GE(piece.size(), 1);
            EXPECT_LE(piece.size(), most);
            at = piece.end;
          }
          EXPECT_EQ(at, total);
        }
}

std::vector<std::int64_t> sizes(std::int64_t total, std::int64_t least, std::int64_t most, Short end) {
  std::vector<std::int64_t> out;
  for (const Range& piece : ramp(total, least, most, end)) out.push_back(piece.size());
  return out;
}

TEST(TransferPieces, GrowByHalfFromTheShortest) {
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(sizes(64, 1, 8, Short::first), (Sizes{1, 2, 3, 5, 7, 7, 7, 8, 8, 8, 8}));
  EXPECT_EQ(sizes(64, 1, 8, Short::last), (Sizes{8, 8, 8, 8, 7, 7, 7, 5, 3, 2, 1}));
  EXPECT_EQ(sizes(3, 1, 8, Short::first), (Sizes{1, 2}));
  EXPECT_EQ(sizes(2, 1, 8, Short::first), (Sizes{2}));
  EXPECT_EQ(sizes(20, 8, 8, Short::first), (Sizes{6, 7, 7})) << "no short ones";
}

TEST(TransferPieces, AreWholeColumnsOrPartsOfColumns) {
  constexpr std::int64_t most = 8 << 20;
  for (const std::int64_t bytes : {4, 8, 16})
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                               {1, 5000000},
                               {5000000, 1},
                               {1543, 4000},
                               {3, 700001},
                               {65536, 70},
                               {2200000, 3}})
      for (const Short end : {Short::first, Short::last}) {
        SCOPED_TRACE(::testing::Message() << m << " x " << n << " of " << bytes << " bytes, " << int(end));
        const TransferPieces pieces(m, n, bytes, most, end);
        std::int64_t elements = 0;
        for (std::int64_t p = 0; p < pieces.count(); ++p) {
          const Range r = pieces.row_range(p), c = pieces.col_range(p);
          EXPECT_EQ(r.begin + c.begin * m, elements) << "in column order";
          EXPECT_TRUE(r.size() == m || c.size() == 1);
          EXPECT_LE(r.size() * c.size(), pieces.most_elements());
          elements += r.size() * c.size();
          EXPECT_EQ(pieces.bytes(p).end, elements * bytes);
          EXPECT_EQ(pieces.bytes(p).size(), r.size() * c.size() * bytes);
        }
        EXPECT_EQ(elements, m * n);
        EXPECT_LE(pieces.most_elements() * bytes, most);
        const std::int64_t last = end == Short::first ? 0 : pieces.count() - 1;
        if (m * n * bytes > 2 * pieces.short_bytes && (n == 1 || m * bytes <= pieces.short_bytes)) {
          EXPECT_LE(pieces.row_range(last).size() * pieces.col_range(last).size() * bytes, pieces.short_bytes);
        }
      }
}

TEST(TransferPieces, LeaveTheCachesThatAGpuReadsAndWritesSlowly) {
  constexpr std::int64_t M = mebibyte;
  EXPECT_EQ(leave_packed({0, M / 2}, 100 * M), Leave::in_shared_cache);
  EXPECT_EQ(leave_packed({14 * M - 1, 15 * M}, 100 * M), Leave::in_shared_cache);
  EXPECT_EQ(leave_packed({14 * M, 15 * M}, 100 * M), Leave::in_own_cache);
  EXPECT_EQ(leave_packed({80 * M, 86 * M}, 100 * M), Leave::in_own_cache);
  EXPECT_EQ(leave_packed({80 * M, 86 * M + 1}, 100 * M), Leave::in_shared_cache);
  EXPECT_EQ(leave_packed({99 * M, 100 * M}, 100 * M), Leave::in_shared_cache);
  EXPECT_EQ(leave_packed({0, M}, 2 * M), Leave::in_shared_cache);
  EXPECT_EQ(leave_packed({0, M}, 2 * M - 1), Leave::in_own_cache) << "not worth it";

  EXPECT_EQ(leave_unpacked({0, 8 * M}, 1024 * M), Leave::in_memory);
  EXPECT_EQ(leave_unpacked({888 * M, 896 * M}, 1024 * M), Leave::in_memory);
  EXPECT_EQ(leave_unpacked({888 * M, 896 * M + 1}, 1024 * M), Leave::in_own_cache);
  EXPECT_EQ(leave_unpacked({0, 8 * M}, 8 * M), Leave::in_own_cache);
}

}  // namespace
}  // namespace devobj
