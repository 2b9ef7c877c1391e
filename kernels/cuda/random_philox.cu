// Random numbers from Philox4x32-10. Each quad is a function of its number alone, so that the grid's shape is free.
#include "kernels/cuda/random.cuh"

namespace devobj::cuda {
namespace {

constexpr int threads = 256;
/// Quads of a thread: few for a draw that would leave multiprocessors idle otherwise, many where a block copies a table
/// first.
constexpr int few_quads = 16, many_quads = 64;
/// Independent chains of ten rounds, so that their latencies overlap; fewer where the constants need the registers.
template <class D>
constexpr int unrolled = D::table == random::Table::logs ? 2 : 4;

/// Blocks on a multiprocessor at least, which keeps the compiler from taking more registers than pay.
template <class D>
constexpr int least_blocks = D::table == random::Table::radius ? 6 : 1;

__host__ __device__ constexpr int tile_quads(int quads_per_thread) {
  return threads * quads_per_thread;
}
static_assert(random::PhiloxRow::quads % tile_quads(many_quads) == 0 && many_quads % few_quads == 0);

// A block of threads has a tile of quads that follow each other, from a multiple of the tile's size on in the generator's
// sequence; thread t has numbers t, t + 256, t + 512, ... of them, so that each store of a warp is one piece of 512 bytes.
// `before` quads of the first block come before the draw.
template <bool in_line, class D>
__global__ void __launch_bounds__(threads, least_blocks<D>)
    random_philox_kernel(random::Philox g, random::PhiloxKeys keys, Draw<D> draw, std::uint64_t first,
                         std::int64_t before, std::int64_t blocks, int quads_per_thread) {
  random::load_table(draw.d);
  const int size = tile_quads(quads_per_thread);
  const std::int64_t tile = std::int64_t(blockIdx.x) * size - before;
  std::int64_t b = tile + threadIdx.x;
  if (in_line && draw.holds(tile, tile + size)) {
    const random::PhiloxRow row(g, first + tile, keys);
    std::uint32_t place = static_cast<std::uint32_t>(first + b) % random::PhiloxRow::quads;
#pragma unroll 1
    for (int i = 0; i < quads_per_thread; i += unrolled<D>) {
#pragma unroll
      for (int u = 0; u < unrolled<D>; ++u)
        draw.put_whole(row.quad(place + u * threads, keys), g, first + b + u * threads, b + u * threads);
      place += unrolled<D> * threads;
      b += unrolled<D> * threads;
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < quads_per_thread && b < blocks; ++i, b += threads)
      if (b >= 0) draw.put(g.quad(first + b, keys), g, first + b, b);
  }
}

}  // namespace

template <class D>
void random_philox(random::Philox g, std::uint64_t slot, D d, View<typename D::value> A, Queue& q) {
  if (A.empty()) return;
  DeviceScope scope(q.device());
  const Draw<D> draw(d, slot, A);
  const std::uint64_t first = draw.slots.first_block();
  const std::int64_t blocks = draw.slots.blocks();
  constexpr std::int64_t enough_tiles = 4096;  // for some 132 multiprocessors to end at about the same time
  const bool many = D::table != random::Table::none && blocks >= enough_tiles * tile_quads(many_quads);
  const int quads_per_thread = many ? many_quads : few_quads;
  const auto before = static_cast<std::int64_t>(first % tile_quads(quads_per_thread));
  const std::int64_t grid = ceil_div(before + blocks, tile_quads(quads_per_thread));
  require(grid <= 0x7fffffff, "random_philox: too many elements, ", A.size());
  const auto kernel = draw.aligned ? random_philox_kernel<true, D> : random_philox_kernel<false, D>;
  kernel<<<static_cast<unsigned>(grid), threads, random::table_bytes(d), stream_of(q)>>>(
      g, random::PhiloxKeys(g.seed), draw, first, before, blocks, quads_per_thread);
  q.launched("random_philox");
}

#define INSTANTIATE(D) template void random_philox(random::Philox, std::uint64_t, D, View<D::value>, Queue&);
DEVOBJ_FOR_EACH_DISTRIBUTION(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
