#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Videos whose frames are not planes: RGB from screen recorders, GIF, animated PNG, packed formats of cameras.
. tests/tap.inc

enhance() {
    "$mona" enhance -y "$@" > "$tmp/stdout" 2> "$tmp/log" < /dev/null
}
probe() {
    ffprobe -v error -select_streams v:0 -show_entries stream="$2" -of csv=p=0 "$1"
}
frames() {
    ffmpeg -v error -i "$1" -f framemd5 - | grep -v '^#'
}
# PSNR of all channels in dB: $1 result, $2 expected.
close_to() {
    ffmpeg -v info -i "$1" -i "$2" -lavfi '[0:v]format=gbrp[a];[1:v]format=gbrp[b];[a][b]psnr' -f null - 2>&1 |
        sed -n 's/.*average:\([0-9.inf]*\) .*/\1/p' | tail -n 1 | sed 's/inf/99/'
}

film 12 "$tmp/scene.y4m" 96x54
"$BUILD/neutral" "$tmp/neutral.onnx"
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 1 "$tmp/one.png"
succeeds "a network that corrects nothing is compiled" "$mona" compile "$tmp/neutral.onnx" --picture -o "$tmp/neutral.mona" \
    --calibrate "$tmp/one.png"
as_it_is="--stages denoise --temporal off --denoise $tmp/neutral.mona"

# ---- RGB ------------------------------------------------------------------------------------------
ffmpeg -v error -i "$tmp/scene.y4m" -c:v ffv1 -pix_fmt bgr0 "$tmp/screen.mkv" -c:v libx264rgb -crf 10 "$tmp/screen.mp4" \
    -c:v qtrle -pix_fmt rgb24 "$tmp/screen.mov" -c:v rawvideo -pix_fmt bgr24 "$tmp/screen.avi" \
    -vf "format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='2*X'" -c:v png "$tmp/alpha.mov" \
    -c:v rawvideo -pix_fmt yuv422p "$tmp/yuv422p.nut" -c:v rawvideo -pix_fmt yuv420p "$tmp/yuv420p.nut" \
    -f apng -plays 0 "$tmp/moving.png"
for file in $(! full || echo screen.mov screen.avi screen.mp4) screen.mkv; do
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
if full; then
    # shellcheck disable=SC2086
    enhance "$tmp/alpha.mov" -o "$tmp/alpha_out.mov" -c prores $as_it_is || not_ok "RGBA to ProRes" "$(cat "$tmp/log")"
    same "alpha stays in ProRes" "$(probe "$tmp/alpha_out.mov" codec_name)" prores
fi
same "alpha stays" "$(alpha_of "$tmp/alpha.mkv")" "$(alpha_of "$tmp/alpha.mov")"
fails "alpha that MP4 would lose is refused" "cannot hold yuva420p; -c ffv1 in .mkv would, and --drop-unsupported leaves the alpha out" \
    "$mona" enhance "$tmp/alpha.mov" -o "$tmp/alpha.mp4" --quiet
fails "alpha that H.264 in MOV cannot hold is refused with a codec that can" "cannot hold yuva420p; -c prores would" \
    "$mona" enhance "$tmp/alpha.mov" -o "$tmp/none.mov" --quiet
enhance "$tmp/alpha.mov" -o "$tmp/opaque.mp4" --drop-unsupported
same "--drop-unsupported leaves alpha out of MP4 and says so" \
    "$(grep -c "left out: the video's alpha" "$tmp/log") $(probe "$tmp/opaque.mp4" codec_name,pix_fmt)" "1 h264,yuv420p"
