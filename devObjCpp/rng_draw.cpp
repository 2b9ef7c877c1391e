// The draws of Rng: arguments, place in the sequence, and the primitive of generator and backend.
#include <algorithm>
#include <cmath>
#include <limits>

#include "devobj/rng.hpp"
#include "kernels/curand.hpp"
#include "rng_ahead.hpp"

namespace devobj {
namespace {

/// A complex view as the real one of its parts, twice as many rows.
template <class R>
View<R> parts_of(const View<std::complex<R>>& A) {
  View<R> parts;
  parts.data = reinterpret_cast<R*>(A.data);
  parts.rows = 2 * A.rows;
  parts.cols = A.cols;
  parts.ld = 2 * A.ld;
  return parts;
}
template <class R>
const View<R>& parts_of(const View<R>& A) {
  return A;
}

template <class D>
inline constexpr bool has_inverse = false;
#define INVERTIBLE(D) \
  template <>         \
  inline constexpr bool has_inverse<D> = true;
DEVOBJ_FOR_EACH_QUASI_DISTRIBUTION(INVERTIBLE)
#undef INVERTIBLE

/// Numbers of cuRAND that are made at a time: 64 MiB of them, or 128.
constexpr std::int64_t piece = std::int64_t{1} << 24;

template <class T>
void require_normal(const char* routine, T mean, T sigma) {
  require(std::isfinite(mean), routine, ": mean is ", mean, ", must be finite");
  require(std::isfinite(sigma) && sigma >= 0, routine, ": sigma is ", sigma, ", must be finite and at least 0");
}

}  // namespace

template <class D>
void Rng::draw(const char* name, Kind kind, const Parameters& of, const D& d, const View<typename D::value>& A,
               Queue* queue) {
  Impl& g = impl();
  if (queue != nullptr)
    g.check_queue(name, *queue);
  else if (is_curand(g.generator))
    fail(Status::not_supported, name, ": generator '", name_of(g.generator),
         "' is cuRAND's and makes no single numbers on the host; philox and state do");
  const bool quasi = is_quasi(g.generator);
  if (quasi && !has_inverse<D>)
    fail(Status::not_supported, name, ": the quasirandom generator '", name_of(g.generator), "' has no such numbers");
  if (A.empty()) return;

  // Where the draw begins and ends in the sequence.
  constexpr std::uint64_t end_of_sequence = ~std::uint64_t{0};
  const std::uint64_t unit = quasi ? 1 : is_curand(g.generator) ? 4 : D::words;
  const std::uint64_t n = static_cast<std::uint64_t>(A.size()), taken = quasi ? n : n * D::words;
  const std::uint64_t left_out = (0 - g.position) & (unit - 1);  // unit is a power of two
  require(n <= end_of_sequence / 4 && left_out <= end_of_sequence - g.position &&
              taken <= end_of_sequence - g.position - left_out,
          name, ": ", n, " numbers from position ", g.position, " on are beyond the end of the sequence, 2^64 words");
  const std::uint64_t start = g.position + left_out, slot = start / D::words;
  const random::Philox own{g.seed, g.stream};

  if (g.taken_by_caller(A, queue)) {
    Ahead& numbers = g.ahead_of(kind_for<typename D::value>(kind), of);
    // A draw that follows no other, as they do whose parameters are always new, is made without those after it.
    if (queue == nullptr || numbers.count > 0 || goes_on_from(numbers.end, start)) {
      g.position = g.take_few(numbers, d, start, A.size(), A.data, queue);
      return;
    }
    numbers.end = start + taken;
  }
  Queue& q = *queue;
  if (g.generator == Generator::philox) {
    if constexpr (cuda_built)
      if (q.on_cuda()) cuda::random_philox(own, slot, d, A, q);
    if (!q.on_cuda()) host::random_philox(own, slot, d, A, q);
  } else if (g.generator == Generator::state) {
    random::Xoshiro* lanes = g.lanes_before(start / 4, q);
    g.lanes_in_use = !Impl::at_once(q);
    if constexpr (cuda_built)
      if (q.on_cuda()) cuda::random_state(lanes, own, slot, d, A, q);
    if (!q.on_cuda()) host::random_state(lanes, own, slot, d, A, q);
    g.lanes_block = (start + taken) / 4;
  } else if constexpr (cuda_built) {
    if (quasi) {
      if constexpr (has_inverse<D>) {
        const bool wide = is_wide(g.generator);
        void* numbers = g.buffer(static_cast<std::size_t>(std::min(A.size(), piece)) * (wide ? 8 : 4), q);
        g.curand_at(start, q);
        for (std::int64_t begin = 0; begin < A.size(); begin += piece) {
          const std::int64_t end = std::min(A.size(), begin + piece);
          cuda::curand_generate(g.curand, g.generator, numbers, end - begin, q);
          g.curand_position += static_cast<std::uint64_t>(end - begin);
          cuda::random_quasi(numbers, wide, begin, end, d, A, q);
        }
      }
    } else {
      const std::int64_t quads = static_cast<std::int64_t>((taken + 3) / 4);
      void* words = g.buffer(static_cast<std::size_t>(std::min(quads, piece / 4)) * 16, q);
      g.curand_at(start, q);
      words = g.buffer(static_cast<std::size_t>(std::min(quads, piece / 4)) * 16, q);
      for (std::int64_t begin = 0; begin < quads; begin += piece / 4) {
        const std::int64_t end = std::min(quads, begin + piece / 4);
        cuda::curand_generate(g.curand, g.generator, words, 4 * (end - begin), q);
        g.curand_position += static_cast<std::uint64_t>(4 * (end - begin));
        cuda::random_words(static_cast<const std::uint32_t*>(words), begin, end, own, start, d, A, q);
      }
    }
  }
  g.position = start + taken;
}

template <class T>
bool Rng::take_before(Kind kind, const Parameters& of, const View<T>& A, const Queue* q) noexcept {
  if constexpr (is_complex<T>) return false;
  Impl& g = impl();
  const auto number = static_cast<std::size_t>(kind_for<T>(kind));
  if (A.rows != 1 || A.cols != 1 || (q != nullptr && q->impl().get() != g.made_at_once)) return false;
  if (g.ahead_before[number].count == 0 || !(g.ahead_before[number].of == of)) return false;
  std::swap(g.ahead[number], g.ahead_before[number]);
  if constexpr (!is_complex<T>) return take(kind, of, *A.data);
}

template <class T>
void Rng::draw_uniform(real_t<T> a, real_t<T> b, const View<T>& A, Queue* q) {
  using R = real_t<T>;
  const Parameters of = parameters<R>(a, b);
  if (take_before(Kind::uniform, of, A, q)) return;
  if (a == 0 && b == 1) return draw("rng_uniform", Kind::uniform, of, random::UnitUniform<R>{}, parts_of(A), q);
  require(std::isfinite(a) && std::isfinite(b), "rng_uniform: a and b are ", a, " and ", b, ", must be finite");
  require(a < b, "rng_uniform: a is ", a, ", must be less than b, which is ", b);
  const R least = std::nextafter(a, b), most = std::nextafter(b, a);
  require(least < b, "rng_uniform: there is no number between a = ", a, " and b = ", b);
  require(std::isfinite(b - a), "rng_uniform: the difference of a = ", a, " and b = ", b, " is too large");
  draw("rng_uniform", Kind::uniform, of, random::Uniform<R>{a, b - a, least, most}, parts_of(A), q);
}

template <class T>
void Rng::draw_normal(real_t<T> mean, real_t<T> sigma, const View<T>& A, Queue* q) {
  using R = real_t<T>;
  const Parameters of = parameters<R>(mean, sigma);
  if (take_before(Kind::normal, of, A, q)) return;
  require_normal("rng_normal", mean, sigma);
  draw("rng_normal", Kind::normal, of, random::Normal<R>{mean, sigma}, parts_of(A), q);
}

template <class T>
void Rng::draw_lognormal(T mean, T sigma, const View<T>& A, Queue* q) {
  const Parameters of = parameters(mean, sigma);
  if (take_before(Kind::lognormal, of, A, q)) return;
  require_normal("rng_lognormal", mean, sigma);
  draw("rng_lognormal", Kind::lognormal, of, random::LogNormal<T>{mean, sigma}, A, q);
}

template <class T>
void Rng::draw_exponential(T mean, const View<T>& A, Queue* q) {
  const Parameters of = parameters(mean);
  if (take_before(Kind::exponential, of, A, q)) return;
  require(std::isfinite(mean) && mean > 0, "rng_exponential: mean is ", mean, ", must be finite and above 0");
  draw("rng_exponential", Kind::exponential, of, random::Exponential<T>{mean / 2}, A, q);
}

void Rng::draw_integers(std::int32_t lowest, std::int32_t highest, const View<std::int32_t>& A, Queue* q) {
  const Parameters of = parameters(lowest, highest);
  if (take_before(Kind::integers, of, A, q)) return;
  require(lowest <= highest, "rng_integers: lowest is ", lowest, ", must be at most highest, which is ", highest);
  // highest - lowest + 1 modulo 2^32, in which 0 stands for 2^32
  const std::uint32_t range = static_cast<std::uint32_t>(highest) - static_cast<std::uint32_t>(lowest) + 1;
  const std::uint32_t excess = range == 0 ? 0 : (0u - range) % range;
  draw("rng_integers", Kind::integers, of, random::Integers{lowest, range, excess}, A, q);
}

void Rng::draw_poisson(double mean, const View<std::int32_t>& A, Queue* q) {
  const Parameters of = parameters(mean);
  if (take_before(Kind::poisson, of, A, q)) return;
  require(mean >= 0 && mean <= 0x1p30, "rng_poisson: mean is ", mean, ", must be within 0 and 2^30");
  if (mean <= Impl::most_by_table) {
    Impl& g = impl();
    if (q != nullptr) g.check_queue("rng_poisson", *q);
    if (is_quasi(g.generator) || A.empty()) return draw("rng_poisson", Kind::poisson, of, random::Discrete{}, A, q);
    const random::Discrete& table = g.taken_by_caller(A, q) ? g.poisson_table(mean) : g.poisson_table(mean, *q);
    return draw("rng_poisson", Kind::poisson, of, table, A, q);
  }
  random::Poisson d = {};
  d.mean = mean;
  d.log_mean = random::log_of(mean);
  d.b = 0.931 + 2.53 * random::square_root(mean);
  d.a = -0.059 + 0.02483 * d.b;
  d.inverse = 1.1239 + 1.1328 / (d.b - 3.4);
  d.reach = 0.9277 - 3.6224 / (d.b - 2);
  draw("rng_poisson", Kind::poisson_by_rejection, of, d, A, q);
}

template <class T>
void Rng::draw_bernoulli(double p, const View<T>& A, Queue* q) {
  const Parameters of = parameters(p);
  if (take_before(bernoulli_kind<T>, of, A, q)) return;
  require(p >= 0 && p <= 1, "rng_bernoulli: p is ", p, ", must be within 0 and 1");
  const double scaled = p * 0x1p64;
  const bool certain = scaled >= 0x1p64;
  draw("rng_bernoulli", bernoulli_kind<T>, of,
       random::Bernoulli<T>{certain ? 0 : static_cast<std::uint64_t>(scaled), certain}, A, q);
}

void Rng::draw_words(const View<std::int32_t>& A, Queue* q) {
  draw("rng_words", Kind::words, {}, random::Words{}, A, q);
}

#define INSTANTIATE(T)                                                              \
  template void Rng::draw_uniform<T>(real_t<T>, real_t<T>, const View<T>&, Queue*); \
  template void Rng::draw_normal<T>(real_t<T>, real_t<T>, const View<T>&, Queue*);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(T)                                                \
  template void Rng::draw_lognormal<T>(T, T, const View<T>&, Queue*); \
  template void Rng::draw_exponential<T>(T, const View<T>&, Queue*);  \
  template void Rng::draw_bernoulli<T>(double, const View<T>&, Queue*);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE
template void Rng::draw_bernoulli<std::int32_t>(double, const View<std::int32_t>&, Queue*);

}  // namespace devobj
