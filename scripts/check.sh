#!/usr/bin/env bash
# Checks the rules of the repository and prints each one. Usage: scripts/check.sh [--changed|--all]
# --changed (default): clang-tidy on the files that differ from main. --all (default when CI=true): on every file.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 -B scripts/check/main.py "$@"
