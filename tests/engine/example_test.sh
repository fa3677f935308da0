#!/bin/sh
# The example answers with SmolLM2 when that is cached. Usage: example_test.sh PROGRAM
set -eu
cache=${XDG_CACHE_HOME:-}
case $cache in /*) ;; *) cache=$HOME/.cache ;; esac
model="$cache/paceline/models/SmolLM2-135M-Instruct.Q4_1.gguf"
if [ ! -f "$model" ]; then
  echo "skipped: SmolLM2-135M-Instruct.Q4_1.gguf: not cached"
  exit 0
fi
"$1" "$model" "Count from one to ten." five | tee /dev/stderr | grep -q '^\[\(stop\|length\), '
