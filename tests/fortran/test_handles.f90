!> The life of device objects: who owns them, when they are freed, and what copies of handles do.
program test_handles
  use, intrinsic :: iso_fortran_env, only: int64
  use test_support, only: begin, finish, expect, expect_error, resident_kib
  use devObjectBLAS
  implicit none

  type :: family
    type(devVar), allocatable :: members(:)
  end type family

  type :: solver
    integer :: steps = 0
    type(devVar) :: matrix
    type(devVar) :: vectors(2)
  end type solver

  character(300) :: message = ''
  integer :: stat
  integer(int64) :: at_start = 0

  call begin('test_handles')
  call everything()
  call expect(live_objects_dv() == 0, 'no object is left at the end')
  call many()
  call freed_after_closing()
  call finish()

contains

  ! Each part ends with as many objects as it began with.
  subroutine everything()
    call part('scopes')
    call scopes()
    call part('copies')
    call copies()
    call part('views')
    call views()
    call part('blocks as arguments')
    call blocks_as_arguments()
    call part('arrays')
    call arrays()
    call part('components')
    call components()
    call part('function results')
    call function_results()
    call part('polymorphic variables')
    call polymorphic()
    call part('copied handles')
    call copied_handles()
    call part('end')
  end subroutine everything

  ! The part before this one must have left nothing.
  subroutine part(name)
    character(*), intent(in) :: name
    character(20) :: count

    write (count, '(i0)') made()
    call expect(made() == 0, 'objects left before '//name//': '//trim(count))
    at_start = live_objects_dv()
  end subroutine part

  ! The number of objects made in the present part.
  integer function made()
    made = int(live_objects_dv() - at_start)
  end function made

  logical function holds(dv, values)
    class(devVar), intent(in) :: dv
    real, intent(in) :: values(:)
    real :: host(size(values))

    host = huge(host)
    call transfer_dv(host, dv, .false., stat, message)
    holds = stat == 0 .and. all(host == values)
  end function holds

  subroutine scopes()
    type(devVar) :: a, b
    type(devVar), allocatable :: c, d(:)

    a = allocate_dv('real', 4)
    call expect(made() == 1, 'one object')
    a = allocate_dv('double', 4)
    call expect(made() == 1 .and. a%kind() == 'double', 'the old object is freed')
    a = [1.0, 2.0]
    call expect(made() == 1, 'and by a host array')
    block
      type(devVar) :: inner
      inner = allocate_dv('real', 4)
      call expect(made() == 2, 'in a block')
    end block
    call expect(made() == 1, 'a block frees its variables')
    allocate (c, d(3))
    c = allocate_dv('real', 2)
    d(1) = allocate_dv('real', 2)
    d(3) = allocate_dv('real', 2)
    call expect(made() == 4, 'allocatable variables')
    deallocate (c)
    call expect(made() == 3, 'deallocate frees')
    deallocate (d)
    call expect(made() == 1, 'deallocate frees the elements of an array')
    call replace(a)
    call expect(made() == 1, 'as an argument')
    call fresh(a)
    call expect(made() == 1 .and. a%kind() == 'complex', 'as an argument with intent(out)')
    a = b
    call expect(made() == 0 .and. .not. allocated_dv(a), 'an unallocated right side frees the left one')
  end subroutine scopes

  subroutine replace(dv)
    type(devVar), intent(inout) :: dv

    dv = allocate_dv('complex', 3)
  end subroutine replace

  subroutine fresh(dv)
    type(devVar), intent(out) :: dv

    call expect(.not. allocated_dv(dv) .and. made() == 0, 'intent(out) frees')
    dv = allocate_dv('complex', 3)
  end subroutine fresh

  subroutine copies()
    type(devVar) :: a, b

    a = [1.0, 2.0, 3.0]
    b = a
    call expect(made() == 2, 'a copy is an object of its own')
    a = [4.0, 5.0, 6.0]
    call expect(holds(b, [1.0, 2.0, 3.0]), 'and does not change with the original')
    call assign(b, b)
    call expect(made() == 2 .and. holds(b, [1.0, 2.0, 3.0]), 'self-assignment through arguments')
    b = b
    call expect(made() == 2 .and. holds(b, [1.0, 2.0, 3.0]), 'self-assignment')
    b = [7.0]
    b = a
    call expect(made() == 2 .and. holds(b, [4.0, 5.0, 6.0]), 'a copy into another shape')
    call copy_dv(a, b)
    call copy_dv(view_dv(a, 1, 2, 1, 1), view_dv(b, 2, 3, 1, 1))
    call expect(holds(b, [4.0, 4.0, 5.0]), 'copy_dv of blocks')
    call copy_dv(view_dv(a, 1, 2, 1, 1), b, stat, message)
    call expect_error(stat, devobj_invalid_argument, message, 'copy_dv: ')
    call deallocate_dv(a)
    call expect(holds(b, [4.0, 4.0, 5.0]), 'a copy outlives the original')
    call keep_and_restore(b)
    call expect(made() == 1 .and. holds(b, [4.0, 4.0, 5.0]), 'a copy that is only copied back')
  end subroutine copies

  subroutine keep_and_restore(x)
    type(devVar), intent(inout) :: x
    type(devVar) :: kept

    kept = x
    call devf_scal(0.0, x)
    x = kept
  end subroutine keep_and_restore

  subroutine assign(x, y)
    type(devVar), intent(inout) :: x
    type(devVar), intent(in) :: y

    x = y
  end subroutine assign

  subroutine views()
    type(devVar) :: a, v, w, b
    real :: matrix(3, 3) = reshape([1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3]), host(3, 3), column(3)
    integer(int64), parameter :: two = 2, three = 3

    a = matrix
    v = view_dv(a, 2, 3, 1, 3)
    call expect(v%rows() == 2 .and. v%cols() == 3 .and. v%kind() == 'real', 'shape of a view')
    w = view_dv(v, two, two, two, three)
    call expect(holds(w, [6.0, 9.0]), 'view of a view')
    w = view_dv(view_dv(a, 2, 3, 1, 3), 2, 2, 2, 3)
    call expect(holds(w, [6.0, 9.0]), 'block of a block')
    call devf_scal(10.0, w)
    host = a
    call expect(all(host(3, :) == [3.0, 60.0, 90.0]) .and. all(host(1:2, :) == matrix(1:2, :)), 'a view shares its memory')
    w = [-1.0, -2.0]
    host = a
    call expect(all(host(3, :) == [3.0, -1.0, -2.0]), 'an assignment writes into the block')
    b = [5.0, 6.0]
    w = view_dv(a, 1, 2, 1, 1)
    w = b
    host = a
    call expect(all(host(:, 1) == [5.0, 6.0, 3.0]), 'an assignment of an object writes into the block')
    b = w
    w = [0.0, 0.0]
    call expect(holds(b, [5.0, 6.0]), 'a copy of a view is an object of its own')
    call deallocate_dv(a)
    call expect(holds(w, [0.0, 0.0]) .and. v%cols() == 3, 'views keep their parent alive')
    a = matrix
    v = view_dv(a, 1, 3, 2, 2)
    a = view_dv(a, 2, 2, 1, 3)
    call expect(a%rows() == 1 .and. holds(a, [2.0, 5.0, 8.0]), 'a variable becomes a view of what it was')
    column = v
    call expect(all(column == matrix(:, 2)), 'and other views stay')
    v = view_dv(a, 1, 0, 1, 3)
    call expect(v%rows() == 0 .and. v%cols() == 3, 'an empty view')
    v = view_dv(a, 1, 1, 1, 4, stat, message)
    call expect_error(stat, devobj_invalid_argument, message, 'view_dv: columns 1 to 4 are not within 1 to 3')
    call expect(.not. allocated_dv(v), 'and leaves the variable unallocated')
    v = view_dv(v, 1, 1, 1, 1, stat, message)
    call expect_error(stat, devobj_invalid_handle, message, 'view_dv: ')
  end subroutine views

  ! view_dv(...) as an argument makes no object that stays, and does not end with its first use.
  subroutine blocks_as_arguments()
    type(devVar) :: a
    integer :: i
    real :: host(4)

    a = [1.0, 2.0, 3.0, 4.0]
    do i = 1, 10000
      call devf_scal(-1.0, view_dv(a, 2, 3, 1, 1))
    end do
    call expect(made() == 1, 'blocks as arguments leave nothing')
    call expect(holds(a, [1.0, 2.0, 3.0, 4.0]), 'and stand for the block')
    call twice_and_copy(view_dv(a, 1, 2, 1, 1))
    call expect(holds(a, [4.0, 8.0, 3.0, 4.0]), 'a block as the argument of a procedure with class(devVar)')
    call devf_scal(4.0, view_dv(a, 3, 4, 1, 1))
    host = a
    call expect(all(host == [4.0, 8.0, 12.0, 16.0]), 'another block')
    host(1:2) = view_dv(a, 3, 4, 1, 1)
    call expect(all(host(1:2) == [12.0, 16.0]), 'host = block')
  end subroutine blocks_as_arguments

  subroutine twice_and_copy(dv)
    class(devVar), intent(in) :: dv
    type(devVar) :: work

    work = dv
    call devf_scal(0.0, work)
    call devf_scal(2.0, dv)
    call devf_scal(2.0, dv)
  end subroutine twice_and_copy

  subroutine arrays()
    type(devVar) :: x(4), y(4)
    integer :: i

    x = [(allocate_dv('real', i), i=1, 4)]
    call expect(made() == 4 .and. x(1)%rows() == 1 .and. x(4)%rows() == 4, 'an array constructor of functions')
    do i = 1, 4
      x(i) = [real(i)]
    end do
    y = x
    call expect(all(allocated_dv(y)) .and. holds(y(3), [3.0]), 'an array is copied deeply')
    y(1:4:3) = x(3:2:-1)
    call expect(holds(y(1), [3.0]) .and. holds(y(4), [2.0]), 'array sections')
    y = x(2)
    call expect(holds(y(1), [2.0]) .and. holds(y(4), [2.0]), 'a scalar to an array')
    call deallocate_dv(x)
    call expect(.not. any(allocated_dv(x)), 'deallocate_dv of an array')
    x(2:3) = [view_dv(y(1), 1, 1, 1, 1), view_dv(y(2), 1, 1, 1, 1)]
    y(1) = [5.0]
    call expect(holds(x(2), [5.0]), 'an array constructor of views')
  end subroutine arrays

  subroutine components()
    type(solver) :: s, t
    type(solver), allocatable :: many(:), moved(:)
    type(family) :: f

    allocate (f%members(2))
    f%members(1) = [1.0]
    f%members(2) = [2.0]
    call expect(made() == 2, 'allocatable array component')
    deallocate (f%members)
    call expect(made() == 0, 'deallocate frees its elements')
    allocate (f%members(2))
    f%members(2) = [2.0]
    s%matrix = [1.0, 2.0]
    s%vectors(2) = [3.0]
    t = s
    s%matrix = [9.0, 9.0]
    call expect(holds(t%matrix, [1.0, 2.0]) .and. holds(t%vectors(2), [3.0]), 'components are copied deeply')
    call expect(.not. allocated_dv(t%vectors(1)), 'unallocated components stay so')
    allocate (many(3))
    many(2) = t
    many(3)%vectors(1) = [4.0]
    call move_alloc(many, moved)
    call expect(holds(moved(2)%matrix, [1.0, 2.0]) .and. holds(moved(2)%vectors(2), [3.0]) .and. &
      holds(moved(3)%vectors(1), [4.0]), 'move_alloc')
    t = moved(2)
    t = moved(2)
    deallocate (moved)
    call expect(holds(t%matrix, [1.0, 2.0]), 'a copy of a component outlives it')
    call assign_solver(t, s)
    call expect(holds(t%matrix, [9.0, 9.0]) .and. holds(t%vectors(2), [3.0]), 'a structure assigned in a procedure')
    call assign_solver(t, s)
    call assign_solver(s, t)
    call expect(holds(t%matrix, [9.0, 9.0]) .and. holds(t%vectors(2), [3.0]) .and. holds(s%vectors(2), [3.0]), 'and back')
    s = new_solver([4.0])
    call expect(holds(s%matrix, [4.0]) .and. .not. allocated_dv(s%vectors(2)), 'a function with a structure')
  end subroutine components

  subroutine assign_solver(x, y)
    type(solver), intent(inout) :: x
    type(solver), intent(in) :: y

    x = y
  end subroutine assign_solver

  function new_solver(values) result(new)
    real, intent(in) :: values(:)
    type(solver) :: new

    new%matrix = values
  end function new_solver

  ! Functions of a program's own: with a devResult the object changes hands.
  function doubled(dv) result(twice)
    class(devVar), intent(in) :: dv
    type(devResult) :: twice

    twice = allocate_dv(dv%kind(), dv%rows(), dv%cols())
    call copy_dv(dv, twice)
    call devf_scal(2.0, twice)
  end function doubled

  function tripled(dv) result(triple)
    class(devVar), intent(in) :: dv
    type(devVar) :: triple

    triple = dv
    call devf_scal(3.0, triple)
  end function tripled

  function last_of(dv) result(block)
    class(devVar), intent(in) :: dv
    type(devBlock) :: block

    block = view_dv(dv, dv%rows(), dv%rows(), 1_int64, dv%cols())
  end function last_of

  subroutine function_results()
    type(devVar) :: a, b
    integer :: i

    a = [1.0, 2.0]
    b = doubled(a)
    call expect(made() == 2 .and. holds(b, [2.0, 4.0]), 'a function with a devResult')
    do i = 1, 100
      b = doubled(a)
    end do
    call expect(made() == 2, 'its objects are taken over')
    do i = 1, 100
      b = tripled(a)
    end do
    call expect(made() == 2 .and. holds(b, [3.0, 6.0]), 'a function with a devVar is copied and freed')
    call devf_axpy(1.0, doubled(a), b)
    call expect(made() == 2 .and. holds(b, [5.0, 10.0]), 'a function as an argument is freed')
    a = doubled(a)
    call expect(holds(a, [2.0, 4.0]), 'a = f(a)')
    b = last_of(a)
    b = [8.0]
    call expect(holds(a, [2.0, 8.0]), 'a function with a devBlock')
    b = last_of(doubled_in_place(a))
    call expect(holds(b, [16.0]), 'functions of functions')
  end subroutine function_results

  function doubled_in_place(dv) result(block)
    class(devVar), intent(in) :: dv
    type(devBlock) :: block

    call devf_scal(2.0, dv)
    block = view_dv(dv, 1_int64, dv%rows(), 1_int64, dv%cols())
  end function doubled_in_place

  subroutine polymorphic()
    class(devVar), allocatable :: p, q(:)
    type(devVar) :: b

    allocate (p)
    p = [1.0, 2.0]
    b = p
    p = [3.0, 4.0]
    call expect(made() == 2 .and. holds(b, [1.0, 2.0]), 'a polymorphic variable is copied deeply')
    allocate (q(2))
    q(1) = p
    call expect(holds(q(1), [3.0, 4.0]), 'a polymorphic array')
    deallocate (p)
    call expect(made() == 2, 'deallocate frees')
    deallocate (q)
    call expect(made() == 1, 'deallocate frees the elements')
  end subroutine polymorphic

  ! allocate(source=) and structure constructors copy a variable without an assignment. A copy owns nothing, and is known for
  ! what it is; assignments from and to it are right.
  subroutine copied_handles()
    type(devVar) :: a, b
    type(devVar), allocatable :: c, several(:)
    type(solver) :: s
    type(family) :: f, g

    a = [1.0, 2.0]
    allocate (c, source=a)
    call expect(made() == 1 .and. .not. allocated_dv(c), 'a copy has no object of its own')
    call devf_scal(2.0, c, stat, message)
    call expect_error(stat, devobj_invalid_handle, message, 'devf_scal: x is no live object (the variable is a copy')
    call deallocate_dv(c, stat, message)
    call expect_error(stat, devobj_invalid_handle, message, 'deallocate_dv: ')
    call expect(holds(a, [1.0, 2.0]), 'the original is unharmed')
    deallocate (c)
    call expect(made() == 1 .and. holds(a, [1.0, 2.0]), "a copy's end leaves the object alone")
    allocate (several(3), source=a)
    b = several(2)
    call expect(holds(b, [1.0, 2.0]), 'an assignment from a copy')
    several(1) = a
    several(2) = [5.0, 6.0]
    several(3) = b
    call expect(made() == 5 .and. holds(several(1), [1.0, 2.0]) .and. holds(several(2), [5.0, 6.0]) .and. &
      holds(several(3), [1.0, 2.0]) .and. holds(a, [1.0, 2.0]), 'assignments to copies make them owners')
    deallocate (several)
    call expect(made() == 2 .and. holds(a, [1.0, 2.0]), 'which free')

    s = solver(3, a, [a, b])
    call expect(made() == 5 .and. holds(s%vectors(1), [1.0, 2.0]) .and. holds(s%vectors(2), [1.0, 2.0]), &
      'a structure constructor, assigned')
    a = [3.0, 4.0]
    call expect(holds(s%matrix, [1.0, 2.0]), 'has objects of its own')

    allocate (c, source=a)
    call deallocate_dv(a)
    b = [7.0, 8.0]
    call devf_scal(2.0, c, stat, message)
    call expect_error(stat, devobj_invalid_handle, message, 'devf_scal: ')
    call expect(holds(b, [7.0, 8.0]), 'an old handle does not reach a new object')

    ! an allocatable component: deep by the standard, a copied handle with gfortran 12; never a shared object
    allocate (f%members(1))
    f%members(1) = [1.0]
    g = f
    g%members(1) = [2.0]
    call expect(holds(f%members(1), [1.0]) .and. holds(g%members(1), [2.0]), 'allocatable components')
  end subroutine copied_handles

  ! 10,000 objects one after the other: neither objects nor memory grow.
  subroutine many()
    type(devVar) :: dv, copy, view
    integer :: i, before

    before = 0
    do i = 1, 11000
      if (i == 1000) before = resident_kib()
      dv = allocate_dv('double', 100, 50)
      copy = dv
      view = view_dv(copy, 1, 10, 1, 10)
      copy = doubled(view)
      if (mod(i, 100) == 0) call wait_devObjects()  ! a queue may hold the memory of work to do
    end do
    call expect(live_objects_dv() == 3, 'as many objects as variables after 11,000 rounds')
    ! 100 rounds of waiting work are about 12 MiB; 10,000 lost objects would be 400
    call expect(resident_kib() - before < 40000, 'the resident size stays flat')
  end subroutine many

  ! A variable whose object went with the library is finalised silently.
  subroutine freed_after_closing()
    type(devVar) :: dv, view

    dv = [1.0]
    view = view_dv(dv, 1, 1, 1, 1)
    call close_devObjects(stat, message)  ! an error under DEVOBJ_CHECK=1, but it closes
    call open_devObjects()
  end subroutine freed_after_closing

end program test_handles
