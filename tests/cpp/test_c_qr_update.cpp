// The C functions of the QR updates: handles of the wrong kind or type, values out of range, and that absent arguments
// are 0.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "devobj/devobj_qr_update.h"
#include "opened.hpp"

using namespace devobj::test;

namespace {

class CQrUpdate : public Opened {};
DEVOBJ_OPENED_EVERYWHERE(CQrUpdate);

devobj_handle unit_matrix(std::int64_t rows, std::int64_t cols, devobj_type type = DEVOBJ_DOUBLE) {
  devobj_handle handle = 0;
  EXPECT_EQ(devobj_allocate(type, rows, cols, &handle), DEVOBJ_SUCCESS) << devobj_last_error();
  EXPECT_EQ(devobj_laset('G', {0, 0}, {1, 0}, handle), DEVOBJ_SUCCESS) << devobj_last_error();
  return handle;
}
void expect_refused(devobj_status status, devobj_status expected, const std::string& text) {
  EXPECT_EQ(status, expected);
  EXPECT_NE(std::string(devobj_last_error()).find(text), std::string::npos) << devobj_last_error();
}

TEST_P(CQrUpdate, AbsentArgumentsAreZero) {
  const devobj_handle R = unit_matrix(3, 3), U = unit_matrix(2, 3), R1 = unit_matrix(3, 3), R2 = unit_matrix(3, 3);
  ASSERT_EQ(devobj_qr_add_rows(0, R, 1, U, 0, R1, 0, 0, 0, DEVOBJ_UPDATE_UPDATE, 0), DEVOBJ_SUCCESS)
      << devobj_last_error();
  std::vector<double> r(9);
  ASSERT_EQ(devobj_to_host(R1, DEVOBJ_DOUBLE, {r.data(), 3, 3, 1, 3}), DEVOBJ_SUCCESS);
  EXPECT_NEAR(std::abs(r[0]), std::sqrt(2.0), 1e-15);
  EXPECT_NEAR(std::abs(r[4]), std::sqrt(2.0), 1e-15);
  EXPECT_NEAR(std::abs(r[8]), 1, 1e-15);
  std::int64_t info = -1;
  ASSERT_EQ(devobj_qr_remove_rows(0, R1, 1, 2, U, 0, R2, 0, 0, 0, DEVOBJ_UPDATE_AUTO, 0, &info), DEVOBJ_SUCCESS);
  EXPECT_EQ(info, 0);
  ASSERT_EQ(devobj_to_host(R2, DEVOBJ_DOUBLE, {r.data(), 3, 3, 1, 3}), DEVOBJ_SUCCESS);
  for (int i : {0, 4, 8}) EXPECT_NEAR(std::abs(r[static_cast<std::size_t>(i)]), 1, 1e-14);
  // once more: the same two rows are not there
  ASSERT_EQ(devobj_qr_remove_rows(0, R2, 1, 2, U, 0, R1, 0, 0, 0, DEVOBJ_UPDATE_AUTO, 0, &info), DEVOBJ_SUCCESS);
  EXPECT_GE(info, 0);
}

TEST_P(CQrUpdate, Refusals) {
  const devobj_handle Q = unit_matrix(5, 5), R = unit_matrix(5, 3), U = unit_matrix(5, 1),
                      single = unit_matrix(5, 1, DEVOBJ_REAL);
  const devobj_handle R1 = unit_matrix(5, 4), Q1 = unit_matrix(5, 5), V = unit_matrix(3, 1);
  const auto automatic = DEVOBJ_UPDATE_AUTO;
  auto add = [&](devobj_handle u, std::int64_t k, devobj_update_method method) {
    return devobj_qr_add_cols(Q, R, k, u, Q1, R1, 0, 0, 0, method, 0);
  };
  expect_refused(add(single, 1, automatic), DEVOBJ_INVALID_ARGUMENT,
                 "qr_add_cols: U is of type 'real', but R is of type 'double'");
  expect_refused(add(U, 0, automatic), DEVOBJ_INVALID_ARGUMENT, "qr_add_cols: k is 0, must be 1 to 4");
  expect_refused(add(0, 1, automatic), DEVOBJ_INVALID_HANDLE, "qr_add_cols: U");
  expect_refused(add(U, 1, static_cast<devobj_update_method>(7)), DEVOBJ_INVALID_ARGUMENT, "qr_add_cols: method is 7");
  expect_refused(devobj_qr_remove_cols(Q, R, 1, 9, Q1, R1, 0, 0, automatic, 0), DEVOBJ_INVALID_ARGUMENT,
                 "qr_remove_cols: p is 9");
  expect_refused(devobj_qr_add_rows(Q, R, 7, V, Q1, R1, 0, 0, 0, automatic, 0), DEVOBJ_INVALID_ARGUMENT,
                 "qr_add_rows: k is 7, must be 1 to 6");
  expect_refused(devobj_qr_remove_rows(Q, R, 1, 1, 0, Q1, R1, 0, 0, 0, automatic, 0, nullptr), DEVOBJ_INVALID_ARGUMENT,
                 "qr_remove_rows: info is a null pointer");
  expect_refused(devobj_qr_rank_update(U, U, Q, R, 0, 0, automatic, 0), DEVOBJ_INVALID_ARGUMENT,
                 "qr_rank_update: V is 5 x 1, must be 3 x 1");
  EXPECT_EQ(devobj_qr_rank_update(U, V, Q, R, 0, 0, automatic, 0), DEVOBJ_SUCCESS) << devobj_last_error();

  double update = 0, anew = 0;
  auto cost = [&](int what, int form, int type, std::int64_t k) {
    return devobj_qr_update_cost(static_cast<devobj_qr_update>(what), static_cast<devobj_qr_form>(form),
                                 static_cast<devobj_type>(type), 100, 50, 5, k, &update, &anew);
  };
  EXPECT_EQ(cost(1, 1, 2, 1), DEVOBJ_SUCCESS) << devobj_last_error();
  EXPECT_GT(update, 0);
  EXPECT_GT(anew, 0);
  expect_refused(cost(6, 1, 2, 1), DEVOBJ_INVALID_ARGUMENT, "qr_update_cost: what is 6");
  expect_refused(cost(1, 0, 2, 1), DEVOBJ_INVALID_ARGUMENT, "qr_update_cost: form is 0");
  expect_refused(cost(1, 1, 5, 1), DEVOBJ_INVALID_ARGUMENT, "qr_update_cost: type is 5");
  expect_refused(cost(1, 1, 2, 0), DEVOBJ_INVALID_ARGUMENT, "qr_update_cost: k is 0, must be at least 1");
}

}  // namespace
