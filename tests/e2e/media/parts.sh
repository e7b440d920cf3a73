#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Parts of a film, made in any order, twice or at once, and joined: the same bytes as of the whole film in one
# run, and the frames, times and sound that it has without segments.
. tests/tap.inc

# Sources whose frames are found in many ways. Noise makes each frame another one.
moves="testsrc2=s=96x64:r=25:d=16,noise=alls=12:allf=t:all_seed=7"
make_film() {
    film=$1
    shift
    ffmpeg -v error -y -f lavfi -i "$moves" -f lavfi -i sine=500:duration=16 "$@" -shortest -metadata title=Parts "$tmp/$film" < /dev/null
}
h264="-c:v libx264 -preset veryfast -pix_fmt yuv420p"
films="closed.mp4 changes.ts"
make_film closed.mp4 $h264 -g 30 -bf 2 -c:a aac
# Size and range change before the parts that are made first: each is like the film's first frame.
for change in tv:5:96x64 pc:7:128x96; do
    seconds=${change#*:}
    ffmpeg -v error -f lavfi -i "$moves" -t "${seconds%:*}" -s "${change##*:}" $h264 -color_range "${change%%:*}" -g 30 -bf 0 -f h264 - < /dev/null
done > "$tmp/changes.264"
ffmpeg -v fatal -y -r 25 -i "$tmp/changes.264" -c copy "$tmp/changes.ts" < /dev/null
if full; then
    films="$films open.mkv fields.mpg.ts field.mkv hidden.mkv vfr.mkv open265.mkv av1.mkv vp9.webm clip.mov film.avi few.mp4 raw.y4m broadcast.ts cut.mp4"
    make_film open.mkv $h264 -x264-params open-gop=1:keyint=40:bframes=3 -c:a libopus
    make_film fields.mpg.ts -c:v mpeg2video -g 15 -bf 2 -flags +ildct+ilme -top 1 -c:a mp2
    make_film field.mkv -vf interlace=lowpass=off $h264 -g 50 -flags +ildct+ilme -c:a flac
    make_film hidden.mkv -vf "interlace=lowpass=off,setfield=prog" $h264 -g 50 -c:a flac
    make_film vfr.mkv -vf "select='mod(n\,7)*mod(n\,5)'" -fps_mode vfr $h264 -g 24 -c:a aac
    make_film open265.mkv -c:v libx265 -x265-params log-level=none:keyint=40:open-gop=1 -preset ultrafast -pix_fmt yuv420p -c:a aac
    make_film av1.mkv -c:v libsvtav1 -preset 12 -g 40 -pix_fmt yuv420p -c:a libopus 2> /dev/null
    make_film vp9.webm -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 40 -pix_fmt yuv420p -c:a libopus
    make_film clip.mov -c:v prores_ks -pix_fmt yuv422p10le -c:a pcm_s16le
    make_film film.avi -c:v mpeg4 -g 20 -bf 2 -c:a mp3
    make_film few.mp4 $h264 -g 1000 -sc_threshold 0 -keyint_min 1000 -c:a aac
    ffmpeg -v error -f lavfi -i "$moves" -pix_fmt yuv420p -y "$tmp/raw.y4m" < /dev/null
    make_film broadcast.ts $h264 -g 30 -bf 2 -output_ts_offset 95000 -c:a mp2
    ffmpeg -v error -ss 1.3 -i "$tmp/closed.mp4" -c copy -y "$tmp/cut.mp4" < /dev/null # an edit list
fi

stateless="--stages denoise --strength 0 --temporal off -c ffv1"
see() {
    video_times "$1"
    frames_md5 "$1"
    case $film in *.y4m) ;; *) packets_md5 "$1" a ;; esac
    ffprobe -v error -show_entries format_tags=title:stream=codec_type,nb_read_packets -count_packets -of csv "$1"
}
# Matroska files differ by a random number.
packets() {
    ffmpeg -v error -i "$1" -map 0 -c copy -f framemd5 - < /dev/null
    ffprobe -v error -show_entries format=duration:format_tags:stream=codec_name,duration:stream_tags -of csv "$1"
}
# $1: how many parts, in descending order; rest: the command. Their number in $tmp/out.mkv, joined.
in_parts() {
    parts=$1
    shift
    rm -rf "$tmp/out.mkv"*
    k=$parts
    while [ "$k" -gt 0 ]; do
        "$mona" enhance "$@" -o "$tmp/out.mkv" --part "$k/$parts" --quiet < /dev/null 2>> "$tmp/errors" || echo "part $k: $?" >> "$tmp/errors"
        k=$((k - 1))
    done
    "$mona" join "$tmp/out.mkv" --quiet 2>> "$tmp/errors"
}
for film in $films; do
    : > "$tmp/errors"
    kind=searchable,progressive
    every=
    case $film in
        film.avi) kind=in-order ;;
        few.mp4) kind=in-order every="--resume --segment 100" ;;
        field.mkv | hidden.mkv) kind=searchable,fields ;;
    esac
    # shellcheck disable=SC2086
    {
        "$mona" enhance "$tmp/$film" -o "$tmp/plain.mkv" -y $stateless --quiet
        in_parts 3 "$tmp/$film" $stateless $every
    }
    see "$tmp/plain.mkv" > "$tmp/wanted"
    see "$tmp/out.mkv" > "$tmp/found"
    same "$film: what the film in one run has" "$(cat "$tmp/errors")$(cmp "$tmp/wanted" "$tmp/found" && wc -l < "$tmp/wanted")" "$(wc -l < "$tmp/found")"
    # The whole chain, whose stages follow the film.
    options="--preset ultrafast --colour 0.7 --resume $every"
    # shellcheck disable=SC2086
    {
        "$mona" enhance "$tmp/$film" -o "$tmp/whole.mkv" -y $options --quiet
        in_parts 5 "$tmp/$film" $options
    }
    packets "$tmp/whole.mkv" > "$tmp/wanted"
    packets "$tmp/out.mkv" > "$tmp/found"
    same "$film: joined, the same packets as in one run" "$(cat "$tmp/errors")$(cmp "$tmp/wanted" "$tmp/found" && wc -l < "$tmp/wanted") $(
        ls -d "$tmp"/out.mkv*)" "$(wc -l < "$tmp/found") $tmp/out.mkv"
    # shellcheck disable=SC2086
    "$mona" enhance "$tmp/$film" -o "$tmp/out.mkv" -y $options --part 5/5 --quiet
    same "$film: how it is cut" "$(sed -n 's/^segments [0-9]* //p' "$tmp/out.mkv.resume/work")" $kind
