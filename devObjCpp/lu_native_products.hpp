// The products of the native LU, C -= L U: which kernel makes them, by the type, the size, and what runs beside them. GPU only.
#pragma once

#include <algorithm>
#include <complex>
#include <type_traits>
#include <utility>

#include "devobj/blas.hpp"
#include "kernels/native.hpp"
#include "products_by_parts.hpp"

namespace devobj {

/// Whether an m x n matrix is one of those whose panels, with many rows to the end, decide.
inline bool lu_is_tall(std::int64_t m, std::int64_t n) {
  return m >= 2 * n;
}

/// In single precision by parts and, of complex matrices, as real ones, unless math is strict. In double precision, where blocks are
/// wide and math is not strict, by gemm_residues; else of complex<double> by three real products, with strict math or where little
/// is left by four (gemm_complex_overlapped), and as real ones if the GPU has neither; else of double by gemm_overlapped. All others
/// by cuBLAS. All but cuBLAS's, to which complex<double> as real belongs, can leave multiprocessors to the panels.
/// For the updates of the rest, one behind the other: the workspace serves one product at a time. Of tall complex matrices updates on the panels'
/// queue are by gemm_residues, too (subtract_beside), in a workspace of their own. Other products in single
/// precision, with many rows or columns, are by gemm_three_tf32, if columns are aligned and math is not strict; in complex<double>, of matrices of some
/// sizes, by three real products of cuBLAS's (three_within_blocks).
template <class T>
class LuNativeProducts {
 public:
  // Rows and columns from which an update in double precision, real or complex, is by gemm_overlapped or gemm_complex_overlapped
  // if it is aligned (else: unaligned_least), and the depths up to which real ones are: where its blocks come and go, and, for the
  // update of the rest, where they stay and leave multiprocessors to the panels, as many as a cluster has: that is the depth of the
  // tables' widest blocks.
  static constexpr std::int64_t overlapped_least = 1024, overlapped_most_depth = 256,
                                overlapped_most_depth_staying = 1280;
  // Matrices up to `small` have it for almost all updates of the rest: it is not faster there, but the residual is smaller by a
  // tenth to a fifth than with cuBLAS's products. If they are not aligned, a copy is factored.
  static constexpr std::int64_t small = 1024, overlapped_least_small = 64;
  // Rows and columns, and depths, from which an update of the rest that is aligned is by gemm_residues.
  static constexpr std::int64_t residues_least = is_complex<T> ? 2048 : 4096,
                                residues_least_depth = is_complex<T> ? 384 : 768;
  static_assert(!is_complex<T> || residues_least >= by_three_least);  // workspace_bytes
  // Rows and columns from which an update on the panels' queue, as deep, is so too, in a workspace of its own: of tall complex matrices.
  static constexpr std::int64_t residues_least_rows_beside = 10'000, residues_least_columns_beside = 256;
  // Rows and columns from which a single precision update of the rest of a row-major matrix has a first part: of a smaller one the panels
  // decide, which wait longer for that than for a product beside the rest's solves.
  static constexpr std::int64_t first_part_least = is_complex<T> ? 5000 : 10'000;
  static constexpr int panel_multiprocessors = cuda::lu_panel_places;

  /// Of the LU of A, which is row-major meanwhile if `by_rows`.
  LuNativeProducts(View<T> A, bool by_rows, Math math, const Queue& q)
      : A_(A), by_rows_(by_rows), strict_(strict_math(math)) {
    if constexpr (std::is_same_v<T, double>) leave_ = cuda::gemm_overlapped_usable(q.device());
    if constexpr (std::is_same_v<T, std::complex<double>>)
      leave_ =
          cuda::gemm_complex_overlapped_possible(A, A, A, q) && (strict_ || cuda::gemm_3m_overlapped_possible(A, q));
    if constexpr (!single) residues_usable_ = leave_ && residues_usable(math, q);
    if constexpr (single) {
      const View<float> real(reinterpret_cast<float*>(A.data), A.rows, A.cols, A.ld * std::int64_t(sizeof(T) / 4));
      slow_ = !strict_ && !cuda::gemm_by_parts_at_full_rate(real, q);
      leave_ = !strict_ && std::min(A.rows, A.cols) > least && cuda::gemm_by_parts_spares(q);
    }
  }
  /// Whether there are products of the rest that leave multiprocessors to the panels.
  bool leave_multiprocessors() const { return leave_; }
  /// Whether those of blocks in so many columns are below the rate that the table of blocks is made for.
  bool slow(std::int64_t columns) const { return slow_ && columns >= least; }

