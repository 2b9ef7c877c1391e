// extern "C": many small matrices at once.
#include "c_support.hpp"
#include "devobj/batched.hpp"

using namespace devobj;
using namespace devobj::c;

extern "C" {

devobj_status devobj_getrf_batched(int64_t batch, devobj_handle A, devobj_handle ipiv, devobj_handle info) {
  return guard([&] {
    constexpr const char* name = "getrf_batched";
    const Object& a = object(A, name, "A");
    const View<std::int32_t> p = integers(ipiv, name, "ipiv"), i = integers(info, name, "info");
    for_type(a.type, name, [&]<class T>(T) { getrf_batched(batch, view<T>(a), p, i, queue()); });
  });
}

devobj_status devobj_getrs_batched(char op, int64_t batch, devobj_handle LU, devobj_handle ipiv, devobj_handle B) {
  return guard([&] {
    constexpr const char* name = "getrs_batched";
    const Op o = parse_op(op, name, "op");
    const Object &lu = object(LU, name, "LU"), &b = object(B, name, "B");
    const View<std::int32_t> p = integers(ipiv, name, "ipiv");
    same_type(name, Operand{"LU", lu}, Operand{"B", b});
    for_type(lu.type, name, [&]<class T>(T) { getrs_batched(o, batch, view<T>(lu), p, view<T>(b), queue()); });
  });
}

devobj_status devobj_gesv_batched(int64_t batch, devobj_handle A, devobj_handle ipiv, devobj_handle B,
                                  devobj_handle info) {
  return guard([&] {
    constexpr const char* name = "gesv_batched";
    const Object &a = object(A, name, "A"), &b = object(B, name, "B");
    const View<std::int32_t> p = integers(ipiv, name, "ipiv"), i = integers(info, name, "info");
    same_type(name, Operand{"A", a}, Operand{"B", b});
    for_type(a.type, name, [&]<class T>(T) { gesv_batched(batch, view<T>(a), p, view<T>(b), i, queue()); });
  });
}

devobj_status devobj_geqrf_batched(int64_t batch, devobj_handle A, devobj_handle tau) {
  return guard([&] {
    constexpr const char* name = "geqrf_batched";
    const Object &a = object(A, name, "A"), &t = object(tau, name, "tau");
    same_type(name, Operand{"A", a}, Operand{"tau", t});
    for_type(a.type, name, [&]<class T>(T) { geqrf_batched(batch, view<T>(a), view<T>(t), queue()); });
  });
}

devobj_status devobj_gels_batched(char op, int64_t batch, devobj_handle A, devobj_handle B, devobj_handle info) {
  return guard([&] {
    constexpr const char* name = "gels_batched";
    const Op o = parse_op(op, name, "op");
    const Object &a = object(A, name, "A"), &b = object(B, name, "B");
    const View<std::int32_t> i = integers(info, name, "info");
    same_type(name, Operand{"A", a}, Operand{"B", b});
    for_type(a.type, name, [&]<class T>(T) { gels_batched(o, batch, view<T>(a), view<T>(b), i, queue()); });
  });
}

}  // extern "C"
