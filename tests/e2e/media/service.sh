#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The unit of systemd and the loop over cameras.
. tests/tap.inc
# ---- units for cameras that share a machine
printf '# three\nfront rtsp://10.0.0.1/a rtsp://10.0.0.2/front --stages sr --tier fast\n\nback rtsp://10.0.0.1/b rtsp://10.0.0.2/back\n gate-1  x  y\n' > "$tmp/list"
MONA_CPUS=12 MONA_MEMORY=9000000001 sh apps/service/mona-cameras units "$tmp/list" "$tmp/root" > "$tmp/commands"
same "units for three cameras" "$? $(ls "$tmp/root/etc/mona" | tr '\n' ' ')" "0 back.conf front.conf gate-1.conf "
same "what mona@.service reads" "$(cat "$tmp/root/etc/mona/front.conf")" "INPUT=\"rtsp://10.0.0.1/a\"
OUTPUT=\"rtsp://10.0.0.2/front\"
OPTIONS=\"--stages sr --tier fast\""
same "a third of the memory, twice a third of the processors" "$(sed 1d "$tmp/root/etc/systemd/system/mona@back.service.d/share.conf" | tr '\n' ' ')" "MemoryMax=3000000000 CPUQuota=800% "
same "what starts them" "$(tail -n 1 "$tmp/commands")" "systemctl enable --now mona-scrape.timer mona@front mona@back mona@gate-1"
echo 'a rtsp://u:p%40@x/$1 rtsp://y/`b`' > "$tmp/odd"
sh apps/service/mona-cameras units "$tmp/odd" "$tmp/odd_root" > "$tmp/commands"
same "what a shell, or systemd, reads of odd addresses" "$(. "$tmp/odd_root/etc/mona/a.conf" && echo "$INPUT $OUTPUT")" 'rtsp://u:p%40@x/$1 rtsp://y/`b`'
if command -v systemd-analyze > /dev/null; then
    # What it finds beyond a command and a manual that are not installed here.
    nothing "systemd-analyze verify finds nothing" "$(systemd-analyze verify 'apps/service/mona@.service' 2>&1 |
        grep -v -e 'is not executable' -e 'man mona(1)' -e "^Command 'man" | grep mona)"
    mkdir -p "$tmp/units"
    cp 'apps/service/mona@.service' "$tmp/units/mona@front.service"
    cp apps/service/mona-scrape.service apps/service/mona-scrape.timer "$tmp/units"
    cp -r "$tmp/root/etc/systemd/system/mona@front.service.d" "$tmp/units"
    for unit in mona@front.service mona-scrape.timer mona-scrape.service; do
        nothing "systemd-analyze verify finds nothing in $unit" "$(systemd-analyze verify "$tmp/units/$unit" 2>&1 |
            grep -v -e 'is not executable' -e 'man mona(1)' -e "^Command 'man" | grep mona)"
    done
    sed 's/CPUQuota/CPUQuotum/' "$tmp/units/mona@front.service.d/share.conf" > "$tmp/share" && mv "$tmp/share" "$tmp/units/mona@front.service.d/share.conf"
    same "it does in a fault of the drop-in" "$(systemd-analyze verify "$tmp/units/mona@front.service" 2>&1 | grep -c CPUQuotum)" 1
    exposure=$(systemd-analyze security --offline=true 'apps/service/mona@.service' 2> /dev/null | awk '/Overall exposure/ { print $(NF - 2) }')
    at_least "its exposure, of 10, below 2.5: tenths" "$(awk "BEGIN { print 25 - 10 * ${exposure:-10} }")" 1
else
    skip "no systemd-analyze"
fi
same "systemd looks for mona itself, in /usr/local/bin and /usr/bin" "$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' 'apps/service/mona@.service')" mona
for line in "one two" "a/b in out" "twice a b" 'front in out --sr "my net"' "front in it's" 'front in a\b'; do
    printf 'twice x y\n%s\n' "$line" > "$tmp/bad"
    fails "no camera: $line" "mona-cameras: $tmp/bad: " sh apps/service/mona-cameras units "$tmp/bad" "$tmp/none"
done
nothing "of which none was written" "$(ls "$tmp/none" 2> /dev/null)"
sed 's/$/\r/' "$tmp/list" > "$tmp/windows"
sh apps/service/mona-cameras units "$tmp/windows" "$tmp/windows_root" > "$tmp/commands"
succeeds "a list whose lines end as on Windows gives the same files" diff -r "$tmp/root/etc/mona" "$tmp/windows_root/etc/mona"
echo '# none' > "$tmp/bad"
for wrong in MONA_MEMORY=8G MONA_MEMORY=0 MONA_CPUS=many MONA_CPUS=-1; do
    fails "$wrong" "${wrong%=*}: expected a number above 0" env "$wrong" sh apps/service/mona-cameras units "$tmp/list" "$tmp/none"
