#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each call of FFmpeg and of its codecs, in the runs of fault_points.sh, fails once. Both tiers try a sample, as all
# of them take three quarters of an hour: fault_points.py FOLDER libraries 1.
. tests/tap.inc
. tests/e2e/media/fault_points.inc

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
    points libraries 5
    points libraries 1 library-hevc:thread
    points libraries 2 resume:malloc film:av
else
    points libraries 300 film:malloc library:malloc
fi
