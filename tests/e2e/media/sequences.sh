#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Numbered pictures as input and output: rate, first number, gaps, depth, alpha, and what pictures cannot hold.
. tests/tap.inc

mkdir "$tmp/in" "$tmp/out"
enhance() {
    "$mona" enhance -y "$@" > "$tmp/stdout" 2> "$tmp/log" < /dev/null
}
probe() {
    ffprobe -v error -select_streams v:0 -show_entries stream="$2" -of csv=p=0 "$1"
}
# PSNR of all channels of a picture in dB: $1 result, $2 expected.
close_to() {
    ffmpeg -v info -i "$1" -i "$2" -lavfi '[0:v]format=gbrp[a];[1:v]format=gbrp[b];[a][b]psnr' -f null - 2>&1 |
        sed -n 's/.*average:\([0-9.inf]*\) .*/\1/p' | tail -n 1
}
at_least() {
    same "$1" "$(echo "$2 $3" | awk '{ print ($1 == "inf" || $1 >= $2 ? "yes" : $1 " dB, expected " $2) }')" yes
}
# $1: name, $2: status, $3: pattern, rest: arguments
refused() {
    name=$1 status=$2 pattern=$3
    shift 3
    enhance "$@" --quiet
    same "$name is refused" "$? $(wc -l < "$tmp/log") $(grep -c -- "$pattern" "$tmp/log")" "$status 1 1"
}

film 12 "$tmp/scene.y4m" 320x180
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=96:54,format=rgb24 -start_number 98 "$tmp/in/%03d.png"
"$BUILD/neutral" "$tmp/neutral.onnx"
"$mona" compile "$tmp/neutral.onnx" --picture -o "$tmp/neutral.mona" --calibrate "$tmp/in/098.png" > "$tmp/log" 2>&1 || not_ok "compile" "$(cat "$tmp/log")"
as_it_is="--stages denoise --temporal off --denoise $tmp/neutral.mona"

# ---- in -----------------------------------------------------------------------------------------
enhance "$tmp/in/%03d.png" -o "$tmp/video.mp4" --fps 24000/1001 --stages sr || not_ok "pictures to a video" "$(cat "$tmp/log")"
same "pictures to a video: what players take, and it says so" "$(probe "$tmp/video.mp4" width,height,pix_fmt,color_range,color_space)" "192,108,yuv420p,tv,bt709"
same "which is said" "$(grep -c 'pictures in rgb24, enhanced as yuv420p' "$tmp/log")" 1
same "pictures to a video: 12 at the rate asked for" "$(probe "$tmp/video.mp4" avg_frame_rate,nb_frames)" "24000/1001,12"
# shellcheck disable=SC2086
enhance "$tmp/in/%03d.png" -o "$tmp/same.mkv" -c ffv1 $as_it_is || not_ok "pictures to FFV1" "$(cat "$tmp/log")"
same "to FFV1 in 4:4:4" "$(probe "$tmp/same.mkv" pix_fmt,color_range)" yuv444p,pc
ffmpeg -v error -i "$tmp/same.mkv" -start_number 98 "$tmp/out/f%03d.png"
at_least "with the colours of the pictures" "$(close_to "$tmp/out/f103.png" "$tmp/in/103.png")" 48

# ---- out, and in and out ------------------------------------------------------------------------
enhance "$tmp/video.mp4" -o "$tmp/out/v%02d.png" --stages sr || not_ok "a video to pictures" "$(cat "$tmp/log")"
same "a video to pictures: from 1 on" "$(cd "$tmp/out" && echo v*.png | cut -c 1-23) $(find "$tmp/out" -name 'v*' | wc -l)" "v01.png v02.png v03.png 12"
same "a video to pictures: RGB of twice the size" "$(probe "$tmp/out/v07.png" width,height,pix_fmt)" 384,216,rgb24
if full; then
    "$mona" enhance "$tmp/video.mp4" -o "$tmp/direct.mkv" -c ffv1 --stages sr --quiet
    ffmpeg -v error -i "$tmp/direct.mkv" -vf "select=eq(n\\,6),scale=in_h_chr_pos=0:in_v_chr_pos=128:flags=accurate_rnd+full_chroma_int+bicubic,format=rgb24" -frames:v 1 "$tmp/seventh.png"
    at_least "a video to pictures: with its colours" "$(close_to "$tmp/out/v07.png" "$tmp/seventh.png")" 45
