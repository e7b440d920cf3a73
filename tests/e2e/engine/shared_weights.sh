#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Weights are in memory once: for the sessions of a process, and for all processes that read one file.
. tests/tap.inc

"$mona" bench sr_x2_fast --size 320x180 --streams 200 -n 2 --json > "$tmp/streams" 2> "$tmp/log"
same "200 sessions in one process" "$? $(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["streams"], len(r["each"]), min(e["iterations"] for e in r["each"]))' "$tmp/streams")" "0 200 200 2"
same "all have one result" "$(grep -o '"output_crc32":"[0-9a-f]*"' "$tmp/streams" | sort -u | wc -l)" 1
# What is planned for a session, its frames (320x180 and 640x360) and its plan; and 64 KiB for its thread and the allocator.
if [ -z "$SANITIZE" ]; then
    python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print("#", r["resident_bytes"], "bytes a session, of these planned:", r["added_bytes"] + r["plane_bytes"] + r["plan_bytes"])' "$tmp/streams"
    same "a session takes what is planned" "$(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["resident_bytes"] < r["added_bytes"] + r["plane_bytes"] + r["plan_bytes"] + 65536 and r["added_bytes"] < r["arena_bytes"])' "$tmp/streams")" True
fi

count=50
full || count=5
cat > "$tmp/processes.py" << 'END'
"""Starts processes that hold a model and wait for frames; prints the bytes of its mapping, the sum of what processes see of it
(Rss) and that of their shares (Pss), and whether the mapping can be written."""
import os, subprocess, sys, time

mona, model, out, count = sys.argv[1], os.path.realpath(sys.argv[2]), sys.argv[3], int(sys.argv[4])
runs = [subprocess.Popen([mona, 'enhance', '-', '-o', f'{out}/{i}.mkv', '--sr', model, '--stages', 'sr', '-y', '--quiet'],
                         stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) for i in range(count)]


def mapping(pid):
    found, rights = {'Rss': 0, 'Pss': 0}, set()
    here = False
    for line in open(f'/proc/{pid}/smaps'):
        word = line.split()
        if '-' in word[0] and not word[0].endswith(':'):
            here = line.rstrip('\n').endswith(model)
            rights |= {word[1]} if here else set()
        elif here and word[0][:-1] in found:
            found[word[0][:-1]] += 1024 * int(word[1])
    return found, rights


try:
    end = time.monotonic() + 60
    while time.monotonic() < end and not all(mapping(r.pid)[0]['Rss'] for r in runs):
        time.sleep(0.1)
    seen = [mapping(r.pid) for r in runs]
    print(os.path.getsize(model), sum(s[0]['Rss'] for s in seen), sum(s[0]['Pss'] for s in seen), *sorted(set().union(*(s[1] for s in seen))))
finally:
    for r in runs:
        r.kill()
        r.wait()
END
cp models/sr_x4_best.mona "$tmp/model.mona"
python3 "$tmp/processes.py" "$mona" "$tmp/model.mona" "$tmp" "$count" > "$tmp/shares" 2>&1
echo "# bytes of the model, Rss and Pss of its mapping in $count processes: $(cat "$tmp/shares")"
same "$count processes see all of a model" "$(awk -v n=$count '{ print ($2 >= n * $1) }' "$tmp/shares")" 1
same "which is in memory once" "$(awk '{ print ($3 > 0.9 * $1 && $3 < 1.1 * $1 + 4096) }' "$tmp/shares")" 1
same "and is only read" "$(cut -d ' ' -f 4- "$tmp/shares")" "r--p"

# What is no file is read.
film 2 "$tmp/in.y4m" 96x54
"$mona" enhance "$tmp/in.y4m" -o "$tmp/a.y4m" --sr models/sr_x2_fast.mona --stages sr --quiet
mkfifo "$tmp/pipe"
cat models/sr_x2_fast.mona > "$tmp/pipe" &
"$mona" enhance "$tmp/in.y4m" -o "$tmp/b.y4m" --sr "$tmp/pipe" --stages sr --quiet --no-sandbox
same "a model from a pipe: the same bytes" "$? $(cmp "$tmp/a.y4m" "$tmp/b.y4m" && echo same)" "0 same"
: > "$tmp/empty.mona"
fails "an empty file" "empty.mona: the file is empty" "$mona" bench "$tmp/empty.mona" --size 64x48
fails "a folder" "expected a .mona model, found a folder" "$mona" bench "$tmp/." --size 64x48
