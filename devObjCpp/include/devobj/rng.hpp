// Random numbers in a queue's memory: generators by name, distributions, streams, and a state that can be kept.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "devobj/matrix.hpp"
#include "devobj/queue.hpp"
#include "devobj/view.hpp"

namespace devobj {

/// How the bits are made.
///
/// `philox` and `state` are the library's own and give the same bits on both backends. `philox` is Philox4x32-10: a
/// number is a function of seed, stream and position. `state` is xoshiro128++ in 2^17 lanes, 2^64 steps apart, whose
/// states stay in the queue's memory. The others are cuRAND's, on the cuda backend only, in its legacy order; the
/// sobol ones are quasirandom, of one dimension.
enum class Generator : int {
  philox = 0,
  state = 1,
  curand_philox = 2,
  xorwow = 3,
  mrg32k3a = 4,
  mtgp32 = 5,
  mt19937 = 6,
  sobol32 = 7,
  scrambled_sobol32 = 8,
  sobol64 = 9,
  scrambled_sobol64 = 10
};
inline constexpr int generators = 11;

/// "philox", ...; the generator of a name, case ignored. Error: invalid_argument, with the names there are.
const char* name_of(Generator generator);
Generator generator_of(const std::string& name);
/// Whether it is one of cuRAND's; of its quasirandom ones; of those with 64 bits.
constexpr bool is_curand(Generator g) { return g != Generator::philox && g != Generator::state; }
constexpr bool is_quasi(Generator g) { return static_cast<int>(g) >= static_cast<int>(Generator::sobol32); }
constexpr bool is_wide(Generator g) { return g == Generator::sobol64 || g == Generator::scrambled_sobol64; }

/// What a generator is at one moment: enough to go on from there, in bits. Six words, for files and memory.
using RngState = std::array<std::int64_t, 6>;

/// A generator of random numbers.
///
/// A generator makes one sequence of 32-bit words for each seed and stream. Draws take them in order: a real, an
/// integer(4), a Bernoulli or a Poisson number one word, a double two, complex numbers as two real ones, a Poisson number
/// with a mean above 1000 four. A draw of doubles begins at the next word with an even number, one of those Poisson numbers
/// at the next multiple of four. Elements are numbered column by column, whatever the leading dimension. Hence n1 numbers
/// and then n2 are the same as n1 + n2 at once. (With cuRAND's generators a draw begins at the next multiple of four words;
/// with the sobol ones every element takes one number of the sequence.)
///
/// Work is done in order on the queue that a draw is given, and does not wait. That queue must be of the backend and
/// device that the generator was made for. Used from several queues, the draws of `state` and of cuRAND's generators need
/// events between them, as all writes do. One thread at a time may use a generator. Move-only.
///
/// Errors of all draws: invalid_argument for wrong parameters and at the end of a sequence (2^64 words); not_supported for
/// a distribution that a quasirandom generator does not have; out_of_memory. Nothing has been written or used up then.
class Rng {
 public:
  /// stream: below 2^48 for philox, below 2^32 for state, 0 for the others. Streams are disjoint. The quasirandom
  /// generators take no notice of the seed.
  /// Errors: invalid_argument; not_supported for cuRAND's generators on the host backend; out_of_memory.
  explicit Rng(Queue& q, Generator generator = Generator::philox, std::uint64_t seed = 0, std::uint64_t stream = 0);
  ~Rng();
  Rng(Rng&&) noexcept;
  Rng& operator=(Rng&&) noexcept;

  Generator generator() const noexcept;
  std::uint64_t seed() const noexcept;
  std::uint64_t stream() const noexcept;
  /// The number of words (of numbers, for the sobol generators) that have been used up.
  std::uint64_t position() const noexcept;

  /// Goes to the beginning of this seed's sequence. Errors as for the constructor; the generator is then unchanged.
  void seed(std::uint64_t seed, std::uint64_t stream = 0);
  /// Leaves out the next `words` words (numbers, for the sobol generators). Costs nothing for philox, some
  /// milliseconds for state. mtgp32 and mt19937 make all words on the way.
  /// Error: beyond the end.
  void skip(std::uint64_t words);

