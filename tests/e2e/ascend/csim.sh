#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make check-csim: an instruction that the simulator computes otherwise is found. In place of the simulator, a library with three of
# its functions.
. tests/tap.inc

command -v "${CXX:-g++}" > /dev/null || { skip "no ${CXX:-g++}"; exit; }
simulator() { # sed expression
    sed "$1" > "$tmp/sim.cc" << 'END'
#include <cstdint>
#include <cstdlib>
#include <cstring>
struct half { uint16_t bits; ~half() {} };
static bool mask[128];
void set_vector_mask(uint64_t high, uint64_t low) { for (int i = 0; i < 128; i++) mask[i] = (i < 64 ? low : high) >> i % 64 & 1; }
void copy_gm_to_ubuf(void *dst, void *src, uint8_t, uint16_t bursts, uint16_t blocks, uint16_t src_gap, uint16_t dst_gap)
{
    for (int i = 0; i < bursts; i++)
        memcpy((char *)dst + i * (blocks + dst_gap) * 32, (char *)src + i * (blocks + src_gap) * 32, blocks * 32);
}
void vector_dup(half *dst, const half &value, uint8_t repeat, uint16_t block, uint16_t, uint8_t step, uint8_t)
{
    for (int r = 0; r < repeat; r++)
        for (int i = 0; i < 128; i++)
            if (mask[i])
                dst[(r * step + i / 16 * block) * 16 + i % 16].bits = value.bits;
}
END
    "${CXX:-g++}" -w -shared -fPIC -O1 -o "$tmp/libsim.so" "$tmp/sim.cc"
    CC="${CC:-gcc}" sh tests/ascend/check_csim.sh "$tmp/libsim.so" > "$tmp/found" 2>&1
}
simulator ''
same "equal instructions" "$? $(grep -c ' 60 compared, 0 refused, 0 differ$' "$tmp/found") $(tail -n 1 "$tmp/found")" \
    "0 4 240 instructions compared, 0 kinds of operands other than known"
same "those that it lacks" "$(grep -c 'the simulator has none$' "$tmp/found")" 40
simulator 's/(blocks + src_gap)/src_gap/'
same "another meaning of a gap" "$? $(grep -c '^copy_gm_to_ubuf, .* [1-9][0-9]* differ$' "$tmp/found")" "1 2"
simulator 's/i < 64 ? low : high/high/'
same "another order of the mask" "$? $(grep -c '^vector_dup, .* [1-9][0-9]* differ$' "$tmp/found")" "1 2"
simulator 's/    for (int r = 0;/    abort();\n&/'
same "operands that it refuses" "$? $(grep -c '^vector_dup, .*: 0 compared, 60 refused, 0 differ$' "$tmp/found")" "1 2"
same "no library" "$(make -s check-csim 2>&1 | grep -c 'expected CSIM=FILE')" 1
