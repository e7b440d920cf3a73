#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every codec of -c, options for the encoders, and frames through pipes.
. tests/tap.inc

enhance() {
    "$mona" enhance -y "$@" --stages sr --quiet 2> "$tmp/log" < /dev/null
}

# Prints the properties of the video stream that must not change, on one line. The range is that of the first
# frame, since FFmpeg 7 reports none for a stream of ProRes.
kept() {
    ffprobe -v error -count_frames -select_streams v:0 -show_entries \
        stream=nb_read_frames,pix_fmt,sample_aspect_ratio,color_space,color_transfer,color_primaries -of csv=p=0 "$1" | tr '\n' ,
    ffprobe -v error -select_streams v:0 -read_intervals '%+#1' -show_entries frame=color_range -of csv=p=0 "$1" |
        tr -d , | head -n 1
}

film 12 "$tmp/scene.y4m" 320x180
colour=$(says tv bt709 bt709 bt709)
ffmpeg -v error -i "$tmp/scene.y4m" -vf "scale=160:90,setsar=3/2,$colour" -c:v libx264 -bf 2 -pix_fmt yuv420p -color_range tv "$tmp/in.mp4"

# ---- codecs -------------------------------------------------------------------------------------
for pair in h264:mp4 hevc:mp4 hevc:mkv av1:mp4 av1:webm vp9:webm vp9:mkv ffv1:mkv rawvideo:mkv; do
    codec=${pair%:*}
    out=$tmp/codec.${pair#*:}
    rm -f "$out"
    # This version of SVT-AV1 reads its own tables out of bounds, so sanitisers stop it.
    [ "$codec" = av1 ] && [ -n "$SANITIZE" ] && continue
    enhance "$tmp/in.mp4" -o "$out" -c "$codec" || not_ok "-c $codec" "$(cat "$tmp/log")"
    nothing "-c $codec in .${pair#*:} says nothing on stderr" "$(cat "$tmp/log")"
    same "-c $codec in .${pair#*:} keeps frames, colour and shape" "$(kept "$out")" "$(kept "$tmp/in.mp4")"
    same "-c $codec in .${pair#*:} is that codec" \
        "$(ffprobe -v error -select_streams v:0 -show_entries stream=codec_name -of csv=p=0 "$out")" "$codec"
    same "-c $codec in .${pair#*:} keeps the frames' times" \
        "$(video_times "$out" | awk '{ printf "%.3f\n", $1 }')" "$(video_times "$tmp/in.mp4" | awk '{ printf "%.3f\n", $1 }')"
done
# x264 writes its settings into the film. 180 rows are enough for five threads.
enhance "$tmp/in.mp4" -o "$tmp/threads.mp4"
cores=$(nproc)
[ "$cores" -le 5 ] || cores=5
same "x264 has a thread for each core" "$(grep -ao ' threads=[0-9]*' "$tmp/threads.mp4" | head -n 1)" " threads=$cores"
enhance "$tmp/in.mp4" -o "$tmp/one.mkv" -c ffv1
enhance "$tmp/in.mp4" -o "$tmp/two.mkv" -c rawvideo
same "ffv1 and rawvideo hold the same frames" "$(frames_md5 "$tmp/one.mkv")" "$(frames_md5 "$tmp/two.mkv")"
if enhance "$tmp/in.mp4" -o "$tmp/bad.webm" -c h264; then
    not_ok "a codec the container cannot hold is refused" "exit status 0"
else
    same "the refusal names both" "$(grep -c 'webm cannot hold h264' "$tmp/log")" 1
fi
# libav writes raw samples in some formats with a tag that it cannot read.
for way in yuv444p:mov yuv420p10le:mov gray:mov yuv440p10le:mkv; do
    ffmpeg -v error -y -i "$tmp/in.mp4" -frames:v 2 -vf scale=32:32 -pix_fmt "${way%:*}" -c:v ffv1 "$tmp/samples.mkv"
    enhance "$tmp/samples.mkv" -o "$tmp/bad.${way#*:}" -c rawvideo
    same "rawvideo that could not be read, ${way%:*} in .${way#*:}" \
        "$? $(grep -c "rawvideo in [a-z]* cannot hold ${way%:*}; -c ffv1 in .mkv would" "$tmp/log")" "1 1"
done
for codec in av1 vp9; do
    enhance "$tmp/in.mp4" -o "$tmp/bad.mov" -c $codec
    same "QuickTime cannot hold $codec" "$? $(grep -c "bad.mov: mov cannot hold $codec; .mkv" "$tmp/log")" "1 1"
done

# SVT-AV1 never closes if it got no frame. A run that is refused after the encoder was opened must end
# nevertheless.
if [ -z "$SANITIZE" ]; then
    ffmpeg -v error -i "$tmp/in.mp4" -f lavfi -i sine=d=0.4 -c:v copy -c:a aac "$tmp/sound.mp4"
    ends() {
        what=$1 status=$2
        shift 2
        timeout -s KILL 30 "$mona" enhance "$@" --quiet 2> "$tmp/log"
        same "AV1 without a frame: $what is refused in one line" "$? $(wc -l < "$tmp/log") $(find "$tmp" -name 'never*')" "$status 1 "
    }
    ends "sound that WebM cannot hold" 1 "$tmp/sound.mp4" -o "$tmp/never.webm"
    ends "an option it does not know" 2 "$tmp/in.mp4" -o "$tmp/never.mkv" -c av1 -e foo=1
    ends "a start behind the end" 1 "$tmp/in.mp4" -o "$tmp/never.mkv" -c av1 --start 100
fi

# ---- pipes and standard streams ------------------------------------------------------------------
ffmpeg -v error -i "$tmp/in.mp4" -c copy -f mpegts "$tmp/in.ts"
enhance "$tmp/in.ts" -o "$tmp/file.mkv"
mkfifo "$tmp/fifo"
cat "$tmp/in.ts" > "$tmp/fifo" &
timeout -s KILL 60 "$mona" enhance "$tmp/fifo" -o "$tmp/named.mkv" --stages sr --quiet
same "a named pipe loses nothing" "$? $(frames_md5 "$tmp/named.mkv")" "0 $(frames_md5 "$tmp/file.mkv")"
wait
enhance "$tmp/in.mp4" -o "$tmp/file.mkv"
"$mona" enhance - -o "$tmp/redirected.mkv" --stages sr --quiet < "$tmp/in.mp4"
same "a file behind standard input is searched as by name" "$? $(frames_md5 "$tmp/redirected.mkv")" "0 $(frames_md5 "$tmp/file.mkv")"
# Larger than what libav buffers of a pipe.
ffmpeg -v error -i "$tmp/in.mp4" -vf scale=640:360 -c:v rawvideo "$tmp/large.mov"
cat "$tmp/large.mov" | timeout -s KILL 60 "$mona" enhance - -o "$tmp/piped.mkv" --quiet 2> "$tmp/log"
same "an index behind the frames needs a file" "$? $(grep -c 'standard input: expected a file, found a pipe' "$tmp/log")" "1 1"
"$mona" enhance "$tmp/in.mp4" -o "$tmp/closed.mkv" --stages sr 0<&- >&- 2>&-
same "closed standard streams do not write into the result" "$? $(frames_md5 "$tmp/closed.mkv")" "0 $(frames_md5 "$tmp/file.mkv")"

# ---- alpha --------------------------------------------------------------------------------------
# WebM keeps alpha beside the frames, where only libvpx's decoder finds it.
ffmpeg -v error -i "$tmp/in.mp4" -vf "scale=64:36,format=yuva420p,geq=lum='lum(X,Y)':cb=128:cr=128:a='4*X'" -c:v libvpx-vp9 \
    -lossless 1 "$tmp/alpha.webm"
# The mean alpha of every frame.
alpha_of() {
    ffmpeg -v error -c:v libvpx-vp9 -i "$1" -vf alphaextract,scale=1:1:flags=area -f rawvideo -pix_fmt gray - | od -An -v -tu1 -w1 |
        awk '{ print ($1 > 120 && $1 < 135 ? "half" : $1) }' | sort | uniq -c | tr -s ' ' | tr '\n' ' '
}
same "the test file has alpha" "$(alpha_of "$tmp/alpha.webm")" " 12 half "
for out in alpha_out.webm alpha_out.mkv; do
    enhance "$tmp/alpha.webm" -o "$tmp/$out"
    same "alpha of VP9 stays in $out" "$? $(alpha_of "$tmp/$out")" "0  12 half "
done
enhance "$tmp/alpha.webm" -o "$tmp/alpha_parts.webm" --resume --segment 5
same "alpha of VP9 stays in a run of segments" "$? $(alpha_of "$tmp/alpha_parts.webm")" "0  12 half "
enhance "$tmp/alpha.webm" -o "$tmp/alpha_lost.mp4"
same "alpha of VP9 that MP4 would lose is refused" "$? $(grep -c 'cannot hold yuva420p; -c ffv1 in .mkv would' "$tmp/log") $(find "$tmp" -name 'alpha_lost*')" "1 1 "
enhance "$tmp/alpha.webm" -o "$tmp/alpha_lost.mp4" -c h264
same "and so is what has none" "$? $(grep -c 'h264 (libx264) cannot hold yuva420p' "$tmp/log") $(find "$tmp" -name 'alpha_lost*')" "1 1 "
enhance "$tmp/alpha.webm" -o "$tmp/opaque.mkv" -c h264 --drop-unsupported
same "alpha that is left out leaves no tag" "$? $(ffprobe -v error -select_streams v:0 -show_entries stream=pix_fmt:stream_tags=alpha_mode \
    -of csv=p=0 "$tmp/opaque.mkv")" "0 yuv420p"

# ---- options ------------------------------------------------------------------------------------
enhance "$tmp/in.mp4" -o "$tmp/gop.mkv" -e g=3 -e bf=0
same "-e g=3 puts a key frame every third" "$(ffprobe -v error -select_streams v:0 -show_entries packet=flags \
    -of csv=p=0 "$tmp/gop.mkv" | cut -c1 | tr -d '\n')" K__K__K__K__
enhance "$tmp/in.mp4" -o "$tmp/params.mkv" -c hevc -e x265-params=keyint=4:bframes=0:min-keyint=4:open-gop=0
same "-e x265-params adds to mona's own" "$(cat "$tmp/log") $(ffprobe -v error -select_streams v:0 -show_entries \
    packet=flags -of csv=p=0 "$tmp/params.mkv" | cut -c1 | tr -d '\n')" " K___K___K___"
enhance "$tmp/in.mp4" -o "$tmp/high.mkv" --crf 0
enhance "$tmp/in.mp4" -o "$tmp/low.mkv" --crf 50
same "--crf decides the size" "$([ "$(wc -c < "$tmp/high.mkv")" -gt $((4 * $(wc -c < "$tmp/low.mkv"))) ] && echo yes)" yes
ffmpeg -v error -f lavfi -i testsrc2=s=320x180:r=25:d=2 -c:v libx264 -crf 45 "$tmp/little.mkv"
surprise() { # "of the whole video, as it is said and as it is" or ""
    "$mona" enhance -y "$tmp/little.mkv" -o "$tmp/much.mkv" --stages sr --preset ultrafast "$@" 2>&1 < /dev/null |
        sed -n 's/.*: the video has \([0-9]*\) times as many bytes as in .*; a --crf above \([0-9.]*\) makes it smaller.*/\1 \2/p'
}
said=$(surprise --crf 3)
same "a result many times larger than the input is told ($said)" "$(echo "${said% *}" "$(wc -c < "$tmp/much.mkv")" "$(wc -c < "$tmp/little.mkv")" |
    awk '{ r = $2 / $3 / $1; print (r > 0.8 && r < 1.1) }') ${said#* }" "1 3"
nothing "others are not" "$(surprise --crf 50)$(surprise --match-bitrate)$(surprise --frames 1)"
same "nor are they in a plan" "$(for crf in 3 50; do "$mona" enhance "$tmp/little.mkv" -o "$tmp/much.mkv" --stages sr --preset ultrafast --crf $crf --dry-run |
    grep -c '^ *[0-9]* times the input'; done | tr '\n' ' ')" "1 0 "