done
same "a list of no cameras is told once" "$(sh apps/service/mona-cameras units "$tmp/bad" "$tmp/none" 2>&1)" \
    "mona-cameras: $tmp/bad: expected a line NAME INPUT OUTPUT for each camera, found none"
nothing "and nothing was written of these" "$(ls "$tmp/none" 2> /dev/null)"
fails "no list" "missing: cannot be read" sh apps/service/mona-cameras units "$tmp/missing" "$tmp/none"

# The watchdog: mona tells the socket of the service manager that frames come out, as often as once a second.
film 60 "$tmp/slow.y4m" 320x180
cat > "$tmp/manager.py" << 'END'
import os, socket, subprocess, sys, time
mona, film, tmp, kind = sys.argv[1:]
name = f'@mona-test-{os.getpid()}' if kind == 'abstract' else f'{tmp}/notify'
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind('\0' + name[1:] if kind == 'abstract' else name)
s.setblocking(False)
began = time.monotonic()
run = subprocess.Popen([mona, 'enhance', '-', '-o', '-', '--stages', 'sr', '--quiet'], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                       env={**os.environ, 'NOTIFY_SOCKET': name})
data = open(film, 'rb').read()
for i in range(3):
    run.stdin.write(data[i * len(data) // 3:(i + 1) * len(data) // 3])
    run.stdin.flush()
    time.sleep(1.2)
run.stdin.close()
status = run.wait()
took = time.monotonic() - began
told = []
try:
    while True:
        told.append(s.recv(64).decode())
except BlockingIOError:
    pass
print(status, sorted(set(told)), 2 <= len(told) <= took + 3)
END
same "the watchdog is told" "$(python3 "$tmp/manager.py" "$mona" "$tmp/slow.y4m" "$tmp" abstract)" "0 ['WATCHDOG=1'] True"
full && same "on a socket with a path, too" "$(python3 "$tmp/manager.py" "$mona" "$tmp/slow.y4m" "$tmp" path)" "0 ['WATCHDOG=1'] True"
NOTIFY_SOCKET=$tmp/nobody "$mona" enhance "$tmp/slow.y4m" -o "$tmp/slow_out.y4m" --stages sr --frames 2 --quiet
same "without one that listens, mona works" $? 0

# No container is built here; what its Debian needs is what the Makefile says.
packages=$(printf 'include Makefile\npackages:\n\t@echo $(PACKAGES)\n' | make -s --no-print-directory -f - packages)
nothing "the container installs all packages of the build" "$(for package in ${packages:-none}; do
    grep -q -e " $package " -e " $package\$" apps/service/Containerfile || echo "$package"; done)"
same "it runs as nobody" "$(grep '^USER' apps/service/Containerfile)" "USER 65534:65534"
film 5 "$tmp/film.y4m" 64x48
# Half a second for each frame: none is late, on a busy machine neither.
ffmpeg -v error -r 2 -i "$tmp/film.y4m" -c:v libx264 -pix_fmt yuv420p "$tmp/a.mkv"
cp "$tmp/a.mkv" "$tmp/b.mkv"
MONA=$mona sh apps/examples/cameras.sh "$tmp/night" "$tmp/a.mkv" "$tmp/b.mkv"
same "examples/cameras.sh: the status of a night without trouble" $? 0
same "both films are there" "$(for n in 1 2; do video_times "$tmp/night/$n.mkv" | wc -l; done | tr '\n' ' ')" "5 5 "
same "with their metrics" "$(cat "$tmp"/night/?.prom | grep -c '^# EOF')" 2
sh apps/service/mona-cameras scrape "$tmp/night" > "$tmp/all.prom"
same "one scrape has both" "$(grep '^mona_frames_out_total' "$tmp/all.prom" | tr '\n' ' ')" 'mona_frames_out_total{camera="1"} 5 mona_frames_out_total{camera="2"} 5 '
same "with all that they say" "$(grep -c '^mona' "$tmp/all.prom")" "$(cat "$tmp"/night/?.prom | grep -c '^mona')"
if command -v promtool > /dev/null; then
    same "promtool has nothing to say of it" "$(promtool check metrics < "$tmp/all.prom" 2>&1; echo $?)" 0
    same "as it has of both files one after the other" "$(cat "$tmp"/night/?.prom | promtool check metrics > /dev/null 2>&1; echo $?)" 1
else
    skip "one scrape is judged by promtool, which is not here (prometheus)"
fi
MONA=$mona sh apps/examples/cameras.sh "$tmp/night" "$tmp/a.mkv" "$tmp/missing.mkv"
same "and of one with trouble" $? 1
