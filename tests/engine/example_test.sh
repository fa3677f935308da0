#!/bin/sh
# The example answers with SmolLM2 when that is cached. Usage: example_test.sh PROGRAM
set -eu
model="${XDG_CACHE_HOME:-$HOME/.cache}/paceline/models/SmolLM2-135M-Instruct.Q4_1.gguf"
if [ ! -f "$model" ]; then
  echo "skipped: SmolLM2-135M-Instruct.Q4_1.gguf: not cached"
  exit 0
fi
"$1" "$model" "Count from one to ten." five | tee /dev/stderr | grep -q '^\[\(stop\|length\), '
