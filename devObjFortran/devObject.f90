!> Device objects for Fortran: matrices that live on the GPU, or on the host where there is none.
!>
!>     use devObject
!>     type(devVar) :: A
!>     call open_devObjects()
!>     A = host                        ! to the device; host is any real, complex or integer array of rank 1 to 3
!>     host = A                        ! and back
!>     call deallocate_dv(A)
!>     call close_devObjects()
!>
!> devObjectBLAS, devObjectLU, devObjectQR, devObjectMixed, devObjectQRUpdate, devObjectGivens, devObjectBatched and devObjectRNG
!> give this module's names too, so that one of them is all a program uses.
module devObject
  use devObjectErrors, only: devobj_success, devobj_not_open, devobj_invalid_argument, devobj_invalid_handle, &
    devobj_out_of_memory, devobj_no_device, devobj_device_error, devobj_not_supported, devobj_internal_error
  use devObjectHeaders, only: devVar, devResult, devBlock
  use devObjectFunctions, only: open_devObjects, close_devObjects, wait_devObjects, allocate_dv, deallocate_dv, &
    allocated_dv, copy_dv, view_dv, transfer_dv, transfer_r4, transfer_r8, transfer_c4, transfer_c8, transfer_i4, devptr, &
    stream_dv, backend_dv, devobj_info, live_objects_dv, set_math_dv, math_dv
  implicit none
  public
end module devObject
