#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds what decodes pictures, FFmpeg's part of it, libjpeg and zlib, with clang's sanitiser of bytes never written, from
# the distribution's sources, so that the target pixels sees such bytes of theirs as well:
#
#   sh tests/fuzz/libraries.sh FOLDER      then make fuzz-pixels LIBRARIES=FOLDER RUNS=1000000
#
# They have the names of the system's, and the target loads them in their place. Needs deb-src lines, or the sources of
# ffmpeg, libjpeg-turbo and zlib in FOLDER/source.
set -eu
to=$(mkdir -p "$1/source" "$1/lib" && cd "$1" && pwd)
flags="-O2 -g1 -fno-omit-frame-pointer -fsanitize=memory,fuzzer-no-link"
# What the system's libavfilter asks of libavcodec when it is loaded.
transforms="--enable-dct --enable-fft --enable-rdft --enable-encoder=roq"
decoders=png,apng,mjpeg,webp,vp8,bmp,pgm,ppm,tiff,gif
cd "$to/source"
set -- ffmpeg-*/ libjpeg-turbo-*/ zlib-*/
[ -d "$1" ] || apt-get source ffmpeg libjpeg-turbo zlib

cd "$to"/source/zlib-*/
CC=clang CFLAGS="$flags -fPIC" ./configure --prefix="$to" > "$to/log"
make -j2 LDSHARED="clang -shared -Wl,-soname,libz.so.1" "$(sed -n 's/^SHAREDLIBV=//p' Makefile)" >> "$to/log" 2>&1
cp -a libz.so* "$to/lib"

cd "$to"/source/ffmpeg-*/
# shellcheck disable=SC2086
./configure --prefix="$to" --cc=clang --disable-asm --disable-autodetect --enable-zlib --enable-shared --disable-static --disable-programs \
    --disable-doc --disable-network --disable-everything --disable-avdevice --disable-avfilter --disable-swresample --disable-stripping \
    --enable-decoder=$decoders --enable-demuxer=gif --enable-protocol=file $transforms --extra-cflags="$flags" --extra-ldexeflags=-fsanitize=memory >> "$to/log"
make -j2 install >> "$to/log" 2>&1

mkdir -p "$to/jpeg"
cd "$to/jpeg"
cmake "$to"/source/libjpeg-turbo-*/ -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS="$flags" -DCMAKE_BUILD_TYPE=None -DWITH_SIMD=0 -DWITH_TURBOJPEG=0 \
    -DENABLE_STATIC=0 >> "$to/log"
make -j2 jpeg >> "$to/log" 2>&1
cp -a libjpeg.so* "$to/lib"
echo "$to/lib"
