#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The device "ascend" on the stand-in for the vendor's libraries: AI Core programs through the replay kernel.
. tests/tap.inc

kits=$PWD/$BUILD/ascend
python3 tests/ascend/make_kernel.py "$tmp/kernel.o" mona_replay3__kernel0
export MONA_ASCEND_KERNEL="$tmp/kernel.o"

# on KIT KNOBS COMMAND...
on() {
    kit=$1
    knobs=$2
    shift 2
    case $knobs in *hang*) seconds=2 ;; *) seconds=60 ;; esac # for the chip to answer
    MONA_ASCEND_TIMEOUT=${patience:-$seconds} LD_LIBRARY_PATH=$kits/$kit FAKE_ASCEND=$knobs timeout 100 "$@"
}

# refused NAME WORDS KIT KNOBS OPTIONS...: a film is refused in one line
refused() {
    name=$1
    words=$2
    kit=$3
    knobs=$4
    shift 4
    rm -f "$tmp/out.y4m"
    on "$kit" "$knobs" "$mona" enhance "$tmp/in.y4m" -o "$tmp/out.y4m" -y --quiet "$@" 2> "$tmp/err"
    status=$?
    [ $status -ne 2 ] || status=1 # an option that is refused
    same "$name" "$status $(grep -c . "$tmp/err") $(grep -c "$words" "$tmp/err") $(find "$tmp" -name 'out.y4m*')" "1 1 1 "
}

film 12 "$tmp/in.y4m" 64x48
"$mona" enhance "$tmp/in.y4m" -o "$tmp/host.y4m" --device host --quiet
succeeds "a film on the chip" on full trace="$tmp/trace" "$mona" enhance "$tmp/in.y4m" -o "$tmp/chip.y4m" --device ascend
same "has the host's bytes, and nothing is left behind" "$(cmp "$tmp/host.y4m" "$tmp/chip.y4m" 2>&1 && echo equal) $(grep -c fake "$tmp/log")" "equal 0"
same "by kernels that ran" "$([ "$(grep -c '^run kernel' "$tmp/trace")" -ge 12 ] && echo yes)" yes
on full trace="$tmp/overlap",run_us=15000,copy_us=6000 "$mona" enhance "$tmp/in.y4m" -o "$tmp/chip.y4m" -y --device ascend --stages sr --quiet
same "while one frame is computed, another is sent and a third fetched" "$(awk '
    { begin[NR] = $3; end[NR] = $4; what[NR] = $1 }
    END { for (i = 1; i <= NR; i++) if (what[i] == "run") { up = down = 0
              for (k = 1; k <= NR; k++) if (begin[k] < end[i] && end[k] > begin[i]) { up += what[k] == "upload"; down += what[k] == "download" }
              found += up && down }
          print (found > 2) ? "yes" : "no" }' "$tmp/overlap")" yes
on full "" "$mona" enhance "$tmp/in.y4m" -o "$tmp/auto.y4m" --quiet
same "auto takes the chip" "$? $(cmp "$tmp/host.y4m" "$tmp/auto.y4m" && echo equal)" "0 equal"
for kit in old operators binaries; do
    on $kit "" "$mona" enhance "$tmp/in.y4m" -o "$tmp/chip.y4m" -y --device ascend --quiet
    same "kits that launch kernels in other ways: $kit" "$? $(cmp "$tmp/host.y4m" "$tmp/chip.y4m" && echo equal)" "0 equal"
done

# ---- a module, whose memory is the chip's
moved() { awk '$1 == "upload" || $1 == "download" { n++ } END { print n + 0 }' "$1"; }
for size in 128x64 96x64; do # at 96x64 frames have gaps between their rows
    film 6 "$tmp/in_$size.y4m" $size
    "$mona" enhance "$tmp/in_$size.y4m" -o "$tmp/host_$size.y4m" --device host --quiet
    on full mode=0,trace="$tmp/trace_$size" "$mona" enhance "$tmp/in_$size.y4m" -o "$tmp/module.y4m" -y --device ascend --quiet 2> "$tmp/err"
    same "a module has the host's bytes, $size" "$? $(cmp "$tmp/host_$size.y4m" "$tmp/module.y4m" && echo equal) $(cat "$tmp/err")" "0 equal "
    same "and AscendCL copies nothing" "$(moved "$tmp/trace_$size") $(moved "$tmp/trace" | grep -c '^[1-9]')" "0 1"
done
same "without gaps frames have no copies on the chip, one in each of three lanes of two networks" \
    "$(($(grep -c '^memory' "$tmp/trace_96x64") - $(grep -c '^memory' "$tmp/trace_128x64")))" 6

