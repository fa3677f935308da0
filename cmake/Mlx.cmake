# MLX comes from its published backend wheel, unpacked by scripts/bootstrap.sh and pinned to one exact version.
set(PACELINE_MLX_ROOT "${PACELINE_DEPS_DIR}/mlx-cpu-${PACELINE_MLX_VERSION}")
if(NOT EXISTS "${PACELINE_MLX_ROOT}/mlx/share/cmake/MLX/MLXConfig.cmake")
  message(FATAL_ERROR "MLX ${PACELINE_MLX_VERSION} is not in ${PACELINE_MLX_ROOT}: run scripts/bootstrap.sh (./run and ./test do)")
endif()
find_package(MLX CONFIG REQUIRED PATHS "${PACELINE_MLX_ROOT}/mlx" NO_DEFAULT_PATH)