  /// The generator's state, and a generator that goes on from it. restore: errors: invalid_argument if this is no saved
  /// state or damaged, and as for the constructor; the generator is then unchanged.
  RngState save() const;
  void restore(const RngState& saved);
  /// The same in a file of 48 bytes, for any machine. Errors: invalid_argument with the file's name and the reason.
  void save(const std::string& file) const;
  void restore(const std::string& file);
  /// Another generator at the same point, on this queue's device.
  Rng clone(Queue& q) const;

  /// Uniform on (a, b), both ends excluded: float numbers a + (b - a) (k + 1/2) 2^-23 for 0 <= k < 2^23, double ones with
  /// 2^-52, rounded, and kept between a's upper and b's lower neighbour. Complex numbers: both parts.
  /// Errors: a or b not finite, a >= b, no number between them, b - a not representable.
  template <class T> void uniform(real_t<T> a, real_t<T> b, View<T> A, Queue& q) {
    into<&Rng::draw_uniform<T>>(Kind::uniform, A, q, a, b);
  }
  template <class T> void uniform(View<T> A, Queue& q) { uniform<T>(0, 1, A, q); }
  /// Normal with this mean and standard deviation, by Box and Muller's method: |x - mean| <= 6.66 sigma (float), 8.58
  /// sigma (double). Complex numbers: both parts, each with deviation sigma.
  /// Errors: mean not finite, sigma < 0 or not finite.
  template <class T> void normal(real_t<T> mean, real_t<T> sigma, View<T> A, Queue& q) {
    into<&Rng::draw_normal<T>>(Kind::normal, A, q, mean, sigma);
  }
  template <class T> void normal(View<T> A, Queue& q) { normal<T>(0, 1, A, q); }
  /// e^x with x normal; real types. Errors as for normal.
  template <class T> void lognormal(T mean, T sigma, View<T> A, Queue& q) {
    into<&Rng::draw_lognormal<T>>(Kind::lognormal, A, q, mean, sigma);
  }
  /// Exponential with this mean: -mean ln u; real types. Errors: mean <= 0 or not finite.
  template <class T> void exponential(T mean, View<T> A, Queue& q) {
    into<&Rng::draw_exponential<T>>(Kind::exponential, A, q, mean);
  }
  /// Each of lowest ... highest exactly as likely as the others. Error: lowest > highest.
  void integers(std::int32_t lowest, std::int32_t highest, View<std::int32_t> A, Queue& q) {
    into<&Rng::draw_integers>(Kind::integers, A, q, lowest, highest);
  }
  /// Poisson numbers. Errors: mean < 0, above 2^30, or not finite.
  void poisson(double mean, View<std::int32_t> A, Queue& q) { into<&Rng::draw_poisson>(Kind::poisson, A, q, mean); }
  /// 1 with probability p, else 0; real types and int32. p counts to 2^-64. Errors: p not within [0, 1].
  template <class T> void bernoulli(double p, View<T> A, Queue& q) {
    into<&Rng::draw_bernoulli<T>>(bernoulli_kind<T>, A, q, p);
  }
  /// The words themselves.
  void words(View<std::int32_t> A, Queue& q) { into<&Rng::draw_words>(Kind::words, A, q); }

  /// One number as the return value, for loops on the host: `double x = rng.normal();`, `rng.uniform<float>(-1, 1)`. It is
  /// the number, of the same words, that a draw into an object of one element would make, on any backend, but always
  /// made by the calling thread, at once, without a queue; `philox` and `state` only. Numbers are made some ahead, so that
  /// most calls only read one; that changes no number and no position. Parameters that are new at each call make each
  /// call as long as a short draw: scale a standard number instead. Errors as above; not_supported for cuRAND's generators.
  template <std::floating_point T = double> T uniform(scalar<T> a = 0, scalar<T> b = 1) {
    return number<T, &Rng::draw_uniform<T>>(Kind::uniform, a, b);
  }
  template <std::floating_point T = double> T normal(scalar<T> mean = 0, scalar<T> sigma = 1) {
    return number<T, &Rng::draw_normal<T>>(Kind::normal, mean, sigma);
  }
  template <std::floating_point T = double> T lognormal(scalar<T> mean = 0, scalar<T> sigma = 1) {
    return number<T, &Rng::draw_lognormal<T>>(Kind::lognormal, mean, sigma);
  }
  template <std::floating_point T = double> T exponential(scalar<T> mean = 1) {
    return number<T, &Rng::draw_exponential<T>>(Kind::exponential, mean);
  }
  std::int32_t integer(std::int32_t lowest, std::int32_t highest) {
    return number<std::int32_t, &Rng::draw_integers>(Kind::integers, lowest, highest);
  }
  std::int32_t poisson(double mean) { return number<std::int32_t, &Rng::draw_poisson>(Kind::poisson, mean); }
  bool bernoulli(double p) {
    return number<std::int32_t, &Rng::draw_bernoulli<std::int32_t>>(Kind::bernoulli_integers, p) != 0;
  }
  std::uint32_t word() { return static_cast<std::uint32_t>(number<std::int32_t, &Rng::draw_words>(Kind::words)); }

