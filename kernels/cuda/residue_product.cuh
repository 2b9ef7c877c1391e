// The product of gemm_residues: C += alpha A B^T of reduced vectors, by a pipeline of copies, products of eight-bit integers, and
// the shares of their sums in fractions in every block. gemm_residues.cu has a picture of it.
#pragma once

#include "kernels/cuda/residue_plain.cuh"

namespace devobj::cuda {
namespace residues {

/// The least share of |A| |B|, of every fourth element along the depth, in the product of the norms with which a part of C is made of
/// integers.
constexpr float least_share = 1.0f / 64;

/// Sums of a thread: those of a tile's elements or, of complex ones, their products of the first kind and then of the second.
constexpr int lane_sums = 64;
/// Those of one product.
template <class E>
constexpr int lane_products = lane_sums / ModuliOf<E>::products;
static_assert(Tiles<double>::rows * group_cols == warp_group * lane_products<double> &&
              Tiles<cuDoubleComplex>::rows * group_cols == warp_group * lane_products<cuDoubleComplex>);
// of 384 threads with 168 registers at the launch
constexpr int product_registers = 240, copy_registers = 24;

/// At a barrier of another block, or this one, by its address there.
__device__ __forceinline__ void barrier_arrive_there(std::uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
#endif
}

/// sum = X Y^T, or sum += X Y^T where `add` is not 0, `sum` being n of a thread's sums from number `first` on: 64 vectors of X, 2 n of Y,
/// 32 elements of each, from addresses in units of 16 bytes; two further on are the next 32. Thread t of the group has of row
/// 16 (t / 32) + t % 32 / 4, and of the eighth row after it, two columns each in sum[4 i], sum[4 i + 1] and sum[4 i + 2], sum[4 i + 3]:
/// 8 i + 2 (t % 4) and the next.
template <int n, int first>
__device__ __forceinline__ void multiply_group(int (&sum)[lane_sums], std::uint32_t X, std::uint32_t Y, int add) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  // how vectors of 128 bytes below each other are found, 16-byte piece p of vector v at p ^ v % 8
  constexpr std::uint32_t low_of_descriptor = 1 << 16, high_of_descriptor = 1024 >> 4 | 1u << 30;
#define FOUR(i) "+r"(sum[first + i]), "+r"(sum[first + i + 1]), "+r"(sum[first + i + 2]), "+r"(sum[first + i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
  if constexpr (n == 64)
    asm volatile(
        "{\n\t.reg .pred p;\n\t.reg .b64 x, y;\n\t"
        "setp.ne.b32 p, %66, 0;\n\t"
        "mov.b64 x, {%64, %67};\n\t"
        "mov.b64 y, {%65, %67};\n\t"
        "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "x, y, p;\n\t}"
        : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)
        : "r"(X | low_of_descriptor), "r"(Y | low_of_descriptor), "r"(add), "n"(high_of_descriptor));
  else
    asm volatile(
        "{\n\t.reg .pred p;\n\t.reg .b64 x, y;\n\t"
        "setp.ne.b32 p, %34, 0;\n\t"
        "mov.b64 x, {%32, %35};\n\t"
        "mov.b64 y, {%33, %35};\n\t"
        "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "x, y, p;\n\t}"
        : SIXTEEN(0), SIXTEEN(16)
        : "r"(X | low_of_descriptor), "r"(Y | low_of_descriptor), "r"(add), "n"(high_of_descriptor));
#undef SIXTEEN
#undef FOUR
#endif
}

