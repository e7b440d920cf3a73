#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Live streams on the loopback: every frame is accounted for, broken connections come back, an interrupted run
# leaves a whole file, and names open nothing that they do not say.
. tests/tap.inc
port=$((20000 + $$ % 20000))
seconds=4
full && seconds=60
ffmpeg -v error -f lavfi -i testsrc2=s=160x90:r=25 -f lavfi -i sine -t 5 -c:v libx264 -preset ultrafast -tune zerolatency \
    -g 12 -pix_fmt yuv420p -c:a aac "$tmp/clip.mkv"

# A camera that sends the clip again and again for $1 seconds to $2.
camera() {
    timeout $(($1 + 5)) ffmpeg -v quiet -re -stream_loop -1 -i "$tmp/clip.mkv" -t "$1" -c copy "$2" "$3" "$4" < /dev/null &
}

# A live run: $1 a name for its files, rest: arguments of mona enhance. It has a second of silence to end.
live() {
    log=$tmp/$1
    shift
    timeout $((seconds + 40)) "$mona" enhance -y --live --preset ultrafast --stages sr --stats --progress json "$@" 2> "$log"
    echo $? > "$log.status"
}

# A figure of the end of a run: $1 its files, $2 the figure.
figure() {
    python3 - "$tmp/$1" "$2" << 'PYTHON'
import json, sys
end = [e for e in map(json.loads, (l for l in open(sys.argv[1]) if l.startswith('{'))) if e['event'] == 'end'][-1]
value = {**end, **end['stats'].get('latency', {})}[sys.argv[2]]
print(round(value))
PYTHON
}

# What of the frames that came in is neither out nor left out.
unaccounted() {
    echo $(($(figure "$1" arrived) - $(figure "$1" frames) - $(figure "$1" dropped)))
}

# ---- a transport stream by UDP, and the metrics ---------------------------------------------------
camera $seconds -f mpegts "udp://127.0.0.1:$port?pkt_size=1316"
live udp "udp://127.0.0.1:$port" -o "$tmp/udp.ts" --stall 1 --reconnect 0 --metrics "$tmp/udp.prom"
same "a stream that breaks off: said, and what came is complete" \
    "$(cat "$tmp/udp.status") $(grep -c "broke off: Connection timed out; what came before is in $tmp/udp.ts" "$tmp/udp")" "1 1"
same "frames in = out + left out" "$(unaccounted udp)" 0
same "those that went out are in the file" "$(video_times "$tmp/udp.ts" | wc -l)" "$(figure udp frames)"
at_least "p99 of the latency is told, ms" "$(figure udp p99_ms)" 1
same "metrics are complete" "$(tail -n 1 "$tmp/udp.prom")" "# EOF"
same "and count the same" "$(awk '$1 ~ /^mona_frames_out_total{/ { print $2 }' "$tmp/udp.prom")" "$(figure udp frames)"
same "with three quantiles" "$(grep -c '^mona_latency_seconds{camera="udp",quantile="0\.[0-9]*"} 0\.' "$tmp/udp.prom")" 3

# ---- a camera that stalls, goes and comes back ----------------------------------------------------
length=$((seconds + 12))
python3 tests/e2e/media/rtsp_server.py $((port + 1)) "$tmp/clip.mkv" stall=4:4 away=$((seconds + 8)):1 end=$length &
sleep 1
live rtsp "rtsp://127.0.0.1:$((port + 1))/1" -o "$tmp/rtsp.mp4" --stall 2 --reconnect 6
wait $!
same "a camera that ends: the film is whole" "$(cat "$tmp/rtsp.status")" 0
at_least "it was connected again" "$(figure rtsp reconnects)" 1
at_least "times are told" "$(grep -c 'connected again after' "$tmp/rtsp")" 1
same "frames in = out + left out, but for those cut off with a connection" "$(($(unaccounted rtsp) > 3))" 0
at_least "the film has the length of the time, gaps included" "$(ffprobe -v error -show_entries format=duration -of csv=p=0 "$tmp/rtsp.mp4")" $((length - 8))
nothing "its frames decode" "$(ffmpeg -v error -i "$tmp/rtsp.mp4" -f null - 2>&1)"

# ---- out by RTSP, to one who goes and comes back --------------------------------------------------
{
    timeout 6 ffmpeg -v quiet -y -rtsp_flags listen -i "rtsp://127.0.0.1:$((port + 2))/x" -c copy -f matroska /dev/null
    sleep 1
    timeout 20 ffmpeg -v quiet -y -rtsp_flags listen -i "rtsp://127.0.0.1:$((port + 2))/x" -c copy "$tmp/received.mkv"
} < /dev/null &
camera 15 -f mpegts "udp://127.0.0.1:$((port + 3))?pkt_size=1316"
live out "udp://127.0.0.1:$((port + 3))" -o "rtsp://127.0.0.1:$((port + 2))/x" --stall 1 --reconnect 5 --audio none
wait
at_least "a receiver that comes back is connected again" "$(figure out reconnects)" 1
at_least "and gets frames" "$(video_times "$tmp/received.mkv" 2> /dev/null | wc -l)" 10
same "frames in = out + left out" "$(unaccounted out)" 0

# ---- an interrupted run ---------------------------------------------------------------------------
camera 20 -f mpegts "tcp://127.0.0.1:$((port + 4))?listen=1"
"$mona" enhance -y --live --preset ultrafast --stages sr "tcp://127.0.0.1:$((port + 4))" -o "$tmp/stopped.mkv" 2> "$tmp/stopped" &
run=$!
for tick in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    sleep 1
    ! grep -q ' frames ' "$tmp/stopped" || break
