// gemm_residues: C += alpha op(A) op(B) in double precision, real or complex, by products of eight-bit integers, on Hopper's warp group
// products.
//
// Rows of op(A) and columns of op(B) are brought to norms of some 2^58 by powers of two, each by its own, and rounded to integers.
// Their sums of products are integers below half of the product of the moduli, so that their remainders say what they are; and
// the remainders of the sums are those of sums of products of the operands' remainders, which have eight bits. One product of eight-bit
// integers for each of 15 moduli, and the sum divided by the moduli's product P is, modulo 1,
//
//   sum over the moduli p of  (sum of products of remainders modulo p) ((P / p)^-1 modulo p) / p.
//
// That is added up in 64 bits. Its rounding and that to integers are small beside 2^-53 times the norms of the row and the column. What
// is zero stays zero. Complex matrices have 16 moduli with two products each, and a sum for each part (residue_moduli.cuh).
//
// A plain product's error is small beside |A| |B|, which can be much less than the norms' product: where elements of the row are
// large and those of the column small, and the other way round. So another product of integers adds up sizes, of every fourth element,
// rounded down. What a warp has of a tile is computed in double precision if that is too little beside the norms for one of its elements;
// or if there are infinities, or vectors whose largest element is very large or small. Rows and columns with a NaN are NaN.
//
//     128 rows of C (64)                   A block makes tiles of C one after the other (of complex matrices: 64 rows):
//   +-----------------+                      warps 0 to 3, 4 to 7   the products of 64 columns each, their shares, and C
//   |   64 columns    |  warps 0 to 3        warps 8, 9             have the operands' pieces of depth 128 (two at a time), and then C,
//   +-----------------+                                             copied into a ring
//   |   64 columns    |  warps 4 to 7        warps 10, 11           have C stored, and bring displaced rows to it
//   +-----------------+
//
// Source: Ozaki, Uchino & Imamura, "Ozaki Scheme II: A GEMM-oriented emulation of floating-point matrix multiplication using an
// integer modular technique", 2025.
#include "kernels/cuda/asked_once.hpp"
#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/first_part.hpp"
#include "kernels/cuda/residue_product.cuh"
#include "kernels/cuda/tensor_map.hpp"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

using namespace residues;

constexpr auto name = "gemm_residues";

template <class E>
std::size_t plane_bytes(std::int64_t vectors, std::int64_t depth) {
  return static_cast<std::size_t>(vectors * all_pieces<E>(pieces_of<E>(depth)) * depth_bytes);
}
template <class E>
std::size_t reduced_bytes(std::int64_t vectors, std::int64_t depth) {
  return plane_bytes<E>(vectors, depth) + aligned_bytes(vectors * sizeof(double)) +
         aligned_bytes(vectors * sizeof(float));
}
template <class E>
Reduced reduced_at(unsigned char* memory, std::int64_t vectors, std::int64_t depth) {
  unsigned char* const scale = memory + plane_bytes<E>(vectors, depth);
  return {memory, reinterpret_cast<double*>(scale),
          reinterpret_cast<float*>(scale + aligned_bytes(vectors * sizeof(double)))};
}
/// Rows of a cluster's tiles.
template <class E>
constexpr int cluster_rows = Tiles<E>::rows* cluster_blocks;
static_assert(gemm_residues_first % cluster_rows<double> == 0 &&
              gemm_residues_first % cluster_rows<cuDoubleComplex> == 0 && gemm_residues_first % tile_cols == 0 &&
              gemm_residues_first_most_depth == most_pieces * depth_bytes);

// Clusters' pieces that a block makes before it leaves its multiprocessor to others.
constexpr int tiles_at_once = 2;

/// One side of a product: the vectors, and what they have become.
template <class E>
struct Operand {
  Reduced reduced;
  Vectors<E> vectors;
  int pieces;  // of each plane
  /// Those from a whole tile on.
  Operand from(std::int64_t first, std::int64_t count) const {
    const std::int64_t bytes = first * all_pieces<E>(pieces) * depth_bytes;
    Vectors<E> some = vectors;
    some.data += first * vectors.next_vector;
    some.count = count;
    return {{reduced.planes + bytes, reduced.scale + first, reduced.size + first}, some, pieces};
  }
};

/// What the copy engine counts.
template <class T>
View<double> in_doubles(View<T> C) {
  constexpr std::int64_t doubles = sizeof(T) / sizeof(double);
  return {reinterpret_cast<double*>(C.data), doubles * C.rows, C.cols, doubles * C.ld};
}

template <class T>
void multiply_reduced(int alpha, const Operand<device_t<T>>& A, const Operand<device_t<T>>& B, View<T> C,
                      std::int64_t depth, Queue& q, const Spared& spared, const DisplacedRows<T>& displaced) {
  using E = device_t<T>;
  using Of = Tiles<E>;
  Product<E> g{A.reduced, B.reduced, A.vectors, B.vectors, block_of(C), double(alpha)};
  constexpr double unit = static_cast<double>(product<E>()) * 0x1p-64 / 0x1p118;
  static_assert(2 * norm_bits == 118);
  g.unit = alpha * unit;
  g.depth = static_cast<int>(depth);
  g.streamed = outgrows_cache(C.rows * C.cols * std::int64_t(sizeof(T)), q.device());
  const View<double> doubles = in_doubles(C);
  g.mapped = has_tensor_map(doubles);
  require(g.mapped || !is_complex<T>, name, ": C does not begin at 16 bytes");
  g.displaced = displaced_of(displaced);
  g.doubles_of_C = block_of(doubles);
  g.pieces = A.pieces;
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, q.device()), name);
  const int kept = spared_multiprocessors(spared, processors);
  g.tiles =
      product_tiles(name, ceil_div(C.rows, std::int64_t(cluster_rows<E>)), ceil_div(C.cols, std::int64_t(tile_cols)), 1,
                    (processors - kept) / cluster_blocks, kept > 0 ? 0 : tiles_at_once);
  std::int64_t clusters = g.tiles.clusters();
  if (kept > 0 && spared.places != nullptr && clusters == g.tiles.turn) {
    clusters = processors / cluster_blocks;
    g.spared = {spared.places, spared.counts};
  }
  check(cudaFuncSetAttribute(product_kernel<E>, cudaFuncAttributeMaxDynamicSharedMemorySize, Of::product_bytes), name);
  const ClusterLaunch launch(clusters * cluster_blocks, cluster_blocks, product_threads, Of::product_bytes,
                             stream_of(q));
  const CUtensorMap map_of_C = g.mapped ? tensor_map(name, doubles, box_doubles, group_cols) : CUtensorMap{};
  check(cudaLaunchKernelEx(&launch.config, product_kernel<E>, g, map_of_C), name);
  q.launched(name);
}