"$mona" bench bicubic_x2 --size 128x64 -n 1 --device host > "$tmp/host.txt"
on full mode=0 "$mona" bench bicubic_x2 --size 128x64 -n 1 --device ascend > "$tmp/chip.txt" 2> "$tmp/err"
same "mona bench on a module" "$? $(grep 'CRC-32' "$tmp/chip.txt") $(cat "$tmp/err")" "0 $(grep 'CRC-32' "$tmp/host.txt") "
same "and not against this machine's peak" "$(grep -c 'GMAC a frame' "$tmp/chip.txt") $(grep -c peak "$tmp/chip.txt")" "1 0"

# ---- mona run, with a program of the file's own
python3 - "$tmp/luma.npy" << 'END'
import sys
head = "{'descr': '|u1', 'fortran_order': False, 'shape': (48, 64), }".ljust(117) + "\n"
open(sys.argv[1], "wb").write(b"\x93NUMPY\1\0" + bytes([len(head), 0]) + head.encode() + bytes(i * i // 7 % 256 for i in range(48 * 64)))
END
succeeds "a model with a program" "$mona" compile sr_x2_fast -o "$tmp/program.mona" --target ascend310 --size 64x48
"$mona" run "$tmp/program.mona" -i "$tmp/luma.npy" -o "$tmp/run_host.npy" --device host --raw
for kit in full old; do
    on $kit trace="$tmp/trace_$kit" "$mona" run "$tmp/program.mona" -i "$tmp/luma.npy" -o "$tmp/run_chip.npy" --device ascend --raw 2> "$tmp/err"
    same "mona run, $kit kit" "$? $(cmp "$tmp/run_host.npy" "$tmp/run_chip.npy" && echo equal) $(cat "$tmp/err") $(grep -c '^run kernel' "$tmp/trace_$kit")" "0 equal  1"
done

# Steps of three frames, by the chip's clock: one is sent and one fetched while a third is computed.
for kit in full old; do
    on $kit run_us=20000,copy_us=15000 "$mona" bench models/bicubic_x2.mona --size 96x64 -n 2 --warmup 1 --device ascend --trace "$tmp/steps.json" > "$tmp/log" 2>&1
    same "mona bench shows steps of three frames at once, $kit" "$? $(grep -c 'all three steps at once for [1-9]' "$tmp/log") $(python3 -c "
import json
steps = [[], [], []]
for e in json.load(open('$tmp/steps.json'))['traceEvents']:
    if e['ph'] == 'X':
        steps[e['tid']].append((e['args']['frame'], e['ts'], e['ts'] + e['dur']))
print([len(s) for s in steps], any(max(u[1], r[1], d[1]) < min(u[2], r[2], d[2]) and d[0] < r[0] < u[0]
                                   for r in steps[1] for u in steps[0] for d in steps[2]))")" "0 1 [50, 50, 50] True"
done

# equal MODEL WxH: one frame has the host's bytes
equal() {
    "$mona" bench "$1" --size "$2" -n 1 --device host > "$tmp/host.txt" 2>&1
    on full "" "$mona" bench "$1" --size "$2" -n 1 --device ascend > "$tmp/chip.txt" 2>&1
    same "$1" "$? $(grep -e 'CRC-32' -e fake "$tmp/chip.txt")" "0 $(grep 'CRC-32 [0-9a-f]*$' "$tmp/host.txt")"
}
equal models/colour.mona 64x64 # whose work is too small for two cores

# ---- every network inside: frames of a film have the host's bytes, and AI Cores computed them
film 3 "$tmp/small.y4m" 48x32
frames_of() { # MODEL
    name=$(basename "$1" .mona)
    case $name in
        sr_x*) set -- --stages sr --sr "$1" -s "$(echo "$name" | cut -c 5)" ;;
        bicubic_x2) set -- --stages sr --sr "$1" ;;
        denoise_*) set -- --stages denoise --denoise "$1" --strength 0.5 ;;
        colour) set -- --stages colour --colour-model "$1" --colour 1 ;;
        *) not_ok "$name" "expected a name that says what the network is for" && return ;;
    esac
    rm -f "$tmp/small_trace"
    "$mona" enhance "$tmp/small.y4m" -o "$tmp/small_host.y4m" -y --device host --quiet "$@"
    on full trace="$tmp/small_trace" "$mona" enhance "$tmp/small.y4m" -o "$tmp/small_chip.y4m" -y --device ascend --quiet "$@" 2> "$tmp/err"
    same "frames of $name" "$? $(cmp "$tmp/small_host.y4m" "$tmp/small_chip.y4m" && echo equal) $(cat "$tmp/err") $([ "$(
        grep -c '^run kernel' "$tmp/small_trace")" -ge 3 ] && echo computed)" "0 equal  computed"
}
for model in models/*.mona; do
    case $model in
        */sr_x2_fast.mona | */denoise_fast.mona | */colour.mona) frames_of "$model" ;;
        *) ! full || frames_of "$model" ;;
    esac
