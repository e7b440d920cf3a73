#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pictures: PNG and JPEG in colour and grey, with and without alpha.
. tests/tap.inc

probe() {
    ffprobe -v error -show_entries stream=codec_name,width,height,pix_fmt -of csv=p=0 "$1"
}

# $1: result, $2: original; PSNR of all channels in dB.
psnr_all() {
    ffmpeg -v info -i "$1" -i "$2" -lavfi '[0:v]format=gbrp[a];[1:v]format=gbrp[b];[a][b]psnr' -f null - 2>&1 |
        sed -n 's/.*average:\([0-9.inf]*\) .*/\1/p' | tail -n 1
}

at_least() {
    same "$1" "$(echo "$2 $3" | awk '{ print ($1 == "inf" || $1 >= $2 ? "yes" : $1 " dB, expected " $2) }')" yes
}

film 1 "$tmp/scene.y4m"
ffmpeg -v error -i "$tmp/scene.y4m" -vf format=rgb24,crop=320:240:560:400 -pix_fmt rgb24 "$tmp/whole.png"
accurate=flags=bicubic+accurate_rnd+full_chroma_int
ffmpeg -v error -i "$tmp/whole.png" -vf "scale=iw/2:ih/2:$accurate" -pix_fmt rgb24 "$tmp/half.png"
size=$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$tmp/whole.png")

succeeds "a colour PNG is enhanced" "$mona" enhance "$tmp/half.png" -o "$tmp/out.png"
same "it is a colour PNG of twice the size" "$(probe "$tmp/out.png")" "png,$size,rgb24"
if full; then
    ffmpeg -v error -i "$tmp/half.png" -vf "scale=iw*2:ih*2:$accurate" -pix_fmt rgb24 "$tmp/bicubic.png"
    bicubic=$(psnr_all "$tmp/bicubic.png" "$tmp/whole.png")
    found=$(psnr_all "$tmp/out.png" "$tmp/whole.png")
    echo "# RGB PSNR: mona $found dB, bicubic $bicubic dB"
    at_least "at least 0.3 dB better than bicubic" "$found" "$(echo "$bicubic" | awk '{ print $1 + 0.3 }')"
fi

succeeds "to JPEG" "$mona" enhance "$tmp/half.png" -o "$tmp/out.jpg"
size_at() {
    "$mona" enhance -y "$tmp/half.png" -o "$tmp/at.jpg" --quality "$1" --quiet && wc -c < "$tmp/at.jpg"
}
same "--quality makes it smaller, and 95 is the default" \
    "$(echo "$(size_at 30) $(size_at 80) $(size_at 95) $(wc -c < "$tmp/out.jpg") $(size_at 100)" | awk '{ print ($1 < $2 && $2 < $3 && $3 == $4 && $4 < $5 ? "yes" : $0) }')" yes
"$mona" enhance -y "$tmp/scene.y4m" -o "$tmp/at%d.jpg" --quality 30 --frames 1 --height 120 --quiet
"$mona" enhance -y "$tmp/scene.y4m" -o "$tmp/usual%d.jpg" --frames 1 --height 120 --quiet
same "and numbered ones" "$(echo "$(wc -c < "$tmp/at1.jpg") $(wc -c < "$tmp/usual1.jpg")" | awk '{ print ($1 * 2 < $2 ? "yes" : $0) }')" yes
for output in none.png none.webp none.mkv; do
    fails "--quality has no meaning for $output" "--quality: expected a JPEG (.jpg) as the output, found" "$mona" enhance "$tmp/half.png" -o "$tmp/$output" --quality 50
done
same "it is a JPEG without chroma subsampling" "$(probe "$tmp/out.jpg")" "mjpeg,$size,yuvj444p"
at_least "the JPEG is close to the PNG" "$(psnr_all "$tmp/out.jpg" "$tmp/out.png")" 33

ffmpeg -v error -i "$tmp/half.png" -q:v 2 "$tmp/half.jpg"
succeeds "from JPEG" "$mona" enhance "$tmp/half.jpg" -o "$tmp/from.png"
same "twice the size" "$(probe "$tmp/from.png")" "png,$size,rgb24"

# Damage that decoders handle in their own ways: a table with more codes than its bits can express, before the picture or
# in it, after padding, or in a segment whose length is less than the table's or more than the file's.
damaged() {
    python3 -c "
import sys
b = bytearray(open('$tmp/half.jpg', 'rb').read())
at = b.rfind(b'\xff\xc4') if sys.argv[1] == 'last' else b.find(b'\xff\xc4')
b[at + 5:at + 21] = bytes([255] * 16)
if sys.argv[1] == 'padded':
    b[at:at] = b'\0'
elif sys.argv[1] in ('short', 'long'):
    b[at + 2:at + 4] = b'\0\5' if sys.argv[1] == 'short' else b'\xff\xff'
open('$tmp/damaged.jpg', 'wb').write(b)" "$1"
    "$mona" enhance "$tmp/damaged.jpg" -o "$tmp/damaged.png" --quiet 2> "$tmp/log"
    echo "$? $(wc -l < "$tmp/log") $(grep -c 'damaged.jpg: cannot be decoded: a table does not fit its segment$' "$tmp/log")"
}
for kind in first last padded short long; do
    same "a JPEG with a table that cannot be is refused, $kind" "$(damaged $kind)" "1 1 1"
done

