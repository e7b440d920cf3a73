#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cppcheck, clang-tidy and gcc's analyser find nothing in mona that tests/analysis.left does not explain; a line of it
# that nothing needs is to go. Other versions find other things, as those of clang-format do.
. tests/tap.inc

# $1: the analyser, $2: a pattern of its rules; what it finds, as "RULE FILE:LINE MESSAGE", is in $tmp/findings
judged() {
    grep -v '^#' tests/analysis.left | awk 'NF { print $1, $2 }' | grep -E "^($2)" | sort -u > "$tmp/explained"
    awk 'NR == FNR { if ($2 == "*") all[$1]; next } { sub(/:[0-9]*$/, "", $2); print $1, $1 in all ? "*" : $2 }' "$tmp/explained" "$tmp/findings" |
        sort -u > "$tmp/found"
    nothing "what $1 finds is explained" \
        "$(comm -23 "$tmp/found" "$tmp/explained" | while read -r rule file; do grep -m 3 -F "$rule $file:" "$tmp/findings"; done)"
    nothing "what is explained is found by $1" "$(comm -13 "$tmp/found" "$tmp/explained")"
}
nothing "each line has its reason" "$(grep -v '^#' tests/analysis.left | awk 'NF && NF < 6')"
# They must see faults.
printf '#include <stdio.h>\nint f(int i) { int a[4] = {0}; int *p = 0; printf("%%s", i); return i ? a[4] : *p; }\n' > "$tmp/faulty.c"
printf '#include <stdlib.h>\nint f(const char *t) { return atoi(t); }\n' > "$tmp/careless.c"
rules() { cut -d ' ' -f 1 | sort -u | tr '\n' ' '; }

if cppcheck --version 2> /dev/null | grep -q ' 2\.10'; then
    printf '%s\n' '#define cJSON_ArrayForEach(element, array) for (element = (array)->child; element; element = element->next)' \
        '#define G_DEFINE_TYPE(type, name, parent)' > "$tmp/known.h"
    findings() {
        timeout 1200 cppcheck --std=c11 --quiet --enable=warning,portability --max-configs=1 -j "$(nproc)" -D_GNU_SOURCE -D__linux__ -D__x86_64__ \
            -D__GNUC__=12 --include="$tmp/known.h" -I. -Iengine --template='{id} {file}:{line} {message}' "$@" 2>&1 || echo "ends cppcheck:0 with status $?"
    }
    findings engine ops formats pipeline apps models/embedded.c | sort -u > "$tmp/findings"
    judged cppcheck '[A-Za-z]+ '
    same "found by cppcheck" "$(findings "$tmp/faulty.c" | rules)" "arrayIndexOutOfBounds invalidPrintfArgType_s nullPointer "
else
    skip "no cppcheck 2.10 here"
fi

# $1: the analyser, $2: a pattern of its rules, $3: a faulty file, $4: rules that find something in it
analysed() {
    python3 tests/e2e/engine/analyse.py "$1" "$BUILD" "$tmp/$1" | sort -u > "$tmp/findings"
    judged "$1" "$2"
    same "found by $1" "$(python3 tests/e2e/engine/analyse.py "$1" "$BUILD" "$tmp/$1" "$tmp/$3" | rules)" "$4"
}
if gcc -dumpversion 2> /dev/null | grep -q '^12'; then
    analysed gcc analyzer- faulty.c "analyzer-null-dereference "
else
    skip "no gcc 12 here"
fi
if clang-tidy --version 2> /dev/null | grep -q 'version 14'; then
    analysed clang-tidy '(bugprone|cert|concurrency)-' careless.c "cert-err34-c "
else
    skip "no clang-tidy 14 here"
fi