fi
# Chroma lies left, or where the film says.
for place in $(! full || echo 1:128:128 2:0:0) 0:0:128; do
    at=${place#*:}
    ffmpeg -v error -y -f lavfi -i testsrc2=s=96x54 -frames:v 1 -pix_fmt yuv420p -c:v libx264 -qp 0 -x264-params "chromaloc=${place%%:*}" "$tmp/sited.mp4"
    ffmpeg -v error -y -i "$tmp/sited.mp4" -vf "scale=in_h_chr_pos=${at%:*}:in_v_chr_pos=${at#*:}:flags=accurate_rnd+full_chroma_int+bicubic,format=rgb24" \
        -frames:v 1 -update 1 "$tmp/sited.png"
    # shellcheck disable=SC2086
    enhance "$tmp/sited.mp4" -o "$tmp/out/sited%d.png" $as_it_is
    at_least "chroma at $at stays in its place" "$(close_to "$tmp/out/sited1.png" "$tmp/sited.png")" 45
done
# That of WebP lies in the middle.
ffmpeg -v error -y -f lavfi -i testsrc2=s=96x54 -frames:v 1 -c:v libwebp -quality 95 "$tmp/middle1.webp"
ffmpeg -v error -y -i "$tmp/middle1.webp" -vf "scale=in_h_chr_pos=128:in_v_chr_pos=128:flags=accurate_rnd+full_chroma_int+bicubic,format=rgb24" -update 1 "$tmp/middle.png"
# shellcheck disable=SC2086
enhance "$tmp/middle%d.webp" -o "$tmp/out/middle%d.png" $as_it_is
at_least "chroma of WebP stays in its place" "$(close_to "$tmp/out/middle1.png" "$tmp/middle.png")" 45
# libswscale takes grey for full range.
ffmpeg -v error -y -f lavfi -i color=white:s=64x48:r=5,format=yuv420p,extractplanes=y -frames:v 1 -color_range tv -c:v ffv1 "$tmp/grey.mkv"
enhance "$tmp/grey.mkv" -o "$tmp/out/grey%d.png" --stages sr
same "white of grey in limited range is white" "$? $(ffmpeg -v error -i "$tmp/out/grey1.png" -frames:v 1 -f rawvideo -pix_fmt rgb24 - |
    od -An -v -tu1 -w1 | awk '{ sum += $1 } END { print (sum / NR > 253) }')" "0 1"
# Of a film that names no matrix, players assume one by its size: red becomes orange with another.
for sizes in 64x60:720 $(! full || echo 64x720:80); do
    ffmpeg -v error -y -f lavfi -i "color=red:s=${sizes%:*}:r=5,format=rgb24,scale=out_color_matrix=$([ ${sizes%:*} = 64x60 ] && echo bt601 || echo bt709),format=yuv444p" \
        -frames:v 1 -c:v ffv1 "$tmp/red.mkv"
    enhance "$tmp/red.mkv" -o "$tmp/out/red%d.png" --stages sr --height "${sizes#*:}"
    same "${sizes%:*} at ${sizes#*:} rows: red stays red" "$? $(ffmpeg -v error -i "$tmp/out/red1.png" -frames:v 1 -f rawvideo -pix_fmt rgb24 - | od -An -v -tu1 -w3 |
        awk '$1 < 250 || $2 > 5 || $3 > 5 { print }' | sort -u | head -n 1)" "0 "