/// In units of 2^-64, as two words each: the compiler would look for pairs of neighbouring registers, and move them.
struct Fractions {
  std::uint32_t low[lane_sums], high[lane_sums];
};
/// Where fractions begin, since add_shares adds ones_bits to them for each modulus.
template <class E>
constexpr std::uint64_t fractions_begin = 0 - std::uint64_t(ModuliOf<E>::count) * ones_bits;
/// Whether the rest of every sum is what a float can have as large as `ones`.
template <class E>
constexpr bool rests_fit = [] {
  constexpr Moduli<E> all = make_moduli<E>();
  for (int m = 0; m < ModuliOf<E>::count; ++m)
    for (int i = 0; i < ModuliOf<E>::products; ++i) {
      const double largest = ModuliOf<E>::of[m] / 2, rest = all.shares[m][i].rest,
                   sum = double(most_pieces) * depth_bytes * ModuliOf<E>::products * largest * largest;
      if (sum * (rest < 0 ? -rest : rest) > 0x1p22) return false;
    }
  return true;
}();
static_assert(rests_fit<double> && rests_fit<cuDoubleComplex>);
/// Fractions from number `first` on += the sums times the share of a sum of 1, and ones_bits, modulo 2^64. (Six instructions each; written
/// otherwise, the compiler makes seven of them, or moves registers.)
template <int n>
__device__ __forceinline__ void add_shares(Fractions& fraction, const int (&sum)[lane_sums], int first,
                                           const Share& share) {
  std::uint32_t rest[n];
#pragma unroll
  for (int i = 0; i < n; ++i) rest[i] = __float_as_uint(fmaf(__int2float_rn(sum[first + i]), share.rest, ones));
#pragma unroll
  for (int i = 0; i < n; ++i) {
    std::uint32_t low, high;
    asm("{\n\t.reg .b64 x;\n\t"
        ".reg .b32 carried;\n\t"
        "mul.wide.s32 x, %2, %3;\n\t"
        "mov.b64 {%0, carried}, x;\n\t"
        "mad.lo.s32 %1, %2, %4, carried;\n\t}"
        : "=&r"(low), "=&r"(high)
        : "r"(sum[first + i]), "r"(share.low), "r"(share.high));
    asm("{\n\t.reg .b64 x, y, z;\n\t"
        "mov.b64 x, {%0, %1};\n\t"
        "mov.b64 y, {%2, %3};\n\t"
        "mov.b64 z, {%4, 0};\n\t"
        "add.u64 x, x, y;\n\t"
        "add.u64 x, x, z;\n\t"
        "mov.b64 {%0, %1}, x;\n\t}"
        : "+r"(fraction.low[first + i]), "+r"(fraction.high[first + i])
        : "r"(low), "r"(high), "r"(rest[i]));
  }
}

/// C += the lane's fractions.
template <bool in_place, class E>
__device__ __forceinline__ void add_fractions(const Product<E>& g, const Fractions& fraction, const LanePart<E>& part,
                                              const Places& at, Stage<E>& stage, std::uint32_t group) {
  using Of = Tiles<E>;
  const double unit[2] = {g.unit * g.B.scale[part.col], g.unit * g.B.scale[part.col + 8]};
  const double* const up = g.A.scale + part.row;
  auto value = [&](int i) {
    return __ll2double_rn(static_cast<long long>(std::uint64_t(fraction.high[i]) << 32 | fraction.low[i]));
  };
#pragma unroll
  for (int c = 0; c < Of::C_stages; ++c) {
    if constexpr (!in_place) barrier_wait(at.filled + 8 * stage.number, stage.parity);
#pragma unroll
    for (int b = c * Of::stage_boxes; b < (c + 1) * Of::stage_boxes; ++b) {
      if constexpr (is_device_complex<E>) {
        const double2 of_rows = __ldg(reinterpret_cast<const double2*>(up + b * box_rows<E>));
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            const int i = 4 * b + 2 * j + half;
            const double of_row = half == 0 ? of_rows.x : of_rows.y;
            part.template add<in_place>(unit[j], value(i) * of_row, value(i + lane_products<E>) * of_row, b, half, j,
                                        stage.number);
          }
      } else {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const double2 of_rows = __ldg(reinterpret_cast<const double2*>(up + b * box_rows<E> + 2 * half));
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            const int i = 4 * (2 * b + half) + 2 * j;
            part.template add<in_place>(unit[j], value(i) * of_rows.x, value(i + 1) * of_rows.y, b, half, j,
                                        stage.number);
          }
        }
      }
    }
    if constexpr (!in_place) stage_added(at, stage, group, c);
  }
}

