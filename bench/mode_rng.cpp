// rng: numbers per second of each generator and distribution, beside the peers' in the same run, of large draws and,
// on the host, of short ones, and for one number also of those that are returned (method NAME_number). The column gflops
// holds 10^9 numbers per second.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuda_side.hpp"
#include "devobj/matrix.hpp"
#include "devobj/rng.hpp"
#include "modes.hpp"
#include "raw_rng.hpp"
#include "report.hpp"

namespace bench {

using namespace devobj;

namespace {

/// The draw of `routine` for a type; empty if the type has no such numbers.
template <class T>
Fill draw_of(const std::string& routine, Rng& rng, View<T> A, Queue& q) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    if (routine == "words") return [=, &rng, &q] { rng.words(A, q); };
    if (routine == "integers") return [=, &rng, &q] { rng.integers(1, 6, A, q); };
    if (routine == "poisson") return [=, &rng, &q] { rng.poisson(20, A, q); };
    if (routine == "bernoulli") return [=, &rng, &q] { rng.bernoulli<T>(0.3, A, q); };
  } else {
    if (routine == "uniform") return [=, &rng, &q] { rng.uniform<T>(A, q); };
    if (routine == "normal") return [=, &rng, &q] { rng.normal<T>(A, q); };
    if (routine == "lognormal") return [=, &rng, &q] { rng.lognormal<T>(0, 1, A, q); };
    if (routine == "exponential") return [=, &rng, &q] { rng.exponential<T>(1, A, q); };
  }
  return {};
}

/// The same for single numbers, made by the calling thread.
template <class T>
Fill single_of(const std::string& routine, Rng& rng, T* x) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    if (routine == "words") return [=, &rng] { *x = static_cast<T>(rng.word()); };
    if (routine == "integers") return [=, &rng] { *x = rng.integer(1, 6); };
    if (routine == "poisson") return [=, &rng] { *x = rng.poisson(20); };
    if (routine == "bernoulli") return [=, &rng] { *x = rng.bernoulli(0.3) ? 1 : 0; };
  } else {
    if (routine == "uniform") return [=, &rng] { *x = rng.uniform<T>(); };
    if (routine == "normal") return [=, &rng] { *x = rng.normal<T>(); };
    if (routine == "lognormal") return [=, &rng] { *x = rng.lognormal<T>(); };
    if (routine == "exponential") return [=, &rng] { *x = rng.exponential<T>(); };
  }
  return {};
}

template <class T>
void measure(const std::string& routine, char type, std::int64_t count, const Options& o,
             const std::vector<RngPeer>& peers, Report& report, Queue& q) {
  Matrix<T> A(count, 1, q);
  if (!q.on_cuda()) std::memset(A.data, 0, static_cast<std::size_t>(count) * sizeof(T));  // the pages' first touch
  const auto nothing = [] {};
  const auto wait = [&] { q.wait(); };
  // Short draws follow each other, so that the clock's own time does not count.
  const std::int64_t calls = std::max<std::int64_t>(1, 20000 / count);
  const auto ms_of = [&](const Fill& fill) {
    const auto all = [&] {
      for (std::int64_t call = 0; call < calls; ++call) fill();
    };
    return median_ms(o.repeat, nothing, all, wait) / static_cast<double>(calls);
  };
  std::vector<std::pair<std::string, double>> peer_ms;
  for (const RngPeer& peer : peers) {
    const Fill fill = peer.fill(routine, type, A.data, count);
    if (fill) peer_ms.emplace_back(peer.name, ms_of(fill));
  }
  const auto add_rows = [&](const std::string& method, const Fill& draw) {
    report.progress(routine + " " + type + " " + method);
    const double ms = ms_of(draw), rate = static_cast<double>(count) / (ms * 1e6);
    char text[32];
    std::snprintf(text, sizeof text, "%.4g G/s", rate);
    for (const auto& peer : peer_ms) {
      Row row = report.row();
      row.routine = "rng_" + routine;
      row.type = type;
      row.m = count;
      row.n = 1;
      row.method = method;
      row.ms = ms;
      row.gflops = rate;
      row.peer = peer.first;
      row.peer_ms = peer.second;
      report.add(row, text);
    }
  };
  for (const std::string& name : o.generators) {
    const Generator kind = generator_of(name);
    Rng rng(q, kind, o.seed);
    const Fill draw = draw_of<T>(routine, rng, A.view(), q);
    if (!draw) return;
    add_rows(name, draw);
    if (count != 1 || is_curand(kind)) continue;
    T x = 0;
    add_rows(name + "_number", single_of<T>(routine, rng, &x));
  }
}

}  // namespace

int run_rng(const Options& o, Queue& q) {
  std::vector<std::int64_t> counts = o.sizes;
  if (counts.empty()) {
    if (q.on_cuda())
      counts = {std::int64_t{1} << 30};
    else
      counts = {1, 10, 100, std::int64_t{1} << 25};
  }
  std::vector<RngPeer> peers;
  if (o.peers != std::vector<std::string>{"none"}) {
    if constexpr (cuda_built)
      if (q.on_cuda()) peers = curand_peers(q);
    if (!q.on_cuda()) peers = std_peers();
  }
  if (peers.empty()) peers.push_back({"", [](auto&&...) -> Fill { return [] {}; }});
  std::size_t steps = 0;
  for (const std::int64_t count : counts) steps += (count == 1 ? 2 : 1) * o.routines.size() * o.generators.size();
  Report report(o, q, static_cast<int>(steps));
  for (const std::int64_t count : counts)
    for (const std::string& routine : o.routines)
      for (const char type : std::string("isd")) try {
          if (type == 'i')
            measure<std::int32_t>(routine, type, count, o, peers, report, q);
          else if (std::find(o.types.begin(), o.types.end(), type) == o.types.end())
            continue;
          else if (type == 's')
            measure<float>(routine, type, count, o, peers, report, q);
          else
            measure<double>(routine, type, count, o, peers, report, q);
        } catch (const std::exception& e) {
          report.failure("rng " + routine + " " + type + ": " + e.what());
        }
  return report.exit_code();
}

}  // namespace bench
