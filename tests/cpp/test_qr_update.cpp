// The QR updates on every shape, form and method, against the updated matrix itself.
#include "sanitizers.hpp"
#include "update_checks.hpp"

namespace devobj::test {
namespace {

class QrUpdates : public Everywhere {};

struct Shape {
  std::int64_t m, n;
};
// m = n, n + 1, m >> n; around the blocks of 32 and 64; wide ones are for the full form
const std::vector<Shape> shapes =
#if defined(DEVOBJ_TEST_TSAN)  // some of them: who waits for whom does not depend on the shape either
    {{5, 5}, {40, 3}, {97, 66}, {66, 97}};
#else
    {{1, 1}, {5, 5}, {6, 5}, {40, 3}, {33, 32}, {65, 64}, {70, 70}, {97, 66}, {150, 131}, {7, 11}, {66, 97}};
#endif

std::string text(const char* what, Shape s, std::int64_t p, std::int64_t k, QrForm form, std::int64_t sides) {
  return std::string(what) + ": " + std::to_string(s.m) + " x " + std::to_string(s.n) + ", p = " + std::to_string(p) +
         ", k = " + std::to_string(k) + ", " + name_of(form) + ", " + std::to_string(sides) + " right-hand sides";
}
/// For p columns or rows: the first, the middle and the last; if they are more than a block of 64, not the last.
std::vector<std::int64_t> places_in(std::int64_t n, std::int64_t p) {
  std::vector<std::int64_t> k = {0};
  if (n > 1) k.push_back(n / 2);
  if (n > 0 && (p <= 64 || n == 1)) k.push_back(n);
  return k;
}
/// 1, around the blocks, up to n
std::vector<std::int64_t> counts(std::int64_t n) {
  std::vector<std::int64_t> p;
  for (std::int64_t c :
       {std::int64_t(0), std::int64_t(1), std::int64_t(2), std::int64_t(31), std::int64_t(33), n - 1, n})
    if (0 <= c && c <= n && std::find(p.begin(), p.end(), c) == p.end()) p.push_back(c);
  return p;
}
template <class D>
Dense<D> times_minus_one(Dense<D> A) {
  for (std::int64_t e = 0; e < A.size(); ++e) A[e] = -A[e];
  return A;
}
/// A new factorization of the updated matrix does not go by the place k: it is tested for the first and the last one, with
/// AddressSanitizer for the first.
std::vector<UpdateMethod> methods_for(std::int64_t k, std::int64_t last) {
  if (0 < k && (k < last || address_sanitizer)) return {UpdateMethod::update};
  return {UpdateMethod::update, UpdateMethod::refactor};
}

/// visit(shape, form, A, b, f) for all shapes and forms that go together, with 2 right-hand sides (0 in the smallest).
template <class T, class Visit>
void for_all(Visit&& visit) {
  for (Shape s : shapes)
    for (QrForm form : forms()) {
      if (s.m < s.n && form != QrForm::full) continue;
      const std::int64_t sides = s.m == 5 ? 0 : 2;
      const Dense<T> A = random<T>(s.m, s.n, std::uint32_t(s.m + 7 * s.n)), b = random<T>(s.m, sides, 5);
      visit(s, form, A, b, factored(A, b, form), sides);
    }
}

TEST_P(QrUpdates, ColumnsAreAdded) {
  with_type([&]<class T>(T) {
    for_all<T>(
        [&](Shape s, QrForm form, const Dense<T>& A, const Dense<T>& b, const Factored<T>& f, std::int64_t sides) {
          if (form == QrForm::without_q) return;
          for (std::int64_t p : {0, 1, 2, 33, 70})
            for (std::int64_t k : places_in(s.n, p)) {
              if (form == QrForm::economic && s.m < s.n + p) continue;
              const Dense<T> U = random<T>(s.m, p, 3);
              for (UpdateMethod method : methods_for(k, s.n))
                expect_factors(with_cols(A, k, U), b, add_cols(f, k, U, b, q(), {method, 0}),
                               text("add", s, p, k, form, sides));
            }
        });
  });
}

TEST_P(QrUpdates, ColumnsAreRemoved) {
  with_type([&]<class T>(T) {
    for_all<T>(
        [&](Shape s, QrForm form, const Dense<T>& A, const Dense<T>& b, const Factored<T>& f, std::int64_t sides) {
          for (std::int64_t p : counts(s.n))
            for (std::int64_t k : places_in(s.n - p, p))
              for (UpdateMethod method : methods_for(k, s.n - p))
                expect_factors(without_cols(A, k, p), b, remove_cols(f, k, p, q(), {method, 0}),
                               text("remove", s, p, k, form, sides));
        });
  });
}

TEST_P(QrUpdates, RowsAreAdded) {
  with_type([&]<class T>(T) {
    for_all<T>(
        [&](Shape s, QrForm form, const Dense<T>& A, const Dense<T>& b, const Factored<T>& f, std::int64_t sides) {
          for (std::int64_t p : {0, 1, 2, 33, 70})
            for (std::int64_t k : places_in(s.m, p)) {
              const Dense<T> U = random<T>(p, s.n, 3), e = random<T>(p, sides, 4);
              for (UpdateMethod method : methods_for(k, s.m))
                expect_factors(with_rows(A, k, U), with_rows(b, k, e), add_rows(f, k, U, e, q(), {method, 0}),
                               text("add rows", s, p, k, form, sides));
            }
        });
  });
}

TEST_P(QrUpdates, RowsAreRemoved) {
  with_type([&]<class T>(T) {
    for_all<T>(
        [&](Shape s, QrForm form, const Dense<T>& A, const Dense<T>& b, const Factored<T>& f, std::int64_t sides) {
          for (std::int64_t p : counts(s.m))
            for (std::int64_t k : places_in(s.m - p, p)) {
              if (form == QrForm::economic && s.m - p < s.n) continue;
              if (form == QrForm::without_q && s.m - p < 2 * s.n) continue;  // what stays is well conditioned
              const Dense<T> rows = without_rows(without_rows(A, k + p, s.m - k - p), 0, k);
              const Dense<T> e = without_rows(without_rows(b, k + p, s.m - k - p), 0, k);
              for (UpdateMethod method : methods_for(k, s.m - p))
                if (method == UpdateMethod::update || form != QrForm::without_q)
                  expect_factors(without_rows(A, k, p), without_rows(b, k, p),
                                 remove_rows(f, k, rows, e, b, q(), {method, 0}),
                                 text("remove rows", s, p, k, form, sides));
            }
        });
  });
}

TEST_P(QrUpdates, RankUpdates) {
  with_type([&]<class T>(T) {
    for_all<T>([&](Shape s, QrForm form, const Dense<T>& A, const Dense<T>& b, const Factored<T>& f,
                   std::int64_t sides) {
      if (form == QrForm::without_q) return;
      for (std::int64_t p : {0, 1, 2, 33, 70}) {
        if (form == QrForm::economic && s.m < s.n + p) continue;
        const Dense<T> U = random<T>(s.m, p, 3), V = random<T>(s.n, p, 4);
        for (UpdateMethod method : {UpdateMethod::update, UpdateMethod::refactor}) {
          Padded<T> Q(f.Q, q()), R(f.R, q()), d(f.d, q()), u(U, q()), v(V, q());
          Padded<T> rhs_b(needed(form == QrForm::economic, b), q());
          qr_rank_update<T>(u, v, Q, R, q(), {d.view(), {}, rhs_b.view()}, {method, 0});
          const auto A1 = rounded<T>(
              times_minus_one(residual(times_minus_one(precise(A)), Op::NoTrans, precise(U), adjoint<T>, precise(V))));
          expect_factors(A1, b, Factored<T>{form, Q.read("Q"), R.read("R"), d.read("d")},
                         text("rank update", s, p, 0, form, sides));
          expect_same(u.read("U"), U, "U");
          expect_same(v.read("V"), V, "V");
        }
      }
    });
  });
}

}  // namespace
DEVOBJ_EVERYWHERE(QrUpdates);
}  // namespace devobj::test
