// Rng: making, seeding, skipping, and where its state is. The draws are in rng_draw.cpp.
#include "devobj/rng.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "kernels/curand.hpp"
#include "kernels/host/random_fill.hpp"
#include "memory.hpp"
#include "rng_impl.hpp"
#include "rng_lanes.hpp"

namespace devobj {
namespace {

constexpr const char* names[generators] = {
    "philox",  "state",   "curand_philox",     "xorwow",  "mrg32k3a",         "mtgp32",
    "mt19937", "sobol32", "scrambled_sobol32", "sobol64", "scrambled_sobol64"};

constexpr const char* backend_name(Backend b) {
  return b == Backend::cuda ? "cuda" : "host";
}

void check(Generator generator, std::uint64_t stream, Backend backend) {
  const int number = static_cast<int>(generator);
  require(number >= 0 && number < generators, "rng: generator is ", number, ", must be 0 to ", generators - 1);
  const std::uint64_t streams = generator == Generator::philox  ? random::Philox::streams
                                : generator == Generator::state ? std::uint64_t{1} << 32
                                                                : 1;
  require(stream < streams, "rng: stream is ", stream, ", but '", names[number], "' has streams 0 to ", streams - 1);
  if (is_curand(generator) && backend != Backend::cuda)
    fail(Status::not_supported, "rng: generator '", names[number],
         "' is cuRAND's, which the host backend does not have; philox and state work on both");
}

}  // namespace

const char* name_of(Generator generator) {
  const int number = static_cast<int>(generator);
  return number >= 0 && number < generators ? names[number] : "unknown";
}

Generator generator_of(const std::string& name) {
  std::string lower = name;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string known;
  for (int i = 0; i < generators; ++i) {
    if (lower == names[i]) return static_cast<Generator>(i);
    known += (i > 0 ? ", " : "") + std::string(names[i]);
  }
  fail(Status::invalid_argument, "rng: generator is '", name, "', must be one of ", known);
}

// ---- Impl ----

Rng::Impl::Impl(std::shared_ptr<Queue::Impl> queue, Generator generator_, std::uint64_t seed_, std::uint64_t stream_,
                std::uint64_t position_)
    : generator(generator_), seed(seed_), stream(stream_), made_on(std::move(queue)) {
  position = position_;
  if (made_on->backend == Backend::host && made_on->worker == nullptr) made_at_once = made_on.get();
  check(generator, stream, made_on->backend);
  if constexpr (cuda_built)
    if (is_curand(generator)) curand = cuda::curand_create(generator, seed, made_on->device);
}

Rng::Impl::~Impl() {
  for (Ahead* numbers : {ahead, ahead_before})
    for (int kind = 0; kind < kinds; ++kind) memory::release_host(numbers[kind].values);
  if constexpr (cuda_built)
    if (curand != nullptr && made_on->alive()) cuda::curand_destroy(curand);
}

void Rng::Impl::check_device(const char* routine, const Queue& q) const {
  require(q.backend() == made_on->backend, routine, ": the queue is of the ", backend_name(q.backend()),
          " backend, but the generator of the ", backend_name(made_on->backend), " backend");
  require(!q.on_cuda() || q.device() == made_on->device, routine, ": the queue is of device ", q.device(),
          ", but the generator of device ", made_on->device);
}

random::Xoshiro* Rng::Impl::lanes_before(std::uint64_t block, Queue& q) {
  constexpr std::int64_t lane_words = 4;
  // Quads that are left out, or were made ahead, are drawn to be thrown away, so many at a time.
  constexpr std::uint64_t thrown_away = 256, most_thrown_away = 16 * thrown_away;
  if (lanes_without_queue && !at_once(q)) {  // whose memory is not freed in q's order
    lanes = Storage();
    lanes_without_queue = false;
  }
  if (lanes.data() == nullptr) {
    Storage fresh((static_cast<std::size_t>(random::lanes) + thrown_away) * sizeof(random::Xoshiro), q);
    lanes = std::move(fresh);
    lanes_ready = false;
  }
  auto* states = static_cast<random::Xoshiro*>(lanes.data());
  auto* words = static_cast<std::int32_t*>(lanes.data());
  if (lanes_ready && block - lanes_block <= most_thrown_away) {
    std::int32_t* to = words + lane_words * random::lanes;
    while (lanes_block < block) {
      const std::uint64_t from = lanes_block % random::lanes;
      if (stepped_quads > 0 && lanes_block == stepped_block && block - lanes_block >= stepped_quads && at_once(q)) {
        std::copy_n(stepped, stepped_quads, states + from);
        lanes_block += stepped_quads;
        continue;
      }
      const std::uint64_t quads = std::min({thrown_away, block - lanes_block, random::lanes - from});
      const View<std::int32_t> nowhere(to, lane_words * static_cast<std::int64_t>(quads), 1);
      if (at_once(q))
        host::random_fill<random::Words>().state(states + from, {seed, stream}, {}, lanes_block,
                                                 static_cast<std::int64_t>(quads), false, to);
      else if (!q.on_cuda())
        host::random_state(states, {seed, stream}, 4 * lanes_block, random::Words{}, nowhere, q);
      else if constexpr (cuda_built)
        cuda::random_state(states, {seed, stream}, 4 * lanes_block, random::Words{}, nowhere, q);
      lanes_block += quads;
    }
  } else {
    stepped_quads = 0;
    const std::vector<random::Xoshiro> found = random::lanes_at(seed, stream, block);
    to_device<std::int32_t>(
        {reinterpret_cast<const std::int32_t*>(found.data()), lane_words, random::lanes, lane_words},
        View<std::int32_t>(words, lane_words, random::lanes), q);
  }
  lanes_ready = true;
  lanes_block = block;
  return states;
}

random::Xoshiro* Rng::Impl::lanes_for(std::uint64_t block, std::int64_t& quads, Queue* q) {
  if (q == nullptr && (made_at_once == nullptr || lanes_in_use)) {
    if (!walk) walk = std::make_unique<random::LaneWalk>();
    stepped_quads = 0;
    walk->lanes(seed, stream, block, quads, stepped);
    return stepped;
  }
  if (q == nullptr) {
    if (!own_queue) own_queue = std::make_unique<Queue>(Backend::host, QueueOptions{HostMode::synchronous});
    if (lanes.data() == nullptr) lanes_without_queue = true;
    q = own_queue.get();
  }
  const std::int64_t lane = static_cast<std::int64_t>(block % random::lanes);
  quads = std::min(quads, random::lanes - lane);
  std::copy_n(lanes_before(block, *q) + lane, quads, stepped);
  stepped_block = block;
  stepped_quads = static_cast<std::uint64_t>(quads);
  return stepped;
}

void* Rng::Impl::curand_at([[maybe_unused]] std::uint64_t start, [[maybe_unused]] Queue& q) {
  if constexpr (cuda_built) {
    if (start < curand_position && !cuda::curand_can_skip(generator)) {
      void* fresh = cuda::curand_create(generator, seed, made_on->device);
      cuda::curand_destroy(std::exchange(curand, fresh));
      curand_position = 0;
    }
    if (start != curand_position && cuda::curand_can_skip(generator)) {
      cuda::curand_skip_to(curand, start, q);
      curand_position = start;
    }
    constexpr std::uint64_t most = std::uint64_t{1} << 24;
    while (curand_position < start) {
      const std::uint64_t count = std::min(most, start - curand_position);
      cuda::curand_generate(curand, generator, buffer(count * 4, q), static_cast<std::int64_t>(count), q);
      curand_position += count;
    }
  }
  return curand;
}

void* Rng::Impl::buffer(std::size_t bytes, Queue& q) {
  if (numbers.bytes() < bytes) {
    Storage larger(bytes, q);
    numbers = std::move(larger);
  }
  return numbers.data();
}

// ---- Rng ----

Rng::Rng(Queue& q, Generator generator, std::uint64_t seed, std::uint64_t stream)
    : front_(new Impl(q.impl(), generator, seed, stream, 0)) {}
Rng::~Rng() = default;
Rng::Rng(Rng&&) noexcept = default;
Rng& Rng::operator=(Rng&&) noexcept = default;

void Rng::Deleter::operator()(Front* front) const noexcept {
  delete static_cast<Impl*>(front);
}

Generator Rng::generator() const noexcept {
  return impl().generator;
}
std::uint64_t Rng::seed() const noexcept {
  return impl().seed;
}
std::uint64_t Rng::stream() const noexcept {
  return impl().stream;
}
std::uint64_t Rng::position() const noexcept {
  return front_->position;
}

void Rng::seed(std::uint64_t seed, std::uint64_t stream) {
  Impl& g = impl();
  check(g.generator, stream, g.made_on->backend);
  if constexpr (cuda_built)
    if (is_curand(g.generator) && seed != g.seed) {
      void* fresh = cuda::curand_create(g.generator, seed, g.made_on->device);
      cuda::curand_destroy(std::exchange(g.curand, fresh));
      g.curand_position = 0;
    }
  g.seed = seed;
  g.stream = stream;
  g.position = 0;
  g.lanes_ready = false;
  g.forget_ahead();
}

void Rng::skip(std::uint64_t words) {
  require(words <= ~std::uint64_t{0} - front_->position, "rng_skip: ", words, " words from position ", front_->position,
          " on are beyond the end of the sequence, 2^64");
  front_->position += words;
}

Rng Rng::clone(Queue& q) const {
  Rng other(q, impl().generator, impl().seed, impl().stream);
  other.front_->position = front_->position;
  return other;
}

}  // namespace devobj
