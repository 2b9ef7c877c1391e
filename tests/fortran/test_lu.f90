!> LU: residuals of the factors, of solutions and of the inverse, on shapes and methods; pivots on the host and on the device;
!> singular matrices; NaN.
program test_lu
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
  use test_support, only: begin, finish, expect, random_matrix, on_device, on_host, unit_roundoff, op, scalar_types, &
    identity, dp
  use devObjectLU
  implicit none
  !> Residuals are below this many eps, in the units of LAPACK's tests.
  real(dp), parameter :: bound = 30
  integer, parameter :: shapes(2, 9) = reshape([0, 0, 0, 3, 1, 1, 1, 5, 7, 1, 64, 65, 131, 97, 150, 200, 257, 257], [2, 9])
  character(14) :: type
  real(dp) :: eps
  integer :: t, s

  call begin('test_lu')
  do t = 1, 4
    type = scalar_types(t)
    eps = unit_roundoff(type)
    do s = 1, size(shapes, 2)
      call factors(shapes(1, s), shapes(2, s))
    end do
    call factors(129, 129, 'hybrid', 32)
    call factors(200, 90, 'hybrid', 16)
    call factors(90, 200, 'hybrid')
    if (backend_dv() == 'host') call factors(129, 129, 'lapack')
    do s = 0, 100, 50
      call solves(s, 3)
    end do
    call solves(37, 0)
    call singular()
    call not_a_number()
  end do
  call part_of_a_matrix()
  call finish()

