# BLAS and LAPACK: OpenBLAS if there is one, otherwise what CMake's FindBLAS and FindLAPACK find (-DBLA_VENDOR=... chooses).
# Sets devobj_lapack_libraries. The interface is the one with 32-bit integers.

set(BLA_SIZEOF_INTEGER 4)
if(NOT DEFINED BLA_VENDOR AND NOT DEFINED ENV{BLA_VENDOR})
  set(BLA_VENDOR OpenBLAS)
  find_package(BLAS QUIET)
  find_package(LAPACK QUIET)
  if(NOT BLAS_FOUND OR NOT LAPACK_FOUND)
    unset(BLA_VENDOR)
  endif()
endif()
find_package(BLAS REQUIRED)
find_package(LAPACK REQUIRED)
set(devobj_lapack_libraries ${LAPACK_LIBRARIES} ${BLAS_LIBRARIES})
list(REMOVE_DUPLICATES devobj_lapack_libraries)
