#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Models of the vendor's compiler on the stand-in for its libraries: compiled by a stand-in for atc, run by mona run and
# mona enhance.
. tests/tap.inc

kits=$PWD/$BUILD/ascend
export MONA="$PWD/$mona"
mkdir "$tmp/bin"
cp tests/ascend/atc.py "$tmp/bin/atc"
chmod +x "$tmp/bin/atc"

on() { # KIT KNOBS COMMAND...
    kit=$1
    knobs=$2
    shift 2
    LD_LIBRARY_PATH=$kits/$kit FAKE_ASCEND=$knobs timeout 60 "$@"
}
compile() { PATH="$tmp/bin:$PATH" "$mona" compile "$@"; }

# ---- compiling
net=models/sr_x2_best.onnx
succeeds "mona compile --target ascend310-om" compile $net -o "$tmp/real.om" --picture --target ascend310-om --size 96x64
succeeds "and for another type of output" env ATC_TYPE=u8 PATH="$tmp/bin:$PATH" "$mona" compile $net -o "$tmp/net.om" --picture --target ascend310-om --size 96x64
succeeds "and for two sizes" env ATC_TYPE=u8 PATH="$tmp/bin:$PATH" "$mona" compile $net -o "$tmp/sizes.om" --picture --target ascend310-om --size 64x48 --size 96x64
fails "no atc" "atc was not found: install the CANN toolkit" "$mona" compile $net -o "$tmp/x.om" --picture --target ascend310-om --size 96x64
fails "no picture" "expected --picture" compile $net -o "$tmp/x.om" --target ascend310-om --size 96x64
fails "no size" "expected --size" compile $net -o "$tmp/x.om" --picture --target ascend310-om
fails "another output" "expected -o OUT.om" compile $net -o "$tmp/x.mona" --target ascend310-om --size 96x64
fails "another input" "expected an ONNX model" compile sr_x2_fast -o "$tmp/x.om" --picture --target ascend310-om --size 96x64
ATC_FAILS="[ERROR] E19010: No parser is registered for Op type [Foo]" \
    fails "an operator that CANN does not have" "atc failed: E19010: No parser is registered for Op type [Foo]; this CANN has no such operator" \
    compile $net -o "$tmp/x.om" --picture --target ascend310-om --size 96x64
ATC_FAILS="killed" fails "a failure without a code" "atc failed: Possible Cause: none" compile $net -o "$tmp/x.om" --picture --target ascend310-om --size 96x64
if [ -z "$SANITIZE" ]; then
    printf 'void *fdopen(int fd, const char *mode) { return 0; }\n' | ${CC:-cc} -shared -fPIC -w -o "$tmp/none.so" -xc -
    ATC_FAILS="killed" LD_PRELOAD=$tmp/none.so fails "no memory for what it says" "mona: atc cannot be started" \
        compile $net -o "$tmp/x.om" --picture --target ascend310-om --size 96x64
fi

# ---- a film
film 8 "$tmp/in.y4m" 96x64
film 2 "$tmp/other.y4m" 64x48
"$mona" compile $net -o "$tmp/net.mona" --input-type u8 --output-type u8 > /dev/null
"$mona" enhance "$tmp/in.y4m" -o "$tmp/host.y4m" --device host --stages sr --sr "$tmp/net.mona" --quiet
"$mona" enhance "$tmp/other.y4m" -o "$tmp/other_host.y4m" --device host --stages sr --sr "$tmp/net.mona" --quiet
for kit in full old; do
    on $kit trace="$tmp/trace",run_us=15000,copy_us=6000 "$mona" enhance "$tmp/in.y4m" -o "$tmp/$kit.y4m" --stages sr --sr "$tmp/net.om" --quiet
    same "a film through an .om has the host's bytes, $kit kit" "$? $(cmp "$tmp/host.y4m" "$tmp/$kit.y4m" && echo equal)" "0 equal"
done
same "while one frame is computed, another is sent and a third fetched" "$(awk '
    { begin[NR] = $3; end[NR] = $4; what[NR] = $1 }
    END { for (i = 1; i <= NR; i++) if (what[i] == "run") { up = down = 0
              for (k = 1; k <= NR; k++) if (k != i && begin[k] < end[i] && end[k] > begin[i]) { up += what[k] == "upload"; down += what[k] == "download" }
              if (up && down) found = "yes" }
          print found }' "$tmp/trace")" yes
