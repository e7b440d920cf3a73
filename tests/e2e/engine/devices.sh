#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona devices: the list, --watch and JSON. Which sensors exist depends on the machine.
. tests/tap.inc

succeeds "devices are listed" sh -c "$mona devices > '$tmp/text' 2> '$tmp/missing'"
same "one line says what an Ascend chip lacks, another what confines commands" "$(cut -d : -f 1-2 "$tmp/missing" | grep -v '^sandbox of') \
$(grep -c '^sandbox of commands that read files: [Lsn]' "$tmp/missing") $(grep -c . "$tmp/missing")" "no Ascend chip: libascendcl.so was not found 1 2"
same "by name, each with its health" "$(awk 'NR > 1 { print $1 }' "$tmp/text" | tr '\n' ' ')$(head -n 1 "$tmp/text" | grep -c HEALTH)" \
    "host model310 1"
succeeds "and as JSON" sh -c "$mona devices --json > '$tmp/json'"
same "with figures that are numbers, or null" "$(python3 -c "
import json, sys
host, chip = json.load(open(sys.argv[1]))
known = [host[k] for k in ('memory_bytes', 'utilisation', 'temperature_c', 'power_w', 'clock_mhz')]
print(host['name'], chip['name'], host['memory_bytes'] > 2**20, 0 <= host['utilisation'] <= 1,
    all(v is None or v >= 0 for v in known), chip['temperature_c'], chip['health'])" "$tmp/json")" \
    "host model310 True True True None unknown"
same "watched, a line each time" "$($mona devices --json --watch 0.05 --times 3 | python3 -c "
import json, sys
lines = [json.loads(line) for line in sys.stdin]
print(len(lines), {len(x) for x in lines})")" "3 {2}"
same "peaks on request" "$($mona devices --peak --json | python3 -c "
import json, sys
host, chip = json.load(sys.stdin)
print(all(host[k] > 0 for k in ('int8_gmac_per_s', 'fp16_gmac_per_s', 'fp32_gmac_per_s', 'copy_gb_per_s')),
    'int8_gmac_per_s' in chip)")" "True False"
timeout -s INT 2 "$mona" devices --watch 0.1 > "$tmp/watched"
same "an interrupt ends it properly" "$(tail -n 1 "$tmp/watched" | awk '{ print $1 }')" "model310"
"$mona" devices --times 3 > "$tmp/log" 2>&1
same "--times alone is refused" "$? $(grep -c 'works only with --watch' "$tmp/log")" "2 1"
