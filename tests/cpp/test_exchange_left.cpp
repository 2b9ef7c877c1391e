// On a GPU only: exchange_left, exactly: what pivots of later blocks do to the columns of earlier ones, for blocks of any
// widths and columns that fill one block's shared memory or a cluster's.
#include <vector>

#include "factor_checks.hpp"
#include "kernels/native.hpp"

namespace devobj::test {
namespace {

class ExchangeLeft : public Everywhere {
 public:
  /// A's columns up to the last block have come through the exchanges of their own block.
  template <class T>
  void check(std::int64_t m, std::int64_t n, const std::vector<std::int64_t>& ends, bool pivots_in_a_row = false) {
    SCOPED_TRACE(shape_name(m, n) + ", " + std::to_string(ends.size()) + " blocks");
    const std::int64_t k = ends.back();
    const Dense<T> A = random<T>(m, n, 1);
    Dense<std::int32_t> pivots = pivots_in_a_row ? Dense<std::int32_t>(1, k) : Dense<std::int32_t>(k, 1);
    std::uint32_t state = 1;
    for (std::int64_t i = 0; i < k; ++i) {
      state = state * 1664525u + 1013904223u;
      pivots[i] = static_cast<std::int32_t>(i % 5 == 3 ? i + 1 : i + 1 + state % std::uint32_t(m - i));
    }
    Padded<T> a(A, q());
    Padded<std::int32_t> ipiv(pivots, q());
    if constexpr (cuda_built) {
      const auto blocks = static_cast<std::int64_t>(ends.size());
      ASSERT_TRUE(cuda::exchange_left_possible<T>(m, blocks, q()));
      const Storage workspace(cuda::exchange_left_workspace(m, blocks) + 1, q());
      cuda::exchange_left<T>(a, ipiv, ends, workspace.data(), q());
    }
    Dense<T> expected = A;
    for (std::size_t b = 0; b + 1 < ends.size(); ++b)
      for (std::int64_t j = b == 0 ? 0 : ends[b - 1]; j < ends[b]; ++j)
        for (std::int64_t i = ends[b]; i < k; ++i) std::swap(expected(i, j), expected(pivots[i] - 1, j));
    expect_same(a.read("A"), expected, "A");
  }
};
INSTANTIATE_TEST_SUITE_P(On, ExchangeLeft,
                         testing::Combine(testing::Values(places()[2]), testing::ValuesIn(scalar_types)),
                         instance_name);

TEST_P(ExchangeLeft, BlocksOfAnyWidth) {
  with_type([&]<class T>(T) {
    check<T>(7, 7, {7});
    check<T>(1, 1, {1});
    check<T>(50, 30, {1, 2, 17, 30});
    check<T>(300, 250, {64, 128, 192, 250});
    check<T>(150, 400, {32, 150}, true);
    check<T>(1500, 1400, {1, 1100, 1400});  // more pivots than are in shared memory at a time
  });
}

/// Those of one block, with few threads or many, and, where there are clusters, of two blocks, four and eight, the last of which has fewer
/// rows.
TEST_P(ExchangeLeft, LongColumns) {
  with_type([&]<class T>(T) {
    const std::int64_t most = 8 * 200'000 / static_cast<std::int64_t>(sizeof(T));
    for (const std::int64_t m : {most / 32 + 1, most / 16 + 3, most / 8, most / 4 + 3, most / 2 + 1, most - 5}) {
      if constexpr (cuda_built)
        if (const bool hopper = cuda::gemm_overlapped_usable(q().device());
            !hopper && m > most / 16 + 3 && !cuda::exchange_left_possible<T>(m, 4, q()))
          continue;
      check<T>(m, 41, {8, 24, 40, 41});
    }
  });
}

TEST_P(ExchangeLeft, AsManyBlocksAsPossible) {
  with_type([&]<class T>(T) {
    std::vector<std::int64_t> ends;
    if constexpr (cuda_built)
      for (std::int64_t b = 1; b <= cuda::exchange_left_blocks; ++b) ends.push_back(2 * b);
    check<T>(600, 520, ends);
    if constexpr (cuda_built) {
      EXPECT_FALSE(cuda::exchange_left_possible<T>(600, cuda::exchange_left_blocks + 1, q()));
    }
  });
}

}  // namespace
}  // namespace devobj::test
