!> LU factorization with partial pivoting on device objects, and what is solved with it.
!>
!> ipiv is an integer object of min(m, n) elements (allocated by devf_getrf and devf_gesv if it is unallocated) or
!> a default integer array on the host with at least as many. method: 'auto' (default: the fastest), 'lapack' (the CPU's,
!> host backend only), 'hybrid' (panels on the CPU, the rest on the device), 'native' (all on the GPU), case ignored.
!> block: columns of a panel, 0 for the measured best. info is LAPACK's: 0, or the first i with U(i, i) exactly zero, which
!> is no error; -1 if stat is not 0. Products in single precision on a GPU: set_math_dv of devObject. stat and errmsg as in
!> devObjectFunctions. Source: paper 002; LAPACK.
module devObjectLU
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_signed_char
  use devObject
  use devObjectErrors, only: report, fail
  use devObjectHeaders, only: loan, borrow, release, shape_of, allocate_in, undo_allocation, transfer_host
  use devObjectHostArray, only: describe, type_integer
  use devObjectOptions, only: letter, method_code
  implicit none
  public

  private :: c_int, c_int64_t, c_signed_char, report, fail, loan, borrow, release, shape_of, allocate_in, undo_allocation
  private :: transfer_host, describe, type_integer, letter, method_code
  private :: getrf_dv, getrf_host, getrs_dv, getrs_host, gesv_dv, gesv_host, getri_dv, getri_host
  private :: factor, on_device, to_host
  private :: c_getrf, c_getrs, c_gesv, c_getri, c_lu_unpack

  !> call devf_getrf(A, ipiv, info [, method, block, stat, errmsg])
  !> P A = L U: A (m x n) is overwritten by L (unit lower, below the diagonal) and U; row i was swapped with row ipiv(i).
  !> Waits.
  interface devf_getrf
    module procedure getrf_dv, getrf_host
  end interface devf_getrf

  !> call devf_getrs(trans, A, ipiv, B [, stat, errmsg])
  !> op(A) X = B with the factors of devf_getrf, trans 'N', 'T' or 'C'; B (n x nrhs) is overwritten by X.
  interface devf_getrs
    module procedure getrs_dv, getrs_host
  end interface devf_getrs

  !> call devf_gesv(A, ipiv, B, info [, method, block, stat, errmsg])
  !> A X = B: A (n x n) is overwritten by its factors, B (n x nrhs) by X, unless info > 0: then B is unchanged. Waits.
  interface devf_gesv
    module procedure gesv_dv, gesv_host
  end interface devf_gesv

  !> call devf_getri(A, ipiv, info [, stat, errmsg])
  !> A = A^-1 from the factors of devf_getrf; with info > 0 (U(i, i) is zero) A is unchanged. Waits.
  interface devf_getri
    module procedure getri_dv, getri_host
  end interface devf_getri

  interface
    function c_getrf(A, ipiv, method, block, info) bind(C, name='devobj_getrf') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: A, ipiv, block
      integer(c_int), value :: method
      integer(c_int64_t), intent(inout) :: info
      integer(c_int) :: status
    end function c_getrf

    function c_getrs(op, LU, ipiv, B) bind(C, name='devobj_getrs') result(status)
      import :: c_int, c_int64_t, c_signed_char
      integer(c_signed_char), value :: op
      integer(c_int64_t), value :: LU, ipiv, B
      integer(c_int) :: status
    end function c_getrs

    function c_gesv(A, ipiv, B, method, block, info) bind(C, name='devobj_gesv') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: A, ipiv, B, block
      integer(c_int), value :: method
      integer(c_int64_t), intent(inout) :: info
      integer(c_int) :: status
    end function c_gesv

    function c_getri(A, ipiv, info) bind(C, name='devobj_getri') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: A, ipiv
      integer(c_int64_t), intent(inout) :: info
      integer(c_int) :: status
    end function c_getri

    function c_lu_unpack(LU, ipiv, L, U, perm) bind(C, name='devobj_lu_unpack') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: LU, ipiv, L, U, perm
      integer(c_int) :: status
    end function c_lu_unpack
  end interface

