// Rates of C -= A B in double precision, real or complex, for tuning: the library's kernels that add to C beside their
// products, on all multiprocessors or without the spared ones, and cuBLAS's product (complex matrices also as real ones, and
// by our kernel with four real products);
// the largest difference of both results in units of sqrt(depth) eps.
//
// With products=project V^H C of complex matrices instead, V of m x k and C of m x n elements, by project_3m and by cuBLAS.
//
//   gemm-update-bench [m x n,...=8192x8192,...] [k=64,...] [reps=7] [spared=0] [types=d] [products=update]
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "kernels/native.hpp"
#include "matrices.hpp"
#include "sizes.hpp"

namespace {

using namespace devobj;

template <class F>
double median_ms(int reps, Queue& q, F&& call) {
  std::vector<double> ms;
  call();
  for (int r = 0; r < reps; ++r) {
    const Event start = q.record();
    call();
    const Event end = q.record();
    ms.push_back(end.milliseconds_since(start));
  }
  std::sort(ms.begin(), ms.end());
  return ms[ms.size() / 2];
}

/// The library's kernel for T.
template <class T>
bool possible([[maybe_unused]] View<T> C, Queue& q) {
  if constexpr (is_complex<T>)
    return cuda::gemm_3m_overlapped_possible(C, q);
  else
    return cuda::gemm_overlapped_usable(q.device());
}
template <class T>
void update(View<T> A, View<T> B, View<T> C, int spared, Queue& q) {
  if constexpr (is_complex<T>)
    cuda::gemm_3m_overlapped(-1, A, B, C, q.workspace(cuda::gemm_3m_overlapped_workspace(C.rows, C.cols, A.cols)), q,
                             {spared});
  else
    cuda::gemm_overlapped(-1, A, B, C, q.workspace(cuda::gemm_overlapped_workspace(C.rows, C.cols, A.cols)), q,
                          {spared});
}

template <class T>
void measure(std::int64_t m, std::int64_t n, std::int64_t k, int reps, int spared, Queue& q) {
  const auto host_A = bench::uniform<T>(m, k, 1), host_B = bench::uniform<T>(k, n, 2);
  Matrix<T> A(m, k, q), B(k, n, q), C(m, n, q), D(m, n, q);
  to_device<T>(HostArray<const T>(host_A.data.get(), m, k, m), A, q);
  to_device<T>(HostArray<const T>(host_B.data.get(), k, n, k), B, q);
  const std::string shape = std::string(is_complex<T> ? "z " : "d ") + std::to_string(m) + " x " + std::to_string(n) +
                            " depth " + std::to_string(k);
  if (!possible<T>(C, q)) {
    std::printf("%s: not possible here\n", shape.c_str());
    return;
  }
  auto ours = [&](View<T> to) { update<T>(A, B, to, spared, q); };
  auto cublas = [&](View<T> to) { gemm<T>(Op::NoTrans, Op::NoTrans, T(-1), A, B, T(1), to, q); };
  const auto difference_of = [&](auto&& way) {
    laset<T>(Uplo::General, T(0.5), T(0.5), C, q);
    laset<T>(Uplo::General, T(0.5), T(0.5), D, q);
    way(C);
    cublas(D);
    axpy<T>(T(-1), C, D, q);
    return lange<T>(Norm::Max, D, q) / (std::sqrt(double(k)) * std::numeric_limits<double>::epsilon());
  };
  const double difference = difference_of(ours);
  const double us = 1000 * median_ms(reps, q, [&] { ours(C); }),
               us_cublas = 1000 * median_ms(reps, q, [&] { cublas(C); });
  // operations of the plain product
  const double flops = (is_complex<T> ? 8.0 : 2.0) * double(m) * double(n) * double(k);
  std::printf("%s: %.1f us, %.1f Tflop/s; cuBLAS %.1f us, %.1f Tflop/s", shape.c_str(), us, flops / us / 1e6, us_cublas,
              flops / us_cublas / 1e6);
  if constexpr (is_complex<T>) {
    void* const workspace = q.workspace(cuda::gemm_as_real_workspace<T>(m, n, k));
    const double us_real = 1000 * median_ms(reps, q, [&] {
      cuda::gemm_as_real<T>(Op::NoTrans, -1, A, B, C, Side::Right, workspace, q);
    });
    const double us_3m =
        1000 * median_ms(reps, q, [&] { cuda::gemm_3m<T>(Op::NoTrans, Op::NoTrans, T(-1), A, B, T(1), C, q); });
    std::printf("; as real %.1f us, %.1f Tflop/s; cuBLAS with three products %.1f us, %.1f Tflop/s", us_real,
                flops / us_real / 1e6, us_3m, flops / us_3m / 1e6);
  }
  std::printf("; ratio %.2f; difference %.2g", us_cublas / us, difference);
  if constexpr (is_complex<T>)
    if (cuda::gemm_complex_overlapped_possible(A, B, C, q)) {
      auto by_four = [&](View<T> to) { cuda::gemm_complex_overlapped(-1, A, B, to, q, {spared}); };
      const double difference_by_four = difference_of(by_four);
      const double us_by_four = 1000 * median_ms(reps, q, [&] { by_four(C); });
      std::printf("; with four products %.1f us, %.1f Tflop/s, difference %.2g", us_by_four, flops / us_by_four / 1e6,
                  difference_by_four);
    }
  if (cuda::gemm_residues_usable(q.device())) {
    void* const workspace = q.workspace(cuda::gemm_residues_workspace<T>(m, n, k));
    auto by_residues = [&](View<T> to) {
      cuda::gemm_residues<T>(Op::NoTrans, Op::NoTrans, -1, A, B, to, workspace, q, {spared});
    };
    const double difference_of_residues = difference_of(by_residues);
    const double us_residues = 1000 * median_ms(reps, q, [&] { by_residues(C); });
    std::printf("; by residues %.1f us, %.1f Tflop/s, difference %.2g", us_residues, flops / us_residues / 1e6,
                difference_of_residues);
  }
  std::printf("\n");
  std::fflush(stdout);
}

void measure_projection(std::int64_t m, std::int64_t n, std::int64_t k, int reps, int spared, Queue& q) {
  using T = std::complex<double>;
  const auto host_V = bench::uniform<T>(m, k, 1), host_C = bench::uniform<T>(m, n, 2);
  Matrix<T> V(m, k, q), C(m, n, q), W(k, n, q), X(k, n, q);
  to_device<T>(HostArray<const T>(host_V.data.get(), m, k, m), V, q);
  to_device<T>(HostArray<const T>(host_C.data.get(), m, n, m), C, q);
  const std::string shape = "z V^H C, " + std::to_string(m) + " x " + std::to_string(n) + ", " + std::to_string(k) +
                            " columns of V";
  if (!possible<T>(C, q)) {
    std::printf("%s: not possible here\n", shape.c_str());
    return;
  }
  void* const workspace = q.workspace(cuda::project_3m_workspace(m, k, n));
  const auto ours = [&] { cuda::project_3m(V, C, W, workspace, q, {spared}); };
  const auto three = [&] { cuda::gemm_3m<T>(Op::ConjTrans, Op::NoTrans, T(1), V, C, T(0), X, q); };
  const auto plain = [&] { gemm<T>(Op::ConjTrans, Op::NoTrans, T(1), V, C, T(0), X, q); };
  const auto difference = [&] {
    axpy<T>(T(-1), W, X, q);
    return lange<T>(Norm::Max, X, q) / (std::sqrt(double(m)) * std::numeric_limits<double>::epsilon());
  };
  const double us = 1000 * median_ms(reps, q, ours), us_three = 1000 * median_ms(reps, q, three);
  const double beside_three = difference();
  const double us_plain = 1000 * median_ms(reps, q, plain);
  const double beside_plain = difference();
  const double flops = 8.0 * double(m) * double(n) * double(k);
  std::printf("%s: %.1f us, %.1f Tflop/s; cuBLAS with three products %.1f us, %.1f Tflop/s, difference %.2g; with four "
              "%.1f us, %.1f Tflop/s, difference %.2g\n",
              shape.c_str(), us, flops / us / 1e6, us_three, flops / us_three / 1e6, beside_three, us_plain,
              flops / us_plain / 1e6, beside_plain);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string shapes = argc > 1 ? argv[1] : "2048x2048,4096x4096,8192x8192,16384x16384,8192x256,8192x512";
  const std::string depths = argc > 2 ? argv[2] : "64,128,256,512,1024";
  const int reps = argc > 3 ? std::atoi(argv[3]) : 7;
  const int spared = argc > 4 ? std::atoi(argv[4]) : 0;
  const std::string types = argc > 5 ? argv[5] : "d";
  const bool projects = argc > 6 && std::string_view(argv[6]) == "project";
  const auto number = [](std::string_view word) { return std::stoll(std::string(word)); };
  Queue q(Backend::cuda);
  for (const std::string_view shape : bench::split(shapes, ','))
    for (const std::string_view depth : bench::split(depths, ',')) {
      const std::int64_t m = number(shape), n = number(shape.substr(shape.find('x') + 1)), k = number(depth);
      if (projects) {
        measure_projection(m, n, k, reps, spared, q);
        continue;
      }
      for (const char type : types)
        if (type == 'z')
          measure<std::complex<double>>(m, n, k, reps, spared, q);
        else
          measure<double>(m, n, k, reps, spared, q);
    }
}
