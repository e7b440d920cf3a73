#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The main job: the output is larger and better than the input, and nothing is lost on the way.
. tests/tap.inc

few=3 # frames, where a few will do
! full || few=8

# ---- the whole job ----------------------------------------------------------------------------
film 12 "$tmp/scene.y4m"
ffmpeg -v error -i "$tmp/scene.y4m" -f lavfi -i sine=440:duration=20 -vf scale=160:90:flags=bicubic \
    -c:v libx264 -preset veryfast -crf 20 -pix_fmt yuv420p -c:a aac -shortest "$tmp/main.mp4"
succeeds "a clip with sound is enhanced" "$mona" enhance -y "$tmp/main.mp4" -o "$tmp/main_out.mp4" --preset ultrafast
video_times "$tmp/main.mp4" > "$tmp/times_in"
video_times "$tmp/main_out.mp4" > "$tmp/times_out"
same "as many frames come out" "$(wc -l < "$tmp/times_out")" 12
succeeds "every timestamp of the video is the input's" cmp "$tmp/times_in" "$tmp/times_out"
same "sound packets are bit-identical" "$(packets_md5 "$tmp/main_out.mp4" a)" "$(packets_md5 "$tmp/main.mp4" a)"
nothing "no temporary file is left" "$(find "$tmp" -name '*.part')"

# ---- the same bytes however it is computed ----------------------------------------------------
small=$tmp/small.mkv
side=94:62
! full || side=318:182
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v $few -vf scale=$side -c:v ffv1 -pix_fmt yuv420p "$small"
reference=
isas=c
grep -qw avx2 /proc/cpuinfo && isas="$isas avx2"
grep -qw avx_vnni /proc/cpuinfo && isas="$isas avxvnni"
grep -qw avx512_vnni /proc/cpuinfo && isas="$isas avx512"
grep -qw amx_int8 /proc/cpuinfo && isas="$isas amx"
grep -qw asimd /proc/cpuinfo && isas="$isas neon"
grep -qw asimddp /proc/cpuinfo && isas="$isas dotprod"
grep -qw i8mm /proc/cpuinfo && isas="$isas i8mm"
# $1: name, rest: options
variant() {
    name=$1
    shift
    rm -f "$tmp/variant.y4m"
    "$mona" enhance -y "$small" -o "$tmp/variant.y4m" --quiet "$@" 2> "$tmp/log" || not_ok "$name runs" "$(cat "$tmp/log")"
    found=$(cksum < "$tmp/variant.y4m")
    if [ -z "$reference" ]; then
        reference=$found
        same "$name gives $few frames" "$(frames_md5 "$tmp/variant.y4m" | wc -l)" "$few"
    else
        same "$name gives the same frames" "$found" "$reference"
    fi
}
for isa in $isas; do
    variant "--cpu $isa" --cpu "$isa"
done
variant "one thread, a row at a time" --threads 1 --strip-rows 1
variant "--threads 3 --cpu c" --threads 3 --cpu c
variant "--strip-rows 32768" --strip-rows 32768
# The rest are figures of quality; floor.sh has those of the short tier.
full || exit 0
variant "--threads 2" --threads 2
for rows in 2 16; do
    variant "--strip-rows $rows" --strip-rows $rows
done

