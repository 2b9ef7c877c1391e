// Hybrid QR with look-ahead (paper 002): the CPU factors panels, the queue's backend applies their block reflectors.
//
//            K  next  rest                   One step:
//          +---+-----+------+                  panel  A(below, K) = Q R11, Q = I - V T V^H        (CPU)
//          | R |  R  |  R   |  done rows       next   A(below, next) = Q^H A(below, next), which then
//          +---+-----+------+                         travels to the CPU                          (queue, copies)
//   below  |R11|     |      |                  rest   the same for all other columns              (queue, beside the
//          | V | A22 | A22  |                         CPU's next panel and both copies)
//          +---+-----+------+
#include "qr_hybrid.hpp"

#include <algorithm>
#include <vector>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "hybrid_timer.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/host/qr_panel.hpp"
#include "kernels/host/team.hpp"
#include "memory.hpp"
#include "qr_reflect.hpp"
#include "staging.hpp"
#include "tuning.hpp"

namespace devobj {

template <class T> void geqrf_hybrid(View<T> A, View<T> tau, Queue& q, QrOptions options) {
  const std::int64_t m = A.rows, n = A.cols, k = diagonal(A);
  const std::int64_t nb = std::min(options.block > 0 ? options.block : tuned_blocks<T>(Tuned::qr, Method::hybrid, k, q).block, k);

  // All memory first: when there is none, A is as it was.
  const std::size_t panel_bytes = static_cast<std::size_t>(m) * nb * sizeof(T);
  PinnedBuffer pinned[2] = {{panel_bytes, q.on_cuda()}, {panel_bytes, q.on_cuda()}};
  PinnedBuffer pinned_tau(k * sizeof(T), q.on_cuda());
  T* taus = pinned_tau.as<T>();
  Matrix<T> R(nb, nb, q), Tri(nb, nb, q), device_tau(k, 1, q);
  Matrix<T> products(nb, n, q), reflected(nb, n, q);
  const auto parts = ProductsByParts::for_reflectors<T>(options.math, m, n - nb, nb, q, A);
  q.blas();
  SideQueue side(q, true);
  Queue& copies = side;
  WaitAtEnd wait_copies(copies), wait_updates(q);
  host::Team::Session team(host::Team::shared());
  HybridTimer timer(options.report, nb);

  // Brings columns K of A, rows `below`, to the CPU; the event is the panel's arrival.
  auto fetch = [&](Range K, Range below, T* buffer) {
    copies.wait_for(q.record(false));
    timer.on_queue(&HybridReport::copy, copies, [&] { receive(A(below, K), buffer, below.size(), copies); });
    return copies.record(false);
  };

  Event panel_here = fetch({0, nb}, {0, m}, pinned[0].as<T>());
  for (std::int64_t j = 0, step = 0; j < k; j += nb, ++step) {
    const Range K{j, std::min(j + nb, k)}, below{j, m}, under{K.end, m};
    const std::int64_t w = K.size();
    T* panel = pinned[step % 2].as<T>();

    // panel: A(below, K) = Q R11
    timer.on_cpu(&HybridReport::panel_wait, [&] { panel_here.wait(); });
    timer.on_cpu(&HybridReport::panel, [&] { host::qr_panel(below.size(), w, panel, below.size(), taus + j); });
    timer.count_panel();
    timer.on_queue(&HybridReport::copy, copies, [&] {
      send(panel, below.size(), A(below, K), copies);
      send(taus + j, w, device_tau(K, {0, 1}), copies);
    });
    q.wait_for(copies.record(false));

    const Range next{K.end, std::max(K.end, std::min(K.end + nb, k))}, rest{next.end, n}, first{0, w};
    if (K.end == n) continue;
    const View<T> V = A(below, K), R11 = R(first, first), T11 = Tri(first, first);

    // V explicit in its place, with R11 kept aside
    timer.on_queue(&HybridReport::update, q, [&] {
      lacpy(Uplo::Upper, A(K, K), R11, q);
      laset(Uplo::Upper, T(0), T(1), A(K, K), q);
    });

    // A(below, columns) -= V T^H (V^H A(below, columns)); W holds V^H A
    auto apply = [&](View<T> W, Range columns) {
      View<T> TW = reflected(first, {0, columns.size()});
      gemm(adjoint<T>, Op::NoTrans, T(1), T11, W, T(0), TW, q);
      subtract_left(V, TW, A(below, columns), q, parts);
    };

    // next: one product V^H [V  A(below, next)] for the triangular factor and the update
    timer.on_queue(&HybridReport::update, q, [&] {
      const Range both{K.begin, next.end};
      View<T> W = products(first, {0, both.size()});
      gemm(adjoint<T>, Op::NoTrans, T(1), V, A(below, both), T(0), W, q);
      larft(W(first, first), device_tau(K, {0, 1}), T11, q);
      if (next.size() > 0) apply(W(first, {w, both.size()}), next);
    });
    if (next.size() > 0) panel_here = fetch(next, under, pinned[(step + 1) % 2].as<T>());

    // rest
    timer.on_queue(&HybridReport::update, q, [&] {
      if (rest.size() > 0) {
        View<T> W = products(first, {0, rest.size()});
        project_left(V, A(below, rest), W, q, parts);
        apply(W, rest);
      }
      lacpy(Uplo::Upper, R11, A(K, K), q);
    });
  }
  q.wait();
  copies.wait();
  const std::int64_t stride = tau.cols == 1 ? tau.rows : 1;
  to_device<T>({taus, tau.rows, tau.cols, 1, stride}, tau, q);
  timer.finish();
}

#define INSTANTIATE(T) template void geqrf_hybrid<T>(View<T>, View<T>, Queue&, QrOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
