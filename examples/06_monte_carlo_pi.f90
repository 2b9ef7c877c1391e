!> pi by Monte Carlo: the part of random points in the unit square that lie in the quarter disc. The points are drawn on the
!> device, in batches from one generator, and once more as one draw of other batches: the same points, hence the same pi.
program monte_carlo_pi
  use, intrinsic :: iso_fortran_env, only: dp => real64, int64
  use devObjectRNG
  implicit none
  integer, parameter :: points = 4000000
  real(dp), parameter :: pi = 3.14159265358979323846_dp
  real(dp) :: estimate, again, deviation

  call open_devObjects()
  print '(a)', devobj_info()
  estimate = pi_of(points, batch=1000000)
  again = pi_of(points, batch=640000)
  call close_devObjects()

  deviation = sqrt(pi*(4 - pi)/points)
  print '(a, i0, a, f9.6, a, f9.6, a, f6.2, a)', 'pi from ', points, ' points: ', estimate, ', the error is ', &
    estimate - pi, ', ', (estimate - pi)/deviation, ' standard deviations'
  ! Five standard deviations are exceeded by one seed in two million; this seed is fixed.
  if (.not. abs(estimate - pi) <= 5*deviation) error stop 'pi is wrong'
  if (.not. abs(estimate - again) <= 0) error stop 'the points depend on the batches'
  print '(a)', 'all right: the same points in batches of any size'

contains

  ! 4 times the part of n points that lie in the disc, drawn in batches.
  real(dp) function pi_of(n, batch)
    integer, intent(in) :: n, batch
    type(devRng) :: rng
    type(devVar) :: xy
    real(dp), allocatable :: p(:, :)
    integer :: first, count
    integer(int64) :: inside

    call devf_rng_create(rng, 'philox', seed=2026)
    inside = 0
    do first = 1, n, batch
      count = min(batch, n - first + 1)
      xy = allocate_dv('double', 2, count)
      allocate (p(2, count))
      call devf_rng_uniform(rng, xy)
      call transfer_r8(p, xy, .false.)
      inside = inside + count_of(p)
      deallocate (p)
    end do
    pi_of = 4*real(inside, dp)/n
  end function pi_of

  ! The columns of p of length at most 1.
  pure integer(int64) function count_of(p)
    real(dp), intent(in) :: p(:, :)

    count_of = count(p(1, :)**2 + p(2, :)**2 <= 1, kind=int64)
  end function count_of

end program monte_carlo_pi