template <class T>
void multiply_there(Op opA, Op opB, int alpha, View<T> A, View<T> B, View<T> C, unsigned char* memory, Queue& q,
                    const Spared& spared, const FirstPart& first, const DisplacedRows<T>& displaced) {
  using E = device_t<T>;
  using Of = Tiles<E>;
  const std::int64_t depth = opA == Op::NoTrans ? A.cols : A.rows;
  const std::int64_t rows = whole(C.rows, cluster_rows<E>), cols = whole(C.cols, tile_cols);
  const Reduced of_A = reduced_at<E>(memory, rows, depth),
                of_B = reduced_at<E>(memory + reduced_bytes<E>(rows, depth), cols, depth);
  const Vectors<E> of_rows = vectors_of(opA, A, true), of_columns = vectors_of(opB, B, false);
  const int pieces = pieces_of<E>(depth);
  const auto first_of_B = static_cast<int>(rows / reduce_vectors<E>),
             reduce_blocks = first_of_B + static_cast<int>(cols / reduce_vectors<E>);
  reduce_kernel<E><<<static_cast<unsigned>(reduce_blocks), reduce_warps<E>(pieces) * warp_size, 0, stream_of(q)>>>(
      of_rows, of_A, Of::rows, of_columns, of_B, tile_cols, static_cast<int>(depth), pieces, first_of_B);
  q.launched(name);

  const Operand<E> left{of_A, of_rows, pieces}, right{of_B, of_columns, pieces};
  if (!first.then) return multiply_reduced<T>(alpha, left, right, C, depth, q, spared, displaced);
  multiply_first_and_rest(first, first.vectors, left, right, C.rows, C.cols,
                          [&](const Operand<E>& some_rows, const Operand<E>& some_columns, Range rows, Range columns) {
                            multiply_reduced<T>(alpha, some_rows, some_columns, C(rows, columns), depth, q, spared,
                                                displaced(rows, columns));
                          });
}

}  // namespace

bool gemm_residues_usable(int device) {
  static HopperKernel kernel;
  return kernel.usable(product_kernel<double>, device);
}

template <class T>
std::size_t gemm_residues_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  using E = device_t<T>;
  depth = std::min<std::int64_t>(depth, most_pieces * depth_bytes);
  return reduced_bytes<E>(whole(rows, cluster_rows<E>), depth) + reduced_bytes<E>(whole(cols, tile_cols), depth);
}

template <class T>
void gemm_residues(Op opA, Op opB, int alpha, View<T> A, View<T> B, View<T> C, void* workspace, Queue& q, Spared spared,
                   const FirstPart& first, const DisplacedRows<T>& displaced) {
  const std::int64_t depth = opA == Op::NoTrans ? A.cols : A.rows;
  if (const View<double> doubles = in_doubles(C); displaced.from != nullptr)
    require(depth > 0 && depth <= most_pieces * depth_bytes && has_tensor_map(doubles) && doubles.rows % 2 == 0, name,
            ": displaced rows of ", C.rows, " x ", C.cols, ", ld ", C.ld, ", depth ", depth);
  if (C.empty() || depth == 0) return;
  if (first.then)
    require(depth <= most_pieces * depth_bytes && first.vectors > 0 && first.vectors % gemm_residues_first == 0 &&
                first.vectors < (first.side == Side::Left ? C.rows : C.cols),
            name, ": a first part of ", first.vectors, " rows or columns of ", C.rows, " x ", C.cols, ", depth ",
            depth);
  DeviceScope scope(q.device());
  // parts of the depth that are as long as each other
  constexpr std::int64_t most = most_pieces * depth_bytes;
  const std::int64_t parts = ceil_div(depth, most),
                     part = whole(ceil_div(depth, parts), depth_bytes * stage_pieces<device_t<T>>);
  for (std::int64_t k = 0; k < depth; k += part) {
    const Range K{k, std::min(k + part, depth)};
    multiply_there<T>(opA, opB, alpha, opA == Op::NoTrans ? A({0, A.rows}, K) : A(K, {0, A.cols}),
                      opB == Op::NoTrans ? B(K, {0, B.cols}) : B({0, B.rows}, K), C,
                      static_cast<unsigned char*>(workspace), q, spared, first, displaced);
  }
}

#define DEVOBJ_INSTANTIATE(T)                                                                                  \
  template std::size_t gemm_residues_workspace<T>(std::int64_t, std::int64_t, std::int64_t);                   \
  template void gemm_residues(Op, Op, int, View<T>, View<T>, View<T>, void*, Queue&, Spared, const FirstPart&, \
                              const DisplacedRows<T>&);
DEVOBJ_INSTANTIATE(double)
DEVOBJ_INSTANTIATE(std::complex<double>)

}  // namespace devobj::cuda
