#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From container to container: every stream with its packets and times, cover pictures, attachments, chapters,
# tags. What the new container cannot hold is refused by name.
. tests/tap.inc

in=$tmp/in
mkdir "$in"
film 32 "$tmp/scene.y4m" 320x180
printf '1\n00:00:00,100 --> 00:00:00,500\nHello\n\n2\n00:00:00,600 --> 00:00:00,900\nWorld\n' > "$tmp/subs.srt"
cat > "$tmp/meta" << 'END'
;FFMETADATA1
title=A title
custom=of one's own
[CHAPTER]
TIMEBASE=1/1000
START=0
END=400
title=First
[CHAPTER]
TIMEBASE=1/1000
START=400
END=1280
title=Second
END
cd "$in" || exit 1
make() {
    ffmpeg -v error -y "$@" || echo "# could not make a test file"
}
make -i ../scene.y4m -f lavfi -i sine=300:duration=1.28 -vf scale=96:54 -c:v libx264 -preset veryfast -bf 2 \
    -pix_fmt yuv420p -c:a aac av.mp4
make -i ../scene.y4m -frames:v 1 -vf scale=64:64 cover.jpg -frames:v 1 -vf scale=64:64 cover.png
make -i av.mp4 -i cover.jpg -map 0 -map 1 -c copy -disposition:v:1 attached_pic -metadata title=T \
    -metadata:s:a:0 language=fra cover.mp4
make -i av.mp4 -c copy -attach cover.png -metadata:s:t mimetype=image/png -metadata:s:t filename=cover.png cover.mkv \
    -c copy a.ts -c copy -muxdelay 0 -muxpreload 0 -output_ts_offset 20 late.ts -c copy av.nut -c copy av.flv \
    -c copy -timecode 01:00:00:00 timecode.mov -c copy -movflags use_metadata_tags -metadata custom=1 tags.mp4
turned av.mp4 180 rotated.mp4
make -itsoffset 0.7 -i av.mp4 -i av.mp4 -map 1:v -map 0:a -c copy sound_late.mp4 -map 0:v -map 1:a -c copy video_late.mp4
make -ss 0.5 -i av.mp4 -c copy edited.mp4
make -i av.mp4 -i ../meta -i ../subs.srt -map 0 -map 2 -map_metadata 1 -map_chapters 1 -c copy \
    -metadata:s:s:0 language=deu -disposition:s:0 forced subtitles.mkv -map 0 -map_metadata 1 -map_chapters 1 -c copy chapters.mp4
make -i subtitles.mkv -map 0 -c copy -attach ../subs.srt -metadata:s:t mimetype=application/x-truetype-font \
    -metadata:s:t filename=font.ttf attached.mkv
make -i av.mp4 -i av.mp4 -map 0 -map 1:v -c copy two_videos.mp4
! full || make -i av.mp4 -itsoffset -0.5 -i av.mp4 -map 0:v -map 1:a -c copy sound_first.mkv
cd - > /dev/null || exit 1

later() {
    sed -n 's/.*everything is \([0-9.]*\) s later.*/\1/p' "$tmp/log"
}

pairs="cover.mp4:mkv late.ts:mp4 video_late.mp4:mp4 edited.mp4:mkv rotated.mp4:mov attached.mkv:mkv"
! full || pairs="$pairs a.ts:mp4 late.ts:ts tags.mp4:mp4 av.mp4:mp4 av.mp4:mkv av.mp4:mov av.mp4:ts av.mp4:nut cover.mp4:mp4 cover.mkv:mkv cover.mkv:mp4 \
    a.ts:ts a.ts:mkv sound_first.mkv:mkv sound_first.mkv:mp4 sound_late.mp4:mp4 sound_late.mp4:mkv \
    video_late.mp4:mkv edited.mp4:mp4 av.nut:nut av.nut:mkv av.flv:mp4 timecode.mov:mov timecode.mov:mkv \
    chapters.mp4:mp4 chapters.mp4:mkv subtitles.mkv:mkv tags.mp4:mkv two_videos.mp4:mp4 two_videos.mp4:mkv rotated.mp4:mp4"
