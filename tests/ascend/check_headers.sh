#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Holds what engine/ascend declares of the vendor's libraries against the headers of an installed CANN:
# sh tests/ascend/check_headers.sh FOLDER, the one that holds acl/acl.h. One line for each difference.
include=$1
CC=${CC:-gcc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if [ ! -f "$include/acl/acl.h" ]; then
    echo "expected ACL_INCLUDE=FOLDER with acl/acl.h, as in /usr/local/Ascend/ascend-toolkit/latest/include, found ${include:+none in }${include:-no folder}" >&2
    exit 2
fi

compile() { $CC -std=gnu11 -w -I"$include" -I. -Iengine -I"$tmp" "$@"; }
# Headers beyond those of AscendCL come with some packages only, and may need others.
# C takes the names of the media part's enumerations only with these types.
{
    echo '#include <stdbool.h>
#include <stdint.h>
#define ENABLE_DVPP_INTERFACE'
    sed -n 's/^enum \([A-Za-z0-9]*\) *{.*/typedef enum \1 \1;/p' "$include/acl/ops/acl_dvpp.h" 2> /dev/null
} > "$tmp/vendor.h"
for header in acl/acl.h acl/acl_op.h acl/acl_mdl.h acl/ops/acl_dvpp.h runtime/kernel.h dcmi_interface_api.h; do
    cp "$tmp/vendor.h" "$tmp/before.h"
    echo "#include <$header>" >> "$tmp/vendor.h"
    if ! compile -fsyntax-only -x c "$tmp/vendor.h" 2> "$tmp/err"; then
        echo "$header: not used: $(grep -m 1 error "$tmp/err")"
        cp "$tmp/before.h" "$tmp/vendor.h"
    fi
done
compile -E -x c "$tmp/vendor.h" > "$tmp/all"

# Each statement is compiled by itself, so that every difference is seen.
checked=0 absent=0 bad=0
check() { # what it says, statement
    printf '%s\n' '#include "vendor.h"' '#include <stddef.h>' '#include "engine/ascend/acl.h"' '#define ascend_dims aclmdlIODims' \
        '#define ascend_batches aclmdlBatch' '#define ascend_sizes aclmdlHW' '#define ascend_binary rtDevBinary_t' "$3" > "$tmp/check.c"
    checked=$((checked + 1))
    if ! compile -fsyntax-only "$tmp/check.c" 2> "$tmp/err"; then
        bad=$((bad + 1))
        echo "$1: differs from $2"
    fi
}

declared() { grep -qw "$1" "$tmp/all"; }

sed -n 's/^FUNCTION(\([A-Z]*\), \([A-Z]*\), "\([^"]*\)", \(.*\), \([A-Za-z_0-9]*\), \((.*)\))$/\1|\2|\3|\4|\5|\6/p' \
    engine/ascend/functions.inc > "$tmp/functions"
while IFS='|' read -r library need since result name arguments; do
    if declared "$name"; then
        check "$name" "the header's prototype" \
            "_Static_assert(__builtin_types_compatible_p(__typeof__($name), __typeof__($result(*)$arguments) *) || __builtin_types_compatible_p(__typeof__(&$name), $result(*)$arguments), \"$name\");"
    elif [ "$need" = REQUIRED ]; then
        bad=$((bad + 1))
        echo "$name: not in these headers, though CANN $since should have it"
    else
        absent=$((absent + 1))
    fi
done < "$tmp/functions"

grep '^VALUE' engine/ascend/values.inc | tr -d '() ' | sed 's/^VALUE//' | tr ',' '|' > "$tmp/values"
while IFS='|' read -r name vendor value; do
    # Error codes are constants that C does not take in an assertion.
    if grep -qE "\\<const int(32_t)? $vendor = [0-9]+" "$tmp/all"; then
        checked=$((checked + 1))
        grep -qE "\\<$vendor = $value\\>" "$tmp/all" || {
            bad=$((bad + 1))
            echo "$name: differs from $vendor, which is not $value"
        }
    elif declared "$vendor" || grep -rqE "^#define +$vendor\\>" "$include/acl"; then
        check "$name" "$vendor, which is not $value" "_Static_assert((long)$vendor == $value, \"$vendor\");"
    else
        absent=$((absent + 1))
    fi
done < "$tmp/values"

layout() { # ours, theirs, pairs of fields
    ours=$1 theirs=$2
    shift 2
    declared "$theirs" || { absent=$((absent + 1)); return; }
    statement="_Static_assert(sizeof(ours) == sizeof($theirs), \"size\");"
    for pair in "$@"; do
        statement="$statement _Static_assert(offsetof(ours, ${pair%=*}) == offsetof($theirs, ${pair#*=}), \"${pair#*=}\");"
    done
    printf '%s\n' '#include "engine/ascend/acl.h"' "typedef $ours ours;" > "$tmp/ours.h"
    check "$ours" "$theirs" "#undef $ours
#include \"ours.h\"
$statement"
}
layout ascend_dims aclmdlIODims name=name count=dimCount dims=dims
layout ascend_batches aclmdlBatch count=batchCount batches=batch
layout ascend_sizes aclmdlHW count=hwCount height_width=hw
layout ascend_binary rtDevBinary_t magic=magic version=version data=data bytes=length

echo "$checked declarations compared, $absent not in these headers, $bad differ"
[ $bad -eq 0 ]
