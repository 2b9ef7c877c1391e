// The element types in words, for messages.
#pragma once

#include "devobj/types.hpp"

namespace devobj {

constexpr const char* type_name(Type type) {
  switch (type) {
    case Type::real: return "real";
    case Type::double_precision: return "double";
    case Type::complex: return "complex";
    case Type::double_complex: return "double complex";
    case Type::integer: return "integer";
  }
  return "unknown";
}

}  // namespace devobj
