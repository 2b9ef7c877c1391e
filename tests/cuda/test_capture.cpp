// On a GPU, beside a CUDA runtime of the program's own: a caller's graph capture, a kernel of the caller's, every kind of
// memory as a host array, device memory over many cycles, and a device that the caller resets.
#include <cuda_runtime.h>

#include <vector>

#include "assert_cuda.hpp"
#include "devobj/devobj.h"
#include "kernels.hpp"
#include "testing.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

class Capture : public Everywhere {
 protected:
  cudaStream_t stream() { return static_cast<cudaStream_t>(q().stream()); }
  void begin() { ASSERT_CUDA(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal)); }
  /// What was captured, ready to be launched; null if the capture was broken by a call that cannot be captured.
  cudaGraphExec_t end() {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    if (cudaStreamEndCapture(stream(), &graph) == cudaSuccess && graph != nullptr) {
      EXPECT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
      EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    }
    cudaGetLastError();
    return ready;
  }
  /// `work` in a graph, after a first time that takes what it needs.
  template <class Work>
  cudaGraphExec_t warm_capture(Work work) {
    work();
    q().wait();
    begin();
    work();
    return end();
  }
};
INSTANTIATE_TEST_SUITE_P(On, Capture,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::real, Type::double_precision, Type::double_complex)),
                         instance_name);

TEST_P(Capture, CopiesAndProductsAreReplayed) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 70;
    const Dense<T> first = random<T>(n, n, 1), second = random<T>(n, n, 2), b = random<T>(n, n, 3);
    Matrix<T> A = upload(first, q()), B = upload(b, q()), C(n, n, q()), D(n, n, q());
    auto work = [&] {
      gemm<T>(Op::NoTrans, Op::NoTrans, 1, A, B, 0, C, q());
      copy<T>(C, D, q());
      laset<T>(Uplo::Lower, 0, 0, D, q());
    };
    cudaGraphExec_t graph = warm_capture(work);  // the cuBLAS handle exists
    ASSERT_NE(graph, nullptr) << "a warm product, copy and laset cannot be captured";
    for (const Dense<T>& a : {second, first}) {
      to_device<T>({a.data(), n, n, n}, A, q());
      work();
      const Dense<T> expected = download<T>(D, q());
      laset<T>(Uplo::General, 7, 7, D, q());
      ASSERT_CUDA(cudaGraphLaunch(graph, stream()));
      expect_same(download<T>(D, q()), expected, "the graph's result");
    }
    ASSERT_CUDA(cudaGraphExecDestroy(graph));
  });
}

TEST_P(Capture, WhatCannotBeCapturedIsAnErrorAndEverythingWorksAfterwards) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 300;  // above the limit for direct copies: staged
    const Dense<T> a = random<T>(n, n, 1);
    Dense<T> host(n, n);
    Matrix<T> A = upload(a, q()), F = upload(a, q()), tau(n, 1, q());
    Matrix<std::int32_t> ipiv(n, 1, q());
    const std::vector<std::function<void()>> waiting = {
        [&] { q().wait(); },
        [&] {
          to_host<T>(A, {host.data(), n, n, n}, q());
        },
        [&] {
          to_host<T>(A({0, 2}, {0, 2}), {host.data(), 2, 2, n}, q());
        },
        [&] { lange<T>(Norm::Fro, A, q()); },
        [&] { getrf<T>(F, ipiv, q()); },  // for info
        [&] { getrf<T>(F, ipiv, q(), {Method::hybrid}); },
        [&] { geqrf<T>(F, tau, q(), {Method::hybrid}); },
    };
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      SCOPED_TRACE("call " + std::to_string(i));
      begin();
      EXPECT_THROW(waiting[i](), Error) << "it waits, which a capture forbids";
      if (cudaGraphExec_t graph = end()) cudaGraphExecDestroy(graph);
      expect_same(download<T>(A, q()), a, "after the broken capture");
      waiting[i]();
      to_device<T>({a.data(), n, n, n}, F, q());
    }
  });
}

