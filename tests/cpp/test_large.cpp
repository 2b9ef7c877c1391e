// Factorizations where 32 bits do not count the elements: leading dimensions of 2^30 on the host, and more than 2^31
// elements on a GPU.
#include <sys/mman.h>

#include "devobj/rng.hpp"
#include "factor_checks.hpp"

namespace devobj::test {
namespace {

// ---- a leading dimension of 2^30: the pages between the columns are never touched ----

class WideSpacing : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, WideSpacing,
                         ::testing::Combine(::testing::Values(places()[0], places()[1]),
                                            ::testing::Values(Type::real, Type::double_precision, Type::complex,
                                                              Type::double_complex)),
                         instance_name);

template <class T>
class Spaced {
 public:
  static constexpr std::int64_t ld = std::int64_t(1) << 30;
  Spaced(const Dense<T>& A, Queue& q)
      : bytes_(std::size_t(ld * (A.cols() - 1) + A.rows()) * sizeof(T)),
        memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    view = View<T>(static_cast<T*>(memory_), A.rows(), A.cols(), ld);
    to_device<T>({A.data(), A.rows(), A.cols(), A.rows()}, view, q);
  }
  ~Spaced() { munmap(memory_, bytes_); }
  Spaced(const Spaced&) = delete;
  Spaced& operator=(const Spaced&) = delete;
  View<T> view;

 private:
  std::size_t bytes_;
  void* memory_;
};

TEST_P(WideSpacing, FactorsAndSolutions) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 9, n = 6;
    const Dense<T> A = random<T>(m, n, 1), S = random<T>(n, n, 2), B = random<T>(m, 2, 3), C = random<T>(n, 2, 4);
    for (const Way& way : ways(q(), {0, 2})) {
      {
        Spaced<T> a(A, q());
        Padded<std::int32_t> pivots(Dense<std::int32_t>(n, 1), q());
        const std::int64_t info = getrf<T>(a.view, pivots.view(), q(), way.lu());
        EXPECT_EQ(info, 0) << way.name;
        EXPECT_LE(lu_residual(A, {download<T>(a.view, q()), pivots.read("ipiv"), info}), residual_bound) << way.name;
      }
      {
        Spaced<T> a(A, q());
        Padded<T> tau(Dense<T>(n, 1), q());
        geqrf<T>(a.view, tau, q(), way.qr());
        const QrFactors<T> f{download<T>(a.view, q()), tau.read("tau")};
        EXPECT_LE(qr_measures(A, f).residual, residual_bound) << way.name;
        EXPECT_LE(qr_measures(A, f).orthogonality, residual_bound) << way.name;
        orgqr<T>(a.view, tau, q(), way.qr());
        EXPECT_LE(orthogonality(download<T>(a.view, q())), residual_bound) << way.name;
      }
      {
        Spaced<T> s(S, q()), c(C, q());
        Padded<std::int32_t> pivots(Dense<std::int32_t>(n, 1), q());
        EXPECT_EQ(gesv<T>(s.view, pivots.view(), c.view, q(), way.lu()), 0) << way.name;
        EXPECT_LE(solve_residual(Op::NoTrans, S, download<T>(c.view, q()), C), residual_bound) << way.name;
      }
      {
        Spaced<T> a(A, q()), b(B, q());
        Padded<T> plain_a(A, q()), plain_b(B, q());
        EXPECT_EQ(gels<T>(Op::NoTrans, a.view, b.view, q(), way.qr()), 0) << way.name;
        EXPECT_EQ(gels<T>(Op::NoTrans, plain_a, plain_b, q(), way.qr()), 0) << way.name;
        expect_close(download<T>(b.view, q()), widen(plain_b.read("B")), Dense<Wide>(m, 2, Wide(1000 * eps<T>)),
                     way.name);
      }
    }
  });
}

// ---- many elements ----

