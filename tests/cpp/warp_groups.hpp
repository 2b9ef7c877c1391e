// Tests of kernels that need Hopper's warp group products.
#pragma once

#include "kernels/native.hpp"
#include "testing.hpp"

namespace devobj::test {

class OnWarpGroups : public Everywhere {
 protected:
  void SetUp() override {
    Everywhere::SetUp();
    if (IsSkipped()) return;
    if constexpr (cuda_built)
      if (!cuda::gemm_fp16_parts_usable()) GTEST_SKIP() << "skipped: the GPU has no warp group products";
  }
};

}  // namespace devobj::test
