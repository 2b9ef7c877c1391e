// Block Householder QR in WY form (paper 000) with look-ahead, everything on the queue's backend; and the same with
// panels by Givens rotations (paper 001).
//
//            K  next  rest                   One step:
//          +---+-----+------+                  block  Q^H = I - Y W^H of the panel A(below, K), W = Y T
//          | R |  R  |  R   |  done rows       next   A(below, next) = Q^H A(below, next), the next panel
//          +---+-----+------+                  panel  A(under, next) = Q R                     (beside the rest)
//   below  |R11|     |      |                  rest   A(below, rest) = Q^H A(below, rest)
//          | Y | A22 | A22  |  under
//          +---+-----+------+
#include "qr_blocked.hpp"

#include <algorithm>
#include <optional>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/dispatch_householder.hpp"
#include "kernels/givens.hpp"
#include "qr_native_panels.hpp"
#include "qr_orthogonal.hpp"
#include "qr_reflect.hpp"
#include "qr_triangle.hpp"
#include "tuning.hpp"

namespace devobj {
namespace {

/// C = (I - Y W^H) C; room for Y.cols x C.cols.
template <class T>
void apply_block(View<T> Y, View<T> W, View<T> C, View<T> room, Queue& q) {
  if (C.empty()) return;
  const View<T> Z = room({0, Y.cols}, {0, C.cols});
  gemm(adjoint<T>, Op::NoTrans, T(1), W, C, T(0), Z, q);
  gemm(Op::NoTrans, Op::NoTrans, T(-1), Y, Z, T(1), C, q);
}

/// A panel's block reflector, Q^H = I - Y W^H, with its workspace: up to m rows, nb columns, applied to `width`
/// columns; `loads` if load() is used.
template <class T>
class WyBlock {
 public:
  WyBlock(std::int64_t m, std::int64_t nb, std::int64_t width, bool loads, Queue& q)
      : W_(m, nb, q), products_(nb, width, q) {
    if (!loads) return;
    Y_ = Matrix<T>(m, nb, q);
    gram_ = Matrix<T>(nb, nb, q);
    tri_ = Matrix<T>(nb, nb, q);
  }

  /// Takes the reflectors in the columns of A with their tau: Y unit lower trapezoidal, W = Y T.
  void load(View<T> A, View<T> tau, Queue& q) {
    const Range columns{0, A.cols};
    Y = View<T>(Y_.data, A.rows, A.cols);
    W = View<T>(W_.data, A.rows, A.cols);
    const View<T> G = gram_(columns, columns), Tri = tri_(columns, columns);
    unit_lower(A, Y, q);
    triangle_of_vectors(Y, tau, G, Tri, q);
    multiply(Tri, q);
  }
  /// Takes a reflector I - V Tri V^H.
  void take(View<T> V, View<T> Tri, Queue& q) {
    Y = V;
    W = View<T>(W_.data, V.rows, V.cols);
    multiply(Tri, q);
  }
  /// C = Q^H C
  void apply_adjoint(View<T> C, Queue& q) { apply_block(Y, W, C, products_.view(), q); }

 private:
  /// W = Y T
  void multiply(View<T> Tri, Queue& q) { gemm(Op::NoTrans, Op::NoTrans, T(1), Y, Tri, T(0), W, q); }

  Matrix<T> Y_, W_, gram_, tri_, products_;
  View<T> Y, W;
};

/// The panels of A, nb columns each, in turn: by the native QR's kernels on a GPU, by a primitive on the host, or by
/// rotations on a GPU.
template <class T>
class Panels {
 public:
  Panels(View<T> A, View<T> tau, std::int64_t nb, Method method, bool banded, Queue& q) : A_(A), tau_(tau) {
    if constexpr (cuda_built) {
      if (method == Method::givens) {
        rotations_.emplace(A.rows, q);
        room_ = Matrix<T>(width, nb, q);
      } else if (q.on_cuda() && !banded) {
        native_.emplace(A, tau, nb, Math::strict, q);
      }
    }
  }
  void warm(Queue& q) {
    q.blas();
    if (native_) native_->warm(q);
  }
  /// Whether the reflectors are in the columns of A alone.
  bool in_columns() const { return !native_; }
  /// A(rows, K) = Q R, rows from K.begin on
  void factor(Range rows, Range K, Queue& q) {
    turn_ = 1 - turn_;
    const View<T> here = A_(rows, K), factors = part(tau_, K);
    if (native_) {
      native_->end(turn_, K, native_->begin(turn_, K, q), q);
      return native_->make_triangle(turn_, K, q);
    }
    if (!rotations_) return householder_panel(here, factors, q);
    if constexpr (cuda_built)
      for (std::int64_t j = 0; j < here.cols; j += width) {
        const Range S{j, std::min(j + width, here.cols)}, below{j, here.rows}, right{S.end, here.cols};
        rotations_->factor(here(below, S), part(factors, S), q);
        apply_block(rotations_->Y, rotations_->W, here(below, right), room_.view(), q);
      }
  }
  /// The reflector of the panel factored last.
  void load(WyBlock<T>& block, Range rows, Range K, Queue& q) const {
    if (native_) return block.take(native_->V(turn_, K.begin, K.size()), native_->Tri(turn_, K.size()), q);
    block.load(A_(rows, K), part(tau_, K), q);
  }

