# The random numbers' files: the same bits everywhere need the compiler to leave a * b + c as written, and the host's loops
# are compiled for several instruction sets as in simd.cmake. Include this in the directory that builds the library.
set(random_options ${simd_optimise} -ffp-contract=off -fno-math-errno -fno-trapping-math)
set(random_fill ${PROJECT_SOURCE_DIR}/kernels/host/random_fill)
set_source_files_properties(${random_fill}_baseline.cpp PROPERTIES COMPILE_OPTIONS "${random_options};${simd_baseline}")
set_source_files_properties(${PROJECT_SOURCE_DIR}/devObjCpp/rng_draw.cpp ${PROJECT_SOURCE_DIR}/devObjCpp/rng_poisson.cpp
                            PROPERTIES COMPILE_OPTIONS "-ffp-contract=off")
set_source_files_properties(${random_fill}_baseline.cpp ${random_fill}_avx2.cpp ${random_fill}_avx512.cpp
                            ${PROJECT_SOURCE_DIR}/devObjCpp/rng_draw.cpp ${PROJECT_SOURCE_DIR}/devObjCpp/rng_poisson.cpp
                            PROPERTIES SKIP_PRECOMPILE_HEADERS TRUE)
compile_for_simd_sets(${random_fill} "${random_options}")
if(DEVOBJ_HAVE_CUDA)
  file(GLOB random_cuda CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cuda/random_*.cu)
  set_source_files_properties(${random_cuda} PROPERTIES COMPILE_OPTIONS "-fmad=false")
endif()