/// The native LU with its queues, panels and updates, of one block, two and more: a graph gives the same bits as calls. What
/// comes after it in the graph finds its factors.
TEST_P(Capture, NativeLuIsReplayed) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{60, 60},
                        {120, 120},
                        {100, 60},
                        {300, 300},
                        {500, 200},
                        {150, 400},
                        {2500, 2500}}) {
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
      const std::int64_t k = std::min(m, n);
      const LuOptions options{Method::native, 64};
      Matrix<T> A(m, n, q()), after(m, n, q());
      Matrix<std::int32_t> ipiv(k, 1, q()), info(1, 1, q());
      auto work = [&] {
        getrf<T>(A, ipiv, info.view(), q(), options);
        copy<T>(A, after, q());
      };
      to_device<T>({random<T>(m, n, 1).data(), m, n, m}, A, q());
      cudaGraphExec_t graph = warm_capture(work);
      ASSERT_NE(graph, nullptr) << "a warm native LU cannot be captured";
      for (std::uint32_t seed : {2u, 3u, 4u}) {
        const Dense<T> a = random<T>(m, n, seed);
        to_device<T>({a.data(), m, n, m}, A, q());
        work();
        const Dense<T> LU = download<T>(A, q());
        const Dense<std::int32_t> pivots = download<std::int32_t>(ipiv, q());
        to_device<T>({a.data(), m, n, m}, A, q());
        laset<T>(Uplo::General, 7, 7, after, q());
        ASSERT_CUDA(cudaGraphLaunch(graph, stream()));
        expect_same(download<T>(A, q()), LU, "the graph's LU");
        expect_same(download<T>(after, q()), LU, "what comes after the graph's LU");
        expect_same(download<std::int32_t>(ipiv, q()), pivots, "the graph's pivots");
        EXPECT_EQ(download<std::int32_t>(info, q())[0], 0);
      }
      ASSERT_CUDA(cudaGraphExecDestroy(graph));
    }
  });
}

/// A queue whose workspace is too small when the capture begins: what it takes then is its own, and not the graph's.
TEST_P(Capture, AWorkspaceTakenInACaptureOutlivesTheGraph) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 300;
    const Dense<T> a = random<T>(n, n, 5);
    Matrix<T> A = upload(a, q());
    Matrix<std::int32_t> ipiv(n, 1, q()), info(1, 1, q());
    auto work = [&](Queue& queue) { getrf<T>(A, ipiv, info.view(), queue, {Method::native, 256}); };
    {
      Queue other(Backend::cuda);
      work(other);  // warm: the kernels are loaded
      other.wait();
    }
    getrf<T>(A({0, 100}, {0, 100}), ipiv({0, 100}, {0, 1}), info.view(), q(),
             {Method::native, 32});  // the cuBLAS handles exist
    to_device<T>({a.data(), n, n, n}, A, q());
    const void* const before = q().workspace(1);
    begin();
    work(q());
    cudaGraphExec_t graph = end();
    ASSERT_NE(graph, nullptr) << "a native LU that needs more workspace cannot be captured";
    ASSERT_NE(q().workspace(1), before) << "the workspace was large enough";
    ASSERT_CUDA(cudaGraphLaunch(graph, stream()));
    const Dense<T> LU = download<T>(A, q());
    ASSERT_CUDA(cudaGraphExecDestroy(graph));
    to_device<T>({a.data(), n, n, n}, A, q());
    work(q());
    expect_same(download<T>(A, q()), LU, "after the graph is gone");
  });
}

