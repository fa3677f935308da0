#!/usr/bin/env bash
# Builds llama.cpp (commit 0c1e57098, from the source archive of llama-cpp-python 0.3.36) as a peer for speed and an oracle.
# It is never a dependency of the product.
#   scripts/peers.sh [folder]     default: ${PACELINE_PEERS:-~/.cache/paceline/peers}
# Result: <folder>/llama.cpp/build/bin  the tools and libraries as upstream builds them
#         <folder>/llama.exact/bin      the libraries with GELU computed in float instead of by an f16 table (oracle for Gemma)
#         <folder>/llama.avx2/bin       llama-bench and llama-batched-bench as on a CPU without AVX-512 (peer of --isa avx2)
# Needs pip, cmake, ninja, g++. About 7 + 1 + 1 minutes on two cores. Running it again does nothing that is already done.
set -euo pipefail

dest=${1:-${PACELINE_PEERS:-$HOME/.cache/paceline/peers}}
jobs=${JOBS:-2}
version=0.3.36
benches=(llama-bench llama-batched-bench)
tools=(llama-server llama-perplexity llama-quantize llama-tokenize llama-completion)
options=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON -DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_UI=OFF
         -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON)

mkdir -p "$dest"
cd "$dest"

if [ ! -d llama.cpp/ggml ]; then
    scratch=$(mktemp -d)
    pip download --quiet --no-deps --no-binary :all: -d "$scratch" "llama-cpp-python==$version"
    tar xf "$scratch/llama_cpp_python-$version.tar.gz" -C "$scratch"
    mv "$scratch/llama_cpp_python-$version/vendor/llama.cpp" llama.cpp
    rm -rf "$scratch"
fi

cmake -S llama.cpp -B llama.cpp/build "${options[@]}" > llama.cpp/configure.log
nice -n 19 ninja -C llama.cpp/build -j "$jobs" "${benches[@]}"

# Only ggml-cpu depends on the instruction set.
if [ ! -e llama.avx2/bin/libggml-cpu.so ]; then
    cmake -S llama.cpp -B llama.avx2/build "${options[@]}" -DGGML_NATIVE=OFF -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON \
        -DGGML_F16C=ON -DGGML_BMI2=ON -DGGML_AVX512=OFF > llama.avx2.configure.log
    nice -n 19 ninja -C llama.avx2/build -j "$jobs" ggml-cpu
    mkdir -p llama.avx2/bin
    cp -a llama.cpp/build/bin/*.so* "${benches[@]/#/llama.cpp/build/bin/}" llama.avx2/bin/
    cp -a llama.avx2/build/bin/libggml-cpu.so* llama.avx2/bin/
    rm -rf llama.avx2/build
fi

nice -n 19 ninja -C llama.cpp/build -j "$jobs" "${tools[@]}"

if [ ! -e llama.exact/bin/libggml-cpu.so ]; then
    mkdir -p llama.exact/source llama.exact/bin
    tar cf - -C llama.cpp --exclude=./build . | tar xf - -C llama.exact/source
    sed -i -e 's|^#define GGML_GELU_FP16|// &|' -e 's|^#define GGML_GELU_QUICK_FP16|// &|' llama.exact/source/ggml/src/ggml-cpu/vec.h
    cmake -S llama.exact/source -B llama.exact/build "${options[@]}" > llama.exact/configure.log
    nice -n 19 ninja -C llama.exact/build -j "$jobs" ggml-cpu
    cp -a llama.cpp/build/bin/*.so* llama.cpp/build/bin/llama-quantize llama.exact/bin/
    cp -a llama.exact/build/bin/libggml-cpu.so* llama.exact/bin/
    rm -rf llama.exact/source llama.exact/build
fi
