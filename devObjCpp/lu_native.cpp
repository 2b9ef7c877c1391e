// Native LU with look-ahead: panels, row exchanges and updates on the GPU, no wait on the host.
//
//            K  next  rest                  One step, on a queue of high priority:
//          +---+-----+------+                 next   exchange of rows, U12 = L11^-1 A12, A22 -= L21 U12 for the columns of
//          | U |  U  |  U   |                        the next panel
//          +---+-----+------+                 panel  P A22(:, next) = L U
//          | L | A22 | A22  |               and beside it on the caller's:
//          |   |     |      |                 rest   the same as `next` for all other columns, and the exchange of rows
//          +---+-----+------+                        for the columns left of K, or that at the end for all blocks
//
// Of a large matrix a third queue takes the columns of the block after the next out of `rest`, so that the next step's panel
// does not wait for the product of the rest (not of all types: LuNativeBlocks::soon). Where that product is by gemm_residues,
// and in large row-major matrices of single precision, these columns are its first part. In tall real matrices it takes out of `next`, too,
// what is right of the next block's first panel.
//
// `next` is one kernel for few rows (exchange_solve_subtract). The panel begins as that ends, and what runs beside the panel
// waits for that; the same holds behind gemm_three_tf32. That kernel begins as the panel before ends: it waits for `rest` itself, by a
// number in device memory (cuda::Progress), since a queue that waits for another starts nothing early. Not where there is a third queue, nor
// in a graph, which may put a kernel that waits before what it waits for.
//
// Of a matrix that is larger still, several blocks update the rest together, which gives a deeper and so a faster product
// (LuNativeBlocks::Group): until then each of them updates only the columns that the next panels need.
//
// In double precision, real or complex, several hundred rows of U12 are one kernel's (solve_streamed). L11's stream is made once for all
// columns; beside it the third queue exchanges the rows of `next`.
//
// What a block does to columns beside it, and by which kernels, is lu_native_updates.hpp's; here is when, and on which queue.
//
// A block wider than a panel is split in two: left half, update of the right half, right half. The table of block sizes is
// read anew for each block, with the order of what is left (lu_native_blocks.hpp): narrow blocks where the panels decide, wide ones
// where the products do.
//
// A large square matrix is row-major meanwhile, that is, transposed in its place: the exchange of rows, which would touch
// one element here and there, then moves contiguous memory. Its blocks are updated by `next` and factored in column-major
// copies, which are made beside the panel before, and whose way back is not in the way. The first two are copied before
// the matrix is transposed, which the first panel does not wait for either. Beside the last panels, which leave most of the GPU idle, the
// leading rows and columns, which are done, are transposed back on the caller's queue; another one, of high priority, has the rest then.
#include "lu_native.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "kernels/device.hpp"
#include "kernels/native.hpp"
#include "lu_native_blocks.hpp"
#include "lu_native_products.hpp"
#include "lu_native_streams.hpp"
#include "lu_native_updates.hpp"
#include "tuning.hpp"
#include "waiting_turn.hpp"

