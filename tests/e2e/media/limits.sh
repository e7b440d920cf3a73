#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --limit and MONA_POLICY: each limit that is hit ends the run with one line and leaves nothing, and options lower a service's limits only.
. tests/tap.inc

film 40 "$tmp/a.y4m" 160x90
ffmpeg -v error -i "$tmp/a.y4m" -c:v mpeg4 "$tmp/a.mkv"
ffmpeg -v error -i "$tmp/a.y4m" -frames:v 1 "$tmp/p.png"
ffmpeg -v error -i "$tmp/a.y4m" -frames:v 1 -pix_fmt rgb24 "$tmp/p.tiff"
ffmpeg -v error -i "$tmp/a.mkv" -map 0 -map 0 -map 0 -map 0 -c copy "$tmp/four.mkv"
enhance() { "$mona" enhance -y --quiet --stages sr "$@"; }
fails_clean() { # NAME WORDS COMMAND...
    fails "$@"
    nothing "$1: nothing is left" "$(find "$tmp" -name '*.part')"
}

fails_clean "pixels of a film" "a.mkv: expected at most 14000 pixels (--limit pixels), found 160x90, which are 14400" enhance --limit pixels=14K "$tmp/a.mkv" -o "$tmp/x.mkv"
for p in png tiff; do
    fails_clean "pixels of a $p" "p.$p: expected at most 14000 pixels (--limit pixels), found 160x90" enhance --limit pixels=14000 "$tmp/p.$p" -o "$tmp/x.png"
done
# libav counts pixels with the width rounded up; as many as there are is enough, whatever the width is.
ffmpeg -v error -i "$tmp/a.y4m" -frames:v 2 -vf crop=90:50 "$tmp/odd.mkv"
ffmpeg -v error -i "$tmp/a.y4m" -frames:v 1 -vf crop=90:50 -pix_fmt rgb24 "$tmp/odd.tiff"
for kind in mkv tiff; do
    to=$([ $kind = mkv ] && echo mkv || echo png)
    succeeds "just the pixels of a $kind" enhance --limit pixels=4500 "$tmp/odd.$kind" -o "$tmp/x.$to"
    fails_clean "one pixel too many of a $kind" "odd.$kind: expected at most 4499 pixels (--limit pixels), found 90x50, which are 4500" enhance --limit pixels=4499 "$tmp/odd.$kind" -o "$tmp/x.$to"
done
ffmpeg -v error -i "$tmp/a.y4m" -frames:v 2 -c:v mpeg2video "$tmp/larger.m2v"
ffmpeg -v error -i "$tmp/odd.mkv" -c:v mpeg2video "$tmp/grows.m2v"
cat "$tmp/larger.m2v" >> "$tmp/grows.m2v"
fails_clean "a film that becomes larger" "grows.m2v: expected at most 4500 pixels (--limit pixels), found 160x90, which are 14400" enhance --limit pixels=4500 "$tmp/grows.m2v" -o "$tmp/x.mkv"
ffmpeg -v error -i "$tmp/odd.mkv" -c:v mpeg2video "$tmp/bursts.m2v"
ffmpeg -v error -i "$tmp/odd.mkv" -vf scale=2000:1100 -c:v mpeg2video "$tmp/large.m2v"
cat "$tmp/large.m2v" >> "$tmp/bursts.m2v"
fails_clean "much larger" "bursts.m2v: expected at most 4500 pixels (--limit pixels), found 2000x1100" enhance --limit pixels=4500 "$tmp/bursts.m2v" -o "$tmp/x.mkv"
# Before anything is decoded: these say how large they are, and hold next to nothing.
/usr/bin/python3 - "$tmp" << 'END'
import struct
import sys
side, data = 16000, b'\x80\x01'
tags = (256, side), (257, side), (258, 8), (259, 5), (262, 1), (273, 122), (277, 1), (278, side), (279, len(data))
files = {
    'tiff': b'II*\0\x08\0\0\0' + struct.pack('<H', len(tags)) + b''.join(struct.pack('<HHII', t, 4, 1, v) for t, v in tags) + bytes(4) + data,
    'bmp': b'BM' + struct.pack('<IIIIiiHHIIiiII', 1080, 0, 1078, 40, side, side, 1, 8, 1, 2, 0, 0, 256, 0) + bytes(1024) + b'\0\1',
    'webp': b'RIFF' + struct.pack('<I', 82) + b'WEBPVP8L' + struct.pack('<IBI', 70, 47, side - 1 | side - 1 << 14) + bytes(65),
    'pgm': b'P5 16000 16000 255\n',
    'ppm': b'P6 16000 16000 255\n',
    'gif': b'GIF89a' + struct.pack('<HHBBB', side, side, 128, 0, 0) + bytes(6) + b',' + struct.pack('<HHHHBB', 0, 0, side, side, 0, 2) + b'\2\x44\1\0;',
}
for name, data in files.items():
    for place in ('large.', 'many01.', 'many02.'):
        open(sys.argv[1] + '/' + place + name, 'wb').write(data)
END
found="expected at most 1000000 pixels (--limit pixels), found 16000x16000, which are 256000000"
for p in tiff bmp webp pgm ppm; do
    fails_clean "pixels that a $p announces" "large.$p: $found" enhance --limit pixels=1M "$tmp/large.$p" -o "$tmp/x.png"
    [ $p = webp ] || fails_clean "pixels that each $p announces" "many%02d.$p: $found" enhance --limit pixels=1M "$tmp/many%02d.$p" -o "$tmp/x.mkv"
