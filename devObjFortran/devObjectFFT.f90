!> Fourier transforms of device objects: 1, 2 and 3 dimensions, batched, complex, real to complex and back.
!>
!>   type(devFftPlan) :: plan
!>   call devf_fft_plan(plan, 'real', [n1, n2], scaling='inverse')
!>   call devf_fft_forward(plan, x, y)      ! x: n1 x n2, real; y: n1/2 + 1 x n2, complex
!>   call devf_fft_inverse(plan, y, x)
!>
!> forward: y(k) = sum over j of x(j) exp(-2 pi i (j1 k1 / n1 + j2 k2 / n2 + j3 k3 / n3)), counted from 0; inverse: with +2 pi i.
!> Dimensions beyond the first, and the batch, lie side by side in the columns: a 2-D plan works on n1 x (n2 batch), a 3-D
!> one on n1 x (n2 n3 batch) objects. A real plan's transform is complex with n1/2 + 1 rows, the half from which the other
!> follows. Blocks of larger objects may be given. On the GPU cuFFT does the work, on the host FFTW 3, if the library was
!> built with it. stat and errmsg as in devObjectFunctions.
module devObjectFFT
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_intptr_t, c_loc
  use devObject
  use devObjectErrors, only: report, fail, copied_handle
  use devObjectOptions, only: lower_case
  use devObjectHeaders, only: loan, borrow, release, allocate_in, undo_allocation, new_result, type_name
  implicit none
  public

  private :: c_int, c_int32_t, c_int64_t, c_intptr_t, c_loc, report, fail, copied_handle
  private :: loan, borrow, release, allocate_in, undo_allocation, new_result, type_name
  private :: plan_i4, plan_i8, real_view_i4, real_view_i8, forward_out, forward_in_place, inverse_out, inverse_in_place
  private :: transform, handle_of, finalise, address_of, lower_case, is_allocated
  private :: c_plan, c_forward, c_inverse, c_shape, c_real_view, c_free, c_is_valid

  !> A plan, made by devf_fft_plan and freed by devf_fft_free or at the end of the variable's life. It may be passed on as
  !> an argument; a copy made by an assignment is none: its use is an error, its end changes nothing.
  type :: devFftPlan
    private
    integer(c_int64_t) :: handle = 0
    integer(c_intptr_t) :: self = 0  ! the address of the variable that owns the plan
  contains
    procedure :: allocated => is_allocated
    final :: finalise
  end type devFftPlan

  !> call devf_fft_plan(plan, type, n [, batch, scaling, overwrite_input, measure, stat, errmsg])
  !> A plan for `batch` (default 1) transforms of n = [n1], [n1, n2] or [n1, n2, n3] points, integer(4) or integer(8).
  !> type, of the object before the forward transform: 'real', 'double' (their transforms are complex, double complex),
  !> 'complex' or 'double complex', case ignored. scaling: 'none' (default), 'inverse' (1/N after the inverse transform, N
  !> the points of one transform) or 'unitary' (1/sqrt(N) after both). overwrite_input: inverse transforms to real may
  !> use their input as workspace, which saves a copy; default .false. measure: on the host, try several algorithms first
  !> (a second or more for large transforms); default .false. A plan that the variable had before is freed.
  interface devf_fft_plan
    module procedure plan_i4, plan_i8
  end interface devf_fft_plan

  !> call devf_fft_forward(plan, x, y [, stat, errmsg]): y = the transform of x; y is allocated if it is unallocated.
  !> call devf_fft_forward(plan, x [, stat, errmsg]): in place, complex plans only. (Real ones: devf_fft_real_view.)
  interface devf_fft_forward
    module procedure forward_out, forward_in_place
  end interface devf_fft_forward

  !> call devf_fft_inverse(plan, y, x [, stat, errmsg]): x = the inverse transform of y; x is allocated if it is
  !> unallocated. call devf_fft_inverse(plan, y [, stat, errmsg]): in place, complex plans only.
  interface devf_fft_inverse
    module procedure inverse_out, inverse_in_place
  end interface devf_fft_inverse

  !> x = devf_fft_real_view(y, rows [, stat, errmsg]): a real object of `rows` rows in the memory of the complex object y,
  !> which it keeps alive. Element i of its column is the real part (i odd) or the imaginary part (i even) of y's element
  !> (i + 1)/2. devf_fft_forward(plan, x, y) then transforms in place. Error: rows beyond twice those of y.
  interface devf_fft_real_view
    module procedure real_view_i4, real_view_i8
  end interface devf_fft_real_view

  interface
    function c_plan(type, rank, n, batch, scaling, overwrite_input, measure, plan) bind(C, name='devobj_fft_plan') &
      result(status)
      import :: c_int, c_int64_t
      integer(c_int), value :: type, rank, scaling, overwrite_input, measure
      integer(c_int64_t), intent(in) :: n(*)
      integer(c_int64_t), value :: batch
      integer(c_int64_t), intent(inout) :: plan
      integer(c_int) :: status
    end function c_plan

    function c_forward(plan, in, out) bind(C, name='devobj_fft_forward') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: plan, in, out
      integer(c_int) :: status
    end function c_forward

    function c_inverse(plan, in, out) bind(C, name='devobj_fft_inverse') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: plan, in, out
      integer(c_int) :: status
    end function c_inverse

    function c_shape(plan, transformed, type, rows, cols) bind(C, name='devobj_fft_shape') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: plan
      integer(c_int), value :: transformed
      integer(c_int), intent(inout) :: type
      integer(c_int64_t), intent(inout) :: rows, cols
      integer(c_int) :: status
    end function c_shape

    function c_real_view(C, rows, R) bind(C, name='devobj_fft_real_view') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: C, rows
      integer(c_int64_t), intent(inout) :: R
      integer(c_int) :: status
    end function c_real_view

    function c_free(A) bind(C, name='devobj_free') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: A
      integer(c_int) :: status
    end function c_free

    function c_is_valid(A) bind(C, name='devobj_is_valid') result(valid)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: A
      integer(c_int) :: valid
    end function c_is_valid
  end interface

