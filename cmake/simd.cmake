# Instruction sets of kernels/host/{panel,chain,givens}_simd_*.cpp, which are chosen among at run time. Include this in the
# directory that builds the library. On other processors than x86-64 there is the baseline alone, and with ThreadSanitizer:
# the same threads meet in every set.
# With a sanitizer, -O3 would take minutes.
set(simd_optimise -O3)
if(DEVOBJ_SANITIZE)
  set(simd_optimise -O1)
endif()
set(simd_options ${simd_optimise} -ffp-contract=fast -fno-math-errno -fno-trapping-math)
# From GCC 13 on, sums in some loops are made without fused operations, and in others with them: rows then have other bits
# where threads share them out differently.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(--param=avoid-fma-max-bits=0 devobj_has_avoid_fma)
if(devobj_has_avoid_fma)
  list(APPEND simd_options --param=avoid-fma-max-bits=0)
endif()
set(simd_sets)
if(DEVOBJ_SANITIZE MATCHES thread)
  target_compile_definitions(devobj PRIVATE DEVOBJ_SIMD_BASELINE)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set(simd_sets avx2 avx512)
endif()
# Whether this machine has the widest set, where that decides what is compiled.
if(simd_sets AND (DEVOBJ_SANITIZE OR DEFINED ENV{DEVOBJ_SIMD_QUICK}))
  include(CheckCXXSourceRuns)
  check_cxx_source_runs("int main() {
      __builtin_cpu_init();
      return __builtin_cpu_supports(\"avx512f\") && __builtin_cpu_supports(\"avx512dq\") && __builtin_cpu_supports(\"avx512vl\") &&
             __builtin_cpu_supports(\"avx512bw\") ? 0 : 1; }" devobj_machine_has_avx512)
endif()
# With AddressSanitizer and UndefinedBehaviorSanitizer these files would take up to a minute and a half each. So besides the baseline there
# is only the widest set that this machine has.
if(simd_sets AND DEVOBJ_SANITIZE)
  if(devobj_machine_has_avx512)
    set(simd_sets avx512)
    target_compile_definitions(devobj PRIVATE DEVOBJ_SIMD_WITHOUT_AVX2)
  else()
    set(simd_sets avx2)
    target_compile_definitions(devobj PRIVATE DEVOBJ_SIMD_WITHOUT_AVX512)
  endif()
endif()
# The baseline is the same sources, and does not run then: as little as can be is done for it. (Checks as calls would take a third less time to
# compile, and the tests two to five times as long.)
set(simd_baseline)
if(DEVOBJ_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND simd_sets)
  set(simd_baseline -fno-sanitize=all -O0)
endif()
set(simd_avx2 -mavx2 -mfma)
set(simd_avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mprefer-vector-width=512)
# DEVOBJ_SIMD_QUICK in the environment, for builds that only this machine tests: what it cannot run is compiled, but not optimised, which takes
# a fifth of the time.
if(DEFINED ENV{DEVOBJ_SIMD_QUICK} AND NOT devobj_machine_has_avx512)
  list(APPEND simd_avx512 -O0)
endif()
# FILE_avx2.cpp and FILE_avx512.cpp for their sets, if these are built, with OPTIONS besides.
function(compile_for_simd_sets file options)
  foreach(instructions avx2 avx512)
    if(instructions IN_LIST simd_sets)
      set_source_files_properties(${file}_${instructions}.cpp PROPERTIES COMPILE_OPTIONS "${options};${simd_${instructions}}")
    else()
      set_source_files_properties(${file}_${instructions}.cpp PROPERTIES HEADER_FILE_ONLY TRUE)
    endif()
  endforeach()
endfunction()
set(own_options)
foreach(name panel chain givens)
  set(simd_file ${PROJECT_SOURCE_DIR}/kernels/host/${name}_simd)
  list(APPEND own_options ${simd_file}_baseline.cpp ${simd_file}_avx2.cpp ${simd_file}_avx512.cpp)
  set_source_files_properties(${simd_file}_baseline.cpp PROPERTIES COMPILE_OPTIONS "${simd_options};${simd_baseline}")
  compile_for_simd_sets(${simd_file} "${simd_options}")
endforeach()
set_source_files_properties(${own_options} PROPERTIES SKIP_PRECOMPILE_HEADERS TRUE)
