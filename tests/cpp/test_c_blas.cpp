// The C functions of the BLAS: each hands its arguments to the C++ routine of the same name (tested in test_blas*.cpp),
// so the results must be the same bits; and the errors that belong to handles, types and letters.
#include "devobj/devobj.h"
#include "testing.hpp"

namespace devobj::test {
namespace {

/// Opens the library on the host or on the GPU; q() is a queue of the same backend for the C++ calls.
class CBlas : public Everywhere {
 protected:
  void SetUp() override {
    Everywhere::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_EQ(devobj_open(static_cast<devobj_backend>(place().backend), -1), DEVOBJ_SUCCESS) << devobj_last_error();
    open_ = true;
  }
  void TearDown() override {
    if (open_) {
      EXPECT_EQ(devobj_live_objects(), 0);
      EXPECT_EQ(devobj_close(), DEVOBJ_SUCCESS) << devobj_last_error();
    }
    Everywhere::TearDown();
  }

 private:
  bool open_ = false;
};
// The C interface's own queue is of the kind that DEVOBJ_HOST_QUEUE names; "host-worker" would be the same again.
INSTANTIATE_TEST_SUITE_P(On, CBlas,
                         ::testing::Combine(::testing::Values(places()[0], places()[2]),
                                            ::testing::Values(Type::real, Type::double_precision, Type::complex,
                                                              Type::double_complex)),
                         instance_name);

/// A device object with the elements of a host matrix, freed at the end of the scope.
template <class T>
class Handle {
 public:
  explicit Handle(const Dense<T>& a) : rows_(a.rows()), cols_(a.cols()) {
    const auto type = static_cast<devobj_type>(type_traits<T>::type);
    EXPECT_EQ(devobj_allocate(type, rows_, cols_, &handle_), DEVOBJ_SUCCESS) << devobj_last_error();
    EXPECT_EQ(devobj_to_device(type, {const_cast<T*>(a.data()), rows_, cols_, 1, rows_}, handle_), DEVOBJ_SUCCESS)
        << devobj_last_error();
  }
  ~Handle() { EXPECT_EQ(devobj_free(handle_), DEVOBJ_SUCCESS) << devobj_last_error(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator devobj_handle() const { return handle_; }
  Dense<T> read() const {
    Dense<T> a(rows_, cols_);
    EXPECT_EQ(
        devobj_to_host(handle_, static_cast<devobj_type>(type_traits<T>::type), {a.data(), rows_, cols_, 1, rows_}),
        DEVOBJ_SUCCESS)
        << devobj_last_error();
    return a;
  }

 private:
  std::int64_t rows_, cols_;
  devobj_handle handle_ = 0;
};

#define EXPECT_SUCCESS(call) EXPECT_EQ(call, DEVOBJ_SUCCESS) << devobj_last_error()
#define EXPECT_C_ERROR(call, status, part)                                                        \
  do {                                                                                            \
    EXPECT_EQ(call, status);                                                                      \
    EXPECT_NE(std::string(devobj_last_error()).find(part), std::string::npos)                     \
        << "the text is \"" << devobj_last_error() << "\" and should contain \"" << part << "\""; \
  } while (false)

template <class T>
devobj_scalar scalar_of(T a) {
  if constexpr (is_complex<T>)
    return {a.real(), a.imag()};
  else
    return {double(a), 0};
}

TEST_P(CBlas, Level1) {
  with_type([&]<class T>(T) {
    const auto x = random<T>(7, 3, 1), y = random<T>(7, 3, 2);
    const T alpha = make<T>(-0.7, 0.3);
    Matrix<T> X = upload(x, q()), Y = upload(y, q());
    Handle<T> hx(x), hy(y);
    swap<T>(X, Y, q());
    EXPECT_SUCCESS(devobj_swap(hx, hy));
    scal<T>(alpha, X, q());
    EXPECT_SUCCESS(devobj_scal(scalar_of(alpha), hx));
    axpy<T>(alpha, X, Y, q());
    EXPECT_SUCCESS(devobj_axpy(scalar_of(alpha), hx, hy));
    expect_same(hx.read(), download<T>(X, q()), "x");
    expect_same(hy.read(), download<T>(Y, q()), "y");

    devobj_scalar u{}, c{};
    double norm = 0, sum = 0;
    std::int64_t position = 0;
    EXPECT_SUCCESS(devobj_dotu(hx, hy, &u));
    EXPECT_SUCCESS(devobj_dotc(hx, hy, &c));
    EXPECT_SUCCESS(devobj_nrm2(hy, &norm));
    EXPECT_SUCCESS(devobj_asum(hy, &sum));
    EXPECT_SUCCESS(devobj_iamax(hy, &position));
    EXPECT_EQ(make<T>(u.re, u.im), dotu<T>(X, Y, q()));
    EXPECT_EQ(make<T>(c.re, c.im), dotc<T>(X, Y, q()));
    EXPECT_EQ(norm, nrm2<T>(Y, q()));
    EXPECT_EQ(sum, asum<T>(Y, q()));
    EXPECT_EQ(position, iamax<T>(Y, q()));
  });
}

TEST_P(CBlas, Level2) {
  with_type([&]<class T>(T) {
    const auto a = random<T>(6, 5, 3), s = random<T>(6, 6, 4), x = random<T>(5, 1, 5), y = random<T>(6, 1, 6);
    const T alpha = make<T>(-0.7, 0.3), beta = make<T>(0.4, 1.1);
    Matrix<T> A = upload(a, q()), S = upload(s, q()), X = upload(x, q()), Y = upload(y, q());
    Handle<T> ha(a), hs(s), hx(x), hy(y);
    gemv<T>(Op::NoTrans, alpha, A, X, beta, Y, q());
    EXPECT_SUCCESS(devobj_gemv('n', scalar_of(alpha), ha, hx, scalar_of(beta), hy));
    gemv<T>(Op::ConjTrans, alpha, A, Y, beta, X, q());
    EXPECT_SUCCESS(devobj_gemv('C', scalar_of(alpha), ha, hy, scalar_of(beta), hx));
    geru<T>(alpha, Y, X, A, q());
    EXPECT_SUCCESS(devobj_geru(scalar_of(alpha), hy, hx, ha));
    gerc<T>(beta, Y, X, A, q());
    EXPECT_SUCCESS(devobj_gerc(scalar_of(beta), hy, hx, ha));
    trmv<T>(Uplo::Upper, Op::Trans, Diag::NonUnit, S, Y, q());
    EXPECT_SUCCESS(devobj_trmv('u', 't', 'n', hs, hy));
    trsv<T>(Uplo::Lower, Op::ConjTrans, Diag::Unit, S, Y, q());
    EXPECT_SUCCESS(devobj_trsv('L', 'C', 'U', hs, hy));
    expect_same(ha.read(), download<T>(A, q()), "A");
    expect_same(hx.read(), download<T>(X, q()), "x");
    expect_same(hy.read(), download<T>(Y, q()), "y");
  });
}

TEST_P(CBlas, Level3) {
  with_type([&]<class T>(T) {
    const auto a = random<T>(4, 6, 7), b = random<T>(5, 4, 8), c = random<T>(6, 5, 9), s = random<T>(6, 6, 10),
               d = random<T>(6, 5, 11), r = random<T>(5, 5, 12);
    const T alpha = make<T>(-0.7, 0.3), beta = make<T>(0.4, 1.1);
    const devobj_scalar al = scalar_of(alpha), be = scalar_of(beta);
    Matrix<T> A = upload(a, q()), B = upload(b, q()), C = upload(c, q()), S = upload(s, q()), D = upload(d, q()),
              R = upload(r, q());
    Handle<T> ha(a), hb(b), hc(c), hs(s), hd(d), hr(r);
    gemm<T>(Op::Trans, Op::ConjTrans, alpha, A, B, beta, C, q());
    EXPECT_SUCCESS(devobj_gemm('T', 'C', al, ha, hb, be, hc));
    symm<T>(Side::Left, Uplo::Lower, alpha, S, D, beta, C, q());
    EXPECT_SUCCESS(devobj_symm('L', 'L', al, hs, hd, be, hc));
    hemm<T>(Side::Right, Uplo::Upper, alpha, R, D, beta, C, q());
    EXPECT_SUCCESS(devobj_hemm('r', 'u', al, hr, hd, be, hc));
    trmm<T>(Side::Left, Uplo::Upper, Op::ConjTrans, Diag::NonUnit, alpha, S, C, q());
    EXPECT_SUCCESS(devobj_trmm('L', 'U', 'C', 'N', al, hs, hc));
    trsm<T>(Side::Right, Uplo::Lower, Op::Trans, Diag::Unit, beta, R, C, q());
    EXPECT_SUCCESS(devobj_trsm('R', 'L', 'T', 'U', be, hr, hc));
    expect_same(hc.read(), download<T>(C, q()), "C");
    syrk<T>(Uplo::Upper, Op::Trans, alpha, A, beta, S, q());
    EXPECT_SUCCESS(devobj_syrk('U', 'T', al, ha, be, hs));
    herk<T>(Uplo::Lower, adjoint<T>, real_t<T>(-0.5), D, real_t<T>(1.5), R, q());
    EXPECT_SUCCESS(devobj_herk('L', is_complex<T> ? 'C' : 'T', -0.5, hd, 1.5, hr));
    expect_same(hs.read(), download<T>(S, q()), "S");
    expect_same(hr.read(), download<T>(R, q()), "R");
  });
}

TEST_P(CBlas, Utilities) {
  with_type([&]<class T>(T) {
    const auto a = random<T>(6, 5, 13), t = random<T>(5, 6, 14), s = random<T>(5, 5, 15);
    const T off = make<T>(2, 3), diag = make<T>(4, 5);
    Matrix<T> A = upload(a, q()), C = upload(a, q()), B = upload(t, q()), S = upload(s, q());
    Handle<T> ha(a), hc(a), hb(t), hs(s);
    laset<T>(Uplo::Lower, off, diag, C, q());
    EXPECT_SUCCESS(devobj_laset('L', scalar_of(off), scalar_of(diag), hc));
    lacpy<T>(Uplo::Upper, A, C, q());
    EXPECT_SUCCESS(devobj_lacpy('u', ha, hc));
    transpose<T>(Op::ConjTrans, C, B, q());
    EXPECT_SUCCESS(devobj_transpose('C', hc, hb));
    transpose<T>(Op::Trans, S, q());
    EXPECT_SUCCESS(devobj_transpose('T', hs, hs));
    Matrix<std::int32_t> P(6, 1, q());
    const std::int32_t pivots[] = {4, 2, 6, 4, 6, 6};
    to_device<std::int32_t>({pivots, 6, 1, 6}, P, q());
    devobj_handle hp = 0;
    EXPECT_SUCCESS(devobj_allocate(DEVOBJ_INTEGER, 6, 1, &hp));
    EXPECT_SUCCESS(devobj_to_device(DEVOBJ_INTEGER, {const_cast<std::int32_t*>(pivots), 6, 1, 1, 6}, hp));
    laswp<T>(A, 1, 5, P, false, q());
    EXPECT_SUCCESS(devobj_laswp(ha, 2, 5, hp, 0));
    EXPECT_C_ERROR(devobj_laswp(ha, 0, 5, hp, 1), DEVOBJ_INVALID_ARGUMENT, "laswp: rows 0 to 5 are not within 1 to 6");
    EXPECT_C_ERROR(devobj_laswp(ha, 1, 7, hp, 1), DEVOBJ_INVALID_ARGUMENT, "laswp: rows 1 to 7 are not within 1 to 6");
    EXPECT_C_ERROR(devobj_laswp(ha, 1, 5, hb, 1), DEVOBJ_INVALID_ARGUMENT, "laswp: ipiv is of type");
    EXPECT_SUCCESS(devobj_free(hp));
    expect_same(ha.read(), download<T>(A, q()), "A");
    expect_same(hb.read(), download<T>(B, q()), "B");
    expect_same(hc.read(), download<T>(C, q()), "C");
    expect_same(hs.read(), download<T>(S, q()), "S");
    const std::pair<char, Norm> norms[] = {{'o', Norm::One}, {'I', Norm::Inf}, {'E', Norm::Fro}, {'m', Norm::Max}};
    for (auto [letter, norm] : norms) {
      double value = 0;
      EXPECT_SUCCESS(devobj_lange(letter, ha, &value));
      EXPECT_EQ(value, lange<T>(norm, A, q())) << letter;
    }
  });
}

TEST_P(CBlas, Errors) {
  with_type([&]<class T>(T) {
    const auto a = random<T>(4, 4, 16), c = random<T>(4, 4, 17);
    Handle<T> ha(a), hb(a), hc(c);
    Handle<std::complex<float>> single(Dense<std::complex<float>>(4, 4));
    Handle<double> real(Dense<double>(4, 4));
    const devobj_scalar one = {1, 0};
    const auto other = std::is_same_v<T, double> ? devobj_handle(single) : devobj_handle(real);
    EXPECT_C_ERROR(devobj_gemm('N', 'N', one, ha, other, one, hc), DEVOBJ_INVALID_ARGUMENT, "gemm: B is of type '");
    EXPECT_C_ERROR(devobj_gemm('N', 'Q', one, ha, hb, one, hc), DEVOBJ_INVALID_ARGUMENT,
                   "gemm: opB is 'Q', must be one");
    EXPECT_C_ERROR(devobj_trsm('X', 'U', 'N', 'N', one, ha, hc), DEVOBJ_INVALID_ARGUMENT, "trsm: side is 'X'");
    EXPECT_C_ERROR(devobj_trsm('L', 'G', 'N', 'N', one, ha, hc), DEVOBJ_INVALID_ARGUMENT, "trsm: uplo is 'G'");
    EXPECT_C_ERROR(devobj_trsm('L', 'U', 'N', '1', one, ha, hc), DEVOBJ_INVALID_ARGUMENT, "trsm: diag is '1'");
    EXPECT_C_ERROR(devobj_gemm('N', 'N', one, ha, 0, one, hc), DEVOBJ_INVALID_HANDLE, "gemm: B is a null handle");
    EXPECT_C_ERROR(devobj_gemm('N', 'N', one, ha, hb + 1000, one, hc), DEVOBJ_INVALID_HANDLE,
                   "gemm: B is no live object");
    EXPECT_C_ERROR(devobj_gemm('N', 'N', one, ha, hc, one, hc), DEVOBJ_INVALID_ARGUMENT, "gemm: C and B overlap");
    EXPECT_C_ERROR(devobj_dotu(ha, hb, nullptr), DEVOBJ_INVALID_ARGUMENT, "dotu: result is a null pointer");
    EXPECT_C_ERROR(devobj_iamax(ha, nullptr), DEVOBJ_INVALID_ARGUMENT, "iamax: position is a null pointer");
    if (!is_complex<T>)
      EXPECT_C_ERROR(devobj_scal({1, 2}, hc), DEVOBJ_INVALID_ARGUMENT,
                     "scal: alpha is (1, 2), but the objects are real");
    devobj_handle integers = 0;
    EXPECT_SUCCESS(devobj_allocate(DEVOBJ_INTEGER, 4, 1, &integers));
    EXPECT_C_ERROR(devobj_scal(one, integers), DEVOBJ_INVALID_ARGUMENT, "scal: not for objects of type 'integer'");
    EXPECT_SUCCESS(devobj_free(integers));
    EXPECT_C_ERROR(devobj_scal(one, integers), DEVOBJ_INVALID_HANDLE, "scal: x is no live object");
    expect_same(hc.read(), c, "C");
  });
}

}  // namespace
}  // namespace devobj::test
