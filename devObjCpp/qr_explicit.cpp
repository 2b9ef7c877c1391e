// qr: Q and R as matrices of their own.
#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "blas_checks.hpp"
#include "qr_blocked.hpp"
#include "qr_givens.hpp"
#include "qr_orthogonal.hpp"

namespace devobj {

template <class T> void qr(View<T> A, View<T> Q, View<T> R, Queue& q, QrOptions options) {
  const std::int64_t m = A.rows, n = A.cols, k = diagonal(A);
  const bool full = Q.cols == m && R.rows == m;
  require(Q.rows == m && R.cols == n && (full || (Q.cols == k && R.rows == k)), "qr: Q is ", Q.rows, " x ", Q.cols,
          " and R is ", R.rows, " x ", R.cols, ", must be ", m, " x ", k, " and ", k, " x ", n, " (economic) or ", m,
          " x ", m, " and ", m, " x ", n, " (full)");
  require_distinct("qr", "Q", Q, "A", A);
  require_distinct("qr", "R", R, "A", A);
  require_distinct("qr", "Q", Q, "R", R);
  require_options("qr", options, q);
  if (m == 0) return;
  const bool givens = options.method == Method::givens;
  Bandwidths band;
  if (givens && qr_by_rotations(A, Q, R, band, q)) return;
  auto factor = [&](View<T> F, View<T> tau) {
    givens ? geqrf_blocked(F, tau, q, options, band) : geqrf(F, tau, q, options);
  };
  Matrix<T> tau(k, 1, q);
  const Range columns{0, k}, all{0, m};
  if (Q.cols == n && n <= m) {
    // factor in Q's memory: R is its upper triangle
    copy(A, Q, q);
    factor(Q, tau.view());
    laset(Uplo::General, T(0), T(0), R, q);
    lacpy(Uplo::Upper, Q({0, k}, {0, n}), R({0, k}, {0, n}), q);
  } else {
    // factor in R's memory: the reflectors move to Q
    copy(A, R, q);
    factor(R, tau.view());
    lacpy(Uplo::Lower, R(all, columns), Q(all, columns), q);
    if (m > 1 && k > 0) laset(Uplo::Lower, T(0), T(0), R({1, m}, columns), q);
  }
  if (givens)
    orgqr_banded(Q, tau.view(), band, q);
  else
    orgqr(Q, tau.view(), q,
          {.method = options.method == Method::hybrid ? Method::automatic : options.method, .math = options.math});
  q.wait();
}

#define INSTANTIATE(T) template void qr<T>(View<T>, View<T>, View<T>, Queue&, QrOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