done
# shellcheck disable=SC2086
enhance "$tmp/in/%03d.png" -o "$tmp/out/p%d.png" $as_it_is || not_ok "pictures to pictures" "$(cat "$tmp/log")"
same "pictures to pictures: the numbers stay" "$(cd "$tmp/out" && ls p98.png p99.png p100.png p109.png | wc -l) $(find "$tmp/out" -name 'p*' | wc -l)" "4 12"
at_least "pictures to pictures: the colours stay" "$(close_to "$tmp/out/p100.png" "$tmp/in/100.png")" 48
enhance "$tmp/in/%03d.png" -o "$tmp/out/s%d.jpg" --stages sr --start 0.2 --frames 3
same "a part of them keeps its numbers" "$(cd "$tmp/out" && echo s*.jpg)" "s103.jpg s104.jpg s105.jpg"
if full; then
    enhance "$tmp/in/%03d.png" --out-dir "$tmp/many" --stages sr --quiet
    same "in a batch too" "$? $(find "$tmp/many" -name '1*.png' | wc -l)" "0 10"
fi
# A stream of ten bits becomes pictures of sixteen; alpha is kept.
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=96:54 -frames:v 2 -c:v ffv1 -pix_fmt yuv420p10le "$tmp/deep.mkv"
enhance "$tmp/deep.mkv" -o "$tmp/out/deep%d.png"
same "ten bits become sixteen" "$(probe "$tmp/out/deep2.png" pix_fmt)" rgb48be
mkdir "$tmp/alpha"
ffmpeg -v error -start_number 98 -i "$tmp/in/%03d.png" -vf "format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='2*X'" -frames:v 2 "$tmp/alpha/%d.png"
# shellcheck disable=SC2086
enhance "$tmp/alpha/%d.png" -o "$tmp/out/alpha%d.png" $as_it_is || not_ok "pictures with alpha" "$(cat "$tmp/log")"
same "alpha stays" "$(ffmpeg -v error -i "$tmp/out/alpha2.png" -vf alphaextract -f md5 -)" "$(ffmpeg -v error -i "$tmp/alpha/2.png" -vf alphaextract -f md5 -)"

# PNG files that name their primaries.
mkdir "$tmp/named"
for n in 1 2; do
    ffmpeg -v error -i "$tmp/in/100.png" "$tmp/named/srgb$n.png"
    cp "$tmp/named/srgb$n.png" "$tmp/named/wide$n.png"
    python3 tests/e2e/media/stills.py primaries "$tmp/named/srgb$n.png" srgb
    python3 tests/e2e/media/stills.py primaries "$tmp/named/wide$n.png" p3
done
enhance "$tmp/named/srgb%d.png" -o "$tmp/out/srgb%d.png" --stages sr
same "pictures that say they are sRGB" "$? $(probe "$tmp/out/srgb2.png" width)" "0 192"
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 1 -vf scale=96:54 -pix_fmt yuv444p -colorspace ycgco -c:v ffv1 "$tmp/ycgco.mkv"
refused "a film in YCgCo" 1 "colours, as libswscale does not know their matrix; .mkv would" "$tmp/ycgco.mkv" -o "$tmp/out/ycgco%d.png"
refused "pictures in wider colours" 1 "colours, which are HDR or wider than sRGB; .mkv would" "$tmp/named/wide%d.png" -o "$tmp/out/wide%d.png"

# Alpha that begins later.
mkdir "$tmp/later"
for format in rgba rgba64be; do
    for n in 1 2 3; do
        ffmpeg -v error -y -f lavfi -i color=red@0.5:s=48x32,format=rgba -frames:v 1 -pix_fmt "$([ $n = 3 ] && echo $format || echo rgb24)" "$tmp/later/$n.png"
    done
    enhance "$tmp/later/%d.png" -o "$tmp/out/later%d.png" --stages sr
    same "$format after pictures without alpha is filled, and a line says so" "$? $(grep -c 'transparent parts are filled' "$tmp/log")" "0 1"
done

# EXIF, XMP and colour profile.
mkdir "$tmp/marked"
for kind in jpg png; do
    for n in 1 2; do
        ffmpeg -v error -i "$tmp/in/100.png" -vf scale=48:32 "$tmp/marked/$n.$kind"
        python3 tests/e2e/media/stills.py marked "$tmp/marked/$n.$kind" "$tmp/marked/$n.$kind" "RGB "
    done
