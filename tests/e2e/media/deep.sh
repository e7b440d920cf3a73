#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Samples of 12 to 16 bits: no bit changes where the networks change nothing, also where frames are enlarged, and
# codecs and pictures hold them.
. tests/tap.inc

enhance() {
    rm -f "$tmp/out.$1"
    "$mona" enhance -y "$2" -o "$tmp/out.$1" --quiet $3 2> "$tmp/log" < /dev/null || not_ok "$2 as .$1 with $3 runs" "$(cat "$tmp/log")"
}
probe() {
    ffprobe -v error -select_streams v:0 -show_entries stream="$2" -of csv=p=0 "$1" | tr -d '\n' | sed 's/,$//'
}
psnr() {
    ffmpeg -v info -i "$1" -i "$2" -lavfi '[0:v]format=gbrap16le[a];[1:v]format=gbrap16le[b];[a][b]psnr' -f null - 2>&1 |
        sed -n 's/.*average:\([0-9.inf]*\) .*/\1/p' | sed 's/inf/99/'
}
film 2 "$tmp/scene.y4m" 96x54
"$BUILD/neutral" "$tmp/neutral.onnx" && "$BUILD/neutral" "$tmp/x3.onnx" 3
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 1 "$tmp/one.png"
for net in neutral x3; do
    "$mona" compile "$tmp/$net.onnx" --picture -o "$tmp/$net.mona" --calibrate "$tmp/one.png" > "$tmp/log" || not_ok "compile" "$(cat "$tmp/log")"
done
as_it_is="--stages denoise,denoise --temporal off --denoise $tmp/neutral.mona"
# Smooth, with noise down to the last bit: 2 frames of 46x30 in yuva444p16le.
python3 -c '
import math, random, sys
r = random.Random(1)
for n in range(2):
    for p in range(4):
        for y in range(30):
            for x in range(46):
                v = 32768 + 20000 * math.sin((x + 9 * p) / 7) * math.cos(y / 5 + n) + r.randrange(-3000, 3000)
                sys.stdout.buffer.write(int(v).to_bytes(2, "little"))
' > "$tmp/raw"
source="-f rawvideo -s 46x30 -pix_fmt yuva444p16le -i $tmp/raw"

# ---- through the stages -----------------------------------------------------------------------------
formats="tv:yuv420p12le tv:yuva444p16le"
! full || formats="$formats tv:gray16le tv:gray12le tv:yuv422p12le tv:yuv440p12le tv:yuv444p14le tv:yuva422p16le pc:yuv420p16le pc:yuv444p12le"
for case in $formats; do
    format=${case#*:}
    # shellcheck disable=SC2086
    ffmpeg -v error -y $source -vf "format=$format" -color_range "${case%:*}" -c:v ffv1 "$tmp/in.mkv"
    enhance mkv "$tmp/in.mkv" "-c ffv1 $as_it_is"
    same "$case: every frame is bit-identical" "$(probe "$tmp/out.mkv" pix_fmt) $(frames_md5 "$tmp/out.mkv")" "$format $(frames_md5 "$tmp/in.mkv")"
    enhance mkv "$tmp/in.mkv" "-c ffv1 --stages sr --sr $tmp/x3.mona"
    luma="setparams=range=pc,extractplanes=y"
    case $format in gray*) luma="setparams=range=pc" ;; esac
    same "$case: three times as large, too, in luma" "$(ffmpeg -v error -i "$tmp/out.mkv" -vf "$luma" -f md5 -)" \
        "$(ffmpeg -v error -i "$tmp/in.mkv" -vf "$luma,scale=iw*3:ih*3:flags=neighbor" -f md5 -)"
done

# Bicubic interpolation of luma and of chroma that lies left, in double precision.
for bits in 12 $(! full || echo 16); do
    # shellcheck disable=SC2086
    ffmpeg -v error -y $source -frames:v 1 -pix_fmt "yuv420p${bits}le" -c:v ffv1 "$tmp/in.mkv" -frames:v 1 -pix_fmt "yuv420p${bits}le" -f rawvideo "$tmp/small"
    enhance nut "$tmp/in.mkv" "-c rawvideo --stages sr --sr bicubic_x2"
    ffmpeg -v error -y -i "$tmp/out.nut" -f rawvideo "$tmp/large"
    python3 - "$tmp/small" "$bits" > "$tmp/wanted" <<'PYTHON'
