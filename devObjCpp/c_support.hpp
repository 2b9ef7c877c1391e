// What every extern "C" function is made of: the guard, handles to views, letters to enums.
#pragma once

#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "devobj/devobj.h"
#include "devobj/error.hpp"
#include "registry.hpp"
#include "runtime.hpp"
#include "type_name.hpp"

namespace devobj::c {

/// Keeps `text` for devobj_last_error. Never throws.
void set_last_error(const char* text) noexcept;

/// Runs f; an exception becomes its status and the thread's last error. The one try/catch of the C interface.
template <class F> devobj_status guard(F&& f) noexcept {
  try {
    f();
    return DEVOBJ_SUCCESS;
  } catch (const Error& e) {
    set_last_error(e.what());
    return static_cast<devobj_status>(e.status());
  } catch (const std::bad_alloc&) {
    set_last_error("out of host memory");
    return DEVOBJ_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    set_last_error(e.what());
    return DEVOBJ_INTERNAL_ERROR;
  } catch (...) {
    set_last_error("unknown exception");
    return DEVOBJ_INTERNAL_ERROR;
  }
}

inline Queue& queue() { return runtime::queue(); }

/// The object of a handle. Errors: not_open, invalid_handle (null, freed or foreign), invalid_argument for an object of
/// another GPU or backend.
Object& object(devobj_handle handle, const char* routine, const char* argument);

/// What is behind a handle that is no array; `kind` in words, as it was added with. Errors: as for object.
void* content(devobj_handle handle, const char* kind, const char* routine, const char* argument);

/// A new handle for `content`, which ends with it. It belongs to the thread's queue.
devobj_handle add_content(const char* kind, std::shared_ptr<void> content);

/// Error unless the object's type is `type`.
void require_type(const Object& object, Type type, const char* routine, const char* argument);

/// The object as a view of T, whose type has been checked.
template <class T> View<T> view(const Object& object) {
  View<T> v;
  v.data = object.rows == 0 || object.cols == 0 ? nullptr : static_cast<T*>(object.data);
  v.rows = object.rows;
  v.cols = object.cols;
  v.ld = object.ld;
  return v;
}

/// An integer object (ipiv, perm) as a view.
View<std::int32_t> integers(devobj_handle handle, const char* routine, const char* argument);

/// Error unless all operands have the type of the first.
struct Operand {
  const char* name;
  const Object& object;
};
template <class... Rest> void same_type(const char* routine, Operand first, Rest... rest) {
  auto check = [&](const Operand& other) {
    require(other.object.type == first.object.type, routine, ": ", other.name, " is of type '",
            type_name(other.object.type), "', but ", first.name, " is of type '", type_name(first.object.type), "'");
  };
  (check(rest), ...);
}

/// Calls f(T{}) for the scalar type; error for integers.
template <class F> void for_type(Type type, const char* routine, F&& f) {
  switch (type) {
    case Type::real: return f(float{});
    case Type::double_precision: return f(double{});
    case Type::complex: return f(std::complex<float>{});
    case Type::double_complex: return f(std::complex<double>{});
    case Type::integer: break;
  }
  fail(Status::invalid_argument, routine, ": not for objects of type 'integer'");
}

/// The factor in the object's type; error if a real object is given an imaginary part.
template <class T> T to_scalar(devobj_scalar value, const char* routine, const char* argument) {
  if constexpr (is_complex<T>) {
    return T(static_cast<real_t<T>>(value.re), static_cast<real_t<T>>(value.im));
  } else {
    require(value.im == 0, routine, ": ", argument, " is (", value.re, ", ", value.im,
            "), but the objects are real");
    return static_cast<T>(value.re);
  }
}
template <class T> devobj_scalar from_scalar(T value) {
  if constexpr (is_complex<T>)
    return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
  else
    return {static_cast<double>(value), 0.0};
}

Op parse_op(char letter, const char* routine, const char* argument);
Uplo parse_uplo(char letter, const char* routine, const char* argument);  ///< U, L
Uplo parse_part(char letter, const char* routine, const char* argument);  ///< U, L, and G or A for all
Diag parse_diag(char letter, const char* routine, const char* argument);
Side parse_side(char letter, const char* routine, const char* argument);
Norm parse_norm(char letter, const char* routine, const char* argument);
Method parse_method(const devobj_method& method, const char* routine);

/// The number in an enum of the C interface. C may pass any; in C++ an enum that holds a number far from its own must
/// not even be read as one.
template <class E> int number_in(const E& value) {
  static_assert(sizeof(E) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

/// Error if a pointer for a result is null.
template <class R> R& result(R* pointer, const char* routine, const char* argument) {
  require(pointer != nullptr, routine, ": ", argument, " is a null pointer");
  return *pointer;
}

}  // namespace devobj::c
