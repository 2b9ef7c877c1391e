!> BLAS levels 1 to 3 and the matrix utilities of LAPACK on device objects of the four types.
!>
!> Names, option letters and the order of arguments are the BLAS's, without sizes and leading dimensions, which the objects
!> know; lower case is accepted. All operands of a call have one type. Factors may be real or complex, single or double;
!> two factors of a call have one kind, and a factor with an imaginary part needs complex objects. A vector is an object
!> with one column or one row; in level 1 it may have any shape, and is taken in column order. Every operand may be
!> a block, view_dv(...). Nothing waits for the GPU but what gives a result to the host. Errors: types or shapes that do
!> not fit, unknown letters; nothing is written then.
!>
!> The routines with factors (scal, axpy, gemv, ger, geru, gerc, gemm, symm, hemm, syrk, herk, trmm, trsm, laset) are
!> documented in devObjectBLASScalar.inc.
module devObjectBLAS
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_signed_char, c_float, c_double, c_float_complex, &
    c_double_complex
  use devObject
  use devObjectErrors, only: report, fail
  use devObjectHeaders, only: loan, borrow, release
  use devObjectOptions, only: c_scalar, letter
  use devObjectBLAS_r4, only: devf_scal, devf_axpy, devf_gemv, devf_ger, devf_geru, devf_gerc, devf_gemm, devf_symm, &
    devf_hemm, devf_syrk, devf_herk, devf_trmm, devf_trsm, devf_laset
  use devObjectBLAS_r8, only: devf_scal, devf_axpy, devf_gemv, devf_ger, devf_geru, devf_gerc, devf_gemm, devf_symm, &
    devf_hemm, devf_syrk, devf_herk, devf_trmm, devf_trsm, devf_laset
  use devObjectBLAS_c4, only: devf_scal, devf_axpy, devf_gemv, devf_geru, devf_gerc, devf_gemm, devf_symm, devf_hemm, &
    devf_syrk, devf_trmm, devf_trsm, devf_laset
  use devObjectBLAS_c8, only: devf_scal, devf_axpy, devf_gemv, devf_geru, devf_gerc, devf_gemm, devf_symm, devf_hemm, &
    devf_syrk, devf_trmm, devf_trsm, devf_laset
  implicit none
  public

  private :: c_int, c_int32_t, c_int64_t, c_signed_char, c_float, c_double, c_float_complex, c_double_complex
  private :: report, fail, loan, borrow, release, c_scalar, letter
  private :: dot_r4, dot_r8, dotu_c4, dotu_c8, dotc_c4, dotc_c8, nrm2_r4, nrm2_r8, asum_r4, asum_r8, iamax_i4, iamax_i8
  private :: lange_r4, lange_r8, dot_any, dotc_any
  private :: c_swap, c_dotu, c_dotc, c_nrm2, c_asum, c_iamax, c_trmv, c_trsv, c_lacpy, c_transpose, c_laswp, c_lange

  !> call devf_dot(x, y, result [, stat, errmsg]): result = x^T y, real. Waits.
  interface devf_dot
    module procedure dot_r4, dot_r8
  end interface devf_dot

  !> call devf_dotu(x, y, result [, stat, errmsg]): result = x^T y, complex. Waits.
  interface devf_dotu
    module procedure dotu_c4, dotu_c8
  end interface devf_dotu

  !> call devf_dotc(x, y, result [, stat, errmsg]): result = x^H y, complex. Waits.
  interface devf_dotc
    module procedure dotc_c4, dotc_c8
  end interface devf_dotc

  !> call devf_nrm2(x, result [, stat, errmsg]): result = ||x||_2 without overflow or underflow, real. Waits.
  interface devf_nrm2
    module procedure nrm2_r4, nrm2_r8
  end interface devf_nrm2

  !> call devf_asum(x, result [, stat, errmsg]): result = the sum of |re| + |im|, real. Waits.
  interface devf_asum
    module procedure asum_r4, asum_r8
  end interface devf_asum

  !> call devf_iamax(x, position [, stat, errmsg]): the first position (from 1) of the largest |re| + |im|; 0 if x is
  !> empty; that of the first NaN if there is one. position is an integer of 32 or 64 bits. Waits.
  interface devf_iamax
    module procedure iamax_i4, iamax_i8
  end interface devf_iamax

  !> call devf_lange(norm, A, result [, stat, errmsg]): a norm of A, real. norm: '1' or 'O' the largest column sum, 'I' the
  !> largest row sum, 'F' or 'E' Frobenius, 'M' the largest |a_ij|. NaN if A has one; 0 if A is empty. Waits.
  interface devf_lange
    module procedure lange_r4, lange_r8
  end interface devf_lange

  include 'devObjectBLAS_c.inc'