import math, struct, sys
data, top = open(sys.argv[1], "rb").read(), (1 << int(sys.argv[2])) - 1

def key(x):
    return (1.5 * x - 2.5) * x * x + 1 if x < 1 else ((2.5 - 0.5 * x) * x - 4) * x + 2 if x < 2 else 0

def taps(i, n, off):
    u = (i + 0.5) / 2 - 0.5 + off
    return [(min(max(k, 0), n - 1), key(abs(u - k))) for k in range(math.floor(u) - 1, math.floor(u) + 3)]

at = 0
for w, h, off in ((46, 30, 0), (23, 15, 1 / 8), (23, 15, 1 / 8)):
    v = struct.unpack_from(f"<{w * h}H", data, at)
    at += 2 * w * h
    for y in range(2 * h):
        rows = taps(y, h, 0)
        for x in range(2 * w):
            s = sum(a * b * v[j * w + i] for j, a in rows for i, b in taps(x, w, off))
            sys.stdout.buffer.write(struct.pack("<H", min(max(math.floor(s + 0.5), 0), top)))
PYTHON
    same "$bits bits: bicubic in double precision, to the bit" "$(cksum < "$tmp/large")" "$(cksum < "$tmp/wanted")"
done

# From the balanced tier on, luma guides chroma, whichever network enlarges luma.
# shellcheck disable=SC2086
ffmpeg -v error -y $source -frames:v 1 -pix_fmt yuv420p -c:v ffv1 "$tmp/in.mkv"
for tier in fast balanced; do
    enhance mkv "$tmp/in.mkv" "-c ffv1 --stages sr --sr bicubic_x2 --tier $tier"
    for plane in y u; do
        ffmpeg -v error -i "$tmp/out.mkv" -vf extractplanes=$plane -f md5 - > "$tmp/$tier.$plane"
    done
done
same "tiers change no luma of another network" "$(cat "$tmp/balanced.y")" "$(cat "$tmp/fast.y")"
differ "the balanced tier guides chroma" "$tmp/balanced.u" "$tmp/fast.u"

# A ramp has more levels than the networks see.
# shellcheck disable=SC2086
ffmpeg -v error -y -f lavfi -i "color=black:s=256x64:r=10,format=gray16le,geq=lum=12000+X*80+Y" -frames:v 1 -c:v ffv1 "$tmp/ramp.mkv"
enhance nut "$tmp/ramp.mkv" "-c rawvideo --height 96"
at_least "a ramp of 16 bits stays fine" "$(ffmpeg -v error -i "$tmp/out.nut" -f rawvideo - | od -An -v -tu2 -w2 | sort -u | wc -l)" 4000

if full; then # however it is computed
    # shellcheck disable=SC2086
    ffmpeg -v error -y $source -pix_fmt yuva420p16le -c:v ffv1 "$tmp/in.mkv"
    wanted=
    for way in "" "--cpu c" "-j 1 --strip-rows 3" "--resume --segment 1"; do
        enhance mkv "$tmp/in.mkv" "-c ffv1 --stages denoise,sr,colour --height 71 $way"
        wanted=${wanted:-$(frames_md5 "$tmp/out.mkv")}
        same "the same bytes: $way" "$(frames_md5 "$tmp/out.mkv")" "$wanted"
    done
fi

# ---- codecs and pictures ------------------------------------------------------------------------------
# shellcheck disable=SC2086
ffmpeg -v error -y $source -pix_fmt yuva444p10le -c:v prores_ks -profile:v 4444 -alpha_bits 16 "$tmp/4444.mov" \
    -pix_fmt yuv420p12le -c:v libx265 -x265-params log-level=none:no-cutree=1 "$tmp/hevc.mp4" -pix_fmt rgba64be "$tmp/p%d.png" -pix_fmt gbrp10le -c:v ffv1 "$tmp/rgb.mkv"
