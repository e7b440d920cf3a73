#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What --metrics writes, as Prometheus reads it: several runs in one scrape do not collide, and promtool has nothing to
# say.
. tests/tap.inc

film 8 "$tmp/in.y4m" 96x54
# run FILE OPTIONS...
run() {
    file=$1
    shift
    "$mona" enhance "$tmp/in.y4m" -o "$tmp/out.y4m" -y --stages sr --quiet --metrics "$tmp/$file" "$@"
}
run front.prom
run back.prom
run odd.prom --metrics-label "$(printf 'a "b" \\c\nd\377')"
same "a run is called as its file is" "$(sed -n 's/^mona_frames_out_total//p' "$tmp/front.prom" "$tmp/back.prom" | tr '\n' ' ')" \
    '{camera="front"} 8 {camera="back"} 8 '
same "or as it is told, in characters that readers take" "$(sed -n 's/^mona_frames_out_total//p' "$tmp/odd.prom")" \
    "$(printf '{camera="a \\"b\\" \\\\c\\nd\357\277\275"} 8')"
cat "$tmp/front.prom" "$tmp/back.prom" "$tmp/odd.prom" | grep -v '^#' > "$tmp/scrape"
same "every sample has a label" "$(grep -c '{camera="' "$tmp/scrape")" "$(wc -l < "$tmp/scrape")"
nothing "no sample of a scrape is there twice" "$(sed 's/ [^ ]*$//' "$tmp/scrape" | sort | uniq -d)"
fails "a label without metrics" "--metrics-label works only with --metrics" "$mona" enhance "$tmp/in.y4m" -o "$tmp/no.y4m" --metrics-label x

if command -v promtool > /dev/null; then
    for file in front odd; do
        same "promtool has nothing to say of $file.prom" "$(promtool check metrics < "$tmp/$file.prom" 2>&1; echo $?)" 0
    done
    sed 's/^# HELP mona_frames_in_total.*//' "$tmp/front.prom" > "$tmp/fault.prom"
    same "it does of a fault" "$(promtool check metrics < "$tmp/fault.prom" 2>&1 | grep -c 'no help text')" 1
else
    skip "metrics are judged by promtool, which is not here (prometheus)"
fi

# ---- the time that --stats counts as work -------------------------------------------------------
# A source that takes 2 s for its frames, and a receiver that takes 1 s to begin: neither is work.
film 60 "$tmp/long.y4m" 96x54
half=$(($(stat -c %s "$tmp/long.y4m") / 2))
{
    head -c $half "$tmp/long.y4m"
    sleep 2
    tail -c +$((half + 1)) "$tmp/long.y4m"
} | "$mona" enhance - -o - --stages sr --stats --progress json 2> "$tmp/log" | (sleep 1 && cat > "$tmp/out.y4m")
# $1: a step. Its share of the time, in per cent.
share() {
    python3 - "$tmp/log" "$1" << 'PYTHON'
import json, sys
end = [json.loads(line) for line in open(sys.argv[1]) if line.startswith('{')][-1]
print(*(round(100 * s['share']) for s in end['stats']['steps'] if s['name'] == sys.argv[2]))
PYTHON
}
same "waiting for a source is no work" "$(($(share decode) < 40))" 1
same "nor is waiting for a receiver" "$(($(share encode) < 40))" 1
