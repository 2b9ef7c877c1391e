// How many refinements gesv_mixed makes for matrices of given singular values and for uniform ones: with one right-hand side, and
// with the same one five times, which are too many for its minimization of the residual.
//
//   refinement-steps host|cuda ORDER...
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "devobj/devobj.hpp"

using namespace devobj;

namespace {

const std::string kinds[] = {"one", "five", "twenty", "geometric", "uniform"};

/// From 1 to 1 / condition: all 1 but the last one or five; but the last twenty, in equal ratios; all in equal ratios.
std::vector<double> singular_values(const std::string& kind, std::int64_t n, double condition) {
  const auto of_ratio = [&](std::int64_t i, std::int64_t steps) {
    return std::pow(condition, -double(i) / double(steps));
  };
  std::vector<double> s(n, 1.0);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t left = n - 1 - i;
    if (kind == "geometric") s[i] = of_ratio(i, n - 1);
    if (kind == "twenty" && left < 20) s[i] = of_ratio(20 - left, 20);
    if ((kind == "five" && left < 5) || left == 0) s[i] = 1 / condition;
  }
  return s;
}

template <class T>
std::int64_t refinements(View<T> A, View<T> b, std::int64_t right_hand_sides, Method method, Queue& q) {
  Matrix<T> M(A.rows, A.rows, q), B(A.rows, right_hand_sides, q);
  Matrix<std::int32_t> ipiv(A.rows, 1, q);
  copy<T>(A, M, q);
  for (std::int64_t j = 0; j < right_hand_sides; ++j) copy<T>(b, B.col(j), q);
  return gesv_mixed<T>(M, ipiv.view(), B, q, {method}).iterations;
}

template <class T>
void count(char type, std::int64_t n, Queue& q) {
  for (const std::string& kind : kinds)
    for (const double condition : {1e4, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12}) {
      const bool uniform = kind == "uniform";
      if (uniform && condition > 1e4) continue;
      Rng rng(q, Generator::philox, 7);
      Matrix<T> A(n, n, q), b(n, 1, q);
      uniform ? rng.uniform<T>(-1, 1, A.view(), q)
              : random_singular_values<T>(rng, singular_values(kind, n, condition), A, q);
      rng.uniform<T>(-1, 1, b.view(), q);
      std::printf("%c %6lld  %-9s  ", type, static_cast<long long>(n), kind.c_str());
      uniform ? std::printf("    -") : std::printf("%5.0e", condition);
      for (const Method method : {Method::automatic, Method::randomized})
        for (const std::int64_t right_hand_sides : {5, 1})
          std::printf("  %9lld", static_cast<long long>(refinements<T>(A, b, right_hand_sides, method, q)));
      std::printf("\n");
      std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) try {
  Queue q(argc > 1 && std::string(argv[1]) == "cuda" ? Backend::cuda : Backend::host);
  std::printf("                            automatic             randomized\n");
  std::printf("type n  values     cond.        plain  minimized      plain  minimized\n");
  for (int i = 2; i < argc; ++i) {
    count<double>('d', std::atoll(argv[i]), q);
    count<std::complex<double>>('z', std::atoll(argv[i]), q);
  }
  return 0;
} catch (const std::exception& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
