!> QR: residuals and orthogonality of the factors on shapes and methods, products with Q, and least squares in all its forms.
program test_qr
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
  use test_support, only: begin, finish, expect, random_matrix, on_device, on_host, unit_roundoff, op, scalar_types, &
    identity, dp
  use devObjectQR
  implicit none
  !> Residuals are below this many eps, in the units of LAPACK's tests.
  real(dp), parameter :: bound = 30
  integer, parameter :: shapes(2, 9) = reshape([0, 0, 3, 0, 1, 1, 1, 5, 7, 1, 64, 65, 131, 97, 150, 200, 257, 257], [2, 9])
  character(14) :: type
  character :: adjoint
  real(dp) :: eps
  integer :: t, s

  call begin('test_qr')
  do t = 1, 4
    type = scalar_types(t)
    adjoint = merge('C', 'T', t > 2)
    eps = unit_roundoff(type)
    do s = 1, size(shapes, 2)
      call factors(shapes(1, s), shapes(2, s))
      call explicit_factors(shapes(1, s), shapes(2, s))
    end do
    call factors(150, 100, 'hybrid', 16)
    call factors(100, 150, 'Hybrid')
    if (backend_dv() == 'host') call factors(150, 100, 'lapack')
    call least_squares(60, 20, 3, 'N')
    call least_squares(20, 60, 3, 'N')
    call least_squares(60, 20, 3, adjoint)
    call least_squares(20, 60, 3, adjoint)
    call least_squares(40, 40, 1, 'N')
    call rank_deficient()
    call not_a_number()
  end do
  call part_of_a_matrix()
  call finish()

