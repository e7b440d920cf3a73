#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona inspect: the vendor's .om models, as files written to the documented layout; graphs for Graphviz.
. tests/tap.inc

mkdir "$tmp/om"
python3 tests/make_om.py "$tmp/om"
om=$tmp/om
succeeds "an .om model" "$mona" inspect "$om/plain.om"
same "says what it is" "$(head -n 1 "$tmp/log")" "$om/plain.om: .om model classifier, version 0x20000000, for Ascend310, 3842 bytes"
same "its partitions" "$(sed -n '/^partitions/,/^$/p' "$tmp/log" | awk 'NR > 2 && NF { print $1, $3, $4 }')" "MODEL_DEF 308 137
WEIGHTS_DATA 445 96
TBE_KERNELS 541 3299
TASK_INFO 3840 2"
same "its kernels" "$(sed -n '/^kernels/,$p' "$tmp/log" | awk 'NR > 2 { print $1, $2, $3 }')" "te_conv2d_0__kernel0 1234 0x1029
te_pooling_1__kernel0 2000 0x1029"
same "no warning where nothing leaks" "$(grep -c warning "$tmp/log")" 0
succeeds "one with a table of 64 bits" "$mona" inspect "$om/wide.om"
same "whose numbers are naturally aligned" "$(sed -n '/^partitions/,/^$/p' "$tmp/log" | awk 'NR > 2 && NF { print $1, $3, $4 }')" "MODEL_DEF 336 234
WEIGHTS_DATA 570 64
TBE_KERNELS 634 3299"
for file in wide leak; do
    succeeds "an .om model with its author's command line, $file" "$mona" inspect "$om/$file.om"
    same "is warned of, $file" "$(grep -c '^warning: .*command line' "$tmp/log") $(grep -c '/home/someone/secret/net.onnx' "$tmp/log")" "1 1"
done
same "as JSON" "$("$mona" inspect "$om/leak.om" --json | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["soc_version"], len(d["partitions"]), len(d["kernels"]), d["command_line"].split()[0],
      {a["attribute"]: a["value"] for a in d["attributes"]}["memory_size"])')" "Ascend310 4 2 atc 4194304"
succeeds "an encrypted one" "$mona" inspect "$om/encrypted.om"
same "tells no more than its partitions" "$(grep -c 'encrypted\|^partitions' "$tmp/log") $(grep -c '^kernels\|^attributes' "$tmp/log")" "2 0"
succeeds "an empty one" "$mona" inspect "$om/empty.om"

size=$(wc -c < "$om/leak.om")
bad=0
parts=6
! full || parts=64
for part in $(seq 0 $((parts - 1))); do
    head -c $((size * part / parts)) "$om/leak.om" > "$tmp/cut.om"
    "$mona" inspect "$tmp/cut.om" > /dev/null 2> "$tmp/err"
    [ $? -eq 1 ] && [ "$(wc -l < "$tmp/err")" -eq 1 ] || bad=$((bad + 1))
done
same "cut anywhere it is refused in one line" $bad 0
cp Makefile "$tmp/text.om"
"$mona" inspect "$tmp/text.om" > /dev/null 2> "$tmp/err"
same "and so is what is none" "$? $(grep -c 'not an .om model' "$tmp/err")" "1 1"
"$mona" inspect "$om/plain.om" --dot "$tmp/x.dot" > /dev/null 2> "$tmp/err"
same "it has no graph to draw" "$? $(wc -l < "$tmp/err")" "2 1"

# ---- graphs
# $1: model, $2: nodes and edges
graph() {
    succeeds "the graph of $(basename "$1")" "$mona" inspect "$1" --dot "$tmp/net.dot"
    same "its nodes and edges" "$(grep -c '^  n[0-9]* \[label' "$tmp/net.dot") $(grep -c ' -> ' "$tmp/net.dot")" "$2"
    if command -v dot > /dev/null; then
        succeeds "Graphviz draws it" dot -Tplain "$tmp/net.dot" -o "$tmp/net.plain"
        same "as many of both" "$(grep -c '^node' "$tmp/net.plain") $(grep -c '^edge' "$tmp/net.plain")" "$2"
    else
        skip "no Graphviz here"
    fi
}
graph sr_x2_fast "$("$mona" inspect sr_x2_fast --json | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(len(d["operators"]) + 2, sum(len(o["inputs"].split(", ")) for o in d["operators"]) + 1)')"
graph models/denoise_fast.onnx "27 28"
if full; then
    "$BUILD/classifiers" resnet50 32 "$tmp/resnet50.onnx"
    "$mona" compile "$tmp/resnet50.onnx" -o "$tmp/resnet50.mona" > /dev/null
    graph "$tmp/resnet50.onnx" "177 192"
    graph "$tmp/resnet50.mona" "60 75"
