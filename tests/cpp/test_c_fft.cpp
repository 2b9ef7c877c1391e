// Fourier transforms through the C interface: plans are handles of their own kind.
#include <cmath>
#include <complex>

#include "opened.hpp"

using namespace devobj::test;

namespace {

class CFft : public Opened {
 protected:
  void SetUp() override {
    Opened::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    const std::int64_t n = 2;
    devobj_handle plan = 0;
    const devobj_status status = devobj_fft_plan(DEVOBJ_REAL, 1, &n, 1, DEVOBJ_FFT_UNSCALED, 0, 0, &plan);
    if (status == DEVOBJ_NOT_SUPPORTED) GTEST_SKIP() << devobj_last_error();
    ASSERT_EQ(status, DEVOBJ_SUCCESS) << devobj_last_error();
    EXPECT_OK(devobj_free(plan));
  }
  static devobj_handle plan_of(devobj_type type, std::vector<std::int64_t> n,
                               devobj_fft_scaling scaling = DEVOBJ_FFT_UNSCALED, std::int64_t batch = 1) {
    devobj_handle plan = 0;
    EXPECT_OK(devobj_fft_plan(type, static_cast<int>(n.size()), n.data(), batch, scaling, 0, 0, &plan));
    return plan;
  }
};
DEVOBJ_OPENED_EVERYWHERE(CFft);

constexpr double pi = 3.14159265358979323846;

TEST_P(CFft, RealAndComplex) {
  // cos(2 pi 2 j / 8) has the frequencies 2 and 6, with 8/2 each
  std::vector<double> x(8);
  for (int j = 0; j < 8; ++j) x[j] = std::cos(2 * pi * 2 * j / 8);
  const devobj_handle X = object_of<double>(DEVOBJ_DOUBLE, 8, 1, x), Y = allocate(DEVOBJ_DOUBLE_COMPLEX, 5, 1);
  const devobj_handle plan = plan_of(DEVOBJ_DOUBLE, {8}, DEVOBJ_FFT_INVERSE);
  EXPECT_EQ(devobj_live_objects(), 3);
  ASSERT_OK(devobj_fft_forward(plan, X, Y));
  const auto y = values_of<std::complex<double>>(Y);
  for (int k = 0; k < 5; ++k) EXPECT_NEAR(std::abs(y[k] - (k == 2 ? 4.0 : 0.0)), 0, 1e-14) << k;
  const devobj_handle Z = allocate(DEVOBJ_DOUBLE, 8, 1);
  ASSERT_OK(devobj_fft_inverse(plan, Y, Z));
  const auto z = values_of<double>(Z);
  for (int j = 0; j < 8; ++j) EXPECT_NEAR(z[j], x[j], 1e-15) << j;

  std::vector<std::complex<float>> c(6);
  for (int j = 0; j < 6; ++j) c[j] = std::polar(1.f, float(2 * pi * j / 6));
  const devobj_handle C = object_of<std::complex<float>>(DEVOBJ_COMPLEX, 6, 1, c);
  const devobj_handle complex_plan = plan_of(DEVOBJ_COMPLEX, {6});
  ASSERT_OK(devobj_fft_forward(complex_plan, C, C));
  const auto d = values_of<std::complex<float>>(C);
  for (int k = 0; k < 6; ++k) EXPECT_NEAR(std::abs(d[k] - (k == 1 ? 6.f : 0.f)), 0, 3e-6) << k;
  for (devobj_handle h : {X, Y, Z, C, plan, complex_plan}) EXPECT_OK(devobj_free(h));
  EXPECT_EQ(devobj_live_objects(), 0);
}

TEST_P(CFft, ShapesOfThePlan) {
  const devobj_handle plan = plan_of(DEVOBJ_REAL, {7, 3, 2}, DEVOBJ_FFT_UNITARY, 5);
  devobj_type type = DEVOBJ_INTEGER;
  std::int64_t rows = 0, cols = 0;
  ASSERT_OK(devobj_fft_shape(plan, 0, &type, &rows, &cols));
  EXPECT_EQ(type, DEVOBJ_REAL);
  EXPECT_EQ(rows, 7);
  EXPECT_EQ(cols, 30);
  ASSERT_OK(devobj_fft_shape(plan, 1, &type, &rows, nullptr));
  EXPECT_EQ(type, DEVOBJ_COMPLEX);
  EXPECT_EQ(rows, 4);
  EXPECT_STATUS(devobj_fft_shape(plan, 2, &type, &rows, &cols), DEVOBJ_INVALID_ARGUMENT, "fft_shape: transformed is 2");
  EXPECT_OK(devobj_free(plan));
}

TEST_P(CFft, RealViewInPlace) {
  const devobj_handle C = allocate(DEVOBJ_COMPLEX, 4, 2), plan = plan_of(DEVOBJ_REAL, {6}, DEVOBJ_FFT_UNSCALED, 2);
  devobj_handle R = 0;
  ASSERT_OK(devobj_fft_real_view(C, 6, &R));
  std::int64_t ld = 0;
  ASSERT_OK(devobj_shape(R, nullptr, nullptr, nullptr, &ld));
  EXPECT_EQ(ld, 8);
  std::vector<float> x = {1, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2};
  ASSERT_OK(devobj_to_device(DEVOBJ_REAL, columns(x.data(), 6, 2), R));
  ASSERT_OK(devobj_fft_forward(plan, R, C));
  const auto y = values_of<std::complex<float>>(C);
  for (int k = 0; k < 4; ++k) {
    EXPECT_NEAR(std::abs(y[k] - 1.f), 0, 1e-6) << k;
    EXPECT_NEAR(std::abs(y[4 + k] - (k == 0 ? 12.f : 0.f)), 0, 1e-5) << k;
  }
  EXPECT_OK(devobj_free(C));  // the view keeps the memory
  EXPECT_EQ(values_of<float>(R).size(), 12u);
  EXPECT_STATUS(devobj_fft_real_view(R, 2, &R), DEVOBJ_INVALID_ARGUMENT,
                "fft_real_view: C is of type 'real', must be complex");
  const devobj_handle D = allocate(DEVOBJ_COMPLEX, 4, 1);
  devobj_handle none = 0;
  EXPECT_STATUS(devobj_fft_real_view(D, 9, &none), DEVOBJ_INVALID_ARGUMENT,
                "fft_real_view: rows is 9, must be 0 to 2 * 4");
  EXPECT_STATUS(devobj_fft_real_view(D, 2, nullptr), DEVOBJ_INVALID_ARGUMENT, "fft_real_view: R is a null pointer");
  for (devobj_handle h : {R, D, plan}) EXPECT_OK(devobj_free(h));
}

TEST_P(CFft, HandlesOfTheWrongKind) {
  const devobj_handle X = allocate(DEVOBJ_COMPLEX, 4, 1), plan = plan_of(DEVOBJ_COMPLEX, {4});
  void* pointer = nullptr;
  EXPECT_STATUS(devobj_fft_forward(X, X, X), DEVOBJ_INVALID_HANDLE,
                "fft_forward: plan is an array, must be an FFT plan");
  EXPECT_STATUS(devobj_fft_inverse(plan, plan, X), DEVOBJ_INVALID_HANDLE,
                "fft_inverse: in is an FFT plan, must be an array");
  EXPECT_STATUS(devobj_fft_forward(plan, X, plan), DEVOBJ_INVALID_HANDLE,
                "fft_forward: out is an FFT plan, must be an array");
  EXPECT_STATUS(devobj_pointer(plan, &pointer), DEVOBJ_INVALID_HANDLE, "A is an FFT plan, must be an array");
  EXPECT_STATUS(devobj_fft_forward(0, X, X), DEVOBJ_INVALID_HANDLE, "fft_forward: plan is a null handle");
  EXPECT_EQ(devobj_is_valid(plan), 1);
  EXPECT_OK(devobj_free(plan));
  EXPECT_EQ(devobj_is_valid(plan), 0);
  EXPECT_STATUS(devobj_fft_forward(plan, X, X), DEVOBJ_INVALID_HANDLE, "fft_forward: plan is no live object");
  EXPECT_STATUS(devobj_free(plan), DEVOBJ_INVALID_HANDLE, "no live object");
  EXPECT_OK(devobj_free(X));
}

TEST_P(CFft, WrongNumbers) {
  const std::int64_t n[3] = {4, 4, 4};
  devobj_handle plan = 77;
  const auto status = [&](int type, int rank, const std::int64_t* sizes, std::int64_t batch, int scaling, int overwrite,
                          int measure) {
    devobj_type t;
    devobj_fft_scaling s;
    std::memcpy(&t, &type, sizeof t);
    std::memcpy(&s, &scaling, sizeof s);
    return devobj_fft_plan(t, rank, sizes, batch, s, overwrite, measure, &plan);
  };
  EXPECT_STATUS(status(9, 1, n, 1, 0, 0, 0), DEVOBJ_INVALID_ARGUMENT, "fft_plan: type is 9");
  EXPECT_STATUS(status(DEVOBJ_INTEGER, 1, n, 1, 0, 0, 0), DEVOBJ_INVALID_ARGUMENT, "fft_plan: type is 'integer'");
  EXPECT_STATUS(status(DEVOBJ_REAL, 4, n, 1, 0, 0, 0), DEVOBJ_INVALID_ARGUMENT, "fft_plan: there are 4 sizes");
  EXPECT_STATUS(status(DEVOBJ_REAL, 1, nullptr, 1, 0, 0, 0), DEVOBJ_INVALID_ARGUMENT, "fft_plan: n is a null pointer");
  EXPECT_STATUS(status(DEVOBJ_REAL, 1, n, -2, 0, 0, 0), DEVOBJ_INVALID_ARGUMENT, "fft_plan: batch is -2");
  EXPECT_STATUS(status(DEVOBJ_REAL, 1, n, 1, 3, 0, 0), DEVOBJ_INVALID_ARGUMENT, "fft_plan: scaling is 3");
  EXPECT_STATUS(status(DEVOBJ_REAL, 1, n, 1, 0, 2, 0), DEVOBJ_INVALID_ARGUMENT, "fft_plan: overwrite_input is 2");
  EXPECT_STATUS(status(DEVOBJ_REAL, 1, n, 1, 0, 0, -1), DEVOBJ_INVALID_ARGUMENT, "fft_plan: measure is -1");
  EXPECT_STATUS(devobj_fft_plan(DEVOBJ_REAL, 1, n, 1, DEVOBJ_FFT_UNSCALED, 0, 0, nullptr), DEVOBJ_INVALID_ARGUMENT,
                "fft_plan: plan is a null pointer");
  EXPECT_EQ(plan, 77u);
}

/// A plan that is left is freed with the rest, and many plans leave nothing.
TEST_P(CFft, LeftAndMany) {
  for (int i = 0; i < 200; ++i) {
    const devobj_handle plan = plan_of(DEVOBJ_DOUBLE, {64 + i % 3, 5});
    EXPECT_OK(devobj_free(plan));
  }
  EXPECT_EQ(devobj_live_objects(), 0);
  plan_of(DEVOBJ_REAL, {16});
  EXPECT_EQ(devobj_live_objects(), 1);
}

TEST(CFftClosed, IsAnError) {
  const std::int64_t n = 4;
  devobj_handle plan = 0;
  EXPECT_STATUS(devobj_fft_plan(DEVOBJ_REAL, 1, &n, 1, DEVOBJ_FFT_UNSCALED, 0, 0, &plan), DEVOBJ_NOT_OPEN, "not open");
}

}  // namespace