done

late=$(($(grep -vc '^memory' "$tmp/trace") * 3 / 5)) # commands, after which frames are under way

# A program of another format is refused before a fuzz target reaches what reads programs.
for seed in tests/fuzz/corpus/mona/program*.mona; do
    succeeds "the program of ${seed##*/} can be opened" "$mona" inspect "$seed" --kernel
done

# ---- what is missing
refused "no library" "libascendcl.so was not found: install CANN" missing "" --device ascend
same "a run without a chip says nothing of it" "$("$mona" enhance "$tmp/in.y4m" -o "$tmp/out.y4m" -y --quiet 2>&1)$?" 0
refused "a library without a function" "has no aclmdlUnload, which it has since CANN 5.0.4" broken "" --device ascend
refused "no way to launch kernels" "cannot launch kernels" none "" --device ascend
refused "another chip" "the chip is Ascend310P3, and mona.s own programs are for Ascend310: --device ascend-om" full soc=Ascend310P3 --device ascend
refused "a chip without a name" "the chip is unnamed" full soc=null --device ascend
refused "no chip" "no Ascend chip answers: load the driver" full count=0 --device ascend
refused "a kit that does not know the chip" "does not know this chip.*500000" full fail=aclInit,fail_code=500000 --device ascend
refused "the library to link with" "take the stub folder out of LD_LIBRARY_PATH" full fail=aclInit,fail_code=100039 --device ascend
refused "no permission" "join the group HwHiAiUser (code 207006).*aclrtSetDevice failed" full fail=aclrtSetDevice,fail_code=207006 --device ascend
refused "an argument that CANN refuses" "refuses an argument.*code 107000" full fail=aclrtSetDevice,fail_code=107000 --device ascend
refused "and in AscendCL" "refuses an argument.*code 100000" full fail=aclrtSetDevice,fail_code=100000 --device ascend
refused "a code that nobody knows" "ASCEND_SLOG_PRINT_TO_STDOUT=1.*code 499999" full fail=aclrtSetDevice,fail_code=499999 --device ascend
refused "too little memory" "the chip has no memory left" full memory=100000 --device ascend
for asked in 0 10x 4294967326; do
    patience=$asked refused "a timeout of $asked" "MONA_ASCEND_TIMEOUT: expected a whole number from 1 to 86400, found '$asked'" full "" --device ascend
done
MONA_ASCEND_CTRL63=yes refused "a bit that is a word" "MONA_ASCEND_CTRL63: expected a whole number from 0 to 1, found 'yes'" full "" --device ascend
MONA_ASCEND_KERNEL=$tmp/none.o refused "a kernel that is not there" "none.o" full "" --device ascend
python3 tests/ascend/make_kernel.py "$tmp/other.o" another__kernel0
MONA_ASCEND_KERNEL=$tmp/other.o refused "another kernel" "no kernel is this mona.s, which make ascend-kernel" full "" --device ascend
{ head -c 100 Makefile && printf 'mona_replay3__kernel0\0'; } > "$tmp/text.o"
MONA_ASCEND_KERNEL=$tmp/text.o refused "no kernel" "the kernel is refused.*no kernel for this chip" full "" --device ascend

# ---- a kernel written for one program
"$mona" compile sr_x2_fast -o "$tmp/one.mona" --target ascend310 --size 64x48 > "$tmp/log"
"$mona" compile sr_x2_fast -o "$tmp/other.mona" --target ascend310 --size 32x48 > "$tmp/log"
python3 tests/ascend/make_kernel.py "$tmp/own.o" "$("$mona" inspect "$tmp/one.mona" --kernel | sed -n 's/^#define MONA_KERNEL //p')"
own() { MONA_ASCEND_KERNEL=$tmp/own.o on full "" "$mona" bench "$tmp/$1.mona" --size "$2" -n 1 --warmup 0 --device ascend; }
succeeds "runs that" own one 64x48
fails "and no other" "or was written for this program" own other 32x48
own() { MONA_ASCEND_KERNEL=$tmp/own.o:$tmp/kernel.o on full "" "$mona" bench "$tmp/$1.mona" --size "$2" -n 1 --warmup 0 --device ascend; }
succeeds "beside the replay kernel, which runs others" own one 64x48
succeeds "as it does" own other 32x48
same "alone it is not the kernel that mona devices --check looks for" \
    "$(MONA_ASCEND_KERNEL=$tmp/own.o on full "" "$mona" devices --check | grep -c '^kernel *too old .*for all programs: make ascend-kernel')" 1