/// With three queues, and a fourth beside the last panels: row-major meanwhile, and in double precision column-major too; of complex numbers with updates by gemm_residues,
/// of which some columns are there first.
TEST_P(Capture, NativeLuOfALargeMatrixIsReplayed) {
  with_type([&]<class T>(T) {
    if (sizeof(T) == 8 && is_complex<T>) return;  // the comparisons take long
    using Sizes = std::vector<std::pair<std::int64_t, std::int64_t>>;
    // even: double precision is updated by gemm_overlapped
    const Sizes sizes = is_complex<T> ? Sizes{{4400, 4400}} : Sizes{{6102, 6102}, {5200, 5100}, {10'300, 5100}};
    LuOptions options{Method::native};
    if (is_complex<T>) options.block = 512, options.inner_block = 128;
    for (const auto& [m, n] : sizes) {
      Matrix<T> first(m, n, q()), A(m, n, q());
      Matrix<std::int32_t> ipiv(n, 1, q()), info(1, 1, q());
      Rng rng(q(), Generator::philox, 6);
      auto work = [&] {
        copy<T>(first, A, q());
        getrf<T>(A, ipiv, info.view(), q(), options);
      };
      cudaGraphExec_t graph = warm_capture(work);
      ASSERT_NE(graph, nullptr) << "a warm native LU cannot be captured";
      for (int time = 0; time < 2; ++time) {
        rng.uniform<T>(-1, 1, first, q());
        work();
        const Dense<T> LU = download<T>(A, q());
        const Dense<std::int32_t> pivots = download<std::int32_t>(ipiv, q());
        laset<T>(Uplo::General, 7, 7, A, q());
        ASSERT_CUDA(cudaGraphLaunch(graph, stream()));
        expect_same(download<T>(A, q()), LU, "the graph's LU");
        expect_same(download<std::int32_t>(ipiv, q()), pivots, "the graph's pivots");
      }
      ASSERT_CUDA(cudaGraphExecDestroy(graph));
    }
  });
}

/// A queue's first use of cuBLAS in a capture: its handle is made there.
TEST_P(Capture, AHandleIsMadeInACapture) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 200, nrhs = 30;
    Dense<T> a = random<T>(n, n, 21);
    for (std::int64_t i = 0; i < n; ++i) a(i, i) += T(8);
    Matrix<T> A = upload(a, q()), B = upload(random<T>(n, nrhs, 22), q()), C(n, nrhs, q()), X(n, nrhs, q());
    copy<T>(B, X, q());
    const auto work = [&](View<T> to, Queue& queue) {
      trsm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, 1, A, to, queue);
      gemm<T>(Op::NoTrans, Op::NoTrans, 1, A, to, 0, C, queue);
    };
    work(X, q());  // the kernels are loaded
    const Dense<T> solution = download<T>(X, q()), product = download<T>(C, q());
    Queue cold(Backend::cuda);
    const auto of_cold = static_cast<cudaStream_t>(cold.stream());
    ASSERT_CUDA(cudaStreamBeginCapture(of_cold, cudaStreamCaptureModeThreadLocal));
    work(B, cold);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(of_cold, &graph));
    ASSERT_CUDA(cudaGraphInstantiate(&ready, graph, 0));
    ASSERT_CUDA(cudaGraphDestroy(graph));
    laset<T>(Uplo::General, 7, 7, C, q());
    q().wait();
    ASSERT_CUDA(cudaGraphLaunch(ready, of_cold));
    cold.wait();
    expect_same(download<T>(B, q()), solution, "the graph's solution");
    expect_same(download<T>(C, q()), product, "the graph's product");
    ASSERT_CUDA(cudaGraphExecDestroy(ready));
  });
}

/// getrs with one right-hand side, a few and many, by whole triangles and by halves: a graph gives the same bits as calls.
TEST_P(Capture, SolvesWithFactorsAreReplayed) {
  with_type([&]<class T>(T) {
    using Size = std::pair<std::int64_t, std::int64_t>;
    for (const auto& [n, nrhs] : {Size{60, 3}, Size{500, 1}, Size{500, 500}, Size{2500, 20}, Size{2500, 1400}}) {
      SCOPED_TRACE(std::to_string(n) + " rows, " + std::to_string(nrhs) + " right-hand sides");
      Matrix<T> A = upload(random<T>(n, n, 11), q()), B(n, nrhs, q()), X(n, nrhs, q());
      Matrix<std::int32_t> ipiv(n, 1, q()), info(1, 1, q());
      getrf<T>(A, ipiv, info.view(), q(), {Method::native});
      for (const Op op : {Op::NoTrans, Op::ConjTrans}) {
        auto work = [&] {
          copy<T>(B, X, q());
          getrs<T>(op, A, ipiv, X, q());
        };
        to_device<T>({random<T>(n, nrhs, 12).data(), n, nrhs, n}, B, q());
        cudaGraphExec_t graph = warm_capture(work);
        ASSERT_NE(graph, nullptr) << "a warm getrs cannot be captured";
        for (const std::uint32_t seed : {13u, 14u}) {
          to_device<T>({random<T>(n, nrhs, seed).data(), n, nrhs, n}, B, q());
          work();
          const Dense<T> expected = download<T>(X, q());
          laset<T>(Uplo::General, 7, 7, X, q());
          ASSERT_CUDA(cudaGraphLaunch(graph, stream()));
          expect_same(download<T>(X, q()), expected, "the graph's solution");
        }
        ASSERT_CUDA(cudaGraphExecDestroy(graph));
      }
    }
  });
}

