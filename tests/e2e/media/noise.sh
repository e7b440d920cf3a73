#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Noise of every grain is found and removed; clean films and pictures come out unchanged.
. tests/tap.inc

film 4 "$tmp/scene.y4m" 640x360
ffmpeg -v error -i "$tmp/scene.y4m" -vf format=yuv420p -c:v ffv1 "$tmp/clean.mkv"

# $1: name, $2: the size at which the noise is made, $3: its strength, $4: filters applied to it
add_noise() {
    ffmpeg -v error -y -i "$tmp/clean.mkv" -f lavfi -i "color=0x808080:s=$2,format=gray,noise=alls=$3:allf=t:all_seed=5" \
        -filter_complex "[1:v]$4,scale=640x360:flags=bicubic,format=yuv420p[n];
                         [0:v][n]blend=c0_mode=grainmerge:shortest=1" -frames:v 4 -c:v ffv1 "$tmp/$1.mkv"
}
clean() { # $1: name, rest: options
    name=$1
    shift
    "$mona" enhance -y "$tmp/$name.mkv" -o "$tmp/out.mkv" -c ffv1 --stages denoise --temporal off --quiet "$@" < /dev/null
}
better() { # $1: name, $2: its original, $3: y, or another plane. By how many dB the last result is
    gain "$tmp/$1.mkv" "$tmp/out.mkv" "$tmp/$2.mkv" "${3:-y}"
}
gain() { # $1: before, $2: after, $3: the original, $4: y, or another plane. By how many dB $2 is better
    ffmpeg -v info -i "$1" -i "$2" -i "$3" -lavfi '[2:v]format=yuv420p,split[a][b];[0:v]format=yuv420p[p];[p][a]psnr[s];
        [1:v]format=yuv420p[q];[q][b]psnr[t]' -map '[s]' -map '[t]' -f null - 2>&1 |
        sed -n "s/.*psnr_\([0-9]*\) .*PSNR .*${4:-y}:\([0-9.inf]*\).*/\1 \2/p" | sort -n | awk '{ y[NR] = $2 } END { print y[2] - y[1] }'
}
gained() { # $1: name
    clean "$1" --content clean
    better "$1" clean
}

# ---- of every grain -------------------------------------------------------------------------------
add_noise fine 640x360 30 null
add_noise blurred 640x360 60 gblur=1
add_noise half 320x180 50 null
at_least "fine noise: dB gained" "$(gained fine)" 3
at_least "noise blurred by 1" "$(gained blurred)" 2
at_least "noise made at half the size" "$(gained half)" 2
if full; then
    add_noise soft 640x360 80 gblur=0.6
    add_noise quarter 160x90 80 null
    at_least "noise blurred by 0.6" "$(gained soft)" 3
    at_least "noise made at a quarter of the size" "$(gained quarter)" 1
fi

# Coding makes coarse noise look like texture, but the frame before does not have it.
ffmpeg -v error -i "$tmp/half.mkv" -c:v libx264 -preset fast -crf 33 "$tmp/low.mkv"
clean low
at_least "noise made at half the size and coded coarsely" "$(better low clean)" 1.5

# Coding leaves none in a flat part, and a sensor has hardly any in the dark.
ffmpeg -v error -y -i "$tmp/clean.mkv" -f lavfi -i "color=0x808080:s=640x360,format=gray,noise=alls=20:allf=t:all_seed=5" \
    -filter_complex "[0:v]drawbox=w=80:h=ih:color=0x303030:t=fill,split[c][d];[1:v]format=yuv420p[n];
                     [c][n]blend=c0_expr='if(lt(X,80),A,A+B-128)':c1_expr=A:c2_expr=A:shortest=1[s]" \
    -map "[d]" -frames:v 4 -c:v ffv1 "$tmp/partly.mkv" -map "[s]" -frames:v 4 -c:v libx264 -crf 20 "$tmp/spoilt.mkv"
clean spoilt
at_least "noise in a part of the picture, coded" "$(better spoilt partly)" 1.5

