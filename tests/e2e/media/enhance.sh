#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The main job: what goes in comes out, larger and better, and nothing is lost on the way.
. tests/tap.inc

few=${SANITIZE:+3} # frames, where a few will do
few=${few:-8}

# Without real clips, one rendered here takes their place: $1 result, $2 width x height, $3 frames.
render() {
    "$scene" "$3" "$tmp/scene.y4m"
    ffmpeg -v error -y -i "$tmp/scene.y4m" -f lavfi -i sine=440:duration=20 -vf "scale=$2:flags=bicubic" \
        -c:v libx264 -preset veryfast -crf 20 -pix_fmt yuv420p -c:a aac -shortest "$1"
}

# ---- the whole job ----------------------------------------------------------------------------
if [ -n "$clips" ]; then
    main=$clips/bunny_720p_audio.mp4
else
    skip "the real clips are not here: a rendered one stands in for them"
    main=$tmp/main.mp4
    render "$main" 640x360 24
fi
limit=${SANITIZE:+--frames 3}
succeeds "a clip with sound is enhanced" "$mona" enhance "$main" -o "$tmp/main_out.mp4" --preset ultrafast $limit
video_times "$main" | sed "${SANITIZE:+3q}" > "$tmp/times_in"
video_times "$tmp/main_out.mp4" > "$tmp/times_out"
same "as many frames come out" "$(wc -l < "$tmp/times_out")" "$(wc -l < "$tmp/times_in")"
succeeds "every timestamp of the video is the input's" cmp "$tmp/times_in" "$tmp/times_out"
if [ -n "$clips" ] && [ -z "$SANITIZE" ]; then
    same "132 frames of 2560x1440" "$(ffprobe -v error -count_frames -select_streams v:0 \
        -show_entries stream=width,height,nb_read_frames -of csv=p=0 "$tmp/main_out.mp4")" 2560,1440,132
fi
if [ -z "$SANITIZE" ]; then
    same "sound packets are bit-identical" "$(packets_md5 "$tmp/main_out.mp4" a)" "$(packets_md5 "$main" a)"
fi
nothing "no temporary file is left" "$(find "$tmp" -name '*.part')"

# ---- the same bytes however it is computed ----------------------------------------------------
small=$tmp/small.mkv
if [ -n "$clips" ]; then
    ffmpeg -v error -i "$clips/bedroom_540p.mp4" -frames:v $few -vf scale=318:182 -c:v ffv1 -pix_fmt yuv420p "$small"
else
    render "$tmp/s.mp4" 318x182 $few
    ffmpeg -v error -i "$tmp/s.mp4" -an -c:v ffv1 -pix_fmt yuv420p "$small"
fi
reference=
isas="instructions c"
grep -qw avx2 /proc/cpuinfo && isas="$isas avx2"
grep -qw avx_vnni /proc/cpuinfo && isas="$isas avxvnni"
grep -qw avx512_vnni /proc/cpuinfo && isas="$isas avx512"
grep -qw asimd /proc/cpuinfo && isas="$isas neon"
grep -qw asimddp /proc/cpuinfo && isas="$isas dotprod"
# $1: name, rest: options
variant() {
    name=$1
    shift
    rm -f "$tmp/variant.mkv"
    "$mona" enhance -y "$small" -o "$tmp/variant.mkv" --quiet --preset ultrafast "$@" 2> "$tmp/log" ||
        not_ok "$name runs" "$(cat "$tmp/log")"
    found=$(frames_md5 "$tmp/variant.mkv" | md5sum)
    if [ -z "$reference" ]; then
        reference=$found
        same "$name gives $few frames" "$(frames_md5 "$tmp/variant.mkv" | wc -l)" "$few"
    else
        same "$name gives the same frames" "$found" "$reference"
    fi
}
for isa in $isas; do
    variant "--cpu $isa" --cpu "$isa"
done
variant "--threads 1" --threads 1
variant "--threads 2" --threads 2
variant "--threads 3 --cpu c" --threads 3 --cpu c
for rows in 1 2 16 32768; do
    variant "--strip-rows $rows" --strip-rows $rows
done

# ---- better than bicubic ----------------------------------------------------------------------
count=${SANITIZE:+2}
count=${count:-30}
if [ -n "$clips" ]; then
    ffmpeg -v error -i "$clips/bedroom_540p.mp4" -frames:v "$count" -c:v ffv1 -pix_fmt yuv420p "$tmp/whole.mkv"
    wanted=1.0
else
    "$scene" "$count" "$tmp/s.y4m"
    ffmpeg -v error -i "$tmp/s.y4m" -c:v ffv1 -pix_fmt yuv420p "$tmp/whole.mkv"
    wanted=0.5
fi
accurate=flags=bicubic+accurate_rnd+full_chroma_int
ffmpeg -v error -i "$tmp/whole.mkv" -vf "scale=iw/2:ih/2:$accurate" -c:v ffv1 -pix_fmt yuv420p "$tmp/half.mkv"
ffmpeg -v error -i "$tmp/half.mkv" -vf "scale=2*iw:2*ih:$accurate" -c:v ffv1 -pix_fmt yuv420p "$tmp/bicubic.mkv"
bicubic=$(psnr_y "$tmp/bicubic.mkv" "$tmp/whole.mkv")
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
clean=$(enlarged "$tmp/half.mkv" --content clean)
echo "# luma PSNR of clean film: mona $clean dB, bicubic $bicubic dB"
least "at least $wanted dB better than bicubic in luma" "$clean" "$(echo "$bicubic $wanted" | awk '{ print $1 + $2 }')"
same "--tier balanced is the network of that name" "$(enlarged "$tmp/half.mkv" --content clean --tier balanced)" \
    "$(enlarged "$tmp/half.mkv" --sr models/sr_x2_balanced.mona)"

ffmpeg -v error -i "$tmp/half.mkv" -c:v libx264 -crf 32 "$tmp/poor.mkv"
ffmpeg -v error -i "$tmp/poor.mkv" -vf "scale=2*iw:2*ih:$accurate" -c:v ffv1 -pix_fmt yuv420p -y "$tmp/bicubic.mkv"
bicubic=$(psnr_y "$tmp/bicubic.mkv" "$tmp/whole.mkv")
clean=$(enlarged "$tmp/poor.mkv" --content clean)
video=$(enlarged "$tmp/poor.mkv" --content video)
echo "# of compressed film: --content video $video dB, clean $clean dB, bicubic $bicubic dB"
least "compressed film is better told to be such" "$video" "$(echo "$clean" | awk '{ print $1 + 0.1 }')"
least "and better than bicubic" "$video" "$bicubic"
same "video is the default for videos" "$(enlarged "$tmp/poor.mkv")" "$video"

ffmpeg -v error -i "$tmp/half.mkv" -vf noise=alls=30:allf=t:all_seed=4 -c:v ffv1 "$tmp/grainy.mkv"
first=$(enhanced "$tmp/grainy.mkv")
last=$(enhanced "$tmp/grainy.mkv" --stages sr,denoise)
echo "# of film with noise: $first dB, denoised last $last dB"
least "noise is removed before it is enlarged" "$first" "$(echo "$last" | awk '{ print $1 + 1 }')"

# ---- a clean picture stays as it is, a noisy one gets cleaner -----------------------------------
if [ -z "$SANITIZE" ]; then
    "$scene" 4 "$tmp/clean.y4m"
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
fi
