!> Mixed-precision solves: refined and fallen back, residuals, A and B afterwards, errors.
program test_mixed
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
  use test_support, only: begin, finish, expect, expect_error, random_matrix, on_device, on_host, unit_roundoff, op, dp
  use devObjectMixed
  implicit none
  !> Residuals are below this many eps, in the units of LAPACK's tests.
  real(dp), parameter :: bound = 30
  integer, parameter :: orders(4) = [0, 2, 37, 150], shapes(2, 4) = reshape([5, 5, 90, 40, 40, 90, 200, 7], [2, 4])
  character(14), parameter :: types(2) = [character(14) :: 'double', 'double complex']
  character(14) :: type
  integer :: t, s

  call begin('test_mixed')
  do t = 1, 2
    type = types(t)
    do s = 1, size(orders)
      call system(orders(s), 3)
    end do
    call system(37, 0)
    call system(60, 2, 'hybrid', 16)
    call system(150, 2, 'Randomized')
    do s = 1, size(shapes, 2)
      call least(shapes(1, s), shapes(2, s))
    end do
    call fallbacks()
  end do
  call errors()
  call finish()

contains

  real(dp) function norm1(Z)
    complex(dp), intent(in) :: Z(:, :)

    norm1 = 0
    if (size(Z) > 0) norm1 = maxval(sum(abs(Z), 1))
  end function norm1

  ! Uniform with a heavy diagonal: well-conditioned.
  function heavy(m, n) result(A)
    integer, intent(in) :: m, n
    complex(dp) :: A(m, n)
    integer :: i

    A = random_matrix(type, m, n)
    do i = 1, min(m, n)
      A(i, i) = A(i, i) + 4
    end do
  end function heavy

  subroutine system(n, nrhs, method, block)
    integer, intent(in) :: n, nrhs
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    complex(dp) :: A(n, n), B(n, nrhs), X(n, nrhs)
    type(devVar) :: dA, dB, ipiv
    integer :: info, iterations
    character(60) :: what

    write (what, '(2a, i0, a, i0)') trim(type), ' ', n, ', right-hand sides ', nrhs
    A = heavy(n, n)
    B = random_matrix(type, n, nrhs)
    dA = on_device(type, A)
    dB = on_device(type, B)
    call devf_gesv_mixed(dA, ipiv, dB, info, iterations, method, block)
    X = on_host(dB)
    call expect(info == 0 .and. iterations >= 0 .and. iterations <= 5, trim(what)//': refined')
    call expect(n*nrhs == 0 .or. iterations > 0, trim(what)//': single precision alone is not enough')
    call expect(norm1(matmul(A, X) - B) <= bound*norm1(A)*norm1(X)*n*epsilon(1._dp), trim(what)//': A X = B')
    call expect(all(on_host(dA) == A), trim(what)//': A is unchanged')
    call expect(ipiv%rows() == n .and. ipiv%kind() == 'integer', trim(what)//': ipiv is allocated')
  end subroutine system

  subroutine least(m, n)
    integer, intent(in) :: m, n
    complex(dp) :: A(m, n), B(max(m, n), 2), X(max(m, n), 2)
    type(devVar) :: dA, dB
    integer :: info, iterations
    character(60) :: what

    write (what, '(2a, i0, a, i0)') trim(type), ' least squares ', m, ' x ', n
    A = heavy(m, n)
    B = random_matrix(type, max(m, n), 2)
    dA = on_device(type, A)
    dB = on_device(type, B)
    call devf_gels_mixed('N', dA, dB, info, iterations)
    X = on_host(dB)
    call expect(info == 0 .and. iterations > 0 .and. iterations <= 6, trim(what)//': refined')
    call expect(all(on_host(dA) == A), trim(what)//': A is unchanged')
    if (m >= n) then
      call expect(norm1(matmul(op('C', A), B - matmul(A, X(:n, :)))) &
        <= bound*norm1(A)*(norm1(B) + norm1(A)*norm1(X(:n, :)))*m*epsilon(1._dp), trim(what)//': the normal equations')
    else
      call expect(norm1(B(:m, :) - matmul(A, X)) <= bound*norm1(A)*norm1(X)*n*epsilon(1._dp), trim(what)//': A X = B')
    end if
  end subroutine least

  subroutine fallbacks()
    complex(dp) :: A(30, 30), B(30, 2)
    type(devVar) :: dA, dB, ipiv
    integer :: info, iterations

    B = random_matrix(type, 30, 2)
    A = heavy(30, 30)
    A(:, 11) = 0
    dA = on_device(type, A)
    dB = on_device(type, B)
    call devf_gesv_mixed(dA, ipiv, dB, info, iterations)
    call expect(info == 11 .and. iterations == -3 .and. all(on_host(dB) == B), trim(type)//': a singular matrix')
    dA = on_device(type, A)
    call devf_gels_mixed('N', dA, dB, info, iterations)
    call expect(info == 11 .and. iterations == -3 .and. all(on_host(dB) == B), trim(type)//': a deficient matrix')
    A = 1e60_dp*heavy(30, 30)
    dA = on_device(type, A)
    call devf_gesv_mixed(dA, ipiv, dB, info, iterations)
    call expect(info == 0 .and. iterations == -2, trim(type)//': beyond single precision')
    call expect(norm1(matmul(A, on_host(dB)) - B) <= bound*30*epsilon(1._dp)*norm1(A)*norm1(on_host(dB)), &
      trim(type)//': solved in double precision')
    A(7, 9) = ieee_value(1._dp, ieee_quiet_nan)
    dA = on_device(type, A)
    dB = on_device(type, B)
    call devf_gesv_mixed(dA, ipiv, dB, info)
    call expect(any(on_host(dB) /= on_host(dB)), trim(type)//': NaN reaches the solution')
  end subroutine fallbacks

  subroutine errors()
    type(devVar) :: A, B, ipiv
    integer :: info, iterations, stat
    character(200) :: errmsg

    stat = -1
    errmsg = ''
    A = random_matrix('double', 4, 4)
    B = random_matrix('double', 5, 1)
    call devf_gesv_mixed(A, ipiv, B, info, iterations, stat=stat, errmsg=errmsg)
    call expect_error(stat, devobj_invalid_argument, errmsg, 'gesv_mixed: B has 5 rows, but A is 4 x 4')
    call expect(info == -1 .and. iterations == 0 .and. .not. allocated_dv(ipiv), 'nothing is left of a failed call')
    call devf_gesv_mixed(A, ipiv, B, info, method='fast', stat=stat, errmsg=errmsg)
    call expect_error(stat, devobj_invalid_argument, errmsg, "devf_gesv_mixed: method is 'fast', must be auto")
    call devf_gels_mixed('N', A, B, info, iterations, stat=stat, errmsg=errmsg)
    call expect_error(stat, devobj_invalid_argument, errmsg, 'gels_mixed: B has 5 rows')
    call devf_gels_mixed('N', A, B, info, method='fast', stat=stat, errmsg=errmsg)
    call expect_error(stat, devobj_invalid_argument, errmsg, "devf_gels_mixed: method is 'fast', must be auto")
    A = allocate_dv('real', 4, 4)
    B = allocate_dv('real', 4, 1)
    call devf_gesv_mixed(A, ipiv, B, info, stat=stat, errmsg=errmsg)
    call expect_error(stat, devobj_invalid_argument, errmsg, "gesv_mixed: A is of type 'real', must be 'double'")
    call devf_gels_mixed('N', A, B, info, stat=stat, errmsg=errmsg)
    call expect_error(stat, devobj_invalid_argument, errmsg, "gels_mixed: A is of type 'real', must be 'double'")
  end subroutine errors

end program test_mixed
