!> A short table of factorization times in single precision: LAPACK on the CPU against the library's routines with LAPACK's
!> argument lists, gpu_sgetrf and gpu_sgeqrf, which take host arrays; the copies to the GPU and back are part of their time.
!> Columns as in table 1 of paper 002, and the error measure of its figure 6, max |A - L U| / max |A| / eps.
!>
!> Usage: 04_table1 [sizes, default 250 500 1000]
program table1
  use, intrinsic :: iso_fortran_env, only: sp => real32, dp => real64, int64
  use devObject, only: open_devObjects, close_devObjects, devobj_info, backend_dv
  implicit none
  integer, parameter :: repeats = 3

  interface
    subroutine sgetrf(m, n, a, lda, ipiv, info)
      import :: sp
      integer, intent(in) :: m, n, lda
      real(sp), intent(inout) :: a(lda, *)
      integer, intent(out) :: ipiv(*), info
    end subroutine sgetrf

    subroutine gpu_sgetrf(m, n, a, lda, ipiv, info)
      import :: sp
      integer, intent(in) :: m, n, lda
      real(sp), intent(inout) :: a(lda, *)
      integer, intent(out) :: ipiv(*), info
    end subroutine gpu_sgetrf

    subroutine sgeqrf(m, n, a, lda, tau, work, lwork, info)
      import :: sp
      integer, intent(in) :: m, n, lda, lwork
      real(sp), intent(inout) :: a(lda, *), work(*)
      real(sp), intent(out) :: tau(*)
      integer, intent(out) :: info
    end subroutine sgeqrf

    subroutine gpu_sgeqrf(m, n, a, lda, tau, work, lwork, info)
      import :: sp
      integer, intent(in) :: m, n, lda, lwork
      real(sp), intent(inout) :: a(lda, *), work(*)
      real(sp), intent(out) :: tau(*)
      integer, intent(out) :: info
    end subroutine gpu_sgeqrf

    subroutine sorgqr(m, n, k, a, lda, tau, work, lwork, info)
      import :: sp
      integer, intent(in) :: m, n, k, lda, lwork
      real(sp), intent(inout) :: a(lda, *), work(*)
      real(sp), intent(in) :: tau(*)
      integer, intent(out) :: info
    end subroutine sorgqr

    subroutine dgemm(opA, opB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: dp
      character, intent(in) :: opA, opB
      integer, intent(in) :: m, n, k, lda, ldb, ldc
      real(dp), intent(in) :: alpha, beta, a(lda, *), b(ldb, *)
      real(dp), intent(inout) :: c(ldc, *)
    end subroutine dgemm
  end interface

  integer, allocatable :: sizes(:)
  character(20) :: word
  integer :: i

  sizes = [250, 500, 1000]
  if (command_argument_count() > 0) then
    sizes = [(0, i=1, command_argument_count())]
    do i = 1, size(sizes)
      call get_command_argument(i, word)
      read (word, *) sizes(i)
    end do
  end if
  if (any(sizes < 1)) error stop 'sizes must be positive'

  call open_devObjects()
  print '(a)', devobj_info()
  if (backend_dv() == 'host') print '(a)', 'Without a GPU both columns are the CPU: expect a speed-up of about 1.'
  print '(a)', '         LU                                      QR'
  print '(a)', '      n    CPU ms  devObject  speed-up   error    CPU ms  devObject  speed-up   error'
  do i = 1, size(sizes)
    call row(sizes(i))
  end do
  call close_devObjects()

contains

  subroutine row(n)
    integer, intent(in) :: n
    real(sp), allocatable :: A(:, :), F(:, :), tau(:), work(:)
    integer, allocatable :: ipiv(:)
    real(dp) :: cpu_lu, gpu_lu, cpu_qr, gpu_qr, lu_error, qr_error
    integer :: info, trial
    integer(int64) :: start

    allocate (A(n, n), tau(n), ipiv(n), work(64*n))
    call random_init(repeatable=.true., image_distinct=.false.)
    call random_number(A)
    A = 2*A - 1
    cpu_lu = huge(cpu_lu)
    gpu_lu = huge(gpu_lu)
    cpu_qr = huge(cpu_qr)
    gpu_qr = huge(gpu_qr)
    do trial = 0, repeats  ! the first is not counted; of the others the best is
      F = A
      call system_clock(start)
      call sgetrf(n, n, F, n, ipiv, info)
      if (trial > 0) cpu_lu = min(cpu_lu, milliseconds(start))
      F = A
      call system_clock(start)
      call sgeqrf(n, n, F, n, tau, work, size(work), info)
      if (trial > 0) cpu_qr = min(cpu_qr, milliseconds(start))
      F = A
      call system_clock(start)
      call gpu_sgeqrf(n, n, F, n, tau, work, size(work), info)
      if (trial > 0) gpu_qr = min(gpu_qr, milliseconds(start))
      if (info /= 0) error stop 'gpu_sgeqrf failed'
      if (trial == repeats) qr_error = error_of_qr(A, F, tau)
      F = A
      call system_clock(start)
      call gpu_sgetrf(n, n, F, n, ipiv, info)
      if (trial > 0) gpu_lu = min(gpu_lu, milliseconds(start))
      if (info /= 0) error stop 'gpu_sgetrf failed'
      if (trial == repeats) lu_error = error_of_lu(A, F, ipiv)
    end do
    print '(i7, 2(f10.2, f11.2, f10.2, f8.1))', n, cpu_lu, gpu_lu, cpu_lu/gpu_lu, lu_error, cpu_qr, gpu_qr, cpu_qr/gpu_qr, qr_error
    ! rounding errors grow more slowly than n
    if (.not. max(lu_error, qr_error) <= max(100, n)) error stop 'the factors are wrong'
  end subroutine row

  real(dp) function milliseconds(start)
    integer(int64), intent(in) :: start
    integer(int64) :: now, rate

    call system_clock(now, rate)
    milliseconds = 1000*real(now - start, dp)/real(rate, dp)
  end function milliseconds

  ! max |P A - L U| / max |A| / eps
  real(dp) function error_of_lu(A, F, ipiv)
    real(sp), intent(in) :: A(:, :), F(:, :)
    integer, intent(in) :: ipiv(:)
    real(dp), allocatable :: PA(:, :), L(:, :), U(:, :)
    integer :: i, n

    n = size(A, 1)
    PA = A
    do i = 1, n
      if (ipiv(i) /= i) PA([i, ipiv(i)], :) = PA([ipiv(i), i], :)
    end do
    L = F
    U = F
    do i = 1, n
      L(:i - 1, i) = 0
      L(i, i) = 1
      U(i + 1:, i) = 0
    end do
    call dgemm('N', 'N', n, n, n, -1._dp, L, n, U, n, 1._dp, PA, n)
    error_of_lu = maxval(abs(PA))/maxval(abs(A))/epsilon(1._sp)
  end function error_of_lu

  ! max |A - Q R| / max |A| / eps
  real(dp) function error_of_qr(A, F, tau)
    real(sp), intent(in) :: A(:, :), F(:, :), tau(:)
    real(dp), allocatable :: E(:, :), R(:, :)
    real(sp), allocatable :: Q(:, :), work(:)
    integer :: i, n, info

    n = size(A, 1)
    E = A
    R = F
    do i = 1, n
      R(i + 1:, i) = 0
    end do
    Q = F
    allocate (work(64*n))
    call sorgqr(n, n, n, Q, n, tau, work, size(work), info)
    call dgemm('N', 'N', n, n, n, -1._dp, real(Q, dp), n, R, n, 1._dp, E, n)
    error_of_qr = maxval(abs(E))/maxval(abs(A))/epsilon(1._sp)
  end function error_of_qr

end program table1
