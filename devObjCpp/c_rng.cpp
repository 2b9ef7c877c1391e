// extern "C": random numbers.
#include <cstring>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_support.hpp"
#include "devobj/devobj_rng.h"
#include "devobj/rng.hpp"

using namespace devobj;
using namespace devobj::c;

namespace {

/// f(T{}) for float and double; error for the others.
template <class F>
void for_real(Type type, const char* routine, F&& f) {
  if (type == Type::real) return f(float{});
  if (type == Type::double_precision) return f(double{});
  fail(Status::invalid_argument, routine, ": not for objects of type '", type_name(type),
       "', only 'real' and 'double'");
}

/// A parameter in the object's precision; the error of a value that it cannot hold is the routine's own, of an infinite
/// one.
template <class T>
real_t<T> parameter(double value) {
  return static_cast<real_t<T>>(value);
}

std::uint64_t stream_number(std::int64_t stream, const char* routine) {
  require(stream >= 0, routine, ": stream is ", stream, ", must not be negative");
  return static_cast<std::uint64_t>(stream);
}

std::string text(const char* characters, const char* routine, const char* argument) {
  require(characters != nullptr, routine, ": ", argument, " is a null pointer");
  return characters;
}

void require_32_bits(std::int64_t lowest, std::int64_t highest) {
  const std::pair<const char*, std::int64_t> ends[] = {{"lowest", lowest}, {"highest", highest}};
  for (const auto& end : ends)
    require(end.second >= INT32_MIN && end.second <= INT32_MAX, "rng_integers: ", end.first, " is ", end.second,
            ", must be within ", INT32_MIN, " and ", INT32_MAX);
}

constexpr char kind_of_rng[] = "a generator of random numbers";

devobj_handle add(Rng&& rng) { return add_content(kind_of_rng, std::make_shared<Rng>(std::move(rng))); }

Rng& generator(devobj_handle handle, const char* routine, const char* argument) {
  return *static_cast<Rng*>(content(handle, kind_of_rng, routine, argument));
}

/// number(rng, T{}) into the place x for a number of `type`, real or double.
template <class F>
devobj_status real_number(devobj_handle rng, const char* routine, devobj_type type, void* x, F&& number) {
  return guard([&] {
    Rng& g = generator(rng, routine, "rng");
    const int wanted = number_in(type);
    require(wanted == DEVOBJ_REAL || wanted == DEVOBJ_DOUBLE, routine, ": type is ", wanted, ", must be ", DEVOBJ_REAL,
            " (real) or ", DEVOBJ_DOUBLE, " (double)");
    require(x != nullptr, routine, ": x is a null pointer");
    if (wanted == DEVOBJ_REAL)
      *static_cast<float*>(x) = number(g, float{});
    else
      *static_cast<double*>(x) = number(g, double{});
  });
}

/// number(rng) into x.
template <class F>
devobj_status integer_number(devobj_handle rng, const char* routine, std::int32_t* x, F&& number) {
  return guard([&] {
    Rng& g = generator(rng, routine, "rng");
    std::int32_t& place = result(x, routine, "x");
    place = number(g);
  });
}

}  // namespace

