// A short piece of work through the C interface, to see that the library works.
#pragma once

#include <string>
#include <vector>

#include "devobj/devobj.h"
#include "opened.hpp"

namespace devobj::test {

/// The sum of the squares of 1 ... 10 by way of the library: "385", or the error.
inline std::string some_work() {
  devobj_handle x = 0;
  std::vector<double> numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  devobj_scalar dot = {};
  std::string failure;
  auto works = [&](devobj_status s) {
    if (s != DEVOBJ_SUCCESS) failure = std::to_string(s).append(" ").append(devobj_last_error());
    return s == DEVOBJ_SUCCESS;
  };
  if (!works(devobj_allocate(DEVOBJ_DOUBLE, 10, 1, &x)) ||
      !works(devobj_to_device(DEVOBJ_DOUBLE, columns(numbers.data(), 10, 1), x)) || !works(devobj_dotu(x, x, &dot)) ||
      !works(devobj_free(x)))
    return failure;
  return std::to_string(static_cast<int>(dot.re));
}

}  // namespace devobj::test
