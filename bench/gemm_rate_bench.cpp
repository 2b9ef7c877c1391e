// Routines whose work is products of matrices, beside the product of square matrices (cuBLAS's gemm): orgqr and ormqr of a
// square matrix, ormqr with as many columns, and getrs with as many right-hand sides.
//
//   gemm-rate-bench [types=sdcz] [n=8000,16000] [block=0] [nrhs=0] [routines=orgqr,ormqr,getrs]
//
// block: columns of orgqr's and ormqr's block reflectors, 0 for the library's choice; nrhs: right-hand sides, and
// columns that ormqr is applied to, 0 for n.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "devobj/blas.hpp"
#include "devobj/lu.hpp"
#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "matrices.hpp"
#include "sizes.hpp"

namespace {

using namespace devobj;

constexpr int reps = 3;

/// Milliseconds of work(), the median, after prepare(), whose time does not count.
template <class Prepare, class Work>
double milliseconds(Queue& q, Prepare prepare, Work work) {
  std::vector<double> ms;
  for (int r = 0; r <= reps; ++r) {
    prepare();
    const Event start = q.record();
    work();
    const Event end = q.record();
    const double each = end.milliseconds_since(start);
    if (r > 0) ms.push_back(each);
  }
  std::sort(ms.begin(), ms.end());
  return ms[ms.size() / 2];
}

template <class T>
void measure(char type, std::int64_t n, std::int64_t block, std::int64_t nrhs,
             const std::vector<std::string_view>& routines, Queue& q) {
  const auto host = bench::uniform<T>(n, n, 1);
  Matrix<T> A(n, n, q), F(n, n, q), X(n, n, q), tau(n, 1, q);
  to_device<T>(HostArray<const T>(host.data.get(), n, n, n), A, q);
  const double cube = (is_complex<T> ? 4.0 : 1.0) * double(n) * double(n) * double(n) / 1e9;
  const auto nothing = [] {};
  const double gemm_rate =
      2 * cube / milliseconds(q, nothing, [&] { gemm<T>(Op::NoTrans, Op::NoTrans, T(1), A, A, T(0), X, q); });
  const auto print = [&](std::string_view routine, double flops, double ms) {
    std::printf("%-6.*s %c n = %lld block %lld: %.3f ms, %.1f Tflop/s; gemm %.1f Tflop/s; %.0f %%\n", int(routine.size()), routine.data(), type,
                static_cast<long long>(n), static_cast<long long>(block), ms, flops / ms, gemm_rate,
                100 * flops / ms / gemm_rate);
    std::fflush(stdout);
  };
  const QrOptions options{Method::native, block};
  const Range all{0, n}, columns{0, nrhs > 0 ? std::min(nrhs, n) : n};
  for (const std::string_view routine : routines) {
    copy<T>(A, F, q);
    if (routine == "getrs") {
      Matrix<std::int32_t> ipiv(n, 1, q), info(1, 1, q);
      Matrix<T> B(n, n, q);
      const auto right = bench::uniform<T>(n, n, 2);
      to_device<T>(HostArray<const T>(right.data.get(), n, n, n), B, q);
      getrf<T>(F, ipiv, info, q);
      print(routine, 2 * cube * double(columns.size()) / double(n),
            milliseconds(
                q, [&] { copy<T>(B, X, q); }, [&] { getrs<T>(Op::NoTrans, F, ipiv, X(all, columns), q); }));
      continue;
    }
    geqrf<T>(F, tau, q);
    if (routine == "orgqr")
      print(routine, 4 * cube / 3,
            milliseconds(q, [&] { copy<T>(F, X, q); }, [&] { orgqr<T>(X, tau, q, options); }));
    else
      print(routine, 2 * cube * double(columns.size()) / double(n),
            milliseconds(q, nothing, [&] { ormqr<T>(Side::Left, adjoint<T>, F, tau, X(all, columns), q, options); }));
  }
}

}  // namespace

int main(int argc, char** argv) try {
  std::string_view types = "sdcz", ns = "8000,16000", blocks = "0", sides = "0", routines = "orgqr,ormqr,getrs";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i], name = word.substr(0, word.find('=')), value = word.substr(word.find('=') + 1);
    if (name == "types")
      types = value;
    else if (name == "n")
      ns = value;
    else if (name == "block")
      blocks = value;
    else if (name == "nrhs")
      sides = value;
    else if (name == "routines")
      routines = value;
    else
      return std::fprintf(stderr, "gemm-rate-bench: '%s' is not types=, n=, block=, nrhs= or routines=\n", argv[i]), 2;
  }
  const auto number = [](std::string_view word) { return std::stoll(std::string(word)); };
  Queue q(Backend::cuda);
  for (const char type : types)
    for (const std::string_view n : bench::split(ns, ','))
      for (const std::string_view block : bench::split(blocks, ','))
        for (const std::string_view nrhs : bench::split(sides, ',')) {
          const std::int64_t size = number(n), nb = number(block), columns = number(nrhs);
          const std::vector<std::string_view> names = bench::split(routines, ',');
          if (type == 's') measure<float>(type, size, nb, columns, names, q);
          if (type == 'd') measure<double>(type, size, nb, columns, names, q);
          if (type == 'c') measure<std::complex<float>>(type, size, nb, columns, names, q);
          if (type == 'z') measure<std::complex<double>>(type, size, nb, columns, names, q);
        }
} catch (const std::exception& e) {
  std::fprintf(stderr, "gemm-rate-bench: %s\n", e.what());
  return 1;
}