namespace devobj {
namespace {

// Order from which a square matrix is row-major meanwhile.
constexpr std::int64_t by_rows_least = 6000;
// The leading rows and columns are transposed back beside the panels of the last columns: as many of these as take as long, one for so many
// bytes of A, but at most one in transposed_beside of all.
constexpr std::int64_t bytes_transposed_beside_column = 1'300'000, transposed_beside = 6;
// Elements from which a matrix's products are so long that all kernels for its panels are loaded before them.
constexpr std::int64_t panels_loaded_least = 4000 * 4000;
// Elements of the columns that have pivots, from which the exchanges of those left of each block of a column-major matrix are put
// off to the end, and rows for each such column up to which: whole columns are moved then.
constexpr std::int64_t left_at_end_least = 4000 * 4000, left_at_end_most_rows = 8;

/// The factorization of one matrix; what its steps share.
template <class T>
class NativeLu {
 public:
  NativeLu(View<T> A, View<std::int32_t> ipiv, View<std::int32_t> info, Queue& q, LuOptions options)
      : A_(A),
        ipiv_(ipiv),
        info_(info),
        q_(q),
        m_(A.rows),
        n_(A.cols),
        k_(std::min(A.rows, A.cols)),
        by_rows_(m_ == n_ && n_ >= by_rows_least),
        solve_rows_(cuda::exchange_solve_rows<T>(q)),
        products_(A, by_rows_, options.math, q),
        blocks_(m_, n_, by_rows_, options,
                by_rows_ ? std::min(cuda::lu_panel_max, cuda::exchange_columns_max<T>) : cuda::lu_panel_max, products_,
                tuning_of(q)) {
    choose_products();
    blocks_.set_two_parts(products_);
    streams_.emplace(n_, solve_rows_, blocks_);
    if (products_.wants_copy()) aligned_ = View<T>(A_.data, m_, n_, copy_ld(m_));  // its place follows
    auto aligned = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
    const std::size_t lists = aligned((2 * k_ + cuda::spared_counts) * sizeof(std::int32_t));
    const std::size_t panel = aligned(cuda::lu_panel_workspace<T>(blocks_.widest_panel()));
    std::size_t products = products_.workspace_bytes();
    copy_size_ = aligned(copy_ld(m_) * blocks_.widest() * sizeof(T)) / sizeof(T);
    const std::size_t copies_of_blocks = by_rows_ ? std::min(copies, blocks_.size()) * copy_size_ * sizeof(T) : 0;
    const std::size_t aligned_copy = static_cast<std::size_t>(aligned_.ld * aligned_.cols) * sizeof(T);
    const auto blocks = static_cast<std::int64_t>(blocks_.size());
    const std::size_t of_left = left_at_end_pays(blocks) ? cuda::exchange_left_workspace(m_, blocks) : 0;
    left_at_end_ = of_left > 0;
    std::size_t of_displaced = 0;
    if constexpr (Updates::has_displaced_rows) {
      const Range first = blocks_[0].columns, below{first.end, m_}, right{first.end, n_};
      if (Updates::displaced_rows_pay(m_, n_, by_rows_) && right.size() > 0 &&
          products_.takes_displaced(A_(below, first), A_(first, right), A_(below, right), true))
        of_displaced = cuda::exchange_top_rows_workspace<T>(
            m_, right.size(),
            std::min(std::max(blocks_.widest(), blocks_.widest_group()), cuda::exchange_top_rows_max));
    }
    const auto workspace = [&] {
      return static_cast<unsigned char*>(q.workspace(lists + panel + copies_of_blocks + products + streams_->bytes() +
                                                     aligned_copy + of_displaced + of_left));
    };
    unsigned char* memory = nullptr;
    try {
      memory = workspace();
    } catch (const Error& error) {
      if (error.status() != Status::out_of_memory || !products_.forgo_residues()) throw;
      choose_products();
      products = products_.workspace_bytes();
      memory = workspace();
    }
    source_ = reinterpret_cast<std::int32_t*>(memory);
    displaced_to_ = source_ + k_;
    counts_ = displaced_to_ + k_;
    panel_workspace_ = memory + lists;
    copies_ = reinterpret_cast<T*>(memory + lists + panel);
    unsigned char* const product_workspace = memory + lists + panel + copies_of_blocks;
    products_.use(product_workspace, cuda::lu_panel_places_in(panel_workspace_), counts_);
    if (!by_rows_ && !blocks_.soon() && !cuda::captured(q.stream()) && cuda::exchange_solve_subtract_may_wait<T>(q) &&
        turn_.take(q))
      progress_ = cuda::lu_panel_progress_in(panel_workspace_);
    streams_->use(product_workspace + products);
    unsigned char* const behind_streams = product_workspace + products + streams_->bytes();
    aligned_.data = reinterpret_cast<T*>(behind_streams);
    unsigned char* const displaced_workspace = behind_streams + aligned_copy;
    left_workspace_ = displaced_workspace + of_displaced;
    updates_.emplace(m_, n_, by_rows_, solve_rows_, products_, *streams_, cuda::RowExchange{source_, displaced_to_, k_},
                     of_displaced > 0 ? displaced_workspace : nullptr);
  }

