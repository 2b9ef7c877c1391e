// extern "C": Fourier transforms.
#include "c_support.hpp"
#include "devobj/fft.hpp"

using namespace devobj;
using namespace devobj::c;

namespace {

constexpr const char* fft_plan = "an FFT plan";

FftPlan& plan_of(devobj_handle handle, const char* routine) {
  return *static_cast<FftPlan*>(content(handle, fft_plan, routine, "plan"));
}

FftOperand fft_operand(devobj_handle handle, const char* routine, const char* argument) {
  const Object& o = object(handle, routine, argument);
  return {o.type, o.data, o.rows, o.cols, o.ld};
}

bool flag(int value, const char* argument) {
  require(value == 0 || value == 1, "fft_plan: ", argument, " is ", value, ", must be 0 or 1");
  return value == 1;
}

}  // namespace

extern "C" {

devobj_status devobj_fft_plan(devobj_type type, int rank, const int64_t* n, int64_t batch, devobj_fft_scaling scaling,
                              int overwrite_input, int measure, devobj_handle* plan) {
  return guard([&] {
    result(plan, "fft_plan", "plan");
    const int number = number_in(type);
    require(number >= DEVOBJ_REAL && number <= DEVOBJ_INTEGER, "fft_plan: type is ", number,
            ", must be one of devobj_type, 1 to 4");
    require(rank >= 1 && rank <= 3, "fft_plan: there are ", rank, " sizes, must be 1 to 3");
    require(n != nullptr, "fft_plan: n is a null pointer");
    FftOptions options;
    options.batch = batch;
    options.overwrite_input = flag(overwrite_input, "overwrite_input");
    options.measure = flag(measure, "measure");
    const int scale = number_in(scaling);
    require(scale >= 0 && scale <= 2, "fft_plan: scaling is ", scale, ", must be 0 (none), 1 (inverse) or 2 (unitary)");
    options.scaling = static_cast<FftScaling>(scale);
    *plan = add_content(fft_plan, std::make_shared<FftPlan>(static_cast<Type>(number),
                                                            std::vector<std::int64_t>(n, n + rank), queue(), options));
  });
}

devobj_status devobj_fft_forward(devobj_handle plan, devobj_handle in, devobj_handle out) {
  return guard([&] {
    FftPlan& p = plan_of(plan, "fft_forward");
    p.forward(fft_operand(in, "fft_forward", "in"), fft_operand(out, "fft_forward", "out"), queue());
  });
}

devobj_status devobj_fft_inverse(devobj_handle plan, devobj_handle in, devobj_handle out) {
  return guard([&] {
    FftPlan& p = plan_of(plan, "fft_inverse");
    p.inverse(fft_operand(in, "fft_inverse", "in"), fft_operand(out, "fft_inverse", "out"), queue());
  });
}

devobj_status devobj_fft_shape(devobj_handle plan, int transformed, devobj_type* type, int64_t* rows, int64_t* cols) {
  return guard([&] {
    const FftPlan& p = plan_of(plan, "fft_shape");
    require(transformed == 0 || transformed == 1, "fft_shape: transformed is ", transformed, ", must be 0 or 1");
    if (type != nullptr) *type = static_cast<devobj_type>(p.type_of(transformed == 1));
    if (rows != nullptr) *rows = p.rows(transformed == 1);
    if (cols != nullptr) *cols = p.cols();
  });
}

devobj_status devobj_fft_real_view(devobj_handle C, int64_t rows, devobj_handle* R) {
  return guard([&] {
    result(R, "fft_real_view", "R");
    Object o = object(C, "fft_real_view", "C");
    require(o.type == Type::complex || o.type == Type::double_complex, "fft_real_view: C is of type '",
            type_name(o.type), "', must be complex or double complex");
    require(rows >= 0 && rows <= 2 * o.rows, "fft_real_view: rows is ", rows, ", must be 0 to 2 * ", o.rows);
    o.type = o.type == Type::complex ? Type::real : Type::double_precision;
    o.rows = rows;
    o.ld *= 2;
    if (rows == 0) o.data = nullptr;
    *R = Registry::instance().add(std::move(o));
  });
}

}  // extern "C"
