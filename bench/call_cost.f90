!> What a call from Fortran costs beyond the same call of the C interface: devf_scal on a 1 x 1 object, many times, then
!> one wait. Prints microseconds per call. `devobj-bench transfer` measures the C interface against the bare cuBLAS call.
program call_cost
  use, intrinsic :: iso_c_binding, only: c_double, c_int, c_int64_t
  use, intrinsic :: iso_fortran_env, only: int64
  use devObjectBLAS, only: devVar, open_devObjects, close_devObjects, allocate_dv, wait_devObjects, backend_dv, devf_scal
  implicit none
  integer, parameter :: calls = 20000, repetitions = 7
  type, bind(C) :: c_scalar
    real(c_double) :: re, im
  end type
  interface
    function devobj_allocate(type, rows, cols, x) bind(C) result(status)
      import :: c_int, c_int64_t
      integer(c_int), value :: type
      integer(c_int64_t), value :: rows, cols
      integer(c_int64_t), intent(out) :: x
      integer(c_int) :: status
    end function
    function devobj_free(x) bind(C) result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: x
      integer(c_int) :: status
    end function
    function devobj_scal(alpha, x) bind(C) result(status)
      import :: c_scalar, c_int, c_int64_t
      type(c_scalar), value :: alpha
      integer(c_int64_t), value :: x
      integer(c_int) :: status
    end function
  end interface
  integer(c_int), parameter :: c_real_type = 1
  type(devVar) :: x
  integer(c_int64_t) :: y
  real :: fortran(repetitions), c(repetitions)
  integer :: r

  call open_devObjects()
  x = allocate_dv('real', 1, 1)
  if (devobj_allocate(c_real_type, 1_c_int64_t, 1_c_int64_t, y) /= 0) error stop 'devobj_allocate failed'
  do r = 1, repetitions
    fortran(r) = microseconds(.true.)
    c(r) = microseconds(.false.)
  end do
  print '(a, a, 3(a, f0.3))', 'backend ', backend_dv(), ': us per call: devf_scal ', minval(fortran), ', devobj_scal ', &
    minval(c), ', Fortran beyond C ', minval(fortran) - minval(c)
  if (devobj_free(y) /= 0) error stop 'devobj_free failed'
  call close_devObjects()

contains

  real function microseconds(by_fortran)
    logical, intent(in) :: by_fortran
    integer(int64) :: start, finish, rate
    integer :: i
    integer(c_int) :: status
    call wait_devObjects()
    call system_clock(start, rate)
    do i = 1, calls
      if (by_fortran) then
        call devf_scal(1.0, x)
      else
        status = devobj_scal(c_scalar(1, 0), y)
        if (status /= 0) error stop 'devobj_scal failed'
      end if
    end do
    call wait_devObjects()
    call system_clock(finish)
    microseconds = real(1e6 * (finish - start) / real(rate) / calls)
  end function

end program
