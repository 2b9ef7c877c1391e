!> Transfers between host arrays and device objects: every kind, rank 1 and 2, sections, sizes 0 and 1, and mismatches.
program test_transfers
  use test_support, only: begin, finish, expect, expect_error, sp, dp
  use devObject
  implicit none
  character(300) :: message = ''
  integer :: stat

  call begin('test_transfers')
  call every_kind()
  call sections()
  call components()
  call read_only(reshape([1.0, 2.0, 3.0, 4.0], [2, 2]))
  call small()
  call assignment_shapes()
  call mismatches()
  call finish()

contains

  ! Each kind by each way, with values that no other element has.
  subroutine every_kind()
    real(sp) :: r4_1(7), r4_2(5, 3), r4_back_1(7), r4_back_2(5, 3)
    real(dp) :: r8_1(7), r8_2(5, 3), r8_back_1(7), r8_back_2(5, 3)
    complex(sp) :: c4_1(7), c4_2(5, 3), c4_back_1(7), c4_back_2(5, 3)
    complex(dp) :: c8_1(7), c8_2(5, 3), c8_back_1(7), c8_back_2(5, 3)
    integer :: i4_1(7), i4_2(5, 3), i4_back_1(7), i4_back_2(5, 3)
    type(devVar) :: dv, row
    integer :: i

    r4_1 = [(i + 0.5, i=1, 7)]
    r4_2 = reshape([(i + 0.5, i=1, 15)], [5, 3])
    dv = r4_1
    call expect(dv%kind() == 'real' .and. dv%rows() == 7 .and. dv%cols() == 1, 'r4: a vector is n x 1')
    r4_back_1 = 0
    r4_back_1 = dv
    call expect(all(r4_back_1 == r4_1), 'r4: vector by assignment')
    dv = r4_2
    call expect(dv%rows() == 5 .and. dv%cols() == 3, 'r4: shape of a matrix')
    r4_back_2 = 0
    r4_back_2 = dv
    call expect(all(r4_back_2 == r4_2), 'r4: matrix by assignment')
    call transfer_r4(2*r4_2, dv, .true.)
    call transfer_dv(r4_back_2, dv, .false.)
    call expect(all(r4_back_2 == 2*r4_2), 'r4: matrix by transfer')
    row = allocate_dv('real', 1, 7)
    call transfer_dv(r4_1, row, .true.)
    r4_back_1 = 0
    call transfer_r4(r4_back_1, row, .false.)
    call expect(all(r4_back_1 == r4_1), 'r4: vector and 1 x n object')
    call expect(same_r4(r4_1, row), 'r4: 1 x n object as a matrix')

    r8_1 = [(i + 1/3._dp, i=1, 7)]
    r8_2 = reshape([(i + 1/3._dp, i=1, 15)], [5, 3])
    dv = r8_1
    call expect(dv%kind() == 'double' .and. dv%rows() == 7 .and. dv%cols() == 1, 'r8: a vector is n x 1')
    r8_back_1 = 0
    r8_back_1 = dv
    call expect(all(r8_back_1 == r8_1), 'r8: vector by assignment')
    dv = r8_2
    call expect(dv%rows() == 5 .and. dv%cols() == 3, 'r8: shape of a matrix')
    r8_back_2 = 0
    r8_back_2 = dv
    call expect(all(r8_back_2 == r8_2), 'r8: matrix by assignment')
    call transfer_r8(2*r8_2, dv, .true.)
    call transfer_dv(r8_back_2, dv, .false.)
    call expect(all(r8_back_2 == 2*r8_2), 'r8: matrix by transfer')
    row = allocate_dv('double', 1, 7)
    call transfer_dv(r8_1, row, .true.)
    r8_back_1 = 0
    call transfer_r8(r8_back_1, row, .false.)
    call expect(all(r8_back_1 == r8_1), 'r8: vector and 1 x n object')
    call expect(same_r8(r8_1, row), 'r8: 1 x n object as a matrix')

    c4_1 = [(cmplx(i, -i, sp), i=1, 7)]
    c4_2 = reshape([(cmplx(i, -i, sp), i=1, 15)], [5, 3])
    dv = c4_1
    call expect(dv%kind() == 'complex' .and. dv%rows() == 7 .and. dv%cols() == 1, 'c4: a vector is n x 1')
    c4_back_1 = 0
    c4_back_1 = dv
    call expect(all(c4_back_1 == c4_1), 'c4: vector by assignment')
    dv = c4_2
    call expect(dv%rows() == 5 .and. dv%cols() == 3, 'c4: shape of a matrix')
    c4_back_2 = 0
    c4_back_2 = dv
    call expect(all(c4_back_2 == c4_2), 'c4: matrix by assignment')
    call transfer_c4(2*c4_2, dv, .true.)
    call transfer_dv(c4_back_2, dv, .false.)
    call expect(all(c4_back_2 == 2*c4_2), 'c4: matrix by transfer')
    row = allocate_dv('complex', 1, 7)
    call transfer_dv(c4_1, row, .true.)
    c4_back_1 = 0
    call transfer_c4(c4_back_1, row, .false.)
    call expect(all(c4_back_1 == c4_1), 'c4: vector and 1 x n object')
    call expect(same_c4(c4_1, row), 'c4: 1 x n object as a matrix')

    c8_1 = [(cmplx(i/3._dp, -i, dp), i=1, 7)]
    c8_2 = reshape([(cmplx(i/3._dp, -i, dp), i=1, 15)], [5, 3])
    dv = c8_1
    call expect(dv%kind() == 'double complex' .and. dv%rows() == 7 .and. dv%cols() == 1, 'c8: a vector is n x 1')
    c8_back_1 = 0
    c8_back_1 = dv
    call expect(all(c8_back_1 == c8_1), 'c8: vector by assignment')
    dv = c8_2
    call expect(dv%rows() == 5 .and. dv%cols() == 3, 'c8: shape of a matrix')
    c8_back_2 = 0
    c8_back_2 = dv
    call expect(all(c8_back_2 == c8_2), 'c8: matrix by assignment')
    call transfer_c8(2*c8_2, dv, .true.)
    call transfer_dv(c8_back_2, dv, .false.)
    call expect(all(c8_back_2 == 2*c8_2), 'c8: matrix by transfer')
    row = allocate_dv('double complex', 1, 7)
    call transfer_dv(c8_1, row, .true.)
    c8_back_1 = 0
    call transfer_c8(c8_back_1, row, .false.)
    call expect(all(c8_back_1 == c8_1), 'c8: vector and 1 x n object')
    call expect(same_c8(c8_1, row), 'c8: 1 x n object as a matrix')

    i4_1 = [(i - 4, i=1, 7)]
    i4_2 = reshape([(i - 4, i=1, 15)], [5, 3])
    dv = i4_1
    call expect(dv%kind() == 'integer' .and. dv%rows() == 7 .and. dv%cols() == 1, 'i4: a vector is n x 1')
    i4_back_1 = 0
    i4_back_1 = dv
    call expect(all(i4_back_1 == i4_1), 'i4: vector by assignment')
    dv = i4_2
    call expect(dv%rows() == 5 .and. dv%cols() == 3, 'i4: shape of a matrix')
    i4_back_2 = 0
    i4_back_2 = dv
    call expect(all(i4_back_2 == i4_2), 'i4: matrix by assignment')
    call transfer_i4(2*i4_2, dv, .true.)
    call transfer_dv(i4_back_2, dv, .false.)
    call expect(all(i4_back_2 == 2*i4_2), 'i4: matrix by transfer')
    row = allocate_dv('integer', 1, 7)
    call transfer_dv(i4_1, row, .true.)
    i4_back_1 = 0
    call transfer_i4(i4_back_1, row, .false.)
    call expect(all(i4_back_1 == i4_1), 'i4: vector and 1 x n object')
    call expect(same_i4(i4_1, row), 'i4: 1 x n object as a matrix')
  end subroutine every_kind

  logical function same_r4(vector, row)
    real(sp), intent(in) :: vector(:)
    type(devVar), intent(in) :: row
    real(sp) :: matrix(1, size(vector))

    matrix = row
    same_r4 = all(matrix(1, :) == vector)
  end function same_r4

  logical function same_r8(vector, row)
    real(dp), intent(in) :: vector(:)
    type(devVar), intent(in) :: row
    real(dp) :: matrix(1, size(vector))

    matrix = row
    same_r8 = all(matrix(1, :) == vector)
  end function same_r8

  logical function same_c4(vector, row)
    complex(sp), intent(in) :: vector(:)
    type(devVar), intent(in) :: row
    complex(sp) :: matrix(1, size(vector))

    matrix = row
    same_c4 = all(matrix(1, :) == vector)
  end function same_c4

  logical function same_c8(vector, row)
    complex(dp), intent(in) :: vector(:)
    type(devVar), intent(in) :: row
    complex(dp) :: matrix(1, size(vector))

    matrix = row
    same_c8 = all(matrix(1, :) == vector)
  end function same_c8

  logical function same_i4(vector, row)
    integer, intent(in) :: vector(:)
    type(devVar), intent(in) :: row
    integer :: matrix(1, size(vector))

    matrix = row
    same_i4 = all(matrix(1, :) == vector)
  end function same_i4

  ! Sections go through exactly, and what lies between their elements is untouched.
  subroutine sections()
    real(dp) :: A(9, 8), B(9, 8), expected(9, 8)
    real(dp), allocatable :: whole(:, :)
    complex(sp) :: c(12), d(12)
    type(devVar) :: dv
    integer :: i, rows(3) = [7, 2, 5]

    A = reshape([(real(i, dp), i=1, 72)], [9, 8])
    c = [(cmplx(i, 100*i, sp), i=1, 12)]

    dv = A(2:8:3, 7:1:-2)
    B = -1
    expected = -1
    B(2:8:3, 7:1:-2) = dv
    expected(2:8:3, 7:1:-2) = A(2:8:3, 7:1:-2)
    call expect(all(B == expected), 'strided rows, reversed columns')
    B(1:3, 1:4) = dv
    call expect(all(B(1:3, 1:4) == A(2:8:3, 7:1:-2)), 'a strided section is stored densely')

    dv = A(9:1:-1, :)
    B = dv
    call expect(all(B == A(9:1:-1, :)), 'reversed rows')
    call transfer_r8(A(:, 8:1:-1), dv, .true.)
    call transfer_r8(B(9:1:-1, :), dv, .false.)
    call expect(all(B(9:1:-1, 8:1:-1) == A), 'reversed columns up, reversed rows down')

    dv = transpose(A)
    call expect(dv%rows() == 8 .and. dv%cols() == 9, 'transposed shape')
    allocate (whole(8, 9))
    whole = dv
    call expect(all(whole == transpose(A)), 'transposed')

    dv = A(3, :)
    call expect(dv%rows() == 8 .and. dv%cols() == 1, 'a row is a vector')
    B = 0
    B(5, :) = dv
    call expect(all(B(5, :) == A(3, :)) .and. count(B /= 0) == 8, 'a row of a matrix')
    B(8:1:-1, 2) = dv
    call expect(all(B(1:8, 2) == A(3, 8:1:-1)), 'a reversed column')
    dv = A(rows, 4)
    whole(1:3, 1) = dv
    call expect(all(whole(1:3, 1) == A(rows, 4)), 'vector subscript')
    dv = A(4:4, 2:6:2)
    whole(5:5, 1:3) = dv
    call expect(all(whole(5, 1:3) == A(4, 2:6:2)), 'one row')
    dv = A(2:9:7, 5:5)
    whole(1:2, 9:9) = dv
    call expect(all(whole(1:2, 9) == A(2:9:7, 5)), 'one column')

    dv = c(12:1:-5)
    d = 0
    d(2:10:4) = dv
    call expect(all(d(2:10:4) == c(12:1:-5)) .and. count(d /= 0) == 3, 'strided complex vector')

    ! blocks of objects and sections at once
    dv = A
    whole(1:3, 1:2) = view_dv(dv, 4, 6, 7, 8)
    call expect(all(whole(1:3, 1:2) == A(4:6, 7:8)), 'section = block')
    call transfer_dv(-A(1:6:2, 1:3:2), view_dv(dv, 4, 6, 7, 8), .true.)
    B = dv
    expected = A
    expected(4:6, 7:8) = -A(1:6:2, 1:3:2)
    call expect(all(B == expected), 'block = section, the rest unchanged')
  end subroutine sections

  ! Components of arrays of a derived type: the distance between elements is no multiple of their size.
  subroutine components()
    type :: sample
      sequence
      real(dp) :: x = 0
      real(sp) :: tag = 0
    end type sample
    type :: point
      character(3) :: name = 'abc'
      real(sp) :: re = 0
      complex(dp) :: z = 0
      integer :: n(2) = 0
    end type point
    type(sample), target :: samples(6)
    type(point) :: points(4, 5)
    real(dp), pointer :: xs(:)
    real(dp) :: back(6)
    complex(dp) :: zs(4, 5)
    type(devVar) :: dv
    integer :: i, j

    do i = 1, 6
      samples(i) = sample(i/7._dp, 99.0)
    end do
    dv = samples%x
    back = dv
    call expect(all(back == [(i/7._dp, i=1, 6)]), 'component of an array')
    dv = back(6:1:-1)
    samples%x = dv%rows()
    samples(2:6:2)%x = 0
    samples%x = [(0._dp, i=1, 6)]
    call fill(samples(6:1:-1)%x, dv)
    call expect(all(samples%x == [(i/7._dp, i=1, 6)]) .and. all(samples%tag == 99.0), 'to a reversed component')
    xs => samples%x
    xs = 0
    call transfer_dv(xs, dv, .false.)
    call expect(all(samples(6:1:-1)%x == [(i/7._dp, i=1, 6)]) .and. all(samples%tag == 99.0), 'to a pointer at a component')
    call transfer_dv(2*xs, dv, .true.)
    call transfer_dv(xs, dv, .true.)
    back = dv
    call expect(all(back == xs), 'from a pointer at a component')

    do j = 1, 5
      do i = 1, 4
        points(i, j)%z = cmplx(i, j, dp)
        points(i, j)%re = 10*i + j
        points(i, j)%n = [i, -j]
      end do
    end do
    dv = points%z
    zs = dv
    call expect(all(zs == points%z), 'complex component, rank 2')
    dv = points(4:1:-3, 2:5)%n(2)
    call expect(dv%kind() == 'integer' .and. dv%rows() == 2 .and. dv%cols() == 4, 'element of an array component')
    points%n(1) = 0
    call transfer_dv(points(1:4:3, 2:5)%n(1), dv, .false.)
    call expect(all(points(1:4:3, 2:5)%n(1) == points(4:1:-3, 2:5)%n(2)) .and. sum(points%n(1)) == -28, &
      'to an element of an array component')
    dv = real(zs)
    call expect(dv%kind() == 'double', 'real part')
    dv = zs%im
    zs%re = dv
    call expect(all(zs%re == zs%im), 'imaginary parts to real parts')
  end subroutine components

  subroutine fill(x, dv)
    real(dp), intent(inout) :: x(:)
    type(devVar), intent(in) :: dv

    x = dv
  end subroutine fill

  ! An array that may only be read can be sent.
  subroutine read_only(A)
    real, intent(in) :: A(:, :)
    real :: B(2, 2)
    type(devVar) :: dv

    dv = allocate_dv('real', 2, 2)
    call transfer_r4(A, dv, .true.)
    B = dv
    call expect(all(B == A), 'an intent(in) array')
    call transfer_r4(A + 1, dv, .true.)
    B = dv
    call expect(all(B == A + 1), 'an expression')
  end subroutine read_only

  subroutine small()
    real(sp) :: none(0), one(1), matrix(0, 3), back(0, 3), single(1, 1)
    type(devVar) :: dv

    dv = none
    call expect(dv%rows() == 0 .and. dv%cols() == 1, '0 elements')
    none = dv
    dv = matrix
    call expect(dv%rows() == 0 .and. dv%cols() == 3, '0 x 3')
    back = dv
    dv = reshape(none, [3, 0])
    call expect(dv%rows() == 3 .and. dv%cols() == 0, '3 x 0')
    dv = [5.0]
    one = dv
    single = dv
    call expect(one(1) == 5 .and. single(1, 1) == 5, '1 element')
    dv = single(1:1:-1, 1:0)
    call expect(dv%rows() == 1 .and. dv%cols() == 0, 'empty section')
  end subroutine small

  ! What an assignment keeps and what it replaces.
  subroutine assignment_shapes()
    use, intrinsic :: iso_c_binding, only: c_ptr, c_associated
    real(dp) :: A(3, 3), row(3)
    type(devVar) :: dv, view
    type(c_ptr) :: before

    A = reshape([1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3])
    dv = A
    view = view_dv(dv, 2, 2, 1, 3)
    before = devptr(dv)
    dv = 10*A
    row = view
    call expect(c_associated(before, devptr(dv)) .and. all(row == 10*A(2, :)), 'same shape and kind: the object is kept')
    view = [7._dp, 8._dp, 9._dp]
    A = dv
    call expect(all(A(2, :) == [7, 8, 9]), 'an assignment to a view writes into the block')
    dv = real(A, sp)
    call expect(dv%kind() == 'real', 'another kind: a new object')
    row = view
    call expect(all(row == [7, 8, 9]), 'a view keeps the memory of the old object')
  end subroutine assignment_shapes

  subroutine mismatches()
    real(sp) :: A(3, 4), B(4, 3), v(12), kept(4, 3)
    real(dp) :: D(3, 4)
    type(devVar) :: dv, none

    A = 1
    B = 2
    kept = B
    v = 3
    D = 4
    dv = A
    call transfer_r4(B, dv, .true., stat, message)
    call expect(index(message, '4 x 3') > 0 .and. index(message, '3 x 4') > 0, 'both shapes: '//trim(message))
    call expect_error(stat, devobj_invalid_argument, message, 'transfer_r4: ')
    call transfer_r4(B, dv, .false., stat, message)
    call expect_error(stat, devobj_invalid_argument, message, 'transfer_r4: ')
    call expect(all(B == kept), 'nothing is written')
    call transfer_r4(v, dv, .true., stat, message)
    call expect_error(stat, devobj_invalid_argument, message, '12 x 1')
    call transfer_dv(D, dv, .true., stat, message)
    call expect(index(message, "'real'") > 0 .and. index(message, "'double'") > 0, 'both kinds: '//trim(message))
    call expect_error(stat, devobj_invalid_argument, message, 'transfer_r8: ')
    call transfer_dv(A, none, .true., stat, message)
    call expect_error(stat, devobj_invalid_handle, message, 'transfer_r4: ')
    A = 0
    A = dv
    call expect(all(A == 1), 'the object is unchanged')
  end subroutine mismatches

end program test_transfers
