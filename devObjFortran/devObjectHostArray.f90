!> What the C library has to know of a Fortran array: address, shape, and the distances between neighbours, measured, so
!> that any section (strided, reversed, a component of an array of a derived type) is copied exactly.
module devObjectHostArray
  use, intrinsic :: iso_c_binding, only: c_int, c_int8_t, c_int32_t, c_int64_t, c_intptr_t, c_float, c_double, &
    c_float_complex, c_double_complex, c_ptr, c_null_ptr, c_loc, c_f_pointer
  implicit none
  private

  public :: host_array, describe, to_device, to_host

  !> Element types, as devobj_type in devobj.h.
  integer(c_int), parameter, public :: type_real = 1, type_double = 2, type_complex = 3, type_double_complex = 4, &
    type_integer = 5

  !> An array of rank 1, 2 or 3. Steps are in bytes, from an element to the next in its column and in its row. An array of
  !> rank 3 stands for its matrices side by side: `cols` columns in all, in groups of plane_cols (0: one group) that
  !> are plane_step apart.
  type :: host_array
    integer(c_int) :: type = 0
    integer :: rank = 0
    integer(c_int64_t) :: rows = 0, cols = 0
    integer(c_int64_t) :: element_bytes = 1, row_step = 0, col_step = 0
    integer(c_int64_t) :: plane_cols = 0, plane_step = 0
    type(c_ptr) :: data = c_null_ptr
  end type host_array

  ! devobj_host_array
  type, bind(C) :: c_host_array
    type(c_ptr) :: data
    integer(c_int64_t) :: rows, cols, row_stride, col_stride
  end type c_host_array

  !> describe(host): the host_array of an array of rank 1 (a column), 2 or 3 (matrices side by side).
  interface describe
    module procedure describe_r4_1, describe_r8_1, describe_c4_1, describe_c8_1, describe_i4_1
    module procedure describe_r4_2, describe_r8_2, describe_c4_2, describe_c8_2, describe_i4_2
    module procedure describe_r4_3, describe_r8_3, describe_c4_3, describe_c8_3, describe_i4_3
  end interface describe

  interface
    function c_to_device(type, host, A) bind(C, name='devobj_to_device') result(status)
      import :: c_int, c_int64_t, c_host_array
      integer(c_int), value :: type
      type(c_host_array), value :: host
      integer(c_int64_t), value :: A
      integer(c_int) :: status
    end function c_to_device

    function c_to_host(A, type, host) bind(C, name='devobj_to_host') result(status)
      import :: c_int, c_int64_t, c_host_array
      integer(c_int64_t), value :: A
      integer(c_int), value :: type
      type(c_host_array), value :: host
      integer(c_int) :: status
    end function c_to_host
  end interface

