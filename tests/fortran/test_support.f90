!> What the Fortran tests share: the library opened on the backend that DEVOBJ_BACKEND names, checks that are counted,
!> and matrices of the four types seen as double complex.
module test_support
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64, error_unit
  use devObject
  implicit none
  private

  public :: begin, finish, expect, expect_error
  public :: random_matrix, on_device, on_host, unit_roundoff, op, identity, resident_kib

  integer, parameter, public :: sp = real32, dp = real64
  !> The types that linear algebra works with.
  character(14), parameter, public :: scalar_types(4) = [character(14) :: 'real', 'double', 'complex', 'double complex']

  integer :: checks = 0, failures = 0
  character(40) :: test_name = ''

contains

  !> Opens the library. Where the GPU is asked for by DEVOBJ_BACKEND=cuda and there is none, the test ends as skipped.
  !> Random numbers are the same in every run.
  subroutine begin(name)
    character(*), intent(in) :: name
    character(300) :: message
    integer :: stat

    test_name = name
    message = ''
    call random_init(repeatable=.true., image_distinct=.false.)
    call open_devObjects(stat=stat, errmsg=message)
    if (stat == devobj_no_device) then
      print '(2a)', 'skipped: no GPU: ', trim(message)
      stop 77
    end if
    if (stat /= devobj_success) error stop 'open_devObjects: '//trim(message)
    print '(4a)', name, ' on ', backend_dv(), ':'
  end subroutine begin

  !> Closes the library and ends the program, with an error if a check has failed or no check was made.
  subroutine finish()
    call close_devObjects()
    print '(2a, i0, a, i0, a)', trim(test_name), ': ', checks, ' checks, ', failures, ' failed'
    if (failures > 0 .or. checks == 0) error stop 1
  end subroutine finish

  !> One check.
  subroutine expect(ok, what)
    logical, intent(in) :: ok
    character(*), intent(in) :: what

    checks = checks + 1
    if (ok) return
    failures = failures + 1
    write (error_unit, '(3a)') trim(test_name), ': FAILED: ', what
  end subroutine expect

  !> Checks that a call ended with the wanted stat and a message that contains `text`, and resets both.
  subroutine expect_error(stat, wanted, errmsg, text)
    integer, intent(inout) :: stat
    integer, intent(in) :: wanted
    character(*), intent(inout) :: errmsg
    character(*), intent(in) :: text
    character(60) :: numbers

    write (numbers, '(a, i0, a, i0)') ' stat ', stat, ', wanted ', wanted
    call expect(stat == wanted .and. index(errmsg, text) > 0, &
      "error with '"//text//"':"//trim(numbers)//", message '"//trim(errmsg)//"'")
    stat = -1
    errmsg = ''
  end subroutine expect_error

  !> Uniform in (-1, 1), exactly representable in the type; no imaginary parts if the type is real.
  function random_matrix(type, m, n) result(Z)
    character(*), intent(in) :: type
    integer, intent(in) :: m, n
    complex(dp) :: Z(m, n)
    real(dp) :: parts(m, n, 2)

    call random_number(parts)
    parts = 2*parts - 1
    if (type == 'real' .or. type == 'double') parts(:, :, 2) = 0
    if (type == 'real' .or. type == 'complex') parts = real(real(parts, sp), dp)
    Z = cmplx(parts(:, :, 1), parts(:, :, 2), dp)
  end function random_matrix

  !> An object of this type with the elements of Z.
  function on_device(type, Z) result(dv)
    character(*), intent(in) :: type
    complex(dp), intent(in) :: Z(:, :)
    type(devResult) :: dv

    select case (type)
    case ('real')
      dv = real(Z, sp)
    case ('double')
      dv = real(Z, dp)
    case ('complex')
      dv = cmplx(Z, kind=sp)
    case ('double complex')
      dv = Z
    case default
      error stop 'on_device: unknown type'
    end select
  end function on_device

  !> The elements of an object of any of the four types.
  function on_host(dv) result(Z)
    class(devVar), intent(in) :: dv
    complex(dp), allocatable :: Z(:, :)
    real(sp), allocatable :: r4(:, :)
    real(dp), allocatable :: r8(:, :)
    complex(sp), allocatable :: c4(:, :)

    allocate (Z(dv%rows(), dv%cols()))
    select case (dv%kind())
    case ('real')
      allocate (r4(size(Z, 1), size(Z, 2)))
      call transfer_r4(r4, dv, .false.)
      Z = r4
    case ('double')
      allocate (r8(size(Z, 1), size(Z, 2)))
      call transfer_r8(r8, dv, .false.)
      Z = r8
    case ('complex')
      allocate (c4(size(Z, 1), size(Z, 2)))
      call transfer_c4(c4, dv, .false.)
      Z = c4
    case ('double complex')
      call transfer_c8(Z, dv, .false.)
    case default
      error stop 'on_host: unknown type'
    end select
  end function on_host

  !> eps of the type's precision, as epsilon() gives it.
  pure real(dp) function unit_roundoff(type)
    character(*), intent(in) :: type

    unit_roundoff = merge(epsilon(1._dp), real(epsilon(1._sp), dp), type == 'double' .or. type == 'double complex')
  end function unit_roundoff

  !> Z, Z^T or Z^H for 'N', 'T' or 'C'.
  function op(letter, Z) result(W)
    character, intent(in) :: letter
    complex(dp), intent(in) :: Z(:, :)
    complex(dp), allocatable :: W(:, :)

    select case (letter)
    case ('N')
      W = Z
    case ('T')
      W = transpose(Z)
    case ('C')
      W = conjg(transpose(Z))
    case default
      error stop 'op: unknown letter'
    end select
  end function op

  !> The n x n identity.
  pure function identity(n) result(Z)
    integer, intent(in) :: n
    complex(dp) :: Z(n, n)
    integer :: i

    Z = 0
    do i = 1, n
      Z(i, i) = 1
    end do
  end function identity

  !> Resident size of this process in KiB (Linux), 0 if the system does not tell.
  integer function resident_kib()
    character(200) :: line
    integer :: unit, stat

    resident_kib = 0
    open (newunit=unit, file='/proc/self/status', status='old', action='read', iostat=stat)
    if (stat /= 0) return
    do
      read (unit, '(a)', iostat=stat) line
      if (stat /= 0) exit
      if (line(1:6) == 'VmRSS:') read (line(7:index(line, ' kB') - 1), *) resident_kib
    end do
    close (unit)
  end function resident_kib

end module test_support
