#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plans for CPUs in .mona files: a program that is linked without the planner gives the bytes of mona run by them.
. tests/tap.inc
CC=${CC:-gcc}

succeeds "a program links libmona.a alone" $CC -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror \
    $sanitisers -Iengine -o "$tmp/plans" tests/e2e/models/plans.c \
    "$BUILD/libmona.a" -pthread
nothing "and holds no planner" "$(nm "$tmp/plans" | grep -E 'mona_plan_(make|groups|reach)$')"

python3 - "$tmp" <<'END'
import sys
for name, w, h in (("small", 96, 64), ("wide", 320, 40)):
    x, raw = 1, bytearray()
    for _ in range(w * h):
        x = (x * 1103515245 + 12345) % 2**31
        raw.append(x >> 16 & 255)
    open(f"{sys.argv[1]}/{name}.raw", "wb").write(raw)
    head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': (1, {h}, {w}), }}"
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    open(f"{sys.argv[1]}/{name}.npy", "wb").write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + raw)
END

# $1: model, $2: target, $3: instruction set, $4: input, $5 $6: its size
same_bytes() {
    succeeds "$1: a plan for $2" "$mona" compile "$1" -o "$tmp/planned.mona" --target $2 --size $5x$6
    succeeds "$1: mona run" "$mona" run "$tmp/planned.mona" --raw --cpu c -i "$tmp/$4.npy" -o "$tmp/wanted.npy"
    python3 -c 'import sys; d = open(sys.argv[1], "rb").read(); open(sys.argv[2], "wb").write(d[10 + int.from_bytes(d[8:10], "little"):])' \
        "$tmp/wanted.npy" "$tmp/wanted.raw"
    succeeds "$1: by its plan for $2" "$tmp/plans" "$tmp/planned.mona" $3 $5 $6 "$tmp/$4.raw" "$tmp/found.raw"
    succeeds "$1: the same bytes" cmp "$tmp/wanted.raw" "$tmp/found.raw"
}
same_bytes sr_x2_fast c c small 96 64
if [ "$(uname -m)" = x86_64 ] && grep -q avx2 /proc/cpuinfo; then
    same_bytes sr_x2_fast x86-avx2 avx2 wide 320 40
    same_bytes bicubic_x2 x86-avx2 avx2 small 96 64
fi

# ---- what is shown, and what is refused ------------------------------------------------------------
planned=$tmp/planned.mona
succeeds "two sizes and one more target" "$mona" compile sr_x2_fast -o "$planned" --target armv8 --size 96x64 --size 320x180
succeeds "beside the others" "$mona" compile "$planned" -o "$tmp/more.mona" --target c --size 96x64
same "inspect shows them" "$("$mona" inspect "$tmp/more.mona" --json |
    python3 -c 'import json, sys; print([(p["target"], p["size"], p["threads"], p["arena_bytes"] > 50000) for p in json.load(sys.stdin)["plans"]])')" \
    "[('armv8', '96x64', 1, True), ('armv8', '320x180', 1, True), ('c', '96x64', 1, True)]"
succeeds "as a table too" sh -c "'$mona' inspect '$tmp/more.mona' | grep -q 'armv8 *320x180'"
fails "a plan that is there" "has this plan for armv8 at 320x180 already" "$mona" compile "$planned" -o "$tmp/x.mona" --target armv8 --size 320x180
fails "two targets at once" "--target is given twice: to add" "$mona" compile sr_x2_fast -o "$tmp/x.mona" --target c --target armv8 --size 96x64
fails "one size twice" "--size 096x64 is given twice" "$mona" compile sr_x2_fast -o "$tmp/x.mona" --target c --size 96x64 --size 096x64
nothing "and nothing is written" "$(ls "$tmp/x.mona" 2> /dev/null)"
fails "no plan for this size" "not supported on this device" "$tmp/plans" "$tmp/more.mona" c 100 64 "$tmp/small.raw" "$tmp/found.raw"
fails "a plan is for one size" "expected --size" "$mona" compile sr_x2_fast -o "$tmp/x.mona" --target armv8
succeeds "this machine's" "$mona" compile sr_x2_fast -o "$tmp/x.mona" --target host --size 96x64
fails "only a target makes a copy" "or --target" "$mona" compile sr_x2_fast -o "$tmp/x.mona" --size 96x64
