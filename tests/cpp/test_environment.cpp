// The environment variables, each read once per process: so each case runs in a child. And what devobj_info says.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include "child.hpp"
#include "devObjCpp/environment.hpp"
#include "devObjCpp/host_blas_info.hpp"
#include "devObjCpp/tuning.hpp"
#include "devobj/devobj.h"
#include "devobj/devobj.hpp"
#include "kernels/host/team.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

using Variables = std::initializer_list<std::pair<const char*, const char*>>;

/// body() in a child that has these variables and no other of the library's.
Child with(Variables variables, const std::function<std::string()>& body) {
  return in_child([&] {
    for (const char* name : {"DEVOBJ_BACKEND", "DEVOBJ_DEVICE", "DEVOBJ_CHECK", "DEVOBJ_HOST_QUEUE",
                             "DEVOBJ_NUM_THREADS", "DEVOBJ_MATH", "DEVOBJ_TUNING"})
      unsetenv(name);
    for (auto [name, value] : variables) setenv(name, value, 1);
    return body();
  });
}
/// "STATUS text", or "0" for a success.
std::string outcome(devobj_status status) {
  return status == DEVOBJ_SUCCESS ? "0" : std::to_string(status).append(" ").append(devobj_last_error());
}
std::string open_automatic() { return outcome(devobj_open(DEVOBJ_AUTO, -1)); }
/// The same, and then what is in use: "0, backend 1" for the host.
std::string opened_backend(devobj_backend wanted) {
  const std::string opened = outcome(devobj_open(wanted, -1));
  return std::string(opened).append(", backend ").append(std::to_string(devobj_backend_in_use()));
}
std::string open_host() { return outcome(devobj_open(DEVOBJ_HOST, -1)); }

/// What math is in use before and after it is set to automatic and to strict: "0 0 1".
std::string math_in_use() {
  std::string text = std::to_string(devobj_math_in_use());
  for (const devobj_math math : {DEVOBJ_MATH_AUTO, DEVOBJ_MATH_STRICT})
    text.append(devobj_set_math(math) == DEVOBJ_SUCCESS ? " " : " failed ").append(std::to_string(devobj_math_in_use()));
  return text;
}
std::string wrong_math() { return outcome(devobj_set_math(static_cast<devobj_math>(2))); }

TEST(Environment, MathIsSetForTheProgramAndStrictByTheEnvironment) {
  EXPECT_CHILD(with({}, math_in_use), "0 0 1");
  EXPECT_CHILD(with({{"DEVOBJ_MATH", "auto"}}, math_in_use), "0 0 1");
  EXPECT_CHILD(with({{"DEVOBJ_MATH", "strict"}}, math_in_use), "1 1 1");
  EXPECT_CHILD(with({}, wrong_math), "2 set_math: math is 2, must be 0 (auto) or 1 (strict)");
}

TEST(Environment, BadValuesAreErrorsThatNameThem) {
  EXPECT_CHILD(with({{"DEVOBJ_BACKEND", "gpu"}}, open_automatic),
               "2 environment variable DEVOBJ_BACKEND is 'gpu', must be auto, cuda or host");
  EXPECT_CHILD(with({{"DEVOBJ_BACKEND", "Host"}}, open_host),
               "2 environment variable DEVOBJ_BACKEND is 'Host', must be auto, cuda or host");
  for (const char* bad : {"-1", "x", "1x", "1.5", " 1", "99999999999"})
    EXPECT_CHILD(with({{"DEVOBJ_DEVICE", bad}}, open_host),
                 std::string("2 environment variable DEVOBJ_DEVICE is '") + bad + "', must be a device's number from 0");
  for (const char* bad : {"2", "yes", "-1"})
    EXPECT_CHILD(with({{"DEVOBJ_CHECK", bad}}, open_host),
                 std::string("2 environment variable DEVOBJ_CHECK is '") + bad + "', must be 0 or 1");
  EXPECT_CHILD(with({{"DEVOBJ_HOST_QUEUE", "thread"}}, open_host),
               "2 environment variable DEVOBJ_HOST_QUEUE is 'thread', must be synchronous or worker");
  EXPECT_CHILD(with({{"DEVOBJ_MATH", "fast"}}, open_host),
               "2 environment variable DEVOBJ_MATH is 'fast', must be auto or strict");
  for (const char* bad : {"0", "-3", "all", "4,2"})
    EXPECT_CHILD(with({{"DEVOBJ_NUM_THREADS", bad}}, open_host),
                 std::string("2 environment variable DEVOBJ_NUM_THREADS is '") + bad + "', must be a number of threads from 1");
}

