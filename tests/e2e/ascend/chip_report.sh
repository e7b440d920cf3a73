#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona bench --report: what a first run on a chip is reported with, on the stand-in for the vendor's libraries.
. tests/tap.inc

kits=$PWD/$BUILD/ascend
mkdir "$tmp/private"
python3 tests/ascend/make_kernel.py "$tmp/private/kernel.o" mona_replay3__kernel0
export MONA_ASCEND_TIMEOUT=60
report() { # KNOBS KERNEL OPTIONS...
    knobs=$1
    kernel=$2
    shift 2
    rm -f "$tmp/r.json"
    MONA_ASCEND_KERNEL=$tmp/private/$kernel LD_LIBRARY_PATH=$kits/full FAKE_ASCEND=$knobs \
        timeout 300 "$mona" bench --report "$tmp/r.json" --size 32x32 -n 2 --warmup 1 "$@" > "$tmp/out" 2> "$tmp/err"
}
in_report() { python3 -c "import json; r = json.load(open('$tmp/r.json')); print($1)"; }
# Names of folders, of the user's home and of the machine
private() { grep -c -e private -e "$(basename "$tmp")" -e "$HOME/" -e "$(uname -n)" "$tmp/r.json"; }

report "" kernel.o
same "networks have the CPU's bytes" "$(in_report "[n['model'] for n in r['networks'] if not n['equal'] or n['host_crc32'] != n['chip_crc32']], len(r['networks'])")" "[] 7"
same "times, steps by the chip's clock, sensors" \
    "$(in_report "all(n['p50_ms'] > 0 and n['chip']['run_ms'] > 0 and len(n['chip']['timeline']) == 30 and n['telemetry']['temperature_c'] for n in r['networks'])")" True
same "what is installed" "$(in_report "[c['what'] for c in r['checks']], r['chip']['soc'], r['kernel']['bytes'] > 0, len(r['provenance']['commit']) > 0")" \
    "['CANN', 'driver', 'firmware', 'libraries', 'chip', 'video', 'health', 'kernel'] Ascend310 True True"
same "the chip's decoder" "$(in_report "[(v['codec'], v['equal'], v['frames'], v['error']) for v in r['video']]")" "[('H.264', True, 30, ''), ('H.265', True, 30, '')]"
same "nothing private" "$(private) $(in_report "[c['found'] for c in r['checks'] if c['what'] == 'kernel'][0]")" "0 kernel.o"
same "a line for each network" "$(grep -c "the CPU's bytes, [0-9.]* ms a frame" "$tmp/out") $(cat "$tmp/err")" "7 "

report fail_at=2,fail_with=507018,vdec_lose=5 kernel.o
same "a network that fails" "$? $(in_report "[(n['equal'], '507018' in n.get('error', '')) for n in r['networks'][:2]]")" "1 [(False, True), (True, False)]"
same "a frame that the chip's decoder loses" "$(in_report "[(v['equal'], v['frames']) for v in r['video']]")" "[(False, 29), (False, 29)]"
report "" none.o
same "a kernel that is not there" "$? $(private) $(in_report "[c['state'] for c in r['checks'] if c['what'] == 'kernel'], [n['equal'] for n in r['networks']].count(True)")" "1 0 ['missing'] 0"
report count=0 kernel.o
same "no chip" "$? $(in_report "[c['state'] for c in r['checks'] if c['what'] == 'chip'], 'chip' in r, len(r['networks']), 'no Ascend chip answers' in r['error']")" "1 ['missing'] False 0 True"
fails "a model" "--report does not work with a model" "$mona" bench sr_x2_fast --report "$tmp/r.json"
fails "a folder that is not there" "none/r.json" env MONA_ASCEND_KERNEL="$tmp/private/none.o" "$mona" bench --report "$tmp/none/r.json" --size 64x48 -n 1
