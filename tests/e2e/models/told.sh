#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What mona compile and mona run report about what they assumed or clipped, or could not do as requested.
. tests/tap.inc
nets=$BUILD/classifiers

# A .npy file. $1: type, $2: its letter in Python's struct, $3: file, $4: shape, $5: an expression of i, the index of the
# element.
array() {
    python3 - "$@" << 'END'
import math, struct, sys
descr, letter, path, shape, rule = sys.argv[1:]
shape = tuple(int(n) for n in shape.split(","))
header = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
header += b" " * ((-11 - len(header)) % 64) + b"\n"
data = [eval(rule, {"i": i}) for i in range(math.prod(shape))]
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(data)}{letter}", *data))
END
}
floats() { array '<f4' f "$@"; }
bools() { array '|b1' '?' "$@"; }

# ---- floats, which are what a network takes and gives unless pictures are asked for
"$nets" wide 16 "$tmp/wide.onnx"
"$mona" compile "$tmp/wide.onnx" -o "$tmp/floats.mona" > "$tmp/said"
same "planes are floats" "$(grep -c ' x: 1 x f16' "$tmp/said") $(grep -c ' y: 1 x f16' "$tmp/said")" "1 1"
"$mona" compile "$tmp/wide.onnx" -o "$tmp/wide.mona" --input-type u8 > "$tmp/said"
same "or samples, alone in the input" "$(grep -c 'in  x: 1 x u8.* for values 0 to 1$' "$tmp/said") $(grep -c ' y: 1 x f16' "$tmp/said")" "1 1"
"$mona" compile "$tmp/wide.onnx" -o "$tmp/x.mona" --picture > "$tmp/said"
same "or in pictures" "$(grep -c 'in  x: 1 x u8' "$tmp/said") $(grep -c 'out y: 1 x u8' "$tmp/said")" "1 1"
"$mona" compile "$tmp/wide.onnx" -o "$tmp/x.mona" --input-type u16 --bits 12 > "$tmp/said"
succeeds "whose samples may have more bits" grep -q 'in  x: 1 x u16.* for values 0 to 1$' "$tmp/said"
fails "bits of samples that have 8" "--bits works only with" "$mona" compile "$tmp/wide.onnx" -o "$tmp/y.mona" --input-type u8 --bits 12
fails "a range of normalised samples" "--mean and --deviation say" \
    "$mona" compile "$tmp/wide.onnx" -o "$tmp/y.mona" --input-type u8 --mean 127 --input-range 255
fails "an order of colours that are not looked at" "works only with --calibrate" \
    "$mona" compile "$tmp/wide.onnx" -o "$tmp/y.mona" --channel-order bgr
fails "floats have no range" "expected --picture" "$mona" compile "$tmp/wide.onnx" -o "$tmp/y.mona" --input-range 255
floats "$tmp/normal.npy" 1,16,16 "-1 if i % 4 == 0 else 0.5"
floats "$tmp/inside.npy" 1,16,16 "(i % 256) / 255"
"$mona" run "$tmp/wide.mona" -i "$tmp/normal.npy" -o "$tmp/y.npy" 2> "$tmp/err"
same "run says how many values were clipped" "$(cat "$tmp/err")" "warning: $tmp/normal.npy: 25 % of the values lie outside \
0 to 1, the range of input 'x', and were clipped; compile the model with --input-type f16, the default, or for the range that it takes"
"$mona" run "$tmp/wide.mona" -i "$tmp/inside.npy" -o "$tmp/y.npy" 2> "$tmp/err"
same "and nothing where all of them fit" "$? $(cat "$tmp/err")" "0 "
"$mona" run "$tmp/wide.onnx" -i "$tmp/normal.npy" -o "$tmp/y.npy" --raw 2> "$tmp/err"
same "or where the input takes floats" "$? $(cat "$tmp/err")" "0 "
"$mona" run "$tmp/floats.mona" -i "$tmp/normal.npy" -o "$tmp/z.npy" --raw
succeeds "compiled, floats give the bytes that ONNX gives" cmp "$tmp/y.npy" "$tmp/z.npy"
floats "$tmp/numbers.npy" 1,16,16 "i % 3 == 1"
bools "$tmp/bools.npy" 1,16,16 "i % 3 == 1"
"$mona" run "$tmp/wide.mona" -i "$tmp/numbers.npy" -o "$tmp/y.npy"
"$mona" run "$tmp/wide.mona" -i "$tmp/bools.npy" -o "$tmp/z.npy"
succeeds "samples and floats may come as bools, which are 0 and 1" cmp "$tmp/y.npy" "$tmp/z.npy"