TEST(Environment, ABadValueStaysAnErrorUntilItIsMended) {
  EXPECT_CHILD(with({{"DEVOBJ_CHECK", "maybe"}}, [] {
    std::string seen;
    for (int i = 0; i < 2; ++i) seen += std::to_string(devobj_open(DEVOBJ_HOST, -1));
    seen += std::to_string(devobj_backend_in_use());
    setenv("DEVOBJ_CHECK", "0", 1);
    return seen + std::to_string(devobj_open(DEVOBJ_HOST, -1));
  }), "2200");
}

TEST(Environment, BadValuesAreErrorsInCppToo) {
  const Child child = with({{"DEVOBJ_HOST_QUEUE", "?"}}, [] { return Queue(Backend::host), std::string(); });
  EXPECT_EQ(child.answer, "exception: environment variable DEVOBJ_HOST_QUEUE is '?', must be synchronous or worker");
}

TEST(Environment, EmptyIsAsIfUnset) {
  EXPECT_CHILD(with({{"DEVOBJ_BACKEND", ""}, {"DEVOBJ_DEVICE", ""}, {"DEVOBJ_CHECK", ""}, {"DEVOBJ_HOST_QUEUE", ""},
                     {"DEVOBJ_NUM_THREADS", ""}}, open_automatic), "0");
}

TEST(Environment, TheBackendOverridesAutomaticOnly) {
  EXPECT_CHILD(with({{"DEVOBJ_BACKEND", "host"}}, [] { return opened_backend(DEVOBJ_AUTO); }), "0, backend 1");
  EXPECT_CHILD(with({{"DEVOBJ_BACKEND", "cuda"}}, [] { return opened_backend(DEVOBJ_HOST); }), "0, backend 1");
}

// On a machine with a GPU both open; without one both kinds of asking for cuda are errors that say why.
TEST(Environment, CudaIsThereOrAnErrorWithAReason) {
  const Child by_variable = with({{"DEVOBJ_BACKEND", "cuda"}}, open_automatic);
  const Child by_argument = with({}, [] { return outcome(devobj_open(DEVOBJ_CUDA, -1)); });
  const Child automatic = with({}, [] { return opened_backend(DEVOBJ_AUTO); });
  if (by_argument.answer == "0") {
    EXPECT_CHILD(by_variable, "0");
    EXPECT_CHILD(automatic, "0, backend 2");
    return;
  }
  EXPECT_EQ(by_argument.answer.rfind("5 open: the cuda backend was asked for, but ", 0), 0u) << by_argument.answer;
  EXPECT_GT(by_argument.answer.size(), std::string("5 open: the cuda backend was asked for, but ").size());
  EXPECT_EQ(by_variable.answer, by_argument.answer);
  EXPECT_CHILD(automatic, "0, backend 1");
}

TEST(Environment, NoSuchDeviceIsAnErrorWithText) {
  const Child child = with({}, [] { return outcome(devobj_open(DEVOBJ_CUDA, 4711)); });
  EXPECT_EQ(child.answer.rfind("5 open: ", 0), 0u) << child.answer;
  EXPECT_CHILD(with({}, [] { return outcome(devobj_open(DEVOBJ_HOST, -2)); }),
               "2 open: device is -2, must be -1 (default) or a device's number");
}

TEST(Environment, TheNumberOfThreadsLimitsTheTeam) {
  EXPECT_CHILD(with({{"DEVOBJ_NUM_THREADS", "1"}}, [] { return std::to_string(host::Team::shared().size()); }), "1");
}

