// The library prints nothing, whatever it is asked for; and no exception leaves an extern "C" function, not even when
// operator new fails anywhere inside.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <new>

#include "child.hpp"
#include "opened.hpp"

using namespace devobj::test;

namespace {
thread_local long new_calls_left = -1;  // -1: none fails
[[maybe_unused]] bool this_new_fails() {
  if (new_calls_left < 0) return false;
  if (new_calls_left > 0) {
    --new_calls_left;
    return false;
  }
  return true;
}
}  // namespace

#if !defined(DEVOBJ_TEST_ASAN) && !defined(DEVOBJ_TEST_TSAN)
// Replaced for the program and the library: the calling thread's allocations fail from a chosen one on.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* p = this_new_fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

namespace {

/// Good and bad calls of every kind; returns how many succeeded and failed.
std::string good_and_bad_calls(devobj_backend backend) {
  int good = 0, bad = 0;
  auto call = [&](devobj_status s) { ++(s == DEVOBJ_SUCCESS ? good : bad); };
  devobj_handle A = 0, B = 0, x = 0, p = 0, none = 0;
  std::int64_t info = 0;
  double norm = 0, numbers[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};  // singular
  void* pointer = nullptr;
  call(devobj_wait());
  call(devobj_open(static_cast<devobj_backend>(17), 0));
  call(devobj_open(DEVOBJ_CUDA, 99));
  call(devobj_open(backend, -1));
  devobj_info();
  call(devobj_allocate(DEVOBJ_DOUBLE, 3, 3, &A));
  call(devobj_allocate(DEVOBJ_DOUBLE, 3, 3, &B));
  call(devobj_allocate(DEVOBJ_DOUBLE, 3, 1, &x));
  call(devobj_allocate(DEVOBJ_INTEGER, 3, 1, &p));
  call(devobj_allocate(DEVOBJ_DOUBLE, -3, 1, &none));
  call(devobj_allocate(DEVOBJ_DOUBLE, std::int64_t(1) << (sanitized ? 62 : 45), 1, &none));  // sanitizers report big ones
  call(devobj_to_device(DEVOBJ_DOUBLE, columns(numbers, 3, 3), A));
  call(devobj_to_device(DEVOBJ_REAL, columns(numbers, 3, 3), A));
  call(devobj_getrf(A, p, DEVOBJ_METHOD_AUTO, 0, &info));
  call(devobj_getri(A, p, &info));
  call(devobj_gesv(A, p, B, DEVOBJ_METHOD_AUTO, 0, &info));
  call(devobj_gels('N', A, B, DEVOBJ_METHOD_AUTO, 0, &info));
  call(devobj_getrf(A, p, DEVOBJ_METHOD_GIVENS, 0, &info));
  numbers[4] = std::nan("");
  call(devobj_to_device(DEVOBJ_DOUBLE, columns(numbers, 3, 3), A));
  call(devobj_getrf(A, p, DEVOBJ_METHOD_AUTO, 0, &info));
  call(devobj_geqrf(A, x, DEVOBJ_METHOD_AUTO, 0, &info));
  call(devobj_orgqr(A, x));
  call(devobj_gemm('N', 'Z', {1, 0}, A, A, {0, 0}, B));
  call(devobj_gemm('N', 'N', {1, 0}, A, x, {0, 0}, B));
  call(devobj_gemm('N', 'N', {1, 0}, A, A, {0, 0}, B));
  call(devobj_trsv('U', 'N', 'N', A, x));
  call(devobj_lange('F', A, &norm));
  call(devobj_laswp(A, 1, 3, x, 1));
  call(devobj_free(A));
  call(devobj_free(A));
  call(devobj_pointer(A, &pointer));
  call(devobj_view(B, 9, 9, 9, 9, &none));
  const int m = -1, n = 3;
  int pivots[3], result = 0;
  gpu_dgetrf(&m, &n, numbers, &n, pivots, &result);
  gpu_dgetrf(&n, &n, numbers, &n, pivots, &result);
  call(devobj_close());  // with objects that were not freed
  call(devobj_close());
  call(devobj_free(B));
  return std::to_string(good) + " good, " + std::to_string(bad) + " bad";
}

TEST(Silence, NothingIsPrintedOnTheHost) {
  for (const char* mode : {"synchronous", "worker"})
    EXPECT_CHILD(in_child([&] {
      setenv("DEVOBJ_HOST_QUEUE", mode, 1);
      return good_and_bad_calls(DEVOBJ_HOST);
    }), "19 good, 15 bad");
}

TEST(Silence, NothingIsPrintedWhereAutomaticLeadsTo) {
  const Child child = in_child([] { return good_and_bad_calls(DEVOBJ_AUTO); });
  EXPECT_CHILD(child, child.answer);
  EXPECT_NE(child.answer, "");
}

/// Lets the k-th operator new of `call` and all later ones fail, for k = 0, 1, ... until the call has the status that is
/// wanted. Returns how many failed.
template <class Call> long fail_each_new(const char* name, devobj_status wanted, Call&& call) {
  SCOPED_TRACE(name);
  for (long k = 0; k < 1000; ++k) {
    const std::int64_t before = devobj_live_objects();
    new_calls_left = k;
    const devobj_status status = call();
    new_calls_left = -1;
    if (status == wanted) return k;
    EXPECT_EQ(status, DEVOBJ_OUT_OF_MEMORY) << "allocation " << k << ": " << devobj_last_error();
    EXPECT_STRNE(devobj_last_error(), "");
    EXPECT_EQ(devobj_live_objects(), before) << "allocation " << k;
    if (testing::Test::HasFailure()) return k;
  }
  ADD_FAILURE() << "no end of allocations";
  return -1;
}

class NewFails : public Opened {};
INSTANTIATE_TEST_SUITE_P(On, NewFails, testing::Values(DEVOBJ_HOST), [](const auto&) { return "host"; });

TEST_P(NewFails, AnywhereInAnyCall) {
  if (sanitized) GTEST_SKIP() << "skipped: the sanitizer has an operator new of its own";
  const devobj_handle A = object_of<double>(DEVOBJ_DOUBLE, 3, 3, {4, 1, 2, 1, 5, 3, 2, 1, 6}), B = allocate(DEVOBJ_DOUBLE, 3, 3),
                      tau = allocate(DEVOBJ_DOUBLE, 3, 1), p = allocate(DEVOBJ_INTEGER, 3, 1);
  devobj_handle out = 0, block = 0;
  std::int64_t info = 0;
  double host[9], norm = 0;
  const devobj_status ok = DEVOBJ_SUCCESS, wrong = DEVOBJ_INVALID_ARGUMENT, handle = DEVOBJ_INVALID_HANDLE;
  EXPECT_GE(fail_each_new("allocate", ok, [&] { return devobj_allocate(DEVOBJ_DOUBLE, 4, 4, &out); }), 1);
  fail_each_new("view", ok, [&] { return devobj_view(out, 1, 2, 1, 2, &block); });
  fail_each_new("move", ok, [&] { return devobj_move(block, &block); });
  fail_each_new("to_device", ok, [&] { return devobj_to_device(DEVOBJ_DOUBLE, {host, 3, 3, 1, 3}, B); });
  fail_each_new("to_host", ok, [&] { return devobj_to_host(A, DEVOBJ_DOUBLE, {host, 3, 3, 3, 1}); });
  fail_each_new("copy", ok, [&] { return devobj_copy(A, B); });
  fail_each_new("gemm", ok, [&] { return devobj_gemm('N', 'N', {1, 0}, A, A, {0, 0}, B); });
  fail_each_new("lange", ok, [&] { return devobj_lange('1', A, &norm); });
  fail_each_new("getrf", ok, [&] { return devobj_getrf(B, p, DEVOBJ_METHOD_AUTO, 0, &info); });
  fail_each_new("getri", ok, [&] { return devobj_getri(B, p, &info); });
  fail_each_new("hybrid getrf", ok, [&] { return devobj_getrf(B, p, DEVOBJ_METHOD_HYBRID, 2, &info); });
  fail_each_new("geqrf", ok, [&] { return devobj_geqrf(A, tau, DEVOBJ_METHOD_AUTO, 0, &info); });
  fail_each_new("hybrid geqrf", ok, [&] { return devobj_geqrf(A, tau, DEVOBJ_METHOD_HYBRID, 2, &info); });
  fail_each_new("orgqr", ok, [&] { return devobj_orgqr(A, tau); });
  fail_each_new("gels", ok, [&] { return devobj_gels('N', A, B, DEVOBJ_METHOD_AUTO, 0, &info); });
  // The texts of errors need memory too.
  fail_each_new("an error's text", wrong, [&] { return devobj_gemm('N', 'N', {1, 0}, A, tau, {0, 0}, B); });
  fail_each_new("a handle's error", handle, [&] { return devobj_free(12345); });
  fail_each_new("open", ok, [&] { return devobj_open(DEVOBJ_HOST, -1); });
  fail_each_new("close", ok, [] { return devobj_close(); });
  fail_each_new("free", ok, [&] { return devobj_free(out); });
  for (devobj_handle h : {A, B, tau, p, block}) EXPECT_OK(devobj_free(h));
}

}  // namespace
