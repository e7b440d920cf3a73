#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona-plan: which machine enhances which camera, its files, and a simulation of failures.
. tests/tap.inc
plan=apps/cluster/mona-plan

# Judges plan.json by what the files say, in numbers of its own: everyone has one place at most, no machine holds more than was
# measured, and everyone has another place when a machine fails. $1: folder, $2: cameras, $3: machines.
judged() {
    python3 - "$@" << 'END'
import collections, fractions, json, sys
def read(path):
    rows = {}
    for row in json.load(open(path)):
        for n in range(1, row['count'] + 1):
            rows.setdefault(f'{row["name"]}-{n}', []).append(row)
    return rows
plan, cameras, machines = json.load(open(sys.argv[1] + '/plan.json')), read(sys.argv[2]), read(sys.argv[3])
def share(camera, machine):
    one = cameras[camera][0]
    return min(fractions.Fraction(1, row['streams']) for row in machines[machine] if row['tier'] == one['tier'] and row['fps'] >= one['fps'] and
               int(row['size'].split('x')[0]) >= int(one['size'].split('x')[0]))
def load(where):
    used = collections.Counter()
    for camera, machine in where.items():
        used[machine] += share(camera, machine)
    return used
where = plan['cameras']
assert sorted([*where, *plan['without_place']]) == sorted(cameras), 'everyone once'
assert max(load(where).values()) <= 1, 'held'
assert all(abs(plan['used'][m] - float(n)) < 1e-5 for m, n in load(where).items()), 'told'
for failed, to in plan['if_failed'].items():
    assert sorted(to) == sorted(c for c, m in where.items() if m == failed), 'those of the machine'
    after = {**where, **{c: m for c, m in to.items()}}
    assert failed not in after.values() and None not in after.values() and max(load(after).values()) <= 1, 'held after ' + failed
print(len(where), 'placed on', len(set(where.values())))
END
}
cat > "$tmp/cameras" << 'END'
[{"name": "gate", "count": 14, "size": "640x360", "fps": 25, "tier": "fast", "input": "rtsp://in/{name}", "output": "rtsp://out/{name}"},
 {"name": "hall", "count": 5, "size": "1280x720", "fps": 12.5, "tier": "fast", "input": "rtsp://in/{name}", "output": "rtsp://out/{name}", "options": "--metrics /m/{name}.prom"}]
END
cat > "$tmp/machines" << 'END'
[{"name": "m", "count": 3, "size": "1280x720", "fps": 25, "tier": "fast", "streams": 6, "cpus": 8},
 {"name": "m", "count": 3, "size": "640x360", "fps": 25, "tier": "fast", "streams": 13, "cpus": 8},
 {"name": "big", "count": 1, "size": "1280x720", "fps": 25, "tier": "fast", "streams": 11, "cpus": 16}]
