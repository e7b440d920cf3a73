#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make check-acl-headers: what differs from a kit's headers is found, one by one.
. tests/tap.inc

compare() { make -s check-acl-headers ACL_INCLUDE="$tmp/include" > "$tmp/found" 2>&1; }
planted() { # name, sed expression, words
    sh tests/ascend/stand_in_header.sh "$tmp/include"
    sed -i "$2" "$tmp/include/acl/acl.h"
    compare
    same "$1" "$(grep -c "^$3" "$tmp/found") $(grep -c ' 1 differ' "$tmp/found")" "1 1"
}

sh tests/ascend/stand_in_header.sh "$tmp/include"
compare
same "equal headers" "$(grep -c ' 0 differ' "$tmp/found")" 1
planted "two arguments that changed places" 's/aclrtRecordEvent(void \*event, void \*stream)/aclrtRecordEvent(int *stream, void *event)/' aclrtRecordEvent:
if full; then
    planted "one argument more" 's/\(int aclrtMalloc(.*\));/\1, int more);/' aclrtMalloc:
    planted "another width" 's/aclrtGetDeviceCount(uint32_t/aclrtGetDeviceCount(uint64_t/' aclrtGetDeviceCount:
    planted "another result" 's/^size_t aclmdlGetNumInputs/int aclmdlGetNumInputs/' aclmdlGetNumInputs:
    planted "a function that is gone" '/aclmdlUnload/d' aclmdlUnload:
fi
planted "another value" 's/ACL_MEMCPY_DEVICE_TO_HOST = 2/ACL_MEMCPY_DEVICE_TO_HOST = 3/' ASCEND_TO_HOST:
planted "another error code" 's/ACL_ERROR_BAD_ALLOC = 200000/ACL_ERROR_BAD_ALLOC = 200001/' ASCEND_NO_HOST_MEMORY:
planted "another size of a struct" 's/int64_t dims\[128\]/int64_t dims[64]/' ascend_dims:
planted "another order in a struct" 's/uint32_t magic; uint32_t version;/uint32_t version; uint32_t magic;/' ascend_binary:
same "no folder" "$(make -s check-acl-headers 2>&1 | grep -c 'expected ACL_INCLUDE=')" 1
