// LU with pivots from a window of rows. No step looks at all rows, so that nothing waits for a long column's pivot:
//
//            K   next  near    rest           panel  P A(window, K) = L U                            queue `panels`
//          +---+------+------+---------+      next   the next panel's columns, down to the end of its window
//   window | U |  U   |  U   |    U    |      near   all rows of the columns up to the end of the next block of
//          | L |      |      |         |             panels                                          queue `nears`
//          +---+      |      |         |      left   L21 = A21 U^-1                                  queue `lefts`
//          | L |      |      |         |      rest   of a block of panels: all other columns; first those that near
//          +---+------+------+---------+             will change next                                the caller's
//
// The panels run ahead of the columns near them, these ahead of `rest`, whose products are most of the work. `next` is not
// kept waiting for L21 either: A22 -= L21 U12 = A21 (U^-1 U12) in the rows of the next window. Rows are exchanged within the
// window, in columns left of the panel too. U12 of `rest` comes from a product with L^-1, whose elements are near 1.
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
    inverses_ = Matrix<S>(width, width * panels_, q);
    top_ = Matrix<S>(width, n_, q);
    parts_ = ProductsByParts::for_updates<S>(math, n_ - block, n_ - 2 * block, block, q);
  }

  void run() {
    SideQueue panel_queue(q_, true), near_queue(q_, true), left_queue(q_);
    Queue &panels = panel_queue, &nears = near_queue, &lefts = left_queue;
    Event near_before, rest_before;

    panel(0, panels);
    for (std::int64_t t = 0; t < panels_; ++t) {
      const Event panel_done = panels.record();
      lefts.wait_for(panel_done);
      lefts.wait_for(near_before);
      left(t, {next_rows(t).end, n_}, lefts);
      if (t + 1 < panels_) {
        panels.wait_for(near_before);
        next(t, panels);
        const Event next_done = panels.record(), left_done = lefts.record();
        panel(t + 1, panels);

        nears.wait_for(panel_done);
        nears.wait_for(rest_before);
        near_in_window(t, nears);
        nears.wait_for(next_done);
        nears.wait_for(left_done);
        near(t, nears);
        near_before = nears.record();
        lefts.wait_for(near_before);
      }
      left(t, next_rows(t), lefts);
      exchange(t, {columns_of_block(block_of(t)).begin, columns(t).begin}, lefts);
      triangle_inverse(A_(columns(t), columns(t)), inverse(t), lefts);

      if ((t + 1) % panels_per_block == 0 || t + 1 == panels_) {
        const std::int64_t b = block_of(t);
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
  /// L^-1 of a panel.
  View<S> inverse(std::int64_t t) const {
    const std::int64_t order = columns(t).size();
    return inverses_.view()({0, order}, {t * width, t * width + order});
  }
  std::int32_t* source(std::int64_t t) const { return sources_.data + t * window_rows; }

  /// P A(window, K) = L U
  void panel(std::int64_t t, Queue& q) {
    window_panel(A_(window(t), columns(t)), columns(t).begin, source(t), info_.data, q);
  }
  /// Rows of the next panel's window below this one's.
  Range next_rows(std::int64_t t) const { return {window(t).end, window(t + 1).end}; }
  /// U12, and the products with L21 in the rows of this window and of the next one, for columns right of the panel.
  void eliminate(std::int64_t t, Range right, Queue& q) {
    if (right.size() <= 0) return;
    const View<S> LU = A_(window(t), columns(t)), B = A_(next_rows(t), columns(t));
    window_next(source(t), LU, B, A_(window(t), right), A_(next_rows(t), right), q);
  }
  void next(std::int64_t t, Queue& q) { eliminate(t, columns(t + 1), q); }

  /// The columns up to the end of the next block.
  Range near_columns(std::int64_t t) const { return {columns(t).end, columns_of_block(block_of(t) + 1).end}; }
  /// Their rows in this window and the next, but for the columns of `next`; then the others.
  void near_in_window(std::int64_t t, Queue& q) { eliminate(t, {columns(t + 1).end, near_columns(t).end}, q); }
  void near(std::int64_t t, Queue& q) { subtract({next_rows(t).end, n_}, columns(t), near_columns(t), q); }

  /// Some rows of L21 = A21 U11^-1.
  void left(std::int64_t t, Range rows, Queue& q) {
    if (rows.size() > 0) window_left(A_(columns(t), columns(t)), A_(rows, columns(t)), q);
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
      gemm(Op::NoTrans, Op::NoTrans, S(1), inverse(t), A12, S(0), U12, q);
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
  Matrix<S> inverses_;            // L11^-1 of each panel
  Matrix<S> top_;                 // old rows of U12 in products
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
