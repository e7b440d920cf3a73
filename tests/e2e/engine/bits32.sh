#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The library with 32-bit addresses: what does not fit memory is refused, and results are the same.
. tests/tap.inc
echo 'int main(void) { return 0; }' > "$tmp/main.c"
if [ -n "$SANITIZE" ] || ! ${CC:-cc} -m32 -o "$tmp/main" "$tmp/main.c" 2> "$tmp/log" || ! "$tmp/main"; then
    skip "a build for 32 bits: sanitised, or ${CC:-cc} -m32 makes no program here"
    exit 0
fi

# With SSE, since sums in the x87 have more bits.
make_32() {
    make --no-print-directory ARCH=i386 CC="${CC:-cc} -m32" CFLAGS="-O1 -msse2 -mfpmath=sse" LDFLAGS= \
        BUILD="$tmp/build" "$tmp/build/firmware"
}
succeeds "library and firmware example are built for 32 bits" make_32
succeeds "the example runs" "$tmp/build/firmware" "$tmp/in32.pgm" "$tmp/out32.pgm"
succeeds "it runs on 64 bits" "$BUILD/firmware" "$tmp/in.pgm" "$tmp/out.pgm"
succeeds "both give the same bytes" cmp "$tmp/out.pgm" "$tmp/out32.pgm"

for bits in 32 64; do
    library=$BUILD/libmona.a
    [ $bits = 64 ] || library=$tmp/build/libmona.a
    succeeds "a program for $bits bits is linked" ${CC:-cc} -m$bits -std=c11 -I. -Iengine -o "$tmp/large" \
        tests/e2e/engine/large_arrays.c "${library%.a}-plan.a" "$library" -pthread
    same "arrays of 2^32 bytes on $bits bits" "$("$tmp/large")" \
        "$bits bits: $([ $bits = 64 ] && echo success || echo 'a limit of the engine is exceeded')"
done
