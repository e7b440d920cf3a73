#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the Makefile promises to people who build and package: it uses their tools and flags, builds again what
# changed, puts the commit into a tarball, repeats builds to the byte, and installs what can be linked.
. tests/tap.inc
make="make --no-print-directory SANITIZE=$SANITIZE"
nothing "what make check was told does not reach the makes of tests" "${MAKEFLAGS:-}"

# The commands that make would run for $1 (a target, or variables and targets).
commands() {
    # shellcheck disable=SC2086
    $make -n V=1 "$@" 2>&1
}

# ---- tools and flags of the caller --------------------------------------------------------------
commands BUILD="$tmp/b" CC=my-cc AR=my-ar CPPFLAGS=-DMINE CFLAGS=-Og LDFLAGS=-Wl,-mine "$tmp/b/firmware" > "$tmp/plan"
at_least "compilers get CC, CPPFLAGS and CFLAGS" "$(grep -cE '^my-cc .* -DMINE -Og -c -o ' "$tmp/plan")" 50
nothing "every one" "$(grep -e ' -c -o ' "$tmp/plan" | grep -vE '^my-cc .* -DMINE -Og -c -o ')"
same "the archives are made by AR" "$(grep -c '^.*my-ar rcs' "$tmp/plan")" 2
same "the linker gets LDFLAGS" "$(grep -cE '^my-cc -Og -Wl,-mine -o [^ ]*/firmware ' "$tmp/plan")" 1
printf '#!/bin/sh\necho -DFROM_MY_PKG_CONFIG\n' > "$tmp/my-pkg-config"
chmod +x "$tmp/my-pkg-config"
at_least "PKG_CONFIG is asked" "$(commands BUILD="$tmp/b" PKG_CONFIG="$tmp/my-pkg-config" "$tmp/b/pipeline/base/error.o" |
    grep -c FROM_MY_PKG_CONFIG)" 1
printf 'syntax = "proto2";\n' > "$tmp/onnx.proto"
at_least "ONNX_PROTO is read" "$(commands BUILD="$tmp/b" ONNX_PROTO="$tmp/onnx.proto" "$tmp/b/gen/onnx.pb-c.c" |
    grep -c "proto_path=$tmp .*$tmp/onnx.proto")" 1
at_least "WERROR=1 makes warnings errors" "$(commands BUILD="$tmp/b" WERROR=1 "$tmp/b/pipeline/base/error.o" | grep -c -e '-Werror ')" 1
same "and without it they are none" "$(commands BUILD="$tmp/b" WERROR= "$tmp/b/pipeline/base/error.o" | grep -c -e '-Werror ')" 0

# ---- what is not there --------------------------------------------------------------------------
mkdir "$tmp/bare"
printf '#!/bin/sh\nexit 1\n' > "$tmp/bare/dpkg-query"
chmod +x "$tmp/bare/dpkg-query"
PATH="$tmp/bare:$PATH" $make BUILD="$tmp/b" PKG_CONFIG=false ONNX_PROTO="$tmp/none" > "$tmp/bare/said" 2>&1
same "make without packages says what it does not find" "$(grep -c "^mona cannot be built: not found: libavformat, .*, libcjson, $tmp/none\$" \
    "$tmp/bare/said")" 1
same "and make deps, and the packages, with ffmpeg" "$(grep -c -e '^make deps, as root' \
    -e '^  sudo apt-get install --no-install-recommends libc6-dev .*libavformat-dev .* ffmpeg$' "$tmp/bare/said")" 2
same "and nothing else" "$(wc -l < "$tmp/bare/said")" 4
nothing "what is built of the engine alone needs none of it" "$($make -s BUILD="$tmp/b" PKG_CONFIG=false ONNX_PROTO="$tmp/none" CFLAGS=-O0 \
    "$tmp/b/engine/target.o" 2>&1)"

