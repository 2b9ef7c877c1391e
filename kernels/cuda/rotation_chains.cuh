// Chains of plane rotations (kernels/rotation_chains.hpp) in kernels: how a number goes through a step of them, and how the
// rotations that gather numbers into one are made.
#pragma once

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/cluster.cuh"

namespace devobj::cuda {

//   [    c     s ] [ upper ]
//   [ -conj(s) c ] [ lower ]     c >= 0 real, c^2 + |s|^2 = 1
template <class E>
struct alignas(2 * sizeof(E)) PlaneRotation {
  E s;
  real_e<E> c;
};

/// c a + s b
template <class E>
__device__ __forceinline__ E upper_of(real_e<E> c, E s, E a, E b) {
  if constexpr (is_device_complex<E>)
    return {fused(-s.y, b.y, fused(s.x, b.x, c * a.x)), fused(s.y, b.x, fused(s.x, b.y, c * a.y))};
  else
    return fused(s, b, c * a);
}
/// c b - conj(s) a
template <class E>
__device__ __forceinline__ E lower_of(real_e<E> c, E s, E a, E b) {
  if constexpr (is_device_complex<E>)
    return {fused(-s.y, a.y, fused(-s.x, a.x, c * b.x)), fused(s.y, a.x, fused(-s.x, a.y, c * b.y))};
  else
    return fused(-s, a, c * b);
}

/// The number x of a row that comes in goes through a step of P chains, one after the other, each of which holds a number:
/// what goes out. Downwards the chains hold the lower rows, upwards the upper ones. `conjugate`: with conj(s).
template <bool down, bool conjugate, class E, int P>
__device__ __forceinline__ E through(E x, E (&held)[P], const PlaneRotation<E>* step) {
  constexpr int at_once = sizeof(E) == 4 && P > 1 ? 2 : 1;  // rotations in 16 bytes
  struct alignas(at_once * sizeof(PlaneRotation<E>)) Piece {
    PlaneRotation<E> rotation[at_once];
  };
#pragma unroll
  for (int i = 0; i < P; i += at_once) {
    const Piece piece = *reinterpret_cast<const Piece*>(step + i);
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      E s = piece.rotation[k].s;
      const real_e<E> c = piece.rotation[k].c;
      if constexpr (conjugate && is_device_complex<E>) s.y = -s.y;
      E& mine = held[i + k];
      const E upper = down ? mine : x, lower = down ? x : mine;
      const E new_upper = upper_of(c, s, upper, lower), new_lower = lower_of(c, s, upper, lower);
      mine = down ? new_lower : new_upper;
      x = down ? new_upper : new_lower;
    }
  }
  return x;
}

// ---- rotations that gather ----

/// gather keeps the sum of all squares between these.
inline constexpr double least_squares = 1e-200, most_squares = 1e300;
/// What has such sums of squares is nothing beside all, and is left as it is.
inline constexpr double no_squares = 1e-290;
/// Smaller squares have lost digits, and are nothing beside no_squares.
inline constexpr double no_square = 1e-307;

/// g is gathered into f of lane 0, what that makes into lane 1's and so on: (f, g) of lane i = [r; 0] after the lane's
/// rotation, f the upper one, and g is r of the lane before. By a warp, lanes from N on with f = 0. The sums of squares of all
/// lanes are known at once, so that roots and divisions are made in parallel. r has f's sign (phase).
template <int N, class E>
__device__ PlaneRotation<E> gather(E f_given, E g_given, E& r_given) {
  using W = wide_e<E>;
  const int lane = threadIdx.x % warp_size;
  W f = widened(f_given), g = widened(g_given);
  double own, sum_of_squares;
  int power = 0;
  const auto add_squares = [&] {
    own = square(f);
    sum_of_squares = own;
#pragma unroll
    for (int distance = 1; distance < N; distance *= 2) {
      const double left = __shfl_sync(all_lanes, sum_of_squares, lane - distance);
      if (lane >= distance) sum_of_squares += left;
    }
    sum_of_squares += square(g);
  };
  add_squares();
  if constexpr (sizeof(real_e<E>) == 8) {  // squares of single precision numbers are in the range
    const double all = __shfl_sync(all_lanes, sum_of_squares, N - 1);
    if (!(all > least_squares && all < most_squares)) {
      double largest = fmax(larger_part(f), larger_part(g));
#pragma unroll
      for (int distance = warp_size / 2; distance > 0; distance /= 2)
        largest = fmax(largest, shuffle_across(largest, distance));
      if (largest > 0 && isfinite(largest)) {
        power = ilogb(largest);
        f = times_power(f, -power);
        g = times_power(g, -power);
        add_squares();
      }
    }
  }
  W phase = from_parts<W>(1);
  double size;
  if constexpr (is_device_complex<E>) {
    const double of_size = own <= no_square ? 0 : rsqrt(own);
    size = own * of_size;
    if (!(own <= no_square)) phase = scaled(f, of_size);
  } else {
    size = fabs(f);
    phase = copysign(1.0, f);
  }
  const double of_root = sum_of_squares == 0 ? 0 : rsqrt(sum_of_squares);
  const W r = scaled(phase, sum_of_squares * of_root);
  W from = shuffle(r, lane - 1);
  if (lane == 0) from = g;
  const bool nothing = sum_of_squares <= no_squares;
  PlaneRotation<E> rotation;
  rotation.s = nothing ? E{} : narrowed<E>(scaled(product(phase, conjugate(from)), of_root));
  rotation.c = nothing ? real_e<E>(1) : static_cast<real_e<E>>(size * of_root);
  r_given = narrowed<E>(power == 0 ? r : times_power(r, power));
  return rotation;
}

// ---- copies to shared memory that go on meanwhile ----

/// An element, or 16 bytes of rotations, which other blocks may have written.
template <class E>
__device__ __forceinline__ void fetch(E& to, const E* from) {
  static_assert(sizeof(E) == 4 || sizeof(E) == 8 || sizeof(E) == 16);
  if constexpr (sizeof(E) == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&to)), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(&to)), "l"(from), "n"(sizeof(E))
                 : "memory");
}
__device__ __forceinline__ void end_of_fetches() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// All but the last `later` groups of this thread are there.
template <int later>
__device__ __forceinline__ void wait_for_fetches() {
  asm volatile("cp.async.wait_group %0;" ::"n"(later) : "memory");
}

}  // namespace devobj::cuda
