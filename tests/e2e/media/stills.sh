#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pictures: PNG and JPEG, colour, grey and alpha.
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

"$scene" 1 "$tmp/scene.y4m"
crop=${SANITIZE:+,crop=160:120:100:60}
ffmpeg -v error -i "$tmp/scene.y4m" -vf "format=rgb24$crop" -pix_fmt rgb24 "$tmp/whole.png"
accurate=flags=bicubic+accurate_rnd+full_chroma_int
ffmpeg -v error -i "$tmp/whole.png" -vf "scale=iw/2:ih/2:$accurate" -pix_fmt rgb24 "$tmp/half.png"
ffmpeg -v error -i "$tmp/half.png" -vf "scale=iw*2:ih*2:$accurate" -pix_fmt rgb24 "$tmp/bicubic.png"
size=$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$tmp/whole.png")

succeeds "a colour PNG is enhanced" "$mona" enhance "$tmp/half.png" -o "$tmp/out.png"
same "it is a colour PNG of twice the size" "$(probe "$tmp/out.png")" "png,$size,rgb24"
bicubic=$(psnr_all "$tmp/bicubic.png" "$tmp/whole.png")
found=$(psnr_all "$tmp/out.png" "$tmp/whole.png")
echo "# RGB PSNR: mona $found dB, bicubic $bicubic dB"
at_least "at least 0.3 dB better than bicubic" "$found" "$(echo "$bicubic" | awk '{ print $1 + 0.3 }')"

succeeds "to JPEG" "$mona" enhance "$tmp/half.png" -o "$tmp/out.jpg"
same "it is a JPEG without chroma subsampling" "$(probe "$tmp/out.jpg")" "mjpeg,$size,yuvj444p"
at_least "the JPEG is close to the PNG" "$(psnr_all "$tmp/out.jpg" "$tmp/out.png")" 33

ffmpeg -v error -i "$tmp/half.png" -q:v 2 "$tmp/half.jpg"
succeeds "from JPEG" "$mona" enhance "$tmp/half.jpg" -o "$tmp/from.png"
same "twice the size" "$(probe "$tmp/from.png")" "png,$size,rgb24"

# Damage that stb_image does not survive: a table of more codes than there are bytes, before the picture or in it.
damaged() {
    python3 -c "
import sys
b = bytearray(open('$tmp/half.jpg', 'rb').read())
at = b.rfind(b'\xff\xc4') if sys.argv[1] == 'last' else b.find(b'\xff\xc4')
b[at + 5:at + 21] = bytes([255] * 16)
open('$tmp/damaged.jpg', 'wb').write(b)" "$1"
    "$mona" enhance "$tmp/damaged.jpg" -o "$tmp/damaged.png" --quiet 2> "$tmp/log"
    echo "$? $(wc -l < "$tmp/log") $(grep -c 'damaged.jpg: cannot be decoded: bad Huffman table$' "$tmp/log")"
}
same "a JPEG whose first table cannot be is refused" "$(damaged first)" "1 1 1"
same "and one whose last cannot be" "$(damaged last)" "1 1 1"

# A turned phone picture: orientation 6 in an EXIF segment, which ffmpeg shows as a rotation.
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

ffmpeg -v error -i "$tmp/half.png" -pix_fmt gray "$tmp/grey.png"
succeeds "a grey PNG" "$mona" enhance "$tmp/grey.png" -o "$tmp/grey_out.png"
same "stays grey" "$(probe "$tmp/grey_out.png")" "png,$size,gray"
for format in rgba ya8; do
    ffmpeg -v error -i "$tmp/half.png" -vf "format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='mod(X,256)'" \
        -pix_fmt $format "$tmp/$format.png"
    succeeds "$format" "$mona" enhance -y "$tmp/$format.png" -o "$tmp/alpha_out.png" --stages sr
    same "keeps its alpha" "$(probe "$tmp/alpha_out.png")" "png,$size,$format"
    ffmpeg -v error -y -i "$tmp/$format.png" -vf alphaextract,crop=16:ih:40:0 -pix_fmt gray -f rawvideo "$tmp/a"
    ffmpeg -v error -y -i "$tmp/alpha_out.png" -vf alphaextract,crop=32:ih:80:0 -pix_fmt gray -f rawvideo "$tmp/b"
    same "and its values" "$(od -An -v -tu1 -w32 "$tmp/b" | awk '{ for (i = 1; i <= 32; i++) { d = $i - (39.5 + i / 2 + 0.25 - 0.5); if (d > 1 || d < -1) bad++ } } END { print bad + 0 }')" 0
done

# A picture of one colour keeps it; networks that pad with zeros may touch the very border.
ffmpeg -v error -f lavfi -i color=0xc08040:s=51x37,format=rgb24 -frames:v 1 "$tmp/flat.png"
for stages in sr denoise,sr denoise; do
    succeeds "odd size, $stages" "$mona" enhance -y "$tmp/flat.png" -o "$tmp/flat_out.png" --stages $stages
    ffmpeg -v error -y -i "$tmp/flat_out.png" -pix_fmt rgb24 -f rawvideo "$tmp/raw"
    same "every pixel is there, $stages" "$(wc -c < "$tmp/raw")" \
        "$(case $stages in denoise) echo $((51 * 37 * 3)) ;; *) echo $((102 * 74 * 3)) ;; esac)"
    same "one colour stays, $stages" "$(od -An -v -tu1 -w3 "$tmp/raw" | awk '
        function off(a, b) { return a > b ? a - b : b - a }
        { d = off($1, 192) + off($2, 128) + off($3, 64); if (d > 3) some++; if (d > 30) many++ }
        END { print (some <= NR / 50 && !many ? "yes" : some " of " NR) }')" yes
done
