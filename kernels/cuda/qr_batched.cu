// qr_batched: Householder QR of many matrices, those that fit in shared memory by one kernel, larger ones by panels.
//
// A block has a matrix in shared memory. Groups of P lanes (8, or 32 for tall matrices) share a column: lane p has rows
// p, p + P, ..., R of them. Step j, after one barrier:
//
//             j     c = group, group + groups, ...   all groups   x = A(j+1:m, j) to registers, the same reflector
//                                                               v, tau, beta
//   row j   [ * |  a_jc ]                          each group   its columns c > j: w = conj(tau) v^H a_c,
//           [ x |   a_c ]                                       a_c -= v w
//                                                  group j      after the next barrier: column j = [beta; v]
//
// All groups sum in the same order, so that they find the same bits. Larger matrices: the same kernel on panels of nb
// columns, whose reflectors reflect_batched applies to the columns right of them.
#include "kernels/cuda/batched_reflector.cuh"
#include "kernels/cuda/qr_batched.cuh"

namespace devobj::cuda {
namespace {

constexpr int qr_threads = 256;

/// The ld in shared memory: columns of a group of 8 lanes meet no conflict of banks.
__host__ __device__ inline int qr_ld(int m) {
  return (m + 7) / 16 * 16 + 8;
}

// m <= P R. A block per matrix, of any number of warps.
template <class E, int P, int R>
__global__ void __launch_bounds__(qr_threads) qr_block_kernel(Batch<E> batch, E* tau, std::int64_t ldt) {
  constexpr bool keep = R * sizeof(E) <= 256;  // a column's part in registers, or read twice
  extern __shared__ __align__(16) unsigned char bytes[];
  E* const S = reinterpret_cast<E*>(bytes);
  const std::int64_t matrix = blockIdx.x;
  const Block<E> A = matrix_of(batch, matrix);
  const int m = static_cast<int>(A.rows), n = static_cast<int>(A.cols), k = min(m, n), ld = qr_ld(m);
  const int threads = blockDim.x, t = threadIdx.x, groups = threads / P, group = t / P, p = t % P;
  const int lane = t % warp_size, warp = t / warp_size, warps = threads / warp_size;

  for (int c = warp; c < n; c += warps)
    for (int i = lane; i < m; i += warp_size) S[i + c * ld] = A(i, c);

  E v[R];
  Reflector<E> h;
  // column j, by its group, from what the group has kept
  const auto store = [&](int j) {
    if (j < 0 || j % groups != group) return;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int i = p + r * P;
      if (i >= j && i < m) S[i + j * ld] = i == j ? from_parts<E>(h.beta, 0) : v[r];
    }
  };
  for (int j = 0; j < k; ++j) {
    __syncthreads();
    store(j - 1);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int i = p + r * P;
      v[r] = i > j && i < m ? S[i + j * ld] : E{};
    }
    h = reflector_of<P>(S[j + j * ld], v);
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (p + r * P == j) v[r] = from_parts<E>(1, 0);
    if (t == 0) tau[j + matrix * ldt] = h.tau;
    const E adjoint_tau = conjugate(h.tau);
    if (is_zero(h.tau)) continue;  // H = I; the same in all threads

    for (int c0 = (j + 1) / groups * groups; c0 < n; c0 += groups) {
      const int c = c0 + group;
      const bool mine = c > j && c < n;
      E* const column = S + (mine ? c : 0) * ld;
      E a[keep ? R : 1], dot{};
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const int i = p + r * P;
        const E x = mine && i >= j && i < m ? column[i] : E{};
        if constexpr (keep) a[r] = x;
        dot = plus_conjugate_product(dot, v[r], x);
      }
      const E w = product(adjoint_tau, sum_of_lanes<P>(dot));
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const int i = p + r * P;
        if (mine && i >= j && i < m) {
          if constexpr (keep)
            column[i] = minus_product(a[r], v[r], w);
          else
            column[i] = minus_product(column[i], v[r], w);
        }
      }
    }
  }
  __syncthreads();
  store(k - 1);
  __syncthreads();
  for (int c = warp; c < n; c += warps)
    for (int i = lane; i < m; i += warp_size) A(i, c) = S[i + c * ld];
}

template <class E>
std::size_t qr_bytes(std::int64_t m, std::int64_t n) {
  return static_cast<std::size_t>(qr_ld(static_cast<int>(m)) * n) * sizeof(E);
}

template <class E, int P, int R>
void launch(const Batch<E>& A, E* tau, std::int64_t ldt, Queue& q) {
  const int threads = std::min(qr_threads, round_to_warps(A.cols * P));
  launch_batched("qr_batched", qr_block_kernel<E, P, R>, dim3(static_cast<unsigned>(A.count)), threads,
                 qr_bytes<E>(A.rows, A.cols), q, A, tau, ldt);
}

template <class E>
void qr_block(const Batch<E>& A, E* tau, std::int64_t ldt, Queue& q) {
  if (A.rows <= 32) return launch<E, 8, 4>(A, tau, ldt, q);
  if (A.rows <= 64) return launch<E, 8, 8>(A, tau, ldt, q);
  if (A.rows <= 128) return launch<E, 8, 16>(A, tau, ldt, q);
  if (A.rows <= 256) return launch<E, 8, 32>(A, tau, ldt, q);
  if (A.rows <= 512) return launch<E, 32, 16>(A, tau, ldt, q);
  launch<E, 32, 32>(A, tau, ldt, q);
}

/// Columns of a panel of m rows: as many as let two blocks share a multiprocessor, otherwise as fit; 0 if none do.
template <class E>
std::int64_t panel_columns(std::int64_t m, std::size_t limit) {
  for (std::size_t part : {limit / 2 - 1024, limit})
    for (std::int64_t nb = 32; nb >= 4; nb /= 2)
      if (qr_bytes<E>(m, nb) <= part) return nb;
  return 0;
}

}  // namespace

template <class T>
void qr_batched(Batch<T> A, View<T> tau, Queue& q) {
  using E = device_t<T>;
  if (A.empty()) return;
  DeviceScope scope(q.device());
  const std::size_t limit = shared_memory_limit(q.device());
  const std::int64_t m = A.rows, n = A.cols, k = std::min(m, n);
  if (std::max(m, n) <= qr_small_max && A.stride == n * A.ld)
    return qr_small(SmallQr<E>{batch_of(A), raw(tau.data), tau.ld, {}, {}}, q);
  if (qr_bytes<E>(m, n) <= limit) return qr_block(batch_of(A), raw(tau.data), tau.ld, q);

  const std::int64_t nb = panel_columns<E>(m, limit);
  require(nb > 0, "qr_batched: ", m, " rows are too many for this GPU's shared memory");
  for (std::int64_t j = 0; j < k; j += nb) {
    const std::int64_t w = std::min(nb, k - j);
    const Range below{j, m}, K{j, j + w}, rest{j + w, n};
    const View<T> tau_K = tau(K, {0, tau.cols});
    qr_block(batch_of(A(below, K)), raw(tau_K.data), tau.ld, q);
    // A(below, rest) = Q^H A(below, rest)
    reflect_batched(A(below, K), tau_K, A(below, rest), q);
  }
}

#define INSTANTIATE(T) template void qr_batched(Batch<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
