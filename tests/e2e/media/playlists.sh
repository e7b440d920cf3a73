#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files that name other files: a playlist, a manifest or a list is what its content says, whatever it is called. It is not
# read unless asked for, and then only what lies below its folder. None takes all memory.
. tests/tap.inc
# What a list that names itself may take. The address sanitiser reserves terabytes and has a limit of its own.
[ -n "$SANITIZE" ] || ulimit -v 6000000 2> /dev/null
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}hard_rss_limit_mb=4000"

up=$tmp/up
mkdir -p "$up/below" "$tmp/private"
film 6 "$tmp/a.y4m" 64x48
ffmpeg -v error -i "$tmp/a.y4m" -c:v mpeg2video "$tmp/private/a.ts"
cp "$tmp/private/a.ts" "$up/below/a.ts"
cp "$tmp/private/a.ts" "$up/a.ts"

hls() { # FILE SEGMENT
    printf '#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n%s\n#EXT-X-ENDLIST\n' "$2" > "$1"
}
variants() { # FILE PLAYLIST...
    printf '#EXTM3U\n' > "$1"
    for list in $2; do printf '#EXT-X-STREAM-INF:BANDWIDTH=1\n%s\n' "$list" >> "$1"; done
}
hls "$up/hls" ../private/a.ts
printf 'ffconcat version 1.0\nfile a.ts\n' > "$up/concat"
printf 'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n' > "$up/sdp"
printf '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011" type="static" mediaPresentationDuration="PT1S"><Period><AdaptationSet mimeType="video/mp2t"><Representation id="1" bandwidth="1"><BaseURL>a.ts</BaseURL></Representation></AdaptationSet></Period></MPD>\n' > "$up/dash"

# ---- by content, however it is called and given ------------------------------------------------------
for kind in hls concat sdp dash; do
    for as in holiday.mp4 holiday.ts holiday.jpg holiday.m3u8 'holiday%d.mp4' 'holiday*.mp4'; do
        cp "$up/$kind" "$up/$as"
        fails "$kind as $as" "$as" "$mona" enhance -y --quiet "$up/$as" -o "$tmp/x.mkv"
        rm "$up/$as"
    done
    cp "$up/$kind" "$up/f.mp4"
    fails "$kind, live" "names other files" "$mona" enhance -y --quiet --live "$up/f.mp4" -o "$tmp/x.mkv"
    fails "$kind, from standard input" "standard input" "$mona" enhance -y --quiet - -o "$tmp/x.mkv" < "$up/f.mp4"
    cat "$up/f.mp4" | fails "$kind, from a pipe" "standard input" "$mona" enhance -y --quiet - -o "$tmp/x.mkv"
    fails "$kind, compared" "names other files" "$mona" compare "$up/f.mp4" "$up/a.ts"
    fails "$kind, planned" "names other files" "$mona" enhance --dry-run "$up/f.mp4" -o "$tmp/x.mkv"
    "$mona" enhance -y --quiet "$up/f.mp4" --out-dir "$tmp/batch" 2> "$tmp/log"
    same "$kind, in a batch" "$? $(grep -c "names other files" "$tmp/log")" "1 1"
done

ffmpeg -v error -i "$tmp/a.y4m" -frames:v 1 "$up/q.png" -vf negate -frames:v 1 "$up/p1.png"
"$mona" enhance -y --quiet "$up/q.png" -o "$tmp/q.png"
compared() { "$mona" compare "$1" "$2" 2> /dev/null | grep -c '^all  *inf'; }
for as in 'p*.png' 'p%d.png' 'p%03d.png' 'p%d.mp4' 'p*.ts' 'p%d.m3u8'; do
    cp "$up/q.png" "$up/$as"
    rm -rf "$tmp/batch" && mkdir "$tmp/batch"
    "$mona" enhance -y --quiet "$up/$as" -o "$tmp/batch/named.png"
    "$mona" enhance -y --quiet - -o "$tmp/batch/standard.png" < "$up/$as"
    cat "$up/$as" | "$mona" enhance -y --quiet - -o "$tmp/batch/pipe.png"
    "$mona" enhance -y --quiet --allow playlist "$up/$as" -o "$tmp/batch/allowed.png"
    "$mona" enhance -y --quiet "$up/$as" --out-dir "$tmp/batch/all"
    same "a picture named $as is itself, in five ways" \
        "$(for made in "$tmp"/batch/*.png "$tmp"/batch/all/p*; do cmp -s "$tmp/q.png" "$made" && echo same; done | wc -l)" 5
    same "compared, and planned" "$(compared "$up/$as" "$up/q.png") $("$mona" enhance --dry-run "$up/$as" -o "$tmp/x.png" 2> "$tmp/log" | grep -c '64x48 rgb24')" "1 1"
    fails "live, $as" "works only on videos" "$mona" enhance -y --live "$up/$as" -o "$tmp/x.png"
    rm "$up/$as"
