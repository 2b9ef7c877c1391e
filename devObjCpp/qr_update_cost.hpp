// What the cost model of the QR updates counts; bench prints it for the fit of the constants.
#pragma once

#include <array>

#include "devobj/qr_update.hpp"

namespace devobj {

/// What a job is made of. Its milliseconds are the sum of these times constants of the backend and the type.
struct UpdateWork {
  double calls = 1;     ///< the call itself
  double blocks = 0;    ///< blocks of a chase: launches and small products
  double columns = 0;   ///< columns of the chase's blocks, one after the other, by their height: columns (1 + rows / 256)
  double panels = 0;    ///< columns of the panels of whole factorizations, by their height: columns (1 + rows / 8192)
  double products = 0;  ///< 10^9 multiplications and additions of products
  double traffic = 0;   ///< 10^9 elements copied
  std::array<double, 6> parts() const { return {calls, blocks, columns, panels, products, traffic}; }
};
struct UpdateWorks {
  UpdateWork update, refactor;
};

/// Arguments and errors as qr_update_cost.
template <class T>
UpdateWorks qr_update_work(QrUpdate what, QrForm form, std::int64_t m, std::int64_t n, std::int64_t p, std::int64_t k,
                           bool on_cuda);

}  // namespace devobj
