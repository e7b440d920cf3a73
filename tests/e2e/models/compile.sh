#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona compile, inspect and run: shipped models, prototype networks, accuracy against fp32, and errors.
. tests/tap.inc
shared=../shared
sr=models/sr_x2_fast.onnx

# dB that `mona compile` measured for output $1
measured() {
    sed -n "s/^  $1: \([0-9.inf]*\) dB.*/\1/p" "$tmp/log"
}

# Bytes from stdin as an array of u8; octal for printf.
npy_u8() { # $1: file, $2: rows, $3: columns
    header="{'descr': '|u1', 'fortran_order': False, 'shape': ($2, $3), }"
    length=$((64 * ((${#header} + 1 + 10 + 63) / 64) - 10))
    {
        printf '\223NUMPY\001\000'
        printf "\\$(printf %o $((length % 256)))\\$(printf %o $((length / 256)))"
        printf "%-$((length - 1))s\n" "$header"
        cat
    } > "$1"
}

# ---- what is shipped
if full; then
    for model in sr_x2_fast sr_x2_balanced sr_x3_fast sr_x4_balanced denoise_fast bicubic_x2; do
        succeeds "inspect $model inside the binary" "$mona" inspect $model --size 64x48
        succeeds "inspect $model.onnx" "$mona" inspect models/$model.onnx
    done
fi
"$mona" inspect sr_x2_fast --size 1920x1080 > "$tmp/out"
arena=$(sed -n 's/^ *arena_bytes *//p' "$tmp/out")
if [ "$arena" -gt 0 ] && [ "$arena" -lt 8388608 ]; then
    ok "super-resolution at 1080p needs less than 8 MiB ($arena bytes)"
else
    not_ok "super-resolution at 1080p needs less than 8 MiB" "found $arena"
fi
sum=$(sed -n '/^buffers/,$p' "$tmp/out" | awk 'NR > 2 { n += $(NF - 1); end = $(NF - 2) + $(NF - 1) } END { print n, end }')
same "buffers cover the arena without a gap" "$sum" "$arena $arena"
succeeds "inspect --json is JSON" sh -c "'$mona' inspect sr_x2_fast --size 64x48 --json | python3 -m json.tool"
! full || succeeds "inspect --json of ONNX is JSON" sh -c "'$mona' inspect $sr --json | python3 -m json.tool"

# ---- several sizes in one file
scores=tests/conformance/array_scores/model.onnx
# A checksum of the result of the model in $1 for bytes of size $2.
result_at() {
    head -c $((3 * ${2%x*} * ${2#*x})) models/sr_x2_best.mona | npy_u8 "$tmp/sized.npy" "3, ${2#*x}" "${2%x*}"
    rm -f "$tmp/scores.npy"
    "$mona" run "$1" -i "$tmp/sized.npy" -o "$tmp/scores.npy" 2> "$tmp/err" && cksum < "$tmp/scores.npy"
}
succeeds "compile for two sizes" "$mona" compile $scores -o "$tmp/both.mona" --size 36x28 --size 64x40
same "inspect tells the sizes of the output, too" "$("$mona" inspect "$tmp/both.mona" --json |
    python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["inputs"][0]["size"], "->", d["outputs"][0]["size"])')" \
    "36x28, 64x40 -> 5x1008, 5x2560"
for size in 64x40 36x28; do
    succeeds "compile for $size" "$mona" compile $scores -o "$tmp/$size.mona" --size $size
    same "both sizes: $size gives the same" "$(result_at "$tmp/both.mona" $size)" "$(result_at "$tmp/$size.mona" $size)"
done
python3 -c '
import sys
data, one, any = open(sys.argv[1], "rb").read(), b"\n\x02\x08\x01\n\x02\x08\x03", b"\n\x02\x12\x00\n\x02\x08\x03"
open(sys.argv[2], "wb").write(data.replace(one, any))' $scores "$tmp/any.onnx"
succeeds "compile for a size of any number of images" "$mona" compile "$tmp/any.onnx" -o "$tmp/any.mona" --size 36x28
succeeds "gives the same bytes as for one" cmp "$tmp/any.mona" "$tmp/36x28.mona"
! full || succeeds "the second size on model310" "$mona" bench "$tmp/both.mona" --size 64x40 --device model310
both=$(wc -c < "$tmp/both.mona")
apart=$(cat "$tmp/36x28.mona" "$tmp/64x40.mona" | wc -c)
if [ "$both" -lt "$apart" ]; then ok "weights of two sizes are there once ($both of $apart bytes)"; else
    not_ok "weights of two sizes are there once" "$both bytes, apart $apart"
fi
succeeds "inspect lists the sizes" sh -c "'$mona' inspect '$tmp/both.mona' | grep -q '36x28, 64x40'"
fails "a size the file has not" "takes frames of 36x28 or 64x40, found 50x50" "$mona" bench "$tmp/both.mona" --size 50x50 --iterations 1
fails "no size at all" "--size" "$mona" compile $scores -o "$tmp/x.mona"
! full || fails "a size that is none" "--size" "$mona" compile $scores -o "$tmp/x.mona" --size 36

# ---- run
head -c 3072 models/sr_x2_best.mona | npy_u8 "$tmp/in.npy" 48 64
succeeds "run an embedded model" "$mona" run sr_x2_fast -i "$tmp/in.npy" -o "$tmp/a.npy" --raw
succeeds "run a file" "$mona" run models/sr_x2_fast.mona -i "$tmp/in.npy" -o "$tmp/b.npy" --raw \
    --threads 1 --cpu c --strip-rows 5 --tile-columns 16
succeeds "the same bytes on any path" cmp "$tmp/a.npy" "$tmp/b.npy"
same "four times the samples" "$(tail -c +129 "$tmp/a.npy" | wc -c)" 12288
! full || succeeds "run ONNX" "$mona" run $sr -i "$tmp/in.npy" -o "$tmp/c.npy"
succeeds "run ONNX in fp32" "$mona" run $sr -i "$tmp/in.npy" -o "$tmp/d.npy" --reference
fails "too few inputs" "takes 4 inputs" "$mona" run denoise_fast -i "$tmp/in.npy" -o "$tmp/x.npy"
! full || fails "input missing" "No such file" "$mona" run sr_x2_fast -i "$tmp/none.npy" -o "$tmp/x.npy"
! full || fails "input no array" "not a .npy file" "$mona" run sr_x2_fast -i Makefile -o "$tmp/x.npy"
fails "input cut off" ".npy" "$mona" run sr_x2_fast -i "$(head -c 500 "$tmp/in.npy" > "$tmp/cut.npy"; echo "$tmp/cut.npy")" \
    -o "$tmp/x.npy"
fails "no such model" "nothing: expected a .mona file or a built-in network" "$mona" run nothing -i "$tmp/in.npy" -o "$tmp/x.npy"
fails "no such instruction set" "instruction set" "$mona" run sr_x2_fast -i "$tmp/in.npy" -o "$tmp/x.npy" --cpu vax
! full || fails "no such device" "no device 'abacus'" "$mona" run sr_x2_fast -i "$tmp/in.npy" -o "$tmp/x.npy" --device abacus
fails "output folder missing" "$tmp/no/x.npy" "$mona" run sr_x2_fast -i "$tmp/in.npy" -o "$tmp/no/x.npy"
same "nothing is left of failed runs" "$(ls "$tmp" | grep -c '^x')" 0

# ---- compile
succeeds "compile to FP16" "$mona" compile $sr -o "$tmp/half.mona" --picture
succeeds "the FP16 model runs" "$mona" run "$tmp/half.mona" -i "$tmp/in.npy" -o "$tmp/e.npy"
succeeds "compile bicubic without calibration" "$mona" compile models/bicubic_x2.onnx --picture \
    -o "$tmp/bicubic.mona" --precision int8
succeeds "which gives the shipped bytes" cmp "$tmp/bicubic.mona" models/bicubic_x2.mona
printf 'all:off # one operator each\n' > "$tmp/plain.cfg"
printf 'all:off\nconvolve:on\n' > "$tmp/unknown.cfg"
for model in sr_x2_fast $(full && echo denoise_fast); do
    succeeds "compile $model without fusion" "$mona" compile models/$model.onnx --picture -o "$tmp/plain.mona" --fusion "$tmp/plain.cfg"
    succeeds "which the engine can bind" "$mona" inspect "$tmp/plain.mona" --size 64x48
    succeeds "compile $model with it" "$mona" compile models/$model.onnx --picture -o "$tmp/fused.mona"
    at_least "it saves operators" "$("$mona" inspect "$tmp/plain.mona" --json | grep -c '"op":')" \
        $(($("$mona" inspect "$tmp/fused.mona" --json | grep -c '"op":') + 1))
    rm "$tmp/fused.mona"
    [ $model != sr_x2_fast ] || mv "$tmp/plain.mona" "$tmp/unfused.mona"
done
for precision in half unfused; do
    succeeds "run it as $precision" "$mona" run "$tmp/$precision.mona" -i "$tmp/in.npy" -o "$tmp/$precision.npy" --raw
done
same "its picture is nearly the same" "$(python3 - "$tmp/half.npy" "$tmp/unfused.npy" << 'END'
import sys
a, b = (open(path, "rb").read()[128:] for path in sys.argv[1:])
print(len(a) == len(b) == 12288, max(abs(x - y) for x, y in zip(a, b)) <= 1)
END
)" "True True"
fails "a rule nobody knows" "unknown.cfg: line 2: no rule 'convolve'" "$mona" compile $sr -o "$tmp/x.mona" --fusion "$tmp/unknown.cfg"
! full || fails "no rules at all" "No such file" "$mona" compile $sr -o "$tmp/x.mona" --fusion "$tmp/none.cfg"
same "every rule is listed" "$("$mona" ops --fusion | wc -l)" "$(($("$mona" ops --fusion --json | grep -c '"rule"') + 1))"
fails "INT8 without calibration" "--calibrate" "$mona" compile $sr -o "$tmp/x.mona" --precision int8
! full || fails "ONNX missing" "No such file" "$mona" compile "$tmp/none.onnx" -o "$tmp/x.mona"
! full || fails "ONNX a folder" "found a folder" "$mona" compile models -o "$tmp/x.mona"
fails "ONNX a text file" "not an ONNX model" "$mona" compile Makefile -o "$tmp/x.mona"
head -c 20000 $sr > "$tmp/cut.onnx"
fails "ONNX cut off" "not an ONNX model" "$mona" compile "$tmp/cut.onnx" -o "$tmp/x.mona"
: > "$tmp/empty.onnx"
! full || fails "ONNX empty" "empty" "$mona" compile "$tmp/empty.onnx" -o "$tmp/x.mona"
fails "output folder missing" "$tmp/no/x.mona" "$mona" compile $sr -o "$tmp/no/x.mona"
fails "output a full device" "/dev/full" "$mona" compile $sr -o /dev/full
! full || fails "output a folder" "$tmp" "$mona" compile $sr -o "$tmp"
! full || fails "output missing" "-o OUT.mona" "$mona" compile $sr
! full || fails "unknown option" "--quality" "$mona" compile $sr -o "$tmp/x.mona" --quality 3
! full || fails "unknown precision" "int4" "$mona" compile $sr -o "$tmp/x.mona" --precision int4
! full || fails "calibration missing" "No such file" "$mona" compile $sr -o "$tmp/x.mona" --calibrate "$tmp/no"
fails "calibration no image" "PNG or JPEG" "$mona" compile $sr -o "$tmp/x.mona" --calibrate Makefile
mkdir "$tmp/bare"
fails "calibration folder empty" "expected PNG or JPEG images" "$mona" compile $sr -o "$tmp/x.mona" --calibrate "$tmp/bare"
same "nothing is left of failed compilations" "$(ls "$tmp" | grep -c '^x')" 0
cp models/sr_x2_fast.mona "$tmp/kept.mona"
(ulimit -f 4; fails "file size limit" "cannot be written" "$mona" compile $sr -o "$tmp/kept.mona") > "$tmp/limited"
cat "$tmp/limited"
tests=$((tests + 1))
succeeds "an old file survives a failed write" cmp "$tmp/kept.mona" models/sr_x2_fast.mona

# ---- damaged models
head -c 3000 models/sr_x2_fast.mona > "$tmp/cut.mona"
fails "model cut off" "truncated" "$mona" inspect "$tmp/cut.mona"
! full || fails "model a text file" "not a .mona model" "$mona" inspect Makefile
cp models/sr_x2_fast.mona "$tmp/bad.mona"
printf '\377' | dd of="$tmp/bad.mona" bs=1 seek=5000 conv=notrunc 2> /dev/null
fails "model with a changed byte" "checksum" "$mona" run "$tmp/bad.mona" -i "$tmp/in.npy" -o "$tmp/x.npy"
! full || fails "frame too small" "0x0" "$mona" inspect sr_x2_fast --size 0x0

# ---- real images and networks
# The short tier uses one image and one network, as plain loops are slow.
images=1
! full || images=6
if [ -d $shared/data/train/t91 ]; then
    # $1: model, $2: its outputs, $3: minimal dB for INT8, $4: for FP16
    accuracy() {
        name=$(basename "$1" .onnx)
        succeeds "compile $name to INT8" "$mona" compile "$1" -o "$tmp/m.mona" --picture --precision int8 \
            --calibrate $shared/data/train/t91 --images $images
        for output in $2; do
            at_least "$name: INT8 $output is close to fp32, dB" "$(measured "$output")" "$3"
        done
        full || return 0
        succeeds "compile $name to FP16" "$mona" compile "$1" -o "$tmp/m.mona" --picture --precision fp16 \
            --calibrate $shared/data/train/t91 --images $images
        for output in $2; do
            at_least "$name: FP16 $output is close to fp32, dB" "$(measured "$output")" "$4"
        done
    }
    accuracy $sr luma_x2 48 55
    fails "external data" "another file" "$mona" compile $shared/data/onnx/bad/ext_weights.onnx -o "$tmp/x.mona"
    fails "no domain" "operator set" "$mona" compile \
        $shared/data/onnx/bad/bad_graph_with_no_import_domains.onnx -o "$tmp/x.mona"
    for model in $(! full || echo $shared/data/onnx/bad/*.onnx); do
        case $model in *duplicate_node_names*) continue ;; esac # which harms nothing
        fails "$(basename "$model") is refused" ":" "$mona" compile "$model" -o "$tmp/x.mona"
    done
    full || exit 0
    accuracy models/denoise_fast.onnx "y_out u_out v_out" 40 55
    for model in $shared/prototypes/weights/*.onnx; do
        accuracy "$model" luma_x2 45 55
    done
    succeeds "compile ESPCN, Reshape - Transpose - Reshape" "$mona" compile \
        $shared/data/onnx/super_resolution_10/model.onnx -o "$tmp/espcn.mona" --precision int8 \
        --calibrate $shared/data/train/t91 --images $images --any-size
    at_least "ESPCN: INT8 is close to fp32, dB" "$(measured output)" 38
    succeeds "ESPCN runs at any size" "$mona" inspect "$tmp/espcn.mona" --size 320x180
    succeeds "compile the stem and first block of a ResNet" "$mona" compile \
        $shared/data/onnx/residual_block.onnx -o "$tmp/stem.mona" --precision int8 \
        --calibrate $shared/data/train/t91 --images 1
    at_least "ResNet stem: INT8 is close to fp32, dB" "$(measured gpu_0.res2_0_branch2c_bn_2)" 30
    for model in $shared/data/onnx/ultraface/*.onnx; do
        succeeds "compile $(basename "$model")" "$mona" compile "$model" -o "$tmp/x.mona"
    done
else
    skip "no $shared/data: accuracy on real images is not measured"
fi
