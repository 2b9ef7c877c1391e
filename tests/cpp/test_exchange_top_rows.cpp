// On a GPU only: exchange_top_rows and the products that bring what it displaced: the bits of exchange_rows and the product.
#include <complex>
#include <string>
#include <type_traits>
#include <vector>

#include "factor_checks.hpp"
#include "kernels/native.hpp"
#include "row_exchanges.hpp"
#include "warp_groups.hpp"

namespace devobj::test {
namespace {

struct Case {
  std::int64_t m, columns, top, part_rows;
};
enum class By { parts, overlapped, three_overlapped, complex_overlapped, residues, residues_in_two };
const char* name_of(By by) {
  switch (by) {
    case By::parts:
      return "gemm_fp16_parts";
    case By::overlapped:
      return "gemm_overlapped";
    case By::three_overlapped:
      return "gemm_3m_overlapped";
    case By::complex_overlapped:
      return "gemm_complex_overlapped";
    case By::residues:
      return "gemm_residues";
    default:
      return "gemm_residues, some columns first";
  }
}
/// Those of the type that take displaced rows.
template <class T>
std::vector<By> products() {
  if (std::is_same_v<T, float>) return {By::parts};
  if (!is_complex<T>) return {By::overlapped, By::residues, By::residues_in_two};
  return {By::three_overlapped, By::complex_overlapped, By::residues, By::residues_in_two};
}

class ExchangeTopRows : public OnWarpGroups {
 protected:
  /// C -= L U. Products of many rows leave multiprocessors to others.
  template <class T>
  void multiply(By by, View<T> L, View<T> U, View<T> C, const cuda::DisplacedRows<T>& displaced) {
    if constexpr (cuda_built) {
      const cuda::Spared spared{C.rows > 3000 ? 16 : 0};
      const std::int64_t m = C.rows, n = C.cols, k = L.cols;
      const auto workspace = [&](std::size_t bytes) { return q().workspace(bytes); };
      if constexpr (std::is_same_v<T, float>) {
        cuda::gemm_fp16_parts(Op::NoTrans, Op::NoTrans, -1, L, U, C,
                              workspace(cuda::gemm_fp16_parts_workspace(m, n, k)), q(), spared, displaced);
      } else {
        if (by == By::residues || by == By::residues_in_two) {
          cuda::FirstPart first;
          if (by == By::residues_in_two) first = {Side::Right, cuda::gemm_residues_first, [] {}};
          return cuda::gemm_residues<T>(Op::NoTrans, Op::NoTrans, -1, L, U, C,
                                        workspace(cuda::gemm_residues_workspace<T>(m, n, k)), q(), spared, first,
                                        displaced);
        }
        if constexpr (!is_complex<T>)
          cuda::gemm_overlapped(-1, L, U, C, nullptr, q(), spared, displaced);
        else if (by == By::three_overlapped)
          cuda::gemm_3m_overlapped(-1, L, U, C, workspace(cuda::gemm_3m_overlapped_workspace(m, n, k)), q(), spared,
                                   displaced);
        else
          cuda::gemm_complex_overlapped(-1, L, U, C, q(), spared, displaced);
      }
    }
  }
  /// A after the exchanges, with aligned columns in a larger matrix, and its rows below minus L times the top ones, which are U; by either way.
  template <class T>
  Dense<T> result(const Case& c, By by, const Dense<T>& A, const Dense<T>& L, const Exchanges& exchanges,
                  bool displaced) {
    constexpr std::int64_t above = 2, left = 1;
    const std::int64_t rows = above + c.m + 2 + c.m % 2;
    const T around = 7;
    Dense<T> host(rows, left + c.columns + 1, around);
    for (std::int64_t j = 0; j < c.columns; ++j)
      for (std::int64_t i = 0; i < c.m; ++i) host(above + i, left + j) = A(i, j);
    const Matrix<T> whole = upload(host, q()), l = upload(L, q());
    if constexpr (cuda_built) {
      Dense<std::int32_t> lists(2 * c.top, 1);
      for (std::int64_t t = 0; t < c.top; ++t)
        lists[t] = exchanges.source[t], lists[c.top + t] = exchanges.displaced_to[t];
      const Matrix<std::int32_t> on_device = upload(lists, q());
      std::int32_t* const first = on_device.view().data;
      const cuda::RowExchange exchange{first, first + c.top, c.top};
      const Storage lists_and_rows(cuda::exchange_top_rows_workspace<T>(c.m, c.columns, c.top), q());
      const View<T> all = whole({above, above + c.m}, {left, left + c.columns}), U = all({0, c.top}, {0, c.columns}),
                    below = all({c.top, c.m}, {0, c.columns});
      cuda::DisplacedRows<T> places;
      if (displaced)
        places = cuda::exchange_top_rows(all, exchange, c.part_rows, const_cast<void*>(lists_and_rows.data()), q());
      else
        cuda::exchange_rows(all, exchange, c.part_rows, q());
      multiply<T>(by, l, U, below, places);
    }
    host = download<T>(whole, q());
    Dense<T> inner(c.m, c.columns);
    for (std::int64_t j = 0; j < host.cols(); ++j)
      for (std::int64_t i = 0; i < rows; ++i) {
        const bool is_around = i < above || i >= above + c.m || j < left || j >= left + c.columns;
        if (!is_around)
          inner(i - above, j - left) = host(i, j);
        else if (host(i, j) != around)
          ADD_FAILURE() << "around the matrix: " << i << ", " << j;
      }
    return inner;
  }
  template <class T>
  void check(const Case& c, const Dense<T>& A) {
    const Dense<T> L = random<T>(c.m - c.top, c.top, 1);
    const Exchanges exchanges(c.m, c.top, c.part_rows);
    for (const By by : products<T>()) {
      if (by == By::residues_in_two && c.columns <= cuda::gemm_residues_first) continue;
      SCOPED_TRACE(shape_name(c.m, c.columns) + ", " + std::to_string(c.top) + " rows by " +
                   std::to_string(c.part_rows) + ", " + name_of(by));
      expect_same(result(c, by, A, L, exchanges, true), result(c, by, A, L, exchanges, false), "");
    }
  }
};
INSTANTIATE_TEST_SUITE_P(On, ExchangeTopRows,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::real, Type::double_precision, Type::double_complex)),
                         instance_name);

