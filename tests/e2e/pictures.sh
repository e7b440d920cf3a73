#!/bin/sh
# Pixel formats: every sampling and depth is enhanced as it is and comes out as it went in.
. tests/tap.inc

probe() {
    ffprobe -v error -select_streams v:0 -show_entries stream="$2" -of csv=p=0 "$1"
}

# MD5 of one plane of all frames: $1 file, $2 y, u or v.
plane_md5() {
    ffmpeg -v error -i "$1" -filter_complex "extractplanes=$2" -f md5 -
}

# PSNR of planes, $1 y, u or v: $2 distorted, $3 original.
psnr_plane() {
    ffmpeg -v info -i "$2" -i "$3" -lavfi '[0:v][1:v]psnr' -f null - 2>&1 |
        sed -n "s/.*PSNR.* $1:\([0-9.inf]*\).*/\1/p" | tail -n 1
}

"$scene" 3 "$tmp/scene.y4m"
accurate=flags=bicubic+accurate_rnd+full_chroma_int
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=322:182:$accurate -c:v ffv1 -pix_fmt yuv444p "$tmp/yuv444p.mkv"
ffmpeg -v error -i "$tmp/yuv444p.mkv" -vf scale=161:91:$accurate -c:v ffv1 -pix_fmt yuv444p "$tmp/small.mkv"

# ---- every sampling ---------------------------------------------------------------------------
for format in yuv420p yuv422p yuv444p; do
    ffmpeg -v error -y -i "$tmp/yuv444p.mkv" -c:v ffv1 -pix_fmt $format "$tmp/in.mkv"
    succeeds "$format is enhanced" "$mona" enhance "$tmp/in.mkv" -o "$tmp/$format.out.mkv" --stages sr -c ffv1
    same "$format stays, at twice the size" "$(probe "$tmp/$format.out.mkv" width,height,pix_fmt)" "644,364,$format"
    same "luma of $format is that of 4:2:0" "$(plane_md5 "$tmp/$format.out.mkv" y)" "$(plane_md5 "$tmp/yuv420p.out.mkv" y)"
done
ffmpeg -v error -y -i "$tmp/small.mkv" -vf "scale=322:182:$accurate" -c:v ffv1 -pix_fmt yuv444p "$tmp/bicubic.mkv"
succeeds "odd 4:4:4 is enhanced" "$mona" enhance "$tmp/small.mkv" -o "$tmp/doubled.mkv" --stages sr -c ffv1
for plane in y u v; do
    bicubic=$(psnr_plane $plane "$tmp/bicubic.mkv" "$tmp/yuv444p.mkv")
    found=$(psnr_plane $plane "$tmp/doubled.mkv" "$tmp/yuv444p.mkv")
    echo "# 4:4:4 $plane: mona $found dB, bicubic $bicubic dB"
    same "plane $plane of 4:4:4 is no worse than bicubic" \
        "$(echo "$found $bicubic" | awk '{ print ($1 >= $2 - 0.3 ? "yes" : "no") }')" yes
done
for format in yuv422p yuv444p; do
    ffmpeg -v error -y -i "$tmp/yuv444p.mkv" -c:v ffv1 -pix_fmt $format "$tmp/clean.mkv"
    ffmpeg -v error -y -i "$tmp/clean.mkv" -vf noise=alls=16:allf=t:all_seed=3 -c:v ffv1 "$tmp/noisy.mkv"
    "$mona" enhance "$tmp/noisy.mkv" -o "$tmp/cleaned.mkv" --stages denoise -c ffv1 --quiet
    for plane in y u v; do
        before=$(psnr_plane $plane "$tmp/noisy.mkv" "$tmp/clean.mkv")
        after=$(psnr_plane $plane "$tmp/cleaned.mkv" "$tmp/clean.mkv")
        echo "# noisy $format $plane: $before dB, cleaned $after dB"
        same "noise in plane $plane of $format goes" \
            "$(echo "$after $before" | awk '{ print ($1 >= $2 + 1.5 ? "yes" : "no") }')" yes
    done
done

# ---- nothing but the network changes a sample ---------------------------------------------------
ffmpeg -v error -i "$tmp/small.mkv" -frames:v 1 "$tmp/small.png"
"$BUILD/neutral" "$tmp/neutral.onnx"
succeeds "a network that corrects nothing is compiled" "$mona" compile "$tmp/neutral.onnx" -o "$tmp/neutral.mona" \
    --calibrate "$tmp/small.png"
