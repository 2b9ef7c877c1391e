!> Fourier transforms: the definition, there and back in one to three dimensions, in place, blocks, the life of plans, errors.
program test_fft
  use, intrinsic :: iso_fortran_env, only: int64
  use test_support, only: begin, finish, expect, expect_error, random_matrix, on_device, on_host, unit_roundoff, &
    scalar_types, dp
  use devObjectFFT
  implicit none
  real(dp), parameter :: pi = acos(-1._dp)
  character(14) :: type
  character(300) :: message
  real(dp) :: eps
  integer :: t, stat
  type(devFftPlan) :: first

  call begin('test_fft')
  call devf_fft_plan(first, 'real', [4], stat=stat, errmsg=message)
  if (stat == devobj_not_supported) then
    print '(2a)', 'skipped: ', trim(message)
    stop 77
  end if
  call devf_fft_free(first)
  do t = 1, 4
    type = scalar_types(t)
    eps = unit_roundoff(type)
    call there_and_back([1])
    call there_and_back([17])
    call there_and_back([64], 3)
    call there_and_back([12, 7])
    call there_and_back([6, 5, 4], 2)
    call in_place(20, 3)
    call blocks()
  end do
  call lives()
  call errors()
  call expect(live_objects_dv() == 0, 'every plan and object is freed')
  call finish()

