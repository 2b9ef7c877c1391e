#include "c_support.hpp"

#include <cctype>
#include <cstring>

namespace devobj::c {
namespace {

constexpr std::size_t text_capacity = 1024;
thread_local char last_error[text_capacity];

// `letters` lists the allowed ones, for the message.
template <class E> E parse(char letter, const char* letters, std::initializer_list<std::pair<char, E>> values,
                           const char* routine, const char* argument) {
  const char upper = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  for (auto [known, value] : values)
    if (known == upper) return value;
  if (std::isprint(static_cast<unsigned char>(letter)))
    fail(Status::invalid_argument, routine, ": ", argument, " is '", letter, "', must be one of ", letters);
  fail(Status::invalid_argument, routine, ": ", argument, " is character number ",
       static_cast<int>(static_cast<unsigned char>(letter)), ", must be one of ", letters);
}

}  // namespace

void set_last_error(const char* text) noexcept {
  std::strncpy(last_error, text, text_capacity - 1);
  last_error[text_capacity - 1] = '\0';
}
extern "C" const char* devobj_last_error(void) { return last_error; }

namespace {
// A live object of any kind.
Object& anything(devobj_handle handle, const char* routine, const char* argument) {
  const Backend in_use = runtime::backend_in_use();
  if (in_use == Backend::automatic)
    fail(Status::not_open, routine, ": the library is not open: call open_devObjects (Fortran) or devobj_open (C) first");
  if (handle == 0) fail(Status::invalid_handle, routine, ": ", argument, " is a null handle (not allocated)");
  Object* found = Registry::instance().find(handle);
  if (found == nullptr)
    fail(Status::invalid_handle, routine, ": ", argument, " is no live object (handle ", handle >> 32, ":",
         handle & 0xffffffffu, " was freed, or was never given out)");
  require(found->backend == in_use, routine, ": ", argument, " belongs to another backend");
  return *found;
}
}  // namespace

Object& object(devobj_handle handle, const char* routine, const char* argument) {
  Object& found = anything(handle, routine, argument);
  if (found.content != nullptr)
    fail(Status::invalid_handle, routine, ": ", argument, " is ", found.kind, ", must be an array");
  return found;
}

void* content(devobj_handle handle, const char* kind, const char* routine, const char* argument) {
  const Object& found = anything(handle, routine, argument);
  if (found.kind != kind && std::strcmp(found.kind, kind) != 0)
    fail(Status::invalid_handle, routine, ": ", argument, " is ", found.kind, ", must be ", kind);
  return found.content.get();
}

devobj_handle add_content(const char* kind, std::shared_ptr<void> content) {
  Queue& q = queue();
  Object o;
  o.kind = kind;
  o.content = std::move(content);
  o.backend = q.backend();
  o.device = q.device();
  o.allocator = q.impl().get();
  return Registry::instance().add(std::move(o));
}

void require_type(const Object& object, Type type, const char* routine, const char* argument) {
  require(object.type == type, routine, ": ", argument, " is of type '", type_name(object.type), "', must be '",
          type_name(type), "'");
}

View<std::int32_t> integers(devobj_handle handle, const char* routine, const char* argument) {
  Object& o = object(handle, routine, argument);
  require_type(o, Type::integer, routine, argument);
  return view<std::int32_t>(o);
}

Op parse_op(char letter, const char* routine, const char* argument) {
  return parse<Op>(letter, "N, T, C", {{'N', Op::NoTrans}, {'T', Op::Trans}, {'C', Op::ConjTrans}}, routine, argument);
}
Uplo parse_uplo(char letter, const char* routine, const char* argument) {
  return parse<Uplo>(letter, "U, L", {{'U', Uplo::Upper}, {'L', Uplo::Lower}}, routine, argument);
}
Uplo parse_part(char letter, const char* routine, const char* argument) {
  return parse<Uplo>(letter, "U, L, G",
                     {{'U', Uplo::Upper}, {'L', Uplo::Lower}, {'G', Uplo::General}, {'A', Uplo::General}}, routine,
                     argument);
}
Diag parse_diag(char letter, const char* routine, const char* argument) {
  return parse<Diag>(letter, "N, U", {{'N', Diag::NonUnit}, {'U', Diag::Unit}}, routine, argument);
}
Side parse_side(char letter, const char* routine, const char* argument) {
  return parse<Side>(letter, "L, R", {{'L', Side::Left}, {'R', Side::Right}}, routine, argument);
}
Norm parse_norm(char letter, const char* routine, const char* argument) {
  return parse<Norm>(letter, "1 or O, I, F or E, M",
                     {{'1', Norm::One}, {'O', Norm::One}, {'I', Norm::Inf}, {'F', Norm::Fro}, {'E', Norm::Fro},
                      {'M', Norm::Max}},
                     routine, argument);
}
Method parse_method(const devobj_method& method, const char* routine) {
  const int number = number_in(method);
  require(number >= DEVOBJ_METHOD_AUTO && number <= DEVOBJ_METHOD_RANDOMIZED, routine, ": method is ", number,
          ", must be one of devobj_method, 0 to 7");
  return static_cast<Method>(number);
}

}  // namespace devobj::c
