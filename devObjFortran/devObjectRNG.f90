!> Random numbers on device objects.
!>
!>     use devObjectRNG
!>     type(devRng) :: rng
!>     call devf_rng_create(rng, 'philox', seed=42)
!>     A = allocate_dv('double', m, n)
!>     call devf_rng_normal(rng, A)
!>
!> Generators: 'philox' (Philox4x32-10: a number is a function of seed, stream and position) and 'state' (xoshiro128++ in
!> 2^17 lanes whose states stay on the device) give the same bits on both backends; cuRAND's, on the cuda backend only, are
!> 'curand_philox', 'xorwow', 'mrg32k3a', 'mtgp32', 'mt19937' and the quasirandom 'sobol32', 'scrambled_sobol32', 'sobol64',
!> 'scrambled_sobol64'. A generator makes one sequence of 32-bit words for each seed and stream; draws take them in order,
!> element by element in column order, whatever the leading dimension: one word for a real or an integer, two for a
!> double, four for a Poisson number with a mean above 1000, complex numbers as two real ones. Draws do not wait.
!>
!> In the place of an object a draw takes a scalar variable: `call devf_rng_normal(rng, x)` with a real(real32) or real(real64) x,
!> an integer(int32) one for integers, Poisson and Bernoulli numbers and words; parameters are of x's kind. It is the number
!> that an object of one element would get, made by the calling thread on either backend, and most calls only read one
!> that was made ahead: for loops on the host. 'philox' and 'state' only. After an error x is unchanged.
!>
!> A devRng is freed at the end of its life; `b = a` makes b a generator of its own that goes on from the same place.
!> stat and errmsg as in devObjectFunctions.
module devObjectRNG
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_double, c_float, c_char, c_ptr, c_intptr_t, c_loc, &
    c_null_char
  use devObject
  use devObjectErrors, only: report, c_text
  use devObjectHeaders, only: loan, borrow, release
  use devObjectHostArray, only: type_real, type_double
  implicit none
  public

  private :: c_int, c_int32_t, c_int64_t, c_double, c_float, c_char, c_ptr, c_intptr_t, c_loc, c_null_char
  private :: report, c_text, loan, borrow, release, type_real, type_double
  private :: owned, address_of, finalise, assign, drop
  private :: seed_i4, seed_i8, skip_i4, skip_i8, create_i4, create_i8, uniform_r4, uniform_r8, normal_r4, normal_r8
  private :: lognormal_r4, lognormal_r8, exponential_r4, exponential_r8, integers_i4, integers_i8, poisson_r4, poisson_r8
  private :: uniform_x4, uniform_x8, normal_x4, normal_x8, lognormal_x4, lognormal_x8, exponential_x4, exponential_x8
  private :: integers_xi4, integers_xi8, poisson_x4, poisson_x8, bernoulli_x4, bernoulli_x8, words_dv, words_x4
  private :: c_uniform_number, c_normal_number, c_lognormal_number, c_exponential_number, c_integer, c_poisson_number
  private :: c_bernoulli_number, c_word
  private :: bernoulli_r4, bernoulli_r8, singular_values_r4, singular_values_r8, condition_r4, condition_r8
  private :: save_state, save_file, restore_state, restore_file, make
  private :: c_create, c_free, c_clone, c_is_valid, c_info, c_seed, c_skip, c_save, c_restore, c_save_file, c_restore_file
  private :: c_uniform, c_normal, c_lognormal, c_exponential, c_integers, c_poisson, c_bernoulli, c_words, c_orthogonal
  private :: c_singular_values, c_condition

  !> The number of integers (64 bits) in a saved state.
  integer, parameter :: devrng_state_size = 6

  !> A generator of random numbers. Nothing until devf_rng_create, devf_rng_restore or an assignment makes it one.
  type :: devRng
    private
    integer(c_int64_t) :: handle = 0
    integer(c_intptr_t) :: self = 0  ! the variable's own address: a compiler's copy does not free
  contains
    procedure, private :: assign
    generic :: assignment(=) => assign
    final :: finalise
  end type devRng

  !> call devf_rng_create(rng [, generator, seed, stream, stat, errmsg]): rng becomes a generator ('philox' if left out) at
  !> the beginning of the sequence of seed (0; any integer, negative ones too) and stream (0). Streams are disjoint: 0 to
  !> 2^48 - 1 for philox, 0 to 2^32 - 1 for state, 0 for the others. seed and stream are both integer(4) or both
  !> integer(8). What rng was before is freed. Errors: no such generator or stream; cuRAND's on the host backend.
  interface devf_rng_create
    module procedure create_i4, create_i8
  end interface devf_rng_create

  !> call devf_rng_seed(rng, seed [, stream, stat, errmsg]): to the beginning of that sequence.
  interface devf_rng_seed
    module procedure seed_i4, seed_i8
  end interface devf_rng_seed

  !> call devf_rng_skip(rng, words [, stat, errmsg]): leaves out the next words (numbers, for the sobol generators).
  interface devf_rng_skip
    module procedure skip_i4, skip_i8
  end interface devf_rng_skip

  !> call devf_rng_uniform(rng, A [, a_end, b_end, stat, errmsg]): uniform on (a_end, b_end), by default (0, 1); both ends are
  !> never reached. Real and complex objects (both parts). Errors: ends not finite, a_end >= b_end.
  interface devf_rng_uniform
    module procedure uniform_r4, uniform_r8, uniform_x4, uniform_x8
  end interface devf_rng_uniform

  !> call devf_rng_normal(rng, A [, mean, sigma, stat, errmsg]): normal, by default with mean 0 and standard deviation 1. Real and
  !> complex objects (both parts). Errors: mean not finite, sigma negative or not finite.
  interface devf_rng_normal
    module procedure normal_r4, normal_r8, normal_x4, normal_x8
  end interface devf_rng_normal

  !> call devf_rng_lognormal(rng, A [, mean, sigma, stat, errmsg]): exp(x), x normal. Real objects.
  interface devf_rng_lognormal
    module procedure lognormal_r4, lognormal_r8, lognormal_x4, lognormal_x8
  end interface devf_rng_lognormal

  !> call devf_rng_exponential(rng, A [, mean, stat, errmsg]): exponential, by default with mean 1. Real objects.
  interface devf_rng_exponential
    module procedure exponential_r4, exponential_r8, exponential_x4, exponential_x8
  end interface devf_rng_exponential

  !> call devf_rng_integers(rng, A, lowest, highest [, stat, errmsg]): each of lowest ... highest exactly as likely as the
  !> others. Integer objects. Errors: lowest > highest, or one of them beyond 32 bits.
  interface devf_rng_integers
    module procedure integers_i4, integers_i8, integers_xi4, integers_xi8
  end interface devf_rng_integers

  !> call devf_rng_poisson(rng, A, mean [, stat, errmsg]): Poisson numbers, 0 <= mean <= 2^30. Integer objects.
  interface devf_rng_poisson
    module procedure poisson_r4, poisson_r8, poisson_x4, poisson_x8
  end interface devf_rng_poisson

  !> call devf_rng_bernoulli(rng, A, p [, stat, errmsg]): 1 with probability p, else 0. Real and integer objects.
  interface devf_rng_bernoulli
    module procedure bernoulli_r4, bernoulli_r8, bernoulli_x4, bernoulli_x8
  end interface devf_rng_bernoulli

  !> call devf_rng_words(rng, A [, stat, errmsg]): the words themselves, in an integer object.
  interface devf_rng_words
    module procedure words_dv, words_x4
  end interface devf_rng_words

  !> call devf_rng_singular_values(rng, s, A [, stat, errmsg]): A = U diag(s) V^H, U and V random with orthonormal columns; s has
  !> min(m, n) values, none negative. Real and complex objects. Waits.
  interface devf_rng_singular_values
    module procedure singular_values_r4, singular_values_r8
  end interface devf_rng_singular_values

  !> call devf_rng_condition(rng, condition, A [, stat, errmsg]): the same with singular values from 1 down to 1/condition, each
  !> the same part of the one before it. Error: condition < 1.
  interface devf_rng_condition
    module procedure condition_r4, condition_r8
  end interface devf_rng_condition

  !> call devf_rng_save(rng, state [, stat, errmsg]): state(devrng_state_size), integer(8), or the name of a file of 48 bytes.
  !> A generator that is given it by devf_rng_restore goes on from here, in bits. Error: state too short; a file that
  !> cannot be written.
  interface devf_rng_save
    module procedure save_state, save_file
  end interface devf_rng_save

  !> call devf_rng_restore(rng, state [, stat, errmsg]): rng goes on where the saved generator was, on either backend (cuRAND's
  !> generators on the cuda backend). rng need not have been created. Errors: not a saved state, or damaged; rng is then
  !> unchanged.
  interface devf_rng_restore
    module procedure restore_state, restore_file
  end interface devf_rng_restore

  include 'devObjectRNG_c.inc'

