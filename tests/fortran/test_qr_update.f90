!> Updates of a QR in all forms and types: the factors against the updated matrix, least squares by one triangular solve
!> against a fresh fit, allocation of the results, and the words of errors.
program test_qr_update
  use test_support, only: begin, finish, expect, expect_error, random_matrix, on_device, on_host, unit_roundoff, op, &
    scalar_types, identity, dp
  use devObjectBLAS
  use devObjectQR
  use devObjectQRUpdate
  implicit none
  real(dp), parameter :: bound = 30
  character(9), parameter :: forms(3) = [character(9) :: 'full', 'economic', 'without_q']
  integer, parameter :: m = 70, n = 33, p = 5
  character(14) :: type
  integer :: t, f

  call begin('test_qr_update')
  do t = 1, 4
    type = scalar_types(t)
    do f = 1, 3
      call columns(trim(forms(f)))
      call rows(trim(forms(f)))
      call rank(trim(forms(f)))
    end do
  end do
  call objects_given()
  call errors()
  call costs()
  call finish()

contains

  real(dp) function norm1(Z)
    complex(dp), intent(in) :: Z(:, :)

    norm1 = 0
    if (size(Z) > 0) norm1 = maxval(sum(abs(Z), 1))
  end function norm1

  ! Q, R and d = Q^H b of A; Q unallocated without Q.
  subroutine factor(form, A, b, Q, R, d)
    character(*), intent(in) :: form
    complex(dp), intent(in) :: A(:, :), b(:, :)
    type(devVar), intent(inout) :: Q, R, d
    type(devVar) :: dA
    complex(dp), allocatable :: hQ(:, :)

    dA = on_device(type, A)
    call devf_qr(dA, Q, R, full=form == 'full')
    hQ = on_host(Q)
    d = on_device(type, matmul(op('C', hQ), b))
    if (form == 'without_q') call deallocate_dv(Q)
  end subroutine factor

  ! A1 = Q1 R1 and d1 = Q1^H b1; without Q the products with R1^H.
  subroutine check(what, form, A1, b1, Q1, R1, d1)
    character(*), intent(in) :: what, form
    complex(dp), intent(in) :: A1(:, :), b1(:, :)
    type(devVar), intent(in) :: Q1, R1, d1
    complex(dp), allocatable :: Q(:, :), R(:, :), d(:, :)
    real(dp) :: unit
    integer :: i, j
    logical :: triangular

    unit = unit_roundoff(type)*max(size(A1, 1), size(A1, 2))
    R = on_host(R1)
    d = on_host(d1)
    triangular = .true.
    do j = 1, size(R, 2)
      do i = j + 1, size(R, 1)
        triangular = triangular .and. R(i, j) == 0
      end do
    end do
    call expect(triangular, trim(type)//' '//form//' '//what//': R1 is triangular')
    if (form == 'without_q') then
      call expect(.not. allocated_dv(Q1), trim(type)//' '//what//': no Q1')
      call expect(norm1(matmul(op('C', R), R) - matmul(op('C', A1), A1)) <= bound*unit*norm1(matmul(op('C', A1), A1)), &
        trim(type)//' '//form//' '//what//': R1^H R1 = A1^H A1')
      call expect(norm1(matmul(op('C', R), d) - matmul(op('C', A1), b1)) <= bound*unit*norm1(A1)*norm1(b1), &
        trim(type)//' '//form//' '//what//': R1^H d1 = A1^H b1')
    else
      Q = on_host(Q1)
      call expect(norm1(A1 - matmul(Q, R)) <= bound*unit*norm1(A1), trim(type)//' '//form//' '//what//': A1 = Q1 R1')
      call expect(norm1(matmul(op('C', Q), Q) - identity(size(Q, 2))) <= bound*unit, &
        trim(type)//' '//form//' '//what//': orthogonal Q1')
      call expect(norm1(matmul(op('C', Q), b1) - d) <= bound*unit*norm1(b1), &
        trim(type)//' '//form//' '//what//': d1 = Q1^H b1')
    end if
    call solution(what, A1, b1, R1, d1)
  end subroutine check

  ! The least-squares solution is one triangular solve, equal to a fresh fit's.
  subroutine solution(what, A1, b1, R1, d1)
    character(*), intent(in) :: what
    complex(dp), intent(in) :: A1(:, :), b1(:, :)
    type(devVar), intent(in) :: R1, d1
    type(devVar) :: dA, db, d, x
    complex(dp), allocatable :: fresh(:, :), solved(:, :)
    integer :: info, cols

    cols = size(A1, 2)
    d = d1
    x = view_dv(d, 1, cols, 1, size(b1, 2))
    if (type == 'real' .or. type == 'complex') then
      call devf_trsm('L', 'U', 'N', 'N', 1.0, view_dv(R1, 1, cols, 1, cols), x)
    else
      call devf_trsm('L', 'U', 'N', 'N', 1.0_dp, view_dv(R1, 1, cols, 1, cols), x)
    end if
    dA = on_device(type, A1)
    db = on_device(type, b1)
    call devf_gels('N', dA, db, info)
    fresh = on_host(db)
    solved = on_host(x)
    call expect(info == 0 .and. norm1(solved - fresh(:cols, :)) <= 3e3_dp*unit_roundoff(type)*norm1(fresh(:cols, :)), &
      trim(type)//' '//what//': the least-squares solution')
  end subroutine solution

  subroutine columns(form)
    character(*), intent(in) :: form
    complex(dp) :: A(m, n), b(m, 2), U(m, p)
    type(devVar) :: Q, R, d, dU, db, Q1, R1, d1
    integer, parameter :: at(3) = [1, 15, n + 1]
    integer :: i, k

    A = random_matrix(type, m, n)
    b = random_matrix(type, m, 2)
    U = random_matrix(type, m, p)
    dU = on_device(type, U)
    db = on_device(type, b)
    do i = 1, 3
      k = at(i)
      call factor(form, A, b, Q, R, d)
      if (form == 'economic') then
        call devf_qr_add_cols(Q, R, k, dU, Q1, R1, d, d1, db)
      else if (form == 'full') then
        call devf_qr_add_cols(Q, R, k, dU, Q1, R1, d, d1, method='Update', block=20)
      end if
      if (form /= 'without_q') call check('columns come', form, &
        reshape([A(:, :k - 1), U, A(:, k:)], [m, n + p]), b, Q1, R1, d1)
      call drop(Q1, R1, d1)
      k = min(k, n - p + 1)
      call devf_qr_remove_cols(Q, R, k, p, Q1, R1, d, d1)
      call check('columns go', form, reshape([A(:, :k - 1), A(:, k + p:)], [m, n - p]), b, Q1, R1, d1)
      call drop(Q1, R1, d1)
      call drop(Q, R, d)
    end do
  end subroutine columns

  subroutine rows(form)
    character(*), intent(in) :: form
    complex(dp) :: A(m, n), b(m, 2), U(p, n), e(p, 2)
    complex(dp) :: A1(m + p, n), b1(m + p, 2)
    type(devVar) :: Q, R, d, dU, de, db, gone, gone_b, Q1, R1, d1, Q2, R2, d2
    integer, parameter :: at(3) = [1, 15, m + 1]
    integer :: i, k, info

    A = random_matrix(type, m, n)
    b = random_matrix(type, m, 2)
    U = random_matrix(type, p, n)
    e = random_matrix(type, p, 2)
    dU = on_device(type, U)
    de = on_device(type, e)
    do i = 1, 3
      k = at(i)
      call factor(form, A, b, Q, R, d)
      call devf_qr_add_rows(Q, R, k, dU, Q1, R1, d, d1, de)
      A1(:k - 1, :) = A(:k - 1, :)
      A1(k:k + p - 1, :) = U
      A1(k + p:, :) = A(k:, :)
      b1(:k - 1, :) = b(:k - 1, :)
      b1(k:k + p - 1, :) = e
      b1(k + p:, :) = b(k:, :)
      call check('rows come', form, A1, b1, Q1, R1, d1)
      ! others go than have come
      db = on_device(type, b1)
      gone = on_device(type, A1(3:p + 2, :))
      gone_b = on_device(type, b1(3:p + 2, :))
      info = -1
      select case (form)
      case ('full')
        call devf_qr_remove_rows(Q1, R1, 3, p, Q2, R2, info, d=d1, d1=d2)
      case ('economic')
        call devf_qr_remove_rows(Q1, R1, 3, p, Q2, R2, info, d=d1, d1=d2, b=db)
      case default
        call devf_qr_remove_rows(Q1, R1, 3, p, Q2, R2, info, gone, d1, d2, gone_b)
      end select
      call expect(info == 0, trim(type)//' '//form//': info of removed rows')
      A1(3:m, :) = A1(p + 3:, :)
      b1(3:m, :) = b1(p + 3:, :)
      call check('rows go', form, A1(:m, :), b1(:m, :), Q2, R2, d2)
      call drop(Q1, R1, d1)
      call drop(Q2, R2, d2)
      call drop(Q, R, d)
    end do
    ! a row that is not there
    call factor(form, A, b, Q, R, d)
    if (form == 'without_q') then
      gone = on_device(type, 100*U)
      R1 = R
      call devf_qr_remove_rows(Q, R, 1, p, Q1, R1, info, gone)
      call expect(info == 1 .and. all(on_host(R1) == on_host(R)), trim(type)//': a downdate that cannot be')
    end if
  end subroutine rows

  subroutine rank(form)
    character(*), intent(in) :: form
    complex(dp) :: A(m, n), b(m, 2), U(m, p), V(n, p)
    type(devVar) :: Q, R, d, db, dU, dV

    if (form == 'without_q') return
    A = random_matrix(type, m, n)
    b = random_matrix(type, m, 2)
    U = random_matrix(type, m, p)
    V = random_matrix(type, n, p)
    call factor(form, A, b, Q, R, d)
    dU = on_device(type, U)
    dV = on_device(type, V)
    db = on_device(type, b)
    if (form == 'economic') then
      call devf_qr_rank_update(Q, R, dU, dV, d, db)
    else
      call devf_qr_rank_update(Q, R, dU, dV, d)
    end if
    call check('rank update', form, A + matmul(U, op('C', V)), b, Q, R, d)
  end subroutine rank

  subroutine drop(Q, R, d)
    type(devVar), intent(inout) :: Q, R, d

    if (allocated_dv(Q)) call deallocate_dv(Q)
    if (allocated_dv(R)) call deallocate_dv(R)
    if (allocated_dv(d)) call deallocate_dv(d)
  end subroutine drop

  ! Results that are there already are written into, also blocks of bigger objects.
  subroutine objects_given()
    real(dp) :: A(20, 6), whole(40, 40)
    complex(dp), allocatable :: Q(:, :), R(:, :)
    type(devVar) :: dA, dQ, dR, bigQ, bigR, dU, vQ, vR

    call random_number(A)
    dA = A
    dU = A(:, 1:2)
    call devf_qr(dA, dQ, dR, full=.true.)
    whole = -7
    bigQ = whole
    bigR = whole
    vQ = view_dv(bigQ, 5, 24, 6, 25)
    vR = view_dv(bigR, 2, 21, 3, 10)
    call devf_qr_add_cols(dQ, dR, 7, dU, vQ, vR)
    Q = on_host(vQ)
    R = on_host(vR)
    call expect(maxval(abs(matmul(Q, R) - reshape([A, A(:, 1:2)], [20, 8]))) < 1e-12_dp, 'results in blocks')
    whole = bigQ
    call expect(all(whole(:4, :) == -7) .and. all(whole(25:, :) == -7) .and. all(whole(:, :5) == -7) .and. &
      all(whole(:, 26:) == -7), 'results in blocks: the rest is untouched')
  end subroutine objects_given

  subroutine errors()
    type(devVar) :: Q, R, U, Q1, R1, d, none, single
    character(300) :: message
    integer :: stat, info

    Q = identity_of(7, 7)
    R = identity_of(7, 4)
    U = identity_of(7, 2)
    d = identity_of(7, 1)
    single = real(spread([1.0], 1, 7))
    stat = -1
    message = ''
    call devf_qr_add_cols(Q, R, 0, U, Q1, R1, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_qr_add_cols: k is 0, must be 1 to 5')
    call expect(.not. allocated_dv(Q1) .and. .not. allocated_dv(R1), 'nothing is left of a failed call')
    call devf_qr_add_cols(Q, R, 6, U, Q1, R1, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'k is 6, must be 1 to 5')
    call devf_qr_add_cols(none, R, 1, U, Q1, R1, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_qr_add_cols: ')
    call devf_qr_add_cols(Q, R, 1, single, Q1, R1, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "U is of type 'real', but R is of type 'double'")
    call devf_qr_remove_cols(Q, R, 4, 2, Q1, R1, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'k is 4, must be 1 to 3, since p is 2 of 4 columns')
    call devf_qr_remove_cols(Q, R, 1, 5, Q1, R1, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'p is 5, must be 0 to 4')
    call devf_qr_add_rows(Q, R, 9, U, Q1, R1, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'k is 9, must be 1 to 8')
    call devf_qr_remove_rows(Q, R, 7, 2, Q1, R1, info, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'k is 7, must be 1 to 6')
    call expect(info == -1, 'info of a failed call')
    call devf_qr_remove_rows(Q, R, 1, 8, Q1, R1, info, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'p is 8, must be 0 to 7')
    call devf_qr_rank_update(Q, R, U, U, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_qr_rank_update: V is 7 x 2, must be 4 x 2')
    call devf_qr_rank_update(Q, R, U, U, method='fast', stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "method is 'fast', must be auto, update or refactor")
    call devf_qr_remove_cols(Q, R, 1, 1, Q1, R1, d=d, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'd is 7 x 1 and d1 is 0 x 0, must both be given')
  end subroutine errors

  function identity_of(rows, cols) result(dv)
    integer, intent(in) :: rows, cols
    type(devResult) :: dv
    real(dp) :: A(rows, cols)
    integer :: i

    A = 0
    do i = 1, min(rows, cols)
      A(i, i) = 1
    end do
    dv = A
  end function identity_of

  subroutine costs()
    real(dp) :: early, late, anew
    character(300) :: message
    integer :: stat

    call devf_qr_update_cost('add_cols', 'full', 'real', 4000, 2000, 10, 1, early, anew)
    call devf_qr_update_cost('Add_Cols', 'FULL', 'real', 4000, 2000, 10, 2001, late, anew)
    call expect(late > 0 .and. late < early .and. anew > 0, 'columns at the end cost less than at the front')
    message = ''
    call devf_qr_update_cost('add', 'full', 'real', 4, 2, 1, 1, early, anew, stat, message)
    call expect_error(stat, devobj_invalid_argument, message, "update is 'add', must be add_cols, remove_cols")
    call devf_qr_update_cost('add_rows', 'thin', 'real', 4, 2, 1, 1, early, anew, stat, message)
    call expect_error(stat, devobj_invalid_argument, message, "form is 'thin', must be full, economic or without_q")
    call devf_qr_update_cost('add_rows', 'full', 'quad', 4, 2, 1, 1, early, anew, stat, message)
    call expect_error(stat, devobj_invalid_argument, message, "type is 'quad', must be real, double")
    call devf_qr_update_cost('add_cols', 'full', 'real', 4, 2, 1, 4, early, anew, stat, message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_qr_update_cost: k is ')
  end subroutine costs

end program test_qr_update
