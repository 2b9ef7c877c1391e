!> QR of band matrices by Givens rotations that are kept: Q is never formed, and a solve costs the band.
!>
!> A (n x n) has kl diagonals below and ku above the main one and comes in LAPACK's band storage: AB has kl + ku + 1 rows and
!> AB(ku + 1 + i - j, j) = A(i, j). Its factors are a variable of type(devBandQR), which frees them at the end of its life.
!> stat and errmsg as in devObjectFunctions. (Explicit factors by rotations, of full and band matrices alike, are
!> devf_qr(A, Q, R, method='givens') of devObjectQR.) Source: papers 001 and 004.
module devObjectGivens
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_signed_char
  use devObject
  use devObjectErrors, only: report
  use devObjectHeaders, only: loan, borrow, release, shape_of, allocate_in, undo_allocation
  use devObjectHostArray, only: type_real, type_double, type_complex, type_double_complex
  use devObjectOptions, only: letter
  implicit none
  public

  private :: c_int, c_int64_t, c_signed_char, report, loan, borrow, release, shape_of, allocate_in, undo_allocation
  private :: type_real, type_double, type_complex, type_double_complex, letter
  private :: c_band_qr, c_band_qr_apply, c_band_qr_solve

  !> The factors of a band matrix: cosines and sines (kl x n), the rotation of rows j + r - 1 and j + r at (r, j), and the
  !> rows of R (kl + ku + 1 x n), element (i, i + p - 1) of R at (p, i).
  type :: devBandQR
    type(devVar) :: cosines, sines, R
  end type devBandQR

  interface
    function c_band_qr(AB, kl, ku, C, S, R) bind(C, name='devobj_band_qr') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: AB, kl, ku, C, S, R
      integer(c_int) :: status
    end function c_band_qr

    function c_band_qr_apply(op, C, S, B) bind(C, name='devobj_band_qr_apply') result(status)
      import :: c_int, c_int64_t, c_signed_char
      integer(c_signed_char), value :: op
      integer(c_int64_t), value :: C, S, B
      integer(c_int) :: status
    end function c_band_qr_apply

    function c_band_qr_solve(C, S, R, B, info) bind(C, name='devobj_band_qr_solve') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: C, S, R, B
      integer(c_int64_t), intent(inout) :: info
      integer(c_int) :: status
    end function c_band_qr_solve
  end interface

contains

  !> A = Q R. AB is unchanged; the objects of F are allocated if they are unallocated.
  subroutine devf_band_qr(AB, kl, ku, F, stat, errmsg)
    class(devVar), intent(in) :: AB
    integer, intent(in) :: kl, ku
    type(devBandQR), intent(inout) :: F
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(4)
    integer(c_int64_t) :: rows, cols, lower, upper
    integer(c_int) :: type, of_C, status
    logical :: made(3)

    lower = kl
    upper = ku
    made = .false.
    status = shape_of(AB, type, rows, cols)
    of_C = type
    if (type == type_complex) of_C = type_real
    if (type == type_double_complex) of_C = type_double
    ! sizes that are wrong are the library's to report
    if (status == devobj_success) status = allocate_in(F%cosines, of_C, max(0_c_int64_t, lower), cols, made(1))
    if (status == devobj_success) status = allocate_in(F%sines, type, max(0_c_int64_t, lower), cols, made(2))
    if (status == devobj_success) status = allocate_in(F%R, type, rows, cols, made(3))
    if (status == devobj_success) then
      use = [borrow(AB), borrow(F%cosines), borrow(F%sines), borrow(F%R)]
      status = c_band_qr(use(1)%handle, lower, upper, use(2)%handle, use(3)%handle, use(4)%handle)
    end if
    call report(status, 'devf_band_qr', stat, errmsg)
    call release(use)
    if (status == devobj_success) return
    call undo_allocation(F%cosines, made(1))
    call undo_allocation(F%sines, made(2))
    call undo_allocation(F%R, made(3))
  end subroutine devf_band_qr

  !> B = Q' B (trans 'T' for real, 'C' for complex objects) or Q B ('N'); B has n rows.
  subroutine devf_band_qr_apply(trans, F, B, stat, errmsg)
    character(*), intent(in) :: trans
    type(devBandQR), intent(in) :: F
    class(devVar), intent(in) :: B
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(3)

    use = [borrow(F%cosines), borrow(F%sines), borrow(B)]
    call report(c_band_qr_apply(letter(trans), use(1)%handle, use(2)%handle, use(3)%handle), 'devf_band_qr_apply', stat, &
      errmsg)
    call release(use)
  end subroutine devf_band_qr_apply

  !> A X = B: B (n x any number of right-hand sides) is overwritten by X. info is 0, or i > 0 if R(i, i) is exactly zero; B
  !> is then unchanged. info is -1 if stat is not 0. Waits.
  subroutine devf_band_qr_solve(F, B, info, stat, errmsg)
    type(devBandQR), intent(in) :: F
    class(devVar), intent(in) :: B
    integer, intent(out) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(4)
    integer(c_int64_t) :: info64
    integer(c_int) :: status

    info = -1
    info64 = -1
    use = [borrow(F%cosines), borrow(F%sines), borrow(F%R), borrow(B)]
    status = c_band_qr_solve(use(1)%handle, use(2)%handle, use(3)%handle, use(4)%handle, info64)
    if (status == devobj_success) info = int(info64)
    call report(status, 'devf_band_qr_solve', stat, errmsg)
    call release(use)
  end subroutine devf_band_qr_solve

end module devObjectGivens