  struct Impl;

 private:
  /// The distributions of which numbers are made ahead, for float; for double they are the next ones.
  enum class Kind : int {
    uniform = 0,
    normal = 2,
    lognormal = 4,
    exponential = 6,
    bernoulli = 8,
    bernoulli_integers = 10,
    integers,
    poisson,
    poisson_by_rejection,
    words
  };
  static constexpr int kinds = 15;
  template <class T>
  static constexpr Kind bernoulli_kind = std::floating_point<T> ? Kind::bernoulli : Kind::bernoulli_integers;

  template <class T> static constexpr Kind kind_for(Kind kind) {
    return static_cast<Kind>(static_cast<int>(kind) + (std::same_as<T, double> ? 1 : 0));
  }

  /// The bits of a distribution's parameters; those of 32 bits lie side by side in `first`.
  struct Parameters {
    std::uint64_t first = 0, second = 0;
    bool operator==(const Parameters& other) const noexcept = default;
  };
  static Parameters parameters() noexcept { return {}; }
  template <class P> static Parameters parameters(P first, P second = 0) noexcept {
    if constexpr (sizeof(P) == 8)
      return {std::bit_cast<std::uint64_t>(first), std::bit_cast<std::uint64_t>(second)};
    else
      return {std::bit_cast<std::uint32_t>(first) | std::uint64_t{std::bit_cast<std::uint32_t>(second)} << 32, 0};
  }
  /// Whether numbers of a kind in T have two parameters of 64 bits.
  template <class T> static constexpr bool two_wide(Kind kind) { return sizeof(T) == 8 && kind < Kind::exponential; }

  static constexpr std::uint64_t nowhere = std::uint64_t{1} << 63;
  /// `count` numbers of a distribution, made of the words from number `begin` on, which is a multiple of four. A number is
  /// in the slot that is the place of its words divided by how many it takes.
  struct Ahead {
    // What take reads. The position is never before these numbers: it only goes back where they are forgotten.
    std::uint64_t stop = 0;     ///< the slot after them; 0 if there are none
    std::uintptr_t slot_0 = 0;  ///< the address at which slot 0 would be, if all numbers before them were there too
    Parameters of = {};

    std::uint64_t begin = 0, count = 0;
    std::uint64_t end = nowhere;  ///< the word after them, or after the last draw without any
    void* values = nullptr;
  };
  /// The part of the generator that a number made ahead is taken from. Whether it is the next one its position tells, so that
  /// skipping, saving and other draws in between need do nothing.
  struct Front {
    std::uint64_t position = 0;  ///< words used up
    const Queue::Impl* made_at_once = nullptr;  ///< the queue it was made on, if its work is done in the caller's thread
    Ahead ahead[kinds];
  };
  struct Deleter {
    void operator()(Front* front) const noexcept;
  };
  Impl& impl() const noexcept;