done
same "the other is another" "$(compared "$up/p1.png" "$up/q.png")" 0

# One track of several that name each other.
ffmpeg -v error -f lavfi -i testsrc2=s=256x120:r=25 -frames:v 2 -c:v dnxhd -profile:v dnxhr_lb -pix_fmt yuv422p -f mxf_opatom "$up/track"
counted() { # NAME COMMAND...
    name=$1
    shift
    rm -f "$tmp/out.mkv"
    "$@" -o "$tmp/out.mkv"
    same "$name is read as itself" "$? $(ffprobe -v error -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "$tmp/out.mkv")" "0 2"
}
for as in holiday.mp4 holiday.ts holiday.jpg holiday.m3u8 'holiday%d.mp4' 'holiday*.mp4'; do
    cp "$up/track" "$up/$as"
    counted "a track of MXF as $as" "$mona" enhance -y --quiet --stages sr "$up/$as"
    rm "$up/$as"
done
counted "a track of MXF, live" "$mona" enhance -y --quiet --stages sr --live "$up/track"
counted "a track of MXF, from standard input" "$mona" enhance -y --quiet --stages sr - < "$up/track"
cat "$up/track" | counted "a track of MXF, from a pipe" "$mona" enhance -y --quiet --stages sr -
rm -rf "$tmp/batch"
"$mona" enhance -y --quiet --stages sr "$up/track" --out-dir "$tmp/batch"
same "a track of MXF in a batch, compared, and planned" "$? $(find "$tmp/batch" -name 'track*' | wc -l) $(compared "$up/track" "$up/track") \
$("$mona" enhance --dry-run "$up/track" -o "$tmp/x.mkv" 2> "$tmp/log" | grep -c 'track: 256x120')" "0 1 1 1"

# ---- asked for ------------------------------------------------------------------------------------
asked() { "$mona" enhance -y --quiet --stages sr --allow playlist "$@" -o "$tmp/out.mkv"; }
frames() { ffprobe -v error -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "$tmp/out.mkv"; }
hls "$up/good.m3u8" below/a.ts
asked "$up/good.m3u8"
same "a playlist that was asked for" "$? $(frames)" "0 6"
(cd "$up" && "$OLDPWD/$mona" enhance -y --quiet --stages sr --allow playlist good.m3u8 -o "$tmp/out.mkv")
same "in the working folder" "$? $(frames)" "0 6"
cp "$up/good.m3u8" "$up/good.mp4"
asked "$up/good.mp4"
same "under the name of a film" "$? $(frames)" "0 6"
rm "$up/good.mp4"
variants "$up/master.m3u8" good.m3u8
asked "$up/master.m3u8"
same "a list of playlists" "$? $(frames)" "0 6"
ln -s ../private/a.ts "$up/link.ts"
for segment in ../private/a.ts "$tmp/private/a.ts" "file://$tmp/private/a.ts" "file:$tmp/private/a.ts" link.ts below/../../private/a.ts \
    "concat:$tmp/private/a.ts" "data:,a" "subfile,,start,0,end,0,,:$tmp/private/a.ts" "http://127.0.0.1:9/a.ts"; do
    hls "$up/bad.m3u8" "$segment"
    fails "a playlist of $segment" "bad.m3u8" asked "$up/bad.m3u8"
    variants "$up/bad.m3u8" "$segment"
    fails "a list of playlists with $segment" "bad.m3u8" asked "$up/bad.m3u8"
done
# Of several files, one that may not be read, or is not there, is left out, and that is said.
for segment in ../private/a.ts none.ts; do
    printf '#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXTINF:4,\n%s\n#EXT-X-ENDLIST\n' "$segment" > "$up/some.m3u8"
    "$mona" enhance -y --stages sr --allow playlist "$up/some.m3u8" -o "$tmp/out.mkv" 2> "$tmp/log"
    same "a playlist of two files, one of them $segment" "$? $(frames) $(grep -c 'some.m3u8: of the files that it names, 1 are missing, encrypted, empty or cut short, or not in' "$tmp/log")" "0 6 1"
    fails "with --on-error stop" "some.m3u8: of the files that it names, 1 are missing" asked "$up/some.m3u8" --on-error stop