contains

  real(dp) function norm1(Z)
    complex(dp), intent(in) :: Z(:, :)

    norm1 = 0
    if (size(Z) > 0) norm1 = maxval(sum(abs(Z), 1))
  end function norm1

  logical function small(residual, scale)
    real(dp), intent(in) :: residual, scale

    small = residual <= bound*scale*eps
  end function small

  ! geqrf, orgqr and ormqr
  subroutine factors(m, n, method, block)
    integer, intent(in) :: m, n
    character(*), intent(in), optional :: method
    integer, intent(in), optional :: block
    complex(dp) :: A(m, n), Q(m, min(m, n)), R(min(m, n), n), C(m, 4), D(4, m), again(m, n)
    type(devVar) :: dA, dA2, tau, tau2, dQ, dC
    integer :: info, i, j, k
    character(60) :: what

    write (what, '(2a, i0, a, i0)') trim(type), ' ', m, ' x ', n
    if (present(method)) what = trim(what)//' '//method
    k = min(m, n)
    A = random_matrix(type, m, n)
    dA = on_device(type, A)
    dA2 = dA
    call devf_geqrf(dA, tau, info, method, block)
    call expect(info == 0 .and. tau%rows() == k .and. tau%kind() == type, trim(what)//': tau is allocated')
    again = on_host(dA)
    R = 0
    do j = 1, n
      do i = 1, min(j, k)
        R(i, j) = again(i, j)
      end do
    end do
    call devf_geqrf(dA2, tau2, info, method, block)
    call expect(all(on_host(dA2) == again), trim(what)//': the same from run to run')

    if (m == 0 .or. n == 0) return
    dQ = view_dv(dA, 1, m, 1, k)
    call devf_orgqr(dQ, tau)
    Q = on_host(dQ)
    call expect(small(norm1(A - matmul(Q, R)), norm1(A)*max(m, n)), trim(what)//': A = Q R')
    call expect(small(norm1(matmul(op('C', Q), Q) - identity(k)), real(m, dp)), trim(what)//': orthogonal Q')

    ! products with Q are those with its columns
    C = random_matrix(type, m, 4)
    dC = on_device(type, C)
    call devf_ormqr('L', adjoint, view_dv(dA2, 1, m, 1, k), tau2, dC)
    call expect(small(norm1(head(on_host(dC), k) - matmul(op('C', Q), C)), norm1(C)*m), trim(what)//": Q' C")
    call devf_ormqr('l', 'n', view_dv(dA2, 1, m, 1, k), tau2, dC)
    call expect(small(norm1(on_host(dC) - C), norm1(C)*m), trim(what)//": Q Q' C = C")
    D = random_matrix(type, 4, m)
    dC = on_device(type, D)
    call devf_ormqr('R', 'N', view_dv(dA2, 1, m, 1, k), tau2, dC)
    call expect(small(norm1(columns(on_host(dC), k) - matmul(D, Q)), norm1(D)*m), trim(what)//': D Q')
    call devf_ormqr('R', adjoint, view_dv(dA2, 1, m, 1, k), tau2, dC)
    call expect(small(norm1(on_host(dC) - D), norm1(D)*m), trim(what)//": D Q Q' = D")
  end subroutine factors

  function head(Z, k) result(H)
    complex(dp), intent(in) :: Z(:, :)
    integer, intent(in) :: k
    complex(dp) :: H(k, size(Z, 2))

    H = Z(:k, :)
  end function head

  function columns(Z, k) result(H)
    complex(dp), intent(in) :: Z(:, :)
    integer, intent(in) :: k
    complex(dp) :: H(size(Z, 1), k)

    H = Z(:, :k)
  end function columns

  ! devf_qr, economic and full
  subroutine explicit_factors(m, n)
    integer, intent(in) :: m, n
    complex(dp) :: A(m, n)
    complex(dp), allocatable :: Q(:, :), R(:, :)
    type(devVar) :: dA, economic_Q, economic_R, full_Q, full_R
    integer :: j, k
    character(60) :: what

    write (what, '(2a, i0, a, i0)') trim(type), ' devf_qr ', m, ' x ', n
    k = min(m, n)
    A = random_matrix(type, m, n)
    dA = on_device(type, A)
    call devf_qr(dA, economic_Q, economic_R)
    call expect(all(on_host(dA) == A), trim(what)//': A is unchanged')
    Q = on_host(economic_Q)
    R = on_host(economic_R)
    call expect(all([shape(Q), shape(R)] == [m, k, k, n]), trim(what)//': economic shapes')
    call expect(small(norm1(A - matmul(Q, R)), norm1(A)*max(m, n)), trim(what)//': economic A = Q R')
    call expect(small(norm1(matmul(op('C', Q), Q) - identity(k)), real(m, dp)), trim(what)//': economic Q')
    do j = 1, k
      call expect(all(R(j + 1:, j) == 0), trim(what)//': economic R is triangular')
    end do
    call devf_qr(dA, full_Q, full_R, full=.true.)
    Q = on_host(full_Q)
    R = on_host(full_R)
    call expect(all([shape(Q), shape(R)] == [m, m, m, n]), trim(what)//': full shapes')
    call expect(small(norm1(A - matmul(Q, R)), norm1(A)*max(m, n)), trim(what)//': full A = Q R')
    call expect(small(norm1(matmul(op('C', Q), Q) - identity(m)), real(m, dp)), trim(what)//': full Q')
    do j = 1, n
      call expect(all(R(j + 1:, j) == 0), trim(what)//': full R is triangular')
    end do
  end subroutine explicit_factors

  ! min ||B - op(A) X|| or the X of least norm: the residual is orthogonal to the range, X to the null space.
  subroutine least_squares(m, n, nrhs, trans)
    integer, intent(in) :: m, n, nrhs
    character, intent(in) :: trans
    complex(dp) :: A(m, n), whole(max(m, n), nrhs)
    complex(dp), allocatable :: opA(:, :), B(:, :), X(:, :), residual(:, :)
    type(devVar) :: dA, dB
    integer :: info, rows, cols, j
    character(60) :: what

    write (what, '(2a, i0, a, i0, 2a)') trim(type), ' gels ', m, ' x ', n, ' ', trans
    A = random_matrix(type, m, n)
    opA = op(merge('N', 'C', trans == 'N'), A)
    rows = size(opA, 1)
    cols = size(opA, 2)
    whole = random_matrix(type, max(m, n), nrhs)
    B = whole(:rows, :)
    dA = on_device(type, A)
    dB = on_device(type, whole)
    call devf_gels(trans, dA, dB, info)
    call expect(info == 0, trim(what)//': info')
    whole = on_host(dB)
    X = whole(:cols, :)
    residual = B - matmul(opA, X)
    if (rows >= cols) then
      call expect(small(norm1(matmul(op('C', opA), residual)), norm1(A)*(norm1(A)*norm1(X) + norm1(B))*max(m, n)), &
        trim(what)//': the residual is orthogonal')
      do j = 1, nrhs
        call expect(small(abs(sum(abs(residual(:, j))**2) - sum(abs(whole(cols + 1:rows, j))**2)), &
          sum(abs(B(:, j))**2)*max(m, n)), trim(what)//': sum of squares')
      end do
    else
      call expect(small(norm1(residual), norm1(A)*norm1(X)*max(m, n)), trim(what)//': solves')
      call expect(in_range(op('C', opA), X), trim(what)//': least norm')
    end if
  end subroutine least_squares

  ! True if X = M Y for a Y: what is left of X after its projection on M's columns is small.
  logical function in_range(M, X)
    complex(dp), intent(in) :: M(:, :), X(:, :)
    complex(dp) :: Q(size(M, 1), size(M, 2)), Y(size(X, 1), size(X, 2))
    integer :: i, j, pass

    Q = M
    do j = 1, size(Q, 2)
      do pass = 1, 2
        do i = 1, j - 1
          Q(:, j) = Q(:, j) - dot_product(Q(:, i), Q(:, j))*Q(:, i)
        end do
      end do
      Q(:, j) = Q(:, j)/sqrt(sum(abs(Q(:, j))**2))
    end do
    Y = X - matmul(Q, matmul(op('C', Q), X))
    in_range = small(norm1(Y), norm1(X)*size(M, 1))
  end function in_range

  subroutine rank_deficient()
    complex(dp) :: A(30, 10), B(30, 2)
    type(devVar) :: dA, dB
    integer :: info

    A = random_matrix(type, 30, 10)
    A(:, 7) = 0
    B = random_matrix(type, 30, 2)
    dA = on_device(type, A)
    dB = on_device(type, B)
    call devf_gels('N', dA, dB, info)
    call expect(info == 7 .and. all(on_host(dB) == B), trim(type)//': gels with a zero column')
    A(:, 7) = A(:, 2) - A(:, 5)
    dA = on_device(type, A)
    call devf_gels('N', dA, dB, info)
    call expect(info > 0 .and. all(on_host(dB) == B), trim(type)//': gels with a dependent column')
  end subroutine rank_deficient

  subroutine not_a_number()
    complex(dp) :: A(50, 30)
    type(devVar) :: dA, Q, R
    complex(dp), allocatable :: computed(:, :)

    A = random_matrix(type, 50, 30)
    A(20, 10) = ieee_value(1._dp, ieee_quiet_nan)
    dA = on_device(type, A)
    call devf_qr(dA, Q, R)
    computed = on_host(R)
    call expect(computed(10, 10) /= computed(10, 10) .and. all(computed(1, 1:9) == computed(1, 1:9)), &
      trim(type)//': a NaN is in R from its column on')
  end subroutine not_a_number

  ! A block of a bigger object; the rest of it is untouched.
  subroutine part_of_a_matrix()
    real(dp) :: A(80, 70), before(80, 70)
    logical :: outside(80, 70)
    type(devVar) :: dA, tau
    integer :: info

    call random_number(A)
    before = A
    dA = A
    call devf_geqrf(view_dv(dA, 11, 70, 21, 60), tau, info)
    A = dA
    outside = .true.
    outside(11:70, 21:60) = .false.
    call expect(all(A == before .or. .not. outside) .and. .not. any(A == before .and. .not. outside), &
      'a block: it is factored, the rest is untouched')
    call devf_ormqr('L', 'T', view_dv(dA, 11, 70, 21, 60), tau, view_dv(dA, 11, 70, 1, 20))
    before(11:70, 1:20) = view_dv(dA, 11, 70, 1, 20)
    A = dA
    outside(11:70, 1:20) = .true.
    call expect(all(A(11:70, 1:20) == before(11:70, 1:20)) .and. all(A(:10, :) == before(:10, :)) &
      .and. all(A(71:, :) == before(71:, :)) .and. all(A(:, 61:) == before(:, 61:)), 'ormqr on a block')
  end subroutine part_of_a_matrix

end program test_qr
