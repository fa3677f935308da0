# libpaceline.so: the folders below cli/ as one shared library that exports include/paceline only.
# Its CMake target is paceline_shared, known to DEPS as "api".
set(whole paceline_base) # holds exported functions; the rest comes along by reference
if(TARGET paceline_engine)
  list(APPEND whole paceline_engine)
endif()

file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/paceline_shared.cpp" CONTENT "// The library's code is in the archives.\n")
add_library(paceline_shared SHARED "${CMAKE_BINARY_DIR}/paceline_shared.cpp")
add_library(paceline_api ALIAS paceline_shared)
list(JOIN whole "," whole_names)
set_target_properties(paceline_shared PROPERTIES
  OUTPUT_NAME paceline EXPORT_NAME paceline
  VERSION "${PROJECT_VERSION}" SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}"
  LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib"
  LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,${whole_names}"
  LINK_DEPENDS "${CMAKE_SOURCE_DIR}/cmake/exports.map"
  INSTALL_RPATH "$ORIGIN/paceline/mlx/lib")
# One entry only: base then comes once, as a dependency of the others.
list(GET whole -1 top)
target_link_libraries(paceline_shared PRIVATE ${top} "$<BUILD_INTERFACE:mlx>")
target_link_options(paceline_shared PRIVATE "-Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/exports.map" -Wl,--gc-sections)
if(NOT PACELINE_SANITIZE)
  target_link_options(paceline_shared PRIVATE -Wl,--no-undefined)
endif()
target_include_directories(paceline_shared INTERFACE
  "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:include>")
target_compile_features(paceline_shared INTERFACE cxx_std_20)
