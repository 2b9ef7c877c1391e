// Rates of C -= A B in double precision, for tuning: the library's kernel that adds to C beside its products, on all
// multiprocessors or without the spared ones, and cuBLAS's product; the largest difference of both results in units of
// sqrt(depth) eps.
//
//   gemm-update-bench [m x n,...=8192x8192,...] [k=64,...] [reps=7] [spared=0]
#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "kernels/native.hpp"
#include "matrices.hpp"

namespace {

using namespace devobj;

std::vector<std::string> items(const std::string& list) {
  std::vector<std::string> out;
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, ',');) out.push_back(item);
  return out;
}

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

void measure(std::int64_t m, std::int64_t n, std::int64_t k, int reps, int spared, Queue& q) {
  const auto host_A = bench::uniform<double>(m, k, 1), host_B = bench::uniform<double>(k, n, 2);
  Matrix<double> A(m, k, q), B(k, n, q), C(m, n, q), D(m, n, q);
  to_device<double>(HostArray<const double>(host_A.data.get(), m, k, m), A, q);
  to_device<double>(HostArray<const double>(host_B.data.get(), k, n, k), B, q);
  auto ours = [&](View<double> to) { cuda::gemm_overlapped(-1, A, B, to, q, {spared}); };
  auto cublas = [&](View<double> to) {
    const double minus = -1, one = 1;
    const cublasStatus_t status =
        cublasDgemm_64(static_cast<cublasHandle_t>(q.blas()), CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &minus, A.view().data,
                       A.view().ld, B.view().data, B.view().ld, &one, to.data, to.ld);
    if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error("cublasDgemm failed");
  };
  if (!cuda::gemm_overlapped_possible(A, B, C, q)) {
    std::printf("%lld x %lld depth %lld: not possible here\n", static_cast<long long>(m), static_cast<long long>(n),
                static_cast<long long>(k));
    return;
  }
  laset<double>(Uplo::General, 0.5, 0.5, C, q);
  laset<double>(Uplo::General, 0.5, 0.5, D, q);
  ours(C);
  cublas(D);
  axpy<double>(-1, C, D, q);
  const double difference =
      lange<double>(Norm::Max, D, q) / (std::sqrt(double(k)) * std::numeric_limits<double>::epsilon());
  const double us = 1000 * median_ms(reps, q, [&] { ours(C); }),
               us_cublas = 1000 * median_ms(reps, q, [&] { cublas(C); });
  const double flops = 2.0 * double(m) * double(n) * double(k);
  std::printf(
      "%lld x %lld depth %lld: %.1f us, %.1f Tflop/s; cuBLAS %.1f us, %.1f Tflop/s; ratio %.2f; difference %.2g\n",
      static_cast<long long>(m), static_cast<long long>(n), static_cast<long long>(k), us, flops / us / 1e6, us_cublas,
      flops / us_cublas / 1e6, us_cublas / us, difference);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string shapes = argc > 1 ? argv[1] : "2048x2048,4096x4096,8192x8192,16384x16384,8192x256,8192x512";
  const std::string depths = argc > 2 ? argv[2] : "64,128,256,512,1024";
  const int reps = argc > 3 ? std::atoi(argv[3]) : 7;
  const int spared = argc > 4 ? std::atoi(argv[4]) : 0;
  Queue q(Backend::cuda);
  for (const std::string& shape : items(shapes))
    for (const std::string& depth : items(depths)) {
      const std::int64_t m = std::stoll(shape), n = std::stoll(shape.substr(shape.find('x') + 1));
      measure(m, n, std::stoll(depth), reps, spared, q);
    }
}