enhance "$tmp/alpha.mov" -o "$tmp/kept.mkv" -c ffv1 --drop-unsupported
same "but keeps it where it can be held" "$(probe "$tmp/kept.mkv" pix_fmt)" yuva444p
if full; then # how colours become planes
    # A few colours far from grey, which a palette and three bits hold without loss.
    for kind in "rgb8 nut" "pal8 mov"; do
        full || [ "$kind" = "pal8 mov" ] || continue
        format=${kind% *} file=$tmp/few.${kind#* }
        ffmpeg -v error -y -f lavfi -i color=red:s=64x48:r=10,format=rgb24 -frames:v 1 -vf \
            "geq=r='255*lt(mod(X,32),16)':g='255*lt(X,32)':b='255*lt(Y,24)'" -c:v rawvideo -pix_fmt rgb24 "$tmp/full.nut"
        if [ $format = pal8 ]; then
            ffmpeg -v error -y -i "$tmp/full.nut" -lavfi 'split[a][b];[a]palettegen=max_colors=16:reserve_transparent=0[p];[b][p]paletteuse=dither=none' \
                -c:v png "$file"
        else
            ffmpeg -v error -y -i "$tmp/full.nut" -c:v rawvideo -pix_fmt rgb8 "$file"
        fi
        ffmpeg -v error -y -i "$file" -c:v rawvideo -pix_fmt rgb24 "$tmp/want.nut"
        rm -f "$tmp/few.mkv"
        # shellcheck disable=SC2086
        enhance "$file" -o "$tmp/few.mkv" -c ffv1 $as_it_is || not_ok "$format runs" "$(cat "$tmp/log")"
        at_least "$format: with its colours" "$(close_to "$tmp/few.mkv" "$tmp/want.nut")" 45
    done
    ffmpeg -v error -y -i "$tmp/screen.mkv" -vf setparams=color_primaries=bt2020:color_trc=smpte170m -c:v ffv1 "$tmp/named.mkv"
    # shellcheck disable=SC2086
    enhance "$tmp/named.mkv" -o "$tmp/named_out.mkv" -c ffv1 $as_it_is || not_ok "RGB of BT.2020" "$(cat "$tmp/log")"
    same "primaries and transfer stay what the file says" "$(probe "$tmp/named_out.mkv" color_space,color_transfer,color_primaries)" "bt709,smpte170m,bt2020"
    # A ramp of red, whose chroma values show where they lie: left, as ffmpeg makes it for that position.
    ffmpeg -v error -y -f lavfi -i color=black:s=128x48:r=10,format=rgb24 -frames:v 1 -vf "geq=r='40+X':g=60:b=60" -c:v rawvideo -pix_fmt rgb24 "$tmp/ramp.nut"
    # shellcheck disable=SC2086
    enhance "$tmp/ramp.nut" -o "$tmp/ramp.mkv" -c h264 --crf 0 $as_it_is || not_ok "a ramp" "$(cat "$tmp/log")"
    red_of() {
        ffmpeg -v error -i "$1" -vf extractplanes=v -f rawvideo - | od -An -v -tu1 -w64 | awk 'NR == 12 { for (i = 9; i <= 56; i++) s += $i; print s }'
    }
    ffmpeg -v error -y -i "$tmp/ramp.nut" -vf "scale=out_color_matrix=bt709:out_h_chr_pos=0:out_v_chr_pos=128:flags=bicubic+accurate_rnd+full_chroma_inp,format=yuv420p" \
        -c:v ffv1 "$tmp/left.mkv"
    same "chroma lies left, as the file says" "$(probe "$tmp/ramp.mkv" chroma_location) $(awk "BEGIN { d = $(red_of "$tmp/ramp.mkv") - $(red_of "$tmp/left.mkv"); print d * d <= 36 }")" \
        "left 1"
fi

# Grey with alpha has full range, which only the frames tell.
ffmpeg -v error -f lavfi -i color=white:s=64x48:r=5 -frames:v 1 -pix_fmt ya8 -c:v ffv1 "$tmp/white.mkv"
enhance "$tmp/white.mkv" -o "$tmp/white.mov" -c prores --stages sr || not_ok "grey with alpha runs" "$(cat "$tmp/log")"
same "white of grey with alpha stays white" "$(ffmpeg -v error -i "$tmp/white.mov" -vf extractplanes=y -pix_fmt gray10le -f rawvideo - | od -An -v -tu2 -w2 |
    awk '{ sum += $1 } END { print (sum / NR > 935 && sum / NR < 945) }')" 1

# ---- packed luma and chroma: nothing but places change ------------------------------------------------
# $1: packed, $2: planes
unpacks() {
    ffmpeg -v error -y -i "$tmp/$2.nut" -pix_fmt "$1" -f rawvideo "$tmp/$1.raw"
    rm -f "$tmp/unpacked.nut"
    # shellcheck disable=SC2086
    enhance "$tmp/$1.raw" --raw "96x54:$1:25" -o "$tmp/unpacked.nut" -c rawvideo $as_it_is || not_ok "$1 runs" "$(cat "$tmp/log")"
    same "$1 becomes $2, every sample as it was" "$(frames "$tmp/unpacked.nut" | cut -d, -f6)" "$(frames "$tmp/$2.nut" | cut -d, -f6)"
}
unpacks nv12 yuv420p
if full; then
    unpacks yuyv422 yuv422p
    unpacks uyvy422 yuv422p
    unpacks nv21 yuv420p