fi
# A name of six bytes, which are five characters.
LC_ALL=C sed 's/body\.0/b\xc3\xb6d.0/g' models/sr_x2_fast.onnx > "$tmp/umlaut.onnx"
same "columns stay below each other where names are UTF-8" "$("$mona" inspect "$tmp/umlaut.onnx" | python3 -c 'import sys
rows = [line.decode() for line in sys.stdin.buffer]
head = next(r for r in rows if r.strip().startswith("op"))
row = next(r for r in rows if "b\u00f6d.0, " in r or "relu.0" in r and "b\u00f6d.0" in r)
print(row.rindex("relu.0") - head.index("outputs"), "b\u00f6d.0" in row)')" "0 True"
"$mona" compile tests/conformance/conv/model.onnx -o "$tmp/fixed.mona" > /dev/null
at_least "--firmware needs no --size where only one is possible: bytes" \
    "$("$mona" inspect "$tmp/fixed.mona" --firmware cortex-m55 | awk '$1 == "flash_code" { print $2 }')" 1000
fails "where any is, it does" "expected --size WxH too, as the model takes any" "$mona" inspect sr_x2_fast --firmware cortex-m55
same "--firmware all has a line for each CPU" \
    "$("$mona" inspect sr_x2_fast --firmware all --size 320x240 | grep -cE '^  (cortex-[am]|rv)[0-9a-z]* ')" 10
# $1: size, $2...: what the board has
verdict() {
    size=$1
    shift
    "$mona" inspect sr_x2_fast --firmware cortex-m7 --size "$size" "$@" | awk '$1 == "fits" || $1 == "exceeds" { $1 = ""; print }' | tr -d '\n'
}
same "a board with enough of all" "$(verdict 64x48 --flash 512K --ram 256K --clock 400M --fps 5)" " yes"
same "one with too little of all" "$(verdict 640x480 --flash 16K --ram 64K --clock 100M --fps 30)" " no flash, ram, time"
small=$("$mona" inspect sr_x2_fast --firmware cortex-m7 --size 640x480 --ram 128K --clock 400M --fps 5 | sed -n 's/.* a smaller frame: \([0-9x]*\) fits/\1/p')
same "the smaller frame that is told fits ($small)" "$(verdict "$small" --ram 128K --clock 400M --fps 5)" " yes"
"$mona" compile models/sr_x2_fast.onnx -o "$tmp/fp16.mona" > /dev/null
# $1: network, $2: flash
advice() {
    "$mona" inspect "$1" --firmware cortex-m7 --size 64x48 --flash "$2" | sed -n 's/.* would fit with //p'
}
same "fp16 that would fit as INT8 is told so" "$(advice "$tmp/fp16.mona" 64K | grep -o 'INT8')" INT8
same "a network that has INT8, but for some layers, is not" "$(advice denoise_balanced 64K | grep -c 'INT8')" 0
same "nor one whose code alone is too large" "$(advice "$tmp/fp16.mona" 16K | grep -oE 'INT8|code and tables take alone')" "code and tables take alone"
"$mona" compile tests/conformance/array_moves/model.onnx -o "$tmp/array.mona" > /dev/null
same "instructions of operators on arrays are told" "$("$mona" inspect "$tmp/array.mona" --firmware cortex-m7 | grep -c 'not known')" 0
# Pools, matrices, reductions and normalisation, on maps and on arrays.
for net in conv array_products array_windows array_normalise; do
    "$mona" compile tests/conformance/$net/model.onnx -o "$tmp/$net.mona" > /dev/null
    same "the multiply-adds of the operators of $net are all of its" "$("$mona" inspect "$tmp/$net.mona" --firmware cortex-m7 --json | python3 -c '
import json, sys
d = json.load(sys.stdin)["firmware"]
print(sum(o["macs"] for o in d["operators"]) - d["macs"])')" 0
done
fails "a size that is none" "expected a number such as 512K, found 5Q" "$mona" inspect sr_x2_fast --firmware cortex-m7 --size 64x48 --ram 5Q
fails "frames a second of no clock" "works only with --clock" "$mona" inspect sr_x2_fast --firmware cortex-m7 --size 64x48 --fps 5
"$mona" inspect sr_x2_fast --dot "$tmp/none/x.dot" > /dev/null 2> "$tmp/err"
same "a graph that cannot be written" "$? $(grep -c 'No such file' "$tmp/err")" "1 1"