# ---- of colour ------------------------------------------------------------------------------------
# Of coded chroma a network that is told luma's strength leaves blotches.
film 8 "$tmp/eight.y4m" 640x360
ffmpeg -v error -i "$tmp/eight.y4m" -c:v ffv1 "$tmp/eight.mkv" -vf noise=alls=12:allf=t:all_seed=7 -c:v libx264 -crf 23 -pix_fmt yuv420p "$tmp/colours.mkv"
clean colours
at_least "noise of chroma that was coded: dB gained in U" "$(better colours eight u)" 6.2

# ---- light that changes ---------------------------------------------------------------------------
# It changes every sample, as noise does.
for light in fade=in:0:24 "eq=brightness='if(mod(n,3),0,0.05)':eval=frame"; do
    ffmpeg -v error -y -i "$tmp/clean.mkv" -vf "$light" -c:v ffv1 "$tmp/light.mkv"
    clean light
    same "clean film is left by $light" "$(frames_md5 "$tmp/out.mkv")" "$(frames_md5 "$tmp/light.mkv")"
done

# ---- grain that the decoder makes ------------------------------------------------------------------
# AV1 can store film without its grain, and what a player shall add in its place.
if ffmpeg -v quiet -i "$tmp/fine.mkv" -c:v libsvtav1 -preset 12 -crf 23 -svtav1-params film-grain=20 "$tmp/grain.mkv"; then
    at_least "grain added by the decoder: dB gained" "$(gained grain)" 3
    "$mona" enhance -y "$tmp/grain.mkv" -o "$tmp/out.mkv" -c ffv1 --stages denoise 2> "$tmp/log"
    same "that it is left out is told" "$(grep -c 'film grain that a player would add is left out' "$tmp/log")" 1
    clean grain --strength 0
    same "--strength 0 keeps it" "$(frames_md5 "$tmp/out.mkv")" "$(frames_md5 "$tmp/grain.mkv")"
    ffmpeg -v error -i "$tmp/grain.mkv" -c:v ffv1 "$tmp/grained.mkv"
    for name in grain grained; do
        "$mona" enhance -y "$tmp/$name.mkv" -o "$tmp/out_$name.mkv" -c ffv1 --stages sr --frames 2 2> "$tmp/log_$name" < /dev/null
    done
    same "and so do stages without denoise" "$(frames_md5 "$tmp/out_grain.mkv")" "$(frames_md5 "$tmp/out_grained.mkv")"
    nothing "which is not worth a word" "$(grep 'film grain' "$tmp/log_grain")"
else
    skip "no SVT-AV1 here"
fi

# ---- the same bytes by every way ------------------------------------------------------------------
clean blurred
frames_md5 "$tmp/out.mkv" > "$tmp/wanted"
for options in "-j 1" "-j 2 --strip-rows 6" "--cpu c"; do
    # shellcheck disable=SC2086
    same "the same bytes with $options" "$(clean blurred $options && frames_md5 "$tmp/out.mkv")" "$(cat "$tmp/wanted")"
done
# What is known of the frames before a segment is less than in one run, so only where nothing follows from it.
alone="--strength 0.3 --temporal off"
# shellcheck disable=SC2086
same "the same bytes with --resume --segment 2" "$(clean blurred $alone --resume --segment 2 && frames_md5 "$tmp/out.mkv")" "$(
    clean blurred $alone && frames_md5 "$tmp/out.mkv")"

# ---- pictures -------------------------------------------------------------------------------------
picture() { # $1: input, $2: output, rest: options
    input=$1 output=$2
    shift 2
    "$mona" enhance -y "$tmp/$input" -o "$tmp/$output" --quiet "$@"
}
# Coarse noise is told from texture by its colours, which a camera's noise has.
ffmpeg -v error -i "$tmp/clean.mkv" -f lavfi -i "color=0x808080:s=320x180,format=gbrp,noise=alls=50:allf=t:all_seed=5" \
    -filter_complex "[1:v]scale=640x360:flags=bicubic,format=gbrp[n];[0:v]format=gbrp[c];[c][n]blend=all_mode=grainmerge" \
    -frames:v 1 -pix_fmt rgb24 "$tmp/half.png"
for name in clean half fine; do
    [ -f "$tmp/$name.png" ] || ffmpeg -v error -i "$tmp/$name.mkv" -frames:v 1 -pix_fmt rgb24 "$tmp/$name.png"
    picture $name.png $name.usual.png
    picture $name.png $name.sr.png --stages sr
    picture $name.png $name.both.png --stages denoise,sr
    same "$name: denoise,sr is usual" "$(md5sum < "$tmp/$name.usual.png")" "$(md5sum < "$tmp/$name.both.png")"
