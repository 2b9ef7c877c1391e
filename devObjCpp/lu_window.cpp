// LU with pivots from a window of rows. No step looks at all rows, so that nothing waits for a long column's pivot.
//
//                block of panels   next block
//              ,-----------------,---------------,         A panel K, in the window of rows that begins with it:
//               K   next  own      ahead            rest
//             +---+------+-------+---------------+------     panel    P A(window, K) = L U              queue `panels`
//      window | U |  U   |   U   |       U       |           next     the next panel's columns, down to the end of its
//             | L |      |       |               |                    window, without L21:
//             +---+      |       |               |                    A22 -= L21 U12 = A21 (U^-1 U12)
//   next rows | L |      |       |               |           left     L21 = A21 U^-1                    queue `lefts`
//             +---+      |       |               |           own      all rows of the block's columns   queue `owns`
//             | L |      |       |               |           ahead    of the next block's columns the rows in which its
//        band |   |      |       |               |                    first two panels will have windows; the rows below
//             +---+------+-------+---------------+                    at the block's end, in one product
//             |   |      |       |     carry     |                                                      queue `aheads`
//                                                            rest     at the block's end all other columns; first those
//                                                                     that are next after the next block
//                                                                                                       the caller's queue
//
// So panels wait for panels; all else has the time of some panels. Rows are exchanged within the window, in L's columns
// left of it too: in the block soon (queue `trails`), left of the block when `rest` is done (queue `behind`). The product of
// the rest begins when that of `ahead` below the band is done, which would have few multiprocessors beside it, and panels none.
#include "lu_window.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "devobj/blas.hpp"
#include "kernels/dispatch_randomized.hpp"
#include "panel_places.hpp"
#include "products_by_parts.hpp"

namespace devobj {
namespace {

/// Rows below a block from which its products take longer than panels.
constexpr std::int64_t many_rows = 12'000;
/// Multiprocessors that the largest products leave to the panels and what is near them, with so many rows below a block.
constexpr cuda::Spared for_panels(std::int64_t below) {
  return {below < many_rows ? 33 : cuda::lu_panel_places};
}

template <class S>
class WindowLu {
 public:
  WindowLu(View<S> A, View<std::int32_t> order, View<std::int32_t> info, Math math, std::int64_t panels_per_block,
           Queue& q)
      : A_(A),
        order_(order),
        info_(info),
        q_(q),
        n_(A.rows),
        panels_((n_ + width - 1) / width),
        panels_per_block_(panels_per_block),
        block_(panels_per_block_ * width),
        math_(math),
        strict_(strict_math(math)) {
    sources_ = Matrix<std::int32_t>(window_rows, panels_, q);
    if constexpr (cuda_built && std::is_same_v<S, float>)
      if (q.on_cuda() && !strict_ && n_ > 2 * block_ && cuda::window_upper_possible(q))
        streams_ = Matrix<unsigned char>(static_cast<std::int64_t>(cuda::window_stream_bytes()), 2, q);
    parts_ = ProductsByParts::for_updates<S>(math, n_ - block_, n_ - 2 * block_, block_, q);
    if (parts_.has_first_parts() && n_ >= many_rows) places_ = PanelPlaces(q);
  }

