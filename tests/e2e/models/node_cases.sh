#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Single operators give what ONNX's own package computes by numpy, or are refused by name.
. tests/tap.inc
needs_python onnx numpy
succeeds "ONNX's cases are written" python3 tests/e2e/models/node_cases.py "$tmp/cases"
"$mona" verify -q "$tmp"/cases/* > "$tmp/said" 2>&1
sed -n '/^reference:/,$s/^/# /p' "$tmp/said"
# onnx 1.12 cuts off the bits that bfloat16 does not have; later versions, and mona, round.
nothing "no result is another one" "$(sed -n 's|^FAIL .*/cases/\(test_[^:]*\): |\1: |p' "$tmp/said" | grep -v '^test_cast_FLOAT_to_BFLOAT16:')"
at_least "cases pass in the reference" "$(sed -n 's/^reference: \([0-9]*\) of .*/\1/p' "$tmp/said")" 660
at_least "and in the engine" "$(sed -n 's/^engine, fp16: \([0-9]*\) of .* 0 fail,.*/\1/p' "$tmp/said")" 640