done
same "a clean picture is only enlarged" "$(md5sum < "$tmp/clean.usual.png")" "$(md5sum < "$tmp/clean.sr.png")"
for name in half fine; do
    at_least "a picture with $name noise: dB gained" "$(gain "$tmp/$name.sr.png" "$tmp/$name.usual.png" "$tmp/clean.sr.png")" 1.25
done
ffmpeg -v error -i "$tmp/clean.png" -vf crop=160:120 -pix_fmt rgba "$tmp/alpha.png" -vf crop=160:120 -pix_fmt gray "$tmp/gray.png"
for name in alpha gray; do
    picture $name.png $name.usual.png
    picture $name.png $name.sr.png --stages sr
    same "$name: only enlarged" "$(md5sum < "$tmp/$name.usual.png")" "$(md5sum < "$tmp/$name.sr.png")"
done

# The faint grain of a sharp photograph, halved, is nearly as coarse and as even as noise.
photograph=../shared/data/train/photos/ubuntu_macro-shot-of-black-animal-by-gene-taylor_0.webp
if [ -f $photograph ]; then
    ffmpeg -v error -i $photograph -vf scale=iw/2:ih/2:flags=bicubic+accurate_rnd "$tmp/own.png"
    picture own.png own.usual.png
    picture own.png own.sr.png --stages sr
    same "a photograph keeps its own grain" "$(md5sum < "$tmp/own.usual.png")" "$(md5sum < "$tmp/own.sr.png")"
    # In film, the next frame tells it from noise, even of the first frame.
    ffmpeg -v error -loop 1 -i "$tmp/own.png" -vf "crop=iw-16:ih-16:2*n:n,format=yuv420p" -frames:v 3 -c:v ffv1 "$tmp/moves.mkv"
    clean moves
    same "and so does one that moves" "$(frames_md5 "$tmp/out.mkv")" "$(frames_md5 "$tmp/moves.mkv")"
    clean moves --frames 1
    same "of which one frame is wanted: the same number" "$(frames_md5 "$tmp/out.mkv" | wc -l)" 1
else
    skip "the photographs are not here"
fi