/// An object's bytes just after its allocation are all ones, which is NaN in every type.
std::string fresh_memory() {
  std::string seen = open_automatic();
  for (devobj_type type : {DEVOBJ_REAL, DEVOBJ_DOUBLE, DEVOBJ_COMPLEX, DEVOBJ_DOUBLE_COMPLEX, DEVOBJ_INTEGER}) {
    devobj_handle A = 0;
    seen += outcome(devobj_allocate(type, 5, 4, &A));
    unsigned char bytes[20 * 16] = {};
    seen += outcome(devobj_to_host(A, type, {bytes, 5, 4, 1, 5}));
    const int size = type == DEVOBJ_DOUBLE_COMPLEX ? 16 : type == DEVOBJ_COMPLEX || type == DEVOBJ_DOUBLE ? 8 : 4;
    int ones = 0;
    for (int i = 0; i < 20 * size; ++i) ones += bytes[i] == 0xff;
    seen += ones == 20 * size ? "." : "!";
    seen += outcome(devobj_free(A));
  }
  return seen += outcome(devobj_close());
}
TEST(CheckMode, FreshMemoryIsNaN) {
  const std::string expected = "0" "00.0" "00.0" "00.0" "00.0" "00.0" "0";
  EXPECT_CHILD(with({{"DEVOBJ_CHECK", "1"}}, fresh_memory), expected);
  EXPECT_CHILD(with({{"DEVOBJ_CHECK", "1"}, {"DEVOBJ_BACKEND", "host"}, {"DEVOBJ_HOST_QUEUE", "worker"}}, fresh_memory), expected);
}

TEST(CheckMode, LeaksAreReportedAtClose) {
  auto leak = [](int objects) {
    return [objects] {
      devobj_open(DEVOBJ_AUTO, -1);
      for (int i = 1; i <= objects; ++i) {
        devobj_handle A = 0;
        devobj_allocate(DEVOBJ_REAL, i, 7, &A);
      }
      std::string seen = outcome(devobj_close());
      seen.append("; ").append(std::to_string(devobj_live_objects())).append(" live, ");
      return seen += open_automatic();
    };
  };
  EXPECT_CHILD(with({{"DEVOBJ_CHECK", "1"}}, leak(0)), "0; 0 live, 0");
  EXPECT_CHILD(with({{"DEVOBJ_CHECK", "1"}}, leak(2)),
               "2 close: 2 objects were not freed before (DEVOBJ_CHECK=1): 1 x 7, 2 x 7; 0 live, 0");
  EXPECT_CHILD(with({{"DEVOBJ_CHECK", "1"}}, leak(9)),
               "2 close: 9 objects were not freed before (DEVOBJ_CHECK=1): 1 x 7, 2 x 7, 3 x 7, 4 x 7, 5 x 7, 6 x 7, "
               "7 x 7, 8 x 7, ...; 0 live, 0");
  EXPECT_CHILD(with({}, leak(2)), "0; 0 live, 0");  // without it they are freed silently
}

/// A file that is there as long as this is.
struct File {
  explicit File(const std::string& text) : name(testing::TempDir() + "devobj-tuning-" + std::to_string(getpid())) {
    std::ofstream(name) << text;
  }
  ~File() { std::filesystem::remove(name); }
  std::string name;
};

/// The methods and block sizes that a queue of the backend in use has: of LU in float, of QR in double and complex, block sizes of the
/// application of Q to float and double.
std::string tuning_in_use() {
  Queue q;
  std::string text = q.on_cuda() ? "cuda" : "host";
  for (const Method method : {tuned_method<float>(Tuned::lu, 100, q), tuned_method<double>(Tuned::qr, 100, q),
                              tuned_method<std::complex<float>>(Tuned::qr, 100, q)})
    text.append(" ").append(std::to_string(static_cast<int>(method)));
  for (const std::int64_t block : {tuned_blocks<float>(Tuned::qr_apply, Method::hybrid, 100, q).block,
                                   tuned_blocks<double>(Tuned::qr_apply, Method::hybrid, 100, q).block})
    text.append(" ").append(std::to_string(block));
  return text;
}

