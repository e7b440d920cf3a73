#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What reads pictures decides nothing by bytes that were never written (make fuzz-valgrind, for a short time).
. tests/tap.inc
CC=${CC:-cc}

command -v valgrind > /dev/null || { skip "no valgrind here"; exit 0; }
succeeds "the targets are built" make -s --no-print-directory BUILD="$BUILD" "$BUILD/tests/fuzz_still" "$BUILD/tests/fuzz_metadata"
succeeds "pictures" env BUILD="$BUILD" CHANGES=10 sh tests/fuzz/valgrind.sh still metadata
at_least "files of both" "$(awk '/^ok/ { n += $4 } END { print n }' "$tmp/log")" 150
# It must see one.
mkdir -p "$tmp/faulty/tests"
printf '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { char *p = malloc(4); puts(p[2] == 7 ? "a" : "b"); return 0; }\n' > "$tmp/faulty.c"
$CC -O0 -w -o "$tmp/faulty/tests/fuzz_still" "$tmp/faulty.c"
BUILD=$tmp/faulty CHANGES=1 sh tests/fuzz/valgrind.sh still > "$tmp/log" 2>&1
same "found: a byte that was never written" "$? $(grep -c 'depends on uninitialised' "$tmp/log")" "1 1"
