#include "qr_update_chase.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "kernels/host/rotation_chase.hpp"
#include "kernels/qr_update.hpp"
#include "qr_orthogonal.hpp"
#include "qr_update_beside.hpp"
#include "qr_update_chains.hpp"
#include "qr_update_parts.hpp"

namespace devobj {
namespace {

constexpr std::int64_t most_down = qr_block_rows - 64;  // subdiagonals that one sweep removes
constexpr std::int64_t most_rotated = 16;               // on the host: rotations rather than products of blocks
constexpr std::int64_t most_up = qr_block_rows / 2;     // columns that one sweep eliminates

/// Whether the chase of p columns or subdiagonals is by rotations.
template <class T> bool by_rotations(std::int64_t p, std::int64_t block, const Queue& q) {
  return !is_complex<T> && !q.on_cuda() && p <= most_rotated && block == 0;
}

std::int64_t round_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

/// Columns of a block of chase_down.
template <class T> std::int64_t down_block(std::int64_t p, std::int64_t block, bool on_cuda) {
  if (!on_cuda) return block > 0 ? block : p < 16 ? 32 : 64;
  std::int64_t nb = block > 0 ? std::min<std::int64_t>(block, 64) : 64;
  while (nb > 1 && (nb + p > qr_block_rows || qr_block_cols<T>(nb + p) < nb)) nb = (nb + 1) / 2;
  return nb;
}
/// Rows of a block of chase_up.
std::int64_t up_block(std::int64_t p, std::int64_t block, bool on_cuda) {
  const std::int64_t wanted =
      block > 0 ? block : on_cuda ? std::max<std::int64_t>(64, round_up(p, 32)) : std::max<std::int64_t>(32, round_up(p, 8));
  return std::min(wanted, qr_block_rows - p);
}
/// Columns that one qr_block of `rows` rows takes.
template <class T> std::int64_t panel_cols(std::int64_t rows, bool on_cuda) {
  return on_cuda ? qr_block_cols<T>(rows) : 64;
}

template <class T> View<T> corner(const Matrix<T>& M, std::int64_t rows, std::int64_t cols) {
  return View<T>(M.data, rows, cols, M.ld);
}

/// H = I - V T V^H as V and V T, with the workspace for products.
template <class T> class Reflectors {
 public:
  Reflectors(std::int64_t rows, std::int64_t cols, Queue& q) : V_(rows, cols, q), VT_(rows, cols, q), tri_(cols, cols, q) {
    q.scratch(qr_block_scratch_bytes<T>(cols));
  }
  /// A = Q R, the reflectors of Q
  void factor(View<T> A, Queue& q) {
    const std::int64_t k = diagonal(A);
    V = corner(V_, A.rows, k);
    VT = corner(VT_, A.rows, k);
    const View<T> Tri = corner(tri_, k, k);
    qr_block(A, V, Tri, q);
    gemm(Op::NoTrans, Op::NoTrans, T(1), V, Tri, T(0), VT, q);
  }
  /// C = H^H C
  void apply_left(View<T> C, T* work, Queue& q) const {
    if (C.empty()) return;
    const View<T> W(work, V.cols, C.cols);
    gemm(adjoint<T>, Op::NoTrans, T(1), VT, C, T(0), W, q);
    gemm(Op::NoTrans, Op::NoTrans, T(-1), V, W, T(1), C, q);
  }
  /// C = C H
  void apply_right(View<T> C, T* work, Queue& q) const {
    if (C.empty()) return;
    const View<T> X(work, C.rows, V.cols);
    gemm(Op::NoTrans, Op::NoTrans, T(1), C, VT, T(0), X, q);
    gemm(Op::NoTrans, adjoint<T>, T(-1), X, V, T(1), C, q);
  }
  View<T> V, VT;

 private:
  Matrix<T> V_, VT_, tri_;
};

/// C = G^H C, via a copy in `work`.
template <class T> void multiply_left(View<T> G, View<T> C, T* work, Queue& q) {
  if (C.empty()) return;
  const View<T> old(work, C.rows, C.cols);
  copy(C, old, q);
  gemm(adjoint<T>, Op::NoTrans, T(1), G, old, T(0), C, q);
}
/// C = C G, via a copy in `work`.
template <class T> void multiply_right(View<T> G, View<T> C, T* work, Queue& q) {
  if (C.empty()) return;
  const View<T> old(work, C.rows, C.cols);
  copy(C, old, q);
  gemm(Op::NoTrans, Op::NoTrans, T(1), old, G, T(0), C, q);
}

// ---- downwards ----

//              J       rest          One step: the block of H's columns J and the rows where they are not zero,
//        +-------+-------------+     at most c + p of them
//   win  | x x x | x x x x x x |       panel  H(win, J) = (I - V T V^H) [R; 0]            (qr_block)
//        | x x x | x x x x x x |       rest   H(win, rest) -= V (V T)^H H(win, rest)
//        | x x x | x x x x x x |       beside D(win, :) alike;  Q(:, win) -= Q(:, win) (V T) V^H
//        |   x x | x x x x x x |
//        |     x | x x x x x x |
//        +-------+-------------+     The first c rows are R's; the others are the first of the next block.
template <class T>
void sweep_down(View<T> H, std::int64_t p, View<T> Q, View<T> D, Queue& q, std::int64_t block) {
  const std::int64_t rows = H.rows, cols = std::min(H.cols, rows - 1);
  if (cols <= 0 || p == 0) return;
  const std::int64_t nb = std::min(down_block<T>(p, block, q.on_cuda()), H.cols), most = std::min(rows, nb + p);
  constexpr int group = 4, slots = 2 * group;  // steps that go to the queue beside together: events take the CPU as long as kernels
  std::array<std::optional<Reflectors<T>>, slots> ring;
  std::array<Event, 2> used;
  for (auto& H_ : ring) H_.emplace(most, nb, q);
  Matrix<T> left(nb, H.cols, q), right(std::max(Q.rows, D.cols), nb, q);
  Beside beside(q, !Q.empty() || !D.empty());

  const std::int64_t steps = (cols + nb - 1) / nb;
  const auto columns = [&](std::int64_t step) { return Range{step * nb, std::min((step + 1) * nb, H.cols)}; };
  const auto window = [&](std::int64_t step) { return Range{step * nb, std::min(rows, columns(step).end + p)}; };
  for (std::int64_t first = 0; first < steps; first += group) {
    const std::int64_t end = std::min(first + group, steps);
    Event& event = used[first / group % 2];
    if (first >= slots) beside.main_after(event);
    for (std::int64_t step = first; step < end; ++step) {
      const Range J = columns(step), win = window(step);
      ring[step % slots]->factor(H(win, J), q);
      ring[step % slots]->apply_left(H(win, {J.end, H.cols}), left.data, q);
    }
    beside.after_main();
    for (std::int64_t step = first; step < end; ++step) {
      ring[step % slots]->apply_left(rows_of(D, window(step)), right.data, beside.queue());
      ring[step % slots]->apply_right(cols_of(Q, window(step)), right.data, beside.queue());
    }
    beside.done(event);
  }
}

// ---- upwards ----

// A = Q R of W's last rows, of any number: W = R, and the others as in chase_up.
template <class T> void reduce_tail(View<T> W, View<T> R, View<T> Q, View<T> D, Queue& q) {
  const std::int64_t rows = W.rows, k = diagonal(W);
  if (rows <= 1 || k == 0) return;
  Matrix<T> tau(k, 1, q);
  OrthogonalFactor<T> from_left(Side::Left, rows, k, std::max(R.cols, D.cols), q);
  OrthogonalFactor<T> from_right(Side::Right, rows, k, Q.rows, q);
  geqrf(W, tau.view(), q);
  from_left.apply(adjoint<T>, W, tau.view(), R);
  from_left.apply(adjoint<T>, W, tau.view(), D);
  from_right.apply(Op::NoTrans, W, tau.view(), Q);
  laset(Uplo::Lower, T(0), T(0), W({1, rows}, {0, std::min(k, rows - 1)}), q);
}

//        W       J     rest                       One step, from below: rows win, of which the last p are done.
//      +-----+-------+-------+                      W(win) = G1 [T; 0]                       (by qr_blocks of columns)
//  lo  | x x | x x x | x x x |                      R(win, J) = G1^H R(win, J), which is then full
//      | x x |   x x | x x x |  win                 its rows from p on = G2 [triangle; 0]    (by qr_blocks)
//      | x x |     x | x x x |                      G = G1 diag(I, G2), s x s with s = hi - lo + p
//  hi  | x x |       | x x x |                      R(win, rest) = G^H R(win, rest)
//      |   x |       |   x x |                      beside: D(win, :) alike;  Q(:, win) = Q(:, win) G
//      +-----+-------+-------+                    Then R(win) has p subdiagonals, and W(win) is zero from row p on.
template <class T>
void sweep_up(View<T> W, View<T> more, View<T> R, View<T> Q, View<T> D, std::int64_t start, Queue& q,
              std::int64_t block) {
  const std::int64_t p = W.cols, n = R.cols;
  if (start <= 0 || p == 0) return;
  const std::int64_t nb = std::min(up_block(p, block, q.on_cuda()), start), most = nb + p;
  const std::int64_t columns = std::min(panel_cols<T>(most, q.on_cuda()), std::max(nb, p));
  constexpr int slots = 2;
  std::array<Matrix<T>, slots> product;
  std::array<Event, slots> used;
  for (auto& G : product) G = Matrix<T>(most, most, q);
  Reflectors<T> reflectors(most, columns, q);
  Matrix<T> work(most, std::max({n, more.cols, most, nb}), q), right(std::max(Q.rows, D.cols), most, q);
  Beside beside(q, !Q.empty() || !D.empty());

  for (std::int64_t hi = start, step = 0; hi > 0; hi = std::max<std::int64_t>(0, hi - nb), ++step) {
    const std::int64_t lo = std::max<std::int64_t>(0, hi - nb), w = hi - lo, s = w + p;
    const Range win{lo, hi + p}, J{lo, hi}, rest{hi, n}, all{0, s};
    if (step >= slots) beside.main_after(used[step % slots]);
    const View<T> G = corner(product[step % slots], s, s);
    const View<T> W_win = W(win, {0, p}), R_J = R(win, J);

    // W(win) = G1 [T; 0]
    laset(Uplo::General, T(0), T(1), G, q);
    for (std::int64_t j = 0; j < p; j += columns) {
      const Range K{j, std::min(j + columns, p)}, below{j, s};
      reflectors.factor(W_win(below, K), q);
      reflectors.apply_left(W_win(below, {K.end, p}), work.data, q);
      if (j == 0)  // G = I - (V T) V^H
        gemm(Op::NoTrans, adjoint<T>, T(-1), reflectors.VT, reflectors.V, T(1), G, q);
      else
        reflectors.apply_right(G(all, below), work.data, q);
    }
    multiply_left(G, R_J, work.data, q);

    // R(win, J), rows from p on = G2 [triangle; 0]
    for (std::int64_t j = 0; j < w - 1; j += columns) {
      const Range K{j, std::min(j + columns, w)}, below{p + j, s};
      reflectors.factor(R_J(below, K), q);
      reflectors.apply_left(R_J(below, {K.end, w}), work.data, q);
      reflectors.apply_right(G(all, below), work.data, q);
    }
    beside.after_main();
    multiply_left(G, R(win, rest), work.data, q);
    multiply_left(G, rows_of(more, win), work.data, q);
    multiply_left(G, rows_of(D, win), right.data, beside.queue());
    multiply_right(G, cols_of(Q, win), right.data, beside.queue());
    beside.done(used[step % slots]);
  }
}

}  // namespace

template <class T>
void chase_down(View<T> H, std::int64_t p, View<T> Q, View<T> D, Queue& q, std::int64_t block, View<T> from,
                View<T> H_from) {
  if constexpr (!is_complex<T>)
    if (by_rotations<T>(p, block, q) && p > 0 && std::min(H.cols, H.rows - 1) > 0)
      return q.submit("chase_down", [=] { host::rotate_down(H_from, H, std::min(p, H.rows - 1), from, Q, D); });
  if (!H_from.empty()) copy_band(H_from, p, H, q);
  if (!from.empty()) copy(from, Q, q);
  // From the lowest subdiagonals on: rows `from` ... hold a matrix with `piece` subdiagonals.
  const std::int64_t chains = chains_at_once<T>(p, most_chained_down<T>, block, q), most = chains > 0 ? chains : most_down;
  for (std::int64_t end = std::min(p, H.rows - 1); end > 0;) {
    const std::int64_t pieces = (end + most - 1) / most, from = end - (end + pieces - 1) / pieces;
    const Range below{from, H.rows};
    if (chains > 0)
      chain_down(H(below, {0, H.cols}), end - from, cols_of(Q, below), rows_of(D, below), q);
    else
      sweep_down(H(below, {0, H.cols}), end - from, cols_of(Q, below), rows_of(D, below), q, block);
    end = from;
  }
}

template <class T>
void chase_up(View<T> W, View<T> R, View<T> Q, View<T> D, bool tail_done, Queue& q, std::int64_t block, View<T> from,
              View<T> R_from) {
  const std::int64_t rows = W.rows, p = W.cols, start = std::max<std::int64_t>(0, std::min(R.cols, rows - p));
  // a tail as long as it is wide is reduced by the same rotations, so that Q need not be there yet
  const bool rotated = p > 0 && start > 0 && by_rotations<T>(p, block, q), fused = rotated && (tail_done || rows - start == p);
  const std::int64_t chains = chains_at_once<T>(p, most_chained_up<T>, block, q), most = chains > 0 ? chains : most_up;
  const bool chained_tail = start > 0 && p <= chains && chains_take_tail(rows, start, p);
  if (!from.empty() && !fused) copy(from, Q, q);
  if (!R_from.empty() && !fused) copy_upper(R_from, R, q);
  if (p == 0) return;
  const Range tail{start, rows};
  if (!tail_done && !fused && !chained_tail)
    reduce_tail(W(tail, {0, p}), R(tail, {start, R.cols}), cols_of(Q, tail), rows_of(D, tail), q);
  if constexpr (!is_complex<T>)
    if (rotated) {
      const View<T> Q_source = fused ? from : View<T>{}, R_source = fused ? R_from : View<T>{};
      return q.submit("chase_up",
                      [=] { host::rotate_up(W, R_source, R, Q_source, Q, D, start, tail_done || !fused); });
    }
  // `most` columns at a time; those on their right take part as further columns of R
  const std::int64_t pieces = (p + most - 1) / most;
  for (std::int64_t i = 0; i < pieces && start > 0; ++i) {
    const Range K{p * i / pieces, p * (i + 1) / pieces}, below{K.begin, rows};
    if (chains > 0)
      chain_up(W(below, K), W(below, {K.end, p}), R(below, {0, R.cols}), cols_of(Q, below), rows_of(D, below),
               !tail_done && chained_tail ? rows : start, q);
    else
      sweep_up(W(below, K), W(below, {K.end, p}), R(below, {0, R.cols}), cols_of(Q, below), rows_of(D, below), start, q,
             block);
  }
}

template <class T>
bool chase_rows_in(View<T> U, View<T> R, View<T> R1, View<T> Q, std::int64_t k, View<T> Q1, View<T> D, Queue& q,
                   std::int64_t block) {
  if constexpr (!is_complex<T>)
    if (by_rotations<T>(U.rows, block, q) && U.rows > 0 && R.cols > 0 && Q.rows > 0) {
      q.submit("chase_rows_in", [=] { host::rotate_rows_in(U, R, R1, Q, k, Q1, D); });
      return true;
    }
  return false;
}

template <class T>
bool chase_rows_out(View<T> W, View<T> R, View<T> R1, View<T> Q, std::int64_t k, View<T> Q1, View<T> D, Queue& q,
                    std::int64_t block) {
  const std::int64_t p = W.cols, start = W.rows - p;
  if constexpr (!is_complex<T>)
    if (by_rotations<T>(p, block, q) && p > 0 && 0 < start && start <= R.cols) {
      q.submit("chase_rows_out", [=] { host::rotate_rows_out(W, R, R1, Q, k, Q1, D); });
      return true;
    }
  return false;
}

#define INSTANTIATE(T)                                                                        \
  template bool chase_rows_in<T>(View<T>, View<T>, View<T>, View<T>, std::int64_t, View<T>, View<T>, Queue&,            \
                                 std::int64_t);                                                                         \
  template bool chase_rows_out<T>(View<T>, View<T>, View<T>, View<T>, std::int64_t, View<T>, View<T>, Queue&,           \
                                  std::int64_t);                                                                        \
  template void chase_down<T>(View<T>, std::int64_t, View<T>, View<T>, Queue&, std::int64_t, View<T>, View<T>); \
  template void chase_up<T>(View<T>, View<T>, View<T>, View<T>, bool, Queue&, std::int64_t, View<T>, View<T>);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