  /// Whether an update of a rest of this size is by gemm_residues if it is deep enough, and so the faster the deeper it is.
  bool better_deep(std::int64_t rows, std::int64_t cols) const {
    return residues_usable_ && aligned(A_) && std::min(rows, cols) >= residues_least;
  }

  /// `rest`: columns with pivots right of the first block; `depth`: columns of the widest group of blocks; `block`: of the widest block.
  void choose(std::int64_t rest, std::int64_t depth, std::int64_t block) {
    const std::int64_t k = std::min(A_.rows, A_.cols);
    rows_ = A_.rows - k + rest;
    cols_ = A_.cols - k + rest;
    depth_ = depth;
    if constexpr (std::is_same_v<T, std::complex<double>>) {
      overlapped_ = leave_ && rest >= overlapped_least;
      by_three_ = leave_ && !strict_ && rest >= by_three_least;
    }
    by_parts_ = !(is_complex<T> && overlapped_) && by_parts_pays(rest);
    if constexpr (std::is_same_v<T, double>) {
      const bool is_small = std::max(A_.rows, A_.cols) <= small, is_aligned = aligned(A_);
      if (is_small) overlapped_least_ = overlapped_least_small;
      overlapped_ = leave_ && rest >= overlapped_least_;
      overlapped_copies_ = overlapped_ && rest >= unaligned_least && !is_aligned;
      wants_copy_ = overlapped_ && is_small && !is_aligned;
    }
    residues_ = residues_usable_ && rest >= residues_least && depth >= residues_least_depth && aligned(A_);
    const bool many_rows = lu_is_tall(A_.rows, A_.cols) && A_.rows >= residues_least_rows_beside;
    beside_ = is_complex<T> && residues_ && !by_rows_ && many_rows ? block : 0;
  }
  /// Whether an aligned copy of A is to be factored.
  bool wants_copy() const { return wants_copy_; }
  std::size_t workspace_bytes() const {
    std::size_t beside = 0;
    if constexpr (!single)
      if (beside_ > 0) beside = cuda::gemm_residues_workspace<T>(A_.rows, beside_, beside_);
    return workspace_bytes_of_rest() + beside;
  }
  /// Where there is no memory for that: whether less will do, without gemm_residues; they are to be chosen again.
  bool forgo_residues() {
    residues_usable_ = false;
    return std::exchange(residues_, false);
  }
  /// `places`, `counts`: of cuda::Spared.
  void use(void* workspace, const std::int32_t* places, std::int32_t* counts) {
    workspace_ = workspace;
    workspace_beside_ = static_cast<unsigned char*>(workspace) + workspace_bytes_of_rest();
    spared_ = {panel_multiprocessors + more_multiprocessors(), places, counts};
  }

  /// Whether the product that updates a rest of this size is of two parts, so that L and U are better of two parts themselves.
  bool of_two_parts(std::int64_t rows, std::int64_t cols) const {
    return single && leave_ && by_parts_ && std::min(rows, cols) >= least;
  }
  /// Whether the product C -= A B that updates the rest, `stays` as in subtract, takes displaced rows of C as it lies.
  bool takes_displaced(View<T> A, View<T> B, View<T> C, bool stays) const {
    switch (kernel_of(A, B, C, true, stays)) {
      case Kernel::residues:
        return is_complex<T> || C.rows % 2 == 0;
      case Kernel::three_overlapped:
      case Kernel::complex_overlapped:
        return true;
      case Kernel::by_parts:
        return std::is_same_v<T, float> && leave_;
      case Kernel::overlapped:
        return aligned(A) && aligned(B) && aligned(C);
      default:
        return false;
    }
  }

