!> Poisson's equation -u_xx - u_yy = f on a periodic square of side 2 pi, by Fourier transforms: u's coefficients are f's over
!> k1**2 + k2**2. The solution is compared with an exact one, at which a spectral method arrives with a few points.
!>
!> Everything stays on the device: f is transformed, its coefficients are multiplied by a diagonal matrix in compressed rows,
!> and transformed back.
!>
!> Usage: 10_poisson_fft [points in x, default 96] [points in y, default 80]
program poisson_fft
  use, intrinsic :: iso_fortran_env, only: dp => real64
  use devObjectFFT
  use devObjectPrims
  implicit none
  real(dp), parameter :: pi = acos(-1._dp)
  integer :: n1, n2, rows, i, j
  real(dp), allocatable :: x(:), y(:), exact(:, :), right(:, :), u(:, :), factor(:, :, :)
  integer, allocatable :: offsets(:)
  real(dp) :: error, k1, k2
  type(devFftPlan) :: plan
  type(devVar) :: f, f_hat, u_hat, f_numbers, u_numbers, solution, row_starts, columns, inverse_laplacian

  n1 = argument(1, 96)
  n2 = argument(2, 80)
  if (min(n1, n2) < 1) error stop 'the numbers of points must be positive'
  rows = n1/2 + 1

  ! u = exp(sin x + cos 2y) without its mean, and f = -u_xx - u_yy
  x = [(2*pi*i/n1, i=0, n1 - 1)]
  y = [(2*pi*j/n2, j=0, n2 - 1)]
  allocate (exact(n1, n2), right(n1, n2), u(n1, n2), factor(2, rows, n2))
  do j = 1, n2
    exact(:, j) = exp(sin(x) + cos(2*y(j)))
    right(:, j) = -exact(:, j)*(cos(x)**2 - sin(x) + 4*sin(2*y(j))**2 - 4*cos(2*y(j)))
  end do
  exact = exact - sum(exact)/size(exact)

  ! 1 / (k1**2 + k2**2) for the real and the imaginary part of each coefficient; the mean of u is 0.
  do j = 1, n2
    k2 = merge(j - 1, j - 1 - n2, j - 1 <= n2/2)
    do i = 1, rows
      k1 = i - 1
      factor(:, i, j) = 0
      if (i > 1 .or. j > 1) factor(:, i, j) = 1/(k1**2 + k2**2)
    end do
  end do
  offsets = [(i, i=1, size(factor) + 1)]

  call open_devObjects()
  print '(a)', devobj_info()
  f = right
  row_starts = offsets
  columns = offsets(:size(factor))
  inverse_laplacian = reshape(factor, [size(factor)])
  u_hat = allocate_dv('double complex', rows, n2)
  u_numbers = devf_fft_real_view(u_hat, 2*rows)          ! the same memory as real numbers

  call devf_fft_plan(plan, 'double', [n1, n2], scaling='inverse', overwrite_input=.true.)
  call devf_fft_forward(plan, f, f_hat)                  ! n1/2 + 1 x n2 coefficients
  f_numbers = devf_fft_real_view(f_hat, 2*rows)
  call devf_spmv(row_starts, columns, inverse_laplacian, f_numbers, u_numbers)
  call devf_fft_inverse(plan, u_hat, solution)
  u = solution

  error = maxval(abs(u - exact))
  print '(a, i0, a, i0, a, es9.2)', 'Poisson on ', n1, ' x ', n2, ' points: largest error', error
  if (min(n1, n2) >= 64 .and. .not. error < 1e-12_dp*maxval(abs(exact))) error stop 'the solution is not the exact one'

  call devf_fft_free(plan)
  call deallocate_dv(f)
  call deallocate_dv(f_hat)
  call deallocate_dv(u_hat)
  call deallocate_dv(f_numbers)
  call deallocate_dv(u_numbers)
  call deallocate_dv(solution)
  call deallocate_dv(row_starts)
  call deallocate_dv(columns)
  call deallocate_dv(inverse_laplacian)
  call close_devObjects()

contains

  ! Command line argument number i as an integer.
  integer function argument(i, default)
    integer, intent(in) :: i, default
    character(20) :: word

    argument = default
    if (command_argument_count() < i) return
    call get_command_argument(i, word)
    read (word, *) argument
  end function argument

end program poisson_fft