floats "$tmp/large.npy" 1,16,16 "65000 if i % 2 else (7e4 if i % 4 else 1)"
"$mona" run "$tmp/floats.mona" -i "$tmp/large.npy" -o "$tmp/y.npy" 2> "$tmp/err"
same "numbers that fp16 does not hold are told, of the input and of the output" "$(cat "$tmp/err")" \
    "warning: $tmp/large.npy: 25 % of the values lie outside -65504 to 65504, the range of input 'x', and were clipped, as fp16 holds no others
warning: $tmp/y.npy: 75 % of the values of output 'y' are as large as fp16 holds, 65504: in the network they may be larger"
array '<i8' q "$tmp/long.npy" 3 "2 ** 40 + i"
array '<i8' q "$tmp/one.npy" 3 1
"$mona" run tests/conformance/integers/model.onnx -i "$tmp/long.npy" -i "$tmp/one.npy" -o "$tmp/y.npy" 2> "$tmp/err"
"$mona" run tests/conformance/integers/model.onnx -i "$tmp/long.npy" -i "$tmp/one.npy" -o "$tmp/z.npy" --raw 2>> "$tmp/err"
"$mona" run tests/conformance/integers/model.onnx -i "$tmp/long.npy" -i "$tmp/one.npy" -o "$tmp/y.npy" --reference 2>> "$tmp/err"
same "integers that float32 does not hold are told, unless they are kept" "$(cat "$tmp/err")" \
    "warning: $tmp/y.npy: 50 % of the values of output 'y' lie beyond 16777216, where float32 does not hold every integer; --raw keeps them as they are
warning: $tmp/long.npy: 100 % of the values lie beyond 16777216, where float32, in which --reference computes, does not hold every integer
warning: $tmp/y.npy: 50 % of the values of output 'y' lie beyond 16777216, where float32, in which --reference computes, does not hold every integer"
array '<f8' d "$tmp/far.npy" 1,16,16 "-1e300 if i % 4 == 1 else float('inf')"
"$mona" run "$tmp/wide.onnx" -i "$tmp/far.npy" -o "$tmp/y.npy" --reference 2> "$tmp/err"
same "numbers that float32 does not hold are told" "$(cat "$tmp/err")" \
    "warning: $tmp/far.npy: 25 % of the values lie beyond 3.4e38, for which float32, in which --reference computes, has infinity"
array '<f8' d "$tmp/parts.npy" 3 "(2.6, -1.5, 1e30)[i]"
for way in --precision=fp16 --reference; do
    "$mona" run tests/conformance/integers/model.onnx -i "$tmp/parts.npy" -i "$tmp/one.npy" -o "$tmp/integers$way.npy" $way 2> "$tmp/err"
    same "an input of integers tells which floats it clips, $way" "$(head -n 1 "$tmp/err")" \
        "warning: $tmp/parts.npy: 33.3 % of the values lie outside -9.22337e+18 to 9.22337e+18, the range of input 'a', and were clipped"