contains

  !> x <-> y, of one shape.
  subroutine devf_swap(x, y, stat, errmsg)
    class(devVar), intent(in) :: x, y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)

    use = [borrow(x), borrow(y)]
    call report(c_swap(use(1)%handle, use(2)%handle), 'devf_swap', stat, errmsg)
    call release(use)
  end subroutine devf_swap

  !> x = op(A) x; A triangular (uplo 'U' or 'L'), with a diagonal of ones if diag is 'U'.
  subroutine devf_trmv(uplo, op, diag, A, x, stat, errmsg)
    character(*), intent(in) :: uplo, op, diag
    class(devVar), intent(in) :: A, x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)

    use = [borrow(A), borrow(x)]
    call report(c_trmv(letter(uplo), letter(op), letter(diag), use(1)%handle, use(2)%handle), 'devf_trmv', stat, errmsg)
    call release(use)
  end subroutine devf_trmv

  !> x = op(A)^-1 x; A triangular, as for devf_trmv.
  subroutine devf_trsv(uplo, op, diag, A, x, stat, errmsg)
    character(*), intent(in) :: uplo, op, diag
    class(devVar), intent(in) :: A, x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)

    use = [borrow(A), borrow(x)]
    call report(c_trsv(letter(uplo), letter(op), letter(diag), use(1)%handle, use(2)%handle), 'devf_trsv', stat, errmsg)
    call release(use)
  end subroutine devf_trsv

  !> B = A, of one shape: the triangle uplo ('U', 'L') with the diagonal, or everything ('G').
  subroutine devf_lacpy(uplo, A, B, stat, errmsg)
    character(*), intent(in) :: uplo
    class(devVar), intent(in) :: A, B
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)

    use = [borrow(A), borrow(B)]
    call report(c_lacpy(letter(uplo), use(1)%handle, use(2)%handle), 'devf_lacpy', stat, errmsg)
    call release(use)
  end subroutine devf_lacpy

  !> B = A^T (op 'T') or A^H ('C'); A is m x n, B n x m. B may be A if A is square.
  subroutine devf_transpose(op, A, B, stat, errmsg)
    character(*), intent(in) :: op
    class(devVar), intent(in) :: A, B
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)

    use = [borrow(A), borrow(B)]
    call report(c_transpose(letter(op), use(1)%handle, use(2)%handle), 'devf_transpose', stat, errmsg)
    call release(use)
  end subroutine devf_transpose

  !> For i = k1, ..., k2: row i of A <-> row ipiv(i); in reverse order if forward is false (default true). ipiv is an
  !> integer object with at least k2 elements. LAPACK's laswp.
  subroutine devf_laswp(A, k1, k2, ipiv, forward, stat, errmsg)
    class(devVar), intent(in) :: A, ipiv
    integer, intent(in) :: k1, k2
    logical, intent(in), optional :: forward
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)
    integer(c_int) :: direction

    direction = 1
    if (present(forward)) direction = merge(1, 0, forward)
    use = [borrow(A), borrow(ipiv)]
    call report(c_laswp(use(1)%handle, int(k1, c_int64_t), int(k2, c_int64_t), use(2)%handle, direction), 'devf_laswp', &
      stat, errmsg)
    call release(use)
  end subroutine devf_laswp

  ! result = x^T y in double precision, for the routine of this name.
  subroutine dot_any(x, y, result, routine, stat, errmsg)
    class(devVar), intent(in) :: x, y
    type(c_scalar), intent(inout) :: result
    character(*), intent(in) :: routine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)

    use = [borrow(x), borrow(y)]
    call report(c_dotu(use(1)%handle, use(2)%handle, result), routine, stat, errmsg)
    call release(use)
  end subroutine dot_any

  ! result = x^H y in double precision.
  subroutine dotc_any(x, y, result, stat, errmsg)
    class(devVar), intent(in) :: x, y
    type(c_scalar), intent(inout) :: result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)

    use = [borrow(x), borrow(y)]
    call report(c_dotc(use(1)%handle, use(2)%handle, result), 'devf_dotc', stat, errmsg)
    call release(use)
  end subroutine dotc_any

  include 'devObjectBLAS_results.inc'

end module devObjectBLAS
