#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The unit of systemd and the loop over cameras.
. tests/tap.inc
if command -v systemd-analyze > /dev/null; then
    # What it finds beyond a command and a manual that are not installed here.
    nothing "systemd-analyze verify finds nothing" "$(systemd-analyze verify 'apps/service/mona@.service' 2>&1 |
        grep -v -e 'is not executable' -e 'man mona(1)' -e "^Command 'man" | grep mona)"
    exposure=$(systemd-analyze security --offline=true 'apps/service/mona@.service' 2> /dev/null | awk '/Overall exposure/ { print $(NF - 2) }')
    at_least "its exposure, of 10, below 2.5: tenths" "$(awk "BEGIN { print 25 - 10 * ${exposure:-10} }")" 1
else
    skip "no systemd-analyze"
fi
same "systemd looks for mona itself, in /usr/local/bin and /usr/bin" "$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' 'apps/service/mona@.service')" mona
# No container is built here; what its Debian needs is what the Makefile says.
packages=$(printf 'include Makefile\npackages:\n\t@echo $(PACKAGES)\n' | make -s --no-print-directory -f - packages)
nothing "the container installs all packages of the build" "$(for package in ${packages:-none}; do
    grep -q -e " $package " -e " $package\$" apps/service/Containerfile || echo "$package"; done)"
same "it runs as nobody" "$(grep '^USER' apps/service/Containerfile)" "USER 65534:65534"
film 5 "$tmp/film.y4m" 64x48
ffmpeg -v error -i "$tmp/film.y4m" -c:v libx264 -pix_fmt yuv420p "$tmp/a.mkv"
cp "$tmp/a.mkv" "$tmp/b.mkv"
MONA=$mona sh apps/examples/cameras.sh "$tmp/out" "$tmp/a.mkv" "$tmp/b.mkv"
same "examples/cameras.sh: the status of a night without trouble" $? 0
same "both films are there" "$(for n in 1 2; do video_times "$tmp/out/$n.mkv" | wc -l; done | tr '\n' ' ')" "5 5 "
same "with their metrics" "$(cat "$tmp"/out/?.prom | grep -c '^# EOF')" 2
MONA=$mona sh apps/examples/cameras.sh "$tmp/out" "$tmp/a.mkv" "$tmp/missing.mkv"
same "and of one with trouble" $? 1