keys() {
    ffprobe -v error -select_streams v:0 -show_entries packet=flags -of csv=p=0 "$1" | cut -c1 | tr -d '\n'
}
for way in av1:g=4 vp9:g=4:lag-in-frames=0 ffv1:g=4; do
    codec=${way%%:*}
    [ "$codec" = av1 ] && [ -n "$SANITIZE" ] && continue
    # shellcheck disable=SC2046
    enhance "$tmp/in.mp4" -o "$tmp/keys.mkv" -c "$codec" $(echo "${way#*:}" | sed 's/^/-e /; s/:/ -e /g')
    same "-e reaches $codec" "$? $(cat "$tmp/log") $(keys "$tmp/keys.mkv")" "0  K___K___K___"
done

# ProRes is written as 4:2:2 of 10 bits.
ffmpeg -v error -i "$tmp/scene.y4m" -vf "scale=160:90,setsar=3/2,$colour" -c:v ffv1 -pix_fmt yuv422p10le -color_range tv "$tmp/deep.mkv"
profile() {
    ffprobe -v error -select_streams v:0 -show_entries stream=codec_name,profile,codec_tag_string,pix_fmt -of csv=p=0 "$1"
}
for suffix in mov mkv; do
    enhance "$tmp/deep.mkv" -o "$tmp/prores.$suffix" -c prores || not_ok "-c prores" "$(cat "$tmp/log")"
    same "-c prores in .$suffix keeps frames, depth, colour and shape" "$(kept "$tmp/prores.$suffix")" "$(kept "$tmp/deep.mkv")"
