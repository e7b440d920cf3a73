#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libmonavideo as other programs find it: installed, with pkg-config, with the bytes of the command.
. tests/tap.inc
CC=${CC:-gcc}

nothing "libmonavideo.so exports what monavideo.h declares and nothing else" \
    "$(nm -D --defined-only "$BUILD/libmonavideo.so" | awk '{ print $3 }' | sort > "$tmp/exported"
        grep -oE '\bmona_video_[a-z_]+\(' pipeline/monavideo.h | tr -d '(' | sort -u | comm -3 - "$tmp/exported")"
nothing "pipeline/ includes nothing of apps/" "$(grep -rn '#include "apps/' pipeline)"
if [ -n "$SANITIZE" ]; then
    skip "sanitised libraries are not installed"
    exit 0
fi
same "it needs the libraries of video, and libc" "$(readelf -d "$BUILD/libmonavideo.so" | sed -n 's/.*NEEDED.*\[\(.*\)\.so\..*/\1/p' |
    sed 's/^ld-linux.*/libc/' | sort -u | tr '\n' ' ')" "libavcodec libavfilter libavformat libavutil libc libm libswscale "
# The functions, also local ones, of the sources in these folders.
functions() {
    find "$@" -name '*.c' | sed "s,^,$BUILD/,; s,c\$,o," | while read -r object; do [ ! -e "$object" ] || echo "$object"; done |
        xargs nm | awk 'toupper($2) == "T" { print $3 }' | sort -u
}
nm "$BUILD/libmonavideo.so" | awk 'toupper($2) == "T" { print $3 }' | sort -u > "$tmp/inside"
functions pipeline engine ops formats/*.c formats/compiler/program > "$tmp/own"
functions apps formats/onnx formats/reference formats/compiler/import formats/compiler/quantize |
    comm -23 - "$tmp/own" > "$tmp/outside"
at_least "the command and the compiler have functions" "$(wc -l < "$tmp/outside")" 1000
nothing "none of them is in it" "$(comm -12 "$tmp/inside" "$tmp/outside")"
succeeds "code, constants and tables take less than 2 MiB beside the networks' weights" \
    test $(($(size "$BUILD/libmonavideo.so" | awk 'NR == 2 { print $1 }') - $(cat models/*.mona | wc -c))) -lt 2097152
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

# ---- a program whose encoder would print -----------------------------------------------------------
cat > "$tmp/av1.c" << 'END'
#include <monavideo.h>
int main(int argc, char **argv)
{
    mona_video *video = mona_video_open();
    int bad = argc != 3 || mona_video_set(video, "codec", "av1") || mona_video_set(video, "preset", "12") ||
              mona_video_run(video, argv[1], argv[2], NULL);
    mona_video_close(video);
    return bad;
}
END
succeeds "a program that writes AV1 compiles" sh -c "$CC -o $tmp/av1 $tmp/av1.c \$(pkg-config --cflags --libs monavideo)"
same "SVT-AV1 prints nothing in it" "$("$tmp/av1" "$tmp/source.y4m" "$tmp/av1.mkv" 2>&1; echo $?)" 0
at_least "unless its environment asks for that" "$(SVT_LOG=3 "$tmp/av1" "$tmp/source.y4m" "$tmp/av1.mkv" 2>&1 | grep -c '^Svt')" 3

# ---- a program of a country that writes 0,5 -----------------------------------------------------
cat > "$tmp/comma.c" << 'END'
#include <locale.h>
#include <monavideo.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char text[256];
    mona_video *video = mona_video_open();
    const struct lconv *here = setlocale(LC_ALL, "de_DE.UTF-8") ? localeconv() : NULL;
    int bad = argc != 3 || mona_video_set(video, "strength", "0.5") || mona_video_set(video, "crf", "20.5") ||
              mona_video_set(video, "scale", "1.5") || mona_video_run(video, argv[1], argv[2], NULL);
    mona_video_error(video, text, sizeof text);
    mona_video_close(video);
    return printf("%d %s%s\n", bad, text, here ? here->decimal_point : "no locale") < 0;
}
END
export LOCPATH="$tmp/locale"
mkdir "$LOCPATH"
if localedef -i de_DE -f UTF-8 "$LOCPATH/de_DE.UTF-8" > "$tmp/log" 2>&1; then
    succeeds "it compiles" sh -c "$CC -o $tmp/comma $tmp/comma.c \$(pkg-config --cflags --libs monavideo)"
    same "numbers have points there too, and the program's locale stays" "$("$tmp/comma" "$tmp/source.y4m" "$tmp/comma.mkv")" "0 ,"
    "$mona" enhance --quiet "$tmp/source.y4m" -o "$tmp/point.mkv" --strength 0.5 --crf 20.5 -s 1.5
    same "its film has the command's frames" "$(frames_md5 "$tmp/comma.mkv")" "$(frames_md5 "$tmp/point.mkv")"
else
    skip "no locale with a comma"
fi
