#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that find the library by pkg-config, CMake and Meson: the installed one, and the sources as a subproject.
. tests/tap.inc
CC=${CC:-gcc}

if [ -n "$SANITIZE" ]; then
    skip "only the plain build is installed"
    exit
fi
make --no-print-directory install BUILD="$BUILD" CC="$CC" DESTDIR= PREFIX="$tmp/root" > "$tmp/log" 2>&1 ||
    not_ok "make install" "$(tail -5 "$tmp/log")"

mkdir "$tmp/program"
cat > "$tmp/program/program.c" << 'END'
#include <mona.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static _Alignas(MONA_ALIGNMENT) char bytes[1 << 20];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    const size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    mona_model model;
    mona_status status = mona_model_open(&model, bytes, size);
    printf("%s\n", mona_status_text(status));
    return status != MONA_OK;
}
END
# runs NAME PROGRAM: it opens a model
runs() {
    same "$1" "$("$2" models/sr_x2_fast.mona 2>&1)" success
}

export PKG_CONFIG_PATH="$tmp/root/lib/pkgconfig"
$CC -o "$tmp/by_pkg_config" "$tmp/program/program.c" $(pkg-config --cflags --libs mona) > "$tmp/log" 2>&1
LD_LIBRARY_PATH="$tmp/root/lib" runs "a program built with pkg-config" "$tmp/by_pkg_config"

if command -v cmake > /dev/null; then
    cat > "$tmp/program/CMakeLists.txt" << 'END'
cmake_minimum_required(VERSION 3.16)
project(program C)
find_package(mona REQUIRED)
foreach(target mona runtime plan model310)
    add_executable(with_${target} program.c)
    target_link_libraries(with_${target} mona::${target})
endforeach()
END
    cmake -S "$tmp/program" -B "$tmp/cmake" -DCMAKE_PREFIX_PATH="$tmp/root" -DCMAKE_C_COMPILER="${CC##* }" > "$tmp/log" 2>&1 &&
        cmake --build "$tmp/cmake" > "$tmp/log" 2>&1 || not_ok "CMake" "$(tail -5 "$tmp/log")"
    for target in mona runtime plan model310; do
        runs "CMake, mona::$target" "$tmp/cmake/with_$target"
    done
    same "CMake refuses a version that is newer than the installed one" \
        "$(sed -i 's/mona REQUIRED/mona 99 REQUIRED/' "$tmp/program/CMakeLists.txt"
            cmake -S "$tmp/program" -B "$tmp/cmake99" -DCMAKE_PREFIX_PATH="$tmp/root" 2>&1 | grep -c 'requested version "99"')" 1
else
    skip "there is no cmake"
fi

if command -v meson > /dev/null && command -v ninja > /dev/null; then
    cat > "$tmp/program/meson.build" << 'END'
project('program', 'c')
executable('program', 'program.c', dependencies: dependency('mona'))
END
    env CC="$CC" meson setup "$tmp/meson" "$tmp/program" > "$tmp/log" 2>&1 && ninja -C "$tmp/meson" > "$tmp/log" 2>&1
    LD_LIBRARY_PATH="$tmp/root/lib" runs "Meson, the installed library" "$tmp/meson/program"
    if full; then
        unset PKG_CONFIG_PATH
        mkdir "$tmp/program/subprojects"
        ln -s "$PWD" "$tmp/program/subprojects/mona"
        printf '[provide]\nmona = mona_dep\n' | sed '1i [wrap-file]\ndirectory = mona' > "$tmp/program/subprojects/mona.wrap"
        env CC="$CC" meson setup "$tmp/subproject" "$tmp/program" > "$tmp/log" 2>&1 && ninja -C "$tmp/subproject" > "$tmp/log" 2>&1
        runs "Meson, the sources as a subproject" "$tmp/subproject/program"
    fi
else
    skip "there is no meson"
fi
