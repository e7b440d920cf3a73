#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make check-tik: what model310 allows and TIK does not is found, one by one. In place of TIK's sources, lines that say as much.
. tests/tap.inc

tik=$tmp/tik
moves=tik_lib/tik_data_move_api/tik_data_move_check.py
cube=tik_lib/tik_mmad_convert_api
sources() {
    mkdir -p "$tik/common" "$tik/api" "$tik/$cube" "$tik/$(dirname $moves)"
    printf '%s\n' 'MAX_NBURST_DOUBLE_BYTE = 4095' 'MAX_NBURST_SINGLE_BYTE = 255' 'MAX_STRIDE = 63' > "$tik/tik_lib/tik_params.py"
    printf '%s\n' '    end = MAX_NBURST_DOUBLE_BYTE' > "$tik/$moves"
    printf '%s\n' "check('stride_w', end=MAX_STRIDE)" > "$tik/$cube/tik_mmad_convert_operation.py"
    printf '%s\n' "check('nburst', end=MAX_NBURST_SINGLE_BYTE)" > "$tik/$cube/tik_mmad_other_operation.py"
    printf '%s\n' 'DMA_V100_ALIGN = {' "    'L1': 32," "    'UB': 32," "    'OUT': 1," '}' > "$tik/common/common_util.py"
    printf '%s\n' 'raise_error("set_as'"'"'s value can'"'"'t be GM Tensor")' > "$tik/api/tik_tensor.py"
}
compare() { CC="${CC:-gcc} $sanitisers" sh tests/ascend/check_tik.sh "$tik" > "$tmp/found" 2>&1; }
planted() { # name, file, sed expression, words
    sources
    sed -i "$3" "$tik/$2"
    compare
    same "$1" "$? $(grep ': differs$' "$tmp/found" | sed 's/ (.*//') $(tail -n 1 "$tmp/found" | grep -o '[0-9]* differ')" "1 $4 1 differ"
}

sources
compare
same "equal rules, and those that are not there" "$? $(tail -n 1 "$tmp/found")" "0 16 rules compared, 26 not in these sources, 0 differ"
planted "fewer bursts" tik_lib/tik_params.py 's/SINGLE_BYTE = 255/SINGLE_BYTE = 128/' "bias.bursts: at most 255, TIK 128"
planted "smaller strides" tik_lib/tik_params.py 's/STRIDE = 63/STRIDE = 31/' "load3d.stride: at most 63, TIK 31"
planted "a larger alignment" common/common_util.py "s/'L1': 32/'L1': 64/" "copy_gm_l1.dst: aligned to 32, TIK 64"
same "no folder" "$(make -s check-tik CC="${CC:-gcc} $sanitisers" 2>&1 | grep -c 'expected TIK=FOLDER')" 1
