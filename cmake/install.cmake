# What `cmake --install` puts under the prefix:
#   bin/devobj-info, bin/devobj-rng-bits, bin/devobj-new-routine         (and devobj-bench, by bench/)
#   include/devobj/                                  headers for C and C++
#   lib/libdevobj.so                                 the library
#   lib/devObject/fortran/GNU-12.2/                  modules and their library, for that compiler and version
#   lib/cmake/devObject/, lib/pkgconfig/             find_package(devObject), pkg-config devobject, devobject-fortran
#   share/devObject/fortran/                         the modules' sources, for every other compiler
#   share/devObject/custom_routine/                  the files that devobj-new-routine starts from
# Every path in the installed files is relative to the file itself, so that the tree can be moved.

include(CMakePackageConfigHelpers)
set(devobj_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/devObject)
set(devobj_share_dir ${CMAKE_INSTALL_DATADIR}/devObject)

# The library finds those beside it, and CUDA's where they were when it was built.
set_target_properties(devobj PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
file(RELATIVE_PATH devobj_bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(devobj-info devobj-rng-bits PROPERTIES INSTALL_RPATH "$ORIGIN/${devobj_bin_to_lib}")

install(TARGETS devobj EXPORT devObjectTargets)
install(TARGETS devobj-info devobj-rng-bits)
install(EXPORT devObjectTargets NAMESPACE devObject:: DESTINATION ${devobj_config_dir})
install(DIRECTORY devObjCpp/include/devobj TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(PROGRAMS tools/new-routine TYPE BIN RENAME devobj-new-routine)
install(FILES CHANGELOG.md LICENSE README.md TYPE DOC)
install(FILES docs/custom-routine.md TYPE DOC)
file(GLOB custom_routine examples/custom_routine/*)
install(FILES ${custom_routine} DESTINATION ${devobj_share_dir}/custom_routine)

# ---- Fortran: sources always, modules and their library for the compiler in use ----
file(GLOB devobj_fortran_files RELATIVE ${PROJECT_SOURCE_DIR}/devObjFortran CONFIGURE_DEPENDS
     devObjFortran/*.f90 devObjFortran/*.F90 devObjFortran/*.inc)
list(TRANSFORM devobj_fortran_files PREPEND devObjFortran/ OUTPUT_VARIABLE files)
install(FILES ${files} DESTINATION ${devobj_share_dir}/fortran)
set(devobj_fortran_sources ${devobj_fortran_files})
list(FILTER devobj_fortran_sources INCLUDE REGEX "\\.[fF]90$")
if(DEVOBJ_FORTRAN)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" version "${CMAKE_Fortran_COMPILER_VERSION}")
  set(devobj_fortran_dir ${CMAKE_INSTALL_LIBDIR}/devObject/fortran/${CMAKE_Fortran_COMPILER_ID}-${version})
  install(TARGETS devobj_fortran DESTINATION ${devobj_fortran_dir})
  install(DIRECTORY $<TARGET_PROPERTY:devobj_fortran,Fortran_MODULE_DIRECTORY>/ DESTINATION ${devobj_fortran_dir}
          FILES_MATCHING REGEX "/devobject[a-z0-9_@]*\\.s?mod$")
endif()

# ---- find_package and pkg-config ----
configure_package_config_file(cmake/devObjectConfig.cmake.in ${PROJECT_BINARY_DIR}/devObjectConfig.cmake
  INSTALL_DESTINATION ${devobj_config_dir} PATH_VARS CMAKE_INSTALL_LIBDIR devobj_share_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/devObjectConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/devObjectConfig.cmake ${PROJECT_BINARY_DIR}/devObjectConfigVersion.cmake
        DESTINATION ${devobj_config_dir})
file(RELATIVE_PATH devobj_pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(name devobject devobject-fortran)
  if(DEVOBJ_FORTRAN OR NOT name STREQUAL "devobject-fortran")
    configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
endforeach()
