#!/usr/bin/env bash
# Formats every C++ file of the repository in place (clang-format-19, .clang-format).
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z --cached --others --exclude-standard -- '*.h' '*.cpp' | xargs -0 --no-run-if-empty clang-format-19 -i
