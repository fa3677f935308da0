#!/usr/bin/env bash
# install_test.sh BUILD_DIR VERSION: the installed prefix works after it is moved, and holds what it should.
set -euo pipefail
build=$1
version=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'install: %s\n' "$*" >&2
  exit 1
}

expect_files() {
  local file
  for file in lib/libpaceline.so lib/paceline/mlx/lib/libmlx.so include/paceline/version.h \
    lib/cmake/paceline/paceline-config.cmake share/paceline/fetch_model.py share/paceline/catalogue.json \
    share/doc/paceline/THIRD_PARTY.md; do
    [[ -e "$1/$file" ]] || fail "$file is missing"
  done
}

# Every exported symbol is ours.
expect_own_symbols() {
  local strangers
  strangers=$(nm -D --defined-only -C "$1/lib/libpaceline.so" | cut -d' ' -f3- |
    grep -v -E '^(typeinfo (name )?for |vtable for |non-virtual thunk to |guard variable for )?paceline::' || true)
  [[ -z "$strangers" ]] || fail "exported, but not paceline's: $(head -n 3 <<<"$strangers")"
}

expect_headers_without_mlx() {
  ! grep -rlE 'mlx::|# *include.*(mlx|nlohmann)' "$1/include" || fail "public headers name MLX or JSON"
}

# No path of the build or of the first prefix is left in the programs' search paths or the CMake files.
expect_relative() {
  local file
  for file in "$1"/lib/libpaceline.so "$1"/bin/*; do
    [[ -e "$file" ]] || continue
    ! readelf -d "$file" | grep -E 'R(UN)?PATH' | grep -qE '\[/|:/' || fail "$file has an absolute RPATH"
  done
  ! grep -l -F -e "$build" -e "$work/first" "$1"/lib/cmake/paceline/* || fail "a path of the build is in the CMake package"
}

build_consumer() {
  if ! { cmake -G Ninja -S "$here/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$1" -DCMAKE_BUILD_TYPE=Release &&
    cmake --build "$work/consumer"; } >"$work/log" 2>&1; then
    cat "$work/log"
    fail "the consumer does not build"
  fi
}

DESTDIR='' cmake --install "$build" --prefix "$work/first" >"$work/log" || {
  cat "$work/log"
  fail "cmake --install fails"
}
mv "$work/first" "$work/moved"
expect_files "$work/moved"
expect_own_symbols "$work/moved"
expect_headers_without_mlx "$work/moved"
expect_relative "$work/moved"
build_consumer "$work/moved"
mv "$work/moved" "$work/again" # the library is found at run time through the path given, not the one linked against
answer=$(LD_LIBRARY_PATH="$work/again/lib" "$work/consumer/consumer")
[[ "$answer" == "paceline $version" ]] || fail "the consumer printed '$answer'"
if [[ -x "$work/again/bin/paceline" ]]; then
  "$work/again/bin/paceline" --version | grep -q "$version" || fail "bin/paceline --version does not run"
else
  echo "skipped: no program paceline in this build"
fi
echo "install: the moved prefix works"
