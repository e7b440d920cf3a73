#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona bench --device model310: what users see of the modelled chip.
. tests/tap.inc

crc() {
    sed -n 's/.*output_crc32":"\([0-9a-f]*\)".*/\1/p' "$1"
}

field() {
    sed -n "s/.*\"$2\":\([0-9.]*\).*/\1/p" "$1"
}

# test_models covers all models.
succeeds "a model runs on model310" sh -c "'$mona' bench sr_x2_fast --device model310 --size 96x54 --json > '$tmp/modelled'"
same "the checks find nothing" "$(field "$tmp/modelled" findings)" 0
grep -q '"modelled_ms"' "$tmp/modelled"
same "its time is called modelled" $? 0
same "the time with losses is longer, but not twice as long" "$(awk -v ideal="$(field "$tmp/modelled" modelled_ms)" \
    -v lost="$(field "$tmp/modelled" modelled_ms_with_losses)" 'BEGIN { print (ideal < lost && lost < 2 * ideal) }')" 1
same "the replay kernel takes longer than one of its own" "$(awk -v own="$(field "$tmp/modelled" modelled_ms)" \
    -v replayed="$(field "$tmp/modelled" modelled_ms_replayed)" 'BEGIN { print (own < replayed && replayed < 4 * own) }')" 1
succeeds "it runs on the host" sh -c "'$mona' bench sr_x2_fast --size 96x54 -n 1 --json > '$tmp/host'"
same "which gives the same bytes" "$(crc "$tmp/modelled")" "$(crc "$tmp/host")"
for tile in 5 33; do # tiles that end inside blocks of 32 bytes
    "$mona" bench sr_x2_fast --device model310 --size 96x54 --tile-columns $tile --json > "$tmp/tiles"
    same "so do tiles of $tile columns, without findings" "$(crc "$tmp/tiles") $(field "$tmp/tiles" findings)" "$(crc "$tmp/host") 0"
done

same "as JSON: every operator, what bounds it, and all of them within the frame's time" "$(python3 -c "
import json, sys
run = json.load(open(sys.argv[1]))
ops = run['operators']
print(len(ops) > 3, all(o['bound_by'] == max(o['busy'], key=o['busy'].get) for o in ops),
      0.5 < sum(o['ms'] for o in ops) / run['modelled_ms'] <= 1)
" "$tmp/modelled")" "True True True"

# Residuals in FP16: on one channel or few, to planes of either type. By the scalar unit such a layer takes nearly all
# of the time.
for type in u8 f16; do
    "$mona" compile models/sr_x2_fast.onnx -o "$tmp/$type.mona" --input-type $type --output-type $type > "$tmp/log"
done
cp models/denoise_balanced.mona "$tmp"
for net in u8 f16 denoise_balanced; do
    "$mona" bench "$tmp/$net.mona" --device model310 --size 160x96 --json > "$tmp/residual"
    "$mona" bench "$tmp/$net.mona" --size 160x96 -n 1 --json > "$tmp/host"
    same "$net: a residual in FP16 is not moved sample by sample" "$(python3 -c "
import json, sys
run = json.load(open(sys.argv[1]))
layer = [o for o in run['operators'] if o['name'] == 'correction'][0]
print(layer['ms'] / run['modelled_ms'] < 0.4, run['findings'])" "$tmp/residual") $(crc "$tmp/residual")" "True 0 $(crc "$tmp/host")"
done

# What a frame of 1920x1080 takes to 3840x2160: luma, two chroma planes, the denoiser on the result.
if full; then
    total=$(for run in "sr_x2_fast 1920x1080" "bicubic_x2 960x540" "bicubic_x2 960x540" "denoise_fast 3840x2160"; do
        "$mona" bench "${run% *}" --device model310 --size "${run#* }" --json | sed -n 's/.*"modelled_ms":\([0-9.]*\).*/\1/p'
    done | awk '{ ms += $1 } END { print NR, ms }')
    echo "# 1080p to 4K, enlarged and denoised: ${total#* } ms, modelled"
    same "1080p to 4K, enlarged and denoised, takes less than 20 ms, modelled" \
        "$(echo "$total" | awk '{ print ($1 == 4 && $2 < 20) }')" 1
fi

succeeds "a timeline is written" sh -c "'$mona' bench sr_x2_fast --device model310 --size 64x36 \
    --trace '$tmp/trace.json' > '$tmp/text'"
same "every figure of the report is called modelled" \
    "$(grep -E ' ms | MB ' "$tmp/text" | grep -vc modelled)" 0
same "the trace is JSON with a row for each pipe of both cores" "$(python3 -c "
import json, sys
events = json.load(open(sys.argv[1]))
rows = {(e['pid'], e['tid']) for e in events if e['ph'] == 'M' and e['name'] == 'thread_name'}
starts = {e['id'] for e in events if e['ph'] == 's'}
ends = [e for e in events if e['ph'] == 'f']
late = [e for e in events if e['ph'] == 'X' and e['dur'] < 0]
print(len(rows), len(ends) > 0 and all(e['id'] in starts for e in ends), len(late))
" "$tmp/trace.json")" "12 True 0"

# ---- a verdict ------------------------------------------------------------------------------------------
longest=$(python3 -c "import json, sys; run = json.load(open(sys.argv[1]))
print(max(v for k, v in run.items() if k.startswith('modelled_ms')))" "$tmp/modelled")
verdict() {
    "$mona" bench sr_x2_fast --device model310 --size 96x54 --budget "$@" > "$tmp/verdict" 2>&1
    echo "$? $(tail -n 1 "$tmp/verdict")"
}
same "the longest of the modelled times keeps a budget" "$(verdict "$(awk "BEGIN { print 1.01 * $longest }")ms")" "0 PASS"
same "or not" "$(verdict "$(awk "BEGIN { print 0.99 * $longest }")ms")" "1 FAIL"
same "whatever the percentile" "$(verdict "p1=$(awk "BEGIN { print 0.99 * $longest }")ms")" "1 FAIL"
same "as JSON" "$(verdict 1s --json | grep -c '"verdict":{"budget_ms":1000,"value_ms":[0-9.]*,"pass":true}')" 1

fails_with() {
    name=$1 expected=$2
    shift 2
    "$@" > "$tmp/log" 2>&1
    status=$?
    same "$name" "$([ $status -ne 0 ] && grep -c "$expected" "$tmp/log")" 1
}
fails_with "a timeline of the host is refused" "works only with" \
    "$mona" bench sr_x2_fast --size 64x36 --trace "$tmp/no.json"
fails_with "a file that cannot be written is an error" "cannot be written" \
    "$mona" bench sr_x2_fast --device model310 --size 64x36 --trace "$tmp/missing/trace.json"
same "the trace shows every operator of a strip" "$(python3 -c "
import json, sys
print(*sorted({e['args']['kernel'] for e in json.load(open(sys.argv[1])) if e['ph'] == 'X'} - {'launch'}))
" "$tmp/trace.json")" "body.0 body.1 body.2 correction head luma"
