#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --rotate: the display matrix of a phone's video stays, or the frames are turned.
. tests/tap.inc

film 4 "$tmp/scene.y4m" 320x180
ffmpeg -v error -i "$tmp/scene.y4m" -f lavfi -i sine=d=0.16 -vf scale=96:54,setsar=4/3 -c:v libx264 -crf 4 -pix_fmt yuv420p -c:a aac "$tmp/plain.mp4"

# The frames come through unchanged, so that they can be compared with those that ffmpeg turns.
same_frames() {
    "$mona" enhance -y "$@" --stages colour --colour 0 --quiet < /dev/null
}
matrix() {
    ffprobe -v error -select_streams v:0 -show_entries stream_side_data=rotation -of csv=p=0 "$1" | tr -d ,
}
shape() {
    ffprobe -v error -select_streams v:0 -show_entries stream=width,height,sample_aspect_ratio,chroma_location -of csv=p=0 "$1" | sed "s/,$//"
}
# The frames as a player shows them: ffmpeg turns by the matrix.
shown() {
    ffmpeg -v error -i "$1" -map 0:v:0 ${2:+-vf "$2"} -f framemd5 - | grep -v '^#' | awk '{ print $NF }'
}

for angle in 90 180 270; do
    turned "$tmp/plain.mp4" $angle "$tmp/$angle.mp4"
    same_frames "$tmp/$angle.mp4" -o "$tmp/out.mp4"
    same "$angle: .mp4 keeps the matrix" "$? $(matrix "$tmp/out.mp4") $(shape "$tmp/out.mp4")" "0 $(matrix "$tmp/$angle.mp4") 96,54,4:3,left"
    for suffix in $(! full && [ $angle != 90 ] || echo mkv) y4m; do
        same_frames "$tmp/$angle.mp4" -o "$tmp/out.$suffix" $([ $suffix = mkv ] && echo -c ffv1 || echo --drop-unsupported)
        same "$angle: .$suffix has turned frames" "$? $(matrix "$tmp/out.$suffix") $(shown "$tmp/out.$suffix")" "0  $(shown "$tmp/$angle.mp4")"
    done
    case $angle in 90) filter=transpose=clock ;; 180) filter=hflip,vflip ;; *) filter=transpose=cclock ;; esac
    for in in $(! full && [ $angle != 90 ] || echo plain) 90; do
        same_frames "$tmp/$in.mp4" -o "$tmp/out.mkv" -c ffv1 --rotate $angle
        same "--rotate $angle turns what is stored, $in.mp4" "$? $(matrix "$tmp/out.mkv") $(shown "$tmp/out.mkv")" "0  $(shown "$tmp/plain.mp4" $filter)"
    done
done
same_frames "$tmp/plain.mp4" -o "$tmp/out.mkv" --rotate 90
same "a pixel and its chroma are turned too" "$(shape "$tmp/out.mkv")" 54,96,3:4,top
same_frames "$tmp/plain.mp4" -o "$tmp/out.mp4" --rotate 90
same "also in .mp4" "$(matrix "$tmp/out.mp4") $(shape "$tmp/out.mp4")" " 54,96,3:4,top"
same_frames "$tmp/90.mp4" -o "$tmp/out.mkv" -c ffv1 --rotate none
same "--rotate none drops the matrix alone" "$(matrix "$tmp/out.mkv") $(shown "$tmp/out.mkv")" " $(shown "$tmp/plain.mp4")"
same_frames "$tmp/90.mp4" -o "$tmp/out.mp4" --rotate none
same "also in .mp4: what players show" "$(matrix "$tmp/out.mp4") $(shape "$tmp/out.mp4")" " 96,54,4:3,left"
"$mona" enhance -y "$tmp/90.mp4" -o "$tmp/out.mkv" -s 1 2> "$tmp/log"
same "a line says that frames are turned" "$(grep -c "90.mp4: the frames are turned" "$tmp/log")" 1
"$mona" enhance -y "$tmp/90.mp4" -o "$tmp/n%d.png" --drop-unsupported --quiet
same "numbered pictures are turned" "$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$tmp/n4.png")" 108,192

# ---- sizes, segments, views ----------------------------------------------------------------------------
for options in "auto 90" "90 plain" "none plain"; do
    rotate=${options% *} in=$tmp/${options#* }.mp4
    wide=$([ "$rotate" = none ] && echo 214,120 || echo 68,120)
    "$mona" enhance -y "$in" -o "$tmp/whole.mkv" -c ffv1 --rotate "$rotate" --height 120 --quiet
    same "--height is that of the result, $options" "$(ffprobe -v error -select_streams v:0 -show_entries stream=width,height -of csv=p=0 "$tmp/whole.mkv")" $wide
    "$mona" enhance -y "$in" -o "$tmp/parts.mkv" -c ffv1 --rotate "$rotate" --height 120 --quiet --resume --segment 2
    same "with --resume the same frames, $options" "$(frames_md5 "$tmp/parts.mkv")" "$(frames_md5 "$tmp/whole.mkv")"
    "$mona" enhance -y "$in" -o "$tmp/look.png" --rotate "$rotate" --height 120 --preview 0 --quiet
    same "and the preview's, $options" "$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$tmp/look.png")" "$((2 * ${wide%,*})),152"
    "$mona" enhance -y "$in" -o "$tmp/page.mkv" -c ffv1 --stages colour --colour 0 --rotate "$rotate" --html "$tmp/page.html" --quiet
    same "the page compares turned frames, $options" "$? $(grep -c '"plane":"all","mse":0,"psnr":null' "$tmp/page.html")" "0 1"