extern "C" {

devobj_status devobj_rng_create(const char* generator_name, int64_t seed, int64_t stream, devobj_handle* rng) {
  return guard([&] {
    result(rng, "rng_create", "rng");
    const Generator kind = generator_of(text(generator_name, "rng_create", "generator"));
    *rng = add(Rng(queue(), kind, static_cast<std::uint64_t>(seed), stream_number(stream, "rng_create")));
  });
}

devobj_status devobj_rng_free(devobj_handle rng) {
  return guard([&] {
    generator(rng, "rng_free", "rng");
    Object removed;
    Registry::instance().remove(rng, removed);
    if (const void* mine = runtime::queue_of_thread(); mine != nullptr && mine != removed.allocator) queue().wait();
  });
}

devobj_status devobj_rng_clone(devobj_handle rng, devobj_handle* clone) {
  return guard([&] {
    result(clone, "rng_clone", "clone");
    *clone = add(generator(rng, "rng_clone", "rng").clone(queue()));
  });
}

int devobj_rng_is_valid(devobj_handle rng) {
  const Object* found = Registry::instance().find(rng);
  return found != nullptr && std::strcmp(found->kind, kind_of_rng) == 0;
}

devobj_status devobj_rng_info(devobj_handle rng, const char** name, int64_t* seed, int64_t* stream, int64_t* position) {
  return guard([&] {
    const Rng& g = generator(rng, "rng_info", "rng");
    if (name != nullptr) *name = name_of(g.generator());
    if (seed != nullptr) *seed = static_cast<int64_t>(g.seed());
    if (stream != nullptr) *stream = static_cast<int64_t>(g.stream());
    if (position != nullptr) *position = static_cast<int64_t>(g.position());
  });
}

devobj_status devobj_rng_seed(devobj_handle rng, int64_t seed, int64_t stream) {
  return guard([&] {
    generator(rng, "rng_seed", "rng").seed(static_cast<std::uint64_t>(seed), stream_number(stream, "rng_seed"));
  });
}

devobj_status devobj_rng_skip(devobj_handle rng, int64_t words) {
  return guard([&] {
    Rng& g = generator(rng, "rng_skip", "rng");
    require(words >= 0, "rng_skip: words is ", words, ", must not be negative");
    g.skip(static_cast<std::uint64_t>(words));
  });
}

devobj_status devobj_rng_save(devobj_handle rng, int64_t state[DEVOBJ_RNG_STATE]) {
  return guard([&] {
    const Rng& g = generator(rng, "rng_save", "rng");
    result(state, "rng_save", "state");
    const RngState saved = g.save();
    std::copy(saved.begin(), saved.end(), state);
  });
}

devobj_status devobj_rng_restore(devobj_handle rng, const int64_t state[DEVOBJ_RNG_STATE]) {
  return guard([&] {
    Rng& g = generator(rng, "rng_restore", "rng");
    require(state != nullptr, "rng_restore: state is a null pointer");
    RngState saved;
    std::copy(state, state + saved.size(), saved.begin());
    g.restore(saved);
  });
}

devobj_status devobj_rng_save_file(devobj_handle rng, const char* file) {
  return guard([&] { generator(rng, "rng_save", "rng").save(text(file, "rng_save", "file")); });
}

devobj_status devobj_rng_restore_file(devobj_handle rng, const char* file) {
  return guard([&] { generator(rng, "rng_restore", "rng").restore(text(file, "rng_restore", "file")); });
}

devobj_status devobj_rng_uniform(devobj_handle rng, double a, double b, devobj_handle A) {
  return guard([&] {
    Rng& g = generator(rng, "rng_uniform", "rng");
    const Object& o = object(A, "rng_uniform", "A");
    for_type(o.type, "rng_uniform",
             [&]<class T>(T) { g.uniform<T>(parameter<T>(a), parameter<T>(b), view<T>(o), queue()); });
  });
}

devobj_status devobj_rng_normal(devobj_handle rng, double mean, double sigma, devobj_handle A) {
  return guard([&] {
    Rng& g = generator(rng, "rng_normal", "rng");
    const Object& o = object(A, "rng_normal", "A");
    for_type(o.type, "rng_normal",
             [&]<class T>(T) { g.normal<T>(parameter<T>(mean), parameter<T>(sigma), view<T>(o), queue()); });
  });
}

devobj_status devobj_rng_lognormal(devobj_handle rng, double mean, double sigma, devobj_handle A) {
  return guard([&] {
    Rng& g = generator(rng, "rng_lognormal", "rng");
    const Object& o = object(A, "rng_lognormal", "A");
    for_real(o.type, "rng_lognormal",
             [&]<class T>(T) { g.lognormal<T>(parameter<T>(mean), parameter<T>(sigma), view<T>(o), queue()); });
  });
}

devobj_status devobj_rng_exponential(devobj_handle rng, double mean, devobj_handle A) {
  return guard([&] {
    Rng& g = generator(rng, "rng_exponential", "rng");
    const Object& o = object(A, "rng_exponential", "A");
    for_real(o.type, "rng_exponential", [&]<class T>(T) { g.exponential<T>(parameter<T>(mean), view<T>(o), queue()); });
  });
}

devobj_status devobj_rng_integers(devobj_handle rng, int64_t lowest, int64_t highest, devobj_handle A) {
  return guard([&] {
    Rng& g = generator(rng, "rng_integers", "rng");
    const View<std::int32_t> a = integers(A, "rng_integers", "A");
    require_32_bits(lowest, highest);
    g.integers(static_cast<std::int32_t>(lowest), static_cast<std::int32_t>(highest), a, queue());
  });
}

devobj_status devobj_rng_poisson(devobj_handle rng, double mean, devobj_handle A) {
  return guard([&] {
    Rng& g = generator(rng, "rng_poisson", "rng");
    g.poisson(mean, integers(A, "rng_poisson", "A"), queue());
  });
}

devobj_status devobj_rng_words(devobj_handle rng, devobj_handle A) {
  return guard([&] {
    Rng& g = generator(rng, "rng_words", "rng");
    g.words(integers(A, "rng_words", "A"), queue());
  });
}

devobj_status devobj_rng_bernoulli(devobj_handle rng, double p, devobj_handle A) {
  return guard([&] {
    Rng& g = generator(rng, "rng_bernoulli", "rng");
    const Object& o = object(A, "rng_bernoulli", "A");
    if (o.type == Type::integer) return g.bernoulli<std::int32_t>(p, view<std::int32_t>(o), queue());
    for_real(o.type, "rng_bernoulli", [&]<class T>(T) { g.bernoulli<T>(p, view<T>(o), queue()); });
  });
}

devobj_status devobj_rng_uniform_number(devobj_handle rng, double a, double b, devobj_type type, void* x) {
  return real_number(rng, "rng_uniform", type, x,
                     [&]<class T>(Rng& g, T) { return g.uniform<T>(parameter<T>(a), parameter<T>(b)); });
}

devobj_status devobj_rng_normal_number(devobj_handle rng, double mean, double sigma, devobj_type type, void* x) {
  return real_number(rng, "rng_normal", type, x,
                     [&]<class T>(Rng& g, T) { return g.normal<T>(parameter<T>(mean), parameter<T>(sigma)); });
}

devobj_status devobj_rng_lognormal_number(devobj_handle rng, double mean, double sigma, devobj_type type, void* x) {
  return real_number(rng, "rng_lognormal", type, x,
                     [&]<class T>(Rng& g, T) { return g.lognormal<T>(parameter<T>(mean), parameter<T>(sigma)); });
}

devobj_status devobj_rng_exponential_number(devobj_handle rng, double mean, devobj_type type, void* x) {
  return real_number(rng, "rng_exponential", type, x,
                     [&]<class T>(Rng& g, T) { return g.exponential<T>(parameter<T>(mean)); });
}

devobj_status devobj_rng_integer(devobj_handle rng, int64_t lowest, int64_t highest, int32_t* x) {
  return integer_number(rng, "rng_integers", x, [&](Rng& g) {
    require_32_bits(lowest, highest);
    return g.integer(static_cast<std::int32_t>(lowest), static_cast<std::int32_t>(highest));
  });
}

devobj_status devobj_rng_poisson_number(devobj_handle rng, double mean, int32_t* x) {
  return integer_number(rng, "rng_poisson", x, [&](Rng& g) { return g.poisson(mean); });
}

devobj_status devobj_rng_bernoulli_number(devobj_handle rng, double p, int32_t* x) {
  return integer_number(rng, "rng_bernoulli", x, [&](Rng& g) { return g.bernoulli(p) ? 1 : 0; });
}

devobj_status devobj_rng_word(devobj_handle rng, int32_t* x) {
  return integer_number(rng, "rng_words", x, [](Rng& g) { return static_cast<std::int32_t>(g.word()); });
}

devobj_status devobj_rng_orthogonal(devobj_handle rng, devobj_handle A) {
  return guard([&] {
    Rng& g = generator(rng, "rng_orthogonal", "rng");
    const Object& o = object(A, "rng_orthogonal", "A");
    for_type(o.type, "rng_orthogonal", [&]<class T>(T) { random_orthogonal<T>(g, view<T>(o), queue()); });
  });
}

devobj_status devobj_rng_singular_values(devobj_handle rng, const double* s, int64_t count, devobj_handle A) {
  return guard([&] {
    Rng& g = generator(rng, "rng_singular_values", "rng");
    const Object& o = object(A, "rng_singular_values", "A");
    require(count >= 0, "rng_singular_values: count is ", count, ", must not be negative");
    require(s != nullptr || count == 0, "rng_singular_values: s is a null pointer");
    for_type(o.type, "rng_singular_values", [&]<class T>(T) {
      random_singular_values<T>(g, std::vector<real_t<T>>(s, s + count), view<T>(o), queue());
    });
  });
}

devobj_status devobj_rng_condition(devobj_handle rng, double condition, devobj_handle A) {
  return guard([&] {
    Rng& g = generator(rng, "rng_condition", "rng");
    const Object& o = object(A, "rng_condition", "A");
    for_type(o.type, "rng_condition",
             [&]<class T>(T) { random_condition<T>(g, parameter<T>(condition), view<T>(o), queue()); });
  });
}

}  // extern "C"
