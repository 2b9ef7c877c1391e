!> Solutions in double precision from factors in single precision and iterative refinement: A and B are of type double or
!> double complex.
!>
!> iterations: 0 to 30, the solution was refined so many times, to about the accuracy of devf_gesv or devf_gels, and A is
!> unchanged. Negative: the work was done in double precision as by those, and A holds their factors; -2: something is beyond
!> single precision's range, infinite or NaN; -3: A is singular (rank-deficient) to single precision; -31: refinement
!> does not converge. method and block, info, stat and errmsg as in devObjectLU and devObjectQR; iterations is 0 if stat is not 0.
!> Source: LAPACK's dsgesv and zcgesv; Bjorck 1967.
module devObjectMixed
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_signed_char
  use devObject
  use devObjectErrors, only: report, fail
  use devObjectHeaders, only: loan, borrow, release, shape_of, allocate_in, undo_allocation
  use devObjectHostArray, only: type_integer
  use devObjectOptions, only: letter, method_code
  implicit none
  public

  private :: c_int, c_int64_t, c_signed_char, report, fail, loan, borrow, release, shape_of, allocate_in, undo_allocation
  private :: type_integer, letter, method_code
  private :: c_gesv_mixed, c_gels_mixed

  interface
    function c_gesv_mixed(A, ipiv, B, method, block, info, iterations) bind(C, name='devobj_gesv_mixed') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: A, ipiv, B, block
      integer(c_int), value :: method
      integer(c_int64_t), intent(inout) :: info, iterations
      integer(c_int) :: status
    end function c_gesv_mixed

    function c_gels_mixed(op, A, B, method, block, info, iterations) bind(C, name='devobj_gels_mixed') result(status)
      import :: c_int, c_int64_t, c_signed_char
      integer(c_signed_char), value :: op
      integer(c_int64_t), value :: A, B, block
      integer(c_int), value :: method
      integer(c_int64_t), intent(inout) :: info, iterations
      integer(c_int) :: status
    end function c_gels_mixed
  end interface

contains

  !> A X = B: B (n x nrhs) is overwritten by X, unless info > 0: then it is unchanged. ipiv, an integer object that is allocated
  !> if it is unallocated, has the pivots of the factorization that was used. Method 'randomized': by random mixtures of rows and
  !> columns, without pivots from whole columns, and ipiv is 1, 2, ..., n; 'auto' takes it for double precision from n = 1000 on
  !> where a GPU has thread-block clusters. Waits.
  subroutine devf_gesv_mixed(A, ipiv, B, info, iterations, method, block, stat, errmsg)
    class(devVar), intent(in) :: A, B
    class(devVar), intent(inout) :: ipiv
    integer, intent(out) :: info
    integer, intent(out), optional :: iterations
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(3)
    integer(c_int64_t) :: rows, cols, columns, info64, iterations64
    integer(c_int) :: type, status, code
    logical :: made

    info = -1
    if (present(iterations)) iterations = 0
    code = method_code(method)
    if (code < 0) then
      call fail(devobj_invalid_argument, "devf_gesv_mixed: method is '"//method// &
        "', must be auto, lapack, hybrid, native or randomized", stat, errmsg)
      return
    end if
    columns = 0
    if (present(block)) columns = block

    made = .false.
    status = shape_of(A, type, rows, cols)
    if (status == devobj_success) status = allocate_in(ipiv, type_integer, min(rows, cols), 1_c_int64_t, made)
    if (status == devobj_success) then
      info64 = -1
      iterations64 = 0
      use = [borrow(A), borrow(ipiv), borrow(B)]
      status = c_gesv_mixed(use(1)%handle, use(2)%handle, use(3)%handle, code, columns, info64, iterations64)
      if (status == devobj_success) then
        info = int(info64)
        if (present(iterations)) iterations = int(iterations64)
      end if
    end if
    call report(status, 'devf_gesv_mixed', stat, errmsg)
    call release(use)
    if (status /= devobj_success) call undo_allocation(ipiv, made)
  end subroutine devf_gesv_mixed

  !> Least squares, or least norm, of full rank: trans, A, B and info as in devf_gels. Waits.
  subroutine devf_gels_mixed(trans, A, B, info, iterations, method, block, stat, errmsg)
    character(*), intent(in) :: trans
    class(devVar), intent(in) :: A, B
    integer, intent(out) :: info
    integer, intent(out), optional :: iterations
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)
    integer(c_int64_t) :: columns, info64, iterations64
    integer(c_int) :: status, code

    info = -1
    if (present(iterations)) iterations = 0
    code = method_code(method)
    if (code < 0) then
      call fail(devobj_invalid_argument, "devf_gels_mixed: method is '"//method// &
        "', must be auto, lapack, hybrid, native, householder or block_householder", stat, errmsg)
      return
    end if
    columns = 0
    if (present(block)) columns = block
    info64 = -1
    iterations64 = 0
    use = [borrow(A), borrow(B)]
    status = c_gels_mixed(letter(trans), use(1)%handle, use(2)%handle, code, columns, info64, iterations64)
    if (status == devobj_success) then
      info = int(info64)
      if (present(iterations)) iterations = int(iterations64)
    end if
    call report(status, 'devf_gels_mixed', stat, errmsg)
    call release(use)
  end subroutine devf_gels_mixed

end module devObjectMixed