contains

  !> devf_fft_plan for 64-bit sizes.
  subroutine plan_i8(plan, type, n, batch, scaling, overwrite_input, measure, stat, errmsg)
    type(devFftPlan), target, intent(inout) :: plan
    character(*), intent(in) :: type
    integer(c_int64_t), intent(in) :: n(:)
    integer, intent(in), optional :: batch
    character(*), intent(in), optional :: scaling
    logical, intent(in), optional :: overwrite_input, measure
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: handle, many
    integer(c_int) :: code, scale, overwrite, time_them, status

    do code = 1, 4
      if (lower_case(type) == type_name(code)) exit
    end do
    if (code > 4) then
      call fail(devobj_invalid_argument, "devf_fft_plan: type is '"//type// &
        "', must be real, double, complex or double complex", stat, errmsg)
      return
    end if
    scale = 0
    if (present(scaling)) then
      select case (lower_case(scaling))
      case ('none')
        scale = 0
      case ('inverse')
        scale = 1
      case ('unitary')
        scale = 2
      case default
        call fail(devobj_invalid_argument, "devf_fft_plan: scaling is '"//scaling// &
          "', must be none, inverse or unitary", stat, errmsg)
        return
      end select
    end if
    many = 1
    if (present(batch)) many = batch
    overwrite = 0
    if (present(overwrite_input)) overwrite = merge(1, 0, overwrite_input)
    time_them = 0
    if (present(measure)) time_them = merge(1, 0, measure)

    handle = 0
    status = c_plan(code, size(n), n, many, scale, overwrite, time_them, handle)
    if (status == devobj_success) then
      call finalise(plan)
      plan%handle = handle
      plan%self = address_of(plan)
    end if
    call report(status, 'devf_fft_plan', stat, errmsg)
  end subroutine plan_i8

  !> devf_fft_plan for default integers.
  subroutine plan_i4(plan, type, n, batch, scaling, overwrite_input, measure, stat, errmsg)
    type(devFftPlan), target, intent(inout) :: plan
    character(*), intent(in) :: type
    integer(c_int32_t), intent(in) :: n(:)
    integer, intent(in), optional :: batch
    character(*), intent(in), optional :: scaling
    logical, intent(in), optional :: overwrite_input, measure
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call plan_i8(plan, type, int(n, c_int64_t), batch, scaling, overwrite_input, measure, stat, errmsg)
  end subroutine plan_i4

  !> Frees the plan; waits for its last work. Error: there is none.
  subroutine devf_fft_free(plan, stat, errmsg)
    type(devFftPlan), target, intent(inout) :: plan
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status

    status = c_free(handle_of(plan))
    plan%handle = 0
    call report(status, 'devf_fft_free', stat, errmsg)
  end subroutine devf_fft_free

  !> devf_fft_forward out of place.
  subroutine forward_out(plan, x, y, stat, errmsg)
    type(devFftPlan), target, intent(in) :: plan
    class(devVar), intent(in) :: x
    class(devVar), intent(inout) :: y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call transform('devf_fft_forward', plan, .true., x, y, stat, errmsg)
  end subroutine forward_out

  !> devf_fft_inverse out of place.
  subroutine inverse_out(plan, y, x, stat, errmsg)
    type(devFftPlan), target, intent(in) :: plan
    class(devVar), intent(in) :: y
    class(devVar), intent(inout) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call transform('devf_fft_inverse', plan, .false., y, x, stat, errmsg)
  end subroutine inverse_out

  !> devf_fft_forward in place.
  subroutine forward_in_place(plan, x, stat, errmsg)
    type(devFftPlan), target, intent(in) :: plan
    class(devVar), intent(in) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use

    use = borrow(x)
    call report(c_forward(handle_of(plan), use%handle, use%handle), 'devf_fft_forward', stat, errmsg)
    call release(use)
  end subroutine forward_in_place

  !> devf_fft_inverse in place.
  subroutine inverse_in_place(plan, y, stat, errmsg)
    type(devFftPlan), target, intent(in) :: plan
    class(devVar), intent(in) :: y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use

    use = borrow(y)
    call report(c_inverse(handle_of(plan), use%handle, use%handle), 'devf_fft_inverse', stat, errmsg)
    call release(use)
  end subroutine inverse_in_place

  ! y = the transform of x, y allocated if need be.
  subroutine transform(routine, plan, forward, x, y, stat, errmsg)
    character(*), intent(in) :: routine
    type(devFftPlan), target, intent(in) :: plan
    logical, intent(in) :: forward
    class(devVar), intent(in) :: x
    class(devVar), intent(inout) :: y
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)
    integer(c_int64_t) :: handle, rows, cols
    integer(c_int) :: type, status
    logical :: made

    made = .false.
    type = 0
    rows = 0
    cols = 0
    handle = handle_of(plan)
    use = loan()
    status = c_shape(handle, merge(1, 0, forward), type, rows, cols)
    if (status == devobj_success) status = allocate_in(y, type, rows, cols, made)
    if (status /= devobj_success) then
      if (type == 0) status = c_forward(handle, handle, handle)  ! no plan: the error under its name
      if (type == 0 .and. .not. forward) status = c_inverse(handle, handle, handle)
    else
      use = [borrow(x), borrow(y)]
      if (forward) then
        status = c_forward(handle, use(1)%handle, use(2)%handle)
      else
        status = c_inverse(handle, use(1)%handle, use(2)%handle)
      end if
    end if
    call report(status, routine, stat, errmsg)
    call release(use)
    if (status /= devobj_success) call undo_allocation(y, made)
  end subroutine transform

  !> devf_fft_real_view for 64-bit sizes.
  function real_view_i8(y, rows, stat, errmsg) result(x)
    class(devVar), intent(in) :: y
    integer(c_int64_t), intent(in) :: rows
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(devResult) :: x
    type(loan) :: use
    integer(c_int64_t) :: handle
    integer(c_int) :: status

    use = borrow(y)
    handle = 0
    status = c_real_view(use%handle, rows, handle)
    call report(status, 'devf_fft_real_view', stat, errmsg)
    call release(use)
    if (status == devobj_success) x = new_result(handle)
  end function real_view_i8

  !> devf_fft_real_view for default integers.
  function real_view_i4(y, rows, stat, errmsg) result(x)
    class(devVar), intent(in) :: y
    integer(c_int32_t), intent(in) :: rows
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(devResult) :: x

    x = real_view_i8(y, int(rows, c_int64_t), stat, errmsg)
  end function real_view_i4

  ! ---- the variable and its plan ----

  ! The plan's handle; what stands for a copy that was not made by devf_fft_plan.
  integer(c_int64_t) function handle_of(plan)
    type(devFftPlan), target, intent(in) :: plan

    handle_of = plan%handle
    if (plan%handle /= 0 .and. plan%self /= address_of(plan)) handle_of = copied_handle
  end function handle_of

  !> plan%allocated(): true if the variable has a plan. Never an error.
  logical function is_allocated(plan)
    class(devFftPlan), target, intent(in) :: plan

    is_allocated = .false.
    if (plan%handle /= 0 .and. plan%self == address_of(plan)) is_allocated = c_is_valid(plan%handle) /= 0
  end function is_allocated

  ! At the end of a variable's life, in any state of the library: silent.
  impure elemental subroutine finalise(plan)
    type(devFftPlan), target, intent(inout) :: plan
    integer(c_int) :: ignored

    if (plan%handle /= 0 .and. plan%self == address_of(plan)) then
      if (c_is_valid(plan%handle) /= 0) ignored = c_free(plan%handle)
    end if
    plan%handle = 0
  end subroutine finalise

  integer(c_intptr_t) function address_of(plan)
    class(devFftPlan), target, intent(in) :: plan

    address_of = transfer(c_loc(plan%handle), address_of)
  end function address_of

end module devObjectFFT
