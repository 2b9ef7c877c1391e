// extern "C": QR and least squares.
#include "c_support.hpp"
#include "devobj/qr.hpp"

using namespace devobj;
using namespace devobj::c;

extern "C" {

devobj_status devobj_geqrf(devobj_handle A, devobj_handle tau, devobj_method method, int64_t block, int64_t* info) {
  return guard([&] {
    const Object &a = object(A, "geqrf", "A"), &t = object(tau, "geqrf", "tau");
    same_type("geqrf", Operand{"A", a}, Operand{"tau", t});
    const QrOptions options{parse_method(method, "geqrf"), block};
    for_type(a.type, "geqrf", [&]<class T>(T) { geqrf(view<T>(a), view<T>(t), queue(), options); });
    if (info != nullptr) *info = 0;
  });
}

devobj_status devobj_orgqr(devobj_handle A, devobj_handle tau) {
  return guard([&] {
    const Object &a = object(A, "orgqr", "A"), &t = object(tau, "orgqr", "tau");
    same_type("orgqr", Operand{"A", a}, Operand{"tau", t});
    for_type(a.type, "orgqr", [&]<class T>(T) { orgqr(view<T>(a), view<T>(t), queue()); });
  });
}

devobj_status devobj_ormqr(char side, char op, devobj_handle V, devobj_handle tau, devobj_handle C) {
  return guard([&] {
    const Side s = parse_side(side, "ormqr", "side");
    const Op o = parse_op(op, "ormqr", "op");
    const Object &v = object(V, "ormqr", "V"), &t = object(tau, "ormqr", "tau"), &c = object(C, "ormqr", "C");
    same_type("ormqr", Operand{"V", v}, Operand{"tau", t}, Operand{"C", c});
    for_type(v.type, "ormqr", [&]<class T>(T) { ormqr(s, o, view<T>(v), view<T>(t), view<T>(c), queue()); });
  });
}

devobj_status devobj_gels(char op, devobj_handle A, devobj_handle B, devobj_method method, int64_t block,
                          int64_t* info) {
  return guard([&] {
    const Op o = parse_op(op, "gels", "op");
    const Object &a = object(A, "gels", "A"), &b = object(B, "gels", "B");
    same_type("gels", Operand{"A", a}, Operand{"B", b});
    const QrOptions options{parse_method(method, "gels"), block};
    result(info, "gels", "info");
    for_type(a.type, "gels", [&]<class T>(T) { *info = gels(o, view<T>(a), view<T>(b), queue(), options); });
  });
}

devobj_status devobj_qr(devobj_handle A, devobj_handle Q, devobj_handle R, devobj_method method, int64_t block) {
  return guard([&] {
    const Object &a = object(A, "qr", "A"), &qo = object(Q, "qr", "Q"), &r = object(R, "qr", "R");
    same_type("qr", Operand{"A", a}, Operand{"Q", qo}, Operand{"R", r});
    const QrOptions options{parse_method(method, "qr"), block};
    for_type(a.type, "qr", [&]<class T>(T) { qr(view<T>(a), view<T>(qo), view<T>(r), queue(), options); });
  });
}

}  // extern "C"
