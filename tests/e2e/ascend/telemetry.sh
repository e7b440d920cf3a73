#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The chip's sensors: by the driver's library, and where that cannot be loaded, from its program npu-smi.
. tests/tap.inc

kits=$PWD/$BUILD/ascend
mkdir "$tmp/library" "$tmp/bare" "$tmp/bin"
for name in libascendcl.so libruntime.so; do ln -s "$kits/full/libascendcl.so" "$tmp/bare/$name"; done
cat > "$tmp/bin/npu-smi" << END
#!/bin/sh
echo "\$*" >> "$tmp/asked"
[ ! -e "$tmp/hangs" ] || exec sleep 60
case "\$*" in
    "info -m") printf '\tNPU ID     Chip ID     Chip Logic ID     Chip Name\n\t3     1     0     Ascend 310\n' ;;
    "info -t common -i 3") printf '\tNPU ID : 3\n\n\tChip ID : 1\n\tAicore Usage Rate(%%) : 64\n\tTemperature(C) : 58\n\tRated Power Dissipation(W) : 12.8\n' ;;
    "info -t health -i 3 -c 1") printf '\tHealth : Alarm\n' ;;
    *) echo "unknown command: \$*" >&2; exit 1 ;;
esac
END
chmod +x "$tmp/bin/npu-smi"
PATH=$tmp/bin:$PATH

on() { # FOLDER COMMAND...: with the stand-in's libraries in FOLDER
    folder=$1
    shift
    LD_LIBRARY_PATH=$folder timeout 60 "$@"
}
figures() { # the chip's, of mona devices --json
    python3 -c "
import json, sys
for d in json.load(sys.stdin):
    if d['name'].startswith('ascend'): print(d['name'], d['temperature_c'], d['utilisation'] and round(d['utilisation'], 3), d['health'], end=' ')"
}

same "by the library" "$(on "$kits/full" "$mona" devices --json | figures)" "ascend 51 0.37 ok ascend-om 51 0.37 ok "
same "which npu-smi is not asked beside" "$(ls "$tmp/asked" 2> /dev/null | wc -l)" 0
same "by npu-smi" "$(on "$tmp/bare" "$mona" devices --json | figures)" "ascend 58 0.64 alarm ascend-om 58 0.64 alarm "
same "it was asked in the right words" "$(head -n 3 "$tmp/asked" | tr '\n' ,)" "info -m,info -t common -i 3,info -t health -i 3 -c 1,"
same "mona devices --watch" "$(on "$tmp/bare" "$mona" devices --watch 0.1 --times 3 | awk '$1 == "ascend" { print $5 $6, $8 $9, $10 $11 }' | sort -u | wc -l)" 1
same "mona devices --check" "$(on "$tmp/bare" "$mona" devices --check | sed -n 's/^health *//p')" "bad      alarm: npu-smi info says why"
same "and by the library" "$(on "$kits/full" "$mona" devices --check | sed -n 's/^health *//p')" "OK       ok, power level 2"

# ---- in runs
python3 tests/ascend/make_kernel.py "$tmp/kernel.o" mona_replay3__kernel0
export MONA_ASCEND_KERNEL="$tmp/kernel.o"
film 4 "$tmp/in.y4m" 96x64
on "$tmp/bare" "$mona" bench bicubic_x2 --size 64x48 -n 1 --warmup 1 --device ascend --json > "$tmp/bench"
same "mona bench" "$? $(python3 -c "
import json; t = json.load(open('$tmp/bench'))['telemetry']; print(t['temperature_c']['max'], t['utilisation']['max'], t['health'])")" "0 58 0.64 alarm"
on "$tmp/bare" "$mona" enhance "$tmp/in.y4m" -o "$tmp/out.y4m" --stages sr --device ascend --stats > "$tmp/stats" 2>&1
same "mona enhance --stats" "$? $(grep -c 'temperature 58 C.*health alarm' "$tmp/stats")" "0 1"

# ---- a program that does not answer, or is not there
: > "$tmp/hangs"
begin=$(date +%s)
same "a program that hangs tells nothing" "$(on "$tmp/bare" "$mona" devices --json | figures)" "ascend None None unknown ascend-om None None unknown "
same "and is not waited for long" "$([ $(($(date +%s) - begin)) -lt 20 ] && echo yes)" yes
rm "$tmp/bin/npu-smi"
same "nor one that is not there" "$(on "$tmp/bare" "$mona" devices --json | figures)" "ascend None None unknown ascend-om None None unknown "