  /// Whether the product that updates the rest, C as it lies, of this depth, can have that of so many first columns there first, by
  /// subtract's `first`.
  bool has_first_part(std::int64_t first, View<T> C, std::int64_t depth) const {
    if constexpr (single) {
      constexpr std::int64_t most_depth = cuda::gemm_by_parts_max_depth / (is_complex<T> ? 2 : 1);
      return by_rows_ && leave_ && by_parts_ && std::min(C.rows, C.cols) >= first_part_least && first > 0 &&
             depth <= most_depth;
    }
    return residues_ && first > 0 && first % cuda::gemm_residues_first == 0 && first < (by_rows_ ? C.rows : C.cols) &&
           by_residues(C, depth) && depth <= cuda::gemm_residues_first_most_depth;
  }

  /// C -= A B. `guarded`: see gemm_by_parts; Right if A is L, complete before the kernel before in the queue began. `of_rest`: an
  /// update of the rest; `stays`: its blocks may stay to the end, and leave multiprocessors to the panels beside it. Whether a panel
  /// can be early behind it, as in LuPanelShape. `displaced`: rows of C, if takes_displaced.
  bool subtract(View<T> A, View<T> B, View<T> C, Side guarded, bool of_rest, bool stays, Queue& q,
                const cuda::FirstPart& first = {}, const cuda::DisplacedRows<T>& displaced = {}) const {
    if constexpr (std::is_same_v<T, float>) {
      const bool early = guarded == Side::Right;  // else A is U, which the kernel before has just made
      if (!of_rest && !strict_ && subtract_by_three_tf32(A, B, C, q, early)) return early;
    }
    subtract_otherwise(A, B, C, guarded, of_rest, stays, q, first, displaced);
    return false;
  }
  /// The same on the panels' queue by gemm_residues, if that is faster; else false, with nothing done.
  bool subtract_beside(View<T> A, View<T> B, View<T> C, Queue& q) const {
    if constexpr (std::is_same_v<T, std::complex<double>>) {
      if (std::max(A.cols, C.cols) > beside_ || A.cols < residues_least_depth || C.rows < residues_least_rows_beside ||
          C.cols < residues_least_columns_beside)
        return false;
      cuda::gemm_residues<T>(Op::NoTrans, Op::NoTrans, -1, A, B, C, workspace_beside_, q);
      return true;
    }
    return false;
  }

