// The library's environment variables, read once and checked.
#pragma once

#include "devobj/queue.hpp"
#include "tuning_file.hpp"

namespace devobj {

struct Environment {
  Backend backend = Backend::automatic;            ///< DEVOBJ_BACKEND = auto, cuda, host
  int device = 0;                                  ///< DEVOBJ_DEVICE = 0, 1, ...
  bool check = false;                              ///< DEVOBJ_CHECK = 0, 1
  HostMode host_mode = HostMode::synchronous;      ///< DEVOBJ_HOST_QUEUE = synchronous, worker
  bool strict_math = false;                        ///< DEVOBJ_MATH = auto, strict
  TuningLines tuning;                              ///< DEVOBJ_TUNING = a file's name
};

/// Reads the variables at the first call. Error: invalid_argument naming variable and value (at every call until mended).
const Environment& environment();

}  // namespace devobj
