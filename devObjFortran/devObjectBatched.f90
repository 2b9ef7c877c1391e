!> Many small matrices at once: LU, QR, linear systems and least squares.
!>
!> A batch is one object with the matrices side by side, so that an array A(m, n, batch) is assigned to it and from it as it
!> is, and matrix k is view_dv(dA, 1, m, (k - 1)*n + 1, k*n):
!>
!>     dA = A3                                     ! A3(n, n, batch): n x (n*batch) on the device
!>     dB = B3                                     ! B3(n, nrhs, batch)
!>     call devf_gesv_batched(dA, ipiv, dB, info)  ! info: batch integers on the device
!>     B3 = dB
!>     infos = info
!>
!> batch is the number of matrices; where they are square it need not be given. ipiv and tau have a column of min(m, n)
!> elements for each matrix, info an element: LAPACK's info of that matrix alone, which is no error. These three are allocated
!> if they are unallocated. Matrices do not influence each other. Nothing waits, but on a GPU for matrices of more than
!> 1024 rows (docs/batched.md). stat and errmsg as in devObjectFunctions. Source: LAPACK.
module devObjectBatched
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_signed_char
  use devObject
  use devObjectErrors, only: report, fail
  use devObjectHeaders, only: loan, borrow, release, shape_of, allocate_in, undo_allocation
  use devObjectHostArray, only: type_integer
  use devObjectOptions, only: letter
  implicit none
  public

  private :: c_int, c_int64_t, c_signed_char, report, fail, loan, borrow, release, shape_of, allocate_in, undo_allocation
  private :: type_integer, letter, count_matrices
  private :: c_getrf_batched, c_getrs_batched, c_gesv_batched, c_geqrf_batched, c_gels_batched

  interface
    function c_getrf_batched(batch, A, ipiv, info) bind(C, name='devobj_getrf_batched') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: batch, A, ipiv, info
      integer(c_int) :: status
    end function c_getrf_batched

    function c_getrs_batched(op, batch, LU, ipiv, B) bind(C, name='devobj_getrs_batched') result(status)
      import :: c_int, c_int64_t, c_signed_char
      integer(c_signed_char), value :: op
      integer(c_int64_t), value :: batch, LU, ipiv, B
      integer(c_int) :: status
    end function c_getrs_batched

    function c_gesv_batched(batch, A, ipiv, B, info) bind(C, name='devobj_gesv_batched') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: batch, A, ipiv, B, info
      integer(c_int) :: status
    end function c_gesv_batched

    function c_geqrf_batched(batch, A, tau) bind(C, name='devobj_geqrf_batched') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: batch, A, tau
      integer(c_int) :: status
    end function c_geqrf_batched

    function c_gels_batched(op, batch, A, B, info) bind(C, name='devobj_gels_batched') result(status)
      import :: c_int, c_int64_t, c_signed_char
      integer(c_signed_char), value :: op
      integer(c_int64_t), value :: batch, A, B, info
      integer(c_int) :: status
    end function c_gels_batched
  end interface

