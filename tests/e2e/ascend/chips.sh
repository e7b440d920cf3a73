#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Several chips: a film has one device's bytes whichever share it, one that fails in mid-film is left out with no frame lost
# or doubled, and waiting chips share the time.
. tests/tap.inc

kits=$PWD/$BUILD/ascend
python3 tests/ascend/make_kernel.py "$tmp/kernel.o" mona_replay3__kernel0
export MONA_ASCEND_KERNEL="$tmp/kernel.o" MONA="$PWD/$mona"
mkdir "$tmp/bin"
cp tests/ascend/atc.py "$tmp/bin/atc"
chmod +x "$tmp/bin/atc"
ATC_TYPE=u8 PATH="$tmp/bin:$PATH" "$mona" compile models/sr_x2_best.onnx -o "$tmp/net.om" --picture --target ascend310-om --size 64x48 > /dev/null 2>&1

on() { # KNOBS COMMAND...
    knobs=$1
    shift
    LD_LIBRARY_PATH=$kits/full FAKE_ASCEND=$knobs timeout 120 "$@"
}
# enhance KNOBS DEVICE OPTIONS...: of $tmp/in.y4m
enhance() {
    rm -f "$tmp/out.y4m"
    on "$1" "$mona" enhance "$tmp/in.y4m" -o "$tmp/out.y4m" --quiet --device "$2" $options < /dev/null 2> "$tmp/err"
}
outcome() { echo "$1 $(cmp -s "$tmp/wanted.y4m" "$tmp/out.y4m" && echo equal) $(cat "$tmp/err")"; }

# ---- the same bytes
film 12 "$tmp/in.y4m" 64x48
for stages in sr denoise,sr; do
    options="--stages $stages --strength 0.3"
    [ $stages = sr ] && options="--stages sr"
    enhance "" host
    mv "$tmp/out.y4m" "$tmp/wanted.y4m"
    for device in ascend ascend:3 ascend:0,2 ascend:3,1,0 ascend:all; do
        full || case $stages$device in *sr,* | denoise*:0,2 | sr*:[3a]*) ;; *) continue ;; esac
        enhance count=4 $device
        same "$stages on $device" "$(outcome $?)" "0 equal "
    done
done
cp "$tmp/in.y4m" "$tmp/studio.y4m"
sed '1s/$/ XCOLORRANGE=FULL/' "$tmp/studio.y4m" > "$tmp/in.y4m"
options="--stages sr --frames 3"
enhance "" model310
mv "$tmp/out.y4m" "$tmp/wanted.y4m"
enhance "" model310:2
same "samples of full range, which are converted before and after" "$(outcome $?)" "0 equal "
mv "$tmp/studio.y4m" "$tmp/in.y4m"
options="--stages sr --sr $tmp/net.om"
enhance "" ascend-om
mv "$tmp/out.y4m" "$tmp/wanted.y4m"
for device in ascend-om:1 ascend-om:1,0 ascend-om:all ascend:all; do
    enhance count=3 $device
    same "a model of the vendor's compiler on $device" "$(outcome $?)" "0 equal "
done
options="--stages sr --frames 3"
"$mona" enhance "$tmp/in.y4m" -o "$tmp/wanted.y4m" -y --quiet --device model310 $options
enhance "" model310:4
same "sr on model310:4" "$(outcome $?)" "0 equal "
same "each modelled chip and each real one takes frames" "$(
    options="--stages sr"
    enhance count=3,run_us=20000,trace="$tmp/trace" ascend:all
    awk '$1 == "run" { n[$5]++ } END { print (n[0] > 1) (n[1] > 1) (n[2] > 1), n[0] + n[1] + n[2] }' "$tmp/trace")" "111 12"

# ---- what cannot be
options="--stages sr"
refused() { # KNOBS DEVICE WORDS
    enhance "$1" "$2"
    same "--device $2 with $1" "$? $(grep -c . "$tmp/err") $(grep -c -e "$3" "$tmp/err") $(ls "$tmp/out.y4m" 2> /dev/null)" "2 1 1 "
}
refused count=4 ascend:0,9 "device ascend:9: the chip cannot be used: there is no such chip"
refused count=4 ascend:0,2,0 "chip 0 is named twice"
refused count=4 ascend: "expected the number of a chip after ascend:, such as ascend:0, several such as ascend:0,2, or all, found ''"
refused count=4 ascend:1,,2 "found '1,,2'"
refused count=4 ascend:-1 "found '-1'"
refused count=99 ascend:64 "found '64'"
refused "" model310:0 "expected 1 to 32 chips after model310:, found '0'"
refused "" model310:33 "found '33'"
refused "" host:2 "there is no device 'host:2'"
fails "one device where one is expected" "expected one device here, found 2: mona enhance, and mona bench with --pipeline or --streams, take several" \
    "$mona" run sr_x2_fast -i "$tmp/none.npy" -o "$tmp/x.npy" --device model310:2
