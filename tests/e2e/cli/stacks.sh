#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How deep the stacks of the command's threads get, measured (stacks.c): those of mona's own within 64 KiB, those of
# libraries and the first one well within the 1 MiB without which the command refuses to run.
. tests/tap.inc
CC=${CC:-cc}

if [ -n "$SANITIZE" ] || ! printf '#include <features.h>\n__GLIBC__' | $CC -E - 2> /dev/null | tail -n 1 | grep -q '[0-9]'; then
    skip "stacks are painted by a preloaded library, which needs glibc and a build without sanitisers"
    exit 0
fi
succeeds "the measure compiles" $CC -std=gnu11 -O1 -Wall -Werror -fPIC -shared -o "$tmp/stacks.so" tests/e2e/cli/stacks.c -ldl -pthread
export STACKS_LOG="$tmp/log"
measured() { # COMMAND...
    LD_PRELOAD="$tmp/stacks.so" timeout 300 "$@" > "$tmp/said" 2>&1 < /dev/null || echo "$? $* $(cat "$tmp/said")" >> "$tmp/failed"
}
enhance() { # IN OUT OPTIONS...
    in=$1 out=$2
    shift 2
    measured "$mona" enhance "$tmp/$in" -o "$tmp/$out" -y --quiet --no-sandbox "$@"
}
: > "$tmp/log" > "$tmp/failed"
film 24 "$tmp/scene.y4m" 320x180
ffmpeg -v error -i "$tmp/scene.y4m" -f lavfi -i sine=d=1 -c:v libx264 -pix_fmt yuv420p -c:a aac "$tmp/in.mkv"
for kind in png jpg webp; do
    ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 1 "$tmp/in.$kind"
    enhance in.$kind out.$kind
done
enhance in.mkv out.mkv --html "$tmp/page.html"
enhance in.mkv out.mp4 --resume --segment 8 --colour 0.7
for codec in hevc av1 ffv1; do
    enhance in.mkv $codec.mkv -c $codec
    enhance $codec.mkv out.mkv
done
measured "$mona" compile models/sr_x2_best.onnx -o "$tmp/x.mona" --picture --no-sandbox
measured "$mona" bench sr_x2_fast --size 64x48 -n 2
measured "$mona" bench sr_x2_fast --size 64x48 --device model310
nothing "each run ends well" "$(cat "$tmp/failed")"
# $1: awk's condition on a thread's file. The deepest, in bytes
deepest() { awk '{ file = $3; sub(/\+.*/, "", file) } '"$1"' && $1 > most { most = $1 } END { print most + 0 }' "$tmp/log"; }
# A thread of mona's that only calls libraries has their depth.
calls=$(nm "$mona" | awk '$3 == "call_encoder" { sub(/^0+/, "", $1); print "mona+0x" $1 }')
sed -i "s/ ${calls:-none}$/ libraries+0/" "$tmp/log"
own=$(deepest 'file == "mona"') first=$(deepest 'file == "main"') other=$(deepest 'file != "mona" && file != "main"')
echo "# $(wc -l < "$tmp/log") threads: mona's own $own bytes, the first $first, of libraries $other"
same "mona's own threads: $own of 65536 bytes" "$([ "$own" -gt 0 ] && [ "$own" -le 65536 ] && echo yes)" yes
same "the first thread: $first of 786432" "$([ "$first" -gt 0 ] && [ "$first" -lt 786432 ] && echo yes)" yes
same "threads of libraries: $other of 786432" "$([ "$other" -gt 0 ] && [ "$other" -lt 786432 ] && echo yes)" yes
# It must see a deep one.
cat > "$tmp/deep.c" << 'END'
#include <pthread.h>
#include <string.h>
static void *run(void *x) { char a[300000]; memset(a, 1, sizeof a); __asm__ volatile("" ::"r"(a) : "memory"); return x; }
int main(void) { pthread_t t; return pthread_create(&t, 0, run, 0) || pthread_join(t, 0); }
END
$CC -O1 -o "$tmp/deep" "$tmp/deep.c" -pthread
: > "$tmp/log"
measured "$tmp/deep"
same "found: a stack of 300000 bytes" "$(deepest 'file == "deep"' | awk '{ print ($1 > 300000 && $1 < 320000) }')" 1