  void run() {
    SideQueue panel_queue(q_, true), own_queue(q_, true), left_queue(q_, true), ahead_queue(q_, true), trail_queue(q_),
        behind_queue(q_);
    Queue &panels = panel_queue, &owns = own_queue, &lefts = left_queue, &aheads = ahead_queue, &trails = trail_queue,
          &behind = behind_queue;
    carry_parts_ = ProductsByParts::for_updates<S>(math_, n_, by_parts_least, block_, aheads);
    Event own_before, ahead_before, carry_before, rest_before;  // of the panel before, of the block before

    panel(0, panels);
    for (std::int64_t t = 0; t < panels_; ++t) {
      const std::int64_t b = block_of(t);
      const bool first = t == panels_of(b).begin, last = t + 1 == panels_of(b).end;
      const Range K = columns(t), own = own_columns(t), ahead{columns_of_block(b).end, columns_of_block(b + 1).end};
      const Event panel_done = panels.record(false);

      lefts.wait_for(panel_done);
      lefts.wait_for(own_before);
      if (first) lefts.wait_for(carry_before);
      left(t, {next_rows(t).end, n_}, lefts);
      const Event left_done = lefts.record(false);

      if (t + 1 < panels_) {
        panels.wait_for(own_before);
        if (first || last) panels.wait_for(ahead_before);
        if (last) panels.wait_for(rest_before);
        eliminate(t, columns(t + 1), panels);
      }
      const Event next_done = panels.record(false);
      if (t + 1 < panels_) panel(t + 1, panels);

      Event own_done;
      if (own.size() > 0) {
        owns.wait_for(panel_done);
        if (first) owns.wait_for(ahead_before);
        eliminate(t, {columns(t + 1).end, own.end}, owns);
        owns.wait_for(next_done);
        owns.wait_for(left_done);
        subtract({next_rows(t).end, n_}, K, own, owns);
        own_done = owns.record(false);
      }

      aheads.wait_for(panel_done);
      aheads.wait_for(own_before);
      if (first) aheads.wait_for(rest_before);
      eliminate(t, {last ? columns(t + 1).end : ahead.begin, ahead.end}, aheads);
      aheads.wait_for(left_done);
      if (last) aheads.wait_for(next_done);
      subtract({next_rows(t).end, band_end(b)}, K, ahead, aheads);
      own_before = own_done;
      ahead_before = aheads.record(false);

      trails.wait_for(next_done);
      trails.wait_for(own_done);
      trails.wait_for(ahead_before);
      left(t, next_rows(t), trails);
      exchange(t, {columns_of_block(b).begin, K.begin}, trails);

      if (!last) continue;
      make_stream(b, trails);
      update({band_end(b), n_}, b, ahead, carry_parts_, aheads, for_panels(n_ - ahead.begin));
      carry_before = aheads.record(false);

      q_.wait_for(left_done);
      q_.wait_for(trails.record(false));
      update_rest(b, [&] {
        rest_before = q_.record(false);
        q_.wait_for(carry_before);
      });
      behind.wait_for(q_.record(false));
      exchanges_left(b, behind);
    }
  }

 private:
  static constexpr std::int64_t width = window_panel_cols<S>;

  Range columns(std::int64_t t) const { return {std::min(t * width, n_), std::min((t + 1) * width, n_)}; }
  Range window(std::int64_t t) const { return {t * width, std::min(t * width + window_rows, n_)}; }
  /// The columns of a block of panels.
  Range columns_of_block(std::int64_t b) const { return {std::min(b * block_, n_), std::min((b + 1) * block_, n_)}; }
  std::int64_t block_of(std::int64_t t) const { return t / panels_per_block_; }
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

  /// The columns of its block right of a panel.
  Range own_columns(std::int64_t t) const { return {columns(t).end, columns_of_block(block_of(t)).end}; }
  /// The end of the rows in which a block's panels have windows, and the first two panels of the next block.
  std::int64_t band_end(std::int64_t b) const { return std::min(windows(b).end + 2 * width, n_); }

  /// Some rows of L21 = A21 U11^-1.
  void left(std::int64_t t, Range rows, Queue& q) {
    if (rows.size() > 0) window_left(A_(columns(t), columns(t)), A_(rows, columns(t)), q);
  }

  /// A(rows, right) -= L(rows, K) U(K, right)
  void subtract(Range rows, Range K, Range right, Queue& q) {
    if (rows.size() <= 0 || right.size() <= 0) return;
    const View<S> L = A_(rows, K), U = A_(K, right), C = A_(rows, right);
    if constexpr (std::is_same_v<S, float>)
      // (not U12, for which refinement would take up to three steps more)
      if (!strict_ && C.rows >= three_tf32_least_long && subtract_by_three_tf32(L, U, C, q)) return;
    gemm(Op::NoTrans, Op::NoTrans, S(-1), L, U, S(1), C, q);
  }

  Range panels_of(std::int64_t b) const {
    return {b * panels_per_block_, std::min((b + 1) * panels_per_block_, panels_)};
  }

  /// A block's L11 and exchanges for window_upper, where there is one. What this overwrites, the block before the last has been solved
  /// with: panels wait for that.
  void make_stream([[maybe_unused]] std::int64_t b, [[maybe_unused]] Queue& q) {
    if constexpr (cuda_built && std::is_same_v<S, float>) {
      const Range B = columns_of_block(b), panels = panels_of(b);
      if (!streams_.empty() && columns_of_block(b + 1).end < n_)
        cuda::window_stream(source(panels.begin), panels.size(), width, windows(b).size(), A_(B, B), stream_of(b), q);
    }
  }
  unsigned char* stream_of(std::int64_t b) const { return streams_.data + b % 2 * streams_.ld; }