two_at_a_time() { awk '$1 == "run" { begin[++n] = $3; end[n] = $4 }
    END { for (i = 1; i <= n; i++) for (k = 1; k < i; k++) found += begin[k] < end[i] && begin[i] < end[k]; print found ? "yes" : "no" }' "$1"; }
same "two frames are computed at a time, by two loads of the model" "$(two_at_a_time "$tmp/trace")" yes
on full memory=370000,trace="$tmp/trace_one",run_us=15000 "$mona" enhance "$tmp/in.y4m" -o "$tmp/one.y4m" --stages sr --sr "$tmp/net.om" --quiet 2> "$tmp/err"
same "without memory for a second load, one does" "$? $(cmp "$tmp/host.y4m" "$tmp/one.y4m" && echo equal) $(two_at_a_time "$tmp/trace_one") $(cat "$tmp/err")" "0 equal no "
"$mona" enhance "$tmp/in.y4m" -o "$tmp/host_two.y4m" --device host --stages denoise,sr --sr "$tmp/net.mona" --quiet
on full "" "$mona" enhance "$tmp/in.y4m" -o "$tmp/two.y4m" --device ascend-om --stages denoise,sr --sr "$tmp/net.om" --quiet 2> "$tmp/err"
same "on ascend-om the CPU runs the other networks" "$? $(cmp "$tmp/host_two.y4m" "$tmp/two.y4m" && echo equal) $(cat "$tmp/err")" "0 equal "
on full "" "$mona" enhance "$tmp/in.y4m" -o "$tmp/real.y4m" --stages sr --sr "$tmp/real.om" --quiet
same "real values become samples, no further from the host's than 1" "$? $(cmp -l "$tmp/host.y4m" "$tmp/real.y4m" |
    awk 'function v(o) { return 64 * int(o / 100) + 8 * int(o % 100 / 10) + o % 10 } { d = v($2) - v($3); if (d > 1 || d < -1) bad++ } END { print bad + 0 }')" "0 0"
for clip in in other; do
    on full "" "$mona" enhance "$tmp/$clip.y4m" -o "$tmp/sizes_$clip.y4m" --stages sr --sr "$tmp/sizes.om" --quiet
done
same "a model of two sizes" "$(cmp "$tmp/host.y4m" "$tmp/sizes_in.y4m" && cmp "$tmp/other_host.y4m" "$tmp/sizes_other.y4m" && echo equal)" equal
fails "frames of another size" "compiled for 96x64, and the frames have 64x48" on full "" "$mona" enhance "$tmp/other.y4m" -o "$tmp/x.y4m" --stages sr --sr "$tmp/net.om" --quiet
fails "no chip" "runs on an Ascend chip only" "$mona" enhance "$tmp/in.y4m" -o "$tmp/x.y4m" --stages sr --sr "$tmp/net.om" --quiet
fails "a model that fails" "the model failed (code 507011)" on full fail_at=4,fail_with=507011 "$mona" enhance "$tmp/in.y4m" -o "$tmp/x.y4m" --stages sr --sr "$tmp/net.om" --quiet
fails "too little memory" "the chip has no memory left" on full memory=50000 "$mona" enhance "$tmp/in.y4m" -o "$tmp/x.y4m" --stages sr --sr "$tmp/net.om" --quiet
head -c 5000 "$tmp/net.om" > "$tmp/cut.om"
fails "a model that is cut off" "cut off or changed" on full "" "$mona" enhance "$tmp/in.y4m" -o "$tmp/x.y4m" --stages sr --sr "$tmp/cut.om" --quiet

# ---- arrays
python3 - "$tmp" << 'END'
import struct, sys
def npy(path, shape, data):
    head = "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }" % (shape,)
    head += ' ' * (63 - (10 + len(head)) % 64) + '\n'
    open(path, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + data)