 private:
  static constexpr std::int64_t width = cuda::givens_panel_width;
  View<T> A_, tau_;
  std::optional<cuda::GivensPanel<T>> rotations_;
  std::optional<NativePanels<T>> native_;  // V and T of two panels in turn, since one is made while the last is applied
  int turn_ = 1;
  Matrix<T> room_;
};

}  // namespace

template <class T>
void geqrf_blocked(View<T> A, View<T> tau, Queue& q, QrOptions options, std::optional<Bandwidths> band) {
  const std::int64_t m = A.rows, n = A.cols, k = diagonal(A);
  const Method tuned = options.method == Method::givens ? Method::givens : Method::block_householder;
  const std::int64_t nb =
      std::min(options.block > 0 ? options.block : tuned_blocks<T>(Tuned::qr, tuned, k, q).block, k);
  // where the rows of the columns before `end`, and the columns of the rows before `end`, stop
  auto rows_end = [&](std::int64_t end) { return band ? std::min(m, end + band->lower) : m; };
  auto columns_end = [&](std::int64_t end) { return band ? std::min(n, end + band->upper) : n; };

  // All memory first: when there is none, A is as it was.
  Panels<T> panels(A, tau, nb, options.method, band.has_value(), q);
  WyBlock<T> block(m, nb, n, panels.in_columns(), q);
  q.blas();
  SideQueue side(q, true);
  Queue& ahead = side;
  panels.warm(ahead);

  panels.factor({0, rows_end(nb)}, {0, nb}, ahead);
  q.wait_for(ahead.record(false));
  for (std::int64_t j = 0; j < k; j += nb) {
    const Range K{j, std::min(j + nb, k)}, below{j, rows_end(K.end)};
    const Range next{K.end, std::max(K.end, std::min(K.end + nb, k))}, under{K.end, rows_end(next.end)};
    const Range rest{next.end, std::max(next.end, columns_end(below.end))};
    if (K.end == n) break;
    panels.load(block, below, K, q);

    // next
    block.apply_adjoint(A(below, next), q);
    // panel
    if (next.size() > 0) {
      ahead.wait_for(q.record(false));
      panels.factor(under, next, ahead);
    }
    // rest
    block.apply_adjoint(A(below, rest), q);
    if (next.size() > 0) q.wait_for(ahead.record(false));
  }
}

template <class T>
void orgqr_banded(View<T> A, View<T> tau, Bandwidths band, Queue& q) {
  const std::int64_t m = A.rows, n = A.cols, k = tau.size(), nb = std::min<std::int64_t>(k, k < 4000 ? 128 : 256);
  Matrix<T> vectors(m, nb, q), products(nb, nb, q), triangle(nb, nb, q), W(nb, n, q), TW(nb, n, q);
  laset(Uplo::General, T(0), T(0), A({0, k}, {k, n}), q);
  laset(Uplo::General, T(0), T(1), A({k, m}, {k, n}), q);
  if (k == 0) return;
  for (std::int64_t j = (k - 1) / nb * nb; j >= 0; j -= nb) {
    const Range K{j, std::min(j + nb, k)}, above{0, j}, below{j, m}, reached{j, std::min(m, K.end + band.lower)};
    const View<T> V(vectors.data, reached.size(), K.size()), G(products.data, K.size(), K.size()),
        Tri(triangle.data, K.size(), K.size());
    unit_lower(A(reached, K), V, q);
    triangle_of_vectors(V, part(tau, K), G, Tri, q);
    // A(:, K) = unit columns
    laset(Uplo::General, T(0), T(0), A(above, K), q);
    laset(Uplo::General, T(0), T(1), A(below, K), q);
    // A(reached, right) = Q A(reached, right)
    reflect_left(Op::NoTrans, V, Tri, A(reached, {j, n}), View<T>(W.data, K.size(), n - j),
                 View<T>(TW.data, K.size(), n - j), q);
  }
}

#define INSTANTIATE(T)                                                                            \
  template void geqrf_blocked<T>(View<T>, View<T>, Queue&, QrOptions, std::optional<Bandwidths>); \
  template void orgqr_banded<T>(View<T>, View<T>, Bandwidths, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