fi

fails "what no libswscale can read is refused" "found uyyvyy411" "$mona" enhance "$tmp/nv12.raw" --raw 96x54:uyyvyy411:25 -o "$tmp/none.mkv"

# ---- GIF and animated PNG -----------------------------------------------------------------------------
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 3 -c:v libwebp_anim "$tmp/moving.webp"
fails "an animated WebP is refused as what it is" "found an animated one, which FFmpeg" \
    "$mona" enhance "$tmp/moving.webp" -o "$tmp/webp.mp4" --quiet
ffmpeg -v error -i "$tmp/scene.y4m" -vf "select='not(mod(n\,4))+eq(mod(n\,7)\,3)'" -fps_mode vfr "$tmp/moving.gif"
enhance "$tmp/moving.gif" -o "$tmp/moving.mp4" --stages sr || not_ok "a GIF" "$(cat "$tmp/log")"
same "a GIF keeps its times" "$(video_times "$tmp/moving.mp4" | awk '{ printf "%.2f ", $1 }')" \
    "$(video_times "$tmp/moving.gif" | awk '{ printf "%.2f ", $1 }')"
same "and is opaque" "$(probe "$tmp/moving.mp4" width,height,pix_fmt)" 192,108,yuv420p
# shellcheck disable=SC2086
"$mona" enhance -y "$tmp/moving.gif" -o "$tmp/larger.gif" $as_it_is 2> "$tmp/log" || not_ok "a GIF to a GIF" "$(cat "$tmp/log")"
same "a GIF becomes a GIF, at the same times" "$(probe "$tmp/larger.gif" codec_name,width) $(video_times "$tmp/larger.gif" | awk '{ printf "%.2f ", $1 }')" \
    "gif,96 $(video_times "$tmp/moving.gif" | awk '{ printf "%.2f ", $1 }')"
at_least "with its colours" "$(close_to "$tmp/larger.gif" "$tmp/moving.gif")" 30
enhance "$tmp/scene.y4m" -o "$tmp/film.gif" --stages sr --height 40
same "a film becomes one, too" "$? $(probe "$tmp/film.gif" height) $(video_times "$tmp/film.gif" | wc -l)" "0 40 12"
if ffmpeg -v error -muxers | grep -qw avif; then
    ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 1 -c:v libx264 -pix_fmt yuv420p "$tmp/still.mp4"
    turned "$tmp/still.mp4" 90 "$tmp/turned.mp4"
    enhance "$tmp/turned.mp4" -o "$tmp/still.avif" --stages sr --height 192 --drop-unsupported
    same "a film of a frame becomes a still AVIF, turned" "$? $(probe "$tmp/still.avif" codec_name,height,nb_frames)" "0 av1,192,1"
    enhance "$tmp/still.avif" -o "$tmp/again.avif" --stages sr
    same "and that one another" "$? $(probe "$tmp/again.avif" codec_name,height,nb_frames)" "0 av1,384,1"
    enhance "$tmp/screen.mp4" -o "$tmp/moving.avif" --stages sr
    if [ -s "$tmp/moving.avif" ]; then
        fails "one that moves is none of the pictures that are read" "found an animated AVIF" "$mona" enhance "$tmp/moving.avif" -o "$tmp/none.png"
    else
        skip "this FFmpeg writes no AVIF that moves"
    fi
fi
if full && [ -n "$clips" ]; then # its dither has combs like those of fields
    ffmpeg -v error -i "$clips/park_joy_480x270.y4m" -vf scale=96:54 -frames:v 25 "$tmp/combs.gif"
    ffmpeg -v error -i "$tmp/combs.gif" -c:v ffv1 -pix_fmt bgr0 "$tmp/combs.mkv"
    for file in combs.gif combs.mkv; do
        enhance "$tmp/$file" -o "$tmp/combs_$file.mp4" --stages sr
        same "$file: dither is not taken for fields" "$? $(grep -c interlaced "$tmp/log")" "0 0"
    done
