// The chases of few columns or subdiagonals on a GPU: by chains of rotations.
#pragma once

#include <algorithm>

#include "devobj/queue.hpp"
#include "devobj/view.hpp"
#include "kernels/rotation_chains.hpp"

namespace devobj {

/// A chase of up to so many columns or subdiagonals is by chains, of more by blocks.
template <class T> inline constexpr std::int64_t most_chained_down = rotation_chains_max<T>;
template <class T> inline constexpr std::int64_t most_chained_up = 2 * rotation_chains_max<T>;
/// Whether chains that go upwards begin in W's last row, of `rows`, rather than in row `start` after a factorization of those
/// below.
constexpr bool chains_take_tail(std::int64_t rows, std::int64_t start, std::int64_t p) {
  return rows - start <= std::max(p, start);
}

/// How many chains go through the matrices at a time; 0 where the chase of p is by blocks: beyond `most`, where the caller
/// asks for blocks, and on the host.
template <class T>
std::int64_t chains_at_once(std::int64_t p, std::int64_t most, std::int64_t block, const Queue& q);

/// chase_down (qr_update_chase.hpp) in place of H, Q and D for no more subdiagonals than there are chains at once.
template <class T> void chain_down(View<T> H, std::int64_t p, View<T> Q, View<T> D, Queue& q);

/// chase_up in place of W, R, Q and D for no more columns than there are chains at once; W's rows from `steps` on are upper
/// trapezoidal. `more`: columns on W's right.
template <class T>
void chain_up(View<T> W, View<T> more, View<T> R, View<T> Q, View<T> D, std::int64_t steps, Queue& q);

}  // namespace devobj