# ---- better than bicubic ----------------------------------------------------------------------
accurate=flags=bicubic+accurate_rnd+full_chroma_int
# PSNR of luma of $1 enhanced, against the original; $2...: options.
enhanced() {
    from=$1
    shift
    "$mona" enhance -y "$from" -o "$tmp/enlarged.mkv" -c ffv1 --quiet "$@"
    psnr_y "$tmp/enlarged.mkv" "$tmp/whole.mkv"
}
enlarged() {
    enhanced "$@" --stages sr
}
least() { # $1: what, $2: found, $3: at least
    same "$1" "$(echo "$2 $3" | awk '{ print ($1 >= $2 ? "yes" : "no: " $1 " against " $2) }')" yes
}
# $1: what it is of, for which $tmp/whole.mkv stands; $2: dB of clean film above bicubic
judged() {
    ffmpeg -v error -y -i "$tmp/whole.mkv" -vf "scale=iw/2:ih/2:$accurate" -c:v ffv1 -pix_fmt yuv420p "$tmp/half.mkv"
    ffmpeg -v error -y -i "$tmp/half.mkv" -vf "scale=2*iw:2*ih:$accurate" -c:v ffv1 -pix_fmt yuv420p "$tmp/bicubic.mkv"
    bicubic=$(psnr_y "$tmp/bicubic.mkv" "$tmp/whole.mkv")
    clean=$(enlarged "$tmp/half.mkv" --content clean)
    echo "# luma PSNR of clean film: mona $clean dB, bicubic $bicubic dB"
    least "$1: at least $2 dB better than bicubic in luma" "$clean" "$(echo "$bicubic $2" | awk '{ print $1 + $2 }')"
    same "$1: --tier balanced is the network of that name" "$(enlarged "$tmp/half.mkv" --content clean --tier balanced)" \
        "$(enlarged "$tmp/half.mkv" --sr models/sr_x2_balanced.mona)"
    same "$1: --tier tiny, too" "$(enlarged "$tmp/half.mkv" --content clean --tier tiny)" "$(enlarged "$tmp/half.mkv" --sr sr_x2_tiny)"

    ffmpeg -v error -y -i "$tmp/half.mkv" -c:v libx264 -crf 32 "$tmp/poor.mkv"
    ffmpeg -v error -y -i "$tmp/poor.mkv" -vf "scale=2*iw:2*ih:$accurate" -c:v ffv1 -pix_fmt yuv420p -y "$tmp/bicubic.mkv"
    bicubic=$(psnr_y "$tmp/bicubic.mkv" "$tmp/whole.mkv")
    clean=$(enlarged "$tmp/poor.mkv" --content clean)
    video=$(enlarged "$tmp/poor.mkv" --content video)
    echo "# of compressed film: --content video $video dB, clean $clean dB, bicubic $bicubic dB"
    least "$1: compressed film is better told to be such" "$video" "$(echo "$clean" | awk '{ print $1 + 0.1 }')"
    least "$1: and better than bicubic" "$video" "$bicubic"
    same "$1: video is the default for videos" "$(enlarged "$tmp/poor.mkv")" "$video"
    same "$1: for which --tier tiny has no network, and is like the fast one" "$(enlarged "$tmp/poor.mkv" --tier tiny)" "$video"

    ffmpeg -v error -y -i "$tmp/half.mkv" -vf noise=alls=30:allf=t:all_seed=4 -c:v ffv1 "$tmp/grainy.mkv"
    first=$(enhanced "$tmp/grainy.mkv")
    last=$(enhanced "$tmp/grainy.mkv" --stages sr,denoise)
    echo "# of film with noise: $first dB, denoised last $last dB"
    least "$1: noise is removed before it is enlarged" "$first" "$(echo "$last" | awk '{ print $1 + 0.9 }')"
}
count=15
film "$count" "$tmp/s.y4m"
ffmpeg -v error -i "$tmp/s.y4m" -c:v ffv1 -pix_fmt yuv420p "$tmp/whole.mkv"
judged "the scene" 0.5
if [ -n "$clips" ]; then
    ffmpeg -v error -y -i "$clips/bedroom_540p.mp4" -frames:v "$count" -c:v ffv1 -pix_fmt yuv420p "$tmp/whole.mkv"
    judged "a real clip" 1.0
else
    skip "the real clips are not here"
fi

# ---- a clean picture stays as it is, a noisy one gets cleaner -----------------------------------
film 4 "$tmp/clean.y4m"
ffmpeg -v error -i "$tmp/clean.y4m" -vf noise=alls=16:allf=t:all_seed=3 -c:v ffv1 "$tmp/noisy.mkv"
"$mona" enhance -y "$tmp/clean.y4m" -o "$tmp/clean.mkv" --stages denoise --crf 0 --quiet
"$mona" enhance -y "$tmp/noisy.mkv" -o "$tmp/cleaned.mkv" --stages denoise --crf 0 --quiet
kept=$(psnr_y "$tmp/clean.mkv" "$tmp/clean.y4m")
before=$(psnr_y "$tmp/noisy.mkv" "$tmp/clean.y4m")
after=$(psnr_y "$tmp/cleaned.mkv" "$tmp/clean.y4m")
echo "# clean through the denoiser $kept dB; noisy $before dB, cleaned $after dB"
same "a clean picture keeps at least 38 dB" "$(echo "$kept" | awk '{ print ($1 == "inf" || $1 >= 38 ? "yes" : $1) }')" yes
same "a noisy one gains at least 1.5 dB" \
    "$(echo "$after $before" | awk '{ print ($1 >= $2 + 1.5 ? "yes" : $1 " after " $2) }')" yes
