#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona compile --precision auto, --pin and calibration: what is refused, what is repeatable, and what networks
# lose.
. tests/tap.inc
shared=../shared
sr=models/sr_x2_fast.onnx
overflow=tests/precision/overflow.onnx

# ---- without images
x="$tmp/x.mona"
fails "auto without calibration" "--calibrate" "$mona" compile $sr -o "$x" --precision auto
fails "a budget without auto" "--max-drop" "$mona" compile $sr -o "$x" --precision fp16 --max-drop 1%
fails "a pin of no layer names those near" "body.1, body.0, body.2" "$mona" compile $sr -o "$x" --pin bodi.1=fp16
fails "a pin of no precision" "LAYER=fp16" "$mona" compile $sr -o "$x" --pin body.1=int4
fails "no such rule" "median" "$mona" compile $sr -o "$x" --calibration median
fails "no such target" "abacus" "$mona" compile $sr -o "$x" --target abacus
fails "numbers that leave fp16 are found without calibration" "of the compiled model is flat" \
    "$mona" compile $overflow --picture -o "$x"
succeeds "an output that is flat in fp32, too, is none of them" "$mona" compile tests/precision/edges.onnx -o "$tmp/edges.mona"
same "nothing is left of failed compilations" "$(ls "$tmp" | grep -c '^x')" 0

# ---- with images
images=6
[ -n "$SANITIZE" ] && images=2
t91=$shared/data/train/t91
if [ -d $t91 ]; then
    # $1: output, $2: network, rest: options
    compiled() {
        to=$1
        net=$2
        shift 2
        "$mona" compile "$net" -o "$to" --picture --calibrate $t91 --images $images "$@" > "$tmp/said"
    }
    fails "what fp16 does not hold is named" "make_larger" "$mona" compile $overflow --picture -o "$x" --precision fp16 \
        --calibrate $t91 --images 2
    succeeds "auto keeps it in INT8" compiled "$tmp/o.mona" $overflow --precision auto --max-drop 0.5dB
    at_least "and the picture comes out, dB" "$(sed -n 's/^  y: \([0-9.inf]*\) dB.*/\1/p' "$tmp/said")" 40
    fails "a budget of no unit" "0.1dB" "$mona" compile $sr -o "$x" --precision auto --calibrate $t91 --images 1 \
        --max-drop 3
    succeeds "auto" compiled "$tmp/a.mona" $sr --precision auto --pin body.1=fp16
    same "the pinned layer is FP16" "$(awk '$1 == "body.1" { print $2 }' "$tmp/said")" fp16
    same "the others are INT8" "$(awk '$2 == "int8" { n++ } END { print n }' "$tmp/said")" 4
    succeeds "auto again" compiled "$tmp/b.mona" $sr --precision auto --pin body.1=fp16
    succeeds "gives the same bytes" cmp "$tmp/a.mona" "$tmp/b.mona"
    for target in host ascend310; do
        succeeds "auto for $target" compiled "$tmp/$target.mona" $sr --precision auto --target $target
        succeeds "which names it" grep -q "cost on $target" "$tmp/said"
    done
    for rule in min-max percentile kl mse; do
        succeeds "calibration $rule" compiled "$tmp/c.mona" $sr --precision int8 --calibration $rule
        at_least "$rule: INT8 is close to fp32, dB" "$(sed -n 's/^  luma_x2: \([0-9.]*\) dB.*/\1/p' "$tmp/said")" 48
        succeeds "says on how many images" grep -q "calibrated on [1-9]" "$tmp/said"
    done
    "$BUILD/classifiers" mobilenet_v2 64 "$tmp/close.onnx"
    mkdir "$tmp/sixteen"
    ls $t91/*.png | head -n 16 | while read -r picture; do cp "$picture" "$tmp/sixteen"; done
    fails "sixteen images are too few to tell of 1 % of decisions, and auto says so" \
        "0 % of decisions change on these 16 samples, but so few leave this much in doubt: give" \
        "$mona" compile "$tmp/close.onnx" -o "$x" --input-type u8 --precision auto --calibrate "$tmp/sixteen"
    fails "learning from too few images" "at least 4, found 3" "$mona" compile $sr -o "$x" --calibrate $t91 --images 3 \
        --learn-rounding
    for to in c d; do "$mona" compile $sr -o "$tmp/$to.mona" --picture --calibrate $t91 --images 4 --learn-rounding > "$tmp/said"; done
    succeeds "learnt rounding is repeatable" cmp "$tmp/c.mona" "$tmp/d.mona"
    at_least "and close to fp32, dB" "$(sed -n 's/^  luma_x2: \([0-9.]*\) dB.*/\1/p' "$tmp/said")" 48
    "$mona" compile $sr -o "$tmp/c.mona" --picture --calibrate $t91 --images 9 --tolerance 100 > "$tmp/said"
    same "calibration ends when nothing moves" "$(sed -n 's/^  calibrated on \(.*\):.*/\1/p' "$tmp/said")" "4 of 9 images"
