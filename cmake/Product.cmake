# libpaceline.so: the folders below cli/ as one shared library that exports include/paceline only.
# Its CMake target is paceline_shared, known to DEPS as "api".
# engine/ implements the public API and is linked whole; the rest comes along by reference, so the source below
# refers to what only callers use.
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/paceline_shared.cpp" CONTENT [==[
#include "paceline/error.h"
extern "C" __attribute__((visibility("hidden"))) [[gnu::used]] std::string_view (*const paceline_keep)(paceline::ErrorCode) =
    &paceline::name;
]==] @ONLY)
add_library(paceline_shared SHARED "${CMAKE_BINARY_DIR}/paceline_shared.cpp")
add_library(paceline_api ALIAS paceline_shared)
set_target_properties(paceline_shared PROPERTIES
  OUTPUT_NAME paceline EXPORT_NAME paceline
  VERSION "${PROJECT_VERSION}" SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}"
  LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib"
  LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,paceline_engine"
  LINK_DEPENDS "${CMAKE_SOURCE_DIR}/cmake/exports.map"
  INSTALL_RPATH "$ORIGIN/paceline/mlx/lib")
target_link_libraries(paceline_shared PRIVATE paceline_engine "$<BUILD_INTERFACE:mlx>")
target_link_options(paceline_shared PRIVATE "-Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/exports.map" -Wl,--gc-sections)
if(NOT PACELINE_SANITIZE)
  target_link_options(paceline_shared PRIVATE -Wl,--no-undefined)
endif()
target_include_directories(paceline_shared INTERFACE
  "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:include>")
target_compile_features(paceline_shared INTERFACE cxx_std_20)