done
rm -rf "$tmp"/out.mkv*

# ---- where films are entered ------------------------------------------------------------------------
# A group of pictures is not decoded twice: the entry lies only as far ahead as the stages and the search for fields need.
film=long.mp4
make_film $film $h264 -g 120 -sc_threshold 0 -keyint_min 120 -an
"$mona" enhance "$tmp/$film" -o "$tmp/out.mkv" --part 5/5 --colour 0.7 --preset ultrafast --quiet
same "the film is entered just before each segment" "$(awk 'NR == 3 { print $1, $2 } NR > 4 && NF == 3 && $1 != "sum" { print ($1 > $2), ($1 - $2 <= 20 * 512) }' \
    "$tmp/out.mkv.resume/work" | tr '\n' ' ')" "segments 3 1 1 1 1 "
rm -rf "$tmp"/out.mkv*

# ---- twice, at once, and not at all -----------------------------------------------------------------
film=closed.mp4
options="--preset ultrafast --segment 80 --quiet"
# shellcheck disable=SC2086
part() {
    "$mona" enhance "$tmp/$film" -o "$tmp/out.mkv" $options --part "$@" 2>> "$tmp/errors"
}
# shellcheck disable=SC2086
"$mona" enhance "$tmp/$film" -o "$tmp/whole.mkv" -y --resume $options
: > "$tmp/errors"
part 2/3
part 2/3
made=$(stat -c %Y.%i "$tmp"/out.mkv.resume/0*)
part 2/3
same "a part again: nothing is made again, nothing is said" "$(stat -c %Y.%i "$tmp"/out.mkv.resume/0*) $(cat "$tmp/errors")" "$made "
fails "a part that is missing is named" "out.mkv.resume: expected 5 whole segments, found 2; missing: 000000 (part 1/3), missing: 000003 to 000004 (part 3/3)" \
    "$mona" join "$tmp/out.mkv"