done
succeeds "and the reference rounds the others as the engine does" cmp "$tmp/integers--precision=fp16.npy" "$tmp/integers--reference.npy"
array '|u1' B "$tmp/mask.npy" 2,3 "255 * (i % 3 == 1)"
bools "$tmp/truth.npy" 2,3 "i % 3 == 1"
for way in --raw --reference; do
    for name in mask truth; do
        "$mona" run tests/conformance/truths/model.onnx -i "$tmp/$name.npy" -o "$tmp/y.npy" -o "$tmp/e.npy" -o "$tmp/i.npy" $way
        cat "$tmp/y.npy" "$tmp/e.npy" "$tmp/i.npy" > "$tmp/$name"
    done
    succeeds "255 in a mask is as true as 1, $way" cmp "$tmp/mask" "$tmp/truth"
done
fails "bytes as they are stored, of the reference" "--raw does not work with --reference" "$mona" run "$tmp/wide.onnx" -i "$tmp/normal.npy" -o "$tmp/y.npy" --reference --raw

# ---- arrays in the shapes of the model
"$nets" line 20 "$tmp/line.onnx"
floats "$tmp/line.npy" 1,3,20 "(i % 7) / 7"
floats "$tmp/lines.npy" 2,3,20 "(i % 7) / 7"
succeeds "a network of a line is calibrated on one" "$mona" compile "$tmp/line.onnx" -o "$tmp/line.mona" \
    --calibrate "$tmp/line.npy"
succeeds "and on two" "$mona" compile "$tmp/line.onnx" -o "$tmp/x.mona" --calibrate "$tmp/lines.npy"
succeeds "run takes it" "$mona" run "$tmp/line.mona" -i "$tmp/line.npy" -o "$tmp/y.npy"
succeeds "and as ONNX" "$mona" run "$tmp/line.onnx" -i "$tmp/line.npy" -o "$tmp/y.npy"
succeeds "and so does the reference" "$mona" run "$tmp/line.onnx" -i "$tmp/line.npy" -o "$tmp/y.npy" --reference
floats "$tmp/across.npy" 1,20,3 "0"
fails "but not one that lies across" "takes frames of 20x1, found 3x20" "$mona" run "$tmp/line.mona" -i "$tmp/across.npy" -o "$tmp/y.npy"
open=tests/conformance/array_scores/model.onnx # which needs to know its size
floats "$tmp/open.npy" 3,12,20 "(i % 7) / 7"
succeeds "an array gives the size that ONNX leaves open" "$mona" run $open -i "$tmp/open.npy" -o "$tmp/y.npy"
succeeds "and to the reference" "$mona" run $open -i "$tmp/open.npy" -o "$tmp/y.npy" --reference
shaped() { # $1: the shape of two frames of 4x3x5; $2...: options
    shape=$1
    shift
    floats "$tmp/shaped.npy" "$shape" "i % 7"
    "$mona" run tests/conformance/array_normalise/model.onnx -i "$tmp/shaped.npy" -o "$tmp/a.npy" -o "$tmp/b.npy" \
        -o "$tmp/c.npy" -o "$tmp/d.npy" -o "$tmp/e.npy" "$@" 2>&1 | sed 's/.*input/input/'
}
for shape in 2,4,3,5 8,3,5 1,8,3,5 120; do
    same "a batch in the shape $shape" "said: $(shaped $shape)" "said: "
done
last="input 'x' has the shape 2x4x3x5, found an array of 2x3x5x4"
same "and to the reference, which says nothing of arrays" "said: $(shaped 2,4,3,5 --reference)" "said: "
same "but not with its channels last" "$(shaped 2,3,5,4)" "$last"
same "nor for the reference" "$(shaped 2,3,5,4 --reference)" "$last"
# $1: the shape of 2x3x4
compiled() {
    floats "$tmp/shaped.npy" "$1" "i % 7"
    set -- "$tmp/arrays.mona" -i "$tmp/shaped.npy"
    for out in a b c d e f; do set -- "$@" -o "$tmp/$out.npy"; done
    "$mona" run "$@" 2>&1 | sed 's/.*input/input/'
}
"$mona" compile tests/conformance/array_reduce/model.onnx -o "$tmp/arrays.mona" > "$tmp/log"
for shape in 2,3,4 6,4 1,2,12 24; do
    same "compiled before, an array takes the shape $shape" "said: $(compiled $shape)" "said: "
