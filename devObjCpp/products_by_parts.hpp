// Where algorithms multiply single precision matrices by parts on the tensor cores (kernels/cuda/gemm_by_parts.cu), complex
// ones as real (kernels/cuda/gemm_as_real.cu), in block reflectors of double precision too, and these by three real products
// (kernels/cuda/gemm_3m_overlapped.cu, for V^H C project_3m.cu or gemm_3m.cu, and gemm_3m.cu for small ones beside them) or by remainders of integers (gemm_residues.cu), and real
// ones that are not aligned as two that are (kernels/cuda/gemm_overlapped.cu): the thresholds, and the products in pieces of a depth that stays
// accurate. Everywhere else a ProductsByParts is off, and the algorithms call gemm.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "devobj/blas.hpp"
#include "devobj/math.hpp"
#include "kernels/native.hpp"

namespace devobj {

// ---- thresholds ----
/// Rows and columns from which a matrix is updated faster than by a plain product.
inline constexpr std::int64_t by_parts_least = 2048;
/// Columns of V, as a real matrix, from which V^H C is faster than a plain product: every element of C is split for so
/// many products.
inline constexpr std::int64_t by_parts_least_width = 256;
/// Rows and columns from which a complex matrix of double precision is updated faster by a real product.
inline constexpr std::int64_t as_real_least = 2048;
/// The same for the products of block reflectors.
inline constexpr std::int64_t as_real_least_reflected = 6000;
/// Rows and columns from which a matrix of complex<double> is updated faster by three real products, and from which V^H C is.
inline constexpr std::int64_t by_three_least = 2048;
/// Rows, columns and depth from which a product of complex<double> beside larger ones is faster by three real ones, cuBLAS's (gemm_3m); and rows of a
/// matrix from which its block reflectors gain by that.
inline constexpr std::int64_t three_products_least = 32, three_products_least_rows = 4000;
/// Rows and columns from which a matrix of double precision that is not aligned is updated faster as two that are.
inline constexpr std::int64_t unaligned_least = 3072;
/// Rows and columns, and columns of V, from which a matrix of complex<double> is updated faster by gemm_residues.
inline constexpr std::int64_t residues_least_reflected = 2048, residues_least_width = 384;
/// Rows or columns, and both and the depth, from which a single precision product that is not by parts is faster by gemm_three_tf32.
inline constexpr std::int64_t three_tf32_least_long = 4000, three_tf32_least = 64;
/// Rows of a triangle's diagonal blocks, which trsm solves.
inline constexpr std::int64_t by_parts_triangle = cuda::gemm_by_parts_max_depth;

/// Whether products are to be as BLAS's.
inline bool strict_math(Math option) {
  return option == Math::strict || math_in_use() == Math::strict;
}

/// Whether the update of C by a product of this depth is faster by three real ones.
inline bool three_products_pay(std::int64_t depth, View<std::complex<double>> C) {
  return std::min({C.rows, C.cols, depth}) >= three_products_least;
}

/// C -= A B by gemm_three_tf32, where that is faster; else false, with nothing done. Not for strict math. `early`: as there.
inline bool subtract_by_three_tf32(View<float> A, View<float> B, View<float> C, Queue& q, bool early = false) {
  if constexpr (cuda_built)
    return q.on_cuda() && std::max(C.rows, C.cols) >= three_tf32_least_long &&
           std::min({C.rows, C.cols, A.cols}) >= three_tf32_least && cuda::gemm_three_tf32(A, B, C, q, early);
  return false;
}

/// Whether products may be by gemm_residues.
inline bool residues_usable(Math math, const Queue& q) {
  if constexpr (cuda_built) return q.on_cuda() && !strict_math(math) && cuda::gemm_residues_usable(q.device());
  return false;
}

/// Products by parts on one queue, or real ones of complex<double>, three or four to a complex one, some of them by gemm_residues, or two
/// of double precision for one that is not aligned, or none.
class ProductsByParts {
 public:
  ProductsByParts() = default;

