!> stat and errmsg of every module: the status, the routine, the argument and both values; nothing written; and what stat and
!> errmsg are after a success.
program test_errors
  use test_support, only: begin, finish, expect, expect_error
  use devObjectBLAS
  use devObjectLU
  use devObjectQR
  implicit none
  character(300) :: message = ''
  integer :: stat = -1

  call begin('test_errors')
  call after_success()
  call message_lengths()
  call letters()
  call shapes_and_types()
  call unallocated()
  call methods()
  call failed_allocation_of_results()
  call imaginary_factors()
  call finish()

contains

  subroutine after_success()
    type(devVar) :: x

    x = [1.0, 2.0]
    message = 'untouched'
    stat = 77
    call devf_scal(2.0, x, stat, message)
    call expect(stat == devobj_success .and. message == 'untouched', 'success sets stat and leaves errmsg')
    call devf_scal(2.0, x, errmsg=message)
    call expect(message == 'untouched', 'errmsg alone')
    message = ''
  end subroutine after_success

  ! errmsg of any length: cut or filled with blanks; deferred length keeps its length.
  subroutine message_lengths()
    type(devVar) :: x
    character(:), allocatable :: deferred
    character(10) :: short
    character(0) :: none
    character(1000) :: long
    integer :: info

    allocate (character(60) :: deferred)
    deferred = repeat('*', 60)
    call devf_scal(2.0, x, stat, deferred)
    call expect(stat == devobj_invalid_handle .and. len(deferred) == 60 .and. index(deferred, 'devf_scal: x is a null') == 1, &
      "deferred length: '"//deferred//"'")
    call devf_getrf(x, x, info, stat=stat, errmsg=deferred)
    call expect(len(deferred) == 60 .and. index(deferred, 'devf_getrf: A is a null') == 1, &
      "deferred length, passed on: '"//deferred//"'")
    call devf_scal(2.0, x, stat, short)
    call expect(short == 'devf_scal:', 'cut at the end')
    call devf_scal(2.0, x, stat, none)
    call expect(stat == devobj_invalid_handle, 'length 0')
    long = repeat('*', 1000)
    call devf_scal(2.0, x, stat, long)
    call expect(index(long, '*') == 0, 'filled with blanks')
  end subroutine message_lengths

  subroutine letters()
    type(devVar) :: A, B, C
    real :: host(2, 2)

    A = reshape([1.0, 2.0, 3.0, 4.0], [2, 2])
    B = A
    C = A
    call devf_gemm('X', 'N', 1.0, A, B, 0.0, C, stat, message)
    call expect_error(stat, devobj_invalid_argument, message, "devf_gemm: opA is 'X', must be one of N, T, C")
    call devf_gemm('N', '', 1.0, A, B, 0.0, C, stat, message)
    call expect_error(stat, devobj_invalid_argument, message, "devf_gemm: opB is ' '")
    call devf_trsm('L', 'U', 'N', 'Q', 1.0, A, B, stat, message)
    call expect_error(stat, devobj_invalid_argument, message, "devf_trsm: diag is 'Q', must be one of N, U")
    call devf_trsm('M', 'U', 'N', 'N', 1.0, A, B, stat, message)
    call expect_error(stat, devobj_invalid_argument, message, "devf_trsm: side is 'M'")
    call devf_trmv('z', 'N', 'N', A, view_dv(B, 1, 2, 1, 1), stat, message)
    call expect_error(stat, devobj_invalid_argument, message, "devf_trmv: uplo is 'z'")
    call devf_lange('2', A, host(1, 1), stat, message)
    call expect_error(stat, devobj_invalid_argument, message, "devf_lange: norm is '2'")
    call devf_transpose('N', A, B, stat, message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_transpose: op')
    host = C
    call expect(all(host == reshape([1.0, 2.0, 3.0, 4.0], [2, 2])), 'nothing is written')
    call devf_gemm('no', 'transpose', 1.0, A, B, 0.0, C, stat, message)
    call expect(stat == 0, 'the first letter counts, in lower case too')
  end subroutine letters

  subroutine shapes_and_types()
    type(devVar) :: A, B, C, D, ipiv, other
    integer :: info
    integer :: host_ipiv(2)

    A = allocate_dv('double', 4, 3)
    B = allocate_dv('double', 4, 3)
    C = allocate_dv('double', 4, 3)
    D = allocate_dv('real', 3, 3)
    call devf_laset('G', 1d0, 1d0, A)
    call devf_laset('G', 0d0, 1d0, B)
    call devf_gemm('N', 'N', 1d0, A, B, 0d0, C, stat, message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_gemm: op(A) has 3 columns, but op(B) has 4 rows')
    call devf_gemm('N', 'N', 1d0, A, D, 0d0, C, stat, message)
    call expect(index(message, "'real'") > 0 .and. index(message, "'double'") > 0, 'both types: '//trim(message))
    call expect_error(stat, devobj_invalid_argument, message, 'devf_gemm: ')
    call devf_axpy(1d0, A, D, stat, message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_axpy: ')
    call devf_swap(A, view_dv(B, 1, 2, 1, 3), stat, message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_swap: ')
    call devf_laswp(A, 1, 3, D, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_laswp: ipiv')

    ipiv = allocate_dv('integer', 2)
    call devf_getrf(A, ipiv, info, stat=stat, errmsg=message)
    call expect(info == -1, 'info is -1 after an error')
    call expect_error(stat, devobj_invalid_argument, message, 'devf_getrf: ')
    other = allocate_dv('real', 3)
    call devf_getrf(A, other, info, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_getrf: ipiv')
    call devf_getrf(A, host_ipiv, info, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_getrf: ipiv has 2 elements, must have at least 3')
    call devf_geqrf(A, other, info, stat=stat, errmsg=message)
    call expect(info == -1, 'info is -1 after an error')
    call expect_error(stat, devobj_invalid_argument, message, 'devf_geqrf: ')
    call devf_gels('N', A, D, info, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_gels: ')
    call devf_qr(A, B, D, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_qr: ')
    call devf_gesv(A, host_ipiv, B, info, stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_gesv: ')
  end subroutine shapes_and_types

  subroutine unallocated()
    type(devVar) :: A, none, none2, L, U, perm
    real :: result
    integer :: info, position

    A = allocate_dv('real', 3, 3)
    call devf_gemm('N', 'N', 1.0, A, none, 0.0, A, stat, message)
    call expect_error(stat, devobj_invalid_handle, message, 'devf_gemm: B is a null handle (not allocated)')
    call devf_nrm2(none, result, stat, message)
    call expect_error(stat, devobj_invalid_handle, message, 'devf_nrm2: ')
    call devf_iamax(none, position, stat, message)
    call expect_error(stat, devobj_invalid_handle, message, 'devf_iamax: ')
    call devf_getrf(none, none2, info, stat=stat, errmsg=message)
    call expect(.not. allocated_dv(none2), 'ipiv is not allocated for an unallocated A')
    call expect_error(stat, devobj_invalid_handle, message, 'devf_getrf: A is a null handle')
    call devf_lu_unpack(A, none, L, U, perm, stat, message)
    call expect_error(stat, devobj_invalid_handle, message, 'devf_lu_unpack: ipiv')
    call expect(.not. any(allocated_dv([L, U, perm])), 'what a failed call allocated is freed')
  end subroutine unallocated

  subroutine methods()
    type(devVar) :: A, B, ipiv, Q, R
    integer :: info

    A = reshape([4.0, 1.0, 1.0, 3.0], [2, 2])
    call devf_getrf(A, ipiv, info, method='fast', stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "devf_getrf: method is 'fast', must be auto, lapack, hybrid")
    call devf_getrf(A, ipiv, info, method='', stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "devf_getrf: method is ''")
    call devf_getrf(A, ipiv, info, method='givens', stat=stat, errmsg=message)
    call expect(stat /= 0 .and. index(message, 'devf_getrf: ') == 1, 'LU has no Givens method: '//trim(message))
    call devf_getrf(A, ipiv, info, block=-5, stat=stat, errmsg=message)
    call expect(index(message, '-5') > 0, 'the message names the block: '//trim(message))
    call expect_error(stat, devobj_invalid_argument, message, 'devf_getrf: ')
    call devf_geqrf(A, Q, info, method='quick', stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "devf_geqrf: method is 'quick', must be auto, lapack, hybrid, native")
    B = reshape([4.0, 1.0, 1.0, 3.0], [2, 2])
    call devf_gels('N', A, B, info, method='quick', stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "devf_gels: method is 'quick'")
    call devf_qr(A, Q, R, method='quick', stat=stat, errmsg=message)
    call expect_error(stat, devobj_invalid_argument, message, "devf_qr: method is 'quick'")
    call expect(.not. allocated_dv(Q), 'Q is not allocated')
    call devf_getrf(A, ipiv, info, method=' Hybrid ', stat=stat, errmsg=message)
    call expect(stat == 0 .and. info == 0, 'case and blanks are ignored: '//trim(message))
  end subroutine methods

  ! Results that a routine has allocated before it failed are unallocated again.
  subroutine failed_allocation_of_results()
    type(devVar) :: A, tau, ipiv, Q, R
    integer :: info

    A = [1, 2, 3]
    call devf_geqrf(A, tau, info, stat=stat, errmsg=message)
    call expect(stat == devobj_invalid_argument .and. .not. allocated_dv(tau), 'tau: '//trim(message))
    call devf_getrf(A, ipiv, info, stat=stat, errmsg=message)
    call expect(stat == devobj_invalid_argument .and. .not. allocated_dv(ipiv), 'ipiv: '//trim(message))
    call devf_qr(A, Q, R, stat=stat, errmsg=message)
    call expect(stat == devobj_invalid_argument .and. .not. allocated_dv(Q) .and. .not. allocated_dv(R), &
      'Q and R: '//trim(message))
  end subroutine failed_allocation_of_results

  subroutine imaginary_factors()
    type(devVar) :: x

    x = [1.0, 2.0]
    message = ''
    call devf_scal((2.0, 1.0), x, stat, message)
    call expect_error(stat, devobj_invalid_argument, message, 'devf_scal: alpha')
    call devf_scal((2.0, 0.0), x, stat, message)
    call expect(stat == 0, 'a complex factor without imaginary part')
    call devf_scal(2d0, x, stat, message)
    call expect(stat == 0, 'a double precision factor')
  end subroutine imaginary_factors

end program test_errors
