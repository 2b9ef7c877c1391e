// Work that fails: the first, second, ... step of a routine, on every kind of queue. The error appears at the latest when
// the queue is waited for, with the name of the step; operands that are only read stay as they were, and the queue, its
// side queues and everything else work as before. What the step would have written is undefined.
#include <functional>
#include <optional>

#include "child.hpp"
#include "devObjCpp/environment.hpp"
#include "devObjCpp/injected.hpp"
#include "devobj/mixed.hpp"
#include "factor_checks.hpp"
#include "factor_matrices.hpp"
#include "failing_allocations.hpp"
#include "opened.hpp"
#include "some_work.hpp"

namespace devobj::test {
namespace {

const std::string asked_for = "a failure that a test has asked for";

/// "NAME: a failure that ...", NAME the step's.
bool names_its_origin(const std::string& text) {
  const std::size_t end = text.find(": " + asked_for);
  return end != text.npos && end > 0 && text.find(':') == end && text.size() == end + 2 + asked_for.size();
}

class WorkFaults : public Everywhere {
 protected:
  /// The n-th step of work() fails, n = 1, 2, ... until none is left; work() has succeeded once then. Returns the number of
  /// failures. `between` runs after each, when the queue has to be in order again.
  template <class Work, class Between>
  int fail_each_step(const std::string& what, Work&& work, Between&& between) {
    for (int nth = 1; nth < 2000; ++nth) {
      injected::fail_work(nth);
      try {
        work();
        q().wait();
        injected::fail_work(0);
        return nth - 1;
      } catch (const Error& e) {
        injected::fail_work(0);
        EXPECT_EQ(e.status(), Status::device_error) << what << ", step " << nth << ": " << e.what();
        EXPECT_TRUE(names_its_origin(e.what())) << what << ", step " << nth << ": " << e.what();
      }
      EXPECT_NO_THROW(q().wait()) << what << ", step " << nth << ": an error that came a second time";
      between();
      if (HasFailure()) return nth;
    }
    ADD_FAILURE() << what << ": no end of steps";
    return 0;
  }