if full; then
    # A photograph from a turned phone: orientation 6 in an EXIF segment, which ffmpeg applies as a rotation.
    {
        head -c 20 "$tmp/half.jpg"
        printf '\377\341\000\042Exif\000\000MM\000\052\000\000\000\010\000\001\001\022\000\003\000\000\000\001\000\006\000\000\000\000\000\000'
        tail -c +21 "$tmp/half.jpg"
    } > "$tmp/turned.jpg"
    segment() {
        od -An -v -tx1 -w1 "$1" | tr -d ' \n' | grep -o 'ffe100224578.\{60\}' | head -n 1
    }
    succeeds "a turned JPEG" "$mona" enhance "$tmp/turned.jpg" -o "$tmp/turned_out.jpg"
    same "keeps its EXIF segment" "$(segment "$tmp/turned_out.jpg")" "$(segment "$tmp/turned.jpg")"
    same "which is there" "$(segment "$tmp/turned.jpg" | wc -c)" 73
    same "and can be decoded" "$(probe "$tmp/turned_out.jpg" | cut -d, -f1-3)" "mjpeg,$size"
fi

if full; then
    ffmpeg -v error -i "$tmp/half.png" -pix_fmt gray "$tmp/grey.png"
    succeeds "a grey PNG" "$mona" enhance "$tmp/grey.png" -o "$tmp/grey_out.png"
    same "stays grey" "$(probe "$tmp/grey_out.png")" "png,$size,gray"
fi
for format in $(! full || echo rgba) ya8; do
    ffmpeg -v error -i "$tmp/half.png" -vf "format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='mod(X,256)'" \
        -pix_fmt $format "$tmp/$format.png"
    succeeds "$format" "$mona" enhance -y "$tmp/$format.png" -o "$tmp/alpha_out.png" --stages sr
    same "keeps its alpha" "$(probe "$tmp/alpha_out.png")" "png,$size,$format"
    ffmpeg -v error -y -i "$tmp/alpha_out.png" -vf alphaextract,crop=32:ih:80:0 -pix_fmt gray -f rawvideo "$tmp/b"
    same "and its values" "$(od -An -v -tu1 -w32 "$tmp/b" | awk '{ for (i = 1; i <= 32; i++) { d = $i - (39.5 + i / 2 + 0.25 - 0.5); if (d > 1 || d < -1) bad++ } } END { print bad + 0 }')" 0
done

if full; then
    # A picture of a single colour keeps it; networks that pad with zeros may change the border.
    ffmpeg -v error -f lavfi -i color=0xc08040:s=51x37,format=rgb24 -frames:v 1 "$tmp/flat.png"
    for stages in $(! full || echo sr denoise) denoise,sr; do
        succeeds "odd size, $stages" "$mona" enhance -y "$tmp/flat.png" -o "$tmp/flat_out.png" --stages $stages
        ffmpeg -v error -y -i "$tmp/flat_out.png" -pix_fmt rgb24 -f rawvideo "$tmp/raw"
        same "every pixel is there, $stages" "$(wc -c < "$tmp/raw")" \
            "$(case $stages in denoise) echo $((51 * 37 * 3)) ;; *) echo $((102 * 74 * 3)) ;; esac)"
        same "one colour stays, $stages" "$(od -An -v -tu1 -w3 "$tmp/raw" | awk '
            function off(a, b) { return a > b ? a - b : b - a }
            { d = off($1, 192) + off($2, 128) + off($3, 64); if (d > 3) some++; if (d > 30) many++ }
            END { print (some <= NR / 50 && !many ? "yes" : some " of " NR) }')" yes
    done
fi

# ---- strips ------------------------------------------------------------------------------------------------
ffmpeg -v error -y -i "$tmp/scene.y4m" -frames:v 1 -pix_fmt rgb24 "$tmp/film.png"
for kind in png jpg; do
    "$mona" enhance -y "$tmp/film.png" -o "$tmp/one.$kind" -j 0:0:1 --stages sr --quiet
    "$mona" enhance -y "$tmp/film.png" -o "$tmp/many.$kind" -j 0:0:5 --stages sr --quiet
    succeeds "the bytes of a $kind do not depend on threads" cmp "$tmp/one.$kind" "$tmp/many.$kind"
    nothing "and decoders find no fault in it" "$(ffmpeg -nostdin -v warning -i "$tmp/many.$kind" -f null - 2>&1)"
done
ffmpeg -nostdin -v error -y -i "$tmp/one.png" -compression_level 6 -pred mixed "$tmp/theirs.png"
same "the PNG is at most a fifth larger than what a search makes" \
    "$(echo "$(wc -c < "$tmp/one.png") $(wc -c < "$tmp/theirs.png")" | awk '{ print ($1 <= 1.2 * $2 ? "yes" : $0) }')" yes
# Stripes of dithered colours: nothing is gained by filters, and much by a search.
ffmpeg -v error -y -f lavfi -i "nullsrc=s=600x400,geq=r='200*mod(X+Y,2)':g='90*mod(floor(X/3),2)':b='128',format=rgb24" -frames:v 1 "$tmp/drawn.png"
"$mona" enhance -y "$tmp/drawn.png" -o "$tmp/drawn_out.png" --stages denoise --strength 0 --quiet
same "what repeats is found" "$(wc -c < "$tmp/drawn_out.png" | awk '{ print ($1 < 600 * 400 / 50 ? "yes" : $1) }')" yes
ffmpeg -nostdin -v error -y -i "$tmp/one.jpg" "$tmp/again.png"
python3 -c "
from PIL import Image
Image.open('$tmp/again.png').save('$tmp/theirs.jpg', quality=95, subsampling=0)" 2> /dev/null &&
    same "the JPEG is smaller than with the codes of the standard" \
        "$(echo "$(wc -c < "$tmp/one.jpg") $(wc -c < "$tmp/theirs.jpg")" | awk '{ print ($1 < 0.99 * $2 ? "yes" : $0) }')" yes
