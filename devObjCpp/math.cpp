#include "devobj/math.hpp"

#include <atomic>

#include "devobj/error.hpp"
#include "environment.hpp"

namespace devobj {
namespace {

std::atomic<Math> chosen = Math::automatic;

}  // namespace

void set_math(Math math) {
  require(math == Math::automatic || math == Math::strict, "set_math: math is ", static_cast<int>(math),
          ", must be 0 (auto) or 1 (strict)");
  chosen = math;
}

Math math_in_use() {
  return environment().strict_math ? Math::strict : chosen.load();
}

}  // namespace devobj
