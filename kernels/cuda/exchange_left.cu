// exchange_left: the row exchanges of a factorization's later blocks on the columns of its earlier ones, all at once.
//
// Made block after block, each would touch one element here and there of all columns to the left. Where every row comes from
// in the end is found by following it back through the pivots of each block, and then from block to block; then each column is moved as
// a whole.
#include <algorithm>

#include "kernels/cuda/move_columns.cuh"
#include "kernels/cuda/row_sources.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

/// Of blocks: the column after each one's last. The pivots of a block behind the first are a part.
struct Ends {
  int count;
  std::int32_t of[exchange_left_blocks];
  __device__ std::int64_t begin(int part) const { return of[part]; }
  __device__ std::int64_t end(int part) const { return of[part + 1]; }
};

/// sources(i, b): the row that the exchanges of all blocks behind block b bring to row i; `tables`: what each of these does.
__global__ void __launch_bounds__(tracing)
    sources_kernel(std::int64_t rows, int blocks, const std::int32_t* tables, std::int32_t* sources) {
  const std::int64_t mine = blockIdx.x * std::int64_t(tracing) + threadIdx.x;
  if (mine >= rows) return;
  auto row = static_cast<std::int32_t>(mine);
  for (int b = blocks - 2; b >= 0; --b) {
    row = tables[b * rows + row];
    sources[b * rows + mine] = row;
  }
}

struct ListOfBlock {
  Ends ends;
  std::int64_t rows;
  const std::int32_t* sources;
  __device__ MovedRows operator()(std::int64_t j) const {
    int b = 0, behind = ends.count - 1;  // the first block that ends behind j
    while (b < behind) {
      const int middle = (b + behind) / 2;
      if (ends.of[middle] > j)
        behind = middle;
      else
        b = middle + 1;
    }
    return {ends.of[b], sources + b * rows};
  }
};

}  // namespace

template <class T>
bool exchange_left_possible(std::int64_t rows, std::int64_t blocks, const Queue& q) {
  DeviceScope scope(q.device());
  return blocks <= exchange_left_blocks && moving_shape<device_t<T>, ListOfBlock>(rows, q).blocks > 0;
}

std::size_t exchange_left_workspace(std::int64_t rows, std::int64_t blocks) {
  return static_cast<std::size_t>(2 * rows * std::max<std::int64_t>(blocks - 1, 0)) * sizeof(std::int32_t);
}

template <class T>
void exchange_left(View<T> A, View<std::int32_t> ipiv, const std::vector<std::int64_t>& ends, void* workspace,
                   Queue& q) {
  if (A.empty() || ends.size() < 2) return;
  DeviceScope scope(q.device());
  auto* const sources = static_cast<std::int32_t*>(workspace);
  ListOfBlock lists{{static_cast<int>(ends.size()), {}}, A.rows, sources};
  std::transform(ends.begin(), ends.end(), lists.ends.of,
                 [](std::int64_t end) { return static_cast<std::int32_t>(end); });
  const auto parts = static_cast<std::int64_t>(ends.size()) - 1;
  std::int32_t* const tables = sources + A.rows * parts;
  part_sources_kernel<<<static_cast<unsigned>(parts), part_threads, 0, stream_of(q)>>>(A.rows, vector_of(ipiv),
                                                                                       lists.ends, true, tables);
  sources_kernel<<<static_cast<unsigned>(ceil_div(A.rows, std::int64_t(tracing))), tracing, 0, stream_of(q)>>>(
      A.rows, lists.ends.count, tables, sources);
  q.launched("exchange_left");
  const View<T> earlier = A({0, A.rows}, {0, ends[ends.size() - 2]});
  move_columns("exchange_left", block_of(earlier), lists, moving_shape<device_t<T>, ListOfBlock>(A.rows, q), q);
}

#define INSTANTIATE(T)                                                               \
  template bool exchange_left_possible<T>(std::int64_t, std::int64_t, const Queue&); \
  template void exchange_left(View<T>, View<std::int32_t>, const std::vector<std::int64_t>&, void*, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
