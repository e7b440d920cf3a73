#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The chip's video decoder on the stand-in for the vendor's libraries: films that it decodes, those that the CPU decodes
# in its place, and faults.
. tests/tap.inc

kits=$PWD/$BUILD/ascend
python3 tests/ascend/make_kernel.py "$tmp/kernel.o" mona_replay3__kernel0
export MONA_ASCEND_KERNEL="$tmp/kernel.o"

# Without estimates of noise, which need a stream's quantisers.
sr="--stages sr --sr models/bicubic_x2.mona"
host() { # IN OPTIONS...
    "$mona" enhance "$@" -o "$tmp/host.y4m" -y --device host --quiet $sr
}
chip() { # KIT KNOBS IN OPTIONS...
    kit=$1
    knobs=$2
    shift 2
    rm -f "$tmp/trace" "$tmp/chip.y4m"
    case $knobs in *hang*) seconds=1 ;; *) seconds=60 ;; esac # for the chip to answer
    MONA_ASCEND_TIMEOUT=$seconds LD_LIBRARY_PATH=$kits/$kit FAKE_ASCEND="trace=$tmp/trace,$knobs" timeout 100 \
        "$mona" enhance "$@" -o "$tmp/chip.y4m" -y $sr 2> "$tmp/err"
    status=$?
    touch "$tmp/trace"
    return $status
}
equal() { cmp "$tmp/host.y4m" "$tmp/chip.y4m" 2>&1 && echo equal; }
decoded() { grep -c '^decode' "$tmp/trace"; }
lines() { grep -c -e "$1" "$tmp/err"; }

make_film() { # FILE FRAMES SIZE FORMAT OPTIONS... of ffmpeg
    file=$tmp/$1
    count=$2
    from="testsrc2=s=$3:r=25"
    pixels=$4
    shift 4
    ffmpeg -v error -f lavfi -i "$from" -frames:v "$count" -pix_fmt "$pixels" "$@" "$file" < /dev/null
}
h264="-c:v libx264 -preset veryfast"
h265="-c:v libx265 -preset veryfast -x265-params log-level=error"

# ---- what the chip decodes
make_film in.mkv 40 128x128 yuv420p $h264 -bf 3 -g 12 -x264-params cqm=jvt
make_film baseline.mp4 25 160x128 yuv420p $h264 -profile:v baseline
make_film main.ts 25 160x128 yuv420p $h264 -profile:v main
make_film hevc.mp4 25 200x130 yuv420p $h265
for film in in.mkv baseline.mp4 main.ts hevc.mp4; do
    host "$tmp/$film"
    chip full "" "$tmp/$film"
    same "$film: the chip decodes to the host's bytes" "$? $(equal) $(decoded) $(lines 'by the CPU')" \
        "0 equal $([ $film = in.mkv ] && echo 40 || echo 25) 0"
done
for part in "--start 0.6 --end 1.2" "--frames 7"; do
    host "$tmp/in.mkv" $part
    chip full "" "$tmp/in.mkv" $part
    same "a part of a film: $part" "$? $(equal) $(lines 'by the CPU')" "0 equal 0"
done
host "$tmp/in.mkv"
chip full mode=0 "$tmp/in.mkv"
same "on a module, too" "$? $(equal) $(decoded) $(lines fake)" "0 equal 40 0"
chip full "" "$tmp/in.mkv" --device ascend-om
same "with ascend-om the chip decodes too" "$? $(decoded)" "0 40"

# ---- what the CPU decodes in its place, and the one line that says so
refused() { # NAME WORDS KNOBS IN OPTIONS...
    name=$1
    words=$2
    knobs=$3
    shift 3
    host "$@"
    chip full "$knobs" "$@"
    same "$name" "$? $(equal) $(lines 'by the CPU') $(lines "decoded by the CPU: .*$words") $(lines fake)" "0 equal 1 1 0"
}
make_film deep.mkv 10 160x128 yuv420p10le $h265
make_film wide.mkv 10 160x128 yuv422p $h264
make_film small.mkv 10 96x64 yuv420p $h264
make_film level.mkv 10 160x128 yuv420p $h264 -level 5.2
make_film fields.mkv 10 160x128 yuv420p $h264 -flags +ildct+ilme -x264-params tff=1
make_film untimed.h264 10 160x128 yuv420p $h264
refused "10 bits" "8 bits a sample only" "" "$tmp/deep.mkv"
refused "4:2:2" "4:2:0 of 8 bits" "" "$tmp/wide.mkv"
refused "small frames" "128x128 to 4096x4096" "" "$tmp/small.mkv"
refused "a level above 5.1" "this profile or level" "" "$tmp/level.mkv"
refused "interlaced frames" "which field" "" "$tmp/fields.mkv" --deinterlace off
refused "a stream without times" "when their frames are shown" "" "$tmp/untimed.h264"
refused "live video" "wait for later ones" "" "$tmp/in.mkv" --low-latency
for kit in none operators; do
    host "$tmp/in.mkv"
    chip $kit "" "$tmp/in.mkv"
    same "libraries without a video decoder are no fault: $kit" "$? $(equal) $(decoded) $(lines 'by the CPU')" "0 equal 0 0"