done
same "-c prores is HQ" "$(profile "$tmp/prores.mov")" "prores,HQ,apch,yuv422p10le"
enhance "$tmp/deep.mkv" -o "$tmp/deep_ffv1.mkv" -c ffv1
found=$(psnr_y "$tmp/prores.mov" "$tmp/deep_ffv1.mkv")
same "-c prores is what was to be coded, nearly" "$(echo "$found" | awk '{ print ($1 >= 45 ? "yes" : $1) }')" yes
enhance "$tmp/deep.mkv" -o "$tmp/lt.mov" -c prores -e profile=lt
same "-e reaches prores" "$(profile "$tmp/lt.mov")" "prores,LT,apcs,yuv422p10le"
ffmpeg -v error -i "$tmp/in.mp4" -pix_fmt yuv422p10le "$tmp/p%d.png"
enhance "$tmp/p%d.png" -o "$tmp/pictures.mov" -c prores
same "pictures of 16 bits are ProRes" "$? $(profile "$tmp/pictures.mov")" "0 prores,HQ,apch,yuv422p10le"
ffmpeg -v error -i "$tmp/in.mp4" -pix_fmt rgb24 "$tmp/q%d.png"
enhance "$tmp/q%d.png" -o "$tmp/pictures.mov" -c prores
same "pictures of 8 are" "$? $(profile "$tmp/pictures.mov")" "0 prores,HQ,apch,yuv422p10le"
for format in yuv420p $(! full || echo yuvj420p yuv422p yuv444p yuva420p); do
    wide=$(case $format in yuva*) echo yuva444p10le ;; *444*) echo yuv444p10le ;; *) echo yuv422p10le ;; esac)
    # FFV1 does not keep the full range of yuvj420p.
    lossless=$([ $format = yuvj420p ] && echo libx264 -qp 0 || echo ffv1)
    ffmpeg -v error -y -i "$tmp/in.mp4" -an -pix_fmt $format -c:v $lossless "$tmp/narrow.mkv" -an -pix_fmt "$wide" -color_range tv -c:v ffv1 "$tmp/wide.mkv"
    enhance "$tmp/wide.mkv" -o "$tmp/wanted.mkv" -c ffv1
    "$mona" enhance -y "$tmp/narrow.mkv" -o "$tmp/prores.mov" -c prores --stages sr 2> "$tmp/log" < /dev/null
    same "$format becomes $wide for ProRes, which is told" "$? $(grep -c "$format becomes $wide, which prores holds" "$tmp/log")" "0 1"
    at_least "$format: and is what the film in $wide becomes" "$(psnr_y "$tmp/prores.mov" "$tmp/wanted.mkv")" 45
