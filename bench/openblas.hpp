// Which kernels the linked OpenBLAS runs, and a remedy when it does not know the CPU.
#pragma once

#include <string>
#include <string_view>

namespace bench {

/// The value of OPENBLAS_CORETYPE that gives OpenBLAS kernels worthy of a CPU with these flags (the words of
/// /proc/cpuinfo, spaces between), or "" if `core`, the one it chose, is no relapse to SSE or the CPU has no more.
inline std::string better_openblas_core(std::string_view core, std::string_view cpu_flags, bool amd) {
  const auto among = [](std::string_view word, std::string_view list) {
    for (std::size_t at = list.find(word); at != std::string_view::npos && !word.empty();
         at = list.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
    }
    return false;
  };
  std::string lower(core);
  for (char& c : lower)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (!among(lower,
             "prescott nehalem core2 penryn dunnington atom katmai coppermine northwood banias athlon opteron "
             "opteron_sse3 barcelona bobcat nano generic unknown"))
    return "";
  if (among("avx512f", cpu_flags) && among("avx512bw", cpu_flags) && among("avx512vl", cpu_flags)) return "SkylakeX";
  if (among("avx2", cpu_flags) && among("fma", cpu_flags)) return amd ? "Zen" : "Haswell";
  return "";
}

/// The core whose kernels OpenBLAS runs ("SkylakeX"), or "" if the linked BLAS is not OpenBLAS.
std::string openblas_core();

/// OpenBLAS's number of threads; 0 if the linked BLAS is not OpenBLAS.
int openblas_threads();

/// If OpenBLAS fell back to kernels far below this CPU and OPENBLAS_CORETYPE is not set, starts the program anew with
/// it set, since it is read only when the library is loaded. Returns what is to be told on stderr: "" or a warning.
std::string mend_openblas(char** argv);

}  // namespace bench