class Gpu : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, Gpu,
                         testing::Combine(testing::Values(places()[2]), testing::Values(Type::double_precision)),
                         instance_name);

TEST_P(Gpu, OnlyTimedEventsHaveATime) {
  const Event before = q().record();
  Matrix<double> A(500, 500, q());
  laset<double>(Uplo::General, 1, 1, A, q());
  const Event untimed = q().record(false), after = q().record();
  EXPECT_GT(after.milliseconds_since(before), 0);
  untimed.wait();
  EXPECT_TRUE(untimed.ready());
  for (auto [from, to] : {std::pair{before, untimed}, {untimed, after}}) {
    try {
      to.milliseconds_since(from);
      ADD_FAILURE() << "an event without a time has one";
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), Status::not_supported);
    }
  }
}

TEST_P(Gpu, AKernelOfTheCallersWorksOnTheRawPointerAndStream) {
  ASSERT_EQ(devobj_open(DEVOBJ_CUDA, -1), DEVOBJ_SUCCESS) << devobj_last_error();
  double x[5] = {1, 2, 3, 4, 5};
  devobj_handle X = 0;
  void *pointer = nullptr, *stream = nullptr;
  EXPECT_EQ(devobj_allocate(DEVOBJ_DOUBLE, 5, 1, &X), DEVOBJ_SUCCESS);
  EXPECT_EQ(devobj_to_device(DEVOBJ_DOUBLE, {x, 5, 1, 1, 5}, X), DEVOBJ_SUCCESS);
  EXPECT_EQ(devobj_pointer(X, &pointer), DEVOBJ_SUCCESS);
  EXPECT_EQ(devobj_stream(&stream), DEVOBJ_SUCCESS);
  ASSERT_NE(stream, nullptr);
  add_one(static_cast<double*>(pointer), 5, static_cast<cudaStream_t>(stream));
  ASSERT_CUDA(cudaGetLastError());
  EXPECT_EQ(devobj_scal({10, 0}, X), DEVOBJ_SUCCESS);
  EXPECT_EQ(devobj_to_host(X, DEVOBJ_DOUBLE, {x, 5, 1, 1, 5}), DEVOBJ_SUCCESS);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(x[i], 10 * (i + 2));
  EXPECT_EQ(devobj_free(X), DEVOBJ_SUCCESS);
  EXPECT_EQ(devobj_close(), DEVOBJ_SUCCESS);
}

