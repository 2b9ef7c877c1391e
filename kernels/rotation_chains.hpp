// Chains of plane rotations, which the QR updates of few columns or rows are made of on a GPU. On the host:
// kernels/host/rotation_chase.hpp.
#pragma once

#include "kernels/kernels.hpp"

namespace devobj {

/// G = product of `steps` times `chains` plane rotations of neighbouring rows, kept on the device. Downwards rotation (u, t) is
/// of the rows u + chains - 1 - t and the next one, in the order of the steps u = 0, 1, ... and in each of t = 0, 1, ...;
/// upwards of the rows u + t and the next one, in the order of the steps u = steps - 1, ..., 0 and in each of t = 0, 1, ...
template <class T> struct RotationChains {
  T* rotations = nullptr;  // rotation_chains_size elements
  std::int64_t steps = 0;
  int chains = 1;
  bool down = true;
};

template <class T> inline constexpr int rotation_chains_max = sizeof(T) == 16 ? 16 : 32;  // registers hold a number of each
/// The number of chains for p of them: those that there are kernels for. What is too many are identities.
constexpr int rotation_chains_for(std::int64_t p) {
  int chains = 1;
  while (chains < p) chains *= 2;
  return chains;
}
/// Elements of T for the rotations, and for what make_chains_down needs besides.
constexpr std::int64_t rotation_chains_size(std::int64_t steps, int chains) {
  return 2 * ((steps + 31) / 32 * 32 * chains + 4);
}

namespace cuda {

/// How many chains there are kernels for on the queue's GPU: rotation_chains_max, or less with little shared memory.
template <class T> int rotation_chains_most(const Queue& q);

/// H (zero below its p-th subdiagonal, p <= rotation_chains_most) = G^H H is upper trapezoidal; G downwards, of
/// min(H.cols, H.rows - 1) steps. `chains` has its memory; the rest of it is set here. (make_chains_down)
template <class T> void make_chains_down(View<T> H, std::int64_t p, RotationChains<T>& chains, Queue& q);

/// W (at most rotation_chains_most columns) = G^H W is upper trapezoidal; G upwards, of `steps` steps. W's rows from `steps`
/// on are upper trapezoidal already. (make_chains_up)
template <class T> void make_chains_up(View<T> W, std::int64_t steps, RotationChains<T>& chains, Queue& q);

/// C = G^H C (Left) or C G (Right). `trapezoid`, for G upwards from the left: C is zero below its diagonal, and steps that
/// would rotate zeros alone are left out. (apply_chains)
template <class T> void apply_chains(Side side, const RotationChains<T>& chains, View<T> C, bool trapezoid, Queue& q);

}  // namespace cuda
}  // namespace devobj
