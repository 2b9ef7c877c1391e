// make_chains_down, make_chains_up: the rotations that make a band or a few columns triangular.
#include <algorithm>

#include "kernels/cuda/rotation_walk.cuh"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/rotation_chains.hpp"

namespace devobj::cuda {
namespace {

// ---- down ----

/// What the blocks of make_chains_down tell each other.
struct Progress {
  unsigned next;  // strip of columns that nobody has yet
  unsigned made;  // pieces of steps whose rotations are there
};

/// By all threads of a block.
__device__ inline void wait_until_made(const unsigned* made, std::int64_t pieces) {
  if (threadIdx.x == 0) {
    unsigned now;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(made) : "memory");
    } while (now < pieces);
  }
  __syncthreads();
}
/// By a warp, which made the last of the pieces.
__device__ inline void set_made(unsigned* made, std::int64_t pieces) {
  __syncwarp();
  if (threadIdx.x % lanes == 0)
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(made), "r"(static_cast<unsigned>(pieces)) : "memory");
}

/// Warps of a block of make_chains_down.
template <int P>
constexpr int strips_at_once = P <= 8 ? 8 : 4;
template <class E, int P>
struct DownMemory {
  WalkRotations<E, P> rotations;
  WalkNumbers<E> numbers[strips_at_once<P>];
  E column[P + 1];
};

//   strips of 32 columns, a warp each, some neighbours in a block:
//   +--+--+--+--+      A strip goes down through the rotations of the strips on its left, piece after piece as they are made.
//   |\ |  |  |  |      Where its own columns' subdiagonals begin, column u makes the rotations of step u from what the
//   | \|  |  |  |      chains hold in its lane, for itself and the columns after it.
//   |  |\ |  |  |
template <class E, int P>
__global__ void __launch_bounds__(strips_at_once<P>* lanes, 1)
    make_chains_down_kernel(Block<E> H, std::int64_t steps, PlaneRotation<E>* rotations, Progress* progress) {
  using Path = Walk<E, P, true, false>;
  constexpr int piece = Path::piece, strips = strips_at_once<P>, threads = strips * lanes;
  extern __shared__ __align__(32) unsigned char raw_memory[];
  auto& memory = *reinterpret_cast<DownMemory<E, P>*>(raw_memory);
  __shared__ unsigned place;
  if (threadIdx.x == 0)
    place = atomicAdd(&progress->next, 1u);  // those before have begun, so that one can wait for them
  __syncthreads();
  const std::int64_t first_strip = place * std::int64_t(strips);
  const int lane = threadIdx.x % lanes, warp = threadIdx.x / lanes;
  Path walk(memory.rotations, memory.numbers[warp], H, (first_strip + warp) * lanes);
  const auto last_step = [&](int of_warp) { return min(steps, (first_strip + of_warp + 1) * lanes); };
  const std::int64_t last = last_step(warp), pieces = ceil_div(last_step(strips - 1), piece);
  const auto count_of = [&](std::int64_t k) { return static_cast<int>(min(std::int64_t(piece), last - k * piece)); };

  walk.fetch_numbers(0, 0);
  end_of_fetches();
  walk.begin(0);
  for (std::int64_t k = 0; k < pieces; ++k) {
    const int buffer = k % 2;
    const std::int64_t step = k * piece;
    const bool from_others = step < first_strip * lanes;
    if (from_others) {
      wait_until_made(&progress->made, k + 1);
      memory.rotations.fetch_piece(buffer, rotations, step, threadIdx.x, threads);
      end_of_fetches();
    }
    if (step + piece < last) walk.fetch_numbers(1 - buffer, step + piece);
    end_of_fetches();
    wait_for_fetches<1>();
    __syncwarp();
    const bool makes = step >= walk.first && step < last;
    if (makes)
      for (int i = 0; i < count_of(k); ++i) {
        const int of_lane = static_cast<int>(step + i - walk.first);
        E& x = walk.numbers.number[buffer][i][lane];
        if (lane == of_lane) {
#pragma unroll
          for (int t = 0; t < P; ++t) memory.column[t] = walk.held[t];
          memory.column[P] = x;
        }
        __syncwarp();
        E r;
        const PlaneRotation<E> rotation = gather<P>(lane < P ? memory.column[lane] : E{}, memory.column[P], r);
        r = shuffle(r, P - 1);
        if (lane < P) {
          memory.rotations.rotation[buffer][i][lane] = rotation;
          rotations[(step + i) * P + lane] = rotation;
        }
        __syncwarp();
        x = through<true, false>(x, walk.held, memory.rotations.rotation[buffer][i]);
        if (lane == of_lane) {
          x = r;
#pragma unroll
          for (int t = 0; t < P; ++t) walk.held[t] = E{};
        }
      }
    __syncthreads();
    if (makes) set_made(&progress->made, k + 1);
    if (step < walk.first) walk.go(buffer, count_of(k));
    if (step < last) walk.store(buffer, step, count_of(k));
  }
  walk.end(last);
}

