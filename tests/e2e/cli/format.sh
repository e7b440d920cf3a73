#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every source file is as clang-format writes it, and make format-check finds one that is not.
. tests/tap.inc
format=$(command -v clang-format-14 || command -v clang-format)
if ! git ls-files > /dev/null 2>&1; then
    echo "ok 1 - sources as clang-format writes them # SKIP no git checkout"
    echo "1..1"
elif ! "${format:-false}" --version 2> /dev/null | grep -q 'version 14\.'; then
    echo "ok 1 - sources as clang-format writes them # SKIP no clang-format 14"
    echo "1..1"
else
    succeeds "sources are as clang-format writes them" make -s format-check FORMAT="$format"
    cp .clang-format "$tmp"
    printf 'int  x ;\n' > "$tmp/untidy.c"
    if (cd "$tmp" && "$format" --dry-run -Werror untidy.c) > "$tmp/log" 2>&1; then
        not_ok "an untidy file is found" "it was not"
    else
        ok "an untidy file is found"
    fi
    echo "1..$tests"
fi
