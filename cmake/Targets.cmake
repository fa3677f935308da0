find_package(Threads REQUIRED)

# paceline_library(NAME base SRCS ... DEPS ... LIBS ...): static library paceline_<NAME> of src/<NAME>.
# DEPS are folders (layers.txt), LIBS are anything else.
function(paceline_library)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS;LIBS" ${ARGN})
  set(target "paceline_${ARG_NAME}")
  add_library(${target} STATIC ${ARG_SRCS})
  target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/include")
  list(TRANSFORM ARG_DEPS PREPEND "paceline_")
  target_link_libraries(${target} PUBLIC ${ARG_DEPS} ${ARG_LIBS} Threads::Threads)
endfunction()

# paceline_test(NAME base SRCS a_test.cpp ... DEPS ... LABEL unit): program test_<NAME>, run by ctest as <NAME>.
# Tests run with the repository root as working directory.
function(paceline_test)
  if(NOT PACELINE_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "NAME;LABEL" "SRCS;DEPS;LIBS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  set(target "test_${ARG_NAME}")
  add_executable(${target} ${ARG_SRCS})
  list(TRANSFORM ARG_DEPS PREPEND "paceline_")
  target_link_libraries(${target} PRIVATE paceline_doctest_main ${ARG_DEPS} ${ARG_LIBS})
  add_test(NAME ${ARG_NAME} COMMAND ${target} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 900)
endfunction()

if(PACELINE_TESTS)
  add_library(paceline_doctest_main OBJECT "${CMAKE_SOURCE_DIR}/tests/support/doctest_main.cpp")
  target_include_directories(paceline_doctest_main PUBLIC "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/tests")
endif()
