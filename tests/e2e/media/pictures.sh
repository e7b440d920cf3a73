#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pixel formats: every sampling and depth is enhanced as it is and comes out in the same format.
. tests/tap.inc

probe() {
    ffprobe -v error -select_streams v:0 -show_entries stream="$2" -of csv=p=0 "$1"
}

# MD5 of one plane of all frames: $1 file, $2 y, u or v.
plane_md5() {
    ffmpeg -v error -i "$1" -filter_complex "extractplanes=$2" -f md5 -
}

# PSNR of each plane, as "y:N u:N v:N": $1 distorted, $2 original.
psnr_planes() {
    ffmpeg -v info -i "$1" -i "$2" -lavfi '[0:v][1:v]psnr' -f null - 2>&1 |
        sed -n 's/.*PSNR \(.*\) average.*/\1/p' | tail -n 1
}
# From planes $1, the one named $2.
plane() {
    echo "$1" | tr ' ' '\n' | sed -n "s/^$2://p"
}

# Prints $1 in the short tier and $2 in the full one.
tiers() {
    if full; then echo "$2"; else echo "$1"; fi
}

film 3 "$tmp/scene.y4m"
accurate=flags=bicubic+accurate_rnd+full_chroma_int
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=322:182:$accurate -c:v ffv1 -pix_fmt yuv444p "$tmp/yuv444p.mkv"
ffmpeg -v error -i "$tmp/yuv444p.mkv" -vf scale=161:91:$accurate -c:v ffv1 -pix_fmt yuv444p "$tmp/small.mkv"

# ---- every sampling ---------------------------------------------------------------------------
for format in yuv420p $(tiers "" yuv422p) yuv444p; do
    ffmpeg -v error -y -i "$tmp/yuv444p.mkv" -c:v ffv1 -pix_fmt $format "$tmp/in.mkv"
    succeeds "$format is enhanced" "$mona" enhance -y "$tmp/in.mkv" -o "$tmp/$format.out.mkv" --stages sr -c ffv1
    same "$format stays, at twice the size" "$(probe "$tmp/$format.out.mkv" width,height,pix_fmt)" "644,364,$format"
    same "luma of $format is that of 4:2:0" "$(plane_md5 "$tmp/$format.out.mkv" y)" "$(plane_md5 "$tmp/yuv420p.out.mkv" y)"
done
if full; then
    ffmpeg -v error -y -i "$tmp/small.mkv" -vf "scale=322:182:$accurate" -c:v ffv1 -pix_fmt yuv444p "$tmp/bicubic.mkv"
    succeeds "odd 4:4:4 is enhanced" "$mona" enhance -y "$tmp/small.mkv" -o "$tmp/doubled.mkv" --stages sr -c ffv1
    bicubic=$(psnr_planes "$tmp/bicubic.mkv" "$tmp/yuv444p.mkv")
    found=$(psnr_planes "$tmp/doubled.mkv" "$tmp/yuv444p.mkv")
    echo "# 4:4:4: mona $found dB, bicubic $bicubic dB"
    for plane in y u v; do
        at_least "plane $plane of 4:4:4 is no worse than bicubic" "$(plane "$found" $plane)" "$(plane "$bicubic" $plane) - 0.3"
    done
fi
for format in $(tiers yuv444p "yuv422p yuv444p"); do
    ffmpeg -v error -y -i "$tmp/yuv444p.mkv" -c:v ffv1 -pix_fmt $format "$tmp/clean.mkv" \
        -vf format=$format,noise=alls=16:allf=t:all_seed=3 -c:v ffv1 "$tmp/noisy.mkv"
    "$mona" enhance -y "$tmp/noisy.mkv" -o "$tmp/cleaned.mkv" --stages denoise -c ffv1 --quiet
    before=$(psnr_planes "$tmp/noisy.mkv" "$tmp/clean.mkv")
    after=$(psnr_planes "$tmp/cleaned.mkv" "$tmp/clean.mkv")
    echo "# noisy $format: $before dB, cleaned $after dB"
    for plane in y u v; do
        at_least "noise in plane $plane of $format goes" "$(plane "$after" $plane)" "$(plane "$before" $plane) + 1.5"
    done
done

# ---- alpha --------------------------------------------------------------------------------------------
# Stages that leave alpha alone pass it on with the padding of an odd size, which super-resolution reads at the
# edges.
! full || ffmpeg -v error -y -i "$tmp/small.mkv" -frames:v 2 -vf "format=yuva444p,geq=lum='lum(X,Y)':cb='cb(X,Y)':cr='cr(X,Y)':a=200" \
    -c:v ffv1 "$tmp/in.mkv"