  /// U12 of a block in columns beyond the next one. Rows may be exchanged only while all of them have had the same updates,
  /// so that all exchanges come first.
  void upper(std::int64_t b, Range right, Queue& q) {
    if (right.size() <= 0) return;
    const Range B = columns_of_block(b);
    if constexpr (cuda_built && std::is_same_v<S, float>)
      if (!streams_.empty()) return cuda::window_upper(stream_of(b), B.size(), A_(windows(b), right), q);
    exchange_block(b, right, q);
    for (std::int64_t t = panels_of(b).begin; t < panels_of(b).end; ++t) {
      const Range K = columns(t);
      window_right(A_(K, K), A_(K, right), q);
      subtract({K.end, B.end}, K, right, q);
    }
  }
  /// Whether the same with the columns of a block is faster by parts.
  bool by_parts(Range rows, Range right, const ProductsByParts& parts) const {
    return parts && rows.size() >= by_parts_least && right.size() >= block_;
  }
  /// That, by parts where they are faster. `spared`, `first`: of ProductsByParts::add.
  void update(Range rows, std::int64_t b, Range right, const ProductsByParts& parts, Queue& q, cuda::Spared spared = {},
              const cuda::FirstPart& first = {}) {
    const Range B = columns_of_block(b);
    if (by_parts(rows, right, parts))
      parts.add(Op::NoTrans, Op::NoTrans, -1, A_(rows, B), A_(B, right), A_(rows, right), Side::Right, q, spared,
                first);
    else
      subtract(rows, B, right, q);
  }

  /// U12 and the update of all columns beyond the block after b; there() is called behind that of the columns that are next then.
  void update_rest(std::int64_t b, const std::function<void()>& there) {
    const Range soon = columns_of_block(b + 2), below{columns_of_block(b).end, n_}, right{soon.begin, n_},
                others{soon.end, n_};
    upper(b, right, q_);
    if (parts_.has_first_parts() && by_parts(below, others, parts_))
      return update(below, b, right, parts_, q_, beside_panels(below.size()),
                    {Side::Right, soon.size(), std::cref(there)});
    update(below, b, soon, parts_, q_);
    there();
    update(below, b, others, parts_, q_, beside_panels(below.size()));
  }
  /// for_panels, with many rows those on which a panel's cluster has room. (A product on another queue at the same time would have these
  /// only, and leave them to no panel.)
  cuda::Spared beside_panels(std::int64_t below) const {
    const cuda::Spared spared = for_panels(below);
    return below >= many_rows && places_ ? places_.spared(spared.count) : spared;
  }

  /// The exchanges of a block's panels in the columns left of it, and in the list of them all.
  void exchanges_left(std::int64_t b, Queue& q) {
    exchange_block(b, {0, columns_of_block(b).begin}, q);
    const Range panels = panels_of(b);
    window_exchange(source(panels.begin), panels.size(), width, order_(windows(b), {0, 1}), q);
  }
  void exchange_block(std::int64_t b, Range others, Queue& q) {
    const Range panels = panels_of(b);
    if (others.size() > 0) window_exchange(source(panels.begin), panels.size(), width, A_(windows(b), others), q);
  }
  void exchange(std::int64_t t, Range others, Queue& q) {
    if (others.size() > 0) window_exchange(source(t), 1, width, A_(window(t), others), q);
  }
  /// The windows of all panels of a block.
  Range windows(std::int64_t b) const { return {columns_of_block(b).begin, window(panels_of(b).end - 1).end}; }

  View<S> A_;
  View<std::int32_t> order_, info_;
  Queue& q_;
  std::int64_t n_, panels_, panels_per_block_, block_;  // block_: columns
  Matrix<std::int32_t> sources_;                        // a column for each panel
  Matrix<unsigned char> streams_;                       // of two blocks, or none
  PanelPlaces places_;
  Math math_;
  bool strict_;
  ProductsByParts parts_, carry_parts_;
};

}  // namespace

template <class S>
void getrf_window(View<S> A, View<std::int32_t> order, View<std::int32_t> info, Math math, Queue& q,
                  std::int64_t panels_per_block) {
  std::vector<std::int32_t> start(A.rows + 1, 0);
  std::iota(start.begin() + 1, start.end(), 0);
  to_device<std::int32_t>({start.data(), 1, 1, 1}, info, q);
  if (A.empty()) return;
  to_device<std::int32_t>({start.data() + 1, A.rows, 1, A.rows}, order, q);
  WindowLu<S>(A, order, info, math, panels_per_block, q).run();
}

#define INSTANTIATE(S) \
  template void getrf_window<S>(View<S>, View<std::int32_t>, View<std::int32_t>, Math, Queue&, std::int64_t);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