/// n x n, the same numbers for every call, uniform(-1, 1).
void fill(View<float> A, Queue& q) {
  Rng rng(q, Generator::philox, 12);
  rng.uniform<float>(-1, 1, A, q);
}
/// ||b - A x|| / ||b||, with A filled anew: about 1 for an x that has nothing to do with b.
double of_solution(View<float> A, View<float> x, View<float> b, Queue& q) {
  fill(A, q);
  const double size = lange<float>(Norm::Max, b, q);
  gemv<float>(Op::NoTrans, -1, A, x, 1, b, q);
  return lange<float>(Norm::Max, b, q) / size;
}
/// The measure of A x = b solved by LU, with A 1 = b.
double of_lu(std::int64_t n, Method method, Queue& q) {
  Matrix<float> A(n, n, q), x(n, 1, q), b(n, 1, q);
  Matrix<std::int32_t> ipiv(n, 1, q);
  fill(A, q);
  laset<float>(Uplo::General, 1, 1, x, q);
  gemv<float>(Op::NoTrans, 1, A, x, 0, b, q);
  copy<float>(b, x, q);
  EXPECT_EQ(gesv<float>(A, ipiv.view(), x, q, {method}), 0);
  return of_solution(A, x, b, q);
}
/// ||Q^H A 1 - R 1|| / ||R 1||
double of_qr(std::int64_t n, Method method, Queue& q) {
  Matrix<float> A(n, n, q), tau(n, 1, q), x(n, 1, q), b(n, 1, q);
  fill(A, q);
  laset<float>(Uplo::General, 1, 1, x, q);
  gemv<float>(Op::NoTrans, 1, A, x, 0, b, q);
  geqrf<float>(A, tau, q, {method});
  ormqr<float>(Side::Left, Op::Trans, A, tau, b, q);
  trmv<float>(Uplo::Upper, Op::NoTrans, Diag::NonUnit, A, x, q);
  const double size = lange<float>(Norm::Max, x, q);
  axpy<float>(-1, b, x, q);
  return lange<float>(Norm::Max, x, q) / size;
}
/// Rounding gives LU 5e-5 at n = 4000 on the host, growing about as n, and QR 1e-6 at every size.
constexpr double lu_bound = 0.02, qr_bound = 1e-4;

class ManyElements : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, ManyElements,
                         ::testing::Combine(::testing::ValuesIn(places()), ::testing::Values(Type::real)),
                         instance_name);

TEST_P(ManyElements, MoreThanTwoToThe31) {
  const bool large = q().on_cuda();
  const std::int64_t n = large ? 50000 : 500;  // the host shows that the measures are right
  try {
    for (Method method : {Method::hybrid, Method::automatic})  // automatic: native on a GPU, if that takes so many rows
      EXPECT_LE(of_lu(n, method, q()), lu_bound) << "LU, n = " << n << ", method " << int(method);
    for (Method method : {Method::hybrid, large ? Method::native : Method::lapack})
      EXPECT_LE(of_qr(n, method, q()), qr_bound) << "QR, n = " << n << ", method " << int(method);
  } catch (const Error& e) {
    if (e.status() != Status::out_of_memory) throw;
    GTEST_SKIP() << "skipped: " << e.what();
  }
}

/// The measure is far above the bound if part of the matrix was not factored, or other rows were exchanged.
TEST(ManyElementsChecker, SeesMutations) {
  Queue& q = host_queue();
  const std::int64_t n = 400;
  Matrix<float> A(n, n, q), LU(n, n, q), b(n, 1, q), ones(n, 1, q);
  Matrix<std::int32_t> ipiv(n, 1, q);
  fill(A, q);
  laset<float>(Uplo::General, 1, 1, ones, q);
  copy<float>(A, LU, q);
  EXPECT_EQ(getrf<float>(LU, ipiv.view(), q), 0);
  auto measured = [&](auto&& mutate) {
    Matrix<float> wrong(n, n, q), x(n, 1, q);
    Matrix<std::int32_t> pivots(n, 1, q);
    copy<float>(LU, wrong, q);
    copy<std::int32_t>(ipiv, pivots, q);
    gemv<float>(Op::NoTrans, 1, A, ones, 0, b, q);
    copy<float>(b, x, q);
    mutate(wrong.view(), pivots.view());
    getrs<float>(Op::NoTrans, wrong, pivots.view(), x, q);
    return of_solution(A, x, b, q);
  };
  EXPECT_LE(measured([](auto, auto) {}), lu_bound);
  EXPECT_GT(measured([&](View<float> F, auto) {
              copy<float>(A({300, 400}, {300, 400}), F({300, 400}, {300, 400}), q);
            }),
            lu_bound);
  EXPECT_GT(measured([](auto, View<std::int32_t> p) { p.data[7] = p.data[7] == 100 ? 101 : 100; }), lu_bound);
}

}  // namespace
}  // namespace devobj::test
