#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is asked about an operator is a field of its row (mona_op_class, mona_op_run): outside ops/, hardly anything
# compares its kind. Whoever needs another comparison adds a field instead.
. tests/tap.inc

# Lines that compare a kind, which their number is not. $@: files
compared() {
    grep -E '[!=]= *(\([a-z_]+\))?MONA_OP_[A-Z]|case MONA_OP_[A-Z]|MONA_OP_[A-Z0-9_]+ *[!=]=' "$@" | grep -v MONA_OP_COUNT
}

printf '%s\n' 'if (op->kind == MONA_OP_CONV)' 'case MONA_OP_LOAD:' 'MONA_OP_ADD != kind' 'x = (uint32_t)MONA_OP_ADD;' \
    'for (; kind != (int)MONA_OP_MUL;)' '[MONA_OP_ADD] = 1' > "$tmp/lines"
same "comparisons are found" "$(compared "$tmp/lines" | wc -l | tr -d ' ')" 4

find engine formats pipeline apps -name '*.[ch]' -o -name '*.inc' > "$tmp/files"
compared $(cat "$tmp/files") > "$tmp/found"
sed 's/^/# /' "$tmp/found"
found=$(wc -l < "$tmp/found" | tr -d ' ')
[ "$found" -le 2 ] && ok "at most 2 comparisons of operators' kinds outside ops/" ||
    not_ok "at most 2 comparisons of operators' kinds outside ops/" "there are $found"