else
    skip "no $t91: nothing is calibrated"
fi

# ---- what is fed to a network: means and deviations, the order of colours, arrays
net="$tmp/net.onnx"
"$BUILD/classifiers" mobilenet_v2 64 "$net"
mkdir "$tmp/pictures" "$tmp/arrays" "$tmp/swapped"
ffmpeg -v error -f lavfi -i testsrc2=size=64x64:rate=1 -frames:v 3 -pix_fmt rgb24 "$tmp/pictures/p%d.png"
# Writes pictures $1 as an array of planes in the order $2; $3 is applied to each number x; $4: type
array() {
    for picture in $1; do ffmpeg -v error -i "$picture" -f rawvideo -pix_fmt $2 -; done | python3 -c '
import struct, sys
data, kind = sys.stdin.buffer.read(), sys.argv[2]
size = 64 * 64 * 3
frames = [data[i:i + size] for i in range(0, len(data), size)]
numbers = [eval(sys.argv[1]) for f in frames for c in range(3) for x in f[c::3]]
head = ("{\x27descr\x27: \x27%s\x27, \x27fortran_order\x27: False, \x27shape\x27: (%d, 3, 64, 64), }" % (kind, len(frames))).encode()
head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
out = struct.pack("<%d%s" % (len(numbers), {"|u1": "B", "|i1": "b", "<u2": "H", "<f4": "f"}[kind]), *numbers)
sys.stdout.buffer.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + out)' "$3" "$4"
}
# $1: output, $2: folder, rest: options
fed() {
    to=$1
    from=$2
    shift 2
    "$mona" compile "$net" -o "$to" --calibrate "$from" "$@" > "$tmp/said"
}
array "$tmp/pictures/p*.png" rgb24 x '|u1' > "$tmp/arrays/all.npy"
succeeds "INT8 by pictures" fed "$tmp/a.mona" "$tmp/pictures"
succeeds "INT8 by the same pictures in one array" fed "$tmp/b.mona" "$tmp/arrays"
succeeds "gives the same bytes" cmp "$tmp/a.mona" "$tmp/b.mona"
same "an array has as many inputs as its first side says" "$(sed -n 's/^  calibrated on //p' "$tmp/said")" "3 of 3 images"
normal="--mean 120,110.5,100 --deviation 60"
succeeds "INT8 by pictures that are fed otherwise" fed "$tmp/a.mona" "$tmp/pictures" $normal
succeeds "which takes floating-point planes" grep -q "in  image: 3 x f16" "$tmp/said"
for n in 1 2 3; do
    array "$tmp/pictures/p$n.png" rgb24 '(x - (120, 110.5, 100)[c]) / 60' '<f4' > "$tmp/swapped/p$n.npy"
done
succeeds "the same as arrays of floats, one each" fed "$tmp/b.mona" "$tmp/swapped"
succeeds "gives the same bytes" cmp "$tmp/a.mona" "$tmp/b.mona"
succeeds "INT8 with blue first" fed "$tmp/c.mona" "$tmp/pictures" $normal --channel-order bgr
differ "which is another" "$tmp/a.mona" "$tmp/c.mona"
for n in 1 2 3; do
    array "$tmp/pictures/p$n.png" bgr24 '(x - (120, 110.5, 100)[c]) / 60' '<f4' > "$tmp/swapped/p$n.npy"
