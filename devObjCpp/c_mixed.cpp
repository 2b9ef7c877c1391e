// extern "C": mixed-precision solves.
#include "c_support.hpp"
#include "devobj/mixed.hpp"

using namespace devobj;
using namespace devobj::c;

namespace {

/// f(T{}) for the double precision types.
template <class F>
void for_double_type(const Object& object, const char* routine, F&& f) {
  require(object.type == Type::double_precision || object.type == Type::double_complex, routine, ": A is of type '",
          type_name(object.type), "', must be 'double' or 'double complex'");
  object.type == Type::double_precision ? f(double{}) : f(std::complex<double>{});
}

}  // namespace

extern "C" {

devobj_status devobj_gesv_mixed(devobj_handle A, devobj_handle ipiv, devobj_handle B, devobj_method method,
                                int64_t block, int64_t* info, int64_t* iterations) {
  return guard([&] {
    const Object &a = object(A, "gesv_mixed", "A"), &b = object(B, "gesv_mixed", "B");
    View<std::int32_t> p = integers(ipiv, "gesv_mixed", "ipiv");
    same_type("gesv_mixed", Operand{"A", a}, Operand{"B", b});
    const LuOptions options{parse_method(method, "gesv_mixed"), block};
    result(info, "gesv_mixed", "info");
    result(iterations, "gesv_mixed", "iterations");
    for_double_type(a, "gesv_mixed", [&]<class T>(T) {
      const MixedResult done = gesv_mixed(view<T>(a), p, view<T>(b), queue(), options);
      *info = done.info;
      *iterations = done.iterations;
    });
  });
}

devobj_status devobj_gels_mixed(char op, devobj_handle A, devobj_handle B, devobj_method method, int64_t block,
                                int64_t* info, int64_t* iterations) {
  return guard([&] {
    const Op o = parse_op(op, "gels_mixed", "op");
    const Object &a = object(A, "gels_mixed", "A"), &b = object(B, "gels_mixed", "B");
    same_type("gels_mixed", Operand{"A", a}, Operand{"B", b});
    const QrOptions options{parse_method(method, "gels_mixed"), block};
    result(info, "gels_mixed", "info");
    result(iterations, "gels_mixed", "iterations");
    for_double_type(a, "gels_mixed", [&]<class T>(T) {
      const MixedResult done = gels_mixed(o, view<T>(a), view<T>(b), queue(), options);
      *info = done.info;
      *iterations = done.iterations;
    });
  });
}

}  // extern "C"