done

# ---- faults before the first frame
refused "no channel is left" "cannot be opened.*(code 507018).*no channel of VDEC" vdec_refuse=507018 "$tmp/in.mkv"
refused "the first frame is refused" "cannot decode its first frames"  vdec_fail=0 "$tmp/in.mkv"
refused "the first frame is lost" "cannot decode its first frames"  vdec_lose=0 "$tmp/in.mkv"
refused "no memory" "the chip has no memory left"  memory=60000 "$tmp/in.mkv"
refused "a decoder that hangs before the first frame" "(code 507046)" vdec_hang=0 "$tmp/in.mkv"

# ---- and in mid-film
host "$tmp/in.mkv"
head -c $((20 * (6 + 256 * 256 * 3 / 2))) "$tmp/host.y4m" > "$tmp/begin"
for knobs in vdec_fail=30 vdec_lose=30 vdec_silent=30; do
    chip full $knobs "$tmp/in.mkv"
    same "$knobs: a lost frame is counted, the rest goes on" \
        "$? $(lines fake) $(cmp -n "$(wc -c < "$tmp/begin")" "$tmp/host.y4m" "$tmp/chip.y4m" && echo equal)" "0 0 equal"
    at_least "$knobs: frames" "$(cat "$tmp/chip.y4m" | wc -c | awk '{ print int($1 / (6 + 256 * 256 * 3 / 2)) }')" 26
    chip full $knobs "$tmp/in.mkv" --on-error stop
    same "$knobs: or ends the run" "$? $(lines 'damaged near') $(ls "$tmp/chip.y4m" 2>&1 | grep -c 'No such')" "1 1 1"
done
make_film fields.ts 20 160x128 yuv420p $h264 -flags +ildct+ilme -x264-params tff=1
make_film larger.ts 20 256x128 yuv420p $h264
make_film first.ts 25 200x130 yuv420p $h265
make_film last.ts 25 160x128 yuv420p $h265
for films in main,fields main,larger first,last; do
    ffmpeg -v error -i "concat:$tmp/${films%,*}.ts|$tmp/${films#*,}.ts" -c copy -f mpegts - < /dev/null > "$tmp/mixed.ts"
    chip full "" "$tmp/mixed.ts" --quiet
    same "frames that change: $films" "$? $(lines .) $(lines 'change their size or form (--device host decodes it)')" "1 1 1"
done
for device in ascend auto; do
    for fault in vdec_hang=30:507046 lost=130:507901; do
        chip full ${fault%:*} "$tmp/in.mkv" --device $device --quiet
        same "$device, ${fault%:*}: one line" "$? $(lines '^mona:\|^fake:') $(lines "(code ${fault#*:})") $(ls "$tmp/chip.y4m" 2>&1 | grep -c 'No such')" "1 1 1 1"
    done
done

# ---- a long film goes on elsewhere
resume="$sr --quiet --preset ultrafast --resume --segment 8"
sums() { ffmpeg -v error -i "$1" -f framecrc - < /dev/null | grep -v '^#' | cksum; }
"$mona" enhance "$tmp/in.mkv" -o "$tmp/whole.mkv" --device host $resume
# Pictures that come take less than five seconds on a slow machine.
MONA_ASCEND_TIMEOUT=5 LD_LIBRARY_PATH=$kits/full FAKE_ASCEND=vdec_hang=30 timeout 100 "$mona" enhance "$tmp/in.mkv" -o "$tmp/part.mkv" $resume 2> "$tmp/err"
same "a film whose decoder hangs keeps its segments" "$? $(lines 507046) $(find "$tmp/part.mkv.resume" -name '0*' | wc -l | sed 's/[1-9]/some/')" "1 1 some"
"$mona" enhance "$tmp/in.mkv" -o "$tmp/part.mkv" --device host $resume
same "and goes on on the host" "$? $(sums "$tmp/part.mkv")" "0 $(sums "$tmp/whole.mkv")"