/// Whether the products of sizes show for all of the warp's part that the rounding to integers is small beside |A| |B|.
template <class E>
__device__ __forceinline__ bool certain(const Product<E>& g, const int (&sum)[lane_sums], std::int64_t row,
                                        std::int64_t col) {
  const float least[2] = {least_share * g.B.size[col], least_share * g.B.size[col + 8]};
  const float* const sizes = g.A.size + row;
  bool enough = true;
#pragma unroll
  for (int i = 0; i < lane_products<E>; i += 4) {
    constexpr int pairs = box_rows<E> / 8;  // of neighbouring rows in a box
    const float2 size = __ldg(reinterpret_cast<const float2*>(sizes + i / 4 / pairs * box_rows<E> + i / 4 % pairs * 2));
#pragma unroll
    for (int j = 0; j < 2; ++j)
      enough = enough && static_cast<float>(sum[i + 2 * j]) >= least[j] * size.x &&
               static_cast<float>(sum[i + 2 * j + 1]) >= least[j] * size.y;
  }
  return __all_sync(~0u, enough);
}

template <class E>
__device__ void multiply(const Product<E>& g, const Places& at, unsigned char* memory_of_ring, BlockTiles tile) {
  using Of = Tiles<E>;
  // of a warp, and kept in registers
  const auto same = [](std::uint32_t x) { return __shfl_sync(~0u, x, 0); };
  const std::uint32_t group = same(threadIdx.x / warp_group);
  const int lane = threadIdx.x % warp_size, thread = threadIdx.x % warp_group;
  const std::uint32_t filled = same(at.filled), ring = same((at.ring & 0x3ffff) >> 4);
  const bool releases = thread < cluster_blocks;  // in the block of its number
  const std::uint32_t empty_there = releases ? remote_address(at.empty, thread) : 0;
  Stage<E> stage;
  auto release_one_before = [&] {
    if (releases) barrier_arrive_there(empty_there + 8 * (stage.number == 0 ? Of::stages - 1 : stage.number - 1));
  };
  int sum[lane_sums];
  // the products of a plane, the second of a modulus or another
  auto multiply_plane = [&]<bool second>(int pieces, std::bool_constant<second>) {
#pragma unroll 1
    for (int k = 0; k < pieces; k += stage_pieces<E>) {
      barrier_wait(filled + 8 * stage.number, stage.parity);
      const std::uint32_t Y = ring + stage.number * (Of::stage_bytes >> 4),
                          X = Y + (Of::A_bytes >> 4) + group * (group_cols * depth_bytes >> 4);
      products_begin();
#pragma unroll
      for (int p = 0; p < stage_pieces<E>; ++p)
#pragma unroll
        for (int i = 0; i < depth_bytes / 32; ++i)
          multiply_group<lane_products<E>, second ? lane_products<E> : 0>(
              sum, X + p * (Of::B_piece >> 4) + 2 * i, Y + p * (Of::A_piece >> 4) + 2 * i, k | p | i);
      products_end();
      if (second || k > 0) {
        products_wait<1>();
        release_one_before();
      }
      stage.next();
    }
  };
  auto products_done = [&] {
    products_wait<0>();
    release_one_before();
  };
  for (; tile.there(); tile.next()) {
    const std::int64_t row = std::int64_t(tile.row()) * Of::rows + box_rows<E> / 4 * (lane % 4),
                       col = std::int64_t(tile.col()) * tile_cols + threadIdx.x / warp_size * 16 + lane / 4;
    multiply_plane(size_pieces<E>(g.pieces), std::false_type());
    products_done();
    const bool plain = !certain(g, sum, row, col);
    Fractions fraction;
#pragma unroll
    for (int i = 0; i < lane_sums; ++i) {
      fraction.low[i] = static_cast<std::uint32_t>(fractions_begin<E>);
      fraction.high[i] = static_cast<std::uint32_t>(fractions_begin<E> >> 32);
    }
#pragma unroll 1
    for (int m = 0; m < ModuliOf<E>::count; ++m) {
      multiply_plane(g.pieces, std::false_type());
      if constexpr (is_device_complex<E>) multiply_plane(g.pieces, std::true_type());
      products_done();
      if constexpr (is_device_complex<E>)
#pragma unroll
        for (int i = 0; i < lane_products<E>; ++i) {
          const int first = sum[i], second = sum[i + lane_products<E>];
          sum[i] = first + second;
          sum[i + lane_products<E>] = first - second;
        }
      constexpr int together = 4;
#pragma unroll
      for (int i = 0; i < lane_sums; i += together)
        add_shares<together>(fraction, sum, i, table<E>.shares[m][i / lane_products<E>]);
    }
    const LanePart<E> part{row, col,
                           memory_of_ring + group * Of::part_bytes + (thread / warp_size * 16 + lane / 4) * 128, g.C};
    if constexpr (!is_device_complex<E>)
      if (tile.in_place(g)) {
        if (plain)
          add_plain_product<true>(g, part, at, stage, group);
        else
          add_fractions<true>(g, fraction, part, at, stage, group);
        continue;
      }
    if (plain)
      add_plain_product<false>(g, part, at, stage, group);
    else
      add_fractions<false>(g, fraction, part, at, stage, group);
  }
}