fails "nor does a network alone take several" "several devices work only with --pipeline" on count=4 "$mona" bench sr_x2_fast --size 64x48 --device ascend:all
enhance count=3,chip=1,absent=507033 ascend:0,1
same "a chip that cannot be opened" "$? $(grep -c 'ascend:1: the chip cannot be used: the chip cannot be set up (code 507033)' "$tmp/err")" "2 1"
"$mona" enhance "$tmp/in.y4m" -o "$tmp/wanted.y4m" -y --quiet --device host $options
enhance count=3,chip=1,absent=507033 ascend:all
same "all takes those that can, and names the others" "$(outcome $? | cut -c 1-7) $(grep -c . "$tmp/err") $(grep -c 'ascend:1 is left out: ' "$tmp/err")" "0 equal 1 1"

# ---- mona devices
names() { on "$1" "$mona" devices --json 2> /dev/null | python3 -c "
import json, sys
print(*(f\"{d['name']} {d['temperature_c']}\" for d in json.load(sys.stdin) if d['name'].startswith('ascend')), sep=', ')"; }
same "mona devices lists all chips, each with its own readings" "$(names count=3)" \
    "ascend:0 51, ascend:1 52, ascend:2 53, ascend-om:0 51, ascend-om:1 52, ascend-om:2 53"
same "and watches them" "$(on count=3 "$mona" devices --watch 0.05 --times 2 2> /dev/null | grep -c '^ascend:2 .* 53 C')" 2
same "and names one that does not answer" "$(on count=2,chip=1,absent=507033 "$mona" devices 2>&1 | grep -c -e '^ascend:0 ' -e 'chip 1: .*cannot be set up')" 3
checked() { # KNOBS: what mona devices --check says of chips, and its status
    on "$1" "$mona" devices --check > "$tmp/list"
    echo "$? $(awk '/^(chip|health)/ { print $1, $2 }' "$tmp/list" | tr '\n' ' ')"
}
same "mona devices --check looks at all chips" "$(checked count=3)" "1 chip:0 OK chip:1 OK chip:2 OK health:0 OK health:1 OK health:2 OK "
same "and finds the one that is ill" "$(checked count=3,chip=2,health=2 | cut -d ' ' -f 2-)" \
    "chip:0 OK chip:1 OK chip:2 OK health:0 OK health:1 OK health:2 bad "
same "the one that does not answer" "$(checked count=3,chip=1,absent=507033 | cut -d ' ' -f 2-) $(grep -c '^chip:1 .*cannot be set up' "$tmp/list")" \
    "chip:0 OK chip:1 missing chip:2 OK health:0 OK health:2 OK  1"
same "also if that is the first" "$(checked count=2,chip=0,absent=507033 | cut -d ' ' -f 2-)" "chip:0 missing chip:1 OK health:1 OK "

# ---- chips that fail in mid-film
"$mona" enhance "$tmp/in.y4m" -o "$tmp/wanted_ascend.y4m" -y --quiet --device host --stages sr
enhance "" ascend-om --stages sr
options="--stages sr --sr $tmp/net.om"
enhance "" ascend-om
mv "$tmp/out.y4m" "$tmp/wanted_ascend-om.y4m"
# survives KIND KNOBS: either it fails before the first frame, in one line, or the film is whole. What happened is in $seen.
survives() {
    cp "$tmp/wanted_$1.y4m" "$tmp/wanted.y4m"
    options="--stages sr"
    [ "$1" = ascend ] || options="--stages sr --sr $tmp/net.om"
    enhance "$2" "$1:0,1"
    status=$?
    left=$(grep -c 'is left out of .*, and its frames are computed again elsewhere: ' "$tmp/err")
    case "$status $(cmp -s "$tmp/wanted.y4m" "$tmp/out.y4m" && echo equal) $(grep -c . "$tmp/err") $left $(ls "$tmp" | grep -c out.y4m)" in
        "0 equal 0 0 1") seen=untouched ;;
        "0 equal 1 1 1") seen=left ;;
        "1  1 0 0" | "2  1 0 0") seen=refused ;;
        *) seen=bad ;;
    esac
}
step=11
full && step=1
for kind in ascend ascend-om; do
    functions="aclrtMemcpyAsync aclrtSynchronizeStreamWithTimeout aclrtCreateStream aclrtMallocHost aclrtMalloc"
    case $kind in
        ascend) functions="$functions rtKernelLaunch" ;;
        *) functions="$functions aclmdlExecuteAsync" ;;
    esac
    for chip in 0 1; do
        full || case $kind$chip in ascend1 | ascend-om0) ;; *) continue ;; esac
        bad=
        rm -f "$tmp/bad_err"
        left_out=0
        call=12
        while [ $call -lt 18 ]; do
            survives $kind "count=2,chip=$chip,fail=aclrtSetCurrentContext,fail_call=$call"
            # When all is closed, a chip that is out of reach cannot be asked to release what it holds, so AscendCL is not ended.
            cmp -s "$tmp/wanted.y4m" "$tmp/out.y4m" && grep -q -e '^fake: [12] .* left$' -e 'without aclFinalize$' "$tmp/err" && seen=left
            [ $seen = bad ] && bad="$bad aclrtSetCurrentContext:$call" && cp "$tmp/err" "$tmp/bad_err"
            call=$((call + step))
        done
        for function in $functions; do
            call=$step
            seen=
            # Until no such call is reached; one more or less may be, by how the chips share the frames.
            while [ "$seen" != untouched ] && [ $call -lt 300 ]; do
                survives $kind "count=2,chip=$chip,fail=$function,fail_call=$call"
                [ $seen = left ] && left_out=$((left_out + 1))
                [ $seen = bad ] && bad="$bad $function:$call" && cp "$tmp/err" "$tmp/bad_err"
                call=$((call + step))
            done
        done
        same "$kind: chip $chip fails in any call" "$bad $(cat "$tmp/bad_err" 2> /dev/null)" " "
        at_least "$kind: so often it was left out" $left_out 1
        bad=
        rm -f "$tmp/bad_err"
        lost=$step
        seen=
        while [ "$seen" != untouched ] && [ $lost -lt 400 ]; do
            survives $kind "count=2,chip=$chip,lost=$lost"
            [ $seen = bad ] && bad="$bad $lost" && cp "$tmp/err" "$tmp/bad_err"
            lost=$((lost + step))
        done
        same "$kind: chip $chip is lost after any command" "$bad $(cat "$tmp/bad_err" 2> /dev/null)" " "
    done
