#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every option of a command in every mode: it changes what the run makes or says, or is refused by name, or stands in
# the table as without effect there. A short run gives a third of what is refused.
. tests/tap.inc

rows=$BUILD/tests/test_settings
[ -x "$rows" ] || make -s --no-print-directory BUILD="$BUILD" SANITIZE="$SANITIZE" "$rows" > "$tmp/log" 2>&1
"$rows" --rows > "$tmp/rows.json"
mkdir "$tmp/walk"
# shellcheck disable=SC2046
python3 tests/judges/settings_judge.py "$mona" "$tmp/rows.json" "$tmp/walk" "$BUILD/ascend" $(full && echo enhance bench model-pairs pipeline-pairs chip-pairs compare inspect ops run compile eval verify sign devices help || echo operators fusion checked manual third) \
    > "$tmp/cells" 2> "$tmp/err"
same "the judge came to its end" "$? $(grep -c '^# [0-9]* cells' "$tmp/cells") $(cat "$tmp/err")" "0 1 "
at_least "it looked at options in modes" "$(sed -n 's/^# \([0-9]*\) cells.*/\1/p' "$tmp/cells")" 50
nothing "each changes something, is refused or is listed" "$(grep '^not ok' "$tmp/cells")"

# A row that does not say whether bytes depend on it is no row.
row='{"--crf", NULL, OPTION_NUMBER, EFFECT 0, "N", "Encoding", .help = "quality"}'
for effect in "CHANGES_BYTES," "KEEPS_BYTES," ""; do
    printf '#include "apps/cli/options.h"\nextern const option row;\nconst option row = %s;\n' \
        "$(echo "$row" | sed "s/EFFECT/$effect/")" > "$tmp/row.c"
    ${CC:-gcc} -std=c11 -Werror=int-conversion -I. -Iengine -fsyntax-only "$tmp/row.c" > "$tmp/log" 2>&1
    echo $? >> "$tmp/compiled"
done
same "a row without its effect does not compile" "$(tr '\n' ' ' < "$tmp/compiled")" "0 0 1 "
