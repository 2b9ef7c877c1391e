#include "environment.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <mutex>
#include <string>
#include <string_view>

#include "devobj/error.hpp"

namespace devobj {
namespace {

std::string_view value_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

Environment read() {
  Environment e;
  if (auto v = value_of("DEVOBJ_BACKEND"); !v.empty()) {
    require(v == "auto" || v == "cuda" || v == "host", "environment variable DEVOBJ_BACKEND is '", v,
            "', must be auto, cuda or host");
    e.backend = v == "cuda" ? Backend::cuda : v == "host" ? Backend::host : Backend::automatic;
  }
  if (auto v = value_of("DEVOBJ_DEVICE"); !v.empty()) {
    auto [end, error] = std::from_chars(v.data(), v.data() + v.size(), e.device);
    require(error == std::errc() && end == v.data() + v.size() && e.device >= 0, "environment variable DEVOBJ_DEVICE is '",
            v, "', must be a device's number from 0");
  }
  if (auto v = value_of("DEVOBJ_CHECK"); !v.empty()) {
    require(v == "0" || v == "1", "environment variable DEVOBJ_CHECK is '", v, "', must be 0 or 1");
    e.check = v == "1";
  }
  if (auto v = value_of("DEVOBJ_HOST_QUEUE"); !v.empty()) {
    require(v == "synchronous" || v == "worker", "environment variable DEVOBJ_HOST_QUEUE is '", v,
            "', must be synchronous or worker");
    e.host_mode = v == "worker" ? HostMode::worker : HostMode::synchronous;
  }
  if (auto v = value_of("DEVOBJ_MATH"); !v.empty()) {
    require(v == "auto" || v == "strict", "environment variable DEVOBJ_MATH is '", v, "', must be auto or strict");
    e.strict_math = v == "strict";
  }
  if (auto v = value_of("DEVOBJ_TUNING"); !v.empty()) e.tuning = read_tuning(std::string(v));
  return e;
}

}  // namespace

const Environment& environment() {
  static std::mutex mutex;
  static std::optional<Environment> known;
  std::lock_guard lock(mutex);
  if (!known) known = read();
  return *known;
}

}  // namespace devobj
