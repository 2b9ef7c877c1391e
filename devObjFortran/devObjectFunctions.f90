!> The runtime: opening and closing, allocating, transfers, copies, blocks, and what a program can ask.
!>
!> Every procedure ends in optional stat and errmsg. With stat, an error is a value of it (devobj_invalid_argument, ...) and
!> errmsg has the text; without, the program stops with the text. Nothing is written when an argument is wrong.
module devObjectFunctions
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_float, c_double, c_float_complex, &
    c_double_complex, c_ptr, c_null_ptr
  use devObjectErrors, only: report, fail, c_text, devobj_success, devobj_invalid_argument
  use devObjectHostArray, only: describe
  use devObjectOptions, only: lower_case
  use devObjectHeaders, only: devVar, devResult, devBlock, loan, borrow, release, new_result, new_block, free_object, &
    is_live, type_name, transfer_host
  implicit none
  private

  public :: open_devObjects, close_devObjects, wait_devObjects
  public :: allocate_dv, deallocate_dv, allocated_dv, copy_dv, view_dv
  public :: transfer_dv, transfer_r4, transfer_r8, transfer_c4, transfer_c8, transfer_i4
  public :: devptr, stream_dv, backend_dv, devobj_info, live_objects_dv, set_math_dv, math_dv

  !> dv = allocate_dv(type, m [, n, stat, errmsg]): an m x n object (n is 1 if left out) of type 'real', 'double',
  !> 'complex', 'double complex' or 'integer' (case ignored). m and n are both integer(4) or both integer(8). The elements
  !> are not initialised. Errors: unknown type, negative size, out of memory; the result is then unallocated.
  interface allocate_dv
    module procedure allocate_dv_i4, allocate_dv_i8
  end interface allocate_dv

  !> view_dv(dv, i1, i2, j1, j2 [, stat, errmsg]): the block of rows i1 to i2 and columns j1 to j2, from 1, inclusive;
  !> i2 = i1 - 1 is empty. It may be an argument of every routine of the library, also as an output.
  !> `v = view_dv(...)` makes v a view that shares the memory of dv and keeps it alive. Error: not within dv.
  interface view_dv
    module procedure view_dv_i4, view_dv_i8
  end interface view_dv

  !> call transfer_dv(host, dv, to_device [, stat, errmsg]): dv = host if to_device is true, host = dv otherwise.
  !> host: any array section of rank 1, 2 or 3 of dv's kind. Rank 2: the shape of dv; rank 1: n elements for n x 1 and 1 x n;
  !> rank 3: a batch, m x n x b for m x (n b).
  !> dv keeps its memory: devptr(dv) and views stay what they are. host may be changed as soon as this returns.
  !> Errors: dv unallocated, kinds or shapes differ.
  interface transfer_dv
    module procedure transfer_r4_1, transfer_r8_1, transfer_c4_1, transfer_c8_1, transfer_i4_1
    module procedure transfer_r4_2, transfer_r8_2, transfer_c4_2, transfer_c8_2, transfer_i4_2
    module procedure transfer_r4_3, transfer_r8_3, transfer_c4_3, transfer_c8_3, transfer_i4_3
  end interface transfer_dv
  !> transfer_dv for real (single precision) arrays.
  interface transfer_r4
    module procedure transfer_r4_1, transfer_r4_2, transfer_r4_3
  end interface transfer_r4
  !> transfer_dv for double precision arrays.
  interface transfer_r8
    module procedure transfer_r8_1, transfer_r8_2, transfer_r8_3
  end interface transfer_r8
  !> transfer_dv for complex (single precision) arrays.
  interface transfer_c4
    module procedure transfer_c4_1, transfer_c4_2, transfer_c4_3
  end interface transfer_c4
  !> transfer_dv for double complex arrays.
  interface transfer_c8
    module procedure transfer_c8_1, transfer_c8_2, transfer_c8_3
  end interface transfer_c8
  !> transfer_dv for 32-bit integer arrays.
  interface transfer_i4
    module procedure transfer_i4_1, transfer_i4_2, transfer_i4_3
  end interface transfer_i4

  include 'devObjectFunctions_c.inc'