data = bytes((i * i // 7) % 256 for i in range(3 * 64 * 96))
for n in 2, 3:
    npy(sys.argv[1] + '/batch%d.npy' % n, (n, 1, 64, 96), data[:n * 64 * 96])
for n in 0, 1:
    npy(sys.argv[1] + '/item%d.npy' % n, (64, 96), data[n * 64 * 96:(n + 1) * 64 * 96])
npy(sys.argv[1] + '/small.npy', (48, 64), data[:48 * 64])
npy(sys.argv[1] + '/odd.npy', (50, 64), data[:50 * 64])
data = data[:64 * 96]
npy(sys.argv[1] + '/x.npy', (64, 96), data)
npy(sys.argv[1] + '/short.npy', (63, 96), data[:63 * 96])
npy(sys.argv[1] + '/turned.npy', (96, 64), data)
END
"$mona" run "$tmp/net.mona" -i "$tmp/x.npy" -o "$tmp/host.npy" --device host --raw
on full "" "$mona" run "$tmp/net.om" -i "$tmp/x.npy" -o "$tmp/chip.npy" --raw 2> "$tmp/err"
same "mona run" "$? $(tail -c 24576 "$tmp/host.npy" | cksum) $(cat "$tmp/err")" "0 $(tail -c 24576 "$tmp/chip.npy" | cksum) "
fails "an array of another size" "expected 6144 numbers for the input luma, found 6048" on full "" "$mona" run "$tmp/net.om" -i "$tmp/short.npy" -o "$tmp/x.npy2"
fails "an array that is turned" "net.om: input 'luma' has the shape 1x1x64x96, found an array of 96x64" \
    on full "" "$mona" run "$tmp/net.om" -i "$tmp/turned.npy" -o "$tmp/x.npy2"
fails "one output too many" "takes 1 inputs and gives 1 outputs" on full "" "$mona" run "$tmp/net.om" -i "$tmp/x.npy" -o "$tmp/a.npy" -o "$tmp/b.npy"

on full "" "$mona" run "$tmp/net.om" -i "$tmp/x.npy" -o "$tmp/om.npy" --raw --device ascend-om
same "mona run --device ascend-om" "$? $(cmp "$tmp/om.npy" "$tmp/chip.npy" && echo equal)" "0 equal"
fails "which runs nothing else" "runs only models of the vendor's compiler" on full "" "$mona" run "$tmp/net.mona" -i "$tmp/x.npy" -o "$tmp/a.npy" --device ascend-om
fails "and is not there without a chip" "device ascend-om: libascendcl.so was not found" "$mona" run "$tmp/net.om" -i "$tmp/x.npy" -o "$tmp/a.npy" --device ascend-om

# ---- batch and size, where a model leaves them open
pixels() { tail -c "$2" "$1" | cksum; }
for array in x small; do
    case $array in x) bytes=24576 ;; *) bytes=12288 ;; esac
    "$mona" run "$tmp/net.mona" -i "$tmp/$array.npy" -o "$tmp/host.npy" --device host --raw
    on full "" "$mona" run "$tmp/sizes.om" -i "$tmp/$array.npy" -o "$tmp/chip.npy" --raw
    same "the size of $array.npy" "$? $(pixels "$tmp/chip.npy" $bytes)" "0 $(pixels "$tmp/host.npy" $bytes)"
done
fails "another size" "not compiled for this batch or size" on full "" "$mona" run "$tmp/sizes.om" -i "$tmp/odd.npy" -o "$tmp/a.npy"
succeeds "a model for batches of 1, 2 and 4" env ATC_BATCHES=1,2,4 ATC_TYPE=u8 PATH="$tmp/bin:$PATH" "$mona" compile $net -o "$tmp/batches.om" --picture --target ascend310-om --size 96x64
on full "" "$mona" run "$tmp/batches.om" -i "$tmp/batch2.npy" -o "$tmp/chip.npy" --raw
status=$?
for n in 0 1; do
    "$mona" run "$tmp/net.mona" -i "$tmp/item$n.npy" -o "$tmp/item$n.out.npy" --device host --raw
    tail -c 24576 "$tmp/item$n.out.npy"
done > "$tmp/both"
same "a batch of 2" "$status $(pixels "$tmp/chip.npy" 49152)" "0 $(cksum < "$tmp/both")"
fails "a batch of 3" "not compiled for this batch or size" on full "" "$mona" run "$tmp/batches.om" -i "$tmp/batch3.npy" -o "$tmp/a.npy"

# ---- mona bench
crc() { grep -o 'CRC-32 .*' "$tmp/bench"; }
"$mona" bench "$tmp/net.mona" --size 96x64 -n 1 --device host > "$tmp/bench"
expected=$(crc)
on full "" "$mona" bench "$tmp/net.om" -n 3 --device ascend-om > "$tmp/bench" 2> "$tmp/err"
same "mona bench of an .om" "$? $(cat "$tmp/err") $(crc) $(grep -c 'overlapped .* with 4 in work' "$tmp/bench")" "0  $expected 1"
on full run_us=100000 "$mona" bench "$tmp/net.om" --warmup 1 -n 5 --json --device ascend-om > "$tmp/bench"
shorter=0.75 # than a frame alone; with a sanitiser the stand-in computes longer than it waits
[ -z "$SANITIZE" ] || shorter=2
same "two frames at a time take half as long each" "$(python3 -c "
import json; b = json.load(open('$tmp/bench')); print(b['device'], b['overlapped_ms'] < $shorter * b['p50_ms'], b['run_ms'] >= 100)")" "ascend-om True True"
fails "no layers of an .om" "--layers does not work with an .om model" on full "" "$mona" bench "$tmp/net.om" --layers --device ascend-om
fails "no chip for mona bench" "runs on an Ascend chip only" "$mona" bench "$tmp/net.om"

