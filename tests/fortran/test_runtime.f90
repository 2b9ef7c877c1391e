!> Opening and closing, allocating, and what a program can ask.
program test_runtime
  use, intrinsic :: iso_c_binding, only: c_ptr, c_associated, c_int64_t
  use test_support, only: begin, finish, expect, expect_error
  use devObject
  implicit none
  character(300) :: message = ''
  integer :: stat

  call before_opening()
  call begin('test_runtime')
  call inquiries()
  call allocation()
  call opening_twice()
  call close_devObjects()
  call expect(backend_dv() == '', 'no backend after closing')
  call after_closing()
  call open_devObjects()
  call finish()

contains

  subroutine before_opening()
    type(devVar) :: dv

    call expect(backend_dv() == '', 'no backend before opening')
    call expect(.not. allocated_dv(dv), 'nothing is allocated before opening')
    dv = allocate_dv('real', 3, stat=stat, errmsg=message)
    call expect_error(stat, devobj_not_open, message, 'allocate_dv: the library is not open')
    call expect(.not. allocated_dv(dv), 'a failed allocate_dv leaves the variable unallocated')
    call close_devObjects(stat, message)
    call expect_error(stat, devobj_not_open, message, 'close_devObjects: ')
    call open_devObjects('gpu', stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "open_devObjects: backend is 'gpu', must be auto, cuda or host")
    call open_devObjects('', stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "open_devObjects: backend is ''")
    call open_devObjects(device=-7, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'open_devObjects: device is -7')
  end subroutine before_opening

  subroutine inquiries()
    type(devVar) :: dv, empty
    type(c_ptr) :: pointer

    call expect(backend_dv() == 'host' .or. backend_dv() == 'cuda', 'backend is host or cuda')
    call expect(math_dv() == 'auto', 'math is automatic')
    call set_math_dv(' Strict')
    call expect(math_dv() == 'strict', 'math is strict')
    message = ''
    call set_math_dv('fast', stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "set_math_dv: math is 'fast', must be auto or strict")
    call expect(math_dv() == 'strict', 'a wrong word changes nothing')
    call set_math_dv('auto')
    call expect(index(devobj_info(), 'backend: '//backend_dv()) > 0, 'devobj_info names the backend')
    call expect(dv%rows() == 0 .and. dv%cols() == 0 .and. dv%kind() == '', 'an unallocated variable has no shape and kind')
    dv = allocate_dv('double complex', 5, 7)
    call expect(dv%rows() == 5 .and. dv%cols() == 7 .and. dv%kind() == 'double complex', 'shape and kind')
    call expect(c_associated(devptr(dv)), 'devptr')
    pointer = devptr(view_dv(dv, 2, 5, 1, 7))
    call expect(transfer(pointer, 1_c_int64_t) - transfer(devptr(dv), 1_c_int64_t) == 16, 'devptr of a block')
    empty = allocate_dv('real', 0, 4)
    call expect(.not. c_associated(devptr(empty)), 'devptr of an empty object is null')
    call expect(c_associated(stream_dv()) .eqv. backend_dv() == 'cuda', 'stream_dv is null on the host')
    call wait_devObjects(stat, message)
    call expect(stat == 0, 'wait_devObjects')
  end subroutine inquiries

  subroutine allocation()
    character(14), parameter :: types(5) = [character(14) :: 'real', 'double', 'complex', 'double complex', 'integer']
    type(devVar) :: dv
    integer :: i

    do i = 1, 5
      dv = allocate_dv(trim(types(i)), 3)
      call expect(dv%kind() == types(i) .and. dv%rows() == 3 .and. dv%cols() == 1, 'allocate_dv('//trim(types(i))//', 3)')
    end do
    dv = allocate_dv(' Double COMPLEX ', 2_c_int64_t, 0_c_int64_t)
    call expect(dv%kind() == 'double complex' .and. dv%rows() == 2 .and. dv%cols() == 0, 'case and blanks, 64-bit sizes')
    dv = allocate_dv('real', 3_c_int64_t)
    call expect(dv%rows() == 3 .and. dv%cols() == 1, '64-bit size alone')

    dv = allocate_dv('quadruple', 3, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "allocate_dv: type is 'quadruple', must be real, double")
    dv = allocate_dv('', 3, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "allocate_dv: type is ''")
    dv = allocate_dv('real', -3, 2, stat=stat, errmsg=message)
    call expect(index(message, '-3') > 0, 'the message names the negative size: '//trim(message))
    call expect_error(stat, devobj_invalid_argument, message, 'allocate_dv: ')
    dv = allocate_dv('double', 2_c_int64_t**40, 2_c_int64_t**40, stat=stat, errmsg=message)
    call expect_error(stat, devobj_out_of_memory, message, 'allocate_dv: ')
    dv = allocate_dv('double', 2_c_int64_t**23, 2_c_int64_t**23, stat=stat, errmsg=message)
    call expect_error(stat, devobj_out_of_memory, message, 'allocate_dv: ')

    dv = allocate_dv('real', 3)
    call deallocate_dv(dv)
    call expect(.not. allocated_dv(dv), 'deallocate_dv leaves the variable unallocated')
    call deallocate_dv(dv, stat, message)
    call expect_error(stat, devobj_invalid_handle, message, 'deallocate_dv: ')
  end subroutine allocation

  subroutine opening_twice()
    call open_devObjects()
    call close_devObjects()
    call expect(backend_dv() /= '', 'open after two openings and one closing')
    call open_devObjects(merge('host', 'cuda', backend_dv() == 'cuda'), stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'open_devObjects: ')
  end subroutine opening_twice

  ! Objects of an earlier opening are dead; their variables can be assigned anew.
  subroutine after_closing()
    type(devVar) :: dv, view
    real :: x(2) = [3.0, 4.0], y(2)

    call open_devObjects()
    dv = x
    view = view_dv(dv, 1, 1, 1, 1)
    call close_devObjects(stat, message)  ! an error under DEVOBJ_CHECK=1, but it closes
    call expect(stat == 0 .or. index(message, 'close_devObjects: 2 objects were not freed') == 1, &
      'objects that are left: '//trim(message))
    call expect(.not. allocated_dv(dv), 'closing frees the objects')
    call open_devObjects()
    call transfer_dv(y, dv, .false., stat, message)
    call expect_error(stat, devobj_invalid_handle, message, 'no live object')
    dv = x
    view = x
    y = 0
    y = dv
    call expect(all(y == x), 'a variable of an earlier opening is assigned anew')
    y = view
    call expect(all(y == x), 'a view of an earlier opening is assigned anew')
    call deallocate_dv(dv)
    call deallocate_dv(view)
    call close_devObjects()
  end subroutine after_closing

end program test_runtime
