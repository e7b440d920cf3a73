#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs/misra.md has every rule that cppcheck's MISRA addon reports for the runtime, and no other.
. tests/tap.inc

if ! command -v cppcheck > /dev/null || ! cppcheck --addon=misra --quiet /dev/null > /dev/null 2>&1; then
    skip "there is no cppcheck with the MISRA addon"
    exit
fi
cppcheck --addon=misra --quiet --std=c11 -I. -Iengine -j 2 --template='{id} {file}:{line}' engine/*.c engine/model engine/run engine/cpu/c \
    ops/*.c 2> "$tmp/findings"
sed -n 's/^misra-c2012-\([0-9.]*\) .*/\1/p' "$tmp/findings" | sort -u > "$tmp/found"
sed -n 's/^| \([0-9., ]*\) |.*/\1/p' docs/misra.md | tr -d ' ' | tr ',' '\n' | sort -u > "$tmp/listed"
[ -s "$tmp/found" ] || not_ok "the addon reports rules" "$(head -5 "$tmp/findings")"
comm -23 "$tmp/found" "$tmp/listed" > "$tmp/unexplained"
comm -13 "$tmp/found" "$tmp/listed" > "$tmp/gone"
same "rules that are reported and not explained" "$(wc -l < "$tmp/unexplained")" 0
while read -r rule; do grep -m 1 "^misra-c2012-$rule " "$tmp/findings" | sed 's/^/# /'; done < "$tmp/unexplained"
same "rules that are explained and not reported" "$(wc -l < "$tmp/gone")" 0
sed 's/^/# /' "$tmp/gone"
