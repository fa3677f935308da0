find_package(Threads REQUIRED)

# paceline_library(NAME base SRCS ... DEPS ... LIBS ...): static library paceline_<NAME> of src/<NAME>.
# DEPS are folders (layers.txt; "api" is the implementation of include/paceline), LIBS are anything else.
function(paceline_library)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS;LIBS" ${ARGN})
  set(target "paceline_${ARG_NAME}")
  add_library(${target} STATIC ${ARG_SRCS})
  target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/include")
  list(TRANSFORM ARG_DEPS PREPEND "paceline_")
  target_link_libraries(${target} PUBLIC ${ARG_DEPS} ${ARG_LIBS} Threads::Threads)
endfunction()

# paceline_program(NAME paceline SRCS main.cpp DEPS cli api): program <NAME> in build/<preset>/bin, installed in bin/.
function(paceline_program)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS;LIBS" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SRCS})
  target_include_directories(${ARG_NAME} PRIVATE "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/include")
  list(TRANSFORM ARG_DEPS PREPEND "paceline_")
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} ${ARG_LIBS})
  set_target_properties(${ARG_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin"
    INSTALL_RPATH "$ORIGIN/../lib")
  install(TARGETS ${ARG_NAME} RUNTIME DESTINATION bin)
endfunction()

# Programs of the tests that --sanitize runs: paceline_tests_unit under asan, paceline_tests_threads under tsan.
if(PACELINE_TESTS)
  add_custom_target(paceline_tests_unit)
  add_custom_target(paceline_tests_threads)
endif()

# paceline_test(NAME base SRCS a_test.cpp ... DEPS ... LABEL unit [THREADS]): program test_<NAME>, run by ctest as
# <NAME>. Tests run with the repository root as working directory. A test case that cannot run prints
# "skipped: REASON" on a line of its own. THREADS: also run under tsan by `./test --sanitize`.
# ALONE: it uses two threads by itself, so ctest runs nothing beside it. CASES: one ctest entry NAME_<case> per case,
# which runs the test cases whose names begin with it.
function(paceline_test)
  if(NOT PACELINE_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "THREADS;ALONE" "NAME;LABEL" "SRCS;DEPS;LIBS;CASES" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  set(target "test_${ARG_NAME}")
  add_executable(${target} ${ARG_SRCS})
  list(TRANSFORM ARG_DEPS PREPEND "paceline_")
  target_link_libraries(${target} PRIVATE paceline_doctest_main ${ARG_DEPS} ${ARG_LIBS})
  set(tests "${ARG_NAME}")
  if(ARG_CASES)
    list(TRANSFORM ARG_CASES PREPEND "${ARG_NAME}_" OUTPUT_VARIABLE tests)
    foreach(case test IN ZIP_LISTS ARG_CASES tests)
      add_test(NAME ${test} COMMAND ${target} "-tc=${case}*" WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
    endforeach()
  else()
    add_test(NAME ${ARG_NAME} COMMAND ${target} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  endif()
  set(labels ${ARG_LABEL})
  if(ARG_THREADS)
    list(APPEND labels threads)
    add_dependencies(paceline_tests_threads ${target})
  endif()
  if("unit" IN_LIST labels)
    add_dependencies(paceline_tests_unit ${target})
  endif()
  set_tests_properties(${tests} PROPERTIES LABELS "${labels}" TIMEOUT 900)
  if(ARG_ALONE)
    set_tests_properties(${tests} PROPERTIES PROCESSORS 2)
  endif()
endfunction()

# paceline_script_test(NAME x COMMAND ... LABEL scripts): a test that is a command, run in the repository root.
function(paceline_script_test)
  if(NOT PACELINE_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "ALONE" "NAME;LABEL" "COMMAND" ${ARGN})
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT 900)
  if(ARG_ALONE)
    set_tests_properties(${ARG_NAME} PROPERTIES PROCESSORS 2)
  endif()
endfunction()

if(PACELINE_TESTS)
  add_library(paceline_doctest_main OBJECT "${CMAKE_SOURCE_DIR}/tests/support/doctest_main.cpp")
  target_include_directories(paceline_doctest_main PUBLIC "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/tests")
endif()
