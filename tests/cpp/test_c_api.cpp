// The C interface: every function refuses wrong arguments with a status and a text that names routine and argument, and
// then has written nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "opened.hpp"

using namespace devobj::test;

namespace {

class CApi : public Opened {};
DEVOBJ_OPENED_EVERYWHERE(CApi);

constexpr devobj_scalar one = {1, 0};
constexpr std::int64_t n = 3;

enum class Kind { matrix, vector, integers };
struct Argument {
  const char* name;
  Kind kind;
};
/// A function of the interface as a call with a list of handles; everything else is right.
struct Routine {
  const char* name;
  std::vector<Argument> arguments;
  std::function<devobj_status(const std::vector<devobj_handle>&)> call;
};

std::int64_t info_sink;
double number_sink;
devobj_scalar scalar_sink;
std::int64_t position_sink;

const Argument A{"A", Kind::matrix}, B{"B", Kind::matrix}, C{"C", Kind::matrix}, x{"x", Kind::vector},
    y{"y", Kind::vector}, ipiv{"ipiv", Kind::integers}, tau{"tau", Kind::vector};
const devobj_method automatic = DEVOBJ_METHOD_AUTO;

const std::vector<Routine>& routines() {
  using H = const std::vector<devobj_handle>&;
  static const std::vector<Routine> all = {
      {"swap", {x, y}, [](H h) { return devobj_swap(h[0], h[1]); }},
      {"scal", {x}, [](H h) { return devobj_scal(one, h[0]); }},
      {"axpy", {x, y}, [](H h) { return devobj_axpy(one, h[0], h[1]); }},
      {"dotu", {x, y}, [](H h) { return devobj_dotu(h[0], h[1], &scalar_sink); }},
      {"dotc", {x, y}, [](H h) { return devobj_dotc(h[0], h[1], &scalar_sink); }},
      {"nrm2", {x}, [](H h) { return devobj_nrm2(h[0], &number_sink); }},
      {"asum", {x}, [](H h) { return devobj_asum(h[0], &number_sink); }},
      {"iamax", {x}, [](H h) { return devobj_iamax(h[0], &position_sink); }},
      {"gemv", {A, x, y}, [](H h) { return devobj_gemv('N', one, h[0], h[1], one, h[2]); }},
      {"geru", {x, y, A}, [](H h) { return devobj_geru(one, h[0], h[1], h[2]); }},
      {"gerc", {x, y, A}, [](H h) { return devobj_gerc(one, h[0], h[1], h[2]); }},
      {"trmv", {A, x}, [](H h) { return devobj_trmv('U', 'N', 'N', h[0], h[1]); }},
      {"trsv", {A, x}, [](H h) { return devobj_trsv('U', 'N', 'N', h[0], h[1]); }},
      {"gemm", {A, B, C}, [](H h) { return devobj_gemm('N', 'N', one, h[0], h[1], one, h[2]); }},
      {"symm", {A, B, C}, [](H h) { return devobj_symm('L', 'U', one, h[0], h[1], one, h[2]); }},
      {"hemm", {A, B, C}, [](H h) { return devobj_hemm('L', 'U', one, h[0], h[1], one, h[2]); }},
      {"syrk", {A, C}, [](H h) { return devobj_syrk('U', 'N', one, h[0], one, h[1]); }},
      {"herk", {A, C}, [](H h) { return devobj_herk('U', 'N', 1, h[0], 1, h[1]); }},
      {"trmm", {A, B}, [](H h) { return devobj_trmm('L', 'U', 'N', 'N', one, h[0], h[1]); }},
      {"trsm", {A, B}, [](H h) { return devobj_trsm('L', 'U', 'N', 'N', one, h[0], h[1]); }},
      {"lacpy", {A, B}, [](H h) { return devobj_lacpy('G', h[0], h[1]); }},
      {"laset", {A}, [](H h) { return devobj_laset('G', one, one, h[0]); }},
      {"transpose", {A, B}, [](H h) { return devobj_transpose('T', h[0], h[1]); }},
      {"laswp", {A, ipiv}, [](H h) { return devobj_laswp(h[0], 1, n, h[1], 1); }},
      {"lange", {A}, [](H h) { return devobj_lange('M', h[0], &number_sink); }},
      {"getrf", {A, ipiv}, [](H h) { return devobj_getrf(h[0], h[1], automatic, 0, &info_sink); }},
      {"getrs", {{"LU", Kind::matrix}, ipiv, B}, [](H h) { return devobj_getrs('N', h[0], h[1], h[2]); }},
      {"gesv", {A, ipiv, B}, [](H h) { return devobj_gesv(h[0], h[1], h[2], automatic, 0, &info_sink); }},
      {"getri", {A, ipiv}, [](H h) { return devobj_getri(h[0], h[1], &info_sink); }},
      {"lu_unpack",
       {{"LU", Kind::matrix}, ipiv, {"L", Kind::matrix}, {"U", Kind::matrix}, {"perm", Kind::integers}},
       [](H h) { return devobj_lu_unpack(h[0], h[1], h[2], h[3], h[4]); }},
      {"geqrf", {A, tau}, [](H h) { return devobj_geqrf(h[0], h[1], automatic, 0, &info_sink); }},
      {"orgqr", {A, tau}, [](H h) { return devobj_orgqr(h[0], h[1]); }},
      {"ormqr", {{"V", Kind::matrix}, tau, C}, [](H h) { return devobj_ormqr('L', 'N', h[0], h[1], h[2]); }},
      {"gels", {A, B}, [](H h) { return devobj_gels('N', h[0], h[1], automatic, 0, &info_sink); }},
      {"qr",
       {A, {"Q", Kind::matrix}, {"R", Kind::matrix}},
       [](H h) { return devobj_qr(h[0], h[1], h[2], automatic, 0); }},
      {"copy", {{"src", Kind::matrix}, {"dst", Kind::matrix}}, [](H h) { return devobj_copy(h[0], h[1]); }},
  };
  return all;
}

/// An n x n or n x 1 double object, or n integers 1 ... n; well-conditioned, so that every routine succeeds with it.
devobj_handle make(Kind kind) {
  if (kind == Kind::integers) return object_of<std::int32_t>(DEVOBJ_INTEGER, n, 1, {1, 2, 3});
  if (kind == Kind::vector) return object_of<double>(DEVOBJ_DOUBLE, n, 1, {0.5, 0.25, 0});
  return object_of<double>(DEVOBJ_DOUBLE, n, n, {4, 1, 2, 1, 5, 3, 2, 1, 6});
}

class Operands {
 public:
  explicit Operands(const Routine& routine) {
    for (const Argument& a : routine.arguments) handles.push_back(make(a.kind));
    for (devobj_handle h : handles) before.push_back(bytes_of(h));
  }
  ~Operands() {
    for (devobj_handle h : handles) EXPECT_OK(devobj_free(h));
  }
  void expect_unchanged() const {
    for (std::size_t i = 0; i < handles.size(); ++i) EXPECT_EQ(bytes_of(handles[i]), before[i]) << "operand " << i;
  }
  std::vector<devobj_handle> with(std::size_t position, devobj_handle other) const {
    std::vector<devobj_handle> changed = handles;
    changed[position] = other;
    return changed;
  }
  std::vector<devobj_handle> handles;
  std::vector<std::vector<unsigned char>> before;
};

/// "gemm: A", as the texts begin.
std::string prefix(const Routine& routine, std::size_t position) {
  return std::string(routine.name).append(": ").append(routine.arguments[position].name);
}

/// Calls `test(routine, operands, position)` for each argument of each routine.
template <class Test> void for_each_argument(Test&& test) {
  for (const Routine& routine : routines())
    for (std::size_t p = 0; p < routine.arguments.size(); ++p) {
      SCOPED_TRACE(std::string(routine.name) + ", argument " + routine.arguments[p].name);
      const Operands operands(routine);
      info_sink = -77;
      test(routine, operands, p);
      operands.expect_unchanged();
      EXPECT_EQ(info_sink, -77) << "info was written";
    }
}

TEST_P(CApi, EveryRoutineWorksWithGoodOperands) {
  for (const Routine& routine : routines()) {
    SCOPED_TRACE(routine.name);
    const Operands operands(routine);
    EXPECT_OK(routine.call(operands.handles));
    EXPECT_OK(devobj_wait());
  }
}

TEST_P(CApi, NullHandlesAreErrors) {
  for_each_argument([](const Routine& r, const Operands& o, std::size_t p) {
    EXPECT_STATUS(r.call(o.with(p, 0)), DEVOBJ_INVALID_HANDLE,
                  prefix(r, p) + " is a null handle");
  });
}

TEST_P(CApi, FreedAndForeignHandlesAreErrors) {
  const devobj_handle freed = make(Kind::matrix);
  ASSERT_OK(devobj_free(freed));
  for_each_argument([&](const Routine& r, const Operands& o, std::size_t p) {
    for (devobj_handle wrong : {freed, devobj_handle(0x1234567800000001)})
      EXPECT_STATUS(r.call(o.with(p, wrong)), DEVOBJ_INVALID_HANDLE,
                    prefix(r, p) + " is no live object");
  });
}

TEST_P(CApi, ObjectsOfTheWrongTypeAreErrors) {
  const devobj_handle integers = object_of<std::int32_t>(DEVOBJ_INTEGER, n, n, std::vector<std::int32_t>(n * n, 1));
  const devobj_handle real = object_of<float>(DEVOBJ_REAL, n, n, std::vector<float>(n * n, 1));
  const devobj_handle real_vector = object_of<float>(DEVOBJ_REAL, n, 1, std::vector<float>(n, 1));
  for_each_argument([&](const Routine& r, const Operands& o, std::size_t p) {
    const bool alone = r.arguments.size() == 1;
    if (r.arguments[p].kind == Kind::integers) {
      EXPECT_STATUS(r.call(o.with(p, real_vector)), DEVOBJ_INVALID_ARGUMENT,
                    prefix(r, p) + " is of type 'real', must be 'integer'");
      return;
    }
    EXPECT_STATUS(r.call(o.with(p, integers)), DEVOBJ_INVALID_ARGUMENT, std::string(r.name) + ": ");
    EXPECT_STATUS(r.call(o.with(p, integers)), DEVOBJ_INVALID_ARGUMENT, "'integer'");
    bool others = false;  // another operand whose type differs
    for (std::size_t i = 0; i < r.arguments.size(); ++i) others |= i != p && r.arguments[i].kind != Kind::integers;
    if (alone || !others) return;
    const devobj_handle other = r.arguments[p].kind == Kind::vector ? real_vector : real;
    EXPECT_STATUS(r.call(o.with(p, other)), DEVOBJ_INVALID_ARGUMENT, "'real'");
    EXPECT_NE(std::string(devobj_last_error()).find("'double'"), std::string::npos) << devobj_last_error();
  });
  for (devobj_handle h : {integers, real, real_vector}) EXPECT_OK(devobj_free(h));
}

TEST_P(CApi, WrongShapesAreErrorsWithBothValues) {
  const devobj_handle seven = object_of<double>(DEVOBJ_DOUBLE, 7, 5, std::vector<double>(35, 1));
  const devobj_handle seven_integers = object_of<std::int32_t>(DEVOBJ_INTEGER, 7, 5, std::vector<std::int32_t>(35, 1));
  for_each_argument([&](const Routine& r, const Operands& o, std::size_t p) {
    const std::string name = r.name;
    if (r.arguments.size() == 1) return;  // any shape is right
    if ((name == "laswp" || name == "orgqr") && p == 0) return;  // n pivots or reflectors fit 7 x 5
    const bool integer = r.arguments[p].kind == Kind::integers;
    EXPECT_STATUS(r.call(o.with(p, integer ? seven_integers : seven)), DEVOBJ_INVALID_ARGUMENT, name + ": ");
    const std::string text = devobj_last_error();
    auto says = [&](const std::string& part) { return text.find(part) != std::string::npos; };
    EXPECT_TRUE(says("7") || says("5")) << "the wrong value is not in: " << text;
    EXPECT_TRUE(says(std::to_string(n)) || says("must be square") || says("must be a vector")) << text;
  });
  EXPECT_OK(devobj_free(seven));
  EXPECT_OK(devobj_free(seven_integers));
}

TEST_P(CApi, UnknownLettersAndMethodsAreErrorsAndLowerCaseIsNot) {
  const Routine all = {"all", {A, B, C, ipiv, tau, x, y}, {}};
  const Operands o(all);
  const auto& h = o.handles;
  std::int64_t info = -77;
  double number = -77;
  EXPECT_STATUS(devobj_gemv('X', one, h[0], h[5], one, h[6]), DEVOBJ_INVALID_ARGUMENT, "gemv: op is 'X', must be one of N, T, C");
  EXPECT_STATUS(devobj_gemm('N', '\0', one, h[0], h[1], one, h[2]), DEVOBJ_INVALID_ARGUMENT, "gemm: opB is character number 0");
  EXPECT_STATUS(devobj_gemm('\xff', 'N', one, h[0], h[1], one, h[2]), DEVOBJ_INVALID_ARGUMENT, "gemm: opA is character number 255");
  EXPECT_STATUS(devobj_symm('U', 'U', one, h[0], h[1], one, h[2]), DEVOBJ_INVALID_ARGUMENT, "symm: side is 'U'");
  EXPECT_STATUS(devobj_trsm('L', 'G', 'N', 'N', one, h[0], h[1]), DEVOBJ_INVALID_ARGUMENT, "trsm: uplo is 'G'");
  EXPECT_STATUS(devobj_trmm('L', 'U', 'N', 'T', one, h[0], h[1]), DEVOBJ_INVALID_ARGUMENT, "trmm: diag is 'T'");
  EXPECT_STATUS(devobj_lacpy('N', h[0], h[1]), DEVOBJ_INVALID_ARGUMENT, "lacpy: uplo is 'N'");
  EXPECT_STATUS(devobj_lange('2', h[0], &number), DEVOBJ_INVALID_ARGUMENT, "lange: norm is '2'");
  EXPECT_STATUS(devobj_getrs('Q', h[0], h[3], h[1]), DEVOBJ_INVALID_ARGUMENT, "getrs: op is 'Q'");
  EXPECT_STATUS(devobj_ormqr('L', 'X', h[0], h[4], h[1]), DEVOBJ_INVALID_ARGUMENT, "ormqr: op is 'X'");
  EXPECT_STATUS(devobj_gels('X', h[0], h[1], automatic, 0, &info), DEVOBJ_INVALID_ARGUMENT, "gels: op is 'X'");
  for (int bad : {-1, 8, 1000}) {
    const std::string text = std::string("method is ").append(std::to_string(bad));
    EXPECT_STATUS(devobj_getrf(h[0], h[3], static_cast<devobj_method>(bad), 0, &info), DEVOBJ_INVALID_ARGUMENT, "getrf: " + text);
    EXPECT_STATUS(devobj_gesv(h[0], h[3], h[1], static_cast<devobj_method>(bad), 0, &info), DEVOBJ_INVALID_ARGUMENT, "gesv: " + text);
    EXPECT_STATUS(devobj_geqrf(h[0], h[4], static_cast<devobj_method>(bad), 0, &info), DEVOBJ_INVALID_ARGUMENT, "geqrf: " + text);
    EXPECT_STATUS(devobj_gels('N', h[0], h[1], static_cast<devobj_method>(bad), 0, &info), DEVOBJ_INVALID_ARGUMENT, "gels: " + text);
    EXPECT_STATUS(devobj_qr(h[0], h[1], h[2], static_cast<devobj_method>(bad), 0), DEVOBJ_INVALID_ARGUMENT, "qr: " + text);
  }
  EXPECT_STATUS(devobj_getrf(h[0], h[3], automatic, -1, &info), DEVOBJ_INVALID_ARGUMENT, "getrf: block is -1");
  EXPECT_STATUS(devobj_gesv(h[0], h[3], h[1], automatic, -1, &info), DEVOBJ_INVALID_ARGUMENT, "gesv: block is -1");
  EXPECT_STATUS(devobj_gesv(h[0], h[3], h[1], DEVOBJ_METHOD_GIVENS, 0, &info), DEVOBJ_INVALID_ARGUMENT, "gesv: method 'givens'");
  EXPECT_STATUS(devobj_gesv_mixed(h[0], h[3], h[1], DEVOBJ_METHOD_GIVENS, 0, &info, &info), DEVOBJ_INVALID_ARGUMENT, "gesv_mixed: method 'givens'");
  EXPECT_STATUS(devobj_getrf(h[0], h[3], DEVOBJ_METHOD_RANDOMIZED, 0, &info), DEVOBJ_INVALID_ARGUMENT, "getrf: method 'randomized'");
  EXPECT_STATUS(devobj_geqrf(h[0], h[4], automatic, -1, &info), DEVOBJ_INVALID_ARGUMENT, "geqrf: block is -1");
  EXPECT_EQ(info, -77);
  EXPECT_EQ(number, -77);
  o.expect_unchanged();
  EXPECT_OK(devobj_lange('e', h[0], &number));
  EXPECT_NEAR(number, std::sqrt(97.0), 1e-13);
  EXPECT_OK(devobj_gemm('n', 't', one, h[0], h[1], one, h[2]));
  EXPECT_OK(devobj_trsm('r', 'l', 'c', 'u', one, h[0], h[1]));
}

TEST_P(CApi, NullResultsAndImaginaryFactorsAreErrors) {
  const Routine all = {"all", {A, B, C, ipiv, tau, x, y}, {}};
  const Operands o(all);
  const auto& h = o.handles;
  EXPECT_STATUS(devobj_dotu(h[5], h[6], nullptr), DEVOBJ_INVALID_ARGUMENT, "dotu: result is a null pointer");
  EXPECT_STATUS(devobj_dotc(h[5], h[6], nullptr), DEVOBJ_INVALID_ARGUMENT, "dotc: result is a null pointer");
  EXPECT_STATUS(devobj_nrm2(h[5], nullptr), DEVOBJ_INVALID_ARGUMENT, "nrm2: result is a null pointer");
  EXPECT_STATUS(devobj_asum(h[5], nullptr), DEVOBJ_INVALID_ARGUMENT, "asum: result is a null pointer");
  EXPECT_STATUS(devobj_iamax(h[5], nullptr), DEVOBJ_INVALID_ARGUMENT, "iamax: position is a null pointer");
  EXPECT_STATUS(devobj_lange('M', h[0], nullptr), DEVOBJ_INVALID_ARGUMENT, "lange: result is a null pointer");
  EXPECT_STATUS(devobj_getrf(h[0], h[3], automatic, 0, nullptr), DEVOBJ_INVALID_ARGUMENT, "getrf: info is a null pointer");
  EXPECT_STATUS(devobj_gesv(h[0], h[3], h[1], automatic, 0, nullptr), DEVOBJ_INVALID_ARGUMENT, "gesv: info is a null");
  EXPECT_STATUS(devobj_getri(h[0], h[3], nullptr), DEVOBJ_INVALID_ARGUMENT, "getri: info is a null pointer");
  EXPECT_STATUS(devobj_gels('N', h[0], h[1], automatic, 0, nullptr), DEVOBJ_INVALID_ARGUMENT, "gels: info is a null");
  EXPECT_STATUS(devobj_scal({1, 2}, h[5]), DEVOBJ_INVALID_ARGUMENT, "scal: alpha is (1, 2), but the objects are real");
  EXPECT_STATUS(devobj_scal({1, std::nan("")}, h[5]), DEVOBJ_INVALID_ARGUMENT, "scal: alpha is (1, nan)");
  EXPECT_STATUS(devobj_gemm('N', 'N', one, h[0], h[1], {0, 3}, h[2]), DEVOBJ_INVALID_ARGUMENT, "gemm: beta is (0, 3)");
  o.expect_unchanged();
}

TEST_P(CApi, EmptyObjectsAreFineEverywhere) {
  for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {0, 4}, {4, 0}}) {
    const devobj_handle E = allocate(DEVOBJ_DOUBLE, rows, cols), F = allocate(DEVOBJ_DOUBLE, rows, cols);
    const devobj_handle none = allocate(DEVOBJ_DOUBLE, 0, 1), pivots = allocate(DEVOBJ_INTEGER, 0, 1);
    EXPECT_OK(devobj_to_device(DEVOBJ_DOUBLE, {nullptr, rows, cols, 1, 1}, E));
    EXPECT_OK(devobj_to_host(E, DEVOBJ_DOUBLE, {nullptr, rows, cols, 1, 1}));
    EXPECT_OK(devobj_copy(E, F));
    EXPECT_OK(devobj_lacpy('G', E, F));
    EXPECT_OK(devobj_laset('G', one, one, E));
    EXPECT_OK(devobj_scal(one, E));
    std::int64_t info = -1;
    EXPECT_OK(devobj_getrf(E, pivots, automatic, 0, &info));
    EXPECT_EQ(info, 0);
    EXPECT_OK(devobj_geqrf(E, none, automatic, 0, &info));
    double norm = -1;
    EXPECT_OK(devobj_lange('F', E, &norm));
    EXPECT_EQ(norm, 0);
    std::int64_t position = -1;
    EXPECT_OK(devobj_iamax(E, &position));
    EXPECT_EQ(position, 0);
    for (devobj_handle h : {E, F, none, pivots}) EXPECT_OK(devobj_free(h));
  }
}

