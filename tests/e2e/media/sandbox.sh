#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A decoder that a file has taken over gets nowhere: what it tries without walls (--no-sandbox), and succeeds with, is refused
# with them.
. tests/tap.inc
CC=${CC:-cc}
[ -z "$SANITIZE" ] || { skip "sanitisers take no library that is loaded before theirs"; exit 0; }

has=$("$mona" devices 2>&1 > /dev/null | sed -n 's/^sandbox of commands that read files: //p')
case $has in none | "") skip "this kernel has no Landlock and no seccomp"; exit 0 ;; esac
echo "# $has"

mkdir "$tmp/in" "$tmp/out" "$tmp/other" "$tmp/lib"
film 6 "$tmp/a.y4m" 64x48
ffmpeg -v error -i "$tmp/a.y4m" -c:v mpeg4 "$tmp/in/a.mkv"
succeeds "the exploit compiles" $CC -Wall -shared -fPIC -D_GNU_SOURCE -o "$tmp/lib/exploit.so" tests/e2e/media/exploit.c -ldl

# attempts RESULTS COMMAND...: what the decoder in it managed
attempts() {
    results=$1
    shift
    echo text > "$VICTIM/secret"
    LD_PRELOAD=$tmp/lib/exploit.so "$mona" "$@" > "$tmp/text" 2> "$tmp/log"
    status=$?
    grep -E '^(file|call): ' "$tmp/log" > "$results"
}
# judge NAME COMMAND...: each attempt, with walls and without
judge() {
    name=$1
    shift
    attempts "$tmp/free" "$@" --no-sandbox
    same "$name without walls: status" $status 0
    at_least "$name without walls: attempts that succeed" "$(grep -c ': done$' "$tmp/free")" 12
    attempts "$tmp/walled" "$@"
    same "$name: status" $status 0
    while read -r line; do
        what=${line%: *}
        case "$has $line" in
        *Landlock*": done" | *seccomp*call:*": done")
            same "$name: $what" "$(grep -F "$what: " "$tmp/walled")" "$what: refused" ;;
        *": done") skip "$name: $what: $has refuses no such attempt" ;;
        *) echo "# $name: $line, without walls too" ;;
        esac
    done < "$tmp/free"
}
export VICTIM="$tmp/other"
judge enhance enhance -y --quiet --stages sr "$tmp/in/a.mkv" -o "$tmp/out/x.mkv"
export VICTIM="$tmp/in" # that of the input, too
judge "beside the input" enhance -y --quiet --stages sr "$tmp/in/a.mkv" -o "$tmp/out/x.mkv"
export VICTIM="$tmp/other"
cp "$tmp/in/a.mkv" "$tmp/out/a.mkv"
judge compare compare "$tmp/in/a.mkv" "$tmp/out/a.mkv"
attempts "$tmp/walled" enhance -y --quiet --stages sr "$tmp/in/a.mkv" --out-dir "$tmp/out"
same "a batch: status and what was refused" "$status $(grep -c ': refused$' "$tmp/walled")" "0 $(grep -c ': done$' "$tmp/free")"

# ---- a decoder that crashes -------------------------------------------------------------------------
unset VICTIM
rm -f "$tmp/out/x.mkv"
for signal in 11 7 8 4 6 5; do
    CRASH=$signal LD_PRELOAD=$tmp/lib/exploit.so "$mona" enhance -y --quiet --stages sr "$tmp/in/a.mkv" -o "$tmp/out/x.mkv" 2> "$tmp/log"
    same "signal $signal: status, one line, nothing left" "$? $(grep -c "crashed (signal $signal)" "$tmp/log") $(grep -c '^mona' "$tmp/log") $(find "$tmp/out" -name 'x.mkv*')" \
        "$((128 + signal)) 1 1 "
done
CRASH_AT_END=11 LD_PRELOAD=$tmp/lib/exploit.so "$mona" enhance -y --quiet --no-sandbox --stages sr "$tmp/in/a.mkv" -o "$tmp/out/x.mkv" 2> "$tmp/log"
same "at the end: what was written is there, as the line says" "$? $(grep -c "crashed (signal 11).*; what was complete is kept" "$tmp/log") $(cd "$tmp/out" && ls x.mkv*)" \
    "139 1 x.mkv"
rm -f "$tmp/out/x.mkv"