TEST(Tuning, LinesOfAFileCountAfterTheTables) {
  const File file(
      "METHOD(lu, s, 50, hybrid)\nMETHOD(qr, d, 0, native)\nMETHOD(qr, c, 0, lapack)\n"
      "BLOCK(qr_apply, hybrid, s, 0, 96, 0)\nBLOCK(qr_apply, hybrid, d, 0, 640, 0)\n");
  // the words of tuning_in_use: backend, LU float, QR double, QR complex, Q float, Q double
  const auto words = [](const Variables& variables) {
    std::istringstream text(with(variables, tuning_in_use).answer);
    return std::vector<std::string>(std::istream_iterator<std::string>(text), {});
  };
  const auto expect_changed = [](std::vector<std::string> before, const std::vector<std::string>& after) {
    const bool on_cuda = before.at(0) == "cuda";
    before.at(1) = "2";
    if (on_cuda) before.at(2) = "3";  // the host has no native method, a GPU not LAPACK
    before.at(4) = "96";
    if (on_cuda) before.at(5) = "640";  // nor has the host so wide blocks
    EXPECT_EQ(after, before);
  };
  const char* const name = file.name.c_str();
  const std::vector<std::string> host = words({{"DEVOBJ_BACKEND", "host"}}), automatic = words({});
  EXPECT_EQ(host, (std::vector<std::string>{"host", "1", "1", "1", "128", "128"}));
  EXPECT_EQ(words({{"DEVOBJ_TUNING", ""}}), automatic);
  expect_changed(automatic, words({{"DEVOBJ_TUNING", name}}));
  expect_changed(host, words({{"DEVOBJ_TUNING", name}, {"DEVOBJ_BACKEND", "host"}}));

  const Child info = with({{"DEVOBJ_TUNING", file.name.c_str()}, {"DEVOBJ_BACKEND", "host"}}, [] {
    devobj_open(DEVOBJ_AUTO, -1);
    return std::string(devobj_info());
  });
  EXPECT_NE(info.answer.find("\ntuning: table host, and 3 of 5 lines of " + file.name + " (DEVOBJ_TUNING)\n"),
            std::string::npos)
      << info.answer;
}

TEST(Tuning, AFileThatCannotBeReadIsAnError) {
  const std::string folder = testing::TempDir(), missing = folder + "devobj-no-such-file";
  EXPECT_CHILD(with({{"DEVOBJ_TUNING", missing.c_str()}}, open_host),
               "2 environment variable DEVOBJ_TUNING is '" + missing + "', which cannot be opened");
  EXPECT_CHILD(with({{"DEVOBJ_TUNING", folder.c_str()}}, open_host),
               "2 environment variable DEVOBJ_TUNING: " + folder + " cannot be read");
  const File file("METHOD(lu, s, 0, fast)\n");
  EXPECT_CHILD(with({{"DEVOBJ_TUNING", file.name.c_str()}}, open_host),
               "2 environment variable DEVOBJ_TUNING: " + file.name +
                   ", line 1, 'METHOD(lu, s, 0, fast)': method is 'fast', must be one of: lapack, hybrid, native");
}

TEST(Info, SaysVersionBackendReasonBlasAndTable) {
  const Child closed = with({}, [] { return std::string(devobj_info()); });
  EXPECT_EQ(closed.answer.rfind("devObject 0.1.0, not open\n", 0), 0u) << closed.answer;
  const Child open = with({{"DEVOBJ_BACKEND", "host"}}, [] {
    devobj_open(DEVOBJ_AUTO, -1);
    return std::string(devobj_info());
  });
  EXPECT_EQ(open.answer.rfind("devObject 0.1.0\nbackend: host (DEVOBJ_BACKEND=host)\nBLAS: ", 0), 0u) << open.answer;
  EXPECT_NE(open.answer.find("\ntuning: table host\n"), std::string::npos) << open.answer;
  EXPECT_EQ(open.answer.back(), '\n');
}

// OpenBLAS reads its variable when it is loaded, so that it takes a new program.
#ifdef DEVOBJ_INFO_PROGRAM
std::string info_with_core(const char* core) {
  return in_child([&] {
    setenv("DEVOBJ_BACKEND", "host", 1);
    setenv("OPENBLAS_CORETYPE", core, 1);
    execl(DEVOBJ_INFO_PROGRAM, DEVOBJ_INFO_PROGRAM, static_cast<char*>(nullptr));
    return std::string("cannot run " DEVOBJ_INFO_PROGRAM);
  }).printed;
}
TEST(Info, WarnsOfABlasForAMuchOlderCpu) {
  const std::string slow = info_with_core("Prescott");
  if (slow.find("BLAS: OpenBLAS, core Prescott") == std::string::npos)
    GTEST_SKIP() << "skipped: this BLAS has no kernels for an older CPU to be chosen: " << slow;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    EXPECT_NE(slow.find("warning: OpenBLAS does not know this CPU and uses slow Prescott kernels; start the program with "
                        "OPENBLAS_CORETYPE="), std::string::npos) << slow;
    const std::string mended = info_with_core("Haswell");
    EXPECT_NE(mended.find("core Haswell"), std::string::npos) << mended;
    EXPECT_EQ(mended.find("warning"), std::string::npos) << mended;
  }
#endif
}
#endif

}  // namespace
