// On a GPU only: exchange_top_rows and the product that brings what it displaced: the bits of exchange_rows and the product.
#include <limits>

#include "factor_checks.hpp"
#include "kernels/native.hpp"
#include "row_exchanges.hpp"
#include "warp_groups.hpp"

namespace devobj::test {
namespace {

struct Case {
  std::int64_t m, columns, top, part_rows;
};

class ExchangeTopRows : public OnWarpGroups {
 protected:
  /// A after the exchanges, and its rows below minus L times the top ones, which are U; by either way.
  Dense<float> result(const Case& c, const Dense<float>& A, const Dense<float>& L, const Exchanges& exchanges,
                      bool displaced) {
    Padded<float> a(A, q()), l(L, q());
    if constexpr (cuda_built) {
      Dense<std::int32_t> lists(2 * c.top, 1);
      for (std::int64_t t = 0; t < c.top; ++t)
        lists[t] = exchanges.source[t], lists[c.top + t] = exchanges.displaced_to[t];
      const Matrix<std::int32_t> on_device = upload(lists, q());
      std::int32_t* const first = on_device.view().data;
      const cuda::RowExchange exchange{first, first + c.top, c.top};
      const Storage lists_and_rows(cuda::exchange_top_rows_workspace<float>(c.m, c.columns, c.top), q()),
          workspace(cuda::gemm_fp16_parts_workspace(c.m - c.top, c.columns, c.top), q());
      const View<float> all = a.view(), U = all({0, c.top}, {0, c.columns}), below = all({c.top, c.m}, {0, c.columns});
      cuda::DisplacedRows<float> rows;
      if (displaced)
        rows = cuda::exchange_top_rows(all, exchange, c.part_rows, const_cast<void*>(lists_and_rows.data()), q());
      else
        cuda::exchange_rows(all, exchange, c.part_rows, q());
      cuda::gemm_fp16_parts(Op::NoTrans, Op::NoTrans, -1, l.view(), U, below, const_cast<void*>(workspace.data()), q(),
                            {}, rows);
    }
    return a.read("A");
  }
  void check(const Case& c, const Dense<float>& A) {
    SCOPED_TRACE(shape_name(c.m, c.columns) + ", " + std::to_string(c.top) + " rows by " + std::to_string(c.part_rows));
    const Dense<float> L = random<float>(c.m - c.top, c.top, 1);
    const Exchanges exchanges(c.m, c.top, c.part_rows);
    expect_same(result(c, A, L, exchanges, true), result(c, A, L, exchanges, false), "");
  }
};
INSTANTIATE_TEST_SUITE_P(On, ExchangeTopRows,
                         testing::Combine(testing::Values(places()[2]), testing::Values(Type::real)), instance_name);

/// One part and several, whole tiles of the product and parts of them, few rows below and many, all of them displaced or few.
TEST_P(ExchangeTopRows, TheBitsOfExchangesBeforeTheProduct) {
  for (const Case c : {Case{2, 1, 1, 1},
                       {40, 7, 10, 3},
                       {288, 128, 128, 128},
                       {300, 130, 256, 128},
                       {416, 256, 256, 64},
                       {1000, 300, 256, 128},
                       {4000, 520, 384, 128},
                       {9000, 1030, 300, 128},
                       {1500, 40, 512, 100}})
    check(c, random<float>(c.m, c.columns, 2));
}

/// Infinities and NaN go with their rows, and nowhere else.
TEST_P(ExchangeTopRows, InfinitiesAndNaN) {
  const Case c{700, 300, 128, 64};
  Dense<float> A = random<float>(c.m, c.columns, 2);
  A(2, 5) = std::numeric_limits<float>::infinity();
  A(100, 130) = std::numeric_limits<float>::quiet_NaN();
  A(400, 131) = std::numeric_limits<float>::quiet_NaN();
  check(c, A);
}

}  // namespace
}  // namespace devobj::test
