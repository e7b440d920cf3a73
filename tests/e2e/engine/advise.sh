#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona bench --advise: causes, shares and gains of six networks on three devices, and its predictions against what the
# changes really gain.
. tests/tap.inc

python3 tests/ascend/make_kernel.py "$tmp/kernel.o" mona_replay3__kernel0
export MONA_ASCEND_KERNEL="$tmp/kernel.o"
on_chip() { # KNOBS COMMAND...
    knobs=$1
    shift
    LD_LIBRARY_PATH=$PWD/$BUILD/ascend/full FAKE_ASCEND=$knobs timeout 60 "$@"
}
advice() { # a Python expression over the advice a and its causes c, by name
    python3 -c "
import json
r = json.load(open('$tmp/r.json'))
a = r['advice']
c = {row['cause']: row for row in a['causes']}
print($1)" 2>&1
}

# All of a frame is accounted for, once; the costliest three are those that are tried.
whole="abs(sum(row['share'] for row in a['causes']) + a['at_limit'] - 1) < 0.01 and len(a['causes']) >= 3 and \
[row['ms'] for row in a['causes']] == sorted((row['ms'] for row in a['causes']), reverse=True) and \
all(row['do'] and row['found'] and row['gain_ms'] >= 0 and abs(a['ms'] - row['gain_ms'] - row['predicted_ms']) < 1e-6 for row in a['causes']) and \
all(len(set(l['name'] for l in row['layers'])) == len(row['layers']) and sum(l['ms'] for l in row['layers']) < row['ms'] * 1.001 + 1e-6
    for row in a['causes'])"
frames="-n 3 --warmup 1"
networks="sr_x2_fast denoise_balanced"
size=32x32
full && networks="$networks sr_x2_balanced denoise_fast colour bicubic_x2" size=64x64
for net in $networks; do
    for device in host model310 ascend; do
        # shellcheck disable=SC2046
        on_chip "" "$mona" bench "models/$net.mona" --size $size $([ $device = model310 ] || echo "$frames") --device $device --advise --json > "$tmp/r.json" 2> "$tmp/err"
        same "$net on $device" "$? $(advice "$whole") $(cat "$tmp/err")" "0 True "
    done
done

run="$mona bench models/sr_x2_fast.mona --size 96x64 --advise"
$run --device model310 > "$tmp/page"
same "a page: three causes, each with what to do and its gain" "$(grep -c '^  [123]  ' "$tmp/page") $(grep -c '^     do ' "$tmp/page") $(
    grep -c '^     gain .* predicted' "$tmp/page") $([ "$(wc -l < "$tmp/page")" -lt 40 ] && echo short)" "3 3 3 short"
$run $frames --device host > "$tmp/page"
same "on the host as well, instead of the operators" "$(grep -c '^  [123]  ' "$tmp/page") $(grep -c 'share of roof' "$tmp/page")" "3 0"

# ---- predictions, tried
size=160x120
"$mona" bench sr_x2_fast --size $size --device model310 -j 1 --advise --json > "$tmp/r.json"
predicted=$(advice "c['idle cores']['predicted_ms']") tried=$(advice "c['idle cores']['tried_ms']")
replayed=$(advice "c['replay kernel']['predicted_ms']") own=$(advice "r['modelled_ms']")
same "two cores instead of one: predicted $predicted ms, tried $tried" "$(python3 -c "print(abs($predicted / $tried - 1) < 0.1)")" True
same "a kernel of the program's own: predicted $replayed ms, modelled $own" "$(python3 -c "print(abs($replayed / $own - 1) < 1e-6)")" True
"$mona" bench sr_x2_fast --size $size --device model310 --json > "$tmp/both.json"
same "as by a run with two" "$(python3 -c "import json; print(abs(json.load(open('$tmp/both.json'))['modelled_ms_replayed'] / $tried - 1) < 1e-6)")" True

# The stand-in copies for as long as it is told. Other load only adds to what a frame takes in flight.
on_chip copy_us=40000 $run $frames --device ascend --json > "$tmp/r.json"
predicted=$(advice "c['transfers']['predicted_ms']") tried=$(advice "c['transfers']['tried_ms']")
same "frames in flight: predicted $predicted ms, tried $tried of $(advice "a['ms']")" "$(advice "0.5 * $predicted < $tried < a['ms'] > $predicted")" True

# ---- what it does not work with
fails "no pipeline" "advise does not work with --pipeline" "$mona" bench --pipeline synthetic --advise
fails "no streams" "advise does not work with --streams" "$mona" bench sr_x2_fast --size 96x64 --streams 2 --advise
