// extern "C": the library's life and the objects'.
#include <cstring>

#include "c_support.hpp"
#include "devobj/math.hpp"

using namespace devobj;
using namespace devobj::c;

namespace {

// The calling thread's copy of the info text.
thread_local std::string info_text;

Type parse_type(const devobj_type& type, const char* routine) {
  const int number = number_in(type);
  require(number >= DEVOBJ_REAL && number <= DEVOBJ_INTEGER, routine, ": type is ", number,
          ", must be one of devobj_type, 1 to 5");
  return static_cast<Type>(number);
}

template <class F> void for_any_type(Type type, F&& f) {
  if (type == Type::integer) return f(std::int32_t{});
  for_type(type, "object", f);
}

void check_host_array(const devobj_host_array& host, const char* routine) {
  require(host.rows >= 0 && host.cols >= 0, routine, ": the host array is ", host.rows, " x ", host.cols,
          "; sizes must not be negative");
}

}  // namespace

extern "C" {

int devobj_version(void) { return DEVOBJ_VERSION; }

devobj_status devobj_open(devobj_backend backend, int device) {
  return guard([&] {
    const int number = number_in(backend);
    require(number >= DEVOBJ_AUTO && number <= DEVOBJ_CUDA, "open: backend is ", number,
            ", must be one of devobj_backend, 0 to 2");
    runtime::open(static_cast<Backend>(number), device);
  });
}

devobj_status devobj_close(void) {
  return guard([] { runtime::close(); });
}

devobj_backend devobj_backend_in_use(void) { return static_cast<devobj_backend>(runtime::backend_in_use()); }

const char* devobj_info(void) {
  guard([] { info_text = runtime::info(); });
  return info_text.c_str();
}

devobj_status devobj_wait(void) {
  return guard([] { queue().wait(); });
}

devobj_status devobj_set_math(devobj_math math) {
  return guard([&] {
    const int number = number_in(math);
    require(number == DEVOBJ_MATH_AUTO || number == DEVOBJ_MATH_STRICT, "set_math: math is ", number,
            ", must be 0 (auto) or 1 (strict)");
    set_math(static_cast<Math>(number));
  });
}

devobj_math devobj_math_in_use(void) {
  Math math = Math::automatic;
  guard([&] { math = math_in_use(); });
  return static_cast<devobj_math>(math);
}

int64_t devobj_live_objects(void) { return Registry::instance().live(); }

devobj_status devobj_allocate(devobj_type type, int64_t rows, int64_t cols, devobj_handle* A) {
  return guard([&] {
    result(A, "allocate", "A");
    Object o;
    o.type = parse_type(type, "allocate");
    Queue& q = queue();
    o.storage = std::make_shared<Storage>(checked_bytes(rows, cols, bytes_of(o.type)), q);
    o.rows = rows;
    o.cols = cols;
    o.ld = rows > 1 ? rows : 1;
    o.data = o.storage->data();
    o.backend = q.backend();
    o.device = q.device();
    o.allocator = q.impl().get();
    *A = Registry::instance().add(std::move(o));
  });
}

devobj_status devobj_free(devobj_handle A) {
  return guard([&] {
    Object removed;
    if (!Registry::instance().remove(A, removed)) object(A, "free", "A");  // throws the fitting error
    // The memory is released in the order of the queue it was allocated on: this thread's work with it has to end first.
    if (const void* mine = runtime::queue_of_thread(); mine != nullptr && mine != removed.allocator) queue().wait();
  });
}

devobj_status devobj_view(devobj_handle A, int64_t i1, int64_t i2, int64_t j1, int64_t j2, devobj_handle* block) {
  return guard([&] {
    result(block, "view", "block");
    Object o = object(A, "view", "A");
    require(1 <= i1 && i1 - 1 <= i2 && i2 <= o.rows, "view: rows ", i1, " to ", i2, " are not within 1 to ", o.rows);
    require(1 <= j1 && j1 - 1 <= j2 && j2 <= o.cols, "view: columns ", j1, " to ", j2, " are not within 1 to ", o.cols);
    o.rows = i2 - i1 + 1;
    o.cols = j2 - j1 + 1;
    o.data = o.rows == 0 || o.cols == 0
                 ? nullptr
                 : static_cast<char*>(o.data) + ((i1 - 1) + (j1 - 1) * o.ld) * bytes_of(o.type);
    *block = Registry::instance().add(std::move(o));
  });
}

devobj_status devobj_move(devobj_handle A, devobj_handle* moved) {
  return guard([&] {
    result(moved, "move", "moved");
    object(A, "move", "A");
    *moved = Registry::instance().renew(A);
  });
}

int devobj_is_valid(devobj_handle A) { return Registry::instance().find(A) != nullptr; }

devobj_status devobj_shape(devobj_handle A, devobj_type* type, int64_t* rows, int64_t* cols, int64_t* ld) {
  return guard([&] {
    const Object& o = object(A, "shape", "A");
    if (type != nullptr) *type = static_cast<devobj_type>(o.type);
    if (rows != nullptr) *rows = o.rows;
    if (cols != nullptr) *cols = o.cols;
    if (ld != nullptr) *ld = o.ld;
  });
}

devobj_status devobj_pointer(devobj_handle A, void** pointer) {
  return guard([&] { result(pointer, "pointer", "pointer") = object(A, "pointer", "A").data; });
}

devobj_status devobj_stream(void** stream) {
  return guard([&] { result(stream, "stream", "stream") = queue().stream(); });
}

devobj_status devobj_to_device(devobj_type type, devobj_host_array host, devobj_handle A) {
  return guard([&] {
    const Object& o = object(A, "transfer to device", "A");
    require_type(o, parse_type(type, "transfer to device"), "transfer to device", "A");
    check_host_array(host, "transfer to device");
    for_any_type(o.type, [&]<class T>(T) {
      to_device<T>({static_cast<const T*>(host.data), host.rows, host.cols, host.row_stride, host.col_stride},
                   view<T>(o), queue());
    });
  });
}

devobj_status devobj_to_host(devobj_handle A, devobj_type type, devobj_host_array host) {
  return guard([&] {
    const Object& o = object(A, "transfer to host", "A");
    require_type(o, parse_type(type, "transfer to host"), "transfer to host", "A");
    check_host_array(host, "transfer to host");
    for_any_type(o.type, [&]<class T>(T) {
      to_host<T>(view<T>(o), {static_cast<T*>(host.data), host.rows, host.cols, host.row_stride, host.col_stride},
                 queue());
    });
  });
}

devobj_status devobj_copy(devobj_handle src, devobj_handle dst) {
  return guard([&] {
    const Object& s = object(src, "copy", "src");
    const Object& d = object(dst, "copy", "dst");
    same_type("copy", Operand{"src", s}, Operand{"dst", d});
    for_any_type(s.type, [&]<class T>(T) { copy<T>(view<T>(s), view<T>(d), queue()); });
  });
}

}  // extern "C"
