// QR of a small block in one kernel, with explicit V and T: the step of the QR updates' chases.
#include <cmath>
#include <limits>

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/qr_panel_native.hpp"
#include "kernels/qr_update.hpp"

namespace devobj::cuda {
namespace {

constexpr int warps = 16;
constexpr int threads = warps * warp_size;

template <class E>
__device__ E warp_sum(E x, int lane) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2) x = sum(x, shuffle(x, lane ^ distance));
  return x;
}
template <class R>
__device__ R warp_max(R x, int lane) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2) x = fmax(x, shuffle(x, lane ^ distance));
  return x;
}

// Sums of squares between these bounds have lost nothing to underflow and not overflowed.
template <class R>
struct Safe;
template <>
struct Safe<float> {
  static constexpr float low = 1e-24f, high = 1e36f;
};
template <>
struct Safe<double> {
  static constexpr double low = 1e-270, high = 1e300;
};

// 1 / sqrt(x) and 1 / x to about a rounding, for x far from overflow and underflow: an approximation and a step of
// Newton's, in a fraction of the time of the exact operations, which every column would wait for.
__device__ inline float inverse_root(float x) {
  const float y = rsqrtf(x);
  return fmaf(0.5f * y, fmaf(-x * y, y, 1.0f), y);
}
__device__ inline double inverse_root(double x) {
  const double y = rsqrt(x);
  return fma(0.5 * y, fma(-x * y, y, 1.0), y);
}
__device__ inline float inverse(float x) {
  const float y = __fdividef(1.0f, x);
  return fmaf(y, fmaf(-x, y, 1.0f), y);
}
__device__ inline double inverse(double x) {
  return 1 / x;
}

// H = I - tau v v^H with H^H [alpha; x] = [beta; 0], v = [1; x scale]. LAPACK's larfg, with its signs.
// total is |alpha|^2 + ||x||^2.
template <class E>
struct Reflector {
  using R = real_e<E>;
  E tau, scale;
  R beta;
  bool identity;
  __device__ static Reflector from(E alpha, R square_x, R total) {
    if (square_x == 0 && im(alpha) == 0) return {from_parts<E>(0), from_parts<E>(0), re(alpha), true};
    const R root = inverse_root(total), of_beta = -copysign(root, re(alpha));  // 1 / beta
    const R length = total * root, beta = -copysign(length + R(0.5) * root * (fma(-length, length, total)), re(alpha));
    const R d = re(alpha) - beta;
    const E tau = from_parts<E>(1 - re(alpha) * of_beta, -im(alpha) * of_beta);
    if constexpr (is_device_complex<E>) {
      const R norm = inverse(d * d + im(alpha) * im(alpha));
      return {tau, from_parts<E>(d * norm, -im(alpha) * norm), beta, false};
    } else {
      return {tau, inverse(d), beta, false};
    }
  }
};

/// Sums of N values over the warp's lanes, each in every lane. Half of the values goes to the lanes' other half in each
/// of the first steps, so that N + log2(32 / N) exchanges do for them what 5 N would.
template <int N, class E>
__device__ void warp_sums(E (&x)[N], int lane) {
  int distance = warp_size / 2;
#pragma unroll
  for (int n = N; n > 1; n /= 2, distance /= 2) {
    const bool upper = lane & distance;
#pragma unroll
    for (int i = 0; i < n / 2; ++i) {
      const E send = upper ? x[i] : x[i + n / 2], keep = upper ? x[i + n / 2] : x[i];
      x[i] = sum(keep, shuffle(send, lane ^ distance));
    }
  }
  for (; distance > 0; distance /= 2) x[0] = sum(x[0], shuffle(x[0], lane ^ distance));
  const E mine = x[0];
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] = shuffle(mine, i * (warp_size / N));
}

/// The shared memory of a block: vectors of two groups, V^H V, and each group's own T.
template <class E, int K, int C>
struct Shared {
  static constexpr int nb = warps * C, rows = warp_size * K;
  E v[2][C][rows];
  E G[nb][nb + 1];
  E T[warps][C][C];
};

