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

# $1: words, one a line. What the checks below look up, between blanks.
words() { echo " $(sort -u | tr '\n' ' ') "; }
all=$(tr -cs 'A-Za-z0-9_' '\n' < "$tmp/all" | words)
constants=$(grep -oE '\<const int(32_t)? [A-Za-z0-9_]+ = [0-9]+' "$tmp/all" | sed 's/.* \([A-Za-z0-9_]*\) = /\1=/' | words)
macros=$(grep -rhoE '^#define +[A-Za-z0-9_]+' "$include/acl" | sed 's/.* //' | words)
has() { case $1 in *" $2 "*) ;; *) false ;; esac; } # words, one of them
declared() { has "$all" "$1"; }

# Each check is a line of one file, so that the compiler finds every difference at once.
ours="dims batches sizes binary"
{
    printf '%s\n' '#include "vendor.h"' '#include <stddef.h>' '#include "engine/ascend/acl.h"'
    for type in $ours; do echo "typedef ascend_$type our_$type;"; done
    printf '%s\n' '#define ascend_dims aclmdlIODims' '#define ascend_batches aclmdlBatch' '#define ascend_sizes aclmdlHW' \
        '#define ascend_binary rtDevBinary_t'
} > "$tmp/check.c"
: > "$tmp/checks"
checked=0 absent=0 bad=0
check() { # name, what it differs from, statement
    printf '%s\n' "$3" >> "$tmp/check.c"
    echo "$1: differs from $2" >> "$tmp/checks"
    checked=$((checked + 1))
}

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
    case $constants in
        *" $vendor=$value "*) checked=$((checked + 1)) && continue ;;
        *" $vendor="*)
            checked=$((checked + 1)) bad=$((bad + 1))
            echo "$name: differs from $vendor, which is not $value"
            continue ;;
    esac
    if declared "$vendor" || has "$macros" "$vendor"; then
        check "$name" "$vendor, which is not $value" "_Static_assert((long)$vendor == $value, \"$vendor\");"
    else
        absent=$((absent + 1))
    fi
done < "$tmp/values"

layout() { # ours without ascend_, theirs, pairs of fields
    type=our_$1 theirs=$2 name=ascend_$1
    shift 2
    declared "$theirs" || { absent=$((absent + 1)); return; }
    statement="_Static_assert(sizeof($type) == sizeof($theirs), \"size\");"
    for pair in "$@"; do
        statement="$statement _Static_assert(offsetof($type, ${pair%=*}) == offsetof($theirs, ${pair#*=}), \"${pair#*=}\");"
    done
    check "$name" "$theirs" "$statement"
}
layout dims aclmdlIODims name=name count=dimCount dims=dims
layout batches aclmdlBatch count=batchCount batches=batch
layout sizes aclmdlHW count=hwCount height_width=hw
layout binary rtDevBinary_t magic=magic version=version data=data bytes=length

# A line for each that the compiler finds wrong. An error elsewhere leaves nothing checked.
first=$(($(wc -l < "$tmp/check.c") - $(wc -l < "$tmp/checks")))
compile -fsyntax-only "$tmp/check.c" 2> "$tmp/err" || {
    sed -n 's/.*check\.c:\([0-9]*\):[0-9]*: error:.*/\1/p' "$tmp/err" | sort -nu > "$tmp/lines"
    if [ "$(head -n 1 "$tmp/lines")" -le "$first" ] 2> /dev/null || [ ! -s "$tmp/lines" ] || grep -v 'check\.c:' "$tmp/err" | grep -q 'error:'; then
        grep -m 1 'error:' "$tmp/err"
        exit 1
    fi
    while read -r line; do sed -n "$((line - first))p" "$tmp/checks"; done < "$tmp/lines"
    bad=$((bad + $(wc -l < "$tmp/lines")))
}

echo "$checked declarations compared, $absent not in these headers, $bad differ"
[ $bad -eq 0 ]