  /// For block reflectors of up to k columns, applied to matrices of up to rows x cols, parts of C if that is known.
  template <class T>
  static ProductsByParts for_reflectors(Math math, std::int64_t rows, std::int64_t cols, std::int64_t k, Queue& q,
                                        View<T> C = {}) {
    ProductsByParts parts = for_large_products<T>(math, rows, cols, k, q, C);
    parts.multiplies_by_three_ = multiplies_by_three<T>(math, rows, q);
    return parts;
  }
  /// For block reflectors of so many rows whose products are none that need a workspace: no more than `multiply`.
  template <class T>
  static ProductsByParts for_small_products(Math math, std::int64_t rows, const Queue& q) {
    ProductsByParts parts;
    parts.multiplies_by_three_ = multiplies_by_three<T>(math, rows, q);
    return parts;
  }
  /// For the update of up to rows x cols by products of depth k, in an LU whose solutions are refined.
  template <class T>
  static ProductsByParts for_updates(Math math, std::int64_t rows, std::int64_t cols, std::int64_t k, Queue& q) {
    if constexpr (cuda_built)
      if (pays<T>(math, rows, cols, q) && k <= cuda::gemm_by_parts_max_depth) {
        ProductsByParts parts(q.workspace(bytes<T>(rows, cols, k)));
        parts.low_low_ = false;
        if constexpr (std::is_same_v<T, float>) parts.has_first_parts_ = cuda::gemm_by_parts_spares(q);
        return parts;
      }
    return {};
  }
  /// For triangles of order n and so many right-hand sides. `beside` gets so many bytes of the workspace that the products leave alone.
  template <class T>
  static ProductsByParts for_triangles(Math math, std::int64_t n, std::int64_t right_hand_sides, Queue& q,
                                       std::int64_t bytes_beside = 0, void** beside = nullptr) {
    const std::int64_t rest = n - by_parts_triangle;
    if constexpr (cuda_built)
      if (pays<T>(math, rest, right_hand_sides, q)) {
        const std::size_t own = (bytes<T>(rest, right_hand_sides, by_parts_triangle) + 255) / 256 * 256;
        auto* const memory = static_cast<unsigned char*>(q.workspace(own + static_cast<std::size_t>(bytes_beside)));
        if (beside != nullptr) *beside = memory + own;
        return ProductsByParts(memory);
      }
    return {};
  }

  /// From now on the products of block reflectors in complex<double> leave these multiprocessors to kernels on other queues, where they are
  /// by three real ones or by gemm_residues.
  void leave(cuda::Spared spared) { spared_ = spared; }

  /// Whether there are products by parts, complex ones as real, or two for one; not whether V^H C is by three real products.
  explicit operator bool() const { return workspace_ != nullptr; }
  /// Whether `add` has first parts.
  bool has_first_parts() const { return has_first_parts_; }
  /// Whether the product V op(Z), or its transpose, is to be added to C in this way.
  template <class T>
  bool updates(View<T> C) const {
    const std::int64_t least = std::is_same_v<real_t<T>, float> ? by_parts_least
                               : std::is_same_v<T, double>      ? unaligned_least
                               : updates_by_three_              ? by_three_least
                                                                : as_real_least_reflected;
    return workspace_ != nullptr && std::min(C.rows, C.cols) >= least;
  }
  /// Whether C -= V W is to be by gemm_residues but for the rows of V's triangle.
  template <class T>
  bool updates_by_residues(View<T> V, View<T> C) const {
    return updates_by_residues_ && V.cols >= residues_least_width &&
           std::min(C.rows - V.cols, C.cols) >= residues_least_reflected &&
           reinterpret_cast<std::uintptr_t>(C.data) % sizeof(T) == 0;
  }
  /// C -= V W, V without its triangle.
  template <class T>
  void subtract_by_residues(View<T> V, View<T> W, View<T> C, Queue& q) const {
    if constexpr (cuda_built && std::is_same_v<T, std::complex<double>>)
      cuda::gemm_residues<T>(Op::NoTrans, Op::NoTrans, -1, V, W, C, workspace_, q, spared_);
  }
  /// Whether the product of V and C, summed along V's columns, is.
  template <class T>
  bool projects(View<T> V, View<T> C) const {
    return updates(C) && !updates_by_three_ && !std::is_same_v<T, double> &&
           V.cols * (is_complex<T> ? 2 : 1) >= by_parts_least_width;
  }

