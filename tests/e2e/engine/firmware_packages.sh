#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packages for firmware (apps/firmware/package.sh): each is built as its system would, by stand-ins that have the
# documented functions of Zephyr's and ESP-IDF's CMake; neither system is here. What is linked is a network as C.
. tests/tap.inc
[ -z "$SANITIZE" ] || { skip "packages do not depend on sanitisers"; exit; }

package() {
    succeeds "$1: the package is made" env MONA="$mona" sh apps/firmware/package.sh "$1" "$tmp/$1"
    nothing "$1: all that its files include is there" "$(cd "$tmp/$1/src" && grep -rhoE '^#include "[^"]+"' . | sort -u |
        sed 's/.*"\(.*\)"/\1/' | while read -r file; do [ -e "$file" ] || echo "$file"; done)"
}
for kind in zephyr esp-idf arduino cmsis; do
    package $kind
done
same "all packages have the same files" "$(for kind in zephyr esp-idf arduino cmsis; do
    (cd "$tmp/$kind/src" && find . -type f -exec cksum {} + | sort | cksum)
done | sort -u | wc -l)" 1

# ---- CMake ---------------------------------------------------------------------------------------
"$mona" compile sr_x2_tiny -o "$tmp/net.c" --emit c --target c --size 64x48 > "$tmp/log"
cat > "$tmp/main.c" << 'END'
#include "net.h"
static _Alignas(64) uint8_t arena[NET_ARENA_BYTES], in[48 * 64], out[96 * 128];
int main(void)
{
    mona_session *session;
    return net_open(&session, arena, sizeof arena) || net_run(session, in, 64, out, 128);
}
END
# $1: kind, $2: what the system has, and what the program is made of
by_cmake() {
    mkdir -p "$tmp/$1.app"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.16)' 'project(app C)' "$2" 'add_executable(app ../main.c ../net.c)' \
        "target_include_directories(app PRIVATE .. \"$tmp/$1/src\")" 'target_link_libraries(app PRIVATE mona)' > "$tmp/$1.app/CMakeLists.txt"
    succeeds "$1: a program is built with it, by a stand-in" sh -c 'cmake -S "$1" -B "$1/build" && cmake --build "$1/build" -j2' - "$tmp/$1.app"
    succeeds "$1: it runs" "$tmp/$1.app/build/app"
}
if command -v cmake > /dev/null; then
    by_cmake zephyr "set(CONFIG_MONA y)
macro(zephyr_library_named name)
    add_library(\${name} STATIC)
    set(ZEPHYR_CURRENT_LIBRARY \${name})
endmacro()
macro(zephyr_include_directories)
    include_directories(\${ARGN})
endmacro()
macro(zephyr_library_compile_options)
    target_compile_options(\${ZEPHYR_CURRENT_LIBRARY} PRIVATE \${ARGN})
endmacro()
macro(zephyr_library_sources)
    target_sources(\${ZEPHYR_CURRENT_LIBRARY} PRIVATE \${ARGN})
endmacro()
add_subdirectory(\"$tmp/zephyr/zephyr\" zephyr)"
    by_cmake esp-idf "function(idf_component_register)
    cmake_parse_arguments(c \"\" \"\" \"SRCS;INCLUDE_DIRS\" \${ARGN})
    set(COMPONENT_LIB mona PARENT_SCOPE)
    add_library(mona STATIC \${c_SRCS})
    target_include_directories(mona PUBLIC \${c_INCLUDE_DIRS})
endfunction()
add_subdirectory(\"$tmp/esp-idf\" esp-idf)"
else
    skip "there is no cmake"
fi
same "zephyr: the module names the folder of its files" "$(sed -n 's/^  cmake: //p' "$tmp/zephyr/zephyr/module.yml")" zephyr
same "zephyr: every option that the build asks for is one of Kconfig's" \
    "$(grep -o 'CONFIG_[A-Z_]*' "$tmp/zephyr/zephyr/CMakeLists.txt" | sort -u)" "CONFIG_$(sed -n 's/^config //p' "$tmp/zephyr/zephyr/Kconfig")"

# ---- Arduino -------------------------------------------------------------------------------------
# The IDE compiles every file below src, and a sketch as C++ with Arduino.h. For Cortex-M55 gcc 12 writes an instruction with -Os that
# its assembler does not know.
if command -v arm-none-eabi-g++ > /dev/null && echo '#include <stdlib.h>' | arm-none-eabi-gcc -E - > /dev/null 2>&1; then
    printf '%s\n' '#include <stdint.h>' 'struct serial { void begin(long); void println(unsigned long); void println(const char *); };' \
        'extern serial Serial; unsigned long micros();' > "$tmp/Arduino.h"
    for core in "cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard" "cortex-m55 -mfloat-abi=hard -O2" "cortex-m3"; do
        succeeds "arduino: the library and its sketch are compiled for ${core%% *}" sh -c '
            mkdir -p "$1/objects" && cd "$1/objects" && rm -f *.o
            for file in $(find ../arduino/src -name "*.c") ../arduino/examples/enlarge/*.c; do
                arm-none-eabi-gcc -mthumb -Os -mcpu=$2 -Wall -Wextra -Werror -ffreestanding -I../arduino/src -c "$file" -o "$(echo "$file" | tr / _).o" || exit
            done
            arm-none-eabi-g++ -mthumb -Os -mcpu=$2 -Wall -Wextra -Werror -I../arduino/src -I../arduino/examples/enlarge -include ../Arduino.h -x c++ \
                -c ../arduino/examples/enlarge/enlarge.ino -o sketch.o' - "$tmp" "$core"
    done
else
    skip "no arm-none-eabi-g++ with newlib"
fi
succeeds "make arduino makes a zip" make --no-print-directory arduino BUILD="$BUILD"
same "one folder is in it, with what the library manager reads" \
    "$(python3 -m zipfile -l "$BUILD/mona-arduino.zip" | awk 'NR > 1 { print $1 }' | grep -c '^mona/library.properties$')" 1

# ---- CMSIS ---------------------------------------------------------------------------------------
nothing "cmsis: every file that the description names is there" "$(sed -n 's/.*name="\(src[^"]*\)".*/\1/p' "$tmp/cmsis/mona.mona.pdsc" |
    while read -r file; do [ -e "$tmp/cmsis/$file" ] || echo "$file"; done)"
same "cmsis: it names all sources" "$(grep -c sourceC "$tmp/cmsis/mona.mona.pdsc")" "$(find "$tmp/cmsis/src" -name '*.c' | wc -l)"
if command -v xmllint > /dev/null; then
    succeeds "cmsis: the description is XML" xmllint --noout "$tmp/cmsis/mona.mona.pdsc"
else
    skip "there is no xmllint"
fi
