#!/usr/bin/env bash
# Installs what Paceline's build needs and is missing: Debian packages and the MLX wheel (into .deps/).
# Usage: scripts/bootstrap.sh [--tests]   (--tests: also what scripts/check.sh needs)
# Looks for capabilities, not for packages, so another system with the same tools works too. Instant when nothing
# is missing: a stamp in build/ is keyed by this file's content.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly MLX_VERSION=0.32.4
readonly MLX_HASHES=(
  sha256:0e0a24fa2ce8b6b94d2e6a90604e8813aa8e29fcb918bb2aa01cfb6d133d8cee # x86_64
  sha256:1289e85e64af1fd16380bf331438bfe4afe875d27afc3e0bcf35f427c488fadd # aarch64
)
readonly MLX_DIR=".deps/mlx-cpu-$MLX_VERSION"
readonly RUST_MINOR_MIN=87 # 1.87

# package  test: command, header or file
readonly BUILD_NEEDS="
g++                 command g++
cmake               command cmake
ninja-build         command ninja
ccache              command ccache
git                 command git
ca-certificates     file    /etc/ssl/certs/ca-certificates.crt
python3             command python3
python3-pip         pip     pip
nlohmann-json3-dev  header  nlohmann/json.hpp
libfmt-dev          header  fmt/core.h
libcli11-dev        header  CLI/CLI.hpp
doctest-dev         header  doctest/doctest.h
libbenchmark-dev    header  benchmark/benchmark.h
"
readonly TEST_NEEDS="
clang-format-19     command clang-format-19
clang-tidy-19       command clang-tidy-19
"

tests=no
[[ "${1:-}" == --tests ]] && tests=yes

say() { printf '%s\n' "$*" >&2; }

die() {
  say "paceline: $*"
  exit 1
}

stamp_path() {
  local sum
  sum=$(sha256sum scripts/bootstrap.sh)
  printf 'build/.bootstrap/%s-%s' "${sum:0:16}" "$tests"
}

up_to_date() {
  local tool
  [[ -e "$1" && -e "$MLX_DIR/mlx/lib/libmlx.so" ]] || return 1
  for tool in g++ cmake ninja git python3 cargo; do
    command -v "$tool" >/dev/null || return 1
  done
  [[ $tests == no ]] || command -v clang-tidy-19 >/dev/null
}

has_header() { printf '#include <%s>\n' "$1" | g++ -std=c++20 -x c++ -M - >/dev/null 2>&1; }

has() {
  case $1 in
    command) command -v "$2" >/dev/null ;;
    file) [[ -e "$2" ]] ;;
    pip) python3 -m pip --version >/dev/null 2>&1 ;;
    header) command -v g++ >/dev/null && has_header "$2" ;;
  esac
}

has_rust() {
  local version
  version=$(cargo --version 2>/dev/null) || return 1
  rustc --version >/dev/null 2>&1 || return 1
  [[ $version =~ ^cargo\ ([0-9]+)\.([0-9]+) ]] || return 1
  ((BASH_REMATCH[1] > 1 || BASH_REMATCH[2] >= RUST_MINOR_MIN))
}

missing_packages() {
  local package kind what needs=$BUILD_NEEDS
  [[ $tests == no ]] || needs+=$TEST_NEEDS
  while read -r package kind what; do
    [[ -z "$package" ]] || has "$kind" "$what" || printf '%s\n' "$package"
  done <<<"$needs"
  has_rust || printf '%s\n' rustc-web cargo-web
}

by_hand() {
  local rust=""
  [[ " $* " != *" cargo-web "* ]] || rust=" (rustc-web and cargo-web: any Rust and Cargo from 1.$RUST_MINOR_MIN on)"
  say "paceline: these Debian packages or their like are missing: $*$rust"
  say "paceline: on Debian: apt-get update && apt-get install --no-install-recommends $*"
}

apt() { DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"; }

install_packages() {
  local log=build/.bootstrap/apt.log
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
    by_hand "$@"
    exit 1
  fi
  say "installing $*"
  if ! { apt update && apt install --no-remove --no-install-recommends "$@"; } >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    by_hand "$@"
    die "apt-get could not install them without removing others, or at all (the lines above, all in $log)"
  fi
}

check_versions() {
  local compiler cmake_version
  compiler=$(g++ -dumpversion)
  ((${compiler%%.*} >= 12)) || die "g++ $compiler is too old, 12 is needed"
  cmake_version=$(cmake --version | head -n 1)
  [[ $cmake_version =~ ([0-9]+)\.([0-9]+) ]] || die "cmake --version is not understood: $cmake_version"
  ((BASH_REMATCH[1] > 3 || BASH_REMATCH[2] >= 25)) || die "$cmake_version is too old, 3.25 is needed"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || die "$(python3 --version) is too old, 3.9 is needed"
}

# Unpacked aside, then renamed: a half-unpacked folder is never taken for a whole one.
fetch_mlx() {
  local work requirement="mlx-cpu==$MLX_VERSION" hash wheels
  say "fetching MLX $MLX_VERSION (package mlx-cpu)"
  [[ ! -L .deps || -d .deps/ ]] || rm .deps # a link that leads nowhere
  mkdir -p .deps
  rm -rf .deps/.unpack.*
  work=$(mktemp -d .deps/.unpack.XXXXXX)
  for hash in "${MLX_HASHES[@]}"; do requirement+=" --hash=$hash"; done
  printf '%s\n' "$requirement" >"$work/requirements.txt"
  if ! python3 -m pip download --quiet --no-deps --only-binary :all: --require-hashes \
    --disable-pip-version-check --dest "$work" --requirement "$work/requirements.txt" >"$work/log" 2>&1; then
    tail -n 3 "$work/log" >&2
    rm -rf "$work"
    die "pip cannot fetch mlx-cpu==$MLX_VERSION (network, or a system without a wheel: glibc 2.35 or newer is needed)"
  fi
  wheels=("$work"/*.whl)
  python3 -m zipfile -e "${wheels[0]}" "$work/unpacked"
  rm -rf "$MLX_DIR"
  mv "$work/unpacked" "$MLX_DIR"
  rm -rf "$work"
}

main() {
  local stamp missing
  stamp=$(stamp_path)
  up_to_date "$stamp" && return
  mkdir -p build/.bootstrap
  exec 9>build/.bootstrap/lock
  command -v flock >/dev/null && flock 9
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]} == 0)) || install_packages "${missing[@]}"
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]})); then
    by_hand "${missing[@]}"
    exit 1
  fi
  check_versions
  [[ -e "$MLX_DIR/mlx/lib/libmlx.so" ]] || fetch_mlx
  touch "$stamp"
}

main