same "ProRes 4444 is decoded as 12 bits with alpha" "$(probe "$tmp/4444.mov" pix_fmt)" yuva444p12le
enhance mkv "$tmp/4444.mov" "-c ffv1 $as_it_is"
# FFmpeg 7.1's FFV1 has 12 bits with alpha, too.
same "in FFV1, which has 16, no bit changes" "$(probe "$tmp/out.mkv" pix_fmt | sed s/p12/p16/) $(ffmpeg -v error -i "$tmp/out.mkv" -pix_fmt yuva444p12le -f md5 -)" \
    "yuva444p16le $(ffmpeg -v error -i "$tmp/4444.mov" -f md5 -)"
"$mona" enhance "$tmp/4444.mov" -o "$tmp/out.mov" $as_it_is 2> "$tmp/log"
same ".mov becomes ProRes 4444, and that is told" "$? $(probe "$tmp/out.mov" codec_name,profile) $(grep -c 'prores has no yuva444p12le; the result is yuva444p10le' "$tmp/log")" "0 prores,4444 1"
at_least "its alpha and colours stay" "$(psnr "$tmp/out.mov" "$tmp/4444.mov")" 50
enhance mp4 "$tmp/hevc.mp4" "--stages sr --preset ultrafast"
same "HEVC of 12 bits stays that" "$(probe "$tmp/out.mp4" codec_name,pix_fmt)" hevc,yuv420p12le
enhance mp4 "$tmp/hevc.mp4" "--stages denoise --preset ultrafast" # x265 4.1 crashes with cutree where frames are as narrow
for file in rgb.mkv p%d.png; do
    enhance mkv "$tmp/$file" "-c ffv1 $as_it_is"
    at_least "$file keeps its colours in FFV1" "$(psnr "$tmp/out.mkv" "$tmp/$file")" 70
done
enhance mp4 "$tmp/rgb.mkv" "--stages sr --preset ultrafast"
same "RGB of 10 bits in MP4" "$(probe "$tmp/out.mp4" pix_fmt,color_space)" yuv420p10le,bt709
enhance mov "$tmp/p%d.png" "-c prores --stages sr"
same "pictures of 16 bits become ProRes 4444" "$(probe "$tmp/out.mov" codec_name,profile)" prores,4444
"$mona" enhance "$tmp/p%d.png" -o "$tmp/q%d.png" --quiet $as_it_is
same "and pictures of 16 bits" "$? $(probe "$tmp/q2.png" pix_fmt)" "0 rgba64be"
at_least "with their colours" "$(psnr "$tmp/q2.png" "$tmp/p2.png")" 80
# Single pictures, whose metadata stays.
for kind in rgb48le:tif $(! full || echo gray16be:png rgba64be:png rgb48be:png); do
    picture=$tmp/deep.${kind#*:}
    # shellcheck disable=SC2086
    ffmpeg -v error -y $source -frames:v 1 -update 1 -pix_fmt "${kind%:*}" "$picture"
    "$mona" enhance -y "$picture" -o "$tmp/same.png" --quiet $as_it_is 2> "$tmp/log" || not_ok "$kind" "$(cat "$tmp/log")"
    same "$kind: no bit changes" "$(ffmpeg -v error -i "$tmp/same.png" -pix_fmt "${kind%:*}" -f md5 -)" "$(ffmpeg -v error -i "$picture" -f md5 -)"
    "$mona" enhance -y "$picture" -o "$tmp/large.png" --quiet --stages sr --sr "$tmp/x3.mona"
    ffmpeg -v error -y -i "$picture" -vf scale=iw*3:ih*3:flags=bicubic "$tmp/wanted.png"
    at_least "$kind: enlarged" "$(psnr "$tmp/large.png" "$tmp/wanted.png")" 35
done
"$mona" enhance "$tmp/p1.png" -o "$tmp/alpha.png" --quiet
same "alpha of 16 bits" "$? $(probe "$tmp/alpha.png" width,pix_fmt)" "0 92,rgba64be"
"$mona" enhance "$tmp/deep.tif" -o "$tmp/deep.jpg" 2> "$tmp/log"
same "in a JPEG it is rounded to 8, and that is told" "$? $(grep -c "JPEG holds 8 of the picture's 16 bits" "$tmp/log")" "0 1"