TEST_P(Gpu, EveryKindOfMemoryAsAHostArray) {
  const std::int64_t m = 700, n = 500;
  const std::size_t bytes = m * n * sizeof(double);
  const Dense<double> a = random<double>(m, n, 1);
  double *pinned = nullptr, *managed = nullptr, *device = nullptr;
  std::vector<double> registered(m * n);
  ASSERT_CUDA(cudaMallocHost(&pinned, bytes));
  ASSERT_CUDA(cudaMallocManaged(&managed, bytes));
  ASSERT_CUDA(cudaMalloc(&device, bytes));
  ASSERT_CUDA(cudaHostRegister(registered.data(), bytes, cudaHostRegisterDefault));
  for (double* memory : {pinned, managed, registered.data()}) {
    std::memcpy(memory, a.data(), bytes);
    Padded<double> A(Dense<double>(m, n), q());
    to_device<double>({memory, m, n, m}, A, q());
    std::memset(memory, 0, bytes);
    expect_same(A.read(), a, "the object");
    to_host<double>(A, {memory, m, n, m}, q());
    EXPECT_EQ(std::memcmp(memory, a.data(), bytes), 0);
    std::memset(memory, 0, bytes);
    to_host<double>(A, {memory, m, n, n, 1}, q());  // by rows
    EXPECT_EQ(memory[1], a(0, 1));
    EXPECT_EQ(memory[n], a(1, 0));
  }
  Matrix<double> A = upload(a, q());
  EXPECT_INVALID(to_device<double>({device, m, n, m}, A, q()), "is device memory");
  EXPECT_INVALID(to_host<double>(A, {device, m, n, m}, q()), "is device memory");
  ASSERT_CUDA(cudaHostUnregister(registered.data()));
  ASSERT_CUDA(cudaFreeHost(pinned));
  ASSERT_CUDA(cudaFree(managed));
  ASSERT_CUDA(cudaFree(device));
}

std::size_t free_memory() {
  std::size_t available = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&available, &total), cudaSuccess);
  return available;
}

TEST_P(Gpu, TenThousandCyclesLeaveTheDevicesMemoryAsItWas) {
  const Dense<double> a = random<double>(100, 100, 1);
  auto cycle = [&] {
    Matrix<double> A = upload(a, q()), B(100, 100, q());
    Matrix<std::int32_t> ipiv(100, 1, q());
    copy<double>(A, B, q());
    getrf<double>(B, ipiv, q());
  };
  for (int i = 0; i < 50; ++i) cycle();
  const std::size_t before = free_memory();
  for (int i = 0; i < 10000; ++i) cycle();
  EXPECT_EQ(free_memory(), before);
}

/// Works, lets the caller reset the device, and works on: exits with 42 if that was refused with a status and a text.
void work_after_a_reset() {
  devobj_handle A = 0, B = 0;
  devobj_open(DEVOBJ_CUDA, -1);
  devobj_allocate(DEVOBJ_DOUBLE, 100, 100, &A);
  devobj_laset('G', {1, 0}, {2, 0}, A);
  devobj_wait();
  cudaDeviceReset();
  bool refused = devobj_laset('G', {1, 0}, {2, 0}, A) != DEVOBJ_SUCCESS || devobj_wait() != DEVOBJ_SUCCESS;
  refused = refused && devobj_last_error()[0] != '\0';
  devobj_allocate(DEVOBJ_DOUBLE, 50, 50, &B);
  devobj_free(A);
  devobj_close();
  std::exit(refused ? 42 : 41);
}
TEST_P(Gpu, ADeviceThatTheCallerResetsIsAnErrorAndNoCrash) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process of its own
  EXPECT_EXIT(work_after_a_reset(), testing::ExitedWithCode(42), "");
}

// The last one: the pool keeps the memory, so that a child process would find none.
TEST_P(Gpu, MemoryThatIsFullIsAnErrorAndCanBeHadAgain) {
  const std::int64_t gib = std::int64_t(1) << 27;  // doubles
  std::vector<Matrix<double>> taken;
  bool full = false;
  while (!full && taken.size() < 2000) {
    try {
      taken.emplace_back(gib, 1, q());
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), Status::out_of_memory) << e.what();
      full = true;
    }
  }
  ASSERT_TRUE(full);
  ASSERT_FALSE(taken.empty());
  laset<double>(Uplo::General, 3, 3, taken.back(), q());
  EXPECT_EQ(download<double>(taken.back()({gib - 1, gib}, {0, 1}), q())(0, 0), 3);
  taken.clear();
  Queue other(Backend::cuda);  // memory that one queue has freed is there for another
  Matrix<double> A(4 * gib, 1, other);
  laset<double>(Uplo::General, 4, 4, A, other);
  EXPECT_EQ(download<double>(A({4 * gib - 1, 4 * gib}, {0, 1}), other)(0, 0), 4);
}

}  // namespace