 private:
  /// A multiple of 256.
  std::size_t workspace_bytes_of_rest() const { return (bytes_of_rest() + 255) / 256 * 256; }
  std::size_t bytes_of_rest() const {
    if (!by_three_ && !by_parts_ && !overlapped_copies_ && !residues_) return 0;
    if constexpr (std::is_same_v<T, std::complex<double>>)
      if (by_three_) {
        const std::size_t of_three = cuda::gemm_3m_overlapped_workspace(rows_, cols_, depth_);
        return residues_ ? std::max(of_three, residues_workspace()) : of_three;
      }
    if constexpr (is_complex<T>)
      return cuda::gemm_as_real_workspace<T>(rows_, cols_, depth_);
    else if constexpr (std::is_same_v<T, double>)
      return residues_ ? residues_workspace()
                       : cuda::gemm_overlapped_workspace(by_rows_ ? cols_ : rows_, by_rows_ ? rows_ : cols_,
                                                         std::min(depth_, overlapped_most_depth_staying));
    else
      return cuda::gemm_by_parts_workspace(rows_, cols_, depth_);
  }
  /// What multiplies; `other`: cuBLAS.
  enum class Kernel { residues, three_overlapped, complex_overlapped, by_parts, overlapped, other };
  Kernel kernel_of(View<T> A, View<T> B, View<T> C, bool of_rest, bool stays) const {
    const std::int64_t side = std::min(C.rows, C.cols), depth = A.cols;
    if constexpr (!single)
      if (of_rest && residues_ && by_residues(C, depth)) return Kernel::residues;
    if constexpr (std::is_same_v<T, std::complex<double>>) {
      if (of_rest && by_three_ && side >= by_three_least) return Kernel::three_overlapped;
      if (of_rest && overlapped_ && side >= overlapped_least) return Kernel::complex_overlapped;
    }
    if (of_rest && by_parts_ && side >= least) return Kernel::by_parts;
    if constexpr (std::is_same_v<T, double>)
      if (overlapped_ && depth <= (stays ? overlapped_most_depth_staying : overlapped_most_depth) &&
          (cuda::gemm_overlapped_aligned(A, B, C) ? side >= (of_rest ? overlapped_least_ : overlapped_least)
                                                  : of_rest && overlapped_copies_ && side >= unaligned_least))
        return Kernel::overlapped;
    return Kernel::other;
  }
  void subtract_otherwise(View<T> A, View<T> B, View<T> C, Side guarded, bool of_rest, bool stays, Queue& q,
                          const cuda::FirstPart& first, const cuda::DisplacedRows<T>& displaced) const {
    stays = stays && of_rest;
    const cuda::Spared spared = stays ? spared_beside(C, A.cols) : cuda::Spared{};
    const Kernel kernel = kernel_of(A, B, C, of_rest, stays);
    // else it would be waited for too early
    if (first.then && kernel != Kernel::residues && !(single && kernel == Kernel::by_parts))
      fail(Status::internal_error, "getrf: a product without a first part");
    if (displaced.from != nullptr && !(of_rest && takes_displaced(A, B, C, stays)))
      fail(Status::internal_error, "getrf: a product that takes no displaced rows");
    if constexpr (!single)
      if (kernel == Kernel::residues)
        return cuda::gemm_residues<T>(Op::NoTrans, Op::NoTrans, -1, A, B, C, workspace_, q, spared, first, displaced);
    if constexpr (std::is_same_v<T, std::complex<double>>) {
      if (kernel == Kernel::three_overlapped)
        return cuda::gemm_3m_overlapped(-1, A, B, C, workspace_, q, spared, displaced);
      if (kernel == Kernel::complex_overlapped) return cuda::gemm_complex_overlapped(-1, A, B, C, q, spared, displaced);
    }
    if (kernel == Kernel::by_parts) {
      constexpr bool low_low = false;  // L and U are of two parts themselves: of_two_parts
      if constexpr (std::is_same_v<T, float>)
        return cuda::gemm_by_parts(Op::NoTrans, Op::NoTrans, -1, A, B, C, guarded, workspace_, q, spared, displaced,
                                   low_low, first);
      else if constexpr (is_complex<T>)
        return cuda::gemm_as_real<T>(Op::NoTrans, -1, A, B, C, guarded, workspace_, q, spared, low_low, first);
    }
    if constexpr (std::is_same_v<T, double>)
      if (kernel == Kernel::overlapped) return cuda::gemm_overlapped(-1, A, B, C, workspace_, q, spared, displaced);
    if constexpr (std::is_same_v<T, std::complex<double>>)
      if (three_within_blocks() && three_products_pay(A.cols, C))
        return cuda::gemm_3m(Op::NoTrans, Op::NoTrans, T(-1), A, B, T(1), C, q);
    cuda::gemm(Op::NoTrans, Op::NoTrans, T(-1), A, B, T(1), C, q);
  }

