!> Parallel primitives on device objects of type 'integer', 'real' and 'double': scans, reductions, sorting, compaction,
!> histograms, sparse matrix times vector.
!>
!> The objects are vectors: a column (also of a larger object), or a matrix taken column by column; a block with fewer rows
!> than its object and more than one column is an error, as its elements do not lie side by side. Outputs are
!> allocated if they are unallocated. Results are the same from run to run. Words are read without regard to case. stat and
!> errmsg as in devObjectFunctions.
!>
!> NaN: scans and sums are NaN from the first NaN on; the minimum and the maximum of an object with a NaN are NaN, at the
!> position of the first; a histogram does not count it. Sorting takes the order of the bits: ascending, that is NaN with the
!> sign bit (0/0 on x86 processors has it), -Infinity to Infinity, NaN without; descending, the reverse. -0 and 0 are equal.
module devObjectPrims
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_float, c_double
  use devObject
  use devObjectErrors, only: report, fail
  use devObjectHeaders, only: loan, borrow, release, shape_of, allocate_in, undo_allocation
  use devObjectHostArray, only: type_integer
  use devObjectOptions, only: lower_case
  implicit none
  public

  private :: c_int, c_int32_t, c_int64_t, c_float, c_double, report, fail
  private :: loan, borrow, release, shape_of, allocate_in, undo_allocation, type_integer
  private :: sum_i8, sum_r4, sum_r8, min_i4, min_r4, min_r8, max_i4, max_r4, max_r8, histogram_i4, histogram_r4, histogram_r8
  private :: extremum, count_bins, scan_code, order_code, choose, lower_case, like
  private :: c_scan, c_segmented_scan, c_sum, c_sum_i, c_min, c_max, c_sort_keys, c_sort_pairs, c_compact, c_histogram, c_spmv

  !> call devf_reduce_sum(x, total [, stat, errmsg]): total = the sum of x's elements: integer(8) for an integer object, formed
  !> exactly; real or double precision for any object, formed in double precision (64-bit integers for integer objects). Waits.
  interface devf_reduce_sum
    module procedure sum_i8, sum_r4, sum_r8
  end interface devf_reduce_sum

  !> call devf_reduce_min(x, value [, position, stat, errmsg]): the smallest element of x and where it is first, from 1
  !> (integer(8); 0 if x has no elements, value is then huge or Infinity). value: default integer for an integer object,
  !> real for a real one, double precision for any. Waits.
  interface devf_reduce_min
    module procedure min_i4, min_r4, min_r8
  end interface devf_reduce_min

  !> call devf_reduce_max(x, value [, position, stat, errmsg]): the largest, likewise.
  interface devf_reduce_max
    module procedure max_i4, max_r4, max_r8
  end interface devf_reduce_max

  !> call devf_histogram(x, lower, upper, counts [, bins, stat, errmsg]): counts(k) = how many elements of x are in bin k of
  !> equal bins from lower (included) to upper (not included), both of x's kind. What is outside is not counted. counts:
  !> an integer object, allocated with `bins` elements if it is unallocated.
  interface devf_histogram
    module procedure histogram_i4, histogram_r4, histogram_r8
  end interface devf_histogram

  interface
    function c_scan(kind, x, y) bind(C, name='devobj_scan') result(status)
      import :: c_int, c_int64_t
      integer(c_int), value :: kind
      integer(c_int64_t), value :: x, y
      integer(c_int) :: status
    end function c_scan

    function c_segmented_scan(kind, x, heads, y) bind(C, name='devobj_segmented_scan') result(status)
      import :: c_int, c_int64_t
      integer(c_int), value :: kind
      integer(c_int64_t), value :: x, heads, y
      integer(c_int) :: status
    end function c_segmented_scan

    function c_sum(x, total) bind(C, name='devobj_reduce_sum') result(status)
      import :: c_int, c_int64_t, c_double
      integer(c_int64_t), value :: x
      real(c_double), intent(inout) :: total
      integer(c_int) :: status
    end function c_sum

    function c_sum_i(x, total) bind(C, name='devobj_reduce_sum_i') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: x
      integer(c_int64_t), intent(inout) :: total
      integer(c_int) :: status
    end function c_sum_i

    function c_min(x, value, position) bind(C, name='devobj_reduce_min') result(status)
      import :: c_int, c_int64_t, c_double
      integer(c_int64_t), value :: x
      real(c_double), intent(inout) :: value
      integer(c_int64_t), intent(inout) :: position
      integer(c_int) :: status
    end function c_min

    function c_max(x, value, position) bind(C, name='devobj_reduce_max') result(status)
      import :: c_int, c_int64_t, c_double
      integer(c_int64_t), value :: x
      real(c_double), intent(inout) :: value
      integer(c_int64_t), intent(inout) :: position
      integer(c_int) :: status
    end function c_max

    function c_sort_keys(order, keys, sorted) bind(C, name='devobj_sort_keys') result(status)
      import :: c_int, c_int64_t
      integer(c_int), value :: order
      integer(c_int64_t), value :: keys, sorted
      integer(c_int) :: status
    end function c_sort_keys

    function c_sort_pairs(order, keys, values, sorted_keys, sorted_values) bind(C, name='devobj_sort_pairs') result(status)
      import :: c_int, c_int64_t
      integer(c_int), value :: order
      integer(c_int64_t), value :: keys, values, sorted_keys, sorted_values
      integer(c_int) :: status
    end function c_sort_pairs

    function c_compact(x, flags, y, count) bind(C, name='devobj_compact') result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: x, flags, y
      integer(c_int64_t), intent(inout) :: count
      integer(c_int) :: status
    end function c_compact

    function c_histogram(x, lower, upper, counts) bind(C, name='devobj_histogram') result(status)
      import :: c_int, c_int64_t, c_double
      integer(c_int64_t), value :: x, counts
      real(c_double), value :: lower, upper
      integer(c_int) :: status
    end function c_histogram

    function c_spmv(alpha, base, offsets, columns, values, x, beta, y) bind(C, name='devobj_spmv') result(status)
      import :: c_int, c_int64_t, c_double
      real(c_double), value :: alpha, beta
      integer(c_int), value :: base
      integer(c_int64_t), value :: offsets, columns, values, x, y
      integer(c_int) :: status
    end function c_spmv
  end interface

