#!/bin/sh
# Videos that do not come as planes: RGB of screen recorders, GIF, animated PNG, what cameras pack.
. tests/tap.inc

enhance() {
    "$mona" enhance "$@" > "$tmp/stdout" 2> "$tmp/log" < /dev/null
}
probe() {
    ffprobe -v error -select_streams v:0 -show_entries stream="$2" -of csv=p=0 "$1"
}
frames() {
    ffmpeg -v error -i "$1" -f framemd5 - | grep -v '^#'
}
# PSNR of all channels in dB: $1 found, $2 wanted.
close_to() {
    ffmpeg -v info -i "$1" -i "$2" -lavfi '[0:v]format=gbrp[a];[1:v]format=gbrp[b];[a][b]psnr' -f null - 2>&1 |
        sed -n 's/.*average:\([0-9.inf]*\) .*/\1/p' | tail -n 1 | sed 's/inf/99/'
}

"$scene" 12 "$tmp/scene.y4m"
"$BUILD/neutral" "$tmp/neutral.onnx"
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 1 "$tmp/one.png"
succeeds "a network that corrects nothing is compiled" "$mona" compile "$tmp/neutral.onnx" -o "$tmp/neutral.mona" \
    --calibrate "$tmp/one.png"
as_it_is="--stages denoise --temporal off --denoise $tmp/neutral.mona"

# ---- RGB ------------------------------------------------------------------------------------------
# $1: file, rest: how it is coded
coded() {
    file=$1
    shift
    ffmpeg -v error -y -i "$tmp/scene.y4m" -vf scale=96:54 "$@" "$tmp/$file"
}
coded screen.mkv -c:v ffv1 -pix_fmt bgr0
coded screen.mp4 -c:v libx264rgb -crf 10
coded screen.mov -c:v qtrle -pix_fmt rgb24
coded screen.avi -c:v rawvideo -pix_fmt bgr24
coded alpha.mov -vf "scale=96:54,format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='2*X'" -c:v png
for file in screen.mkv screen.mp4 screen.mov screen.avi; do
    rm -f "$tmp/same.mkv"
    # shellcheck disable=SC2086
    enhance "$tmp/$file" -o "$tmp/same.mkv" -c ffv1 $as_it_is || not_ok "$file runs" "$(cat "$tmp/log")"
    same "$file: all chroma in FFV1" "$(probe "$tmp/same.mkv" pix_fmt,color_range,color_space,nb_frames)" "yuv444p,pc,bt709,N/A"
    at_least "$file: with its colours" "$(close_to "$tmp/same.mkv" "$tmp/$file")" 48
done
enhance "$tmp/screen.mkv" -o "$tmp/screen_out.mp4" --scale 2 || not_ok "RGB to MP4" "$(cat "$tmp/log")"
same "RGB to MP4: what players take, and it says so" "$(probe "$tmp/screen_out.mp4" width,height,pix_fmt,color_range,color_space,nb_frames)" \
    "192,108,yuv420p,tv,bt709,12"
same "which is said" "$(grep -c 'a video in bgr0, enhanced as yuv420p' "$tmp/log")" 1
# shellcheck disable=SC2086
enhance "$tmp/alpha.mov" -o "$tmp/alpha.mkv" -c ffv1 $as_it_is || not_ok "RGBA to FFV1" "$(cat "$tmp/log")"
alpha_of() {
    ffmpeg -v error -i "$1" -vf alphaextract -f framemd5 - | grep -v '^#' | cut -d, -f6
}
same "alpha stays" "$(alpha_of "$tmp/alpha.mkv")" "$(alpha_of "$tmp/alpha.mov")"
fails "alpha that MP4 would lose is refused" "does not keep the video's alpha" \
    "$mona" enhance "$tmp/alpha.mov" -o "$tmp/alpha.mp4" --quiet
coded deep.mkv -c:v ffv1 -pix_fmt gbrp10le
fails "RGB of ten bits is refused" "found gbrp10le" "$mona" enhance "$tmp/deep.mkv" -o "$tmp/none.mp4"

# ---- packed luma and chroma: nothing but places change ------------------------------------------------
# $1: packed, $2: planes
unpacks() {
    coded "$2.nut" -c:v rawvideo -pix_fmt "$2"
    ffmpeg -v error -y -i "$tmp/$2.nut" -pix_fmt "$1" -f rawvideo "$tmp/$1.raw"
    rm -f "$tmp/unpacked.nut"
    # shellcheck disable=SC2086
    enhance "$tmp/$1.raw" --raw "96x54:$1:25" -o "$tmp/unpacked.nut" -c rawvideo $as_it_is || not_ok "$1 runs" "$(cat "$tmp/log")"
    same "$1 becomes $2, every sample as it was" "$(frames "$tmp/unpacked.nut" | cut -d, -f6)" "$(frames "$tmp/$2.nut" | cut -d, -f6)"
}
unpacks yuyv422 yuv422p
unpacks uyvy422 yuv422p
unpacks nv12 yuv420p
unpacks nv21 yuv420p

# ---- GIF and animated PNG -----------------------------------------------------------------------------
ffmpeg -v error -i "$tmp/scene.y4m" -vf "scale=96:54,select='not(mod(n\,4))+eq(mod(n\,7)\,3)'" -vsync vfr "$tmp/moving.gif"
enhance "$tmp/moving.gif" -o "$tmp/moving.mp4" --stages sr || not_ok "a GIF" "$(cat "$tmp/log")"
same "a GIF keeps its times" "$(video_times "$tmp/moving.mp4" | awk '{ printf "%.2f ", $1 }')" \
    "$(video_times "$tmp/moving.gif" | awk '{ printf "%.2f ", $1 }')"
same "is opaque, and its dither is not taken for fields" "$(probe "$tmp/moving.mp4" width,height,pix_fmt) $(grep -c interlaced "$tmp/log")" \
    "192,108,yuv420p 0"
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=96:54 -f apng -plays 0 "$tmp/moving.png"
# shellcheck disable=SC2086
enhance "$tmp/moving.png" -o "$tmp/moving.mkv" -c ffv1 $as_it_is || not_ok "an animated PNG" "$(cat "$tmp/log")"
same "an animated PNG is a video" "$(frames "$tmp/moving.mkv" | wc -l)" 12
at_least "with its colours" "$(close_to "$tmp/moving.mkv" "$tmp/moving.png")" 48
enhance "$tmp/moving.png" -o "$tmp/first.png" --stages sr
same "one picture of it is its first, and it says so" "$? $(probe "$tmp/first.png" width,height) $(grep -c 'animated; its first picture' "$tmp/log")" "0 192,108 1"
ffmpeg -v error -i "$tmp/moving.png" -frames:v 1 "$tmp/still.png"
enhance "$tmp/still.png" -o "$tmp/second.png" --stages sr
same "the same as of a picture that does not move" "$(frames "$tmp/first.png")" "$(frames "$tmp/second.png")"
same "of which nothing is said" "$(grep -c animated "$tmp/log")" 0
head -c 60 "$tmp/moving.png" > "$tmp/cut.png"
fails "one cut short" "cut.png" "$mona" enhance "$tmp/cut.png" -o "$tmp/none.png"
same "and nothing is left of what failed" "$(find "$tmp" -name 'none.*' -o -name 'alpha.mp4*' -o -name '*.part')" ""
