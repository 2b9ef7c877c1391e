!> devObjectRNG: generators, their life and their state, every draw with its kinds, and each error with its text.
program test_rng
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use devObjectRNG
  use test_support
  implicit none
  character(6), parameter :: own(2) = [character(6) :: 'philox', 'state']
  integer :: g

  call begin('devObjectRNG')
  do g = 1, 2
    call test_life(trim(own(g)))
    call test_state(trim(own(g)))
    call test_draws(trim(own(g)))
    call test_matrices(trim(own(g)))
  end do
  call test_known_words()
  call test_single_numbers()
  call test_streams()
  call test_errors()
  call expect(live_objects_dv() == 0, 'nothing is left')
  call finish()

contains

  ! n uniform numbers
  function numbers(rng, n) result(x)
    type(devRng), intent(in) :: rng
    integer, intent(in) :: n
    real(dp) :: x(n)
    type(devVar) :: dv

    dv = allocate_dv('double', n)
    call devf_rng_uniform(rng, dv)
    x = dv
  end function numbers

  subroutine test_life(name)
    character(*), intent(in) :: name
    type(devRng) :: a, b, c(2), nothing
    real(dp) :: x(5), y(5)
    integer(int64) :: seed, stream, position
    character(:), allocatable :: kind

    call devf_rng_create(a, name, seed=5, stream=2)
    x = numbers(a, 5)
    b = a  ! goes on from the same place, and is another
    y = numbers(a, 5)
    call expect(all(numbers(b, 5) == y), name//': a copy goes on from the same place')
    call expect(.not. any(numbers(b, 5) == y), name//': and moves by itself')
    call devf_rng_seed(a, 5, 2)
    call expect(all(numbers(a, 5) == x), name//': seeding again rewinds')
    call devf_rng_info(a, kind, seed, stream, position)
    call expect(kind == name .and. seed == 5 .and. stream == 2 .and. position == 10, name//': info')
    c = a
    call expect(all(numbers(c(1), 5) == numbers(c(2), 5)), name//': copies in an array')
    a = a
    call expect(all(numbers(a, 5) == y), name//': assignment to itself')
    call devf_rng_create(a, 'philox')  ! frees what it was
    call devf_rng_create(a, name, -1_int64)
    call devf_rng_info(a, seed=seed)
    call expect(seed == -1, name//': a negative seed')
    call expect(live_objects_dv() == 4, name//': four generators are alive')
    b = nothing
    call expect(live_objects_dv() == 3, name//': nothing was assigned')
    call devf_rng_free(a)
  end subroutine test_life

  subroutine test_state(name)
    character(*), intent(in) :: name
    type(devRng) :: a, b
    integer(int64) :: state(devrng_state_size)
    real(dp) :: x(7)

    call devf_rng_create(a, name, 9)
    x = numbers(a, 7)
    call devf_rng_skip(a, 100001)
    call devf_rng_skip(a, 2_int64)
    call devf_rng_save(a, state)
    call devf_rng_save(a, 'test_rng_'//name//'_'//backend_dv()//'.state')
    x = numbers(a, 7)
    call devf_rng_restore(b, state)
    call expect(all(numbers(b, 7) == x), name//': restored from an array')
    call devf_rng_restore(b, 'test_rng_'//name//'_'//backend_dv()//'.state')
    call expect(all(numbers(b, 7) == x), name//': restored from a file')
    call devf_rng_seed(b, 9_int64)
    call devf_rng_skip(b, 2*7 + 100003)
    call expect(all(numbers(b, 7) == x), name//': skipping is drawing')
  end subroutine test_state

  subroutine test_draws(name)
    character(*), intent(in) :: name
    integer, parameter :: m = 101, n = 200
    type(devRng) :: rng
    type(devVar) :: A, whole
    complex(dp), allocatable :: z(:, :)
    real(dp), allocatable :: x(:, :)
    integer(int32), allocatable :: k(:, :)
    integer :: t
    character(14), parameter :: real_types(2) = [character(14) :: 'real', 'double']

    call devf_rng_create(rng, name, 12)
    do t = 1, 4
      A = allocate_dv(trim(scalar_types(t)), m, n)
      call devf_rng_uniform(rng, A)
      z = on_host(A)
      call expect(all(real(z) > 0) .and. all(real(z) < 1), name//': uniform on (0, 1)')
      call expect(abs(sum(real(z))/(m*n) - 0.5_dp) < 5*sqrt(1/12._dp/(m*n)), name//': its mean')
      call devf_rng_uniform(rng, A, -3._sp, 5._sp)
      z = on_host(A)
      call expect(all(real(z) > -3) .and. all(real(z) < 5) .and. abs(sum(real(z))/(m*n) - 1) < 5*8*sqrt(1/12._dp/(m*n)), &
        name//': uniform on (-3, 5)')
      call devf_rng_normal(rng, A, 2._dp, 3._dp)
      z = on_host(A)
      call expect(abs(sum(real(z))/(m*n) - 2) < 5*3/sqrt(real(m*n, dp)), name//': normal, mean')
      call expect(abs(sum((real(z) - 2)**2)/(m*n) - 9) < 5*9*sqrt(2._dp/(m*n)), name//': normal, variance')
      if (t > 2) call expect(abs(sum((aimag(z) - 2)**2)/(m*n) - 9) < 5*9*sqrt(2._dp/(m*n)), name//': imaginary parts')
    end do
    do t = 1, 2
      A = allocate_dv(trim(real_types(t)), m, n)
      call devf_rng_lognormal(rng, A)
      x = real(on_host(A))
      call expect(all(x > 0) .and. abs(sum(log(x))/(m*n)) < 5/sqrt(real(m*n, dp)), name//': lognormal')
      call devf_rng_exponential(rng, A, 2.5_dp)
      x = real(on_host(A))
      call expect(all(x > 0) .and. abs(sum(x)/(m*n) - 2.5_dp) < 5*2.5_dp/sqrt(real(m*n, dp)), name//': exponential')
      call devf_rng_bernoulli(rng, A, 0.25_dp)
      x = real(on_host(A))
      call expect(all(x == 0 .or. x == 1) .and. abs(sum(x)/(m*n) - 0.25_dp) < 5*sqrt(0.1875_dp/(m*n)), name//': bernoulli')
    end do
    allocate (k(m, n))
    A = allocate_dv('integer', m, n)
    call devf_rng_integers(rng, A, 1, 6)
    k = A
    call expect(minval(k) == 1 .and. maxval(k) == 6, name//': integers')
    call devf_rng_integers(rng, A, -2147483648_int64, 2147483647_int64)
    k = A
    call expect(abs(sum(real(k, dp))/(m*n)) < 5*2._dp**32*sqrt(1/12._dp/(m*n)), name//': all integers')
    call devf_rng_poisson(rng, A, 20._sp)
    k = A
    call expect(abs(sum(real(k, dp))/(m*n) - 20) < 5*sqrt(20._dp/(m*n)), name//': poisson')
    call devf_rng_bernoulli(rng, A, 1._dp)
    k = A
    call expect(all(k == 1), name//': bernoulli with p = 1')

    ! a block of a larger object
    whole = spread(spread(7._dp, 1, 50), 2, 10)
    call devf_rng_seed(rng, 12)
    call devf_rng_normal(rng, view_dv(whole, 11, 41, 3, 7))
    A = allocate_dv('double', 31, 5)
    call devf_rng_seed(rng, 12)
    call devf_rng_normal(rng, A)
    x = real(on_host(whole))
    call expect(all(x(11:41, 3:7) == real(on_host(A))), name//': a block has the numbers of an object of its shape')
    x(11:41, 3:7) = 7
    call expect(all(x == 7), name//': nothing beside the block was written')
  end subroutine test_draws

  subroutine test_matrices(name)
    character(*), intent(in) :: name
    type(devRng) :: rng
    type(devVar) :: A
    complex(dp), allocatable :: Q(:, :)
    real(dp) :: frobenius, bound
    integer :: t

    call devf_rng_create(rng, name, 3)
    do t = 1, 4
      bound = 30*20*unit_roundoff(trim(scalar_types(t)))
      A = allocate_dv(trim(scalar_types(t)), 20, 13)
      call devf_rng_orthogonal(rng, A)
      Q = on_host(A)
      call expect(maxval(abs(matmul(op('C', Q), Q) - identity(13))) < bound, name//': orthonormal columns')
      A = allocate_dv(trim(scalar_types(t)), 13, 20)
      call devf_rng_orthogonal(rng, A)
      Q = on_host(A)
      call expect(maxval(abs(matmul(Q, op('C', Q)) - identity(13))) < bound, name//': orthonormal rows')
      call devf_rng_singular_values(rng, [3._dp, 2._dp, 0._dp], view_dv(A, 1, 3, 1, 5))
      Q = on_host(view_dv(A, 1, 3, 1, 5))
      frobenius = sum(abs(Q)**2)
      call expect(abs(frobenius - 13) < 13*bound, name//': the sum of the singular values'' squares')
      Q = matmul(Q, op('C', Q))
      call expect(abs(sum(abs(Q)**2) - 97) < 97*bound, name//': and of their fourth powers')
      call devf_rng_condition(rng, 100._sp, view_dv(A, 1, 2, 1, 9))
      Q = on_host(view_dv(A, 1, 2, 1, 9))
      call expect(abs(sum(abs(Q)**2) - 1.0001_dp) < 2*bound, name//': condition 100')
    end do
  end subroutine test_matrices

  ! Random123's known answer: counter 0, key 0.
  subroutine test_known_words()
    type(devRng) :: rng
    type(devVar) :: A
    integer(int32) :: words(4)

    call devf_rng_create(rng)
    A = allocate_dv('integer', 4)
    call devf_rng_words(rng, A)
    words = A
    call expect(all(iand(int(words, int64), 4294967295_int64) == [int(z'6627e8d5', int64), int(z'e169c58d', int64), &
      int(z'bc57ac4c', int64), int(z'9b00dbd8', int64)]), 'the published words')
  end subroutine test_known_words

  ! Draws into variables are those into objects of one element.
  subroutine test_single_numbers()
    type(devRng) :: rng, other
    type(devVar) :: r, d, k
    integer(int64) :: here, there
    integer(int32) :: i4, j4(1)
    real(sp) :: x4, y4(1)
    real(dp) :: x8, y8(1)
    integer :: i, n

    r = allocate_dv('real', 1)
    d = allocate_dv('double', 1)
    k = allocate_dv('integer', 1)
    do i = 1, 2
      call devf_rng_create(rng, trim(own(i)), 8)
      other = rng
      do n = 1, 100
        call devf_rng_uniform(rng, x4)
        call devf_rng_uniform(other, r)
        y4 = r
        call expect(x4 == y4(1), trim(own(i))//': uniform, real')
        call devf_rng_uniform(rng, x8, -1._dp, 3._dp)
        call devf_rng_uniform(other, d, -1._dp, 3._dp)
        y8 = d
        call expect(x8 == y8(1), trim(own(i))//': uniform, double')
        call devf_rng_normal(rng, x4, 1._sp, 2._sp)
        call devf_rng_normal(other, r, 1._sp, 2._sp)
        y4 = r
        call expect(x4 == y4(1), trim(own(i))//': normal, real')
        call devf_rng_normal(rng, x8)
        call devf_rng_normal(other, d)
        y8 = d
        call expect(x8 == y8(1), trim(own(i))//': normal, double')
        call devf_rng_lognormal(rng, x4)
        call devf_rng_lognormal(other, r)
        y4 = r
        call expect(x4 == y4(1), trim(own(i))//': lognormal, real')
        call devf_rng_lognormal(rng, x8, 0._dp, 0.5_dp)
        call devf_rng_lognormal(other, d, 0._dp, 0.5_dp)
        y8 = d
        call expect(x8 == y8(1), trim(own(i))//': lognormal, double')
        call devf_rng_exponential(rng, x4)
        call devf_rng_exponential(other, r)
        y4 = r
        call expect(x4 == y4(1), trim(own(i))//': exponential, real')
        call devf_rng_exponential(rng, x8, 3._dp)
        call devf_rng_exponential(other, d, 3._dp)
        y8 = d
        call expect(x8 == y8(1), trim(own(i))//': exponential, double')
        call devf_rng_integers(rng, i4, 1, 6)
        call devf_rng_integers(other, k, 1, 6)
        j4 = k
        call expect(i4 == j4(1), trim(own(i))//': integers')
        call devf_rng_integers(rng, i4, -7_int64, 2147483647_int64)
        call devf_rng_integers(other, k, -7_int64, 2147483647_int64)
        j4 = k
        call expect(i4 == j4(1), trim(own(i))//': integers of 64 bits')
        call devf_rng_poisson(rng, i4, 5._sp)
        call devf_rng_poisson(other, k, 5._dp)
        j4 = k
        call expect(i4 == j4(1), trim(own(i))//': poisson')
        call devf_rng_bernoulli(rng, i4, 0.25_dp)
        call devf_rng_bernoulli(other, k, 0.25_sp)
        j4 = k
        call expect(i4 == j4(1), trim(own(i))//': bernoulli')
        call devf_rng_words(rng, i4)
        call devf_rng_words(other, k)
        j4 = k
        call expect(i4 == j4(1), trim(own(i))//': words')
      end do
      call devf_rng_info(rng, position=here)
      call devf_rng_info(other, position=there)
      call expect(here == there, trim(own(i))//': the same position')
    end do
  end subroutine test_single_numbers

  subroutine test_streams()
    type(devRng) :: a, b
    integer :: i

    do i = 1, 2
      call devf_rng_create(a, trim(own(i)), 1, stream=0)
      call devf_rng_create(b, trim(own(i)), 1_int64, stream=4294967295_int64)
      call expect(.not. any(numbers(a, 1000) == numbers(b, 1000)), trim(own(i))//': streams differ')
    end do
  end subroutine test_streams

  subroutine test_errors()
    type(devRng) :: rng, nothing
    type(devVar) :: A, k
    integer(int64) :: state(devrng_state_size), position
    character(200) :: message
    integer :: stat
    real(dp) :: nan

    message = ''
    call devf_rng_create(rng, 'mersenne', stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, &
      "devf_rng_create: rng: generator is 'mersenne', must be one of philox, state, curand_philox")
    call devf_rng_create(rng, 'philox', 1, stream=-1, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'stream is -1, must not be negative')
    call devf_rng_create(rng, 'state', 1_int64, stream=4294967296_int64, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "stream is 4294967296, but 'state' has streams 0 to 4294967295")
    if (backend_dv() == 'host') then
      call devf_rng_create(rng, 'xorwow', stat=stat, errmsg=message)
      call expect_error(stat, devobj_not_supported, message, "generator 'xorwow' is cuRAND's")
    end if
    A = spread(1._dp, 1, 4)
    k = [1, 2]
    call devf_rng_uniform(nothing, A, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_handle, message, 'rng is a null handle')
    call devf_rng_create(rng)
    call devf_rng_uniform(rng, A, 2._dp, 1._dp, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_rng_uniform: a is 2, must be less than b, which is 1')
    nan = 0
    nan = nan/nan
    call devf_rng_normal(rng, A, nan, 1._dp, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_rng_normal: mean is')
    call devf_rng_normal(rng, A, 0._sp, -1._sp, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'sigma is -1, must be finite and at least 0')
    call devf_rng_normal(rng, k, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "not for objects of type 'integer'")
    call devf_rng_integers(rng, A, 1, 6, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "A is of type 'double', must be 'integer'")
    call devf_rng_integers(rng, k, 3, 2, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'lowest is 3, must be at most highest, which is 2')
    call devf_rng_integers(rng, k, 0_int64, 2147483648_int64, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'highest is 2147483648, must be within')
    call devf_rng_exponential(rng, A, 0._dp, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'mean is 0, must be finite and above 0')
    call devf_rng_bernoulli(rng, A, 1.5_dp, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'p is 1.5, must be within 0 and 1')
    call devf_rng_poisson(rng, k, -1._dp, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'mean is -1, must be within 0 and 2^30')
    nan = 7
    call devf_rng_normal(rng, nan, 0._dp, -1._dp, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_rng_normal: sigma is -1, must be finite and at least 0')
    call expect(nan == 7, 'a number that is not drawn')
    call devf_rng_uniform(nothing, nan, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_handle, message, 'devf_rng_uniform: rng is a null handle')
    call devf_rng_skip(rng, -3, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'words is -3, must not be negative')
    call devf_rng_singular_values(rng, [1._dp, -1._dp], A, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 's has 2 values, must have min(4, 1) = 1')
    call devf_rng_condition(rng, 0.5_dp, A, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'condition is 0.5, must be finite and at least 1')
    state = 1
    call devf_rng_restore(rng, state, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'this is no saved state')
    call devf_rng_save(rng, state)
    state(5) = state(5) + 1
    call devf_rng_restore(rng, state, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'the saved state is damaged')
    call devf_rng_restore(rng, 'no_such_folder/state', stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "file 'no_such_folder/state' cannot be read")
    call devf_rng_save(rng, 'no_such_folder/state', stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "file 'no_such_folder/state' cannot be written")
    call devf_rng_info(rng, position=position)
    call expect(position == 0, 'failed draws use up nothing')
    call expect(all(on_host(A) == 1), 'and write nothing')
    call devf_rng_free(rng)
    call devf_rng_free(rng, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_handle, message, 'rng is a null handle')
  end subroutine test_errors

end program test_rng