same "the JPEG has a picture near the PNG's" "$(psnr_all "$tmp/one.jpg" "$tmp/one.png" | awk '{ print ($1 > 40 ? "yes" : $1) }')" yes

# The least memory that suffices is searched for: a run with less ends with one line, and nothing is left of it.
if [ -z "$SANITIZE" ]; then
    mkdir "$tmp/tight"
    near=16000
    full && near=1000
    for kind in png $(! full || echo jpg webp); do
        least=100000 most=1500000 wrong=
        while [ $((most - least)) -gt $near ]; do
            kib=$(((least + most) / 2))
            (
                ulimit -v "$kib"
                "$mona" enhance "$tmp/film.png" -o "$tmp/tight/out.$kind" --quiet -j 1:1:2
            ) 2> "$tmp/log"
            result=$?
            [ $result != 0 ] || rm "$tmp/tight/out.$kind"
            [ $result = 0 ] && most=$kib || least=$kib
            case "$result $(wc -l < "$tmp/log") $(ls "$tmp/tight")" in
                '0 0 ' | '1 1 ') ;;
                *) wrong="$wrong $kib KiB: $result $(cat "$tmp/log") $(ls "$tmp/tight");" ;;
            esac
        done
        nothing "with too little memory for a $kind a run ends with a line" "$wrong"
    done
fi

# ---- what it tells ---------------------------------------------------------------------------------------------
"$mona" enhance -y "$tmp/film.png" -o "$tmp/one.png" --stages sr --stats 2> "$tmp/log"
same "decoding counts" "$(awk '$1 == "decode" { print ($2 > 1 ? "yes" : $0) }' "$tmp/log")" yes
if full && [ -z "$SANITIZE" ]; then
    ffmpeg -v error -y -i "$tmp/film.png" -vf scale=4096:3072 -pix_fmt rgb24 "$tmp/photo.png"
    "$mona" enhance -y "$tmp/photo.png" -o "$tmp/photo_out.png" --stages sr 2> "$tmp/log"
    same "what a photograph needs is what the process takes" \
        "$(sed -n 's/.*needs \([0-9.]*\) MiB.*/\1/p; s/.*whole process \([0-9.]*\) MiB.*/\1/p' "$tmp/log" | paste -sd ' ' | awk '{ print ($2 < 1.15 * $1 ? "yes" : $0) }')" yes
fi

# ---- from standard input -----------------------------------------------------------------------------------
"$mona" enhance -y "$tmp/half.jpg" -o "$tmp/file.png" --quiet
mkdir "$tmp/scratch" # other runs have folders in /tmp
cat "$tmp/half.jpg" | TMPDIR="$tmp/scratch" "$mona" enhance -y - -o "$tmp/piped.png" --quiet
succeeds "a picture from a pipe" cmp "$tmp/piped.png" "$tmp/file.png"
TMPDIR="$tmp/scratch" "$mona" enhance -y - -o "$tmp/piped.png" --quiet < "$tmp/half.jpg"
succeeds "and from a file" cmp "$tmp/piped.png" "$tmp/file.png"
nothing "of which no copy stays" "$(ls "$tmp/scratch" 2>&1)"

# ---- which way up -------------------------------------------------------------------------------------
stills() {
    python3 -IS tests/e2e/media/stills.py "$@"
}
# Red and green above blue and white, and what viewers show for each orientation.
ffmpeg -v error -f lavfi -i color=red:s=24x16 -f lavfi -i color=0x00ff00:s=24x16 -f lavfi -i color=blue:s=24x16 \
    -f lavfi -i color=white:s=24x16 -filter_complex '[0][1]hstack[a];[2][3]hstack[b];[a][b]vstack' -frames:v 1 \
    -pix_fmt rgb24 "$tmp/four.png"
ffmpeg -v error -i "$tmp/four.png" -pix_fmt yuvj444p -q:v 2 "$tmp/four.jpg"
raw() {
    ffmpeg -nostdin -v error -y -i "$1" -pix_fmt rgb24 -f rawvideo "$tmp/raw"
}

# JPEGs of every kind become what libjpeg makes of them, whose filter enlarges chroma.
python3 -c "
from PIL import Image
picture = Image.open('$tmp/drawn_out.png').resize((322, 181), 2).convert('RGB')
for name, mode, how in (('halved', 'RGB', {'subsampling': 2}), ('narrowed', 'RGB', {'subsampling': 1, 'progressive': True}), ('grey', 'L', {}), ('inks', 'CMYK', {})):
    picture.convert(mode).save('$tmp/' + name + '.jpg', quality=90, **how)
    Image.open('$tmp/' + name + '.jpg').convert('L' if mode == 'L' else 'RGB').save('$tmp/' + name + '_theirs.png')" 2> /dev/null &&
    for name in halved narrowed grey inks; do
        "$mona" enhance -y "$tmp/$name.jpg" -o "$tmp/$name.png" --stages denoise --strength 0 --quiet
        same "$name: pixels are those of libjpeg" "$(raw "$tmp/$name.png" && md5sum < "$tmp/raw")" "$(raw "$tmp/${name}_theirs.png" && md5sum < "$tmp/raw")"
    done

