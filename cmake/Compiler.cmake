find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

# Contracted multiply-adds would make results depend on what the compiler fuses (docs/architecture.md, exactness).
add_compile_options(-Wall -Wextra -Werror -ffp-contract=off -fno-fast-math)
# Designated initialisers name the fields that matter and leave the others at their defaults.
add_compile_options(-Wno-missing-field-initializers)
# GCC 12 warns about std::string operator+ itself (GCC bug 105651).
add_compile_options("$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>")

if(PACELINE_SANITIZE)
  add_compile_options(-fsanitize=${PACELINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PACELINE_SANITIZE})
endif()
if(PACELINE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
