// apply_chains: a matrix through chains of rotations.
#include "kernels/cuda/rotation_walk.cuh"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/rotation_chains.hpp"

namespace devobj::cuda {
namespace {

template <class E, int P>
struct WarpMemory {
  WalkRotations<E, P> rotations;
  WalkNumbers<E> numbers;
};

// A block is a warp.
template <class E, int P, bool down, bool right>
__global__ void __launch_bounds__(lanes, 1)
    apply_chains_kernel(const PlaneRotation<E>* rotations, std::int64_t steps, Block<E> C, bool trapezoid) {
  using Path = Walk<E, P, down, right>;
  constexpr int piece = Path::piece;
  extern __shared__ __align__(32) unsigned char raw_memory[];
  auto& memory = *reinterpret_cast<WarpMemory<E, P>*>(raw_memory);
  Path walk(memory.rotations, memory.numbers, C, blockIdx.x * std::int64_t(lanes));
  std::int64_t pieces = ceil_div(steps, piece);
  if (trapezoid) {  // what is below the last column's diagonal element is zero
    pieces = min(pieces, ceil_div(walk.first + walk.mine, piece));
    steps = min(steps, pieces * piece);
  }
  const auto first_step = [&](std::int64_t k) { return (down ? k : pieces - 1 - k) * piece; };
  const auto request = [&](std::int64_t k) {
    if (k < pieces) {
      walk.fetch_numbers(k % 2, first_step(k));
      memory.rotations.fetch_piece(k % 2, rotations, first_step(k), walk.lane, lanes);
    }
    end_of_fetches();
  };
  request(0);
  walk.begin(down ? 0 : steps);
  for (std::int64_t k = 0; k < pieces; ++k) {
    request(k + 1);
    wait_for_fetches<1>();
    __syncwarp();
    const int count = static_cast<int>(min(std::int64_t(piece), steps - first_step(k)));
    walk.go(k % 2, count);
    walk.store(k % 2, first_step(k), count);
  }
  walk.end(down ? steps : 0);
}

template <class T, int P, bool down, bool right>
void launch(const RotationChains<T>& chains, View<T> C, bool trapezoid, Queue& q) {
  using E = device_t<T>;
  const auto kernel = apply_chains_kernel<E, P, down, right>;
  constexpr int bytes = sizeof(WarpMemory<E, P>);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "apply_chains");
  kernel<<<static_cast<unsigned>(ceil_div(right ? C.rows : C.cols, lanes)), lanes, bytes, stream_of(q)>>>(
      reinterpret_cast<const PlaneRotation<E>*>(chains.rotations), chains.steps, block_of(C), trapezoid);
  q.launched("apply_chains");
}

template <class T, int P>
void launch_sided(Side side, const RotationChains<T>& chains, View<T> C, bool trapezoid, Queue& q) {
  const bool right = side == Side::Right;
  if (chains.down)
    right ? launch<T, P, true, true>(chains, C, trapezoid, q) : launch<T, P, true, false>(chains, C, trapezoid, q);
  else
    right ? launch<T, P, false, true>(chains, C, trapezoid, q) : launch<T, P, false, false>(chains, C, trapezoid, q);
}

}  // namespace

template <class T>
void apply_chains(Side side, const RotationChains<T>& chains, View<T> C, bool trapezoid, Queue& q) {
  if (C.empty() || chains.steps <= 0) return;
  DeviceScope scope(q.device());
  switch (chains.chains) {
    case 1:
      return launch_sided<T, 1>(side, chains, C, trapezoid, q);
    case 2:
      return launch_sided<T, 2>(side, chains, C, trapezoid, q);
    case 4:
      return launch_sided<T, 4>(side, chains, C, trapezoid, q);
    case 8:
      return launch_sided<T, 8>(side, chains, C, trapezoid, q);
    case 16:
      return launch_sided<T, 16>(side, chains, C, trapezoid, q);
    default:
      if constexpr (rotation_chains_max<T> == 32) return launch_sided<T, 32>(side, chains, C, trapezoid, q);
  }
}

#define INSTANTIATE(T) template void apply_chains<T>(Side, const RotationChains<T>&, View<T>, bool, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
