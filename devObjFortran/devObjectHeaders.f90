!> type(devVar), the handle of a device object, with its assignments and its finaliser, and what the modules of the
!> library (and modules with routines of your own) need to pass it to C.
!>
!> Three types, one object behind them:
!> - devVar: the variables of a program. Each owns its object, which is freed at the end of the variable's life.
!> - devResult: the result of a function that makes an object (allocate_dv, or one of yours): `dv = f(...)` takes the
!>   object over. With devVar as the type of its result the assignment copies.
!> - devBlock: the result of view_dv. As an argument it stands for the block; `v = view_dv(...)` makes v a view that
!>   shares the memory and keeps it alive. It does not keep its parent alive itself.
!>
!> Since these are types of their own, a procedure of yours with a type(devVar) argument cannot be given a devResult or
!> a devBlock by mistake: the compiler asks for an assignment first. With class(devVar) it can.
!>
!> What Fortran does not let a library see: allocate(x, source=y), structure constructors, and gfortran's assignment of
!> allocatable components copy a variable without calling the assignment. Such a copy is known for one: its end changes
!> nothing, it may be assigned to or from, and any other use of it is an error. A deep copy that is never used may stay
!> until the library closes. gfortran 12 evaluates x(2:3) = x(1:2), overlapping sections of an array of devVar, in a wrong
!> order: use a loop.
module devObjectHeaders
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_float, c_double, c_float_complex, &
    c_double_complex, c_intptr_t, c_loc
  use devObjectErrors, only: report, devobj_success, copied_handle
  use devObjectHostArray, only: host_array, describe, to_device, to_host, type_real, type_double, type_complex, &
    type_double_complex, type_integer
  implicit none
  private

  public :: devVar, devResult, devBlock
  public :: loan, borrow, release
  public :: new_result, new_block, free_object, is_live, allocate_in, undo_allocation, shape_of, type_name, transfer_host

  ! The handle of an object and the duty to free it. Compilers copy variables for purposes of their own, and finalise
  ! the copies; `self` is the address of the original, which alone frees. Where a structure is assigned, gfortran calls the
  ! assignment of its component on such a copy and then copies the result to its place; hence an object that an assignment
  ! has made for a variable without one is first unclaimed: no finaliser frees it, and the variable in which it is used
  ! first becomes its owner. (The component of devVar is allocatable, since gfortran before 13 finalises function results
  ! and array components correctly only then.)
  type :: owner
    integer(c_int64_t) :: handle = 0
    integer(c_intptr_t) :: self = 0
    logical :: unclaimed = .false.
    logical :: is_view = .false.  ! shares another's memory, so that assignments write into it
  contains
    final :: finalise
  end type owner

  !> A device object. Unallocated until it is assigned something.
  type :: devVar
    private
    type(owner), allocatable :: object
    integer(c_int64_t) :: parent = 0    ! not 0: this is a block (devBlock) of that handle's object,
    integer(c_int64_t) :: block(4) = 0  ! rows block(1) to block(2) and columns block(3) to block(4)
  contains
    procedure :: rows => rows_of
    procedure :: cols => cols_of
    procedure :: kind => kind_of
    procedure, private :: assign_var, assign_result, assign_block
    procedure, private :: from_r4_1, from_r8_1, from_c4_1, from_c8_1, from_i4_1
    procedure, private :: from_r4_2, from_r8_2, from_c4_2, from_c8_2, from_i4_2
    procedure, private :: from_r4_3, from_r8_3, from_c4_3, from_c8_3, from_i4_3
    procedure, private, pass(dv) :: to_r4_1, to_r8_1, to_c4_1, to_c8_1, to_i4_1
    procedure, private, pass(dv) :: to_r4_2, to_r8_2, to_c4_2, to_c8_2, to_i4_2
    procedure, private, pass(dv) :: to_r4_3, to_r8_3, to_c4_3, to_c8_3, to_i4_3
    !> dv2 = dv1: dv2 becomes an object of its own with dv1's elements.
    !> dv = host: a new object of the array's kind and shape (rank 1: n x 1), or the present one if it has both.
    !> host = dv: the array must have the object's kind and shape (rank 1: n elements for n x 1 and 1 x n).
    !> Rank 3 is a batch, the matrices host(:, :, k) side by side: an array m x n x b goes with an object m x (n b).
    !> A left side that is a view is written through; shape and kind must then agree.
    generic :: assignment(=) => assign_var, assign_result, assign_block
    generic :: assignment(=) => from_r4_1, from_r8_1, from_c4_1, from_c8_1, from_i4_1
    generic :: assignment(=) => from_r4_2, from_r8_2, from_c4_2, from_c8_2, from_i4_2
    generic :: assignment(=) => from_r4_3, from_r8_3, from_c4_3, from_c8_3, from_i4_3
    generic :: assignment(=) => to_r4_1, to_r8_1, to_c4_1, to_c8_1, to_i4_1
    generic :: assignment(=) => to_r4_2, to_r8_2, to_c4_2, to_c8_2, to_i4_2
    generic :: assignment(=) => to_r4_3, to_r8_3, to_c4_3, to_c8_3, to_i4_3
  end type devVar

  !> The result of a function that makes a device object.
  type, extends(devVar) :: devResult
  end type devResult

  !> A block of a device object, the result of view_dv.
  type, extends(devVar) :: devBlock
  end type devBlock

  !> The handle of an operand for the time of one call: `use = [borrow(A), borrow(B)]`, the call, `call release(use)`.
  type :: loan
    integer(c_int64_t) :: handle = 0
    logical :: made_here = .false.
  end type loan

  include 'devObjectHeaders_c.inc'

