#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gate.py fails where the second build is slower, and only there. The builds are scripts that take times as told.
. tests/tap.inc

# A build, $1, whose networks take $2 ms and whose other runs take $3 s.
build_of() {
    mkdir "$tmp/$1"
    printf '#!/bin/sh\n' > "$tmp/$1/scene"
    printf '#!/bin/sh\nif [ "$1" = bench ]; then echo "{\\"samples_ms\\": [%s, 40]}"; elif [ "$1" = --version ]; then sleep %s; fi\n' \
        "$2" "$3" > "$tmp/$1/mona"
    chmod +x "$tmp/$1/scene" "$tmp/$1/mona"
}

gate() {
    python3 tests/bench/gate.py "$tmp/base" "$tmp/$1" --rounds 3 --rows "$2"
}

build_of base 20 0.05
build_of same 20.4 0.05
build_of slower 20.8 0.15
succeeds "2 % are within the limit" gate same "sr_x2_fast 960x540 best"
succeeds "a quicker build passes" python3 tests/bench/gate.py "$tmp/slower" "$tmp/base" --rounds 3 --rows "start-up,balanced"
fails "4 % are not" "gate.py: slower by more than 3 %: sr_x2_fast 960x540 best" gate slower "sr_x2_fast 960x540 best"
fails "a whole run takes three times as long" "gate.py: slower by more than 3 %: start-up" gate slower start-up
fails "a row that does not exist" "no such row; there are sr_x2_fast 960x540 best" gate same none
