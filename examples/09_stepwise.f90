!> Stepwise selection of variables: the column that explains most of what is left joins the model, and one that has become
!> superfluous leaves it, until neither helps. Columns come and go by updates of a full QR on the device; the residual's
!> squares are those of d = Q^T y below row n, so that nothing is fitted anew. Each step is checked against a fresh fit.
program stepwise
  use, intrinsic :: iso_fortran_env, only: dp => real64
  use devObjectBLAS
  use devObjectQR
  use devObjectQRUpdate
  implicit none
  integer, parameter :: m = 300, candidates = 12, true_columns(3) = [2, 7, 11]
  !> A column joins or stays if its F statistic is above this.
  real(dp), parameter :: threshold = 15
  real(dp) :: X(m, candidates), y(m), noise(m)
  integer, allocatable :: chosen(:)
  type(devVar) :: Q, R, d, Q1, R1, d1, ones, column, observed
  integer :: best, k
  logical :: changed

  call open_devObjects()
  call random_init(repeatable=.true., image_distinct=.false.)
  call random_number(X)
  call random_number(noise)
  X(:, 5) = X(:, 2) + X(:, 7) + 0.6_dp*X(:, 5)  ! looks good as long as columns 2 and 7 are not there
  y = 1 + 2*X(:, 2) + 2*X(:, 7) - X(:, 11) + 0.2_dp*(noise - 0.5_dp)
  observed = y

  ! the model with nothing but a constant
  ones = reshape(spread(1.0_dp, 1, m), [m, 1])
  call devf_qr(ones, Q, R, full=.true.)
  d = y
  call devf_gemv('T', 1.0_dp, Q, observed, 0.0_dp, d)
  chosen = [integer ::]

  do
    changed = .false.
    best = best_to_add()
    if (best > 0) then
      column = X(:, best:best)
      call devf_qr_add_cols(Q, R, size(chosen) + 2, column, Q1, R1, d, d1)
      chosen = [chosen, best]
      call accept()
    end if
    k = worst_to_remove()
    if (k > 0) then
      call devf_qr_remove_cols(Q, R, k + 1, 1, Q1, R1, d, d1)
      chosen = [chosen(:k - 1), chosen(k + 1:)]
      call accept()
    end if
    if (.not. changed) exit
  end do
  call close_devObjects()
  if (size(chosen) /= 3) error stop 'not the three columns that y is made of'
  if (.not. all([(any(chosen == true_columns(k)), k=1, 3)])) error stop 'not the columns that y is made of'

contains

  ! The update becomes the model; its residual must be that of a fresh fit.
  subroutine accept()
    real(dp) :: squares

    Q = Q1
    R = R1
    d = d1
    call deallocate_dv(Q1)
    call deallocate_dv(R1)
    call deallocate_dv(d1)
    changed = .true.
    squares = residual_squares()
    print '(a, f9.5, a, *(i3))', 'residual', sqrt(squares/m), ', columns', chosen
    if (abs(squares - fresh_squares()) > 1.0e-10_dp*squares) error stop 'the updated fit is not the fresh one'
  end subroutine accept

  ! d with zeros in its first n rows; Q times it is the residual.
  function rest_of_d() result(rest)
    real(dp) :: rest(m)

    rest = d
    rest(:size(chosen) + 1) = 0
  end function rest_of_d

  real(dp) function residual_squares()
    residual_squares = sum(rest_of_d()**2)
  end function residual_squares

  ! The candidate with the largest F statistic, 0 if none is above the threshold.
  integer function best_to_add() result(best)
    real(dp) :: squares, now, f, largest, Z(m, candidates)
    type(devVar) :: all, products
    integer :: j, n

    n = size(chosen) + 1
    all = X
    products = X
    call devf_gemm('T', 'N', 1.0_dp, Q, all, 0.0_dp, products)  ! Q^T X: what is outside of the model is below row n
    Z = products
    Z(:n, :) = 0
    now = residual_squares()
    best = 0
    largest = threshold
    do j = 1, candidates
      if (any(chosen == j)) cycle
      squares = now - sum(Z(:, j)*rest_of_d())**2/sum(Z(:, j)**2)
      f = (now - squares)/(squares/(m - n - 1))
      if (f > largest) best = j
      largest = max(largest, f)
    end do
  end function best_to_add

  ! The position in `chosen` of the column with the smallest F statistic, 0 if all are above the threshold.
  integer function worst_to_remove() result(worst)
    real(dp) :: f, smallest, coefficients(m), inverse(size(chosen) + 1, size(chosen) + 1)
    type(devVar) :: work, unit
    integer :: i, n

    n = size(chosen) + 1
    inverse = 0
    do i = 1, n
      inverse(i, i) = 1
    end do
    work = d
    unit = inverse
    call devf_trsm('L', 'U', 'N', 'N', 1.0_dp, view_dv(R, 1, n, 1, n), view_dv(work, 1, n, 1, 1))
    call devf_trsm('L', 'U', 'N', 'N', 1.0_dp, view_dv(R, 1, n, 1, n), unit)
    coefficients = work
    inverse = unit  ! R^-1: the variances of the coefficients are its rows' squares
    worst = 0
    smallest = threshold
    do i = 2, n
      f = coefficients(i)**2/sum(inverse(i, :)**2)/(residual_squares()/(m - n))
      if (f < smallest) worst = i - 1
      smallest = min(smallest, f)
    end do
  end function worst_to_remove

  real(dp) function fresh_squares()
    real(dp) :: A(m, size(chosen) + 1), b(m)
    type(devVar) :: dA, db
    integer :: info

    A(:, 1) = 1
    A(:, 2:) = X(:, chosen)
    dA = A
    db = y
    call devf_gels('N', dA, db, info)
    b = db
    fresh_squares = sum(b(size(chosen) + 2:)**2)
  end function fresh_squares

end program stepwise
