#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona in one file, made by make static: what it needs, its size, its bytes. make check-static calls it.
# ONE_FILE: another such file; of another CPU, QEMU runs it: "qemu-aarch64 -L /usr/aarch64-linux-gnu".
. tests/tap.inc

one=${ONE_FILE:-$BUILD/static/mona}
libraries='libc.so.6|libm.so.6|libmvec.so.1|libpthread.so.0|libdl.so.2|librt.so.1|ld-linux-[a-z0-9_-]*.so.[0-9]'
same "it needs nothing but the C library" "$(objdump -p "$one" | awk '$1 == "NEEDED" { print $2 }' | grep -vxcE "$libraries")" 0
size=$(stat -L -c %s "$one")
same "it has at most 40 MB ($size bytes)" "$((size <= 40000000))" 1
echo "# newest version of a symbol: $(objdump -T "$one" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)"
same "it names FFmpeg's licence" "$(${QEMU:-} "$one" --version | grep -c 'GPL version 3')" 1
film 3 "$tmp/film.y4m" 320x180
ffmpeg -v error -i "$tmp/film.y4m" -c:v ffv1 "$tmp/film.mkv"
for of in "$mona" "${QEMU:-} $one"; do
    $of enhance "$tmp/film.mkv" -o "$tmp/out.y4m" -y --quiet 2> "$tmp/log" || cat "$tmp/log"
    cksum < "$tmp/out.y4m"
done | sort -u > "$tmp/sums"
same "a film has the same bytes as from the usual build" "$(wc -l < "$tmp/sums")" 1
for codec in h264 hevc av1 vp9 ffv1; do
    ${QEMU:-} "$one" enhance "$tmp/film.mkv" -o "$tmp/$codec.mkv" -c $codec --quiet 2> "$tmp/log" || cat "$tmp/log"
    same "it encodes $codec" "$(ffprobe -v error -count_frames -show_entries stream=codec_name,nb_read_frames -of csv=p=0 "$tmp/$codec.mkv")" "$codec,3"
done
