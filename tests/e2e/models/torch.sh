#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Networks of PyTorch, compiled without any option: in the command and in Python they give what PyTorch gives.
. tests/tap.inc
needs_python cffi numpy torch
export PYTHONPATH="$BUILD/python" MONA="$mona"
python3 -W ignore tests/e2e/models/torch_networks.py "$tmp" "$MONA" > "$tmp/said" 2> "$tmp/err"
status=$?
while read -r line; do
    case $line in
    "ok "*) ok "${line#ok * - }" ;;
    "not ok "*) not_ok "${line#not ok * - }" "" ;;
    "#"*) echo "$line" ;;
    esac
done < "$tmp/said"
same "all were tried" "$status $(tail -n 1 "$tmp/said")" "0 1..70"
[ $status -eq 0 ] || sed 's/^/# /' "$tmp/err"