contains

  !> Opens the library. backend: 'auto' (default: a GPU if there is one, otherwise the host), 'cuda' or 'host', case
  !> ignored; the environment variable DEVOBJ_BACKEND overrides 'auto'. device: a GPU's number from 0. A second opening
  !> with the same backend only counts. Errors: unknown backend, no such device (with the reason).
  subroutine open_devObjects(backend, device, stat, errmsg)
    character(*), intent(in), optional :: backend
    integer, intent(in), optional :: device
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code, number

    code = 0
    number = -1
    if (present(device)) number = device
    if (present(backend)) then
      select case (lower_case(backend))
      case ('auto')
        code = 0
      case ('host')
        code = 1
      case ('cuda')
        code = 2
      case default
        call fail(devobj_invalid_argument, "open_devObjects: backend is '"//backend//"', must be auto, cuda or host", &
          stat, errmsg)
        return
      end select
    end if
    call report(c_open(code, number), 'open_devObjects', stat, errmsg)
  end subroutine open_devObjects

  !> Undoes one open_devObjects. The last one waits for all work, frees all objects that are left, and reports an error of
  !> work that was not waited for. With the environment variable DEVOBJ_CHECK=1 objects that are left are an error that tells
  !> their shapes. Variables of the main program are never finalised: free them with deallocate_dv.
  subroutine close_devObjects(stat, errmsg)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call report(c_close(), 'close_devObjects', stat, errmsg)
  end subroutine close_devObjects

  !> How matrices are multiplied inside LU, QR and solves on a GPU, from now on: 'auto' (at the beginning: those of single
  !> precision by products of parts of the numbers on the tensor cores where that is faster, which is as accurate; large double
  !> complex ones in LU and QR by three real products instead of four, large ones in double precision, real and complex, in LU,
  !> and complex ones in getrs and QR, by products of integers, where that is nearly as accurate) or 'strict' (by plain products),
  !> case ignored. The environment variable DEVOBJ_MATH=strict overrides it. Error: another word.
  subroutine set_math_dv(math, stat, errmsg)
    character(*), intent(in) :: math
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    select case (lower_case(math))
    case ('auto')
      call report(c_set_math(0_c_int), 'set_math_dv', stat, errmsg)
    case ('strict')
      call report(c_set_math(1_c_int), 'set_math_dv', stat, errmsg)
    case default
      call fail(devobj_invalid_argument, "set_math_dv: math is '"//math//"', must be auto or strict", stat, errmsg)
    end select
  end subroutine set_math_dv

  !> 'auto' or 'strict': what set_math_dv and DEVOBJ_MATH say.
  function math_dv() result(math)
    character(:), allocatable :: math

    math = 'auto'
    if (c_math_in_use() == 1) math = 'strict'
  end function math_dv

  !> Waits until the GPU has done the work of this thread. An error that occurred in it appears here.
  subroutine wait_devObjects(stat, errmsg)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call report(c_wait(), 'wait_devObjects', stat, errmsg)
  end subroutine wait_devObjects

  !> allocate_dv for 64-bit sizes.
  function allocate_dv_i8(type, m, n, stat, errmsg) result(dv)
    character(*), intent(in) :: type
    integer(c_int64_t), intent(in) :: m
    integer(c_int64_t), intent(in), optional :: n
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(devResult) :: dv
    integer(c_int64_t) :: cols, handle
    integer(c_int) :: code, status

    cols = 1
    if (present(n)) cols = n
    do code = 1, 5
      if (lower_case(type) == type_name(code)) exit
    end do
    if (code > 5) then
      call fail(devobj_invalid_argument, "allocate_dv: type is '"//type// &
        "', must be real, double, complex, double complex or integer", stat, errmsg)
      return
    end if
    handle = 0
    status = c_allocate(code, m, cols, handle)
    call report(status, 'allocate_dv', stat, errmsg)
    if (status == devobj_success) dv = new_result(handle)
  end function allocate_dv_i8

  !> allocate_dv for default integers.
  function allocate_dv_i4(type, m, n, stat, errmsg) result(dv)
    character(*), intent(in) :: type
    integer(c_int32_t), intent(in) :: m
    integer(c_int32_t), intent(in), optional :: n
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(devResult) :: dv
    integer(c_int64_t) :: cols

    cols = 1
    if (present(n)) cols = n
    dv = allocate_dv_i8(type, int(m, c_int64_t), cols, stat, errmsg)
  end function allocate_dv_i4

  !> Frees dv's object; its memory stays while views of it live. dv is then unallocated and may be used again.
  !> Errors: dv is unallocated, or its object has been freed already.
  impure elemental subroutine deallocate_dv(dv, stat, errmsg)
    class(devVar), intent(inout) :: dv
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call report(free_object(dv), 'deallocate_dv', stat, errmsg)
  end subroutine deallocate_dv

  !> True if dv has an object. Never an error.
  impure elemental logical function allocated_dv(dv)
    class(devVar), intent(in) :: dv

    allocated_dv = is_live(dv)
  end function allocated_dv

  !> dst = src on the device; kinds and shapes must agree, and the two must not overlap.
  subroutine copy_dv(src, dst, stat, errmsg)
    class(devVar), intent(in) :: src, dst
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)

    use = [borrow(src), borrow(dst)]
    call report(c_copy(use(1)%handle, use(2)%handle), 'copy_dv', stat, errmsg)
    call release(use)
  end subroutine copy_dv

  !> view_dv for 64-bit indices.
  function view_dv_i8(dv, i1, i2, j1, j2, stat, errmsg) result(block)
    class(devVar), intent(in) :: dv
    integer(c_int64_t), intent(in) :: i1, i2, j1, j2
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(devBlock) :: block
    integer(c_int) :: status

    call new_block(dv, i1, i2, j1, j2, block, status)
    call report(status, 'view_dv', stat, errmsg)
  end function view_dv_i8

  !> view_dv for default integers.
  function view_dv_i4(dv, i1, i2, j1, j2, stat, errmsg) result(block)
    class(devVar), intent(in) :: dv
    integer(c_int32_t), intent(in) :: i1, i2, j1, j2
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(devBlock) :: block
    integer(c_int) :: status

    call new_block(dv, int(i1, c_int64_t), int(i2, c_int64_t), int(j1, c_int64_t), int(j2, c_int64_t), block, status)
    call report(status, 'view_dv', stat, errmsg)
  end function view_dv_i4

  !> The raw pointer to dv's elements in the backend's memory, for kernels of your own; null if dv is empty. Valid while
  !> dv lives.
  type(c_ptr) function devptr(dv, stat, errmsg)
    class(devVar), intent(in) :: dv
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: lent

    devptr = c_null_ptr
    lent = borrow(dv)
    call report(c_pointer(lent%handle, devptr), 'devptr', stat, errmsg)
    call release(lent)
  end function devptr

  !> The cudaStream_t of this thread's work, for kernels of your own; null on the host backend.
  type(c_ptr) function stream_dv(stat, errmsg)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    stream_dv = c_null_ptr
    call report(c_stream(stream_dv), 'stream_dv', stat, errmsg)
  end function stream_dv

  !> 'cuda' or 'host', the backend in use; '' if the library is not open.
  function backend_dv() result(name)
    character(:), allocatable :: name

    select case (c_backend_in_use())
    case (1)
      name = 'host'
    case (2)
      name = 'cuda'
    case default
      name = ''
    end select
  end function backend_dv

  !> Some lines of text on backend, device, BLAS, CPU and table of block sizes, and why this backend was chosen.
  function devobj_info() result(text)
    character(:), allocatable :: text

    text = c_text(c_info())
  end function devobj_info

  !> The number of device objects that are alive, views included.
  integer(c_int64_t) function live_objects_dv()
    live_objects_dv = c_live_objects()
  end function live_objects_dv

  include 'devObjectFunctions_transfer.inc'

end module devObjectFunctions
