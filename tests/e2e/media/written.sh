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

# ---- numbers of streams (PIDs) ---------------------------------------------------------------------
# Of two streams of .ts, the first of which has the number that tables have in .m2ts.
ffmpeg -v error -y -i "$tmp/speaks.mkv" -map 0 -map 0:a -c:v libx264 -c:a aac "$tmp/two.ts"
for suffix in m2ts ts; do
    "$mona" enhance -y "$tmp/two.ts" -o "$tmp/out.$suffix" --stages sr --preset ultrafast 2> "$tmp/log"
    same "a .ts becomes .$suffix, and changed numbers are told" \
        "$? $(ffprobe -v error -show_entries stream=codec_name -of csv=p=0 "$tmp/out.$suffix" | tr -d '\n') $(grep -c 'other numbers (PIDs): 256' "$tmp/log")" \
        "0 $(ffprobe -v error -show_entries stream=codec_name -of csv=p=0 "$tmp/two.ts" | tr -d '\n') $([ $suffix = ts ] && echo 0 || echo 1)"
done
ffmpeg -v error -y -i "$tmp/two.ts" -map 0 -c copy -streamid 0:4096 -mpegts_pmt_start_pid 0x200 "$tmp/table.ts"
"$mona" enhance -y "$tmp/table.ts" -o "$tmp/out.ts" --stages sr --preset ultrafast 2> "$tmp/log"
same "a stream of .ts that has the number of mona's table" "$? $(grep -c 'other numbers (PIDs): 4096' "$tmp/log")" "0 1"

# ---- sound of discs and broadcasts -----------------------------------------------------------------
for codec in pcm_bluray:m2ts pcm_dvd:vob; do
    ffmpeg -v error -y -i "$tmp/film.y4m" -f lavfi -i sine=300:sample_rate=48000:duration=1 -c:v mpeg2video -c:a "${codec%:*}" "$tmp/disc.${codec#*:}"
    "$mona" enhance -y "$tmp/disc.${codec#*:}" -o "$tmp/out.mkv" --stages sr --preset ultrafast 2> "$tmp/log"
    same "${codec%:*} becomes FLAC of the same samples in .mkv" \
        "$? $(ffmpeg -v error -i "$tmp/out.mkv" -map 0:a -c:a pcm_s16le -f md5 -)" "0 $(ffmpeg -v error -i "$tmp/disc.${codec#*:}" -map 0:a -c:a pcm_s16le -f md5 -)"
done
ffmpeg -v error -y -f lavfi -i testsrc2=s=96x54:d=3 -itsoffset 2 -f lavfi -i sine=300:sample_rate=48000:duration=1 -map 0 -map 1 -map 1 \
    -c:v libx264 -bf 0 -g 10 -c:a:0 ac3 -c:a:1 aac -f mpegts -mpegts_m2ts_mode 1 "$tmp/begins_late.m2ts"
"$mona" enhance -y "$tmp/begins_late.m2ts" -o "$tmp/out.mkv" --stages sr --preset ultrafast --quiet
same "sound that begins two seconds late" "$? $(ffprobe -v error -show_entries stream=codec_name -of csv=p=0 "$tmp/out.mkv" | tr '\n' ' ')" "0 h264 ac3 aac "
# libav announces an AC-3 beside each TrueHD of .m2ts.
ffmpeg -v error -y -i "$tmp/film.y4m" -f lavfi -i sine=300:sample_rate=48000:duration=1 -c:v libx264 -c:a truehd -strict -2 "$tmp/silent.m2ts"
"$mona" enhance -y "$tmp/silent.m2ts" -o "$tmp/out.mkv" --stages sr --preset ultrafast 2> "$tmp/log"
same "sound of which nothing was found is refused by name" "$? $(grep -c 'stream 2 (audio, ac3, of which nothing was found).*--drop-unsupported' "$tmp/log")" "1 1"
"$mona" enhance -y "$tmp/silent.m2ts" -o "$tmp/out.ts" --stages sr --preset ultrafast --drop-unsupported 2> "$tmp/log"
same "or left out" "$? $(ffprobe -v error -show_entries stream=codec_name -of csv=p=0 "$tmp/out.ts" | grep -c truehd)" "0 2"

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
