#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A chip that is lost, hangs or fails in the middle of a film: one clear line, and --resume goes on, on the host or on the
# chip once it has been reset, with every frame and its time as if nothing had happened.
. tests/tap.inc

kits=$PWD/$BUILD/ascend
python3 tests/ascend/make_kernel.py "$tmp/kernel.o" mona_replay3__kernel0
export MONA_ASCEND_KERNEL="$tmp/kernel.o"

film 24 "$tmp/scene.y4m" 64x48
ffmpeg -v error -i "$tmp/scene.y4m" -f lavfi -i sine=300:duration=1 -shortest -c:v libx264 -preset veryfast -bf 2 \
    -pix_fmt yuv420p -c:a aac "$tmp/in.mkv"

# enhance KIT KNOBS OPTIONS...
enhance() {
    LD_LIBRARY_PATH=$kits/$1
    FAKE_ASCEND=$2
    shift 2
    LD_LIBRARY_PATH=$LD_LIBRARY_PATH FAKE_ASCEND=$FAKE_ASCEND timeout 120 \
        "$mona" enhance "$tmp/in.mkv" --preset ultrafast --resume --segment 3 --quiet "$@" < /dev/null 2> "$tmp/err"
}
# Every frame and every packet of sound, with their times.
contents() {
    ffmpeg -v error -i "$1" -map 0 -f framemd5 - | grep -v '^#'
}

enhance missing "" -o "$tmp/host.mkv" --device host
contents "$tmp/host.mkv" > "$tmp/wanted"
same "an undisturbed run" "$? $(grep -c '^0,' "$tmp/wanted")" "0 24"
enhance full trace="$tmp/trace" -o "$tmp/chip.mkv" --device ascend
same "has the same frames on the chip" "$? $(contents "$tmp/chip.mkv" | cmp - "$tmp/wanted" && echo equal)" "0 equal"
commands=$(grep -vc '^memory' "$tmp/trace")

# disturbed NAME KIT KNOBS WORDS KIT2 DEVICE2: a run that fails, and one elsewhere that goes on
disturbed() {
    rm -rf "$tmp"/out.mkv*
    enhance "$2" "$3" -o "$tmp/out.mkv" --device ascend
    same "$1: one line, and no output" "$? $(grep -c . "$tmp/err") $(grep -c "$4" "$tmp/err") $(ls "$tmp/out.mkv" 2> /dev/null)" "1 1 1 "
    kept=$(find "$tmp/out.mkv.resume" -name '0*' 2> /dev/null | wc -l)
    enhance "$5" "" -o "$tmp/out.mkv" --device "$6"
    same "$1, after ${kept:-0} segments, goes on: kit $5, device $6" "$? $(cat "$tmp/err") $(contents "$tmp/out.mkv" | cmp - "$tmp/wanted" && echo equal) $(
        find "$tmp" -name 'out.mkv*' | wc -l)" "0  equal 1"
}

# The first commands open the session.
steps=3
full && steps=20
step=1
while [ $step -le $steps ]; do
    at=$((commands * (2 * step - 1) / (2 * steps)))
    case $((step % 3)) in
        0) kit=missing device=host ;;
        1) kit=full device=ascend ;;
        2) kit=full device=auto ;;
    esac
    disturbed "lost at command $at of $commands" full lost=$at "the connection to the chip was lost (code 507901)" $kit $device
    step=$((step + 1))
done
export MONA_ASCEND_TIMEOUT=5 # what a chip needs that does not hang, on a slow machine
disturbed "a chip that hangs" full hang=14 "does not answer (code 507046)" full ascend
disturbed "a chip that hangs under an old kit" old hang=14 "does not answer (code 507046)" missing host
unset MONA_ASCEND_TIMEOUT
disturbed "an AI Core's exception" full exception=17 "refused an instruction or address (code 507015)" full ascend

rm -rf "$tmp"/out.mkv*
for try in 1 2 3; do
    enhance full lost=$((commands / 4)) -o "$tmp/out.mkv" --device ascend
    echo "$? $(find "$tmp/out.mkv.resume" -name '0*' | wc -l)"
done > "$tmp/kept"
enhance full "" -o "$tmp/out.mkv" --device ascend
same "lost again and again" "$? $(contents "$tmp/out.mkv" | cmp - "$tmp/wanted" && echo equal) $(cut -d ' ' -f 1 "$tmp/kept" | sort -u)" "0 equal 1"
same "each run goes on where the one before it stopped" "$(cut -d ' ' -f 2 "$tmp/kept" | sort -nu)" "$(cut -d ' ' -f 2 "$tmp/kept")"