END
files="--emit systemd --emit slurm --emit kubernetes"
run() { $plan --cameras "$tmp/cameras" --machines "$tmp/machines" "$@" > "$tmp/told" 2> "$tmp/log"; }
# shellcheck disable=SC2086
run -o "$tmp/plan" $files
same "19 cameras on four machines" "$? $(judged "$tmp/plan" "$tmp/cameras" "$tmp/machines" 2>&1) $(wc -l < "$tmp/log")" "0 19 placed on 4 0"
same "what is told" "$(grep -c -e '^m-[123]: [0-9]* %, [0-9]* cameras: ' -e '^big-1: ' -e '^any one machine may fail' "$tmp/told")" 5
# Of systemd, a list for each machine, of which mona-cameras makes units there.
units() {
    rm -rf "$tmp/roots"
    for list in "$tmp"/plan/systemd/*; do
        sh apps/service/mona-cameras units "$list" "$tmp/roots/$(basename "$list" .list)" >> "$tmp/started" || echo "$list"
    done
    find "$tmp/roots" -name '*.conf' | grep -c etc/mona/
}
same "of systemd, units for each camera, as a shell reads them" "$(units) $(grep -c 'mona@hall-2' "$tmp/started") $(
    . "$(find "$tmp/roots" -name hall-2.conf)" && echo "$INPUT $OUTPUT $OPTIONS")" "19 1 rtsp://in/hall-2 rtsp://out/hall-2 --tier fast --metrics /m/hall-2.prom"
same "each on the machine of the plan" "$(python3 - "$tmp/plan/plan.json" "$tmp/roots" << 'END'
import json, os, sys
print(all(os.path.exists(f'{sys.argv[2]}/{m}/etc/mona/{c}.conf') for c, m in json.load(open(sys.argv[1]))['cameras'].items()))
END
)" True

# Slurm's units: every mix that fits by units fits by shares.
same "of Slurm, a job for each camera and units for each node" "$(ls "$tmp"/plan/slurm/*.sbatch | wc -l) $(python3 - "$tmp/plan/slurm" << 'END'
import re, sys
read = lambda name: open(sys.argv[1] + '/' + name).read()
units = {name: int(re.search('gres=mona:(\d+)', read(name + '-1.sbatch'))[1]) for name in ('gate', 'hall')}
holds = dict(re.findall(r'NodeName=(\S+) Name=mona Count=(\d+)', read('gres.conf')))
for node, (gates, halls) in {'m-1': (13, 6), 'big-1': (11, 5)}.items():
    for n in range(int(holds[node]) // units['gate'] + 1):
        fitting = (int(holds[node]) - n * units['gate']) // units['hall']
        assert n / gates + fitting / (11 if node == 'big-1' else halls) < 1.0001, (node, n, fitting)
    assert int(holds[node]) // units['gate'] == gates and int(holds[node]) // units['hall'] == halls, node
print('that hold')
END
)" "19 that hold"
same "the job runs mona again and again" "$(sed 's/^    sleep 5/    exit/' "$tmp/plan/slurm/hall-1.sbatch" | MONA=echo sh)" \
    "enhance --live -y rtsp://in/hall-1 -o rtsp://out/hall-1 --progress plain --tier fast --metrics /m/hall-1.prom"
same "of Kubernetes, a share of processors, and the machine of the plan" "$(python3 - "$tmp/plan" << 'END'
import json, sys
where = json.load(open(sys.argv[1] + '/plan.json'))['cameras']
for one in json.load(open(sys.argv[1] + '/kubernetes/cameras.json'))['items']:
    pod = one['spec']['template']['spec']
    name = one['metadata']['name'][5:]
    assert pod['containers'][0]['resources']['requests']['cpu'] == '1455m'
    assert pod['affinity']['nodeAffinity']['preferredDuringSchedulingIgnoredDuringExecution'][0]['preference']['matchExpressions'][0]['values'] == [where[name]]
    where.pop(name)
print(len(where), 'left')
END
)" "0 left"

# A machine fails: the others stay, and its cameras go where the plan said.
cp "$tmp/plan/plan.json" "$tmp/before"
run -o "$tmp/plan" --emit systemd --without m-2
same "a failed machine" "$? $(python3 - "$tmp/before" "$tmp/plan/plan.json" << 'END'
import json, sys
before, after = (json.load(open(path)) for path in sys.argv[1:])
wanted = {**before['cameras'], **before['if_failed']['m-2']}
print(after['cameras'] == wanted, sum(before['cameras'][c] != m for c, m in wanted.items()))
END
) $(grep -c 'm-2 -> ' "$tmp/told") $(ls "$tmp/plan/systemd" | grep -c m-2) $(units)" "0 True 5 5 0 19"
run -o "$tmp/plan" --emit systemd
same "it is back: nothing moves" "$? $(grep -c -e '->' "$tmp/told") $(judged "$tmp/plan" "$tmp/cameras" "$tmp/machines" 2>&1)" "0 0 19 placed on 3"
sed -i 's/"count": 14/"count": 15/' "$tmp/cameras"
run -o "$tmp/plan" --emit systemd
same "one camera more goes where there is most left" "$? $(grep -e '->' "$tmp/told")" "0 gate-15: new -> m-2"

# Too many, and such as were not measured.
sed 's/"count": 5/"count": 50/; s/"count": 15/"count": 1/' "$tmp/cameras" > "$tmp/many"
$plan --cameras "$tmp/many" --machines "$tmp/machines" -o "$tmp/much" > "$tmp/told" 2> "$tmp/log"
same "too many: what is left, what would hold it, and what a failure costs" "$? $(grep -c 'no place for 21 cameras of 1280x720 at 12.5, tier fast: .*; needed: 2 more machines for 11 each' "$tmp/log") $(
    grep -c 'if .* fails, there is no place for [0-9]* camera' "$tmp/log")" "1 1 4"
run --fill 0.4
same "--fill leaves room on every machine" "$? $(awk '/ %, / { if ($2 > 40) bad++; n++ } END { print bad + 0, n }' "$tmp/told")" "1 0 4"
sed 's/"tier": "fast"/"tier": "best"/' "$tmp/cameras" > "$tmp/other"
$plan --cameras "$tmp/other" --machines "$tmp/machines" > "$tmp/told" 2> "$tmp/log"
same "what was not measured has no place, and a line that says how to" "$? $(grep -c 'no machine was measured .*mona bench --capacity --size .* --fps ' "$tmp/log")" "1 2"

# $1: name, $2: words of the line, $3: cameras, $4: machines
refused() {
    echo "$3" > "$tmp/c"
    echo "$4" > "$tmp/m"
    # shellcheck disable=SC2086
    fails "$1" "$2" $plan --cameras "$tmp/c" --machines "$tmp/m" -o "$tmp/none" $files
}
camera='"name": "a", "size": "64x48", "fps": 25, "input": "i", "output": "o"'
machine='"name": "m", "size": "64x48", "fps": 25, "streams": 4, "cpus": 2'
refused "no JSON" "$tmp/c: Expecting" "[{$camera}" "[{$machine}]"
refused "a list of something else" "expected a list of objects" "[1]" "[{$machine}]"
refused "a size" '"size" is' "[{$camera, \"size\": \"64\"}]" "[{$machine}]"
refused "a rate" '"fps" is' "[{$camera}]" "[{$machine, \"fps\": \"nan\"}]"
refused "a count" '"count" is' "[{$camera, \"count\": 0}]" "[{$machine}]"
refused "a name that is no file's" '"name" is' "[{$camera, \"name\": \"../a\"}]" "[{$machine}]"
refused "a name twice" 'a is there twice' "[{$camera}, {$camera}]" "[{$machine}]"
refused "a measurement twice" 'm is there twice' "[{$camera}]" "[{$machine}, {$machine}]"
refused "streams" '"streams" is' "[{$camera}]" "[{$machine, \"streams\": -1}]"
refused "options with a quote" '"options" is' "[{$camera, \"options\": \"'\"}]" "[{$machine}]"
refused "a space for systemd" 'has a space' "[{$camera, \"options\": \"--sr 'a b'\"}]" "[{$machine}]"
refused "no input" '"input" or "output" is not there' "[{$camera, \"input\": \"\"}]" "[{$machine}]"
refused "no processors for Kubernetes" '"cpus" is' "[{$camera}]" "[{$machine, \"cpus\": null}]"
refused "a name for Kubernetes" 'small letters' "[{$camera, \"name\": \"A\"}]" "[{$machine}]"
nothing "nothing is written then" "$(ls "$tmp/none" 2> /dev/null)"

# ---- a thousand cameras on forty machines -----------------------------------------------------------------
cat > "$tmp/cameras" << 'END'
[{"name": "c", "count": 700, "size": "1280x720", "fps": 25, "tier": "tiny"}, {"name": "d", "count": 300, "size": "640x360", "fps": 15, "tier": "fast"}]
END
cat > "$tmp/machines" << 'END'
[{"name": "m", "count": 40, "size": "1280x720", "fps": 25, "tier": "tiny", "streams": 28}, {"name": "m", "count": 40, "size": "640x360", "fps": 25, "tier": "fast", "streams": 31}]
END
run --simulate 120 -o "$tmp/thousand"
same "a thousand cameras" "$? $(judged "$tmp/thousand" "$tmp/cameras" "$tmp/machines" 2>&1)" "0 1000 placed on 40"
cp "$tmp/told" "$tmp/first"
# $1: what was the reason; prints times, and the longest.
away() { sed -n "s/^  $1: \\([0-9]*\\) times.* all within \\([0-9.]*\\)\$/\\1 \\2/p" "$tmp/told"; }
# shellcheck disable=SC2046
set -- $(away 'their machine failed') $(sed -n 's/^\([0-9]*\) cameras at most started one after the other.*/\1/p' "$tmp/told")
at_least "four months of failures of machines: cameras restarted" "$1" 2000
same "each within the time to see it, and the starts on one machine" "$(awk "BEGIN { print $2 <= 60 + 5 * $3 && $3 < 25 }")" 1
same "the assumptions are told" "$(grep -c '^  --[a-z]* [0-9.]* [a-z]*: ' "$tmp/told")" 6
run --simulate 120
same "the same seed, the same failures" "$? $(cmp "$tmp/told" "$tmp/first" && echo same)" "0 same"
run --simulate 120 --seed 2
differ "another seed, others" "$tmp/told" "$tmp/first"
# One of two machines that are full: its cameras wait for it to come back.
echo '[{"name": "c", "count": 8, "size": "64x48", "fps": 25}]' > "$tmp/cameras"
echo '[{"name": "m", "count": 2, "size": "64x48", "fps": 25, "streams": 4}]' > "$tmp/machines"
run --simulate 300 --failures 0
same "without room: they wait" "$? $(grep -c '^  no machine had a place: [0-9]* times' "$tmp/told") $(grep -c ' [48] at most waited for a place' "$tmp/told")" "0 1 1"

# ---- mona-slurm, where something is missing ----------------------------------------------------------------
film 5 "$tmp/film.y4m" 64x48
MONA=$tmp/none fails "no mona" "$tmp/none: No such file or directory; MONA=" apps/cluster/mona-slurm "$tmp/film.y4m" -o "$tmp/results"
for wrong in "--parts -2" "--cpus 0"; do
    fails "$wrong" "mona-slurm: $wrong: expected" apps/cluster/mona-slurm "$tmp/film.y4m" -o "$tmp/none_planned" --plan $wrong
done
nothing "of which nothing was written" "$(ls "$tmp/none_planned" 2> /dev/null)"
mkdir "$tmp/bin"
python=$(python3 -c 'import sys; print(sys.executable)')
MONA=$PWD/$mona PATH=$tmp/bin "$python" apps/cluster/mona-slurm "$tmp/film.y4m" -o "$tmp/results" 2> "$tmp/log"
same "no Slurm" "$? $(wc -l < "$tmp/log") $(grep -c 'sbatch: No such file or directory; ' "$tmp/log")" "2 1 1"
