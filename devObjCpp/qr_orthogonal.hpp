// What the QR routines share: the check of their options, and Q as an operator with its workspace.
#pragma once

#include <optional>

#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "shapes.hpp"

namespace devobj {

/// Error unless the method is one for the queue's backend and the block size is possible.
inline void require_options(const char* routine, const QrOptions& options, const Queue& q) {
  const Method method = options.method;
  require(method == Method::automatic || method == Method::hybrid || (method == Method::lapack && !q.on_cuda()), routine,
          ": method '", method_name(method), "' is not available on the ", q.on_cuda() ? "cuda" : "host", " backend");
  require(options.block >= 0 && options.block <= 256, routine, ": block is ", options.block,
          ", must be 0 (chosen by the library) to 256");
}

/// The workspace of one block reflector with up to nb columns and m rows, applied to C with up to `width` columns
/// (from the left) or rows (from the right). H = I - V T V^H.
template <class T> class BlockReflector {
 public:
  BlockReflector(std::int64_t m, std::int64_t nb, std::int64_t width, Queue& q);
  /// Takes the reflectors in the columns of A (unit lower trapezoidal) with their tau.
  void load(View<T> A, View<T> tau);
  /// C = op(Q) C
  void apply_left(Op op, View<T> C);
  /// C = C op(Q)
  void apply_right(Op op, View<T> C);

 private:
  Matrix<T> V_, gram_, tri_, W_, TW_;
  Queue& q_;
  View<T> V, Tri;
};

/// C = op(Q) C or C op(Q) with all its workspace allocated by the constructor. Q is of `order`, from k reflectors; C has
/// `order` rows (Left) or columns (Right), and `width` columns or rows. Arguments have been checked.
template <class T> class OrthogonalFactor {
 public:
  OrthogonalFactor(Side side, std::int64_t order, std::int64_t k, std::int64_t width, Queue& q, QrOptions options = {});
  void apply(Op op, View<T> V, View<T> tau, View<T> C);

 private:
  Side side_;
  std::int64_t block_;
  std::optional<BlockReflector<T>> H_;  // none: LAPACK does it
  Queue& q_;
};

}  // namespace devobj
