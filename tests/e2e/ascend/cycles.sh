#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Modelled times on the Ascend 310, a few per cent above what they are, so that none is lost unseen: of networks that
# are a single group, of one whose weights fill L1 many times, and of those that short instructions, parts of a concat or a
# residual in FP16 make slow.
. tests/tap.inc

mona=$BUILD/mona

# $1: name, $2: model, $3: size, $4 and $5: the most milliseconds, ideal and with losses
takes() {
    "$mona" bench "$2" --size "$3" --device model310 > "$tmp/bench"
    found=$(sed -n 's/^  time  *\([0-9.]*\) ms.*/\1/p; s/^  with losses \([0-9.]*\) ms.*/\1/p' "$tmp/bench" | tr '\n' ' ')
    same "$1: at most $4 and $5 ms, found $found" "$(echo "$found$4 $5" | awk '{ print NF, $1 <= $3, $2 <= $4 }')" "4 1 1"
    same "$1: nothing is found" "$(sed -n 's/^  checks .* run, //p' "$tmp/bench")" "0 findings"
}

takes sr_x2_fast sr_x2_fast 1920x1080 5.3 6.9
replay=$(sed -n 's/^  replay  *\([0-9.]*\) ms.*/\1/p' "$tmp/bench")
same "by the replay kernel at most 7.0, found $replay" "$(echo "$replay" | awk '{ print NF, $1 <= 7.0 }')" "1 1"
takes denoise_fast denoise_fast 1920x1080 2.4 3.1
takes "sr_x3_fast, whose planes have blocks of 3 x 3" sr_x3_fast 640x360 1.02 1.21
takes "sr_x4_fast, whose planes have blocks of 4 x 4" sr_x4_fast 640x360 0.86 1.11
# Each of 4 times as many pixels has 4 times as many keys.
"$BUILD/operators" "$tmp" > /dev/null
for size in 12x12 24x24; do
    "$mona" bench "$tmp/attention_0_u8.mona" --size $size --device model310 | sed -n 's/^  time .*(\([0-9]*\) cycles)/\1/p'
done > "$tmp/cycles"
at_least "attention without a program takes the scalar unit its keys" "$(paste -sd ' ' "$tmp/cycles" | awk '{ print int($2 / $1) }')" 14
full || exit 0
takes "denoise_balanced, whose residual is FP16" denoise_balanced 1920x1080 19.2 24.3
"$BUILD/scene" 2 > "$tmp/scene.y4m"
"$BUILD/classifiers" resnet50 224 "$tmp/net.onnx"
"$mona" compile "$tmp/net.onnx" -o "$tmp/half.mona" --target ascend310 > /dev/null
takes "ResNet-50 FP16" "$tmp/half.mona" 224x224 3.9 4.8
"$mona" compile "$tmp/net.onnx" -o "$tmp/byte.mona" --target ascend310 --input-type u8 --precision int8 \
    --calibrate "$tmp/scene.y4m" --images 1 > /dev/null
takes "ResNet-50 INT8" "$tmp/byte.mona" 224x224 2.5 3.2

if ! python3 -c "import numpy, onnx" 2> /dev/null; then
    skip "no onnx: DnCNN, ShuffleNetV2, MobileNetV3, YOLOv8n"
    exit 0
fi
python3 - "$tmp/net.onnx" << 'END'
import sys
sys.path.insert(0, "tests/bench")
from network import Net
net = Net("dncnn", 1, 481, 481, False)
x = net.x
for layer in range(16):
    x = net.conv(x, 64, 3, act="relu")
net.output(net.add(net.x, net.conv(x, 1, 3)))
net.save(sys.argv[1])
END
"$mona" compile "$tmp/net.onnx" -o "$tmp/net.mona" --target ascend310 > /dev/null
takes "DnCNN FP16, whose residual has one channel" "$tmp/net.mona" 481x481 36.5 43.3
python3 - "$tmp/net.onnx" << 'END'
import sys
sys.path.insert(0, "tests/bench")
from network import Net
net = Net("map", 512, 14, 14, False)
net.output(net.conv(net.x, 16, 1))
net.save(sys.argv[1])
END
"$mona" compile "$tmp/net.onnx" -o "$tmp/net.mona" --target ascend310 > /dev/null
takes "a map of 512 channels, more than the unified buffer holds at a time" "$tmp/net.mona" 14x14 0.34 0.42
# $1: a network of make_networks.py, $2: size, $3 and $4: milliseconds. The rest are options of mona compile.
published() {
    network=$1 size=$2 ideal=$3 losses=$4
    shift 4
    python3 tests/bench/make_networks.py "$network" "$tmp/net.onnx" &&
        "$mona" compile "$tmp/net.onnx" -o "$tmp/net.mona" --target ascend310 "$@" > /dev/null 2>&1
    takes "$network $*" "$tmp/net.mona" "$size" "$ideal" "$losses"
}
published shufflenet_v2 224x224 1.6 1.9
published yolov5n 640x640 11.6 14.0
published espcn_x3 256x256 4.8 5.5 --input-type u16 --output-type u16
set -- --input-type u8 --precision int8 --calibrate "$tmp/scene.y4m" --images 1
published mobilenet_v3_large 224x224 2.3 3.0 "$@"
published yolov8n 640x640 10.2 12.1 "$@"
