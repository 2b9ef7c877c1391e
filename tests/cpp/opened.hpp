// A fixture for tests of the C interface: the library is open with one backend. Tests of the GPU are skipped with
// the reason where there is none; DEVOBJ_TEST_NEED_GPU=1 makes them fail instead.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "devobj/devobj.h"
#include "sanitizers.hpp"

namespace devobj::test {

class Opened : public ::testing::TestWithParam<devobj_backend> {
 protected:
  void SetUp() override {
    const devobj_status status = devobj_open(GetParam(), -1);
    is_open_ = status == DEVOBJ_SUCCESS;
    if (is_open_) return;
    const char* needed = std::getenv("DEVOBJ_TEST_NEED_GPU");
    if (status != DEVOBJ_NO_DEVICE || (needed != nullptr && std::string(needed) == "1")) FAIL() << devobj_last_error();
    GTEST_SKIP() << "skipped: no GPU (" << devobj_last_error() << ")";
  }
  void TearDown() override {
    if (is_open_) {
      EXPECT_EQ(devobj_close(), DEVOBJ_SUCCESS) << devobj_last_error();
    }
    EXPECT_EQ(devobj_live_objects(), 0);
  }

 private:
  bool is_open_ = false;
};
#define DEVOBJ_OPENED_EVERYWHERE(fixture)                                                              \
  INSTANTIATE_TEST_SUITE_P(On, fixture, ::testing::Values(DEVOBJ_HOST, DEVOBJ_CUDA),                   \
                           [](const auto& info) { return info.param == DEVOBJ_CUDA ? "cuda" : "host"; })

/// A call that must succeed.
#define ASSERT_OK(call) ASSERT_EQ((call), DEVOBJ_SUCCESS) << devobj_last_error()
#define EXPECT_OK(call) EXPECT_EQ((call), DEVOBJ_SUCCESS) << devobj_last_error()
/// A call that must fail with a status and a text that holds `part`.
#define EXPECT_STATUS(call, status, part)                                          \
  do {                                                                             \
    EXPECT_EQ((call), status) << devobj_last_error();                              \
    EXPECT_NE(std::string(devobj_last_error()).find(part), std::string::npos)      \
        << "the text is \"" << devobj_last_error() << "\", wanted \"" << part << '"'; \
  } while (false)

inline std::size_t element_bytes(devobj_type type) {
  return type == DEVOBJ_DOUBLE_COMPLEX ? 16 : type == DEVOBJ_COMPLEX || type == DEVOBJ_DOUBLE ? 8 : 4;
}
inline devobj_handle allocate(devobj_type type, std::int64_t rows, std::int64_t cols) {
  devobj_handle A = 0;
  EXPECT_OK(devobj_allocate(type, rows, cols, &A));
  return A;
}
inline devobj_host_array columns(void* data, std::int64_t rows, std::int64_t cols) {
  return {data, rows, cols, 1, rows > 1 ? rows : 1};
}
/// An object that holds these numbers.
template <class T>
devobj_handle object_of(devobj_type type, std::int64_t rows, std::int64_t cols, std::vector<T> values) {
  EXPECT_EQ(values.size() * sizeof(T), static_cast<std::size_t>(rows * cols) * element_bytes(type));
  const devobj_handle A = allocate(type, rows, cols);
  EXPECT_OK(devobj_to_device(type, columns(values.data(), rows, cols), A));
  return A;
}
/// The bytes of an object's elements.
inline std::vector<unsigned char> bytes_of(devobj_handle A) {
  devobj_type type = DEVOBJ_REAL;
  std::int64_t rows = 0, cols = 0;
  EXPECT_OK(devobj_shape(A, &type, &rows, &cols, nullptr));
  std::vector<unsigned char> bytes(static_cast<std::size_t>(rows * cols) * element_bytes(type));
  EXPECT_OK(devobj_to_host(A, type, columns(bytes.data(), rows, cols)));
  return bytes;
}
template <class T> std::vector<T> values_of(devobj_handle A) {
  const std::vector<unsigned char> bytes = bytes_of(A);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
  return values;
}

}  // namespace devobj::test
