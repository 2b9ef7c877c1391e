// Paper 001, algorithms 1 and 2, on one GPU: kept as a baseline, not as a way to do it.
#include "cuda_side.hpp"
#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "peers_qr.hpp"

namespace bench {

using namespace devobj;

namespace {

/// L = column `col` of R (n x n by rows).
template <class T>
__global__ void column_kernel(const T* R, std::int64_t n, std::int64_t col, T* L) {
  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) L[i] = R[i * n + col];
}

/// Algorithm 2: a thread has column i of R and of Q^T (by rows), and walks from the last row up to row col + 1; each
/// finds all rotations for itself from the column L.
template <class T>
__global__ void rotate_kernel(T* R, T* Q, const T* __restrict__ L, std::int64_t n, std::int64_t col) {
  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T length = L[n - 1];
  T r = R[(n - 1) * n + i], p = Q[(n - 1) * n + i];
  for (std::int64_t j = n - 1; j > col; --j) {
    const T l = L[j - 1], mu = sqrt(l * l + length * length);
    const T c = mu == 0 ? T(1) : l / mu, s = mu == 0 ? T(0) : length / mu;
    const T above = R[(j - 1) * n + i], q_above = Q[(j - 1) * n + i];
    R[j * n + i] = c * r - s * above;
    Q[j * n + i] = c * p - s * q_above;
    r = c * above + s * r;
    p = c * q_above + s * p;
    length = mu;
  }
  R[col * n + i] = r;
  Q[col * n + i] = p;
}

}  // namespace

template <class T>
double paper001_ms(View<T> A, View<T> Q, View<T> R, const Repeat& repeat, Queue& q) {
  const std::int64_t n = A.rows;
  Matrix<T> L(n, 1, q);
  const auto stream = static_cast<cudaStream_t>(q.stream());
  constexpr int threads = 128;
  const auto blocks = static_cast<unsigned>((n + threads - 1) / threads);
  cuda::set_device(q.device());
  return median_ms(
      repeat, [] {},
      [&] {
        transpose<T>(Op::Trans, A, R, q);  // by rows
        laset<T>(Uplo::General, T(0), T(1), Q, q);
        for (std::int64_t col = 0; col + 1 < n; ++col) {
          column_kernel<<<blocks, threads, 0, stream>>>(R.data, n, col, L.data);
          rotate_kernel<<<blocks, threads, 0, stream>>>(R.data, Q.data, L.data, n, col);
        }
        cuda::check_runtime(cudaGetLastError(), "rotate_kernel");
      },
      [&] { q.wait(); });
}

template double paper001_ms(View<float>, View<float>, View<float>, const Repeat&, Queue&);
template double paper001_ms(View<double>, View<double>, View<double>, const Repeat&, Queue&);

}  // namespace bench
