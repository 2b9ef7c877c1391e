# kernels/cuda/*.cu in groups that are compiled as one file each with CMAKE_UNITY_BUILD: most of the time is that of the headers, which
# all have in common. (CMake before 3.31 groups no CUDA files, and later ones take them as they come.) Include this in the directory that
# builds the library.
#
# A file in no group is compiled by itself: those that take long, and those with a name of their own that others have for something
# else. So a new file needs no group, and one in which a new name collides leaves its group.
set(cuda_groups
    "band_copy band_factor blas1 blas2 blas3 butterfly"
    "band_rotate cluster_places exchange_left exchange_rows fft fft_copy"
    "band_solve column_norms exchange_top_rows gemm_3m gemm_batched gemm_by_parts"
    "column_sizes gemm_fp16_parts lacpy laset laswp lu_batched"
    "device scale_rows"
    "exchange_solve_subtract trsm_right_unit"
    "random_curand solve_streamed"
    "random_state trsm_block"
    "convert gemm_residues lu_batched_exchange lu_batched_small lu_batched_tiny permute_columns"
    "equilibration gemm_three_tf32 spmv unit_lower"
    "first_zero_diagonal make_chains qr_batched window_next"
    "compact sort"
    "gemm_complex_overlapped gemm_3m_overlapped gemm_overlapped project_3m"
    "givens_panel apply_chains qr_reflect_strip"
    "qr_block householder_columns"
    "gemm_as_real qr_batched_small"
    "gemm_six_bf16 qr_panel_native_complex_double qr_panel_native_complex_float qr_panel_native_double qr_panel_native_float"
    "histogram reflect_batched"
    "lange scan transpose"
    "pivots_to_permutation qr_panel_tall_complex_double qr_panel_tall_complex_float qr_panel_tall_double qr_panel_tall_float"
    "reduce solve_batched solve_batched_small"
    "solve_stream window_exchange"
    "window_left window_panel window_right")
if(CMAKE_CUDA_FLAGS MATCHES "-Ofc")  # optimised these take long enough to be compiled side by side
  list(APPEND cuda_groups "lu_panel_complex_double lu_panel_complex_float lu_panel_double lu_panel_float")
endif()
if(CMAKE_UNITY_BUILD)
  set_source_files_properties(${cuda_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION TRUE)
  set(group_number 0)
  foreach(group ${cuda_groups})
    separate_arguments(names UNIX_COMMAND "${group}")
    set(text "// The files of one group of cuda_groups.cmake.\n")
    foreach(name ${names})
      set(file ${PROJECT_SOURCE_DIR}/kernels/cuda/${name}.cu)
      string(APPEND text "#include \"${file}\"\n")
      set_source_files_properties(${file} PROPERTIES HEADER_FILE_ONLY TRUE)
    endforeach()
    set(unit ${PROJECT_BINARY_DIR}/cuda_groups/group_${group_number}.cu)
    file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
    set_source_files_properties(${unit} PROPERTIES SKIP_UNITY_BUILD_INCLUSION TRUE)
    target_sources(devobj PRIVATE ${unit})
    math(EXPR group_number "${group_number} + 1")
  endforeach()
endif()
