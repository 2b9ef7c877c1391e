#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "raw_rng.hpp"

namespace bench {
namespace {

/// memset by a thread for each core.
void memset_by_all(char* out, std::size_t bytes) {
  const std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t)
    running.emplace_back(
        [=] { std::memset(out + bytes * t / threads, 0x3e, bytes * (t + 1) / threads - bytes * t / threads); });
  for (std::thread& thread : running) thread.join();
}

template <class T, class Engine, class Distribution>
Fill numbers(std::shared_ptr<Engine> engine, Distribution distribution, void* out, std::int64_t count) {
  return [=]() mutable {
    T* to = static_cast<T*>(out);
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(distribution(*engine));
  };
}

template <class Engine>
Fill std_fill(std::shared_ptr<Engine> e, const std::string& routine, char type, void* out, std::int64_t count) {
  if (type == 'i') {
    using I = std::int32_t;
    if (routine == "words")
      return numbers<I>(
          e, [](Engine& g) { return static_cast<std::uint32_t>(g()); }, out, count);
    if (routine == "integers") return numbers<I>(e, std::uniform_int_distribution<I>(1, 6), out, count);
    if (routine == "poisson") return numbers<I>(e, std::poisson_distribution<I>(20), out, count);
    if (routine == "bernoulli") return numbers<I>(e, std::bernoulli_distribution(0.3), out, count);
    return {};
  }
  const auto real = [&]<class R>(R) -> Fill {
    if (routine == "uniform") return numbers<R>(e, std::uniform_real_distribution<R>(), out, count);
    if (routine == "normal") return numbers<R>(e, std::normal_distribution<R>(), out, count);
    if (routine == "lognormal") return numbers<R>(e, std::lognormal_distribution<R>(), out, count);
    if (routine == "exponential") return numbers<R>(e, std::exponential_distribution<R>(), out, count);
    return {};
  };
  return type == 's' ? real(float{}) : real(double{});
}

template <class Engine>
RngPeer std_peer(const char* name) {
  auto engine = std::make_shared<Engine>(1u);
  return {name, [engine](const std::string& routine, char type, void* out, std::int64_t count) {
            return std_fill(engine, routine, type, out, count);
          }};
}

}  // namespace

std::vector<RngPeer> std_peers() {
  return {{"memset",
           [](const std::string&, char type, void* out, std::int64_t count) -> Fill {
             const std::size_t bytes = static_cast<std::size_t>(count) * (type == 'd' ? 8 : 4);
             if (bytes < std::size_t{1} << 20) return {};  // nothing for all cores
             return [=] { memset_by_all(static_cast<char*>(out), bytes); };
           }},
          std_peer<std::minstd_rand>("std::minstd_rand"),
          std_peer<std::mt19937>("std::mt19937"),
          std_peer<std::mt19937_64>("std::mt19937_64")};
}

}  // namespace bench
