// mix_matrix, mix_rows, mix_solution: random butterflies on the way between double and single precision.
#include "kernels/butterfly.hpp"
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/single_precision.cuh"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 128;

/// Four elements of any type: their parts one after the other.
template <class E, class F>
__device__ void of_parts(E (&x)[4], const F& act) {
  if constexpr (is_device_complex<E>) {
    double re[4] = {x[0].x, x[1].x, x[2].x, x[3].x}, im[4] = {x[0].y, x[1].y, x[2].y, x[3].y};
    act(re);
    act(im);
#pragma unroll
    for (int i = 0; i < 4; ++i) x[i] = {re[i], im[i]};
  } else {
    act(x);
  }
}

// What a group of four columns is multiplied by.
struct ColumnGroup {
  Butterfly factors;
  double power[4];
};
constexpr int groups_at_once = 32;

// A thread has rows g, g + quarter, ... of M, blockIdx.y goes along the groups of columns, groups_at_once at a time. All who
// write to *misfit write 1.
template <class E, class F>
__global__ void __launch_bounds__(threads)
    mix_matrix_kernel(Block<E> A, const double* rows, const double* columns, Block<F> M, std::int32_t* misfit) {
  __shared__ ColumnGroup group[groups_at_once];
  const std::int64_t n = A.rows, quarter = M.rows / 4;
  const std::int64_t g = blockIdx.x * std::int64_t(threads) + threadIdx.x;
  const Butterfly of_rows = butterfly(g, quarter, false);
  double row_power[4];
#pragma unroll
  for (int a = 0; a < 4; ++a) row_power[a] = g + a * quarter < n ? power_to_one(rows[g + a * quarter]) : 1;
  bool fit = true;
  const std::int64_t step = gridDim.y * std::int64_t(groups_at_once);
  for (std::int64_t first = blockIdx.y * std::int64_t(groups_at_once); first < quarter; first += step) {
    const int count = static_cast<int>(min(std::int64_t(groups_at_once), quarter - first));
    __syncthreads();
    for (int e = threadIdx.x; e < 4 * count; e += threads) {
      const int k = e / 4, b = e % 4;
      const std::int64_t j = first + k + b * quarter;
      group[k].factors.d[b] = butterfly_factor(Butterfly::place(j, true));
      group[k].factors.e[b] = butterfly_factor(Butterfly::place(j, true) + 1);
      group[k].power[b] = j < n ? power_to_one(columns[j]) : 1;
    }
    __syncthreads();
    if (g >= quarter) continue;
    for (int k = 0; k < count; ++k) {
      const std::int64_t h = first + k;
      E x[4][4];  // [column][row]
#pragma unroll
      for (int b = 0; b < 4; ++b)
#pragma unroll
        for (int a = 0; a < 4; ++a) {
          const std::int64_t i = g + a * quarter, j = h + b * quarter;
          x[b][a] = i < n && j < n ? A(i, j) : from_parts<E>(i == j ? 1 : 0);
        }
#pragma unroll
      for (int b = 0; b < 4; ++b) {
#pragma unroll
        for (int a = 0; a < 4; ++a) {
          fit = fit && fits_single(x[b][a]);
          // beyond A's order the powers are 1
          x[b][a] = scaled(scaled(x[b][a], row_power[a]), group[k].power[b]);
        }
        of_parts(x[b], [&](double(&part)[4]) { mix(of_rows, part); });
      }
#pragma unroll
      for (int a = 0; a < 4; ++a) {
        E row[4] = {x[0][a], x[1][a], x[2][a], x[3][a]};
        of_parts(row, [&](double(&part)[4]) { mix(group[k].factors, part); });
#pragma unroll
        for (int b = 0; b < 4; ++b) M(g + a * quarter, h + b * quarter) = to_single(row[b]);
      }
    }
  }
  if (!fit) *misfit = 1;
}

