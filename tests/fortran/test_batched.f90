!> Batches as arrays of rank 3: transfers of whole arrays and sections, LU, solves, QR and least squares, errors.
program test_batched
  use test_support, only: begin, finish, expect, expect_error, random_matrix, on_device, on_host, unit_roundoff, op, &
    scalar_types, dp, sp
  use devObjectBatched
  use devObjectQR
  implicit none
  !> Residuals are below this many eps, in the units of LAPACK's tests.
  real(dp), parameter :: bound = 30
  integer, parameter :: orders(6) = [1, 3, 8, 17, 33, 90]
  character(14) :: type
  real(dp) :: eps
  integer :: t, s

  call begin('test_batched')
  call whole_arrays()
  call sections()
  call narrow()
  do t = 1, 4
    type = scalar_types(t)
    eps = unit_roundoff(type)
    do s = 1, size(orders)
      call systems(orders(s), 4, 3)
      call least_squares(orders(s) + 5, orders(s), 3, 2)
    end do
    call singular()
  end do
  call nothing()
  call errors()
  call finish()

contains

  real(dp) function norm1(Z)
    complex(dp), intent(in) :: Z(:, :)

    norm1 = 0
    if (size(Z) > 0) norm1 = maxval(sum(abs(Z), 1))
  end function norm1

  !> dv = A3 and A3 = dv for the five kinds; the object is the matrices side by side.
  subroutine whole_arrays()
    real(sp) :: r4(3, 2, 4), r4_back(3, 2, 4), flat(3, 8)
    real(dp) :: r8(3, 2, 4), r8_back(3, 2, 4)
    complex(sp) :: c4(3, 2, 4), c4_back(3, 2, 4)
    complex(dp) :: c8(3, 2, 4), c8_back(3, 2, 4)
    integer :: i4(3, 2, 4), i4_back(3, 2, 4), i
    type(devVar) :: dv

    r8 = reshape([(real(i, dp), i=1, 24)], shape(r8))
    r4 = real(r8, sp)
    c8 = cmplx(r8, -r8, dp)
    c4 = cmplx(c8, kind=sp)
    i4 = int(r8)
    dv = r4
    call expect(dv%rows() == 3 .and. dv%cols() == 8 .and. dv%kind() == 'real', 'rank 3 becomes m x (n*batch)')
    r4_back = dv
    flat = dv
    call expect(all(r4_back == r4) .and. all(flat == reshape(r4, [3, 8])), 'real')
    dv = r8
    r8_back = dv
    call expect(all(r8_back == r8), 'double')
    dv = c4
    c4_back = dv
    call expect(all(c4_back == c4), 'complex')
    dv = c8
    c8_back = dv
    call expect(all(c8_back == c8), 'double complex')
    dv = i4
    i4_back = dv
    call expect(all(i4_back == i4), 'integer')
    call transfer_i4(i4 + 1, dv, .true.)
    call transfer_dv(i4_back, dv, .false.)
    call expect(all(i4_back == i4 + 1), 'transfer_dv')
    call transfer_r4(r4(:, :, 1:0), allocate_zero(3), .true.)
    call expect(.true., 'an empty batch')
  end subroutine whole_arrays

  function allocate_zero(m) result(dv)
    integer, intent(in) :: m
    type(devResult) :: dv

    dv = allocate_dv('real', m, 0)
  end function allocate_zero

  !> Every section of a small array, both ways: strides and reversals in each of the three dimensions.
  subroutine sections()
    real(dp) :: A(5, 6, 7), B(5, 6, 7), C(5, 6, 7)
    integer, parameter :: bounds(3, 7) = reshape([1, 5, 1, 1, 5, 2, 5, 1, -1, 5, 1, -2, 2, 4, 1, 3, 3, 1, 2, 1, 1], [3, 7])
    integer :: i, j, k, s1(3), s2(3), s3(3), wrong
    type(devVar) :: dv

    call random_number(A)
    wrong = 0
    do k = 1, 7
      do j = 1, 7
        do i = 1, 7
          s1 = bounds(:, i)
          s2 = bounds(:, j)
          s3 = bounds(:, k)
          associate (section => A(s1(1):s1(2):s1(3), s2(1):s2(2):s2(3), s3(1):s3(2):s3(3)))
            dv = section
            if (dv%rows() /= size(section, 1) .or. dv%cols() /= size(section, 2)*size(section, 3)) wrong = wrong + 1
          end associate
          B = -1
          C = -1
          C(s1(1):s1(2):s1(3), s2(1):s2(2):s2(3), s3(1):s3(2):s3(3)) = &
            A(s1(1):s1(2):s1(3), s2(1):s2(2):s2(3), s3(1):s3(2):s3(3))
          call transfer_r8(B(s1(1):s1(2):s1(3), s2(1):s2(2):s2(3), s3(1):s3(2):s3(3)), dv, .false.)
          if (any(B /= C)) wrong = wrong + 1
        end do
      end do
    end do
    call expect(wrong == 0, 'sections of rank 3')
    ! one column in each matrix, and the elements of a derived type
    dv = A(:, 2:2, 1:7:3)
    B(:, 1:3, 1) = dv
    call expect(all(B(:, 1:3, 1) == A(:, 2, 1:7:3)), 'a column of every third matrix')
    call components()
  end subroutine sections

  subroutine components()
    type :: pair
      real(sp) :: value
      character(1) :: name
    end type pair
    type(pair) :: A(3, 2, 2)
    real(sp) :: B(3, 2, 2)
    type(devVar) :: dv

    call random_number(B)
    A%value = B
    A%name = 'x'
    dv = A%value
    A%value = -1
    call transfer_r4(A(:, :, 2:1:-1)%value, dv, .false.)
    call expect(all(A%value == B(:, :, 2:1:-1)) .and. all(A%name == 'x'), 'components of a derived type')
  end subroutine components

  !> An assigned variable of the right shape keeps its memory, another gets a new object; views are written through.
  subroutine narrow()
    real(dp) :: A(4, 4, 3), one(4, 4)
    type(devVar) :: dv, second

    call random_number(A)
    dv = A
    second = view_dv(dv, 1, 4, 5, 8)
    one = second
    call expect(all(one == A(:, :, 2)), 'matrix 2 is a view')
    A(:, :, 2) = 7
    second = A(:, :, 2:2)
    A = -1
    A = dv
    call expect(all(A(:, :, 2) == 7) .and. all(A(:, :, 1) /= 7), 'written through the view')
    dv = A(1:2, :, :)
    call expect(dv%rows() == 2 .and. dv%cols() == 12, 'another shape')
  end subroutine narrow

  !> The factors of getrf, solves with N, T, C, and gesv, with batch given and found.
  subroutine systems(n, batch, nrhs)
    integer, intent(in) :: n, batch, nrhs
    complex(dp) :: A(n, n*batch), B(n, nrhs*batch), X(n, nrhs*batch), AK(n, n)
    type(devVar) :: dA, dB, ipiv, info
    integer :: k, l, infos(batch)
    character, parameter :: letters(3) = ['N', 'T', 'C']
    character(60) :: what

    write (what, '(2a, i0, a, i0)') trim(type), ' systems of ', n, ', batch ', batch
    A = random_matrix(type, n, n*batch)
    B = random_matrix(type, n, nrhs*batch)
    dA = on_device(type, A)
    call devf_getrf_batched(dA, ipiv, info)
    infos = info
    call expect(all(infos == 0) .and. ipiv%rows() == n .and. ipiv%cols() == batch, trim(what)//': info and ipiv')
    do l = 1, 3
      dB = on_device(type, B)
      call devf_getrs_batched(letters(l), dA, ipiv, dB)
      X = on_host(dB)
      do k = 1, batch
        AK = op(letters(l), A(:, (k - 1)*n + 1:k*n))
        call expect(solves(AK, columns(X, k, nrhs), columns(B, k, nrhs)), trim(what)//': '//letters(l))
      end do
    end do
    dA = on_device(type, A)
    dB = on_device(type, B)
    call devf_gesv_batched(dA, ipiv, dB, info, batch=batch)
    X = on_host(dB)
    do k = 1, batch
      call expect(solves(A(:, (k - 1)*n + 1:k*n), columns(X, k, nrhs), columns(B, k, nrhs)), trim(what)//': gesv')
    end do
  end subroutine systems

  function columns(Z, k, n) result(W)
    complex(dp), intent(in) :: Z(:, :)
    integer, intent(in) :: k, n
    complex(dp) :: W(size(Z, 1), n)

    W = Z(:, (k - 1)*n + 1:k*n)
  end function columns

  logical function solves(A, X, B)
    complex(dp), intent(in) :: A(:, :), X(:, :), B(:, :)

    solves = norm1(matmul(A, X) - B) <= bound*norm1(A)*norm1(X)*size(A, 1)*eps
  end function solves

  subroutine least_squares(m, n, batch, nrhs)
    integer, intent(in) :: m, n, batch, nrhs
    complex(dp) :: A(m, n*batch), B(m, nrhs*batch), X(m, nrhs*batch), E(m, nrhs), AK(m, n)
    complex(dp), allocatable :: Q(:, :)
    type(devVar) :: dA, dB, info, tau, first, first_tau
    integer :: k, infos(batch), j
    real(dp) :: limit
    character(60) :: what

    write (what, '(2a, i0, a, i0)') trim(type), ' least squares ', m, ' x ', n
    A = random_matrix(type, m, n*batch)
    B = random_matrix(type, m, nrhs*batch)
    dA = on_device(type, A)
    dB = on_device(type, B)
    call devf_gels_batched('N', dA, dB, info, batch=batch)
    infos = info
    X = on_host(dB)
    call expect(all(infos == 0), trim(what)//': info')
    do k = 1, batch
      AK = columns(A, k, n)
      E = columns(B, k, nrhs) - matmul(AK, X(:n, (k - 1)*nrhs + 1:k*nrhs))
      limit = bound*norm1(AK)*(norm1(B) + norm1(AK)*norm1(X))*m*eps
      call expect(norm1(matmul(op('C', AK), E)) <= limit, trim(what)//': the gradient is zero')
    end do
    ! the factors are those of devf_geqrf: Q of the first matrix by devf_orgqr
    dA = on_device(type, A)
    call devf_geqrf_batched(dA, tau, batch=batch)
    call expect(tau%rows() == n .and. tau%cols() == batch, trim(what)//': tau')
    X(:, :) = 0
    first = view_dv(dA, 1, m, 1, n)
    first_tau = view_dv(tau, 1, n, 1, 1)
    AK = on_host(first)
    call devf_orgqr(first, first_tau)
    Q = on_host(first)
    do j = 1, n
      AK(j + 1:, j) = 0
    end do
    call expect(norm1(matmul(Q, AK(:n, :)) - columns(A, 1, n)) <= bound*norm1(columns(A, 1, n))*m*eps, trim(what)//': A = Q R')
  end subroutine least_squares

  !> info of each matrix, and NaN that stays where it is.
  subroutine singular()
    complex(dp) :: A(6, 24), B(6, 4), X(6, 4)
    type(devVar) :: dA, dB, ipiv, info
    integer :: infos(4)

    A = random_matrix(type, 6, 24)
    A(:, 7:8) = 0
    B = random_matrix(type, 6, 4)
    B(3, 4) = B(3, 4)/(B(1, 1) - B(1, 1))
    dA = on_device(type, A)
    dB = on_device(type, B)
    call devf_gesv_batched(dA, ipiv, dB, info)
    infos = info
    X = on_host(dB)
    call expect(all(infos == [0, 1, 0, 0]), trim(type)//': info of a singular matrix among others')
    call expect(all(X(:, 2) == B(:, 2)), trim(type)//': its right-hand side is unchanged')
    call expect(any(X(:, 4) /= X(:, 4)) .and. all(X(:, [1, 3]) == X(:, [1, 3])), trim(type)//': NaN stays in its system')
  end subroutine singular

  subroutine nothing()
    type(devVar) :: A, B, ipiv, info, tau
    integer :: infos(3)

    A = allocate_dv('double', 4, 0)
    B = allocate_dv('double', 4, 0)
    call devf_gesv_batched(A, ipiv, B, info)
    call expect(ipiv%rows() == 4 .and. ipiv%cols() == 0 .and. info%rows() == 0, 'batch = 0')
    call devf_geqrf_batched(A, tau, batch=0)
    call deallocate_dv(ipiv)
    call deallocate_dv(info)
    A = allocate_dv('double', 0, 0)
    call devf_getrf_batched(A, ipiv, info, batch=3)
    infos = info
    call expect(all(infos == 0), 'n = 0')
  end subroutine nothing

  subroutine errors()
    type(devVar) :: A, B, ipiv, info, tau, none
    real(dp) :: A3(2, 2, 3)
    character(300) :: message
    integer :: stat

    message = ''
    A = allocate_dv('double', 4, 10)
    call devf_getrf_batched(A, ipiv, info, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, &
      'devf_getrf_batched: A is 4 x 10, which is no batch of square matrices: give batch')
    call devf_getrf_batched(A, ipiv, info, batch=3, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, &
      'getrf_batched: A has 10 columns, which are not those of 3 matrices of one shape')
    call expect(.not. allocated_dv(ipiv) .and. .not. allocated_dv(info), 'what was allocated for a failed call is freed')
    call devf_getrf_batched(A, ipiv, info, batch=-1, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'getrf_batched: batch is -1, must not be negative')
    call devf_getrf_batched(none, ipiv, info, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_handle, message, 'null handle')
    B = allocate_dv('double', 3, 6)
    call devf_gesv_batched(A, ipiv, B, info, batch=2, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'gesv_batched: the matrices in A are 4 x 5, must be square')
    ipiv = [1, 2, 3]
    call devf_getrf_batched(A, ipiv, info, batch=2, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'getrf_batched: ipiv is 3 x 1, must be 4 x 2')
    A = allocate_dv('double', 4, 8)
    call devf_getrs_batched('X', A, ipiv, B, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "getrs_batched: op is 'X'")
    A = allocate_dv('double', 4, 6)
    B = allocate_dv('real', 4, 6)
    call devf_gels_batched('N', A, B, info, batch=3, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "gels_batched: B is of type 'real', but A is of type 'double'")
    B = allocate_dv('double', 4, 6)
    call devf_gels_batched('T', A, B, info, batch=3, stat=stat, errmsg=message)
    call expect_error(stat, devobj_not_supported, message, 'gels_batched: ')
    A = allocate_dv('double', 4, 10)
    call devf_gels_batched('N', A, B, info, batch=2, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'gels_batched: B has 4 rows')
    call devf_geqrf_batched(A, tau, batch=4, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'geqrf_batched: A has 10 columns')
    ! a batch of another shape or kind
    A = allocate_dv('double', 2, 5)
    call transfer_r8(A3, A, .true., stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'the host array is 2 x 6, but the device object is 2 x 5')
    A = allocate_dv('real', 2, 6)
    call transfer_dv(A3, A, .false., stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "'double'")
  end subroutine errors

end program test_batched
