!> From Fortran's arguments to the C library's: factors of any kind, option letters, words, method names.
module devObjectOptions
  use, intrinsic :: iso_c_binding, only: c_int, c_signed_char, c_float, c_double, c_float_complex, c_double_complex
  implicit none
  private

  public :: c_scalar, number, letter, lower_case, method_code

  !> devobj_scalar: a factor in double precision, whatever kind it had.
  type, bind(C) :: c_scalar
    real(c_double) :: re, im
  end type c_scalar

  !> number(x): the c_scalar of a real or complex number.
  interface number
    module procedure number_r4, number_r8, number_c4, number_c8
  end interface number

contains

  pure type(c_scalar) function number_r4(x)
    real(c_float), intent(in) :: x

    number_r4 = c_scalar(real(x, c_double), 0)
  end function number_r4

  pure type(c_scalar) function number_r8(x)
    real(c_double), intent(in) :: x

    number_r8 = c_scalar(x, 0)
  end function number_r8

  pure type(c_scalar) function number_c4(x)
    complex(c_float_complex), intent(in) :: x

    number_c4 = c_scalar(real(x, c_double), real(aimag(x), c_double))
  end function number_c4

  pure type(c_scalar) function number_c8(x)
    complex(c_double_complex), intent(in) :: x

    number_c8 = c_scalar(real(x, c_double), aimag(x))
  end function number_c8

  !> The first character of an option, as LAPACK reads it, as a C char; a blank, which is no option, for a string of
  !> length 0. (An integer: gfortran before 13 does not pass the result of a character function by value.)
  pure integer(c_signed_char) function letter(option)
    character(*), intent(in) :: option

    letter = iachar(' ', c_signed_char)
    if (len(option) > 0) letter = transfer(option(1:1), letter)
  end function letter

  !> The word without blanks around it, in lower case.
  pure function lower_case(word) result(text)
    character(*), intent(in) :: word
    character(:), allocatable :: text
    integer :: i, code

    text = trim(adjustl(word))
    do i = 1, len(text)
      code = iachar(text(i:i))
      if (code >= iachar('A') .and. code <= iachar('Z')) text(i:i) = achar(code + 32)
    end do
  end function lower_case

  !> The number of a method's name (devobj_method in devobj.h), case ignored; 0 ('auto') if it is not present, -1 if there
  !> is no such method.
  pure integer(c_int) function method_code(method)
    character(*), intent(in), optional :: method
    character(17), parameter :: names(0:7) = [character(17) :: 'auto', 'lapack', 'hybrid', 'native', 'householder', &
      'block_householder', 'givens', 'randomized']
    character(:), allocatable :: wanted
    integer :: i

    method_code = 0
    if (.not. present(method)) return
    wanted = lower_case(method)
    do i = 0, 7
      if (wanted == names(i)) exit
    end do
    method_code = merge(-1, i, i > 7)
  end function method_code

end module devObjectOptions
