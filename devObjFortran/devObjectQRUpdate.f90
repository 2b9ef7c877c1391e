!> Updating a QR factorization A = Q R of device objects when columns or rows of A come or go, or A changes by a matrix of
!> low rank. A is m x n. Three forms, told from the shapes:
!> - full: Q m x m, R m x n (upper trapezoidal), d = Q^H b with m rows;
!> - economic: Q m x n, R n x n, d = Q^H b with n rows; m >= n before and after the update;
!> - without Q: Q an unallocated variable, R n x n, d with n rows.
!>
!> Q1, R1 and d1 are the same for the updated matrix. They are allocated if they are unallocated, in the form of Q and R
!> (full where m = n fits two); allocated ones must have the right shapes, and share no memory with the others. R1 is
!> exactly zero below its diagonal, the signs of its diagonal are any. The least-squares solution afterwards is one
!> triangular solve: devf_trsm('L', 'U', 'N', 'N', 1.0, R1, d1), for the first n rows of full ones.
!>
!> d and d1 (together), b and the other arguments behind R1 are optional. b is what else of the right-hand sides is
!> needed: adding rows, its new rows; removing rows without Q, the rows that go; adding columns, removing rows and
!> devf_qr_rank_update in economic form, b itself (m rows). k counts from 1, p columns or rows are meant. method: 'auto'
!> (default: the faster by devf_qr_update_cost), 'update', or 'refactor' (from Q R, or R), case ignored. block: rows of
!> a block of the update, 0 for the library's choice. stat and errmsg as in devObjectFunctions.
!> Source: paper 003; Hammarling and Lucas 2008.
module devObjectQRUpdate
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_double
  use devObject
  use devObjectErrors, only: report, fail
  use devObjectHeaders, only: loan, borrow, release, shape_of, allocate_in, undo_allocation
  use devObjectHostArray, only: type_real, type_double, type_complex, type_double_complex
  use devObjectOptions, only: lower_case
  implicit none
  public

  private :: c_int, c_int64_t, c_double, report, fail, loan, borrow, release, shape_of, allocate_in, undo_allocation
  private :: type_real, type_double, type_complex, type_double_complex
  private :: code_of, known_method, lower_case, borrow_optional, make_results, undo_results, results
  private :: c_add_cols, c_remove_cols, c_add_rows, c_remove_rows, c_rank_update, c_cost

  ! What make_results has allocated.
  type :: results
    logical :: Q1 = .false., R1 = .false., d1 = .false.
  end type results

  interface
    function c_add_cols(Q, R, k, U, Q1, R1, d, d1, b, method, block) bind(C, name='devobj_qr_add_cols') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: Q, R, k, U, Q1, R1, d, d1, b, block
      integer(c_int), value :: method
      integer(c_int) :: status
    end function c_add_cols

    function c_remove_cols(Q, R, k, p, Q1, R1, d, d1, method, block) bind(C, name='devobj_qr_remove_cols') &
      result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: Q, R, k, p, Q1, R1, d, d1, block
      integer(c_int), value :: method
      integer(c_int) :: status
    end function c_remove_cols

    function c_add_rows(Q, R, k, U, Q1, R1, d, d1, b, method, block) bind(C, name='devobj_qr_add_rows') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: Q, R, k, U, Q1, R1, d, d1, b, block
      integer(c_int), value :: method
      integer(c_int) :: status
    end function c_add_rows

    function c_remove_rows(Q, R, k, p, U, Q1, R1, d, d1, b, method, block, info) &
      bind(C, name='devobj_qr_remove_rows') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: Q, R, k, p, U, Q1, R1, d, d1, b, block
      integer(c_int), value :: method
      integer(c_int64_t), intent(inout) :: info
      integer(c_int) :: status
    end function c_remove_rows

    function c_rank_update(U, V, Q, R, d, b, method, block) bind(C, name='devobj_qr_rank_update') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: U, V, Q, R, d, b, block
      integer(c_int), value :: method
      integer(c_int) :: status
    end function c_rank_update

    function c_cost(what, form, type, m, n, p, k, update_ms, refactor_ms) bind(C, name='devobj_qr_update_cost') &
      result(status)
      import :: c_int, c_int64_t, c_double
      integer(c_int), value :: what, form, type
      integer(c_int64_t), value :: m, n, p, k
      real(c_double), intent(inout) :: update_ms, refactor_ms
      integer(c_int) :: status
    end function c_cost
  end interface