while read -r orientation wide high colours; do
    case $orientation in 6) ;; *) full || continue ;; esac
    stills turned "$tmp/four.jpg" "$orientation" "$tmp/turned.jpg"
    "$mona" enhance -y "$tmp/turned.jpg" -o "$tmp/upright.png" --quiet && raw "$tmp/upright.png"
    same "orientation $orientation of a JPEG: the PNG is upright" "$(stills corners "$tmp/raw" "$wide" "$high")" "$colours"
    same "orientation $orientation of a JPEG: and says so" "$(stills marks "$tmp/upright.png")" "exif 1"
done <<'TABLE'
1 96 64 red green blue white
2 96 64 green red white blue
3 96 64 white blue green red
4 96 64 blue white red green
5 64 96 red blue green white
6 64 96 blue red white green
7 64 96 white green blue red
8 64 96 green white red blue
TABLE
stills turned "$tmp/four.jpg" 8 "$tmp/turned.jpg"
"$mona" enhance -y "$tmp/turned.jpg" -o "$tmp/kept.jpg" --quiet
same "a JPEG keeps its orientation" "$(stills marks "$tmp/kept.jpg")" "exif 8"
same "and its plan knows that a PNG is turned" \
    "$("$mona" enhance -y "$tmp/turned.jpg" -o "$tmp/plan.png" --dry-run | grep -c '^  sr .*32x48 *64x96')" 1
"$mona" enhance -y "$tmp/turned.jpg" -o "$tmp/page.png" --html "$tmp/page.html" --quiet
same "before and after of the page lie alike" "$("$mona" compare "$tmp/turned.jpg" "$tmp/page.png" --scale --json |
    python3 -c 'import json, sys; print(min(p["psnr"] or 99 for p in json.load(sys.stdin)["planes"]) > 20)')" True

# ---- EXIF, XMP and colour profile ------------------------------------------------------------------------
ffmpeg -v error -i "$tmp/four.png" -lossless 1 "$tmp/four.webp"
for kind in jpg png webp; do
    stills marked "$tmp/four.$kind" "$tmp/marked.$kind" 'RGB '