# ---- what is installed
mkdir "$tmp/cann"
checked() { # version, knobs
    echo "runtime_running_version=[7.7.0.1.238:$1]" > "$tmp/cann/version.cfg"
    ASCEND_TOOLKIT_HOME=$tmp/cann on full "$2" "$mona" devices --check | awk '{ print $1, $2 }' | grep -v firmware | tr '\n' ' '
}
same "mona devices --check" "$(checked 8.1.RC1 "")" "CANN OK driver OK libraries OK chip OK video OK health OK kernel missing "
same "what is too new, too old and ill" "$(checked 8.5.0 driver=20.2.0,health=2)" "CANN too driver too libraries OK chip OK video OK health bad kernel missing "
same "what is not there" "$("$mona" devices --check | awk '{ print $1, $2 }' | sort | tr '\n' ' ')" "CANN missing chip missing driver missing firmware missing kernel missing "
missing() { on "$1" "$2" "$mona" devices 2>&1 > "$tmp/list" | grep -v "^sandbox" | sed "s/; mona devices --check.*//"; }
same "mona devices lists a chip that answers" "$(missing full "") $(grep -c ^ascend "$tmp/list")" " 2"
same "another chip runs .om models" "$(missing full soc=Ascend910) $(grep -c ^ascend-om "$tmp/list") $(grep -c '^ascend ' "$tmp/list")" " 1 0"
same "a function that is missing" "$(missing broken "")" \
    "no Ascend chip: libascendcl.so has no aclmdlUnload, which it has since CANN 5.0.4: install a newer CANN, up to 8.1"

# ---- the family: everything but mona's own programs
for soc in Ascend310P3 Ascend310B4; do
    same "$soc: mona devices --check" "$(checked 8.5.0 soc=$soc,driver=20.2.0)" "CANN OK driver OK libraries OK chip OK video OK health OK "
    same "$soc: mona devices lists it for .om models alone" "$(missing full soc=$soc) $(grep -c ^ascend-om "$tmp/list") $(grep -c '^ascend ' "$tmp/list")" " 1 0"
    on full soc=$soc "$mona" run "$tmp/net.om" -i "$tmp/x.npy" -o "$tmp/$soc.npy" --raw 2> "$tmp/err"
    same "$soc: mona run has an Ascend310's bytes" "$? $(cmp "$tmp/om.npy" "$tmp/$soc.npy" && echo equal) $(cat "$tmp/err")" "0 equal "
    on full soc=$soc "$mona" enhance "$tmp/in.y4m" -o "$tmp/$soc.y4m" -y --stages sr --sr "$tmp/net.om" --quiet 2> "$tmp/err"
    same "$soc: and mona enhance, where the device is auto" "$? $(cmp "$tmp/host.y4m" "$tmp/$soc.y4m" && echo equal) $(cat "$tmp/err")" "0 equal "
    same "$soc: and mona bench" "$(on full soc=$soc "$mona" bench "$tmp/net.om" -n 1 --warmup 0 2>&1 | sed -n '1s/.*, //p')" ascend-om
    ATC_LOG=$tmp/asked ATC_TYPE=u8 on full soc=$soc env PATH="$tmp/bin:$PATH" "$mona" compile $net -o "$tmp/$soc.om" --picture --target ascend310-om --size 96x64 \
        --atc precision_mode=force_fp16 > "$tmp/log" 2>&1
    same "$soc: atc compiles for the chip that is there" "$? $(tr ' ' '\n' < "$tmp/asked" | grep -e soc_version -e precision_mode | tr '\n' ' ')" \
        "0 --soc_version=$soc --precision_mode=force_fp16 "
    on full soc=$soc "$mona" enhance "$tmp/in.y4m" -o "$tmp/$soc.y4m" -y --stages sr --sr "$tmp/$soc.om" --device ascend-om --quiet 2> "$tmp/err"
    same "$soc: mona enhance has an Ascend310's bytes" "$? $(cmp "$tmp/sizes_in.y4m" "$tmp/$soc.y4m" && echo equal) $(cat "$tmp/err")" "0 equal "
    on full soc=$soc "$mona" enhance "$tmp/in.y4m" -o "$tmp/$soc.y4m" -y --stages sr --quiet 2> "$tmp/err"
    same "$soc: auto says what the chip does, and the CPU computes" "$? $(cat "$tmp/err")" \
        "0 mona: the chip is $soc, which runs .om models alone; the CPU runs all others"
    fails "$soc: own programs are refused in a line" "the chip is $soc, and mona's own programs are for Ascend310" on full soc=$soc "$mona" bench \
        sr_x2_fast --size 96x64 --device ascend
