!> Every BLAS routine and matrix utility, in the four types, against Fortran's own array expressions in double complex.
program test_blas
  use test_support, only: begin, finish, expect, random_matrix, on_device, on_host, unit_roundoff, op, scalar_types, dp, sp
  use devObjectBLAS
  implicit none
  character, parameter :: ops(3) = ['N', 'T', 'C']
  ! m, n, k: empty, one, odd and prime
  integer, parameter :: shapes(3, 6) = reshape([0, 3, 2, 1, 1, 1, 5, 3, 4, 17, 13, 0, 31, 37, 29, 64, 33, 65], [3, 6])
  character(14) :: type
  real(dp) :: eps
  integer :: t, s

  call begin('test_blas')
  do t = 1, 4
    type = scalar_types(t)
    eps = unit_roundoff(type)
    call level1()
    do s = 1, size(shapes, 2)
      call level2(shapes(1, s), shapes(2, s))
      call products(shapes(1, s), shapes(2, s), shapes(3, s))
      call symmetric(shapes(1, s), shapes(2, s))
      call triangular(shapes(1, s), shapes(2, s))
      call utilities(shapes(1, s), shapes(2, s))
    end do
    call blocks()
  end do
  call single_factors()
  call finish()

contains

  logical function is_complex()
    is_complex = type == 'complex' .or. type == 'double complex'
  end function is_complex

  function make(m, n) result(Z)
    integer, intent(in) :: m, n
    complex(dp) :: Z(m, n)

    Z = random_matrix(type, m, n)
  end function make

  ! A factor that the type allows.
  complex(dp) function factor()
    complex(dp) :: Z(1, 1)

    Z = make(1, 1)
    factor = Z(1, 1)
  end function factor

  ! |computed - expected| <= 8 max(1, depth) eps, elementwise; the elements are of size sqrt(depth).
  subroutine check(dv, expected, depth, what)
    class(devVar), intent(in) :: dv
    complex(dp), intent(in) :: expected(:, :)
    integer, intent(in) :: depth
    character(*), intent(in) :: what

    call expect(near(on_host(dv), expected, depth), trim(type)//': '//what)
  end subroutine check

  logical function near(computed, expected, depth)
    complex(dp), intent(in) :: computed(:, :), expected(:, :)
    integer, intent(in) :: depth

    near = all(shape(computed) == shape(expected))
    if (near) near = all(abs(computed - expected) <= 8*max(1, depth)*eps)
  end function near

  subroutine level1()
    complex(dp) :: X(7, 3), Y(7, 3), alpha, dot_8
    complex(sp) :: dot_4
    real(dp) :: result_8
    real(sp) :: result_4
    type(devVar) :: dx, dy
    integer :: position
    integer(kind=8) :: position_8

    X = make(7, 3)
    Y = make(7, 3)
    alpha = factor()
    dx = on_device(type, X)
    dy = on_device(type, Y)
    call devf_swap(dx, dy)
    call check(dx, Y, 0, 'swap')
    call check(dy, X, 0, 'swap')
    call devf_swap(dx, dy)
    call devf_axpy(alpha, dx, dy)
    Y = Y + alpha*X
    call check(dy, Y, 1, 'axpy')
    call devf_scal(alpha, dy)
    Y = alpha*Y
    call check(dy, Y, 1, 'scal')
    Y = on_host(dy)
    if (is_complex()) then
      call devf_dotu(dx, dy, dot_8)
      call expect(abs(dot_8 - sum(X*Y)) <= 21*4*eps, trim(type)//': dotu')
      call devf_dotu(dx, dy, dot_4)
      call expect(abs(dot_4 - sum(X*Y)) <= 21*4*epsilon(1.0), trim(type)//': dotu, single')
      call devf_dotc(dx, dy, dot_8)
      call expect(abs(dot_8 - sum(conjg(X)*Y)) <= 21*4*eps, trim(type)//': dotc')
      call devf_dotc(dx, dy, dot_4)
      call expect(abs(dot_4 - sum(conjg(X)*Y)) <= 21*4*epsilon(1.0), trim(type)//': dotc, single')
    else
      call devf_dot(dx, dy, result_8)
      call expect(abs(result_8 - sum(X*Y)) <= 21*4*eps, trim(type)//': dot')
      call devf_dot(dx, dy, result_4)
      call expect(abs(result_4 - sum(X*Y)) <= 21*4*epsilon(1.0), trim(type)//': dot, single')
    end if
    call devf_nrm2(dx, result_8)
    call expect(abs(result_8 - sqrt(sum(abs(X)**2))) <= 21*eps, trim(type)//': nrm2')
    call devf_nrm2(dx, result_4)
    call expect(abs(result_4 - sqrt(sum(abs(X)**2))) <= 21*epsilon(1.0), trim(type)//': nrm2, single')
    call devf_asum(dx, result_8)
    call expect(abs(result_8 - sum(abs(X%re) + abs(X%im))) <= 42*eps, trim(type)//': asum')
    call devf_asum(dx, result_4)
    call expect(abs(result_4 - sum(abs(X%re) + abs(X%im))) <= 42*epsilon(1.0), trim(type)//': asum, single')
    call devf_iamax(dx, position)
    call expect(position == maxloc(reshape(abs(X%re) + abs(X%im), [21]), 1), trim(type)//': iamax')
    call devf_iamax(dx, position_8)
    call expect(position_8 == position, trim(type)//': iamax, 64 bits')
  end subroutine level1

  subroutine level2(m, n)
    integer, intent(in) :: m, n
    complex(dp) :: A(m, n), x(n, 1), y(m, 1), alpha, beta
    complex(dp), allocatable :: opA(:, :), rhs(:, :)
    type(devVar) :: dA, dx, dy
    integer :: i

    A = make(m, n)
    alpha = factor()
    beta = factor()
    dA = on_device(type, A)
    do i = 1, 3
      opA = op(ops(i), A)
      rhs = make(size(opA, 2), 1)
      dx = on_device(type, rhs)
      y = 0
      dy = on_device(type, make(size(opA, 1), 1))
      rhs = alpha*matmul(opA, rhs) + beta*on_host(dy)
      call devf_gemv(ops(i), alpha, dA, dx, beta, dy)
      call check(dy, rhs, size(opA, 2), 'gemv '//ops(i))
    end do

    x = make(n, 1)
    y = make(m, 1)
    dx = on_device(type, x)
    dy = on_device(type, y)
    call devf_geru(alpha, dy, dx, dA)
    A = A + alpha*matmul(y, transpose(x))
    call check(dA, A, 2, 'geru')
    dA = on_device(type, A)
    A = on_host(dA)
    call devf_gerc(alpha, dy, dx, dA)
    A = A + alpha*matmul(y, conjg(transpose(x)))
    call check(dA, A, 2, 'gerc')
    if (is_complex()) return
    dA = on_device(type, A)
    A = on_host(dA)
    call devf_ger(real(alpha), dy, dx, dA)
    A = A + alpha*matmul(y, transpose(x))
    call check(dA, A, 2, 'ger')
  end subroutine level2

  subroutine products(m, n, k)
    integer, intent(in) :: m, n, k
    complex(dp) :: A(m, k), B(k, n), C(m, n), alpha, beta
    type(devVar) :: dA, dB, dC
    integer :: i, j

    A = make(m, k)
    B = make(k, n)
    alpha = factor()
    beta = factor()
    do j = 1, 3
      do i = 1, 3
        C = make(m, n)
        dA = on_device(type, op(ops(i), A))
        dB = on_device(type, op(ops(j), B))
        dC = on_device(type, C)
        call devf_gemm(ops(i), ops(j), alpha, dA, dB, beta, dC)
        call check(dC, alpha*matmul(A, B) + beta*C, k, 'gemm '//ops(i)//ops(j))
      end do
    end do
    ! beta = 0 overwrites what is there, also NaN
    C = cmplx(0, 0, dp)
    dC = on_device(type, C/C)
    call devf_gemm('C', 'T', alpha, dA, dB, (0d0, 0d0), dC)
    call check(dC, alpha*matmul(A, op('T', op('C', B))), k, 'gemm with beta = 0')
  end subroutine products

  subroutine symmetric(m, n)
    integer, intent(in) :: m, n
    complex(dp) :: S(m, m), T(n, n), B(m, n), C(m, n), alpha, beta
    type(devVar) :: dS, dT, dB, dC
    integer :: u

    do u = 1, 2
      B = make(m, n)
      C = make(m, n)
      alpha = factor()
      beta = factor()
      S = make(m, m)
      T = make(n, n)
      dS = on_device(type, S)
      dT = on_device(type, T)
      dB = on_device(type, B)

      dC = on_device(type, C)
      call devf_symm('L', 'UL'(u:u), alpha, dS, dB, beta, dC)
      call check(dC, alpha*matmul(full(S, u, .false.), B) + beta*C, m, 'symm L')
      dC = on_device(type, C)
      call devf_symm('R', 'UL'(u:u), alpha, dT, dB, beta, dC)
      call check(dC, alpha*matmul(B, full(T, u, .false.)) + beta*C, n, 'symm R')
      dC = on_device(type, C)
      call devf_hemm('L', 'UL'(u:u), alpha, dS, dB, beta, dC)
      call check(dC, alpha*matmul(full(S, u, .true.), B) + beta*C, m, 'hemm L')
      dC = on_device(type, C)
      call devf_hemm('R', 'UL'(u:u), alpha, dT, dB, beta, dC)
      call check(dC, alpha*matmul(B, full(T, u, .true.)) + beta*C, n, 'hemm R')

      dC = on_device(type, S)
      call devf_syrk('UL'(u:u), 'N', alpha, dB, beta, dC)
      call check(dC, merge(alpha*matmul(B, op('T', B)) + beta*S, S, triangle(m, m, u)), n, 'syrk N')
      dC = on_device(type, T)
      call devf_syrk('UL'(u:u), 'T', alpha, dB, beta, dC)
      call check(dC, merge(alpha*matmul(op('T', B), B) + beta*T, T, triangle(n, n, u)), m, 'syrk T')
      S = full(S, u, .true.)
      dC = on_device(type, S)
      call devf_herk('UL'(u:u), 'N', alpha%re, dB, beta%re, dC)
      call check(dC, merge(alpha%re*matmul(B, op('C', B)) + beta%re*S, S, triangle(m, m, u)), n, 'herk N')
      T = full(T, u, .true.)
      dC = on_device(type, T)
      call devf_herk('UL'(u:u), 'C', real(alpha%re, sp), dB, real(beta%re, sp), dC)
      call check(dC, merge(real(alpha%re, sp)*matmul(op('C', B), B) + real(beta%re, sp)*T, T, triangle(n, n, u)), m, 'herk C')
    end do
  end subroutine symmetric

  subroutine triangular(m, n)
    integer, intent(in) :: m, n
    complex(dp) :: S(m, m), T(n, n), B(m, n), x(m, 1), alpha
    complex(dp), allocatable :: left(:, :), right(:, :)
    type(devVar) :: dS, dT, dB, dx
    integer :: u, d, i

    do u = 1, 2
      do d = 1, 2
        ! small elements and a large diagonal, so that the inverse is small too
        S = make(m, m)/max(1, m) + 2*unit(m, m)
        T = make(n, n)/max(1, n) + 2*unit(n, n)
        dS = on_device(type, S)
        dT = on_device(type, T)
        S = on_host(dS)
        T = on_host(dT)
        do i = 1, 3
          left = op(ops(i), part(S, u, d))
          right = op(ops(i), part(T, u, d))
          B = make(m, n)
          x = make(m, 1)
          alpha = factor()

          dx = on_device(type, x)
          call devf_trmv('UL'(u:u), ops(i), 'NU'(d:d), dS, dx)
          call check(dx, matmul(left, x), m, 'trmv')
          dx = on_device(type, x)
          call devf_trsv('UL'(u:u), ops(i), 'NU'(d:d), dS, dx)
          call expect(near(matmul(left, on_host(dx)), x, m), trim(type)//': trsv')

          dB = on_device(type, B)
          call devf_trmm('L', 'UL'(u:u), ops(i), 'NU'(d:d), alpha, dS, dB)
          call check(dB, alpha*matmul(left, B), m, 'trmm L')
          dB = on_device(type, B)
          call devf_trmm('R', 'UL'(u:u), ops(i), 'NU'(d:d), alpha, dT, dB)
          call check(dB, alpha*matmul(B, right), n, 'trmm R')
          dB = on_device(type, B)
          call devf_trsm('L', 'UL'(u:u), ops(i), 'NU'(d:d), alpha, dS, dB)
          call expect(near(matmul(left, on_host(dB)), alpha*B, m), trim(type)//': trsm L')
          dB = on_device(type, B)
          call devf_trsm('R', 'UL'(u:u), ops(i), 'NU'(d:d), alpha, dT, dB)
          call expect(near(matmul(on_host(dB), right), alpha*B, n), trim(type)//': trsm R')
        end do
      end do
    end do
  end subroutine triangular

  subroutine utilities(m, n)
    integer, intent(in) :: m, n
    complex(dp) :: A(m, n), B(m, n), Z(n, n), alpha, beta
    type(devVar) :: dA, dB, dipiv
    real(dp) :: norm, expected(4)
    real(sp) :: norm_4
    integer :: i, u, ipiv(m)

    A = make(m, n)
    B = make(m, n)
    dA = on_device(type, A)
    do u = 1, 3
      dB = on_device(type, B)
      call devf_lacpy('ULG'(u:u), dA, dB)
      call check(dB, merge(A, B, triangle(m, n, u)), 0, 'lacpy '//'ULG'(u:u))
      alpha = factor()
      beta = factor()
      dB = on_device(type, B)
      call devf_laset('ULG'(u:u), alpha, beta, dB)
      call check(dB, merge(merge(beta, alpha, unit(m, n) == 1), B, triangle(m, n, u)), 0, 'laset '//'ULG'(u:u))
    end do

    dB = allocate_dv(trim(type), n, m)
    call devf_transpose('T', dA, dB)
    call check(dB, transpose(A), 0, 'transpose T')
    call devf_transpose('C', dA, dB)
    call check(dB, conjg(transpose(A)), 0, 'transpose C')
    Z = make(n, n)
    dB = on_device(type, Z)
    call devf_transpose('C', dB, dB)
    call check(dB, conjg(transpose(Z)), 0, 'transpose in place')

    ipiv = [(i + mod(7*i, m - i + 1), i=1, m)]
    dipiv = ipiv
    if (m > 0) then
      B = A
      do i = 2, m
        B([i, ipiv(i)], :) = B([ipiv(i), i], :)
      end do
      dB = dA
      call devf_laswp(dB, 2, m, dipiv)
      call check(dB, B, 0, 'laswp')
      call devf_laswp(dB, 2, m, dipiv, forward=.false.)
      call check(dB, A, 0, 'laswp backward')
    end if

    expected = [sqrt(sum(abs(A)**2)), 0._dp, 0._dp, 0._dp]
    if (size(A) > 0) expected(2:) = [maxval(sum(abs(A), 1)), maxval(sum(abs(A), 2)), maxval(abs(A))]
    do i = 1, 4
      call devf_lange('F1IM'(i:i), dA, norm)
      call expect(abs(norm - expected(i)) <= 4*max(m, n)*eps*max(1._dp, expected(i)), trim(type)//': lange '//'F1IM'(i:i))
    end do
    call devf_lange('e', dA, norm_4)
    call expect(abs(norm_4 - expected(1)) <= 4*max(m, n)*epsilon(1.0)*max(1._dp, expected(1)), trim(type)//': lange, single')
  end subroutine utilities

  ! Blocks of bigger objects as operands and results: the rest of them is untouched.
  subroutine blocks()
    complex(dp) :: A(20, 20), C(15, 18)
    type(devVar) :: dA, dC

    A = make(20, 20)
    C = make(15, 18)
    dA = on_device(type, A)
    dC = on_device(type, C)
    call devf_gemm('N', 'C', 1d0, view_dv(dA, 3, 9, 2, 12), view_dv(dA, 11, 16, 5, 15), -1d0, view_dv(dC, 4, 10, 7, 12))
    C(4:10, 7:12) = matmul(A(3:9, 2:12), op('C', A(11:16, 5:15))) - C(4:10, 7:12)
    call check(dC, C, 11, 'gemm on blocks')
    call devf_gemv('N', 2d0, view_dv(dA, 1, 4, 1, 3), view_dv(dA, 20, 20, 18, 20), 0d0, view_dv(dC, 2, 5, 1, 1))
    C = on_host(dC)
    call expect(near(C(2:5, 1:1), 2*matmul(A(1:4, 1:3), transpose(A(20:20, 18:20))), 3), trim(type)//': gemv with a row')
  end subroutine blocks

  ! Factors of each kind with objects of another.
  subroutine single_factors()
    type(devVar) :: x

    type = 'complex'
    eps = epsilon(1.0)
    x = [(1.0, 2.0), (3.0, -1.0)]
    call devf_scal(2.0, x)
    call devf_scal(0.5d0, x)
    call devf_scal((0.0, 1.0), x)
    call devf_scal((0d0, 1d0), x)
    call check(x, reshape([(-1d0, -2d0), (-3d0, 1d0)], [2, 1]), 1, 'factors of four kinds')
  end subroutine single_factors

  ! The symmetric or Hermitian matrix whose triangle u (1 upper, 2 lower) S holds.
  function full(S, u, hermitian) result(F)
    complex(dp), intent(in) :: S(:, :)
    integer, intent(in) :: u
    logical, intent(in) :: hermitian
    complex(dp) :: F(size(S, 1), size(S, 1))
    integer :: i

    F = merge(S, op(merge('C', 'T', hermitian), S), triangle(size(S, 1), size(S, 1), u))
    if (.not. hermitian) return
    do i = 1, size(S, 1)
      F(i, i) = real(F(i, i), dp)
    end do
  end function full

  ! The triangular matrix in S: u = 1 upper, 2 lower; d = 2 with a diagonal of ones.
  function part(S, u, d) result(F)
    complex(dp), intent(in) :: S(:, :)
    integer, intent(in) :: u, d
    complex(dp) :: F(size(S, 1), size(S, 1))

    F = merge(S, (0._dp, 0._dp), triangle(size(S, 1), size(S, 1), u))
    if (d == 2) F = merge((1._dp, 0._dp), F, unit(size(S, 1), size(S, 1)) == 1)
  end function part

  ! True on and above (u = 1) or on and below (u = 2) the diagonal, or everywhere (u = 3).
  pure function triangle(m, n, u) result(mask)
    integer, intent(in) :: m, n, u
    logical :: mask(m, n)
    integer :: i, j

    do j = 1, n
      do i = 1, m
        mask(i, j) = u == 3 .or. merge(i <= j, i >= j, u == 1)
      end do
    end do
  end function triangle

  pure function unit(m, n) result(F)
    integer, intent(in) :: m, n
    complex(dp) :: F(m, n)
    integer :: i

    F = 0
    do i = 1, min(m, n)
      F(i, i) = 1
    end do
  end function unit

end program test_blas