done
# $1: input, $2: output, $3: what the output must contain, rest: options
kept() {
    from=$1 to=$2 wanted=$3
    shift 3
    enhance "$tmp/marked/%d.$from" -o "$tmp/out/marked%d.$to" --stages sr "$@"
    same "numbered .$from to .$to $*: what lies beside the pixels" "$? $(grep -c 'left out' "$tmp/log") $(python3 tests/e2e/media/stills.py marks "$tmp/out/marked2.$to")" "0 0 $wanted"
}
kept jpg png "exif 1, xmp 1, profile RGB"
kept jpg jpg "exif 1, xmp 1, profile RGB, other a comment"
kept png jpg "exif 6, xmp 6, profile RGB"
kept png png "exif 6, xmp 6, profile RGB, other pHYstEXt"
kept png png "exif 1, xmp 1, profile RGB, other pHYstEXt" --rotate 90
enhance "$tmp/marked/%d.jpg" -o "$tmp/marked.mp4" --stages sr
same "which a video does not keep, and says so" "$? $(grep -c 'does not keep the EXIF, XMP and colour profile' "$tmp/log")" "0 1"

# DPX, as film scanners write them, and WebP.
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 3 -vf scale=96:54 -pix_fmt gbrp10le "$tmp/in/%d.dpx"
enhance "$tmp/in/%d.dpx" -o "$tmp/dpx.mov" -c prores --stages sr
same "DPX of 10 bits to ProRes" "$? $(probe "$tmp/dpx.mov" codec_name,width,nb_frames)" "0 prores,192,3"
refused "DPX as output" 1 "expected a name that ends in .png, .jpg, .jpeg or .webp" "$tmp/in/%d.dpx" -o "$tmp/out/x%d.dpx"
# shellcheck disable=SC2086
enhance "$tmp/in/%03d.png" -o "$tmp/out/w%d.webp" --frames 2 $as_it_is
same "numbered WebP" "$? $(probe "$tmp/out/w99.webp" codec_name,width)" "0 webp,96"
at_least "with their colours" "$(close_to "$tmp/out/w99.webp" "$tmp/in/099.png")" 48

# Netpbm.
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 3 -vf scale=96:54 "$tmp/in/%d.ppm"
enhance "$tmp/in/%d.ppm" -o "$tmp/ppm.mp4" --stages sr
same "numbered PPM" "$? $(probe "$tmp/ppm.mp4" width,nb_frames)" "0 192,3"

# ---- gaps and other trouble ---------------------------------------------------------------------
rm "$tmp/in/101.png" "$tmp/in/102.png"
enhance "$tmp/in/%03d.png" -o "$tmp/gap.mp4" --fps 10 --stages sr || not_ok "with a gap" "$(cat "$tmp/log")"
same "a gap is said" "$(grep -c 'of 12 pictures, 2 are missing, the first of them .*/in/101.png' "$tmp/log")" 1
same "what follows it keeps its time" "$(video_times "$tmp/gap.mp4" | awk '{ printf "%.1f ", $1 }')" "0.0 0.1 0.2 0.5 0.6 0.7 0.8 0.9 1.0 1.1 "
head -c 500 "$tmp/in/105.png" > "$tmp/cut" && cp "$tmp/cut" "$tmp/in/105.png"
enhance "$tmp/in/%03d.png" -o "$tmp/cut.mp4" --stages sr
same "a picture cut short is told of" "$? $(grep -c '1 packet could not be decoded' "$tmp/log")" "0 1"
rm "$tmp/in/105.png"
cp "$tmp/cut" "$tmp/in/110.png"
enhance "$tmp/in/%03d.png" -o "$tmp/cut.mp4" --stages sr --threads 2:0:0
same "the last one, too" "$? $(grep -c '1 packet could not be decoded' "$tmp/log")" "0 1"
enhance "$tmp/in/%03d.png" -o "$tmp/stop.mp4" --stages sr --threads 2:0:0 --on-error stop
same "--on-error stop ends there" "$? $(grep -c 'damaged near .*--on-error skip goes on' "$tmp/log") $([ -e "$tmp/stop.mp4" ] && echo file)" "1 1 "
rm "$tmp/in/110.png"
ffmpeg -v error -i "$tmp/in/098.png" -vf scale=48:28 "$tmp/in/110.png"
enhance "$tmp/in/%03d.png" -o "$tmp/size.mp4" --stages sr
same "a picture of another size becomes as large as the first, and it is told of" "$? $(grep -c 'frames have 48x28 yuv420p; they are converted to 96x54' "$tmp/log") $(probe "$tmp/size.mp4" width,height,nb_frames)" \
    "0 1 192,108,10"