done
succeeds "the same as arrays" fed "$tmp/b.mona" "$tmp/swapped"
succeeds "gives the same bytes" cmp "$tmp/b.mona" "$tmp/c.mona"
# ---- samples in, of which the network makes the numbers that it takes
# The largest difference of two arrays of floats, $1 and $2, as a part of the largest number.
differ() {
    python3 - "$1" "$2" << 'END'
import sys
import numpy as np
a, b = (np.load(path).astype(float).ravel() for path in sys.argv[1:])
print("%.4f" % (abs(a - b).max() / abs(b).max()) if a.size == b.size else "sizes")
END
}
if python3 -c 'import numpy' 2> /dev/null; then
    array "$tmp/pictures/p2.png" rgb24 x '|u1' > "$tmp/samples.npy"
    array "$tmp/pictures/p2.png" rgb24 x '<f4' > "$tmp/samples_as_floats.npy"
    array "$tmp/pictures/p2.png" rgb24 '(x - (120, 110.5, 100)[c]) / 60' '<f4' > "$tmp/normal.npy"
    "$mona" run "$net" -i "$tmp/normal.npy" -o "$tmp/wanted.npy" --reference
    # $1: type of the input, $2: its array, $3: largest difference, rest: options
    takes() {
        what="$1${4:+ in INT8}"
        succeeds "$what: means and deviations of samples" "$mona" compile "$net" -o "$tmp/a.mona" --input-type $1 $normal ${4:-}
        cp "$tmp/log" "$tmp/said"
        succeeds "$what: it runs" "$mona" run "$tmp/a.mona" -i "$2" -o "$tmp/found.npy"
        at_least "$what: thousandths below $3 that results differ" \
            "$(differ "$tmp/found.npy" "$tmp/wanted.npy" | awk -v m=$3 '{ print int(m - 1000 * $1) }')" 0
    }
    takes u8 "$tmp/samples.npy" 5
    takes u16 "$tmp/samples_as_floats.npy" 5
    takes u8 "$tmp/samples.npy" 60 "--calibrate $tmp/pictures"
    same "all layers are INT8" "$(head -n 1 "$tmp/said" | grep -c ': int8, ')" 1
    takes s8 "$tmp/normal.npy" 60 "--calibrate $tmp/pictures"
    same "all layers are INT8" "$(head -n 1 "$tmp/said" | grep -c ': int8, ')" 1
    succeeds "s8 has the scale that follows from them" grep -q "in  image: 3 x s8, scale 0.020" "$tmp/said"
    # $1: type of the input and of the array it is calibrated on, $2: a sample, $3: its type in numpy, $4: what it stands for
    calibrates() {
        array "$tmp/pictures/p2.png" rgb24 "$2" "$3" > "$tmp/stored.npy"
        array "$tmp/pictures/p2.png" rgb24 "$4" '<f4' > "$tmp/real.npy"
        "$mona" run "$net" -i "$tmp/real.npy" -o "$tmp/wanted.npy" --reference
        succeeds "$1: calibrated on what the planes hold" "$mona" compile "$net" -o "$tmp/a.mona" --input-type "$1" --calibrate "$tmp/stored.npy"
        succeeds "$1: it runs" "$mona" run "$tmp/a.mona" -i "$tmp/stored.npy" -o "$tmp/found.npy"
        at_least "$1: thousandths below 60 that results differ" \
            "$(differ "$tmp/found.npy" "$tmp/wanted.npy" | awk '{ print int(60 - 1000 * $1) }')" 0
    }
    calibrates u16 'x * 4' '<u2' 'x * 4 / 1023'
    calibrates s8 'x - 128' '|i1' '(x - 128) / 127'
else
    skip "no python3-numpy"
fi
fails "two means" "one number or three" "$mona" compile "$net" -o "$x" --calibrate "$tmp/pictures" --mean 1,2
fails "a deviation of 0" "--deviation" "$mona" compile "$net" -o "$x" --calibrate "$tmp/pictures" --deviation 0
fails "a mean of nothing" "expected --input-type u8, or --calibrate" "$mona" compile "$net" -o "$x" --mean 127
fails "three means of one channel" "'luma' has 1" "$mona" compile $sr -o "$x" --calibrate "$tmp/pictures" --mean 1,2,3
fails "an array of another shape" "takes 1 channels of any size, or Nx that for N inputs; found the shape 3x3x64x64" \
    "$mona" compile $sr -o "$x" --calibrate "$tmp/arrays"
fails "an array for several inputs" "takes 4 inputs" "$mona" compile models/denoise_fast.onnx -o "$x" --calibrate "$tmp/arrays"
array "$tmp/pictures/p1.png" rgb24 'float("nan")' '<f4' > "$tmp/nan.npy"
fails "an array of no numbers" "expected numbers that float32 can hold, found nan" "$mona" compile "$net" -o "$x" --calibrate "$tmp/nan.npy"
head -c 5000 "$tmp/arrays/all.npy" > "$tmp/cut.npy"
fails "an array cut off" "needs 36992 bytes, found 5000" "$mona" compile "$net" -o "$x" --calibrate "$tmp/cut.npy"
head -c 20 "$tmp/arrays/all.npy" > "$tmp/cut.npy"
fails "an array cut off in its header" "cut off" "$mona" compile "$net" -o "$x" --calibrate "$tmp/cut.npy"
same "nothing is left of failed compilations" "$(ls "$tmp" | grep -c '^x')" 0

