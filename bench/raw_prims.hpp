// The parallel primitives as the vendor's library, or plain C++, has them: the yardstick of devobj/prims.hpp. Each function
// gives a call whose memory has been allocated and whose descriptions have been made before.
#pragma once

#include <cstdint>
#include <functional>

#include "devobj/queue.hpp"

namespace bench {

/// The operands of all routines; contiguous, n elements each unless said.
template <class T>
struct PrimOperands {
  std::int64_t n = 0;
  const T* x = nullptr;
  T* y = nullptr;                    ///< result: of scans, sorted keys, compaction (and their number in count)
  const std::int32_t* heads = nullptr;
  const std::int32_t* segments = nullptr;  ///< the number of each element's segment
  const std::int32_t* values = nullptr;    ///< of pairs
  std::int32_t* sorted_values = nullptr;
  T lower{}, upper{};
  std::int32_t* counts = nullptr;  ///< of `bins` bins
  int bins = 0;
  std::int64_t rows = 0;  ///< a sparse matrix of rows x rows with n elements, counted from 1, x and y being its vectors
  const std::int32_t *offsets = nullptr, *columns = nullptr;
  const T *matrix_values = nullptr, *vector = nullptr;
  double* value = nullptr;  ///< results on the host
  std::int64_t* count = nullptr;
};

/// The peer's name: "cub", "cusparse", "std", "loop".
const char* raw_prim_name(const char* routine, const devobj::Queue& q);

/// Error if there is no such routine.
template <class T>
std::function<void()> raw_prim(const char* routine, const PrimOperands<T>& operands, devobj::Queue& q);

namespace cuda {
template <class T>
std::function<void()> raw_prim(const char* routine, const PrimOperands<T>& operands, void* stream);
}

}  // namespace bench
