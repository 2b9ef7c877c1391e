#include "matrices.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace bench {
namespace {

/// work(begin, end) over pieces of [0, count), a thread each.
template <class Work>
void in_pieces(std::int64_t count, Work work) {
  const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::int64_t pieces = std::clamp<std::int64_t>(count >> 20, 1, cores);
  std::vector<std::jthread> threads;
  for (std::int64_t p = 1; p < pieces; ++p) threads.emplace_back(work, count * p / pieces, count * (p + 1) / pieces);
  work(0, count / pieces);
}

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Number i of the sequence: in [-1, 1) with all the bits of R's fraction.
template <class R>
R number(std::uint64_t seed, std::uint64_t i) {
  const std::uint64_t bits = mix(mix(seed + 1) + i * 0x9e3779b97f4a7c15u);
  if constexpr (std::is_same_v<R, float>)
    return static_cast<float>(bits >> 40) * 0x1p-23f - 1.0f;
  else
    return static_cast<double>(bits >> 11) * 0x1p-52 - 1.0;
}

}  // namespace

template <class T>
void fill_uniform(T* data, std::int64_t count, std::uint64_t seed) {
  in_pieces(count, [=](std::int64_t begin, std::int64_t end) {
    using R = devobj::real_t<T>;
    for (std::int64_t i = begin; i < end; ++i)
      if constexpr (devobj::is_complex<T>)
        data[i] = T(number<R>(seed, 2 * i), number<R>(seed, 2 * i + 1));
      else
        data[i] = number<R>(seed, i);
  });
}

template <class T>
void copy_host(const T* from, T* to, std::int64_t count) {
  in_pieces(count, [=](std::int64_t begin, std::int64_t end) {
    std::memcpy(static_cast<void*>(to + begin), from + begin, static_cast<std::size_t>(end - begin) * sizeof(T));
  });
}

#define INSTANTIATE(T)                                         \
  template void fill_uniform(T*, std::int64_t, std::uint64_t); \
  template void copy_host(const T*, T*, std::int64_t);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace bench
