#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --height, --size and --scale 1.5: the networks' whole factor, then one filter down.
. tests/tap.inc

film 3 "$tmp/scene.y4m" 320x180
ffmpeg -v error -y -i "$tmp/scene.y4m" -vf crop=318:178:0:0,setsar=1 -c:v ffv1 "$tmp/film.mkv"

# $1: input, $2: name of the result, rest: options. Its size, the shape of its samples and its pixel format.
made() {
    in=$1 out=$tmp/$2
    shift 2
    "$mona" enhance -y "$in" -o "$out" --quiet "$@" < /dev/null && ffprobe -v error -select_streams v:0 \
        -show_entries stream=width,height,sample_aspect_ratio,pix_fmt -of csv=p=0 "$out" | sed "s/,$//"
}

# ---- films -----------------------------------------------------------------------------------------
same "--height keeps the shape" "$(made "$tmp/film.mkv" a.mkv -c ffv1 --height 270)" 482,270,1:1,yuv420p
same "--scale 1.5 has even sides" "$(made "$tmp/film.mkv" b.mkv -c ffv1 --scale 1.5)" 478,268,1:1,yuv420p
same "--size changes the shape of a sample" "$(made "$tmp/film.mkv" c.mkv -c ffv1 --size 320x270)" 320,270,4293:2848,yuv420p
same "and H.264 in MP4 says it" "$(made "$tmp/film.mkv" c.mp4 --size 320x268)" 320,268,10653:7120,yuv420p
same "--width keeps it too" "$(made "$tmp/film.mkv" w.mkv -c ffv1 --width 482)" 482,270,1:1,yuv420p
same "smaller than the input" "$(made "$tmp/film.mkv" d.mkv -c ffv1 --height 90)" 160,90,1:1,yuv420p
for format in yuv420p10le $(! full || echo yuva420p gray yuv422p yuv444p10le); do
    ffmpeg -v error -y -i "$tmp/film.mkv" -vf format=$format -c:v ffv1 "$tmp/deep.mkv"
    same "$format" "$(made "$tmp/deep.mkv" e.mkv -c ffv1 --size 640x360)" 640,360,1:1,$format
done
ffmpeg -v error -y -i "$tmp/film.mkv" -vf setsar=16/15 -c:v ffv1 "$tmp/wide.mkv"
same "a shape of samples stays" "$(made "$tmp/wide.mkv" f.mkv -c ffv1 --height 270)" 482,270,16:15,yuv420p
same "or is multiplied" "$(made "$tmp/wide.mkv" f.mkv -c ffv1 --size 640x480 --stages sr)" 640,480,636:445,yuv420p

# Whole factors are what they were.
"$mona" enhance "$tmp/film.mkv" -o "$tmp/twice.mkv" -c ffv1 --quiet
for options in "--scale 2.0" "--height 356" "--size 636x356"; do
    # shellcheck disable=SC2086
    made "$tmp/film.mkv" g.mkv -c ffv1 $options > /dev/null
    same "$options is --scale 2, to the byte" "$(frames_md5 "$tmp/g.mkv")" "$(frames_md5 "$tmp/twice.mkv")"
done

made "$tmp/film.mkv" h.mkv -c ffv1 --height 270 > /dev/null
for options in "-j 1" "-j 2 --strip-rows 6" "--cpu c" "--resume --segment 2"; do
    # shellcheck disable=SC2086
    made "$tmp/film.mkv" i.mkv -c ffv1 --height 270 $options > /dev/null
    same "the same bytes: $options" "$(frames_md5 "$tmp/i.mkv")" "$(frames_md5 "$tmp/h.mkv")"
done

# A phone's film lies on its side: 178 pixels wide as it is shown.
ffmpeg -v error -y -i "$tmp/scene.y4m" -c:v libx264 -pix_fmt yuv420p "$tmp/film.mp4"
turned "$tmp/film.mp4" 90 "$tmp/turned.mp4"
same "--height is that of the film as it is shown" "$(made "$tmp/turned.mp4" j.mp4 --height 480)" 480,270,1:1,yuv420p
same "and so is --size" "$(made "$tmp/turned.mp4" j.mp4 --size 270x400)" 400,270,6:5,yuv420p

# ---- standard input, whose size is known only when it is read ------------------------------------------
for options in "--height 270" "--size 320x270" "--height 90" "--height 500 --stats --progress json"; do
    # shellcheck disable=SC2086
    made "$tmp/film.mkv" named.mkv -c ffv1 $options > /dev/null
    # shellcheck disable=SC2002,SC2086
    cat "$tmp/film.mkv" | "$mona" enhance -y -i - -o "$tmp/piped.mkv" -c ffv1 $options 2> "$tmp/log"
    same "a pipe gives the frames of a file: $options" "$? $(frames_md5 "$tmp/piped.mkv")" "0 $(frames_md5 "$tmp/named.mkv")"
done
same "and names its stages" "$(python3 -c 'import json, sys; e = [json.loads(l) for l in open(sys.argv[1])]
print(e[0]["networks"], e[0]["out_height"], *[s["name"] for s in e[-1]["stats"]["steps"]])' "$tmp/log" 2>&1)" \
    "denoise_fast_video, then sr_x3_fast, then lanczos 500 decode upload denoise sr resize encode"
refused_pipe() {
    words=$1
    shift
    ffmpeg -v error -i "$tmp/film.mkv" -f yuv4mpegpipe - > "$tmp/pipe.y4m"
    fails "refused from a pipe: $*" "$words" sh -c 'm=$1; p=$2; shift 2; cat "$p" | "$m" enhance -y - "$@"' sh "$mona" "$tmp/pipe.y4m" -o "$tmp/no.mkv" "$@"
}
refused_pipe "found 12.13 times" --height 2160 --quiet
refused_pipe "--size: expected WIDTHxHEIGHT" --size 640 --quiet

