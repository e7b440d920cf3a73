#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Faults of the system and of codecs, injected into the real binary: one clear line, the right exit status, no
# file under the output's name, and an earlier file there is kept.
. tests/tap.inc

if [ -n "$SANITIZE" ] || ! printf '#include <features.h>\n__GLIBC__' | ${CC:-cc} -E - 2> /dev/null | tail -n 1 | grep -q '[0-9]'; then
    skip "faults are injected with a preloaded library, which needs glibc and a build without sanitisers"
    exit 0
fi
# shellcheck disable=SC2046
${CC:-cc} -O1 -fPIC -shared -fno-builtin -w -o "$tmp/faults.so" tests/e2e/media/faults.c $(pkg-config --cflags libavcodec libavutil) -ldl || exit 1
film 40 "$tmp/scene.y4m"
ffmpeg -v error -i "$tmp/scene.y4m" -f lavfi -i sine=440:duration=1.6 -vf scale=640:360 -c:v libx264 -crf 4 -g 10 -pix_fmt yuv420p \
    -c:a aac "$tmp/in.mp4"
EIO=5 ENOSPC=28 ENOMEM=12 EACCES=13

# $1: fault, $2: a part of the file's name, rest: options
enhance() {
    fault=$1 part=$2
    shift 2
    MONA_FAULT=$fault MONA_FAULT_FILE=$part LD_PRELOAD=$tmp/faults.so "$mona" enhance -y "$tmp/in.mp4" --stages sr \
        --quiet "$@" > "$tmp/stdout" 2> "$tmp/log" < /dev/null
}

# $1: fault, $2: a part of the file's name, $3: what the line must contain, rest: options
fails() {
    name="$1 $2" pattern=$3
    for before in absent precious; do
        rm -f "$tmp"/out.mp4*
        [ $before = absent ] || echo precious > "$tmp/out.mp4"
        enhance "$1" "$2" -o "$tmp/out.mp4" ${4:+"$4" "$5"}
        found="$? $(wc -l < "$tmp/log") $(grep -c "^mona: .*$pattern" "$tmp/log") $(cat "$tmp/out.mp4" 2> /dev/null || echo absent) $(find "$tmp" -name 'out.mp4*' | wc -l)"
        files=0
        [ $before = absent ] || files=1
        if [ "$found" = "1 1 1 $before $files" ]; then
            ok "$name, the output $before before"
        else
            not_ok "$name, the output $before before" "expected 1 1 1 $before $files
found $found
$(head -n 5 "$tmp/log")"
        fi
    done
}

enhance none none -o "$tmp/out.mp4"
same "without a fault it works" "$? $(cat "$tmp/log")" "0 "
for n in 1 2 3 5 8; do
    fails write:$n:$ENOSPC out.mp4 'out.mp4: cannot be written.*: No space left on device'
    fails write:$n:$EIO out.mp4 'out.mp4: cannot be written.*: Input/output error'
done
for n in 1 2 3 8; do
    fails read:$n:$EIO in.mp4 'in.mp4: .*: Input/output error'
done
# One of them asks for a size that nothing depends on.
rm -f "$tmp"/out.mp4*
enhance none none -o "$tmp/out.mp4" --frames 4
mv "$tmp/out.mp4" "$tmp/whole.mp4"
for n in 1 2 3 4 5 6; do
    enhance lseek:$n:$EIO out.mp4 -o "$tmp/out.mp4" --frames 4
    status=$?
    if [ $status = 0 ]; then
        succeeds "lseek:$n: without effect" cmp "$tmp/whole.mp4" "$tmp/out.mp4"
    else
        same "lseek:$n" "$status $(grep -c '^mona: .*out.mp4: cannot be written.*: Input/output error' "$tmp/log") $(find "$tmp" -name 'out.mp4*')" "1 1 "
    fi
    rm -f "$tmp"/out.mp4*
done
fails read:1:$EIO out.mp4 'out.mp4: .*: Input/output error'
fails fsync:1:$EIO - 'out.mp4: cannot be written: Input/output error'
fails rename:1:$EACCES - 'out.mp4: cannot be written: Permission denied'
fails encoder:1:$ENOMEM - 'libx264 does not accept 1280x720 yuv420p with these options: Cannot allocate memory'
enhance space:1:0 - -o "$tmp/raw.mkv" -c rawvideo
same "a disk too small for raw frames is refused before they are made" \
    "$? $(grep -c 'raw.mkv: expected [0-9.]* MiB free on the disk, found' "$tmp/log") $(find "$tmp" -name 'raw.mkv*')" "1 1 "
rm -f "$tmp/out.mp4"
MONA_FAULT=space:1:0 LD_PRELOAD=$tmp/faults.so "$mona" enhance -y "$tmp/in.mp4" -o "$tmp/out.mp4" --stages sr --preset ultrafast \
    2> "$tmp/log" < /dev/null
same "a disk that looks too small for a codec is told, and tried" "$? $(grep -c 'the disk has 0.0 MiB free' "$tmp/log")" "0 1"
# $1: what must be said to take more than the disk has, rest: options. Prints how much, in tenths of a MiB.
takes() {
    words=$1
    shift
    MONA_FAULT=space:1:0 LD_PRELOAD=$tmp/faults.so "$mona" enhance -y "$tmp/in.mp4" -o "$tmp/out.mkv" --stages sr --preset ultrafast "$@" \
        2>&1 < /dev/null | sed -n "s/.*the disk has 0.0 MiB free, but $words \\([0-9]*\\)\\.\\([0-9]\\) MiB\$/\\1\\2/p"
}
whole=$(takes "the input alone takes")
same "that is as much as the input has" "$whole" "$((($(stat -c %s "$tmp/in.mp4") * 10 + 524288) / 1048576))"
at_least "a part of it takes less" "$((whole / 2 - $(takes "this part of the input alone takes" -t 0.4)))" 0
at_least "segments and their result take twice as much" "$(($(takes "segments and a result as large as the input take" --resume) - whole * 19 / 10))" 0
for n in 1 7 40 41; do
    fails encode:$n:$EIO - 'libx264 failed at frame [0-9]*: Input/output error'
done
for n in 1 7 40; do
    fails decode:$n:$EIO - 'in.mp4: damaged' --on-error stop
    rm -f "$tmp/out.mp4"
    enhance decode:$n:$EIO - -o "$tmp/out.mp4"
    same "decode:$n, --on-error skip: the other 39 frames, their times, and a line about it" \
        "$? $(grep -c '1 packet could not be decoded' "$tmp/log") $(video_times "$tmp/out.mp4" | md5sum)" \
        "0 1 $(video_times "$tmp/in.mp4" | sed "${n}d" | md5sum)"
done
# If a decoder fails forever, the run ends with an error.
endless() {
    MONA_FAULT=decode:1:$EIO MONA_FAULT_ENDLESS=1 LD_PRELOAD=$tmp/faults.so timeout 20 "$mona" "$@" > "$tmp/stdout" 2> "$tmp/log" < /dev/null
    same "a decoder whose errors do not end, mona $1 ${5:-}" "$? $(grep -c '^mona: .*in.mp4: decoding failed: Input/output error' "$tmp/log")" "1 1"
}
rm -f "$tmp/out.mp4"
endless enhance "$tmp/in.mp4" -o "$tmp/out.mp4"
endless enhance "$tmp/in.mp4" -o "$tmp/out.png" --preview 0
endless compare "$tmp/in.mp4" "$tmp/in.mp4"