  void run() {
    q_.blas();
    if (m_ * n_ >= panels_loaded_least) load_panels();
    if (aligned_.empty()) {
      factor();
    } else {
      copy<T>(A_, aligned_, q_);
      std::swap(A_, aligned_);
      factor();
      std::swap(A_, aligned_);
      copy<T>(aligned_, A_, q_);
    }
    if (by_rows_) cuda::transpose_in_place_from(transposed_, A_, q_);
    if (left_at_end_) {
      std::vector<std::int64_t> ends;
      for (const auto& group : blocks_.groups()) ends.push_back(blocks_[group.last].columns.end);
      cuda::exchange_left(A_, ipiv_, ends, left_workspace_, q_);
    }
  }

 private:
  using Block = LuNativeBlock;
  using Updates = LuNativeUpdates<T>;
  using Place = LuNativePlace<T>;

  void choose_products() {
    blocks_.set_groups(products_);
    products_.choose(k_ - blocks_[0].columns.size(), blocks_.widest_group(), blocks_.widest());
  }

  Place whole() const { return {A_, by_rows_}; }

  /// Where block i is factored: its copy if A is row-major, with the rows of the block before, which are its part of U.
  Place place_of(std::size_t i) const {
    if (!by_rows_) return whole();
    const Range K = blocks_[i].columns;
    const std::int64_t first = i == 0 ? 0 : blocks_[i - 1].columns.begin, rows = m_ - first;
    return {{copies_ + i % copies * copy_size_, rows, K.size(), copy_ld(rows)}, false, first, K.begin};
  }
  /// Of a copy: its columns begin at multiples of 16 bytes.
  static std::int64_t copy_ld(std::int64_t rows) { return (rows + 3) / 4 * 4; }

  void factor() {
    // what the first two blocks begin with is the matrix as it came
    for (std::size_t i = 0; by_rows_ && i < std::min<std::size_t>(blocks_.size(), 2); ++i)
      copy<T>(A_({0, m_}, blocks_[i].columns), place_of(i).data, q_);
    SideQueue panel_queue(q_, true);
    std::optional<SideQueue> soon_queue;
    if (blocks_.soon()) soon_queue.emplace(q_, true);
    soon_ = soon_queue ? &static_cast<Queue&>(*soon_queue) : nullptr;
    Queue& panels = panel_queue;
    updates_->set_panels(panels);

    panel(blocks_[0], place_of(0), panels, [&] {
      if (!by_rows_) return;
      wait_for_start();
      cuda::transpose_in_place(Op::Trans, A_, q_);
    });
    factored_ = panels.record(false);
    updates_->exchange_within(blocks_[0], place_of(0), panels);
    // (the panel, which has been launched, does not wait for it)
    if (products_.leave_multiprocessors())
      cuda::fill_bytes(counts_, 0, cuda::spared_counts * sizeof(std::int32_t), q_.stream());
    Event left_exchanged;
    std::optional<SideQueue> last_queue;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const Block& K = blocks_[i];
      if (!last_queue && transposes_beside(i)) {
        last_queue.emplace(q_, true);
        q_.wait_for(left_exchanged);
        transpose_what_is_done(K.columns.begin);
        rest_ = &static_cast<Queue&>(*last_queue);
      }
      Queue& q = *rest_;
      q.wait_for(panels.record(false));
      if (by_rows_) copy_back(i, q);
      updates_->set_panels_stay(blocks_.panels_stay(i));
      const bool last = i + 1 == blocks_.size();
      const Range rest{last ? K.columns.end : blocks_[i + 1].columns.end, n_};
      const auto update_rest = [&] {
        if (!last && rest.size() > 0) wait_for_start();
        if (!soon_queue || i + 2 >= blocks_.size()) {
          if (last && rest.size() > 0) make_stream(i, whole(), q);
          updates_->update(K, whole(), whole(), rest, q, true, stream_of(i));
          soon_updated_ = q.record(false);
          if (progress_ != nullptr && !last) cuda::reach(step(i + 1), q);
          q.wait_for(left_exchanged);
          return exchange_left_now(K, q);
        }
        Queue& soon = *soon_queue;
        const Range columns = blocks_[i + 2].columns;
        if (const auto group = blocks_.group_of(i); group.of_several()) {
          update_by_group(i, group, soon);
          if (i == group.last) left_exchanged = soon.record(false);
          return q.wait_for(soon_updated_);
        }
        // the columns first in one product with the others, or beside it
        const bool first_part =
            products_.has_first_part(columns.size(), whole()({K.columns.end, m_}, rest), K.columns.size());
        soon.wait_for(q.record(false));  // the rest of the last step, K's way back, the panel's start
        const Range others{blocks_.awaited(i + 1).end, rest.begin};  // of the next block
        updates_->update(K, whole(), whole(), {others.begin, first_part ? others.end : columns.end}, soon, false,
                         stream_of(i));
        if (others.size() > 0) others_updated_ = soon.record(false);
        if (!first_part) {
          if (by_rows_) copy_to_place(i + 2, soon);
          soon_updated_ = soon.record(false);
        }
        exchange_left_now(K, soon);
        left_exchanged = soon.record(false);
        if (!first_part) {
          updates_->update(K, whole(), whole(), {columns.end, n_}, q, true, stream_of(i));
          return q.wait_for(soon_updated_);
        }
        const auto columns_there = [&] {
          if (by_rows_) copy_to_place(i + 2, q);
          soon_updated_ = q.record(false);
        };
        updates_->update(K, whole(), whole(), rest, q, true, stream_of(i),
                         {by_rows_ ? Side::Left : Side::Right, columns.size(), std::cref(columns_there)});
      };
      if (last) return update_rest();
      const Block& next = blocks_[i + 1];
      const bool early = update_next(i, panels);
      if (early) updated_ = panels.record(false);
      panel(next, place_of(i + 1), panels, update_rest, early);
      factored_ = panels.record(false);
      updates_->exchange_within(next, place_of(i + 1), panels);
    }
  }