done
fails_clean "pixels that a gif announces" "large.gif: $found" enhance --limit pixels=1M "$tmp/large.gif" -o "$tmp/x.mkv"
for asked in "--dry-run --scale 2" "--width 200"; do
    # shellcheck disable=SC2086
    fails_clean "before its size is asked for $asked" "large.tiff: $found" enhance --limit pixels=1M $asked "$tmp/large.tiff" -o "$tmp/x.png"
done
fails_clean "streams" "four.mkv: found more streams than --limit streams allows, 4" enhance --limit streams=3 "$tmp/four.mkv" -o "$tmp/x.mkv"
fails_clean "streams, live" "four.mkv: found more streams than --limit streams allows, 4" enhance --live --limit streams=3 "$tmp/four.mkv" -o "$tmp/x.mkv"
# memory is that of data; sanitisers reserve more than any machine has
if [ -z "$SANITIZE" ]; then
    ffmpeg -v error -i "$tmp/p.png" -vf scale=1920x1080 "$tmp/large.png"
    for memory in 60M 90M 150M; do
        fails_clean "memory=$memory" "--limit memory is in effect" enhance -j 1 --limit memory=$memory "$tmp/large.png" -o "$tmp/x.png" --scale 4
    done
    # x264 has a line of its own where it is its memory that is short.
    enhance -j 1 --limit memory=110M "$tmp/a.mkv" -o "$tmp/x.mkv" --scale 12 > "$tmp/log" 2>&1
    same "memory of codecs" "$? $(grep -v '^x264' "$tmp/log" | sed 's/.*; //')" "1 --limit memory is in effect"
    nothing "memory of codecs: nothing is left" "$(find "$tmp" -name '*.part')"
    # Of x265, by how little it gets, the threads are refused, which it waits for, or the memory, which it uses anyway, or
    # of which C++'s library has two lines of its own.
    for memory in 120M 130M 500M; do
        timeout 60 "$mona" enhance -y --quiet --stages sr --limit memory=$memory --scale 12 -c hevc "$tmp/a.mkv" -o "$tmp/x.mkv" > "$tmp/log" 2>&1
        same "memory of x265: $memory" "$? $(grep -vE '^x265|std::bad_alloc' "$tmp/log" | sed 's/.*; //') $(find "$tmp" -name '*.part')" "1 --limit memory is in effect "
    done
fi
fails_clean "time" "given up after 0.3 s, as --limit time says" "$mona" enhance -y --quiet --limit time=300ms \
    --tier best --scale 8 -j 1 "$tmp/a.mkv" -o "$tmp/x.mkv"
kept=pixels=1M,time=10m,streams=4
[ -n "$SANITIZE" ] || kept=memory=4G,$kept
succeeds "limits that are kept" enhance --limit $kept "$tmp/four.mkv" -o "$tmp/x.mkv"
for wrong in size=3 memory memory=x memory=-1 memory=2GB pixels=0 time=0 streams=1e99 ""; do
    fails "--limit $wrong" "--limit: expected" enhance --limit "$wrong" "$tmp/a.mkv" -o "$tmp/x.mkv"
done

# ---- a service's policy ----------------------------------------------------------------------------
printf '# of uploads\nlimit pixels=14000,streams=64\n\nlimit time=10m # each\n' > "$tmp/policy"
with() { MONA_POLICY=$tmp/policy "$@"; }
fails "a policy holds without options" "expected at most 14000 pixels" with enhance "$tmp/a.mkv" -o "$tmp/x.mkv"
fails "options do not raise it" "expected at most 14000 pixels" with enhance --limit pixels=1M "$tmp/a.mkv" -o "$tmp/x.mkv"
fails "but lower it" "more streams than" with enhance --limit streams=3 "$tmp/four.mkv" -o "$tmp/x.mkv"
with "$mona" enhance -y --quiet "$tmp/a.mkv" "$tmp/p.png" --out-dir "$tmp/all" 2> "$tmp/log"
same "in a batch, for each file" "$? $(grep -c 'expected at most 14000 pixels' "$tmp/log")" "1 2"
fails "playlists are refused" "--allow playlist: the policy" with enhance --allow playlist "$tmp/a.mkv" -o "$tmp/x.mkv"
echo "allow playlist" > "$tmp/policy"
succeeds "unless it allows them" with enhance --allow playlist "$tmp/a.mkv" -o "$tmp/x.mkv"
echo "sandbox required" > "$tmp/policy"
fails "a sandbox that is required" "--no-sandbox: the policy" with enhance --no-sandbox "$tmp/a.mkv" -o "$tmp/x.mkv"
fails "in every command" "--no-sandbox: the policy" with "$mona" inspect --no-sandbox sr_x2_fast
case "$("$mona" devices 2>&1 > /dev/null)" in
*"Landlock"*"seccomp"*) succeeds "which is there" with enhance "$tmp/a.mkv" -o "$tmp/x.mkv" ;;
*) fails "and is not there" "requires a sandbox" with enhance "$tmp/a.mkv" -o "$tmp/x.mkv" ;;
esac
for line in "limit size=3" "allow all" "sandbox" "sandbox required now" "limits memory=1G"; do
    printf '\n%s\n' "$line" > "$tmp/policy"
    fails "a policy of '$line'" "policy, line 2: expected" with enhance "$tmp/a.mkv" -o "$tmp/x.mkv"
done
rm "$tmp/policy"
fails "a policy that is missing" "MONA_POLICY: $tmp/policy: cannot be read" with enhance "$tmp/a.mkv" -o "$tmp/x.mkv"
