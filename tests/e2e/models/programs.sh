#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# AI Core programs in models: mona compile writes them, inspect lists them, model310 runs them.
. tests/tap.inc

# Luma for mona run: $1 rows, $2 columns, $3 file.
noise() {
    python3 -c 'import random, sys
rows, columns = int(sys.argv[1]), int(sys.argv[2])
header = "{\x27descr\x27: \x27|u1\x27, \x27fortran_order\x27: False, \x27shape\x27: (%d, %d), }" % (rows, columns)
header = header.ljust(117) + "\n"
open(sys.argv[3], "wb").write(b"\x93NUMPY\1\0" + bytes([118, 0]) + header.encode() +
                              random.Random(0).randbytes(rows * columns))' "$1" "$2" "$3"
}

with=$tmp/with.mona
succeeds "a built-in model with programs for two sizes" "$mona" compile sr_x2_fast -o "$with" \
    --target ascend310 --size 96x64 --size 160x90
same "the sizes are told" "$(sed -n 's/^ *program for ascend310 at \([0-9x]*\): .*/\1/p' "$tmp/log" | tr '\n' ' ')" "96x64 160x90 "
succeeds "the same once more" "$mona" compile sr_x2_fast -o "$tmp/again.mona" \
    --target ascend310 --size 96x64 --size 160x90
succeeds "gives the same bytes" cmp "$with" "$tmp/again.mona"
same "inspect lists them" "$("$mona" inspect "$with" --json |
    python3 -c 'import json, sys; print([(p["target"], p["size"]) for p in json.load(sys.stdin)["programs"]])')" \
    "[('ascend310', '96x64'), ('ascend310', '160x90')]"
"$mona" inspect "$with" --program > "$tmp/listing" 2>&1
same "and prints their instructions" "$(grep -c '^program for' "$tmp/listing") $(grep -c 'mmad[a-z0-9_]* L0C+' "$tmp/listing" |
    sed 's/[1-9][0-9]*/some/')" "2 some"
ffmpeg -v error -f lavfi -i testsrc2=size=32x32 -frames:v 1 "$tmp/picture.png"
succeeds "results of functions that auto chooses have programs" "$mona" compile tests/precision/zeros.onnx \
    -o "$tmp/auto.mona" --precision auto --max-drop 9dB --input-type u8 --calibrate "$tmp/picture.png" --target ascend310 --size 32x32
"$BUILD/operators" "$tmp" > "$tmp/list"
for net in attention_0_f16 attention_0_u8 normalise_0_u8; do
    "$mona" compile "$tmp/$net.mona" -o "$tmp/none.mona" --target ascend310 --size 12x12 2>&1 | sed -n 's/.*(\([a-z]*\)) has no AI Core program yet/\1/p'
done > "$tmp/missing"
same "why an operator has no program is told" "$(cat "$tmp/missing")" \
    "attention: its heads are not of whole channel blocks, in multiples of 16 channels
attention: pixels have less than 32 bytes in a channel block
normalise: pixels have less than 32 bytes in a channel block"
succeeds "a program for one more size" "$mona" compile "$with" -o "$tmp/more.mona" --target ascend310 --size 64x48
same "joins the others" "$("$mona" inspect "$tmp/more.mona" --program | grep -c '^program for')" 3

for size in 96x64 160x90 64x48; do
    noise ${size#*x} ${size%x*} "$tmp/in.npy"
    for device in host model310; do
        "$mona" run "$tmp/more.mona" --device $device -i "$tmp/in.npy" -o "$tmp/$device.npy" --raw > "$tmp/log" 2>&1
    done
    "$mona" run sr_x2_fast --device host -i "$tmp/in.npy" -o "$tmp/plain.npy" --raw > "$tmp/log" 2>&1
    succeeds "$size: the program gives the host's bytes" cmp "$tmp/plain.npy" "$tmp/model310.npy"
    succeeds "$size: and the host does not mind it" cmp "$tmp/plain.npy" "$tmp/host.npy"
    same "$size: model310 runs the program" "$("$mona" inspect "$tmp/more.mona" --device model310 --size $size --json |
        python3 -c 'import json, sys; print("weights" in [b["kind"] for b in json.load(sys.stdin)["buffers"]])')" False
done
same "at other sizes it plans" "$("$mona" inspect "$with" --device model310 --size 80x60 --json |
    python3 -c 'import json, sys; print("weights" in [b["kind"] for b in json.load(sys.stdin)["buffers"]])')" True
