#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Random networks (tests/judges/networks): in FP16, INT8, with one thread and with two, line by line, and as C, beside
# mona's reference. In the full tier 2,000 of them, and the reference beside ONNX Runtime, which make test-full-deps
# installs into the build folder.
. tests/tap.inc

count=40
every=8
set --
if full && [ -z "$SANITIZE" ]; then
    count=2000
    every=10
    if command -v node > /dev/null && [ -d "$BUILD/bench/node_modules/onnxruntime-node" ]; then
        set -- --ort "$BUILD/bench"
    else
        skip "ONNX Runtime is not in $BUILD/bench (make test-full-deps)"
    fi
    if python3 -c 'import torch, onnx' 2> /dev/null; then
        set -- "$@" --torch
    else
        skip "python3-torch or python3-onnx is not here"
    fi
fi
# A library that is sanitised cannot be loaded into a network as C.
[ -n "$SANITIZE" ] || set -- "$@" --cc "${CC:-gcc}" --c-every "$every"

"$BUILD/judge_networks" --build "$BUILD" --count "$count" --keep "$BUILD/tests/networks" "$@" > "$tmp/judged" 2>&1
status=$?
cat "$tmp/judged"
# What was judged beside other programs, and all refusals, are in the lines above.
same "$count random networks are right, or refused by name" \
    "$status $(sed -n 's/^# \([0-9]*\) networks: .* \([0-9]* wrong, [0-9]* crashed\);.*/\1 \2/p' "$tmp/judged")" \
    "0 $count 0 wrong, 0 crashed"
refused=$(sed -n 's/^# .* passed, \([0-9]*\) refused.*/\1/p' "$tmp/judged")
same "few are refused ($refused)" "$(awk -v n="$refused" -v all="$count" 'BEGIN { print (n != "" && n * 50 <= all) }')" 1
case " $* " in
    *" --ort "*) at_least "judged beside ONNX Runtime" "$(sed -n 's/^# \([0-9]*\) of them beside onnxruntime$/\1/p' "$tmp/judged")" $((count * 9 / 10)) ;;
esac
case " $* " in
    *" --torch "*) at_least "judged beside torch" "$(sed -n 's/^# \([0-9]*\) of them beside torch$/\1/p' "$tmp/judged")" $((count / 2)) ;;
esac
