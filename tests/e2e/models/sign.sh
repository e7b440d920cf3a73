#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona sign and mona inspect --verify: what was changed, signed by another key or is too old is refused with its reason, and minisign
# agrees. apps/examples/signed.c does the same by the engine's guard.
. tests/tap.inc

net=$tmp/net.mona
cp models/sr_x2_fast.mona "$net"
if "$mona" sign --new --key "$tmp/probe" 2>&1 | grep -q 'built with libsodium'; then
    fails "without libsodium signing says what it lacks" "built with libsodium" "$mona" sign "$net" --key "$tmp/probe"
    touch "$tmp/key.pub"
    fails "and so does verifying" "built with libsodium" "$mona" inspect "$net" --verify "$tmp/key.pub"
    exit 0
fi
verify() { "$mona" inspect "$1" --verify "$tmp/key.pub"; }

succeeds "a release is stored" "$mona" compile models/sr_x2_fast.mona -o "$net" --release 7 --target armv8 --size 320x180
succeeds "keys and a signature" "$mona" sign "$net" --new --key "$tmp/key"
same "the secret key is its owner's alone" "$(stat -c %a "$tmp/key")" 600
fails "no key is written over" "key: cannot be created: File exists" "$mona" sign --new --key "$tmp/key"
verify "$net" > "$tmp/text"
same "verified" "$? $(grep -c '^signed: timestamp:.*file:net.mona.*release:7' "$tmp/text")" "0 1"
same "as JSON" "$("$mona" inspect "$net" --verify "$tmp/key.pub" --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["release"], "signed" in d)')" "7 True"

# ---- refused ----------------------------------------------------------------------------------
# The CRC that a model has of itself is repaired, so that only the signature can tell.
flip() { # FROM TO OFFSET
    python3 - "$@" << 'END'
import sys, zlib
data = bytearray(open(sys.argv[1], 'rb').read())
data[int(sys.argv[3])] ^= 1
data[12:16] = bytes(4)
data[12:16] = zlib.crc32(data).to_bytes(4, 'little')
open(sys.argv[2], 'wb').write(data)
END
}
cp "$net.minisig" "$tmp/flipped.mona.minisig"
flip "$net" "$tmp/flipped.mona" $(($(wc -c < "$net") - 4096))
succeeds "the engine alone takes a model with a weight changed" "$mona" inspect "$tmp/flipped.mona"
fails "a flipped bit" "was changed since it was signed" verify "$tmp/flipped.mona"
flip "$net" "$tmp/flipped.mona" 124 # reserved, in the header
fails "a flipped bit that means nothing" "was changed since it was signed" verify "$tmp/flipped.mona"
succeeds "another key" "$mona" sign --new --key "$tmp/other"
fails "a wrong key" "signed by another key: expected" "$mona" inspect "$net" --verify "$tmp/other.pub"
fails "an older release" "net.mona: expected release 8 or later, found 7" "$mona" inspect "$net" --verify "$tmp/key.pub" --least-release 8
fails "a release is asked for without a key, too" "expected release 1 or later, found 0" "$mona" inspect models/sr_x2_fast.mona --least-release 1
succeeds "one that is late enough" "$mona" inspect "$net" --verify "$tmp/key.pub" --least-release 7
sed 's/release:7/release:9/' "$net.minisig" > "$tmp/flipped.mona.minisig"
cp "$net" "$tmp/flipped.mona"
fails "a comment that was changed" "trusted comment was changed" verify "$tmp/flipped.mona"
rm "$tmp/flipped.mona.minisig"
fails "no signature" "flipped.mona.minisig: expected a signature of minisign, which cannot be read" verify "$tmp/flipped.mona"
for cut in 0 20 100 200; do
    head -c $cut "$net.minisig" > "$tmp/flipped.mona.minisig"
    fails "a signature of $cut bytes" "flipped.mona.minisig: expected a signature of minisign" verify "$tmp/flipped.mona"
done
fails "a public key that is none" "expected a public key of minisign" "$mona" inspect "$net" --verify "$net"
fails "a secret key that is none" "expected a secret key of minisign" "$mona" sign "$net" --key "$tmp/key.pub"
fails "no key" "expected a key: --key FILE" "$mona" sign "$net"

# ---- the engine's guard -----------------------------------------------------------------------
succeeds "apps/examples/signed.c compiles" ${CC:-cc} $sanitisers -o "$tmp/signed" apps/examples/signed.c -I. -Iengine "$BUILD/libmona.a" -lsodium -pthread
succeeds "it takes the model" "$tmp/signed" "$net" "$tmp/key.pub" 7
fails "not an older one" "older version than expected" "$tmp/signed" "$net" "$tmp/key.pub" 8
fails "nor by a wrong key" "not signed by the expected key" "$tmp/signed" "$net" "$tmp/other.pub" 7
cp "$net.minisig" "$tmp/flipped.mona.minisig"
flip "$net" "$tmp/flipped.mona" $(($(wc -c < "$net") - 4096))
fails "nor one that was changed" "not signed by the expected key" "$tmp/signed" "$tmp/flipped.mona" "$tmp/key.pub" 7

# ---- minisign ---------------------------------------------------------------------------------
if ! command -v minisign > /dev/null; then
    skip "no minisign here to judge"
    exit 0
fi
succeeds "minisign verifies mona's" minisign -Vm "$net" -p "$tmp/key.pub"
if printf '\n\n' | minisign -G -W -p "$tmp/its.pub" -s "$tmp/its" > "$tmp/log" 2>&1; then
    for legacy in "" -l; do
        succeeds "minisign signs $legacy" minisign -S $legacy -m "$net" -s "$tmp/its"
        succeeds "mona verifies that" "$mona" inspect "$net" --verify "$tmp/its.pub"
    done
    succeeds "mona signs by a key of minisign" "$mona" sign "$net" --key "$tmp/its"
    succeeds "and minisign verifies that" minisign -Vm "$net" -p "$tmp/its.pub"
else
    skip "this minisign makes no keys without a password"
fi
printf 'secret\nsecret\n' | minisign -G -p "$tmp/locked.pub" -s "$tmp/locked" > "$tmp/log" 2>&1
if [ -s "$tmp/locked" ]; then
    fails "a key with a password" "expected a key without a password; minisign -S" "$mona" sign "$net" --key "$tmp/locked"
else
    skip "minisign asks a terminal for passwords"
fi
