!> QR methods by name (householder, block_householder, givens), and band matrices by rotations.
program test_givens
  use test_support, only: begin, finish, expect, expect_error, random_matrix, on_device, on_host, unit_roundoff, op, &
    scalar_types, identity, dp
  use devObjectQR
  use devObjectGivens
  implicit none
  !> Residuals are below this many eps, in the units of LAPACK's tests.
  real(dp), parameter :: bound = 30
  integer, parameter :: shapes(2, 7) = reshape([0, 0, 3, 0, 1, 1, 1, 5, 64, 65, 131, 97, 150, 150], [2, 7])
  character(17), parameter :: methods(3) = [character(17) :: 'householder', 'Block_Householder', 'GIVENS']
  character(14) :: type
  real(dp) :: eps
  integer :: t, s, k

  call begin('test_givens')
  do t = 1, 4
    type = scalar_types(t)
    eps = unit_roundoff(type)
    do s = 1, size(shapes, 2)
      do k = 1, size(methods)
        call factors(shapes(1, s), shapes(2, s), trim(methods(k)), .false.)
        call factors(shapes(1, s), shapes(2, s), trim(methods(k)), .true.)
      end do
    end do
    call band(1, 0, 0, 1)
    call band(50, 1, 1, 3)
    call band(64, 3, 3, 40)
    call band(70, 9, 5, 2)
    call singular()
  end do
  call errors()
  call finish()

contains

  real(dp) function norm1(Z)
    complex(dp), intent(in) :: Z(:, :)

    norm1 = 0
    if (size(Z) > 0) norm1 = maxval(sum(abs(Z), 1))
  end function norm1

  subroutine factors(m, n, method, full)
    integer, intent(in) :: m, n
    character(*), intent(in) :: method
    logical, intent(in) :: full
    complex(dp) :: A(m, n)
    complex(dp), allocatable :: Q(:, :), R(:, :)
    type(devVar) :: dA, dQ, dR
    integer :: j, k
    character(80) :: what

    write (what, '(4a, i0, a, i0)') trim(type), ' ', method, ' ', m, ' x ', n
    A = random_matrix(type, m, n)
    dA = on_device(type, A)
    call devf_qr(dA, dQ, dR, full=full, method=method)
    k = merge(m, min(m, n), full)
    call expect(dQ%rows() == m .and. dQ%cols() == k .and. dR%rows() == k .and. dR%cols() == n, trim(what)//': shapes')
    Q = on_host(dQ)
    R = on_host(dR)
    call expect(norm1(A - matmul(Q, R)) <= bound*norm1(A)*max(m, n)*eps, trim(what)//': A = Q R')
    call expect(norm1(matmul(op('C', Q), Q) - identity(k)) <= bound*m*eps, trim(what)//': orthogonal Q')
    do j = 1, n
      call expect(all(R(j + 1:, j) == 0), trim(what)//': R is triangular')
    end do
    call expect(all(on_host(dA) == A), trim(what)//': A is unchanged')
  end subroutine factors

  subroutine band(n, kl, ku, nrhs)
    integer, intent(in) :: n, kl, ku, nrhs
    complex(dp) :: A(n, n), AB(kl + ku + 1, n), B(n, nrhs), X(n, nrhs)
    type(devVar) :: dAB, dB
    type(devBandQR) :: F
    integer :: i, j, info
    character(60) :: what

    write (what, '(2a, i0, a, i0, a, i0)') trim(type), ' band ', n, ': ', kl, ', ', ku
    A = random_matrix(type, n, n)
    AB = 0
    do j = 1, n
      do i = 1, n
        if (i - j > kl .or. j - i > ku) then
          A(i, j) = 0
        else
          if (i == j) A(i, j) = A(i, j) + 4
          AB(ku + 1 + i - j, j) = A(i, j)
        end if
      end do
    end do
    B = random_matrix(type, n, nrhs)
    ! the diagonal's 4 may need rounding to the type
    dAB = on_device(type, AB)
    AB = on_host(dAB)
    do j = 1, n
      A(j, j) = AB(ku + 1, j)
    end do
    call devf_band_qr(dAB, kl, ku, F)
    dB = on_device(type, B)
    call devf_band_qr_solve(F, dB, info)
    X = on_host(dB)
    call expect(info == 0 .and. norm1(matmul(A, X) - B) <= bound*norm1(A)*norm1(X)*n*eps, trim(what)//': solves')
    dB = on_device(type, B)
    call devf_band_qr_apply(merge('C', 'T', index(type, 'complex') > 0), F, dB)
    call devf_band_qr_apply('n', F, dB)
    call expect(norm1(on_host(dB) - B) <= bound*norm1(B)*n*eps, trim(what)//": Q Q' B = B")
    ! the same variable takes new factors of the same shape
    call devf_band_qr(dAB, kl, ku, F)
  end subroutine band

  subroutine singular()
    complex(dp) :: AB(3, 8), B(8, 1)
    type(devVar) :: dAB, dB
    type(devBandQR) :: F
    integer :: info

    AB = 1
    AB(3, 5) = 0
    dAB = on_device(type, AB)
    call devf_band_qr(dAB, 0, 2, F)
    B = random_matrix(type, 8, 1)
    dB = on_device(type, B)
    call devf_band_qr_solve(F, dB, info)
    call expect(info == 5 .and. all(on_host(dB) == B), trim(type)//': a zero on the diagonal')
  end subroutine singular

  subroutine errors()
    type(devVar) :: AB, B, A, tau, other
    type(devBandQR) :: F, none
    character(300) :: message
    integer :: stat, info

    message = ''
    AB = allocate_dv('double', 4, 9)
    call devf_band_qr(AB, -1, 4, F, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'band_qr: kl is -1, must be 0 to 8')
    call devf_band_qr(AB, 1, 1, F, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'band_qr: AB has 4 rows, must have kl + ku + 1 = 3')
    call expect(.not. allocated_dv(F%R), 'what was allocated for a failed call is freed')
    AB = 1 + random_real(4, 9)
    call devf_band_qr(AB, 2, 1, F)
    B = random_real(8, 1)
    call devf_band_qr_solve(F, B, info, stat=stat, errmsg=message)
    call expect(info == -1, 'info of a failed call')
    call expect_error(stat, devobj_invalid_argument, message, 'band_qr_solve: B has 8 rows')
    call devf_band_qr_solve(none, B, info, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_handle, message, 'band_qr_solve')
    other = allocate_dv('real', 9, 1)
    call devf_band_qr_apply('T', F, other, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "B is of type 'real'")
    B = random_real(9, 1)
    call devf_band_qr_apply('C', F, B, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "band_qr_apply: op is 'C', must be 'N' or 'T'")
    A = random_real(6, 4)
    call devf_geqrf(A, tau, info, method='givens', stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "geqrf: method 'givens' is not available")
  end subroutine errors

  function random_real(m, n) result(A)
    integer, intent(in) :: m, n
    real(dp) :: A(m, n)

    call random_number(A)
  end function random_real

end program test_givens