contains

  logical function is_real()
    is_real = type == 'real' .or. type == 'double'
  end function is_real

  ! The definition, for batches of n(1) x n(2) x n(3) points in the columns of X.
  function definition(X, n) result(Y)
    complex(dp), intent(in) :: X(:, :)
    integer, intent(in) :: n(:)
    complex(dp) :: Y(size(X, 1), size(X, 2))
    complex(dp), allocatable :: a(:, :, :, :), b(:, :, :, :)
    integer :: s(3), k

    s = 1
    s(:size(n)) = n
    a = reshape(X, [s, size(X)/product(s)])
    b = a
    do k = 1, s(1)
      b(k, :, :, :) = sum(a*spread_wave(k, s(1), shape(a), 1), 1)
    end do
    a = b
    do k = 1, s(2)
      b(:, k, :, :) = sum(a*spread_wave(k, s(2), shape(a), 2), 2)
    end do
    a = b
    do k = 1, s(3)
      b(:, :, k, :) = sum(a*spread_wave(k, s(3), shape(a), 3), 3)
    end do
    Y = reshape(b, shape(Y))
  end function definition

  ! exp(-2 pi i (j - 1) (k - 1) / n), j the index of dimension d.
  function spread_wave(k, n, s, d) result(w)
    integer, intent(in) :: k, n, s(4), d
    complex(dp) :: w(s(1), s(2), s(3), s(4)), root(n)
    integer :: j

    root = [(exp(cmplx(0, -2*pi*mod((j - 1)*(k - 1), n)/n, dp)), j=1, n)]
    do j = 1, n
      if (d == 1) w(j, :, :, :) = root(j)
      if (d == 2) w(:, j, :, :) = root(j)
      if (d == 3) w(:, :, j, :) = root(j)
    end do
  end function spread_wave

  real(dp) function norm(Z)
    complex(dp), intent(in) :: Z(:, :)

    norm = sqrt(sum(abs(Z)**2))
  end function norm

  subroutine there_and_back(n, batch)
    integer, intent(in) :: n(:)
    integer, intent(in), optional :: batch
    complex(dp), allocatable :: X(:, :), Y(:, :), W(:, :)
    type(devVar) :: dX, dY, dZ
    type(devFftPlan) :: plan
    integer :: rows, cols
    character(60) :: what

    write (what, '(a, *(1x, i0))') trim(type), n
    cols = product(n(2:))
    if (present(batch)) cols = cols*batch
    X = random_matrix(type, n(1), cols)
    Y = definition(X, n)
    rows = merge(n(1)/2 + 1, n(1), is_real())
    call devf_fft_plan(plan, type, n, batch=batch, scaling='Inverse')
    call expect(plan%allocated(), trim(what)//': plan')
    dX = on_device(type, X)
    call devf_fft_forward(plan, dX, dY)
    call expect(dY%rows() == rows .and. dY%cols() == cols, trim(what)//': shape of the transform')
    call expect(dY%kind() == merge('double complex', 'complex       ', index(type, 'double') > 0), trim(what)//': its kind')
    W = on_host(dY)
    call expect(norm(W - Y(:rows, :)) <= 20*eps*norm(Y), trim(what)//': the definition')
    call devf_fft_inverse(plan, dY, dZ)
    call expect(dZ%kind() == type, trim(what)//': kind of the inverse')
    call expect(norm(on_host(dZ) - X) <= 20*eps*norm(X), trim(what)//': there and back')
    call expect(all(on_host(dY) == W), trim(what)//': the input is kept')
    call devf_fft_plan(plan, type, int(n, int64), batch=batch, scaling='unitary', overwrite_input=.true.)
    call devf_fft_forward(plan, dX, dY)
    W = on_host(dY)
    call expect(norm(W - Y(:rows, :)/sqrt(real(product(n), dp))) <= 20*eps*norm(X), trim(what)//': unitary')
    call devf_fft_inverse(plan, dY, dX)
    call expect(norm(on_host(dX) - X) <= 20*eps*norm(X), trim(what)//': unitary, there and back')
  end subroutine there_and_back

  subroutine in_place(n, batch)
    integer, intent(in) :: n, batch
    complex(dp) :: X(n, batch), Y(n, batch)
    type(devVar) :: dX, dY
    type(devFftPlan) :: plan

    X = random_matrix(type, n, batch)
    Y = definition(X, [n])
    call devf_fft_plan(plan, type, [n], batch=batch, scaling='inverse')
    if (is_real()) then
      if (type == 'real') dY = allocate_dv('complex', n/2 + 1, batch)
      if (type == 'double') dY = allocate_dv('double complex', n/2 + 1, batch)
      dX = devf_fft_real_view(dY, n)
      call copy_dv(on_device(type, X), dX)
      call devf_fft_forward(plan, dX, dY)
      call expect(norm(on_host(dY) - Y(:n/2 + 1, :)) <= 20*eps*norm(Y), trim(type)//': in place')
      call devf_fft_inverse(plan, dY, dX)
    else
      dX = on_device(type, X)
      call devf_fft_forward(plan, dX)
      call expect(norm(on_host(dX) - Y) <= 20*eps*norm(Y), trim(type)//': in place')
      call devf_fft_inverse(plan, dX)
    end if
    call expect(norm(on_host(dX) - X) <= 20*eps*norm(X), trim(type)//': in place, there and back')
  end subroutine in_place

  ! Blocks of larger objects as input and output.
  subroutine blocks()
    integer, parameter :: n = 9, m = 4
    complex(dp) :: X(n + 5, m + 2), Y(n, m), before(n + 3, m + 1), after(n + 3, m + 1)
    type(devVar) :: dX, dY, part
    type(devFftPlan) :: plan
    integer :: rows

    rows = merge((n + 1)/2, n, is_real())  ! n is odd
    X = random_matrix(type, n + 5, m + 2)
    Y = definition(X(3:n + 2, 2:m + 1), [n, m])
    dX = on_device(type, X)
    before = 7
    dY = on_device(merge('double complex', 'complex       ', index(type, 'double') > 0), before)
    part = view_dv(dY, 2, rows + 1, 1, m)
    call devf_fft_plan(plan, type, [n, m])
    call devf_fft_forward(plan, view_dv(dX, 3, n + 2, 2, m + 1), part)
    after = on_host(dY)
    call expect(norm(after(2:rows + 1, :m) - Y(:rows, :)) <= 20*eps*norm(Y), trim(type)//': blocks')
    after(2:rows + 1, :m) = 7
    call expect(all(after == 7), trim(type)//': what is around the block stays')
    call expect(all(on_host(dX) == X), trim(type)//': the input of a block stays')
  end subroutine blocks

  ! Plans end with their variables, are replaced, and are not copied.
  subroutine lives()
    type(devFftPlan) :: plan, copy
    integer(int64) :: before
    integer :: i, code
    character(300) :: text
    type(devVar) :: dX

    before = live_objects_dv()
    call expect(.not. plan%allocated(), 'a new variable has no plan')
    do i = 1, 3
      call devf_fft_plan(plan, 'complex', [5 + i])
    end do
    call expect(live_objects_dv() == before + 1, 'a second plan replaces the first')
    do i = 1, 50
      call short_life()
    end do
    call expect(live_objects_dv() == before + 1, 'plans end with their variables')
    copy = plan
    call expect(.not. copy%allocated() .and. plan%allocated(), 'a copy is none')
    dX = on_device('complex', random_matrix('complex', 8, 1))
    call devf_fft_forward(copy, dX, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_handle, text, 'devf_fft_forward: plan is no live object')
    call use_it(plan, dX)
    call devf_fft_free(plan)
    call expect(.not. plan%allocated(), 'a freed plan')
    call devf_fft_free(plan, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_handle, text, 'devf_fft_free: A is a null handle')
    call deallocate_dv(dX)
    call expect(live_objects_dv() == before, 'nothing is left')
  end subroutine lives

  subroutine short_life()
    type(devFftPlan) :: plan

    call devf_fft_plan(plan, 'double', [30])
  end subroutine short_life

  subroutine use_it(plan, x)
    type(devFftPlan), intent(in) :: plan
    type(devVar), intent(in) :: x
    integer :: code

    call devf_fft_forward(plan, x, stat=code)
    call expect(code == devobj_success, 'a plan as an argument')
  end subroutine use_it

  subroutine errors()
    type(devFftPlan) :: plan
    type(devVar) :: dX, dY, none, whole
    integer :: code
    character(300) :: text

    call devf_fft_plan(plan, 'integer', [4], stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, "devf_fft_plan: type is 'integer', must be real")
    call devf_fft_plan(plan, 'real', [4], scaling='half', stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, "devf_fft_plan: scaling is 'half', must be none, inverse or unitary")
    call devf_fft_plan(plan, 'real', [4, -1], stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, 'devf_fft_plan: n2 is -1, must be at least 1')
    call devf_fft_plan(plan, 'real', [4, 1, 2, 3], stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, 'devf_fft_plan: there are 4 sizes')
    call devf_fft_plan(plan, 'real', [4], batch=-1, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, 'devf_fft_plan: batch is -1')
    call expect(.not. plan%allocated(), 'no plan after an error')

    dX = on_device('real', random_matrix('real', 5, 1))
    call devf_fft_forward(plan, dX, dY, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_handle, text, 'devf_fft_forward: plan is a null handle')
    call devf_fft_inverse(plan, dX, dY, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_handle, text, 'devf_fft_inverse: plan is a null handle')
    call devf_fft_plan(plan, 'real', [4])
    call devf_fft_forward(plan, dX, dY, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, 'devf_fft_forward: in is 5 x 1, must be 4 x 1')
    call expect(.not. allocated_dv(dY), 'no output after an error')
    call devf_fft_inverse(plan, dX, dY, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, "devf_fft_inverse: in is of type 'real', must be 'complex'")
    call devf_fft_forward(plan, dX, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, 'devf_fft_forward: in is 5 x 1, must be 4 x 1')
    call devf_fft_forward(plan, none, dY, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_handle, text, 'devf_fft_forward: in is a null handle')
    dY = on_device('complex', random_matrix('complex', 3, 1))
    whole = devf_fft_real_view(dY, 7, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, 'devf_fft_real_view: rows is 7, must be 0 to 2 * 3')
    call expect(.not. allocated_dv(whole), 'no view after an error')
  end subroutine errors

end program test_fft