# ---- quality ----------------------------------------------------------------------------------------
lanczos=flags=lanczos+accurate_rnd
ffmpeg -v error -y -i "$tmp/scene.y4m" -frames:v 1 -vf scale=240:136:$lanczos,format=gray "$tmp/wanted.png"
ffmpeg -v error -y -i "$tmp/scene.y4m" -frames:v 1 -vf scale=160:90:$lanczos,format=gray "$tmp/half.png"
ffmpeg -v error -y -i "$tmp/half.png" -vf scale=240:136:flags=bicubic+accurate_rnd "$tmp/bicubic.png"
same "a picture one and a half times as large" "$(made "$tmp/half.png" best.png --size 240x136)" 240,136,1:1,gray
bicubic=$(psnr_y "$tmp/bicubic.png" "$tmp/wanted.png")
at_least "is better than by bicubic interpolation, $bicubic dB" "$(psnr_y "$tmp/best.png" "$tmp/wanted.png")" "$(echo "$bicubic" | awk '{ print $1 + 1 }')"

# ---- pictures ---------------------------------------------------------------------------------------
ffmpeg -v error -y -i "$tmp/scene.y4m" -frames:v 1 -vf format=rgba,crop=101:77 "$tmp/a.png"
ffmpeg -v error -y -i "$tmp/a.png" -pix_fmt yuvj420p "$tmp/a.jpg"
size() {
    made "$@" | cut -d, -f1,2,4
}
same "a picture with alpha" "$(size "$tmp/a.png" k.png --height 200)" 262,200,rgba
same "a JPEG by --scale" "$(size "$tmp/a.jpg" k.png --scale 1.3)" 131,100,rgb24
! full || same "a WebP" "$(ffmpeg -v error -y -i "$tmp/a.jpg" "$tmp/a.webp" && size "$tmp/a.webp" k.png --height 100)" 131,100,rgb24
same "a film as numbered pictures" "$("$mona" enhance -y "$tmp/film.mkv" -o "$tmp/n%d.png" --height 200 --quiet &&
    ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$tmp/n3.png")" 358,200

# ---- what is told beforehand -------------------------------------------------------------------------
plan() {
    "$mona" enhance "$@" --dry-run --json | python3 -c 'import json, sys; p = json.load(sys.stdin); m = p["memory"]
print(*[s["model"] for s in p["stages"]], p["stages"][-1]["to"], "%dx%d" % (p["output"]["width"], p["output"]["height"]),
      m["engine_bytes"] + m["frame_bytes"])'
}
told=$(plan "$tmp/film.mkv" -o "$tmp/l.mkv" -c ffv1 --height 270)
same "the plan has the filter" "${told% *}" "denoise_fast_video sr_x2_fast_video lanczos 482x270 482x270"
twice=$(plan "$tmp/film.mkv" -o "$tmp/l.mkv" -c ffv1)
at_least "and its memory" "${told##* }" $((${twice##* } + 3 * 482 * 270 * 3 / 2))
same "the plan of a picture too" "$(plan "$tmp/a.png" -o "$tmp/l.png" --height 200 | cut -d' ' -f3-5)" "lanczos 262x200 262x200"
same "6 times for 5" "$(plan "$tmp/a.png" -o "$tmp/l.png" --scale 5 | cut -d' ' -f2-5)" "sr_x2_fast sr_x3_fast lanczos 505x385"
succeeds "a preview" "$mona" enhance -y "$tmp/film.mkv" -o "$tmp/look.png" --height 270 --preview 0
same "has the result's size, twice, under labels" "$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$tmp/look.png")" 964,302

# ---- refusals ----------------------------------------------------------------------------------------
# $1: words expected, rest: arguments
refused() {
    words=$1
    shift
    fails "refused: $*" "$words" "$mona" enhance -y "$@"
}
no=$tmp/no.mkv
refused "expected a number from 0.1 to 12, found '13'" "$tmp/film.mkv" -o "$no" --scale 13
refused "expected a whole number from 1 to" "$tmp/film.mkv" -o "$no" --height 0
refused "--size: expected WIDTHxHEIGHT" "$tmp/film.mkv" -o "$no" --size 640
refused "expected 0.1 to 12 times the input's 318x178, found 12.13 times" "$tmp/film.mkv" -o "$no" --height 2160
refused "--width: expected 0.1 to 12 times the input's 318x178, found 12.58 times" "$tmp/film.mkv" -o "$no" --width 4000
refused "expected one of --scale, --width, --height and --size" "$tmp/film.mkv" -o "$no" --height 400 --width 400
refused "expected one of --scale, --width, --height and --size" "$tmp/film.mkv" -o "$no" --height 400 --scale 2
refused "expected sr among --stages, found 'denoise'" "$tmp/film.mkv" -o "$no" --height 400 --stages denoise
refused "expected sr once" "$tmp/film.mkv" -o "$no" --scale 1.5 --stages sr,sr
"$mona" enhance -y "$tmp/a.png" -o "$tmp/square.png" --size 200x200 2> "$tmp/log"
same "a picture of another shape is distorted, and that is told" \
    "$? $(grep -c 'distorts the picture of .*; --height keeps its shape' "$tmp/log") $(ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$tmp/square.png")" "0 1 200,200"
refused "cannot be" "$tmp/none.mkv" -o "$no" --height 400
