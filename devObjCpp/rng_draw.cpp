// The draws of Rng: arguments, place in the sequence, and the primitive of generator and backend.
#include <algorithm>
#include <cmath>
#include <limits>

#include "devobj/rng.hpp"
#include "kernels/curand.hpp"
#include "rng_impl.hpp"

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
void Rng::draw(const char* name, const D& d, const View<typename D::value>& A, Queue& q) {
  Impl& g = *impl_;
  g.check_queue(name, q);
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

  if (g.generator == Generator::philox) {
    if constexpr (cuda_built)
      if (q.on_cuda()) cuda::random_philox(own, slot, d, A, q);
    if (!q.on_cuda()) host::random_philox(own, slot, d, A, q);
  } else if (g.generator == Generator::state) {
    random::Xoshiro* lanes = g.lanes_before(start / 4, q);
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
void Rng::uniform(real_t<T> a, real_t<T> b, View<T> A, Queue& q) {
  using R = real_t<T>;
  if (a == 0 && b == 1) return draw("rng_uniform", random::UnitUniform<R>{}, parts_of(A), q);
  require(std::isfinite(a) && std::isfinite(b), "rng_uniform: a and b are ", a, " and ", b, ", must be finite");
  require(a < b, "rng_uniform: a is ", a, ", must be less than b, which is ", b);
  const R least = std::nextafter(a, b), most = std::nextafter(b, a);
  require(least < b, "rng_uniform: there is no number between a = ", a, " and b = ", b);
  require(std::isfinite(b - a), "rng_uniform: the difference of a = ", a, " and b = ", b, " is too large");
  draw("rng_uniform", random::Uniform<R>{a, b - a, least, most}, parts_of(A), q);
}

template <class T>
void Rng::normal(real_t<T> mean, real_t<T> sigma, View<T> A, Queue& q) {
  require_normal("rng_normal", mean, sigma);
  draw("rng_normal", random::Normal<real_t<T>>{mean, sigma}, parts_of(A), q);
}

template <class T>
void Rng::lognormal(T mean, T sigma, View<T> A, Queue& q) {
  require_normal("rng_lognormal", mean, sigma);
  draw("rng_lognormal", random::LogNormal<T>{mean, sigma}, A, q);
}

template <class T>
void Rng::exponential(T mean, View<T> A, Queue& q) {
  require(std::isfinite(mean) && mean > 0, "rng_exponential: mean is ", mean, ", must be finite and above 0");
  draw("rng_exponential", random::Exponential<T>{mean / 2}, A, q);
}

void Rng::integers(std::int32_t lowest, std::int32_t highest, View<std::int32_t> A, Queue& q) {
  require(lowest <= highest, "rng_integers: lowest is ", lowest, ", must be at most highest, which is ", highest);
  // highest - lowest + 1 modulo 2^32, in which 0 stands for 2^32
  const std::uint32_t range = static_cast<std::uint32_t>(highest) - static_cast<std::uint32_t>(lowest) + 1;
  const std::uint32_t excess = range == 0 ? 0 : (0u - range) % range;
  draw("rng_integers", random::Integers{lowest, range, excess}, A, q);
}

void Rng::poisson(double mean, View<std::int32_t> A, Queue& q) {
  require(mean >= 0 && mean <= 0x1p30, "rng_poisson: mean is ", mean, ", must be within 0 and 2^30");
  if (mean <= Impl::most_by_table) {
    impl_->check_queue("rng_poisson", q);
    if (is_quasi(impl_->generator) || A.empty()) return draw("rng_poisson", random::Discrete{}, A, q);
    return draw("rng_poisson", impl_->poisson_table(mean, q), A, q);
  }
  random::Poisson d = {};
  d.mean = mean;
  d.log_mean = random::log_of(mean);
  d.b = 0.931 + 2.53 * random::square_root(mean);
  d.a = -0.059 + 0.02483 * d.b;
  d.inverse = 1.1239 + 1.1328 / (d.b - 3.4);
  d.reach = 0.9277 - 3.6224 / (d.b - 2);
  draw("rng_poisson", d, A, q);
}

template <class T>
void Rng::bernoulli(double p, View<T> A, Queue& q) {
  require(p >= 0 && p <= 1, "rng_bernoulli: p is ", p, ", must be within 0 and 1");
  const double scaled = p * 0x1p64;
  const bool certain = scaled >= 0x1p64;
  draw("rng_bernoulli", random::Bernoulli<T>{certain ? 0 : static_cast<std::uint64_t>(scaled), certain}, A, q);
}

void Rng::words(View<std::int32_t> A, Queue& q) {
  draw("rng_words", random::Words{}, A, q);
}

#define INSTANTIATE(T)                                                  \
  template void Rng::uniform<T>(real_t<T>, real_t<T>, View<T>, Queue&); \
  template void Rng::normal<T>(real_t<T>, real_t<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(T)                                    \
  template void Rng::lognormal<T>(T, T, View<T>, Queue&); \
  template void Rng::exponential<T>(T, View<T>, Queue&);  \
  template void Rng::bernoulli<T>(double, View<T>, Queue&);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE
template void Rng::bernoulli<std::int32_t>(double, View<std::int32_t>, Queue&);

}  // namespace devobj
