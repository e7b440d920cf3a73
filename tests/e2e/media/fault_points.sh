#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each call of eight short runs to the system, to libc and to FFmpeg fails once: the run ends with its result, or with
# one line, status 1 and nothing left behind. The power goes before each call that changes what the disk holds, and the
# next run makes the same result. The short tier tries a sample, the full one all of them.
. tests/tap.inc
CC=${CC:-cc}

if [ -n "$SANITIZE" ] || ! printf '#include <features.h>\n__GLIBC__' | $CC -E - 2> /dev/null | tail -n 1 | grep -q '[0-9]'; then
    skip "faults are injected with a preloaded library, which needs glibc and a build without sanitisers"
    exit 0
fi
# shellcheck disable=SC2046
succeeds "the faults compile" $CC -O1 -fPIC -shared -fno-builtin -w -o "$tmp/faults.so" tests/e2e/media/faults.c \
    $(pkg-config --cflags libavcodec libavutil) -ldl
succeeds "and a program that uses the library" $CC -std=c11 -Wall -Werror -Ipipeline -o "$tmp/library" tests/e2e/media/fault_library.c \
    -L"$BUILD" -lmonavideo -Wl,-rpath,"$PWD/$BUILD"
same "the list of faults has every function of FFmpeg that mona calls" "$({
    nm -D --undefined-only "$mona" "$BUILD/libmonavideo.so" | sed 's/@.*//' | awk '$1 == "U" && $2 ~ /^(av|sws|swr)/ { print $2 }'
    find "$BUILD" -name on_demand.inc -exec sed -n 's/^FUNCTION(\([a-z0-9_A-Z]*\),.*/\1/p' {} +
} | sort -u | while read -r name; do grep -qE "\\($name[,)]|^int $name\\(" tests/e2e/media/fault_calls.inc tests/e2e/media/faults.c || echo "$name"; done) done" " done"

# Six frames with what a container may have beside them.
cat > "$tmp/about" << 'ABOUT'
;FFMETADATA1
title=A film
[CHAPTER]
TIMEBASE=1/1000
START=0
END=100
title=First
[CHAPTER]
TIMEBASE=1/1000
START=100
END=240
title=Second
ABOUT
printf '1\n00:00:00,000 --> 00:00:00,200\nOne line\n' > "$tmp/text.srt"
ffmpeg -v error -f lavfi -i testsrc2=s=64x48:r=25 -f lavfi -i sine -i "$tmp/text.srt" -i "$tmp/about" -map_metadata 3 -map 0 -map 1 -map 2 \
    -t 0.24 -c:v mpeg4 -g 3 -c:a aac -c:s mov_text "$tmp/in.mp4"
ffmpeg -v error -f lavfi -i testsrc2=s=64x48:r=25 -t 0.24 -c:v mpeg2video "$tmp/in.ts"
ffmpeg -v error -f lavfi -i testsrc2=s=40x32 -frames:v 1 "$tmp/in.png"
cp tests/fuzz/corpus/int8/residual.onnx "$tmp/net.onnx"

# $1: from where the calls come, $2: every how manieth fails, rest: runs
points() {
    from=$1
    MONA=$mona PYTHONDONTWRITEBYTECODE=1 python3 tests/e2e/media/fault_points.py "$tmp" "$@" > "$tmp/found" 2>&1
    sed -n "s/^points \(.*: .* of\)/# by $from, \1/p" "$tmp/found"
    same "calls by $from: $(sed -n 's/^points in all: //p' "$tmp/found") faults" "$? $(grep -v '^points' "$tmp/found" | head -n 40)" "0 "
}
# $1: run, $2: of the disks that the power may leave, every how manieth is tried
power() {
    MONA=$mona PYTHONDONTWRITEBYTECODE=1 python3 tests/e2e/media/power_loss.py "$tmp" "$2" "$1" > "$tmp/found" 2>&1
    same "power that goes, $1: $(sed -n 's/^moments //p' "$tmp/found") that it may leave" "$? $(grep -v '^moments' "$tmp/found")" "0 "
}
# x265 waits for ever for a thread that the system refuses, of which the library does not hear: when it opens where all
# are refused, with a frame (x265 4 when it opens) where it is the first alone.
refused() {
    (cd "$tmp" && MONA_FAULT=thread:1:11 MONA_FAULT_FROM=libraries MONA_FAULT_OBJECT=libmonavideo LD_PRELOAD=$tmp/faults.so \
        timeout 60 ./library in.mp4 refused.mkv hevc > refused.log 2>&1 < /dev/null)
    same "libmonavideo, $1 refused to x265" "$? $(grep -c "^mona: libx265 $2" "$tmp/refused.log") $(grep -c ^mona: "$tmp/refused.log") \
$(find "$tmp" -name 'refused.mkv*')" "1 1 1 "
}
MONA_FAULT_ENDLESS=1 refused "all threads that are" 'does not start: the system refused a thread'
refused "one thread that is" '\(does not start: the system refused\|waits for ever at frame [0-9]*: the system refused it\) a thread'
# libav goes on with a part of a film's index where it gets no memory for the rest.
shortened() {
    for n in $(seq 60 140); do
        MONA_FAULT=malloc:$n:12 MONA_FAULT_FROM=libraries LD_PRELOAD=$tmp/faults.so "$mona" enhance -y "$tmp/in.mp4" -o "$tmp/short.mkv" \
            --stages sr --preset ultrafast -j 1 2> "$tmp/short.log" < /dev/null || continue
        echo "$(ffprobe -v error -count_packets -select_streams v -show_entries stream=nb_read_packets -of csv=p=0 "$tmp/short.mkv") \
$(grep -c 'of the 6 frames that the file announces, the last 4 are missing' "$tmp/short.log")"
    done | sort -u | tr '\n' ';'
}
if full; then
    same "an index that is cut short is told" "$(shortened)" "2 1;6 0;"
    power resume 1
    power film 1
    points program 1
    points program 1 hevc:thread av1:thread
    points libc 1
    points libraries 5
    points libraries 1 library-hevc:thread resume:malloc
    points libraries 2 film:av
else
    power resume 8
    points program 3 hevc:thread
    points program 20 av1:thread
    points program 48 film still live resume batch compile library
    points libraries 300 film:malloc library:malloc
fi
