// What the QR routines share: the check of their options, and Q as an operator with its workspace.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "products_by_parts.hpp"
#include "shapes.hpp"

namespace devobj {

/// Columns of a panel at most: of the native QR, and of the other methods.
inline constexpr std::int64_t qr_native_block_max = 768, qr_block_max = 256;

/// Error unless the method is one for the queue's backend and the block size is possible.
inline void require_options(const char* routine, const QrOptions& options, const Queue& q) {
  const Method method = options.method;
  const bool own = method == Method::householder || method == Method::block_householder;
  const bool rotations = method == Method::givens && std::string_view(routine) == "qr";  // they leave no reflectors
  require(method == Method::automatic || method == Method::hybrid || own || rotations ||
              (method == Method::lapack && !q.on_cuda()) || (method == Method::native && q.on_cuda()),
          routine,
          ": method '", method_name(method), "' is not available on the ", q.on_cuda() ? "cuda" : "host", " backend");
  const std::int64_t most = method == Method::native ? qr_native_block_max : qr_block_max;
  require(options.block >= 0 && options.block <= most, routine, ": block is ", options.block,
          ", must be 0 (chosen by the library) to ", most);
}

/// Block reflectors H = I - V T V^H of k vectors in all, up to nb columns and m rows each, one after the other, applied to C with up to
/// `width` columns (from the left) or rows (from the right), parts of `where` if that is known. While one is applied in the queue, the V
/// and T of the next one are made beside it, and `with_VTri` V T, which takes as long as T for as many columns as V has rows. T is a
/// chain of small kernels, which can take longer than its application: where V is not large up to three are made at the same time, as
/// far as calls are ahead of the GPU.
template <class T> class BlockReflectors {
 public:
  BlockReflectors(Side side, std::int64_t m, std::int64_t k, std::int64_t nb, std::int64_t width, bool with_VTri,
                  Queue& q, Math math = Math::automatic, View<T> where = {});
  /// For i = 0 ... count - 1: use(i) in the queue's order, where the functions below apply op(H), H the reflector of the
  /// unit lower trapezoidal vectors(i) with factors(i). use(i) must not change those after i.
  template <class Vectors, class Factors, class Use>
  void for_each(Op op, std::int64_t count, Vectors vectors, Factors factors, Use use);
  /// C = op(H) C or C op(H)
  void apply(View<T> C);
  /// C = H C with VTri, where C's first columns, as many as there are vectors in H, are those of the unit matrix, and as many first rows of
  /// its others are zero.
  void apply_to_unit(View<T> C);

 private:
  struct Reflector {
    Matrix<T> memory;  // one for all: an allocation takes the host as long as a launch
    View<T> V, VTri, Tri, G;
    std::int64_t most_rows;
    std::int64_t number = -1;  // the last one that was here
    Event moment;              // when it had been made, or applied
    Reflector(std::int64_t m, std::int64_t nb, bool with_VTri, Queue& q);
    void load(View<T> A, View<T> tau, bool with_VTri, Op op, const ProductsByParts& parts, Queue& q);
  };
  /// Reflectors that are made at the same time, at most, on as many queues.
  static constexpr std::int64_t most_ahead = 3;
  /// Of the places for so many rows the one where the last reflector was longest ago, one before number i.
  Reflector& place_for(std::int64_t rows, std::int64_t i);

  Side side_;
  bool with_VTri_;
  std::vector<Reflector> places_;  // two for all reflectors, then those for small ones only
  Matrix<T> W_, TW_;
  ProductsByParts parts_;
  Queue& q_;
  Op op_ = Op::NoTrans;
  const Reflector* now_ = nullptr;
};

/// C = op(Q) C or C op(Q) with all its workspace allocated by the constructor. Q is of `order`, from k reflectors; C has
/// `order` rows (Left) or columns (Right), and `width` columns or rows; `where`: C, if it is known and Q is on its left.
/// Arguments have been checked.
template <class T> class OrthogonalFactor {
 public:
  OrthogonalFactor(Side side, std::int64_t order, std::int64_t k, std::int64_t width, Queue& q, QrOptions options = {},
                   View<T> where = {});
  void apply(Op op, View<T> V, View<T> tau, View<T> C);

 private:
  Side side_;
  std::int64_t block_;
  std::optional<BlockReflectors<T>> H_;  // none: LAPACK does it
  Queue& q_;
};

}  // namespace devobj