// One block of 16 warps holds all of A in registers: warp w the group of columns w C ... w C + C - 1, lane l of it the
// rows l, l + 32, ... (K of them):
//
//          group 0        group 1              step g, one barrier:
//   row 0  w0 l0 l0 l0 l0 | w1 l0 ...            warp g factors its C columns alone: x = column j below the diagonal,
//   and row 1  w0 l1 l1 l1 l1 | w1 l1 ...            x^H (its columns) in one sum over the lanes give the reflector and
//   what
//   ...                                          it does to the others; then T of the group; V -> shared memory
//                                                all others: S = V^H A in one sum; on the right of g A -= V T^H S, on
//                                                the left, where A holds vectors, S^H is a block of V^H V
//
// Afterwards T from V^H V by groups: T(:, g) = -T(:, before) G(before, g) T(g, g).
template <class E, int K, int C>
__global__ void __launch_bounds__(threads, 1) qr_block_kernel(Block<E> A, Block<E> V, Block<E> T) {
  using R = real_e<E>;
  using Memory = Shared<E, K, C>;
  constexpr int nb = Memory::nb;
  extern __shared__ double2 bytes[];
  Memory& shared = *reinterpret_cast<Memory*>(bytes);
  const int r = static_cast<int>(A.rows), c = static_cast<int>(A.cols), k = min(r, c);
  const int lane = threadIdx.x % warp_size, warp = __shfl_sync(0xffffffffu, threadIdx.x / warp_size, 0);  // uniform
  const E zero = from_parts<E>(0), one = from_parts<E>(1);
  // whether a thread's i-th row is below row j; j < 16 C <= 64
  const auto below = [lane](int i, int j) { return i >= 2 || lane + i * warp_size > j; };

  E a[C][K];
#pragma unroll
  for (int u = 0; u < C; ++u)
#pragma unroll
    for (int i = 0; i < K; ++i) {
      const int row = lane + i * warp_size, col = warp * C + u;
      a[u][i] = row < r && col < c ? A(row, col) : zero;
    }

#pragma unroll 1
  for (int g = 0; g * C < k; ++g) {
    E(&v)[C][Memory::rows] = shared.v[g & 1];
    if (warp == g) {
      E tau[C], gram[C][C];
#pragma unroll
      for (int u = 0; u < C; ++u) {
        const int j = g * C + u;
        tau[u] = zero;
        if (j < k) {
          // row j, and products with x; once more with x scaled where its squares are not safe
          E at_j[C], products[C];
#pragma unroll
          for (int t = 0; t < C; ++t)
            at_j[t] = shuffle(C > 2 && j >= warp_size ? a[t][1] : a[t][0], j % warp_size);  // j < 16 C
          E alpha = at_j[u];
          int exponent = 0;
#pragma unroll 1
          for (bool last = false;; last = true) {
#pragma unroll
            for (int t = 0; t < C; ++t) products[t] = zero;
#pragma unroll
            for (int i = 0; i < K; ++i) {
              const E x = below(i, j) ? a[u][i] : zero, xc = conjugate(x);
#pragma unroll
              for (int t = 0; t < C; ++t) products[t] = sum(products[t], product(xc, t == u ? x : a[t][i]));
            }
#pragma unroll
            for (int distance = warp_size / 2; distance > 0; distance /= 2)
#pragma unroll
              for (int t = 0; t < C; ++t) products[t] = sum(products[t], shuffle(products[t], lane ^ distance));
            const R total = re(products[u]) + square(alpha);
            const bool safe = total >= Safe<R>::low && total <= Safe<R>::high && re(products[u]) != 0;
            if (last || __all_sync(0xffffffffu, safe)) break;
            R largest = fmax(fabs(re(alpha)), fabs(im(alpha)));
#pragma unroll
            for (int i = 0; i < K; ++i)
              if (below(i, j)) largest = fmax(largest, fmax(fabs(re(a[u][i])), fabs(im(a[u][i]))));
            largest = warp_max(largest, lane);
            exponent = largest > 0 && isfinite(largest) ? ilogb(largest) : 0;
            const R half = scalbn(R(1), -(exponent / 2)), rest = scalbn(R(1), exponent / 2 - exponent);
            alpha = scaled(scaled(alpha, half), rest);
#pragma unroll
            for (int i = 0; i < K; ++i)
              if (below(i, j)) a[u][i] = scaled(scaled(a[u][i], half), rest);
          }
          const Reflector<E> h = Reflector<E>::from(alpha, re(products[u]), re(products[u]) + square(alpha));
          const R beta = exponent == 0 ? h.beta : scalbn(h.beta, exponent);
          tau[u] = h.tau;
          // v in x's place (scale is 0 where v is)
#pragma unroll
          for (int i = 0; i < K; ++i) {
            if (below(i, j)) a[u][i] = product(a[u][i], h.scale);
            if (i < 2 && lane + i * warp_size == j && !h.identity) a[u][i] = from_parts<E>(beta);
          }
          // on its right a -= v conj(tau) v^H a, on its left v_t^H v
          const E minus = negative(conjugate(h.tau));
#pragma unroll
          for (int t = 0; t < C; ++t) {
            if (t > u) {
              const E f = product(minus, sum(at_j[t], product(conjugate(h.scale), products[t])));
#pragma unroll
              for (int i = 0; i < K; ++i) {
                const E x = i >= 2 || below(i, j) ? a[u][i] : lane + i * warp_size == j ? one : zero;
                a[t][i] = sum(a[t][i], product(x, f));
              }
            } else if (t < u) {
              gram[t][u] = sum(conjugate(at_j[t]), product(conjugate(products[t]), h.scale));
            }
          }
        } else {
#pragma unroll
          for (int t = 0; t < u; ++t) gram[t][u] = zero;
        }
      }
      // T of the group
      E t_group[C][C];
#pragma unroll
      for (int u = 0; u < C; ++u)
#pragma unroll
        for (int t = 0; t < C; ++t) {
          t_group[t][u] = t == u ? tau[u] : zero;
          if (t < u && !is_zero(tau[u])) {
            E dot = zero;
#pragma unroll
            for (int l = t; l < u; ++l) dot = sum(dot, product(t_group[t][l], gram[l][u]));
            t_group[t][u] = product(negative(tau[u]), dot);
          }
        }
#pragma unroll
      for (int u = 0; u < C; ++u) {
        const int j = g * C + u;
        if (lane == 0)
#pragma unroll
          for (int t = 0; t < C; ++t) shared.T[g][t][u] = t_group[t][u];
#pragma unroll
        for (int i = 0; i < K; ++i) {
          const int row = lane + i * warp_size;
          v[u][row] = below(i, j) ? a[u][i] : row == j ? one : zero;
        }
      }
    }
    __syncthreads();
    if (warp == g) continue;

    E s[C * C];
#pragma unroll
    for (int t = 0; t < C * C; ++t) s[t] = zero;
#pragma unroll
    for (int i = 0; i < K; ++i) {
      E x[C];
#pragma unroll
      for (int u = 0; u < C; ++u) x[u] = conjugate(v[u][lane + i * warp_size]);
#pragma unroll
      for (int t = 0; t < C; ++t)
#pragma unroll
        for (int u = 0; u < C; ++u) s[t * C + u] = sum(s[t * C + u], product(x[u], a[t][i]));
    }
    warp_sums(s, lane);
    if (warp > g) {
      // S = -T^H S
#pragma unroll
      for (int t = 0; t < C; ++t)
#pragma unroll
        for (int u = C - 1; u >= 0; --u) {
          E dot = zero;
#pragma unroll
          for (int l = 0; l <= u; ++l) dot = sum(dot, product(conjugate(shared.T[g][l][u]), s[t * C + l]));
          s[t * C + u] = negative(dot);
        }
#pragma unroll
      for (int i = 0; i < K; ++i)
#pragma unroll
        for (int u = 0; u < C; ++u) {
          const E x = v[u][lane + i * warp_size];
#pragma unroll
          for (int t = 0; t < C; ++t) a[t][i] = sum(a[t][i], product(x, s[t * C + u]));
        }
    } else {
#pragma unroll
      for (int t = 0; t < C; ++t)
#pragma unroll
        for (int u = 0; u < C; ++u)
          if (lane == t * C + u) shared.G[warp * C + t][g * C + u] = conjugate(s[t * C + u]);
    }
  }

#pragma unroll
  for (int u = 0; u < C; ++u)
#pragma unroll
    for (int i = 0; i < K; ++i) {
      const int row = lane + i * warp_size, col = warp * C + u;
      if (row >= r || col >= c) continue;
      A(row, col) = row <= col ? a[u][i] : zero;
      if (col < k) V(row, col) = row > col ? a[u][i] : row == col ? one : zero;
    }

  // T: a thread has row i of the columns of every `parts`-th group
  constexpr int parts = threads / nb < warps ? threads / nb : warps, own = warps / parts;
  const int i = threadIdx.x % nb, part = threadIdx.x / nb;
  E dot[own][C];
#pragma unroll
  for (int w = 0; w < own; ++w)
#pragma unroll
    for (int u = 0; u < C; ++u) dot[w][u] = zero;
  __syncthreads();
#pragma unroll
  for (int wg = 0; wg < own; ++wg)
#pragma unroll 1
    for (int pg = 0; pg < parts; ++pg) {
      const int g = wg * parts + pg, first = g * C;
      if (first >= k) break;
      if (part == pg) {
#pragma unroll
        for (int u = 0; u < C; ++u) {
          E t = zero;
          if (i < first) {
#pragma unroll
            for (int l = 0; l <= u; ++l) t = sum(t, product(dot[wg][l], shared.T[g][l][u]));
            t = negative(t);
          } else if (i < first + C) {
            t = shared.T[g][i - first][u];
          }
          shared.v[g & 1][u][i] = t;
          if (i < k && first + u < k) T(i, first + u) = t;
        }
      }
      __syncthreads();
      if (part < parts && i < first + C) {
#pragma unroll
        for (int w = wg; w < own; ++w) {
          const int h = w * parts + part;
          if (h <= g || h * C >= k) continue;
#pragma unroll
          for (int l = 0; l < C; ++l)
#pragma unroll
            for (int u = 0; u < C; ++u)
              dot[w][u] = sum(dot[w][u], product(shared.v[g & 1][l][i], shared.G[first + l][h * C + u]));
        }
      }
    }
}

