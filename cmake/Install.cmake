# Prefix: bin/paceline, lib/libpaceline.so, lib/paceline/ (MLX's libraries), include/paceline, lib/cmake/paceline,
# share/paceline (model helper, catalogue). Every path inside is relative, so the prefix can be moved.
include(CMakePackageConfigHelpers)

install(TARGETS paceline_shared EXPORT paceline LIBRARY DESTINATION lib)
install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/paceline" DESTINATION include FILES_MATCHING PATTERN "*.h")
install(DIRECTORY "${PACELINE_MLX_ROOT}/mlx/lib" DESTINATION lib/paceline/mlx FILES_MATCHING PATTERN "*.so*")
install(DIRECTORY "${PACELINE_MLX_ROOT}/mlx_cpu.libs" DESTINATION lib/paceline) # libmlx.so's RPATH leads here
install(DIRECTORY "${PACELINE_MLX_ROOT}/mlx_cpu-${PACELINE_MLX_VERSION}.dist-info/" DESTINATION share/doc/paceline/mlx
  FILES_MATCHING PATTERN "LICENSE*" PATTERN "ACKNOWLEDGMENTS*")
install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" "${CMAKE_SOURCE_DIR}/THIRD_PARTY.md" DESTINATION share/doc/paceline)

# Data beside the program, at the same relative place in the build tree and in a prefix.
set(data scripts/fetch_model.py scripts/progress.py src/cli/catalogue.json)
foreach(file ${data})
  get_filename_component(name "${file}" NAME)
  configure_file("${CMAKE_SOURCE_DIR}/${file}" "${CMAKE_BINARY_DIR}/share/paceline/${name}" COPYONLY)
  install(FILES "${CMAKE_SOURCE_DIR}/${file}" DESTINATION share/paceline)
endforeach()

install(EXPORT paceline NAMESPACE paceline:: FILE paceline-targets.cmake DESTINATION lib/cmake/paceline)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/paceline-config-version.cmake" COMPATIBILITY SameMinorVersion)
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/paceline-config.cmake"
  CONTENT "include(\"\${CMAKE_CURRENT_LIST_DIR}/paceline-targets.cmake\")\n" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/paceline-config.cmake" "${CMAKE_BINARY_DIR}/paceline-config-version.cmake"
  DESTINATION lib/cmake/paceline)
