!> Longley's regression, whose columns are nearly dependent (condition about 5e9): the coefficients by QR on the device beside
!> the values that NIST has certified. Normal equations lose nearly all of the digits here.
!> Data: NIST, Statistical Reference Datasets (public domain), after J. W. Longley, An appraisal of least squares programs
!> for the electronic computer from the viewpoint of the user, J. Am. Stat. Assoc. 62 (1967), 819-841.
program longley
  use, intrinsic :: iso_fortran_env, only: dp => real64
  use devObjectQR
  implicit none
  integer, parameter :: m = 16, n = 7
  !> Digits that must agree.
  real(dp), parameter :: wanted = 9
  ! the certified coefficients of 1, x1, ..., x6 and the residual's standard deviation
  real(dp), parameter :: certified(n) = [-3482258.63459582_dp, 15.0618722713733_dp, -0.358191792925910e-01_dp, &
    -2.02022980381683_dp, -1.03322686717359_dp, -0.511041056535807e-01_dp, 1829.15146461355_dp]
  real(dp), parameter :: certified_deviation = 304.854073561965_dp
  character(7), parameter :: names(n) = [character(7) :: '1', 'x1', 'x2', 'x3', 'x4', 'x5', 'x6']

  ! employment, then price deflator, gross national product, unemployment, armed forces, population, year
  real(dp), parameter :: observed(n, m) = reshape([ &
     60323._dp,   83.0_dp, 234289._dp, 2356._dp, 1590._dp, 107608._dp, 1947._dp, &
     61122._dp,   88.5_dp, 259426._dp, 2325._dp, 1456._dp, 108632._dp, 1948._dp, &
     60171._dp,   88.2_dp, 258054._dp, 3682._dp, 1616._dp, 109773._dp, 1949._dp, &
     61187._dp,   89.5_dp, 284599._dp, 3351._dp, 1650._dp, 110929._dp, 1950._dp, &
     63221._dp,   96.2_dp, 328975._dp, 2099._dp, 3099._dp, 112075._dp, 1951._dp, &
     63639._dp,   98.1_dp, 346999._dp, 1932._dp, 3594._dp, 113270._dp, 1952._dp, &
     64989._dp,   99.0_dp, 365385._dp, 1870._dp, 3547._dp, 115094._dp, 1953._dp, &
     63761._dp,  100.0_dp, 363112._dp, 3578._dp, 3350._dp, 116219._dp, 1954._dp, &
     66019._dp,  101.2_dp, 397469._dp, 2904._dp, 3048._dp, 117388._dp, 1955._dp, &
     67857._dp,  104.6_dp, 419180._dp, 2822._dp, 2857._dp, 118734._dp, 1956._dp, &
     68169._dp,  108.4_dp, 442769._dp, 2936._dp, 2798._dp, 120445._dp, 1957._dp, &
     66513._dp,  110.8_dp, 444546._dp, 4681._dp, 2637._dp, 121950._dp, 1958._dp, &
     68655._dp,  112.6_dp, 482704._dp, 3813._dp, 2552._dp, 123366._dp, 1959._dp, &
     69564._dp,  114.2_dp, 502601._dp, 3931._dp, 2514._dp, 125368._dp, 1960._dp, &
     69331._dp,  115.7_dp, 518173._dp, 4806._dp, 2572._dp, 127852._dp, 1961._dp, &
     70551._dp,  116.9_dp, 554894._dp, 4007._dp, 2827._dp, 130081._dp, 1962._dp], [n, m])

  real(dp) :: X(m, n), y(m), solution(m), digits(n), deviation
  type(devVar) :: A, b
  integer :: i, info

  y = observed(1, :)
  X(:, 1) = 1
  X(:, 2:) = transpose(observed(2:, :))
  call open_devObjects()
  print '(a)', devobj_info()
  A = X
  b = y
  call devf_gels('N', A, b, info)  ! min ||y - X c||; c in b(1:n), the residual's components in b(n+1:m)
  if (info > 0) error stop 'the columns are taken for dependent'
  solution = b
  call deallocate_dv(A)
  call deallocate_dv(b)
  call close_devObjects()

  digits = agreement(solution(:n), certified)
  print '(a)', '            computed              certified              digits'
  do i = 1, n
    print '(a, 2es23.14, f9.1)', names(i), solution(i), certified(i), digits(i)
  end do
  deviation = norm2(solution(n + 1:))/sqrt(real(m - n, dp))
  print '(a, es16.8, a, es16.8)', 'standard deviation of the residual ', deviation, ', certified ', certified_deviation
  if (.not. all(digits >= wanted)) error stop 'fewer digits than promised'
  if (.not. agreement(deviation, certified_deviation) >= wanted) error stop 'the residual has fewer digits than promised'
  print '(a, f4.1, a)', 'all right: at least ', minval(digits), ' digits'

contains

  ! The number of decimal digits that agree, 15 at most.
  elemental real(dp) function agreement(computed, certified)
    real(dp), intent(in) :: computed, certified
    real(dp) :: error

    error = abs(computed - certified)/abs(certified)
    agreement = 0
    if (error <= 1) agreement = min(15._dp, -log10(max(error, 1e-16_dp)))
  end function agreement

end program longley