# ---- decisions
scores=tests/conformance/array_scores/model.onnx
# $1: network, rest: options
decided() {
    net_of_scores=$1
    shift
    "$mona" compile "$net_of_scores" -o "$tmp/d.mona" --precision auto "$@" > "$tmp/said"
}
succeeds "auto of an array of scores" decided $scores --size 64x64 --max-drop 50% --calibrate "$tmp/pictures/p1.png"
at_least "counts the decisions on its last axis that change, %" \
    "$(sed -n 's/^  int8  loses \([0-9.]*\) %.*/\1/p' "$tmp/said")" 0.01
fails "per cent where nothing is decided" "makes no decisions" decided $sr --max-drop 1% --calibrate "$tmp/pictures/p1.png"
python3 -c '
import struct
head = b"{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: (12, 4, 5, 5), }"
head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
numbers = [(i * i * 7919 % 1009) / 504.5 - 1 for i in range(1200)]
open("'"$tmp"'/twelve.npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack("<1200f", *numbers))'
succeeds "auto of a classifier without a budget" decided tests/conformance/residual/model.onnx \
    --calibrate "$tmp/twelve.npy" --tolerance 0
same "judges it by decisions, on all samples" "$(sed -n 's/.* plans on \(12 samples, at most 1 %\),.*/\1/p' "$tmp/said")" "12 samples, at most 1 %"
# Softmax of ten numbers, x, to y; as a map it is 10x1x1.
echo CAg6PgoPCgF4EgF5IgdTb2Z0bWF4EgFnWhMKAXgSDgoMCAESCAoCCAEKAggKYhMKAXkSDgoMCAESCAoCCAEKAggKQgQKABAN | base64 -d > "$tmp/ten.onnx"
python3 -c '
import struct
head = b"{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: (3, 10), }"
head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
open("'"$tmp"'/ten.npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack("<30f", *range(30)))'
succeeds "auto of a list of numbers" decided "$tmp/ten.onnx" --calibrate "$tmp/ten.npy"
same "on all lists of an array" "$(sed -n 's/^  calibrated on //p' "$tmp/said")" "3 of 3 images"
same "without a layer to choose for" "$(grep -c 'nothing to choose' "$tmp/said") $(grep -c nan "$tmp/said")" "1 0"

# ---- what the nets lose
if [ -d $t91 ] && [ -z "$SANITIZE" ]; then
    espcn=$shared/data/onnx/super_resolution_10
    # $1: model
    official() {
        python3 tests/precision/official.py "$mona" "$1" $espcn/test_data_set_0
    }
    succeeds "ESPCN as FP16" "$mona" compile $espcn/model.onnx -o "$tmp/half.mona" --input-type f16 --output-type f16
    at_least "ESPCN: FP16 against the official output, dB" "$(official "$tmp/half.mona")" 60
    succeeds "ESPCN as auto" compiled "$tmp/auto.mona" $espcn/model.onnx --precision auto --output-type f16
    at_least "ESPCN: auto against the official output, dB" "$(official "$tmp/auto.mona")" 40
    # $1: model, $2: set
    psnr() {
        "$mona" eval "$1" --protocol sr --set "$2" --json |
            python3 -c 'import json, sys; print(json.load(sys.stdin)["means"][0]["psnr"])'
    }
    for plan in fp16 int8 auto; do
        succeeds "super-resolution as $plan" compiled "$tmp/$plan.mona" $sr --precision $plan
    done
    for set in set5 set14; do
        half=$(psnr "$tmp/fp16.mona" $shared/data/test/$set/x2)
        auto=$(psnr "$tmp/auto.mona" $shared/data/test/$set/x2)
        int8=$(psnr "$tmp/int8.mona" $shared/data/test/$set/x2)
        echo "# $set: fp16 $half dB, int8 $int8 dB, auto $auto dB"
        at_least "$set: auto loses at most 0.05 dB" "$auto" "$(awk "BEGIN { print $half - 0.05 }")"
    done
fi