// ---- up ----

template <class E, int P>
struct alignas(32) UpMemory {
  static constexpr int batch = 128 / sizeof(E);  // rows
  static constexpr int ahead = 4;                // batches that are fetched before they are needed
  static constexpr int slots = P + ahead;
  PlaneRotation<E> rotation[P][batch];
  E number[slots][batch][P + 1];
};

// A block; warp t makes the rotations of chain t. Batches of rows, from the last on, go from warp to warp in shared memory, at
// each barrier to the next one; lane c has column c of the row that its chain holds. In a batch all rotations are made at once
// (gather), then the rows of all columns go through them.
template <class E, int P>
__global__ void __launch_bounds__(P* lanes, 1)
    make_chains_up_kernel(Block<E> W, std::int64_t steps, PlaneRotation<E>* rotations) {
  using Memory = UpMemory<E, P>;
  constexpr int batch = Memory::batch, ahead = Memory::ahead;
  extern __shared__ __align__(32) unsigned char raw_memory[];
  Memory& memory = *reinterpret_cast<Memory*>(raw_memory);
  const int lane = threadIdx.x % lanes, t = threadIdx.x / lanes, p = static_cast<int>(W.cols);
  const std::int64_t batches = ceil_div(steps, batch);
  const auto row_of = [&](std::int64_t b, int i) { return steps - 1 - b * batch - i; };
  const auto numbers_of = [&](std::int64_t b) -> E(&)[batch][P + 1] { return memory.number[b % Memory::slots]; };
  /// act(row, column) for the numbers of a batch, by a warp
  const auto each = [&](const auto& act) {
    for (int e = lane; e < batch * P; e += lanes) act(e % batch, e / batch);
  };
  const auto request = [&](std::int64_t b) {
    if (b < batches)
      each([&](int i, int c) {
        E& to = numbers_of(b)[i][c];
        if (row_of(b, i) >= 0 && c < p)
          fetch(to, &W(row_of(b, i), c));
        else
          to = E{};
      });
    end_of_fetches();
  };

  // the row of W that the chain holds; it is cleared, unless the triangle comes there in the end
  const std::int64_t from = steps + t;
  const bool there = from < W.rows && lane < p;
  E held = there && lane >= t ? W(from, lane) : E{};
  if (there && from >= p) W(from, lane) = E{};
  if (t == 0)
    for (int b = 0; b < ahead; ++b) request(b);
  for (std::int64_t phase = 0; phase < batches + P - 1; ++phase) {
    const std::int64_t b = phase - t;
    if (t == 0) {
      request(b + ahead);
      wait_for_fetches<ahead>();
      __syncwarp();
    }
    if (0 <= b && b < batches) {
      E(&numbers)[batch][P + 1] = numbers_of(b);
      const int count = static_cast<int>(min(std::int64_t(batch), steps - b * batch));
      if (t == 0)  // W becomes zero but for the triangle
        each([&](int i, int c) {
          if (row_of(b, i) >= p && c < p) W(row_of(b, i), c) = E{};
        });
      E r;
      const PlaneRotation<E> rotation = gather<batch>(lane < count ? numbers[lane][t] : E{}, shuffle(held, t), r);
      r = shuffle(r, count - 1);
      if (lane < count) {
        memory.rotation[t][lane] = rotation;
        rotations[row_of(b, lane) * P + t] = rotation;
      }
      __syncwarp();
      if (lane < P) {
#pragma unroll 8
        for (int i = 0; i < count; ++i) {
          const PlaneRotation<E> g = memory.rotation[t][i];
          const E upper = numbers[i][lane];
          numbers[i][lane] = lane == t ? E{} : lower_of(g.c, g.s, upper, held);
          held = upper_of(g.c, g.s, upper, held);
        }
      }
      if (lane == t) held = r;
    }
    __syncthreads();
  }
  // W = [T; 0]
  if (t < p && t < W.rows && lane < p) W(t, lane) = lane >= t ? held : E{};
}

