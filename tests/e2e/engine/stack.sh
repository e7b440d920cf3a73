#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The stack of each thread has a bound, which follows from the graph of calls: tests/stack.limits, tests/stack.py.
. tests/tap.inc

if ! command -v clang > /dev/null || ! ${CC:-cc} --version | head -n 1 | grep -qi gcc; then
    skip "it takes gcc's frames and clang's graph of calls"
    exit 0
fi
# The graph is that of the source: nothing is optimised. What stands in an object's place is text.
archives="libmona.a libmona-plan.a libmona-model310.a libmona-ascend.a"
# shellcheck disable=SC2086
succeeds "clang prints the engine's calls" make -s --no-print-directory -j"$(nproc)" CC=clang BUILD="$tmp/ir" SANITIZE= OPTIMISE=-O0 \
    CFLAGS="-O0 -g0 -S -emit-llvm -w" $(for a in $archives; do echo "$tmp/ir/$a"; done)
graph() {
    python3 tests/stack.py "$1" "$BUILD" $(find "$tmp/ir/engine" "$tmp/ir/ops" -name '*.o')
}
succeeds "the engine's stacks are within tests/stack.limits" graph tests/stack.limits
sed 's/: .*//; s/^/# /' "$tmp/log"
at_least "all of its functions are in the graph" "$(grep -c '^[a-z_:]* [0-9]* of' "$tmp/log")" 9
same "the first is what mona_plan_stack_bytes tells" "$(sed -n 's/^mona_session_run //p' tests/stack.limits)" \
    "$(($(sed -n 's/^enum { STACK_BYTES = \([0-9]*\) \* 1024 };.*/\1/p' engine/layout/query.c) * 1024))"
# What it must find.
sed 's/^mona_plan_make .*/mona_plan_make 1000/' tests/stack.limits > "$tmp/limits"
same "found: a stack that is too deep" "$(graph "$tmp/limits" | grep -c '^mona_plan_make: .*, over 1000$')" 1
grep -v '^recursion run_records' tests/stack.limits > "$tmp/limits"
same "found: a recursion that nobody bounds" "$(graph "$tmp/limits" | grep -c '^recursion without a row: program:run_records$')" 1
