! The BLAS routines that take a factor, once for each kind of factor. The include file holds them all; SCALAR is the
! factor's declaration, and REAL_SCALAR marks the kinds for which ger and herk exist. devObjectBLAS puts the four together.

#define REAL_SCALAR
#define SCALAR real(c_float)
module devObjectBLAS_r4
#include "devObjectBLASScalar.inc"
end module devObjectBLAS_r4
#undef SCALAR

#define SCALAR real(c_double)
module devObjectBLAS_r8
#include "devObjectBLASScalar.inc"
end module devObjectBLAS_r8
#undef SCALAR
#undef REAL_SCALAR

#define SCALAR complex(c_float_complex)
module devObjectBLAS_c4
#include "devObjectBLASScalar.inc"
end module devObjectBLAS_c4
#undef SCALAR

#define SCALAR complex(c_double_complex)
module devObjectBLAS_c8
#include "devObjectBLASScalar.inc"
end module devObjectBLAS_c8
#undef SCALAR
