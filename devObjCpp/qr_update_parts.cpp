#include "qr_update_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "devobj/qr.hpp"
#include "qr_orthogonal.hpp"

namespace devobj {
namespace {

// Numbers between -1 and 1 without any order: element i of column j.
double scattered(std::int64_t i, std::int64_t j) {
  std::uint64_t x = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(j + 1) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>(static_cast<std::int64_t>(x ^ (x >> 31))) / 9223372036854775808.0;
}

// Replaces columns of Y that are shorter than 1/2 (they were of length 1 before Q was taken out) by others, with nothing of
// them in U = Q C + Y S: their rows of S are zero. Only those which U can do without: because next to nothing of the column
// is left, or because its row of S is a rounding error in every column of U (once: `replaced` of them stay, however short).
// Others stay; after the next factorization they are of length 1 again.
template <class T> void replace_lost(View<T> Y, View<T> C, View<T> S, std::vector<bool>& replaced, Queue& q) {
  const std::int64_t m = Y.rows, p = Y.cols;
  const real_t<T> least = 16 * std::numeric_limits<real_t<T>>::epsilon(),
                  negligible = least * std::sqrt(static_cast<real_t<T>>(m));
  Matrix<T> gram(p, p, q);
  gemm(adjoint<T>, Op::NoTrans, T(1), Y, Y, T(0), gram.view(), q);
  std::vector<T> G(static_cast<std::size_t>(p * p)), weights(G.size()), column(static_cast<std::size_t>(m));
  to_host<T>(gram, {G.data(), p, p, p}, q);
  to_host<T>(S, {weights.data(), p, p, p}, q);
  std::vector<real_t<T>> size(static_cast<std::size_t>(p));  // of U's columns
  for (std::int64_t l = 0; l < p; ++l)
    size[static_cast<std::size_t>(l)] = std::max(lange(Norm::Max, C.col(l), q), lange(Norm::Max, S.col(l), q));
  for (std::int64_t j = 0; j < p; ++j) {
    const auto column_j = static_cast<std::size_t>(j);
    const real_t<T> square = std::real(G[static_cast<std::size_t>(j + j * p)]);
    bool lost = square < least * least;
    if (!lost && square < real_t<T>(0.25) && !replaced[column_j]) {
      lost = true;
      for (std::int64_t l = j; l < p; ++l)
        lost = lost && std::abs(weights[static_cast<std::size_t>(j + l * p)]) <=
                           negligible * size[static_cast<std::size_t>(l)];
    }
    if (!lost) continue;
    replaced[column_j] = true;
    const double length = std::sqrt(static_cast<double>(m) / 3);
    for (std::int64_t i = 0; i < m; ++i)
      column[static_cast<std::size_t>(i)] = T(static_cast<real_t<T>>(scattered(i, j) / length));
    to_device<T>({column.data(), m, 1, m}, Y.col(j), q);
    laset(Uplo::General, T(0), T(0), S({j, j + 1}, {0, p}), q);
  }
}

}  // namespace

template <class T> void orthogonal_complement(View<T> Q, View<T> Y, View<T> C, View<T> S, Queue& q) {
  const std::int64_t n = Q.cols, p = Y.cols;
  if (p == 0) return;
  // Three do, but where many columns depend on each other and directions are lost again and again.
  const std::int64_t passes = 6, most_passes = passes + 2 * p;
  const real_t<T> small = 8 * std::numeric_limits<real_t<T>>::epsilon();
  std::vector<bool> replaced(static_cast<std::size_t>(p));
  Matrix<T> tau(p, 1, q), part(n, p, q), factor(p, p, q), product(p, p, q);
  laset(Uplo::General, T(0), T(0), C, q);
  laset(Uplo::General, T(0), T(1), S, q);
  for (std::int64_t pass = 0; pass < most_passes; ++pass) {
    // Y -= Q (Q^H Y), C += (Q^H Y) S
    gemm(adjoint<T>, Op::NoTrans, T(1), Q, Y, T(0), part.view(), q);
    gemm(Op::NoTrans, Op::NoTrans, T(-1), Q, part.view(), T(1), Y, q);
    gemm(Op::NoTrans, Op::NoTrans, T(1), part.view(), S, T(1), C, q);
    const real_t<T> left = pass == 0 ? 1 : lange(Norm::Max, part.view(), q);
    if (pass > 0 && left > real_t<T>(0.1)) replace_lost(Y, C, S, replaced, q);
    // Y = Y F, S = F S
    geqrf(Y, tau.view(), q);
    copy_upper(Y({0, p}, {0, p}), factor.view(), q);
    orgqr(Y, tau.view(), q);
    gemm(Op::NoTrans, Op::NoTrans, T(1), factor.view(), S, T(0), product.view(), q);
    copy_upper(product.view(), S, q);
    if (pass > 0 && !(left > small)) return;  // also for NaN
    if (pass >= passes - 1 && !(left > real_t<T>(0.1))) return;
  }
}

template <class T>
void make_anew(const UpdateShape& s, View<T> A1, View<T> Q1, View<T> R1, View<T> b1, View<T> d1, Queue& q) {
  const std::int64_t k = diagonal(A1);
  Matrix<T> tau(k, 1, q);
  geqrf(A1, tau.view(), q);
  const Range kept{0, std::min(R1.rows, A1.rows)};
  copy_upper(A1(kept, all_cols(A1)), R1, q);
  if (!d1.empty()) {
    ormqr(Side::Left, adjoint<T>, A1, tau.view(), b1, q);
    copy(b1({0, d1.rows}, all_cols(d1)), d1, q);
  }
  if (s.without_q() || Q1.empty()) return;
  const Range reflectors{0, std::min(k, Q1.cols)};
  lacpy(Uplo::Lower, A1(all_rows(A1), reflectors), Q1(all_rows(Q1), reflectors), q);
  orgqr(Q1, tau.view(), q);
}

template <class T> void original(const UpdateShape& s, View<T> Q, View<T> R, View<T> A, Queue& q) {
  Matrix<T> upper(R.rows, R.cols, q);
  copy_upper(R, upper.view(), q);
  const Range used{0, s.full() ? std::min(R.rows, R.cols) : R.rows};
  gemm(Op::NoTrans, Op::NoTrans, T(1), Q(all_rows(Q), used), upper(used, all_cols(R)), T(0), A, q);
}

#define INSTANTIATE(T)                                                                                       \
  template void orthogonal_complement<T>(View<T>, View<T>, View<T>, View<T>, Queue&);                        \
  template void make_anew<T>(const UpdateShape&, View<T>, View<T>, View<T>, View<T>, View<T>, Queue&);       \
  template void original<T>(const UpdateShape&, View<T>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
