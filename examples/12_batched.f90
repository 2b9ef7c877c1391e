!> A reaction in many cells at once: each cell of a grid has the chemistry of Robertson, three species of which one reacts
!> thousands of times faster than the others. An implicit Euler step solves a small nonlinear system in every cell, by
!> Newton's method: all linear systems of an iteration are one batch.
!>
!>     y1' = -k1 y1 + k3 y2 y3,   y2' = k1 y1 - k3 y2 y3 - k2 y2**2,   y3' = k2 y2**2
!>
!> The cells differ in k1. The sum of the species must stay 1, and the residual of each step must be at rounding level.
!>
!> Usage: 12_batched [cells, default 2000] [steps, default 20]
program batched
  use, intrinsic :: iso_fortran_env, only: dp => real64
  use devObjectBatched
  implicit none
  integer, parameter :: n = 3
  real(dp), parameter :: k2 = 3e7_dp, k3 = 1e4_dp
  real(dp), allocatable :: y(:, :), old(:, :), J(:, :, :), F(:, :, :), k1(:)
  integer, allocatable :: infos(:)
  integer :: cells, steps, step, iteration, c
  real(dp) :: h, change, lost, residual
  type(devVar) :: dJ, dF, ipiv, info

  cells = argument(1, 2000)
  steps = argument(2, 20)
  if (min(cells, steps) < 1) error stop 'the numbers of cells and steps must be positive'
  allocate (y(n, cells), J(n, n, cells), F(n, 1, cells), infos(cells))
  k1 = [(0.04_dp*(1 + real(c, dp)/cells), c=1, cells)]
  y = 0
  y(1, :) = 1

  call open_devObjects()
  print '(a)', devobj_info()
  h = 1e-4_dp
  residual = 0
  do step = 1, steps
    old = y
    do iteration = 1, 20
      ! F = y - old - h f(y), J = I - h f'(y), of every cell
      do c = 1, cells
        F(:, 1, c) = y(:, c) - old(:, c) - h*rates(k1(c), y(:, c))
        J(:, :, c) = -h*derivatives(k1(c), y(:, c))
        J(1, 1, c) = J(1, 1, c) + 1
        J(2, 2, c) = J(2, 2, c) + 1
        J(3, 3, c) = J(3, 3, c) + 1
      end do
      dJ = J
      dF = F
      call devf_gesv_batched(dJ, ipiv, dF, info)
      F = dF
      infos = info
      if (any(infos /= 0)) error stop 'a Jacobian is singular'
      y = y - F(:, 1, :)
      change = maxval(abs(F))
      if (change < 1e-14_dp) exit
    end do
    if (.not. change < 1e-12_dp) error stop 'Newton has not converged'
    do c = 1, cells
      residual = max(residual, maxval(abs(y(:, c) - old(:, c) - h*rates(k1(c), y(:, c)))))
    end do
    h = 1.5_dp*h
  end do

  lost = maxval(abs(sum(y, 1) - 1))
  print '(a, i0, a, i0, a)', 'Robertson in ', cells, ' cells, ', steps, ' implicit steps'
  print '(a, 3es11.3)', 'species of the first cell ', y(:, 1)
  print '(a, 3es11.3)', 'species of the last cell  ', y(:, cells)
  print '(a, es8.1, a, es8.1)', 'largest residual of a step ', residual, ', mass lost ', lost
  if (.not. residual < 1e-10_dp) error stop 'the steps are not solved'
  if (.not. lost < 1e-12_dp) error stop 'the sum of the species should be 1'
  if (any(y < 0)) error stop 'a species is negative'

  call deallocate_dv(dJ)
  call deallocate_dv(dF)
  call deallocate_dv(ipiv)
  call deallocate_dv(info)
  call close_devObjects()

contains

  pure function rates(k1, y) result(f)
    real(dp), intent(in) :: k1, y(n)
    real(dp) :: f(n)

    f = [-k1*y(1) + k3*y(2)*y(3), k1*y(1) - k3*y(2)*y(3) - k2*y(2)**2, k2*y(2)**2]
  end function rates

  pure function derivatives(k1, y) result(D)
    real(dp), intent(in) :: k1, y(n)
    real(dp) :: D(n, n)

    D(:, 1) = [-k1, k1, 0._dp]
    D(:, 2) = [k3*y(3), -k3*y(3) - 2*k2*y(2), 2*k2*y(2)]
    D(:, 3) = [k3*y(2), -k3*y(2), 0._dp]
  end function derivatives

  ! Command line argument number i as an integer.
  integer function argument(i, default)
    integer, intent(in) :: i, default
    character(20) :: word

    argument = default
    if (command_argument_count() < i) return
    call get_command_argument(i, word)
    read (word, *) argument
  end function argument

end program batched
