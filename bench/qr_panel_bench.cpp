// Times of the GPU's QR panel and of the products that its block reflector needs, for tuning.
//
//   qr-panel-bench panel [types=sdcz] [m=500,...] [warps=0,4,8] [blocks=0,...] [groups=0,...] [reps=20]
//   qr-panel-bench tall  [types=sdcz] [m=...] [reps=20]
//   qr-panel-bench gemm  [types=d] [n=1000,...] [k=64,128,256,512]
//   qr-panel-bench reflect [types=sdcz] [m=...] [k=32,64] [columns=32,64,128] [reps=20]
//
// panel: microseconds per panel and per column, the median of launches back to back in one queue on fresh copies.
// reflect: microseconds of C = Q^H C for a strip of k columns, by one kernel and by three products.
// gemm: Tflop/s of W = V^H C (n x k and n x n) and of C -= V W.
#include <algorithm>
#include <cstdio>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "flops.hpp"
#include "kernels/qr_panel_native.hpp"

namespace {

using namespace devobj;

std::vector<long> numbers(const std::string& list) {
  std::vector<long> out;
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, ',');) out.push_back(std::stol(item));
  return out;
}

struct Options {
  std::string types = "sdcz";
  std::vector<long> m{500, 1000, 2000, 4000, 8000, 16000, 32000}, n{1000, 2000, 4000, 8000, 16000},
      k{64, 128, 256, 512}, columns{32, 64, 128}, warps{0}, blocks{0}, groups{0};
  int reps = 20;
};

template <class T>
Matrix<T> random_matrix(std::int64_t m, std::int64_t n, Queue& q) {
  std::mt19937 generator(1);
  std::vector<T> a(static_cast<std::size_t>(m * n));
  for (T& x : a) {
    const auto number = [&] { return real_t<T>(2 * (generator() + 0.5) / 4294967296.0 - 1); };
    if constexpr (is_complex<T>)
      x = T(number(), number());
    else
      x = number();
  }
  Matrix<T> A(m, n, q);
  to_device<T>({a.data(), m, n, m}, A, q);
  return A;
}

