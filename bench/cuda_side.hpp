// What bench asks of CUDA itself, as the yardstick: defined in cuda_side.cpp, which is part of builds with CUDA only.
// Use behind `if constexpr (cuda_built)`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "devobj/error.hpp"

namespace bench {

#ifdef DEVOBJ_BENCH_CUDA
inline constexpr bool cuda_built = true;
#else
inline constexpr bool cuda_built = false;
#endif

namespace cuda {

/// Throws device_error with `call` and the text of a cudaError_t, cublasStatus_t or cusolverStatus_t that is not 0.
void check_runtime(int status, const char* call);
void check_blas(int status, const char* call);
void check_solver(int status, const char* call);

std::string device_name(int device);
void set_device(int device);

/// Page-locked host memory.
std::shared_ptr<void> pinned(std::size_t bytes);
/// One cudaMemcpyAsync, whatever the direction.
void memcpy_async(void* to, const void* from, std::size_t bytes, void* stream);
void stream_wait(void* stream);

/// A cuBLAS handle of bench's own on `stream`.
std::shared_ptr<void> blas_handle(void* stream);

}  // namespace cuda
}  // namespace bench
