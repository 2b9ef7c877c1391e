// The library's life in a process: open, close, reopen, and what is refused while it is closed.
#include <gtest/gtest.h>

#include "opened.hpp"
#include "some_work.hpp"

using namespace devobj::test;

namespace {

TEST(Process, VersionsAgree) {
  EXPECT_EQ(devobj_version(), DEVOBJ_VERSION);
  EXPECT_EQ(devobj_version(), DEVOBJ_VERSION_MAJOR * 10000 + DEVOBJ_VERSION_MINOR * 100 + DEVOBJ_VERSION_PATCH);
}

TEST(Process, NothingWorksBeforeOpenAndAfterClose) {
  auto all_refuse = [](devobj_handle A) {
    const char* text = "the library is not open";
    devobj_handle out = 3;
    std::int64_t info = 0;
    float host = 0;
    void* pointer = nullptr;
    EXPECT_EQ(devobj_backend_in_use(), DEVOBJ_AUTO);
    EXPECT_STATUS(devobj_allocate(DEVOBJ_REAL, 1, 1, &out), DEVOBJ_NOT_OPEN, text);
    EXPECT_STATUS(devobj_free(A), DEVOBJ_NOT_OPEN, text);
    EXPECT_STATUS(devobj_view(A, 1, 1, 1, 1, &out), DEVOBJ_NOT_OPEN, text);
    EXPECT_STATUS(devobj_move(A, &out), DEVOBJ_NOT_OPEN, text);
    EXPECT_STATUS(devobj_shape(A, nullptr, nullptr, nullptr, nullptr), DEVOBJ_NOT_OPEN, text);
    EXPECT_STATUS(devobj_pointer(A, &pointer), DEVOBJ_NOT_OPEN, text);
    EXPECT_STATUS(devobj_stream(&pointer), DEVOBJ_NOT_OPEN, text);
    EXPECT_STATUS(devobj_wait(), DEVOBJ_NOT_OPEN, text);
    EXPECT_STATUS(devobj_to_device(DEVOBJ_REAL, columns(&host, 1, 1), A), DEVOBJ_NOT_OPEN, text);
    EXPECT_STATUS(devobj_to_host(A, DEVOBJ_REAL, columns(&host, 1, 1)), DEVOBJ_NOT_OPEN, text);
    EXPECT_STATUS(devobj_copy(A, A), DEVOBJ_NOT_OPEN, text);
    EXPECT_STATUS(devobj_gemm('N', 'N', {1, 0}, A, A, {0, 0}, A), DEVOBJ_NOT_OPEN, text);
    EXPECT_STATUS(devobj_getrf(A, A, DEVOBJ_METHOD_AUTO, 0, &info), DEVOBJ_NOT_OPEN, text);
    EXPECT_STATUS(devobj_qr(A, A, A, DEVOBJ_METHOD_AUTO, 0), DEVOBJ_NOT_OPEN, text);
    EXPECT_STATUS(devobj_close(), DEVOBJ_NOT_OPEN, text);
    EXPECT_EQ(out, 3u);
    EXPECT_EQ(devobj_is_valid(A), 0);
    EXPECT_EQ(devobj_live_objects(), 0);
  };
  all_refuse(0);
  all_refuse(0x100000001);
  ASSERT_OK(devobj_open(DEVOBJ_HOST, -1));
  const devobj_handle A = allocate(DEVOBJ_REAL, 1, 1);
  ASSERT_OK(devobj_close());
  all_refuse(A);
  ASSERT_OK(devobj_open(DEVOBJ_HOST, -1));
  EXPECT_STATUS(devobj_free(A), DEVOBJ_INVALID_HANDLE, "no live object");  // not one of this opening
  EXPECT_EQ(some_work(), "385");
  ASSERT_OK(devobj_close());
}

TEST_P(Opened, OpeningsAreCounted) {
  ASSERT_OK(devobj_open(DEVOBJ_AUTO, -1));
  ASSERT_OK(devobj_open(GetParam(), -1));
  const devobj_handle A = allocate(DEVOBJ_REAL, 2, 2);
  ASSERT_OK(devobj_close());
  ASSERT_OK(devobj_close());
  EXPECT_EQ(devobj_is_valid(A), 1);
  EXPECT_EQ(devobj_backend_in_use(), GetParam());
  const devobj_backend other = GetParam() == DEVOBJ_HOST ? DEVOBJ_CUDA : DEVOBJ_HOST;
  EXPECT_STATUS(devobj_open(other, -1), DEVOBJ_INVALID_ARGUMENT, "but the library is open with");
  for (int bad : {-1, 3})
    EXPECT_STATUS(devobj_open(static_cast<devobj_backend>(bad), -1), DEVOBJ_INVALID_ARGUMENT,
                  std::string("open: backend is ").append(std::to_string(bad)));
  EXPECT_EQ(devobj_is_valid(A), 1);
  EXPECT_OK(devobj_free(A));
}

TEST_P(Opened, ReopensAsOftenAsWanted) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(some_work(), "385");
    ASSERT_OK(devobj_close());
    ASSERT_OK(devobj_open(GetParam(), -1));
  }
}
DEVOBJ_OPENED_EVERYWHERE(Opened);

}  // namespace