done
# Of FFV1 only the container knows that samples have full range, which ProRes has not.
for format in yuv420p $(! full || echo yuv422p10le yuv444p12le); do
    ffmpeg -v error -y -i "$tmp/in.mp4" -an -vf scale=out_range=full -pix_fmt $format -color_range pc -c:v ffv1 "$tmp/bright.mkv" \
        -an -pix_fmt yuv422p10le -color_range tv -c:v ffv1 "$tmp/wide.mkv"
    enhance "$tmp/wide.mkv" -o "$tmp/wanted.mkv" -c ffv1
    "$mona" enhance -y "$tmp/bright.mkv" -o "$tmp/prores.mov" -c prores --stages sr 2> "$tmp/log" < /dev/null
    same "full range in $format becomes limited for ProRes, which is told" "$? $(grep -c "full range becomes limited, the only one of prores" "$tmp/log")" "0 1"
    at_least "$format: and is as bright" "$(psnr_y "$tmp/prores.mov" "$tmp/wanted.mkv")" 45
done
# Ten bits in, ten bits out.
for codec in h264 hevc vp9 ffv1 rawvideo; do
    enhance "$tmp/deep.mkv" -o "$tmp/deep_out.mkv" -c $codec
    same "ten bits of 4:2:2 as $codec" "$? $(kept "$tmp/deep_out.mkv")" "0 $(kept "$tmp/deep.mkv")"
