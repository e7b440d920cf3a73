#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
# Called by the container with CC, CFLAGS, LIB_FUZZING_ENGINE, WORK and OUT. Puts there each target of tests/fuzz with its
# dictionary, its seeds and the shared libraries that it needs. TARGETS: only some.
cd "$(dirname "$0")"
[ -e Makefile ] || cd mona
[ -e Makefile ] || cd ..
targets=${TARGETS:-$(ls tests/fuzz/fuzz_*.c | sed 's/.*fuzz_\(.*\)\.c/\1/')}
make -j"$(nproc)" CC="$CC" BUILD="$WORK/build" SANITIZE= CFLAGS="$CFLAGS -Wno-pass-failed" LDFLAGS="-Wl,-rpath,\\\$\$ORIGIN/lib" \
    FUZZ_ENGINE="$LIB_FUZZING_ENGINE" $(for t in $targets; do echo "$WORK/build/libfuzzer/$t"; done)
mkdir -p "$OUT/lib"
for target in $targets; do
    program=$WORK/build/libfuzzer/$target
    cp "$program" "$OUT/$target"
    ldd "$program" | awk '$3 ~ /^\// && $1 !~ /^(libc|libm|libpthread|libdl|librt)\.so/ { print $3 }' | xargs -r cp -n -t "$OUT/lib"
    [ ! -e "tests/fuzz/words/$target" ] || cp "tests/fuzz/words/$target" "$OUT/$target.dict"
    [ ! -d "tests/fuzz/corpus/$target" ] || (cd "tests/fuzz/corpus/$target" && zip -q -r "$OUT/${target}_seed_corpus.zip" .)
done
# What some targets read beside their input, from the folder in which they run.
cp --parents -r -t "$OUT" tests/conformance/residual tests/conformance/external_data tests/fuzz/corpus/source/a.ts
