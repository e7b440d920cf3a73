#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Films, also resumed, in a batch and live, with the sanitiser of threads: mona has no race. What tests/races.txt passes over
# is told of FFmpeg alone, by a program without mona. chip_threads.sh has chips, sanitised_api.sh libmonavideo.
. tests/tap.inc
clang=$(command -v clang || command -v gcc)
clip() { # FILE FRAMES OPTION...
    made=$1 frames=$2
    shift 2
    ffmpeg -v error -f lavfi -i "testsrc2=s=160x96:r=25,noise=alls=30:allf=t:all_seed=5,format=yuv420p" -f lavfi -i sine -frames:v "$frames" -shortest "$@" "$made"
}
clip "$tmp/in.mp4" 12 -c:v libx264 -x264-params keyint=4
clip "$tmp/in.ts" 12 -c:v mpeg2video
clip "$tmp/old.mkv" 6 -vf interlace -c:v mpeg4 -flags +ildct+ilme
ffmpeg -v error -i "$tmp/in.mp4" -frames:v 1 "$tmp/in.png"

# ---- FFmpeg alone -------------------------------------------------------------------------------
# shellcheck disable=SC2046
succeeds "a program without mona" "$clang" -g -O1 -fsanitize=thread -o "$tmp/races" tests/e2e/media/races.c \
    $(pkg-config --cflags --libs libavformat libavcodec libavfilter libavutil)
races() { # FILE OPTION...; what is in FILE is passed over
    passed=$1
    shift
    TSAN_OPTIONS="exitcode=66:suppressions=$passed" "$tmp/races" "$tmp/in.mp4" "$@" > "$tmp/log" 2>&1
}
# $1: a library, rest: what has it report something, in most runs. If nothing does any more, its line is to go.
told() {
    library=$1
    shift
    grep '^called_from_lib' tests/races.txt | grep -v "$library" > "$tmp/others"
    for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
        races "$tmp/others" "$@"
        found="$? $(grep -A 4 -e ' of size ' -e WARNING "$tmp/log" | grep -c -m 1 "#[01].*$library")"
        [ "$found" != "66 1" ] || break
    done
    same "told of FFmpeg alone: $library" "$found" "66 1"
    races "$PWD/tests/races.txt" "$@"
    same "and passed over" "$? $(grep -c WARNING "$tmp/log")" "0 0"
}
told libavcodec 1 '' ffv1
told libavutil 4 '' ''
told libavfilter 1 bwdif ''
told libx265 1 '' libx265
told libSvtAv1Enc 1 '' libsvtav1
same "no other library is passed over" "$(grep -c '^[^#]' tests/races.txt)" 5

# ---- mona ---------------------------------------------------------------------------------------
succeeds "mona with it" make -s --no-print-directory -j"$(nproc)" BUILD="$BUILD/races" CC="$clang" SANITIZE=thread CFLAGS="-O1 -Wno-pass-failed" \
    "$BUILD/races/mona" "$BUILD/races/tests/test_stream" "$BUILD/races/tests/test_pool" "$BUILD/races/tests/test_packet_queue"
export TSAN_OPTIONS="exitcode=66:second_deadlock_stack=1:suppressions=$PWD/tests/races.txt"
without() { # NAME OPTION...
    name=$1
    shift
    "$BUILD/races/mona" enhance -y "$@" > "$tmp/log" 2>&1 < /dev/null
    same "$name: no race" "$? $(grep -m 3 -A 12 WARNING "$tmp/log")" "0 "
}
without "H.264" "$tmp/in.mp4" -o "$tmp/out.mp4" -j 3 --grain keep --preset ultrafast
without "HEVC" "$tmp/in.mp4" -o "$tmp/out.mkv" -j 2 -c hevc --preset ultrafast
without "interlaced" "$tmp/old.mkv" -o "$tmp/out.mkv" -j 3 -c ffv1 --fields double
without "strips" "$tmp/in.mp4" -o "$tmp/strips.mkv" -j 2 -c ffv1 --strip-rows 6
without "resumable" "$tmp/in.mp4" -o "$tmp/resumed.mkv" -j 3 -c ffv1 --resume --segment 4
without "AV1" "$tmp/in.mp4" -o "$tmp/out.mkv" -j 2 -c av1 --preset 12
without "live" "$tmp/in.ts" -o "$tmp/live.ts" -j 3 --live --preset ultrafast
without "a picture" "$tmp/in.png" -o "$tmp/out.png" -j 3
without "a batch" "$tmp/in.mp4" "$tmp/old.mkv" "$tmp/in.png" --out-dir "$tmp/all" --grain 0.5 --preset ultrafast
for test in test_stream test_pool test_packet_queue; do
    CMOCKA_MESSAGE_OUTPUT=TAP "$BUILD/races/tests/$test" > "$tmp/log" 2>&1
    same "$test: no race" "$? $(grep -c '^not ok' "$tmp/log") $(grep -m 3 -A 12 WARNING "$tmp/log")" "0 0 "
done