contains

  ! ---- scans ----

  !> y(i) = x(1) + ... + x(i); with kind='exclusive' without x(i). Without y the result replaces x. kind: 'inclusive'
  !> (default) or 'exclusive'. Integer sums wrap around.
  subroutine devf_scan(x, y, kind, stat, errmsg)
    class(devVar), intent(in) :: x
    class(devVar), intent(inout), optional :: y
    character(*), intent(in), optional :: kind
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)
    integer(c_int) :: code, status
    logical :: made

    code = scan_code('devf_scan', kind, stat, errmsg)
    if (code < 0) return
    made = .false.
    status = devobj_success
    use(1) = borrow(x)
    if (present(y)) status = like(x, y, made)
    if (present(y)) use(2) = borrow(y)
    if (status == devobj_success) status = c_scan(code, use(1)%handle, merge(use(2)%handle, use(1)%handle, present(y)))
    call report(status, 'devf_scan', stat, errmsg)
    call release(use)
    if (status /= devobj_success .and. present(y)) call undo_allocation(y, made)
  end subroutine devf_scan

  !> devf_scan that begins anew at each element i with heads(i) /= 0; heads is an integer object.
  subroutine devf_segmented_scan(x, heads, y, kind, stat, errmsg)
    class(devVar), intent(in) :: x, heads
    class(devVar), intent(inout), optional :: y
    character(*), intent(in), optional :: kind
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(3)
    integer(c_int) :: code, status
    logical :: made

    code = scan_code('devf_segmented_scan', kind, stat, errmsg)
    if (code < 0) return
    made = .false.
    status = devobj_success
    use(1:2) = [borrow(x), borrow(heads)]
    if (present(y)) status = like(x, y, made)
    if (present(y)) use(3) = borrow(y)
    if (status == devobj_success) &
      status = c_segmented_scan(code, use(1)%handle, use(2)%handle, merge(use(3)%handle, use(1)%handle, present(y)))
    call report(status, 'devf_segmented_scan', stat, errmsg)
    call release(use)
    if (status /= devobj_success .and. present(y)) call undo_allocation(y, made)
  end subroutine devf_segmented_scan

  ! ---- reductions ----

  !> devf_reduce_sum of an integer object.
  subroutine sum_i8(x, total, stat, errmsg)
    class(devVar), intent(in) :: x
    integer(c_int64_t), intent(out) :: total
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use

    total = 0
    use = borrow(x)
    call report(c_sum_i(use%handle, total), 'devf_reduce_sum', stat, errmsg)
    call release(use)
  end subroutine sum_i8

  !> devf_reduce_sum in double precision.
  subroutine sum_r8(x, total, stat, errmsg)
    class(devVar), intent(in) :: x
    real(c_double), intent(out) :: total
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use

    total = 0
    use = borrow(x)
    call report(c_sum(use%handle, total), 'devf_reduce_sum', stat, errmsg)
    call release(use)
  end subroutine sum_r8

  !> devf_reduce_sum, rounded to single precision.
  subroutine sum_r4(x, total, stat, errmsg)
    class(devVar), intent(in) :: x
    real(c_float), intent(out) :: total
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: wide

    call sum_r8(x, wide, stat, errmsg)
    total = real(wide, c_float)
  end subroutine sum_r4

  !> devf_reduce_min in double precision.
  subroutine min_r8(x, value, position, stat, errmsg)
    class(devVar), intent(in) :: x
    real(c_double), intent(out) :: value
    integer(c_int64_t), intent(out), optional :: position
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call extremum('devf_reduce_min', 0, x, value, position, stat, errmsg)
  end subroutine min_r8

  !> devf_reduce_min of a real object.
  subroutine min_r4(x, value, position, stat, errmsg)
    class(devVar), intent(in) :: x
    real(c_float), intent(out) :: value
    integer(c_int64_t), intent(out), optional :: position
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: wide

    call extremum('devf_reduce_min', 1, x, wide, position, stat, errmsg)
    value = real(wide, c_float)
  end subroutine min_r4

  !> devf_reduce_min of an integer object.
  subroutine min_i4(x, value, position, stat, errmsg)
    class(devVar), intent(in) :: x
    integer(c_int32_t), intent(out) :: value
    integer(c_int64_t), intent(out), optional :: position
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: wide

    call extremum('devf_reduce_min', 5, x, wide, position, stat, errmsg)
    value = int(wide, c_int32_t)
  end subroutine min_i4

  !> devf_reduce_max in double precision.
  subroutine max_r8(x, value, position, stat, errmsg)
    class(devVar), intent(in) :: x
    real(c_double), intent(out) :: value
    integer(c_int64_t), intent(out), optional :: position
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call extremum('devf_reduce_max', 0, x, value, position, stat, errmsg)
  end subroutine max_r8

  !> devf_reduce_max of a real object.
  subroutine max_r4(x, value, position, stat, errmsg)
    class(devVar), intent(in) :: x
    real(c_float), intent(out) :: value
    integer(c_int64_t), intent(out), optional :: position
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: wide

    call extremum('devf_reduce_max', 1, x, wide, position, stat, errmsg)
    value = real(wide, c_float)
  end subroutine max_r4

  !> devf_reduce_max of an integer object.
  subroutine max_i4(x, value, position, stat, errmsg)
    class(devVar), intent(in) :: x
    integer(c_int32_t), intent(out) :: value
    integer(c_int64_t), intent(out), optional :: position
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: wide

    call extremum('devf_reduce_max', 5, x, wide, position, stat, errmsg)
    value = int(wide, c_int32_t)
  end subroutine max_i4

  ! The smallest or largest element of x, which must be of type `type` unless that is 0. Zeros after an error.
  subroutine extremum(routine, type, x, value, position, stat, errmsg)
    character(*), intent(in) :: routine
    integer, intent(in) :: type
    class(devVar), intent(in) :: x
    real(c_double), intent(out) :: value
    integer(c_int64_t), intent(out), optional :: position
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(7), parameter :: names(5) = [character(7) :: 'real', 'double', '', '', 'integer']
    type(loan) :: use
    integer(c_int64_t) :: place, rows, cols
    integer(c_int) :: found, status

    value = 0
    place = 0
    if (present(position)) position = 0
    if (type /= 0) then
      if (shape_of(x, found, rows, cols) == devobj_success .and. found /= type) then
        call fail(devobj_invalid_argument, routine//": x is of type '"//x%kind()//"', but value is of type '"// &
          trim(names(type))//"'", stat, errmsg)
        return
      end if
    end if
    use = borrow(x)
    if (routine == 'devf_reduce_min') then
      status = c_min(use%handle, value, place)
    else
      status = c_max(use%handle, value, place)
    end if
    if (present(position)) position = place
    call report(status, routine, stat, errmsg)
    call release(use)
  end subroutine extremum

  ! ---- sorting ----

  !> sorted = keys in order; without `sorted`, keys are sorted in place. order: 'ascending' (default) or 'descending'.
  !> Equal keys stay in their order.
  subroutine devf_sort_keys(keys, sorted, order, stat, errmsg)
    class(devVar), intent(in) :: keys
    class(devVar), intent(inout), optional :: sorted
    character(*), intent(in), optional :: order
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(2)
    integer(c_int) :: code, status
    logical :: made

    code = order_code('devf_sort_keys', order, stat, errmsg)
    if (code < 0) return
    made = .false.
    status = devobj_success
    use(1) = borrow(keys)
    if (present(sorted)) status = like(keys, sorted, made)
    if (present(sorted)) use(2) = borrow(sorted)
    if (status == devobj_success) &
      status = c_sort_keys(code, use(1)%handle, merge(use(2)%handle, use(1)%handle, present(sorted)))
    call report(status, 'devf_sort_keys', stat, errmsg)
    call release(use)
    if (status /= devobj_success .and. present(sorted)) call undo_allocation(sorted, made)
  end subroutine devf_sort_keys

  !> sorted_keys = keys in order, sorted_values = the values that belong to them; an output that is left out replaces its
  !> input. order: 'ascending' (default) or 'descending'. Equal keys stay in their order, so that a second sorting by
  !> another key keeps the first. With values 1, 2, 3, ... they are the permutation.
  subroutine devf_sort_pairs(keys, values, sorted_keys, sorted_values, order, stat, errmsg)
    class(devVar), intent(in) :: keys, values
    class(devVar), intent(inout), optional :: sorted_keys, sorted_values
    character(*), intent(in), optional :: order
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(4)
    integer(c_int) :: code, status
    logical :: made(2)

    code = order_code('devf_sort_pairs', order, stat, errmsg)
    if (code < 0) return
    made = .false.
    status = devobj_success
    if (present(sorted_keys)) status = like(keys, sorted_keys, made(1))
    if (present(sorted_values) .and. status == devobj_success) status = like(values, sorted_values, made(2))
    use(1:2) = [borrow(keys), borrow(values)]
    if (present(sorted_keys)) use(3) = borrow(sorted_keys)
    if (present(sorted_values)) use(4) = borrow(sorted_values)
    if (status == devobj_success) status = c_sort_pairs(code, use(1)%handle, use(2)%handle, &
      merge(use(3)%handle, use(1)%handle, present(sorted_keys)), merge(use(4)%handle, use(2)%handle, present(sorted_values)))
    call report(status, 'devf_sort_pairs', stat, errmsg)
    call release(use)
    if (status == devobj_success) return
    if (present(sorted_keys)) call undo_allocation(sorted_keys, made(1))
    if (present(sorted_values)) call undo_allocation(sorted_values, made(2))
  end subroutine devf_sort_pairs

  ! ---- compaction, histogram, sparse matrix ----

  !> y(1), ..., y(count) = the elements x(i) with flags(i) /= 0, in their order; the rest of y stays as it is. flags is an
  !> integer object; y has at least x's elements, and is allocated with as many if it is unallocated. Waits.
  subroutine devf_compact(x, flags, y, count, stat, errmsg)
    class(devVar), intent(in) :: x, flags
    class(devVar), intent(inout) :: y
    integer(c_int64_t), intent(out) :: count
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(3)
    integer(c_int) :: status
    logical :: made

    count = 0
    status = like(x, y, made)
    use = [borrow(x), borrow(flags), borrow(y)]
    if (status == devobj_success) status = c_compact(use(1)%handle, use(2)%handle, use(3)%handle, count)
    call report(status, 'devf_compact', stat, errmsg)
    call release(use)
    if (status /= devobj_success) call undo_allocation(y, made)
  end subroutine devf_compact

  !> devf_histogram of an integer object.
  subroutine histogram_i4(x, lower, upper, counts, bins, stat, errmsg)
    class(devVar), intent(in) :: x
    integer(c_int32_t), intent(in) :: lower, upper
    class(devVar), intent(inout) :: counts
    integer, intent(in), optional :: bins
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call count_bins(5, x, real(lower, c_double), real(upper, c_double), counts, bins, stat, errmsg)
  end subroutine histogram_i4

  !> devf_histogram of a real object.
  subroutine histogram_r4(x, lower, upper, counts, bins, stat, errmsg)
    class(devVar), intent(in) :: x
    real(c_float), intent(in) :: lower, upper
    class(devVar), intent(inout) :: counts
    integer, intent(in), optional :: bins
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call count_bins(1, x, real(lower, c_double), real(upper, c_double), counts, bins, stat, errmsg)
  end subroutine histogram_r4

  !> devf_histogram of a double object.
  subroutine histogram_r8(x, lower, upper, counts, bins, stat, errmsg)
    class(devVar), intent(in) :: x
    real(c_double), intent(in) :: lower, upper
    class(devVar), intent(inout) :: counts
    integer, intent(in), optional :: bins
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call count_bins(2, x, lower, upper, counts, bins, stat, errmsg)
  end subroutine histogram_r8

  ! The histogram of x, which must be of type `type`.
  subroutine count_bins(type, x, lower, upper, counts, bins, stat, errmsg)
    integer, intent(in) :: type
    class(devVar), intent(in) :: x
    real(c_double), intent(in) :: lower, upper
    class(devVar), intent(inout) :: counts
    integer, intent(in), optional :: bins
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(7), parameter :: names(5) = [character(7) :: 'real', 'double', '', '', 'integer']
    type(loan) :: use(2)
    integer(c_int64_t) :: rows, cols
    integer(c_int) :: found, status
    logical :: made

    if (shape_of(x, found, rows, cols) == devobj_success .and. found /= type) then
      call fail(devobj_invalid_argument, "devf_histogram: x is of type '"//x%kind()// &
        "', but lower and upper are of type '"//trim(names(type))//"'", stat, errmsg)
      return
    end if
    made = .false.
    status = devobj_success
    if (present(bins)) status = allocate_in(counts, type_integer, int(bins, c_int64_t), 1_c_int64_t, made)
    use = [borrow(x), borrow(counts)]
    if (status == devobj_success) status = c_histogram(use(1)%handle, lower, upper, use(2)%handle)
    call report(status, 'devf_histogram', stat, errmsg)
    call release(use)
    if (status /= devobj_success) call undo_allocation(counts, made)
  end subroutine count_bins

  !> y = alpha A x + beta y for a sparse matrix A in compressed rows: row i has the elements offsets(i) to offsets(i + 1) - 1
  !> of columns and values. offsets (rows + 1 elements) and columns are integer objects that count from `base`, 1 (default) or
  !> 0; values, x and y are real or double objects. A has as many rows as y and columns as x elements. alpha is 1 and
  !> beta 0 if they are left out; with beta = 0, y is not read. Wrong indices are found under DEVOBJ_CHECK=1 only.
  subroutine devf_spmv(offsets, columns, values, x, y, alpha, beta, base, stat, errmsg)
    class(devVar), intent(in) :: offsets, columns, values, x, y
    real(c_double), intent(in), optional :: alpha, beta
    integer, intent(in), optional :: base
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use(5)
    real(c_double) :: factors(2)
    integer(c_int) :: first

    factors = [1, 0]
    if (present(alpha)) factors(1) = alpha
    if (present(beta)) factors(2) = beta
    first = 1
    if (present(base)) first = base
    use = [borrow(offsets), borrow(columns), borrow(values), borrow(x), borrow(y)]
    call report(c_spmv(factors(1), first, use(1)%handle, use(2)%handle, use(3)%handle, use(4)%handle, factors(2), &
      use(5)%handle), 'devf_spmv', stat, errmsg)
    call release(use)
  end subroutine devf_spmv

  ! ---- words, and outputs that are unallocated ----

  integer(c_int) function scan_code(routine, kind, stat, errmsg)
    character(*), intent(in) :: routine
    character(*), intent(in), optional :: kind
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    scan_code = 0
    if (present(kind)) scan_code = choose(routine, 'kind', kind, 'inclusive', 'exclusive', stat, errmsg)
  end function scan_code

  integer(c_int) function order_code(routine, order, stat, errmsg)
    character(*), intent(in) :: routine
    character(*), intent(in), optional :: order
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    order_code = 0
    if (present(order)) order_code = choose(routine, 'order', order, 'ascending', 'descending', stat, errmsg)
  end function order_code

  ! 0 or 1 for one of two words; -1 after an error, which has been reported.
  integer(c_int) function choose(routine, argument, word, first, second, stat, errmsg)
    character(*), intent(in) :: routine, argument, word, first, second
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    choose = -1
    if (lower_case(word) == first) choose = 0
    if (lower_case(word) == second) choose = 1
    if (choose < 0) call fail(devobj_invalid_argument, routine//': '//argument//" is '"//word//"', must be "//first// &
      ' or '//second, stat, errmsg)
  end function choose

  ! Allocates y with the type and shape of x if it is unallocated. An x that is not alive is left to the C library.
  integer(c_int) function like(x, y, made) result(status)
    class(devVar), intent(in) :: x
    class(devVar), intent(inout) :: y
    logical, intent(out) :: made
    integer(c_int64_t) :: rows, cols
    integer(c_int) :: type

    made = .false.
    status = devobj_success
    if (shape_of(x, type, rows, cols) == devobj_success) status = allocate_in(y, type, rows, cols, made)
  end function like

end module devObjectPrims
