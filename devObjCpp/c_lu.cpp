// extern "C": LU.
#include "c_support.hpp"
#include "devobj/lu.hpp"

using namespace devobj;
using namespace devobj::c;

extern "C" {

devobj_status devobj_getrf(devobj_handle A, devobj_handle ipiv, devobj_method method, int64_t block, int64_t* info) {
  return guard([&] {
    const Object& a = object(A, "getrf", "A");
    View<std::int32_t> p = integers(ipiv, "getrf", "ipiv");
    const LuOptions options{parse_method(method, "getrf"), block};
    result(info, "getrf", "info");
    for_type(a.type, "getrf", [&]<class T>(T) { *info = getrf(view<T>(a), p, queue(), options); });
  });
}

devobj_status devobj_getrs(char op, devobj_handle LU, devobj_handle ipiv, devobj_handle B) {
  return guard([&] {
    const Op o = parse_op(op, "getrs", "op");
    const Object &lu = object(LU, "getrs", "LU"), &b = object(B, "getrs", "B");
    View<std::int32_t> p = integers(ipiv, "getrs", "ipiv");
    same_type("getrs", Operand{"LU", lu}, Operand{"B", b});
    for_type(lu.type, "getrs", [&]<class T>(T) { getrs(o, view<T>(lu), p, view<T>(b), queue()); });
  });
}

devobj_status devobj_gesv(devobj_handle A, devobj_handle ipiv, devobj_handle B, devobj_method method, int64_t block,
                          int64_t* info) {
  return guard([&] {
    const Object &a = object(A, "gesv", "A"), &b = object(B, "gesv", "B");
    View<std::int32_t> p = integers(ipiv, "gesv", "ipiv");
    same_type("gesv", Operand{"A", a}, Operand{"B", b});
    const LuOptions options{parse_method(method, "gesv"), block};
    result(info, "gesv", "info");
    for_type(a.type, "gesv", [&]<class T>(T) { *info = gesv(view<T>(a), p, view<T>(b), queue(), options); });
  });
}

devobj_status devobj_getri(devobj_handle A, devobj_handle ipiv, int64_t* info) {
  return guard([&] {
    const Object& a = object(A, "getri", "A");
    View<std::int32_t> p = integers(ipiv, "getri", "ipiv");
    result(info, "getri", "info");
    for_type(a.type, "getri", [&]<class T>(T) { *info = getri(view<T>(a), p, queue()); });
  });
}

devobj_status devobj_lu_unpack(devobj_handle LU, devobj_handle ipiv, devobj_handle L, devobj_handle U,
                               devobj_handle perm) {
  return guard([&] {
    const Object &lu = object(LU, "lu_unpack", "LU"), &l = object(L, "lu_unpack", "L"), &u = object(U, "lu_unpack", "U");
    View<std::int32_t> p = integers(ipiv, "lu_unpack", "ipiv"), r = integers(perm, "lu_unpack", "perm");
    same_type("lu_unpack", Operand{"LU", lu}, Operand{"L", l}, Operand{"U", u});
    for_type(lu.type, "lu_unpack",
             [&]<class T>(T) { lu_unpack(view<T>(lu), p, view<T>(l), view<T>(u), r, queue()); });
  });
}

}  // extern "C"
