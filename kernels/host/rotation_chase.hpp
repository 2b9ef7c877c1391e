// The chases of the QR updates by rotations, for few columns or rows: where the products of blocks would do many more
// operations. Host, float and double.
#pragma once

#include "devobj/view.hpp"

namespace devobj::host {

/// chase_down of qr_update_chase.hpp, p >= 1; `from` may be absent.
template <class R>
void rotate_down(View<R> H, std::int64_t p, View<R> from, View<R> Q, View<R> D);

/// chase_up of qr_update_chase.hpp for W (rows x p) whose rows from `start` on are upper trapezoidal, rows >= start +
/// p.
template <class R>
void rotate_up(View<R> W, View<R> A, View<R> from, View<R> Q, View<R> D, std::int64_t start);

}  // namespace devobj::host