TEST_P(CApi, AllocationsThatCannotBe) {
  devobj_handle out = 55;
  const std::int64_t most = INT64_MAX, tib = std::int64_t(1) << 40;
  EXPECT_STATUS(devobj_allocate(DEVOBJ_REAL, -1, 2, &out), DEVOBJ_INVALID_ARGUMENT, "allocate: rows and cols must not be negative, but are -1 and 2");
  EXPECT_STATUS(devobj_allocate(DEVOBJ_REAL, 2, INT64_MIN, &out), DEVOBJ_INVALID_ARGUMENT, "but are 2 and -9223372036854775808");
  EXPECT_STATUS(devobj_allocate(DEVOBJ_REAL, 2, 2, nullptr), DEVOBJ_INVALID_ARGUMENT, "allocate: A is a null pointer");
  for (int type : {0, 6, -1})
    EXPECT_STATUS(devobj_allocate(static_cast<devobj_type>(type), 2, 2, &out), DEVOBJ_INVALID_ARGUMENT, std::string("allocate: type is ").append(std::to_string(type)));
  EXPECT_STATUS(devobj_allocate(DEVOBJ_REAL, most, most, &out), DEVOBJ_OUT_OF_MEMORY, "do not fit into the address space");
  EXPECT_STATUS(devobj_allocate(DEVOBJ_DOUBLE, std::int64_t(1) << 32, std::int64_t(1) << 31, &out), DEVOBJ_OUT_OF_MEMORY, "do not fit");
  EXPECT_STATUS(devobj_allocate(DEVOBJ_DOUBLE, tib, 16, &out), DEVOBJ_OUT_OF_MEMORY, "allocate: no memory for 140737488355328 bytes");
  EXPECT_EQ(out, 55u) << "a failed call has written the handle";
  EXPECT_EQ(devobj_live_objects(), 0);
  const devobj_handle good = object_of<float>(DEVOBJ_REAL, 1, 2, {1, 2});  // and life goes on
  EXPECT_EQ(values_of<float>(good), (std::vector<float>{1, 2}));
  EXPECT_OK(devobj_free(good));
}