template <class T, int P>
void launch_down(View<T> H, RotationChains<T>& chains, Queue& q) {
  using E = device_t<T>;
  const auto kernel = make_chains_down_kernel<E, P>;
  constexpr int bytes = sizeof(DownMemory<E, P>);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "make_chains_down");
  auto* rotations = reinterpret_cast<PlaneRotation<E>*>(chains.rotations);
  auto* progress = reinterpret_cast<Progress*>(rotations + ceil_div(chains.steps, 32) * 32 * P);
  fill_bytes(progress, 0, sizeof(Progress), q.stream());
  constexpr int threads = strips_at_once<P> * lanes;
  kernel<<<static_cast<unsigned>(ceil_div(H.cols, threads)), threads, bytes, stream_of(q)>>>(block_of(H), chains.steps,
                                                                                             rotations, progress);
  q.launched("make_chains_down");
}

template <class T, int P>
void launch_up(View<T> W, RotationChains<T>& chains, Queue& q) {
  using E = device_t<T>;
  const auto kernel = make_chains_up_kernel<E, P>;
  constexpr int bytes = sizeof(UpMemory<E, P>);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "make_chains_up");
  kernel<<<1, P * lanes, bytes, stream_of(q)>>>(block_of(W), chains.steps,
                                                reinterpret_cast<PlaneRotation<E>*>(chains.rotations));
  q.launched("make_chains_up");
}

}  // namespace

template <class T>
int rotation_chains_most(const Queue& q) {
  using E = device_t<T>;
  constexpr int most = rotation_chains_max<T>;
  constexpr std::size_t needed = std::max(sizeof(UpMemory<E, most>), sizeof(DownMemory<E, most>));
  return needed <= shared_memory_limit(q.device()) ? most : most / 2;
}

template <class T>
void make_chains_down(View<T> H, std::int64_t p, RotationChains<T>& chains, Queue& q) {
  chains.down = true;
  chains.chains = rotation_chains_for(p);
  chains.steps = std::min(H.cols, H.rows - 1);
  if (chains.steps <= 0) return;
  DeviceScope scope(q.device());
  switch (chains.chains) {
    case 1:
      return launch_down<T, 1>(H, chains, q);
    case 2:
      return launch_down<T, 2>(H, chains, q);
    case 4:
      return launch_down<T, 4>(H, chains, q);
    case 8:
      return launch_down<T, 8>(H, chains, q);
    case 16:
      return launch_down<T, 16>(H, chains, q);
    default:
      if constexpr (rotation_chains_max<T> == 32) return launch_down<T, 32>(H, chains, q);
  }
}

template <class T>
void make_chains_up(View<T> W, std::int64_t steps, RotationChains<T>& chains, Queue& q) {
  chains.down = false;
  chains.chains = rotation_chains_for(W.cols);
  chains.steps = steps;
  if (steps <= 0) return;
  DeviceScope scope(q.device());
  switch (chains.chains) {
    case 1:
      return launch_up<T, 1>(W, chains, q);
    case 2:
      return launch_up<T, 2>(W, chains, q);
    case 4:
      return launch_up<T, 4>(W, chains, q);
    case 8:
      return launch_up<T, 8>(W, chains, q);
    case 16:
      return launch_up<T, 16>(W, chains, q);
    default:
      if constexpr (rotation_chains_max<T> == 32) return launch_up<T, 32>(W, chains, q);
  }
}

#define INSTANTIATE(T)                                                                  \
  template int rotation_chains_most<T>(const Queue&);                                   \
  template void make_chains_down<T>(View<T>, std::int64_t, RotationChains<T>&, Queue&); \
  template void make_chains_up<T>(View<T>, std::int64_t, RotationChains<T>&, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
