// Times of the CPU panels beside LAPACK's getrf and geqrf, with threads awake as in a hybrid factorization.
//
//   panel-bench [types=sdcz] [threads=1,2,4,...,all] [m=500,...] [n=32,64,128] [peer=1] [simd=avx512] [reps=9] [best=0]
//
// One line per type, shape and number of threads: milliseconds, the median of the repetitions (best=1: the smallest),
// each on a fresh copy of the panel that was just written by the caller's core.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/host/lapack_fortran.hpp"
#include "kernels/host/lu_panel.hpp"
#include "kernels/host/panel_simd.hpp"
#include "kernels/host/simd.hpp"
#include "kernels/host/qr_panel.hpp"
#include "kernels/host/team.hpp"

extern "C" void openblas_set_num_threads(int) __attribute__((weak));

namespace {

using namespace devobj;

struct Options {
  std::string types = "sd";
  std::vector<long> threads, m{500, 1000, 2000, 4000, 10000, 20000, 40000}, n{32, 64, 128};
  bool peer = true, best = false;
  int reps = 9;
};

std::vector<long> numbers(const std::string& list) {
  std::vector<long> out;
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, ',');) out.push_back(std::stol(item));
  return out;
}

double now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The median time of `factor` on copies of A.
template <class T, class Factor>
double measure(const std::vector<T>& A, std::vector<T>& work, const Options& o, Factor factor) {
  std::vector<double> times;
  for (int r = -2; r < o.reps; ++r) {
    work = A;
    const double start = now();
    factor(work.data());
    if (r >= 0) times.push_back(now() - start);
  }
  const std::size_t wanted = o.best ? 0 : times.size() / 2;
  std::nth_element(times.begin(), times.begin() + wanted, times.end());
  return times[wanted];
}

template <class T>
void sweep(char type, const Options& o) {
  for (long n : o.n)
    for (long m : o.m) {
      std::mt19937 gen(1);
      std::uniform_real_distribution<double> u(-1, 1);
      std::vector<T> A(static_cast<std::size_t>(m * n)), work(A.size()), tau(n);
      std::vector<std::int32_t> ipiv(n);
      for (T& a : A)
        if constexpr (is_complex<T>)
          a = T(static_cast<real_t<T>>(u(gen)), static_cast<real_t<T>>(u(gen)));
        else
          a = static_cast<T>(u(gen));
      const fortran::BlasInt bm(m, "bench", "m"), bn(n, "bench", "n");
      const fortran::BlasInt lwork = fortran::geqrf_work_size<T>(bm, bn, bm);
      std::vector<T> space(lwork.value());
      for (long threads : o.threads) {
        if (openblas_set_num_threads) openblas_set_num_threads(static_cast<int>(threads));
        double lu, qr, getrf = 0, geqrf = 0;
        {
          host::Team::Session awake;
          lu = measure(A, work, o, [&](T* a) { host::lu_panel(m, n, a, m, ipiv.data(), static_cast<int>(threads)); });
          qr = measure(A, work, o, [&](T* a) { host::qr_panel(m, n, a, m, tau.data(), static_cast<int>(threads)); });
        }
        if (o.peer) {
          getrf = measure(A, work, o, [&](T* a) { fortran::getrf(bm, bn, a, bm, ipiv.data()); });
          geqrf = measure(A, work, o, [&](T* a) { fortran::geqrf(bm, bn, a, bm, tau.data(), space.data(), lwork); });
        }
        // 2/3 and 4/3 n^3 generalised to panels; complex numbers count fourfold
        const double k = static_cast<double>(n), flops = (is_complex<T> ? 4 : 1) * (m * k * k - k * k * k / 3) * 1e-6;
        std::printf(
            "%c %3ld %6ld x %-4ld LU %8.3f getrf %8.3f (%5.2f) %7.1f Gflop/s   QR %8.3f geqrf %8.3f (%5.2f) %7.1f\n",
            type, threads, m, n, lu, getrf, getrf / lu, flops / lu, qr, geqrf, geqrf / qr, 2 * flops / qr);
        std::fflush(stdout);
      }
    }
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  const long all = host::Team::shared().size();
  for (long t = 1; t < all; t *= 2) o.threads.push_back(t);
  o.threads.push_back(all);
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t at = argument.find('=');
    const std::string name = argument.substr(0, at), value = at == std::string::npos ? "" : argument.substr(at + 1);
    if (name == "types")
      o.types = value;
    else if (name == "threads")
      o.threads = numbers(value);
    else if (name == "m")
      o.m = numbers(value);
    else if (name == "n")
      o.n = numbers(value);
    else if (name == "peer")
      o.peer = value != "0";
    else if (name == "best")
      o.best = value != "0";
    else if (name == "reps")
      o.reps = std::stoi(value);
    else if (name == "simd")
      host::use_simd(value == "avx512" ? host::Simd::avx512
                     : value == "avx2" ? host::Simd::avx2
                                       : host::Simd::baseline);
    else {
      std::fprintf(stderr, "panel-bench: unknown argument '%s'\n", argv[i]);
      return 2;
    }
  }
  for (char type : o.types) {
    if (type == 's') sweep<float>(type, o);
    if (type == 'd') sweep<double>(type, o);
    if (type == 'c') sweep<std::complex<float>>(type, o);
    if (type == 'z') sweep<std::complex<double>>(type, o);
  }
}