# ---- texture --------------------------------------------------------------------------------------
# Fabric, gravel, leaves and wood are as coarse and as even as noise; nothing of them may move.
moved() { # $1: a folder of pictures. Those that are changed
    looked=0
    for of in "$1"/*; do
        looked=$((looked + 1))
        full || [ $((looked % 4)) = 1 ] || continue
        ffmpeg -v error -y -i "$of" -pix_fmt rgb24 "$tmp/of.png"
        "$mona" enhance -y "$tmp/of.png" -o "$tmp/left.png" --stages denoise --quiet
        [ "$(frames_md5 "$tmp/left.png")" = "$(frames_md5 "$tmp/of.png")" ] || basename "$of"
    done
}
# Nor may a JPEG of it get worse; damage that JPEG did may be repaired.
worse() { # $1: a folder of pictures. Those that lose more than 0.05 dB in luma as JPEGs
    for of in "$1"/*; do
        full || case $of in *oceanic_434614*) ;; *) continue ;; esac
        ffmpeg -v error -y -i "$of" -pix_fmt rgb24 "$tmp/of.png"
        for quality in 60 75 85 90 95; do
            full || [ $quality = 90 ] || continue
            # Compared with the JPEG as RGB: its own luma is up to 0.6 dB better than what rounding to RGB leaves of it.
            python3 -c 'import sys; from PIL import Image; _, of, jpg, png, quality = sys.argv
Image.open(of).save(jpg, quality=int(quality)); Image.open(jpg).save(png)' "$tmp/of.png" "$tmp/of.jpg" "$tmp/jpg.png" $quality
            picture of.jpg left.png --stages denoise
            awk "BEGIN { exit $(psnr_y "$tmp/jpg.png" "$tmp/of.png") - $(psnr_y "$tmp/left.png" "$tmp/of.png") > 0.05 }" || echo "$(basename "$of") as JPEG $quality"
        done
    done
}
# Black and white dots that stand for grey look like strong noise.
dithered() { # $1: a folder of pictures. Those that are changed once they were dithered
    mkdir -p "$tmp/dithered"
    for of in "$1"/*; do
        full || case $of in *prairie-salt*) ;; *) continue ;; esac
        ffmpeg -v error -y -i "$of" -vf format=gray,scale=sws_dither=ed,format=monob,format=rgb24 "$tmp/dithered/$(basename "$of").png"
    done
    moved "$tmp/dithered"
}
if [ -d ../shared/data/test/texture ]; then
    nothing "dithered pictures are left as they are" "$(dithered ../shared/data/test/texture)"
    nothing "texture is left as it is" "$(moved ../shared/data/test/texture)"
    if python3 -c "import PIL" 2> /dev/null; then
        nothing "and does not get worse as JPEG" "$(worse ../shared/data/test/texture)"
    else
        skip "no Pillow, which writes JPEGs of a quality"
    fi
    "$mona" enhance -y ../shared/found/pictures/foliage90.jpg -o "$tmp/left.png" --stages denoise --quiet
    ffmpeg -v error -y -i ../shared/found/pictures/foliage90.jpg -pix_fmt rgb24 "$tmp/of.png"
    at_least "drawn leaves are not painted over: dB beside the input" "$(psnr_y "$tmp/left.png" "$tmp/of.png")" 34
else
    skip "the pictures of texture are not here"
fi

# ---- damage of a JPEG -----------------------------------------------------------------------------
said() { # $1: input. The error of compression that is treated; none: there is none
    "$mona" enhance -y "$tmp/$1" -o "$tmp/said.png" --progress json 2>&1 |
        sed -n 's/.*"end".*"compression":\([0-9.]*\).*/\1/p' | grep . || echo none
}
ffmpeg -v error -i "$tmp/clean.png" -q:v 2 "$tmp/2.jpg" -q:v 20 "$tmp/20.jpg" -pix_fmt yuv420p -c:v ffv1 "$tmp/still.mkv"
same "a fine JPEG is left" "$(said 2.jpg)" none
at_least "a coarse one is not" "$(said 20.jpg)" 3
# A network for JPEG repairs as well; it gains no more by that.
picture 20.jpg 20.sr.png --stages sr --sr sr_x2_fast_video
picture 20.jpg 20.usual.png --sr sr_x2_fast_video
at_least "dB gained" "$(gain "$tmp/20.sr.png" "$tmp/20.usual.png" "$tmp/clean.sr.png")" 0.1
ffmpeg -v error -i "$tmp/20.jpg" -pix_fmt yuv420p -c:v ffv1 "$tmp/blocks.mkv"
clean blocks
at_least "blocks that nobody tells of: dB gained" "$(better blocks still)" 0.1

# ---- chroma of compressed film ---------------------------------------------------------------------
ffmpeg -v error -i "$tmp/clean.mkv" -c:v libx264 -preset fast -crf 32 "$tmp/coded.mkv"
clean coded
planes() { # $1: a video. Checksums of each frame's luma, u and v
    ffmpeg -v error -i "$1" -filter_complex 'extractplanes=y+u+v[y][u][v]' -map '[y]' -map '[u]' -map '[v]' -f framemd5 - |
        awk '/^[0-2],/ { sums[$1] = sums[$1] " " $NF } END { for (i = 0; i < 3; i++) print sums[i ","] }' | tr -d ' '
}
planes "$tmp/coded.mkv" > "$tmp/before"
planes "$tmp/out.mkv" > "$tmp/after"
same "what compression did to luma is repaired, and chroma stays what it was" \
    "$(paste "$tmp/before" "$tmp/after" | awk '{ printf "%s ", $1 == $2 }')" "0 1 1 "

# ---- clean film -----------------------------------------------------------------------------------
for clip in ${clips:+bedroom_540p.mp4 bikes_272p.mp4}; do
    ffmpeg -v error -y -i "$clips/$clip" -frames:v 4 -an -sn -c copy "$tmp/part.mkv"
    ffmpeg -v error -y -i "$tmp/part.mkv" -c:v ffv1 "$tmp/whole.mkv"
    clean part --content clean
    same "$clip is left" "$(frames_md5 "$tmp/out.mkv")" "$(frames_md5 "$tmp/whole.mkv")"
done
[ -n "$clips" ] || skip "the real clips are not here"