// A thread makes an element of D, blockIdx.y goes along the columns.
template <class E, class F>
__global__ void __launch_bounds__(threads)
    mix_rows_kernel(Block<E> B, const double* rows, const std::int32_t* order, Block<F> D) {
  const std::int64_t i = blockIdx.x * std::int64_t(threads) + threadIdx.x;
  if (i >= D.rows) return;
  const std::int64_t n = B.rows, quarter = D.rows / 4, g = order[i] % quarter, mine = order[i] / quarter;
  const Butterfly of_rows = butterfly(g, quarter, false);
  double power[4];
#pragma unroll
  for (int a = 0; a < 4; ++a) power[a] = g + a * quarter < n ? power_to_one(rows[g + a * quarter]) : 1;
  for (std::int64_t j = blockIdx.y; j < B.cols; j += gridDim.y) {
    E x[4];
#pragma unroll
    for (int a = 0; a < 4; ++a) {
      x[a] = g + a * quarter < n ? B(g + a * quarter, j) : from_parts<E>(0);
      x[a] = scaled(x[a], power[a]);
    }
    of_parts(x, [&](double(&part)[4]) { mix(of_rows, part); });
    E result = x[0];
#pragma unroll
    for (int a = 1; a < 4; ++a)
      if (mine == a) result = x[a];
    D(i, j) = to_single(result);
  }
}

// A thread has elements g, g + quarter, ... of X, blockIdx.y goes along the columns.
template <class E, class F>
__global__ void __launch_bounds__(threads)
    mix_solution_kernel(Block<F> D, const double* columns, bool add, Block<E> X) {
  const std::int64_t n = X.rows, quarter = D.rows / 4;
  const std::int64_t g = blockIdx.x * std::int64_t(threads) + threadIdx.x;
  if (g >= quarter) return;
  const Butterfly of_columns = butterfly(g, quarter, true);
  for (std::int64_t j = blockIdx.y; j < X.cols; j += gridDim.y) {
    E y[4];
#pragma unroll
    for (int a = 0; a < 4; ++a) y[a] = to_double(D(g + a * quarter, j));
    of_parts(y, [&](double(&part)[4]) { mix_back(of_columns, part); });
#pragma unroll
    for (int a = 0; a < 4; ++a) {
      const std::int64_t i = g + a * quarter;
      if (i >= n) continue;
      const E x = scaled(y[a], power_to_one(columns[i]));
      X(i, j) = add ? sum(X(i, j), x) : x;
    }
  }
}

dim3 grid_of(std::int64_t along, std::int64_t across) {
  return dim3(static_cast<unsigned>(ceil_div(along, threads)), static_cast<unsigned>(std::min(across, max_grid_y)));
}

}  // namespace

template <class T>
void mix_matrix(View<T> A, const double* rows, const double* columns, View<single_t<T>> M, std::int32_t* misfit,
                Queue& q) {
  DeviceScope scope(q.device());
  fill_bytes(misfit, 0, sizeof(std::int32_t), q.stream());
  if (A.empty()) return;
  constexpr std::int64_t most = 64;  // blocks that share the rows, so that each makes their factors for many columns
  mix_matrix_kernel<<<grid_of(M.rows / 4, std::min(most, ceil_div(M.rows / 4, groups_at_once))), threads, 0,
                      stream_of(q)>>>(block_of(A), rows, columns, block_of(M), misfit);
  q.launched("mix_matrix");
}

template <class T>
void mix_rows(View<T> B, const double* rows, const std::int32_t* order, View<single_t<T>> D, Queue& q) {
  if (B.empty()) return;
  DeviceScope scope(q.device());
  mix_rows_kernel<<<grid_of(D.rows, B.cols), threads, 0, stream_of(q)>>>(block_of(B), rows, order, block_of(D));
  q.launched("mix_rows");
}

template <class T>
void mix_solution(View<single_t<T>> D, const double* columns, bool add, View<T> X, Queue& q) {
  if (X.empty()) return;
  DeviceScope scope(q.device());
  mix_solution_kernel<<<grid_of(D.rows / 4, X.cols), threads, 0, stream_of(q)>>>(block_of(D), columns, add,
                                                                                 block_of(X));
  q.launched("mix_solution");
}

#define INSTANTIATE(T)                                                                                          \
  template void mix_matrix<T>(View<T>, const double*, const double*, View<single_t<T>>, std::int32_t*, Queue&); \
  template void mix_rows<T>(View<T>, const double*, const std::int32_t*, View<single_t<T>>, Queue&);            \
  template void mix_solution<T>(View<single_t<T>>, const double*, bool, View<T>, Queue&);
DEVOBJ_FOR_EACH_DOUBLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