rm "$tmp/in/110.png"
refused "a pattern without pictures" 1 "expected pictures with names like this, found none" "$tmp/in/none%d.png" -o "$tmp/none.mp4"
! full || refused "a folder that is not there" 1 "No such file" "$tmp/none/%d.png" -o "$tmp/none.mp4"
refused "pictures over themselves" 2 "the output is the input" "$tmp/in/%03d.png" -o "$tmp/in/%03d.png"
refused "--fps for a video" 2 "--fps works only with numbered pictures as IN" "$tmp/video.mp4" -o "$tmp/none.mp4" --fps 30
! full || refused "a rate that is none" 2 "expected a rate such as" "$tmp/in/%03d.png" -o "$tmp/none.mp4" --fps fast
! full || refused "an encoder's option for pictures" 2 "numbered pictures take no --crf" "$tmp/video.mp4" -o "$tmp/out/x%d.png" --crf 3
! full || refused "ten bits as JPEG" 1 "JPEG holds 8 bits" "$tmp/deep.mkv" -o "$tmp/out/x%d.jpg"
ffmpeg -v error -i "$tmp/video.mp4" -f lavfi -i sine=300:duration=0.4 -c:v copy -c:a aac "$tmp/sound.mp4"
mkdir "$tmp/mute"
for out in %d.png x.gif; do
    enhance "$tmp/sound.mp4" -o "$tmp/mute/$out" --stages sr
    same "the sound of a video does not become $out, which is told" "$? $(grep -c 'cannot hold stream 1 (audio, aac); it is left out' "$tmp/log")" "0 1"
done
nothing "and nothing is left of any" "$(find "$tmp" -name 'none.*' -o -name 'x[0-9]*' -o -name '*.part')"
enhance "$tmp/in/%03d.png" -o "$tmp/out/dry%d.png" --dry-run --stages sr
same "--dry-run plans for pictures" "$? $(grep -c 'dry%d.png: 192x108, not written' "$tmp/stdout") $(find "$tmp/out" -name 'dry*')" "0 1 "
enhance "$tmp/in/%03d.png" -o "$tmp/look.png" --preview 0.1 --stages sr
same "--preview looks at them" "$? $(probe "$tmp/look.png" width,height)" "0 384,140"
# The same samples in a frame of one column and row more, which RGB drops: colours must not move.
python3 -c "
import math
w, h = 62, 46
luma = bytes(int(128 + 60 * math.sin(x / 9) * math.cos(y / 7)) for y in range(h) for x in range(w))
chroma = b''.join(bytes(int(128 + 90 * math.sin(x / 4 + s) * math.cos(y / 3)) for y in range(h // 2) for x in range(w // 2)) for s in (0, 2))
head = lambda w, h: b'YUV4MPEG2 W%d H%d F25:1 C420jpeg XCOLORRANGE=FULL\nFRAME\n' % (w, h)
open('$tmp/even.y4m', 'wb').write(head(w, h) + luma + chroma)
open('$tmp/odd.y4m', 'wb').write(head(w - 1, h - 1) + b''.join(luma[y * w:y * w + w - 1] for y in range(h - 1)) + chroma)"
for size in even odd; do
    enhance "$tmp/$size.y4m" -o "$tmp/$size%d.png" --stages denoise --strength 0 || not_ok "$size" "$(cat "$tmp/log")"
done
ffmpeg -v error -y -i "$tmp/even1.png" -vf crop=61:45:0:0 "$tmp/crop.png"
at_least "colours of a picture of odd size lie in their place" "$(close_to "$tmp/odd1.png" "$tmp/crop.png")" 50
