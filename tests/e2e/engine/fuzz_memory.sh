#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What reads, plans and compiles models decides nothing by bytes that were never written (make fuzz-memory).
. tests/tap.inc
case ${CC:-} in *clang*) ;; *) CC=clang ;; esac

if ! printf 'int main(void) { return 0; }' | $CC -fsanitize=memory -o "$tmp/program" -xc - 2> /dev/null || ! "$tmp/program"; then
    skip "no clang with a sanitiser of memory here"
    exit 0
fi
succeeds "readers of models" make -s --no-print-directory BUILD="$BUILD" CC="$CC" fuzz-memory
at_least "files of all" "$(awk '/^ok [0-9]* - [0-9]/ { n += $4 } END { print n }' "$tmp/log")" 140
at_least "tests" "$(grep -c '^ok' "$tmp/log")" 110
# It must see one: protobuf-c's bytes count as written by a file of tests alone, without which they do not.
MONA_FUZZ_SEES_ALL=1 "$BUILD/memory/tests/fuzz_tensor" > "$tmp/log" 2>&1
same "found: bytes that nobody is seen to write" "$? $(grep -c 'WARNING: MemorySanitizer: use-of-uninitialized-value' "$tmp/log")" "1 1"
