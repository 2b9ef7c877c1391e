#include "machine.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cuda_side.hpp"
#include "openblas.hpp"

namespace bench {
namespace {

/// The value after ':' of the first line of /proc/cpuinfo that begins with `key`; "" without one.
std::string cpuinfo(const std::string& key) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

std::string env(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

template <class F>
F* symbol(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

std::string cpu_model() {
  const std::string model = cpuinfo("model name");
  return model.empty() ? "unknown CPU" : model;
}

std::string cpu_flags() {
  return cpuinfo("flags");
}

std::string gpu_name(const devobj::Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::device_name(q.device());
  return "";
}

std::string machine_name(const devobj::Queue& q) {
  const std::string gpu = gpu_name(q);
  return (gpu.empty() ? "" : gpu + " + ") + cpu_model() + ", " + std::to_string(std::thread::hardware_concurrency()) +
         " cores";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

std::string commit() {
  const std::string given = env("DEVOBJ_BENCH_COMMIT");
  return given.empty() ? DEVOBJ_BENCH_BUILT_COMMIT : given;
}

std::string data_file(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / name;
  if (fs::exists(beside, error)) return beside.string();
  const fs::path source = fs::path(DEVOBJ_BENCH_SOURCE) / name;
  return fs::exists(source, error) ? source.string() : "";
}

std::string openblas_core() {
  const auto get = symbol<char*()>("openblas_get_corename");
  return get ? get() : "";
}

int openblas_threads() {
  const auto get = symbol<int()>("openblas_get_num_threads");
  return get ? get() : 0;
}

std::string mend_openblas(char** argv) {
  const std::string core = openblas_core();
  const std::string better = better_openblas_core(core, cpu_flags(), cpuinfo("vendor_id") == "AuthenticAMD");
  if (better.empty()) return "";
  const std::string facts = "OpenBLAS runs its " + core + " kernels on a CPU that has those of " + better;
  if (env("OPENBLAS_CORETYPE").empty()) {
    setenv("OPENBLAS_CORETYPE", better.c_str(), 1);
    execv("/proc/self/exe", argv);
    return "WARNING: " + facts + ", and the program could not be started again with OPENBLAS_CORETYPE=" + better +
           ". The LAPACK peer is crippled; a win over it is no win.";
  }
  return "WARNING: " + facts + " (OPENBLAS_CORETYPE=" + env("OPENBLAS_CORETYPE") +
         "). The LAPACK peer is crippled; a win over it is no win.";
}

}  // namespace bench