mkdir "$tmp/in[1]"
cp "$mona" "$tmp/in[1]"
cp "$tmp/kernel.o" "$tmp/in[1]/mona_replay.o"
cp "$tmp/own.o" "$tmp/in[1]/mona_own_one.o"
beside() { on full "" env -u MONA_ASCEND_KERNEL "$tmp/in[1]/mona" bench "$tmp/$1.mona" --size "$2" -n 1 --warmup 0 --device ascend; }
succeeds "both are found beside the program" beside one 64x48
same "and told" "$(on full "" env -u MONA_ASCEND_KERNEL "$tmp/in[1]/mona" devices --check | grep '^kernel' | tr ':' '\n' | grep -c 'mona_.*\.o')" 2
for i in $(seq 15); do cp "$tmp/own.o" "$tmp/in[1]/mona_own_$i.o"; done
fails "of more than it takes it says which" "mona_replay.o: expected at most 16 kernels, found more" beside one 64x48
rm "$tmp/in[1]"/mona_own_[0-9]*.o

# ---- those that make ascend-kernel writes by default
owns=
for net in $(sed -n 's/^NETS ?= //p' Makefile); do
    "$mona" compile "$net" -o "$tmp/$net.mona" --target ascend310 --size 64x48 > "$tmp/log"
    python3 tests/ascend/make_kernel.py "$tmp/$net.o" "$("$mona" inspect "$tmp/$net.mona" --kernel | sed -n 's/^#define MONA_KERNEL //p')"
    owns=$owns:$tmp/$net.o
done
ffmpeg -v error -y -i "$tmp/in.y4m" -c:v libx264 -qp 30 -pix_fmt yuv420p "$tmp/in.mp4"
pictures() { ffmpeg -v error -i "$1" -f md5 -; }
"$mona" enhance "$tmp/in.mp4" -o "$tmp/ours.mkv" -y --device host --quiet
for kit in full old binaries; do
    MONA_ASCEND_KERNEL=${owns#:} on $kit "" "$mona" enhance "$tmp/in.mp4" -o "$tmp/own.mkv" -y --device ascend --quiet 2> "$tmp/err"
    same "enhance a film without the replay kernel, $kit" "$? $(pictures "$tmp/own.mkv")" "0 $(pictures "$tmp/ours.mkv")"
    rm -f "$tmp/own.mkv"
done
MONA_ASCEND_KERNEL=${owns#:}:$tmp/kernel.o on operators "" "$mona" enhance "$tmp/in.mp4" -o "$tmp/own.mkv" -y --device ascend --quiet 2> "$tmp/err"
same "and with it where one alone is taken" "$? $(pictures "$tmp/own.mkv")" "0 $(pictures "$tmp/ours.mkv")"

# ---- before the first frame auto takes the host
for knobs in soc=Ascend310B1 count=0 fail=aclInit,fail_code=500000 fail=aclrtSetDevice,fail_code=207006 memory=100000; do
    on full $knobs "$mona" enhance "$tmp/in.y4m" -o "$tmp/auto.y4m" -y --quiet 2> "$tmp/err"
    same "auto falls back to the host: $knobs" "$? $(cmp "$tmp/host.y4m" "$tmp/auto.y4m" && echo equal) $(grep -c fake "$tmp/err")" "0 equal 0"
done

# ---- and never after it
for device in ascend auto; do
    refused "a failure while it runs, $device" "a frame cannot be computed.*507018.*TsdClient" full fail_at=9,fail_with=507018 --device $device
    refused "a chip that hangs, $device" "does not answer (code 507046)" full hang=5 --device $device
    refused "a copy that hangs, $device" "cannot be .*does not answer (code 507046)" full copy_hang=$late --device $device
    refused "a chip that hangs under an old kit, $device" "does not answer (code 507046)" old hang=5 --device $device
    refused "an AI Core's exception, $device" "refused an instruction or address (code 507015)" full exception=5 --device $device
    refused "a chip that is lost, $device" "the connection to the chip was lost (code 507901)" full lost=$late --device $device
done
