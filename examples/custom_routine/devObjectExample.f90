!> A routine of one's own on device objects: devf_example.
module devObjectExample
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_float, c_ptr
  use devObjectHeaders, only: devVar, loan, borrow, release
  use devObjectErrors, only: fail, c_text, devobj_success
  implicit none
  private

  public :: devf_example

  interface
    function cf_example(A, factor, shift, text) bind(C, name='cf_example') result(status)
      import :: c_int, c_int64_t, c_float, c_ptr
      integer(c_int64_t), value :: A
      real(c_float), value :: factor, shift
      type(c_ptr), intent(inout) :: text
      integer(c_int) :: status
    end function cf_example
  end interface

contains

  !> A = factor A + shift on every element. A: type 'real', any shape, also a block (view_dv).
  !> Errors: A unallocated or of another type; a failed launch.
  subroutine devf_example(A, factor, shift, stat, errmsg)
    class(devVar), intent(in) :: A
    real, intent(in) :: factor, shift
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: lent
    type(c_ptr) :: text
    integer(c_int) :: status

    lent = borrow(A)
    status = cf_example(lent%handle, factor, shift, text)
    if (status == devobj_success) then
      if (present(stat)) stat = devobj_success
    else
      call fail(int(status), 'devf_example: '//c_text(text), stat, errmsg)
    end if
    call release(lent)
  end subroutine devf_example

end module devObjectExample
