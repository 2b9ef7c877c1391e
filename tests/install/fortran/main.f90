!> Solves [2 1; 1 3] x = [3; 5] through the Fortran modules; x = (0.8, 1.4). Stops with an error if it is not right.
program consumer
  use devObjectLU
  implicit none
  double precision :: a(2, 2) = reshape([2d0, 1d0, 1d0, 3d0], [2, 2]), b(2, 1) = reshape([3d0, 5d0], [2, 1])
  type(devVar) :: dv_a, dv_b, ipiv
  integer :: info

  call open_devObjects()
  dv_a = a
  dv_b = b
  call devf_gesv(dv_a, ipiv, dv_b, info)
  b = dv_b
  print '(a, i0, a, 2f6.3)', 'info = ', info, ', x =', b
  if (info /= 0 .or. .not. all(abs(b(:, 1) - [0.8d0, 1.4d0]) < 1d-14)) error stop 'wrong solution'
end program consumer
