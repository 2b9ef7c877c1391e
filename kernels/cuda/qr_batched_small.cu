// qr_small: Householder QR of matrices of up to 16 x 16, and their least squares, by one kernel.
//
// G = 4, 8 or 16 lanes of a warp have a matrix, a lane a column, in registers; the warp brings its matrices through
// shared memory. Step j:
//
//   lane   0   j   j+1 ...
//   row j  .   x   a        lane j     finds the reflector by itself, v and tau to shared memory, [beta; v] to column j
//          .   x   a        all lanes  a -= v conj(tau) v^H a; row j of R to shared memory; the registers move up by a
//          .   x   a                   row, so that a[0] is row j + 1
//
// Right-hand sides: a lane has a column and takes one reflector after the other, then the columns of R from the last.
#include "kernels/cuda/batched_columns.cuh"
#include "kernels/cuda/batched_reflector.cuh"
#include "kernels/cuda/qr_batched.cuh"
#include "kernels/cuda/reciprocal.cuh"

namespace devobj::cuda {
namespace {

/// What lane j tells the others: tau in v[0], v below its one. Two of them, of even and of odd steps.
template <class E, int M>
struct ToldReflector {
  alignas(16) E v[M];
};

/// a = H^H a for the rows a[0], ..., a[rows - 1], then moves them up by one; the first of them is returned. v(r) is
/// called for 0 < r < rows.
template <class E, int M, class V>
__device__ E reflect_and_move(E (&a)[M], int rows, E tau, V v) {
  constexpr int part = 4;
  E dot = a[0];
#pragma unroll
  for (int r0 = 0; r0 < M; r0 += part)
    if (r0 < rows) {
#pragma unroll
      for (int r = r0; r < r0 + part; ++r)
        if (r > 0 && r < rows) dot = plus_conjugate_product(dot, v(r), a[r]);
    }
  const E w = is_zero(tau) ? E{} : product(conjugate(tau), dot);
  const E top = sum(a[0], negative(w));
#pragma unroll
  for (int r0 = 0; r0 < M; r0 += part)
    if (r0 < rows) {
#pragma unroll
      for (int r = r0; r < r0 + part; ++r)
        if (r > 0) a[r - 1] = r < rows ? minus_product(a[r], v(r), w) : E{};
      a[r0 + part - 1] = E{};
    }
  return top;
}

/// Q^H b, and where info is 0, the solution of R x = Q^H b, for the column b in memory; `mine`: it is there. S has the
/// reflectors and R, lane `base` + j has tau(j). All lanes of the warp take part.
template <class E, int M, int G>
__device__ void least_squares(const E* S, int ld, int m, int n, E tau, int base, int info, E* column, bool mine) {
  E b[M], y[G] = {};  // y[r]: row j - r of Q^H b
#pragma unroll
  for (int r = 0; r < M; ++r) b[r] = mine && r < m ? column[r] : E{};
  for (int j = 0; j < n; ++j) {
    const E* const v = S + j * ld + j;
    const E top = reflect_and_move(b, m - j, shuffle(tau, base + j), [&](int r) { return v[r]; });
#pragma unroll
    for (int r = G - 1; r > 0; --r) y[r] = y[r - 1];
    y[0] = top;
    if (info != 0 && mine) column[j] = top;
  }
#pragma unroll
  for (int r = 0; r < M; ++r)
    if (mine && r < m - n) column[n + r] = b[r];
  if (info != 0) return;
  for (int j = n - 1; j >= 0; --j) {
    const E* const R = S + j * ld;
    const E x = Reciprocal<E>(R[j]).times(y[0]);
    if (mine) column[j] = x;
#pragma unroll
    for (int r = 0; r < G - 1; ++r)
      if (r < j) y[r] = minus_product(y[r + 1], R[j - 1 - r], x);
  }
}

// m <= M, n <= G.
template <class E, int M, int G>
__global__ void __launch_bounds__(columns_threads) qr_small_kernel(SmallQr<E> p) {
  constexpr int per_warp = warp_size / G;
  extern __shared__ __align__(16) unsigned char bytes[];
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, group = lane / G, c = lane % G;
  const std::int64_t first = (std::int64_t(blockIdx.x) * columns_warps + warp) * per_warp, matrix = first + group;
  if (first >= p.A.count) return;
  const int m = static_cast<int>(p.A.rows), n = static_cast<int>(p.A.cols), k = min(m, n), ld = columns_ld(m);
  const int matrices = static_cast<int>(min(p.A.count - first, std::int64_t(per_warp)));
  auto* const told = reinterpret_cast<ToldReflector<E, M>*>(bytes) + 2 * (warp * per_warp + group);
  E* const all = reinterpret_cast<E*>(bytes + 2 * columns_warps * per_warp * sizeof(ToldReflector<E, M>)) +
                 warp * columns_elements(m, n, per_warp);
  const WarpColumns<E> columns{p.A.data + first * p.A.stride, p.A.ld, all, m, matrices * n};
  columns.load();
  __syncwarp();

  const bool here = group < matrices, has_column = here && c < n;
  E* const S = all + group * n * ld;
  E* const column = S + (has_column ? c : 0) * ld;
  E a[M], tau{};
#pragma unroll
  for (int r = 0; r < M; ++r) a[r] = has_column && r < m ? column[r] : E{};

  for (int j = 0; j < k; ++j) {
    E(&v)[M] = told[j % 2].v;
    if (c == j) {
      E x[M - 1];
#pragma unroll
      for (int r = 1; r < M; ++r) x[r - 1] = a[r];
      const Reflector<E> h = reflector_of<1>(a[0], x);
      tau = h.tau;
      v[0] = tau;
#pragma unroll
      for (int r = 1; r < M; ++r) v[r] = x[r - 1];
      if (here) {
        column[j] = from_parts<E>(h.beta);
#pragma unroll
        for (int r = 1; r < M; ++r)
          if (r < m - j) column[j + r] = x[r - 1];
      }
    }
    __syncwarp();
    const E top = reflect_and_move(a, m - j, v[0], [&](int r) { return v[r]; });
    if (c > j && has_column) column[j] = top;
  }
  __syncwarp();
  if (p.tau != nullptr && here && c < k) p.tau[c + matrix * p.ldt] = tau;

  if (p.info.data != nullptr) {
    const unsigned zeros = __ballot_sync(all_lanes, has_column && is_zero(column[c])) >> (group * G) & ((1u << G) - 1);
    const int info = __ffs(static_cast<int>(zeros));
    if (here && c == 0) p.info[matrix] = info;
    const Block<E> B = matrix_of(p.B, here ? matrix : 0);
    for (std::int64_t c0 = 0; c0 < B.cols; c0 += G) {
      const bool mine = here && c0 + c < B.cols;
      least_squares<E, M, G>(S, ld, m, n, tau, group * G, info, mine ? &B(0, c0 + c) : nullptr, mine);
      __syncwarp();
    }
  }
  columns.store();
}

template <class E, int M, int G>
void launch(const SmallQr<E>& p, Queue& q) {
  constexpr int per_warp = warp_size / G;
  const int elements = columns_elements(static_cast<int>(p.A.rows), static_cast<int>(p.A.cols), per_warp);
  launch_batched("qr_batched", qr_small_kernel<E, M, G>, dim3(columns_blocks(p.A.count, per_warp)), columns_threads,
                 columns_warps * (2 * per_warp * sizeof(ToldReflector<E, M>) + elements * sizeof(E)), q, p);
}

}  // namespace

template <class E>
void qr_small(const SmallQr<E>& p, Queue& q) {
  const std::int64_t m = p.A.rows, n = p.A.cols;
  if (n <= 4) return m <= 4 ? launch<E, 4, 4>(p, q) : m <= 8 ? launch<E, 8, 4>(p, q) : launch<E, 16, 4>(p, q);
  if (n <= 8) return m <= 8 ? launch<E, 8, 8>(p, q) : launch<E, 16, 8>(p, q);
  launch<E, 16, 16>(p, q);
}

template <class T>
bool least_squares_batched_possible(Batch<T> A, Batch<T> B) {
  return !A.empty() && A.rows <= qr_small_max && A.cols <= A.rows && B.cols <= least_squares_sides_max &&
         A.stride == A.cols * A.ld;
}

template <class T>
void least_squares_batched(Batch<T> A, Vector<std::int32_t> info, Batch<T> B, Queue& q) {
  DeviceScope scope(q.device());
  qr_small(SmallQr<device_t<T>>{batch_of(A), nullptr, 0, strided(info), batch_of(B)}, q);
}

#define INSTANTIATE(T)                                                      \
  template void qr_small<device_t<T>>(const SmallQr<device_t<T>>&, Queue&); \
  template bool least_squares_batched_possible(Batch<T>, Batch<T>);         \
  template void least_squares_batched(Batch<T>, Vector<std::int32_t>, Batch<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