  /// The next number, if it has been made.
  template <class T> bool take(Kind kind, const Parameters& of, T& x) noexcept {
    Front& front = *front_;
    const int words = kind < Kind::bernoulli ? static_cast<int>(sizeof(T) / 4) : 1;
    const Ahead& numbers = front.ahead[static_cast<int>(kind_for<T>(kind))];
    const std::uint64_t slot = std::rotr(front.position, words - 1);  // of doubles at an odd position beyond all others
    if (slot >= numbers.stop) [[unlikely]] return false;
    if (kind != Kind::words && numbers.of.first != of.first) [[unlikely]] return false;
    if (two_wide<T>(kind) && numbers.of.second != of.second) [[unlikely]] return false;
    x = *reinterpret_cast<const T*>(numbers.slot_0 + slot * sizeof(T));
    front.position += static_cast<std::uint64_t>(words);
    return true;
  }
  /// The same for a draw on a queue: only on that which the generator was made on, if it works in the calling thread.
  template <class T> bool take_at_once(Kind kind, const Parameters& of, T& x, const Queue& q) noexcept {
    if (is_complex<T> || q.impl().get() != front_->made_at_once) [[unlikely]] return false;
    if constexpr (!is_complex<T>) return take(kind, of, x);
  }
  /// A draw into an object: one number that has been made, or what `draw` does. That gets what it needs in registers, so
  /// that the former, inlined, stores nothing but the number and the position.
  template <auto draw, class T, class... P> void into(Kind kind, const View<T>& A, Queue& q, P... of) {
    if (A.rows != 1 || A.cols != 1) [[unlikely]]
      draw_all<draw>(A.data, A.rows, A.cols, A.ld, q, of...);
    else if (!take_at_once(kind, parameters(of...), *A.data, q)) [[unlikely]]
      draw_one<draw>(A.data, &q, of...);
  }
  template <auto draw, class T, class... P>
  [[gnu::noinline]] void draw_all(T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld, Queue& q, P... of) {
    View<T> A;
    A.data = data;
    A.rows = rows;
    A.cols = cols;
    A.ld = ld;
    (this->*draw)(of..., A, &q);
  }
  template <auto draw, class T, class... P> [[gnu::noinline]] void draw_one(T* x, Queue* q, P... of) {
    View<T> A;
    A.data = x;
    A.rows = A.cols = 1;
    (this->*draw)(of..., A, q);
  }
  /// The next number, made by the calling thread.
  template <class T, auto draw, class... P> T number(Kind kind, P... of) {
    T x;
    return take(kind, parameters(of...), x) ? x : made<T, draw>(of...);
  }
  template <class T, auto draw, class... P> [[gnu::noinline]] T made(P... of) {
    T x;
    draw_one<draw>(&x, nullptr, of...);
    return x;
  }

  /// The same with the parameters before the last ones.
  template <class T> bool take_before(Kind kind, const Parameters& of, const View<T>& A, const Queue* q) noexcept;

  // The draws; without a queue they are made by the calling thread.
  template <class T> void draw_uniform(real_t<T> a, real_t<T> b, const View<T>& A, Queue* q);
  template <class T> void draw_normal(real_t<T> mean, real_t<T> sigma, const View<T>& A, Queue* q);
  template <class T> void draw_lognormal(T mean, T sigma, const View<T>& A, Queue* q);
  template <class T> void draw_exponential(T mean, const View<T>& A, Queue* q);
  void draw_integers(std::int32_t lowest, std::int32_t highest, const View<std::int32_t>& A, Queue* q);
  void draw_poisson(double mean, const View<std::int32_t>& A, Queue* q);
  template <class T> void draw_bernoulli(double p, const View<T>& A, Queue* q);
  void draw_words(const View<std::int32_t>& A, Queue* q);
  template <class D>
  void draw(const char* name, Kind kind, const Parameters& of, const D& d, const View<typename D::value>& A, Queue* q);

  std::unique_ptr<Front, Deleter> front_;
};

/// A (m x n) with orthonormal columns (m >= n) or rows (m < n), uniform among them (Haar's measure): the orthogonal factor of
/// a normal matrix, its columns with random signs. Waits. Errors: a quasirandom generator (not_supported), out_of_memory.
/// G. W. Stewart, The efficient generation of random orthogonal matrices with an application to condition estimators,
/// SIAM J. Numer. Anal. 17 (1980).
template <class T> void random_orthogonal(Rng& rng, View<T> A, Queue& q);

/// A = U diag(s) V^H with the given min(m, n) singular values, U and V as from random_orthogonal. Waits. Errors: a number of
/// values that is not min(m, n), one that is negative or not finite; as random_orthogonal. LAPACK's latms.
template <class T> void random_singular_values(Rng& rng, const std::vector<real_t<T>>& s, View<T> A, Queue& q);

/// The same with singular values from 1 down to 1 / condition, each the same part of the one before it. Error: condition < 1 or
/// not finite. LAPACK's latms, mode 3.
template <class T> void random_condition(Rng& rng, real_t<T> condition, View<T> A, Queue& q);

}  // namespace devobj
