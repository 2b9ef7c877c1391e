// On a GPU: products that avoid multiprocessors. Beside a kernel that has all others their blocks can be nowhere else for a while,
// and the product is made there; else other kernels find room there.
#include <algorithm>
#include <chrono>
#include <complex>
#include <thread>

#include "kernels/native.hpp"
#include "other_kernel.hpp"
#include "testing.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

class SparedPlaces : public Everywhere {
 protected:
  /// The test with each kernel that there is for the type.
  template <class F>
  void with_each_kernel(F&& test) {
    if (type() == Type::real) return test(float{});
    if (type() == Type::double_complex) return test(std::complex<double>{});
    for (const bool by_residues : {false, true}) {
      SCOPED_TRACE(by_residues ? "by residues" : "by products of double precision");
      by_residues_ = by_residues;
      test(double{});
    }
  }
  /// C - A B
  template <class T>
  void subtract(const Matrix<T>& A, const Matrix<T>& B, const Matrix<T>& C, cuda::Spared spared = {}) {
    if constexpr (std::is_same_v<T, double>)
      by_residues_
          ? cuda::gemm_residues<double>(Op::NoTrans, Op::NoTrans, -1, A, B, C, workspace_.view().data, q(), spared)
          : cuda::gemm_overlapped(-1, A, B, C, nullptr, q(), spared);
    else if constexpr (std::is_same_v<T, std::complex<double>>)
      cuda::gemm_complex_overlapped(-1, A, B, C, q(), spared);
    else
      cuda::gemm_fp16_parts(Op::NoTrans, Op::NoTrans, -1, A, B, C, workspace_.view().data, q(), spared);
  }
  template <class T>
  bool usable(const Matrix<T>& A, const Matrix<T>& C) {
    const std::int64_t rows = C.view().rows, cols = C.view().cols, depth = A.view().cols;
    std::size_t bytes = 0;
    if constexpr (std::is_same_v<T, double>) {
      if (!by_residues_) return cuda::gemm_overlapped_usable(q().device());
      if (!cuda::gemm_residues_usable(q().device())) return false;
      bytes = cuda::gemm_residues_workspace<double>(rows, cols, depth);
    } else if constexpr (std::is_same_v<T, std::complex<double>>) {
      return cuda::gemm_complex_overlapped_possible(A, A, C, q());
    } else {
      if (!cuda::gemm_fp16_parts_usable()) return false;
      bytes = cuda::gemm_fp16_parts_workspace(rows, cols, depth);
    }
    workspace_ = Matrix<float>(static_cast<std::int64_t>(bytes / sizeof(float)) + 1, 1, q());
    return true;
  }

 private:
  bool by_residues_ = false;
  Matrix<float> workspace_;
};
INSTANTIATE_TEST_SUITE_P(On, SparedPlaces,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::real, Type::double_precision, Type::double_complex)),
                         instance_name);

TEST_P(SparedPlaces, AProductOnTheMultiprocessorsThatItIsToAvoid) {
  with_each_kernel([&]<class T>(T) {
    OtherKernel other;
    ASSERT_NO_FATAL_FAILURE(other.prepare(q()));
    const std::int64_t m = 2500, n = 4200, k = 200;
    const Matrix<T> A = upload(random<T>(m, k, 1), q()), B = upload(random<T>(k, n, 2), q());
    const Dense<T> before = random<T>(m, n, 3);
    const Matrix<T> C = upload(before, q());
    if (!usable(A, C)) GTEST_SKIP() << "skipped: on this GPU cuBLAS makes the products";
    subtract(A, B, C);
    const Dense<T> expected = download<T>(C, q());

    Places avoided;
    Dense<std::int32_t> numbers(cuda::lu_panel_places, 1);
    for (int i = 0; i < cuda::lu_panel_places; ++i) numbers[i] = avoided.number[i] = i;
    const Matrix<std::int32_t> in_memory = upload(numbers, q());
    const Dense<std::int32_t> zeros(cuda::spared_counts, 1);
    const Matrix<std::int32_t> counts = upload(zeros, q());
    to_device<T>({const_cast<T*>(before.data()), m, n, m}, C, q());
    q().wait();
    constexpr long long longer_than_blocks_wait = 20'000'000;
    ASSERT_NO_FATAL_FAILURE(other.stays(avoided, longer_than_blocks_wait));
    subtract(A, B, C, {16, in_memory.view().data, counts.view().data});
    q().wait();
    // the product waited for a while, not for that kernel
    EXPECT_TRUE(other.is_there());
    expect_same(download<T>(C, q()), expected, "C");
    expect_same(download<std::int32_t>(counts, q()), zeros, "counts");
    ASSERT_NO_FATAL_FAILURE(other.ends());
  });
}

TEST_P(SparedPlaces, OthersFindRoomThere) {
  with_each_kernel([&]<class T>(T) {
    OtherKernel other;
    ASSERT_NO_FATAL_FAILURE(other.prepare(q()));
    // a product of a millisecond or more
    const std::int64_t n = sizeof(T) == 4 ? 12000 : sizeof(T) == 8 ? 8000 : 5000, k = 512;
    const Matrix<T> A(n, k, q()), B(k, n, q()), C(n, n, q());
    if (!usable(A, C)) GTEST_SKIP() << "skipped: on this GPU cuBLAS makes the products";
    for (const Matrix<T>* X : {&A, &B, &C}) laset<T>(Uplo::General, T(0), T(0), *X, q());
    constexpr int blocks = cuda::lu_panel_places;
    Dense<std::int32_t> avoided(blocks, 1);
    for (int i = 0; i < blocks; ++i) avoided[i] = 32 + i;
    const Matrix<std::int32_t> in_memory = upload(avoided, q()), found(blocks, 1, q());
    const Dense<std::int32_t> zeros(cuda::spared_counts, 1);
    const Matrix<std::int32_t> counts = upload(zeros, q());
    bool beside = false;  // the product, which the host may be too slow for
    for (int attempt = 0; attempt < 20 && !beside; ++attempt) {
      q().wait();
      subtract(A, B, C, {16, in_memory.view().data, counts.view().data});
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      ASSERT_NO_FATAL_FAILURE(other.finds(blocks, found.view().data));
      beside = cudaStreamQuery(static_cast<cudaStream_t>(q().stream())) == cudaErrorNotReady;
    }
    EXPECT_TRUE(beside);
    Dense<std::int32_t> places = download<std::int32_t>(found, q());
    std::sort(&places[0], &places[0] + blocks);
    expect_same(places, avoided, "where the blocks of the other kernel were");
  });
}

}  // namespace
