// LU with pivots from a window of rows. No step looks at all rows, so that nothing waits for a long column's pivot:
//
//            K   next  near    rest           panel  P A(window, K) = L U                            queue `panels`
//          +---+------+------+---------+      next   the next panel's columns, down to the end of its window
//   window | U |  U   |  U   |    U    |      near   all rows of the columns up to the end of the next block of
//          | L |      |      |         |             panels                                          queue `nears`
//          +---+      |      |         |      left   L^-1, U^-1 and L21 = A21 U^-1                   queue `lefts`
//          | L |      |      |         |      rest   of a block of panels: all other columns; first those that near
//          +---+------+------+---------+             will change next                                the caller's
//
// The panels run ahead of the columns near them, these ahead of `rest`, whose products are most of the work. What is near
// is not kept waiting for L21 either: with V = U^-1 U12 of the panel's own order, A22 -= L21 U12 = A21 V. Rows are exchanged
// within the window, in columns left of the panel too. All but the panel is products, some with inverses: what their
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
    V_ = Matrix<S>(width, block + width, q);
    top_ = Matrix<S>(width, n_, q);
    below_ = Matrix<S>(n_, width, q);
    parts_ = ProductsByParts::for_updates<S>(math, n_ - block, n_ - 2 * block, block, q);
  }

  void run() {
    SideQueue panel_queue(q_, true), near_queue(q_, true), left_queue(q_);
    Queue &panels = panel_queue, &nears = near_queue, &lefts = left_queue;
    Event near_before, rest_before;

    panel(0, panels);
    for (std::int64_t t = 0; t < panels_; ++t) {
      const Event panel_done = panels.record();
      if (t + 1 < panels_) {
        panels.wait_for(near_before);
        next(t, panels);
        const Event next_done = panels.record();
        panel(t + 1, panels);

        nears.wait_for(panel_done);
        nears.wait_for(rest_before);
        near(t, next_done, nears);
        near_before = nears.record();
      }
      lefts.wait_for(panel_done);
      inverses(t, lefts);
      lefts.wait_for(near_before);
      left(t, lefts);

      if ((t + 1) % panels_per_block == 0 || t + 1 == panels_) {
        const std::int64_t b = t / panels_per_block;
        q_.wait_for(lefts.record());
        rest(b, columns_of_block(b + 2), q_);
        rest_before = q_.record();
        rest(b, {columns_of_block(b + 2).end, n_}, q_);
        exchanges_left(b, q_);
      }
    }
  }

 private:
  static constexpr std::int64_t width = window_panel_cols<S>, block = panels_per_block * width;

  Range columns(std::int64_t t) const { return {std::min(t * width, n_), std::min((t + 1) * width, n_)}; }
  Range window(std::int64_t t) const { return {t * width, std::min(t * width + window_rows, n_)}; }
  /// The columns of a block of panels.
  Range columns_of_block(std::int64_t b) const { return {std::min(b * block, n_), std::min((b + 1) * block, n_)}; }
  std::int64_t block_of(std::int64_t t) const { return t / panels_per_block; }
  View<S> inverse_L(std::int64_t t) const { return inverse(2 * t, t); }
  View<S> inverse_U(std::int64_t t) const { return inverse(2 * t + 1, t); }
  View<S> inverse(std::int64_t place, std::int64_t t) const {
    const std::int64_t order = columns(t).size();
    return inverses_.view()({0, order}, {place * width, place * width + order});
  }
  std::int32_t* source(std::int64_t t) const { return sources_.data + t * window_rows; }

  /// P A(window, K) = L U
  void panel(std::int64_t t, Queue& q) {
    window_panel(A_(window(t), columns(t)), columns(t).begin, source(t), info_.data, q);
  }
  void inverses(std::int64_t t, Queue& q) {
    const Range K = columns(t);
    triangle_inverses(A_(K, K), inverse_L(t), inverse_U(t), q);
  }

  /// Rows of the next panel's window below this one's.
  Range next_rows(std::int64_t t) const { return {window(t).end, window(t + 1).end}; }
  /// U12, and the products with L21 in the rows of this window and of the next one, for columns right of the panel. Their V
  /// is kept until the next panel's.
  void eliminate(std::int64_t t, Range right, Queue& q) {
    if (right.size() <= 0) return;
    const View<S> LU = A_(window(t), columns(t)), B = A_(next_rows(t), columns(t));
    window_next(source(t), LU, B, A_(window(t), right), A_(next_rows(t), right), V(t, right), q);
  }
  View<S> V(std::int64_t t, Range right) const {
    const std::int64_t first = columns(t).end;
    return V_.view()({0, columns(t).size()}, {right.begin - first, right.end - first});
  }
  void next(std::int64_t t, Queue& q) { eliminate(t, columns(t + 1), q); }

  /// The columns up to the end of the next block, `next` being among them: what it has not done.
  void near(std::int64_t t, const Event& next_done, Queue& q) {
    const Range all{columns(t).end, columns_of_block(block_of(t) + 1).end}, rows{next_rows(t).end, n_};
    eliminate(t, {columns(t + 1).end, all.end}, q);
    q.wait_for(next_done);
    if (rows.size() > 0)
      gemm(Op::NoTrans, Op::NoTrans, S(-1), A_(rows, columns(t)), V(t, all), S(1), A_(rows, all), q);
  }

  /// The exchange of rows in the block's columns left of the panel, and L21 = A21 U11^-1.
  void left(std::int64_t t, Queue& q) {
    exchange(t, {columns_of_block(block_of(t)).begin, columns(t).begin}, q);
    const Range below{window(t).end, n_};
    if (below.size() <= 0) return;
    const View<S> L21 = A_(below, columns(t)), A21 = below_.view()({0, L21.rows}, {0, L21.cols});
    lacpy(Uplo::General, L21, A21, q);
    gemm(Op::NoTrans, Op::NoTrans, S(1), A21, inverse_U(t), S(0), L21, q);
  }

  /// A(rows, right) -= L(rows, K) U(K, right)
  void subtract(Range rows, Range K, Range right, Queue& q) {
    if (rows.size() <= 0) return;
    gemm(Op::NoTrans, Op::NoTrans, S(-1), A_(rows, K), A_(K, right), S(1), A_(rows, right), q);
  }

  Range panels_of(std::int64_t b) const {
    return {b * panels_per_block, std::min((b + 1) * panels_per_block, panels_)};
  }

  /// Some of the columns beyond the next block.
  void rest(std::int64_t b, Range right, Queue& q) {
    if (right.size() <= 0) return;
    const Range B = columns_of_block(b), below{B.end, n_}, panels = panels_of(b);
    for (std::int64_t t = panels.begin; t < panels.end; ++t) exchange(t, right, q);
    // U12 = L11^-1 A12, panel after panel
    for (std::int64_t t = panels.begin; t < panels.end; ++t) {
      const Range K = columns(t);
      const View<S> U12 = A_(K, right), A12 = top_.view()({0, U12.rows}, {0, U12.cols});
      lacpy(Uplo::General, U12, A12, q);
      gemm(Op::NoTrans, Op::NoTrans, S(1), inverse_L(t), A12, S(0), U12, q);
      subtract({K.end, B.end}, K, right, q);
    }
    // A22 -= L21 U12
    if (parts_.template updates<S>(A_(below, right)))
      parts_.add(Op::NoTrans, Op::NoTrans, -1, A_(below, B), A_(B, right), A_(below, right), Side::Right, q);
    else
      subtract(below, B, right, q);
  }

  /// The exchanges of a block's panels in the columns left of it, and in the list of them all.
  void exchanges_left(std::int64_t b, Queue& q) {
    for (std::int64_t t = panels_of(b).begin; t < panels_of(b).end; ++t) {
      exchange(t, {0, columns_of_block(b).begin}, q);
      window_exchange(source(t), order_(window(t), {0, 1}), q);
    }
  }

  void exchange(std::int64_t t, Range others, Queue& q) {
    if (others.size() > 0) window_exchange(source(t), A_(window(t), others), q);
  }

  View<S> A_;
  View<std::int32_t> order_, info_;
  Queue& q_;
  std::int64_t n_, panels_;
  Matrix<std::int32_t> sources_;  // a column for each panel
  Matrix<S> inverses_;            // L11^-1 and U11^-1 of each panel
  Matrix<S> V_;                   // of one panel
  Matrix<S> top_, below_;         // old rows of U12 and of L21 in products
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
