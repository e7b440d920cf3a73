#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# On a signal, mona ends within a second, whatever it is doing, with the right status, and leaves nothing
# behind. The full tier tries 50 random moments of 2.5 s, the short one 3 of one second. SEED=N repeats the same
# moments.
. tests/tap.inc

film 60 "$tmp/scene.y4m" 320x180
ffmpeg -v error -stream_loop 2 -i "$tmp/scene.y4m" -f lavfi -i sine=440:duration=6 -c:v libx264 -preset ultrafast -c:a aac "$tmp/in.mp4" \
    -vf scale=160:90 -c:v libx264 -preset ultrafast "$tmp/small.mp4"
if full; then moments=50 most=2.5; else moments=3 most=1; fi
# A library that starts a thread before main which accepts signals, like OpenBLAS. Sanitisers must be loaded
# first.
library=
if [ -z "$SANITIZE" ]; then
    library=$tmp/thread.so
    ${CC:-gcc} -shared -fPIC -pthread -x c -o "$library" - << 'END' || exit 1
#include <pthread.h>
#include <unistd.h>

static void *wait_for_ever(void *unused) {
    for (;;)
        pause();
    return unused;
}
__attribute__((constructor)) static void start(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_ever, NULL);
}
END
fi
LD_PRELOAD=$library python3 tests/e2e/media/signals.py "$mona" "$tmp" $moments $most > "$tmp/found" || exit 1
cat "$tmp/found"
tests=$(grep -cE '^(not )?ok ' "$tmp/found")
at_least "every one of them" "$tests" $((9 + moments))

# ---- what dead runs have left ---------------------------------------------------------------------
part="$tmp/dead.mkv.mona.part"
ffmpeg -v error -i "$tmp/small.mp4" -c copy "$tmp/small.ts"
# Starts a run; when this returns, the run has created and locked its part file: a lock on the file of this name is what
# other runs go by. The run cannot end before $tmp/end exists, as until then its input does not.
start() {
    rm -f "$tmp/end"
    {
        cat "$tmp/small.ts"
        while [ ! -e "$tmp/end" ]; do sleep 0.05; done
    } | "$mona" enhance -y - -o "$tmp/dead.mkv" --preset ultrafast --quiet 2> "$tmp/log" &
    job=$!
    waited=0
    while [ $waited -lt 600 ] && ! grep -q ":$(stat -c %i "$part" 2> /dev/null || echo none) " /proc/locks; do
        sleep 0.05
        waited=$((waited + 1))
    done
}
start
kill -9 $job
: > "$tmp/end"
wait $job 2> /dev/null
same "a run that is killed leaves its part" "$(find "$tmp" -name 'dead.mkv*')" "$part"
echo dead > "$part"
start
kill -STOP $job
"$mona" enhance "$tmp/small.mp4" -o "$tmp/dead.mkv" --frames 3 --preset ultrafast --quiet < /dev/null 2> "$tmp/second"
same "a second run on the same output leaves the first one's part alone" "$? $(cat "$tmp/second") $([ -e "$part" ] && echo there)" "0  there"
kill -CONT $job
: > "$tmp/end"
wait $job
same "both end well, and what the dead one left is gone" "$? $(find "$tmp" -name 'dead.mkv*')" "0 $tmp/dead.mkv"
same "the later one's result stays" "$(video_times "$tmp/dead.mkv" | wc -l)" "$(video_times "$tmp/small.mp4" | wc -l)"
