#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz targets (make fuzz builds them): BUILD=build SECONDS_EACH=60 sh tests/fuzz/fuzz.sh TARGET... Useful
# inputs are kept in $BUILD/fuzz/corpus; an input that breaks a target is named and kept.
set -u
BUILD=${BUILD:-build}
failed=0
for target; do
    found=$BUILD/fuzz/corpus/$target
    log=$BUILD/fuzz/$target.log
    mkdir -p "$found"
    seeds=tests/fuzz/corpus/$target
    case $target in onnx | tensor | external | int8) seeds="$seeds tests/conformance" ;; esac
    case $target in int8) seeds="$seeds tests/fuzz/corpus/onnx" ;; esac
    if "$BUILD/fuzz/libfuzzer/$target" -max_total_time="${SECONDS_EACH:-60}" -timeout=20 -rss_limit_mb=4096 \
        -max_len=32768 -artifact_prefix="$BUILD/fuzz/$target-" -print_final_stats=1 "$found" $seeds > "$log" 2>&1; then
        echo "$target: $(sed -n 's/stat::number_of_executed_units: *//p' "$log") runs, nothing found"
    else
        failed=1
        echo "$target: FAILED"
        grep -a 'ERROR\|SUMMARY\|Test unit written\|runtime error' "$log" | head -n 8
    fi
done
exit $failed
