// Random numbers from states that are kept on the device (paper 002's kind): a thread loads the state of its lane from
// memory into registers, generates, and stores it back.
#include "kernels/cuda/random.cuh"

namespace devobj::cuda {
namespace {

constexpr int threads = 256;

// Thread t has the lane of the draw's quad t, and with it quads t, t + 2^17, t + 2 2^17, ...; a row of quads is one
// contiguous piece of memory. The lane of a last quad that is not used up stays where it is.
template <bool in_line, class D>
__global__ void __launch_bounds__(threads)
    random_state_kernel(random::Xoshiro* lanes, random::Philox own, Draw<D> draw) {
  random::load_table(draw.d);
  const std::int64_t blocks = draw.slots.blocks(), t = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  if (t >= blocks) return;
  const std::uint64_t first = draw.slots.first_block();
  auto* place = reinterpret_cast<uint4*>(lanes) + (first + t) % random::lanes;
  const uint4 loaded = *place;
  random::Xoshiro lane = {{loaded.x, loaded.y, loaded.z, loaded.w}};
  const auto next = [&] {
    random::Quad quad;
#pragma unroll
    for (int k = 0; k < 4; ++k) quad.w[k] = lane.next();
    return quad;
  };
  const std::int64_t whole = blocks - (draw.slots.ends_within() ? 1 : 0);
  std::int64_t b = t;
  if (in_line) {
    if (b < whole && draw.slots.element(b) < 0) {
      draw.put(next(), own, first + b, b);
      b += random::lanes;
    }
#pragma unroll 2
    for (; b < whole; b += random::lanes) draw.put_whole(next(), own, first + b, b);
  } else {
    for (; b < whole; b += random::lanes) draw.put(next(), own, first + b, b);
  }
  *place = make_uint4(lane.s[0], lane.s[1], lane.s[2], lane.s[3]);
  if (b < blocks) draw.put(next(), own, first + b, b);
}

}  // namespace

template <class D>
void random_state(random::Xoshiro* lanes, random::Philox own, std::uint64_t slot, D d, View<typename D::value> A,
                  Queue& q) {
  if (A.empty()) return;
  DeviceScope scope(q.device());
  const Draw<D> draw(d, slot, A);
  const std::int64_t used = std::min<std::int64_t>(draw.slots.blocks(), random::lanes);
  const auto kernel = draw.aligned ? random_state_kernel<true, D> : random_state_kernel<false, D>;
  kernel<<<static_cast<unsigned>(ceil_div(used, threads)), threads, random::table_bytes(d), stream_of(q)>>>(lanes, own,
                                                                                                            draw);
  q.launched("random_state");
}

#define INSTANTIATE(D) \
  template void random_state(random::Xoshiro*, random::Philox, std::uint64_t, D, View<D::value>, Queue&);
DEVOBJ_FOR_EACH_DISTRIBUTION(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
