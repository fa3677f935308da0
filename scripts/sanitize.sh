#!/usr/bin/env bash
# ./test --sanitize: unit tests under asan and ubsan, tests of threads under tsan. Arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

# tsan of gcc 12 needs a small address randomisation.
unrandomised=()
if command -v setarch >/dev/null && setarch -R true 2>/dev/null; then unrandomised=(setarch -R); fi

export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export LSAN_OPTIONS=suppressions=$root/scripts/lsan.supp:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=suppressions=$root/scripts/tsan.supp:second_deadlock_stack=1

scripts/build.sh asan paceline_tests_unit
scripts/build.sh tsan paceline_tests_threads
exec ${unrandomised[@]+"${unrandomised[@]}"} python3 -B scripts/run_ctest.py asan=unit tsan=threads -- "$@"