done
last="input 'x' has the shape 2x3x4, found an array of"
same "but not with two sides swapped" "$(compiled 3,2,4)" "$last 3x2x4"
same "nor with all turned" "$(compiled 4,3,2)" "$last 4x3x2"
fails "samples are of images" "--mean and --deviation are for images, and input 'x' runs on arrays" \
    "$mona" compile tests/conformance/array_moves/model.onnx -o "$tmp/x.mona" --input-type u8 --mean 1

# ---- arrays for several inputs
floats "$tmp/full.npy" 3,1,16,16 "(i * 7919 % 256) / 255"
floats "$tmp/half.npy" 3,1,8,8 "(i * 7907 % 256) / 255"
floats "$tmp/once.npy" 1,1,8,8 "0.1"
floats "$tmp/pair.npy" 3,2,8,8 "0.1"
named() {
    "$mona" compile models/denoise_fast.onnx -o "$tmp/n.mona" --calibrate "y=$tmp/full.npy" --calibrate "u=$tmp/half.npy" "$@"
}
succeeds "each of four inputs has an array" named --calibrate "v=$tmp/half.npy" --calibrate "noise=$tmp/half.npy"
same "of which there are three" "$(sed -n 's/^  calibrated on //p' "$tmp/log")" "3 of 3 images"
rm "$tmp/n.mona"
fails "one is missing" "expected noise=FILE.npy as well" named --calibrate "v=$tmp/half.npy"
fails "one is there twice" "expected one file for input 'u'" named --calibrate "u=$tmp/half.npy"
fails "one has another number" "expected input 'noise' 3 times, as often as 'y'; found 1" \
    named --calibrate "v=$tmp/half.npy" --calibrate "noise=$tmp/once.npy"
fails "one has no name" "NAME=FILE.npy for every input and nothing else" named --calibrate "$tmp/half.npy"
fails "none has" "takes 4 inputs: expected --calibrate NAME=FILE.npy for each of y, u, v, noise" \
    "$mona" compile models/denoise_fast.onnx -o "$tmp/n.mona" --calibrate "$tmp/half.npy"
fails "one has another shape" "input 'v' takes 1 channels" \
    named --calibrate "v=$tmp/pair.npy" --calibrate "noise=$tmp/half.npy"

# ---- a size that the model does not take
floats "$tmp/small.npy" 1,12,20 "0"
fails "run names the size that a model takes" "input 'x' takes frames of 16x16, found 20x12" \
    "$mona" run "$tmp/wide.mona" -i "$tmp/small.npy" -o "$tmp/y.npy"
"$mona" compile "$tmp/wide.onnx" -o "$tmp/wide.c" --emit c --target c > "$tmp/said"
same "as C, it is not said to take any size" "$? $(grep -c 'any size' "$tmp/said")" "0 0"

# ---- a device that needs a program
"$nets" mobilenet_v2 32 "$tmp/net.onnx"
floats "$tmp/x.npy" 1,3,32,32 "(i % 7) / 7"
"$mona" compile "$tmp/net.onnx" -o "$tmp/net.mona" > "$tmp/log"
fails "a device tells at which size it needs a program, and what makes it" \
    "at 32x32: not supported on this device without a program, which mona compile --target ascend310 makes" \
    "$mona" run "$tmp/net.mona" -i "$tmp/x.npy" -o "$tmp/y.npy" --device model310
"$mona" compile "$tmp/net.mona" -o "$tmp/with.mona" --target ascend310 > "$tmp/log"
succeeds "which it does" "$mona" run "$tmp/with.mona" -i "$tmp/x.npy" -o "$tmp/y.npy" --device model310
"$mona" bench "$tmp/with.mona" --device model310 --json > "$tmp/with.json"
"$mona" bench "$tmp/net.mona" --device model310 --json > "$tmp/net.json"
same "mona bench makes it itself" "$(sed 's/net.mona/with.mona/' "$tmp/net.json" | md5sum)" "$(md5sum < "$tmp/with.json")"