template <class Work>
double median_us(Queue& q, int reps, Work work) {
  std::vector<double> times;
  for (int i = -3; i < reps; ++i) {
    const Event begin = q.record();
    work();
    const Event end = q.record();
    const double us = 1000 * end.milliseconds_since(begin);
    if (i >= 0) times.push_back(us);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

template <class T>
void panel(char type, const Options& o, Queue& q) {
  for (const long m : o.m)
    for (const long groups : o.groups)
      for (const long warps : o.warps)
        for (const long blocks : o.blocks)
          for (const bool by_columns : {false, true}) try {
              const std::int64_t w = groups > 0 ? 8 * groups : cuda::qr_panel_width<T>(m, q);
              if (w == 0 || w > m) continue;
              Matrix<T> A0 = random_matrix<T>(m, w, q), A(m, w, q), V(m, w, q), tau(w, 1, q), Tri(w, w, q);
              // eight panels between two events, less the copies
              auto copies = [&] {
                for (int i = 0; i < 8; ++i) copy<T>(A0, A, q);
              };
              auto both = [&] {
                for (int i = 0; i < 8; ++i) {
                  copy<T>(A0, A, q);
                  cuda::qr_panel_native<T>(A, tau, V, Tri, q, {int(warps), int(blocks), int(groups), by_columns});
                }
              };
              const double us = (median_us(q, o.reps, both) - median_us(q, o.reps, copies)) / 8;
              std::printf("panel %c m=%ld w=%ld warps=%ld blocks=%ld%s: %.1f us, %.3f us per column\n", type, m,
                          long(w), warps, blocks, by_columns ? " by columns" : "", us, us / w);
            } catch (const Error&) {
            }
}

/// The panel for very many rows; on a matrix for which Cholesky-QR is good enough, and column by column.
template <class T>
void tall(char type, const Options& o, Queue& q) {
  for (const long m : o.m) {
    const std::int64_t w = cuda::qr_panel_tall_width<T>;
    if (w > m) continue;
    Matrix<T> A0 = random_matrix<T>(m, w, q), A(m, w, q), V(m, w, q), tau(w, 1, q), Tri(w, w, q);
    const double copies = median_us(q, o.reps, [&] { copy<T>(A0, A, q); });
    for (const bool by_columns : {false, true}) {
      const double us = median_us(q, o.reps, [&] {
        copy<T>(A0, A, q);
        cuda::qr_panel_tall<T>(A, tau, V, Tri, q, by_columns);
      });
      std::printf("tall %c m=%ld w=%ld%s: %.1f us, %.3f us per column\n", type, m, long(w),
                  by_columns ? " by columns" : "", us - copies, (us - copies) / w);
    }
  }
}

/// The reflector of a strip on some columns.
template <class T>
void reflect(char type, const Options& o, Queue& q) {
  for (const long m : o.m)
    for (const long k : o.k)
      for (const long n : o.columns) {
        if (k > m || !cuda::qr_reflect_strip_fits<T>(m, k, q)) continue;
        Matrix<T> V = random_matrix<T>(m, k, q), Tri(k, k, q), C = random_matrix<T>(m, n, q), W(k, n, q), TW(k, n, q);
        laset<T>(Uplo::General, T(0), T(0), Tri, q);  // C stays as it is
        const auto eight = [&](auto work) {
          return median_us(q, o.reps,
                           [&] {
                             for (int i = 0; i < 8; ++i) work();
                           }) /
                 8;
        };
        const double one = eight([&] { cuda::qr_reflect_strip<T>(V, Tri, C, q); }),
                     three = eight([&] {
                       gemm<T>(adjoint<T>, Op::NoTrans, T(1), V, C, T(0), W, q);
                       gemm<T>(adjoint<T>, Op::NoTrans, T(1), Tri, W, T(0), TW, q);
                       gemm<T>(Op::NoTrans, Op::NoTrans, T(-1), V, TW, T(1), C, q);
                     });
        std::printf("reflect %c m=%ld k=%ld n=%ld: %.1f us, by products %.1f\n", type, m, k, n, one, three);
      }
}

template <class T>
void products(char type, const Options& o, Queue& q) {
  for (const long n : o.n)
    for (const long k : o.k) {
      Matrix<T> V = random_matrix<T>(n, k, q), C(n, n, q), W = random_matrix<T>(k, n, q);
      laset<T>(Uplo::General, T(1), T(2), C, q);
      const double up = median_us(q, 5, [&] { gemm<T>(adjoint<T>, Op::NoTrans, T(1), V, C, T(0), W, q); }),
                   down = median_us(q, 5, [&] { gemm<T>(Op::NoTrans, Op::NoTrans, T(-1), V, W, T(1), C, q); });
      const View<T> Ck = C({0, n}, {0, std::min(k, n)}), Wk = W({0, k}, {0, std::min(k, n)});
      const double up_k = median_us(q, 5, [&] { gemm<T>(adjoint<T>, Op::NoTrans, T(1), V, Ck, T(0), Wk, q); }),
                   down_k = median_us(q, 5, [&] { gemm<T>(Op::NoTrans, Op::NoTrans, T(-1), V, Wk, T(1), Ck, q); });
      const double flops = (is_complex<T> ? 8.0 : 2.0) * n * n * k;
      std::printf(
          "gemm %c n=%ld k=%ld: V^H C %.0f us %.1f Tflop/s, C -= V W %.0f us %.1f Tflop/s; k columns: %.1f and %.1f "
          "us\n",
          type, n, k, up, flops / up / 1e6, down, flops / down / 1e6, up_k, down_k);
    }
}

}  // namespace

int main(int argc, char** argv) try {
  Options o;
  std::string mode = argc > 1 ? argv[1] : "panel";
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i], name = word.substr(0, word.find('=')), value = word.substr(word.find('=') + 1);
    if (name == "types") o.types = value;
    if (name == "m") o.m = numbers(value);
    if (name == "n") o.n = numbers(value);
    if (name == "k") o.k = numbers(value);
    if (name == "columns") o.columns = numbers(value);
    if (name == "warps") o.warps = numbers(value);
    if (name == "blocks") o.blocks = numbers(value);
    if (name == "groups") o.groups = numbers(value);
    if (name == "reps") o.reps = std::stoi(value);
  }
  devobj::Queue q(devobj::Backend::cuda);
  const auto all = [&](char type, auto value) {
    using T = decltype(value);
    if (mode == "gemm")
      products<T>(type, o, q);
    else if (mode == "tall")
      tall<T>(type, o, q);
    else if (mode == "reflect")
      reflect<T>(type, o, q);
    else
      panel<T>(type, o, q);
  };
  for (const char type : o.types) {
    if (type == 's') all(type, float{});
    if (type == 'd') all(type, double{});
    if (type == 'c') all(type, std::complex<float>{});
    if (type == 'z') all(type, std::complex<double>{});
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
