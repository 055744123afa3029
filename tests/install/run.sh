#!/usr/bin/env bash
# Installs the build to a place of its own, runs what was installed, checks the units, builds examples/core against the
# installed library, and checks what it prints.
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
"$prefix/sbin/kron-operator" --version | grep --quiet '^kron-operator '
for page in man1/kron.1 man5/kron-jobs.5 man8/krond.8 man8/kron-operator.8; do test -s "$prefix/share/man/$page"; done
# `make install` has built each program that it installs.
for program in $(grep --only-matching --extended-regexp '^install\(TARGETS .* RUNTIME' "$source/cmake/KronInstall.cmake" |
  sed -E 's/^install\(TARGETS //; s/ RUNTIME$//'); do
  grep --quiet --extended-regexp -- "--target .*\b$program\b" "$source/Makefile"
done

# The installed krond finds its helper, and a job that is due every second runs.
echo '* * * * * * name=greet shell=true command="echo $KRON_IDENTITY at $KRON_PERIOD_ID"' >"$work/jobs.kron"
chmod 600 "$work/jobs.kron"
"$prefix/sbin/krond" --once --config "$work/jobs.kron" --state-dir "$work/state" 2>"$work/log"
period=$(sed -nE 's/.* run_ended identity=greet periodId=([^ ]+) .* exitCode=0$/\1/p' "$work/log")
cat "$work"/state/runs/*/output | diff <(echo "greet at ${period:?krond ran nothing}") -

python3 "$source/tests/install/check_units.py" "$prefix"

# Every installed header must stand on its own feet: no header of ours that was not installed.
(cd "$prefix/include" && find kron -name '*.h' -printf '#include "%p"\n') >"$work/all_headers.cc"
grep --quiet core/decision.h "$work/all_headers.cc"
g++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I"$prefix/include" "$work/all_headers.cc"

# The static libraries carry the sanitizers of this build, so the program that links them needs them too.
cmake -S "$source/examples/core" -B "$work/example" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug \
  ${sanitizers:+"-DCMAKE_CXX_FLAGS=-fsanitize=$sanitizers"} >"$work/configure.log"
cmake --build "$work/example"
"$work/example/next_runs" | diff "$source/tests/install/expected.txt" -