done
# $1: input, $2: output, $3: what the output must contain
kept() {
    "$mona" enhance -y "$tmp/$1" -o "$tmp/kept_$1.${2##*.}" > /dev/null 2> "$tmp/log"
    same "$1 to $2: its marks" "$? $(grep -c 'left out' "$tmp/log") $(stills marks "$tmp/kept_$1.${2##*.}")" "0 0 $3"
    full && succeeds "$1 to $2: it can be decoded" ffmpeg -v error -xerror -i "$tmp/kept_$1.${2##*.}" -f null -
}
kept marked.jpg out.png "exif 1, xmp 1, profile RGB"
same "and a line names what only JPEG keeps" "$(grep -c 'only .jpg keeps what else the input tells: comment$' "$tmp/log")" 1
kept marked.png out.jpg "exif 6, xmp 6, profile RGB"
same "and what only PNG keeps" "$(grep -c 'only .png keeps what else the input tells: Comment$' "$tmp/log")" 1
kept kept_marked.png.jpg out.png "exif 1, xmp 1, profile RGB, other pHYs"
kept marked.webp out.png "exif 1, xmp 1, profile RGB"
if full; then
    kept marked.jpg out.jpg "exif 6, xmp 6, profile RGB, other a comment"
    kept marked.png out.png "exif 6, xmp 6, profile RGB, other pHYstEXt"
    kept marked.webp out.jpg "exif 6, xmp 6, profile RGB"
    ffmpeg -v error -i "$tmp/four.png" -pix_fmt gray "$tmp/grey4.png"
    stills marked "$tmp/grey4.png" "$tmp/marked_grey.png" GRAY
    kept marked_grey.png out.png "exif 6, xmp 6, profile GRAY, other pHYstEXt"
fi

# Pixels of an inch, of a centimetre, and as high as wide twice.
for density in 1,300,150 2,118,118 0,1,2; do
    for picture in jpg png:jpg; do
        stills dense "$tmp/four.jpg" "$density" "$tmp/dense.jpg"
        [ $picture = jpg ] || "$mona" enhance -y "$tmp/dense.jpg" -o "$tmp/dense.png" --quiet
        succeeds "density $density, to $picture" "$mona" enhance -y "$tmp/dense.${picture%:*}" -o "$tmp/dense.out.jpg"
        same "is kept" "$(stills density "$tmp/dense.out.jpg")" "$density"
    done
done

stills several "$tmp/four.jpg" "$tmp/several.jpg"
succeeds "several pictures in a JPEG" "$mona" enhance -y "$tmp/several.jpg" -o "$tmp/kept.jpg"
same "are told, and a film, too" "$(grep -cE 'the input holds (2 pictures; only the first is used|a film behind its picture, which is left out)' "$tmp/log")" 2

# A profile for colours other than the result's.
stills cmyk "$tmp/cmyk.jpg"
stills marked "$tmp/four.jpg" "$tmp/wrong.jpg" CMYK
for input in $(! full || echo wrong) cmyk; do
    for to in $(! full || echo jpg) png; do
        "$mona" enhance -y "$tmp/$input.jpg" -o "$tmp/$input.out.$to" > /dev/null 2> "$tmp/log"
        same "$input.jpg to $to: a CMYK profile does not get to RGB, and that is said" \
            "$? $(grep -c 'colour profile is left out, because it is not for RGB' "$tmp/log") $(stills marks "$tmp/$input.out.$to" | grep -c profile)" "0 1 0"
    done
done
# Colours that only a PNG's own chunks say.
for colours in "cICP 09100001 1" "cICP 010d0001 0" "gAMA 000186a0 1" "gAMA 0000b18f 0" "cHRM 00007a2600008084000109a00000806800006784000107ac00003a9800001770 1" \
    "cHRM 00007a26000080840000fa00000080e8000075300000ea6000003a9800001770 0"; do
    # shellcheck disable=SC2086
    set -- $colours
    stills coloured "$tmp/four.png" "$tmp/coloured.png" "$1" "$2"
    for to in jpg webp png; do
        "$mona" enhance -y --stages sr "$tmp/coloured.png" -o "$tmp/coloured.out.$to" 2> "$tmp/log"
        same "$1 $2 to $to: is it said that it is left out?" "$? $(grep -c "the input's $1, which says" "$tmp/log")" "0 $([ $to = png ] && echo 0 || echo "$3")"
    done
done
# One that is damaged: deflated, or a piece of it.
for damage in 'png iCCP 40' 'jpg ICC_PROFILE 3'; do
    # shellcheck disable=SC2086
    set -- $damage
    stills spoilt "$tmp/marked.$1" "$tmp/spoilt.$1" "$2" "$3"
    "$mona" enhance -y "$tmp/spoilt.$1" -o "$tmp/spoilt.out.png" > /dev/null 2> "$tmp/log"
    same "a damaged profile of a $1 is left out, and that is said" \
        "$? $(grep -c 'colour profile is left out, because it is damaged' "$tmp/log") $(stills marks "$tmp/spoilt.out.png" | grep -c profile)" "0 1 0"
done
raw "$tmp/cmyk.out.png"
same "CMYK is shown in its colours" "$(od -An -tu1 -j 1584 -N 3 "$tmp/raw" | awk '
    function off(a, b) { return a > b ? a - b : b - a } { print (off($1, 200) + off($2, 100) + off($3, 50) < 7 ? "yes" : $0) }')" yes

# ---- other formats ---------------------------------------------------------------------------------------
"$mona" enhance -y "$tmp/four.png" -o "$tmp/four.out.png" --quiet
for kind in $(! full || echo bmp tiff) webp ppm; do
    ffmpeg -v error -y -i "$tmp/four.png" -lossless 1 "$tmp/other.$kind" 2> /dev/null ||
        ffmpeg -v error -y -i "$tmp/four.png" "$tmp/other.$kind"
    succeeds "$kind to PNG" "$mona" enhance -y "$tmp/other.$kind" -o "$tmp/other.out.png"
    same "$kind: the same picture as of a PNG" "$(frames_md5 "$tmp/other.out.png")" "$(frames_md5 "$tmp/four.out.png")"
done
# Netpbm's headers: any space between numbers, comments, samples as text.
ffmpeg -v error -y -i "$tmp/four.png" -pix_fmt rgb24 -f rawvideo "$tmp/rgb.raw"
sides=$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$tmp/four.png" | tr , ' ')
{ printf 'P6 %s 255\n' "$sides"; cat "$tmp/rgb.raw"; } > "$tmp/line.ppm"
{ printf 'P6 # by hand\n# twice\n%s\n255 ' "$sides"; cat "$tmp/rgb.raw"; } > "$tmp/comment.ppm"
{ echo P3; echo "$sides 255"; od -An -v -tu1 "$tmp/rgb.raw"; } > "$tmp/text.ppm"
for header in line comment text; do
    succeeds "$header.ppm to PNG" "$mona" enhance -y "$tmp/$header.ppm" -o "$tmp/other.out.png"
    same "$header.ppm: the same picture as of a PNG" "$(frames_md5 "$tmp/other.out.png")" "$(frames_md5 "$tmp/four.out.png")"
done
# WebP as output: lossless, with all metadata.
for picture in "$tmp/four.png" tests/fuzz/corpus/metadata/marked.jpg; do
    succeeds "$picture to WebP" "$mona" enhance -y "$picture" -o "$tmp/out.webp"
    "$mona" enhance -y "$picture" -o "$tmp/same.png" --quiet
    same "the same picture as a PNG" "$(ffmpeg -v error -i "$tmp/out.webp" -pix_fmt rgb24 -f md5 -)" "$(ffmpeg -v error -i "$tmp/same.png" -pix_fmt rgb24 -f md5 -)"
done
"$mona" enhance -y "$tmp/out.webp" -o "$tmp/from_webp.png" --quiet
"$mona" enhance -y "$tmp/same.png" -o "$tmp/from_png.png" --quiet
succeeds "EXIF, XMP and profile come back from it" cmp "$tmp/from_webp.png" "$tmp/from_png.png"
same "where they are" "$(grep -caE 'ICCP.*|EXIF|XMP ' "$tmp/out.webp" | awk '{ print ($1 > 0) }')" 1
if full; then
    ffmpeg -v error -y -i "$tmp/ya8.png" -pix_fmt rgba -lossless 1 "$tmp/rgba.webp"
    succeeds "WebP with alpha" "$mona" enhance -y "$tmp/rgba.webp" -o "$tmp/other.out.png"
    same "keeps it" "$(probe "$tmp/other.out.png")" "png,$size,rgba"
fi

# What libav decodes otherwise than others do: name, tag of an entry of ffmpeg's TIFFs, what it becomes.
ffmpeg -v error -y -i "$tmp/four.png" -compression_algo raw "$tmp/plain.tiff"
while read -r found tag as value; do
    stills retag "$tmp/plain.tiff" "$tmp/odd.tiff" "$tag" "$as" "$value"
    fails "a TIFF with $found is refused" "odd.tiff: expected a TIFF with" "$mona" enhance -y "$tmp/odd.tiff" -o "$tmp/none.png"
    same "by name, $found" "$(grep -c "found .*$found" "$tmp/err")" 1
done <<'TABLE'
JPEG 259 259 7
tiles 296 322 16
CIELab 262 262 8
signed 296 339 2
floating 296 339 3
TABLE
stills retag "$tmp/plain.tiff" "$tmp/odd.tiff" 258 258 $(($(wc -c < "$tmp/plain.tiff") - 5))
fails "a TIFF that ends in the bits of its samples" "odd.tiff: cannot be decoded: the file is cut off" "$mona" enhance -y "$tmp/odd.tiff" -o "$tmp/none.png"
head -c -10 "$tmp/plain.tiff" > "$tmp/odd.tiff"
fails "or among its entries" "odd.tiff: cannot be decoded: the file is cut off" "$mona" enhance -y "$tmp/odd.tiff" -o "$tmp/none.png"
python3 - "$tmp" << 'END' &&
import sys
from PIL import Image
for name, compression in (('raw', None), ('deflated', 'tiff_adobe_deflate')):
    path = '%s/ends_%s.tiff' % (sys.argv[1], name)
    Image.effect_noise((48, 32), 60).convert('RGB').save(path, compression=compression) # its pixels come last, or the tags
    data = open(path, 'rb').read()
    open(path, 'wb').write(data[:-30])
END
for name in raw deflated; do
    fails "or among its pixels: $name" "ends_$name.tiff: cannot be decoded: the file is cut off" "$mona" enhance -y "$tmp/ends_$name.tiff" -o "$tmp/none.png"
done
stills retag "$tmp/plain.tiff" "$tmp/odd_1.tiff" 296 322 16
fails "among numbered pictures, too" "odd_1.tiff: expected a TIFF with its pixels in strips, found tiles" \
    "$mona" enhance -y "$tmp/odd_%d.tiff" -o "$tmp/none.mkv" --quiet
# A strip that says it has a sixth of its bytes: none is read with rows left out.
python3 - "$tmp" << 'END' 2> /dev/null &&
import struct, sys
from PIL import Image
for name, mode, compression in (("raw", "L", "raw"), ("group3", "1", "group3"), ("group4", "1", "group4"), ("deflated", "L", "tiff_deflate")):
    path = f"{sys.argv[1]}/whole_{name}.tiff"
    Image.open(sys.argv[1] + "/drawn.png").resize((40, 48)).convert(mode).save(path, compression=compression)
    file = bytearray(open(path, "rb").read())
    order = "<" if file[:2] == b"II" else ">"
    at, = struct.unpack_from(order + "I", file, 4)
    for i in range(struct.unpack_from(order + "H", file, at)[0]):
        tag, kind, count = struct.unpack_from(order + "HHI", file, at + 2 + 12 * i)
        if tag == 279 and count == 1:
            size, = struct.unpack_from(order + "HI"[kind == 4], file, at + 10 + 12 * i)
            struct.pack_into(order + "HI"[kind == 4], file, at + 10 + 12 * i, size // 6)
    open(f"{sys.argv[1]}/short_{name}.tiff", "wb").write(file)
END
    for coding in raw group3 group4 deflated; do
        succeeds "a TIFF, $coding" "$mona" enhance -y "$tmp/whole_$coding.tiff" -o "$tmp/whole.png" --quiet
        fails "but with a short strip" "the rows of its strips are not all there" "$mona" enhance -y "$tmp/short_$coding.tiff" -o "$tmp/none.png"
    done

for table in dht dqt; do
    stills without "$tmp/four.jpg" "$tmp/bare.jpg" $table
    fails "a JPEG without its tables is refused, $table" "bare.jpg: cannot be decoded: a scan needs a table" \
        "$mona" enhance -y "$tmp/bare.jpg" -o "$tmp/none.png"
done
# A chunk says that it has 1.4 GB. MALLOC_PERTURB_ uses all that is allocated.
printf '\211PNG\r\n\032\n\0\0\0\015IHDR\0\0\0\011\0\0\0\007\010\002\0\0\0U\371\3607T\0\0>IDATx\234c`\0\203\377' > "$tmp/bomb.png"
[ -n "$SANITIZE" ] || same "a chunk that is larger than its file takes no memory" "$(python3 -c "
import os, resource, subprocess, sys
status = subprocess.run(sys.argv[1:], env={**os.environ, 'MALLOC_PERTURB_': '1'}, stderr=subprocess.DEVNULL).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 300000)" "$mona" enhance -y "$tmp/bomb.png" -o "$tmp/none.png" --quiet)" "1 True"
cp "$tmp/four.png" "$tmp/four.tga"
printf '\0\0\2' | dd of="$tmp/four.tga" conv=notrunc 2> /dev/null
fails "what is not read is named" "found TGA" "$mona" enhance "$tmp/four.tga" -o "$tmp/none.png"

# ---- hidden colours --------------------------------------------------------------------------------------
for format in rgba rgba64be; do
    ffmpeg -v error -y -f lavfi -i color=black:s=60x50,format=rgba,geq="r='if(lt(hypot(X-30,Y-25),18),230,0)':g=0:b=0:a='if(lt(hypot(X-30,Y-25),18),255,0)'" \
        -frames:v 1 -pix_fmt $format "$tmp/hidden.png"
    "$mona" enhance -y "$tmp/hidden.png" -o "$tmp/seen.png" --quiet
    ffmpeg -v error -y -i "$tmp/seen.png" -pix_fmt rgba -f rawvideo "$tmp/seen.raw"
    same "hidden colours do not show, $format" "$(stills seen "$tmp/seen.raw" 230 | awk '{ print ($1 < 20 ? "yes" : $1) }')" yes
    "$mona" enhance -y "$tmp/hidden.png" -o "$tmp/seen.png" --stages denoise --strength 0 --quiet
    same "and stay where nothing is done, $format" "$(frames_md5 "$tmp/seen.png")" "$(frames_md5 "$tmp/hidden.png")"
done
same "a PNG of 16 bits has one resolution" "$(grep -ao pHYs "$tmp/hidden.png" | wc -l) $(grep -ao pHYs "$tmp/seen.png" | wc -l)" "1 1"

# ---- cut off -------------------------------------------------------------------------------------------
# Coded data of JPEG-LS has 0xff before other bytes than 0.
ffmpeg -v error -f lavfi -i testsrc2=s=120x80 -frames:v 1 -pix_fmt rgb24 -c:v jpegls "$tmp/lossless.jls"
succeeds "a JPEG-LS" "$mona" enhance -y --stages sr "$tmp/lossless.jls" -o "$tmp/lossless.png"
same "is not said to be cut off" "$(grep -c 'cut off' "$tmp/log")" 0
# Noise, which no codec compresses much, so that half of the bytes are half of the rows.
ffmpeg -v error -f lavfi -i color=0x808080:s=96x80,format=rgb24,noise=alls=60:all_seed=5 -frames:v 1 "$tmp/noise.png"
ffmpeg -v error -i "$tmp/noise.png" -pix_fmt yuvj444p -q:v 2 "$tmp/noise.jpg"
for format in rgba pal8; do
    ffmpeg -v error -i "$tmp/noise.png" -pix_fmt $format "$tmp/$format.noise.png"
done
# $1: input, $2: fill as raw RGB in hexadecimal, two digits
cut_short() {
    name=${1%.*} kind=${1##*.}
    head -c $(($(wc -c < "$tmp/$1") / 2)) "$tmp/$1" > "$tmp/cut.$kind"
    "$mona" enhance -y "$tmp/$1" -o "$tmp/whole.out.png" --stages sr --quiet
    "$mona" enhance -y "$tmp/cut.$kind" -o "$tmp/cut.out.png" --stages sr > /dev/null 2> "$tmp/log"
    same "half of $name.$kind: it is shown, and one line says so" \
        "$? $(grep -c "cut.$kind: the file is cut off: of 80 rows, the last [34][0-9] are missing" "$tmp/log")" "0 1"
    raw "$tmp/whole.out.png" && mv "$tmp/raw" "$tmp/whole.raw"
    raw "$tmp/cut.out.png"
    [ "$kind" = jpg ] || at_least "half of $name.$kind: the rows that are there" "$(stills rows "$tmp/whole.raw" "$tmp/raw" 192)" 50
    # A transparent row has the colour of those above it, which does not show.
    ffmpeg -nostdin -v error -y -i "$tmp/cut.out.png" -vf format=gbrap,premultiply=inplace=1 -pix_fmt rgb24 -f rawvideo "$tmp/raw"
    nothing "half of $name.$kind: the others stay empty" \
        "$(tail -c $((20 * 576)) "$tmp/raw" | head -c 576 | od -An -v -tx1 -w3 | grep -v "$2")"
}
cut_short noise.png ' 0[01] 0[01] 0[01]'
cut_short noise.jpg ' \(7f\|8[01]\) \(7f\|8[01]\) \(7f\|8[01]\)'
for format in $(! full || echo rgba pal8); do
    cut_short $format.noise.png ' 0[01] 0[01] 0[01]'
done
for kind in $(! full || echo jpg) png; do
    tail=12
    [ $kind = png ] || tail=2
    head -c -$tail "$tmp/noise.$kind" > "$tmp/cut.$kind"
    "$mona" enhance -y "$tmp/cut.$kind" -o "$tmp/cut.out.png" > /dev/null 2> "$tmp/log"
    same "nothing but the end of a $kind is missing: every row is there, and one line says so" \
        "$? $(grep -c "cut.$kind: the file is cut off: all 80 rows are there" "$tmp/log")" "0 1"
    head -c 100 "$tmp/noise.$kind" > "$tmp/cut.$kind"
    fails "nothing is there of a $kind" "cut.$kind: cannot be decoded" "$mona" enhance -y "$tmp/cut.$kind" -o "$tmp/none.png"
done
# An unknown marker, and a restart without restart intervals: decoders stop there.
for marker in 125 323; do
    { head -c 5000 "$tmp/noise.jpg"; printf '\377%b' "\\0$marker"; tail -c +5003 "$tmp/noise.jpg"; } > "$tmp/hole.jpg"
    "$mona" enhance -y "$tmp/hole.jpg" -o "$tmp/cut.out.png" > /dev/null 2> "$tmp/log"
    same "a marker $marker in a jpg: it is shown, and one line says that rows are missing" \
        "$? $(grep -c 'hole.jpg: the file is .*: of 80 rows, the last [34][0-9] are missing' "$tmp/log")" "0 1"
done
head -c 9000 "$tmp/noise.png" > "$tmp/cut.png"
"$BUILD/neutral" "$tmp/neutral.onnx"
fails "calibration takes none that is cut off" "cut.png: cannot be decoded: the file is cut off" \
    "$mona" compile "$tmp/neutral.onnx" --picture -o "$tmp/neutral.mona" --calibrate "$tmp/cut.png"

# ---- the network that suits what compression left ---------------------------------------------------
"$scene" 1 "$tmp/sharp.y4m"
ffmpeg -nostdin -v error -i "$tmp/sharp.y4m" -vf crop=480:360 -pix_fmt rgb24 "$tmp/sharp.png"
ffmpeg -nostdin -v error -i "$tmp/sharp.png" -vf scale=iw/2:ih/2:flags=bicubic "$tmp/q.png"
for quality in 30 91 92 95; do
    "$mona" enhance -y "$tmp/q.png" -o "$tmp/q$quality.jpg" --stages denoise --strength 0 --quality $quality --quiet
done
for quality in 75 80; do
    ffmpeg -nostdin -v error -i "$tmp/q.png" -c:v libwebp -quality $quality "$tmp/q$quality.webp"
done
ffmpeg -nostdin -v error -i "$tmp/q.png" -c:v libwebp -lossless 1 "$tmp/q.webp"
cp "$tmp/q30.jpg" "$tmp/q_1.jpg"
# $1: picture, rest: options. The networks of the plan.
networks() {
    picture=$1
    shift
    "$mona" enhance "$tmp/$picture" -o "$tmp/none%d.png" --dry-run --stages sr,denoise "$@" 2> /dev/null | grep -oE '(sr|denoise)_[a-z0-9_]+' | tr '\n' ' '
}
wanted="sr_x2_fast_jpeg denoise_fast "
clean="sr_x2_fast denoise_fast "
for row in "q.png|$clean" "q30.jpg|$wanted" "q91.jpg|$wanted" "q92.jpg|$clean" "q95.jpg|$clean" "q75.webp|$wanted" "q80.webp|$clean" "q.webp|$clean" \
    "q_%d.jpg|$wanted" "q30.jpg --content clean|$clean" "q95.jpg --content video|sr_x2_fast_video denoise_fast " "q30.jpg -s 4|sr_x4_fast denoise_fast " \
    "q30.jpg -s 4 --tier best|sr_x4_best_video denoise_balanced " "q30.jpg --content anime|sr_x2_fast_anime denoise_fast "; do
    # shellcheck disable=SC2046,SC2086
    same "networks of ${row%|*}" "$(networks ${row%|*})" "${row#*|}"
done
enlarged() { # rest: options. PSNR of the JPEG enlarged.
    "$mona" enhance -y "$tmp/q30.jpg" -o "$tmp/enlarged.png" --stages sr --quiet "$@"
    psnr_y "$tmp/enlarged.png" "$tmp/sharp.png"
}
at_least "dB that a JPEG gains by it" "$(echo "$(enlarged) $(enlarged --content clean)" | awk '{ print $1 - $2 }')" 0.4

# ---- large ---------------------------------------------------------------------------------------------
# Picture headers with nothing after them: reading beyond the header fails. The plan decodes its picture.
! full || ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=4096x4096:d=0.04 -frames:v 1 "$tmp/plan.png"
stills head "$tmp/large.png" 8192 8192 2
stills head "$tmp/large4.png" 8192 8192 6
! full || succeeds "the plan of a large picture takes parts of it" timeout 20 "$mona" enhance -y "$tmp/plan.png" -o "$tmp/none.png" --dry-run
! full || same "and says what it is measured on" "$(grep -cE 'sr .*4096x4096 +8192x8192|on 512x512 of its pixels|^  1 frame would take' "$tmp/log")" 3
for dry in $(! full || echo --dry-run) --quiet; do
    fails "a PNG of 4 GiB is refused before the work, $dry" "none.png: expected at most 32768 pixels a side and 2047 MiB of samples for a picture, found 32768x32768 and 4096 MiB" \
        timeout 20 "$mona" enhance -y "$tmp/large4.png" -o "$tmp/none.png" -s 4 $dry
done
full && fails "a JPEG of 3 GiB too" "found 32768x32768 and 3072 MiB" timeout 20 "$mona" enhance -y "$tmp/large.png" -o "$tmp/none.jpg" -s 4
stills head "$tmp/wide.png" 20000 10 2
fails "and one that is too wide" "found 40000x20" "$mona" enhance -y "$tmp/wide.png" -o "$tmp/none.png"
printf 'YUV4MPEG2 W32768 H32768 F25:1 C420\nFRAME\n' > "$tmp/large.y4m"
for output in none.mkv "none.mkv --dry-run" "none.png --preview 0"; do
    full || [ "$output" = none.mkv ] || continue
    # shellcheck disable=SC2086
    fails "frames that libav cannot count, $output" "large.y4m: expected frames of at most 268 million pixels" \
        "$mona" enhance -y "$tmp/large.y4m" -o "$tmp/"$output
done
nothing "nothing is left of what was refused" "$(find "$tmp" -name 'none*')"
