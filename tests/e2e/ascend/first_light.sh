#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The script for the first run on a chip, on the stand-in for the vendor's libraries: all instructions and networks are
# equal, a kernel that computes something else is found and named, and model310 reads the costs.
. tests/tap.inc

python3 tests/ascend/make_kernel.py "$tmp/kernel.o" mona_replay3__kernel0
export MONA_ASCEND_KERNEL="$tmp/kernel.o"
first_light() { # FOLDER KNOBS
    LD_LIBRARY_PATH=$PWD/$BUILD/ascend/full FAKE_ASCEND=$2 BUILD=$BUILD sh apps/ascend/first_light.sh "$1" > "$tmp/log" 2>&1
}
full || export NETWORKS="bicubic_x2 sr_x2_fast denoise_balanced" SIZE=320x180
first_light "$tmp/first" ""
same "its exit status" "$?" 0
same "instructions are equal" "$(grep -c '^equal: ' "$tmp/first/instructions") $(tail -n 1 "$tmp/first/instructions")" "45 0 of 45 instructions differ"
same "layers are equal" "$(grep -c '^equal: .* layers$' "$tmp/first/layers") $(tail -n 1 "$tmp/first/layers")" \
    "$(if full; then find models -name '*.mona' ! -name '*_video.mona' | wc -l; else echo 3; fi) 0 networks differ"
same "networks are equal" "$(grep -c '^equal: .* at ' "$tmp/first/log")" "$(full && echo 6 || echo 3)"
same "costs are numbers" "$(python3 -c "
import json; c = json.load(open('$tmp/first/costs.json')); print(sorted(c), all(v >= 0 for v in c.values()))")" \
    "['clock_mhz', 'copy_latency', 'drain_latency', 'local_latency', 'replay', 'task_launch', 'vector_latency'] True"
modelled() { grep -o '[0-9.]* ms, modelled, ideal, by the replay kernel' "$1"; }
same "which model310 reads" "$(modelled "$tmp/first/model310" | wc -l)" 1
"$mona" bench sr_x2_fast --size "${SIZE:-1920x1080}" --device model310 > "$tmp/guessed"
same "and computes with" "$([ "$(modelled "$tmp/guessed")" != "$(modelled "$tmp/first/model310")" ] && echo other)" other

# Both readings of bit 63 of CTRL.
small() { LD_LIBRARY_PATH=$PWD/$BUILD/ascend/full FAKE_ASCEND=$1 "$BUILD/first_light" small-channels 2>&1 | tr '\n' ,; }
same "small channels with both settings" "$(small "")" "small channels, bit 63 of CTRL clear: equal,small channels, bit 63 of CTRL set: equal,"
same "on a chip that needs it" "$(small readings=1 | grep -o 'small.*')" \
    "small channels, bit 63 of CTRL clear: differs,small channels, bit 63 of CTRL set: equal,"
chip() {
    LD_LIBRARY_PATH=$PWD/$BUILD/ascend/full FAKE_ASCEND=readings=1 MONA_ASCEND_CTRL63=$1 "$mona" bench sr_x2_fast --size 64x48 -n 1 \
        --device ascend 2>&1 | grep -o 'CRC-32.*'
}
host=$("$mona" bench sr_x2_fast --size 64x48 -n 1 --device host | grep -o 'CRC-32.*')
same "whose networks have the host's bytes with it" "$([ "$(chip 1)" = "$host" ] && echo equal) $([ "$(chip 0)" = "$host" ] && echo equal)" "equal "

# A network with biases of fp16, read every other way: at once, and in the full tier each by itself.
if [ -r ../shared/found/chip/bias.onnx ]; then
    "$mona" compile ../shared/found/chip/bias.onnx -o "$tmp/bias.mona" --target ascend310 > "$tmp/log" 2>&1
    biased() { "$mona" bench "$tmp/bias.mona" -n 1 --device "$1" 2>&1 | grep -o 'CRC-32.*'; }
    for readings in 31 $(full && echo 1 2 4 8 16); do
        same "a network with biases of fp16, read the other ways: $readings" \
            "$(LD_LIBRARY_PATH=$PWD/$BUILD/ascend/full FAKE_ASCEND=readings=$readings MONA_ASCEND_CTRL63=1 biased ascend)" "$(biased host)"
    done
fi

if full; then
    first_light "$tmp/wrong" wrong=vconv
    same "a chip that computes one instruction wrongly" "$? $(grep '^differs' "$tmp/wrong/instructions" | cut -d : -f 2 | sort -u)" "1  vconv"
    same "the layer is named" "$(grep -c '^differs: sr_x2_fast, layer [0-9]* (.*), byte ' "$tmp/wrong/layers")" 1
    same "and the network" "$(grep -c '^differs: sr_x2_fast at 64x48: found CRC-32' "$tmp/wrong/log")" 1
fi
