#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds what a mona of one file contains besides mona: FFmpeg, dav1d, SVT-AV1, x265 and cJSON from the distribution's
# source packages, and collects the archives that the distribution's own packages bring (x264, libvpx, Opus,
# LAME, WebP, zlib, bzip2, xz, protobuf-c, the C++ library).
#
#   CC=gcc sh apps/static/libraries.sh FOLDER SOURCES       FOLDER/lib and FOLDER/include afterwards; made once
#
# SOURCES is the folder that sources.sh fills.
set -eu
folder=$(mkdir -p "$1" && cd "$1" && pwd)
CC=${CC:-gcc}
sources=$(cd "$2" && pwd)
machine=$($CC -dumpmachine)
arch=${machine%%-*}
cross=
[ "$arch" = "$(uname -m)" ] || cross=${machine}-
jobs=$(nproc)
log=$folder/log
fail() {
    echo "make static: $*" >&2
    exit 1
}
# run NAME COMMAND...: its output goes to the log, of which a failure shows the end.
run() {
    name=$1
    shift
    echo "$name"
    "$@" > "$log" 2>&1 || { tail -n 20 "$log" >&2; fail "$name failed; $log has all of its output"; }
}

# The archives of packages. The linker takes a shared library where one lies beside an archive, so FOLDER/lib has
# only archives and comes first.
mkdir -p "$folder/lib/pkgconfig" "$folder/include"
for name in x264 vpx opus mp3lame webp webpmux z bz2 lzma protobuf-c stdc++ atomic; do
    from=$($CC -print-file-name=lib$name.a)
    [ -e "$from" ] || fail "there is no lib$name.a for $machine (make static-deps installs what is needed)"
    ln -sf "$(readlink -f "$from")" "$folder/lib/lib$name.a"
done

# unpack PACKAGE: prints the folder of its source.
unpack() {
    if [ ! -d "$folder/build/$1" ]; then
        mkdir -p "$folder/build"
        dpkg-source --no-check -x "$sources/$1"_*.dsc "$folder/build/$1" > "$log" 2>&1 || fail "$1 cannot be unpacked; see $log"
    fi
    echo "$folder/build/$1"
}

export PKG_CONFIG_LIBDIR="$folder/lib/pkgconfig:/usr/lib/$machine/pkgconfig:/usr/share/pkgconfig"

if [ ! -e "$folder/lib/libcjson.a" ]; then
    dir=$(unpack cjson)
    run 'cJSON' sh -ec '$1 -O2 -c -o "$2/cJSON.o" "$2/cJSON.c" && "$4ar" rcs "$3/lib/libcjson.a" "$2/cJSON.o" &&
        mkdir -p "$3/include/cjson" && cp "$2/cJSON.h" "$3/include/cjson/"' sh "$CC" "$dir" "$folder" "$cross"
    printf '%s\n' "Name: libcjson" "Description: JSON" "Version: 1" "Cflags: -I$folder/include" "Libs: -L$folder/lib -lcjson" \
        > "$folder/lib/pkgconfig/libcjson.pc"
fi

if [ ! -e "$folder/lib/libdav1d.a" ]; then
    dir=$(unpack dav1d)
    printf '%s\n' '[binaries]' "c = '$CC'" "ar = '${cross}ar'" "strip = '${cross}strip'" "pkgconfig = 'pkg-config'" \
        '[host_machine]' "system = 'linux'" "cpu_family = '$arch'" "cpu = '$arch'" "endian = 'little'" > "$folder/build/cross.ini"
    run 'dav1d, configured' meson setup "$dir/build" "$dir" --prefix="$folder" --libdir=lib --default-library=static \
        --buildtype=release -Denable_tools=false -Denable_tests=false ${cross:+--cross-file "$folder/build/cross.ini"}
    run 'dav1d' ninja -j "$jobs" -C "$dir/build" install
fi

if [ ! -e "$folder/lib/libSvtAv1Enc.a" ]; then
    dir=$(unpack svt-av1)
    run 'SVT-AV1, configured' cmake -S "$dir" -B "$dir/Build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
        -DBUILD_APPS=OFF -DBUILD_DEC=OFF -DBUILD_TESTING=OFF -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_INSTALL_LIBDIR=lib \
        -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="${cross}g++" \
        ${cross:+-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$arch}
    run 'SVT-AV1' make -j "$jobs" -C "$dir/Build" install
fi

# Three depths of samples in one archive. Its assembly for ARMv8-A knows samples of 8 bits only.
if [ ! -e "$folder/lib/libx265.a" ]; then
    dir=$(unpack x265)
    for bits in 12 10 8; do
        deep=$([ $bits = 8 ] || echo "-DHIGH_BIT_DEPTH=ON -DEXPORT_C_API=OFF")
        run "x265, $bits bits, configured" cmake -S "$dir/source" -B "$dir/$bits" -DCMAKE_BUILD_TYPE=Release -DENABLE_SHARED=OFF \
            -DENABLE_CLI=OFF -DENABLE_LIBNUMA=OFF -DENABLE_PIC=ON -DCMAKE_INSTALL_PREFIX="$folder" -DLIB_INSTALL_DIR="$folder/lib" \
            -DMAIN12=$([ $bits = 12 ] && echo ON || echo OFF) $deep -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="${cross}g++" \
            $([ $bits != 8 ] || echo -DLINKED_10BIT=ON -DLINKED_12BIT=ON) \
            $([ $bits = 8 ] || [ $arch = x86_64 ] || echo -DENABLE_ASSEMBLY=OFF) \
            ${cross:+-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$arch -DCROSS_COMPILE_ARM64=ON}
        run "x265, $bits bits" make -j "$jobs" -C "$dir/$bits"
    done
    run 'x265' make -C "$dir/8" install
    printf 'create %s\naddlib %s\naddlib %s\naddlib %s\nsave\nend\n' "$folder/lib/libx265.a" "$dir/8/libx265.a" \
        "$dir/10/libx265.a" "$dir/12/libx265.a" | "${cross}ar" -M
fi

# Everything that reads and writes files, without what needs more libraries: devices, hardware, TLS.
if [ ! -e "$folder/lib/libavformat.a" ]; then
    dir=$(unpack ffmpeg)
    cd "$dir"
    run 'FFmpeg, configured' ./configure --prefix="$folder" --libdir="$folder/lib" --enable-gpl --enable-version3 \
        --disable-autodetect --disable-programs --disable-doc --disable-debug --disable-shared --enable-static --enable-pic \
        --disable-postproc --disable-filters \
        --enable-filter=buffer,buffersink,abuffer,abuffersink,bwdif,idet,scale,format,aformat,aresample,null,anull \
        --enable-libx264 --enable-libx265 --enable-libvpx --enable-libsvtav1 --enable-libdav1d --enable-libopus \
        --enable-libmp3lame --enable-libwebp --enable-zlib --enable-bzlib --enable-lzma \
        --cc="$CC" --pkg-config-flags=--static --pkg-config=pkg-config --extra-cflags="-I$folder/include -fno-asynchronous-unwind-tables" \
        --extra-ldflags="-L$folder/lib" --extra-libs="-lpthread -lm -ldl" \
        ${cross:+--enable-cross-compile --cross-prefix=$cross --arch=$arch --target-os=linux}
    run 'FFmpeg' make -j "$jobs" install
fi