done

# ---- formats ---------------------------------------------------------------------------------------------
for format in yuv420p10le yuv444p gray; do
    ffmpeg -v error -y -i "$tmp/plain.mp4" -map 0:v -vf crop=95:53:0:0:exact=1 -pix_fmt $format -c:v ffv1 "$tmp/deep.mkv"
    same_frames "$tmp/deep.mkv" -o "$tmp/out.mkv" -c ffv1 --rotate 90
    same "odd sides of $format" "$? $(shown "$tmp/out.mkv")" "0 $(shown "$tmp/deep.mkv" transpose=clock)"
done
ffmpeg -v error -y -i "$tmp/plain.mp4" -pix_fmt yuv422p -c:v libx264 "$tmp/wide.mp4"
turned "$tmp/wide.mp4" 90 "$tmp/wide90.mp4"
fails "4:2:2 takes no quarter turn" "frames of yuv422p cannot be turned like that" "$mona" enhance -y "$tmp/wide.mp4" -o "$tmp/out.mkv" --rotate 90
fails "so its matrix cannot be lost silently" "matroska cannot hold the rotation" "$mona" enhance -y "$tmp/wide90.mp4" -o "$tmp/out.mkv"
same_frames "$tmp/wide.mp4" -o "$tmp/out.mkv" -c ffv1 --rotate 180
same "but a half turn" "$? $(shown "$tmp/out.mkv")" "0 $(shown "$tmp/wide.mp4" hflip,vflip)"
"$mona" enhance -y "$tmp/n1.png" -o "$tmp/turned.png" --rotate 90 2> "$tmp/log"
same "a picture is turned by its EXIF alone" "$? $(grep -c -- '--rotate has no effect on a picture' "$tmp/log")" "0 1"

# ---- what frames themselves say ---------------------------------------------------------------------------
ffmpeg -v error -i "$tmp/plain.mp4" -map 0:v -c copy -bsf:v h264_metadata=display_orientation=insert:rotate=90 "$tmp/sei.mp4"
i=0
for turn in 6 6 8; do
    ffmpeg -v error -y -ss "0.0$((4 * i))" -i "$tmp/scene.y4m" -frames:v 1 -pix_fmt yuvj420p -q:v 2 "$tmp/flat.jpg"
    python3 -IS tests/e2e/media/stills.py turned "$tmp/flat.jpg" $turn "$tmp/photo$((i += 1)).jpg"
done
for in in sei.mp4 photo%d.jpg; do
    same_frames "$tmp/$in" -o "$tmp/out.mkv" -c ffv1 --frames 2
    same "$in: turned as its frames say" "$? $(shown "$tmp/out.mkv" extractplanes=y | head -n 1)" "0 $(shown "$tmp/$in" extractplanes=y | head -n 1)"
    same_frames "$tmp/$in" -o "$tmp/out.mp4" --crf 4 --frames 2
    same "$in: .mp4 tells players" "$? $(matrix "$tmp/out.mp4")" "0 $(ffprobe -v error -select_streams v:0 -read_intervals %+#1 -show_entries frame_side_data=rotation -of csv=p=0 "$tmp/$in" | tr -dc '0-9-')"
    same_frames "$tmp/$in" -o "$tmp/out.mkv" -c ffv1 --frames 2 --rotate none
    same "$in: or not, with --rotate none" "$? $(shape "$tmp/out.mkv" | cut -d, -f 1-2)" "0 $(ffprobe -v error -select_streams v:0 -show_entries stream=width,height -of csv=p=0 "$tmp/$in")"
    "$mona" enhance -y "$tmp/$in" -o "$tmp/out.mkv" --height 120 --frames 2 --quiet
    same "$in: --height is that of what is shown" "$(shape "$tmp/out.mkv" | cut -d, -f 2)" 120
done
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=48:32 -frames:v 1 "$tmp/flat.webp"
python3 -IS tests/e2e/media/stills.py marked "$tmp/flat.webp" "$tmp/other1.webp" "RGB "
same_frames "$tmp/other%d.webp" -o "$tmp/out.mkv" -c ffv1
same "numbered .webp: turned as EXIF says" "$? $(shape "$tmp/out.mkv" | cut -d, -f 1-2)" "0 32,48"
"$mona" enhance -y "$tmp/photo%d.jpg" -o "$tmp/out.mkv" --stages colour --colour 0 2> "$tmp/log"
same "a photograph that is turned otherwise than the first is told" "$? $(grep -c 'photo%d.jpg: from 0.08 s on, frames say that they are turned otherwise' "$tmp/log")" "0 1"