  /// Whether V^H C is to be computed by three real products, or as two (project).
  template <class T>
  bool projects_whole(View<T> C) const {
    if (std::is_same_v<T, double>) return cuda_built && updates(C);
    return cuda_built && std::is_same_v<T, std::complex<double>> && by_three_ &&
           std::min(C.rows, C.cols) >= by_three_least;
  }
  /// C = alpha op(A) op(B) + beta C, where none of the others is: in complex<double> by three real products, or as BLAS does it.
  template <class T>
  void multiply(Op opA, Op opB, T alpha, View<T> A, View<T> B, T beta, View<T> C, Queue& q) const {
    if constexpr (cuda_built && std::is_same_v<T, std::complex<double>>)
      if (multiplies_by_three_ && three_products_pay(opA == Op::NoTrans ? A.cols : A.rows, C))
        return cuda::gemm_3m(opA, opB, alpha, A, B, beta, C, q);
    gemm(opA, opB, alpha, A, B, beta, C, q);
  }
  /// W = V^H C
  template <class T>
  void project(View<T> V, View<T> C, View<T> W, Queue& q) const {
    if constexpr (cuda_built && std::is_same_v<T, std::complex<double>>) {
      if (projects_by_three_ && cuda::gemm_3m_overlapped_possible(C, q) && cuda::gemm_3m_overlapped_possible(W, q))
        return cuda::project_3m(V, C, W, workspace_, q, spared_);
      cuda::gemm_3m(Op::ConjTrans, Op::NoTrans, T(1), V, C, T(0), W, q);
    } else if constexpr (cuda_built && std::is_same_v<T, double>) {
      cuda::project_unaligned(V, C, W, workspace_, q);
    }
  }

  /// C += alpha op(A) op(B), alpha 1 or -1; of complex matrices opB is NoTrans. Small numbers keep their accuracy relative
  /// to their column of op(B) (guarded == Right) or row of op(A) (Left). Real products of float leave `spared` to kernels on other
  /// queues, if they can; `first`: if has_first_parts.
  template <class T>
  void add(Op opA, Op opB, real_t<T> alpha, View<T> A, View<T> B, View<T> C, Side guarded, Queue& q,
           cuda::Spared spared = {}, const cuda::FirstPart& first = {}) const {
    if constexpr (cuda_built && std::is_same_v<T, std::complex<double>>)
      if (updates_by_three_)
        return opA == Op::NoTrans && cuda::gemm_3m_overlapped_possible(C, q)
                   ? cuda::gemm_3m_overlapped(alpha > 0 ? 1 : -1, A, B, C, workspace_, q, spared_)
                   : gemm(opA, opB, T(alpha), A, B, T(1), C, q);
    if constexpr (cuda_built && std::is_same_v<T, double>)
      return opA == Op::NoTrans && opB == Op::NoTrans
                 ? cuda::gemm_overlapped(alpha > 0 ? 1 : -1, A, B, C, workspace_, q)
                 : gemm(opA, opB, alpha, A, B, T(1), C, q);
    if constexpr (cuda_built && is_complex<T>) {
      cuda::gemm_as_real(opA, alpha, A, B, C, guarded, workspace_, q, {}, low_low_);
    } else if constexpr (cuda_built && std::is_same_v<T, float>) {
      const std::int64_t depth = opA == Op::NoTrans ? A.cols : A.rows;
      for (std::int64_t k = 0; k < depth; k += cuda::gemm_by_parts_max_depth) {
        const Range K{k, std::min(k + cuda::gemm_by_parts_max_depth, depth)};
        const View<T> a = opA == Op::NoTrans ? A({0, A.rows}, K) : A(K, {0, A.cols}),
                      b = opB == Op::NoTrans ? B(K, {0, B.cols}) : B({0, B.rows}, K);
        cuda::gemm_by_parts(opA, opB, alpha, a, b, C, guarded, workspace_, q, spared, {}, low_low_, first);
      }
    }
  }

