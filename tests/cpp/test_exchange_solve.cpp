// On a GPU only: exchange_solve, with L as it lies and as a stream: the exchange of rows, exactly, and the solution by its
// backward error against a wider precision; column-major and row-major, in several parts, with few columns and many, with
// infinities and NaN. solve_streamed likewise.
#include <algorithm>
#include <cmath>
#include <vector>

#include "devobj/lu.hpp"
#include "factor_checks.hpp"
#include "kernels/native.hpp"
#include "row_exchanges.hpp"
#include "two_parts.hpp"

namespace devobj::test {
namespace {

/// As L is after pivoting: inverses of its tiles are not large.
template <class T>
Dense<T> well_conditioned(std::int64_t n) {
  Dense<T> L = random<T>(n, n, 1);
  for (std::int64_t e = 0; e < L.size(); ++e) L[e] *= real_t<T>(0.25);
  return L;
}

struct Case {
  std::int64_t m, w, columns;
  std::int64_t exchanged = 0, part_rows = 128;
  bool L_by_rows = false, A_by_rows = false;
  int beside = 0;
  bool two_parts = false;
};

class ExchangeSolve : public Everywhere {
 public:
  template <class T>
  Dense<T> result(const Case& c, const Dense<T>& L, const Dense<T>& A, const Exchanges& exchanges, bool streamed) {
    const Op as_rows = Op::Trans;
    Padded<T> l(c.L_by_rows ? op_of(as_rows, L) : L, q()), a(c.A_by_rows ? op_of(as_rows, A) : A, q());
    if constexpr (cuda_built) {
      const std::int64_t rows = c.exchanged;
      Dense<std::int32_t> lists(std::max<std::int64_t>(2 * rows, 1), 1);
      for (std::int64_t t = 0; t < rows; ++t)
        lists[t] = exchanges.source[t], lists[rows + t] = exchanges.displaced_to[t];
      const Matrix<std::int32_t> on_device = upload(lists, q());
      std::int32_t* const first = on_device.view().data;
      const cuda::RowExchange exchange{first, first + rows, rows};
      if constexpr (sizeof(real_t<T>) == 8) {
        if (streamed) {
          const std::int64_t at_once = cuda::exchange_solve_max;
          const Storage stream(static_cast<std::size_t>(cuda::solve_stream_bytes<T>(c.w, at_once, false)), q());
          cuda::solve_stream_of<T>(c.L_by_rows ? Uplo::Upper : Uplo::Lower, c.L_by_rows ? Op::Trans : Op::NoTrans,
                                   Diag::Unit, l, at_once, false, stream.data(), q());
          cuda::exchange_solve<T>(l, c.L_by_rows, a, c.A_by_rows, exchange, c.part_rows, stream.data(), q(), c.beside);
        }
      }
      if (!streamed)
        cuda::exchange_solve<T>(l, c.L_by_rows, a, c.A_by_rows, exchange, c.part_rows, nullptr, q(), c.beside,
                                c.two_parts);
    }
    const Dense<T> X = a.read("A");
    return c.A_by_rows ? op_of(as_rows, X) : X;
  }
  template <class T>
  void check(const Case& c) {
    SCOPED_TRACE(shape_name(c.m, c.columns) + ", w = " + std::to_string(c.w) + ", exchanged: " +
                 std::to_string(c.exchanged) + (c.L_by_rows ? ", L by rows" : "") + (c.A_by_rows ? ", A by rows" : ""));
    if constexpr (cuda_built) {
      ASSERT_LE(c.w, cuda::exchange_solve_rows<T>(q()));
    }
    const Dense<T> L = well_conditioned<T>(c.w);  // its upper triangle is not read
    const Dense<T> A = random<T>(c.m, c.columns, 2);
    const Exchanges exchanges(c.m, c.exchanged, c.part_rows);
    Dense<T> R(c.w, c.w);
    for (std::int64_t j = 0; j < c.w; ++j)
      for (std::int64_t i = j; i < c.w; ++i) R(i, j) = i == j ? T(1) : L(i, j);
    Dense<T> B = A;
    for (std::int64_t j = 0; j < c.columns; ++j)
      for (std::int64_t i = 0; i < c.m; ++i) B(i, j) = A(exchanges.order[i], j);
    for (const bool streamed : {false, true}) {
      if (streamed && sizeof(real_t<T>) != 8) continue;
      SCOPED_TRACE(streamed ? "by a stream" : "L as it lies");
      const Dense<T> X = result(c, L, A, exchanges, streamed);
      expect_same(block_of(X, {c.w, c.m}, {0, c.columns}), block_of(B, {c.w, c.m}, {0, c.columns}), "the rows below");
      // the first and the last columns
      const std::int64_t some = std::min<std::int64_t>(c.columns, 40);
      for (const Range columns : {Range{0, some}, Range{c.columns - some, c.columns}}) {
        const Dense<T> x = block_of(X, {0, c.w}, columns), b = block_of(B, {0, c.w}, columns);
        Dense<Wide> bound = multiply(absolute(widen(R)), absolute(widen(x)));
        for (std::int64_t e = 0; e < bound.size(); ++e) bound[e] *= 4 * Wide(c.w + 8) * Wide(eps<real_t<T>>);
        expect_close(b, multiply(widen(R), widen(x)), bound, "L X");
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(On, ExchangeSolve,
                         testing::Combine(testing::Values(places()[2]), testing::ValuesIn(scalar_types)),
                         instance_name);

TEST_P(ExchangeSolve, EveryPlaceOfLAndA) {
  with_type([&]<class T>(T) {
    for (const bool L_by_rows : {false, true})
      for (const bool A_by_rows : {false, true})
        for (const std::int64_t columns : {1, 9, 1025, 1100})
          check<T>({150, 64, columns, 64, 64, L_by_rows, A_by_rows});
  });
}

TEST_P(ExchangeSolve, EveryWidth) {
  with_type([&]<class T>(T) {
    for (const std::int64_t w : {1, 2, 31, 32, 33, 64, 100, 128})
      for (const bool A_by_rows : {false, true}) {
        if constexpr (cuda_built)
          if (w > cuda::exchange_solve_rows<T>(q())) continue;
        check<T>({200, w, 1030, w, 128, A_by_rows, A_by_rows});
        check<T>({200, w, 1030, 0, 128, A_by_rows, A_by_rows});
      }
  });
}

/// In single precision 128 rows of up to 512 columns are another kernel's.
TEST_P(ExchangeSolve, FewColumns) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built)
      if (cuda::exchange_solve_rows<T>(q()) < 128) return;
    for (const std::int64_t m : {128, 131, 1000})
      for (const std::int64_t columns : {1, 7, 130, 512, 513}) {
        check<T>({m, 128, columns, 128, 128, false, false});
        check<T>({m, 128, columns, 0, 128, false, false});
      }
  });
}

/// The shapes of a block for more columns.
TEST_P(ExchangeSolve, ManyColumns) {
  with_type([&]<class T>(T) {
    for (const bool by_rows : {false, true})
      for (const std::int64_t columns : {4200, 8300}) check<T>({140, 64, columns, 64, 64, by_rows, by_rows});
  });
}

/// Solutions of two parts, in single precision, if they are asked for; but what the solve has not changed stays as it was.
TEST_P(ExchangeSolve, OfTwoParts) {
  with_type([&]<class T>(T) {
    for (const bool by_rows : {false, true})
      for (const std::int64_t columns : {1030, 4200}) {
        const Case c{150, 128, columns, 128, 128, by_rows, by_rows, 0, true};
        if constexpr (cuda_built)
          if (c.w > cuda::exchange_solve_rows<T>(q())) continue;
        SCOPED_TRACE(shape_name(c.w, columns) + (by_rows ? ", by rows" : ""));
        check<T>(c);
        // a row of zeros in L, in the third tile
        Dense<T> L = well_conditioned<T>(c.w);
        const std::int64_t unchanged = 77;
        for (std::int64_t j = 0; j < c.w; ++j) L(unchanged, j) = T(0);
        const Dense<T> A = random<T>(c.m, columns, 6);
        const Exchanges exchanges(c.m, c.exchanged, c.part_rows);
        const Dense<T> X = result(c, L, A, exchanges, false);
        for (std::int64_t j = 0; j < columns; ++j)
          for (const std::int64_t i : {std::int64_t(0), unchanged}) ASSERT_EQ(X(i, j), A(exchanges.order[i], j)) << j;
        if constexpr (sizeof(real_t<T>) == 4) {
          std::int64_t others = 0;
          for (std::int64_t j = 0; j < columns; ++j)
            for (std::int64_t i = 0; i < c.w; ++i)
              others += !of_two_parts(X(i, j)) && X(i, j) != A(exchanges.order[i], j);
          EXPECT_EQ(others, 0);
        }
      }
  });
}

/// The lists of several panels.
TEST_P(ExchangeSolve, SeveralParts) {
  with_type([&]<class T>(T) {
    for (const bool A_by_rows : {false, true})
      for (const std::int64_t columns : {70, 1050}) check<T>({300, 64, columns, 200, 64, false, A_by_rows});
  });
}

/// Blocks for a few multiprocessors, where others have work that stays.
TEST_P(ExchangeSolve, BesideProducts) {
  with_type([&]<class T>(T) {
    for (const bool A_by_rows : {false, true})
      for (const std::int64_t columns : {130, 512, 1001})
        for (const int beside : {1, 16}) {
          check<T>({400, 128, columns, 0, 128, A_by_rows, A_by_rows, beside});
          check<T>({400, 64, columns, 200, 64, false, A_by_rows, beside});
        }
  });
}

/// exchange_rows and exchange_columns for the lists of several panels, and on the panels' own columns.
TEST_P(ExchangeSolve, RowsAlone) {
  with_type([&]<class T>(T) {
    for (auto [rows, part_rows] : {std::pair<std::int64_t, std::int64_t>{200, 64}, {90, 90}, {33, 5}, {250, 100}}) {
      const std::int64_t m = 300;
      SCOPED_TRACE(std::to_string(rows) + " rows, parts of " + std::to_string(part_rows));
      const Exchanges exchanges(m, rows, part_rows);
      Dense<std::int32_t> lists(2 * rows, 1);
      for (std::int64_t t = 0; t < rows; ++t)
        lists[t] = exchanges.source[t], lists[rows + t] = exchanges.displaced_to[t];
      const Matrix<std::int32_t> on_device = upload(lists, q());
      std::int32_t* const first = on_device.view().data;
      const cuda::RowExchange exchange{first, first + rows, rows};
      // the old row of row i of a column that gets the exchanges from row `from` on
      const auto old_row = [&](std::int64_t i, std::int64_t from) {
        for (auto p = static_cast<std::int64_t>(exchanges.parts.size()) - 1; p >= 0 && p * part_rows >= from; --p)
          if (i >= p * part_rows) i = p * part_rows + exchanges.parts[p][i - p * part_rows];
        return i;
      };
      const auto expect = [&](const Dense<T>& A, const Dense<T>& X, auto from, const char* what) {
        for (std::int64_t j = 0; j < A.cols(); ++j)
          for (std::int64_t i = 0; i < m; ++i)
            ASSERT_EQ(X(i, j), A(old_row(i, from(j)), j)) << what << " " << i << ", " << j;
      };
      const auto all = [](std::int64_t) { return std::int64_t(0); };
      if constexpr (cuda_built) {
        const Dense<T> A = random<T>(m, 77, 3);
        Padded<T> a(A, q()), at(op_of(Op::Trans, A), q());
        cuda::exchange_rows<T>(a, exchange, part_rows, q());
        expect(A, a.read("A"), all, "by columns");
        const Dense<T> many = random<T>(m, 300, 5);  // more than the few blocks beside a panel have at once
        Padded<T> b(many, q());
        cuda::exchange_rows<T>(b, exchange, part_rows, q(), {}, true);
        expect(many, b.read("A"), all, "by columns, beside a panel");
        if (part_rows <= cuda::exchange_columns_max<T>) {
          cuda::exchange_columns<T>(at, exchange, part_rows, q());
          expect(A, op_of(Op::Trans, at.read("A")), all, "by rows");
        }
        const Dense<T> own = random<T>(m, rows, 4);
        Padded<T> o(own, q());
        std::vector<std::int64_t> firsts;
        for (std::int64_t f = part_rows; f < rows; f += 2 * part_rows) firsts.push_back(f);
        if (firsts.empty()) continue;
        cuda::exchange_rows<T>(o, exchange, part_rows, q(), firsts);
        expect(
            own, o.read("A"),
            [&](std::int64_t j) {
              for (const std::int64_t f : firsts)
                if (f > j) return f;
              return rows;
            },
            "own columns");
      }
    }
  });
}

/// What is not finite stays in its column, and below: a stream gives what L as it lies gives.
TEST_P(ExchangeSolve, InfinitiesAndNaN) {
  with_type([&]<class T>(T) {
    for (const Case& c : {Case{70, 64, 1040, 0, 128, false, false}, Case{150, 128, 50, 0, 128, false, false}}) {
      if constexpr (cuda_built)
        if (c.w > cuda::exchange_solve_rows<T>(q())) continue;
      SCOPED_TRACE(shape_name(c.w, c.columns));
      const std::int64_t last_row = c.w - 1, last = c.columns - 1;
      const Dense<T> L = well_conditioned<T>(c.w);
      Dense<T> A = random<T>(c.m, c.columns, 4);
      A(5, 3) = infinity<T>;
      A(40, 7) = nan<T>;
      A(last_row, last) = infinity<T>;
      const Exchanges none(c.m, 0, 128);
      for (const bool streamed : {false, true}) {
        if (streamed && sizeof(real_t<T>) != 8) continue;
        const Dense<T> X = result(c, L, A, none, streamed);
        for (std::int64_t j = 0; j < c.columns; ++j)
          for (std::int64_t i = 0; i < c.m; ++i) {
            const bool bad = i < c.w && ((j == 3 && i >= 5) || (j == 7 && i >= 40) || (j == last && i == last_row));
            ASSERT_EQ(std::isfinite(std::abs(X(i, j))), !bad) << i << ", " << j << (streamed ? ", streamed" : "");
          }
        EXPECT_TRUE(std::isinf(std::abs(X(5, 3))));
        EXPECT_TRUE(std::isinf(std::abs(X(last_row, last))));
      }
    }
  });
}

/// solve_streamed: L^-1 B in double precision, real or complex, B by columns or rows, with L as it lies in the LU of either.
class SolveStreamed : public Everywhere {
 public:
  template <class T>
  Dense<T> solution(const Dense<T>& L, const Dense<T>& B, bool by_rows) {
    const Op as_rows = Op::Trans;
    Padded<T> l(by_rows ? op_of(as_rows, L) : L, q()), b(by_rows ? op_of(as_rows, B) : B, q());
    if constexpr (cuda_built && sizeof(real_t<T>) == 8) {
      const std::int64_t rows = most<T>();
      const Storage stream(static_cast<std::size_t>(cuda::solve_stream_bytes<T>(L.rows(), rows, false)), q());
      cuda::solve_stream_of<T>(by_rows ? Uplo::Upper : Uplo::Lower, by_rows ? Op::Trans : Op::NoTrans, Diag::Unit, l,
                               rows, false, stream.data(), q());
      cuda::solve_streamed<T>(stream.data(), b, by_rows, q());
    }
    const Dense<T> X = b.read("B");
    return by_rows ? op_of(as_rows, X) : X;
  }
  template <class T>
  void check(std::int64_t n, std::int64_t columns) {
    const Dense<T> L = well_conditioned<T>(n), B = random<T>(n, columns, 2);
    Dense<T> R(n, n);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = j; i < n; ++i) R(i, j) = i == j ? T(1) : L(i, j);
    Dense<T> first;
    for (const bool by_rows : {false, true}) {
      SCOPED_TRACE(shape_name(n, columns) + (by_rows ? ", by rows" : ""));
      const Dense<T> X = solution(L, B, by_rows);
      if (first.size() == 0) first = X;
      expect_same(X, first, "X by columns and by rows");
      const std::int64_t some = std::min<std::int64_t>(columns, 40);
      for (const Range range : {Range{0, some}, Range{columns - some, columns}}) {
        const Dense<T> x = block_of(X, {0, n}, range), b = block_of(B, {0, n}, range);
        Dense<Wide> bound = multiply(absolute(widen(R)), absolute(widen(x)));
        for (std::int64_t e = 0; e < bound.size(); ++e) bound[e] *= 4 * Wide(n + 8) * Wide(eps<real_t<T>>);
        expect_close(b, multiply(widen(R), widen(x)), bound, "L X");
      }
    }
  }
  template <class T>
  std::int64_t most() {
    if constexpr (cuda_built) return cuda::solve_streamed_rows<T>;
    return 0;
  }
};
INSTANTIATE_TEST_SUITE_P(On, SolveStreamed,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::double_precision, Type::double_complex)),
                         instance_name);

