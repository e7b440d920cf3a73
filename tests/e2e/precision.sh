#!/bin/sh
# mona compile --precision auto, --pin and calibration: what is refused, what is repeatable, and what the nets lose.
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
fails "numbers that leave fp16 are found without calibration" "the compiled model is not what it is in fp32" \
    "$mona" compile $overflow -o "$x"
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
        "$mona" compile "$net" -o "$to" --calibrate $t91 --images $images "$@" > "$tmp/said"
    }
    fails "what fp16 does not hold is named" "make_larger" "$mona" compile $overflow -o "$x" --precision fp16 \
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
    "$mona" compile $sr -o "$tmp/c.mona" --calibrate $t91 --images 9 --tolerance 100 > "$tmp/said"
    same "calibration ends when nothing moves" "$(sed -n 's/^  calibrated on \(.*\):.*/\1/p' "$tmp/said")" "4 of 9 images"
else
    skip "no $t91: nothing is calibrated"
fi

# ---- what the nets lose
if [ -d $t91 ] && [ -z "$SANITIZE" ]; then
    espcn=$shared/data/onnx/super_resolution_10
    # $1: model
    official() {
        python3 tests/precision/official.py "$mona" "$1" $espcn/test_data_set_0
    }
    succeeds "ESPCN as FP16" "$mona" compile $espcn/model.onnx -o "$tmp/half.mona" --input-type f16 --output-type f16
    at_least "ESPCN: FP16 against the official output, dB" "$(official "$tmp/half.mona")" 60
    succeeds "ESPCN as auto" compiled "$tmp/auto.mona" $espcn/model.onnx --precision auto
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
echo "1..$tests"