contains

  !> devf_getrf with an integer object.
  subroutine getrf_dv(A, ipiv, info, method, block, stat, errmsg)
    class(devVar), intent(in) :: A
    class(devVar), intent(inout) :: ipiv
    integer, intent(out) :: info
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call factor('devf_getrf', A, ipiv, info, method, block, stat, errmsg)
  end subroutine getrf_dv

  !> devf_gesv with an integer object.
  subroutine gesv_dv(A, ipiv, B, info, method, block, stat, errmsg)
    class(devVar), intent(in) :: A, B
    class(devVar), intent(inout) :: ipiv
    integer, intent(out) :: info
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call factor('devf_gesv', A, ipiv, info, method, block, stat, errmsg, B)
  end subroutine gesv_dv

  ! getrf, or gesv if B is present.
  subroutine factor(routine, A, ipiv, info, method, block, stat, errmsg, B)
    character(*), intent(in) :: routine
    class(devVar), intent(in) :: A
    class(devVar), intent(inout) :: ipiv
    integer, intent(out) :: info
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    class(devVar), intent(in), optional :: B
    type(loan) :: use(3)
    integer(c_int64_t) :: rows, cols, columns, info64
    integer(c_int) :: type, status, code
    logical :: made

    info = -1
    code = method_code(method)
    if (code < 0) then
      call fail(devobj_invalid_argument, routine//": method is '"//method// &
        "', must be auto, lapack, hybrid or native", stat, errmsg)
      return
    end if
    columns = 0
    if (present(block)) columns = block

    made = .false.
    status = shape_of(A, type, rows, cols)
    if (status == devobj_success) status = allocate_in(ipiv, type_integer, min(rows, cols), 1_c_int64_t, made)
    if (status == devobj_success) then
      info64 = -1
      use(1:2) = [borrow(A), borrow(ipiv)]
      if (present(B)) then
        use(3) = borrow(B)
        status = c_gesv(use(1)%handle, use(2)%handle, use(3)%handle, code, columns, info64)
      else
        status = c_getrf(use(1)%handle, use(2)%handle, code, columns, info64)
      end if
      if (status == devobj_success) info = int(info64)
    end if
    call report(status, routine, stat, errmsg)
    call release(use)
    if (status /= devobj_success) call undo_allocation(ipiv, made)
  end subroutine factor

  !> devf_getrs with an integer object.
  subroutine getrs_dv(trans, A, ipiv, B, stat, errmsg)
    character(*), intent(in) :: trans
    class(devVar), intent(in) :: A, ipiv, B
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(3)

    use = [borrow(A), borrow(ipiv), borrow(B)]
    call report(c_getrs(letter(trans), use(1)%handle, use(2)%handle, use(3)%handle), 'devf_getrs', stat, errmsg)
    call release(use)
  end subroutine getrs_dv

  !> devf_getri with an integer object.
  subroutine getri_dv(A, ipiv, info, stat, errmsg)
    class(devVar), intent(in) :: A, ipiv
    integer, intent(out) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)
    integer(c_int64_t) :: info64
    integer(c_int) :: status

    info = -1
    info64 = -1
    use = [borrow(A), borrow(ipiv)]
    status = c_getri(use(1)%handle, use(2)%handle, info64)
    if (status == devobj_success) info = int(info64)
    call report(status, 'devf_getri', stat, errmsg)
    call release(use)
  end subroutine getri_dv

  !> The factors of devf_getrf as objects of their own, on the device: L (m x k, unit lower trapezoidal), U (k x n, upper),
  !> k = min(m, n), and perm (m integers from 1) with A(perm(i), :) = (L U)(i, :) for the A that was factored. L, U and
  !> perm are allocated if they are unallocated. Source: paper 002.
  subroutine devf_lu_unpack(A, ipiv, L, U, perm, stat, errmsg)
    class(devVar), intent(in) :: A, ipiv
    class(devVar), intent(inout) :: L, U, perm
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(5)
    integer(c_int64_t) :: rows, cols, k
    integer(c_int) :: type, status
    logical :: made(3)

    made = .false.
    status = shape_of(A, type, rows, cols)
    k = min(rows, cols)
    if (status == devobj_success) status = allocate_in(L, type, rows, k, made(1))
    if (status == devobj_success) status = allocate_in(U, type, k, cols, made(2))
    if (status == devobj_success) status = allocate_in(perm, type_integer, rows, 1_c_int64_t, made(3))
    if (status == devobj_success) then
      use = [borrow(A), borrow(ipiv), borrow(L), borrow(U), borrow(perm)]
      status = c_lu_unpack(use(1)%handle, use(2)%handle, use(3)%handle, use(4)%handle, use(5)%handle)
    end if
    call report(status, 'devf_lu_unpack', stat, errmsg)
    call release(use)
    if (status == devobj_success) return
    call undo_allocation(L, made(1))
    call undo_allocation(U, made(2))
    call undo_allocation(perm, made(3))
  end subroutine devf_lu_unpack

  !> devf_getrf with a host array.
  subroutine getrf_host(A, ipiv, info, method, block, stat, errmsg)
    class(devVar), intent(in) :: A
    integer(c_int), target, intent(inout) :: ipiv(:)
    integer, intent(out) :: info
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(devVar) :: pivots

    info = -1
    if (.not. on_device('devf_getrf', A, ipiv, pivots, .false., stat, errmsg)) return
    call factor('devf_getrf', A, pivots, info, method, block, stat, errmsg)
    if (info >= 0) call to_host('devf_getrf', pivots, ipiv, info, stat, errmsg)
  end subroutine getrf_host

  !> devf_gesv with a host array.
  subroutine gesv_host(A, ipiv, B, info, method, block, stat, errmsg)
    class(devVar), intent(in) :: A, B
    integer(c_int), target, intent(inout) :: ipiv(:)
    integer, intent(out) :: info
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(devVar) :: pivots

    info = -1
    if (.not. on_device('devf_gesv', A, ipiv, pivots, .false., stat, errmsg)) return
    call factor('devf_gesv', A, pivots, info, method, block, stat, errmsg, B)
    if (info >= 0) call to_host('devf_gesv', pivots, ipiv, info, stat, errmsg)
  end subroutine gesv_host

  !> devf_getrs with a host array.
  subroutine getrs_host(trans, A, ipiv, B, stat, errmsg)
    character(*), intent(in) :: trans
    class(devVar), intent(in) :: A, B
    integer(c_int), target, intent(in) :: ipiv(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(devVar) :: pivots

    if (.not. on_device('devf_getrs', A, ipiv, pivots, .true., stat, errmsg)) return
    call getrs_dv(trans, A, pivots, B, stat, errmsg)
  end subroutine getrs_host

  !> devf_getri with a host array.
  subroutine getri_host(A, ipiv, info, stat, errmsg)
    class(devVar), intent(in) :: A
    integer(c_int), target, intent(in) :: ipiv(:)
    integer, intent(out) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(devVar) :: pivots

    info = -1
    if (.not. on_device('devf_getri', A, ipiv, pivots, .true., stat, errmsg)) return
    call getri_dv(A, pivots, info, stat, errmsg)
  end subroutine getri_host

  ! An integer object for the pivots of A, with those of the host array if `filled`. False after an error, which has been
  ! reported: A is not alive, or ipiv has less than min(m, n) elements.
  logical function on_device(routine, A, ipiv, pivots, filled, stat, errmsg)
    character(*), intent(in) :: routine
    class(devVar), intent(in) :: A
    integer(c_int), target, intent(in) :: ipiv(:)
    type(devVar), intent(inout) :: pivots
    logical, intent(in) :: filled
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: rows, cols, k
    integer(c_int) :: type, status
    logical :: made
    character(80) :: sizes

    on_device = .false.
    status = shape_of(A, type, rows, cols)
    k = min(rows, cols)
    if (status == devobj_success .and. size(ipiv, kind=c_int64_t) < k) then
      write (sizes, '(a, i0, a, i0)') ': ipiv has ', size(ipiv), ' elements, must have at least ', k
      call fail(devobj_invalid_argument, routine//trim(sizes), stat, errmsg)
      return
    end if
    if (status == devobj_success) status = allocate_in(pivots, type_integer, k, 1_c_int64_t, made)
    if (status == devobj_success .and. filled) status = transfer_host(describe(ipiv(:k)), pivots, .true.)
    call report(status, routine, stat, errmsg)
    on_device = status == devobj_success
  end function on_device

  ! ipiv = pivots; info = -1 after an error, which has been reported.
  subroutine to_host(routine, pivots, ipiv, info, stat, errmsg)
    character(*), intent(in) :: routine
    type(devVar), intent(in) :: pivots
    integer(c_int), target, intent(inout) :: ipiv(:)
    integer, intent(inout) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status

    status = transfer_host(describe(ipiv(:pivots%rows())), pivots, .false.)
    if (status /= devobj_success) info = -1
    call report(status, routine, stat, errmsg)
  end subroutine to_host

end module devObjectLU
