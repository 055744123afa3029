#!/usr/bin/env bash
# Installs the build to a place of its own, builds examples/core against what was installed, and checks what it prints.
#
#   run.sh SOURCE_DIRECTORY BUILD_DIRECTORY [SANITIZERS]
set -euo pipefail
source=$1
build=$2
sanitizers=${3:-}

work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

cmake --install "$build" --prefix "$prefix" >"$work/install.log"
"$prefix/bin/kron" --help >/dev/null

# Every installed header must stand on its own feet: no header of ours that was not installed.
(cd "$prefix/include" && find kron -name '*.h' -printf '#include "%p"\n') >"$work/all_headers.cc"
grep --quiet core/decision.h "$work/all_headers.cc"
g++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I"$prefix/include" "$work/all_headers.cc"

# The static libraries carry the sanitizers of this build, so the program that links them needs them too.
cmake -S "$source/examples/core" -B "$work/example" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug \
  ${sanitizers:+"-DCMAKE_CXX_FLAGS=-fsanitize=$sanitizers"} >"$work/configure.log"
cmake --build "$work/example"
"$work/example/next_runs" | diff "$source/tests/install/expected.txt" -
