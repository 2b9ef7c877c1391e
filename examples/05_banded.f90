!> A rod cooled at its ends, and a beam on an elastic bed: band systems solved by Givens rotations. Each matrix is factored once,
!> its Q kept as rotations, and then solves for many right-hand sides, the solutions of which are known.
!> Sources: papers 001 and 004; the matrices are the usual central differences.
program banded
  use, intrinsic :: iso_fortran_env, only: dp => real64
  use devObjectGivens
  implicit none
  integer, parameter :: n = 400, loads = 25

  call open_devObjects()
  print '(a)', devobj_info()
  call solve('rod, tridiagonal', [-1._dp, 2.001_dp, -1._dp])
  call solve('beam, pentadiagonal', [1._dp, -4._dp, 6.01_dp, -4._dp, 1._dp])
  call solve('upwind, more above than below', [-1._dp, 3._dp, -0.5_dp, 0.25_dp], 1)
  call close_devObjects()
  print '(a)', 'all right'

contains

  ! Solves with the matrix whose diagonals, from the lowest to the highest, hold these numbers.
  subroutine solve(name, diagonals, below)
    character(*), intent(in) :: name
    real(dp), intent(in) :: diagonals(:)
    integer, intent(in), optional :: below
    real(dp), allocatable :: AB(:, :), X(:, :), B(:, :), found(:, :)
    real(dp) :: error
    type(devVar) :: dAB, dB
    type(devBandQR) :: F
    integer :: kl, ku, i, j, info

    kl = (size(diagonals) - 1)/2
    if (present(below)) kl = below
    ku = size(diagonals) - 1 - kl
    ! LAPACK's band storage
    allocate (AB(kl + ku + 1, n), X(n, loads), source=0._dp)
    do j = 1, n
      do i = max(1, j - ku), min(n, j + kl)
        AB(ku + 1 + i - j, j) = diagonals(kl + 1 - (i - j))
      end do
    end do
    do j = 1, loads
      X(:, j) = [(sin(0.1_dp*i*j) + j, i=1, n)]
    end do

    dAB = AB
    call devf_band_qr(dAB, kl, ku, F)
    allocate (B(n, loads), found(n, loads))
    B = product_of(AB, ku, X)
    dB = B
    call devf_band_qr_solve(F, dB, info)
    if (info /= 0) error stop 'the matrix is taken for singular'
    found = dB
    error = maxval(abs(product_of(AB, ku, found) - B))/(sum(abs(diagonals))*maxval(abs(X)))/epsilon(1._dp)
    print '(2a, i0, a, f6.1, a)', name, ': ', loads, ' right-hand sides, residual ', error, ' eps'
    if (.not. error < 30) error stop 'the residual is too large'
  end subroutine solve

  ! A X for A in band storage with ku diagonals above the main one.
  function product_of(AB, ku, X) result(B)
    real(dp), intent(in) :: AB(:, :), X(:, :)
    integer, intent(in) :: ku
    real(dp), allocatable :: B(:, :)
    integer :: i, j

    allocate (B(n, size(X, 2)), source=0._dp)
    do j = 1, n
      do i = max(1, j - ku), min(n, j + size(AB, 1) - 1 - ku)
        B(i, :) = B(i, :) + AB(ku + 1 + i - j, j)*X(j, :)
      end do
    end do
  end function product_of

end program banded
