#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz targets (make fuzz builds them): BUILD=build SECONDS_EACH=60 sh tests/fuzz/fuzz.sh TARGET... Useful
# inputs are kept in $BUILD/fuzz/corpus; an input that breaks a target is named and kept. With MERGE=1 it runs none, but
# keeps only the inputs that each reach something of their own.
set -u
. tests/fuzz/corpora.sh
BUILD=${BUILD:-build}
failed=0
for target; do
    found=$BUILD/fuzz/corpus/$target
    log=$BUILD/fuzz/$target.log
    program=$BUILD/fuzz/libfuzzer/$target
    mkdir -p "$found"
    if [ -n "${MERGE:-}" ]; then
        mv "$found" "$found.all" && mkdir "$found"
        "$program" -merge=1 -timeout=20 "$found" "$found.all" > "$log" 2>&1 && rm -r "$found.all"
        echo "$target: $(find "$found" -type f | wc -l) inputs"
        continue
    fi
    seeds=$(corpora "$target")
    dictionary=
    [ ! -e "tests/fuzz/words/$target" ] || dictionary=-dict=tests/fuzz/words/$target
    # shellcheck disable=SC2086
    if "$program" -max_total_time="${SECONDS_EACH:-60}" -timeout=20 -rss_limit_mb=4096 -max_len=32768 \
        $dictionary -artifact_prefix="$BUILD/fuzz/$target-" -print_final_stats=1 "$found" $seeds > "$log" 2>&1; then
        echo "$target: $(sed -n 's/stat::number_of_executed_units: *//p' "$log") runs, nothing found"
    else
        failed=1
        echo "$target: FAILED"
        grep -a 'ERROR\|SUMMARY\|Test unit written\|runtime error' "$log" | head -n 8
    fi
done
exit $failed