  /// A is unchanged by each failure.
  template <class T>
  int fail_each_step_of_gesv_mixed(const Dense<T>& A, const Dense<T>& B, Method method) {
    Padded<T> a(A, q());
    std::optional<Padded<T>> b(std::in_place, B, q());
    Padded<std::int32_t> ipiv(Dense<std::int32_t>(A.rows(), 1, 77), q());
    return fail_each_step(
        "gesv_mixed",
        [&] {
          const MixedResult done = gesv_mixed<T>(a, ipiv.view(), *b, q(), {method});
          EXPECT_EQ(done.info, 0);
          EXPECT_GE(done.iterations, 1);
        },
        [&] {
          expect_same(a.read("A"), A, "A");
          b.emplace(B, q());  // the last steps are those that write it
        });
  }
};

/// What a routine reads and writes, n x n each but the vectors; `run` calls it.
template <class T>
struct Operands {
  Operands(std::int64_t n, Queue& q)
      : A(random<T>(n, n, 1), q),
        B(random<T>(n, n, 2), q),
        C(random<T>(n, n, 3), q),
        D(random<T>(n, n, 4), q),
        x(random<T>(n, 1, 5), q),
        ipiv(Dense<std::int32_t>(n, 1), q),
        perm(Dense<std::int32_t>(n, 1), q) {}
  Padded<T> A, B, C, D, x;
  Padded<std::int32_t> ipiv, perm;
};
template <class T>
struct Routine {
  std::string name;
  std::function<void(Operands<T>&, Queue&)> run;
  std::int64_t steps;  // at least, wherever it runs
};

template <class T>
std::vector<Routine<T>> routines(const Queue& queue) {
  using O = Operands<T>;
  std::vector<Routine<T>> all = {
      {"gemm", [](O& o, Queue& q) { gemm<T>(Op::NoTrans, Op::Trans, 1, o.A, o.B, 1, o.C, q); }, 1},
      {"trsm", [](O& o, Queue& q) { trsm<T>(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, 1, o.A, o.C, q); }, 1},
      {"lange", [](O& o, Queue& q) { lange<T>(Norm::Fro, o.A, q); }, 1},
      {"transpose", [](O& o, Queue& q) { transpose<T>(Op::Trans, o.A, o.C, q); }, 1},
      {"getrs", [](O& o, Queue& q) { getrs<T>(Op::NoTrans, o.A, o.ipiv.view(), o.C, q); }, 2},
      {"lu_unpack", [](O& o, Queue& q) { lu_unpack<T>(o.A, o.ipiv.view(), o.C, o.D, o.perm.view(), q); }, 3},
      {"qr",
       [](O& o, Queue& q) {
         qr<T>(o.A, o.C, o.D, q, {Method::hybrid, 16});
       },
       5},
      {"ormqr",
       [](O& o, Queue& q) {
         ormqr<T>(Side::Left, adjoint<T>, o.A, o.x, o.C, q, {Method::hybrid, 16});
       },
       3},
      {"getrf", [](O& o, Queue& q) { getrf<T>(o.C, o.ipiv.view(), q); }, 1},
      {"hybrid getrf",
       [](O& o, Queue& q) {
         getrf<T>(o.C, o.ipiv.view(), q, {Method::hybrid, 16});
       },
       5},
      {"gesv",
       [](O& o, Queue& q) {
         gesv<T>(o.C, o.ipiv.view(), o.D, q, {Method::hybrid, 16});
       },
       5},
      {"getri", [](O& o, Queue& q) { getri<T>(o.C, o.ipiv.view(), q); }, 2},
      {"geqrf", [](O& o, Queue& q) { geqrf<T>(o.C, o.x, q); }, 1},
      {"hybrid geqrf",
       [](O& o, Queue& q) {
         geqrf<T>(o.C, o.x, q, {Method::hybrid, 16});
       },
       5},
      {"Householder geqrf", [](O& o, Queue& q) { geqrf<T>(o.C, o.x, q, {Method::householder}); }, 1},
      {"block Householder geqrf",
       [](O& o, Queue& q) {
         geqrf<T>(o.C, o.x, q, {Method::block_householder, 16});
       },
       5},
      {"gels",
       [](O& o, Queue& q) {
         gels<T>(Op::NoTrans, o.C, o.D, q, {Method::hybrid, 16});
       },
       5},
  };
  if (queue.on_cuda()) {
    all.push_back({"native getrf", [](O& o, Queue& q) { getrf<T>(o.C, o.ipiv.view(), q, {Method::native, 16}); }, 5});
    all.push_back({"native geqrf", [](O& o, Queue& q) { geqrf<T>(o.C, o.x, q, {Method::native, 16}); }, 5});
  }
  return all;
}

TEST_P(WorkFaults, OfEveryStep) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 50;
    const Dense<T> a = random<T>(n, n, 1), b = random<T>(n, n, 2);
    for (const Routine<T>& routine : routines<T>(q())) {
      // fresh operands for each attempt; ipiv holds 1 ... n
      std::unique_ptr<Operands<T>> o;
      auto fresh = [&] {
        o = std::make_unique<Operands<T>>(n, q());
        const auto straight = Dense<std::int32_t>::from(n, 1, [](auto i, auto) { return std::int32_t(i + 1); });
        to_device<std::int32_t>({straight.data(), n, 1, n}, o->ipiv.view(), q());
        q().wait();
      };
      fresh();
      routine.run(*o, q());
      const Dense<T> C = o->C.read("C"), D = o->D.read("D"), x = o->x.read("x");
      const Dense<std::int32_t> ipiv = o->ipiv.read("ipiv");
      fresh();
      const int failures = fail_each_step(
          routine.name, [&] { routine.run(*o, q()); },
          [&] {
            expect_same(o->A.read("A"), a, routine.name + ": A");
            expect_same(o->B.read("B"), b, routine.name + ": B");
            o->C.read("C"), o->D.read("D"), o->x.read("x"), o->ipiv.read("ipiv");  // nothing beside them is written
            fresh();
          });
      EXPECT_GE(failures, routine.steps) << routine.name;
      expect_same(o->C.read("C"), C, routine.name + " after the failures: C");
      expect_same(o->D.read("D"), D, routine.name + " after the failures: D");
      expect_same(o->x.read("x"), x, routine.name + " after the failures: x");
      expect_same(o->ipiv.read("ipiv"), ipiv, routine.name + " after the failures: ipiv");
    }
  });
}

