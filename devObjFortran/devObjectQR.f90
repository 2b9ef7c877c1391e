!> QR factorization by Householder reflectors, its orthogonal factor, and least squares, on device objects.
!>
!> tau is an object of A's type with min(m, n) elements; devf_geqrf allocates it if it is unallocated. method: 'auto'
!> (default: the fastest), 'lapack' (the CPU's, host backend only), 'hybrid' (panels on the CPU, the rest on the device),
!> 'native', 'householder', 'block_householder', 'givens', case ignored; one that this version or backend does not have
!> is an error ('native' is for a GPU; 'givens' is devf_qr's alone, since it leaves no reflectors). block: columns of a
!> panel, 0 for the measured best. Products in single precision on a GPU: set_math_dv of devObject. info is -1 if stat is
!> not 0. stat and errmsg as in devObjectFunctions. Source: papers 000, 001, 002 and 004; LAPACK.
module devObjectQR
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_signed_char
  use devObject
  use devObjectErrors, only: report, fail
  use devObjectHeaders, only: loan, borrow, release, shape_of, allocate_in, undo_allocation
  use devObjectOptions, only: letter, method_code
  implicit none
  public

  private :: c_int, c_int64_t, c_signed_char, report, fail, loan, borrow, release, shape_of, allocate_in, undo_allocation
  private :: letter, method_code, known_method
  private :: c_geqrf, c_orgqr, c_ormqr, c_gels, c_qr

  interface
    function c_geqrf(A, tau, method, block, info) bind(C, name='devobj_geqrf') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: A, tau, block
      integer(c_int), value :: method
      integer(c_int64_t), intent(inout) :: info
      integer(c_int) :: status
    end function c_geqrf

    function c_orgqr(A, tau) bind(C, name='devobj_orgqr') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: A, tau
      integer(c_int) :: status
    end function c_orgqr

    function c_ormqr(side, op, V, tau, C) bind(C, name='devobj_ormqr') result(status)
      import :: c_int, c_int64_t, c_signed_char
      integer(c_signed_char), value :: side, op
      integer(c_int64_t), value :: V, tau, C
      integer(c_int) :: status
    end function c_ormqr

    function c_gels(op, A, B, method, block, info) bind(C, name='devobj_gels') result(status)
      import :: c_int, c_int64_t, c_signed_char
      integer(c_signed_char), value :: op
      integer(c_int64_t), value :: A, B, block
      integer(c_int), value :: method
      integer(c_int64_t), intent(inout) :: info
      integer(c_int) :: status
    end function c_gels

    function c_qr(A, Q, R, method, block) bind(C, name='devobj_qr') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: A, Q, R, block
      integer(c_int), value :: method
      integer(c_int) :: status
    end function c_qr
  end interface

contains

  !> A = Q R: A (m x n) is overwritten by R (on and above the diagonal) and the vectors of the reflectors (below it);
  !> Q = H(1) ... H(k), H(i) = I - tau(i) v v^H. The signs of R's diagonal are LAPACK's. Waits.
  subroutine devf_geqrf(A, tau, info, method, block, stat, errmsg)
    class(devVar), intent(in) :: A
    class(devVar), intent(inout) :: tau
    integer, intent(out) :: info
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)
    integer(c_int64_t) :: rows, cols, columns, info64
    integer(c_int) :: type, status, code
    logical :: made

    info = -1
    if (.not. known_method('devf_geqrf', method, block, code, columns, stat, errmsg)) return
    made = .false.
    status = shape_of(A, type, rows, cols)
    if (status == devobj_success) status = allocate_in(tau, type, min(rows, cols), 1_c_int64_t, made)
    if (status == devobj_success) then
      info64 = -1
      use = [borrow(A), borrow(tau)]
      status = c_geqrf(use(1)%handle, use(2)%handle, code, columns, info64)
      if (status == devobj_success) info = int(info64)
    end if
    call report(status, 'devf_geqrf', stat, errmsg)
    call release(use)
    if (status /= devobj_success) call undo_allocation(tau, made)
  end subroutine devf_geqrf

  !> A (m x n, n <= m) = the first n columns of Q, from the reflectors of devf_geqrf in A's columns and tau, which has at
  !> most n elements. LAPACK's orgqr and ungqr.
  subroutine devf_orgqr(A, tau, stat, errmsg)
    class(devVar), intent(in) :: A, tau
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)

    use = [borrow(A), borrow(tau)]
    call report(c_orgqr(use(1)%handle, use(2)%handle), 'devf_orgqr', stat, errmsg)
    call release(use)
  end subroutine devf_orgqr

  !> C = op(Q) C (side 'L') or C op(Q) ('R') with Q from the reflectors in A and tau. trans: 'N', or 'T' for real and 'C' for
  !> complex objects. A is unchanged. LAPACK's ormqr and unmqr.
  subroutine devf_ormqr(side, trans, A, tau, C, stat, errmsg)
    character(*), intent(in) :: side, trans
    class(devVar), intent(in) :: A, tau, C
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(3)

    use = [borrow(A), borrow(tau), borrow(C)]
    call report(c_ormqr(letter(side), letter(trans), use(1)%handle, use(2)%handle, use(3)%handle), 'devf_ormqr', stat, &
      errmsg)
    call release(use)
  end subroutine devf_ormqr

  !> Least squares, or least norm, for a matrix A (m x n) of full rank and right-hand sides B (max(m, n) x nrhs).
  !> trans 'N', m >= n: min ||B - A X||, with X in the first n rows of B; the squares of the rows below add up to that of
  !> the residual. 'N', m < n: the X of least norm with A X = B, where B has m rows of data and gets n of X. 'T' (real) or
  !> 'C' (complex): the same for A^H. A is overwritten by its factors. info = i > 0: A's column i (A^H's, in the cases of least
  !> norm) depends on those before it to working precision; B is then unchanged. Waits. LAPACK's gels.
  subroutine devf_gels(trans, A, B, info, method, block, stat, errmsg)
    character(*), intent(in) :: trans
    class(devVar), intent(in) :: A, B
    integer, intent(out) :: info
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)
    integer(c_int64_t) :: columns, info64
    integer(c_int) :: status, code

    info = -1
    if (.not. known_method('devf_gels', method, block, code, columns, stat, errmsg)) return
    info64 = -1
    use = [borrow(A), borrow(B)]
    status = c_gels(letter(trans), use(1)%handle, use(2)%handle, code, columns, info64)
    if (status == devobj_success) info = int(info64)
    call report(status, 'devf_gels', stat, errmsg)
    call release(use)
  end subroutine devf_gels

  !> A = Q R with explicit factors; A (m x n) is unchanged. Q and R are allocated if they are unallocated: Q m x k and
  !> R k x n with k = min(m, n) (economic), or k = m if full is present and true. Allocated ones must have one of these
  !> two shapes. Waits.
  subroutine devf_qr(A, Q, R, full, method, block, stat, errmsg)
    class(devVar), intent(in) :: A
    class(devVar), intent(inout) :: Q, R
    logical, intent(in), optional :: full
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(3)
    integer(c_int64_t) :: rows, cols, k, columns
    integer(c_int) :: type, status, code
    logical :: made(2)

    if (.not. known_method('devf_qr', method, block, code, columns, stat, errmsg)) return
    made = .false.
    status = shape_of(A, type, rows, cols)
    k = min(rows, cols)
    if (present(full)) k = merge(rows, k, full)
    if (status == devobj_success) status = allocate_in(Q, type, rows, k, made(1))
    if (status == devobj_success) status = allocate_in(R, type, k, cols, made(2))
    if (status == devobj_success) then
      use = [borrow(A), borrow(Q), borrow(R)]
      status = c_qr(use(1)%handle, use(2)%handle, use(3)%handle, code, columns)
    end if
    call report(status, 'devf_qr', stat, errmsg)
    call release(use)
    if (status == devobj_success) return
    call undo_allocation(Q, made(1))
    call undo_allocation(R, made(2))
  end subroutine devf_qr

  ! The method's code and the block for the C library. False, and reported, if there is no method of this name.
  logical function known_method(routine, method, block, code, columns, stat, errmsg)
    character(*), intent(in) :: routine
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer(c_int), intent(out) :: code
    integer(c_int64_t), intent(out) :: columns
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    columns = 0
    if (present(block)) columns = block
    code = method_code(method)
    known_method = code >= 0
    if (.not. known_method) call fail(devobj_invalid_argument, routine//": method is '"//method// &
      "', must be auto, lapack, hybrid, native, householder, block_householder or givens", stat, errmsg)
  end function known_method

end module devObjectQR