frames() {
    ffmpeg -v error -i "$1" -f framemd5 - | grep -v '^#'
}
# $1: pixel format, $2: range
neutral() {
    case $1 in
    yuv41*) size=68:44 ;; # libav's FFV1 does not keep others
    *) size=67:45 ;;
    esac
    ffmpeg -v error -y -i "$tmp/yuv444p.mkv" -vf "noise=alls=100:allf=t:all_seed=3,format=$1,crop=$size:exact=1" \
        -c:v ffv1 -color_range "$2" "$tmp/in.mkv"
    rm -f "$tmp/out.mkv"
    "$mona" enhance "$tmp/in.mkv" -o "$tmp/out.mkv" --denoise "$tmp/neutral.mona" --stages denoise,denoise -c ffv1 \
        --quiet 2> "$tmp/log" || not_ok "$1 runs" "$(cat "$tmp/log")"
    same "$1, $2 range: every frame is bit-identical" "$(frames "$tmp/out.mkv")" "$(frames "$tmp/in.mkv")"
    same "$1, $2 range: and says what it is" "$(probe "$tmp/out.mkv" width,height,pix_fmt,color_range)" "${size%:*},${size#*:},$1,$2"
}
for format in yuv420p yuv422p yuv444p yuv440p yuv411p yuv410p gray yuva420p yuva422p yuva444p yuv420p9le yuv422p9le \
    yuv444p9le yuv420p10le yuv422p10le yuv444p10le yuv440p10le gray10le yuva420p10le yuva422p10le yuva444p10le; do
    neutral $format tv
done
for format in yuv420p yuv444p yuv420p10le yuv444p10le; do
    neutral $format pc
done

ffmpeg -v error -y -i "$tmp/yuv444p.mkv" -vf "format=yuv410p,crop=67:45:exact=1" -c:v rawvideo "$tmp/in.nut"
if "$mona" enhance "$tmp/in.nut" -o "$tmp/out.mkv" --denoise "$tmp/neutral.mona" --stages denoise -c ffv1 2> "$tmp/log"; then
    not_ok "odd 4:1:0 in FFV1, which would lose samples, is refused" "exit status 0"
else
    same "odd 4:1:0 in FFV1, which would lose samples, is refused" "$(grep -c 'multiples of 4x4 only' "$tmp/log")" 1
fi
succeeds "as raw video it is not" "$mona" enhance "$tmp/in.nut" -o "$tmp/out.nut" --denoise "$tmp/neutral.mona" \
    --stages denoise -c rawvideo
same "and every frame is bit-identical" "$(frames "$tmp/out.nut")" "$(frames "$tmp/in.nut")"

# ---- 10 bits ------------------------------------------------------------------------------------
# 8 bits with two zeros behind them are the same picture, but for the last rounding.
ffmpeg -v error -y -i "$tmp/yuv444p.mkv" -c:v ffv1 -pix_fmt yuv420p "$tmp/eight.mkv"
ffmpeg -v error -y -i "$tmp/eight.mkv" -c:v ffv1 -pix_fmt yuv420p10le "$tmp/ten.mkv"
ffmpeg -v error -y -i "$tmp/yuv444p.mkv" -vf noise=alls=16:allf=t:all_seed=3 -c:v ffv1 -pix_fmt yuv420p10le "$tmp/noisy.mkv"
for stages in sr denoise sr,denoise; do
    for depth in eight ten; do
        succeeds "$depth, $stages" "$mona" enhance "$tmp/$depth.mkv" -o "$tmp/$depth.out.mkv" --stages $stages -c ffv1
    done
    same "10 bits stay 10 bits, $stages" "$(probe "$tmp/ten.out.mkv" pix_fmt)" yuv420p10le
    ffmpeg -v error -y -i "$tmp/eight.out.mkv" -c:v ffv1 -pix_fmt yuv420p10le "$tmp/widened.mkv"
    found=$(psnr_plane y "$tmp/ten.out.mkv" "$tmp/widened.mkv")
    echo "# 10 bits against 8, $stages: $found dB"
    same "and are the same picture, $stages" "$(echo "$found" | awk '{ print ($1 >= 52 ? "yes" : "no") }')" yes
done
"$mona" enhance "$tmp/noisy.mkv" -o "$tmp/cleaned.mkv" --stages denoise -c ffv1 --quiet
for plane in y u v; do
    before=$(psnr_plane $plane "$tmp/noisy.mkv" "$tmp/ten.mkv")
    after=$(psnr_plane $plane "$tmp/cleaned.mkv" "$tmp/ten.mkv")
    echo "# noisy 10 bit $plane: $before dB, cleaned $after dB"
    same "noise in plane $plane of 10 bits goes" "$(echo "$after $before" | awk '{ print ($1 >= $2 + 1.5 ? "yes" : "no") }')" yes
done
if [ -n "$clips" ]; then
    for clip in hevc_10bit h264_10bit; do
        succeeds "$clip, as H.264" "$mona" enhance "$clips/$clip.mp4" -o "$tmp/$clip.mp4" --frames 5 --preset ultrafast
        same "$clip stays 10 bits" "$(probe "$tmp/$clip.mp4" codec_name,width,height,pix_fmt)" h264,400,400,yuv420p10le
    done
    clip=yuv422p
    succeeds "$clip, as H.264" "$mona" enhance "$clips/$clip.mp4" -o "$tmp/$clip.mp4" --frames 3 --preset ultrafast
    same "$clip stays" "$(probe "$tmp/$clip.mp4" codec_name,width,height,pix_fmt)" h264,1280,720,yuv422p
fi
