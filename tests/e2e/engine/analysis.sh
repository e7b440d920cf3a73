#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cppcheck finds nothing in mona that tests/analysis.left does not explain; a line of it that nothing needs is to go.
. tests/tap.inc

# Others find other things, as versions of clang-format do.
if ! cppcheck --version 2> /dev/null | grep -q ' 2\.10'; then
    skip "no cppcheck 2.10 here"
    exit 0
fi
printf '%s\n' '#define cJSON_ArrayForEach(element, array) for (element = (array)->child; element; element = element->next)' \
    '#define G_DEFINE_TYPE(type, name, parent)' > "$tmp/known.h"
# $1...: files. Each finding as "ID FILE:LINE MESSAGE".
findings() {
    timeout 1200 cppcheck --std=c11 --quiet --enable=warning,portability --max-configs=1 -j "$(nproc)" -D_GNU_SOURCE -D__linux__ -D__x86_64__ \
        -D__GNUC__=12 --include="$tmp/known.h" -I. -Iengine --template='{id} {file}:{line} {message}' "$@" 2>&1 || echo "it ended with status $?"
}
findings engine ops formats pipeline apps models/embedded.c | sort -u > "$tmp/findings"
grep -v '^#' tests/analysis.left | awk 'NF { print $1, $2 }' | sort -u > "$tmp/explained"
sed 's/:[0-9]* .*//' "$tmp/findings" | sort -u > "$tmp/found"
nothing "what cppcheck finds is explained" "$(comm -23 "$tmp/found" "$tmp/explained" | while read -r row; do grep -m 3 -F "$row" "$tmp/findings"; done)"
nothing "what is explained is found" "$(comm -13 "$tmp/found" "$tmp/explained")"
nothing "each line has its reason" "$(grep -v '^#' tests/analysis.left | awk 'NF && NF < 6')"
# It must see faults.
printf '#include <stdio.h>\nint f(int i) { int a[4] = {0}; int *p = 0; printf("%%s", i); return i ? a[4] : *p; }\n' > "$tmp/faulty.c"
same "found: an index, a pointer and an argument" "$(findings "$tmp/faulty.c" | cut -d ' ' -f 1 | sort -u | tr '\n' ' ')" \
    "arrayIndexOutOfBounds invalidPrintfArgType_s nullPointer "
