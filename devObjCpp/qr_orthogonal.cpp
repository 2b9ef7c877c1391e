// orgqr and ormqr: the orthogonal factor from reflectors, by blocks in the form I - V T V^H.
#include <algorithm>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/host/lapack_fortran.hpp"
#include "blas_checks.hpp"

namespace devobj {
namespace {

using fortran::BlasInt;

constexpr std::int64_t default_block = 128;

// The workspace of one block reflector with up to nb columns and m rows, applied to C with up to `width` columns
// (from the left) or rows (from the right).
template <class T> class BlockReflector {
 public:
  BlockReflector(std::int64_t m, std::int64_t nb, std::int64_t width, Queue& q)
      : V_(m, nb, q), gram_(nb, nb, q), tri_(nb, nb, q), W_(width, nb, q), TW_(width, nb, q), q_(q) {}

  /// Takes the reflectors in the columns of A (unit lower trapezoidal) with their tau.
  void load(View<T> A, View<T> tau) {
    V = View<T>(V_.data, A.rows, A.cols);
    Tri = View<T>(tri_.data, A.cols, A.cols);
    View<T> G(gram_.data, A.cols, A.cols);
    unit_lower(A, V, q_);
    // T from V^H V
    gemm(adjoint<T>, Op::NoTrans, T(1), V, V, T(0), G, q_);
    larft(G, tau, Tri, q_);
  }
  /// C = op(Q) C
  void apply_left(Op op, View<T> C) {
    if (C.empty()) return;
    View<T> W(W_.data, V.cols, C.cols), TW(TW_.data, V.cols, C.cols);
    // C -= V op(T) (V^H C)
    gemm(adjoint<T>, Op::NoTrans, T(1), V, C, T(0), W, q_);
    gemm(op == Op::NoTrans ? Op::NoTrans : adjoint<T>, Op::NoTrans, T(1), Tri, W, T(0), TW, q_);
    gemm(Op::NoTrans, Op::NoTrans, T(-1), V, TW, T(1), C, q_);
  }
  /// C = C op(Q)
  void apply_right(Op op, View<T> C) {
    if (C.empty()) return;
    View<T> W(W_.data, C.rows, V.cols), TW(TW_.data, C.rows, V.cols);
    // C -= (C V) op(T) V^H
    gemm(Op::NoTrans, Op::NoTrans, T(1), C, V, T(0), W, q_);
    gemm(Op::NoTrans, op == Op::NoTrans ? Op::NoTrans : adjoint<T>, T(1), W, Tri, T(0), TW, q_);
    gemm(Op::NoTrans, adjoint<T>, T(-1), TW, V, T(1), C, q_);
  }

 private:
  Matrix<T> V_, gram_, tri_, W_, TW_;
  Queue& q_;
  View<T> V, Tri;
};

// Elements K of a vector that is a row or a column.
template <class T> View<T> part(View<T> v, Range K) { return v.cols == 1 ? v(K, {0, 1}) : v({0, 1}, K); }

bool use_lapack(Method method, const Queue& q) { return method == Method::lapack || (method == Method::automatic && !q.on_cuda()); }

void require_method(const char* routine, Method method, const Queue& q) {
  require(method == Method::automatic || method == Method::hybrid || (method == Method::lapack && !q.on_cuda()), routine,
          ": method '", method_name(method), "' is not available on the ", q.on_cuda() ? "cuda" : "host", " backend");
}

}  // namespace

template <class T> void orgqr(View<T> A, View<T> tau, Queue& q, QrOptions options) {
  const std::int64_t m = A.rows, n = A.cols, k = tau.size();
  require(n <= m, "orgqr: A is ", m, " x ", n, ", must not have more columns than rows");
  require(k <= n, "orgqr: tau has ", k, " elements, but A has ", n, " columns");
  require_vector("orgqr", "tau", tau, k);
  require_distinct("orgqr", "tau", tau, "A", A);
  require_method("orgqr", options.method, q);
  if (A.empty()) return;
  if (use_lapack(options.method, q) && (tau.cols == 1 || tau.ld == 1)) {
    const BlasInt M(m, "orgqr", "the rows of A"), N(n, "orgqr", "the columns of A"), K(k, "orgqr", "the size of tau"),
        ld(A.ld, "orgqr", "the ld of A");
    return q.submit("orgqr", [=] { fortran::orgqr(M, N, K, A.data, ld, tau.data); });
  }

  // Columns beyond the reflectors: those of the unit matrix.
  laset(Uplo::General, T(0), T(0), A({0, k}, {k, n}), q);
  laset(Uplo::General, T(0), T(1), A({k, m}, {k, n}), q);
  if (k == 0) return;
  const std::int64_t nb = std::min(options.block > 0 ? options.block : default_block, k);
  BlockReflector<T> H(m, nb, n, q);
  for (std::int64_t j = (k - 1) / nb * nb; j >= 0; j -= nb) {
    const Range K{j, std::min(j + nb, k)}, above{0, j}, below{j, m}, right{j, n};
    H.load(A(below, K), part(tau, K));
    // A(:, K) = unit columns
    laset(Uplo::General, T(0), T(0), A(above, K), q);
    laset(Uplo::General, T(0), T(1), A(below, K), q);
    // A(below, right) = Q A(below, right)
    H.apply_left(Op::NoTrans, A(below, right));
  }
}

template <class T>
void ormqr(Side side, Op op, View<T> V, View<T> tau, View<T> C, Queue& q, QrOptions options) {
  const std::int64_t k = tau.size(), order = side == Side::Left ? C.rows : C.cols;
  require(op == Op::NoTrans || op == adjoint<T>, "ormqr: op is '", static_cast<char>(op), "', must be 'N' or '",
          static_cast<char>(adjoint<T>), "' for this type");
  require(V.rows == order, "ormqr: V has ", V.rows, " rows, but C is ", C.rows, " x ", C.cols, " and Q is applied from the ",
          side == Side::Left ? "left" : "right");
  require(k <= order, "ormqr: tau has ", k, " elements, but Q is of order ", order);
  require(k <= V.cols, "ormqr: tau has ", k, " elements, but V has ", V.cols, " columns");
  require_vector("ormqr", "tau", tau, k);
  require_side("ormqr", side);
  require_distinct("ormqr", "C", C, "V", V);
  require_distinct("ormqr", "C", C, "tau", tau);
  require_method("ormqr", options.method, q);
  if (C.empty() || k == 0) return;
  if (use_lapack(options.method, q) && (tau.cols == 1 || tau.ld == 1)) {
    const BlasInt M(C.rows, "ormqr", "the rows of C"), N(C.cols, "ormqr", "the columns of C"),
        K(k, "ormqr", "the size of tau"), ldv(V.ld, "ormqr", "the ld of V"), ldc(C.ld, "ormqr", "the ld of C");
    return q.submit("ormqr", [=] {
      fortran::ormqr<T>(side, op, M, N, K, V.data, ldv, tau.data, C.data, ldc);
    });
  }

  const std::int64_t nb = std::min(options.block > 0 ? options.block : default_block, k);
  BlockReflector<T> H(order, nb, side == Side::Left ? C.cols : C.rows, q);
  // Q = H(1) H(2) ...: Q^H C and C Q take the blocks from the first to the last, Q C and C Q^H from the last to the first.
  const bool forward = (side == Side::Left) == (op != Op::NoTrans);
  const std::int64_t last = (k - 1) / nb * nb;
  for (std::int64_t i = 0; i <= last; i += nb) {
    const std::int64_t j = forward ? i : last - i;
    const Range K{j, std::min(j + nb, k)}, below{j, order};
    H.load(V(below, K), part(tau, K));
    if (side == Side::Left)
      H.apply_left(op, C(below, {0, C.cols}));
    else
      H.apply_right(op, C({0, C.rows}, below));
  }
}

#define INSTANTIATE(T)                                                                      \
  template void orgqr<T>(View<T>, View<T>, Queue&, QrOptions);                              \
  template void ormqr<T>(Side, Op, View<T>, View<T>, View<T>, Queue&, QrOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
