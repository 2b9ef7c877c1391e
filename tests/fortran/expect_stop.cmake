# The program with this case must end with an exit code that is not 0, and TEXT (a regular expression) in its output.
execute_process(COMMAND ${PROGRAM} ${CASE} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(code EQUAL 0)
  message(FATAL_ERROR "the program did not stop with an error:\n${output}")
endif()
if(NOT output MATCHES "${TEXT}")
  message(FATAL_ERROR "'${TEXT}' is not in the output:\n${output}")
endif()
