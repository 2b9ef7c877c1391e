!> The line a + b x through six measured points, by least squares on the GPU, or on the host where there is none.
program first_program
  use devObjectQR
  implicit none
  double precision :: x(6) = [0, 1, 2, 3, 4, 5], y(6) = [1.1d0, 2.9d0, 5.2d0, 7.1d0, 8.8d0, 10.9d0]
  double precision :: ab(2)
  type(devVar) :: A, B
  integer :: info

  call open_devObjects()
  A = reshape([1 + 0*x, x], [6, 2])              ! to the device: a column of ones, and x
  B = y
  call devf_gels('N', A, B, info)                ! min ||A [a; b] - y||; the solution is in B's first rows
  if (info > 0) error stop 'the columns of A are dependent'
  ab = view_dv(B, 1, 2, 1, 1)                    ! and back

  print '(a, f7.4, a, f7.4, a)', 'y = ', ab(1), ' + ', ab(2), ' x'
  if (any(abs(ab - [1.1d0, 1.96d0]) > 1d-13)) error stop 'the line should be another one'
  call deallocate_dv(A)
  call deallocate_dv(B)
  call close_devObjects()
end program first_program