# ---- outputs that are clipped to the range of planes
"$mona" compile "$tmp/wide.onnx" -o "$tmp/x.mona" --picture --calibrate "$tmp/inside.npy" > "$tmp/said"
succeeds "compile says that its values are clipped" grep -q \
    "values outside 0 to 1 are clipped; calibration saw 0 to 1.1; --output-type f16 keeps them" "$tmp/said"
floats "$tmp/low.npy" 1,16,16 "(i % 256) / 300"
"$mona" compile "$tmp/wide.onnx" -o "$tmp/x.mona" --picture --calibrate "$tmp/low.npy" > "$tmp/said"
same "but not where none was" "$(grep -c 'out y: 1 x u8' "$tmp/said") $(grep -c clipped "$tmp/said")" "1 0"

# Inputs are, too, which nobody sees in what comes out.
floats "$tmp/partly.npy" 1,16,16 "(i % 256 - 64) / 256"
"$mona" compile "$tmp/wide.onnx" -o "$tmp/x.mona" --input-type u8 --calibrate "$tmp/partly.npy" > "$tmp/said"
succeeds "compile says that values of an input are clipped" grep -q \
    "values outside 0 to 1 are clipped; calibration saw -0.25 to 0.746094; --input-type f16 keeps them" "$tmp/said"
fails "and so does auto, that refuses it" "; input 'x' clips some of the values that calibration saw, and --input-type f16 keeps them" \
    "$mona" compile "$tmp/wide.onnx" -o "$tmp/y.mona" --input-type u8 --calibrate "$tmp/partly.npy" --precision auto
"$mona" compile "$tmp/wide.onnx" -o "$tmp/x.mona" --input-type u8 --calibrate "$tmp/inside.npy" > "$tmp/said"
same "but not where all fit" "$(grep -c 'in  x: 1 x u8' "$tmp/said") $(grep -c clipped "$tmp/said")" "1 0"
"$mona" compile "$tmp/wide.onnx" -o "$tmp/x.mona" --input-type u8 > "$tmp/said"
same "nor without calibration" "$(grep -c 'in  x: 1 x u8' "$tmp/said") $(grep -c clipped "$tmp/said")" "1 0"

# What comes out is compared with what the network gives, not with what its planes can hold of that.
floats "$tmp/below.npy" 4,1,16,16 "-(i % 256 + 1) / 256"
"$mona" compile "$tmp/wide.onnx" -o "$tmp/x.mona" --output-type u8 --calibrate "$tmp/below.npy" > "$tmp/said"
at_least "an output of zeros is no better than its worst dB" 6 "$(sed -n 's/^  y: \([-0-9.]*\) dB.*/\1/p' "$tmp/said")"
fails "auto refuses it, and says what keeps it" "most of it is what output 'y' clips, and --output-type f16 keeps" \
    "$mona" compile "$tmp/wide.onnx" -o "$tmp/y.mona" --output-type u8 --calibrate "$tmp/below.npy" --precision auto
"$mona" compile "$tmp/wide.onnx" -o "$tmp/x.mona" --calibrate "$tmp/below.npy" --precision auto > "$tmp/said"
at_least "which it does, dB" "$(sed -n 's/^  y: \([-0-9.]*\) dB.*/\1/p' "$tmp/said")" 60

"$mona" compile models/bicubic_x2.onnx -o "$tmp/x.mona" --picture > "$tmp/said"
succeeds "without calibration it says which values are" grep -q \
    "values outside 0 to 1 are clipped; --output-type f16 keeps them" "$tmp/said"

# ---- layers that stay FP16
"$nets" exp 16 "$tmp/squeeze.onnx"
floats "$tmp/two.npy" 2,16,16 "(i % 256) / 255"
succeeds "compile squeeze-and-excitation to INT8" "$mona" compile "$tmp/squeeze.onnx" -o "$tmp/x.mona" --precision int8 \
    --input-type u8 --calibrate "$tmp/two.npy" --report "$tmp/report.json"
