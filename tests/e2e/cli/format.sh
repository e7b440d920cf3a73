#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every source file is as clang-format writes it, and make format-check finds one that is not.
. tests/tap.inc
format=$(command -v clang-format-14 || command -v clang-format)
if ! git ls-files > /dev/null 2>&1; then
    skip "no git checkout"
elif ! "${format:-false}" --version 2> /dev/null | grep -q 'version 14\.'; then
    skip "no clang-format 14"
else
    succeeds "sources are as clang-format writes them" make -s format-check FORMAT="$format"
    cp .clang-format "$tmp"
    printf 'int  x ;\n' > "$tmp/untidy.c"
    if (cd "$tmp" && "$format" --dry-run -Werror untidy.c) > "$tmp/log" 2>&1; then
        not_ok "an untidy file is found" "it was not"
    else
        ok "an untidy file is found"
    fi
fi
