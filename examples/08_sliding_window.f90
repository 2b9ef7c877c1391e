!> A regression over a window that slides along a stream of observations: at each step new rows come and old rows go. R and
!> d = Q^T b are updated on the device, without Q and without the data; the coefficients are then one triangular solve.
!> Each step is checked against a fresh fit of the whole window.
program sliding_window
  use, intrinsic :: iso_fortran_env, only: dp => real64
  use devObjectBLAS
  use devObjectQR
  use devObjectQRUpdate
  implicit none
  integer, parameter :: window = 400, n = 8, step = 25, steps = 40
  !> The largest difference from a fresh fit that is accepted, relative to the coefficients.
  real(dp), parameter :: tolerance = 1.0e-10_dp
  real(dp) :: X(window + step*steps, n), y(window + step*steps), noise(size(y)), c(n), fresh(n), worst
  type(devVar) :: none, Q, R, d, R_more, d_more, rows, values
  integer :: s, info, first, last

  call open_devObjects()
  call make_stream()

  ! the first window: its R and d
  rows = X(:window, :)
  values = y(:window)
  call devf_qr(rows, Q, R)
  d = y(:n)
  call devf_gemv('T', 1.0_dp, Q, values, 0.0_dp, d)
  call deallocate_dv(Q)

  worst = 0
  do s = 1, steps
    first = (s - 1)*step + 1  ! the oldest row of the window
    last = first + window - 1
    rows = X(last + 1:last + step, :)
    values = y(last + 1:last + step)
    call devf_qr_add_rows(none, R, 1, rows, none, R_more, d, d_more, values)
    rows = X(first:first + step - 1, :)
    values = y(first:first + step - 1)
    call devf_qr_remove_rows(none, R_more, 1, step, none, R, info, rows, d_more, d, values)
    if (info /= 0) error stop 'the window has lost its rank'

    c = solution()
    fresh = fresh_fit(X(first + step:last + step, :), y(first + step:last + step))
    worst = max(worst, maxval(abs(c - fresh))/maxval(abs(fresh)))
    if (mod(s, 10) == 0) print '(a, i5, a, 8f9.4)', 'after row', last + step, ': coefficients', c
  end do
  print '(a, i0, a, es8.1)', 'the largest relative difference from a fresh fit in ', steps, ' steps: ', worst
  call close_devObjects()
  if (.not. worst < tolerance) error stop 'the updated fit is not the fresh one'

contains

  ! Observations of a line whose slopes drift slowly.
  subroutine make_stream()
    integer :: i, j

    call random_init(repeatable=.true., image_distinct=.false.)
    call random_number(X)
    call random_number(noise)
    X(:, 1) = 1
    do i = 1, size(y)
      y(i) = sum(X(i, :)*[(j + 0.001_dp*i*(-1)**j, j=1, n)]) + 0.1_dp*(noise(i) - 0.5_dp)
    end do
  end subroutine make_stream

  ! R^-1 d
  function solution() result(c)
    real(dp) :: c(n)
    type(devVar) :: work

    work = d
    call devf_trsm('L', 'U', 'N', 'N', 1.0_dp, R, work)
    c = work
  end function solution

  function fresh_fit(A, b) result(c)
    real(dp), intent(in) :: A(:, :), b(:)
    real(dp) :: c(n), all(size(b))
    type(devVar) :: dA, db

    dA = A
    db = b
    call devf_gels('N', dA, db, info)
    all = db
    c = all(:n)
  end function fresh_fit

end program sliding_window
