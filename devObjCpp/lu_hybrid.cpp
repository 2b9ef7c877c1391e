// Hybrid LU with look-ahead (paper 002): the CPU factors panels, the queue's backend swaps rows and updates.
//
//            K  next  rest                   On the queue the matrix is row-major, that is, its transpose At is a
//          +---+-----+------+                column-major matrix, so that the swap of two rows moves contiguous memory.
//          | U |  U  |  U   |  done rows     One step:
//          +---+-----+------+                  panel  P A(below, K) = L U on the CPU          (CPU)
//   below  | L | A22 | A22  |                  next   U12 and A22 -= L21 U12 for the columns of the next panel,
//          |   |     |      |                         which then travels to the CPU          (queue, copies)
//          +---+-----+------+                  rest   the same for all other columns         (queue, beside the CPU's
//                                                     next panel and both copies)
#include "lu_hybrid.hpp"

#include <algorithm>
#include <vector>

#include "devobj/blas.hpp"
#include "hybrid_timer.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/host/lu_panel.hpp"
#include "kernels/host/team.hpp"
#include "memory.hpp"
#include "staging.hpp"
#include "tuning.hpp"

namespace devobj {
namespace {

// A panel on its way to the queue in one copy: its elements, compact, and the row exchanges that its pivots make:
// row dst[i] of the matrix gets the old row src[i].
template <class T> struct PanelMessage {
  std::int64_t rows = 0, cols = 0, exchanges = 0;

  static std::size_t capacity(std::int64_t rows, std::int64_t cols) { return lists_at(rows, cols) + 4 * cols * sizeof(std::int32_t); }
  std::size_t bytes() const { return lists_at(rows, cols) + 4 * cols * sizeof(std::int32_t); }
  T* panel(void* base) const { return static_cast<T*>(base); }
  std::int32_t* dst(void* base) const {
    return reinterpret_cast<std::int32_t*>(static_cast<char*>(base) + lists_at(rows, cols));
  }
  std::int32_t* src(void* base) const { return dst(base) + 2 * cols; }

 private:
  static std::size_t lists_at(std::int64_t rows, std::int64_t cols) {
    return (static_cast<std::size_t>(rows) * cols * sizeof(T) + 15) / 16 * 16;
  }
};

// The net exchange of rows of the swaps i <-> pivots[i] - 1, i = 0, 1, ...; row numbers get `offset` added.
// Returns the number of rows that change.
std::int64_t net_exchange(const std::int32_t* pivots, std::int64_t count, std::int64_t offset, std::int32_t* dst,
                          std::int32_t* src) {
  std::vector<std::int32_t> place(count), content(count);  // the first `count` places are rows 0 ... count - 1
  for (std::int64_t i = 0; i < count; ++i) place[i] = content[i] = static_cast<std::int32_t>(i);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t row = pivots[i] - 1;
    std::size_t at = row;
    if (row >= count) {
      at = std::find(place.begin() + count, place.end(), row) - place.begin();
      if (at == place.size()) {
        place.push_back(row);
        content.push_back(row);
      }
    }
    std::swap(content[i], content[at]);
  }
  std::int64_t changed = 0;
  for (std::size_t i = 0; i < place.size(); ++i)
    if (place[i] != content[i]) {
      dst[changed] = static_cast<std::int32_t>(place[i] + offset);
      src[changed++] = static_cast<std::int32_t>(content[i] + offset);
    }
  return changed;
}

}  // namespace