contains

  ! ---- handles ----

  ! The handle that dv names, 0 if it is unallocated. For a block its parent's.
  pure integer(c_int64_t) function handle_of(dv)
    class(devVar), intent(in) :: dv

    handle_of = dv%parent
    if (handle_of == 0 .and. allocated(dv%object)) handle_of = dv%object%handle
  end function handle_of

  ! True if dv is a variable with an object that it has to free, not a compiler's copy of one.
  logical function owns(dv)
    class(devVar), intent(in) :: dv

    owns = .false.
    if (allocated(dv%object)) owns = dv%object%handle /= 0 .and. dv%object%self == address_of(dv%object) .and. &
      .not. dv%object%unclaimed
  end function owns

  ! Makes the variable that holds `object` the owner, by a new handle: what other copies hold is then dead. The handle.
  ! (No intent: the variable itself may be an argument that is only read.)
  integer(c_int64_t) function claimed(object)
    type(owner) :: object

    claimed = object%handle
    if (c_move(object%handle, claimed) /= devobj_success) return
    object%handle = claimed
    object%self = address_of(object)
    object%unclaimed = .false.
  end function claimed

  !> The handle of dv's object; for a devBlock a view made for the purpose. An object that is not allocated or no longer
  !> alive gives its handle all the same, a compiler's copy copied_handle: the C library finds the words for it.
  type(loan) function borrow(dv)
    class(devVar), intent(in) :: dv
    integer(c_int64_t) :: view

    borrow = loan(handle_of(dv), .false.)
    if (dv%parent == 0) then
      if (borrow%handle == 0 .or. owns(dv)) return
      if (dv%object%unclaimed) then
        borrow%handle = claimed(dv%object)
      else
        borrow%handle = copied_handle
      end if
      return
    end if
    if (c_view(dv%parent, dv%block(1), dv%block(2), dv%block(3), dv%block(4), view) == devobj_success) &
      borrow = loan(view, .true.)
  end function borrow

  !> Gives back what borrow has given.
  impure elemental subroutine release(lent)
    type(loan), intent(in) :: lent
    integer(c_int) :: ignored

    if (lent%made_here) ignored = c_free(lent%handle)
  end subroutine release

  !> A function's result that owns the object with this handle.
  type(devResult) function new_result(handle)
    integer(c_int64_t), intent(in) :: handle

    call own(new_result, handle, .false.)
  end function new_result

  !> The block of rows i1 to i2 and columns j1 to j2 of dv. Status of the C library: the block must be within dv.
  subroutine new_block(dv, i1, i2, j1, j2, block, status)
    class(devVar), intent(in) :: dv
    integer(c_int64_t), intent(in) :: i1, i2, j1, j2
    type(devBlock), intent(inout) :: block
    integer(c_int), intent(out) :: status
    type(loan) :: parent
    integer(c_int64_t) :: view

    parent = borrow(dv)
    status = c_view(parent%handle, i1, i2, j1, j2, view)
    call release(parent)
    if (status /= devobj_success) return
    status = c_free(view)  ! it has shown that the block is right
    block%parent = handle_of(dv)
    block%block = [i1, i2, j1, j2]
    if (dv%parent /= 0) block%block = block%block + [dv%block(1), dv%block(1), dv%block(3), dv%block(3)] - 1
  end subroutine new_block

  !> Frees dv's object; dv is then unallocated. Returns the C library's status: the object must be alive.
  integer(c_int) function free_object(dv) result(status)
    class(devVar), intent(inout) :: dv
    type(loan) :: lent

    lent = borrow(dv)
    status = c_free(lent%handle)
    call forget(dv)
  end function free_object

  !> True if dv has an object that is alive, or is a block of one.
  logical function is_live(dv)
    class(devVar), intent(in) :: dv

    is_live = .false.
    if (dv%parent /= 0 .or. owns(dv)) then
      is_live = c_is_valid(handle_of(dv)) /= 0
    else if (allocated(dv%object)) then
      if (dv%object%unclaimed) is_live = c_is_valid(handle_of(dv)) /= 0
    end if
  end function is_live

  !> Allocates dv as rows x cols of a type if it is unallocated; `made` tells so. Returns the C library's status.
  integer(c_int) function allocate_in(dv, type, rows, cols, made) result(status)
    class(devVar), intent(inout) :: dv
    integer(c_int), intent(in) :: type
    integer(c_int64_t), intent(in) :: rows, cols
    logical, intent(out) :: made
    integer(c_int64_t) :: handle

    status = devobj_success
    made = .false.
    if (handle_of(dv) /= 0) return
    status = c_allocate(type, rows, cols, handle)
    if (status /= devobj_success) return
    call own(dv, handle, .false.)
    made = .true.
  end function allocate_in

  !> Frees again what allocate_in has made, when the call it was made for has failed.
  subroutine undo_allocation(dv, made)
    class(devVar), intent(inout) :: dv
    logical, intent(in) :: made

    if (made) call drop(dv)
  end subroutine undo_allocation

  !> Type and shape of dv's object. Returns the C library's status.
  integer(c_int) function shape_of(dv, type, rows, cols) result(status)
    class(devVar), intent(in) :: dv
    integer(c_int), intent(out) :: type
    integer(c_int64_t), intent(out) :: rows, cols
    integer(c_int64_t) :: ld

    type = 0
    rows = 0
    cols = 0
    status = c_shape(handle_of(dv), type, rows, cols, ld)
    if (status /= devobj_success .or. dv%parent == 0) return
    rows = dv%block(2) - dv%block(1) + 1
    cols = dv%block(4) - dv%block(3) + 1
  end function shape_of

  ! dv owns the object with this handle from now on; what it had before has been dropped.
  subroutine own(dv, handle, is_view)
    class(devVar), intent(inout) :: dv
    integer(c_int64_t), intent(in) :: handle
    logical, intent(in) :: is_view

    if (.not. allocated(dv%object)) allocate (dv%object)
    dv%object%handle = handle
    dv%object%self = address_of(dv%object)
    dv%object%unclaimed = .false.
    dv%object%is_view = is_view
  end subroutine own

  ! dv without its object, which is left alone.
  subroutine forget(dv)
    class(devVar), intent(inout) :: dv

    if (allocated(dv%object)) dv%object%handle = 0
    dv%parent = 0
    dv%block = 0
  end subroutine forget

  ! Frees dv's object if there is one and it is not another's; never an error.
  subroutine drop(dv)
    class(devVar), intent(inout) :: dv
    integer(c_int) :: ignored

    if (dv%parent == 0) then
      if (is_live(dv)) ignored = c_free(handle_of(dv))
    end if
    call forget(dv)
  end subroutine drop

  ! At the end of a variable's life, in any state of the library: silent. Nothing happens to an object that is gone
  ! already, or that this does not own.
  impure elemental subroutine finalise(object)
    type(owner), intent(inout) :: object
    integer(c_int) :: ignored

    if (object%handle /= 0 .and. object%self == address_of(object) .and. .not. object%unclaimed) then
      if (c_is_valid(object%handle) /= 0) ignored = c_free(object%handle)
    end if
    object%handle = 0
  end subroutine finalise

  integer(c_intptr_t) function address_of(object)
    type(owner), target, intent(in) :: object

    address_of = transfer(c_loc(object), address_of)
  end function address_of

  ! True if dv shares the memory of another object, so that an assignment to it writes there.
  logical function writes_through(dv)
    class(devVar), intent(in) :: dv

    writes_through = .false.
    if (dv%parent /= 0) then
      writes_through = is_live(dv)
    else if (allocated(dv%object)) then
      if (dv%object%is_view) writes_through = is_live(dv)
    end if
  end function writes_through

  ! ---- inquiry ----

  !> Number of rows; 0 if unallocated. An object that is no longer alive stops the program.
  integer(c_int64_t) function rows_of(dv)
    class(devVar), intent(in) :: dv
    integer(c_int64_t) :: cols
    integer(c_int) :: type

    rows_of = 0
    if (handle_of(dv) /= 0) call report(shape_of(dv, type, rows_of, cols), 'dv%rows')
  end function rows_of

  !> Number of columns; 0 if unallocated. An object that is no longer alive stops the program.
  integer(c_int64_t) function cols_of(dv)
    class(devVar), intent(in) :: dv
    integer(c_int64_t) :: rows
    integer(c_int) :: type

    cols_of = 0
    if (handle_of(dv) /= 0) call report(shape_of(dv, type, rows, cols_of), 'dv%cols')
  end function cols_of

  !> 'real', 'double', 'complex', 'double complex' or 'integer'; '' if unallocated. An object that is no longer alive
  !> stops the program.
  function kind_of(dv) result(name)
    class(devVar), intent(in) :: dv
    character(:), allocatable :: name
    integer(c_int64_t) :: rows, cols
    integer(c_int) :: type

    type = 0
    if (handle_of(dv) /= 0) call report(shape_of(dv, type, rows, cols), 'dv%kind')
    name = type_name(type)
  end function kind_of

  !> The name of an element type, '' if it is none.
  pure function type_name(type) result(name)
    integer(c_int), intent(in) :: type
    character(:), allocatable :: name

    select case (type)
    case (type_real)
      name = 'real'
    case (type_double)
      name = 'double'
    case (type_complex)
      name = 'complex'
    case (type_double_complex)
      name = 'double complex'
    case (type_integer)
      name = 'integer'
    case default
      name = ''
    end select
  end function type_name

  include 'devObjectHeaders_assign.inc'

end module devObjectHeaders
