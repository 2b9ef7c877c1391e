// Poisson's distribution as a table of thresholds. Sums, products and quotients only: the same bits on every machine.
#include <vector>

#include "rng_impl.hpp"

namespace devobj {
namespace {

struct Table {
  std::int32_t lowest;
  std::vector<std::uint64_t> thresholds;  // [k]: P(X <= lowest + k) 2^64; the last is 2^64 - 1, standing for 2^64
};

// The probabilities relative to that of the mode, from it upwards and downwards until they are below 2^-80; the tail at
// either end is summed from its small end, so that its thresholds are exact to a few units of 2^-53 of the tail itself.
Table thresholds_of(double mean) {
  constexpr double negligible = 0x1p-80;
  const auto mode = static_cast<std::int32_t>(mean);
  std::vector<double> down, up = {1};  // down[i]: mode - 1 - i
  double p = 1;
  for (std::int32_t k = mode; k > 0 && p > negligible; --k) down.push_back(p = p * k / mean);
  p = 1;
  for (std::int32_t k = mode + 1; p > negligible; ++k) up.push_back(p = p * mean / k);

  double below = 0, above = 0;
  for (std::size_t i = down.size(); i-- > 0;) below += down[i];
  for (std::size_t i = up.size(); i-- > 0;) above += up[i];
  const double total = below + above;

  Table table{mode - static_cast<std::int32_t>(down.size()), std::vector<std::uint64_t>(down.size() + up.size())};
  auto& t = table.thresholds;
  double tail = 0;
  for (std::size_t i = down.size(); i-- > 0;) {
    tail += down[i];
    t[down.size() - 1 - i] = static_cast<std::uint64_t>(tail / total * 0x1p64);
  }
  tail = 0;
  for (std::size_t i = up.size(); i-- > 0;) {  // P(X > mode + i) is the tail so far
    t[down.size() + i] = ~static_cast<std::uint64_t>(tail / total * 0x1p64);
    tail += up[i];
  }
  return table;
}

}  // namespace

const random::Discrete& Rng::Impl::poisson_table(double mean) {
  if (mean == discrete_here_mean) return discrete_here_of;
  using random::Discrete;
  const Table table = mean > 0 ? thresholds_of(mean) : Table{0, {~std::uint64_t{0}}};
  const auto& t = table.thresholds;
  std::vector<std::int32_t> entries;
  entries.reserve(Discrete::guides + 2 * t.size());
  std::size_t k = 0;
  for (std::uint64_t i = 0; i < Discrete::guides; ++i) {
    while (k + 1 < t.size() && t[k] >> 32 < i << (32 - Discrete::guide_bits)) ++k;
    entries.push_back(static_cast<std::int32_t>(k));
  }
  for (const std::uint64_t x : t) entries.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(x >> 32)));
  for (const std::uint64_t x : t) entries.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(x)));
  discrete_here = std::move(entries);
  discrete_here_of = {reinterpret_cast<const std::uint32_t*>(discrete_here.data()), table.lowest,
                      static_cast<std::int32_t>(t.size())};
  discrete_here_mean = mean;
  return discrete_here_of;
}

const random::Discrete& Rng::Impl::poisson_table(double mean, Queue& q) {
  if (mean == discrete_mean) return discrete_of;
  const random::Discrete& here = poisson_table(mean);
  const auto n = static_cast<std::int64_t>(discrete_here.size());
  Storage fresh(discrete_here.size() * 4, q);
  to_device<std::int32_t>({discrete_here.data(), n, 1, n},
                          View<std::int32_t>(static_cast<std::int32_t*>(fresh.data()), n, 1), q);
  discrete = std::move(fresh);
  discrete_of = {static_cast<const std::uint32_t*>(discrete.data()), here.lowest, here.count};
  discrete_mean = mean;
  return discrete_of;
}

}  // namespace devobj
