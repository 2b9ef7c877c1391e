!> How an error of the library reaches a Fortran program: by stat and errmsg if the caller gave stat, otherwise the
!> program stops with the message. Used by the other modules, and by modules with routines of your own.
module devObjectErrors
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_char, c_ptr, c_size_t, c_f_pointer, c_associated
  implicit none
  private

  public :: report, fail, c_text

  !> Stands for the handle of a devVar that a compiler has copied without an assignment; never that of an object.
  integer(c_int64_t), parameter, public :: copied_handle = -1

  !> The values of stat; the same as devobj_status in devobj.h.
  integer, parameter, public :: devobj_success = 0
  integer, parameter, public :: devobj_not_open = 1
  integer, parameter, public :: devobj_invalid_argument = 2
  integer, parameter, public :: devobj_invalid_handle = 3
  integer, parameter, public :: devobj_out_of_memory = 4
  integer, parameter, public :: devobj_no_device = 5
  integer, parameter, public :: devobj_device_error = 6
  integer, parameter, public :: devobj_not_supported = 7
  integer, parameter, public :: devobj_internal_error = 8

  interface
    function c_last_error() bind(C, name='devobj_last_error') result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_last_error

    function c_strlen(text) bind(C, name='strlen') result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function c_strlen
  end interface

contains

  !> Reports the status of a call to the C library on behalf of `routine`, the Fortran name. Sets stat if it is present;
  !> errmsg only if there is an error. An error without stat stops the program with the message.
  subroutine report(status, routine, stat, errmsg)
    integer(c_int), intent(in) :: status
    character(*), intent(in) :: routine
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    if (status == devobj_success) then
      if (present(stat)) stat = devobj_success
    else
      call fail(int(status), routine//': '//without_routine(c_text(c_last_error()), routine), stat, errmsg)
    end if
  end subroutine report

  !> Reports an error that was found here, not in the C library. `message` begins with the routine's name.
  subroutine fail(status, message, stat, errmsg)
    integer, intent(in) :: status
    character(*), intent(in) :: message
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    if (present(errmsg)) errmsg = message
    if (.not. present(stat)) error stop message
    stat = status
  end subroutine fail

  !> A C string as a Fortran one; empty for a null pointer.
  function c_text(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: i

    if (.not. c_associated(pointer)) then
      text = ''
      return
    end if
    call c_f_pointer(pointer, characters, [c_strlen(pointer)])
    allocate (character(size(characters)) :: text)
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function c_text

  ! The C library's message without the C name at its front: 'gemm: ' for devf_gemm, and those of the functions on objects,
  ! which Fortran calls otherwise.
  pure function without_routine(text, routine) result(rest)
    character(*), intent(in) :: text, routine
    character(:), allocatable :: rest
    character(18), parameter :: functions(13) = [character(18) :: 'open', 'close', 'wait', 'allocate', 'free', 'view', &
      'move', 'shape', 'pointer', 'stream', 'copy', 'transfer to device', 'transfer to host']
    character(*), parameter :: copied = '(handle 4294967295:4294967295'
    integer :: colon

    rest = text
    colon = index(text, ': ')
    if (colon > 0) then
      if ('devf_'//text(:colon - 1) == routine .or. any(functions == text(:colon - 1))) rest = text(colon + 2:)
    end if
    if (index(rest, copied) > 0) rest = rest(:index(rest, copied) - 1)// &
      '(the variable is a copy that was not made by an assignment, but by allocate(source=) or the like)'
  end function without_routine

end module devObjectErrors