done
export MONA_ASCEND_TIMEOUT=3
survives ascend count=2,chip=1,hang=3
same "a chip that hangs" "$seen" left
unset MONA_ASCEND_TIMEOUT
options="--stages sr"
enhance count=2,lost=25 ascend:0,1
same "if all fail, the run does" "$? $(grep -c 'computing failed: .*the connection to the chip was lost' "$tmp/err") $(ls "$tmp/out.y4m" 2> /dev/null)" "1 1 "

# ---- a network's streams on a card's chips
on count=4 "$mona" bench sr_x2_fast --size 64x48 --streams 4 -n 3 --device ascend:all --json > "$tmp/bench" 2> "$tmp/err"
"$mona" bench sr_x2_fast --size 64x48 -n 1 --device host --json > "$tmp/host"
same "four streams on four chips" "$? $(python3 -c "
import json
b, h = json.load(open('$tmp/bench')), json.load(open('$tmp/host'))
print(b['devices'], b['at_once'], len(b['each']), {e['output_crc32'] for e in b['each']} == {h['output_crc32']})") $(cat "$tmp/err")" "0 4 4 4 True "
on "" "$mona" bench sr_x2_fast --size 64x48 --streams 2 -n 3 --device ascend > "$tmp/bench" 2> "$tmp/err"
same "two streams on one chip" "$? $(grep -c 'together ' "$tmp/bench") $(cat "$tmp/err")" "0 1 "

# ---- the time, where chips only wait
# A small network for small frames, since the stand-in computes them too.
ATC_TYPE=u8 PATH="$tmp/bin:$PATH" "$mona" compile models/sr_x2_tiny.onnx -o "$tmp/tiny.om" --picture --target ascend310-om --size 32x16 > /dev/null 2>&1
film 24 "$tmp/in.y4m" 32x16
options="--stages sr --sr $tmp/tiny.om"
wait_us=100000
seconds() { # of the AI Cores' work, from the first frame to the last
    rm -f "$tmp/trace"
    enhance "count=8,run_us=$wait_us,trace=$tmp/trace" "ascend-om:$(seq -s , 0 $(($1 - 1)))"
    [ "$1" -gt 1 ] || mv "$tmp/out.y4m" "$tmp/wanted.y4m"
    awk '$1 == "run" { if (!b || $3 < b) b = $3; if ($4 > e) e = $4 } END { print (e - b) / 1e6 }' "$tmp/trace"
}
# share CHIPS PERCENT: at least so much of their time is used, in the best of three tries
share() {
    used=0
    for try in 1 2 3; do
        now=$(awk -v one="$one" -v all="$(seconds "$1")" -v n="$1" 'BEGIN { printf "%d", 100 * one / all / n }')
        echo "# $1 chips: $now % (try $try)"
        [ "$now" -lt "$used" ] || used=$now
        [ "$used" -lt "$2" ] || break
    done
    at_least "$1 chips that wait, percent" "$used" "$2"
    same "and the bytes are those of one" "$(cmp "$tmp/wanted.y4m" "$tmp/out.y4m" && echo equal)" equal
}
if full; then # for machines that do other work too: as many frames as the 16 runs at once of 8 chips divide, while a film has 60
    wait_us=500000
    film 48 "$tmp/one.y4m" 32x16
    { cat "$tmp/one.y4m" && for more in 1 2 3; do sed 1d "$tmp/one.y4m"; done; } > "$tmp/in.y4m"
fi
one=$(seconds 1)
if full; then
    share 2 95
    share 4 92
    share 8 90
else
    share 2 60
fi