contains

  ! ---- the handle ----

  ! True if rng is a variable with a generator of its own, not a compiler's copy of one.
  logical function owned(rng)
    class(devRng), intent(in), target :: rng

    owned = rng%handle /= 0 .and. rng%self == address_of(rng)
  end function owned

  integer(c_intptr_t) function address_of(rng)
    class(devRng), intent(in), target :: rng

    address_of = transfer(c_loc(rng%handle), address_of)
  end function address_of

  ! Frees what rng has; never an error.
  subroutine drop(rng)
    class(devRng), intent(inout), target :: rng
    integer(c_int) :: ignored

    if (owned(rng)) then
      if (c_is_valid(rng%handle) /= 0) ignored = c_free(rng%handle)
    end if
    rng%handle = 0
    rng%self = 0
  end subroutine drop

  impure elemental subroutine finalise(rng)
    type(devRng), intent(inout) :: rng

    call drop(rng)
  end subroutine finalise

  ! left = right: a generator of its own at the same place; nothing if right is nothing. Stops on an error.
  impure elemental subroutine assign(left, right)
    class(devRng), intent(inout) :: left
    class(devRng), intent(in) :: right
    integer(c_int64_t) :: clone
    integer(c_int) :: status

    clone = 0
    if (right%handle /= 0) then
      status = c_clone(right%handle, clone)
      call report(status, 'rng2 = rng1')
    end if
    call drop(left)
    left%handle = clone
    left%self = address_of(left)
  end subroutine assign

  !> devf_rng_create for 64-bit integers.
  subroutine create_i8(rng, generator, seed, stream, stat, errmsg)
    type(devRng), intent(inout), target :: rng
    character(*), intent(in), optional :: generator
    integer(c_int64_t), intent(in) :: seed
    integer(c_int64_t), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: number, handle
    integer(c_int) :: status
    character(:), allocatable :: name

    name = 'philox'
    if (present(generator)) name = trim(adjustl(generator))
    number = 0
    if (present(stream)) number = stream
    handle = 0
    status = c_create(name//c_null_char, seed, number, handle)
    call report(status, 'devf_rng_create', stat, errmsg)
    if (status /= devobj_success) return
    call drop(rng)
    rng%handle = handle
    rng%self = address_of(rng)
  end subroutine create_i8

  !> devf_rng_create for default integers, or without a seed.
  subroutine create_i4(rng, generator, seed, stream, stat, errmsg)
    type(devRng), intent(inout), target :: rng
    character(*), intent(in), optional :: generator
    integer(c_int32_t), intent(in), optional :: seed
    integer(c_int32_t), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: seed8, stream8

    seed8 = 0
    if (present(seed)) seed8 = seed
    stream8 = 0
    if (present(stream)) stream8 = stream
    call create_i8(rng, generator, seed8, stream8, stat, errmsg)
  end subroutine create_i4

  !> Frees the generator; rng is then nothing. Error: it is nothing.
  subroutine devf_rng_free(rng, stat, errmsg)
    type(devRng), intent(inout) :: rng
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call report(c_free(rng%handle), 'devf_rng_free', stat, errmsg)
    rng%handle = 0
    rng%self = 0
  end subroutine devf_rng_free

  !> Generator, seed, stream, and the number of words used up.
  subroutine devf_rng_info(rng, generator, seed, stream, position, stat, errmsg)
    type(devRng), intent(in) :: rng
    character(:), allocatable, intent(out), optional :: generator
    integer(c_int64_t), intent(out), optional :: seed, stream, position
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: numbers(3)
    integer(c_int) :: status
    type(c_ptr) :: name

    numbers = 0
    status = c_info(rng%handle, name, numbers(1), numbers(2), numbers(3))
    call report(status, 'devf_rng_info', stat, errmsg)
    if (present(seed)) seed = numbers(1)
    if (present(stream)) stream = numbers(2)
    if (present(position)) position = numbers(3)
    if (.not. present(generator)) return
    generator = ''
    if (status == devobj_success) generator = c_text(name)
  end subroutine devf_rng_info

  !> devf_rng_seed for 64-bit integers.
  subroutine seed_i8(rng, seed, stream, stat, errmsg)
    type(devRng), intent(in) :: rng
    integer(c_int64_t), intent(in) :: seed
    integer(c_int64_t), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: number

    number = 0
    if (present(stream)) number = stream
    call report(c_seed(rng%handle, seed, number), 'devf_rng_seed', stat, errmsg)
  end subroutine seed_i8

  !> devf_rng_seed for default integers.
  subroutine seed_i4(rng, seed, stream, stat, errmsg)
    type(devRng), intent(in) :: rng
    integer(c_int32_t), intent(in) :: seed
    integer(c_int32_t), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: number

    number = 0
    if (present(stream)) number = stream
    call seed_i8(rng, int(seed, c_int64_t), number, stat, errmsg)
  end subroutine seed_i4

  !> devf_rng_skip for 64-bit integers.
  subroutine skip_i8(rng, words, stat, errmsg)
    type(devRng), intent(in) :: rng
    integer(c_int64_t), intent(in) :: words
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call report(c_skip(rng%handle, words), 'devf_rng_skip', stat, errmsg)
  end subroutine skip_i8

  !> devf_rng_skip for default integers.
  subroutine skip_i4(rng, words, stat, errmsg)
    type(devRng), intent(in) :: rng
    integer(c_int32_t), intent(in) :: words
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call skip_i8(rng, int(words, c_int64_t), stat, errmsg)
  end subroutine skip_i4

  ! ---- the state ----

  !> devf_rng_save to an array.
  subroutine save_state(rng, state, stat, errmsg)
    type(devRng), intent(in) :: rng
    integer(c_int64_t), intent(out) :: state(devrng_state_size)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    state = 0
    call report(c_save(rng%handle, state), 'devf_rng_save', stat, errmsg)
  end subroutine save_state

  !> devf_rng_save to a file.
  subroutine save_file(rng, file, stat, errmsg)
    type(devRng), intent(in) :: rng
    character(*), intent(in) :: file
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call report(c_save_file(rng%handle, trim(file)//c_null_char), 'devf_rng_save', stat, errmsg)
  end subroutine save_file

  !> devf_rng_restore from an array.
  subroutine restore_state(rng, state, stat, errmsg)
    type(devRng), intent(inout), target :: rng
    integer(c_int64_t), intent(in) :: state(devrng_state_size)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    logical :: made

    call make(rng, made, status)
    if (status == devobj_success) status = c_restore(rng%handle, state)
    call report(status, 'devf_rng_restore', stat, errmsg)
    if (status /= devobj_success .and. made) call drop(rng)
  end subroutine restore_state

  !> devf_rng_restore from a file.
  subroutine restore_file(rng, file, stat, errmsg)
    type(devRng), intent(inout), target :: rng
    character(*), intent(in) :: file
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    logical :: made

    call make(rng, made, status)
    if (status == devobj_success) status = c_restore_file(rng%handle, trim(file)//c_null_char)
    call report(status, 'devf_rng_restore', stat, errmsg)
    if (status /= devobj_success .and. made) call drop(rng)
  end subroutine restore_file

  ! A generator to restore into, if rng is nothing; `made` tells so.
  subroutine make(rng, made, status)
    type(devRng), intent(inout), target :: rng
    logical, intent(out) :: made
    integer(c_int), intent(out) :: status
    integer(c_int64_t) :: handle

    status = devobj_success
    made = rng%handle == 0
    if (.not. made) return
    status = c_create('philox'//c_null_char, 0_c_int64_t, 0_c_int64_t, handle)
    made = status == devobj_success
    if (.not. made) return
    rng%handle = handle
    rng%self = address_of(rng)
  end subroutine make

  ! ---- draws ----

  !> devf_rng_words into an object.
  subroutine words_dv(rng, A, stat, errmsg)
    type(devRng), intent(in) :: rng
    class(devVar), intent(in) :: A
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use

    use = borrow(A)
    call report(c_words(rng%handle, use%handle), 'devf_rng_words', stat, errmsg)
    call release(use)
  end subroutine words_dv

  !> A (m x n) with orthonormal columns (m >= n) or rows (m < n), uniform among them. Real and complex objects. Waits.
  subroutine devf_rng_orthogonal(rng, A, stat, errmsg)
    type(devRng), intent(in) :: rng
    class(devVar), intent(in) :: A
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(loan) :: use

    use = borrow(A)
    call report(c_orthogonal(rng%handle, use%handle), 'devf_rng_orthogonal', stat, errmsg)
    call release(use)
  end subroutine devf_rng_orthogonal

  include 'devObjectRNG_draws.inc'
  include 'devObjectRNG_numbers.inc'

end module devObjectRNG
