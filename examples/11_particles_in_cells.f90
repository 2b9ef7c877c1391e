!> Particles sorted into the cells of a grid, as molecular dynamics and particle-in-cell codes do it: afterwards the
!> particles of a cell are neighbours in memory, and cell c has the numbers first(c) to first(c + 1) - 1.
!>
!> The cells are sorted with the particles' numbers; a histogram counts the particles of each cell, and the running sum
!> of the counts tells where each cell begins. Those in the left half of the box are then picked out, in order.
!>
!> Usage: 11_particles_in_cells [particles, default 100000] [cells along a side, default 20]
program particles_in_cells
  use, intrinsic :: iso_fortran_env, only: int64, dp => real64
  use devObjectPrims
  implicit none
  integer :: particles, side, cells, i, c, k
  real(dp), allocatable :: position(:, :), x(:), chosen(:)
  integer, allocatable :: cell(:), number(:), first(:), counts(:)
  integer(int64) :: fullest, how_many, total
  integer :: most
  real(dp) :: least_x
  type(devVar) :: keys, keys_again, numbers, xs, sorted_cells, population, starts, left, picked

  particles = argument(1, 100000)
  side = argument(2, 20)
  if (particles < 1 .or. side < 1) error stop 'there must be particles and cells'
  cells = side**2
  allocate (position(2, particles))
  call random_init(repeatable=.true., image_distinct=.false.)
  call random_number(position)
  position(1, :) = position(1, :)**2  ! denser on the left
  cell = min(side - 1, int(side*position(1, :))) + side*min(side - 1, int(side*position(2, :))) + 1

  call open_devObjects()
  print '(a)', devobj_info()
  keys = cell
  keys_again = cell
  numbers = [(i, i=1, particles)]
  xs = position(1, :)

  ! Particle numbers in the order of their cells, and x in that order as well; within a cell the old order stays.
  call devf_sort_pairs(keys, numbers, sorted_cells, numbers)
  call devf_sort_pairs(keys_again, xs)

  ! How many are in each cell, and where each cell begins.
  call devf_histogram(sorted_cells, 1, cells + 1, population, bins=cells)
  call devf_scan(population, starts, kind='exclusive')
  call devf_reduce_sum(population, total)
  call devf_reduce_max(population, most, fullest)
  allocate (number(particles), x(particles), counts(cells), first(cells + 1))
  number = numbers
  x = xs
  counts = population
  first(:cells) = starts
  first(:cells) = first(:cells) + 1
  first(cells + 1) = particles + 1
  print '(i0, a, i0, a, i0, a, i0)', particles, ' particles in ', cells, ' cells; the fullest is cell ', fullest, ' with ', most

  ! The x of the particles in the left half, in the order of the cells.
  left = merge(1, 0, x < 0.5_dp)
  call devf_compact(xs, left, picked, how_many)
  allocate (chosen(how_many))
  chosen = view_dv(picked, 1_int64, how_many, 1_int64, 1_int64)
  call devf_reduce_min(xs, least_x)
  print '(i0, a, es9.2)', how_many, ' of them are on the left; the smallest x is', least_x
  call check()

  call deallocate_dv(keys)
  call deallocate_dv(keys_again)
  call deallocate_dv(numbers)
  call deallocate_dv(xs)
  call deallocate_dv(sorted_cells)
  call deallocate_dv(population)
  call deallocate_dv(starts)
  call deallocate_dv(left)
  call deallocate_dv(picked)
  call close_devObjects()

contains

  ! Each particle is in the range of its cell, once, in the old order.
  subroutine check()
    logical :: seen(particles)

    seen = .false.
    if (total /= particles) error stop 'some particles are in no cell'
    do c = 1, cells
      if (first(c + 1) - first(c) /= counts(c)) error stop 'a cell begins in a wrong place'
      do k = first(c), first(c + 1) - 1
        if (cell(number(k)) /= c) error stop 'a particle is in a wrong cell'
        if (seen(number(k))) error stop 'a particle is there twice'
        if (k > first(c)) then
          if (number(k) < number(k - 1)) error stop 'the order within a cell has changed'
        end if
        seen(number(k)) = .true.
      end do
    end do
    if (any(abs(x - position(1, number)) > 0)) error stop 'positions and numbers are in different orders'
    if (counts(fullest) /= maxval(counts) .or. most /= maxval(counts)) error stop 'another cell is fuller'
    if (any(abs(chosen - pack(x, x < 0.5_dp)) > 0)) error stop 'other particles are on the left'
    if (abs(least_x - minval(position(1, :))) > 0) error stop 'another x is smaller'
  end subroutine check

  ! Command line argument number i as an integer.
  integer function argument(i, default)
    integer, intent(in) :: i, default
    character(20) :: word

    argument = default
    if (command_argument_count() < i) return
    call get_command_argument(i, word)
    read (word, *) argument
  end function argument

end program particles_in_cells
