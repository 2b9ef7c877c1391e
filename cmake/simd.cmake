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
set(simd_sets OFF)
if(DEVOBJ_SANITIZE MATCHES thread)
  target_compile_definitions(devobj PRIVATE DEVOBJ_SIMD_BASELINE)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set(simd_sets ON)
endif()
set(own_options)
foreach(name panel chain givens)
  set(simd_file ${PROJECT_SOURCE_DIR}/kernels/host/${name}_simd)
  list(APPEND own_options ${simd_file}_baseline.cpp ${simd_file}_avx2.cpp ${simd_file}_avx512.cpp)
  set_source_files_properties(${simd_file}_baseline.cpp PROPERTIES COMPILE_OPTIONS "${simd_options}")
  if(simd_sets)
    set_source_files_properties(${simd_file}_avx2.cpp PROPERTIES COMPILE_OPTIONS "${simd_options};-mavx2;-mfma")
    set_source_files_properties(${simd_file}_avx512.cpp PROPERTIES COMPILE_OPTIONS
      "${simd_options};-mavx512f;-mavx512dq;-mavx512vl;-mavx512bw;-mfma;-mprefer-vector-width=512")
  else()
    set_source_files_properties(${simd_file}_avx2.cpp ${simd_file}_avx512.cpp PROPERTIES HEADER_FILE_ONLY TRUE)
  endif()
endforeach()
set_source_files_properties(${own_options} PROPERTIES SKIP_PRECOMPILE_HEADERS TRUE)
