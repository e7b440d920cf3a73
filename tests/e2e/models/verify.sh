#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona verify on test cases: the project's own, and those of the ONNX suite if ../shared has them. Also damaged
# and hostile models.
. tests/tap.inc
shared=../shared/data
own=tests/conformance
cases=$(echo $own/*/)

# $1: name, $2: exit status, $3: what the output must contain, rest: arguments of mona
gives() {
    name=$1 status=$2 pattern=$3
    shift 3
    "$mona" "$@" > "$tmp/log" 2>&1
    found=$?
    if [ $found -ne "$status" ]; then
        not_ok "$name" "exit status $found, expected $status
$(tail -n 5 "$tmp/log")"
    elif ! grep -q -- "$pattern" "$tmp/log"; then
        not_ok "$name" "expected '$pattern' in: $(tail -n 5 "$tmp/log")"
    else
        ok "$name"
    fi
}

# ---- the project's cases
count=$(echo $cases | wc -w)
gives "the reference passes every case of the project" 0 "reference: $count of $count cases pass" verify $cases
engine=$(sed -n 's/^engine, fp16: \([0-9]*\) of .* 0 fail.*/\1/p' "$tmp/log")
same "the engine too" "${engine:-0}" "$count"
gives "a device that gives the host's bytes" 0 "model310: same bytes as the host" verify --device model310 -q $cases
# A convolution as a case, once of 64 channels, whose program the chip needs, and once of more samples than its L1 holds.
convolution_case() {
    mkdir -p "$1/test_data_set_0"
    python3 - "$@" << 'END'
import sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
folder, channels, height, width, side = sys.argv[1], *map(int, sys.argv[2:])
weights = np.zeros((channels, channels, side, side), np.float32)
weights[range(channels), range(channels), side // 2, side // 2] = 2 # the input, twice
x = (np.arange(channels * height * width) % 64 / 64).astype(np.float32).reshape(1, channels, height, width)
types = [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n in 'xy']
node = helper.make_node('Conv', ['x', 'w'], ['y'], pads=[side // 2] * 4)
graph = helper.make_graph([node], 'net', types[:1], types[1:], [numpy_helper.from_array(weights, 'w')])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7), folder + '/model.onnx')
for name, array in (('input', x), ('output', 2 * x)):
    with open(f'{folder}/test_data_set_0/{name}_0.pb', 'wb') as file:
        file.write(numpy_helper.from_array(array).SerializeToString())
END
}
if python3 -c 'import onnx, numpy' 2> /dev/null; then
    convolution_case "$tmp/large" 512 8 8 3
    convolution_case "$tmp/wide" 64 3 9000 3
    gives "a network that needs a program is run on the chip by one" 0 "model310: same bytes as the host in all cases that pass; 0 have no program" \
        verify --device model310 "$tmp/large"
    gives "one that can have none is run on the host, which is told" 0 "wide: .*; on the host alone: a group of its operators needs more" \
        verify --device model310 "$tmp/wide"
    same "and counted" "$(tail -n 1 "$tmp/log")" "model310: same bytes as the host in all cases that pass; 1 have no program and were not run there"
else
    skip "no onnx for python3"
fi
gives "a device that is none" 2 "no device 'abacus'" verify --device abacus $own/conv
gives "as JSON" 0 '"reference":.*"pass"' verify --json $own/conv
cp -r $own/conv "$tmp/wrong"
cp $own/qdq/test_data_set_0/output_0.pb "$tmp/wrong/test_data_set_0/output_0.pb"
gives "an output of another shape fails" 1 "expected float32" verify "$tmp/wrong"
cp $own/conv/test_data_set_0/output_0.pb "$tmp/wrong/test_data_set_0/output_0.pb"
size=$(wc -c < "$tmp/wrong/test_data_set_0/output_0.pb")
printf '\100\100' | dd of="$tmp/wrong/test_data_set_0/output_0.pb" bs=1 seek=$((size - 2)) conv=notrunc 2> /dev/null
gives "one wrong number fails" 1 "1 of .* numbers differ" verify "$tmp/wrong"
gives "the engine is then not run, which is told" 1 "0 do not compile, 1 were not run" verify "$tmp/wrong"
gives "a folder without a model" 1 "No such file" verify "$tmp"
mkdir "$tmp/bare"
cp $own/conv/model.onnx "$tmp/bare"
gives "a case without data" 1 "expected test_data_set_0" verify "$tmp/bare"
gives "the operators are listed" 0 "ConvTranspose" ops
gives "those of the engine too" 0 "2-D, constant weights" ops --engine
gives "--dim with a word" 2 "NAME=N" verify "$tmp/bare" --dim rows=x
gives "--dim of no dimension" 2 "no dimension of an input is called 'row'; they are rows, columns; did you mean 'rows'" \
    verify $own/shape_chain --dim row=30
gives "or where none has a name" 2 "called 'rows'; none has a name" verify $own/conv --dim rows=30

# ---- sides that the model leaves open
chain=$own/shape_chain/model.onnx
gives "a chain of shapes needs the sizes" 1 "Shape" compile $chain -o "$tmp/chain.mona"
gives "with them it compiles" 0 "y:" compile $chain -o "$tmp/chain.mona" --dim rows=30 --dim columns=40
gives "to a model of that size" 0 "40x30" inspect "$tmp/chain.mona" --size 40x30
gives "so it does with --size" 0 "y:" compile $chain -o "$tmp/chain.mona" --size 40x30
gives "--size without a number" 2 "expected WIDTHxHEIGHT" compile $chain -o "$tmp/chain.mona" --size 40
gives "--dim without a number" 2 "NAME=N" compile $chain -o "$tmp/x.mona" --dim rows
gives "--dim of no dimension" 2 "no dimension of an input is called 'row'.*did you mean 'rows'" compile $chain -o "$tmp/x.mona" --dim row=30
gives "--dim 0" 2 "NAME=N" compile $chain -o "$tmp/x.mona" --dim rows=0

# ---- data in other files: nothing outside of the model's folder
# $1: name, $2: what replaces weights.bin (11 letters), $3: what the error must contain
elsewhere() {
    rm -rf "$tmp/external"
    cp -r $own/external_data "$tmp/external"
    LC_ALL=C sed "s|weights.bin|$2|" $own/external_data/model.onnx > "$tmp/external/model.onnx"
    cp $own/external_data/weights.bin "$tmp/secret.bin"
    gives "$1" 1 "$3" verify "$tmp/external"
}
elsewhere "external data in the folder above" "..//secr.bi" "not a path inside"
elsewhere "external data by an absolute path" "/etc/passwd" "not a path inside"
elsewhere "external data through a subfolder" "a/../../b.b" "not a path inside"
elsewhere "external data that is not there" "wEights.bin" "No such file"
rm -f "$tmp/external/wEights.bin"
ln -s ../secret.bin "$tmp/external/wEights.bin"
gives "external data behind a link" 1 "leads outside" verify "$tmp/external"
rm -f "$tmp/external/wEights.bin"
mkfifo "$tmp/external/wEights.bin"
gives "external data in a pipe" 1 "is not a file" verify "$tmp/external"
rm -f "$tmp/external/wEights.bin"
head -c 30 $own/external_data/weights.bin > "$tmp/external/wEights.bin"
gives "external data that ends early" 1 "expected 60" verify "$tmp/external"

# ---- damaged models: one line, no crash
# $1: file; compiles its first n/32 for all n
cut_everywhere() {
    size=$(wc -c < "$1")
    folder=$(dirname "$1")
    bad=
    for k in $(seq 0 31); do
        head -c $((size * k / 32)) "$1" > "$tmp/cut.onnx"
        timeout 20 "$mona" compile "$tmp/cut.onnx" -o "$tmp/cut.mona" > "$tmp/log" 2>&1
        status=$?
        if [ $status -gt 1 ] || { [ $status -eq 1 ] && [ "$(wc -l < "$tmp/log")" -ne 1 ]; }; then
            bad="$bad $k/32 (status $status: $(head -n 3 "$tmp/log"))"
        fi
    done
    if [ -z "$bad" ]; then ok "$1 cut at every 1/32"; else not_ok "$1 cut at every 1/32" "$bad"; fi
}
for model in $own/residual/model.onnx $own/old_forms/model.onnx $own/qdq/model.onnx; do
    cut_everywhere "$model"
done

# ---- the ONNX suite
if [ -d $shared/onnx_cases ]; then
    "$mona" verify --device model310 $shared/onnx_cases/*/* > "$tmp/suite" 2>&1
    same "the suite's cases that the reference does not pass" \
        "$(grep -v '^pass\|^reference:\|^engine\|^model310' "$tmp/suite" | sed 's/:.*//; s|.*/||' | sort | tr '\n' ' ')" \
        "test_identity_opt test_identity_sequence "
    same "each is refused by name" "$(grep -c '^refused .*only tensors are' "$tmp/suite")" 2
    same "on model310, with the host's bytes" "$(grep -c '^model310: same bytes' "$tmp/suite")" 1
    summary=$(grep '^reference:\|^engine' "$tmp/suite" | tr '\n' ' ')
    same "only cases of numbers like 1e200, which fp16 does not hold, fail in the engine" \
        "$(sed -n 's|^.*/\([a-z0-9_]*\): .*engine FAIL.*|\1|p' "$tmp/suite" | sort | tr '\n' ' ')" \
        "test_operator_add_size1_right_broadcast test_operator_add_size1_singleton_broadcast test_operator_addconstant "
    engine=$(sed -n 's/^engine, fp16: \([0-9]*\) of .*/\1/p' "$tmp/suite")
    if [ "${engine:-0}" -ge 376 ]; then ok "$summary"; else
        not_ok "at least 376 of the suite's cases run in the engine" "$summary"
    fi
    gives "the reference is within 1e-5 of ESPCN's official output" 0 "1 of 1 cases pass" \
        verify $shared/onnx/super_resolution_10 --rtol 0 --atol 1e-5
    for model in $shared/onnx/bad/*.onnx; do
        cut_everywhere "$model"
    done
    # A detector: its convolutions run on maps, the rest on arrays.
    photos=$shared/onnx/ultraface/imgs
    for image in $photos/*.jpg; do
        /usr/bin/python3 tests/boxes.py picture "$image" "$tmp/$(basename "$image").npy"
    done
    # $1: model, $2: how it was compiled, $3: the least overlap, $4: raw if boxes are to be decoded
    finds_faces() {
        for image in $photos/*.jpg; do
            input=$tmp/$(basename "$image").npy
            "$mona" run "$tmp/faces.mona" -i "$input" -o "$tmp/s.npy" -o "$tmp/b.npy"
            "$mona" run "$1" --reference -i "$input" -o "$tmp/rs.npy" -o "$tmp/rb.npy"
            what="$(basename "$1" .onnx) as $2 finds the reference's faces in ${image##*/}"
            if found=$(/usr/bin/python3 tests/boxes.py same $3 "$tmp/rs.npy" "$tmp/rb.npy" "$tmp/s.npy" "$tmp/b.npy" $4 2>&1)
            then ok "$what: $found"; else not_ok "$what" "$found"; fi
        done
    }
    for net in version-slim-320 version-slim-320_simplified version-slim-320_without_postprocessing; do
        model=$shared/onnx/ultraface/$net.onnx
        raw=raw
        [ $net = version-slim-320 ] && raw=
        gives "$net compiles" 0 "out boxes" compile "$model" -o "$tmp/faces.mona" --input-type f16
        finds_faces "$model" FP16 0.95 "$raw"
        gives "$net compiles to a mix" 0 " int8 " compile "$model" -o "$tmp/faces.mona" --precision auto \
            --max-drop 0.05dB --calibrate $photos --mean 127 --deviation 128
        # Three pictures calibrate it, and which layers become INT8 depends on how their JPEGs are decoded.
        finds_faces "$model" "a mix of $(grep -c ' int8 ' "$tmp/log") INT8 and $(grep -c ' fp16 ' "$tmp/log") FP16 layers" 0.85 "$raw"
    done
else
    skip "no $shared/onnx_cases: the suite's cases are not run"
fi
