#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each protocol in and out, with ffmpeg on the loopback at the other end. live.sh has rtsp, udp and tcp.
. tests/tap.inc
port=$((41000 + $$ % 15000))
ffmpeg -v error -f lavfi -i testsrc2=s=160x90:r=25 -t 4 -c:v libx264 -preset ultrafast -tune zerolatency -g 12 \
    -pix_fmt yuv420p "$tmp/clip.mkv"
protocols=" $(ffmpeg -v quiet -protocols | tr '\n' ' ') "

# Whether ffmpeg can take the other end of $1.
has() {
    case $protocols in
        *" $1 "*) ;;
        *) skip "this ffmpeg has no $1"; return 1 ;;
    esac
}

# $1: a name, $2: the address for mona, rest: what ffmpeg does with the clip before it
in_by() {
    name=$1
    address=$2
    shift 2
    timeout 60 ffmpeg -v error -re -i "$tmp/clip.mkv" -c copy "$@" < /dev/null 2> "$tmp/server" &
    ffmpeg=$!
    timeout 40 "$mona" enhance -y --live --quiet --stages sr --stall 3 --reconnect 8 "$address" -o "$tmp/in.mkv" 2> "$tmp/log"
    at_least "$name in: frames of 100, and $(head -n 1 "$tmp/log")" "$(video_times "$tmp/in.mkv" 2> /dev/null | wc -l)" 60
    same "$name in: they are twice as large" "$(ffprobe -v error -show_entries stream=width -of csv=p=0 "$tmp/in.mkv" | head -n 1)" 320
    rm -f "$tmp/in.mkv"
    kill $ffmpeg 2> /dev/null
    wait $ffmpeg
}

# $1: a name, $2: the address for mona, rest: how ffmpeg listens
out_by() {
    name=$1
    address=$2
    shift 2
    timeout 60 ffmpeg -v error -y "$@" -c copy "$tmp/out.mkv" < /dev/null 2> "$tmp/server" &
    sleep 1
    ffmpeg -v error -re -i "$tmp/clip.mkv" -c copy -f nut - < /dev/null |
        timeout 40 "$mona" enhance -y --live --quiet --stages sr --stall 3 --reconnect 8 - -o "$address" 2> "$tmp/log"
    for tick in 1 2 3 4 5 6; do
        kill -0 $! 2> /dev/null || break
        sleep 1
    done
    kill -INT $! 2> /dev/null
    wait
    at_least "$name out: frames of 100, and $(head -n 1 "$tmp/log")" "$(video_times "$tmp/out.mkv" 2> /dev/null | wc -l)" 60
    rm -f "$tmp/out.mkv"
}

if has srt; then
    in_by srt "srt://127.0.0.1:$port" -f mpegts "srt://127.0.0.1:$port?mode=listener"
    out_by srt "srt://127.0.0.1:$((port + 1))" -f mpegts -i "srt://127.0.0.1:$((port + 1))?mode=listener"
fi
if has http; then
    in_by http "http://127.0.0.1:$((port + 2))/x.ts" -f mpegts -listen 1 "http://127.0.0.1:$((port + 2))/x.ts"
    out_by http "http://127.0.0.1:$((port + 3))/x.ts" -f mpegts -listen 1 -i "http://127.0.0.1:$((port + 3))/x.ts"
fi
if has rtmp; then
    out_by rtmp "rtmp://127.0.0.1:$((port + 4))/live/x" -listen 1 -f flv -i "rtmp://127.0.0.1:$((port + 4))/live/x"
fi
if has rtmp && module=$(ls /usr/lib/nginx/modules/ngx_rtmp_module.so 2> /dev/null); then
    printf '%s\n' "load_module $module;" "pid $tmp/nginx.pid;" "error_log $tmp/nginx.log;" "daemon off;" "events {}" \
        "rtmp { server { listen 127.0.0.1:$((port + 7)); application live { live on; } } }" > "$tmp/nginx.conf"
    nginx -e "$tmp/nginx.log" -c "$tmp/nginx.conf" &
    nginx=$!
    sleep 1
    in_by rtmp "rtmp://127.0.0.1:$((port + 7))/live/x" -f flv "rtmp://127.0.0.1:$((port + 7))/live/x"
    kill $nginx
    wait
else
    skip "no nginx with its rtmp module"
fi
out_by udp "udp://127.0.0.1:$((port + 5))" -f mpegts -i "udp://127.0.0.1:$((port + 5))?timeout=4000000"

# ---- HLS from a server ----------------------------------------------------------------------------
mkdir "$tmp/www"
ffmpeg -v error -i "$tmp/clip.mkv" -c copy -f hls -hls_time 1 -hls_list_size 0 "$tmp/www/a.m3u8"
python3 -m http.server --bind 127.0.0.1 --directory "$tmp/www" $((port + 6)) > /dev/null 2>&1 &
server=$!
sleep 1
timeout 40 "$mona" enhance -y --live --quiet --stages sr "http://127.0.0.1:$((port + 6))/a.m3u8" -o "$tmp/hls.mkv" 2> "$tmp/log"
same "HLS in: status and frames" "$? $(video_times "$tmp/hls.mkv" | wc -l) $(cat "$tmp/log")" "0 100 "
# What a server's playlist names is not opened by another protocol.
printf '#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nfile://%s/clip.mkv\n#EXT-X-ENDLIST\n' "$tmp" > "$tmp/www/file.m3u8"
fails "a server's playlist opens no file here" "file.m3u8" timeout 40 "$mona" enhance --live --quiet --reconnect 0 \
    "http://127.0.0.1:$((port + 6))/file.m3u8" -o "$tmp/x.mkv"
kill $server
wait

# ---- cameras --------------------------------------------------------------------------------------
free=/dev/video63
if [ -e $free ]; then
    skip "there is a camera $free"
else
    fails "no camera of that number" "$free: cannot be read: No such file or directory" "$mona" enhance --live $free -o "$tmp/x.mkv"
fi
if [ "$(id -u)" = 0 ] && mknod $free c 81 63 2> /dev/null; then
    fails "a camera without a driver, in one line" "$free: " "$mona" enhance --live --quiet $free -o "$tmp/x.mkv"
    rm -f $free
else
    skip "no device can be made here"
fi

# ---- what goes wrong ------------------------------------------------------------------------------
fails "a host that does not exist" "cannot be opened" timeout 40 "$mona" enhance --live --quiet --reconnect 0 "http://none.invalid/x" -o "$tmp/x.mkv"
fails "a port that nobody listens to" "cannot be opened" timeout 40 "$mona" enhance --live --quiet --reconnect 0 "tcp://127.0.0.1:1" -o "$tmp/x.mkv"
fails "an output that nobody takes" "Connection refused" timeout 40 "$mona" enhance --live --quiet --reconnect 1 "$tmp/clip.mkv" -o "rtmp://127.0.0.1:1/x/y"
if [ -c /dev/full ]; then
    fails "a full disk" "No space left on device" sh -c '"$1" enhance --live --quiet "$2" -o - -f mpegts > /dev/full' sh "$mona" "$tmp/clip.mkv"
fi
