// Stable sorting of keys and pairs by their bits, eight at a time from the lowest (radix sort).
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "devobj/matrix.hpp"
#include "kernels/host/pieces.hpp"
#include "kernels/prims.hpp"

namespace devobj::host {
namespace {

constexpr int digit_bits = 8, digits = 1 << digit_bits;
using Counts = std::int64_t[digits];

template <class K>
using bits_t = std::conditional_t<sizeof(K) == 8, std::uint64_t, std::uint32_t>;

/// Unsigned numbers in the order of the keys.
template <class K>
struct Rank {
  bits_t<K> flip;  // all ones for descending order
  explicit Rank(Order order) : flip(order == Order::descending ? ~bits_t<K>(0) : 0) {}
  bits_t<K> operator()(K key) const {
    constexpr bits_t<K> sign = bits_t<K>(1) << (8 * sizeof(K) - 1);
    bits_t<K> bits = std::bit_cast<bits_t<K>>(key);
    if constexpr (std::is_floating_point_v<K>) {
      if (bits == sign) bits = 0;  // -0 is +0
      bits ^= bits & sign ? ~bits_t<K>(0) : sign;
    } else {
      bits ^= sign;
    }
    return bits ^ flip;
  }
};

struct NoValue {};

/// One pass: to = from, stable, by the digit at `shift`. False, and nothing done, if all keys have the same digit.
template <class K, class V>
bool pass(Rank<K> rank, int shift, const K* from, const V* from_values, K* to, V* to_values, std::int64_t n,
          int threads, std::vector<std::int64_t>& places) {
  constexpr bool pairs = !std::is_same_v<V, NoValue>;
  const auto digit = [=](K key) { return static_cast<int>((rank(key) >> shift) & (digits - 1)); };
  const auto part = [=](int t) { return n * t / threads; };
  const auto in_parallel = [&](const auto& work) {
    if (threads == 1) return work(0);
    Team::shared().run(threads, [&](Team::Member& me) {
      for (int t = me.rank(); t < threads; t += me.size()) work(t);
    });
  };
  places.assign(static_cast<std::size_t>(threads) * digits, 0);
  in_parallel([&](int t) {
    std::int64_t* mine = places.data() + std::size_t(t) * digits;
    for (std::int64_t i = part(t); i < part(t + 1); ++i) ++mine[digit(from[i])];
  });
  // from counts to places: digit by digit, and within a digit part by part
  std::int64_t next = 0;
  for (int d = 0; d < digits; ++d) {
    const std::int64_t before = next;
    for (int t = 0; t < threads; ++t) next += std::exchange(places[std::size_t(t) * digits + d], next);
    if (next - before == n) return false;
  }
  in_parallel([&](int t) {
    std::int64_t* mine = places.data() + std::size_t(t) * digits;
    for (std::int64_t i = part(t); i < part(t + 1); ++i) {
      const std::int64_t place = mine[digit(from[i])]++;
      to[place] = from[i];
      if constexpr (pairs) to_values[place] = from_values[i];
    }
  });
  return true;
}

/// keys, values -> sorted, sorted_values, which may be the same; spare holds n more of each.
template <class K, class V>
void sort(Order order, const K* keys, const V* values, K* sorted, V* sorted_values, K* spare, V* spare_values,
          std::int64_t n) {
  constexpr bool pairs = !std::is_same_v<V, NoValue>;
  const int threads = Pieces(n, (sizeof(K) + sizeof(V)) * static_cast<std::size_t>(n)).threads;
  std::vector<std::int64_t> places;
  const K* from = keys;
  const V* from_values = values;
  for (int shift = 0; shift < 8 * int(sizeof(K)); shift += digit_bits) {
    K* to = from == sorted ? spare : sorted;  // never where it is read from
    V* to_values = from_values == sorted_values ? spare_values : sorted_values;
    if (!pass(Rank<K>(order), shift, from, from_values, to, to_values, n, threads, places)) continue;
    from = to;
    from_values = to_values;
  }
  if (from != sorted) std::copy_n(from, n, sorted);
  if constexpr (pairs)
    if (from_values != sorted_values) std::copy_n(from_values, n, sorted_values);
}

}  // namespace

template <class K>
void sort_keys(Order order, View<K> keys, View<K> sorted, Queue& q) {
  const Storage spare(checked_bytes(keys.size(), 1, sizeof(K)), q);
  q.submit("sort_keys", [=, room = static_cast<K*>(spare.data())] {
    sort<K, NoValue>(order, keys.data, nullptr, sorted.data, nullptr, room, nullptr, keys.size());
  });
}

template <class K, class V>
void sort_pairs(Order order, View<K> keys, View<V> values, View<K> sorted_keys, View<V> sorted_values, Queue& q) {
  const Storage spare(checked_bytes(keys.size(), 1, sizeof(K)), q);
  const Storage spare_values(checked_bytes(keys.size(), 1, sizeof(V)), q);
  q.submit("sort_pairs", [=, room = static_cast<K*>(spare.data()), value_room = static_cast<V*>(spare_values.data())] {
    sort<K, V>(order, keys.data, values.data, sorted_keys.data, sorted_values.data, room, value_room, keys.size());
  });
}

#define INSTANTIATE(K)                                                                               \
  template void sort_keys(Order, View<K>, View<K>, Queue&);                                          \
  template void sort_pairs(Order, View<K>, View<std::int32_t>, View<K>, View<std::int32_t>, Queue&); \
  template void sort_pairs(Order, View<K>, View<std::int64_t>, View<K>, View<std::int64_t>, Queue&);
DEVOBJ_FOR_EACH_PRIM(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
