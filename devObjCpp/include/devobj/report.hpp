// Where the time of a hybrid factorization went.
#pragma once

#include <cstdint>

namespace devobj {

/// Milliseconds of one hybrid factorization. With look-ahead, total is about max(panel + copies + exposed updates, update).
struct HybridReport {
  double total = 0;          ///< from call to return
  double panel = 0;          ///< the CPU factors panels
  double panel_wait = 0;     ///< the CPU waits for the next panel to arrive
  double copy = 0;           ///< copies of panels both ways (GPU only)
  double update = 0;         ///< updates of the matrix on the GPU, next panel and rest (GPU only)
  std::int64_t panels = 0;
  std::int64_t block = 0;    ///< columns of a panel
};

}  // namespace devobj