for pair in $pairs; do
    out=out.${pair#*:}
    rm -f "$tmp/$out"
    "$mona" enhance "$in/${pair%:*}" -o "$tmp/$out" --stages sr --preset ultrafast 2> "$tmp/log" < /dev/null ||
        not_ok "${pair%:*} to .${pair#*:}" "$(cat "$tmp/log")"
    # shellcheck disable=SC2046
    if python3 tests/e2e/media/survival.py "$in/${pair%:*}" "$tmp/$out" $(later) > "$tmp/row"; then
        ok "${pair%:*} to .${pair#*:}: everything survives"
    else
        not_ok "${pair%:*} to .${pair#*:}: everything survives" "$(cat "$tmp/row")"
    fi
done

# ---- what does not fit --------------------------------------------------------------------------
# $1: input file, $2: suffix, $3: what the line must name
refused() {
    rm -f "$tmp"/out.*
    "$mona" enhance "$in/$1" -o "$tmp/out.$2" --stages sr --quiet 2> "$tmp/log" < /dev/null
    same "$1 to .$2 is refused and names it" \
        "$? $(grep -c "$3" "$tmp/log") $(wc -l < "$tmp/log") $(find "$tmp" -maxdepth 1 -name 'out.*')" "1 1 1 "
    "$mona" enhance "$in/$1" -o "$tmp/out.$2" --stages sr --drop-unsupported 2> "$tmp/log" < /dev/null
    same "$1 to .$2 with --drop-unsupported says what is left out" \
        "$? $(grep -c 'cannot hold .*; it is left out' "$tmp/log")" "0 ${4:-1}"
}
! full || refused attached.mkv mp4 'mp4 cannot hold stream 3 (attachment, ttf); use .mkv, which holds everything'
refused attached.mkv ts 'mpegts cannot hold stream 2 (subtitle, subrip); use .mkv' 3
refused cover.mp4 mov 'mov cannot hold stream 2 (cover picture, mjpeg); use .mkv'
refused av.mp4 y4m 'yuv4mpegpipe cannot hold stream 1 (audio, aac); use .mkv'

# Sound of which libav's writers lose what a player needs.
ffmpeg -v error -i "$in/av.mp4" -t 1 -c:v copy -c:a wmav2 "$in/wma.mkv" -t 1 -c:v copy -c:a libvorbis "$in/vorbis.mkv" -t 1 -c:v copy -c:a dca -strict -2 "$in/dts.mkv"
refused wma.mkv nut 'nut cannot hold stream 1 (audio, wmav2); use .mkv'
refused vorbis.mkv avi 'avi cannot hold stream 1 (audio, vorbis); use .mkv'
refused dts.mkv avi 'avi cannot hold stream 1 (audio, dts); use .mkv'
# Matroska does not tell how long a packet of ALAC is.
ffmpeg -v error -i "$in/av.mp4" -f lavfi -i sine=r=48000:d=1 -map 0:v -map 1 -c:v copy -c:a alac "$in/alac.mkv"
"$mona" enhance -y "$in/alac.mkv" -o "$tmp/out.mov" --stages sr --preset ultrafast > "$tmp/log" 2>&1
sound_md5() {
    ffmpeg -v error -i "$1" -map 0:a -f md5 -
}
same "the last packet of ALAC is played" "$? $(sound_md5 "$tmp/out.mov")" "0 $(sound_md5 "$in/alac.mkv")"

# ---- what the user leaves out ----------------------------------------------------------------------
# The video of a file whose sound is two seconds longer, so that something would be missing at the end.
ffmpeg -v error -i "$in/av.mp4" -f lavfi -i sine=d=3.5 -map 0:v -map 1 -c:v copy -c:a aac "$tmp/long.mp4"
streams_of() {
    ffprobe -v error -show_entries stream=codec_type -of csv=p=0 "$1" | tr '\n' ' '
}
for pair in long.mp4:mp4 long.mp4:mkv long.mp4:y4m; do
    out=$tmp/silent.${pair#*:}
    "$mona" enhance -y "$tmp/${pair%:*}" -o "$out" --stages sr --audio none --frames 9 2> "$tmp/log" < /dev/null
    same "--audio none, $pair" "$? $(streams_of "$out") $(frames_md5 "$out" | wc -l) $(grep -c 'cut short\|cannot' "$tmp/log")" "0 video  9 0"
done
"$mona" enhance -y "$tmp/long.mp4" -o "$tmp/silent.mkv" --stages sr --audio none --on-error stop --quiet
same "nothing is missing" "$? $(streams_of "$tmp/silent.mkv") $(video_times "$tmp/silent.mkv" | wc -l)" "0 video  $(video_times "$tmp/long.mp4" | wc -l)"
"$mona" enhance -y "$in/subtitles.mkv" -o "$tmp/silent.mkv" --stages sr --audio none --resume --segment 7 --quiet
same "subtitles and chapters stay, also with --resume" "$? $(streams_of "$tmp/silent.mkv")" "0 video subtitle "
same "the plan says it" "$("$mona" enhance "$tmp/long.mp4" -o "$tmp/silent.ts" --audio none --dry-run | grep -c 'audio .*left out')" 1
fails "an unknown codec" "--audio: expected copy, auto, none or one of" "$mona" enhance "$tmp/long.mp4" -o "$tmp/no.mkv" --audio divx

# ---- what is converted ----------------------------------------------------------------------------
# Sound that begins at 0.5 s of 1.28, so that it shows where it is.
ffmpeg -v error -i "$in/av.mp4" -f lavfi -i "sine=600:d=1.28:r=44100,volume=enable='lt(t,0.5)':volume=0" -map 0:v -map 1 -c:v copy \
    -c:a pcm_u8 "$tmp/pcm.avi" -map 0:v -map 1 -c:v copy -c:a pcm_f32le "$tmp/float.mkv" -map 0:v -map 1 -c:v copy -c:a pcm_s24le -ac 6 "$tmp/six.mkv"
samples() {
    ffmpeg -v error -i "$1" -map 0:a -c:a pcm_s24le -f md5 -
}
# Whether the sound of $1 begins at $2 ms, within 25.
begins() {
    ffmpeg -copyts -i "$1" -map 0:a -af silencedetect=n=-40dB:d=0.02 -f null - 2>&1 | sed -n 's/.*silence_end: \([0-9.]*\).*/\1/p' | head -n 1 |
        awk -v wanted="$2" '{ d = $1 * 1000 - wanted; print (d * d <= 625 ? "in time" : $1) }'
}
codec_of() {
    ffprobe -v error -select_streams a -show_entries stream=codec_name -of csv=p=0 "$1" | head -n 1
}
sound() { # $1: input, $2: output, rest: options
    from=$1 to=$2
    shift 2
    rm -f "$tmp/$to"
    "$mona" enhance "$tmp/$from" -o "$tmp/$to" --stages sr "$@" 2> "$tmp/log" < /dev/null
}
# FFmpeg 7 holds samples of 16 bits and more in MP4 as they are.
held=$(! ffmpeg -v error -i "$tmp/six.mkv" -map 0:a -c copy "$tmp/held.mp4" 2> "$tmp/log" || echo held)
for from in pcm.avi $(! full || [ "$held" ] || echo six.mkv); do
    sound $from sound.mp4 --preset ultrafast
    same "$from to .mp4: sound becomes FLAC, and that is told" "$? $(codec_of "$tmp/sound.mp4") $(grep -c 'the sound of stream 1 becomes flac, without loss' "$tmp/log")" "0 flac 1"
    same "$from to .mp4: every sample stays" "$(samples "$tmp/sound.mp4")" "$(samples "$tmp/$from")"
done
ffmpeg -v error -i "$tmp/six.mkv" -c:v copy -ac 2 -c:a libopus "$tmp/opus.mkv" -c:v copy -c:a flac "$tmp/flac.mkv"
sound flac.mkv sound.mov --preset ultrafast
same "FLAC, which .mov does not hold, becomes ALAC" "$? $(codec_of "$tmp/sound.mov") $(samples "$tmp/sound.mov")" "0 alac $(samples "$tmp/flac.mkv")"
# A channel's samples are those of the file, whatever its speakers: $1 a layout, $2 what its speakers are called, $3 options.
speakers() {
    ffmpeg -y -v error -i "$tmp/pcm.avi" -af "pan=$1|$(echo "$2" | tr ' ' '\n' | awk '{ printf "%sc%d=%.1f*c0", NR > 1 ? "|" : "", NR - 1, NR / 10 }')" -c:v copy -c:a pcm_s16le "$tmp/speakers.mov"
    rm -f "$tmp/speakers.mp4"
    "$mona" enhance "$tmp/speakers.mov" -o "$tmp/speakers.mp4" --stages sr --preset ultrafast $3 2> "$tmp/log" < /dev/null || echo refused
}
# $1: a file, $2: the layout that it names, $3: names of speakers.
heard() {
    for speaker in $3; do
        ffmpeg -v error -i "$1" -map 0:a -af "aformat=channel_layouts=$2,pan=mono|c0=$speaker" -f md5 -
    done
}
for layout in "3.0:FL FR FC:3.0" "2.1:FL FR LFE:5.1" "4.0:FL FR FC BC:6.1" "7.1(wide):FL FR FC LFE BL BR FLC FRC:7.1(wide)" "6.1(back):FL FR FC LFE BL BR BC:6.1(back)"; do
    from=${layout%%:*} rest=${layout#*:}
    same "sound of $from to .mp4: each speaker's stays" "$(speakers "$from" "${rest%%:*}" "")$(heard "$tmp/speakers.mp4" "${rest#*:}" "${rest%%:*}")" "$(heard "$tmp/speakers.mov" "$from" "${rest%%:*}")"
done
for layout in 3.0:1 stereo:0; do
    speakers ${layout%:*} "$([ $layout = stereo:0 ] || echo FC) FL FR" ""
    "$mona" enhance -y "$tmp/speakers.mov" -o "$tmp/speakers.mkv" --stages sr --preset ultrafast 2> "$tmp/log" < /dev/null
    same "$layout of PCM, whose speakers .mkv does not name" "$? $(grep -c 'does not name the speakers of stream 1 (pcm_s16le, 3.0)' "$tmp/log")" "0 ${layout#*:}"
done
same "more speakers than lossless codecs have are not mixed" "$(speakers octagonal "FL FR FC BL BR BC SL SR" "")" refused
speakers octagonal "FL FR FC BL BR BC SL SR" "--audio auto"
same "but with --audio auto, and that is told" "$(grep -c 'the sound of stream 1 becomes aac in 7.1' "$tmp/log")" 1
for way in pcm.avi:webm:opus opus.mkv:mov:aac $(! full || echo float.mkv:mp4:aac pcm.avi:ts:aac); do
    from=${way%%:*} rest=${way#*:}
    fails "$from to .${rest%:*} would lose something" "or --audio auto to encode it, or --drop-unsupported" "$mona" enhance "$tmp/$from" -o "$tmp/no.${rest%:*}" --quiet
    sound "$from" "sound.${rest%:*}" --audio auto
    same "$from to .${rest%:*} with --audio auto" "$? $(codec_of "$tmp/sound.${rest%:*}") $(begins "$tmp/sound.${rest%:*}" 510)" "0 ${rest#*:} in time"
done
for codec in aac $(! full || echo opus mp3 ac3 flac alac); do
    sound six.mkv sound.mkv --audio "$codec" --preset ultrafast -ss 0.2
    same "--audio $codec" "$? $(codec_of "$tmp/sound.mkv") $(begins "$tmp/sound.mkv" 310)" "0 $codec in time"
done
sound six.mkv sound.mkv --audio aac --preset ultrafast
same "which moves no frame" "$? $(video_times "$tmp/sound.mkv")" "0 $(video_times "$tmp/six.mkv")"
sound pcm.avi parts.mkv --audio aac --preset ultrafast --resume --segment 7
same "with --resume, too" "$? $(codec_of "$tmp/parts.mkv") $(begins "$tmp/parts.mkv" 510)" "0 aac in time"
for out in flv nut $(! full || echo ts); do
    sound float.mkv "sound.$out" --audio aac -c h264
    same "no time before 0 in .$out, beside frames that wait for later ones" "$? $(ffprobe -v error -show_entries packet=dts_time -of csv=p=0 "$tmp/sound.$out" |
        awk '$1 + 0 < 0 || $1 + 0 > 60 { n++ } END { print n + 0 }') $(begins "$tmp/sound.$out" 580)" "0 0 in time"
done
fails "a codec that the container cannot hold" "webm cannot hold aac, as --audio says" "$mona" enhance "$tmp/pcm.avi" -o "$tmp/no.webm" --audio aac
same "the plan says it" "$("$mona" enhance "$tmp/pcm.avi" -o "$tmp/no.mp4" --dry-run | grep -c 'audio .*converted')" 1
# Subtitles as SRT: times, text and the styles that all formats have.
cues() {
    ffmpeg -nostdin -v error -i "$1" -map 0:s:0 -f srt - | tr -d '\r'
}
cat > "$tmp/styled.srt" << 'END'
1
00:00:00,100 --> 00:00:00,500
<b>Hello</b> <i>there</i>

2
00:00:00,600 --> 00:00:00,937
{\an8}World
of two lines
END
sed 's/{.an8}//' "$tmp/styled.srt" > "$tmp/plain.srt"
printf '1\n00:00:00,100 --> 00:00:00,700\nA\n\n2\n00:00:00,500 --> 00:00:00,900\nB\n' > "$tmp/overlap.srt"
for kind in plain styled overlap; do
    make -i "$in/av.mp4" -i "$tmp/$kind.srt" -map 0:v -map 1 -c:v copy -c:s subrip -metadata:s:s:0 language=fra "$in/$kind.mkv"
done
make -i "$in/plain.mkv" -map 0 -c copy -c:s mov_text "$in/plain.mp4" -map 0 -c copy -c:s webvtt "$in/vtt.mkv" \
    -map 0 -c copy -c:s ass "$in/ass.mkv"
# $1: input, $2: suffix, $3: codec of the result, $4: pattern of the second line that is printed; may be empty
converted() {
    rm -f "$tmp"/out.*
    "$mona" enhance "$in/$1" -o "$tmp/out.$2" --stages sr 2> "$tmp/log" < /dev/null
    same "$1 to .$2: the subtitles become $3, which is told" \
        "$? $(grep -c "the subtitles of stream 1 become $3" "$tmp/log") $(grep -c "${4:-subtitles of stream 1 overlap\|no place for}" "$tmp/log") \
$(ffprobe -v error -select_streams s -show_entries stream=codec_name:stream_tags=language -of csv=p=0 "$tmp/out.$2")" \
        "0 1 $([ -z "${4:-}" ] && echo 0 || echo 1) \
$3,fra"
}
kept() {
    same "$1: cues and their times are the same" "$(cues "$tmp/out.$2")" "$(cues "$in/$1")"
}
converted plain.mkv mp4 mov_text && kept plain.mkv mp4
converted plain.mp4 mkv subrip && kept plain.mp4 mkv
converted plain.mkv webm webvtt && kept plain.mkv webm
converted ass.mkv mp4 mov_text 'styles and positions are left out' && kept ass.mkv mp4
converted vtt.mkv mov mov_text && kept vtt.mkv mov
converted styled.mkv mp4 mov_text 'mov_text has no place for all styles and positions of stream 1'
converted overlap.mkv mp4 mov_text 'subtitles of stream 1 overlap'
same "a dry run tells that too" "$("$mona" enhance "$in/plain.mkv" -o "$tmp/dry.mp4" --stages sr --dry-run 2> /dev/null < /dev/null |
    grep -c 'subtitle.*subrip.*converted')" 1

# libav lists the header of AAC as a packet at 0, before the sound begins.
make -i "$in/av.mp4" -c:v flv -c:a aac "$in/sound.flv"
"$mona" enhance "$in/sound.flv" -o "$tmp/out.mkv" --stages denoise 2> "$tmp/log" < /dev/null
same "sound of FLV needs no delay" "$? $(grep -c 'later, in sync' "$tmp/log") $(ffprobe -v error -show_entries format=start_time -of csv=p=0 "$tmp/out.mkv")" "0 0 0.000000"

make -i "$in/av.mp4" -c:v mpeg2video -r 25 -c:a mp2 -f dvd "$in/disc.vob"
rm -f "$tmp"/out.*
"$mona" enhance "$in/disc.vob" -o "$tmp/out.mkv" --stages sr 2> "$tmp/log" < /dev/null
same "navigation data of a DVD is left out and told" \
    "$? $(grep -c 'cannot hold stream [0-9] (data, dvd_nav_packet); it is left out' "$tmp/log")" "0 1"
"$mona" enhance "$in/av.mp4" -o - --stages sr 2> "$tmp/log" < /dev/null > "$tmp/pipe.y4m"
same "y4m on standard output goes without sound and says so" \
    "$? $(grep -c 'standard output: yuv4mpegpipe cannot hold stream 1 (audio, aac); it is left out' "$tmp/log") $(frames_md5 "$tmp/pipe.y4m" | wc -l)" "0 1 32"

! full || refused chapters.mp4 ts 'mpegts cannot hold the chapters; use .mkv, which holds everything'
rm -f "$tmp"/out.*
"$mona" enhance "$in/sound_late.mp4" -o "$tmp/out.avi" --stages sr --quiet 2> "$tmp/log" < /dev/null
same "sound that begins later in AVI, where it would begin at once, is refused" \
    "$? $(grep -c 'avi cannot store that stream 1 begins 0.6.. s after the others; use .mkv' "$tmp/log") $(find "$tmp" -maxdepth 1 -name 'out.*')" "1 1 "
"$mona" enhance "$in/sound_late.mp4" -o "$tmp/out.avi" --stages sr --drop-unsupported 2> "$tmp/log" < /dev/null
same "or goes on, and says so" "$? $(grep -c 'avi cannot store that stream 1 begins' "$tmp/log")" "0 1"

# ---- what is lost beside the streams is told ------------------------------------------------------
make -i "$in/av.mp4" -i "$in/av.mp4" -map 0 -map 1:a -c copy -metadata title=T -metadata custom=C -metadata:s:a:0 language=fra \
    -metadata:s:a:1 title=Commentary -disposition:a:1 comment "$in/marked.mkv"
# $1: suffix, $2: what must be reported, one pattern per line
told() {
    rm -f "$tmp"/out.*
    "$mona" enhance "$in/marked.mkv" -o "$tmp/out.$1" --stages sr --preset ultrafast --drop-unsupported 2> "$tmp/log" < /dev/null
    same "marked.mkv to .$1: succeeds" $? 0
    echo "$2" | while read -r line; do
        grep -qi "$line" "$tmp/log" || echo "not told: $line"
    done > "$tmp/missing"
    same "marked.mkv to .$1: what is lost is told, and nothing else" "$(cat "$tmp/missing") $(grep -c 'cannot hold\|cannot store' "$tmp/log")" " $(echo "$2" | grep -c .)"
}
! full || told mkv ""
! full || told mp4 "mp4 cannot hold the tag 'title' of stream 2; .mkv would"
! full || told ts "mpegts cannot hold the tag 'title' and 1 more; .mkv would
mpegts cannot hold the tag 'title' of stream 2; .mkv would
mpegts cannot store that stream 2 is marked as 'comment'; .mkv would"
told avi "avi cannot hold the tag 'custom'; .mkv would
avi cannot hold the tag 'language' of stream 1; .mkv would
avi cannot store that stream 2 is marked as 'comment'; .mkv would"
make -i "$in/av.mp4" -c copy -timecode 01:00:00:00 "$in/timed.mov"
for way in ts:1 mov:0 avi:1 $(! full || echo flv:1 3gp:1 m4v:1 mp4:0 mkv:0); do
    "$mona" enhance -y "$in/timed.mov" -o "$tmp/timed.${way%:*}" --stages sr --preset ultrafast 2> "$tmp/log" < /dev/null
    same "a timecode is kept in .${way%:*}, or told" "$? $(grep -c "cannot hold the tag 'timecode' of stream 0" "$tmp/log") $(
        ffprobe -v error -select_streams v:0 -show_entries stream_tags=timecode -of csv=p=0 "$tmp/timed.${way%:*}" | grep -c 01:00:00:00)" \
        "0 ${way#*:} $((1 - ${way#*:}))"
done
make -i "$in/av.mp4" -an -vf setsar=297/224 -c:v libx264 "$in/aspect.mp4" \
    -an -vf "select='not(mod(n\,5))+eq(mod(n\,7)\,3)'" -fps_mode vfr -c:v libx264 "$in/vfr.mp4"
ways="vp9:webm:1"
! full || ways="$ways vp9:mkv:0 h264:mkv:0 vp9:mp4:0"
for way in $ways; do
    out=${way#*:}
    "$mona" enhance -y "$in/aspect.mp4" -o "$tmp/aspect.${out%:*}" -c "${way%%:*}" --stages sr 2> "$tmp/log" < /dev/null
    same "a pixel aspect that is rounded is told, ${way%:*}" "$? $(grep -c 'stores sizes in whole pixels: the aspect ratio 61:46 becomes 255 / 192' "$tmp/log")" "0 ${way##*:}"
done
"$mona" enhance "$in/vfr.mp4" -o - --stages sr 2> "$tmp/log" < /dev/null > "$tmp/vfr.y4m"
same "times that y4m does not hold are told" "$? $(grep -c 'stores no timestamps: [0-9]* of [0-9]* frames' "$tmp/log")" "0 1"
"$mona" enhance "$in/av.mp4" -o "$tmp/even.y4m" --stages sr --drop-unsupported 2> "$tmp/log" < /dev/null
same "even times are not, nor sound that is left out anyway" "$? $(grep -c 'stores no timestamps\|sound begins' "$tmp/log")" "0 0"

"$mona" enhance "$in/two_videos.mp4" -o "$tmp/two.mp4" --stages sr 2> "$tmp/log" < /dev/null
same "of several videos the first is enhanced, and what happens to the other is said" \
    "$(grep -c 'stream 2 is also a video; it is copied unchanged' "$tmp/log") $(ffprobe -v error -select_streams v \
        -show_entries stream=width -of csv=p=0 "$tmp/two.mp4" | tr '\n' ' ')" "1 192 96 "

# ---- a stream that has nothing in the part that is asked for ----------------------------------------
ffmpeg -v error -i "$in/av.mp4" -t 0.3 -i "$in/av.mp4" -map 1:a -map 0:v -c copy "$tmp/early.mkv"
for way in mp4:1 mov:1 mkv:0; do
    "$mona" enhance -y "$tmp/early.mkv" -o "$tmp/part.${way%:*}" --stages sr -ss 0.8 2> "$tmp/log" < /dev/null
    same "sound that ends before the part does not spoil it, and is told where it is left out, .${way%:*}" \
        "$? $(video_times "$tmp/part.${way%:*}" | wc -l) $(grep -c 'stream 0 (audio, aac) has nothing here and is left out' "$tmp/log")" \
        "0 $(video_times "$tmp/early.mkv" | awk '$1 >= 0.8' | wc -l) ${way#*:}"
done
ffmpeg -v error -i "$in/av.mp4" -map 0:v -map 0:a -t 0.3 -c:v copy -c:a pcm_s16le "$tmp/early_pcm.mkv" -map 0:v -c copy "$tmp/early_video.mkv"
ffmpeg -v error -y -i "$tmp/early_video.mkv" -i "$tmp/early_pcm.mkv" -map 0:v -map 1:a -c copy "$tmp/early_both.mkv"
"$mona" enhance -y "$tmp/early_both.mkv" -o "$tmp/part.mp4" --stages sr -ss 0.8 2> "$tmp/log" < /dev/null
same "nor does such sound that becomes FLAC, .mp4" "$? $(grep -c 'stream 1 (audio, flac) has nothing here and is left out' "$tmp/log")" "0 1"

# ---- subtitles of DVDs -----------------------------------------------------------------------------
make -i "$tmp/scene.y4m" -frames:v 20 -vf scale=352:288 -c:v mpeg2video -f dvd "$tmp/film.vob"
python3 tests/e2e/media/add_dvd_subtitle.py "$tmp/film.vob" "$in/dvd.vob"
palette=$(seq -s , 16 | sed 's/[0-9][0-9]*/ffffff/g')
# The same with a canvas and a palette, and without an end, which is a duration of 32 bits that are set.
make -palette "$palette" -i "$in/dvd.vob" -map 0:v -map 0:s -c:v libx264 -c:s dvdsub -s:s 352x288 "$tmp/ends.mkv"
make -i "$tmp/ends.mkv" -map 0 -c copy -bsf:s setts=duration=4294967295 "$in/endless.mkv"
# Where a player shows the first subtitle of $1 on a film of size $2: left, right, top, bottom.
place() {
    ffmpeg -v error -i "$1" -filter_complex "color=black:s=$2[b];[0:s:0]scale=$2:flags=neighbor[s];[b][s]overlay,format=gray" -frames:v 8 \
        -f rawvideo - | python3 -c '
import sys
width, height = map(int, sys.argv[1].split("x"))
film = sys.stdin.buffer.read()
lit = [i % (width * height) for i, value in enumerate(film) if value > 40]
print(*(f(v) for v in ([i % width for i in lit], [i // width for i in lit]) for f in (min, max)) if lit else ["nowhere"])' "$2"
}
same "the test film shows its subtitle" "$(place "$in/dvd.vob" 352x288)" "100 163 250 265"
for way in dvd.vob:mkv endless.mkv:mp4 $(! full || echo dvd.vob:mp4 endless.mkv:mkv); do
    rm -f "$tmp"/out.*
    "$mona" enhance "$in/${way%:*}" -o "$tmp/out.${way#*:}" --stages sr --preset ultrafast --quiet 2> "$tmp/log" < /dev/null
    same "${way%:*} to .${way#*:}: an enlarged film has its subtitle in the same place" \
        "$? $(place "$tmp/out.${way#*:}" 704x576) $(ffprobe -v error -show_entries format=duration -of csv=p=0 "$tmp/out.${way#*:}" |
            awk '{ print ($1 < 3 ? "short" : $1) }') $(cat "$tmp/log")" "0 200 327 500 531 short "
done

# ---- where the clock starts ------------------------------------------------------------------------
# tests/judges/media_video.sh looks at every container.
make -i "$in/av.mp4" -c copy -muxdelay 0 -muxpreload 0 -output_ts_offset 40000 "$in/clock.ts"
for way in mp4: mkv: $(! full || echo ts: nut:); do
    "$mona" enhance -y "$in/clock.ts" -o "$tmp/out.${way%:}" --stages sr --preset ultrafast --keep-start 2> "$tmp/log"
    same "--keep-start keeps the times, clock.ts to .${way%:}" "$? $(python3 tests/e2e/media/survival.py "$in/clock.ts" "$tmp/out.${way%:}" keep | sed -n 's/^# //p')" "0 "
done
for way in y4m:1 gif:1 $(! full || echo h264:1 yuv:1 mkv:0); do
    "$mona" enhance -y "$in/clock.ts" -o "$tmp/out.${way%:*}" --stages sr --frames 4 --keep-start --drop-unsupported 2> "$tmp/log"
    same "--keep-start where the output has no start is told, ${way%:*}" "$? $(grep -c 'in spite of --keep-start' "$tmp/log")" "0 ${way#*:}"
done
"$mona" enhance -y "$in/clock.ts" -o "$tmp/out.mkv" --stages sr -ss 0.4 -t 0.4 --quiet
"$mona" enhance -y "$in/clock.ts" -o "$tmp/kept.mkv" --stages sr -ss 0.4 -t 0.4 --keep-start --quiet
same "and those of a part, which begins with the first group of pictures" "$(video_times "$tmp/kept.mkv" | awk '{ printf "%.2f ", $1 }')" \
    "$(video_times "$tmp/out.mkv" | awk -v start="$(ffprobe -v error -show_entries format=start_time -of csv=p=0 "$in/clock.ts")" \
        '{ printf "%.2f ", $1 + start + 0.4 }')"

# ---- programmes of a broadcast ---------------------------------------------------------------------
make -i "$in/av.mp4" -i "$in/av.mp4" -map 0 -map 1 -c copy -program program_num=7:title=One:st=0:st=1 -program program_num=9:title=Two:st=2:st=3 "$in/two.ts"
programmes() {
    ffprobe -v error -show_entries program=program_id:program_tags=service_name:stream=index,codec_type -of csv=p=0 "$1" |
        grep -B 9 -A 1 Two | tr '\n' ' '
}
"$mona" enhance -y "$in/two.ts" -o "$tmp/out.ts" --stages sr --preset ultrafast 2> "$tmp/log"
same "a transport stream keeps its programmes and their names" "$? $(programmes "$tmp/out.ts") $(grep -c 'become one' "$tmp/log")" "0 $(programmes "$in/two.ts") 0"
"$mona" enhance -y "$in/two.ts" -o "$tmp/out.ts" --live --stages sr --preset ultrafast --quiet < /dev/null
same "and so does a live one" "$? $(programmes "$tmp/out.ts")" "0 $(programmes "$in/two.ts")"
"$mona" enhance -y "$in/two.ts" -o "$tmp/out.ts" --stages sr --preset ultrafast --audio none --quiet
same "and a stream that is left out leaves its programme" "$? $(programmes "$tmp/out.ts" | grep -c audio) $(programmes "$tmp/out.ts" | grep -o 'One\|Two' | tr '\n' ' ')" "0 0 One Two "
"$mona" enhance -y "$in/two.ts" -o "$tmp/out.mkv" --stages sr --preset ultrafast 2> "$tmp/log"
same "and where they become one, that is said" "$? $(grep -c "the input's 2 programmes become one" "$tmp/log")" "0 1"

# ---- MP3 of any bit rate in .avi --------------------------------------------------------------------
# The header tells how many packets there are, and of what size if it is always the same: none that old players could trust.
sound_header() {
    python3 -c 'import struct, sys
data = open(sys.argv[1], "rb").read()
at = data.index(b"strh", data.index(b"strh") + 4) + 8
print(data[at:at + 4].decode(), *(struct.unpack("<I", data[at + i:at + i + 4])[0] for i in (32, 44)))' "$1"
}
make -i "$in/av.mp4" -f lavfi -i "anoisesrc=d=1.28:a=0.4,afade=in:d=1" -map 0:v -map 1:a -c:v mpeg4 -c:a libmp3lame -q:a 4 "$tmp/vbr.avi"
"$mona" enhance -y "$tmp/vbr.avi" -o "$tmp/out.avi" --stages sr --preset ultrafast --quiet
same "MP3 of a variable bit rate: its header in .avi" "$? $(sound_header "$tmp/out.avi")" "0 $(sound_header "$tmp/vbr.avi")"

# ---- AAC that changes, as in broadcasts -------------------------------------------------------------
make -i "$in/av.mp4" -map 0 -c:v copy -c:a aac -ac 2 -ar 48000 "$tmp/first.ts"
make -i "$in/av.mp4" -map 0 -c:v copy -c:a aac -ac 1 -ar 44100 -output_ts_offset 1.28 "$tmp/second.ts"
cat "$tmp/first.ts" "$tmp/second.ts" > "$tmp/changes.ts"
for way in changes.ts:mkv:1 changes.ts:mp4:1 changes.ts:ts:0 first.ts:mkv:0; do
    to=${way#*:}
    "$mona" enhance -y "$tmp/${way%%:*}" -o "$tmp/out.${to%:*}" --stages sr --preset ultrafast 2> "$tmp/log"
    same "AAC whose rate changes, ${way%:*}" "$? $(grep -c 'from 1.[0-9]* s on, the sound of stream 1 has another rate' "$tmp/log")" "0 ${way##*:}"
done
"$mona" enhance -y "$tmp/changes.ts" -o "$tmp/out.mkv" --stages sr --preset ultrafast --audio flac 2> "$tmp/log"
same "or becomes FLAC of the first" "$? $(grep -c 'another rate' "$tmp/log")" "0 0"
