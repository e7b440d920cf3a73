#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The script for the first run on a chip, on the stand-in for the vendor's libraries: all instructions and networks are
# equal, a kernel that computes something else is found and named, and model310 reads the costs.
. tests/tap.inc

python3 tests/ascend/make_kernel.py "$tmp/kernel.o" mona_replay__kernel0
export MONA_ASCEND_KERNEL="$tmp/kernel.o"
LD_LIBRARY_PATH=$PWD/$BUILD/ascend/full BUILD=$BUILD sh apps/ascend/first_light.sh "$tmp/first" > "$tmp/log" 2>&1
same "its exit status" "$?" 0
same "instructions are equal" "$(grep -c '^equal: ' "$tmp/first/instructions") $(grep -c differ "$tmp/first/instructions")" "37 1"
same "networks are equal" "$(grep -c '^equal: .* at ' "$tmp/first/log")" 6
same "costs are numbers" "$(python3 -c "import json; print(sorted(json.load(open('$tmp/first/costs.json'))))")" \
    "['copy_latency', 'drain_latency', 'local_latency', 'task_launch', 'vector_latency']"
same "which model310 reads" "$(grep -c 'ms a frame, modelled' "$tmp/first/model310")" 1