TEST_P(CApi, TransfersCheckTypeShapeAndArray) {
  const devobj_handle M = object_of<float>(DEVOBJ_REAL, 2, 2, {1, 2, 3, 4});
  std::vector<double> host(4, 9);
  const devobj_host_array array = columns(host.data(), 2, 2);
  EXPECT_STATUS(devobj_to_device(DEVOBJ_DOUBLE, array, M), DEVOBJ_INVALID_ARGUMENT, "transfer to device: A is of type 'real', must be 'double'");
  EXPECT_STATUS(devobj_to_host(M, DEVOBJ_DOUBLE, array), DEVOBJ_INVALID_ARGUMENT, "transfer to host: A is of type 'real', must be 'double'");
  EXPECT_STATUS(devobj_to_host(M, static_cast<devobj_type>(9), array), DEVOBJ_INVALID_ARGUMENT, "transfer to host: type is 9");
  EXPECT_STATUS(devobj_to_device(DEVOBJ_REAL, {host.data(), -2, 2, 1, 2}, M), DEVOBJ_INVALID_ARGUMENT, "the host array is -2 x 2");
  EXPECT_STATUS(devobj_to_device(DEVOBJ_REAL, {host.data(), 2, 3, 1, 2}, M), DEVOBJ_INVALID_ARGUMENT, "the host array is 2 x 3, but the device object is 2 x 2");
  EXPECT_STATUS(devobj_to_host(M, DEVOBJ_REAL, {nullptr, 2, 2, 1, 2}), DEVOBJ_INVALID_ARGUMENT, "the host array is null");
  EXPECT_EQ(host, std::vector<double>(4, 9));
  EXPECT_EQ(values_of<float>(M), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_STATUS(devobj_copy(M, M), DEVOBJ_INVALID_ARGUMENT, "copy: src and dst overlap");
  EXPECT_OK(devobj_free(M));
}

TEST_P(CApi, TheLastErrorStaysUntilTheNext) {
  EXPECT_STATUS(devobj_free(0), DEVOBJ_INVALID_HANDLE, "free");
  const std::string text = devobj_last_error();
  const devobj_handle M = allocate(DEVOBJ_REAL, 1, 1);
  EXPECT_OK(devobj_free(M));
  EXPECT_EQ(devobj_last_error(), text) << "a call without an error has changed the text";
}

}  // namespace