  /// The kernels of all panels, of which neighbours mostly have the same.
  void load_panels() {
    cuda::LuPanelShape loaded;
    const auto load = [&](const cuda::LuPanelShape& shape, std::int64_t cols) {
      const auto kind = [](const cuda::LuPanelShape& s) {
        return std::tuple(s.rows, s.threads, s.cluster, s.blocks == 1, s.blocks <= 8);
      };
      if (kind(shape) != kind(loaded)) cuda::lu_panel_load<T>(shape, cols, q_);
      loaded = shape;
    };
    for (const Block& block : blocks_.all()) {
      const std::int64_t first = std::min(block.inner, block.columns.size());
      load(block.first_shape, first);
      load(block.last_shape, (block.columns.size() - 1) % first + 1);
    }
  }
  /// Whether what is done is to be transposed back beside step i's panel and the next ones.
  bool transposes_beside(std::size_t i) const {
    const std::int64_t bytes = m_ * n_ * std::int64_t(sizeof(T));
    return by_rows_ && blocks_.group_of(i).first == i &&
           n_ - blocks_[i].columns.begin <= std::min(bytes / bytes_transposed_beside_column, n_ / transposed_beside);
  }
  /// The leading `done` rows and columns, which nothing after this touches.
  void transpose_what_is_done(std::int64_t done) {
    transposed_ = done / cuda::transposed_square * cuda::transposed_square;
    cuda::transpose_in_place_passing(A_({0, transposed_}, {0, transposed_}), q_);
  }

  /// Step i's update of the rest for a block of a group of several: each updates the columns that the group's panels need, and the last
  /// one, with all blocks at once, all others; in `soon` the rows of the columns left of the group are exchanged then.
  void update_by_group(std::size_t i, typename LuNativeBlocks<T>::Group group, Queue& soon) {
    const Block &K = blocks_[i], all = blocks_.whole(group);
    const bool last = i == group.last;
    Queue& q = *rest_;
    const Range near{blocks_[i + 2].columns.begin, blocks_.rest_of_group(group.last)}, others{near.end, n_};
    soon.wait_for(q.record(false));  // the rest of the last step, K's way back, the panel's start
    Queue& of_near = last ? soon : q;
    updates_->update(K, whole(), whole(), near, of_near, !last, stream_of(i));
    if (by_rows_) copy_to_place(i + 2, of_near);
    soon_updated_ = of_near.record(false);
    updates_->exchange(K, whole(), {all.columns.begin, K.columns.begin}, q);
    if (!last) return;
    exchange_left_now(all, soon);
    unsigned char* const stream = streams_->streamed(all.columns) ? streams_->of_rest() : nullptr;
    if (stream != nullptr) updates_->make_stream(all.columns, whole(), stream, q);
    updates_->update(all, whole(), whole(), others, q, true, stream);
  }