if command -v clang > /dev/null && [ "$(uname -m)" = x86_64 ]; then # which refuses flags of gcc then
    succeeds "WERROR=1 builds with clang" $make -s BUILD="$tmp/clang" CC=clang WERROR=1 CFLAGS="-O0 -Wno-pass-failed" \
        "$tmp/clang/engine/cpu/x86/avx2.o"
    succeeds "WERROR=1 builds without optimisation" $make -s BUILD="$tmp/plain" WERROR=1 CFLAGS=-O0 \
        "$tmp/plain/engine/cpu/x86/$(full && echo avx512 || echo amx).o"
fi

at_least "what mona bench says of the build are the flags of kernels" "$(grep -c -e '-std=c11 -O3 ' "$BUILD/gen/build_info.h")" 1

# ---- what changed is built again ----------------------------------------------------------------
# $1: name, $2: a file that counts as changed, $3: what must then be compiled, $4: the target
rebuilds() {
    at_least "$1" "$(commands BUILD="$BUILD" -W "$2" "$4" | grep -c -e "-c -o $3 ")" 1
}
rebuilds "a test after its header" tests/unit/fixture.h "$BUILD/tests/unit/engine/test_session.o" "$BUILD/tests/test_session"
rebuilds "the firmware after mona.h" engine/mona.h "$BUILD/apps/firmware/main.o" "$BUILD/firmware"
rebuilds "the models inside after one of them" "$(ls models/*.mona | head -n 1)" "$BUILD/models/embedded.o" "$BUILD/mona"
rebuilds "a fuzz target after its header" tests/fuzz/fuzz.h "$BUILD/tests/fuzz/fuzz_npy.o" "$BUILD/tests/fuzz_npy"
nothing "several makes in one folder do not disturb each other" "$(for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
    $make -s BUILD="$tmp/b" "$tmp/b/gen/models.inc" "$tmp/b/gen/build_info.h" 2>&1 &
