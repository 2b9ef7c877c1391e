// gemm_by_parts: single precision on the tensor cores, in the way that is the fastest on this GPU.
#include <algorithm>

#include "kernels/device.hpp"
#include "kernels/native.hpp"

namespace devobj::cuda {

void gemm_by_parts(Op opA, Op opB, float alpha, View<float> A, View<float> B, View<float> C, Side guarded,
                   void* workspace, Queue& q, Spared spared, const DisplacedRows<float>& displaced, bool low_low,
                   const FirstPart& first) {
  DeviceScope scope(q.device());
  if (gemm_fp16_parts_usable())
    return gemm_fp16_parts(opA, opB, alpha, A, B, C, workspace, q, spared, displaced, low_low, first);
  require(displaced.from == nullptr && !first.then,
          "gemm_by_parts: displaced rows and first parts are for gemm_fp16_parts");
  gemm_six_bf16(opA, opB, alpha, A, B, C, guarded, workspace, q);
}

std::size_t gemm_by_parts_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  return std::max(gemm_fp16_parts_workspace(rows, cols, depth), gemm_six_bf16_workspace(rows, cols, depth));
}

bool gemm_by_parts_at_full_rate(View<float> C, const Queue& q) {
  DeviceScope scope(q.device());
  return gemm_fp16_parts_usable() || gemm_six_bf16_aligned(C);
}

bool gemm_by_parts_spares(const Queue& q) {
  DeviceScope scope(q.device());
  return gemm_fp16_parts_usable();
}

}  // namespace devobj::cuda