fi
# A disc that moves over nothing, shown three times, its last picture for half a second; ffmpeg reads neither number.
ffmpeg -v error -y -f lavfi -i color=black:s=60x50:r=10,format=rgba -frames:v 4 \
    -vf "geq=r=230:g=60:b='20*N':a='255*lt(hypot(X-20-5*N,Y-25),15)',split[a][b];[a]palettegen=stats_mode=single:reserve_transparent=1[p];[b][p]paletteuse=new=1" \
    -loop 2 -final_delay 50 "$tmp/disc.gif"
loops() {
    python3 -c "
b = open('$1', 'rb').read()
at = b.find(b'NETSCAPE2.0')
print(b[at + 13] if at > 0 else 'once', [b[i + 4] for i in range(len(b)) if b[i:i + 3] == b'\x21\xf9\x04' and b[i + 7] == 0])"
}
frames_of_disc() {
    ffmpeg -nostdin -v error -i "$1" -vf alphaextract -pix_fmt gray -f framemd5 - | grep -v '^#' | cut -d, -f6
}
same "the GIF is what it should be" "$(loops "$tmp/disc.gif")" "2 [10, 10, 10, 50]"
# shellcheck disable=SC2086
enhance "$tmp/disc.gif" -o "$tmp/disc_out.gif" $as_it_is || not_ok "a transparent GIF" "$(cat "$tmp/log")"
same "it keeps its repeats and the times of all pictures" "$(loops "$tmp/disc_out.gif")" "2 [10, 10, 10, 50]"
same "and what is transparent, in every picture" "$(frames_of_disc "$tmp/disc_out.gif")" "$(frames_of_disc "$tmp/disc.gif")"
same "of soft alpha it says what happens" "$(grep -c 'less than half opaque become transparent' "$tmp/log")" 1
fails "a transparent GIF to MP4 is refused" "cannot hold yuva420p; -c ffv1 in .mkv would, and --drop-unsupported leaves the alpha out" \
    "$mona" enhance "$tmp/disc.gif" -o "$tmp/none.mp4" --quiet
enhance "$tmp/disc.gif" -o "$tmp/disc.mkv" -c ffv1 --stages sr
same "FFV1 keeps it" "$? $(probe "$tmp/disc.mkv" pix_fmt)" "0 yuva444p"
cat "$tmp/disc.gif" | "$mona" enhance -y - -o "$tmp/piped.mp4" --stages sr > /dev/null 2> "$tmp/log"
same "from a pipe a line says that it is filled" "$? $(grep -c 'transparent parts are filled' "$tmp/log")" "0 1"
ffmpeg -v error -y -i "$tmp/disc.gif" -vf "select=eq(n\,1),split[a][b];[a]palettegen=reserve_transparent=1[p];[b][p]paletteuse" -frames:v 1 "$tmp/palette1.png"
fails "nor is alpha of palettes lost" "cannot hold yuva420p" "$mona" enhance "$tmp/palette%d.png" -o "$tmp/none.mp4" --quiet
enhance "$tmp/palette%d.png" -o "$tmp/palette_out%d.png" --stages sr
same "numbered pictures keep it" "$? $(probe "$tmp/palette_out1.png" pix_fmt)" "0 rgba"
# shellcheck disable=SC2086
enhance "$tmp/moving.png" -o "$tmp/moving.mkv" -c ffv1 $as_it_is || not_ok "an animated PNG" "$(cat "$tmp/log")"
same "an animated PNG is a video" "$(frames "$tmp/moving.mkv" | wc -l)" 12
at_least "with its colours" "$(close_to "$tmp/moving.mkv" "$tmp/moving.png")" 48
enhance "$tmp/moving.png" -o "$tmp/first.png" --stages sr
same "one picture of it is its first, and it says so" "$? $(probe "$tmp/first.png" width,height) $(grep -c 'animated; only its first picture' "$tmp/log")" "0 192,108 1"
ffmpeg -v error -i "$tmp/moving.png" -frames:v 1 "$tmp/still.png"
enhance "$tmp/still.png" -o "$tmp/second.png" --stages sr
same "the same as of a picture that does not move" "$(frames "$tmp/first.png")" "$(frames "$tmp/second.png")"
same "of which nothing is said" "$(grep -c animated "$tmp/log")" 0
head -c 60 "$tmp/moving.png" > "$tmp/cut.png"
fails "one cut short" "cut.png" "$mona" enhance "$tmp/cut.png" -o "$tmp/none.png"
nothing "and nothing is left of what failed" "$(find "$tmp" -name 'none.*' -o -name 'alpha.mp4*' -o -name '*.part')"
