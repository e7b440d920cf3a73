#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The whole test of libmonavideo, 10,000 cycles from four threads, with the sanitisers: nothing leaks, nothing races.
. tests/tap.inc
clang=$(command -v clang || command -v gcc)
# $1: SANITIZE, $2: what it looks for
sanitised() {
    folder=$BUILD/api_$1
    succeeds "it builds with SANITIZE=$1" make -s --no-print-directory -j"$(nproc)" BUILD="$folder" CC="$clang" SANITIZE="$1" \
        CFLAGS="-O1 -Wno-pass-failed" "$folder/tests/test_monavideo"
    CMOCKA_MESSAGE_OUTPUT=TAP MONA_TEST_SHARE=1 TSAN_OPTIONS=halt_on_error=1 "$folder/tests/test_monavideo" > "$tmp/api" 2>&1
    same "$2: status 0, and no test failed" "$? $(grep -c '^not ok' "$tmp/api") $(grep -m 3 -e Sanitizer -e '^not ok' "$tmp/api")" "0 0 "
    at_least "$2: tests" "$(grep -c '^ok' "$tmp/api")" 8
}
sanitised 1 "leaks and bad addresses"
sanitised thread "races"