done

# Twice the size at the same bit rate, with a clip that is long enough for the rate control.
ffmpeg -v error -stream_loop 7 -i "$tmp/scene.y4m" -vf scale=320:180 -c:v libx264 -b:v 300k -pix_fmt yuv420p "$tmp/rate.mp4"
video_bytes() {
    ffprobe -v error -select_streams v:0 -show_entries packet=size -of csv=p=0 "$1" | awk '{ n += $1 } END { print n }'
}
for codec in h264 hevc av1 vp9; do
    [ "$codec" = av1 ] && [ -n "$SANITIZE" ] && continue
    enhance "$tmp/rate.mp4" -o "$tmp/rate_out.mkv" -c $codec --match-bitrate
    same "--match-bitrate writes within 40 % as many bytes, $codec" "$? $(echo "$(video_bytes "$tmp/rate_out.mkv") $(video_bytes "$tmp/rate.mp4")" |
        awk '{ r = $1 / $2; print (r > 0.6 && r < 1.4 ? "yes" : $0) }')" "0 yes"
done

# $1: name, $2: what the line must contain, rest: options
refused() {
    name=$1 pattern=$2
    shift 2
    rm -f "$tmp/refused.mkv"
    if enhance "$tmp/in.mp4" -o "$tmp/refused.mkv" "$@"; then
        not_ok "$name is refused" "exit status 0"
    else
        same "$name is refused" "$(grep -c -- "$pattern" "$tmp/log") $(wc -l < "$tmp/log") $(find "$tmp" -name 'refused*')" "1 1 "
    fi
}
refused "an option the encoder does not know" "-e nonsense=1: libx264 has no such option" -e nonsense=1
refused "a value it does not know" "libx264 does not accept" -e aq-mode=nonsense
refused "an option without a value" "-e: expected KEY=VALUE" -e nonsense
refused "an unknown codec" "--codec: expected" -c divx
refused "a quality for a lossless codec" "--crf: ffv1 has no quality setting" -c ffv1 --crf 10
refused "a quality out of a codec's range" "from 0 to 51, found 60" --crf 60
refused "a preset of another codec" "--preset: vp9 expects a whole number from 0 to 8" -c vp9 --preset slow
refused "quality and bit rate at once" "expected only one" --crf 20 --match-bitrate
refused "a bit rate for a lossless codec" "--match-bitrate: the codec has no bit rate" -c ffv1 --match-bitrate
refused "a bit rate for ProRes" "--match-bitrate: the codec has no bit rate" -c prores --match-bitrate
refused "an unknown container" "-f: expected a video container" -f nonsense

# ---- pipes --------------------------------------------------------------------------------------
# Frames that pass through mona as y4m equal those of a file.
ffmpeg -v error -i "$tmp/in.mp4" -f yuv4mpegpipe - | "$mona" enhance - -o - --stages sr 2> "$tmp/log" |
    ffmpeg -v error -f yuv4mpegpipe -i - -c:v ffv1 "$tmp/piped.mkv"
same "ffmpeg | mona | ffmpeg: the frames of a file" "$(frames_md5 "$tmp/piped.mkv")" "$(frames_md5 "$tmp/one.mkv")"
same "what mona says goes to stderr" "$(grep -c 'standard output: 12 frames' "$tmp/log")" 1
ffmpeg -v error -i "$tmp/in.mp4" -f rawvideo - | "$mona" enhance - --raw 160x90:yuv420p:25 -o - -f rawvideo \
    --stages sr --quiet | ffmpeg -v error -f rawvideo -s 320x180 -pix_fmt yuv420p -i - -c:v ffv1 "$tmp/rawpipe.mkv"
