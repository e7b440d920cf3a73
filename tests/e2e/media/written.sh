#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What libav's writers make of a file without an error: languages of .mov, packets of .m2ts, short frames of a GIF.
. tests/tap.inc

film 6 "$tmp/film.y4m" 96x54
# $1: the language of its sound
speaks() {
    ffmpeg -v error -y -i "$tmp/film.y4m" -f lavfi -i sine=d=0.2 -map 0 -map 1 -c:v ffv1 -c:a aac -metadata:s:a:0 language="$1" "$tmp/speaks.mkv"
}
# $1: the language, $2: the suffix of the output. Prints what the result has, and what was told.
language_in() {
    "$mona" enhance -y "$tmp/speaks.mkv" -o "$tmp/out.$2" --stages sr --preset ultrafast 2> "$tmp/log" || cat "$tmp/log"
    echo "$(ffprobe -v error -select_streams a -show_entries stream_tags=language -of csv=p=0 "$tmp/out.$2" | head -n 1) $(grep -c \
        "cannot hold the tag 'language' of stream 1" "$tmp/log")"
}
# QuickTime has numbers of languages, which libav reads as these codes.
for pair in deu:ger $(! full || echo eng:eng fre:fra fra:fra ger:ger swe:sve zho:chi); do
    speaks "${pair%:*}"
    same "${pair%:*} in .mov" "$(language_in "${pair%:*}" mov)" "${pair#*:} 0"
    same "${pair%:*} in .mp4" "$(language_in "${pair%:*}" mp4)" "${pair%:*} 0"
done
speaks gle
same "Irish has no number: that is told" "$(language_in gle mov) $(language_in gle mp4)" " 1 gle 0"
speaks en
same "a code of two letters is told where it is lost" "$(language_in en mp4) $(language_in en ts) $(language_in en mkv)" " 1  1 en 0"

# ---- .m2ts: packets of 192 bytes, the last 188 of which begin with 0x47 --------------------------
packet() {
    echo "$(($(wc -c < "$1") % 192)) $(od -A n -t x1 -j 4 -N 1 "$1") $(od -A n -t x1 -j 196 -N 1 "$1")"
}
speaks deu
ffmpeg -v error -y -i "$tmp/speaks.mkv" -c:v libx264 -c:a copy "$tmp/ffmpeg.m2ts"
for options in "" --resume --live; do
    # shellcheck disable=SC2086
    "$mona" enhance -y "$tmp/speaks.mkv" -o "$tmp/out.m2ts" --stages sr --preset ultrafast --quiet $options
    same ".m2ts has the packets of Blu-ray discs, as ffmpeg's $options" "$? $(packet "$tmp/out.m2ts")" "0 $(packet "$tmp/ffmpeg.m2ts")"
done

# ---- GIF ---------------------------------------------------------------------------------------
# $1: frames a second. Prints what was told of short frames.
short_at() {
    "$mona" enhance -y -r "$1" "$tmp/%d.png" -o "$tmp/out.gif" --stages sr 2> "$tmp/log"
    echo "$? $(grep -o 'shorter than .*' "$tmp/log")"
}
ffmpeg -v error -i "$tmp/film.y4m" "$tmp/%d.png"
same "a GIF of 50 frames a second is shown as it is" "$(short_at 50)" "0 "
same "of one of 100 it is told that players show it ten times as long" "$(short_at 100)" "0 shorter than 1/50 s for 1/10 s: 5 frames; .mov would keep their times"
same "as ffprobe does" "$(ffprobe -v error -show_entries format=duration -of csv=p=0 "$tmp/out.gif")" 0.600000
