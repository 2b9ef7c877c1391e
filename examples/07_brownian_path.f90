!> Brownian paths that are broken off and gone on with: the state of the generator and the places of the particles are kept
!> in the middle, and the second half from them is the second half of the unbroken run, in bits. At time t the particles'
!> mean is 0 and their variance t, and increments of different times are uncorrelated.
program brownian_path
  use, intrinsic :: iso_fortran_env, only: dp => real64, int64
  use devObjectRNG
  use devObjectBLAS, only: devf_axpy
  implicit none
  integer, parameter :: particles = 20000, steps = 128
  real(dp), parameter :: dt = 1/64._dp
  character(*), parameter :: file = 'brownian_path.state'
  type(devRng) :: rng, later
  type(devVar) :: x, dx
  real(dp) :: half(particles), whole(particles), resumed(particles), t
  integer :: unit

  call open_devObjects()
  print '(a)', devobj_info()
  x = spread(0._dp, 1, particles)
  dx = allocate_dv('double', particles)

  call devf_rng_create(rng, 'state', seed=7)
  call walk(rng, steps/2)
  half = x
  call devf_rng_save(rng, file)  ! what a program would keep with `half` before it ends
  call walk(rng, steps/2)
  whole = x

  ! Another run: places and generator from what was kept.
  x = half
  call devf_rng_restore(later, file)
  call walk(later, steps/2)
  resumed = x
  open (newunit=unit, file=file, status='old')
  close (unit, status='delete')
  call deallocate_dv(x)
  call deallocate_dv(dx)
  call devf_rng_free(rng)
  call devf_rng_free(later)
  call close_devObjects()

  if (.not. all(abs(resumed - whole) <= 0)) error stop 'the resumed run differs'
  t = steps*dt
  print '(a, f5.2, a, f9.5, a, f9.5)', 'at t = ', t, ': mean ', mean(whole), ', variance ', mean(whole**2)
  print '(a, f9.5)', 'covariance of the halves'' increments ', mean(half*(whole - half))
  ! Five standard deviations of each.
  if (.not. abs(mean(whole)) <= 5*sqrt(t/particles)) error stop 'the mean is wrong'
  if (.not. abs(mean(whole**2) - t) <= 5*t*sqrt(2._dp/particles)) error stop 'the variance is wrong'
  if (.not. abs(mean(half*(whole - half))) <= 5*t/2/sqrt(real(particles, dp))) error stop 'the increments are correlated'
  print '(a)', 'all right: the resumed run has the bits of the unbroken one'

contains

  ! x = x + dx, dx normal with variance dt, n times.
  subroutine walk(generator, n)
    type(devRng), intent(in) :: generator
    integer, intent(in) :: n
    integer :: step

    do step = 1, n
      call devf_rng_normal(generator, dx, 0._dp, sqrt(dt))
      call devf_axpy(1._dp, dx, x)
    end do
  end subroutine walk

  pure real(dp) function mean(values)
    real(dp), intent(in) :: values(:)

    mean = sum(values)/size(values)
  end function mean

end program brownian_path
