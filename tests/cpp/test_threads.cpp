// Threads: eight with objects of their own compute what one computes, objects change hands, and the caller's BLAS
// threads stay as they are.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

#include "child.hpp"
#include "devObjCpp/environment.hpp"
#include "opened.hpp"

using namespace devobj::test;

namespace {

constexpr int threads = 8;

/// Calls f(rank) on eight threads that start together.
template <class F> void on_eight_threads(F&& f) {
  std::atomic<int> waiting{threads};
  std::vector<std::thread> all;
  for (int rank = 0; rank < threads; ++rank)
    all.emplace_back([&, rank] {
      for (--waiting; waiting > 0;) std::this_thread::yield();
      f(rank);
    });
  for (std::thread& t : all) t.join();
}

std::vector<double> matrix_of(int rank, std::int64_t n) {
  std::vector<double> a(n * n);
  for (std::int64_t e = 0; e < n * n; ++e) a[e] = std::cos(0.3 * e * (rank + 1)) + (e % (n + 1) == 0 ? n : 0);
  return a;
}

/// LU, QR and a product of a matrix that depends on `rank`; all results in one row. GoogleTest's assertions may be
/// used in threads; a failed call gives fewer numbers.
std::vector<double> work_of(int rank) {
  const std::int64_t n = 40 + 7 * rank;
  const devobj_handle A = object_of(DEVOBJ_DOUBLE, n, n, matrix_of(rank, n)), B = allocate(DEVOBJ_DOUBLE, n, n),
                      C = allocate(DEVOBJ_DOUBLE, n, n), p = allocate(DEVOBJ_INTEGER, n, 1),
                      tau = allocate(DEVOBJ_DOUBLE, n, 1);
  std::int64_t info = -1;
  EXPECT_OK(devobj_copy(A, B));
  EXPECT_OK(devobj_gemm('T', 'N', {1, 0}, A, B, {0, 0}, C));
  EXPECT_OK(devobj_getrf(A, p, DEVOBJ_METHOD_HYBRID, 16, &info));
  EXPECT_EQ(info, 0);
  EXPECT_OK(devobj_geqrf(B, tau, DEVOBJ_METHOD_HYBRID, 16, &info));
  double norm = 0;
  EXPECT_OK(devobj_lange('F', B, &norm));
  std::vector<double> numbers = {norm};
  for (devobj_handle h : {A, B, C, tau}) {
    const std::vector<double> part = values_of<double>(h);
    numbers.insert(numbers.end(), part.begin(), part.end());
  }
  for (devobj_handle h : {A, B, C, p, tau}) EXPECT_OK(devobj_free(h));
  return numbers;
}

class Threads : public Opened {};
DEVOBJ_OPENED_EVERYWHERE(Threads);

TEST_P(Threads, EightWithTheirOwnObjectsGiveWhatOneGives) {
  std::vector<std::vector<double>> serial, parallel(threads);
  for (int rank = 0; rank < threads; ++rank) serial.push_back(work_of(rank));
  for (int repetition = 0; repetition < 3; ++repetition) {
    on_eight_threads([&](int rank) { parallel[rank] = work_of(rank); });
    for (int rank = 0; rank < threads; ++rank) EXPECT_EQ(parallel[rank], serial[rank]) << "thread " << rank;
  }
  EXPECT_EQ(devobj_live_objects(), 0);
}

TEST_P(Threads, AnObjectMayBeUsedByAnotherThreadAfterAWait) {
  for (int repetition = 0; repetition < 20; ++repetition) {
    const devobj_handle A = object_of<double>(DEVOBJ_DOUBLE, 50, 50, std::vector<double>(2500, 1)),
                        B = allocate(DEVOBJ_DOUBLE, 50, 50);
    ASSERT_OK(devobj_gemm('N', 'N', {1, 0}, A, A, {0, 0}, B));  // all 50
    ASSERT_OK(devobj_wait());
    std::thread([&] {
      const devobj_handle C = allocate(DEVOBJ_DOUBLE, 50, 50);
      EXPECT_OK(devobj_gemm('N', 'N', {1, 0}, B, A, {0, 0}, C));  // all 2500; pending when A and B are freed
      EXPECT_OK(devobj_free(A));
      EXPECT_OK(devobj_free(B));
      EXPECT_EQ(values_of<double>(C), std::vector<double>(2500, 2500));
      EXPECT_OK(devobj_free(C));
    }).join();
  }
}

// The memory belongs to the order of the queue that it came from: another thread's work with it has to end before.
TEST_P(Threads, AnObjectMayBeFreedByTheThreadThatUsedItLast) {
  std::vector<devobj_handle> inputs;
  for (int i = 0; i < 16; ++i)
    inputs.push_back(object_of<double>(DEVOBJ_DOUBLE, 200, 200, std::vector<double>(40000, i + 1)));
  ASSERT_OK(devobj_wait());
  std::vector<double> result;
  std::atomic<bool> ended{false};
  std::thread other([&] {
    const devobj_handle sum = object_of<double>(DEVOBJ_DOUBLE, 200, 200, std::vector<double>(40000, 0));
    for (devobj_handle A : inputs) {
      EXPECT_OK(devobj_gemm('N', 'N', {1, 0}, A, A, {1, 0}, sum));
      EXPECT_OK(devobj_free(A));
    }
    result = values_of<double>(sum);
    EXPECT_OK(devobj_free(sum));
    ended = true;
  });
  // Meanwhile memory of the same size is taken and overwritten here.
  while (!ended) {
    const devobj_handle A = object_of<double>(DEVOBJ_DOUBLE, 200, 200, std::vector<double>(40000, 1e6));
    EXPECT_OK(devobj_free(A));
  }
  other.join();
  EXPECT_EQ(result, std::vector<double>(40000, 200 * 1496.0));  // 200 (1 + 4 + ... + 256)
}

TEST_P(Threads, HandlesComeAndGoWhileOthersWork) {
  std::vector<devobj_handle> shared;
  std::mutex mutex;
  on_eight_threads([&](int rank) {
    for (int i = 0; i < 300; ++i) {
      const devobj_handle A = object_of<float>(DEVOBJ_REAL, 1, 2, {float(rank), float(i)});
      EXPECT_EQ(values_of<float>(A), (std::vector<float>{float(rank), float(i)}));
      EXPECT_EQ(devobj_wait(), DEVOBJ_SUCCESS);
      devobj_handle other = 0;
      {
        std::lock_guard lock(mutex);
        shared.push_back(A);
        if (shared.size() > 5) {  // an object of any thread
          other = shared.front();
          shared.erase(shared.begin());
        }
      }
      if (other != 0) {
        EXPECT_EQ(values_of<float>(other).size(), 2u);
        EXPECT_OK(devobj_free(other));
        EXPECT_EQ(devobj_free(other), DEVOBJ_INVALID_HANDLE);
      }
    }
  });
  EXPECT_EQ(devobj_live_objects(), static_cast<std::int64_t>(shared.size()));
  for (devobj_handle A : shared) EXPECT_OK(devobj_free(A));
}

TEST_P(Threads, ErrorsBelongToTheirThread) {
  EXPECT_EQ(devobj_free(0), DEVOBJ_INVALID_HANDLE);
  const std::string mine = devobj_last_error();
  std::thread([&] {
    EXPECT_STREQ(devobj_last_error(), "");
    EXPECT_EQ(devobj_allocate(DEVOBJ_REAL, -1, 1, nullptr), DEVOBJ_INVALID_ARGUMENT);
  }).join();
  EXPECT_EQ(devobj_last_error(), mine);
}

TEST_P(Threads, ObjectsOutliveTheThreadThatMadeThem) {
  devobj_handle A = 0;
  std::thread([&] {
    A = object_of<float>(DEVOBJ_REAL, 2, 1, {3, 4});
    EXPECT_OK(devobj_wait());
  }).join();
  EXPECT_EQ(values_of<float>(A), (std::vector<float>{3, 4}));
  EXPECT_OK(devobj_free(A));
}

TEST_P(Threads, ThreadsMayOpenAndCloseTogether) {
  on_eight_threads([&](int) {
    for (int i = 0; i < 50; ++i) {
      EXPECT_OK(devobj_open(DEVOBJ_AUTO, -1));
      const devobj_handle A = object_of<float>(DEVOBJ_REAL, 1, 1, {1});
      EXPECT_OK(devobj_free(A));
      EXPECT_FALSE(std::string(devobj_info()).empty());
      EXPECT_OK(devobj_close());
    }
  });
  EXPECT_EQ(devobj_backend_in_use(), GetParam());
}

TEST_P(Threads, TheBlasThreadsOfTheCallerStay) {
  const auto get = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (get == nullptr || set == nullptr) GTEST_SKIP() << "skipped: the BLAS is not OpenBLAS";
  const int before = get();
  for (int wanted : {1, 2, before}) {
    set(wanted);
    work_of(1);
    EXPECT_EQ(get(), wanted);
  }
}

// The same with queues that have threads of their own, and in a process that opens for the first time.
TEST(ThreadsInAChild, WorkerQueuesGiveWhatOneThreadGives) {
  EXPECT_CHILD(in_child([]() -> std::string {
    setenv("DEVOBJ_HOST_QUEUE", "worker", 1);
    if (devobj::environment().host_mode != devobj::HostMode::worker) return "no worker";
    devobj_open(DEVOBJ_HOST, -1);
    std::vector<std::vector<double>> serial, parallel(threads);
    for (int rank = 0; rank < threads; ++rank) serial.push_back(work_of(rank));
    on_eight_threads([&](int rank) { parallel[rank] = work_of(rank); });
    // objects freed by another thread than the one that allocated them, with work pending
    const devobj_handle A = object_of<double>(DEVOBJ_DOUBLE, 300, 300, std::vector<double>(90000, 1));
    devobj_wait();
    std::vector<double> product;
    std::thread([&] {
      const devobj_handle B = allocate(DEVOBJ_DOUBLE, 300, 300);
      devobj_gemm('N', 'N', {1, 0}, A, A, {0, 0}, B);
      devobj_free(A);
      product = values_of<double>(B);
      devobj_free(B);
    }).join();
    std::string seen = parallel == serial ? "same" : "different";
    seen += product == std::vector<double>(90000, 300) ? ", right" : ", wrong";
    return seen + ", " + std::to_string(devobj_close());
  }), "same, right, 0");
}

}  // namespace
