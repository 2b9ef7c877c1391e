// extern "C": QR of band matrices by Givens rotations.
#include "c_support.hpp"
#include "devobj/givens.hpp"

using namespace devobj;
using namespace devobj::c;

namespace {

/// Error unless C has the real type of the other object.
void require_real(const char* routine, const Object& C, const char* name, const Object& other) {
  const Type wanted = other.type == Type::complex          ? Type::real
                      : other.type == Type::double_complex ? Type::double_precision
                                                           : other.type;
  require(C.type == wanted, routine, ": C is of type '", type_name(C.type), "', but ", name, " is of type '",
          type_name(other.type), "'");
}

}  // namespace

extern "C" {

devobj_status devobj_band_qr(devobj_handle AB, int64_t kl, int64_t ku, devobj_handle C, devobj_handle S,
                             devobj_handle R) {
  return guard([&] {
    const Object &ab = object(AB, "band_qr", "AB"), &c = object(C, "band_qr", "C"), &s = object(S, "band_qr", "S"),
                 &r = object(R, "band_qr", "R");
    same_type("band_qr", Operand{"AB", ab}, Operand{"S", s}, Operand{"R", r});
    require_real("band_qr", c, "AB", ab);
    for_type(ab.type, "band_qr",
             [&]<class T>(T) { band_qr<T>(view<T>(ab), kl, ku, view<real_t<T>>(c), view<T>(s), view<T>(r), queue()); });
  });
}

devobj_status devobj_band_qr_apply(char op, devobj_handle C, devobj_handle S, devobj_handle B) {
  return guard([&] {
    const Op o = parse_op(op, "band_qr_apply", "op");
    const Object &c = object(C, "band_qr_apply", "C"), &s = object(S, "band_qr_apply", "S"),
                 &b = object(B, "band_qr_apply", "B");
    same_type("band_qr_apply", Operand{"S", s}, Operand{"B", b});
    require_real("band_qr_apply", c, "S", s);
    for_type(s.type, "band_qr_apply",
             [&]<class T>(T) { band_qr_apply<T>(o, view<real_t<T>>(c), view<T>(s), view<T>(b), queue()); });
  });
}

devobj_status devobj_band_qr_solve(devobj_handle C, devobj_handle S, devobj_handle R, devobj_handle B, int64_t* info) {
  return guard([&] {
    const Object &c = object(C, "band_qr_solve", "C"), &s = object(S, "band_qr_solve", "S"),
                 &r = object(R, "band_qr_solve", "R"), &b = object(B, "band_qr_solve", "B");
    same_type("band_qr_solve", Operand{"S", s}, Operand{"R", r}, Operand{"B", b});
    require_real("band_qr_solve", c, "S", s);
    result(info, "band_qr_solve", "info");
    for_type(s.type, "band_qr_solve", [&]<class T>(T) {
      *info = band_qr_solve<T>(view<real_t<T>>(c), view<T>(s), view<T>(r), view<T>(b), queue());
    });
  });
}

}  // extern "C"