cp "$tmp/log" "$tmp/said"
succeeds "the headline does not say INT8 alone" grep -q "x.mona: int8 and fp16," "$tmp/said"
made=$(python3 - "$tmp/report.json" << 'END'
import json, sys
report = json.load(open(sys.argv[1]))
print(report["precision"], ",".join(sorted(l["layer"] for l in report["layers"] if l["precision"] == "fp16")))
END
)
same "nor does the report" "${made%% *}" mixed
named=$(sed -n 's/^  [0-9]* of [0-9]* layers are fp16: //p' "$tmp/said" | tr -d ' ' | tr , '\n' | sort | paste -sd, -)
same "both name the same layers" "$named" "${made#* }"
at_least "of which there is one" "${#named}" 1
same "and why: arrays" "$(grep -c "reads what is an array or a kernel's, too" "$tmp/said") $(grep -c 'floats' "$tmp/said")" "1 0"
"$mona" compile tests/conformance/array_mixed/model.onnx -o "$tmp/x.mona" --report "$tmp/report.json" > "$tmp/said"
same "the report says of each operator on arrays why it is none on maps" \
    "$(python3 -c 'import json, sys
print(*(a["operator"] + " " + a["why"] for a in json.load(open(sys.argv[1]))["arrays"]), sep=", ")' "$tmp/report.json")" \
    "r reshapes a tensor whose channels come last, y has no form on maps"
"$mona" compile "$tmp/wide.onnx" -o "$tmp/x.mona" --calibrate "$tmp/inside.npy" > "$tmp/said"
same "or floats in, and what avoids them" \
    "$(grep -c '^      y reads an input of floats; --input-type u8 makes' "$tmp/said") $(grep -c 'array' "$tmp/said")" "1 0"
"$mona" compile "$tmp/wide.onnx" -o "$tmp/x.mona" --calibrate "$tmp/inside.npy" --input-type u8 > "$tmp/said"
same "which it does" "$(head -n 1 "$tmp/said" | grep -c ': int8, ') $(grep -c 'reads' "$tmp/said")" "1 0"
floats "$tmp/batch.npy" 2,4,3,5 "i % 7"
"$mona" compile tests/conformance/array_normalise/model.onnx -o "$tmp/x.mona" --calibrate "$tmp/batch.npy" > "$tmp/said"
succeeds "a network of arrays alone is not said to be INT8" grep -q "no layer is int8: arrays are computed in fp32" "$tmp/said"
"$nets" squeeze 0 "$tmp/open.onnx"
succeeds "with open sizes it is compiled" "$mona" compile "$tmp/open.onnx" -o "$tmp/sized.mona"
succeeds "for two sizes, calibrated on arrays of the first" "$mona" compile "$tmp/open.onnx" -o "$tmp/x.mona" \
    --size 16x16 --size 20x12 --calibrate "$tmp/two.npy"
"$nets" shift 0 "$tmp/shift.onnx"
succeeds "and so is a sum of that kind" "$mona" compile "$tmp/shift.onnx" -o "$tmp/x.mona"
floats "$tmp/sized.npy" 2,12,20 "(i % 256) / 255"
succeeds "and runs" "$mona" run "$tmp/sized.mona" -i "$tmp/sized.npy" -o "$tmp/y.npy"

floats "$tmp/six.npy" 2,3,4 "i % 7"
for way in --reference --raw --precision=fp16; do
    "$mona" run tests/conformance/array_reduce/model.onnx -i "$tmp/six.npy" -o "$tmp/a.npy" -o "$tmp/b.npy" -o "$tmp/c.npy" \
        -o "$tmp/d.npy" -o "$tmp/e.npy" -o "$tmp/f.npy" "$way"
    same "outputs have the shapes that ONNX gives them, $way" "$? $(for k in a b c d e f; do head -c 128 "$tmp/$k.npy" | grep -ao "([^)]*)"; done | tr '\n' ' ')" \
        "0 (2, 3) (1, 1, 1) (1, 3, 4) (3,) (2, 4) (2, 3, 1) "