modelled_ms() {
    "$mona" bench "$1" --device model310 --size 160x90 --json | sed 's/.*"modelled_ms":\([^,]*\).*/\1/'
}
succeeds "its loops take less than 1 % of its time" \
    python3 -c 'import sys; plan, program = map(float, sys.argv[1:]); assert plan <= program < 1.01 * plan' \
    "$(modelled_ms sr_x2_fast)" "$(modelled_ms "$with")"

# changed FIELD VALUE OUT: a word of the program's header, with a checksum that fits.
changed() {
    python3 - "$with" "$@" << 'END'
import struct, sys, zlib
data = bytearray(open(sys.argv[1], "rb").read())
listed, count = struct.unpack_from("<QI", data, 104)
offset, size = struct.unpack_from("<QQ", data, listed + 16)
struct.pack_into("<I", data, offset + 4 * int(sys.argv[2]), int(sys.argv[3]))
data[12:16] = bytes(4)
struct.pack_into("<I", data, 12, zlib.crc32(data))
open(sys.argv[4], "wb").write(data)
END
}
# It takes more of L1 than there is. Instructions are numbered as before some were added: by today's numbers they are others.
changed 1 $(((1 << 20) + 64)) "$tmp/damaged.mona"
changed 13 0 "$tmp/other.mona"
noise 64 96 "$tmp/in.npy"
fails "a damaged program is refused" "malformed" "$mona" run "$tmp/damaged.mona" --device model310 -i "$tmp/in.npy" \
    -o "$tmp/out.npy"
fails "and not printed" "program 1 is damaged" "$mona" inspect "$tmp/damaged.mona" --program
fails "nor is one of another mona run" "unknown version" "$mona" run "$tmp/other.mona" --device model310 -i "$tmp/in.npy" \
    -o "$tmp/out.npy"
sizes() { "$mona" inspect "$1" --json | python3 -c 'import json, sys; print(*[p["size"] for p in json.load(sys.stdin)["programs"]])'; }
succeeds "compiling it again replaces that" "$mona" compile "$tmp/other.mona" -o "$tmp/again.mona" --target ascend310 --size 96x64
same "alone" "$(sizes "$tmp/again.mona")" "160x90 96x64"
succeeds "and it runs" "$mona" run "$tmp/again.mona" --device model310 -i "$tmp/in.npy" -o "$tmp/out.npy"
succeeds "though the host can do without it" "$mona" run "$tmp/damaged.mona" --device host -i "$tmp/in.npy" -o "$tmp/out.npy"

fails "a model without programs has none to print" "expected a model with programs" "$mona" inspect sr_x2_fast --program
fails "a program is for one size" "expected --size" "$mona" compile sr_x2_fast -o "$tmp/x.mona" --target ascend310
fails "a size that is none is told once" "expected WIDTHxHEIGHT" "$mona" compile sr_x2_fast -o "$tmp/x.mona" --target ascend310 --size 64
succeeds "operators on arrays are left to AI CPUs" "$mona" compile tests/conformance/array_reduce/model.onnx \
    -o "$tmp/x.mona" --target ascend310 --size 8x8
succeeds "and named" sh -c '"$0" inspect "$1" --program | grep -q "AI CPUs run operator"' "$mona" "$tmp/x.mona"
succeeds "without --size a compiled network gets no program" "$mona" compile models/sr_x2_fast.onnx -o "$tmp/x.mona" \
    --target ascend310
same "which is told" "$(grep -c "nothing for ascend310 alone.*--size WxH adds it" "$tmp/log")" 1
rm -f "$tmp/x.mona"
espcn=../shared/data/onnx/super_resolution_10/model.onnx
if [ -e $espcn ]; then
    succeeds "a network for one size gets one for that" "$mona" compile $espcn -o "$tmp/x.mona" --target ascend310
    same "which is told" "$(grep -c "program for ascend310 at 224x224" "$tmp/log")" 1
else
    skip "a network for one size: no $espcn"
fi
rm -f "$tmp/x.mona"
fails "a compiled model is not compiled again" "compiled already" "$mona" compile "$with" -o "$tmp/x.mona"
fails "nor changed" "--precision does not work with a model that is compiled already" "$mona" compile "$with" -o "$tmp/x.mona" --target ascend310 --precision fp16
nothing "and nothing is left behind" "$(ls "$tmp"/x.mona* 2> /dev/null)"
