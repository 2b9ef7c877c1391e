# Instruction sets of kernels/host/panel_simd_*.cpp; panel_simd.cpp chooses among them at run time. Include this in the
# directory that builds the library. On other processors than x86-64 there is the baseline alone.
set(simd_dir ${PROJECT_SOURCE_DIR}/kernels/host)
set(simd_options -O3 -ffp-contract=fast -fno-math-errno -fno-trapping-math)
set_source_files_properties(${simd_dir}/panel_simd_baseline.cpp PROPERTIES COMPILE_OPTIONS "${simd_options}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set_source_files_properties(${simd_dir}/panel_simd_avx2.cpp PROPERTIES COMPILE_OPTIONS
    "${simd_options};-mavx2;-mfma")
  set_source_files_properties(${simd_dir}/panel_simd_avx512.cpp PROPERTIES COMPILE_OPTIONS
    "${simd_options};-mavx512f;-mavx512dq;-mavx512vl;-mavx512bw;-mfma;-mprefer-vector-width=512")
else()
  set_source_files_properties(${simd_dir}/panel_simd_avx2.cpp ${simd_dir}/panel_simd_avx512.cpp PROPERTIES
    HEADER_FILE_ONLY TRUE)
endif()