template <class T>
std::int64_t getrf_hybrid(View<T> A, View<std::int32_t> ipiv, Queue& q, LuOptions options) {
  const std::int64_t m = A.rows, n = A.cols, k = diagonal(A);
  const std::int64_t nb = std::min(options.block > 0 ? options.block : tuned_blocks<T>(Tuned::lu, Method::hybrid, k, q).block, k);

  // All memory first: when there is none, A is as it was.
  using Message = PanelMessage<T>;
  PinnedBuffer pinned[2] = {{Message::capacity(m, nb), q.on_cuda()}, {Message::capacity(m, nb), q.on_cuda()}};
  std::vector<std::int32_t> pivots(k);
  Storage arrived(Message::capacity(m, nb), q);  // the panel as the CPU sent it
  Matrix<T> leaving(m, nb, q);                   // the panel on its way to the CPU
  Matrix<T> copy;
  if (m != n) copy = Matrix<T>(n, m, q);
  if (2 * nb > permute_at_once) q.workspace(std::size_t(n) * 2 * nb * sizeof(T));  // for permute_columns
  q.blas();
  SideQueue side(q, true);
  Queue& copies = side;
  WaitAtEnd wait_copies(copies), wait_updates(q);
  host::Team::Session team(host::Team::shared());
  HybridTimer timer(options.report, nb);

  // At = A^T
  View<T> At = m == n ? A : copy.view();
  if (m == n)
    transpose(Op::Trans, A, q);
  else
    transpose(Op::Trans, A, At, q);

  // Brings columns K of A, rows `below`, to the CPU; the event is the panel's arrival.
  auto fetch = [&](Range K, Range below, void* buffer) {
    View<T> panel(leaving.data, below.size(), K.size());
    transpose(Op::Trans, At(K, below), panel, q);
    copies.wait_for(q.record(false));
    timer.on_queue(&HybridReport::copy, copies,
                   [&] { receive(panel, static_cast<T*>(buffer), panel.rows, copies); });
    return copies.record(false);
  };

  std::int64_t info = 0;
  Event panel_here = fetch({0, nb}, {0, m}, pinned[0].as<char>());
  for (std::int64_t j = 0, step = 0; j < k; j += nb, ++step) {
    const Range K{j, std::min(j + nb, k)}, below{j, m}, under{K.end, m};
    void* buffer = pinned[step % 2].as<char>();
    Message message{below.size(), K.size(), 0};

    // panel: P A(below, K) = L U
    timer.on_cpu(&HybridReport::panel_wait, [&] { panel_here.wait(); });
    const std::int64_t zero_pivot = timer.on_cpu(&HybridReport::panel, [&] {
      return host::lu_panel(message.rows, message.cols, message.panel(buffer), message.rows, &pivots[j]);
    });
    timer.count_panel();
    if (info == 0 && zero_pivot > 0) info = zero_pivot + j;
    message.exchanges = net_exchange(&pivots[j], message.cols, j, message.dst(buffer), message.src(buffer));
    for (std::int64_t i = K.begin; i < K.end; ++i) pivots[i] += static_cast<std::int32_t>(j);

    const auto bytes = static_cast<std::int64_t>(message.bytes());
    timer.on_queue(&HybridReport::copy, copies, [&] {
      send(static_cast<const unsigned char*>(buffer), bytes,
           View<unsigned char>(static_cast<unsigned char*>(arrived.data()), bytes, 1), copies);
    });
    q.wait_for(copies.record(false));

    // A(K and below, :) = P A(K and below, :), with the factored panel in its place
    void* on_device = arrived.data();
    timer.on_queue(&HybridReport::update, q, [&] {
      permute_columns(At, message.exchanges, message.dst(on_device), message.src(on_device), q);
      transpose(Op::Trans, View<T>(message.panel(on_device), message.rows, message.cols), At(K, below), q);
    });

    auto update = [&](Range columns) {
      // A12 = L11^-1 A12
      trsm_right_unit(At(K, K), At(columns, K), q);
      // A22 -= L21 A12
      gemm(Op::NoTrans, Op::NoTrans, T(-1), At(columns, K), At(K, under), T(1), At(columns, under), q);
    };

    // next
    const Range next{K.end, std::max(K.end, std::min(K.end + nb, k))}, rest{next.end, n};
    if (next.size() > 0) {
      timer.on_queue(&HybridReport::update, q, [&] { update(next); });
      panel_here = fetch(next, under, pinned[(step + 1) % 2].as<char>());
    }

    // rest
    if (rest.size() > 0) timer.on_queue(&HybridReport::update, q, [&] { update(rest); });
  }

  // A = At^T
  if (m == n)
    transpose(Op::Trans, A, q);
  else
    transpose(Op::Trans, At, A, q);
  const std::int64_t stride = ipiv.cols == 1 ? ipiv.rows : 1;
  to_device<std::int32_t>({pivots.data(), ipiv.rows, ipiv.cols, stride}, ipiv, q);
  q.wait();
  copies.wait();
  timer.finish();
  return info;
}

#define INSTANTIATE(T) \
  template std::int64_t getrf_hybrid<T>(View<T>, View<std::int32_t>, Queue&, LuOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
