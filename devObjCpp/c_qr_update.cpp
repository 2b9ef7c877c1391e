// extern "C": updates of a QR factorization.
#include <array>

#include "c_support.hpp"
#include "devobj/devobj_qr_update.h"
#include "devobj/qr_update.hpp"

using namespace devobj;
using namespace devobj::c;

namespace {

/// An object, or none for handle 0.
const Object* optional_object(devobj_handle handle, const char* routine, const char* argument) {
  return handle == 0 ? nullptr : &object(handle, routine, argument);
}
template <class T> View<T> optional_view(const Object* object) { return object == nullptr ? View<T>{} : view<T>(*object); }

struct OptionalOperand {
  const char* name;
  const Object* object;
};
/// Error unless all that are there have R's type.
template <std::size_t N>
void same_type_as_R(const char* routine, const Object& R, const std::array<OptionalOperand, N>& others) {
  for (const OptionalOperand& other : others)
    if (other.object != nullptr) same_type(routine, Operand{"R", R}, Operand{other.name, *other.object});
}

QrUpdateOptions update_options(const char* routine, const devobj_update_method& method, std::int64_t block) {
  const int number = number_in(method);
  require(0 <= number && number <= 2, routine, ": method is ", number, ", must be 0 (auto), 1 (update) or 2 (refactor)");
  return {static_cast<UpdateMethod>(number), block};
}


}  // namespace