/// C += alpha A B^T of reduced vectors. (Compiled for sm_90a only, where it has barriers: usable() looks for them.)
template <class E>
__global__ void __launch_bounds__(product_threads, 1)
    product_kernel(const __grid_constant__ Product<E> g, const __grid_constant__ CUtensorMap map_of_C) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Of = Tiles<E>;
  extern __shared__ unsigned char memory[];
  __shared__ std::uint64_t barriers[2 * Of::stages + product_groups * (Of::C_stages + 1)];
  __shared__ PlaceOfBlock place;
  const std::uint32_t start = shared_address(memory), filled = shared_address(barriers);
  const Places at{(start + alignment - 1) / alignment * alignment, filled, filled + Of::stages * 8,
                  filled + 2 * Of::stages * 8, filled + (2 * Of::stages + product_groups * Of::C_stages) * 8};
  if (threadIdx.x == 0) {
    for (int s = 0; s < Of::stages; ++s) {
      barrier_init(at.filled + 8 * s, 2);
      barrier_init(at.empty + 8 * s, product_groups * cluster_blocks);
    }
    for (int c = 0; c < product_groups * Of::C_stages; ++c) barrier_init(at.added + 8 * c, warp_group / warp_size);
    for (int group = 0; group < product_groups; ++group) barrier_init(at.brought + 8 * group, 1);
    barriers_ready();
    look_at_place(g.spared, place);
  }
  cluster_arrive();
  cluster_wait();
  static_assert(cluster_blocks == 2, "number_of_cluster");
  const int rank = cluster_rank();
  const int cluster =
      g.spared.places == nullptr ? blockIdx.x / cluster_blocks : number_of_cluster(g.spared, g.tiles.turn, place, rank);
  const BlockTiles tile(g.tiles, cluster, rank);
  if (threadIdx.x < multiplying_threads) {
    take_registers<product_registers>();
    multiply(g, at, memory + (at.ring - start), tile);
  } else {
    leave_registers<copy_registers>();
    const int copier = (threadIdx.x - multiplying_threads) / warp_size;
    if (copier >= product_groups)
      store_C(g, map_of_C, at, tile, copier - product_groups);
    else if (threadIdx.x % warp_size == 0) {
      if (copier == 0)
        fetch<true>(g, map_of_C, at, tile, rank);
      else
        fetch<false>(g, map_of_C, at, tile, rank);
    }
    __syncwarp();
  }
  // another block may still write here, or arrive at this block's barriers
  cluster_arrive();
  cluster_wait();
  end_cluster(g.spared, rank);
#endif
}

}  // namespace residues
}  // namespace devobj::cuda
