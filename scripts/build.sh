#!/usr/bin/env bash
# Configures (when needed) and builds. Usage: scripts/build.sh PRESET [TARGET...]
# Silent when nothing is to do; Ninja's progress on a terminal; off it one line and the log of a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
folder=build/$preset
log=$folder/build.log

say() { printf '%s\n' "$*" >&2; }

# The first failed step of the log, else its end.
fail() {
  if grep -q '^FAILED' "$log"; then
    grep -m 1 -A 40 '^FAILED' "$log" >&2
  else
    tail -n 60 "$log" >&2
  fi
  say "paceline: $1 failed, the whole log is $log"
  exit 1
}

configure() {
  mkdir -p "$folder"
  [[ ! -t 2 ]] || printf 'configuring %s\r' "$preset" >&2
  cmake --preset "$preset" >"$log" 2>&1 || fail "cmake --preset $preset"
}

# Nothing in the sources is younger than the start of the last good build of these targets. (Asking Ninja would take
# longer: it looks for new files first.)
targets=${*:-all}
readonly stamp=$folder/.built-${targets// /+}
readonly sources=(CMakeLists.txt CMakePresets.json cmake include src tests bench scripts)

nothing_to_do() {
  [[ -e "$stamp" ]] && [[ -z "$(find "${sources[@]}" -newer "$stamp" -print -quit 2>/dev/null)" ]]
}

nothing_to_do && exit
[[ -e "$folder/build.ninja" ]] || configure
touch "$stamp.start"
if [[ -t 2 ]]; then
  # Ninja shows one moving line on a terminal, and the output of what fails.
  NINJA_STATUS="building [%f/%t] " ninja -C "$folder" "$@" >&2 || {
    say "paceline: the build failed"
    exit 1
  }
else
  say "building $folder, log in $log"
  ninja -C "$folder" "$@" >"$log" 2>&1 || fail "the build"
fi
mv "$stamp.start" "$stamp"
