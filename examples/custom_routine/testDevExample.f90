!> Tests devf_example on the backend in use: a matrix, a block of it, an empty object, and two errors.
program testDevExample
  use devObject
  use devObjectExample, only: devf_example
  implicit none
  integer, parameter :: m = 300, n = 17
  real :: matrix(m, n), expected(m, n), computed(m, n)
  type(devVar) :: dv_A, dv_integer, dv_empty, dv_none
  integer :: stat
  character(200) :: message

  call open_devObjects()
  print '(2a)', 'backend: ', backend_dv()

  call random_number(matrix)
  dv_A = allocate_dv('real', m, n)
  call transfer_r4(matrix, dv_A, .true.)
  call devf_example(dv_A, 2.0, 1.0)
  expected = 2 * matrix + 1
  call compare('matrix')

  call devf_example(view_dv(dv_A, 2, m - 1, 3, n), -0.5, 0.25)
  expected(2:m - 1, 3:n) = -0.5 * expected(2:m - 1, 3:n) + 0.25
  call compare('block')

  dv_empty = allocate_dv('real', 0, n)
  call devf_example(dv_empty, 2.0, 1.0)

  dv_integer = allocate_dv('integer', m, n)
  call devf_example(dv_integer, 2.0, 1.0, stat, message)
  if (stat == 0 .or. index(message, "must be of type 'real'") == 0) error stop 'an object of type integer was accepted'
  call devf_example(dv_none, 2.0, 1.0, stat, message)
  if (stat == 0) error stop 'an unallocated object was accepted'
  print '(a)', 'devf_example: all right'

contains

  subroutine compare(what)
    character(*), intent(in) :: what

    call transfer_r4(computed, dv_A, .false.)
    if (.not. all(abs(computed - expected) <= 4 * epsilon(1.0))) error stop 'devf_example: wrong elements, '//what
  end subroutine compare

end program testDevExample
