!> Parallel primitives: scans, reductions, sorting, compaction, histograms and sparse products of integer, real and double
!> objects against loops; outputs that are allocated; blocks; NaN; errors.
program test_prims
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan, ieee_is_nan
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use test_support, only: begin, finish, expect, expect_error, sp, dp
  use devObjectPrims
  implicit none
  integer, parameter :: sizes(5) = [0, 1, 17, 1000, 40001]
  integer :: s

  call begin('test_prims')
  do s = 1, size(sizes)
    call integers(sizes(s))
    call singles(sizes(s))
    call doubles(sizes(s))
  end do
  call sums_of_many()
  call extrema_and_nan()
  call compaction_and_bins()
  call sparse_products()
  call blocks()
  call errors()
  call expect(live_objects_dv() == 0, 'everything is freed')
  call finish()

contains

  function random_doubles(n) result(x)
    integer, intent(in) :: n
    real(dp) :: x(n)

    call random_number(x)
    x = 2*x - 1
  end function random_doubles

  ! Whole numbers in doubles, so that sums in any order are exact.
  function whole_numbers(n) result(x)
    integer, intent(in) :: n
    real(dp) :: x(n)

    x = aint(10*random_doubles(n))
  end function whole_numbers

  ! Running sums, anew at each head.
  function running(x, heads, exclusive) result(y)
    real(dp), intent(in) :: x(:)
    integer, intent(in) :: heads(:)
    logical, intent(in) :: exclusive
    real(dp) :: y(size(x)), total
    integer :: i

    total = 0
    do i = 1, size(x)
      if (heads(i) /= 0) total = 0
      if (exclusive) y(i) = total
      total = total + x(i)
      if (.not. exclusive) y(i) = total
    end do
  end function running

  ! All routines on vectors of whole numbers x as an object of each kind, the results taken back as doubles.
  subroutine doubles(n)
    integer, intent(in) :: n
    real(dp) :: x(n), y(n)
    integer :: heads(n)
    type(devVar) :: dx, dy, dh
    character(40) :: what

    write (what, '(a, i0)') 'double ', n
    x = whole_numbers(n)
    heads = merge(1, 0, random_doubles(n) > 0.8_dp)
    dx = x
    dh = heads
    call devf_scan(dx, dy)
    call expect(dy%kind() == 'double' .and. dy%rows() == n, trim(what)//': the output is allocated')
    y = dy
    call expect(all(y == running(x, 0*heads, .false.)), trim(what)//': scan')
    call devf_scan(dx, dy, kind='Exclusive')
    y = dy
    call expect(all(y == running(x, 0*heads, .true.)), trim(what)//': exclusive scan')
    call devf_segmented_scan(dx, dh, dy, kind='inclusive')
    y = dy
    call expect(all(y == running(x, heads, .false.)), trim(what)//': segmented scan')
    call devf_segmented_scan(dx, dh, kind='exclusive')
    y = dx
    call expect(all(y == running(x, heads, .true.)), trim(what)//': exclusive segmented scan in place')
    dx = x
    call devf_sort_keys(dx, dy)
    y = dy
    call expect(all(y(2:) >= y(:n - 1)) .and. sum(y) == sum(x), trim(what)//': sorted')
    call devf_sort_keys(dx, order='descending')
    y = dx
    call expect(all(y(2:) <= y(:n - 1)) .and. sum(y) == sum(x), trim(what)//': sorted downwards, in place')
  end subroutine doubles

  subroutine singles(n)
    integer, intent(in) :: n
    real(dp) :: x(n)
    real(sp) :: y(n), key(n)
    integer :: i, at(n)
    type(devVar) :: dx, dy, dv, dw
    character(40) :: what
    logical :: stable

    write (what, '(a, i0)') 'real ', n
    x = whole_numbers(n)
    dx = real(x, sp)
    call devf_scan(dx, dy)
    y = dy
    call expect(all(y == real(running(x, 0*at, .false.), sp)) .or. n == 0, trim(what)//': scan')
    ! the permutation, with equal keys in their order
    dv = [(i, i=1, n)]
    call devf_sort_pairs(dx, dv, dy, dw, order='descending')
    key = dy
    at = dw
    stable = .true.
    do i = 2, n
      if (key(i) > key(i - 1) .or. (key(i) == key(i - 1) .and. at(i) < at(i - 1))) stable = .false.
    end do
    call expect(stable .and. all(key == real(x(at), sp)), trim(what)//': pairs, stable')
    call devf_sort_pairs(dx, dv)
    key = dx
    at = dv
    call expect(all(key(2:) >= key(:n - 1)) .and. all(key == real(x(at), sp)), trim(what)//': pairs in place')
  end subroutine singles

  subroutine integers(n)
    integer, intent(in) :: n
    integer :: x(n), y(n), at(n), i
    type(devVar) :: dx, dy, dv
    character(40) :: what

    write (what, '(a, i0)') 'integer ', n
    x = int(1000*random_doubles(n))
    dx = x
    call devf_scan(dx, dy)
    y = dy
    call expect(all(y == [(sum(x(:i)), i=1, min(n, 1000))]) .or. n > 1000, trim(what)//': scan')
    dv = [(i, i=1, n)]
    call devf_sort_pairs(dx, dv, order='ascending')
    y = dx
    at = dv
    call expect(all(y(2:) >= y(:n - 1)) .and. all(y == x(at)), trim(what)//': pairs')
  end subroutine integers

  subroutine sums_of_many()
    integer :: i
    integer(int64) :: exact
    real(dp) :: wide
    real(sp) :: narrow
    type(devVar) :: dx

    dx = [(huge(i) - i, i=1, 5000)]
    call devf_reduce_sum(dx, exact)
    call expect(exact == 5000_int64*huge(i) - 5000_int64*5001/2, 'the sum of large integers')
    call devf_reduce_sum(dx, wide)
    call expect(wide == real(exact, dp), 'the same as a double')
    dx = [(real(i, sp), i=1, 10000)]
    call devf_reduce_sum(dx, wide)
    call expect(wide == 50005000._dp, 'a sum of reals is formed in double precision')
    call devf_reduce_sum(dx, narrow)
    call expect(narrow == 50005000._sp, 'a sum of reals as a real')
    dx = random_doubles(0)
    call devf_reduce_sum(dx, wide)
    call expect(wide == 0, 'the sum of nothing')
  end subroutine sums_of_many

  subroutine extrema_and_nan()
    type(devVar) :: dx, dy
    integer :: i4
    integer(int64) :: at
    real(sp) :: r4
    real(dp) :: r8, x(100), y(100)

    dx = [3, -7, 9, -7, 9]
    call devf_reduce_min(dx, i4, at)
    call expect(i4 == -7 .and. at == 2, 'the first minimum of integers')
    call devf_reduce_max(dx, i4)
    call expect(i4 == 9, 'the maximum of integers')
    call devf_reduce_max(dx, r8, at)
    call expect(r8 == 9 .and. at == 3, 'the maximum of integers as a double')
    dx = [1._sp, 2.5_sp, 2.5_sp]
    call devf_reduce_max(dx, r4, at)
    call expect(r4 == 2.5_sp .and. at == 2, 'the maximum of reals')
    call devf_reduce_min(dx, r4)
    call expect(r4 == 1, 'the minimum of reals')
    x = random_doubles(100)
    x(37) = ieee_value(x(37), ieee_quiet_nan)
    dx = x
    call devf_reduce_min(dx, r8, at)
    call expect(ieee_is_nan(r8) .and. at == 37, 'a NaN is the minimum')
    call devf_reduce_max(dx, r8, at)
    call expect(ieee_is_nan(r8) .and. at == 37, 'a NaN is the maximum')
    call devf_scan(dx, dy)
    y = dy
    call expect(.not. any(ieee_is_nan(y(:36))) .and. all(ieee_is_nan(y(37:))), 'a NaN in a scan')
    call devf_sort_keys(dx)
    y = dx
    call expect(ieee_is_nan(y(1)) .neqv. ieee_is_nan(y(100)), 'a NaN is sorted to one end')
    call expect(all(y(3:99) >= y(2:98)), 'around it the numbers are in order')
    dx = random_doubles(0)
    call devf_reduce_min(dx, r8, at)
    call expect(r8 > huge(r8) .and. at == 0, 'the minimum of nothing')
  end subroutine extrema_and_nan

  subroutine compaction_and_bins()
    integer, parameter :: n = 3000
    real(dp) :: x(n), y(n)
    integer :: flags(n), counts(5), i
    integer(int64) :: chosen
    type(devVar) :: dx, df, dy, dc

    x = random_doubles(n)
    flags = merge(2, 0, x > 0.3_dp)
    dx = x
    df = flags
    call devf_compact(dx, df, dy, chosen)
    y = dy
    call expect(chosen == sum(flags)/2, 'how many are chosen')
    call expect(all(y(:chosen) == pack(x, flags /= 0)), 'the chosen ones in their order')
    call devf_histogram(dx, -1._dp, 1.5_dp, dc, bins=5)
    counts = dc
    call expect(all(counts == [(count(x >= -1 + 0.5_dp*(i - 1) .and. x < -1 + 0.5_dp*i), i=1, 5)]), 'bins of doubles')
    dx = [1, 2, 3, 4, 5, 6, 7, 100]
    call devf_histogram(dx, 2, 12, dc)
    counts = dc
    call expect(all(counts == [2, 2, 2, 0, 0]), 'bins of integers')
    dx = [0.5_sp, 1.5_sp, 1.25_sp]
    call devf_histogram(dx, 0._sp, 5._sp, dc)
    counts = dc
    call expect(all(counts == [1, 2, 0, 0, 0]), 'bins of reals')

  end subroutine compaction_and_bins

  ! [1 0 2; 0 0 0; 0 3 4] in compressed rows.
  subroutine sparse_products()
    type(devVar) :: offsets, columns, values, x, y
    real(dp) :: result(3)
    real(sp) :: single(3)

    offsets = [1, 3, 3, 5]
    columns = [1, 3, 2, 3]
    values = [1._dp, 2._dp, 3._dp, 4._dp]
    x = [5._dp, 6._dp, 7._dp]
    y = [1._dp, 1._dp, 1._dp]
    call devf_spmv(offsets, columns, values, x, y)
    result = y
    call expect(all(result == [19._dp, 0._dp, 46._dp]), 'A x')
    call devf_spmv(offsets, columns, values, x, y, alpha=2._dp, beta=-1._dp)
    result = y
    call expect(all(result == [19._dp, 0._dp, 46._dp]), '2 A x - y')
    offsets = [0, 2, 2, 4]
    columns = [0, 2, 1, 2]
    values = [1._sp, 2._sp, 3._sp, 4._sp]
    x = [5._sp, 6._sp, 7._sp]
    y = [1._sp, 1._sp, 1._sp]
    call devf_spmv(offsets, columns, values, x, y, base=0)
    single = y
    call expect(all(single == [19._sp, 0._sp, 46._sp]), 'A x, from 0, real')
  end subroutine sparse_products

  ! A column of a matrix in and out; the rest stays.
  subroutine blocks()
    real(dp) :: A(6, 3), B(6, 3)
    type(devVar) :: dA, part

    A = reshape(whole_numbers(18), [6, 3])
    dA = A
    part = view_dv(dA, 2, 5, 2, 2)
    call devf_scan(view_dv(dA, 1, 4, 1, 1), part)
    B = dA
    call expect(all(B(2:5, 2) == running(A(:4, 1), [0, 0, 0, 0], .false.)), 'from a block to a block')
    B(2:5, 2) = A(2:5, 2)
    call expect(all(A == B), 'the rest of the object')
  end subroutine blocks

  subroutine errors()
    type(devVar) :: dx, dy, dh, dc, none
    integer :: code, i4
    integer(int64) :: count
    character(300) :: text
    real(dp) :: r8

    dx = [1._dp, 2._dp, 3._dp]
    dh = [1, 0]
    dc = [(1._dp, 1._dp), (2._dp, 0._dp)]
    call devf_scan(dx, kind='both', stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, "devf_scan: kind is 'both', must be inclusive or exclusive")
    call devf_sort_keys(dx, order='up', stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, "devf_sort_keys: order is 'up', must be ascending or descending")
    call devf_segmented_scan(dx, dh, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, 'devf_segmented_scan: heads has 2 elements, but x has 3')
    call devf_segmented_scan(dx, dx, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, "devf_segmented_scan: heads is of type 'double', must be 'integer'")
    call devf_scan(dc, dy, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, &
      "devf_scan: x is of type 'double complex', must be integer, real or double")
    call expect(.not. allocated_dv(dy), 'no output after an error')
    call devf_scan(none, dy, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_handle, text, 'devf_scan: x is a null handle')
    call devf_reduce_min(dx, i4, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, "devf_reduce_min: x is of type 'double', but value is of type 'integer'")
    call devf_reduce_sum(dx, count, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, "devf_reduce_sum: x is of type 'double', must be 'integer'")
    call devf_reduce_max(none, r8, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_handle, text, 'devf_reduce_max: x is a null handle')
    call devf_sort_pairs(dx, dh, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, 'devf_sort_pairs: values has 2 elements, but keys has 3')
    call devf_compact(dx, dh, dy, count, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, 'devf_compact: flags has 2 elements, but x has 3')
    call devf_histogram(dx, 0, 5, dy, bins=3, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, &
      "devf_histogram: x is of type 'double', but lower and upper are of type 'integer'")
    call devf_histogram(dx, 5._dp, 0._dp, dy, bins=3, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, 'devf_histogram: the bins go from 5 to 0')
    call devf_histogram(dx, 0._dp, 5._dp, dy, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_handle, text, 'devf_histogram: counts is a null handle')
    call devf_spmv(dh, dh, dx, dx, dx, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, 'devf_spmv: offsets has 2 elements, must have one more than the 3 rows')
    call devf_spmv(dh, dh, dx, dx, dx, base=3, stat=code, errmsg=text)
    call expect_error(code, devobj_invalid_argument, text, 'devf_spmv: base is 3, must be 0 or 1')
  end subroutine errors

end program test_prims
