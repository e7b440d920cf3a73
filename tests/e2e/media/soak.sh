#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# As many cameras as this machine holds, as services run them: what mona bench --capacity says is true of them. Each is a process
# with a camera's packets at a camera's pace; all write metrics, which are joined as for Prometheus.
. tests/tap.inc

seconds=${SOAK_SECONDS:-60}
film 60 "$tmp/film.y4m" 320x180
ffmpeg -v error -i "$tmp/film.y4m" -c:v libx264 -bf 0 -g 25 -pix_fmt yuv420p -r 25 "$tmp/film.mp4"
"$mona" bench --capacity --pipeline "$tmp/film.mp4" --stages sr --fps 25 --budget p95=80ms --duration 5 --json > "$tmp/capacity" 2> "$tmp/log"
# ffmpeg, which plays the cameras, takes its share, so one fewer runs.
count=$(python3 -c 'import json, sys; print(max(1, json.load(open(sys.argv[1]))["streams"] - 1))' "$tmp/capacity")
echo "# $count cameras for $seconds s"
mkdir "$tmp/run"
for n in $(seq "$count"); do
    ffmpeg -v error -re -stream_loop -1 -i "$tmp/film.mp4" -c copy -t "$seconds" -f nut -flush_packets 1 - 2> /dev/null |
        "$mona" enhance --live - -o - -f matroska --stages sr --metrics "$tmp/run/$n.prom" --quiet > /dev/null 2> "$tmp/$n.log" || echo "$n" >> "$tmp/failed" &
done
wait
nothing "no camera failed" "$(cat "$tmp/failed" 2> /dev/null)"
sh apps/service/mona-cameras scrape "$tmp/run" > "$tmp/all.prom"
# $1: a metric. Its sum over all cameras.
sum() {
    awk -v name="$1" 'index($1, name "{") == 1 { sum += $2 } END { printf "%d", sum }' "$tmp/all.prom"
}
in=$(sum mona_frames_in_total) out=$(sum mona_frames_out_total) dropped=$(sum mona_frames_dropped_total)
echo "# $in frames in, $out out, $dropped left out"
same "each camera is in the scrape" "$(grep -c '^mona_frames_out_total{camera=' "$tmp/all.prom")" "$count"
same "all frames came in" "$((in >= count * seconds * 25 - 2 * count))" 1
same "all are accounted for" "$((out + dropped))" "$in"
same "of a hundred frames, five at most were left out" "$((dropped * 100 <= 5 * in))" 1
