# Configures SOURCE in BINARY against the package in TREE, with the cache variables ARGUMENTS, builds it, and runs its
# program `consumer`, or its own tests with -DRUN=ctest. The configuration must print EXPECT, if that is given. With
# -DFAILS=text the configuration must fail and print that text.
file(REMOVE_RECURSE "${BINARY}")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${BINARY}" "-DCMAKE_PREFIX_PATH=${TREE}" ${ARGUMENTS}
                OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
string(REGEX REPLACE "[ \n]+" " " words "${output}")
if(FAILS)
  if(status EQUAL 0 OR NOT words MATCHES "${FAILS}")
    message(FATAL_ERROR "expected a failure with '${FAILS}', got status ${status}:\n${output}")
  endif()
  return()
endif()
if(NOT status EQUAL 0)
  message(FATAL_ERROR "configuring failed:\n${output}")
endif()
if(EXPECT AND NOT words MATCHES "${EXPECT}")
  message(FATAL_ERROR "expected '${EXPECT}' in:\n${output}")
endif()

execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BINARY}" COMMAND_ERROR_IS_FATAL ANY)
if(RUN STREQUAL "ctest")
  execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --output-on-failure --no-tests=error WORKING_DIRECTORY "${BINARY}"
                  COMMAND_ERROR_IS_FATAL ANY)
else()
  execute_process(COMMAND "${BINARY}/consumer" COMMAND_ERROR_IS_FATAL ANY)
endif()
