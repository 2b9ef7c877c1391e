// Exit, fork, static objects, and floating-point traps: in children of a process that has not touched the library, since
// the kind of host queue is read once and a GPU cannot be used after a fork.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "child.hpp"
#include "devObjCpp/environment.hpp"
#include "devobj/devobj.hpp"
#include "opened.hpp"
#include "some_work.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

void host_queue(const std::string& mode) {
  setenv("DEVOBJ_HOST_QUEUE", mode.c_str(), 1);
  const HostMode wanted = mode == "worker" ? HostMode::worker : HostMode::synchronous;
  if (environment().host_mode != wanted) throw std::logic_error("the parent has read the environment already");
}

class InAChildOn : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Host, InAChildOn, testing::Values("synchronous", "worker"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(InAChildOn, MayExitWithoutCloseAndWithWorkPending) {
  EXPECT_CHILD(in_child([] {
    host_queue(GetParam());
    devobj_open(DEVOBJ_AUTO, -1);
    const devobj_handle A = object_of<double>(DEVOBJ_DOUBLE, 200, 200, std::vector<double>(40000, 1)),
                        B = allocate(DEVOBJ_DOUBLE, 200, 200);
    for (int i = 0; i < 20; ++i) devobj_gemm('N', 'N', {1, 0}, A, A, {0, 0}, B);
    return std::string("left");
  }), "left");
}

/// An object that a program keeps in a static variable and frees at exit, after the thread's own queue has gone.
struct Static {
  ~Static() {
    if (handle != 0) devobj_free(handle);
  }
  devobj_handle handle = 0;
};
Static kept_handle;
std::unique_ptr<Queue> kept_queue;
Matrix<double> kept_matrix;

TEST_P(InAChildOn, StaticObjectsMayBeFreedAtExit) {
  EXPECT_CHILD(in_child([] {
    host_queue(GetParam());
    devobj_open(DEVOBJ_AUTO, -1);
    kept_handle.handle = allocate(DEVOBJ_REAL, 100, 100);
    kept_queue = std::make_unique<Queue>();
    kept_matrix = Matrix<double>(100, 100, *kept_queue);
    laset<double>(Uplo::General, 1, 2, kept_matrix, *kept_queue);
    return std::string("left");
  }), "left");
}
/// A program that works with the library where it should not any more.
struct StaticWork {
  ~StaticWork() {
    if (!wanted) return;
    const devobj_status status = devobj_wait();
    if (status != DEVOBJ_NOT_OPEN || std::string(devobj_last_error()).find("this thread has ended") != 0) _exit(5);
    if (devobj_close() != DEVOBJ_SUCCESS) _exit(6);
  }
  bool wanted = false;
};
StaticWork static_work;
TEST_P(InAChildOn, WorkInStaticDestructorsIsAnErrorAndCloseIsNot) {
  EXPECT_CHILD(in_child([] {
    host_queue(GetParam());
    devobj_open(DEVOBJ_AUTO, -1);
    static_work.wanted = true;
    return some_work();
  }), "385");
}
TEST_P(InAChildOn, StaticObjectsMayBeFreedAfterClose) {
  EXPECT_CHILD(in_child([] {
    host_queue(GetParam());
    devobj_open(DEVOBJ_AUTO, -1);
    kept_handle.handle = allocate(DEVOBJ_REAL, 100, 100);
    return std::to_string(devobj_close());
  }), "0");
}

TEST_P(InAChildOn, AForkedChildWorksAndTheParentToo) {
  EXPECT_CHILD(in_child([] {
    host_queue(GetParam());
    devobj_open(DEVOBJ_HOST, -1);
    const devobj_handle A = object_of<float>(DEVOBJ_REAL, 2, 1, {3, 4});
    std::string seen = some_work();
    const Child child = in_child([&] {
      std::string inside = some_work();
      inside += values_of<float>(A) == std::vector<float>{3, 4} ? " same " : " different ";
      inside += std::to_string(devobj_free(A));
      // large enough for the team of threads, which the child has to start anew
      const std::vector<double> big(1 << 20, 2);
      const devobj_handle B = object_of(DEVOBJ_DOUBLE, 1 << 10, 1 << 10, big);
      inside += values_of<double>(B) == big ? " same" : " different";
      return text(inside, " ", devobj_close());
    }, 30);
    // AddressSanitizer looks for the parent's threads in the child and says that it finds none.
    seen += text(" [", child.answer, sanitized ? "" : child.printed, "] ", child.exit_status);
    double norm = 0;
    devobj_nrm2(A, &norm);
    seen += text(" ", norm, " ", some_work());
    return text(seen, " ", devobj_close());
  }), "385 [385 same 0 same 0] 0 5 385 0");
}

TEST(InAChild, AForkedChildCannotUseTheGpu) {
  const Child result = in_child([]() -> std::string {
    if (devobj_open(DEVOBJ_CUDA, -1) != DEVOBJ_SUCCESS) return "no GPU";
    std::string seen = some_work();
    const Child child = in_child([] { return some_work(); }, 30);
    seen += text(" [", child.answer, child.printed, "] ", child.exit_status);
    return text(seen, " ", some_work());
  });
  if (result.answer == "no GPU") GTEST_SKIP() << "skipped: no GPU";
  EXPECT_CHILD(result, "385 [6 CUDA cannot be used in a child process after fork; open the library in the child only] 0 385");
}

TEST(InAChild, LapacksNamesOpenTheLibrary) {
  EXPECT_CHILD(in_child([] {
    const int n = 2;
    double a[4] = {0, 2, 1, 3};
    int pivots[2], info = -1;
    gpu_dgetrf(&n, &n, a, &n, pivots, &info);
    const bool is_open = devobj_backend_in_use() != DEVOBJ_AUTO;
    const devobj_status first = devobj_close(), second = devobj_close();
    return text(info, " ", is_open, " ", first, " ", second);
  }), "0 1 0 1");
}

// The library's own work on ordinary numbers raises none of the exceptions that a caller may have made into signals.
TEST(InAChild, TheCallersFloatingPointTrapsDoNotFire) {
  EXPECT_CHILD(in_child([] {
    feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    std::string seen;
    devobj_open(DEVOBJ_HOST, -1);
    const devobj_method methods[] = {DEVOBJ_METHOD_LAPACK, DEVOBJ_METHOD_HYBRID};
    const devobj_method more_of_qr[] = {DEVOBJ_METHOD_HOUSEHOLDER, DEVOBJ_METHOD_BLOCK_HOUSEHOLDER};
    for (devobj_type type : {DEVOBJ_REAL, DEVOBJ_DOUBLE, DEVOBJ_COMPLEX, DEVOBJ_DOUBLE_COMPLEX})
      for (std::int64_t n : {1, 5, 100, 300}) {
        const devobj_handle A = allocate(type, n, n), B = allocate(type, n, n), x = allocate(type, n, 1),
                            p = allocate(DEVOBJ_INTEGER, n, 1);
        const bool is_complex = type == DEVOBJ_COMPLEX || type == DEVOBJ_DOUBLE_COMPLEX;
        const bool is_single = type == DEVOBJ_REAL || type == DEVOBJ_COMPLEX;
        const std::int64_t parts = is_complex ? 2 : 1;
        std::vector<double> numbers(parts * n * n);
        for (std::int64_t e = 0; e < n * n; ++e)
          for (std::int64_t p = 0; p < parts; ++p)
            numbers[parts * e + p] = std::cos((parts * e + p) * 0.7) + (p == 0 && e % (n + 1) == 0 ? 10 : 0);
        const std::vector<float> floats(numbers.begin(), numbers.end());
        void* data = is_single ? const_cast<float*>(floats.data()) : static_cast<void*>(numbers.data());
        int failed = 0;
        auto call = [&](devobj_status s) { failed += s != DEVOBJ_SUCCESS; };
        std::int64_t info = 0;
        double norm = 0;
        for (devobj_method method : methods) {
          call(devobj_to_device(type, columns(data, n, n), A));
          call(devobj_copy(A, B));
          call(devobj_getrf(A, p, method, 32, &info));
          call(devobj_getrs('N', A, p, B));
          call(devobj_getri(A, p, &info));
          call(devobj_to_device(type, columns(data, n, n), A));
          call(devobj_geqrf(A, x, method, 32, &info));
          call(devobj_orgqr(A, x));
          call(devobj_to_device(type, columns(data, n, n), A));
          call(devobj_gels('N', A, B, method, 32, &info));
          call(devobj_lange('F', B, &norm));
          call(devobj_transpose('T', A, B));
          call(devobj_gemm('T', 'N', {1, 0}, B, B, {0, 0}, A));
          call(devobj_nrm2(B, &norm));
        }
        for (devobj_method method : more_of_qr) {
          if (n > 100) continue;
          call(devobj_to_device(type, columns(data, n, n), A));
          call(devobj_geqrf(A, x, method, 32, &info));
        }
        seen += std::to_string(failed);
        for (devobj_handle h : {A, B, x, p}) devobj_free(h);
      }
    devobj_close();
    seen += fegetexcept() == (FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) ? ", traps as before" : ", traps changed";
    return seen;
  }), "0000000000000000, traps as before");
}

}  // namespace
