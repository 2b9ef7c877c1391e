// The functions of testing.hpp for the types that the tests have, once for all programs and optimised: references and
// comparisons are most of what some tests do.
#include "testing.hpp"

#include "prims_testing.hpp"

namespace devobj::test {

#define DEVOBJ_TESTING_HERE
DEVOBJ_TESTING(DEVOBJ_TESTING_HERE)

// Each rank before its position in one number.
std::vector<std::int64_t> positions_in_order(const std::vector<std::uint64_t>& ranks) {
  std::vector<unsigned __int128> keys;
  keys.reserve(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) keys.push_back((static_cast<unsigned __int128>(ranks[i]) << 64) | i);
  std::sort(keys.begin(), keys.end());
  std::vector<std::int64_t> positions;
  positions.reserve(keys.size());
  for (const unsigned __int128 key : keys) positions.push_back(static_cast<std::int64_t>(key));
  return positions;
}

}  // namespace devobj::test
