!> Programs that must stop with a message: the command argument tells which error to make without stat.
program stops
  use devObjectBLAS
  use devObjectLU
  implicit none
  character(30) :: case
  character(200) :: message
  type(devVar) :: A, B, C
  type(devVar), allocatable :: copy
  real :: host(2, 2) = 0
  integer :: info

  call get_command_argument(1, case)
  if (case /= 'not_open') call open_devObjects()
  select case (case)
  case ('not_open')
    A = allocate_dv('real', 3)
  case ('type')
    A = allocate_dv('reel', 3)
  case ('shapes')
    A = allocate_dv('real', 3, 4)
    B = allocate_dv('real', 5, 2)
    C = allocate_dv('real', 3, 2)
    call devf_gemm('N', 'N', 1.0, A, B, 0.0, C)
  case ('host_to_device')
    A = allocate_dv('real', 3, 2)
    call transfer_r4(host, A, .true.)
  case ('device_to_host')
    A = allocate_dv('real', 3, 2)
    host = A
  case ('view_assignment')
    A = allocate_dv('real', 3, 3)
    B = view_dv(A, 1, 3, 1, 2)
    B = host
  case ('block')
    A = allocate_dv('real', 3, 3)
    B = view_dv(A, 2, 9, 1, 3)
  case ('twice_freed')
    A = allocate_dv('real', 3, 3)
    call deallocate_dv(A)
    call deallocate_dv(A)
  case ('copied_handle')
    A = allocate_dv('real', 3, 3)
    allocate (copy, source=A)
    call deallocate_dv(A)
    B = copy
  case ('errmsg_alone')
    A = allocate_dv('real', 3, 3)
    call devf_getrf(A, B, info, method='fast', errmsg=message)
  case ('rows_of_freed')
    A = allocate_dv('real', 3, 3)
    allocate (copy, source=A)
    call deallocate_dv(A)
    print *, copy%rows()
  case ('pivots')
    A = allocate_dv('real', 3, 3)
    B = allocate_dv('real', 3, 1)
    call devf_getrs('N', A, [1, 2], B)
  case default
    print '(2a)', 'no such case: ', trim(case)
    stop
  end select
  print '(a)', 'the program went on'
end program stops