for stages in $(tiers "" "denoise,sr colour,sr"); do
    succeeds "odd 4:4:4 with alpha, $stages" "$mona" enhance -y "$tmp/in.mkv" -o "$tmp/out.mkv" --stages $stages -c ffv1
    ffmpeg -v error -y -i "$tmp/out.mkv" -vf extractplanes=a -f rawvideo "$tmp/alpha"
    same "$stages: alpha that is even stays so" "$(tr -d '\310' < "$tmp/alpha" | wc -c)" 0
done

# ---- other scales ---------------------------------------------------------------------------------
# A network that repeats pixels shows the exact result for luma, in the middle and at an odd edge, and that
# interpolated chroma stays in its place.
ffmpeg -v error -i "$tmp/small.mkv" -frames:v 1 "$tmp/small.png"
for scale in $(tiers 3 "3 4"); do
    "$BUILD/neutral" "$tmp/x$scale.onnx" $scale
    "$mona" compile "$tmp/x$scale.onnx" --picture -o "$tmp/x$scale.mona" --calibrate "$tmp/small.png" > /dev/null
    for format in $(tiers yuv422p10le "yuv420p yuva444p yuv422p10le"); do
        ffmpeg -v error -y -i "$tmp/small.mkv" -frames:v 2 -vf "format=$format,crop=67:45:0:0:exact=1" -c:v ffv1 "$tmp/in.mkv"
        succeeds "$format, x$scale" "$mona" enhance -y "$tmp/in.mkv" -o "$tmp/out.mkv" --stages sr --sr "$tmp/x$scale.mona" -c ffv1
        same "$format, x$scale: its size" "$(probe "$tmp/out.mkv" width,height,pix_fmt)" "$((67 * scale)),$((45 * scale)),$format"
        ffmpeg -v error -y -i "$tmp/in.mkv" -i "$tmp/out.mkv" -filter_complex '[0]extractplanes=y[a];[1]extractplanes=y[b]' \
            -map '[a]' -f rawvideo "$tmp/in.luma" -map '[b]' -f rawvideo "$tmp/out.luma"
        same "$format, x$scale: luma" "$(python3 - "$tmp/in.luma" "$tmp/out.luma" $scale <<'PYTHON'
import sys
small, large = (open(f, 'rb').read() for f in sys.argv[1:3])
times = int(sys.argv[3])
sample, row = len(small) // (2 * 67 * 45), len(small) // (2 * 45)
wanted = b''
for at in range(0, len(small), row):
    wanted += b''.join(small[i:i + sample] * times for i in range(at, at + row, sample)) * times
print(large == wanted)
PYTHON
)" True
        ffmpeg -v error -y -i "$tmp/in.mkv" -vf "scale=iw*$scale:ih*$scale:$accurate" -c:v ffv1 "$tmp/bicubic.mkv"
        found=$(psnr_planes "$tmp/out.mkv" "$tmp/bicubic.mkv")
        echo "# $format, x$scale against libswscale's: $found dB"
        for plane in u v; do
            at_least "$format, x$scale: plane $plane" "$(plane "$found" $plane)" 38
        done
    done
    ! full || "$mona" enhance -y "$tmp/in.mkv" -o "$tmp/modelled.mkv" --stages sr --sr "$tmp/x$scale.mona" -c ffv1 --device model310 --quiet
    ! full || same "x$scale on model310: the host's samples" "$(ffmpeg -v error -i "$tmp/modelled.mkv" -f md5 -)" "$(ffmpeg -v error -i "$tmp/out.mkv" -f md5 -)"
done

# ---- nothing but the network changes a sample ---------------------------------------------------
"$BUILD/neutral" "$tmp/neutral.onnx"
succeeds "a network that corrects nothing is compiled" "$mona" compile "$tmp/neutral.onnx" --picture -o "$tmp/neutral.mona" \
    --calibrate "$tmp/small.png"
