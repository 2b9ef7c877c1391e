// LU with pivots from a window of rows. No step looks at all rows, so that nothing waits for a long column's pivot:
//
//            K   near     rest             panel  P A(window, K) = L U, and L11^-1, U11^-1                queue `panels`
//          +---+------+---------+          next   what the next panel needs: L21 = A21 U11^-1 down to the end of its
//   window | U |  U   |   U     |                 window, U12 = L11^-1 A12 and A22 -= L21 U12 of its columns there
//          | L |      |         |          left, near, beyond: all of L21, and the same for the columns    queue `nears`
//          +---+      |         |                 of this block of panels and of the next one
//          | L |      |         |          rest   of a block of panels: all other columns                  the caller's
//          +---+------+---------+
//
// The panels run ahead of the columns near them, these ahead of `rest`, whose products are most of the work. Rows are
// exchanged within the window, in columns left of the panel too. With L11^-1 and U11^-1 all else is products: what their
// rounding errors cost is made good by the refinement of the solution.
#include "lu_window.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "devobj/blas.hpp"
#include "kernels/dispatch_randomized.hpp"
#include "products_by_parts.hpp"

namespace devobj {
namespace {

constexpr std::int64_t panels_per_block = 2;

template <class S>
class WindowLu {
 public:
  WindowLu(View<S> A, View<std::int32_t> order, View<std::int32_t> info, Math math, Queue& q)
      : A_(A), order_(order), info_(info), q_(q), n_(A.rows), panels_((n_ + width - 1) / width) {
    sources_ = Matrix<std::int32_t>(window_rows, panels_, q);
    inverses_ = Matrix<S>(width, 2 * width * panels_, q);
    tops_ = Matrix<S>(width, n_ + block + width, q);
    belows_ = Matrix<S>(n_ + width, width, q);
    parts_ = ProductsByParts::for_updates<S>(math, n_ - block, n_ - 2 * block, block, q);
  }

  void run() {
    SideQueue panel_queue(q_, true), near_queue(q_, true);
    Queue &panels = panel_queue, &nears = near_queue;
    Event near_before, rest_before;

    panel(0, panels);
    for (std::int64_t t = 0; t < panels_; ++t) {
      const Event panel_done = panels.record();
      if (t + 1 < panels_) {
        panels.wait_for(near_before);
        next(t, panels);
      }
      const Event next_done = panels.record();
      if (t + 1 < panels_) panel(t + 1, panels);

      nears.wait_for(panel_done);
      left(t, nears);
      nears.wait_for(next_done);
      near(t, nears);
      nears.wait_for(rest_before);
      beyond(t, nears);
      near_before = nears.record();

      if ((t + 1) % panels_per_block == 0 || t + 1 == panels_) {
        q_.wait_for(near_before);
        rest(t / panels_per_block, q_);
        rest_before = q_.record();
      }
    }
  }

 private:
  static constexpr std::int64_t width = window_panel_cols<S>, block = panels_per_block * width;

  Range columns(std::int64_t t) const { return {t * width, std::min((t + 1) * width, n_)}; }
  Range window(std::int64_t t) const { return {t * width, std::min(t * width + window_rows, n_)}; }
  /// The columns of a block of panels.
  Range columns_of_block(std::int64_t b) const { return {std::min(b * block, n_), std::min((b + 1) * block, n_)}; }
  View<S> inverse_L(std::int64_t t) const { return inverse(2 * t, t); }
  View<S> inverse_U(std::int64_t t) const { return inverse(2 * t + 1, t); }
  View<S> inverse(std::int64_t place, std::int64_t t) const {
    const std::int64_t order = columns(t).size();
    return inverses_.view()({0, order}, {place * width, place * width + order});
  }
  const std::int32_t* source(std::int64_t t) const { return sources_.data + t * window_rows; }

  /// P A(window, K) = L U
  void panel(std::int64_t t, Queue& q) {
    const Range K = columns(t);
    window_panel(A_(window(t), K), K.begin, sources_.data + t * window_rows, info_.data, q);
    triangle_inverses(A_(K, K), inverse_L(t), inverse_U(t), q);
  }

  /// L21 = A21 U11^-1 for rows below the window; `copy` holds them meanwhile.
  void make_L(std::int64_t t, Range rows, View<S> copy, Queue& q) {
    if (rows.size() <= 0) return;
    const View<S> L21 = A_(rows, columns(t)), A21 = copy({0, L21.rows}, {0, L21.cols});
    lacpy(Uplo::General, L21, A21, q);
    gemm(Op::NoTrans, Op::NoTrans, S(1), A21, inverse_U(t), S(0), L21, q);
  }

