// Norms of a general matrix, LAPACK's lange. All sums are in double and in an order that depends on the shape alone.
//
//   parts     A is cut into parts of columns (One, Max, Fro) or of rows (Inf); each gives one value:
//             a sum of |a|, a maximum, or a ScaledSquares
//   combine   the parts of one column (row) are put together, then the columns (rows), in one or two steps
#include <type_traits>

#include "devobj/matrix.hpp"
#include "kernels/cuda/grid.cuh"
#include "kernels/modulus.hpp"
#include "kernels/scaled_squares.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / warp_size;
constexpr std::int64_t part_rows = 1024;    // of a column's part, a warp's work at a time
constexpr std::int64_t most_blocks = 2048;  // of the parts' kernels
constexpr std::int64_t combine_blocks = 256;

// ---- what is reduced: Value, an element's share, two parts of one line, two lines ----

__device__ inline double shuffle_xor(double x, int distance) {
  return __shfl_xor_sync(0xffffffffu, x, distance);
}
__device__ inline ScaledSquares shuffle_xor(ScaledSquares s, int distance) {
  s.small = shuffle_xor(s.small, distance);
  s.medium = shuffle_xor(s.medium, distance);
  s.big = shuffle_xor(s.big, distance);
  return s;
}

struct LargestSum {
  using Value = double;
  template <class E>
  static __device__ void add(Value& v, E x) {
    v += modulus(x);
  }
  static __device__ Value of_parts(Value a, Value b) { return a + b; }
  static __device__ Value of_lines(Value a, Value b) { return larger(a, b); }
};

struct LargestElement {
  using Value = double;
  template <class E>
  static __device__ void add(Value& v, E x) {
    v = larger(v, modulus(x));
  }
  static __device__ Value of_parts(Value a, Value b) { return larger(a, b); }
  static __device__ Value of_lines(Value a, Value b) { return larger(a, b); }
};

struct SumOfSquares {
  using Value = ScaledSquares;
  static __device__ void add(Value& v, float x) { v.medium += double(x) * double(x); }  // fits into double
  static __device__ void add(Value& v, double x) { v.add(x); }
  template <class Complex>
  static __device__ void add(Value& v, Complex x) {
    add(v, x.x);
    add(v, x.y);
  }
  static __device__ Value of_parts(Value a, const Value& b) {
    a.add(b);
    return a;
  }
  static __device__ Value of_lines(const Value& a, const Value& b) { return of_parts(a, b); }
};

// ---- kernels ----

// values(part, column) of A's columns, cut into `parts` parts of 1024 rows. Each warp takes parts, a column's after one
// another. If a value per warp is enough (`per_warp`), it combines its own.
template <class Norm, class E>
__global__ void __launch_bounds__(threads)
    column_parts_kernel(Block<E> A, std::int64_t parts, bool per_warp, typename Norm::Value* values) {
  const int lane = threadIdx.x % warp_size;
  const std::int64_t warp = std::int64_t(blockIdx.x) * warps + threadIdx.x / warp_size;
  typename Norm::Value whole{};
  for (std::int64_t piece = warp; piece < parts * A.cols; piece += std::int64_t(gridDim.x) * warps) {
    const std::int64_t column = piece / parts, part = piece % parts;
    const std::int64_t end = min(A.rows, (part + 1) * part_rows);
    typename Norm::Value value{};
#pragma unroll 8
    for (std::int64_t i = part * part_rows + lane; i < end; i += warp_size) Norm::add(value, A(i, column));
    for (int distance = warp_size / 2; distance > 0; distance /= 2)
      value = Norm::of_parts(value, shuffle_xor(value, distance));
    if (per_warp)
      whole = Norm::of_lines(whole, value);
    else if (lane == 0)
      values[column + part * A.cols] = value;
  }
  if (per_warp && lane == 0) values[warp] = whole;
}

// values(row, part) = sum of |a| over the row's part: `width` columns. A thread has a row, blockIdx.y is the part.
template <class E>
__global__ void __launch_bounds__(threads) row_parts_kernel(Block<E> A, std::int64_t width, double* values) {
  const std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  if (i >= A.rows) return;
  const std::int64_t begin = blockIdx.y * width, end = min(A.cols, begin + width);
  double value = 0;
#pragma unroll 8
  for (std::int64_t j = begin; j < end; ++j) LargestSum::add(value, A(i, j));
  values[i + blockIdx.y * A.rows] = value;
}

