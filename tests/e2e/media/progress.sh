#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What mona enhance prints while it works: a bar on a terminal, plain lines elsewhere, or JSON lines.
. tests/tap.inc

frames=40
film "$frames" "$tmp/scene.y4m" 320x180
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=96:54 -c:v libx264 -preset ultrafast "$tmp/clip.mp4"
job() {
    "$mona" enhance -y "$tmp/clip.mp4" -o "$tmp/out.mkv" --preset ultrafast "$@"
}
# Reads the input slowly, so that there is progress to print.
cat > "$tmp/slowly.py" <<'PYTHON'
import os, time
while os.read(0, 32768):
    time.sleep(0.03)
PYTHON

# ---- JSON lines, and figures at the end -------------------------------------------------------------
"$mona" enhance -y "$tmp/clip.mp4" -o - --progress json --stats 2> "$tmp/lines" | python3 "$tmp/slowly.py"
same "JSON lines from begin to end" "$(python3 - "$tmp/lines" "$frames" <<'PYTHON'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
frames = int(sys.argv[2])
kinds = [e['event'] for e in events]
assert kinds[0] == 'begin' and kinds[-1] == 'end' and len(events) > 3 and set(kinds[1:-1]) == {'progress'}, kinds
begin, end, moves = events[0], events[-1], events[1:-1]
assert (begin['in_width'], begin['out_width'], begin['expected']) == (96, 192, frames), begin
assert begin['engine_bytes'] > 0 and begin['frame_bytes'] > 0
numbers = [e['frame'] for e in moves]
assert numbers == sorted(set(numbers)) and 1 <= numbers[0] and numbers[-1] <= frames, numbers
for e in moves:
    assert e['expected'] == frames and e['fps'] > 0 and e['eta_s'] >= 0 and e['latency_ms'] > 0, e
    assert [s['name'] for s in e['steps']] == ['decode', 'denoise', 'sr', 'encode'], e
    assert e['lost_packets'] == e['damaged_frames'] == e['moved_frames'] == 0, e
# A frame that took measurable time spent it in the networks, and no step ran longer than the clock.
last = moves[-1]
assert any(s['ms'] > 0 for s in last['steps'][1:3]), last
assert all(s['ms'] * numbers[-1] <= 1e3 * end['seconds'] * 1.5 for s in last['steps'][1:3]), (last, end)
assert end['frames'] == frames and end['output'] == 'standard output' and end['seconds'] > 0, end
print('good')
PYTHON
)" good
same "--stats: JSON ends with latency, steps and sensors" "$(python3 - "$tmp/lines" "$frames" <<'PYTHON'
import json, sys
end = [json.loads(line) for line in open(sys.argv[1])][-1]
s = end['stats']
late, t = s['latency'], s['telemetry']
steps = {x['name']: x for x in s['steps']}
print(late['iterations'] == int(sys.argv[2]) and 0 < late['min_ms'] <= late['p50_ms'] <= late['p99_ms'] <= late['max_ms'],
    list(steps) == ['decode', 'upload', 'denoise', 'sr', 'encode'],
    all(abs(x['share'] - x['ms'] * end['frames'] / 1000 / end['seconds']) < 0.05 and x['share'] <= 1.01 for x in steps.values()),
    t['readings'] >= 2 and 0 < t['utilisation']['mean'] <= 1)
PYTHON
)" "True True True True"
job --progress json > "$tmp/out" 2> "$tmp/lines"
nothing "nothing goes to standard output" "$(cat "$tmp/out")"
same "the output is named" "$(tail -n 1 "$tmp/lines" | grep -c '"event":"end".*out.mkv"')" 1
job --progress json --quiet 2> "$tmp/lines"
nothing "--quiet is quiet" "$(cat "$tmp/lines")"
"$mona" enhance -y "$tmp/clip.mp4" -o "$tmp/out.mkv" --progress json --cpu mmx 2> "$tmp/lines"
same "errors stay one line" "$? $(grep -c '^mona: --cpu' "$tmp/lines")" "2 1"
job --stats --strength 0.2 --tier balanced 2> "$tmp/lines" # long enough for two readings of sensors
same "elsewhere --stats is a table" "$(grep -cE '^  (latency, ms +p50|decode +[0-9.]+ ms|sr +[0-9.]+ ms|denoise +[0-9.]+ ms|encode +[0-9.]+ ms|sensors +busy)' "$tmp/lines")" 6

# ---- damage is told while it happens ----------------------------------------------------------------
cp "$tmp/clip.mp4" "$tmp/bad.mp4"
dd if=/dev/zero of="$tmp/bad.mp4" bs=1 seek=$(($(wc -c < "$tmp/bad.mp4") / 2)) count=3000 conv=notrunc 2> "$tmp/log"
"$mona" enhance -y "$tmp/bad.mp4" -o "$tmp/damaged.mkv" --progress json --stages sr --preset ultrafast 2> "$tmp/lines"
same "damage is counted" "$(python3 - "$tmp/lines" <<'PYTHON'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
counts = [e['lost_packets'] + e['damaged_frames'] for e in events if e['event'] in ('progress', 'end')]
print('counted' if counts == sorted(counts) and counts[-1] > 0 else counts)
PYTHON
)" counted

# ---- plain lines, and a terminal ----------------------------------------------------------------------
job 2> "$tmp/lines"
same "elsewhere than on a terminal there is no control character" "$(tr -d '\n' < "$tmp/lines" | tr -cd '\000-\037' | wc -c)" 0
same "and every line is mona's" "$(grep -vc '^mona: ' "$tmp/lines")" 0
same "and there are no figures that nobody asked for" "$(grep -c sensors "$tmp/lines")" 0
# $1: columns. Prints what a terminal of that width receives, one redraw per line; the result is read slowly.
on_terminal() {
    python3 - "$1" "$tmp/slowly.py" "$mona" enhance -y "$tmp/clip.mp4" -o - <<'PYTHON'
import fcntl, os, pty, struct, subprocess, sys, termios
terminal, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, int(sys.argv[1]), 0, 0))
job = subprocess.Popen(sys.argv[3:], stdin=slave, stdout=subprocess.PIPE, stderr=slave)
reader = subprocess.Popen([sys.executable, sys.argv[2]], stdin=job.stdout)
job.stdout.close()
os.close(slave)
text = b''
try:
    while True:
        text += os.read(terminal, 4096)
except OSError:
    pass
job.wait()
reader.wait()
sys.stdout.write(text.decode().replace('\r\n', '\n').replace('\r', '\n'))
PYTHON
}
on_terminal 130 > "$tmp/lines"
same "a terminal gets a bar with everything" "$(grep -cE "^\[[#.]+\] +[0-9]+%  [0-9]+/$frames frames  [0-9.]+ fps  ETA 0:[0-9:]+  decode [0-9.]+  denoise [0-9.]+  sr [0-9.]+  encode [0-9.]+ ms" "$tmp/lines" | awk '{ print ($1 >= 2) }')" 1
nothing "no wider than it" "$(sed 's/.\[K//g' "$tmp/lines" | grep '^\[' | awk 'length > 129')"
on_terminal 60 > "$tmp/lines"
nothing "a narrow one gets what fits" "$(grep '^\[' "$tmp/lines" | sed 's/.\[K//g' | awk 'length > 59 || !/fps  ETA/')"
same "and something" "$(grep -c '^\[.*ETA' "$tmp/lines" | awk '{ print ($1 >= 2) }')" 1