contains

  ! Type and shape of A's matrices, and their number: `batch`, or that of the square ones A has room for. Where A's columns
  ! are not theirs, cols is what they would have at most; the C library finds the words for it.
  subroutine count_matrices(routine, A, batch, type, rows, cols, number, status, stat, errmsg)
    character(*), intent(in) :: routine
    class(devVar), intent(in) :: A
    integer, intent(in), optional :: batch
    integer(c_int), intent(out) :: type, status
    integer(c_int64_t), intent(out) :: rows, cols, number
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(100) :: numbers

    number = 0
    status = shape_of(A, type, rows, cols)
    if (status /= devobj_success) then
      call report(status, routine, stat, errmsg)
      return
    end if
    if (present(batch)) then
      number = batch
    else if (rows == 0 .or. mod(cols, max(1_c_int64_t, rows)) /= 0) then
      status = devobj_invalid_argument
      write (numbers, '(a, i0, a, i0, a)') ': A is ', rows, ' x ', cols, ', which is no batch of square matrices: give batch'
      call fail(status, routine//trim(numbers), stat, errmsg)
      return
    else
      number = cols/rows
    end if
    if (number > 0) cols = cols/number
  end subroutine count_matrices

  !> P A = L U for each matrix of A, m x (n*batch): overwritten by L (unit lower, below the diagonal) and U. info(k) is 0, or
  !> the first i with U(i, i) exactly zero.
  subroutine devf_getrf_batched(A, ipiv, info, batch, stat, errmsg)
    class(devVar), intent(in) :: A
    class(devVar), intent(inout) :: ipiv, info
    integer, intent(in), optional :: batch
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(3)
    integer(c_int64_t) :: rows, cols, number
    integer(c_int) :: type, status
    logical :: made(2)

    made = .false.
    call count_matrices('devf_getrf_batched', A, batch, type, rows, cols, number, status, stat, errmsg)
    if (status /= devobj_success) return
    status = allocate_in(ipiv, type_integer, min(rows, cols), max(0_c_int64_t, number), made(1))
    if (status == devobj_success) status = allocate_in(info, type_integer, max(0_c_int64_t, number), 1_c_int64_t, made(2))
    if (status == devobj_success) then
      use = [borrow(A), borrow(ipiv), borrow(info)]
      status = c_getrf_batched(number, use(1)%handle, use(2)%handle, use(3)%handle)
    end if
    call report(status, 'devf_getrf_batched', stat, errmsg)
    call release(use)
    if (status == devobj_success) return
    call undo_allocation(ipiv, made(1))
    call undo_allocation(info, made(2))
  end subroutine devf_getrf_batched

  !> op(A) X = B with the factors of devf_getrf_batched, trans 'N', 'T' or 'C'; B, n x (nrhs*batch), is overwritten by X.
  subroutine devf_getrs_batched(trans, A, ipiv, B, batch, stat, errmsg)
    character(*), intent(in) :: trans
    class(devVar), intent(in) :: A, ipiv, B
    integer, intent(in), optional :: batch
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(3)
    integer(c_int64_t) :: rows, cols, number
    integer(c_int) :: type, status

    call count_matrices('devf_getrs_batched', A, batch, type, rows, cols, number, status, stat, errmsg)
    if (status /= devobj_success) return
    use = [borrow(A), borrow(ipiv), borrow(B)]
    call report(c_getrs_batched(letter(trans), number, use(1)%handle, use(2)%handle, use(3)%handle), 'devf_getrs_batched', &
      stat, errmsg)
    call release(use)
  end subroutine devf_getrs_batched

  !> A X = B for each matrix: A, n x (n*batch), is overwritten by its factors, B, n x (nrhs*batch), by X, unless info(k) > 0:
  !> then that part of B is unchanged.
  subroutine devf_gesv_batched(A, ipiv, B, info, batch, stat, errmsg)
    class(devVar), intent(in) :: A, B
    class(devVar), intent(inout) :: ipiv, info
    integer, intent(in), optional :: batch
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(4)
    integer(c_int64_t) :: rows, cols, number
    integer(c_int) :: type, status
    logical :: made(2)

    made = .false.
    call count_matrices('devf_gesv_batched', A, batch, type, rows, cols, number, status, stat, errmsg)
    if (status /= devobj_success) return
    status = allocate_in(ipiv, type_integer, rows, max(0_c_int64_t, number), made(1))
    if (status == devobj_success) status = allocate_in(info, type_integer, max(0_c_int64_t, number), 1_c_int64_t, made(2))
    if (status == devobj_success) then
      use = [borrow(A), borrow(ipiv), borrow(B), borrow(info)]
      status = c_gesv_batched(number, use(1)%handle, use(2)%handle, use(3)%handle, use(4)%handle)
    end if
    call report(status, 'devf_gesv_batched', stat, errmsg)
    call release(use)
    if (status == devobj_success) return
    call undo_allocation(ipiv, made(1))
    call undo_allocation(info, made(2))
  end subroutine devf_gesv_batched

  !> A = Q R for each matrix of A, m x (n*batch): overwritten by R and the reflectors' vectors, as by devf_geqrf.
  subroutine devf_geqrf_batched(A, tau, batch, stat, errmsg)
    class(devVar), intent(in) :: A
    class(devVar), intent(inout) :: tau
    integer, intent(in), optional :: batch
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)
    integer(c_int64_t) :: rows, cols, number
    integer(c_int) :: type, status
    logical :: made

    made = .false.
    call count_matrices('devf_geqrf_batched', A, batch, type, rows, cols, number, status, stat, errmsg)
    if (status /= devobj_success) return
    status = allocate_in(tau, type, min(rows, cols), max(0_c_int64_t, number), made)
    if (status == devobj_success) then
      use = [borrow(A), borrow(tau)]
      status = c_geqrf_batched(number, use(1)%handle, use(2)%handle)
    end if
    call report(status, 'devf_geqrf_batched', stat, errmsg)
    call release(use)
    if (status /= devobj_success) call undo_allocation(tau, made)
  end subroutine devf_geqrf_batched

  !> Least squares min ||B - A X|| for each matrix of A, m x (n*batch) with m >= n; trans must be 'N'. B, m x (nrhs*batch), is
  !> overwritten by X in the first n rows of each part. info(k) is 0, or i > 0 if R(i, i) is exactly zero: there is no
  !> solution then. Error devobj_not_supported: m < n or trans 'T' or 'C', where solutions would be of minimum norm.
  subroutine devf_gels_batched(trans, A, B, info, batch, stat, errmsg)
    character(*), intent(in) :: trans
    class(devVar), intent(in) :: A, B
    class(devVar), intent(inout) :: info
    integer, intent(in), optional :: batch
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(3)
    integer(c_int64_t) :: rows, cols, number
    integer(c_int) :: type, status
    logical :: made

    made = .false.
    call count_matrices('devf_gels_batched', A, batch, type, rows, cols, number, status, stat, errmsg)
    if (status /= devobj_success) return
    status = allocate_in(info, type_integer, max(0_c_int64_t, number), 1_c_int64_t, made)
    if (status == devobj_success) then
      use = [borrow(A), borrow(B), borrow(info)]
      status = c_gels_batched(letter(trans), number, use(1)%handle, use(2)%handle, use(3)%handle)
    end if
    call report(status, 'devf_gels_batched', stat, errmsg)
    call release(use)
    if (status /= devobj_success) call undo_allocation(info, made)
  end subroutine devf_gels_batched

end module devObjectBatched