TEST_P(SolveStreamed, EveryHeight) {
  with_type([&]<class T>(T) {
    const std::int64_t most = this->most<T>();
    for (const std::int64_t n : std::vector<std::int64_t>{1, 31, 32, 33, 130, 255, 256, 257, 352, most - 1, most})
      for (const std::int64_t columns : {1, 8, 17, 70, 1100}) check<T>(n, columns);
  });
}
/// The other shapes of a block.
TEST_P(SolveStreamed, ManyColumns) {
  with_type([&]<class T>(T) {
    for (const std::int64_t columns : {1056, 2049, 4100, 7430})
      for (const std::int64_t n : {std::int64_t(200), most<T>()}) check<T>(n, columns);
  });
}
TEST_P(SolveStreamed, InfinitiesAndNaN) {
  with_type([&]<class T>(T) {
    for (const auto& [n, columns] :
         {std::pair<std::int64_t, std::int64_t>{100, 50}, {most<T>(), 50}, {100, 1100}, {most<T>(), 1100}}) {
      SCOPED_TRACE(shape_name(n, columns));
      const std::int64_t last_row = n - 1, last = columns - 1;
      const Dense<T> L = well_conditioned<T>(n);
      Dense<T> B = random<T>(n, columns, 4);
      B(5, 3) = infinity<T>;
      B(40, 7) = nan<T>;
      B(last_row, last) = infinity<T>;
      for (const bool by_rows : {false, true}) {
        const Dense<T> X = solution(L, B, by_rows);
        for (std::int64_t j = 0; j < columns; ++j)
          for (std::int64_t i = 0; i < n; ++i) {
            const bool bad = (j == 3 && i >= 5) || (j == 7 && i >= 40) || (j == last && i == last_row);
            ASSERT_EQ(std::isfinite(std::abs(X(i, j))), !bad) << i << ", " << j << (by_rows ? ", by rows" : "");
          }
        EXPECT_TRUE(std::isinf(std::abs(X(5, 3))));
        EXPECT_TRUE(std::isinf(std::abs(X(last_row, last))));
      }
    }
  });
}

}  // namespace
}  // namespace devobj::test