done

# ---- a batch of images
"$nets" batch 16 "$tmp/batch.onnx"
"$nets" squeeze 16 "$tmp/single.onnx"
floats "$tmp/x4.npy" 4,2,16,16 "(i * 37 % 101) / 101"
for image in 0 1 2 3; do
    floats "$tmp/x1.npy" 1,2,16,16 "((i + $((512 * image))) * 37 % 101) / 101"
    "$mona" run "$tmp/single.onnx" -i "$tmp/x1.npy" -o "$tmp/y1.npy"
    tail -c +129 "$tmp/y1.npy"
done > "$tmp/each"
"$mona" compile "$tmp/batch.onnx" -o "$tmp/batch.mona" --calibrate "$tmp/x4.npy" --precision fp16 > "$tmp/said" 2>&1
same "compile says that a batch is compiled for one image, and nothing of arrays" \
    "$(grep -c '^  a batch of 4: compiled for one image' "$tmp/said") $(grep -c 'array\|declares' "$tmp/said")" "1 0"
succeeds "each image is a sample" grep -q 'calibrated on 4 of 4 images' "$tmp/said"
for model in mona onnx; do
    "$mona" run "$tmp/batch.$model" -i "$tmp/x4.npy" -o "$tmp/y4.npy" 2> "$tmp/err"
    tail -c +129 "$tmp/y4.npy" > "$tmp/all"
    succeeds "of the batch, .$model gives what each image gives" cmp "$tmp/all" "$tmp/each"
    same "as a batch, without a word" "$(head -c 128 "$tmp/y4.npy" | grep -ac '(4, 3, 16, 16)') $(wc -c < "$tmp/err")" "1 0"
done
"$mona" run "$tmp/batch.onnx" -i "$tmp/x4.npy" -o "$tmp/r4.npy" --reference 2> "$tmp/err"
same "which is what the whole batch gives in fp32" "$(python3 - "$tmp/each" "$tmp/r4.npy" << 'END'
import struct, sys
found, expected = ([x for x, in struct.iter_unpack("<f", open(path, "rb").read()[-12288:])] for path in sys.argv[1:])
print(len(found), max(map(abs, expected)) > 0.01, max(abs(a - b) for a, b in zip(found, expected)) < 3e-3 * max(map(abs, expected)))
END
)" "3072 True True"
for net in single batch; do
    "$mona" compile "$tmp/$net.onnx" -o "$tmp/u8.mona" --picture --mean 100 --deviation 50 > "$tmp/said" 2>&1
    "$mona" run "$tmp/u8.mona" -i "$tmp/x1.npy" -o "$tmp/$net.npy" 2>> "$tmp/said"
done
succeeds "its samples are normalised as those of one image" cmp "$tmp/single.npy" "$tmp/batch.npy"
floats "$tmp/x3.npy" 3,2,16,12 "i % 7"
fails "images of another size are refused" "batch" "$mona" run "$tmp/batch.mona" -i "$tmp/x3.npy" -o "$tmp/y.npy"

# ---- outputs that are not as large as the model declares
cp tests/conformance/conv/model.onnx "$tmp/conv.onnx"
"$mona" compile "$tmp/conv.onnx" -o "$tmp/x.mona" > "$tmp/said"
same "an output of the declared shape needs no word" "$(grep -c 'out y' "$tmp/said") $(grep -c declares "$tmp/said")" "1 0"
printf '\005' | dd of="$tmp/conv.onnx" bs=1 seek=$(($(wc -c < "$tmp/conv.onnx") - 7)) conv=notrunc 2> /dev/null
"$mona" compile "$tmp/conv.onnx" -o "$tmp/x.mona" > "$tmp/said"
succeeds "compile says which shape it has instead" grep -q \
    "the model declares it as float32 \[1, 4, 4, 5\], but computes float32 \[1, 4, 4, 3\]" "$tmp/said"
