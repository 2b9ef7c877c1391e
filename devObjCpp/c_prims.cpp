// extern "C": the parallel primitives.
#include <cmath>

#include "c_support.hpp"
#include "devobj/prims.hpp"

using namespace devobj;
using namespace devobj::c;

namespace {

/// Calls f(T{}) for integer, real and double; error for complex.
template <class F>
void for_prim_type(const Object& o, const char* routine, const char* argument, F&& f) {
  switch (o.type) {
    case Type::integer:
      return f(std::int32_t{});
    case Type::real:
      return f(float{});
    case Type::double_precision:
      return f(double{});
    default:
      break;
  }
  fail(Status::invalid_argument, routine, ": ", argument, " is of type '", type_name(o.type),
       "', must be integer, real or double");
}

Scan scan_kind(const devobj_scan_kind& kind) {
  return static_cast<Scan>(number_in(kind));
}
Order order_of(const devobj_order& order) {
  return static_cast<Order>(number_in(order));
}

void reduce_extremum(bool largest, devobj_handle x, double* value, int64_t* position) {
  const char* routine = largest ? "reduce_max" : "reduce_min";
  const Object& o = object(x, routine, "x");
  result(value, routine, "value");
  result(position, routine, "position");
  for_prim_type(o, routine, "x", [&]<class T>(T) {
    const Extremum<T> found = largest ? reduce_max(view<T>(o), queue()) : reduce_min(view<T>(o), queue());
    *value = static_cast<double>(found.value);
    *position = found.position;
  });
}

/// A bound of a histogram in the type of its elements.
template <class T>
T bound(double value, const char* argument) {
  if constexpr (std::is_integral_v<T>)
    require(value == std::floor(value) && value >= -2147483648.0 && value <= 2147483647.0, "histogram: ", argument,
            " is ", value, ", must be an integer of 32 bits like x");
  return static_cast<T>(value);
}

}  // namespace

extern "C" {

devobj_status devobj_scan(devobj_scan_kind kind, devobj_handle x, devobj_handle y) {
  return guard([&] {
    const Object &a = object(x, "scan", "x"), &b = object(y, "scan", "y");
    same_type("scan", Operand{"x", a}, Operand{"y", b});
    for_prim_type(a, "scan", "x", [&]<class T>(T) { scan(scan_kind(kind), view<T>(a), view<T>(b), queue()); });
  });
}

devobj_status devobj_segmented_scan(devobj_scan_kind kind, devobj_handle x, devobj_handle heads, devobj_handle y) {
  return guard([&] {
    const char* routine = "segmented_scan";
    const Object &a = object(x, routine, "x"), &b = object(y, routine, "y");
    const View<std::int32_t> h = integers(heads, routine, "heads");
    same_type(routine, Operand{"x", a}, Operand{"y", b});
    for_prim_type(a, routine, "x",
                  [&]<class T>(T) { segmented_scan(scan_kind(kind), view<T>(a), h, view<T>(b), queue()); });
  });
}

devobj_status devobj_reduce_sum(devobj_handle x, double* sum) {
  return guard([&] {
    const Object& o = object(x, "reduce_sum", "x");
    result(sum, "reduce_sum", "result");
    for_prim_type(o, "reduce_sum", "x",
                  [&]<class T>(T) { *sum = static_cast<double>(reduce_sum(view<T>(o), queue())); });
  });
}

devobj_status devobj_reduce_sum_i(devobj_handle x, int64_t* sum) {
  return guard([&] {
    const View<std::int32_t> v = integers(x, "reduce_sum", "x");
    result(sum, "reduce_sum", "result") = reduce_sum(v, queue());
  });
}

devobj_status devobj_reduce_min(devobj_handle x, double* value, int64_t* position) {
  return guard([&] { reduce_extremum(false, x, value, position); });
}

devobj_status devobj_reduce_max(devobj_handle x, double* value, int64_t* position) {
  return guard([&] { reduce_extremum(true, x, value, position); });
}

devobj_status devobj_sort_keys(devobj_order order, devobj_handle keys, devobj_handle sorted) {
  return guard([&] {
    const Object &k = object(keys, "sort_keys", "keys"), &s = object(sorted, "sort_keys", "sorted");
    same_type("sort_keys", Operand{"keys", k}, Operand{"sorted", s});
    for_prim_type(k, "sort_keys", "keys",
                  [&]<class T>(T) { sort_keys(order_of(order), view<T>(k), view<T>(s), queue()); });
  });
}

devobj_status devobj_sort_pairs(devobj_order order, devobj_handle keys, devobj_handle values, devobj_handle sorted_keys,
                                devobj_handle sorted_values) {
  return guard([&] {
    const char* routine = "sort_pairs";
    const Object &k = object(keys, routine, "keys"), &v = object(values, routine, "values");
    const Object &sk = object(sorted_keys, routine, "sorted_keys"),
                 &sv = object(sorted_values, routine, "sorted_values");
    same_type(routine, Operand{"keys", k}, Operand{"sorted_keys", sk});
    same_type(routine, Operand{"values", v}, Operand{"sorted_values", sv});
    for_prim_type(k, routine, "keys", [&]<class K>(K) {
      for_prim_type(v, routine, "values", [&]<class V>(V) {
        sort_pairs(order_of(order), view<K>(k), view<V>(v), view<K>(sk), view<V>(sv), queue());
      });
    });
  });
}

devobj_status devobj_compact(devobj_handle x, devobj_handle flags, devobj_handle y, int64_t* count) {
  return guard([&] {
    const Object &a = object(x, "compact", "x"), &b = object(y, "compact", "y");
    const View<std::int32_t> f = integers(flags, "compact", "flags");
    result(count, "compact", "count");
    same_type("compact", Operand{"x", a}, Operand{"y", b});
    for_prim_type(a, "compact", "x", [&]<class T>(T) { *count = compact(view<T>(a), f, view<T>(b), queue()); });
  });
}

devobj_status devobj_histogram(devobj_handle x, double lower, double upper, devobj_handle counts) {
  return guard([&] {
    const Object& o = object(x, "histogram", "x");
    const View<std::int32_t> c = integers(counts, "histogram", "counts");
    for_prim_type(o, "histogram", "x", [&]<class T>(T) {
      histogram<T>(view<T>(o), bound<T>(lower, "lower"), bound<T>(upper, "upper"), c, queue());
    });
  });
}

devobj_status devobj_spmv(double alpha, int base, devobj_handle offsets, devobj_handle columns, devobj_handle values,
                          devobj_handle x, double beta, devobj_handle y) {
  return guard([&] {
    const View<std::int32_t> rows = integers(offsets, "spmv", "offsets"), cols = integers(columns, "spmv", "columns");
    const Object &a = object(values, "spmv", "values"), &b = object(x, "spmv", "x"), &c = object(y, "spmv", "y");
    same_type("spmv", Operand{"values", a}, Operand{"x", b}, Operand{"y", c});
    const auto multiply = [&]<class T>(T) {
      const View<T> from = view<T>(b), to = view<T>(c);
      spmv<T>(static_cast<T>(alpha), Csr<T>{to.size(), from.size(), rows, cols, view<T>(a), base}, from,
              static_cast<T>(beta), to, queue());
    };
    if (a.type == Type::real) return multiply(float{});
    if (a.type == Type::double_precision) return multiply(double{});
    fail(Status::invalid_argument, "spmv: values is of type '", type_name(a.type), "', must be real or double");
  });
}

}  // extern "C"
