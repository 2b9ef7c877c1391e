// The C functions of the mixed-precision solves: results, types, null pointers, letters and handles.
#include "opened.hpp"

using namespace devobj::test;

namespace {

class CMixed : public Opened {};
DEVOBJ_OPENED_EVERYWHERE(CMixed);

TEST_P(CMixed, Solves) {
  const devobj_handle A = object_of<double>(DEVOBJ_DOUBLE, 2, 2, {3, 1, 1, 7}),
                      B = object_of<double>(DEVOBJ_DOUBLE, 2, 1, {0.1, 0.2}), ipiv = allocate(DEVOBJ_INTEGER, 2, 1),
                      tall = object_of<double>(DEVOBJ_DOUBLE, 3, 1, {1, 2, 2}),
                      C = object_of<double>(DEVOBJ_DOUBLE, 3, 1, {0.3, 0.1, 0.7});
  std::int64_t info = -1, iterations = -1;
  ASSERT_OK(devobj_gesv_mixed(A, ipiv, B, DEVOBJ_METHOD_AUTO, 0, &info, &iterations));
  EXPECT_EQ(info, 0);
  EXPECT_GE(iterations, 1);
  const std::vector<double> x = values_of<double>(B);
  EXPECT_NEAR(x[0], 0.025, 1e-16);
  EXPECT_NEAR(x[1], 0.025, 1e-16);
  EXPECT_EQ(values_of<double>(A), (std::vector<double>{3, 1, 1, 7}));
  info = iterations = -1;
  ASSERT_OK(devobj_gels_mixed('n', tall, C, DEVOBJ_METHOD_AUTO, 0, &info, &iterations));
  EXPECT_EQ(info, 0);
  EXPECT_GE(iterations, 1);
  const std::vector<double> y = values_of<double>(C);
  EXPECT_NEAR(y[0], 1.9 / 9, 1e-15);
  EXPECT_NEAR(y[1] * y[1] + y[2] * y[2], 0.59 - 1.9 * 1.9 / 9, 1e-15);
  for (const devobj_handle object : {A, B, ipiv, tall, C}) EXPECT_OK(devobj_free(object));
}

TEST_P(CMixed, ErrorsWriteNothing) {
  const devobj_handle A = object_of<double>(DEVOBJ_DOUBLE, 2, 2, {3, 1, 1, 7}), ipiv = allocate(DEVOBJ_INTEGER, 2, 1),
                      B = object_of<double>(DEVOBJ_DOUBLE, 2, 1, {1, 2}), real = allocate(DEVOBJ_REAL, 2, 2),
                      complex = allocate(DEVOBJ_COMPLEX, 2, 2);
  std::int64_t info = 77, iterations = 77;
  const auto automatic = DEVOBJ_METHOD_AUTO;
  for (const devobj_handle single : {real, complex}) {
    const char* text = single == real ? "_mixed: A is of type 'real', must be 'double' or 'double complex'"
                                      : "_mixed: A is of type 'complex', must be 'double' or 'double complex'";
    const devobj_handle other = allocate(single == real ? DEVOBJ_REAL : DEVOBJ_COMPLEX, 2, 1);
    EXPECT_STATUS(devobj_gesv_mixed(single, ipiv, other, automatic, 0, &info, &iterations), DEVOBJ_INVALID_ARGUMENT,
                  text);
    EXPECT_STATUS(devobj_gels_mixed('N', single, other, automatic, 0, &info, &iterations), DEVOBJ_INVALID_ARGUMENT,
                  text);
    EXPECT_OK(devobj_free(other));
  }
  EXPECT_STATUS(devobj_gesv_mixed(A, ipiv, real, automatic, 0, &info, &iterations), DEVOBJ_INVALID_ARGUMENT,
                "gesv_mixed: B is of type 'real', but A is of type 'double'");
  EXPECT_STATUS(devobj_gels_mixed('N', A, real, automatic, 0, &info, &iterations), DEVOBJ_INVALID_ARGUMENT,
                "gels_mixed: B is of type 'real', but A is of type 'double'");
  EXPECT_STATUS(devobj_gesv_mixed(A, B, B, automatic, 0, &info, &iterations), DEVOBJ_INVALID_ARGUMENT,
                "gesv_mixed: ipiv");
  EXPECT_STATUS(devobj_gesv_mixed(A, ipiv, B, automatic, 0, nullptr, &iterations), DEVOBJ_INVALID_ARGUMENT,
                "gesv_mixed: info is a null pointer");
  EXPECT_STATUS(devobj_gesv_mixed(A, ipiv, B, automatic, 0, &info, nullptr), DEVOBJ_INVALID_ARGUMENT,
                "gesv_mixed: iterations is a null pointer");
  EXPECT_STATUS(devobj_gels_mixed('N', A, B, automatic, 0, nullptr, &iterations), DEVOBJ_INVALID_ARGUMENT,
                "gels_mixed: info is a null pointer");
  EXPECT_STATUS(devobj_gels_mixed('N', A, B, automatic, 0, &info, nullptr), DEVOBJ_INVALID_ARGUMENT,
                "gels_mixed: iterations is a null pointer");
  EXPECT_STATUS(devobj_gels_mixed('X', A, B, automatic, 0, &info, &iterations), DEVOBJ_INVALID_ARGUMENT,
                "gels_mixed: op");
  EXPECT_STATUS(devobj_gesv_mixed(A, ipiv, B, static_cast<devobj_method>(99), 0, &info, &iterations),
                DEVOBJ_INVALID_ARGUMENT, "gesv_mixed: method");
  EXPECT_STATUS(devobj_gesv_mixed(0, ipiv, B, automatic, 0, &info, &iterations), DEVOBJ_INVALID_HANDLE,
                "gesv_mixed: A");
  EXPECT_STATUS(devobj_gels_mixed('N', A, 0, automatic, 0, &info, &iterations), DEVOBJ_INVALID_HANDLE, "gels_mixed: B");
  EXPECT_EQ(info, 77);
  EXPECT_EQ(iterations, 77);
  EXPECT_EQ(values_of<double>(A), (std::vector<double>{3, 1, 1, 7}));
  EXPECT_EQ(values_of<double>(B), (std::vector<double>{1, 2}));
  for (const devobj_handle object : {A, B, ipiv, real, complex}) EXPECT_OK(devobj_free(object));
}

}  // namespace