done
same "one of two chips" "$(on full count=2 "$mona" bench "$tmp/Ascend310P3.om" -n 1 --device ascend-om:1 > "$tmp/log" 2>&1; echo $?)" 0
fails "a chip that is not there" "there is no such chip" on full count=2 "$mona" bench "$tmp/Ascend310P3.om" -n 1 --device ascend-om:2
fails "no number of a chip" "expected the number of a chip after ascend-om:" "$mona" bench "$tmp/Ascend310P3.om" -n 1 --device ascend-om:x
same "--soc" "$(ATC_LOG=$tmp/asked PATH="$tmp/bin:$PATH" "$mona" compile $net -o "$tmp/soc.om" --picture --target ascend310-om --size 96x64 --soc Ascend910A \
    > "$tmp/log" 2>&1; echo $?) $(tr ' ' '\n' < "$tmp/asked" | grep soc_version)" "0 --soc_version=Ascend910A"
head -c $((4 * 64 * 96)) /dev/zero > "$tmp/samples.bin"
printf 'calibration:\n{\ninput_data_dir: %s\ninput_shape: x:1,1,64,96\ninfer_soc: Ascend310P3\n}\n' "$tmp/samples.bin" > "$tmp/int8.cfg"
same "INT8 by a calibration file of the vendor's" "$(ATC_LOG=$tmp/asked PATH="$tmp/bin:$PATH" "$mona" compile $net -o "$tmp/int8.om" --picture \
    --target ascend310-om --size 96x64 --soc Ascend310P3 --atc compression_optimize_conf="$tmp/int8.cfg" > "$tmp/log" 2>&1; echo $?) $(
    tr ' ' '\n' < "$tmp/asked" | grep -c "compression_optimize_conf=$tmp/int8.cfg")" "0 1"
fails "one for another chip" "atc failed: E10001" env PATH="$tmp/bin:$PATH" "$mona" compile $net -o "$tmp/int8.om" --picture \
    --target ascend310-om --size 96x64 --atc compression_optimize_conf="$tmp/int8.cfg"
fails "an option that mona sets" "mona sets this option itself" env PATH="$tmp/bin:$PATH" "$mona" compile $net -o "$tmp/soc.om" --picture \
    --target ascend310-om --size 96x64 --atc soc_version=Ascend910A
ATC_LOG=$tmp/asked ATC_TYPE=u8 PATH="$tmp/bin:$PATH" "$mona" compile $net -o "$tmp/mean.om" --picture --target ascend310-om --size 96x64 --mean 0 --deviation 255 \
    > "$tmp/log" 2>&1
same "--mean and --deviation go to AIPP" "$? $(cmp "$tmp/mean.om" "$tmp/Ascend310P3.om" && echo equal)" "0 equal"

# ---- on a module
for clip in in other; do
    on full mode=0,trace="$tmp/trace_$clip" "$mona" enhance "$tmp/$clip.y4m" -o "$tmp/module.y4m" -y --stages sr --sr "$tmp/sizes.om" --quiet 2> "$tmp/err"
    same "a module has the host's bytes without a copy by AscendCL, $clip" \
        "$? $(cmp "$tmp/sizes_$clip.y4m" "$tmp/module.y4m" && echo equal) $(cat "$tmp/err") $(grep -c -e '^upload' -e '^download' "$tmp/trace_$clip")" "0 equal  0"
done
succeeds "a model for frames without gaps between their rows; those of 96x64 have some, their results have none" env ATC_TYPE=u8 PATH="$tmp/bin:$PATH" \
    "$mona" compile $net -o "$tmp/dense.om" --picture --target ascend310-om --size 128x64
film 8 "$tmp/dense.y4m" 128x64
"$mona" enhance "$tmp/dense.y4m" -o "$tmp/dense_host.y4m" --device host --stages sr --sr "$tmp/net.mona" --quiet
on full mode=0,trace="$tmp/trace_dense" "$mona" enhance "$tmp/dense.y4m" -o "$tmp/dense_module.y4m" --stages sr --sr "$tmp/dense.om" --quiet 2> "$tmp/err"
placed() { awk '$1 == "place" { print $2 }' "$1" | sort -u | wc -l; }
same "which it reads where they are, in six slots, and writes there, in five" \
    "$? $(cmp "$tmp/dense_host.y4m" "$tmp/dense_module.y4m" && echo equal) $(cat "$tmp/err") $(placed "$tmp/trace_in") $(placed "$tmp/trace_dense")" "0 equal  5 11"