contains

  ! max column sum
  real(dp) function norm1(Z)
    complex(dp), intent(in) :: Z(:, :)

    norm1 = 0
    if (size(Z) > 0) norm1 = maxval(sum(abs(Z), 1))
  end function norm1

  ! True if the residual is at most bound * scale * eps; false for NaN.
  logical function small(residual, scale)
    real(dp), intent(in) :: residual, scale

    small = residual <= bound*scale*eps
  end function small

  subroutine factors(m, n, method, block)
    integer, intent(in) :: m, n
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    complex(dp) :: A(m, n), U(min(m, n), n), L(m, min(m, n)), rows(m, n)
    type(devVar) :: dA, dA2, ipiv, dL, dU, dperm
    integer :: info, i, k, host_ipiv(min(m, n) + 2), device_ipiv(min(m, n)), perm(m)
    character(60) :: what

    write (what, '(2a, i0, a, i0)') trim(type), ' ', m, ' x ', n
    if (present(method)) what = trim(what)//' '//method
    k = min(m, n)
    A = random_matrix(type, m, n)
    dA = on_device(type, A)
    dA2 = dA
    call devf_getrf(dA, ipiv, info, method, block)
    call expect(info == 0, trim(what)//': info')
    call expect(ipiv%rows() == k .and. ipiv%kind() == 'integer', trim(what)//': ipiv is allocated')
    device_ipiv = ipiv
    call expect(all(device_ipiv >= [(i, i=1, k)]) .and. all(device_ipiv <= m), trim(what)//': pivots in range')

    call devf_lu_unpack(dA, ipiv, dL, dU, dperm)
    L = on_host(dL)
    U = on_host(dU)
    perm = dperm
    do i = 1, k
      call expect(all(L(:i - 1, i) == 0) .and. L(i, i) == 1 .and. all(U(i + 1:, i) == 0), trim(what)//': triangular factors')
    end do
    ! |l| <= 1; for complex elements the pivot is the largest |re| + |im|, hence |l| <= sqrt(2)
    call expect(all(abs(L) <= sqrt(merge(2._dp, 1._dp, t > 2)) + 4*eps), trim(what)//': partial pivoting')
    rows = A(perm, :)
    call expect(small(norm1(rows - matmul(L, U)), norm1(A)*max(m, n)), trim(what)//': P A = L U')
    rows = on_host(dA)
    call expect(all(U == upper(rows(:k, :))), trim(what)//': unpacked U')

    host_ipiv = -7
    call devf_getrf(dA2, host_ipiv, info, method, block)
    call expect(all(host_ipiv(:k) == device_ipiv) .and. all(host_ipiv(k + 1:) == -7), trim(what)//': pivots on the host')
    call expect(all(on_host(dA2) == rows), trim(what)//': the same from run to run')
  end subroutine factors

  pure function upper(Z) result(U)
    complex(dp), intent(in) :: Z(:, :)
    complex(dp) :: U(size(Z, 1), size(Z, 2))
    integer :: j

    U = 0
    do j = 1, size(Z, 2)
      U(:min(j, size(Z, 1)), j) = Z(:min(j, size(Z, 1)), j)
    end do
  end function upper

  subroutine solves(n, nrhs)
    integer, intent(in) :: n, nrhs
    complex(dp) :: A(n, n), B(n, nrhs), X(n, nrhs), first(n, nrhs), inverse(n, n)
    character, parameter :: letters(3) = ['N', 't', 'C']
    type(devVar) :: dA, dLU, dB, ipiv
    integer :: info, i, host_ipiv(n)
    character(60) :: what

    write (what, '(2a, i0, a, i0)') trim(type), ' ', n, ', right-hand sides ', nrhs
    A = random_matrix(type, n, n)
    B = random_matrix(type, n, nrhs)
    dA = on_device(type, A)
    dLU = dA
    dB = on_device(type, B)
    call devf_gesv(dLU, ipiv, dB, info)
    X = on_host(dB)
    first = X
    call expect(info == 0 .and. small(norm1(matmul(A, X) - B), norm1(A)*norm1(X)*n), trim(what)//': gesv')
    host_ipiv = ipiv
    do i = 1, 3
      dB = on_device(type, B)
      call devf_getrs(letters(i), dLU, ipiv, dB)
      X = on_host(dB)
      call expect(small(norm1(matmul(op('NTC'(i:i), A), X) - B), norm1(op('T', A))*norm1(X)*n + norm1(A)*norm1(X)*n), &
        trim(what)//': getrs '//letters(i))
      dB = on_device(type, B)
      call devf_getrs(letters(i), dLU, host_ipiv, dB)
      call expect(all(on_host(dB) == X), trim(what)//': getrs with pivots on the host')
    end do
    call devf_getri(dLU, host_ipiv, info)
    inverse = on_host(dLU)
    call expect(info == 0 .and. small(norm1(matmul(inverse, A) - identity(n)), norm1(A)*norm1(inverse)*n), trim(what)//': getri')

    dB = on_device(type, B)
    host_ipiv = 0
    call devf_gesv(dA, host_ipiv, dB, info)
    call expect(info == 0 .and. all(on_host(dB) == first), trim(what)//': gesv with pivots on the host')
  end subroutine solves

  subroutine singular()
    complex(dp) :: A(40, 40), B(40, 2)
    type(devVar) :: dA, dB, ipiv
    integer :: info

    A = random_matrix(type, 40, 40)
    A(:, 13) = 0
    B = random_matrix(type, 40, 2)
    dA = on_device(type, A)
    dB = on_device(type, B)
    call devf_gesv(dA, ipiv, dB, info)
    call expect(info == 13 .and. all(on_host(dB) == B), trim(type)//': gesv of a singular matrix')
    A = on_host(dA)
    call devf_getri(dA, ipiv, info)
    call expect(info == 13 .and. all(on_host(dA) == A), trim(type)//': getri of a singular matrix')
    dA = on_device(type, 0*A)
    call devf_getrf(dA, ipiv, info)
    call expect(info == 1 .and. all(on_host(dA) == 0), trim(type)//': zero matrix')
  end subroutine singular

  ! A NaN reaches the factors and the solution; pivots stay in range.
  subroutine not_a_number()
    complex(dp) :: A(50, 50), B(50, 1)
    type(devVar) :: dA, dB, ipiv
    integer :: info, pivots(50)

    A = random_matrix(type, 50, 50)
    A(20, 30) = ieee_value(1._dp, ieee_quiet_nan)
    dA = on_device(type, A)
    dB = on_device(type, random_matrix(type, 50, 1))
    call devf_getrf(dA, ipiv, info)
    pivots = ipiv
    call expect(all(pivots >= 1) .and. all(pivots <= 50), trim(type)//': pivots in range with a NaN')
    A = on_host(dA)
    call expect(any(A /= A), trim(type)//': the NaN is in the factors')
    call devf_getrs('N', dA, ipiv, dB)
    B = on_host(dB)
    call expect(any(B /= B), trim(type)//': the NaN is in the solution')
  end subroutine not_a_number

  ! A block of a bigger object; the rest of it is untouched.
  subroutine part_of_a_matrix()
    real(dp) :: A(80, 90), before(80, 90)
    logical :: outside(80, 90)
    type(devVar) :: dA, whole, ipiv, ipiv2
    integer :: info

    call random_number(A)
    before = A
    dA = A
    whole = A(11:70, 21:80)
    call devf_getrf(view_dv(dA, 11, 70, 21, 80), ipiv, info)
    call devf_getrf(whole, ipiv2, info)
    A = dA
    outside = .true.
    outside(11:70, 21:80) = .false.
    call expect(all(A == before .or. .not. outside), 'a block: the rest is untouched')
    before(11:70, 21:80) = whole
    call expect(maxval(abs(A(11:70, 21:80) - before(11:70, 21:80))) <= 1000*epsilon(1._dp)*maxval(abs(before)), &
      'a block: the factors are those of the matrix')
  end subroutine part_of_a_matrix

end program test_lu