done
# Nor do files that end before what is wanted of them, and those that need a key.
: > "$up/empty.ts"
bytes=$(wc -c < "$up/a.ts")
list() { # FILE TAG, of the second file
    printf '#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n%s\n#EXTINF:4,\n%s\n#EXT-X-ENDLIST\n' "$2" "$1" > "$up/some.m3u8"
}
for second in "empty.ts " "a.ts #EXT-X-BYTERANGE:$bytes@1" "a.ts #EXT-X-BYTERANGE:188@1000000" 'a.ts #EXT-X-KEY:METHOD=AES-128,URI="key"'; do
    list "${second%% *}" "${second#* }"
    "$mona" enhance -y --stages sr --allow playlist "$up/some.m3u8" -o "$tmp/out.mkv" 2> "$tmp/log"
    same "a playlist whose second file is $second" "$? $(grep -c 'some.m3u8: of the files that it names, 1 are missing, encrypted' "$tmp/log")" "0 1"
    fails "with --on-error stop" "some.m3u8: of the files that it names, 1 are missing" asked "$up/some.m3u8" --on-error stop
done
list a.ts "#EXT-X-BYTERANGE:$bytes@0"
asked "$up/some.m3u8" 2> "$tmp/log"
same "just its bytes" "$? $(grep -c 'of the files' "$tmp/log")" "0 0"
printf '#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128,URI="key"\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n' > "$up/locked.m3u8"
fails "a playlist of encrypted files" "locked.m3u8: expected a video or an image, found a playlist, whose files are encrypted" asked "$up/locked.m3u8"
for kind in concat sdp dash; do
    fails "$kind is not read even so" "names other files" asked "$up/$kind"
    hls "$up/bad.m3u8" "$kind"
    fails "nor as a part of a playlist: $kind" "bad.m3u8" asked "$up/bad.m3u8"
done

# ---- damage in the middle of a list, or of a transport stream ------------------------------------------
(cd "$up" && ffmpeg -v error -f lavfi -i testsrc2=s=64x48:r=25 -f lavfi -i sine -t 6 -c:v mpeg2video -g 25 -c:a aac -f hls -hls_time 2 \
    -hls_list_size 0 -hls_segment_filename 's%d.ts' whole.m3u8)
half=$(($(wc -c < "$up/s1.ts") / 376 * 188))
head -c "$(wc -c < "$up/s1.ts")" /dev/zero > "$up/zeros.ts"
seq 9999 | head -c "$(wc -c < "$up/s1.ts")" > "$up/junk.ts"
head -c $half "$up/s1.ts" > "$up/cut.ts"
{ head -c 3760 "$up/s1.ts"; seq 9999 | head -c $half; tail -c 9400 "$up/s1.ts"; } > "$up/inside.ts"
film() { # frames of the video alone
    ffprobe -v error -count_packets -select_streams v -show_entries stream=nb_read_packets -of csv=p=0 "$tmp/out.mkv"
}
damaged() { # NAME FILE WORDS: what must be said, also by a failure if damage shall stop the run
    "$mona" enhance -y --stages sr --allow playlist "$2" -o "$tmp/out.mkv" 2> "$tmp/log"
    same "$1 is told" "$? $(grep -c "$3" "$tmp/log")" "0 1"
    fails "$1, --on-error stop" "${2##*/}: damaged" asked "$2" --on-error stop
}
for second in zeros junk cut inside; do
    sed "s/^s1/$second/" "$up/whole.m3u8" > "$up/some.m3u8"
    damaged "a playlist whose second file is $second" "$up/some.m3u8" 'some.m3u8: .*[12]\.[0-9]* s of film are missing'
done
cat "$up/s0.ts" "$up/s2.ts" > "$up/hole.ts"
damaged "a transport stream with a hole" "$up/hole.ts" 'hole.ts: damaged: 2.00 s of film are missing'
sed '/^s1/d; s/^s2/#EXT-X-DISCONTINUITY\n&/' "$up/whole.m3u8" > "$up/some.m3u8"
asked "$up/some.m3u8" --on-error stop
same "a jump of the clock that a playlist announces is no damage" "$? $(film)" "0 100"
cat "$up/s0.ts" "$up/s1.ts" "$up/s0.ts" "$up/s1.ts" > "$up/joined.ts"
asked "$up/joined.ts" --on-error stop
same "one that was joined is whole" "$? $(film)" "0 200"
sed '/ENDLIST/d' "$up/whole.m3u8" > "$up/again.m3u8" # as a recorder that was started again
sed -n '/^#EXTINF/,$p' "$up/whole.m3u8" >> "$up/again.m3u8"
asked "$up/again.m3u8" --on-error stop
same "a playlist whose clock starts again is as long as it says" "$? $(film)" "0 300"
sed "s/^s1/none/" "$up/whole.m3u8" > "$up/some.m3u8"
for way in "-t 5" "--live" "--live -t 5"; do
    # shellcheck disable=SC2086
    "$mona" enhance -y --stages sr --allow playlist $way "$up/some.m3u8" -o "$tmp/out.mkv" 2> "$tmp/log"
    same "a file that is missing, $way" "$? $(grep -c 'some.m3u8: of the files that it names, 1 are missing' "$tmp/log")" "0 1"
    # shellcheck disable=SC2086
    fails "with --on-error stop" "some.m3u8: of the files that it names, 1 are missing" asked $way "$up/some.m3u8" --on-error stop
