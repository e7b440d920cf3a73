#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The device "ascend" on the stand-in for the vendor's libraries: AI Core programs through the replay kernel.
. tests/tap.inc

kits=$PWD/$BUILD/ascend
PYTHON=python3
$PYTHON tests/ascend/make_kernel.py "$tmp/kernel.o" mona_replay__kernel0
export MONA_ASCEND_KERNEL="$tmp/kernel.o" MONA_ASCEND_TIMEOUT=2

# on KIT KNOBS COMMAND...
on() {
    kit=$1
    knobs=$2
    shift 2
    LD_LIBRARY_PATH=$kits/$kit FAKE_ASCEND=$knobs timeout 60 "$@"
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

film 12 "$tmp/in.y4m" 96x64
"$mona" enhance "$tmp/in.y4m" -o "$tmp/host.y4m" --device host --quiet
succeeds "a film on the chip" on full trace="$tmp/trace" "$mona" enhance "$tmp/in.y4m" -o "$tmp/chip.y4m" --device ascend
same "has the host's bytes, and nothing is left behind" "$(cmp "$tmp/host.y4m" "$tmp/chip.y4m" 2>&1 && echo equal) $(grep -c fake "$tmp/log")" "equal 0"
same "by kernels that ran" "$([ "$(grep -c '^run kernel' "$tmp/trace")" -ge 12 ] && echo yes)" yes
on full "" "$mona" enhance "$tmp/in.y4m" -o "$tmp/auto.y4m" --quiet
same "auto takes the chip" "$? $(cmp "$tmp/host.y4m" "$tmp/auto.y4m" && echo equal)" "0 equal"
for kit in old operators binaries; do
    on $kit "" "$mona" enhance "$tmp/in.y4m" -o "$tmp/chip.y4m" -y --device ascend --quiet
    same "kits that launch kernels in other ways: $kit" "$? $(cmp "$tmp/host.y4m" "$tmp/chip.y4m" && echo equal)" "0 equal"
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
if full; then
    for model in models/*.mona; do
        [ "$model" = models/colour.mona ] || equal "$model" 64x48
    done
fi

late=$(($(wc -l < "$tmp/trace") * 3 / 5)) # commands, after which frames are under way

# ---- what is missing
refused "no library" "libascendcl.so was not found: install CANN" missing "" --device ascend
same "a run without a chip says nothing of it" "$("$mona" enhance "$tmp/in.y4m" -o "$tmp/out.y4m" -y --quiet 2>&1)$?" 0
refused "a library without a function" "has no aclmdlUnload, which it has since CANN 5.0.4" broken "" --device ascend
refused "no way to launch kernels" "cannot launch kernels" none "" --device ascend
refused "another chip" "the chip is Ascend310P3; expected Ascend310" full soc=Ascend310P3 --device ascend
refused "a chip without a name" "the chip is unnamed" full soc=null --device ascend
refused "no chip" "no Ascend chip answers: load the driver" full count=0 --device ascend
refused "a kit that does not know the chip" "does not know this chip.*500000" full init=500000 --device ascend
refused "the library to link with" "take the stub folder out of LD_LIBRARY_PATH" full init=100039 --device ascend
refused "no permission" "join the group HwHiAiUser (code 207006): open device failed" full set=207006 --device ascend
refused "too little memory" "the chip has no memory left" full memory=100000 --device ascend
MONA_ASCEND_KERNEL=$tmp/none.o refused "a kernel that is not there" "none.o" full "" --device ascend
$PYTHON tests/ascend/make_kernel.py "$tmp/other.o" another__kernel0
MONA_ASCEND_KERNEL=$tmp/other.o refused "another kernel" "the kernel is refused.*not in the binary" full "" --device ascend
head -c 100 Makefile > "$tmp/text.o"
MONA_ASCEND_KERNEL=$tmp/text.o refused "no kernel" "the kernel is refused.*no kernel for this chip" full "" --device ascend

# ---- before the first frame auto takes the host
for knobs in soc=Ascend310B1 count=0 init=500000 set=207006 memory=100000; do
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

# ---- a long film goes on elsewhere
resume="--resume --segment 3 --quiet"
ffmpeg -v error -i "$tmp/in.y4m" -c:v ffv1 "$tmp/in.mkv"
"$mona" enhance "$tmp/in.mkv" -o "$tmp/whole.mkv" -y --device host --preset ultrafast $resume
sums() { ffmpeg -v error -i "$1" -f framecrc - | grep -v '^#'; }
on full lost=$late "$mona" enhance "$tmp/in.mkv" -o "$tmp/part.mkv" --device ascend --preset ultrafast $resume 2> "$tmp/err"
same "a film whose chip is lost keeps its segments" "$? $(grep -c 507901 "$tmp/err") $(grep -c '^segment' "$tmp/part.mkv.resume/journal" | sed 's/[1-9][0-9]*/some/')" "1 1 some"
cp -r "$tmp/part.mkv.resume" "$tmp/again.mkv.resume"
"$mona" enhance "$tmp/in.mkv" -o "$tmp/part.mkv" --device host --preset ultrafast $resume
same "and goes on on the host" "$? $(sums "$tmp/part.mkv")" "0 $(sums "$tmp/whole.mkv")"
