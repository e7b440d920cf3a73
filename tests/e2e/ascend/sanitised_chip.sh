#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# engine/ascend, the replay kernel and the stand-in for the vendor's libraries with the sanitisers: films, networks of
# the vendor's compiler, and every fault of programs.sh and om.sh leave nothing behind and race with nothing.
. tests/tap.inc
unset MAKEFLAGS MFLAGS
clang=$(command -v clang || command -v gcc)
kits=$(for kit in full old operators binaries none broken; do echo "ascend/$kit/libascendcl.so"; done)
kits="$kits ascend/full/libacl_dvpp.so ascend/old/libacl_dvpp.so ascend/operators/libacl_dvpp.so"

# $1: SANITIZE, $2: what it looks for
sanitised() {
    folder=$BUILD/chip_$1
    succeeds "it builds with SANITIZE=$1" make -s --no-print-directory -j"$(nproc)" BUILD="$folder" CC="$clang" SANITIZE="$1" \
        CFLAGS="-O1 -Wno-pass-failed" $(for file in mona scene tests/test_replay tests/test_replay_operands $kits; do echo "$folder/$file"; done)
    for test in "$folder/tests/test_replay" "$folder/tests/test_replay_operands" tests/e2e/ascend/programs.sh tests/e2e/ascend/om.sh \
        $([ "$1" = thread ] || echo tests/e2e/ascend/dvpp.sh); do # libav's threads are built without the sanitiser
        case $test in
            *.sh) set -- "$1" "$2" sh "$test" ;;
            *) set -- "$1" "$2" "$test" ;;
        esac
        BUILD=$folder SANITIZE=$1 TIER=short CMOCKA_MESSAGE_OUTPUT=TAP MONA_TEST_SHARE=12 TSAN_OPTIONS=halt_on_error=1 \
            "$3" ${4:+"$4"} > "$tmp/chip" 2>&1
        same "$2: $(basename "$test"): status 0, and no test failed" \
            "$? $(grep -c '^not ok' "$tmp/chip") $(grep -m 3 -A 3 -e Sanitizer -e '^not ok' "$tmp/chip")" "0 0 "
        at_least "$2: $(basename "$test"): tests" "$(grep -c '^ok' "$tmp/chip")" 2
    done
}
sanitised 1 "leaks and bad addresses"
sanitised thread "races"
