#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libmonavideo as other programs find it: installed, with pkg-config, with the bytes of the command.
. tests/tap.inc
CC=${CC:-gcc}
unset MAKEFLAGS MFLAGS

nothing "libmonavideo.so exports what monavideo.h declares and nothing else" \
    "$(nm -D --defined-only "$BUILD/libmonavideo.so" | awk '{ print $3 }' | sort > "$tmp/exported"
        grep -oE '\bmona_video_[a-z_]+\(' apps/library/monavideo.h | tr -d '(' | sort -u | comm -3 - "$tmp/exported")"
if [ -n "$SANITIZE" ]; then
    skip "sanitised libraries are not installed"
    exit 0
fi
succeeds "make install" make -s --no-print-directory install BUILD="$BUILD" CC="$CC" PREFIX="$tmp/usr"
export PKG_CONFIG_PATH="$tmp/usr/lib/pkgconfig" LD_LIBRARY_PATH="$tmp/usr/lib"
printf '#include <monavideo.h>\nint main() { return mona_video_version() == 0; }\n' > "$tmp/plus.cpp"
if command -v g++ > /dev/null; then
    succeeds "the header is one for C++" sh -c "g++ -Wall -Wextra -Werror -o $tmp/plus $tmp/plus.cpp \
        \$(pkg-config --cflags --libs monavideo) && $tmp/plus"
fi
succeeds "the example in C compiles with pkg-config" sh -c "$CC -std=c11 -Wall -Wextra -Werror -O1 -o $tmp/frames \
    apps/examples/frames.c \$(pkg-config --cflags --libs monavideo)"
same "it runs with the installed library" "$(ldd "$tmp/frames" | grep -c "$tmp/usr/lib/libmonavideo.so.0")" 1

"$tmp/frames" 96x54 12 > "$tmp/made.y4m"
"$tmp/frames" 96x54 12 source > "$tmp/source.y4m"
"$mona" enhance --quiet "$tmp/source.y4m" -y -o "$tmp/command.y4m"
same "frames through the library are those of the command" "$(frames_md5 "$tmp/made.y4m")" "$(frames_md5 "$tmp/command.y4m")"
at_least "12 frames" "$(frames_md5 "$tmp/made.y4m" | wc -l)" 12
fails "an odd size is refused" "even sides" "$tmp/frames" 95x54 12