  /// The update of the next block's columns that its first panel waits for, which another queue has brought up to date with the block before.
  bool update_next(std::size_t i, Queue& q) {
    const Block& K = blocks_[i];
    const Range next = blocks_.awaited(i + 1);
    const Place L = place_of(i), A = place_of(i + 1);
    if (i > 0 && progress_ != nullptr && updates_->in_one_kernel(K, L, A, next, step(i), q)) return true;
    if (!streams_->streamed(K.columns) || !soon_) {
      make_stream(i, L, q);
      q.wait_for(soon_updated_);
      return updates_->update(K, L, A, next, q, false, stream_of(i));
    }
    // the exchange of rows beside the stream, which needs L exchanged by its own panels
    soon_->wait_for(factored_);
    soon_->wait_for(soon_updated_);
    updates_->exchange(K, A, next, *soon_);
    const Event exchanged = soon_->record(false);
    make_stream(i, L, q);
    q.wait_for(exchanged);
    return updates_->solve_and_subtract(K, L, A, next, {}, stream_of(i), q, false);
  }
  /// Of progress_: the columns of the block after step i's are up to date with the block before it.
  cuda::Progress step(std::size_t i) const { return {progress_, static_cast<std::int32_t>(i)}; }

  /// If block i's L11, factored in L, is streamed, its stream, for all columns to the right.
  void make_stream(std::size_t i, const Place& L, Queue& q) {
    const Range K = blocks_[i].columns;
    if (streams_->streamed(K)) updates_->make_stream(K, L, streams_->of_block(i), q);
  }
  const unsigned char* stream_of(std::size_t i) const {
    return streams_->streamed(blocks_[i].columns) ? streams_->of_block(i) : nullptr;
  }

  /// What the queue of the rest gets next does not begin before the panel's first kernel has, or, if that is early, before it may.
  void wait_for_start() {
    if (updated_)
      rest_->wait_for(*updated_);
    else
      cuda::stream_wait_event(rest_->stream(), start_.event());
  }

  /// P A(below, K) = L U, in its place. `beside` is called when the first of its kernels has been launched: what runs beside
  /// the panel is launched before all that follows in it, so that it does not wait for the host where that is not ahead yet.
  /// `early`: as in LuPanelShape, of the first of its kernels.
  template <class Beside>
  void panel(const Block& block, const Place& A, Queue& q, Beside beside, bool early = false) {
    const auto& [K, inner, first_shape, last_shape, two_parts] = block;
    constexpr bool first = !std::is_same_v<Beside, std::nullptr_t>;
    if (K.size() <= inner) {
      cuda::LuPanelShape shape = first_shape;
      shape.early = early && shape.cluster;
      shape.padded = by_rows_ || !aligned_.empty();  // a copy
      if (first && !shape.early) updated_.reset();
      cuda::lu_panel(A({K.begin, m_}, K), ipiv(K), K.begin, info_.data, updates_->exchange_of(K), panel_workspace_,
                     shape, first && !shape.early ? &start_ : nullptr, q);
      if constexpr (first) beside();
      return;
    }
    const auto [left, right] = blocks_.halves(block);
    panel(left, A, q, beside, early);
    updates_->exchange_within(left, A, q);
    if (others_updated_) q.wait_for(*std::exchange(others_updated_, std::nullopt));
    unsigned char* stream = nullptr;
    if (streams_->streamed(left.columns)) {
      stream = streams_->of_half();
      updates_->make_stream(left.columns, A, stream, q);
    }
    early = updates_->update(left, A, A, right.columns, q, false, stream);
    panel(right, A, q, nullptr, early);
  }
  /// Block i from the row-major matrix to its place, and back.
  void copy_to_place(std::size_t i, Queue& q) {
    const Place to = place_of(i);
    cuda::transpose(Op::Trans, whole()({to.first_row, m_}, blocks_[i].columns), to.data, q);
  }
  void copy_back(std::size_t i, Queue& q) {
    const Place from = place_of(i);
    cuda::transpose(Op::Trans, from.data, whole()({from.first_row, m_}, blocks_[i].columns), q);
  }