contains

  !> The object with this handle = host. Returns the C library's status; errors: type or shape differ.
  function to_device(host, handle) result(status)
    type(host_array), intent(in) :: host
    integer(c_int64_t), intent(in) :: handle
    integer(c_int) :: status
    integer(c_int8_t), allocatable, target :: packed(:)

    if (has_whole_strides(host)) then
      status = c_to_device(host%type, strided(host), handle)
    else
      allocate (packed(host%rows*host%cols*host%element_bytes))
      call move_bytes(host, packed, gather=.true.)
      status = c_to_device(host%type, contiguous(host, packed), handle)
    end if
  end function to_device

  !> host = the object with this handle. Returns the C library's status; errors: type or shape differ.
  function to_host(host, handle) result(status)
    type(host_array), intent(in) :: host
    integer(c_int64_t), intent(in) :: handle
    integer(c_int) :: status
    integer(c_int8_t), allocatable, target :: packed(:)

    if (has_whole_strides(host)) then
      status = c_to_host(handle, host%type, strided(host))
    else
      allocate (packed(host%rows*host%cols*host%element_bytes))
      status = c_to_host(handle, host%type, contiguous(host, packed))
      if (status == 0) call move_bytes(host, packed, gather=.false.)
    end if
  end function to_host

  ! True if both steps are multiples of the element's size and the columns evenly spaced, as the C library needs. A real
  ! component of an array of a derived type may have other ones, and a section of rank 3 gaps between its matrices.
  pure logical function has_whole_strides(host)
    type(host_array), intent(in) :: host

    has_whole_strides = mod(host%row_step, host%element_bytes) == 0 .and. &
      mod(host%col_step, host%element_bytes) == 0 .and. host%plane_cols == 0
  end function has_whole_strides

  pure type(c_host_array) function strided(host)
    type(host_array), intent(in) :: host

    strided = c_host_array(host%data, host%rows, host%cols, host%row_step/host%element_bytes, &
      host%col_step/host%element_bytes)
  end function strided

  type(c_host_array) function contiguous(host, packed)
    type(host_array), intent(in) :: host
    integer(c_int8_t), target, intent(in) :: packed(:)

    contiguous = c_host_array(c_loc(packed), host%rows, host%cols, 1_c_int64_t, host%rows)
  end function contiguous

  ! packed = the elements of host in column order (gather), or the reverse.
  subroutine move_bytes(host, packed, gather)
    type(host_array), intent(in) :: host
    integer(c_int8_t), intent(inout) :: packed(0:)
    logical, intent(in) :: gather
    integer(c_int8_t), pointer :: element(:)
    type(c_ptr) :: place
    integer(c_int64_t) :: i, j, k, column

    k = 0
    do j = 0, host%cols - 1
      column = j*host%col_step
      if (host%plane_cols > 0) &
        column = mod(j, host%plane_cols)*host%col_step + j/host%plane_cols*host%plane_step
      do i = 0, host%rows - 1
        place = transfer(address(host%data) + i*host%row_step + column, place)
        call c_f_pointer(place, element, [host%element_bytes])
        if (gather) then
          packed(k:k + host%element_bytes - 1) = element
        else
          element = packed(k:k + host%element_bytes - 1)
        end if
        k = k + host%element_bytes
      end do
    end do
  end subroutine move_bytes

  pure integer(c_intptr_t) function address(pointer)
    type(c_ptr), intent(in) :: pointer

    address = transfer(pointer, address)
  end function address

  ! The fifteen specifics of describe. `code` and the three includes hold what they have in common.

  type(host_array) function describe_r4_1(host) result(a)
    real(c_float), target, intent(in) :: host(:)
    integer(c_int), parameter :: code = type_real
    include 'describe_1.inc'
  end function describe_r4_1

  type(host_array) function describe_r8_1(host) result(a)
    real(c_double), target, intent(in) :: host(:)
    integer(c_int), parameter :: code = type_double
    include 'describe_1.inc'
  end function describe_r8_1

  type(host_array) function describe_c4_1(host) result(a)
    complex(c_float_complex), target, intent(in) :: host(:)
    integer(c_int), parameter :: code = type_complex
    include 'describe_1.inc'
  end function describe_c4_1

  type(host_array) function describe_c8_1(host) result(a)
    complex(c_double_complex), target, intent(in) :: host(:)
    integer(c_int), parameter :: code = type_double_complex
    include 'describe_1.inc'
  end function describe_c8_1

  type(host_array) function describe_i4_1(host) result(a)
    integer(c_int32_t), target, intent(in) :: host(:)
    integer(c_int), parameter :: code = type_integer
    include 'describe_1.inc'
  end function describe_i4_1

  type(host_array) function describe_r4_2(host) result(a)
    real(c_float), target, intent(in) :: host(:, :)
    integer(c_int), parameter :: code = type_real
    include 'describe_2.inc'
  end function describe_r4_2

  type(host_array) function describe_r8_2(host) result(a)
    real(c_double), target, intent(in) :: host(:, :)
    integer(c_int), parameter :: code = type_double
    include 'describe_2.inc'
  end function describe_r8_2

  type(host_array) function describe_c4_2(host) result(a)
    complex(c_float_complex), target, intent(in) :: host(:, :)
    integer(c_int), parameter :: code = type_complex
    include 'describe_2.inc'
  end function describe_c4_2

  type(host_array) function describe_c8_2(host) result(a)
    complex(c_double_complex), target, intent(in) :: host(:, :)
    integer(c_int), parameter :: code = type_double_complex
    include 'describe_2.inc'
  end function describe_c8_2

  type(host_array) function describe_i4_2(host) result(a)
    integer(c_int32_t), target, intent(in) :: host(:, :)
    integer(c_int), parameter :: code = type_integer
    include 'describe_2.inc'
  end function describe_i4_2

  type(host_array) function describe_r4_3(host) result(a)
    real(c_float), target, intent(in) :: host(:, :, :)
    integer(c_int), parameter :: code = type_real
    include 'describe_3.inc'
  end function describe_r4_3

  type(host_array) function describe_r8_3(host) result(a)
    real(c_double), target, intent(in) :: host(:, :, :)
    integer(c_int), parameter :: code = type_double
    include 'describe_3.inc'
  end function describe_r8_3

  type(host_array) function describe_c4_3(host) result(a)
    complex(c_float_complex), target, intent(in) :: host(:, :, :)
    integer(c_int), parameter :: code = type_complex
    include 'describe_3.inc'
  end function describe_c4_3

  type(host_array) function describe_c8_3(host) result(a)
    complex(c_double_complex), target, intent(in) :: host(:, :, :)
    integer(c_int), parameter :: code = type_double_complex
    include 'describe_3.inc'
  end function describe_c8_3

  type(host_array) function describe_i4_3(host) result(a)
    integer(c_int32_t), target, intent(in) :: host(:, :, :)
    integer(c_int), parameter :: code = type_integer
    include 'describe_3.inc'
  end function describe_i4_3

end module devObjectHostArray