/// Its panels, the columns near them, those left of them and the others are on four queues.
TEST_P(WorkFaults, OfEveryStepOfARandomizedSolve) {
  with_type([&]<class T>(T) {
    if constexpr (std::is_same_v<real_t<T>, double>) {
      const std::int64_t n = 330;
      EXPECT_GE(fail_each_step_of_gesv_mixed(random<T>(n, n, 1), random<T>(n, 1, 2), Method::randomized), 40);
    }
  });
}

/// Refined with the best combination of corrections.
TEST_P(WorkFaults, OfEveryStepOfAnIllConditionedSolve) {
  with_type([&]<class T>(T) {
    if constexpr (std::is_same_v<real_t<T>, double>) {
      const std::int64_t n = 40;
      const Dense<T> A = with_singular_values<T>(n, n, 1, [&](auto j) { return j < n - 1 ? 1 : 1e-9; });
      for (const Method method : {Method::automatic, Method::randomized})
        EXPECT_GE(fail_each_step_of_gesv_mixed(A, random<T>(n, 2, 2), method), 80);
    }
  });
}

/// Nothing is lost by steps that fail: the heap and the number of allocations stay.
TEST_P(WorkFaults, LeakNothing) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 200;
    const Dense<T> A = random<T>(n, n, 5);
    auto fail_all = [&] {
      for (int nth = 1; nth < 40; nth += 3) {
        Padded<T> a(A, q()), tau(Dense<T>(n, 1), q());
        Padded<std::int32_t> ipiv(Dense<std::int32_t>(n, 1), q());
        q().wait();
        for (bool lu : {true, false}) {
          injected::fail_work(nth);
          try {
            if (lu)
              getrf<T>(a, ipiv.view(), q(), {Method::hybrid, 32});
            else
              geqrf<T>(a, tau, q(), {Method::hybrid, 32});
            q().wait();
          } catch (const Error& e) {
            EXPECT_EQ(e.status(), Status::device_error);
          }
          injected::fail_work(0);
        }
      }
      q().wait();
    };
    fail_all();
    const std::int64_t before = heap_bytes(), allocations = memory::allocation_count();
    fail_all();
    const std::int64_t of_one = memory::allocation_count() - allocations;
    constexpr int times = 2;
    for (int again = 0; again < times; ++again) fail_all();
    EXPECT_EQ(memory::allocation_count() - allocations, (1 + times) * of_one);
    // one panel is 25 KB at least, and dozens of calls have failed
    EXPECT_LT(heap_bytes() - before, 60000);
  });
}

DEVOBJ_EVERYWHERE(WorkFaults);

// ---- through the C interface, on a worker's queue, in a process of its own ----

/// What calls returned, one after the other.
class Seen {
 public:
  Seen& call(devobj_status status) {
    if (status == DEVOBJ_SUCCESS) return say("0");
    return say(text(status, " ", devobj_last_error()));
  }
  template <class What>
  Seen& say(const What& what) {
    all_ += text(all_.empty() ? "" : " | ", what);
    return *this;
  }
  const std::string& all() const { return all_; }

 private:
  std::string all_;
};