contains

  !> The columns of U (m x p) come before column k of A, 1 <= k <= n + 1. Q is needed; in economic form m >= n + p.
  subroutine devf_qr_add_cols(Q, R, k, U, Q1, R1, d, d1, b, method, block, stat, errmsg)
    class(devVar), intent(in) :: Q, R, U
    integer, intent(in) :: k
    class(devVar), intent(inout) :: Q1, R1
    class(devVar), intent(in), optional :: d, b
    class(devVar), intent(inout), optional :: d1
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(8)
    type(results) :: made
    integer(c_int64_t) :: rows, p, columns
    integer(c_int) :: type, status, code

    if (.not. known_method('devf_qr_add_cols', method, block, code, columns, stat, errmsg)) return
    status = shape_of(U, type, rows, p)
    if (status == devobj_success) call make_results(Q, R, 0_c_int64_t, p, Q1, R1, d, d1, made, status)
    if (status == devobj_success) then
      use = [borrow(Q), borrow(R), borrow(U), borrow(Q1), borrow(R1), borrow_optional(d), borrow_optional(d1), &
        borrow_optional(b)]
      status = c_add_cols(use(1)%handle, use(2)%handle, int(k, c_int64_t), use(3)%handle, use(4)%handle, use(5)%handle, &
        use(6)%handle, use(7)%handle, use(8)%handle, code, columns)
    end if
    call report(status, 'devf_qr_add_cols', stat, errmsg)
    call release(use)
    if (status /= devobj_success) call undo_results(Q1, R1, d1, made)
  end subroutine devf_qr_add_cols

  !> Columns k ... k + p - 1 of A go.
  subroutine devf_qr_remove_cols(Q, R, k, p, Q1, R1, d, d1, method, block, stat, errmsg)
    class(devVar), intent(in) :: Q, R
    integer, intent(in) :: k, p
    class(devVar), intent(inout) :: Q1, R1
    class(devVar), intent(in), optional :: d
    class(devVar), intent(inout), optional :: d1
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(6)
    type(results) :: made
    integer(c_int64_t) :: columns
    integer(c_int) :: status, code

    if (.not. known_method('devf_qr_remove_cols', method, block, code, columns, stat, errmsg)) return
    call make_results(Q, R, 0_c_int64_t, -int(p, c_int64_t), Q1, R1, d, d1, made, status)
    if (status == devobj_success) then
      use = [borrow(Q), borrow(R), borrow(Q1), borrow(R1), borrow_optional(d), borrow_optional(d1)]
      status = c_remove_cols(use(1)%handle, use(2)%handle, int(k, c_int64_t), int(p, c_int64_t), use(3)%handle, &
        use(4)%handle, use(5)%handle, use(6)%handle, code, columns)
    end if
    call report(status, 'devf_qr_remove_cols', stat, errmsg)
    call release(use)
    if (status /= devobj_success) call undo_results(Q1, R1, d1, made)
  end subroutine devf_qr_remove_cols

  !> The rows of U (p x n) come before row k of A, 1 <= k <= m + 1; without Q any k. With d, b has their right-hand sides.
  subroutine devf_qr_add_rows(Q, R, k, U, Q1, R1, d, d1, b, method, block, stat, errmsg)
    class(devVar), intent(in) :: Q, R, U
    integer, intent(in) :: k
    class(devVar), intent(inout) :: Q1, R1
    class(devVar), intent(in), optional :: d, b
    class(devVar), intent(inout), optional :: d1
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(8)
    type(results) :: made
    integer(c_int64_t) :: p, cols, columns
    integer(c_int) :: type, status, code

    if (.not. known_method('devf_qr_add_rows', method, block, code, columns, stat, errmsg)) return
    status = shape_of(U, type, p, cols)
    if (status == devobj_success) call make_results(Q, R, p, 0_c_int64_t, Q1, R1, d, d1, made, status)
    if (status == devobj_success) then
      use = [borrow(Q), borrow(R), borrow(U), borrow(Q1), borrow(R1), borrow_optional(d), borrow_optional(d1), &
        borrow_optional(b)]
      status = c_add_rows(use(1)%handle, use(2)%handle, int(k, c_int64_t), use(3)%handle, use(4)%handle, use(5)%handle, &
        use(6)%handle, use(7)%handle, use(8)%handle, code, columns)
    end if
    call report(status, 'devf_qr_add_rows', stat, errmsg)
    call release(use)
    if (status /= devobj_success) call undo_results(Q1, R1, d1, made)
  end subroutine devf_qr_add_rows

  !> Rows k ... k + p - 1 of A go; in economic form m - p >= n. Without Q they must be given, U (p x n), and k is not
  !> looked at. info > 0: without Q, nothing but rounding errors would be left of R1 in some direction (see
  !> devobj/qr_update.hpp); R1 and d1 are then unchanged. -1 if stat is not 0.
  subroutine devf_qr_remove_rows(Q, R, k, p, Q1, R1, info, U, d, d1, b, method, block, stat, errmsg)
    class(devVar), intent(in) :: Q, R
    integer, intent(in) :: k, p
    class(devVar), intent(inout) :: Q1, R1
    integer, intent(out) :: info
    class(devVar), intent(in), optional :: U, d, b
    class(devVar), intent(inout), optional :: d1
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(8)
    type(results) :: made
    integer(c_int64_t) :: columns, info64
    integer(c_int) :: status, code

    info = -1
    if (.not. known_method('devf_qr_remove_rows', method, block, code, columns, stat, errmsg)) return
    call make_results(Q, R, -int(p, c_int64_t), 0_c_int64_t, Q1, R1, d, d1, made, status)
    if (status == devobj_success) then
      info64 = -1
      use = [borrow(Q), borrow(R), borrow_optional(U), borrow(Q1), borrow(R1), borrow_optional(d), borrow_optional(d1), &
        borrow_optional(b)]
      status = c_remove_rows(use(1)%handle, use(2)%handle, int(k, c_int64_t), int(p, c_int64_t), use(3)%handle, &
        use(4)%handle, use(5)%handle, use(6)%handle, use(7)%handle, use(8)%handle, code, columns, info64)
      if (status == devobj_success) info = int(info64)
    end if
    call report(status, 'devf_qr_remove_rows', stat, errmsg)
    call release(use)
    if (status /= devobj_success) call undo_results(Q1, R1, d1, made)
  end subroutine devf_qr_remove_rows

  !> A + U V^H, U m x p, V n x p: Q, R and d are overwritten. Q is needed; in economic form m >= n + p.
  subroutine devf_qr_rank_update(Q, R, U, V, d, b, method, block, stat, errmsg)
    class(devVar), intent(in) :: Q, R, U, V
    class(devVar), intent(in), optional :: d, b
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(6)
    integer(c_int64_t) :: columns
    integer(c_int) :: code

    if (.not. known_method('devf_qr_rank_update', method, block, code, columns, stat, errmsg)) return
    use = [borrow(U), borrow(V), borrow(Q), borrow(R), borrow_optional(d), borrow_optional(b)]
    call report(c_rank_update(use(1)%handle, use(2)%handle, use(3)%handle, use(4)%handle, use(5)%handle, use(6)%handle, &
      code, columns), 'devf_qr_rank_update', stat, errmsg)
    call release(use)
  end subroutine devf_qr_rank_update

  !> Milliseconds that updating and factoring anew are expected to take on the backend in use, for A m x n before the
  !> update. update: 'add_cols', 'remove_cols', 'add_rows', 'remove_rows', 'rank_update'; form: 'full', 'economic',
  !> 'without_q'; type: 'real', 'double', 'complex', 'double complex'; case ignored.
  subroutine devf_qr_update_cost(update, form, type, m, n, p, k, update_ms, refactor_ms, stat, errmsg)
    character(*), intent(in) :: update, form, type
    integer, intent(in) :: m, n, p, k
    real(c_double), intent(out) :: update_ms, refactor_ms
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(*), parameter :: me = 'devf_qr_update_cost: '
    character(14), parameter :: types(4) = [character(14) :: 'real', 'double', 'complex', 'double complex']
    integer(c_int), parameter :: type_codes(4) = [type_real, type_double, type_complex, type_double_complex]
    integer(c_int) :: what, shape, element

    update_ms = 0
    refactor_ms = 0
    what = code_of(update, [character(11) :: 'add_cols', 'remove_cols', 'add_rows', 'remove_rows', 'rank_update'])
    shape = code_of(form, [character(11) :: 'full', 'economic', 'without_q'])
    element = code_of(type, types)
    if (what == 0) then
      call fail(devobj_invalid_argument, me//"update is '"//update// &
        "', must be add_cols, remove_cols, add_rows, remove_rows or rank_update", stat, errmsg)
    else if (shape == 0) then
      call fail(devobj_invalid_argument, me//"form is '"//form//"', must be full, economic or without_q", stat, errmsg)
    else if (element == 0) then
      call fail(devobj_invalid_argument, me//"type is '"//type//"', must be real, double, complex or double complex", &
        stat, errmsg)
    else
      call report(c_cost(what, shape, type_codes(element), int(m, c_int64_t), int(n, c_int64_t), int(p, c_int64_t), &
        int(k, c_int64_t), update_ms, refactor_ms), 'devf_qr_update_cost', stat, errmsg)
    end if
  end subroutine devf_qr_update_cost

  ! ---- arguments ----

  ! The place of a name in a list, case ignored; 0 if it is not there.
  pure integer(c_int) function code_of(name, names)
    character(*), intent(in) :: name, names(:)
    integer :: i

    code_of = 0
    do i = 1, size(names)
      if (lower_case(name) == names(i)) code_of = i
    end do
  end function code_of

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
    code = 0
    known_method = .true.
    if (.not. present(method)) return
    code = code_of(method, [character(8) :: 'auto', 'update', 'refactor']) - 1
    known_method = code >= 0
    if (.not. known_method) &
      call fail(devobj_invalid_argument, routine//": method is '"//method//"', must be auto, update or refactor", stat, errmsg)
  end function known_method

  type(loan) function borrow_optional(dv)
    class(devVar), intent(in), optional :: dv

    if (present(dv)) borrow_optional = borrow(dv)
  end function borrow_optional

  ! Allocates those of Q1, R1 and d1 that are unallocated, for a matrix with more_rows more rows and more_cols more columns
  ! than that of Q and R. Shapes that do not fit are left to the C library, which has the words for them.
  subroutine make_results(Q, R, more_rows, more_cols, Q1, R1, d, d1, made, status)
    class(devVar), intent(in) :: Q, R
    integer(c_int64_t), intent(in) :: more_rows, more_cols
    class(devVar), intent(inout) :: Q1, R1
    class(devVar), intent(in), optional :: d
    class(devVar), intent(inout), optional :: d1
    type(results), intent(out) :: made
    integer(c_int), intent(out) :: status
    integer(c_int64_t) :: m, q_cols, rows, n, inner, d_rows, d_cols
    integer(c_int) :: type, d_type
    logical :: with_q

    made = results()
    status = shape_of(R, type, rows, n)
    if (status /= devobj_success) return
    with_q = allocated_dv(Q)
    m = 0
    q_cols = 0
    if (with_q) status = shape_of(Q, type, m, q_cols)
    if (status /= devobj_success) return
    inner = n + more_cols
    if (with_q .and. q_cols == m .and. rows == m) inner = m + more_rows
    if (allocated_dv(Q1) .and. with_q) then  ! where the form is a matter of choice, Q1 has made it
      status = shape_of(Q1, type, d_rows, d_cols)
      if (status /= devobj_success) return
      if (m == n .and. d_cols == n + more_cols) inner = d_cols
    end if
    if (inner < 0 .or. n + more_cols < 0 .or. (with_q .and. m + more_rows < 0)) return
    if (with_q) status = allocate_in(Q1, type, m + more_rows, inner, made%Q1)
    if (status == devobj_success) status = allocate_in(R1, type, inner, n + more_cols, made%R1)
    if (status /= devobj_success .or. .not. present(d) .or. .not. present(d1)) return
    if (.not. allocated_dv(d)) return
    status = shape_of(d, d_type, d_rows, d_cols)
    if (status == devobj_success) status = allocate_in(d1, d_type, inner, d_cols, made%d1)
  end subroutine make_results

  subroutine undo_results(Q1, R1, d1, made)
    class(devVar), intent(inout) :: Q1, R1
    class(devVar), intent(inout), optional :: d1
    type(results), intent(in) :: made

    call undo_allocation(Q1, made%Q1)
    call undo_allocation(R1, made%R1)
    if (present(d1)) call undo_allocation(d1, made%d1)
  end subroutine undo_results

end module devObjectQRUpdate