// results[block] = the lines' values put together, each from its parts values[line + part * lines].
template <class Norm>
__global__ void __launch_bounds__(threads) combine_kernel(const typename Norm::Value* values, std::int64_t lines,
                                                          std::int64_t parts, typename Norm::Value* results) {
  __shared__ alignas(8) unsigned char memory[warps * sizeof(typename Norm::Value)];
  auto of_warp = reinterpret_cast<typename Norm::Value*>(memory);
  typename Norm::Value whole{};
  for (std::int64_t line = std::int64_t(blockIdx.x) * threads + threadIdx.x; line < lines;
       line += std::int64_t(gridDim.x) * threads) {
    typename Norm::Value value{};
#pragma unroll 8
    for (std::int64_t part = 0; part < parts; ++part) value = Norm::of_parts(value, values[line + part * lines]);
    whole = Norm::of_lines(whole, value);
  }
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    whole = Norm::of_lines(whole, shuffle_xor(whole, distance));
  if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = whole;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < warps; ++warp) whole = Norm::of_lines(whole, of_warp[warp]);
  results[blockIdx.x] = whole;
}

// ---- launchers ----

/// The values and the results of combine_kernel, in one allocation.
template <class Value>
struct Workspace {
  Workspace(std::int64_t count, Queue& q)
      : storage(checked_bytes(count + combine_blocks + 1, 1, sizeof(Value)), q),
        values(static_cast<Value*>(storage.data())),
        results(values + count) {}
  Storage storage;
  Value *values, *results;
};

/// All lines put together, on the host. Waits.
template <class Norm>
typename Norm::Value combine(const Workspace<typename Norm::Value>& W, std::int64_t lines, std::int64_t parts,
                             Queue& q) {
  using Value = typename Norm::Value;
  const auto blocks = std::min(ceil_div(lines, threads), combine_blocks);
  combine_kernel<Norm><<<static_cast<unsigned>(blocks), threads, 0, stream_of(q)>>>(W.values, lines, parts, W.results);
  q.launched("lange");
  const Value* last = W.results;
  if (blocks > 1) {
    combine_kernel<Norm><<<1, threads, 0, stream_of(q)>>>(W.results, blocks, 1, W.results + combine_blocks);
    q.launched("lange");
    last = W.results + combine_blocks;
  }
  Value result;
  check(cudaMemcpyAsync(&result, last, sizeof result, cudaMemcpyDeviceToHost, stream_of(q)), "lange");
  q.wait();
  return result;
}

template <class Norm, class T>
typename Norm::Value by_columns(View<T> A, Queue& q) {
  const std::int64_t parts = ceil_div(A.rows, part_rows), pieces = parts * A.cols;
  const std::int64_t blocks = std::min(ceil_div(pieces, warps), most_blocks);
  const bool per_warp = parts == 1 || !std::is_same_v<Norm, LargestSum>;
  Workspace<typename Norm::Value> W(per_warp ? blocks * warps : pieces, q);
  column_parts_kernel<Norm>
      <<<static_cast<unsigned>(blocks), threads, 0, stream_of(q)>>>(block_of(A), parts, per_warp, W.values);
  q.launched("lange");
  return per_warp ? combine<Norm>(W, blocks * warps, 1, q) : combine<Norm>(W, A.cols, parts, q);
}

// Rows are cut into parts where there are too few of them to fill the GPU.
template <class T>
double by_rows(View<T> A, Queue& q) {
  const std::int64_t wanted = std::clamp<std::int64_t>((std::int64_t{1} << 19) / A.rows, 1, ceil_div(A.cols, 32));
  const std::int64_t width = ceil_div(A.cols, std::min(wanted, max_grid_y)), parts = ceil_div(A.cols, width);
  Workspace<double> W(checked_bytes(A.rows, parts, 1), q);
  const dim3 grid(static_cast<unsigned>(ceil_div(A.rows, threads)), static_cast<unsigned>(parts));
  row_parts_kernel<<<grid, threads, 0, stream_of(q)>>>(block_of(A), width, W.values);
  q.launched("lange");
  return combine<LargestSum>(W, A.rows, parts, q);
}

}  // namespace

template <class T>
real_t<T> lange(Norm norm, View<T> A, Queue& q) {
  if (A.empty()) return 0;
  DeviceScope scope(q.device());
  switch (norm) {
    case Norm::One:
      return static_cast<real_t<T>>(by_columns<LargestSum>(A, q));
    case Norm::Inf:
      return static_cast<real_t<T>>(by_rows(A, q));
    case Norm::Fro:
      return static_cast<real_t<T>>(by_columns<SumOfSquares>(A, q).root());
    default:
      return static_cast<real_t<T>>(by_columns<LargestElement>(A, q));
  }
}

#define INSTANTIATE(T) template real_t<T> lange(Norm, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
