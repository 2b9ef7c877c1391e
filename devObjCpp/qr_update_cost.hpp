// What the cost model of the QR updates counts; bench prints it for the fit of the constants.
#pragma once

#include <array>

#include "devobj/qr_update.hpp"

namespace devobj {

/// What a job is made of. Its milliseconds are the sum of these times constants of the backend and the type.
struct UpdateWork {
  double calls = 1;     ///< the call itself, and the routines for whole matrices in an update
  double blocks = 0;    ///< blocks of a chase, or of the reflectors that make Q: launches and small products
  double columns = 0;   ///< columns of the chase's blocks, one after the other
  double heights = 0;   ///< the same by their height: columns rows / 256
  double panels = 0;    ///< columns of the panels of whole factorizations, by their height: columns (1 + rows / 16384)
  double steps = 0;     ///< steps of walks through chains of rotations, by the walks that wait for each other
  double rotations = 0; ///< the same by the number of chains
  double products = 0;  ///< 10^9 multiplications and additions of products
  double traffic = 0;   ///< 10^9 elements copied
  static constexpr int kinds = 9;
  std::array<double, kinds> parts() const { 
    return {calls, blocks, columns, heights, panels, steps, rotations, products, traffic};
  }
};
struct UpdateWorks {
  UpdateWork update, refactor;
};

/// Arguments and errors as qr_update_cost.
template <class T>
UpdateWorks qr_update_work(QrUpdate what, QrForm form, std::int64_t m, std::int64_t n, std::int64_t p, std::int64_t k,
                           bool on_cuda);

}  // namespace devobj
