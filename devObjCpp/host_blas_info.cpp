#include "host_blas_info.hpp"

#include <dlfcn.h>

namespace devobj {
namespace {

// OpenBLAS's own functions, where the BLAS that was linked is OpenBLAS.
std::string core_name() {
  using Function = char* (*)();
  auto* function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  return function == nullptr ? std::string() : std::string(function());
}
int thread_count() {
  using Function = int (*)();
  auto* function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  return function == nullptr ? 0 : function();
}

bool has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}
bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

}  // namespace

std::string openblas_core_to_set() {
  const std::string core = core_name();
  if (core != "Prescott" && core != "Nehalem" && core != "Core2" && core != "Generic" && core != "generic") return "";
  return has_avx512() ? "SkylakeX" : has_avx2() ? "Haswell" : "";
}

std::string host_blas_info() {
  const std::string core = core_name();
  if (core.empty()) return "BLAS: not OpenBLAS\n";
  std::string text = "BLAS: OpenBLAS, core " + core + ", " + std::to_string(thread_count()) + " threads\n";
  if (std::string better = openblas_core_to_set(); !better.empty())
    text += "warning: OpenBLAS does not know this CPU and uses slow " + core +
            " kernels; start the program with OPENBLAS_CORETYPE=" + better + "\n";
  return text;
}

}  // namespace devobj