done

# ---- without end ------------------------------------------------------------------------------------
variants "$up/self.m3u8" self.m3u8
fails "a playlist that names itself" "self.m3u8" "$mona" enhance -y --quiet "$up/self.m3u8" -o "$tmp/x.mkv"
fails "also when asked for" "self.m3u8" asked "$up/self.m3u8"
variants "$up/ping.m3u8" "pong.m3u8 pong.m3u8"
variants "$up/pong.m3u8" "ping.m3u8 ping.m3u8"
fails "two that name each other" "ping.m3u8" asked "$up/ping.m3u8"
# One that does not say where it ends: all of what it names is read, and nothing is waited for.
open_list() { # FILE SECONDS
    printf '#EXTM3U\n#EXT-X-TARGETDURATION:%s\n#EXTINF:%s,\na.ts\n#EXTINF:%s,\nbelow/a.ts\n' "$2" "$2" "$2" > "$1"
    printf '#EXTINF:%s,\na.ts\n#EXTINF:%s,\nbelow/a.ts\n#x #EXT-X-ENDLIST' "$2" "$2" >> "$1"
}
for seconds in 1 1000000; do
    open_list "$up/open.m3u8" $seconds
    timeout 20 "$mona" enhance -y --stages sr --allow playlist "$up/open.m3u8" -o "$tmp/out.mkv" 2> "$tmp/log"
    same "a playlist without an end, of $seconds s" "$? $(frames) $(grep -c 'open.m3u8: the playlist has no end' "$tmp/log")" "0 24 1"
done
variants "$up/master.m3u8" open.m3u8
timeout 20 "$mona" enhance -y --stages sr --allow playlist "$up/master.m3u8" -o "$tmp/out.mkv" 2> "$tmp/log"
same "in a list of playlists" "$? $(frames) $(grep -c 'the playlist has no end' "$tmp/log")" "0 24 1"
timeout 20 "$mona" enhance -y --quiet --stages sr --live --stall 1 --allow playlist "$up/open.m3u8" -o "$tmp/out.mkv"
same "live, one that does not grow ends, too" "$? $(frames)" "0 18" # of its last three files
variants "$up/master.m3u8" good.m3u8
# A server's, over one connection and over many.
sed '/^s1/d; s/^s2/#EXT-X-DISCONTINUITY\n&/' "$up/whole.m3u8" > "$up/breaks.m3u8"
sed 's/^s1/zeros/' "$up/whole.m3u8" > "$up/filled.m3u8"
for version in 1.0 1.1; do
    rm -f "$tmp/port"
    python3 - "$up" "$tmp/port" $version <<'END' &
import functools, http.server, os, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = 'HTTP/' + sys.argv[3]
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Handler, directory=sys.argv[1]))
open(sys.argv[2] + '.part', 'w').write(str(server.server_port))
os.rename(sys.argv[2] + '.part', sys.argv[2])
server.serve_forever()
END
    server=$!
    until [ -e "$tmp/port" ]; do sleep 0.1; done
    www=http://127.0.0.1:$(cat "$tmp/port")
    for way in "" "--live --reconnect 0"; do
        fails "a server's playlist that names itself, HTTP $version $way" "self.m3u8: expected" timeout 20 \
            "$mona" enhance -y --quiet $way "$www/self.m3u8" -o "$tmp/x.mkv"
        timeout 20 "$mona" enhance -y --quiet $way --stages sr "$www/master.m3u8" -o "$tmp/out.mkv"
        same "another is read, HTTP $version $way" "$? $(frames)" "0 6"
    done
    timeout 20 "$mona" enhance -y --quiet --stages sr --on-error stop "$www/breaks.m3u8" -o "$tmp/out.mkv"
    same "a jump of the clock that it announces, HTTP $version" "$? $(film)" "0 100"
    fails "a file of it that is damaged, HTTP $version" "filled.m3u8: damaged: 2.00 s of film are missing" timeout 20 \
        "$mona" enhance -y --quiet --stages sr --on-error stop "$www/filled.m3u8" -o "$tmp/x.mkv"
    kill $server
    wait $server 2> /dev/null || :
done