 private:
  explicit ProductsByParts(void* workspace, bool by_three = false, bool updates_by_three = false)
      : workspace_(workspace), by_three_(by_three), updates_by_three_(updates_by_three) {}
  /// for_reflectors, but for `multiply`.
  template <class T>
  static ProductsByParts for_large_products(Math math, std::int64_t rows, std::int64_t cols, std::int64_t k, Queue& q,
                                            View<T> C) {
    if constexpr (cuda_built && std::is_same_v<T, double>)
      if (q.on_cuda() && std::min(rows, cols) >= unaligned_least && !C.empty() &&
          !cuda::gemm_overlapped_aligned(C, C, C) && cuda::gemm_overlapped_usable(q.device()))
        return ProductsByParts(q.workspace(cuda::gemm_overlapped_workspace(rows, cols, k)));
    const bool by_three = std::is_same_v<T, std::complex<double>> && q.on_cuda() && !strict_math(math);
    if constexpr (cuda_built && std::is_same_v<T, std::complex<double>>)
      if (by_three && std::min(rows, cols) >= by_three_least && cuda::gemm_3m_overlapped_possible(View<T>(), q))
        return for_complex_reflectors(math, rows, cols, k, q);
    if constexpr (cuda_built)
      if (pays<T>(math, rows, cols, q) || pays_as_real<T>(rows, cols, q)) {
        const std::int64_t free = std::max(rows, cols);  // V^H C, and C^H V
        ProductsByParts parts(
            q.workspace(std::max({bytes<T>(rows, cols, k), bytes<T>(k, free, free), bytes<T>(free, k, free)})),
            by_three);
        parts.low_low_ = false;  // Q keeps norms: sums do not cancel
        return parts;
      }
    return ProductsByParts(nullptr, by_three);
  }
  template <class T>
  static bool multiplies_by_three(Math math, std::int64_t rows, const Queue& q) {
    if constexpr (cuda_built && std::is_same_v<T, std::complex<double>>)
      return rows >= three_products_least_rows && q.on_cuda() && !strict_math(math) &&
             cuda::gemm_3m_overlapped_possible(View<T>(), q);
    return false;
  }
  /// By three real products, and where V is wide and there is memory for it, by gemm_residues.
  static ProductsByParts for_complex_reflectors(Math math, std::int64_t rows, std::int64_t cols, std::int64_t k,
                                                Queue& q) {
    const std::size_t of_updates = cuda::gemm_3m_overlapped_workspace(rows, cols, k);
    const std::size_t of_three = std::max(of_updates, cuda::project_3m_workspace(rows, k, cols));
    if (k >= residues_least_width && std::min(rows - k, cols) >= residues_least_reflected && residues_usable(math, q))
      try {
        const std::size_t of_residues = cuda::gemm_residues_workspace<std::complex<double>>(rows, cols, k);
        ProductsByParts parts(q.workspace(std::max(of_three, of_residues)), true, true);
        parts.updates_by_residues_ = true;
        parts.projects_by_three_ = true;
        return parts;
      } catch (const Error& error) {
        if (error.status() != Status::out_of_memory) throw;  // three products will do
      }
    try {
      ProductsByParts parts(q.workspace(of_three), true, true);
      parts.projects_by_three_ = true;
      return parts;
    } catch (const Error& error) {
      if (error.status() != Status::out_of_memory || of_three == of_updates) throw;  // cuBLAS's V^H C will do
    }
    return ProductsByParts(q.workspace(of_updates), true, true);
  }
  template <class T>
  static bool pays(Math math, std::int64_t rows, std::int64_t cols, const Queue& q) {
    return std::is_same_v<real_t<T>, float> && q.on_cuda() && std::min(rows, cols) >= by_parts_least &&
           !strict_math(math);
  }
  template <class T>
  static bool pays_as_real(std::int64_t rows, std::int64_t cols, const Queue& q) {
    return std::is_same_v<T, std::complex<double>> && q.on_cuda() && std::min(rows, cols) >= as_real_least_reflected;
  }
  /// Workspace of a product of rows x cols with any depth.
  template <class T>
  static std::size_t bytes(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
    if constexpr (is_complex<T>)
      return cuda::gemm_as_real_workspace<T>(rows, cols, depth);
    else
      return cuda::gemm_by_parts_workspace(rows, cols, std::min(depth, cuda::gemm_by_parts_max_depth));
  }
  void* workspace_ = nullptr;
  cuda::Spared spared_ = {};
  bool multiplies_by_three_ = false;  // multiply
  bool by_three_ = false;             // V^H C
  bool updates_by_three_ = false;   // in that workspace
  bool projects_by_three_ = false;  // V^H C in that workspace, too
  bool has_first_parts_ = false;
  bool low_low_ = true;            // as in gemm_by_parts
  bool updates_by_residues_ = false;  // in that workspace
};

}  // namespace devobj
