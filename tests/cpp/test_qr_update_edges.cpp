// The QR updates where little room is left: columns in Q's range with hardly a direction beside it.
#include "update_checks.hpp"

namespace devobj::test {
namespace {

class QrUpdateEdges : public Everywhere {};

constexpr QrUpdateOptions by_update{UpdateMethod::update, 0};

struct Shape {
  std::int64_t m, n, p;
};
// rows that are left beside n + p columns: none, one, some
const std::vector<Shape> tight = {{4, 3, 1},  {6, 4, 1},  {10, 8, 2},  {9, 2, 3},     {6, 3, 3},
                                  {17, 8, 5}, {13, 6, 7}, {66, 60, 6}, {150, 145, 4}, {40, 6, 34}};

/// p columns of which `which(j)` says what they are: a column of A, a zero, the column before, or any.
enum class Is { of_A, zero, repeated, any };
template <class T, class Which>
Dense<T> columns(const Dense<T>& A, std::int64_t p, Which&& which) {
  const Dense<T> fresh = random<T>(A.rows(), p, 7);
  Dense<T> U(A.rows(), p);
  for (std::int64_t j = 0; j < p; ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i) switch (j == 0 && which(j) == Is::repeated ? Is::any : which(j)) {
        case Is::of_A:
          U(i, j) = A(i, j % A.cols());
          break;
        case Is::zero:
          U(i, j) = T(0);
          break;
        case Is::repeated:
          U(i, j) = U(i, j - 1);
          break;
        case Is::any:
          U(i, j) = fresh(i, j);
          break;
      }
  return U;
}

/// A column in Q's range is followed by others that are not, whose parts along its replacement must not get lost.
TEST_P(QrUpdateEdges, ColumnsInTheRangeOfQ) {
  with_type([&]<class T>(T) {
    using Which = Is (*)(std::int64_t);
    const std::pair<const char*, Which> kinds[] = {
        {"columns of A", [](std::int64_t) { return Is::of_A; }},
        {"zeros", [](std::int64_t) { return Is::zero; }},
        {"a column of A first", [](std::int64_t j) { return j == 0 ? Is::of_A : Is::any; }},
        {"a zero first", [](std::int64_t j) { return j == 0 ? Is::zero : Is::any; }},
        {"columns of A between others", [](std::int64_t j) { return j % 2 == 0 ? Is::any : Is::of_A; }},
        {"pairs", [](std::int64_t j) { return j % 2 == 0 ? Is::any : Is::repeated; }},
        {"all kinds", [](std::int64_t j) { return static_cast<Is>(j % 4); }}};
    for (const Shape s : tight)
      for (const bool unit : {false, true}) {
        const Dense<T> A =
            unit ? Dense<T>::from(s.m, s.n, [&](auto i, auto j) { return T(i == (5 * j + 3) % s.n ? 1 : 0); })
                 : random<T>(s.m, s.n, 1);
        const Dense<T> b = random<T>(s.m, 2, 2), V = random<T>(s.n, s.p, 4);
        const Factored<T> f = factored(A, b, QrForm::economic);
        for (const auto& [name, which] : kinds) {
          const Dense<T> U = columns(A, s.p, which);
          const std::string what = std::to_string(s.m) + " x " + std::to_string(s.n) + ", p = " + std::to_string(s.p) +
                                   (unit ? " of unit columns, " : ", ") + name;
          for (const std::int64_t k : {std::int64_t(0), s.n})
            expect_factors(with_cols(A, k, U), b, add_cols(f, k, U, b, q(), by_update), what);

          Padded<T> Q(f.Q, q()), R(f.R, q()), d(f.d, q()), u(U, q()), v(V, q()), rhs(b, q());
          qr_rank_update<T>(u, v, Q, R, q(), {d.view(), {}, rhs.view()}, by_update);
          auto A1 = product(Op::NoTrans, precise(U), adjoint<T>, precise(V));  // A + U V^H
          for (std::int64_t e = 0; e < A1.size(); ++e) A1[e] += precise_t<T>(A[e]);
          expect_factors(rounded<T>(A1), b, Factored<T>{QrForm::economic, Q.read("Q"), R.read("R"), d.read("d")},
                         "rank update: " + what);
        }
        const Dense<T> rows = block_of(A, {0, s.p}, {0, s.n});
        expect_factors(without_rows(A, 0, s.p), without_rows(b, 0, s.p),
                       remove_rows(f, 0, rows, Dense<T>(s.p, 2), b, q(), by_update), "rows go");
      }
  });
}

}  // namespace
DEVOBJ_EVERYWHERE(QrUpdateEdges);
}  // namespace devobj::test
