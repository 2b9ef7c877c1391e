// The host's kernels for several instruction sets: sources that are compiled once per set (cmake/simd.cmake), each time
// in a namespace of its own, and chosen among at run time.
#pragma once

#include <atomic>

namespace devobj::host {

/// Each set is there where the ones before it are.
enum class Simd : int { baseline = 0, avx2 = 1, avx512 = 2 };

/// The best set that this CPU and this build have.
Simd best_simd() noexcept;
/// For tests and measurements: later calls take `level`, or the best one below it that this CPU and this build have. Returns what is
/// taken.
Simd use_simd(Simd level) noexcept;
/// What calls take now; `unknown` as long as nobody has asked.
constexpr int unknown_simd = -1;
extern std::atomic<int> level_in_use;
inline Simd simd_in_use() noexcept {
  const int level = level_in_use.load(std::memory_order_relaxed);
  return level == unknown_simd ? use_simd(Simd::avx512) : static_cast<Simd>(level);
}

// The build has the baseline alone (DEVOBJ_SIMD_BASELINE), all sets but one, or all. `built`: whether it has a set.
#if !defined(__x86_64__) || defined(DEVOBJ_SIMD_BASELINE)
constexpr bool built(Simd set) {
  return set == Simd::baseline;
}
#define DEVOBJ_SIMD_DECLARE(...) \
  namespace simd_baseline {      \
  __VA_ARGS__                    \
  }
#define DEVOBJ_SIMD_CALL(...) (simd_baseline::__VA_ARGS__)
#else
/// A declaration in the namespace of every set.
#define DEVOBJ_SIMD_DECLARE(...) \
  namespace simd_baseline {      \
  __VA_ARGS__                    \
  }                              \
  namespace simd_avx2 {          \
  __VA_ARGS__                    \
  }                              \
  namespace simd_avx512 {        \
  __VA_ARGS__                    \
  }
/// DEVOBJ_SIMD_CALL: a call of the function that the set in use has.
#if defined(DEVOBJ_SIMD_WITHOUT_AVX2)
constexpr bool built(Simd set) {
  return set != Simd::avx2;
}
#define DEVOBJ_SIMD_CALL(...) (simd_in_use() == Simd::avx512 ? simd_avx512::__VA_ARGS__ : simd_baseline::__VA_ARGS__)
#elif defined(DEVOBJ_SIMD_WITHOUT_AVX512)
constexpr bool built(Simd set) {
  return set != Simd::avx512;
}
#define DEVOBJ_SIMD_CALL(...) (simd_in_use() == Simd::avx2 ? simd_avx2::__VA_ARGS__ : simd_baseline::__VA_ARGS__)
#else
constexpr bool built(Simd) {
  return true;
}
#define DEVOBJ_SIMD_CALL(...)                               \
  (simd_in_use() == Simd::avx512 ? simd_avx512::__VA_ARGS__ \
   : simd_in_use() == Simd::avx2 ? simd_avx2::__VA_ARGS__   \
                                 : simd_baseline::__VA_ARGS__)
#endif
#endif

}  // namespace devobj::host
