#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make check-acl-headers: what differs from a kit's headers is found, one by one.
. tests/tap.inc

compare() { sh tests/ascend/check_headers.sh "$tmp/include" > "$tmp/found" 2>&1; }
planted() { # name, sed expression, words
    sh tests/ascend/stand_in_header.sh "$tmp/include"
    sed -i "$2" "$tmp/include/acl/acl.h"
    compare
    same "$1" "$? $(grep -c "^$3" "$tmp/found") $(grep -c ' 1 differ' "$tmp/found")" "1 1 1"
}

sh tests/ascend/stand_in_header.sh "$tmp/include"
succeeds "equal headers" make -s check-acl-headers ACL_INCLUDE="$tmp/include"
declared=$(cat engine/ascend/functions.inc engine/ascend/values.inc | grep -c '^[FV][A-Z]*(')
same "all are compared" "$(tail -n 1 "$tmp/log")" "$((declared + 4)) declarations compared, 0 not in these headers, 0 differ"
planted "two arguments that changed places" 's/aclrtRecordEvent(void \*event, void \*stream)/aclrtRecordEvent(int *stream, void *event)/' aclrtRecordEvent:
planted "one argument more" 's/\(int aclrtMalloc(.*\));/\1, int more);/' aclrtMalloc:
planted "another width" 's/aclrtGetDeviceCount(uint32_t/aclrtGetDeviceCount(uint64_t/' aclrtGetDeviceCount:
planted "another result" 's/^size_t aclmdlGetNumInputs/int aclmdlGetNumInputs/' aclmdlGetNumInputs:
planted "a function that is gone" '/aclmdlUnload/d' aclmdlUnload:
planted "another value" 's/ACL_MEMCPY_DEVICE_TO_HOST = 2/ACL_MEMCPY_DEVICE_TO_HOST = 3/' ASCEND_TO_HOST:
planted "another error code" 's/ACL_ERROR_BAD_ALLOC = 200000/ACL_ERROR_BAD_ALLOC = 200001/' ASCEND_NO_HOST_MEMORY:
planted "another size of a struct" 's/int64_t dims\[128\]/int64_t dims[64]/' ascend_dims:
planted "another order in a struct" 's/uint32_t magic; uint32_t version;/uint32_t version; uint32_t magic;/' ascend_binary:
planted "a field that is gone" 's/size_t hwCount;/size_t count;/' ascend_sizes:
# Several at once.
sed -i 's/aclmdlUnload(uint32_t/aclmdlUnload(uint64_t/; s/ACL_MEMCPY_DEVICE_TO_HOST = 2/ACL_MEMCPY_DEVICE_TO_HOST = 3/' "$tmp/include/acl/acl.h"
compare
same "three at once" "$(grep -c differs "$tmp/found") $(grep -c ' 3 differ' "$tmp/found")" "3 1"
same "no folder" "$(make -s check-acl-headers 2>&1 | grep -c 'expected ACL_INCLUDE=')" 1

# make check-kernel-headers: the same of intrinsics. In place of a kit's, those that the kernel is compiled with here.
if command -v clang > /dev/null; then
    intrinsics() {
        mkdir -p "$tmp/stubs"
        : > "$tmp/stubs/stub_def.h"
        sed -n '/^#else$/,/^#ifndef __clang__$/p' engine/ascend/kernel/cce.h |
            sed '1d; $d; s, __attribute__((address_space(.))),,' > "$tmp/stubs/stub_fun.h"
    }
    misfit() { # name, sed expression, words
        intrinsics
        sed -i "$2" "$tmp/stubs/stub_fun.h"
        sh tests/ascend/check_kernel_headers.sh "$tmp/stubs" engine/ascend/kernel/replay.cce > "$tmp/found" 2>&1
        same "$1" "$? $(grep -c "^engine/ascend/kernel/replay.cce: .*$3" "$tmp/found") $(tail -n 1 "$tmp/found")" "1 1 1 kernels compared, 1 differ"
    }
    intrinsics
    "$mona" compile colour -o "$tmp/net.mona" --target ascend310 --size 64x48 > "$tmp/log" 2>&1
    "$mona" inspect "$tmp/net.mona" --kernel > "$tmp/own.cce"
    same "equal intrinsics" "$(sh tests/ascend/check_kernel_headers.sh "$tmp/stubs" engine/ascend/kernel/replay.cce "$tmp/own.cce" | tail -n 1)" \
        "2 kernels compared, 0 differ"
    misfit "an intrinsic that is gone" '/void scatter_vnchwconv_b16/,/^}/d' scatter_vnchwconv_b16
    misfit "without the form of one word" '/define CCE_VEC2/,/^    }/s/uint64_t config)/uint64_t config, uint8_t more)/' vadd
    misfit "other pointers" 's/broadcast_ub_to_cc(__cc__ float \*dst, __ubuf__ float/broadcast_ub_to_cc(__cc__ float *dst, __ubuf__ half/' broadcast_ub_to_cc
    misfit "another name of a mode" 's/CRMODE_S32toF16_DEQSCALE_SPR/CRMODE_S32toF16_DEQSCALE/' CRMODE_S32toF16_DEQSCALE_SPR
    same "no folder of intrinsics" "$(make -s check-kernel-headers 2>&1 | grep -c 'expected TIKICPULIB=')" 1
else
    skip "intrinsics: no clang"
fi