done
wait)"
mkdir -p "$tmp/b/tests"
printf '#!/bin/sh\necho ok 1\necho 1..1\n' > "$tmp/b/tests/test_that_was_deleted"
cp "$tmp/b/tests/test_that_was_deleted" "$tmp/b/tests/test_that_stayed"
chmod +x "$tmp"/b/tests/*
printf '#!/bin/sh\n' > "$tmp/no.sh"
same "a test whose source was deleted does not run" \
    "$(BUILD="$tmp/b" PROGRAMS="$tmp/b/tests/test_that_stayed" SCRIPTS="$tmp/b/tests/test_that_stayed" sh tests/run.sh |
        grep -c deleted)" 0
: > "$tmp/b/kept"
$make -s clean BUILD="$tmp/b" > /dev/null
same "make clean removes BUILD, and no other" "$([ -e "$tmp/b" ] || echo gone) $([ -d "$BUILD" ] && echo here)" "gone here"

# ---- the tarball, and where its commit comes from -----------------------------------------------
commit=$(git rev-parse HEAD 2> /dev/null)
version=$(sed -n 's/^#define MONA_VERSION "\(.*\)"/\1/p' engine/mona.h)
if ! full; then
    : # it builds twice
elif [ -z "$commit" ] || [ "$(git rev-parse --show-toplevel)" != "$(pwd -P)" ]; then
    skip "no git checkout to make a tarball of"
else
    succeeds "make dist" $make -s dist BUILD="$tmp/b"
    # Inside another repository with a different commit.
    mkdir "$tmp/outer" "$tmp/another place" &&
        (cd "$tmp/outer" && git init -q . && git -c user.name=n -c user.email=e commit -q --allow-empty -m other &&
            tar -xf "$tmp/b/mona-$version.tar.gz") && tar -xf "$tmp/b/mona-$version.tar.gz" -C "$tmp/another place"
    one=$tmp/outer/mona-$version
    other="$tmp/another place/mona-$version"
    some="build/mona build/libmona.so build/libmonavideo.so build/libmona.a build/libmona-plan.a build/libmona-model310.a build/libmona-ascend.a"
    # shellcheck disable=SC2086
    succeeds "a tarball builds inside of another repository" $make -s -j"$(nproc)" -C "$one" BUILD=build $some
    # Later, in another order, and for another user.
    find "$other" -type f -exec touch -d 2001-01-01 {} +
    # shellcheck disable=SC2086
    succeeds "and anywhere else, also in a folder whose name has a space" env TZ=Asia/Kathmandu LC_ALL=C.UTF-8 HOME="$tmp" USER=other SOURCE_DATE_EPOCH=1 \
        sh -c "umask 077 && \"\$@\"" - $make -s -C "$other" BUILD=build $some
    same "it knows its commit" "$(sed -n 's/.*BUILD_COMMIT "\(.*\)"/\1/p' "$one/build/gen/build_info.h")" \
        "$(echo "$commit" | cut -c -12)"
    nothing "two builds of one commit are the same bytes" \
        "$(for file in $some; do cmp "$one/$file" "$other/$file" 2>&1; done)"
    rm "$one/.commit"
    $make -s -C "$one" BUILD=build build/gen/build_info.h
    same "without its note it knows none, and not the outer one" \
        "$(sed -n 's/.*BUILD_COMMIT "\(.*\)"/\1/p' "$one/build/gen/build_info.h")" unknown
fi

# ---- folders that make cannot work in -----------------------------------------------------------
for variable in BUILD PREFIX LIBDIR DESTDIR PYTHONDIR; do
    same "$variable with a space is refused, before uninstall removes what the first half names" \
        "$(commands uninstall "$variable=$tmp/my stage" | sed -n 's/.*\*\*\* //p')" \
        "$variable: expected a path without spaces, found $tmp/my stage.  Stop."
done

# ---- what is installed --------------------------------------------------------------------------
printf '#!/bin/sh\n[ "$1" != -dumpmachine ] || echo elsewhere-linux-gnu\n' > "$tmp/cross-cc"
chmod +x "$tmp/cross-cc"
same "an install for another machine does not run what was built for it" \
    "$(commands install BUILD="$tmp/b" CC="$tmp/cross-cc" | grep -c 'mona help')" 0
same "but the mona that is named" \
    "$(commands install BUILD="$tmp/b" CC="$tmp/cross-cc" HELP_MONA=mona-of-here | grep -c '^mona-of-here help')" 3
if [ -x /usr/bin/python3 ]; then
    for prefix in /usr/local /usr; do
        path=$(commands install BUILD="$tmp/b" PREFIX=$prefix | sed -n 's|^install .* -t \(.*\)/mona apps/python/mona/.*|\1|p')
        same "the package below $prefix lies where python3 looks" \
            "$(/usr/bin/python3 -c "import site; print('${path:-none}' in site.getsitepackages())")" True
    done
fi
if [ -n "$SANITIZE" ]; then
    skip "sanitised libraries are not installed"
else
    same "the command is position-independent, its addresses are fixed at the start and no stack can be run" \
        "$(readelf -hW "$BUILD/mona" | grep -c 'Type: *DYN') $(readelf -dW "$BUILD/mona" | grep -c 'FLAGS_1.*NOW.*PIE') $(readelf -lW "$BUILD/mona" | grep -cE 'GNU_RELRO|GNU_STACK .* RW ')" \
        "1 1 2"
    for library in libmona libmonavideo; do
        same "and $library.so too" "$(readelf -dW "$BUILD/$library.so" | grep -c 'FLAGS_1.*NOW') $(readelf -lW "$BUILD/$library.so" | grep -cE 'GNU_RELRO|GNU_STACK .* RW ')" "1 2"
    done
    for file in mona libmonavideo.so; do
        at_least "stacks and copies in $file are checked" "$(nm -D "$BUILD/$file" | grep -oE '__(stack_chk_fail|memcpy_chk|v?snprintf_chk)\>' | sort -u | wc -l)" 3
    done
    # The linker gives them to a whole program only where the system's start-up code has them too.
    case $(uname -m) in x86_64) marks="IBT, SHSTK" ;; aarch64) marks="BTI, PAC" ;; *) marks= ;; esac
    if [ -n "$marks" ]; then
        for archive in "$BUILD"/libmona*.a "$BUILD/libformats.a"; do
            same "jumps and returns in $(basename "$archive") have marks" "$(readelf -nW "$archive" 2> /dev/null | grep -c "$marks")" "$(ar t "$archive" | wc -l)"
        done
        objects="$BUILD/apps/cli/mona.o $BUILD/models/embedded.o $(ls "$BUILD"/gen/on_demand*.o 2> /dev/null)"
        # shellcheck disable=SC2086
        same "and in the command's, also what is no C" "$(readelf -nW $objects 2> /dev/null | grep -c "$marks")" "$(echo $objects | wc -w)"
    else
        skip "no marks are known for this machine"
    fi
    same "the caller's flags replace them" "$(commands BUILD="$tmp/b" CPPFLAGS=-D_FORTIFY_SOURCE=2 "$tmp/b/pipeline/base/error.o" | grep -c -e '_FORTIFY_SOURCE=3')" 0
    succeeds "make install" $make -s install BUILD="$BUILD" PREFIX=/usr LIBDIR=/usr/lib/here DESTDIR="$tmp/root"
    same "libraries go to LIBDIR" "$(cd "$tmp/root/usr/lib/here" && echo * | sed 's/gstreamer-1.0 //')" \
        "$(echo cmake libmona-ascend.a libmona-model310.a libmona-plan.a libmona.a libmona.so libmona.so.0 "libmona.so.$version" libmonavideo.so \
            libmonavideo.so.0 "libmonavideo.so.$version" pkgconfig)"
    nothing "libmona.so shows what its headers declare and nothing else" \
        "$(nm -D --defined-only "$BUILD/libmona.so" | awk '{ print $3 }' | while read -r name; do
            grep -q "\\<$name[(,;]" engine/mona.h engine/mona_op.h engine/mona_ascend.h || echo "$name"; done)"
    nothing "debian/*.symbols list what the libraries show" "$(for library in libmona libmonavideo; do
        nm -D --defined-only "$BUILD/$library.so" | awk '{ print $3 "@Base" }' | sort > "$tmp/shown"
        sed -n 's/^ \([^ ]*\) .*/\1/p' "debian/${library}0.symbols" | diff - "$tmp/shown"
    done)"
    printf '#include <mona.h>\n#include <stdio.h>\nint main(void) { return puts(mona_status_text(MONA_OK)) < 0; }\n' > "$tmp/p.c"
    succeeds "a program compiled with pkg-config --cflags --libs mona" sh -c "
        export PKG_CONFIG_PATH=$tmp/root/usr/lib/here/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tmp/root
        ${CC:-cc} -o $tmp/p $tmp/p.c \$(pkg-config --cflags --libs mona) -Wl,-rpath,$tmp/root/usr/lib/here"
    at_least "runs with the shared library" "$("$tmp/p" | grep -c .)" 1
    at_least "by its soname" "$(readelf -d "$tmp/p" | grep -c 'libmona\.so\.0\]')" 1
    printf '#include "net.h"\nstatic _Alignas(64) unsigned char arena[NET_ARENA_BYTES], in[64 * 64], out[128 * 128];\n%s\n' \
        'int main(void) { mona_session *s; return net_open(&s, arena, sizeof arena) || net_run(s, in, 64, out, 128); }' > "$tmp/main.c"
    succeeds "a network as C" "$BUILD/mona" compile sr_x2_fast -o "$tmp/net.c" --emit c --target c --size 64x64
    succeeds "is compiled and linked with what is installed" sh -c "
        export PKG_CONFIG_PATH=$tmp/root/usr/lib/here/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tmp/root
        cd $tmp && ${CC:-cc} -Wall -Wextra -Werror -o net main.c net.c \$(pkg-config --cflags mona) root/usr/lib/here/libmona.a -pthread"
    succeeds "and runs" "$tmp/net"
    $make -s uninstall PREFIX=/usr LIBDIR=/usr/lib/here DESTDIR="$tmp/root" > /dev/null
    nothing "make uninstall takes all of it away" "$(find "$tmp/root" ! -type d)"
fi