same "raw frames in and out" "$(frames_md5 "$tmp/rawpipe.mkv")" "$(frames_md5 "$tmp/one.mkv")"
"$mona" enhance "$tmp/in.mp4" -o - -f mkv -c ffv1 --stages sr --quiet > "$tmp/stdout.mkv" 2> "$tmp/log"
same "-f mkv on standard output" "$(frames_md5 "$tmp/stdout.mkv")" "$(frames_md5 "$tmp/one.mkv")"
"$mona" enhance "$tmp/in.mp4" -o "$tmp/file.y4m" --stages sr --quiet 2> "$tmp/log"
same "a y4m file" "$(frames_md5 "$tmp/file.y4m")" "$(frames_md5 "$tmp/one.mkv")"
if "$mona" enhance "$tmp/in.mp4" -o - -f mp4 > "$tmp/stdout.mp4" 2> "$tmp/log" < /dev/null; then
    not_ok "mp4, which must be searched, is refused on a pipe" "exit status 0"
else
    same "mp4, which must be searched, is refused on a pipe" "$(grep -c 'mona: standard output: mp4 .*matroska' "$tmp/log")" 1
fi
{ "$mona" enhance "$tmp/rate.mp4" -o - --stages sr --quiet 2> "$tmp/log"; echo $? > "$tmp/status"; } | head -c 1000 > /dev/null
same "a closed pipe is one line and exit status 1" "$(cat "$tmp/status") $(grep -c 'standard output: cannot be written: Broken pipe' "$tmp/log") $(wc -l < "$tmp/log")" "1 1 1"
head -c 10 "$tmp/in.mp4" | "$mona" enhance - -o "$tmp/short.mkv" > /dev/null 2> "$tmp/log"
same "a pipe without a video is refused" "$? $(grep -c 'mona: standard input: ' "$tmp/log")" "1 1"

# ---- live ---------------------------------------------------------------------------------------
# At least 38 of 40 frames come out before the pipe is closed, which is what ends the input.
ffmpeg -v error -stream_loop 3 -i "$tmp/in.mp4" -frames:v 40 -vf scale=64:48 -f rawvideo "$tmp/raw"
mkfifo "$tmp/live"
count() {
    ffprobe -v quiet -count_packets -select_streams v:0 -show_entries stream=nb_read_packets -of csv=p=0 "$1" | awk '{ n = $1 } END { print n + 0 }'
}
for codec in h264 hevc vp9; do
    "$mona" enhance - --raw 64x48:yuv420p:25 -o - -f nut -c $codec --low-latency --stages sr --quiet < "$tmp/live" > "$tmp/live.nut" 2> "$tmp/log" &
    exec 3> "$tmp/live"
    cat "$tmp/raw" >&3
    tries=0
    while [ "$tries" -lt 60 ] && [ "$(count "$tmp/live.nut")" -lt 38 ]; do
        tries=$((tries + 1))
        sleep 0.2
    done
    at_least "--low-latency, $codec: frames come out one by one" "$(count "$tmp/live.nut")" 38
    exec 3>&-
    wait $!
    same "--low-latency, $codec: all of them in the end" "$? $(count "$tmp/live.nut")" "0 40"
done

# ---- a machine that leaves an encoder hardly any time ---------------------------------------------------
if full && [ -z "$SANITIZE" ]; then
    ffmpeg -v error -f lavfi -i testsrc2=s=640x360:r=5:d=8 -c:v ffv1 "$tmp/long.mkv"
    "$mona" enhance "$tmp/long.mkv" -o "$tmp/starved.mkv" -c hevc --preset veryslow --stages sr --no-sandbox --quiet 2> "$tmp/log" < /dev/null &
    starved=$!
    sleep 4
    chrt -a -i -p 0 $starved
    for i in $(seq $((4 * $(nproc)))); do
        timeout 40 sh -c 'while :; do :; done' &
    done
    sleep 40
    chrt -a -o -p 0 $starved
    wait $starved
    same "x265 is not taken for stopped where others take its time" "$? $(cat "$tmp/log")" "0 "
    wait
fi