extern "C" {

devobj_status devobj_qr_add_cols(devobj_handle Q, devobj_handle R, int64_t k, devobj_handle U, devobj_handle Q1,
                                 devobj_handle R1, devobj_handle d, devobj_handle d1, devobj_handle b,
                                 devobj_update_method method, int64_t block) {
  return guard([&] {
    const char* me = "qr_add_cols";
    const Object &r = object(R, me, "R"), &u = object(U, me, "U"), &r1 = object(R1, me, "R1");
    const Object *q = optional_object(Q, me, "Q"), *q1 = optional_object(Q1, me, "Q1");
    const Object *x = optional_object(d, me, "d"), *x1 = optional_object(d1, me, "d1"), *y = optional_object(b, me, "b");
    same_type_as_R<7>(me, r,
                      {{{"Q", q}, {"U", &u}, {"Q1", q1}, {"R1", &r1}, {"d", x}, {"d1", x1}, {"b", y}}});
    const QrUpdateOptions options = update_options(me, method, block);
    require(1 <= k && k <= r.cols + 1, me, ": k is ", k, ", must be 1 to ", r.cols + 1);
    for_type(r.type, me, [&]<class T>(T) {
      qr_add_cols<T>(k - 1, optional_view<T>(q), view<T>(r), view<T>(u), optional_view<T>(q1), view<T>(r1), queue(),
                     {optional_view<T>(x), optional_view<T>(x1), optional_view<T>(y)}, options);
    });
  });
}

devobj_status devobj_qr_remove_cols(devobj_handle Q, devobj_handle R, int64_t k, int64_t p, devobj_handle Q1,
                                    devobj_handle R1, devobj_handle d, devobj_handle d1, devobj_update_method method,
                                    int64_t block) {
  return guard([&] {
    const char* me = "qr_remove_cols";
    const Object& r = object(R, me, "R");
    require(0 <= p && p <= r.cols, me, ": p is ", p, ", must be 0 to ", r.cols, ", the number of columns");
    require(1 <= k && k <= r.cols - p + 1, me, ": k is ", k, ", must be 1 to ", r.cols - p + 1, ", since p is ", p,
            " of ", r.cols, " columns");
    const Object& r1 = object(R1, me, "R1");
    const Object *q = optional_object(Q, me, "Q"), *q1 = optional_object(Q1, me, "Q1");
    const Object *x = optional_object(d, me, "d"), *x1 = optional_object(d1, me, "d1");
    same_type_as_R<5>(me, r, {{{"Q", q}, {"Q1", q1}, {"R1", &r1}, {"d", x}, {"d1", x1}}});
    const QrUpdateOptions options = update_options(me, method, block);
    for_type(r.type, me, [&]<class T>(T) {
      qr_remove_cols<T>(k - 1, p, optional_view<T>(q), view<T>(r), optional_view<T>(q1), view<T>(r1), queue(),
                        {optional_view<T>(x), optional_view<T>(x1), {}}, options);
    });
  });
}

devobj_status devobj_qr_add_rows(devobj_handle Q, devobj_handle R, int64_t k, devobj_handle U, devobj_handle Q1,
                                 devobj_handle R1, devobj_handle d, devobj_handle d1, devobj_handle b,
                                 devobj_update_method method, int64_t block) {
  return guard([&] {
    const char* me = "qr_add_rows";
    const Object &r = object(R, me, "R"), &u = object(U, me, "U"), &r1 = object(R1, me, "R1");
    const Object *q = optional_object(Q, me, "Q"), *q1 = optional_object(Q1, me, "Q1");
    const Object *x = optional_object(d, me, "d"), *x1 = optional_object(d1, me, "d1"), *y = optional_object(b, me, "b");
    same_type_as_R<7>(me, r,
                      {{{"Q", q}, {"U", &u}, {"Q1", q1}, {"R1", &r1}, {"d", x}, {"d1", x1}, {"b", y}}});
    const QrUpdateOptions options = update_options(me, method, block);
    if (q != nullptr) require(1 <= k && k <= q->rows + 1, me, ": k is ", k, ", must be 1 to ", q->rows + 1);
    for_type(r.type, me, [&]<class T>(T) {
      qr_add_rows<T>(q == nullptr ? 0 : k - 1, optional_view<T>(q), view<T>(r), view<T>(u), optional_view<T>(q1), view<T>(r1), queue(),
                     {optional_view<T>(x), optional_view<T>(x1), optional_view<T>(y)}, options);
    });
  });
}

devobj_status devobj_qr_remove_rows(devobj_handle Q, devobj_handle R, int64_t k, int64_t p, devobj_handle U,
                                    devobj_handle Q1, devobj_handle R1, devobj_handle d, devobj_handle d1,
                                    devobj_handle b, devobj_update_method method, int64_t block, int64_t* info) {
  return guard([&] {
    const char* me = "qr_remove_rows";
    const Object *q = optional_object(Q, me, "Q"), *u = optional_object(U, me, "U");
    require(p >= 0, me, ": p is ", p, ", must not be negative");
    if (q != nullptr) {
      require(p <= q->rows, me, ": p is ", p, ", must be 0 to ", q->rows, ", the number of rows");
      require(1 <= k && k <= q->rows - p + 1, me, ": k is ", k, ", must be 1 to ", q->rows - p + 1, ", since p is ", p,
              " of ", q->rows, " rows");
    }
    const Object &r = object(R, me, "R"), &r1 = object(R1, me, "R1");
    const Object* q1 = optional_object(Q1, me, "Q1");
    const Object *x = optional_object(d, me, "d"), *x1 = optional_object(d1, me, "d1"), *y = optional_object(b, me, "b");
    same_type_as_R<7>(me, r, {{{"Q", q}, {"U", u}, {"Q1", q1}, {"R1", &r1}, {"d", x}, {"d1", x1}, {"b", y}}});
    const QrUpdateOptions options = update_options(me, method, block);
    result(info, me, "info");
    for_type(r.type, me, [&]<class T>(T) {
      *info = qr_remove_rows<T>(q == nullptr ? 0 : k - 1, p, optional_view<T>(q), view<T>(r), optional_view<T>(u), optional_view<T>(q1),
                                view<T>(r1), queue(),
                                {optional_view<T>(x), optional_view<T>(x1), optional_view<T>(y)}, options);
    });
  });
}

devobj_status devobj_qr_rank_update(devobj_handle U, devobj_handle V, devobj_handle Q, devobj_handle R,
                                    devobj_handle d, devobj_handle b, devobj_update_method method, int64_t block) {
  return guard([&] {
    const char* me = "qr_rank_update";
    const Object &r = object(R, me, "R"), &u = object(U, me, "U"), &v = object(V, me, "V");
    const Object *q = optional_object(Q, me, "Q"), *x = optional_object(d, me, "d"), *y = optional_object(b, me, "b");
    same_type_as_R<5>(me, r, {{{"Q", q}, {"U", &u}, {"V", &v}, {"d", x}, {"b", y}}});
    const QrUpdateOptions options = update_options(me, method, block);
    for_type(r.type, me, [&]<class T>(T) {
      qr_rank_update<T>(view<T>(u), view<T>(v), optional_view<T>(q), view<T>(r), queue(),
                        {optional_view<T>(x), {}, optional_view<T>(y)}, options);
    });
  });
}

devobj_status devobj_qr_update_cost(devobj_qr_update what, devobj_qr_form form, devobj_type type, int64_t m, int64_t n,
                                    int64_t p, int64_t k, double* update_ms, double* refactor_ms) {
  return guard([&] {
    const char* me = "qr_update_cost";
    const int update = number_in(what), shape = number_in(form), element = number_in(type);
    require(1 <= update && update <= 5, me, ": what is ", update, ", must be 1 (add_cols) to 5 (rank_update)");
    require(1 <= shape && shape <= 3, me, ": form is ", shape, ", must be 1 (full), 2 (economic) or 3 (without Q)");
    require(1 <= element && element <= 4, me, ": type is ", element, ", must be 1 (real) to 4 (double complex)");
    require(k >= 1, me, ": k is ", k, ", must be at least 1");
    result(update_ms, me, "update_ms");
    result(refactor_ms, me, "refactor_ms");
    for_type(static_cast<Type>(element), me, [&]<class T>(T) {
      const QrUpdateCost cost = qr_update_cost<T>(static_cast<QrUpdate>(update), static_cast<QrForm>(shape), m, n, p,
                                                  k - 1, queue());
      *update_ms = cost.update;
      *refactor_ms = cost.refactor;
    });
  });
}

}  // extern "C"