part 3/3 &
one=$!
part 3/3 &
two=$!
part 1/3
wait $one
first=$?
wait $two
same "two at once" "$first $? $(cat "$tmp/errors")" "0 0 "
cp -r "$tmp/out.mkv.resume" "$tmp/kept"
again() {
    rm -rf "$tmp"/out.mkv*
    cp -r "$tmp/kept" "$tmp/out.mkv.resume"
}
flip() {
    python3 -c 'import sys; f = open(sys.argv[1], "r+b"); f.seek(int(sys.argv[2]), 2); b = f.read(1)[0]; f.seek(-1, 1); f.write(bytes([b ^ 1]))' "$@"
}
flip "$tmp/out.mkv.resume/000001" -700
fails "one that is damaged" "damaged: 000001 (part 2/3)" "$mona" join "$tmp/out.mkv"
again
cp "$tmp/out.mkv.resume/000001" "$tmp/out.mkv.resume/000004"
fails "one that is there twice" "a copy of another one: 000004 (part 3/3)" "$mona" join "$tmp/out.mkv"
again
# shellcheck disable=SC2086
"$mona" enhance "$tmp/$film" -o "$tmp/other.mkv" $options --crf 30 --part 1/3
cp "$tmp/other.mkv.resume/000000" "$tmp/out.mkv.resume/000000"
fails "one of other work" "of other work: 000000 (part 1/3)" "$mona" join "$tmp/out.mkv"
fails "other options" "found different work (it was begun without --crf=30)" \
    "$mona" enhance "$tmp/$film" -o "$tmp/out.mkv" $options --crf 30 --part 1/3
# shellcheck disable=SC2086
"$mona" enhance "$tmp/$film" -o "$tmp/out.mkv" ${options%--quiet} --part 1/3 2> "$tmp/log"
same "the part makes it again" "$? $(grep -c 'out.mkv: 1 damaged or foreign segment is made again' "$tmp/log")" "0 1"
again
(cd / && "$OLDPWD/$mona" join "$tmp/out.mkv" --quiet 2> "$tmp/err")
packets "$tmp/whole.mkv" > "$tmp/wanted"
packets "$tmp/out.mkv" > "$tmp/found"
same "joined from anywhere" "$? $(cat "$tmp/err") $(cmp "$tmp/wanted" "$tmp/found" && find "$tmp" -name 'out.mkv*' | wc -l)" "0  1"
fails "there is nothing left to join" "out.mkv.resume: expected parts of a film there" "$mona" join "$tmp/out.mkv"
again
cp "$tmp/whole.mkv" "$tmp/out.mkv"
fails "a file is not overwritten without being asked" "exists already" "$mona" join "$tmp/out.mkv"
again
mv "$tmp/$film" "$tmp/moved.mp4"
fails "a film that is gone" "cannot be read" "$mona" join "$tmp/out.mkv"
ffmpeg -v error -f lavfi -i color=red:s=96x64:d=8 -y "$tmp/$film"
fails "another film in its place" "another file as --input" "$mona" join "$tmp/out.mkv"
mv "$tmp/moved.mp4" "$tmp/$film"
flip "$tmp/out.mkv.resume/work" -60
fails "a file of the work that is damaged" "work is damaged" "$mona" join "$tmp/out.mkv"
rm -rf "$tmp"/out.mkv*
for bad in 0/3 4/3 3 1/ a/b 1/20000 -1/3; do
    fails "--part $bad" "--part: expected K/N" "$mona" enhance "$tmp/$film" -o "$tmp/out.mkv" --part=$bad
done
part 40/40
part 1/40
same "a part of a film with fewer segments is empty" "$? $(ls "$tmp/out.mkv.resume" | tr '\n' ' ')" "0 000004 work "
rm -rf "$tmp"/out.mkv*

# ---- relative names, spaces and numbered pictures ------------------------------------------------------
mkdir "$tmp/a folder"
cp "$tmp/$film" "$tmp/a folder/it's 100% in.mp4"
there=$PWD
(
    cd "$tmp/a folder" || exit
    for k in 1 2; do
        "$there/$mona" enhance "it's 100% in.mp4" -o out.mkv --preset ultrafast --quiet --part $k/2 --strength auto || exit
    done
)
(cd / && "$there/$mona" join "$tmp/a folder/out.mkv" --quiet)
same "odd names" "$? $(ls "$tmp/a folder" | wc -l)" "0 2"
mkdir "$tmp/in"
ffmpeg -v error -i "$tmp/$film" -frames:v 20 "$tmp/in/%04d.png"
for k in 2 1; do
    "$mona" enhance "$tmp/in/%04d.png" -r 24 -o "$tmp/out.mp4" --preset ultrafast --quiet --resume --segment 8 --part $k/2
done
"$mona" join "$tmp/out.mp4" --quiet
"$mona" enhance "$tmp/in/%04d.png" -r 24 -o "$tmp/whole.mp4" --preset ultrafast --quiet --resume --segment 8
succeeds "numbered pictures" cmp "$tmp/whole.mp4" "$tmp/out.mp4"