  /// Whether the columns left of a block are exchanged at the end: where that is faster and, with so many blocks, its workspace
  /// is not larger than two blocks.
  bool left_at_end_pays(std::int64_t blocks) const {
    return !by_rows_ && m_ * k_ >= left_at_end_least && m_ <= left_at_end_most_rows * k_ &&
           cuda::exchange_left_workspace(m_, blocks) <=
               static_cast<std::size_t>(2 * m_ * blocks_.widest()) * sizeof(T) &&
           cuda::exchange_left_possible<T>(m_, blocks, q_);
  }
  /// The rows of the columns left of the block, unless that is done at the end.
  void exchange_left_now(const Block& block, Queue& q) {
    if (!left_at_end_) updates_->exchange(block, whole(), {0, block.columns.begin}, q);
  }

  View<std::int32_t> ipiv(Range K) const { return ipiv_.cols == 1 ? ipiv_(K, {0, 1}) : ipiv_({0, 1}, K); }

  View<T> A_, aligned_;  // the matrix, and its copy if that is factored
  View<std::int32_t> ipiv_, info_;
  Queue& q_;
  const std::int64_t m_, n_, k_;
  const bool by_rows_;
  const std::int64_t solve_rows_;  // of L11 at once
  LuNativeProducts<T> products_;
  LuNativeBlocks<T> blocks_;
  std::optional<LuNativeStreams<T>> streams_;  // of the blocks when they are grouped
  std::optional<Updates> updates_;
  std::int32_t *source_ = nullptr, *displaced_to_ = nullptr, *counts_ = nullptr;
  bool left_at_end_ = false;  // columns left of a block are exchanged at the end
  void* panel_workspace_ = nullptr;
  unsigned char* left_workspace_ = nullptr;
  T* copies_ = nullptr;  // of blocks: the one whose L is in use, the next, and the one after that
  static constexpr std::size_t copies = 3;
  std::int64_t copy_size_ = 0;     // elements
  Queue* rest_ = &q_;              // the queue of the rest: q_, or beside the last panels another one
  std::int64_t transposed_ = 0;    // so many rows and columns have been transposed back by then
  cuda::Start start_;  // of the panel's kernel beside the update of the rest
  Event factored_;     // the last block
  Queue* soon_ = nullptr;  // the third queue, during factor(), or null
  Event soon_updated_;     // the columns of the block after the next, with the present one
  std::optional<Event> others_updated_;  // those of the next block that are not awaited
  std::int32_t* progress_ =
      nullptr;                    // so many steps' soon_updated_ have been reached; null: kernels do not wait for them
  WaitingTurn turn_;              // of progress_
  std::optional<Event> updated_;  // or, if that kernel is early, the end of the one before it
};

}  // namespace

template <class T>
bool lu_native_possible(std::int64_t m, const Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) {
      cuda::DeviceScope scope(q.device());
      return cuda::lu_panel_shape<T>(m, cuda::lu_panel_max).blocks > 0;
    }
  return false;
}

template <class T>
void getrf_native(View<T> A, View<std::int32_t> ipiv, View<std::int32_t> info, Queue& q, LuOptions options) {
  if constexpr (cuda_built) {
    cuda::DeviceScope scope(q.device());
    NativeLu<T>(A, ipiv, info, q, options).run();
  }
}

#define INSTANTIATE(T)                                             \
  template bool lu_native_possible<T>(std::int64_t, const Queue&); \
  template void getrf_native<T>(View<T>, View<std::int32_t>, View<std::int32_t>, Queue&, LuOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
