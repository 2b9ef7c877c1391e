// Native QR with look-ahead: panels in one cluster of the GPU's multiprocessors, beside the update on all the others.
//
//            K  next  rest          One step:
//          +---+-----+------+         next   A(below, next) = Q^H A(below, next)            (queue of high priority)
//          | R |  R  |  R   |  done   panel  A(under, next) = Q R, Q = I - V T V^H, the
//          +---+-----+------+                next step's reflector                          (the same)
//   below  |R11|     |      |         rest   A(below, rest) = Q^H A(below, rest)            (queue, beside the panel)
//          | V | A22 | A22  |
//          +---+-----+------+
//
// A panel is made of strips, and `next` of one update by each. All of these but the last are made while the panel is factored, if that
// pays (strips_ahead_rows). A small rest is updated by each strip, too (by_strips_columns).
#include "qr_native.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "kernels/native.hpp"
#include "panel_places.hpp"
#include "qr_native_panels.hpp"
#include "qr_reflect.hpp"
#include "tuning.hpp"

namespace devobj {
namespace {

// Columns of the first panel at most. The ones after it become wider by and by.
constexpr std::int64_t first_panel = 256;
// Rows up to which a panel's strips, all but the last, are applied to the next panel's columns while the panel is factored. T comes
// after them in its queue, and they come after the update of the rest: where that takes longer than the panel, T would be late. Most
// panels of real numbers are one strip.
template <class T>
constexpr std::int64_t strips_ahead_rows = std::is_same_v<T, std::complex<double>>  ? INT64_MAX
                                           : std::is_same_v<T, std::complex<float>> ? 1600
                                                                                    : 0;

// Columns of the rest from which it is updated with V T, which is made beside `next` and leaves one product less, and up to which: of more
// columns V T, of so many rows, is late, as it is where there are many more rows than columns.
constexpr std::int64_t VTri_least = 1024;
template <class T>
constexpr std::int64_t VTri_most = std::is_same_v<T, float>                  ? INT64_MAX
                                   : std::is_same_v<T, double>               ? 7000
                                   : std::is_same_v<T, std::complex<double>> ? 5000
                                                                             : 0;
template <class T>
bool VTri_pays(std::int64_t rows, std::int64_t columns) {
  return VTri_least <= columns && columns <= VTri_most<T> && rows <= columns + columns / 2;
}

// Columns of the rest, and rows, up to which it is updated as `next` is, by a kernel for each strip of the panel: without T, and without
// products, which take the host longer to launch than the GPU to do.
constexpr std::int64_t by_strips_columns = 512, by_strips_rows = 1024;

// Columns of the rest from which, and up to which, its products in complex<double> leave multiprocessors to the panel, those of a cluster
// and a few, if it needs no more at once: its kernels, each of which waited for blocks of a product to end, are sooner done, and the
// product takes longer. Larger products take longer than the panel anyway.
constexpr std::int64_t spared_least = by_three_least, spared_most = 10'000;
constexpr int spared_count = cuda::lu_panel_places + 4;

}  // namespace

template <class T>
void geqrf_native(View<T> A, View<T> tau, Queue& q, QrOptions options) {
  const std::int64_t m = A.rows, n = A.cols, k = diagonal(A);
  // for the columns that are left: narrow panels where the panels decide, wide ones where the products do
  const TuningTable& table = tuning_of(q);
  auto block_at = [&](std::int64_t j) {
    return options.block > 0 ? options.block : table.blocks(Tuned::qr, Method::native, type_letter<T>(), n - j).block;
  };
  const std::int64_t nb = std::min(block_at(0), k);  // the workspace's; a table may have wider panels further on
  // the panel after one of so many columns; beside the first one nothing runs
  auto panel_at = [&](std::int64_t j, std::int64_t before) {
    const std::int64_t most = options.block > 0 ? nb : before > 0 ? 2 * before : first_panel;
    return Range{j, std::min(j + std::min({block_at(j), nb, most}), k)};
  };

  // All memory first: when there is none, A is as it was.
  const std::int64_t most_rest = std::min(n, VTri_most<T>);
  NativePanels<T> panels(A, tau, nb, options.math, q,
                         VTri_pays<T>(most_rest + m - n, most_rest));  // in no step, where not in that one
  Matrix<T> W(nb, n, q), TW(nb, n, q);
  auto parts = ProductsByParts::for_reflectors<T>(options.math, m, n - nb, nb, q, A);
  const bool spares = cuda_built && std::is_same_v<T, std::complex<double>> && n - nb >= spared_least;
  const PanelPlaces places = spares ? PanelPlaces(q) : PanelPlaces();
  SideQueue side(q, true), beside(q, true);
  Queue &first = side, &triangles = beside;
  q.blas();
  panels.warm(first);
  triangles.blas();

  const cuda::Spared spared = places ? places.spared(spared_count) : cuda::Spared();

  const auto panel_after = [&](Range K) { return K.end < k ? panel_at(K.end, K.size()) : Range{K.end, K.end}; };

  int turn = 0;
  Event rest_done;
  // Of a panel of several strips each one but the last is applied to the next panel's columns while the one after it is factored.
  std::int64_t applied = 0;  // columns of these strips
  Event applied_to_next;
  Event triangle_made;  // in `triangles`: the panels have one workspace for all T
  const auto end_panel = [&](Range K, std::int64_t done) {
    const Range next = panel_after(K);
    applied = 0;
    applied_to_next = {};
    if (m - K.begin > strips_ahead_rows<T> || next.size() == 0 || !panels.applies_strips(K, next.size(), first))
      return panels.end(turn, K, done, first);
    panels.end(turn, K, done, first, [&](Range strip, const Event& ready) {
      triangles.wait_for(ready);
      triangles.wait_for(rest_done);
      panels.apply_strip(turn, K, strip, next, triangles);
      applied_to_next = triangles.record(false);
      applied = strip.end;
    });
  };
  Range K = panel_at(0, 0);
  end_panel(K, panels.begin(turn, K, first));
  while (K.end < n) {
    const Range next = panel_after(K), rest{next.end, n}, below{K.begin, m};
    const View<T> V = panels.V(turn, K.begin, K.size()), Tri = panels.Tri(turn, K.size());
    // T, beside `next` where that can do without
    const bool by_strips = panels.applies_strips(K, next.size(), q), one_strip = panels.is_one_strip(K, q);
    const bool rest_by_strips = by_strips && rest.size() <= by_strips_columns && below.size() <= by_strips_rows;
    Event has_triangle;
    const bool needs_triangle = !one_strip && !rest_by_strips;
    if (needs_triangle && by_strips) {
      triangles.wait_for(first.record(false));
      panels.make_triangle(turn, K, triangles);
      has_triangle = triangle_made = triangles.record(false);
    } else if (needs_triangle) {
      first.wait_for(triangle_made);  // (there is one where panels become wider again)
      panels.make_triangle(turn, K, first);
    }
    // V T, beside `next`
    const bool with_VTri = !rest_by_strips && VTri_pays<T>(below.size(), rest.size());
    View<T> VTri;
    if (with_VTri) {
      if (!by_strips || one_strip) triangles.wait_for(first.record(false));
      VTri = panels.make_VTri(turn, K, triangles);
      has_triangle = triangles.record(false);
    }
    // next
    first.wait_for(rest_done);
    first.wait_for(applied_to_next);
    if (next.size() > 0) panels.apply_panel(turn, K, next, by_strips, applied, first);
    const Event ready = first.record(false);
    // panel
    std::int64_t done = 0;
    const int of_K = turn;
    turn = 1 - turn;
    if (next.size() > 0) done = panels.begin(turn, next, first);
    // rest
    q.wait_for(ready);
    q.wait_for(has_triangle);
    const bool leaves = next.size() > 0 && rest.size() >= spared_least && rest.size() <= spared_most &&
                        panels.fits_beside(next, spared_count, q);
    parts.leave(leaves ? spared : cuda::Spared{});
    const View<T> W_rest(W.data, K.size(), rest.size()), TW_rest(TW.data, K.size(), rest.size());
    if (rest_by_strips)
      panels.apply_panel(of_K, K, rest, true, 0, q);
    else if (with_VTri)
      reflect_left(V, VTri, A(below, rest), W_rest, q, parts);
    else if (rest.size() > 0)
      reflect_left(adjoint<T>, V, Tri, A(below, rest), W_rest, TW_rest, q, parts);
    rest_done = q.record(false);
    if (next.size() > 0) end_panel(next, done);
    if (next.size() == 0) break;
    K = next;
  }
}

#define INSTANTIATE(T) template void geqrf_native<T>(View<T>, View<T>, Queue&, QrOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