template <class T, int K, int C>
void launch(View<T> A, View<T> V, View<T> Tri, Queue& q) {
  using Memory = Shared<device_t<T>, K, C>;
  static_assert(Memory::nb <= Memory::rows,
                "T's columns use V's shared memory, and row j is one of the first two of a lane");
  constexpr int bytes = static_cast<int>(sizeof(Memory));
  const auto kernel = qr_block_kernel<device_t<T>, K, C>;
  if constexpr (bytes > 48 * 1024)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "qr_block");
  kernel<<<1, threads, bytes, stream_of(q)>>>(block_of(A), block_of(V), block_of(Tri));
  q.launched("qr_block");
}

/// Whether qr_panel_native is faster than the kernel above (docs/qr-update.md).
template <class T>
bool by_products_pays(std::int64_t rows, std::int64_t cols, const Queue& q) {
  const bool pays = is_complex<T> ? cols > 8 && rows >= 160 : cols > 16;
  return pays && qr_panel_by_products<T>(rows, cols, q);
}

}  // namespace

template <class T>
void qr_block(View<T> A, View<T> V, View<T> Tri, Queue& q) {
  if (A.empty()) return;
  DeviceScope scope(q.device());
  require(A.rows <= qr_block_rows && A.cols <= qr_block_cols<T>(A.rows), "qr_block: A is ", A.rows, " x ", A.cols,
          ", must be at most ", qr_block_rows, " x ", qr_block_cols<T>(A.rows));
  if (by_products_pays<T>(A.rows, A.cols, q)) {
    const View<T> tau(static_cast<T*>(q.scratch(qr_block_scratch_bytes<T>(A.cols))), A.cols, 1);
    qr_panel_native(A, tau, V, Tri, q);
    laset(Uplo::Lower, T(0), T(0), A({1, A.rows}, {0, A.cols}), q);
    return;
  }
  // columns of a warp, by the registers that they take
  constexpr int most = qr_block_cols<T>(1) / warps, middle = qr_block_cols<T>(256) / warps,
                fewest = qr_block_cols<T>(qr_block_rows) / warps;
  if (A.rows <= 128 && A.cols <= 16)
    launch<T, 4, 1>(A, V, Tri, q);
  else if (A.rows <= 128 && A.cols <= 32)
    launch<T, 4, 2>(A, V, Tri, q);
  else if (A.rows <= 128)
    launch<T, 4, most>(A, V, Tri, q);
  else if (A.rows <= 192)
    launch<T, 6, middle>(A, V, Tri, q);
  else if (A.rows <= 256)
    launch<T, 8, middle>(A, V, Tri, q);
  else if (A.rows <= 320)
    launch<T, 10, fewest>(A, V, Tri, q);
  else if (A.rows <= 384)
    launch<T, 12, fewest>(A, V, Tri, q);
  else if (A.rows <= 512)
    launch<T, 16, fewest>(A, V, Tri, q);
  else
    launch<T, 18, fewest>(A, V, Tri, q);
}

#define INSTANTIATE(T) template void qr_block(View<T>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
