#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --grain keep: what denoising takes comes back in the larger picture, as strong, and in the same bytes however it is made.
. tests/tap.inc

film 10 "$tmp/scene.y4m" 320x180
ffmpeg -v error -i "$tmp/scene.y4m" -f lavfi -i "color=0x808080:s=320x180:r=25,format=gray,noise=alls=40:allf=t:all_seed=5" \
    -filter_complex "[1:v]gblur=0.6,format=yuv420p[n];[0:v]format=yuv420p[c];[c][n]blend=c0_mode=grainmerge:c1_expr=A:c2_expr=A:shortest=1" \
    -frames:v 10 -c:v ffv1 "$tmp/grain.mkv"

made() { # $1: file, rest: options
    out=$1
    shift
    "$mona" enhance -y "$tmp/grain.mkv" -o "$tmp/$out" --quiet "$@" < /dev/null
}
# The standard deviation of luma, over what is flat in the film, is that of frames which differ by their grain alone.
change() {
    ffmpeg -v info -i "$tmp/$1" -vf "format=gray,tblend=all_mode=grainextract,crop=iw:ih/4:0:0,signalstats,metadata=print" -f null - 2>&1 |
        sed -n 's/.*signalstats.YDIF=//p' | awk 'NR > 2 { s += $1 } END { print s / (NR - 2) }'
}

# ---- the same bytes -------------------------------------------------------------------------------
made kept.mkv -c ffv1 --grain keep
frames_md5 "$tmp/kept.mkv" > "$tmp/wanted"
made removed.mkv -c ffv1
made said.mkv -c ffv1 --grain remove
same "remove is the default" "$(frames_md5 "$tmp/said.mkv")" "$(frames_md5 "$tmp/removed.mkv")"
differ "keep changes the frames" "$tmp/kept.mkv" "$tmp/removed.mkv"
same "no frame has the grain of another" "$(sort -u "$tmp/wanted" | wc -l)" 10
made other.mkv -c ffv1 --grain 1
same "1 is keep" "$(frames_md5 "$tmp/other.mkv")" "$(cat "$tmp/wanted")"
for options in "-j 1" "-j 2 --strip-rows 6" "--cpu c"; do
    # shellcheck disable=SC2086
    made other.mkv -c ffv1 --grain keep $options
    same "the same bytes with $options" "$(frames_md5 "$tmp/other.mkv")" "$(cat "$tmp/wanted")"
done
made resumed.mkv -c ffv1 --grain keep --resume --segment 4
frames_md5 "$tmp/resumed.mkv" > "$tmp/whole"
for part in 2/2 1/2; do
    made parts.mkv -c ffv1 --grain keep --part $part --resume --segment 4
done
"$mona" join "$tmp/parts.mkv" --quiet
same "the same bytes in parts as with --resume" "$(frames_md5 "$tmp/parts.mkv")" "$(cat "$tmp/whole")"

# ---- as much as there was -------------------------------------------------------------------------
made half.mkv -c ffv1 --grain 0.5
ratio() {
    awk -v a="$(change "$1")" -v b="$(change "$2")" 'BEGIN { print a / b }'
}
at_least "kept beside removed: grain" "$(ratio kept.mkv removed.mkv)" 2
at_least "half of it is more than none" "$(ratio half.mkv removed.mkv)" 1.2
at_least "and less than all" "$(ratio kept.mkv half.mkv)" 1.2

ffmpeg -v error -i "$tmp/grain.mkv" -frames:v 3 -vf "noise=c1s=20:c1f=t:c2s=20:c2f=t" -c:v ffv1 "$tmp/colours.mkv"
for grain in keep remove; do
    "$mona" enhance -y "$tmp/colours.mkv" -o "$tmp/$grain.mkv" -c ffv1 --strength 0.2 --grain $grain --quiet < /dev/null
    ffmpeg -v error -i "$tmp/$grain.mkv" -vf extractplanes=u -f rawvideo "$tmp/$grain.u"
done
differ "at a given strength chroma has its grain, too" "$tmp/keep.u" "$tmp/remove.u"

# ---- what else there is ---------------------------------------------------------------------------
for format in gray yuv444p yuv420p10le; do
    ffmpeg -v error -y -i "$tmp/grain.mkv" -frames:v 3 -vf "format=$format" -c:v ffv1 "$tmp/format.mkv"
    for grain in keep remove; do
        "$mona" enhance -y "$tmp/format.mkv" -o "$tmp/$grain.mkv" -c ffv1 --grain $grain --quiet < /dev/null
        "$mona" enhance -y "$tmp/format.mkv" -o "$tmp/$grain.1.mkv" -c ffv1 --grain $grain -j 1 --cpu c --quiet < /dev/null
    done
    same "$format: the same bytes with one thread" "$(frames_md5 "$tmp/keep.1.mkv")" "$(frames_md5 "$tmp/keep.mkv")"
    differ "$format: keep changes the frames" "$tmp/keep.mkv" "$tmp/remove.mkv"
done
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 3 -c:v ffv1 "$tmp/clean.mkv"
for grain in keep remove; do
    "$mona" enhance -y "$tmp/clean.mkv" -o "$tmp/$grain.mkv" -c ffv1 --grain $grain --quiet < /dev/null
done
same "a clean film has none" "$(frames_md5 "$tmp/keep.mkv")" "$(frames_md5 "$tmp/remove.mkv")"
"$mona" enhance "$tmp/grain.mkv" -o "$tmp/out.mkv" --grain keep --dry-run < /dev/null > "$tmp/plan" 2>&1
same "--dry-run names it" "$(grep -c '^  grain  *grain ' "$tmp/plan")" 1