/// One part and several, whole tiles of the product and parts of them, few rows below and many, all of them displaced or few. (Double
/// precision is aligned, and of real numbers gemm_residues has an even number of rows.)
TEST_P(ExchangeTopRows, TheBitsOfExchangesBeforeTheProduct) {
  with_type([&]<class T>(T) {
    if constexpr (!std::is_same_v<T, std::complex<float>>)
      for (const Case& c : {Case{4, 1, 2, 1},
                            {40, 7, 10, 3},
                            {288, 128, 128, 128},
                            {300, 130, 256, 128},
                            {416, 256, 256, 64},
                            {1000, 300, 256, 128},
                            {4000, 520, 384, 128},
                            {9000, 1030, 300, 128},
                            {1500, 40, 512, 100}})
        check(c, random<T>(c.m, c.columns, 2));
  });
}

/// Infinities and NaN go with their rows, and nowhere else.
TEST_P(ExchangeTopRows, InfinitiesAndNaN) {
  with_type([&]<class T>(T) {
    if constexpr (!std::is_same_v<T, std::complex<float>>) {
      const Case c{700, 300, 128, 64};
      Dense<T> A = random<T>(c.m, c.columns, 2);
      A(2, 5) = infinity<T>;
      A(100, 130) = nan<T>;
      A(400, 131) = nan<T>;
      check(c, A);
    }
  });
}

/// What takes no displaced rows says so, and nothing is changed.
TEST_P(ExchangeTopRows, Refuses) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built && std::is_same_v<real_t<T>, double>) {
      const std::int64_t m = 300, n = 40, k = 16;
      const Dense<T> A = random<T>(m + 1, n, 3);
      const Matrix<T> C = upload(A, q()), L = upload(random<T>(m + 1, k, 4), q()), U = upload(random<T>(k, n, 5), q()),
                      deep_L(m, 2050, q()), deep_U(2050, n, q());
      const Matrix<std::int32_t> from(m + 1, 1, q());
      const Matrix<T> rows(n, k, q());
      const cuda::DisplacedRows<T> displaced{from.view().data, k, rows};
      const Range all{0, m}, deep{0, 2050}, columns{0, n};
      const auto residues = [&](View<T> left, View<T> right, View<T> to) {
        cuda::gemm_residues<T>(Op::NoTrans, Op::NoTrans, -1, left, right, to, nullptr, q(), {}, {}, displaced);
      };
      EXPECT_THROW(residues(deep_L(all, deep), deep_U, C(all, columns)), Error) << "too deep";
      EXPECT_THROW(residues(L(all, {0, 0}), U({0, 0}, columns), C(all, columns)), Error) << "no product";
      if constexpr (is_complex<T>) {
        EXPECT_THROW(
            cuda::gemm_complex_overlapped(-1, L(all, {0, 0}), U({0, 0}, columns), C(all, columns), q(), {}, displaced),
            Error);
        EXPECT_THROW(cuda::gemm_3m_overlapped(-1, L(all, {0, 0}), U({0, 0}, columns), C(all, columns), nullptr, q(), {},
                                              displaced),
                     Error);
      } else {
        EXPECT_THROW(residues(L(all, {0, k}), U, C(all, columns)), Error) << "not aligned";
        EXPECT_THROW(
            cuda::gemm_overlapped(-1, L(all, {0, 0}), U({0, 0}, columns), C(all, columns), nullptr, q(), {}, displaced),
            Error);
        EXPECT_THROW(cuda::gemm_overlapped(-1, L(all, {0, k}), U, C(all, columns), nullptr, q(), {}, displaced), Error)
            << "not aligned: its ld is odd";
      }
      expect_same(download<T>(C, q()), A, "C");
    }
  });
}

}  // namespace
}  // namespace devobj::test
