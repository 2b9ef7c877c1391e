!> Flow past a NACA 0012 airfoil: lift over the angle of attack, and the pressure on the surface.
!>
!> The surface is cut into panels that carry vorticity, linear along each panel; its values at the nodes are the unknowns.
!> No flow through the middle of each panel, and no vorticity at the trailing edge (Kutta's condition), make a dense
!> system, whose matrix depends on the shape alone: it is factored once on the device, and each angle of attack is
!> a right-hand side.
!>
!> Usage: 02_airfoil [output folder, default .] [number of panels, even, default 400]
!> Writes airfoil_cp.dat and airfoil.gp there; `gnuplot airfoil.gp` then draws airfoil.svg.
program airfoil
  use, intrinsic :: iso_fortran_env, only: dp => real64
  use devObjectBLAS
  use devObjectLU
  implicit none
  real(dp), parameter :: pi = acos(-1._dp)
  integer, parameter :: angles = 9
  real(dp), parameter :: degrees(angles) = [-4, -2, 0, 1, 2, 4, 6, 8, 10]

  character(500) :: folder, word
  integer :: n, i, j, info
  complex(dp), allocatable :: node(:), middle(:), tangent(:)
  real(dp), allocatable :: length(:), normal_flow(:, :), along(:, :), onset(:, :), vorticity(:, :), speed(:, :), cp(:, :)
  real(dp) :: alpha(angles), lift(angles), slope
  type(devVar) :: matrix, pivots, solutions, speeds, influence

  folder = '.'
  if (command_argument_count() >= 1) call get_command_argument(1, folder)
  n = 400
  if (command_argument_count() >= 2) then
    call get_command_argument(2, word)
    read (word, *) n
  end if
  if (n < 4 .or. mod(n, 2) /= 0) error stop 'the number of panels must be even and at least 4'
  alpha = degrees*pi/180

  call make_panels()
  call make_system()

  ! On the device: factor once, solve for all angles, and get the speeds along the panels.
  call open_devObjects()
  print '(a)', devobj_info()
  matrix = normal_flow
  solutions = onset
  influence = along
  speeds = allocate_dv('double', n, angles)
  call devf_getrf(matrix, pivots, info)
  if (info > 0) error stop 'the panels make a singular system'
  call devf_getrs('N', matrix, pivots, solutions)
  call devf_gemm('N', 'N', 1._dp, influence, solutions, 0._dp, speeds)
  allocate (vorticity(n + 1, angles), speed(n, angles))
  vorticity = solutions
  speed = speeds
  do j = 1, angles
    speed(:, j) = speed(:, j) + real(exp((0, -1)*alpha(j))*tangent, dp)
  end do
  cp = 1 - speed**2

  ! The circulation is the sum of all vorticity; its lift coefficient is twice that, the chord and the onset speed being 1.
  lift = [(2*sum(length*(vorticity(:n, j) + vorticity(2:, j))/2), j=1, angles)]
  slope = (lift(angles) - lift(1))/(sin(alpha(angles)) - sin(alpha(1)))
  call print_lift()
  call write_files(trim(folder))
  call check()

  call deallocate_dv(matrix)
  call deallocate_dv(pivots)
  call deallocate_dv(solutions)
  call deallocate_dv(influence)
  call deallocate_dv(speeds)
  call close_devObjects()

contains

  ! Nodes from the trailing edge along the lower side to the nose and back on the upper side, closer at both ends.
  subroutine make_panels()
    real(dp) :: x, y

    allocate (node(0:n))
    do i = 0, n
      x = (1 + cos(2*pi*i/n))/2
      y = 0.6_dp*(0.2969_dp*sqrt(x) - 0.1260_dp*x - 0.3516_dp*x**2 + 0.2843_dp*x**3 - 0.1036_dp*x**4)
      node(i) = cmplx(x, merge(-y, y, i < n/2), dp)
    end do
    node(n) = node(0)
    length = abs(node(1:) - node(:n - 1))
    tangent = (node(1:) - node(:n - 1))/length
    middle = (node(1:) + node(:n - 1))/2
  end subroutine make_panels

  ! normal_flow(i, k), along(i, k): speed through and along panel i for vorticity 1 at node k. onset: what has to cancel the
  ! flow from afar, for each angle. The last row is Kutta's condition.
  subroutine make_system()
    complex(dp) :: z, w, first, second

    allocate (normal_flow(n + 1, n + 1), along(n, n + 1), onset(n + 1, angles), source=0._dp)
    do j = 1, n
      do i = 1, n
        z = (middle(i) - node(j - 1))/tangent(j)
        ! w = integral of 1 / (z - s) over the panel; on the panel itself the value from outside, on its left
        if (i == j) then
          w = cmplx(0, -pi, dp)
        else
          w = log(z) - log(z - length(j))
        end if
        ! u - i v of clockwise vorticity that falls from 1 to 0 along the panel, or rises from 0 to 1, in panel i's axes
        second = (0, 1)/(2*pi)*(z*w/length(j) - 1)
        first = (0, 1)/(2*pi)*w - second
        first = first*tangent(i)/tangent(j)
        second = second*tangent(i)/tangent(j)
        along(i, j:j + 1) = along(i, j:j + 1) + [first%re, second%re]
        normal_flow(i, j:j + 1) = normal_flow(i, j:j + 1) - [first%im, second%im]
      end do
    end do
    normal_flow(n + 1, [1, n + 1]) = 1
    do j = 1, angles
      onset(:n, j) = aimag(exp((0, -1)*alpha(j))*tangent)
    end do
  end subroutine make_system

  subroutine print_lift()
    print '(a, i0, a)', 'NACA 0012, ', n, ' panels'
    print '(a)', ' angle      lift     2 pi sin(angle)'
    do j = 1, angles
      print '(f6.1, f11.5, f14.5)', degrees(j), lift(j), 2*pi*sin(alpha(j))
    end do
    print '(a, f7.4, a, f7.4, a)', 'slope ', slope, ' per radian; a flat plate has 2 pi = ', 2*pi, '.'
    print '(a)', 'A profile of 12 % thickness has about 10 % more, as long as friction is left out.'
  end subroutine print_lift

  ! Pressure coefficients in columns x, then one per angle, and a script for gnuplot that draws three of them.
  subroutine write_files(path)
    character(*), intent(in) :: path
    integer :: unit, stat

    open (newunit=unit, file=path//'/airfoil_cp.dat', status='replace', action='write', iostat=stat)
    if (stat /= 0) error stop 'cannot write to '//path
    write (unit, '(a, *(f7.1))') '# x, then the pressure coefficient at angles', degrees
    do i = 1, n
      write (unit, '(*(f12.6))') middle(i)%re, cp(i, :)
    end do
    close (unit)
    open (newunit=unit, file=path//'/airfoil.gp', status='replace', action='write')
    write (unit, '(a)') 'set terminal svg size 800,500 background "white"', 'set output "airfoil.svg"', &
      'set title "NACA 0012: pressure coefficient"', 'set xlabel "x / chord"', 'set ylabel "Cp"', &
      'set yrange [] reverse', 'set grid', &
      'plot "airfoil_cp.dat" using 1:4 with lines title "0 degrees", \', &
      '     "" using 1:7 with lines title "4 degrees", "" using 1:9 with lines title "8 degrees"'
    close (unit)
  end subroutine write_files

  ! No lift without an angle, symmetric in the angle, the slope of the profile, and a pressure that stays below that of a
  ! stagnation point and gives the same lift.
  subroutine check()
    real(dp) :: pressure_lift

    if (.not. abs(lift(3)) < 1e-9_dp) error stop 'a symmetric profile has no lift at angle 0'
    if (.not. abs(lift(1) + lift(6)) < 1e-9_dp) error stop 'lift must be odd in the angle'
    if (.not. (slope > 6.8_dp .and. slope < 7.0_dp)) error stop 'the slope of the lift should be about 6.9'
    if (.not. maxval(cp) <= 1) error stop 'the pressure is higher than at a stagnation point'
    ! the force of the pressure across the onset: - Re(exp(-i alpha) integral of cp dz)
    pressure_lift = -real(exp((0, -1)*alpha(6))*sum(cp(:, 6)*tangent*length), dp)
    if (.not. abs(pressure_lift - lift(6)) < 2e-2_dp*lift(6)) error stop 'pressure and circulation give different lifts'
  end subroutine check

end program airfoil
