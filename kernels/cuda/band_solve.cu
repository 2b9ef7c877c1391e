// B = R^-1 B for a band triangle stored by rows.
#include "devobj/matrix.hpp"
#include "kernels/cuda/rotate.cuh"
#include "kernels/givens.hpp"

namespace devobj::cuda {
namespace {

constexpr int chunk = 32;  // rows of B in shared memory at a time
constexpr int most_bytes = 200 << 10;  // of shared memory, on a GPU that has so much for a block

__device__ inline float quotient(float a, float b) {
  return a / b;
}
__device__ inline double quotient(double a, double b) {
  return a / b;
}
__device__ inline cuComplex quotient(cuComplex a, cuComplex b) {
  return cuCdivf(a, b);
}
__device__ inline cuDoubleComplex quotient(cuDoubleComplex a, cuDoubleComplex b) {
  return cuCdiv(a, b);
}

/// Rows of the ring: a power of two that holds a row's reach and a chunk.
int ring_rows(std::int64_t reach) {
  int rows = chunk;
  while (rows < reach + chunk) rows *= 2;
  return rows;
}
template <class T>
std::int64_t shared_bytes(std::int64_t reach) {
  return (ring_rows(reach) * (warp_size + 1) + chunk * reach) * static_cast<std::int64_t>(sizeof(T));
}

// One warp has 32 columns of B, a lane each, and goes upwards through the rows:
//   x_i = (b_i - R(i, i+1) x_(i+1) - ... ) / R(i, i)
// The last rows of B and X are in a ring in shared memory, row i at i modulo `ring`.
template <class E>
__global__ void __launch_bounds__(warp_size) band_solve_kernel(Block<E> RB, Block<E> B, int ring) {
  extern __shared__ double2 memory[];
  E* x = reinterpret_cast<E*>(memory);   // ring x 33
  E* rows = x + ring * (warp_size + 1);  // chunk x reach
  const int lane = threadIdx.x, reach = static_cast<int>(RB.rows);
  const std::int64_t n = B.rows, c0 = std::int64_t(blockIdx.x) * warp_size;
  const int columns = static_cast<int>(min(std::int64_t(warp_size), B.cols - c0));
  auto at = [&](std::int64_t i, int c) -> E& { return x[(i & (ring - 1)) * (warp_size + 1) + c]; };

  for (std::int64_t begin = (n - 1) / chunk * chunk; begin >= 0; begin -= chunk) {
    const int count = static_cast<int>(min(std::int64_t(chunk), n - begin));
    if (lane < count)
      for (int c = 0; c < columns; ++c) at(begin + lane, c) = B(begin + lane, c0 + c);
    for (int e = lane; e < count * reach; e += warp_size) rows[e] = RB(e % reach, begin + e / reach);
    __syncwarp();
    for (int k = count - 1; k >= 0; --k) {
      const std::int64_t i = begin + k;
      const E* r = rows + k * reach;
      E sum_of = at(i, lane);
      const int end = static_cast<int>(min(std::int64_t(reach), n - i));
      for (int p = 1; p < end; ++p) sum_of = sum(sum_of, negative(product(r[p], at(i + p, lane))));
      at(i, lane) = quotient(sum_of, r[0]);
    }
    __syncwarp();
    if (lane < count)
      for (int c = 0; c < columns; ++c) B(begin + lane, c0 + c) = at(begin + lane, c);
    __syncwarp();
  }
}

}  // namespace

template <class T>
void band_solve(View<T> RB, View<T> B, Queue& q) {
  if (B.empty()) return;
  DeviceScope scope(q.device());
  const std::int64_t bytes = shared_bytes<T>(RB.rows);
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, q.device()), "band_solve");
  most = std::min(most, most_bytes);
  if (bytes > most) {  // so wide a band is a full triangle
    Matrix<T> R(RB.cols, RB.cols, q);
    band_unpack(RB, R.view(), q);
    return trsm(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), R.view(), B, q);
  }
  const auto kernel = band_solve_kernel<device_t<T>>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most), "band_solve");
  kernel<<<static_cast<unsigned>(ceil_div(B.cols, warp_size)), warp_size, bytes, stream_of(q)>>>(
      block_of(RB), block_of(B), ring_rows(RB.rows));
  q.launched("band_solve");
}

#define INSTANTIATE(T) template void band_solve<T>(View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