struct Worker {
  Worker() {
    setenv("DEVOBJ_HOST_QUEUE", "worker", 1);
    devobj_open(DEVOBJ_HOST, -1);
    A = object_of<double>(DEVOBJ_DOUBLE, 2, 2, {1, 2, 3, 4});
    C = object_of<double>(DEVOBJ_DOUBLE, 2, 2, {5, 6, 7, 8});
    devobj_wait();
  }
  /// C = A A, which fails; here it is only given to the queue.
  devobj_status failing_product() const {
    injected::fail_work(1);
    return devobj_gemm('N', 'N', {1, 0}, A, A, {0, 0}, C);
  }
  bool unchanged() const {
    return values_of<double>(A) == std::vector<double>{1, 2, 3, 4} &&
           values_of<double>(C) == std::vector<double>{5, 6, 7, 8};
  }
  devobj_handle A = 0, C = 0;
};
const std::string failed = "6 gemm: " + asked_for;

TEST(WorkFaultsInC, AppearAtTheNextWaitWithTheirOrigin) {
  EXPECT_CHILD(in_child([] {
                 const Worker w;
                 Seen seen;
                 seen.call(w.failing_product());
                 seen.call(devobj_scal({10, 0}, w.C));  // left out, as everything until the error is known
                 seen.call(devobj_wait()).call(devobj_wait());
                 seen.say(w.unchanged()).say(some_work());
                 return seen.call(devobj_free(w.A)).call(devobj_free(w.C)).call(devobj_close()).all();
               }),
               "0 | 0 | " + failed + " | 0 | 1 | 385 | 0 | 0 | 0");
}

TEST(WorkFaultsInC, AppearWhereAResultIsWaitedFor) {
  EXPECT_CHILD(in_child([] {
                 const Worker w;
                 Seen seen;
                 double norm = -1, host[4] = {-1, -1, -1, -1};
                 std::int64_t info = -77;
                 const devobj_handle p = allocate(DEVOBJ_INTEGER, 2, 1);
                 seen.call(w.failing_product());
                 seen.call(devobj_lange('F', w.A, &norm)).say(norm);
                 seen.call(w.failing_product());
                 seen.call(devobj_to_host(w.A, DEVOBJ_DOUBLE, columns(host, 2, 2))).say(host[0]);
                 seen.call(w.failing_product());
                 seen.call(devobj_getrf(w.A, p, DEVOBJ_METHOD_AUTO, 0, &info)).say(info);
                 seen.call(w.failing_product());
                 seen.call(devobj_getrf(w.A, p, DEVOBJ_METHOD_HYBRID, 1, &info)).say(info);
                 return seen.say(w.unchanged()).call(devobj_close()).all();
               }),
               "0 | " + failed + " | -1 | 0 | " + failed + " | -1 | 0 | " + failed + " | -77 | 0 | " + failed +
                   " | -77 | 1 | 0");
}

TEST(WorkFaultsInC, ObjectsMayBeFreedBeforeTheErrorIsKnown) {
  EXPECT_CHILD(in_child([] {
                 const Worker w;
                 Seen seen;
                 seen.call(w.failing_product()).call(devobj_free(w.A)).call(devobj_free(w.C));
                 seen.say(devobj_live_objects()).call(devobj_wait());
                 return seen.say(some_work()).call(devobj_close()).all();
               }),
               "0 | 0 | 0 | 0 | " + failed + " | 385 | 0");
}

/// Closing waits too: it closes, and says what nobody has heard of yet.
TEST(WorkFaultsInC, ClosingReportsWhatWasNotWaitedFor) {
  EXPECT_CHILD(in_child([] {
                 const Worker w;
                 Seen seen;
                 seen.call(w.failing_product()).call(devobj_close());
                 seen.say(devobj_live_objects()).say(devobj_backend_in_use()).call(devobj_open(DEVOBJ_HOST, -1));
                 return seen.say(some_work()).call(devobj_close()).all();
               }),
               "0 | 6 close: gemm: " + asked_for + " | 0 | 0 | 0 | 385 | 0");
}

TEST(WorkFaultsInC, ExitIsSilent) {
  EXPECT_CHILD(in_child([] {
                 static const Worker w;
                 return Seen().call(w.failing_product()).all();
               }),
               "0");
}

}  // namespace
}  // namespace devobj::test
