// What the tests of the parallel primitives share: places and types, vectors, and the order of sorting.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "devobj/prims.hpp"
#include "testing.hpp"

namespace devobj::test {

/// A fixture for each place and each of integer, real, double.
class Prims : public Everywhere {
 public:
  template <class F>
  void with_prim_type(F&& test) {
    if (type() == Type::integer) return test(std::int32_t{});
    if (type() == Type::real) return test(float{});
    test(double{});
  }
};
#define DEVOBJ_PRIMS_EVERYWHERE(fixture)                                                                       \
  INSTANTIATE_TEST_SUITE_P(On, fixture,                                                                        \
                           ::testing::Combine(::testing::ValuesIn(::devobj::test::places()),                   \
                                              ::testing::Values(::devobj::Type::integer, ::devobj::Type::real, \
                                                                ::devobj::Type::double_precision)),            \
                           ::devobj::test::instance_name)

/// Around the pieces, tiles and packs of the implementations.
inline std::vector<std::int64_t> lengths() {
  return {0, 1, 2, 7, 31, 32, 33, 129, 255, 1000, 2048, 3073, 4095, 4097, 6144, 8192, 8193, 32769, 100003};
}
/// Several waves of the GPU's scan; on the host a MiB for each of three threads of a scan (kernels/host/pieces.hpp), from which
/// it is done in parallel.
inline std::int64_t very_long(const Queue& q) {
  return q.on_cuda() ? 2300003 : 300007;
}
/// Several blocks of the GPU's reductions; on the host 2 MiB of the smallest type, which are for several threads.
inline std::int64_t long_for_a_reduction(const Queue& q) {
  return q.on_cuda() ? 2300003 : 600001;
}

template <class T>
Dense<T> column(std::vector<T> values) {
  Dense<T> x(static_cast<std::int64_t>(values.size()), 1);
  std::copy(values.begin(), values.end(), x.data());
  return x;
}
/// Integers from the whole range, or uniform on (-1, 1).
template <class T>
Dense<T> numbers(std::int64_t n, std::uint32_t seed) {
  std::mt19937 generator(seed);
  return Dense<T>::from(n, 1, [&](auto, auto) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(generator());
    else
      return static_cast<T>(2 * (generator() + 0.5) / 4294967296.0 - 1);
  });
}
/// Integers 0 ... most - 1.
inline Dense<std::int32_t> small_integers(std::int64_t n, std::uint32_t most, std::uint32_t seed) {
  std::mt19937 generator(seed);
  return Dense<std::int32_t>::from(n, 1, [&](auto, auto) { return static_cast<std::int32_t>(generator() % most); });
}

template <class T>
bool bad(T x) {
  return x != x;
}

/// IEEE's totalOrder with -0 = +0, as unsigned numbers.
inline std::uint64_t rank_of(std::int32_t x) {
  return static_cast<std::uint64_t>(std::int64_t(x) + 2147483648);
}
inline std::uint64_t rank_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x);
  return bits >> 63 ? ~bits : bits | 0x8000000000000000u;
}
inline std::uint64_t rank_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x == 0 ? 0.0f : x);
  return bits >> 31 ? std::uint32_t(~bits) : bits | 0x80000000u;
}
/// The positions (from 0) of the ranks in ascending order, equal ones in their order. Compiled once, optimised (testing.cpp).
std::vector<std::int64_t> positions_in_order(const std::vector<std::uint64_t>& ranks);

}  // namespace devobj::test
