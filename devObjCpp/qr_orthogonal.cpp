// orgqr and ormqr: the orthogonal factor from reflectors, by blocks in the form I - V T V^H.
#include "qr_orthogonal.hpp"

#include <algorithm>
#include <cstdint>

#include "blas_checks.hpp"
#include "devobj/blas.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/host/lapack_fortran.hpp"
#include "qr_reflect.hpp"
#include "qr_triangle.hpp"
#include "tuning.hpp"

namespace devobj {
namespace {

using fortran::BlasInt;

// A vector that LAPACK can take: without gaps.
template <class T> bool dense(View<T> v) { return v.cols == 1 || v.ld == 1; }

bool by_lapack(Method method, const Queue& q) {
  return method == Method::lapack || (method == Method::automatic && !q.on_cuda());
}
/// Columns of C (rows, from the right) below which the triangles of wide blocks, and V T, take longer than they save.
constexpr std::int64_t few = 2048;

template <class T>
std::int64_t block_size(const QrOptions& options, std::int64_t k, std::int64_t width, const Queue& q) {
  constexpr std::int64_t most_for_few = 256;
  std::int64_t block = options.block;
  if (block <= 0) {
    block = tuned_blocks<T>(Tuned::qr_apply, Method::hybrid, k, q).block;
    if (width < few) block = std::min(block, most_for_few);
  }
  return std::min(block, k);
}

}  // namespace

// ---- BlockReflectors ----

template <class T>
BlockReflectors<T>::BlockReflectors(Side side, std::int64_t m, std::int64_t k, std::int64_t nb, std::int64_t width,
                                    bool with_VTri, Queue& q, Math math, View<T> where)
    : side_(side),
      with_VTri_(with_VTri),
      TW_(width, nb, q),
      // (complex ones are not multiplied by parts from the right)
      parts_(side == Side::Right && is_complex<T>
                 ? ProductsByParts::for_small_products<T>(math, m, q)
                 : ProductsByParts::for_reflectors<T>(math, m, width, nb, q, where)),
      q_(q) {
  // Bytes of V, with V T, up to which a reflector is small; and vectors from which there are places for more than two: for fewer the calls of
  // more queues take longer than what they do.
  constexpr std::int64_t small = 32 << 20, many = 1000;
  const std::int64_t count = k > 0 ? (k + nb - 1) / nb : 0, most = q.on_cuda() && k >= many ? most_ahead + 1 : 2;
  const std::int64_t row = std::max<std::int64_t>(nb, 1) * std::int64_t(sizeof(T)) * (with_VTri ? 2 : 1);
  places_.reserve(most);
  for (std::int64_t i = 0; i < std::min(count, most); ++i)
    places_.emplace_back(i < 2 ? m : std::min(m, small / row), nb, with_VTri, q);
  if (!with_VTri) W_ = Matrix<T>(width, nb, q);
}

template <class T>
BlockReflectors<T>::Reflector::Reflector(std::int64_t m, std::int64_t nb, bool with_VTri, Queue& q)
    : most_rows(cuda::aligned_ld(m)) {
  // each begins at a multiple of 256 bytes
  const auto aligned = [](std::int64_t elements) { return (elements + 63) / 64 * 64; };
  const std::int64_t of_V = aligned(most_rows * nb), of_triangle = aligned(nb * nb);
  memory = Matrix<T>((with_VTri ? 2 : 1) * of_V + 2 * of_triangle, 1, q);
  V.data = memory.data;
  VTri.data = V.data + (with_VTri ? of_V : 0);
  Tri.data = VTri.data + of_V;
  G.data = Tri.data + of_triangle;
}

/// op: that of T, in V op(T)
template <class T>
void BlockReflectors<T>::Reflector::load(View<T> A, View<T> tau, bool with_VTri, Op op, const ProductsByParts& parts,
                                         Queue& q) {
  V = View<T>(V.data, A.rows, A.cols, cuda::aligned_ld(A.rows));
  Tri = View<T>(Tri.data, A.cols, A.cols);
  G = View<T>(G.data, A.cols, A.cols);
  unit_lower(A, V, q);
  // cuBLAS takes the long sums of a product with few elements in parts itself, but of complex ones in fewer
  constexpr std::int64_t long_vectors = 2048;
  const bool in_parts = is_complex<T> && q.on_cuda() && V.rows >= long_vectors;
  triangle_of_vectors(V, tau, G, Tri, q, in_parts ? 2 : 1);
  if (!with_VTri) return;
  VTri = View<T>(VTri.data, V.rows, V.cols, V.ld);
  times_triangle(T(1), V, op, Tri, T(0), VTri, q, parts);
}

template <class T>
typename BlockReflectors<T>::Reflector& BlockReflectors<T>::place_for(std::int64_t rows, std::int64_t i) {
  const auto has_room = [&](const Reflector& place) { return place.number < i && place.most_rows >= rows; };
  return *std::min_element(places_.begin(), places_.end(), [&](const Reflector& a, const Reflector& b) {
    return has_room(a) != has_room(b) ? has_room(a) : a.number < b.number;
  });
}

template <class T>
template <class Vectors, class Factors, class Use>
void BlockReflectors<T>::for_each(Op op, std::int64_t count, Vectors vectors, Factors factors, Use use) {
  if (count == 0) return;
  op_ = op;
  // op(H) = I - V (V op(T)^H)^H on the left, I - V op(T) V^H on the right
  const Op of_T = (side_ == Side::Left) == (op == Op::NoTrans) ? adjoint<T> : Op::NoTrans;
  for (Reflector& place : places_) place.number = -1;
  const auto queues = static_cast<std::int64_t>(places_.size()) - 1;
  std::optional<SideQueue> beside[most_ahead];
  for (std::int64_t i = 0; i < std::min(queues, count - 1); ++i) beside[i].emplace(q_, true);
  const auto load = [&](std::int64_t i, Reflector& place, Queue& q) {
    place.load(vectors(i), factors(i), with_VTri_, of_T, parts_, q);
    place.number = i;
  };
  Reflector* next = &places_[0];
  load(0, *next, q_);
  for (std::int64_t i = 0; i < count; ++i) {
    Reflector& now = *next;
    if (i + 1 < count) {
      Queue& q = *beside[i % queues];
      next = &place_for(vectors(i + 1).rows, i);
      if (next->number >= 0) q.wait_for(next->moment);
      load(i + 1, *next, q);
      next->moment = q.record(false);
    }
    if (i > 0) q_.wait_for(now.moment);
    now_ = &now;
    use(i);
    now.moment = q_.record(false);
  }
}

template <class T>
void BlockReflectors<T>::apply(View<T> C) {
  if (C.empty()) return;
  const View<T> V = now_->V;
  const bool left = side_ == Side::Left;
  auto room = [&](const Matrix<T>& of) {
    return left ? View<T>(of.data, V.cols, C.cols) : View<T>(of.data, C.rows, V.cols);
  };
  if (with_VTri_ && left) return reflect_left(V, now_->VTri, C, room(TW_), q_, parts_);
  if (with_VTri_) return reflect_right(V, now_->VTri, C, room(TW_), q_, parts_);
  if (left) return reflect_left(op_, V, now_->Tri, C, room(W_), room(TW_), q_, parts_);
  reflect_right(op_, V, now_->Tri, C, room(W_), room(TW_), q_, parts_);
}

template <class T>
void BlockReflectors<T>::apply_to_unit(View<T> C) {
  const View<T> V = now_->V;
  reflect_unit_left(V, now_->VTri, C, View<T>(TW_.data, V.cols, C.cols), q_, parts_);
}

// ---- OrthogonalFactor ----

template <class T>
OrthogonalFactor<T>::OrthogonalFactor(Side side, std::int64_t order, std::int64_t k, std::int64_t width, Queue& q,
                                      QrOptions options, View<T> where)
    : side_(side), block_(block_size<T>(options, k, width, q)), q_(q) {
  if (by_lapack(options.method, q)) return;
  H_.emplace(side, order, k, block_, width, width >= few, q, options.math, where);
}

template <class T> void OrthogonalFactor<T>::apply(Op op, View<T> V, View<T> tau, View<T> C) {
  const std::int64_t k = tau.size(), order = V.rows;
  if (C.empty() || k == 0) return;
  if (!H_) {
    const BlasInt M(C.rows, "ormqr", "the rows of C"), N(C.cols, "ormqr", "the columns of C"),
        K(k, "ormqr", "the size of tau"), ldv(V.ld, "ormqr", "the ld of V"), ldc(C.ld, "ormqr", "the ld of C");
    return q_.submit("ormqr", [=, side = side_] {
      fortran::ormqr<T>(side, op, M, N, K, V.data, ldv, tau.data, C.data, ldc);
    });
  }
  // Q = H(1) H(2) ...: Q^H C and C Q take the blocks from the first to the last, Q C and C Q^H from the last to the first.
  const bool forward = (side_ == Side::Left) == (op != Op::NoTrans);
  const std::int64_t count = (k + block_ - 1) / block_;
  auto columns = [&](std::int64_t i) {
    const std::int64_t j = (forward ? i : count - 1 - i) * block_;
    return Range{j, std::min(j + block_, k)};
  };
  H_->for_each(
      op, count,
      [&](std::int64_t i) {
        return V({columns(i).begin, order}, columns(i));
      },
      [&](std::int64_t i) { return part(tau, columns(i)); },
      [&](std::int64_t i) {
        const Range below{columns(i).begin, order};
        H_->apply(side_ == Side::Left ? C(below, {0, C.cols}) : C({0, C.rows}, below));
      });
}

// ---- the routines ----

template <class T> void orgqr(View<T> A, View<T> tau, Queue& q, QrOptions options) {
  const std::int64_t m = A.rows, n = A.cols, k = tau.size();
  require(n <= m, "orgqr: A is ", m, " x ", n, ", must not have more columns than rows");
  require(k <= n, "orgqr: tau has ", k, " elements, but A has ", n, " columns");
  require_vector("orgqr", "tau", tau, k);
  require_distinct("orgqr", "tau", tau, "A", A);
  require_options("orgqr", options, q);
  if (A.empty()) return;
  if (by_lapack(options.method, q) && dense(tau)) {
    const BlasInt M(m, "orgqr", "the rows of A"), N(n, "orgqr", "the columns of A"), K(k, "orgqr", "the size of tau"),
        ld(A.ld, "orgqr", "the ld of A");
    return q.submit("orgqr", [=] { fortran::orgqr(M, N, K, A.data, ld, tau.data); });
  }

  // All memory first: when there is none, A is as it was.
  const std::int64_t nb = block_size<T>(options, k, n, q);
  BlockReflectors<T> H(Side::Left, m, k, nb, n, true, q, options.math, A);
  // Columns beyond the reflectors: those of the unit matrix.
  laset(Uplo::General, T(0), T(0), A({0, k}, {k, n}), q);
  laset(Uplo::General, T(0), T(1), A({k, m}, {k, n}), q);
  if (k == 0) return;
  // from the last block to the first
  const std::int64_t count = (k + nb - 1) / nb;
  auto columns = [&](std::int64_t i) {
    const std::int64_t j = (count - 1 - i) * nb;
    return Range{j, std::min(j + nb, k)};
  };
  H.for_each(
      Op::NoTrans, count,
      [&](std::int64_t i) {
        return A({columns(i).begin, m}, columns(i));
      },
      [&](std::int64_t i) { return part(tau, columns(i)); },
      [&](std::int64_t i) {
        const Range K = columns(i), above{0, K.begin}, below{K.begin, m}, right{K.begin, n};
        // A(:, K) = unit columns
        laset(Uplo::General, T(0), T(0), A(above, K), q);
        laset(Uplo::General, T(0), T(1), A(below, K), q);
        // A(below, right) = Q A(below, right)
        H.apply_to_unit(A(below, right));
      });
}

template <class T>
void ormqr(Side side, Op op, View<T> V, View<T> tau, View<T> C, Queue& q, QrOptions options) {
  require_side("ormqr", side);
  const std::int64_t k = tau.size(), order = side == Side::Left ? C.rows : C.cols,
                     width = side == Side::Left ? C.cols : C.rows;
  require(op == Op::NoTrans || op == adjoint<T>, "ormqr: op is '", static_cast<char>(op), "', must be 'N' or '",
          static_cast<char>(adjoint<T>), "' for this type");
  require(V.rows == order, "ormqr: V has ", V.rows, " rows, but C is ", C.rows, " x ", C.cols, " and Q is applied from the ",
          side == Side::Left ? "left" : "right");
  require(k <= order, "ormqr: tau has ", k, " elements, but Q is of order ", order);
  require(k <= V.cols, "ormqr: tau has ", k, " elements, but V has ", V.cols, " columns");
  require_vector("ormqr", "tau", tau, k);
  require_distinct("ormqr", "C", C, "V", V);
  require_distinct("ormqr", "C", C, "tau", tau);
  require_options("ormqr", options, q);
  if (C.empty() || k == 0) return;
  if (!dense(tau)) options.method = Method::hybrid;
  OrthogonalFactor<T>(side, order, k, width, q, options, side == Side::Left ? C : View<T>()).apply(op, V, tau, C);
}

#define INSTANTIATE(T)                                                                      \
  template class BlockReflectors<T>;                                                        \
  template class OrthogonalFactor<T>;                                                       \
  template void orgqr<T>(View<T>, View<T>, Queue&, QrOptions);                              \
  template void ormqr<T>(Side, Op, View<T>, View<T>, View<T>, Queue&, QrOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