  /// Whether products within blocks of complex<double> are by three real ones, too: at the sizes where they decide, for the sake of 1 to 3 %.
  /// The residual is larger by it, there by 5 to 30 %, of other sizes by up to 80 %, and with rows and columns of very different sizes more.
  bool three_within_blocks() const {
    constexpr std::int64_t least_order = 7000, most_order = 11'000, longest = 12'000;
    const std::int64_t elements = A_.rows * A_.cols;
    return by_three_ && least_order * least_order <= elements && elements <= most_order * most_order &&
           std::max(A_.rows, A_.cols) <= longest;
  }

  /// Multiprocessors for what is between two panels, where products have time: in single precision, unless the matrix is wide, and in
  /// double precision of tall matrices, and of real ones that are not large.
  int more_multiprocessors() const {
    constexpr int few = 6;
    if constexpr (std::is_same_v<T, float>) return A_.rows >= A_.cols ? panel_multiprocessors : 0;
    return panels_decide() ? few : 0;
  }
  bool panels_decide() const {
    constexpr std::int64_t large = 11'000;
    if (single) return false;
    return lu_is_tall(A_.rows, A_.cols) || (!is_complex<T> && A_.rows * A_.cols <= large * large);
  }
  /// What the product of this depth that updates C leaves: in single precision no more than the panels need where C is so large that they
  /// are done long before; in double precision, of matrices of some size, more where C is small and the panels take longer than it does;
  /// but not behind narrow blocks, whose products take as long as C's way to memory and back.
  cuda::Spared spared_beside(View<T> C, std::int64_t depth) const {
    constexpr std::int64_t few_spared_least = 12'000, least_order = 8200, most_updated = 7000, least_depth = 256;
    constexpr int many = 17;
    cuda::Spared spared = spared_;
    if (std::is_same_v<T, float> && std::min(C.rows, C.cols) >= few_spared_least) spared.count = panel_multiprocessors;
    if (std::is_same_v<T, double> && panels_decide() && A_.rows * A_.cols >= least_order * least_order &&
        C.rows * C.cols <= most_updated * most_updated && depth >= least_depth)
      spared.count = panel_multiprocessors + many;
    return spared;
  }

  static constexpr bool single = std::is_same_v<real_t<T>, float>;
  static constexpr std::int64_t least = single ? by_parts_least : as_real_least;

  static bool by_residues(View<T> C, std::int64_t depth) {
    return std::min(C.rows, C.cols) >= residues_least && depth >= residues_least_depth && aligned(C);
  }
  /// Whether all columns begin at 16 bytes.
  static bool aligned(View<T> X) {
    if constexpr (std::is_same_v<T, double>) return cuda::gemm_overlapped_aligned(X, X, X);
    return true;
  }
  std::size_t residues_workspace() const {
    return cuda::gemm_residues_workspace<T>(by_rows_ ? cols_ : rows_, by_rows_ ? rows_ : cols_, depth_);
  }
  bool by_parts_pays(std::int64_t rest) const {
    if (rest < least) return false;
    if (is_complex<T>) return !single || !strict_;
    return single && depth_ <= cuda::gemm_by_parts_max_depth && !strict_;
  }

  View<T> A_;
  bool by_rows_, strict_, leave_ = false, slow_ = false;
  std::int64_t rows_ = 0, cols_ = 0, depth_ = 0;  // of the largest product
  bool by_three_ = false, by_parts_ = false, wants_copy_ = false;
  bool residues_usable_ = false, residues_ = false;
  std::int64_t beside_ = 0;         // columns and depth at most of an update on the panels' queue by gemm_residues
  bool overlapped_ = false;         // gemm_overlapped, or gemm_complex_overlapped, is used
  bool overlapped_copies_ = false;  // and has the workspace for copies
  std::int64_t overlapped_least_ = overlapped_least;
  void *workspace_ = nullptr, *workspace_beside_ = nullptr;
  cuda::Spared spared_;
};

}  // namespace devobj