  /// The exchange of rows, and U12 = L11^-1 A12, in some columns right of the panel; `top` holds A12 meanwhile.
  void make_U(std::int64_t t, Range right, View<S> top, Queue& q) {
    const View<S> U12 = A_(columns(t), right), A12 = top({0, U12.rows}, {0, U12.cols});
    window_exchange(source(t), A_(window(t), right), A12, q);
    gemm(Op::NoTrans, Op::NoTrans, S(1), inverse_L(t), A12, S(0), U12, q);
  }

  /// A(rows, right) -= L(rows, K) U(K, right)
  void subtract(Range rows, Range K, Range right, Queue& q) {
    if (rows.size() <= 0 || right.size() <= 0) return;
    gemm(Op::NoTrans, Op::NoTrans, S(-1), A_(rows, K), A_(K, right), S(1), A_(rows, right), q);
  }

  /// What the next panel needs.
  void next(std::int64_t t, Queue& q) {
    const Range K = columns(t), right = columns(t + 1);
    make_L(t, {window(t).end, window(t + 1).end}, belows_.view()({n_, n_ + width}, {0, width}), q);
    make_U(t, right, tops_.view()({0, width}, {n_ + block, n_ + block + width}), q);
    subtract(window(t + 1), K, right, q);
  }

  /// The exchange of rows in the block's columns left of the panel, and the rest of L21.
  void left(std::int64_t t, Queue& q) {
    exchange(t, {columns_of_block(t / panels_per_block).begin, columns(t).begin}, q);
    if (t + 1 < panels_) make_L(t, {window(t + 1).end, n_}, belows_.view()({0, n_}, {0, width}), q);
  }
  /// The next panel's columns below its window.
  void near(std::int64_t t, Queue& q) {
    if (t + 1 < panels_) subtract({window(t + 1).end, n_}, columns(t), columns(t + 1), q);
  }
  /// The columns beyond, up to the end of the next block.
  void beyond(std::int64_t t, Queue& q) {
    if (t + 1 >= panels_) return;
    const Range right{columns(t + 1).end, columns_of_block(t / panels_per_block + 1).end};
    if (right.size() <= 0) return;
    make_U(t, right, tops_.view()({0, width}, {n_, n_ + block}), q);
    subtract({columns(t).end, n_}, columns(t), right, q);
  }

  /// All columns that `beyond` of the block's panels has not had, those left of the block, and the list of the exchanges.
  void rest(std::int64_t b, Queue& q) {
    const Range B = columns_of_block(b), right{columns_of_block(b + 1).end, n_};
    const std::int64_t begin = b * panels_per_block, end = std::min(begin + panels_per_block, panels_);
    for (std::int64_t t = begin; t < end; ++t) {
      exchange(t, {0, B.begin}, q);
      exchange(t, right, q);
      window_exchange(source(t), order_(window(t), {0, 1}), {}, q);
    }
    if (right.size() <= 0) return;
    // U12 = L11^-1 A12, panel after panel
    for (std::int64_t t = begin; t < end; ++t) {
      const Range K = columns(t);
      const View<S> U12 = A_(K, right), A12 = tops_.view()({0, U12.rows}, {0, U12.cols});
      lacpy(Uplo::General, U12, A12, q);
      gemm(Op::NoTrans, Op::NoTrans, S(1), inverse_L(t), A12, S(0), U12, q);
      subtract({K.end, B.end}, K, right, q);
    }
    const Range below{B.end, n_};
    // A22 -= L21 U12
    if (parts_.template updates<S>(A_(below, right)))
      parts_.add(Op::NoTrans, Op::NoTrans, -1, A_(below, B), A_(B, right), A_(below, right), Side::Right, q);
    else
      subtract(below, B, right, q);
  }

  void exchange(std::int64_t t, Range others, Queue& q) {
    if (others.size() > 0) window_exchange(source(t), A_(window(t), others), {}, q);
  }

  View<S> A_;
  View<std::int32_t> order_, info_;
  Queue& q_;
  std::int64_t n_, panels_;
  Matrix<std::int32_t> sources_;  // a column for each panel
  Matrix<S> inverses_;            // L11^-1 and U11^-1 of each panel
  Matrix<S> tops_, belows_;       // what make_U and make_L hold, for each queue
  ProductsByParts parts_;
};

}  // namespace

template <class S>
void getrf_window(View<S> A, View<std::int32_t> order, View<std::int32_t> info, Math math, Queue& q) {
  std::vector<std::int32_t> start(A.rows + 1, 0);
  std::iota(start.begin() + 1, start.end(), 0);
  to_device<std::int32_t>({start.data(), 1, 1, 1}, info, q);
  if (A.empty()) return;
  to_device<std::int32_t>({start.data() + 1, A.rows, 1, A.rows}, order, q);
  WindowLu<S>(A, order, info, math, q).run();
}

#define INSTANTIATE(S) template void getrf_window<S>(View<S>, View<std::int32_t>, View<std::int32_t>, Math, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