# Prints how many frames two files have; nothing if a frame differs.
alike() {
    ffmpeg -v error -y -i "$1" -i "$2" -map 0:v -f framemd5 "$tmp/1.md5" -map 1:v -f framemd5 "$tmp/2.md5"
    cmp -s "$tmp/1.md5" "$tmp/2.md5" && grep -vc '^#' "$tmp/1.md5"
}
# All formats in one run, as starting ffmpeg takes longer than its work.
formats="tv:gray tv:yuv411p tv:yuva420p10le pc:yuv444p"
! full || formats="$formats tv:yuv420p tv:yuv422p tv:yuv444p tv:yuv440p tv:yuv410p tv:yuva420p tv:yuva422p tv:yuva444p tv:yuv420p9le
    tv:yuv422p9le tv:yuv444p9le tv:yuv420p10le tv:yuv422p10le tv:yuv444p10le tv:yuv440p10le tv:gray10le tv:yuva422p10le tv:yuva444p10le
    pc:yuv420p pc:yuv420p10le pc:yuv444p10le"
# $1: format. The size that libav's FFV1 can store without loss.
size_of() {
    case $1 in
    yuv41*) echo 68:44 ;;
    *) echo 67:45 ;;
    esac
}
set --
for case in $formats; do
    format=${case#*:}
    set -- "$@" -vf "noise=alls=100:allf=t:all_seed=3,format=$format,setparams=range=${case%:*},crop=$(size_of "$format"):exact=1" -c:v ffv1 \
        -color_range "${case%:*}" "$tmp/$format.${case%:*}.mkv"
done
ffmpeg -v error -i "$tmp/yuv444p.mkv" "$@"
set --
for case in $formats; do
    name=${case#*:}.${case%:*}
    "$mona" enhance "$tmp/$name.mkv" -o "$tmp/$name.out.mkv" --denoise "$tmp/neutral.mona" --temporal off --stages denoise,denoise -c ffv1 \
        --quiet 2> "$tmp/log" || not_ok "$name runs" "$(cat "$tmp/log")"
    set -- "$@" -i "$tmp/$name.mkv" -i "$tmp/$name.out.mkv"
done
n=0
maps=
for case in $formats; do
    maps="$maps -map $((2 * n)):v -f framemd5 $tmp/$n.in.md5 -map $((2 * n + 1)):v -f framemd5 $tmp/$n.out.md5"
    n=$((n + 1))
done
# shellcheck disable=SC2086
ffmpeg -v info "$@" $maps 2>&1 | sed "/^Output/,\$d" > "$tmp/said"
n=0
for case in $formats; do
    format=${case#*:}
    same "$format, ${case%:*} range: every frame is bit-identical" \
        "$(cmp -s "$tmp/$n.in.md5" "$tmp/$n.out.md5" && grep -vc '^#' "$tmp/$n.out.md5")" 3
    same "$format, ${case%:*} range: and says what it is" \
        "$(grep -cE "Stream #$((2 * n + 1)):0.* $format\(${case%:*}[,)].* $(size_of "$format" | tr : x)[, ]" "$tmp/said")" 1
    n=$((n + 1))
done

ffmpeg -v error -y -i "$tmp/yuv444p.mkv" -vf "format=yuv410p,crop=67:45:exact=1" -c:v rawvideo "$tmp/in.nut"
if "$mona" enhance -y "$tmp/in.nut" -o "$tmp/out.mkv" --denoise "$tmp/neutral.mona" --temporal off --stages denoise -c ffv1 2> "$tmp/log"; then
    not_ok "odd 4:1:0 in FFV1, which would lose samples, is refused" "exit status 0"
else
    same "odd 4:1:0 in FFV1, which would lose samples, is refused" "$(grep -c 'in multiples of 4x4' "$tmp/log")" 1
fi
if full; then
    succeeds "as raw video it is not" "$mona" enhance -y "$tmp/in.nut" -o "$tmp/out.nut" --denoise "$tmp/neutral.mona" \
        --stages denoise -c rawvideo
    same "and every frame is bit-identical" "$(alike "$tmp/out.nut" "$tmp/in.nut")" 3
fi

# Words of the other byte order are the same samples. Each format with its largest one
for format in $(tiers gray16:65535 "gray10:1023 gray16:65535 yuv422p10:1023 yuva444p16:65535"); do
    most=${format#*:} format=${format%:*}
    ffmpeg -v error -y -f lavfi -i "nullsrc=s=37x22:r=5:d=0.4,format=${format}le,geq=random(1)*$most:128:128" -f rawvideo -pix_fmt "${format}le" "$tmp/le.raw"
    dd if="$tmp/le.raw" of="$tmp/be.raw" conv=swab 2> "$tmp/log"
    for order in le be; do
        succeeds "$format$order, as raw frames" "$mona" enhance -y --raw "37x22:$format$order:5" "$tmp/$order.raw" -o "$tmp/$order.mkv" --stages denoise --strength 0 -c rawvideo
    done
    same "$format: every frame is bit-identical in both byte orders" "$(alike "$tmp/le.mkv" "$tmp/be.mkv") $(probe "$tmp/be.mkv" pix_fmt)" "2 ${format}le"
done

# Samples in the high bits, which p010le has.
ffmpeg -v error -y -f lavfi -i testsrc2=s=64x48:r=5:d=0.4,format=yuv420p10le,format=p010le -f rawvideo "$tmp/high.raw"
fails "10 bits in the high bits" "high.raw: expected samples of 10 bits, found larger ones" \
    "$mona" enhance -y --raw 64x48:yuv420p10le:5 "$tmp/high.raw" -o "$tmp/none.mkv"
succeeds "by their name" "$mona" enhance -y --raw 64x48:p010le:5 "$tmp/high.raw" -o "$tmp/out.mkv" -c ffv1

# libav's y4m lacks the last byte of each row of chroma that has half a sample.
for format in yuv420p yuv420p10le yuv422p12le; do
    ffmpeg -v error -y -f lavfi -i "testsrc2=s=80x60:d=0.12,format=yuv444p,crop=37:22:exact=1" -pix_fmt $format -c:v ffv1 "$tmp/in.mkv"
    if [ $format = yuv420p ]; then
        succeeds "$format of odd width as y4m" "$mona" enhance -y "$tmp/in.mkv" -o "$tmp/out.y4m" --stages denoise --strength 0
        same "every frame is there" "$(alike "$tmp/in.mkv" "$tmp/out.y4m")" 3
    else
        fails "$format of odd width is no y4m" "y4m in $format needs a size in multiples of 2x1" \
            "$mona" enhance -y "$tmp/in.mkv" -o "$tmp/out.y4m" --stages denoise --strength 0
    fi
done

# ---- 10 bits ------------------------------------------------------------------------------------
# 8 bits with two zero bits appended are the same picture, except for the last rounding, which each stage enlarges.
ffmpeg -v error -y -i "$tmp/small.mkv" -vf scale=160:90 -c:v ffv1 -pix_fmt yuv420p "$tmp/eight.mkv" \
    -vf scale=160:90,format=yuv420p,format=yuv420p10le -c:v ffv1 "$tmp/ten.mkv"
for stages in $(tiers sr,denoise "sr denoise sr,denoise"); do
    strength="--strength 0.1"
    [ $stages != sr ] || strength=
    for depth in eight ten; do
        # shellcheck disable=SC2086
        succeeds "$depth, $stages" "$mona" enhance -y "$tmp/$depth.mkv" -o "$tmp/$depth.out.mkv" --stages $stages $strength -c ffv1
    done
    same "10 bits stay 10 bits, $stages" "$(probe "$tmp/ten.out.mkv" pix_fmt)" yuv420p10le
    found=$(psnr_planes "$tmp/ten.out.mkv" "$tmp/eight.out.mkv") # the filter widens the second
    echo "# 10 bits against 8, $stages: $found dB"
    at_least "and are the same picture, $stages" "$(plane "$found" y)" 49
done
if full; then
    # The same noise is as hard to remove in 8 bits, which round errors of less than half a step away.
    ffmpeg -v error -y -i "$tmp/yuv444p.mkv" -c:v ffv1 -pix_fmt yuv420p "$tmp/eight.mkv"
    ffmpeg -v error -y -i "$tmp/eight.mkv" -c:v ffv1 -pix_fmt yuv420p10le "$tmp/ten.mkv"
    ffmpeg -v error -y -i "$tmp/yuv444p.mkv" -vf noise=alls=16:allf=t:all_seed=3 -c:v ffv1 -pix_fmt yuv420p10le "$tmp/noisy.mkv"
    ffmpeg -v error -y -i "$tmp/noisy.mkv" -c:v ffv1 -pix_fmt yuv420p "$tmp/noisy8.mkv"
    "$mona" enhance -y "$tmp/noisy.mkv" -o "$tmp/cleaned.mkv" --stages denoise -c ffv1 --quiet
    "$mona" enhance -y "$tmp/noisy8.mkv" -o "$tmp/cleaned8.mkv" --stages denoise -c ffv1 --quiet
    before=$(psnr_planes "$tmp/noisy.mkv" "$tmp/ten.mkv")
    after=$(psnr_planes "$tmp/cleaned.mkv" "$tmp/ten.mkv")
    eight=$(psnr_planes "$tmp/cleaned8.mkv" "$tmp/eight.mkv")
    echo "# noisy 10 bits: $before dB, cleaned $after dB, in 8 bits $eight dB"
    for plane in y u v; do
        at_least "noise in plane $plane of 10 bits goes" "$(plane "$after" $plane)" "$(plane "$before" $plane) + 1.5"
        at_least "as well as in 8" "$(plane "$after" $plane)" "$(plane "$eight" $plane) - 0.35"
    done
fi
if full && [ -n "$clips" ]; then
    for clip in hevc_10bit h264_10bit; do
        succeeds "$clip, as it was" "$mona" enhance -y "$clips/$clip.mp4" -o "$tmp/$clip.mp4" --frames 5 --preset ultrafast
        same "$clip stays 10 bits" "$(probe "$tmp/$clip.mp4" codec_name,width,height,pix_fmt)" "${clip%_*},400,400,yuv420p10le"
    done
    clip=yuv422p
    succeeds "$clip, as H.264" "$mona" enhance -y "$clips/$clip.mp4" -o "$tmp/$clip.mp4" --frames 3 --preset ultrafast
    same "$clip stays" "$(probe "$tmp/$clip.mp4" codec_name,width,height,pix_fmt)" h264,1280,720,yuv422p
fi

# ---- what a picture says of its colours ----------------------------------------------------------
colours=color_range,color_space,color_transfer,color_primaries,chroma_location
# Mastering display and light level of a stream or frame, as decimals: $1 file, $2 stream or frame.
display() {
    ffprobe -v error -read_intervals "%+#1" -show_entries "$2_side_data=red_x,red_y,green_x,green_y,blue_x,blue_y,white_point_x,white_point_y,min_luminance,max_luminance,max_content,max_average" \
        -of default=nw=1 "$1" | awk -F'[=/]' 'NF > 1 { printf("%s=%.3f\n", $1, (NF > 2 ? $2 / $3 : $2)) }' | sort -u | tr '\n' ' '
}
x265="log-level=none:chromaloc=2:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):max-cll=1000,400"
ffmpeg -v error -y -i "$tmp/small.mkv" -vf "scale=160:90,$(says tv bt2020 smpte2084 bt2020nc)" -pix_fmt yuv420p10le \
    -color_range tv -c:v libx265 -x265-params "$x265" "$tmp/hdr.mkv"
same "the HDR clip says what its colours are" "$(probe "$tmp/hdr.mkv" $colours)" tv,bt2020nc,smpte2084,bt2020,topleft
wanted=$(display "$tmp/hdr.mkv" frame)
same "the HDR clip says what its display is" "$(echo "$wanted" | tr ' ' '\n' | grep -c =)" 12
for way in $(tiers hevc:mkv "h264:mp4 h264:mkv hevc:mp4 hevc:mkv av1:mkv vp9:webm ffv1:mkv"); do
    out=$tmp/hdr_out.${way#*:}
    succeeds "HDR10 as $way" "$mona" enhance -y "$tmp/hdr.mkv" -o "$out" -c "${way%:*}" --stages sr
    same "colours are kept, $way" "$(probe "$out" $colours | tr -d '\n' | sed 's/,$//')" "$(probe "$tmp/hdr.mkv" $colours)"
    same "display and light level are kept, $way" "$(display "$out" stream)" "$wanted"
    case $way in
    hevc* | av1*) same "and in the video itself, $way" "$(display "$out" frame)" "$wanted" ;;
    esac
done
for suffix in mp4 mkv; do # HDR10 that was not HEVC, too
    "$mona" enhance -y "$tmp/hdr_out.mkv" -o "$tmp/hdr_usual.$suffix" --stages sr --preset ultrafast 2> "$tmp/log"
    same "HDR10 becomes HEVC in .$suffix, and that is told" "$(probe "$tmp/hdr_usual.$suffix" codec_name,pix_fmt | sed 's/,$//') $(grep -c 'encoded as hevc (-c chooses another), ' "$tmp/log")" \
        "hevc,yuv420p10le 1"
    same "with its colours, display and light level, in .$suffix" "$(probe "$tmp/hdr_usual.$suffix" $colours | tr -d '\n' | sed 's/,$//') $(display "$tmp/hdr_usual.$suffix" frame)" \
        "$(probe "$tmp/hdr.mkv" $colours) $wanted"
done
ffmpeg -v error -y -i "$tmp/hdr.mkv" -c:v ffv1 -color_range tv "$tmp/hdr_ffv1.mkv"
"$mona" enhance -y "$tmp/hdr_ffv1.mkv" -o "$tmp/hdr_usual.mp4" --stages sr --preset ultrafast 2> "$tmp/log"
same "HDR in another codec becomes HEVC, too" "$(probe "$tmp/hdr_usual.mp4" codec_name | sed 's/,$//') $(grep -c 'encoded as hevc (-c chooses another), for HDR' "$tmp/log")" "hevc 1"
ffmpeg -v error -y -i "$tmp/small.mkv" -frames:v 2 -vf scale=160:90 -c:v libx265 -bf 0 -x265-params log-level=none -pix_fmt yuv420p "$tmp/modern.mp4"
"$mona" enhance -y "$tmp/modern.mp4" -o "$tmp/modern.avi" --stages sr --quiet --drop-unsupported
same "in AVI HEVC becomes H.264" "$(probe "$tmp/modern.avi" codec_name)" h264
ffmpeg -v error -y -i "$tmp/small.mkv" -frames:v 2 -c:v libvpx-vp9 -deadline realtime -pix_fmt yuv420p "$tmp/modern.webm"
"$mona" enhance -y "$tmp/modern.webm" -o "$tmp/modern.mkv" --stages sr --quiet
same "VP9 stays VP9" "$(probe "$tmp/modern.mkv" codec_name)" vp9
"$mona" enhance -y "$tmp/modern.webm" -o "$tmp/modern.mkv" --stages sr --quiet --preset ultrafast
same "unless the preset is one of x264's" "$(probe "$tmp/modern.mkv" codec_name)" h264
# $1: name, $2: expected in the one line, rest: arguments of enhance
refused() {
    name=$1
    line=$2
    shift 2
    if "$mona" enhance -y "$@" --quiet 2> "$tmp/log"; then
        not_ok "$name is refused" "exit status 0"
    else
        same "$name is refused" "$(grep -c "^mona: .*$line" "$tmp/log") of $(wc -l < "$tmp/log")" "1 of 1"
    fi
}
refused "what cannot say which colours they are" "does not keep the video's matrix" "$tmp/hdr.mkv" -o "$tmp/lost.avi" -c ffv1
nothing "and nothing is left" "$(ls "$tmp"/lost* 2> /dev/null)"
ffmpeg -v error -y -i "$tmp/small.mkv" -frames:v 2 -vf scale=160:90:out_range=full -pix_fmt yuv420p -color_range pc -c:v ffv1 "$tmp/bright.mkv"
for way in avi:ffv1 $(! full || echo nut:rawvideo mov:rawvideo); do
    refused "full range that .${way%:*} cannot tell" "does not keep the video's range" "$tmp/bright.mkv" -o "$tmp/lost.${way%:*}" -c "${way#*:}"
done
ffmpeg -v error -y -i "$tmp/small.mkv" -frames:v 2 -vf scale=160:90 -pix_fmt gray -color_range tv -c:v ffv1 "$tmp/grey.mkv"
refused "limited range of grey, which players take for full," "does not keep the video's range" "$tmp/grey.mkv" -o "$tmp/lost.avi" -c ffv1
ffmpeg -v error -y -i "$tmp/small.mkv" -frames:v 2 -vf scale=160:90 -pix_fmt yuv440p -c:v ffv1 "$tmp/tall.mkv"
refused "4:4:0 in MP4, before any work," "cannot hold yuv440p" "$tmp/tall.mkv" -o "$tmp/lost.mp4"
nothing "and nothing is left" "$(ls "$tmp"/lost* 2> /dev/null)"
succeeds "--drop-unsupported goes on without" "$mona" enhance -y "$tmp/hdr.mkv" -o "$tmp/lost.avi" -c ffv1 --drop-unsupported
# Players assume BT.709 of large films that name no matrix, as y4m cannot.
ffmpeg -v error -y -i "$tmp/small.mkv" -frames:v 1 -vf scale=64:60 -pix_fmt yuv420p -c:v ffv1 "$tmp/unnamed.mkv"
for way in 720:y4m:1 120:y4m:0 720:mkv:0; do
    left=${way#*:}
    "$mona" enhance -y "$tmp/unnamed.mkv" -o "$tmp/unnamed_out.${left%:*}" --stages sr --height "${way%%:*}" 2> "$tmp/log"
    same "matrix that .${left%:*} cannot name at ${way%%:*} rows is told" "$? $(grep -c 'does not tell that the matrix of the colours stays smpte170m' "$tmp/log")" "0 ${way##*:}"
done
for place in $(tiers 2:topleft "0:left 1:center 2:topleft 3:top 4:bottomleft 5:bottom"); do
    ffmpeg -v error -y -i "$tmp/small.mkv" -frames:v 1 -vf scale=160:90 -pix_fmt yuv420p -c:v libx264 \
        -x264-params "chromaloc=${place%:*}" "$tmp/place.mkv"
    "$mona" enhance -y "$tmp/place.mkv" -o "$tmp/place_out.mp4" --quiet 2> "$tmp/log"
    same "chroma that lies ${place#*:} stays there" "$(probe "$tmp/place_out.mp4" chroma_location)" "${place#*:}"
done
for colour in $(tiers "" "bt709:bt709:bt709 bt470bg:bt470bg:bt470bg smpte170m:smpte170m:smpte170m bt2020:arib-std-b67:bt2020nc"); do
    rest=${colour#*:}
    ffmpeg -v error -y -i "$tmp/small.mkv" -frames:v 1 -vf "scale=160:90,$(says pc "${colour%%:*}" "${rest%:*}" "${rest#*:}")" \
        -pix_fmt yuv422p -c:v libx264 -color_range pc "$tmp/colour.mp4"
    "$mona" enhance -y "$tmp/colour.mp4" -o "$tmp/colour_out.mov" -c h264 --quiet 2> "$tmp/log"
    same "$colour is kept" "$(probe "$tmp/colour_out.mov" $colours)" "pc,${rest#*:},${rest%:*},${colour%%:*},left"
done

# ---- sizes ---------------------------------------------------------------------------------------
for size in $(tiers 2:2 "16:16 17:19 2:2"); do
    ffmpeg -v error -y -i "$tmp/yuv444p.mkv" -frames:v 2 -vf "format=yuv420p,crop=$size:exact=1" -c:v ffv1 "$tmp/in.mkv"
    succeeds "$size is enhanced" "$mona" enhance -y "$tmp/in.mkv" -o "$tmp/tiny.mkv" -c ffv1
    same "$size is doubled" "$(probe "$tmp/tiny.mkv" width,height)" "$((2 * ${size%:*})),$((2 * ${size#*:}))"
done
if full; then
    ffmpeg -v error -y -f lavfi -i "color=gray:s=8192x4320:d=0.04,format=yuv420p,noise=alls=100:all_seed=1,format=yuv420p10le" -frames:v 1 \
        -c:v rawvideo "$tmp/large.nut"
    succeeds "8192x4320 runs" "$mona" enhance -y "$tmp/large.nut" -o "$tmp/large_out.nut" --denoise "$tmp/neutral.mona" \
        --stages denoise -c rawvideo
    same "8192x4320: every frame is bit-identical" "$(alike "$tmp/large_out.nut" "$tmp/large.nut")" 1
    rm -f "$tmp"/large*
fi

# ---- a change in mid-stream -----------------------------------------------------------------------
# Stages and encoder are made for one size and format: what changes is converted to the first frame's, and told.
coded="-c:v libx264 -bf 0 -f h264"
as_it_is="--stages denoise --temporal off --denoise $tmp/neutral.mona"
# shellcheck disable=SC2086
ffmpeg -v error -i "$tmp/small.mkv" -vf scale=160:90 -pix_fmt yuv420p $coded "$tmp/1.264" -vf scale=176:144 -pix_fmt yuv420p $coded \
    "$tmp/2.264" -vf scale=160:90 -pix_fmt yuv422p $coded "$tmp/3.264"
for change in "2 176x144 yuv420p" "3 160x90 yuv422p"; do
    cat "$tmp/1.264" "$tmp/${change%% *}.264" "$tmp/1.264" > "$tmp/changes.264"
    rm -f "$tmp/changed.mkv"
    # shellcheck disable=SC2086
    "$mona" enhance "$tmp/changes.264" -o "$tmp/changed.mkv" -c ffv1 $as_it_is 2> "$tmp/log"
    same "${change#* } in mid-stream goes on as the first frame, and that is told" \
        "$? $(probe "$tmp/changed.mkv" width,height,pix_fmt) $(grep -c "frames have ${change#* }; they are converted to 160x90 yuv420p like the first" "$tmp/log")" \
        "0 160,90,yuv420p 1"
    frames_md5 "$tmp/1.264" > "$tmp/first"
    same "and where" "$(sed -n 's/.*from \([0-9.]*\) s on, frames have.*/\1/p' "$tmp/log")" "$(frames_md5 "$tmp/1.264" | awk 'END { printf "%.2f", NR / 25 }')"
    same "all frames are there, those like the first as they were" "$(frames_md5 "$tmp/changed.mkv" | sed -n '1p;$p') $(frames_md5 "$tmp/changed.mkv" | wc -l)" \
        "$(sed -n '1p;$p' "$tmp/first") $((2 * $(wc -l < "$tmp/first") + $(frames_md5 "$tmp/${change%% *}.264" | wc -l)))"
done
# The range, the matrix and the shape of pixels may change alone. White stays white.
tagged() { # NAME, range of white, range and matrix of the tag, shape of pixels
    ffmpeg -v error -y -f lavfi -i "color=white:s=160x90:r=25:d=0.2,format=yuv444p,scale=out_range=$2:out_color_matrix=$4,setsar=$5" -pix_fmt yuv420p \
        -color_range "$3" -colorspace "$4" $coded "$tmp/$1.264"
}
tagged limited tv tv bt709 1
tagged full pc pc bt709 1
tagged wide tv tv bt709 4/3
tagged old tv tv smpte170m 1
for change in "full full range and bt709; they are converted to limited range and bt709 like the first" \
    "old limited range and smpte170m; they are converted to limited range and bt709 like the first" \
    "wide the shape of pixels is 4:3; the result keeps the first one, 1:1"; do
    cat "$tmp/limited.264" "$tmp/${change%% *}.264" "$tmp/limited.264" > "$tmp/changes.264"
    # shellcheck disable=SC2086
    "$mona" enhance -y "$tmp/changes.264" -o "$tmp/changed.mkv" -c ffv1 $as_it_is 2> "$tmp/log"
    same "${change%% *} in mid-stream is told" "$? $(grep -c "from 0.20 s on, .*${change#* }" "$tmp/log") $(grep -c 'like the first\|keeps the first' "$tmp/log")" "0 1 1"
    same "and white stays white" "$(ffmpeg -v error -i "$tmp/changed.mkv" -vf extractplanes=y -f rawvideo - | od -An -tu1 -v | tr -s ' \n' '\n' | sort -u | tr '\n' ' ')" " 235 "
done
cat "$tmp/full.264" "$tmp/limited.264" > "$tmp/changes.264"
# shellcheck disable=SC2086
"$mona" enhance -y "$tmp/changes.264" -o "$tmp/changed.mkv" -c ffv1 $as_it_is 2> "$tmp/log"
same "full range stays full" "$(probe "$tmp/changed.mkv" color_range) $(ffmpeg -v error -i "$tmp/changed.mkv" -vf extractplanes=y -f rawvideo - | od -An -tu1 -v | tr -s ' \n' '\n' | sort -u | tr '\n' ' ')" "pc  255 "
# Tags are those of the first frame, too, not of the last one that was looked at.
ffmpeg -v error -y -f lavfi -i "color=white:s=160x90:r=25:d=0.2,format=yuv420p" -color_range tv -color_primaries bt2020 -color_trc smpte2084 \
    -colorspace bt709 $coded "$tmp/bright.264"
for change in limited:full:1:1,tv,bt709,unknown,unknown old:limited:1:1,tv,smpte170m,unknown,unknown \
    limited:bright:1:1,tv,bt709,unknown,unknown limited:wide:1:1,tv,bt709,unknown,unknown wide:limited:4:3,tv,bt709,unknown,unknown; do
    first=${change%%:*} rest=${change#*:}
    cat "$tmp/$first.264" "$tmp/${rest%%:*}.264" > "$tmp/changes.264"
    # shellcheck disable=SC2086
    "$mona" enhance -y "$tmp/changes.264" -o "$tmp/changed.mkv" -c ffv1 --quiet $as_it_is
    same "$first, then ${rest%%:*}: tagged as it begins" "$(probe "$tmp/changed.mkv" \
        sample_aspect_ratio,color_range,color_space,color_transfer,color_primaries)" "${rest#*:}"
done
# Transport streams begin at 1.4 s and more.
for part in 1 2; do
    ffmpeg -v error -i "$tmp/$part.264" -c copy "$tmp/$part.ts"
done
cat "$tmp/1.ts" "$tmp/2.ts" > "$tmp/changes.ts"
"$mona" enhance -y "$tmp/changes.ts" -o "$tmp/changed.mkv" -c ffv1 --stages sr 2> "$tmp/log"
same "its time counts from the beginning" "$(grep -c 'from 0\.[0-9]* s on, frames have' "$tmp/log")" 1
