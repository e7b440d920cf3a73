#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Quantised ONNX models through mona compile and mona run: INT8 layers with the model's own scales, on the host
# and on model310, compared with the same operators on arrays.
. tests/tap.inc

# A figure from the report $1: a Python expression of d.
report() {
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

# The number of operators of model $1 whose lines in mona inspect match $2.
operators() {
    "$mona" inspect "$1" | grep -cE "$2"
}

echo 'quantised:off' > "$tmp/off.cfg"
python3 - "$tmp/x.npy" << 'END'
import struct, sys
side, seed, values = 24, 5, []
for i in range(3 * side * side):
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    values.append(seed / 0x3fffffff - 1)
header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, {side}, {side}), }}"
header += ' ' * (-(len(header) + 11) % 64) + '\n'
with open(sys.argv[1], 'wb') as f:
    f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + struct.pack(f'<{len(values)}f', *values))
END

# Largest difference of two .npy files of floats, in steps of $3.
steps_apart() {
    python3 - "$@" << 'END'
import struct, sys
def read(path):
    data = open(path, 'rb').read()
    data = data[10 + struct.unpack('<H', data[8:10])[0]:]
    return struct.unpack(f'<{len(data) // 4}f', data)
a, b = read(sys.argv[1]), read(sys.argv[2])
assert len(a) == len(b) and max(a) > min(a)
print(round(max(abs(x - y) for x, y in zip(a, b)) / float(sys.argv[3])))
END
}

# name, type of input planes, layers of the model that are INT8
for case in "symmetric s8 6/6" "asymmetric f16 6/6" "qlinear s8 3/3"; do
    set -- $case
    net=$tmp/$1
    "$BUILD/classifiers" "$1" 24 "$net.onnx"
    succeeds "$1: compiles" "$mona" compile "$net.onnx" -o "$net.mona" --input-type "$2" --report "$net.json"
    same "$1: layers are INT8, whatever --precision is by default" \
        "$(report "$net.json" '"%d/%d" % (sum(l["precision"] == "int8" and l["given"] for l in d["layers"] if l["layer"].split("_")[0] in ("Conv", "QLinearConv", "Gemm")), sum(l["layer"].split("_")[0] in ("Conv", "QLinearConv", "Gemm") for l in d["layers"]))')" "$3"
    same "$1: nothing is on arrays" "$(operators "$net.mona" array_)" 0
    same "$1: every result says how near it is" \
        "$(report "$net.json" 'all(q["outcome"].startswith(("bit-exact", "within one step: ")) for q in d["quantised"]), len(d["quantised"]) > 3')" "(True, True)"
    "$mona" run "$net.mona" -i "$tmp/x.npy" -o "$net.npy"
    "$mona" run "$net.mona" -i "$tmp/x.npy" -o "$net.310.npy" --device model310
    succeeds "$1: model310 gives the host's bytes" cmp "$net.npy" "$net.310.npy"
    succeeds "$1: with the rule off it is on arrays" "$mona" compile "$net.onnx" -o "$net.off.mona" --input-type "$2" --fusion "$tmp/off.cfg"
    same "$1: really" "$(operators "$net.off.mona" array_ | awk '{ print ($1 > 3) }')" 1
    "$mona" run "$net.off.mona" -i "$tmp/x.npy" -o "$net.off.npy"
    same "$1: the same numbers within a step" "$(steps_apart "$net.npy" "$net.off.npy" 0.0236 | awk '{ print ($1 <= 1) }')" 1
done
"$mona" compile "$tmp/symmetric.onnx" -o "$tmp/floats.mona" > "$tmp/said"
same "floats in are quantised by a layer, and the option that spares it is told" \
    "$(grep -c 'in  x: 3 x f16' "$tmp/said") $(grep -c 'QuantizeLinear_1.*--input-type s8 takes samples of its scale' "$tmp/said")" "1 1"
same "a layer can be pinned to FP16" \
    "$("$mona" compile "$tmp/symmetric.onnx" -o "$tmp/pinned.mona" --pin Conv_14=fp16 > /dev/null && operators "$tmp/pinned.mona" '^  conv +Conv_6 .* x f16 ')" 1
succeeds "and to INT8, where it reads a zero point, too" \
    "$mona" compile "$tmp/asymmetric.onnx" -o "$tmp/pinned.mona" --input-type f16 --pin Conv_6=int8