done
sleep 1 # A second more: the first line may come before 25 frames have.
# As timeout sends it, to a process and to its group.
kill -TERM $run
sleep 0.02
kill -TERM $run
wait $run
same "SIGTERM: the status says so" $? 143
nothing "and the film is whole" "$(ffmpeg -v error -i "$tmp/stopped.mkv" -f null - 2>&1)"
at_least "with all frames until then" "$(video_times "$tmp/stopped.mkv" | wc -l)" 25
nothing "nothing half-done is left" "$(ls "$tmp"/*.part 2> /dev/null)"

# ---- too fast for the machine ---------------------------------------------------------------------
camera 5 -f mpegts "udp://127.0.0.1:$((port + 5))?pkt_size=1316"
stages=sr,sr,sr,sr # sanitised, half of them take as long
[ -z "$SANITIZE" ] || stages=sr,sr
live slow "udp://127.0.0.1:$((port + 5))" -o "$tmp/slow.mkv" --stall 1 --reconnect 0 --stages $stages --tier best -j 1
at_least "frames that would be late are left out" "$(figure slow dropped)" 10
same "and counted" "$(unaccounted slow)" 0
# Without a bound the last of the 125 frames would be half a minute late.
at_least "the latency stays bounded: ms below 10000" "$((10000 - $(figure slow max_ms)))" 1

# ---- other ways out and in ------------------------------------------------------------------------
mkdir "$tmp/hls"
ffmpeg -v error -i "$tmp/clip.mkv" -c copy -f mpegts - | live pipe - -o "$tmp/hls/live.m3u8"
at_least "HLS: a playlist of segments" "$(grep -c '\.ts$' "$tmp/hls/live.m3u8")" 1
at_least "with the frames" "$(video_times "$tmp/hls/live.m3u8" | wc -l)" 3
command=$PWD/$mona
(cd "$tmp/hls" && "$command" enhance --quiet --live --stages sr "$tmp/clip.mkv" -o here.m3u8)
same "a playlist in the working folder names its segments as a web server has them" "$(grep -m 1 '\.ts$' "$tmp/hls/here.m3u8")" here0.ts
"$mona" enhance --quiet --stages sr "$tmp/clip.mkv" -o "$tmp/hls/whole.m3u8"
same "a playlist of a file that is not live has all its frames" "$(video_times "$tmp/hls/whole.m3u8" | wc -l)" "$(video_times "$tmp/clip.mkv" | wc -l)"
fails "fragments of a transport stream's AAC: an option is named" "--audio opus or --audio none would do" "$mona" enhance --quiet --live \
    --allow playlist "$tmp/hls/live.m3u8" -o "$tmp/x.mp4"
live mp4 "$tmp/clip.mkv" -o - -f mp4 > "$tmp/fragments.mp4"
at_least "mp4 in fragments fits a pipe" "$(ffprobe -v trace "$tmp/fragments.mp4" 2>&1 | grep -c "type:'moof'")" 1

# ---- a part of it -----------------------------------------------------------------------------------
"$mona" enhance -y --live --frames 3 --stages sr "$tmp/clip.mkv" -o "$tmp/part.mkv" 2> "$tmp/part"
same "frames after the last wanted one are no loss" \
    "$? $(grep -c ' 3 went out' "$tmp/part") $(grep -c 'could not be decoded' "$tmp/part")" "0 1 0"

# ---- what is not opened ---------------------------------------------------------------------------
python3 - "$((port + 6))" > "$tmp/visits" << 'PYTHON' &
import socket, sys
server = socket.create_server(('127.0.0.1', int(sys.argv[1])))
server.settimeout(8)
try:
    while True:
        server.accept()[0].close()
        print('visited', flush=True)
except TimeoutError:
    pass
PYTHON
sleep 0.5
printf '#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nhttp://127.0.0.1:%d/a.ts\n#EXT-X-ENDLIST\n' $((port + 6)) > "$tmp/local.m3u8"
fails "a local playlist of remote files" "$tmp/local.m3u8" "$mona" enhance --quiet "$tmp/local.m3u8" -o "$tmp/x.mkv"
fails "also live" "$tmp/local.m3u8" "$mona" enhance --quiet --live "$tmp/local.m3u8" -o "$tmp/x.mkv"
printf 'ffconcat version 1.0\nfile http://127.0.0.1:%d/a.ts\n' $((port + 6)) > "$tmp/local.ffconcat"
fails "a local list of remote files" "local.ffconcat" "$mona" enhance --quiet "$tmp/local.ffconcat" -o "$tmp/x.mkv"
wait
nothing "nobody was visited" "$(cat "$tmp/visits")"
fails "a protocol that is not in the table" "expected a file or one of rtsp, " "$mona" enhance "gopher://127.0.0.1/x" -o "$tmp/x.mkv"
fails "nor out" "expected a file or one of rtsp, " "$mona" enhance "$tmp/clip.mkv" -o "ftp://127.0.0.1/x.mkv"
fails "no server" "cannot be opened: Connection refused" "$mona" enhance --quiet "rtsp://127.0.0.1:1/x" -o "$tmp/x.mkv"
fails "--live with --resume" "--resume does not work with --live" "$mona" enhance --live --resume "$tmp/clip.mkv" -o "$tmp/x.mkv"
