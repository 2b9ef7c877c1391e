// Errors: the caller's and the machine's faults are thrown as Error; faults of a matrix are LAPACK's info.
#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>

namespace devobj {

/// What went wrong; the same numbers as devobj_status in devobj.h.
enum class Status : int {
  success = 0,
  not_open = 1,          ///< no open_devObjects / devobj_open before this call
  invalid_argument = 2,  ///< an argument's value, shape or type; nothing was written
  invalid_handle = 3,    ///< a null, freed, foreign or wrong-kind handle
  out_of_memory = 4,     ///< host or device memory; every object is as before
  no_device = 5,         ///< the CUDA backend was asked for and cannot be had
  device_error = 6,      ///< a CUDA or cuBLAS call failed
  not_supported = 7,     ///< this build or backend has no such thing
  internal_error = 8
};

class Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& what) : std::runtime_error(what), status_(status) {}
  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

/// Throws Error with a message put together from the parts, e.g. fail(Status::invalid_argument, "gemm: k is ", k).
template <class... Parts> [[noreturn]] void fail(Status status, const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error(status, text.str());
}

/// Checks one argument; the message names the routine, the argument and both values.
template <class... Parts> inline void require(bool ok, const Parts&... parts) {
  if (!ok) [[unlikely]]
    fail(Status::invalid_argument, parts...);
}

}  // namespace devobj
