#!/bin/sh
# Pixel formats: every sampling is enhanced at its own resolution and comes out as it went in.
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
