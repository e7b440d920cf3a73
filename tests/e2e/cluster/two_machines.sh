#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs/cluster.md as a new user follows it, on two machines: namespaces with addresses, names and a Slurm of their own.
# The commands and files are read from the page; folders, addresses and the names of machines are the user's.
. tests/tap.inc

for tool in slurmctld munged ip nsenter; do
    command -v $tool > /dev/null && [ "$(id -u)" = 0 ] && continue
    skip "no root, or no $tool"
    exit 0
done
shared=$tmp/shared slurm=$tmp/slurm
mkdir -p "$shared/films" "$tmp/bin" "$slurm/state" "$slurm/spool" "$slurm/log" "$slurm/munge"
chmod 755 "$tmp" "$slurm"
for program in "$mona" apps/cluster/mona-slurm apps/cluster/mona-task apps/cluster/mona-plan apps/service/mona-cameras; do
    ln -s "$PWD/$program" "$tmp/bin"
done
kit=$PWD/$BUILD/ascend/full there=$PWD
python3 tests/ascend/make_kernel.py "$tmp/kernel.o" mona_replay3__kernel0
export PATH="$tmp/bin:$PATH" SLURM_CONF="$slurm/slurm.conf"
export MALLOC_PERTURB_=255 # memory is zero where libx264 reads it before it has been written, by which its packets differ

# What a section of the page shows as typed, or as a file's content.
block() { awk -v section="## $1" '/^## / { on = $0 == section } on && /^    / { print substr($0, 5) }' "$there/docs/cluster.md" | sed "s|/shared/|$shared/|g"; }
# A command of so many words that a sentence of the page names.
named() { tr '\n' ' ' < "$there/docs/cluster.md" | grep -o "\`$1[^\`]*\`" | tr -d '`' | tr -s ' ' | head -n 1; }
# $1: machine, rest: a command there
on() {
    machine=$1
    shift
    nsenter --target "$(cat "$tmp/$machine.pid")" --net --uts -- "$@"
}
# Types a line of the page there.
types() { (cd "$shared" && on "$1" sh -c "$2"); }
daemons="$slurm/*.pid $tmp/m[ab].pid"
. tests/e2e/cluster/slurm.inc
for machine in ma mb; do
    unshare --net --uts sh -c "hostname $machine && echo \$\$ > '$tmp/$machine.pid' && exec sleep 3600" 2> "$tmp/log" &
done
waited=0
until { [ -s "$tmp/ma.pid" ] && [ -s "$tmp/mb.pid" ]; } || [ $waited -ge 50 ]; do
    sleep 0.1
    waited=$((waited + 1))
done
connect() {
    ip link add eth0 netns "$(cat "$tmp/ma.pid")" type veth peer name eth0 netns "$(cat "$tmp/mb.pid")" || return
    n=0
    for machine in ma mb; do
        n=$((n + 1))
        on $machine ip address add 10.99.0.$n/24 dev eth0 && on $machine ip link set eth0 up && on $machine ip link set lo up || return
    done
}
if ! connect 2>> "$tmp/log"; then
    skip "no machines can be made here: $(head -n 1 "$tmp/log")"
    exit 0
fi
make_film() {
    ffmpeg -v error -y -f lavfi -i "testsrc2=s=96x64:r=25:d=$2,noise=alls=12:allf=t:all_seed=7" -f lavfi -i "sine=500:duration=$2" \
        -c:v libx264 -preset veryfast -pix_fmt yuv420p -g 50 "$shared/$1" < /dev/null
}
# That two files hold the same packets.
equal() {
    ffmpeg -v error -i "$1" -map 0 -c copy -f framemd5 - < /dev/null > "$tmp/packets1"
    ffmpeg -v error -i "$2" -map 0 -c copy -f framemd5 - < /dev/null > "$tmp/packets2"
    [ -s "$tmp/packets1" ] && cmp -s "$tmp/packets1" "$tmp/packets2" && echo equal
}

# ---- by hand ----------------------------------------------------------------------------------------------
make_film in.mp4 16
block "Parts, by hand" > "$tmp/lines"
same "three parts and a join are shown" "$(grep -c -e '^mona enhance .*--part [123]/3' "$tmp/lines") $(grep -c '^mona join ' "$tmp/lines")" "3 1"
machine=ma
while read -r line; do
    types $machine "$line" < /dev/null > "$tmp/log" 2>&1 || not_ok "$line" "$(cat "$tmp/log")"
    [ $machine = ma ] && machine=mb || machine=ma
done < "$tmp/lines"
types ma "mona enhance in.mp4 -o $tmp/out.mp4 --resume --quiet"
same "parts from two machines" "$(ls "$shared") $(equal "$tmp/out.mp4" "$shared/out.mp4")" "films
in.mp4
out.mp4 equal"

# ---- cameras, planned ---------------------------------------------------------------------------------------
make_film camera.mp4 4
block Cameras > "$tmp/lines"
mkdir "$shared/machines"
grep -A 1 '^\[{"name": "gate"' "$tmp/lines" | sed '/"name": "m"/d; s|rtsp://10.1.0.9/{name}|camera.mp4|; s|rtsp://10.2.0.1:8554/{name}|live-{name}.mkv|' > "$shared/cameras.json"
for machine in ma mb; do
    sed -n 's/^\[{"name": "m", "count": 4/[{"name": "'$machine'"/p' "$tmp/lines" > "$shared/machines/$machine.json"
done
grep '^mona-plan .*--emit' "$tmp/lines" | sed 's/  *#.*//; s/--without m-3/--without mb/' > "$tmp/plans"
same "two plans are shown, the second after a failure" "$(wc -l < "$tmp/plans") $(grep -c 'without mb' "$tmp/plans")" "2 1"
types ma "$(sed -n 1p "$tmp/plans") --emit slurm" > "$tmp/told"
same "one camera on two machines" "$? $(grep -c '^any one machine may fail' "$tmp/told")" "0 1"
units=$(named "mona-cameras units")
at=$(basename "$shared"/plan/systemd/*.list .list)
types "$at" "$(echo "$units" | sed "s/MACHINE/$at/") $tmp/root" > "$tmp/told"
same "units of systemd on the machine of the plan" "$? $(tail -n 1 "$tmp/told") $(ls "$tmp/root/etc/mona")" "0 systemctl enable --now mona-scrape.timer mona@gate gate.conf"
cp -r "$shared/plan" "$shared/other"
types ma "$(sed -n 2p "$tmp/plans" | sed 's/-o plan/-o other/') --failures 0" > "$tmp/told"
same "the other one takes it" "$? $(ls "$shared/other/systemd")" "0 ma.list"
printf '[{"name": "c", "count": 1000, "size": "1280x720", "fps": 25}]\n' > "$tmp/cameras"
printf '[{"name": "m", "count": 40, "size": "1280x720", "fps": 25, "streams": 28}]\n' > "$tmp/machines"
simulated=$(sed -n '/--simulate/p' "$tmp/lines" | sed "s|cameras.json|$tmp/cameras|; s|machines.json|$tmp/machines|")
types ma "$simulated" > "$tmp/told"
same "a thousand cameras: what the page shows is what is told" "$(sed -n '/^simulated:/,$p' "$tmp/told" | tr -s ' \n' '  ' | cksum)" \
    "$(sed -n '/^simulated:/,$p' "$tmp/lines" | tr -s ' \n' '  ' | cksum)"

# ---- Slurm ----------------------------------------------------------------------------------------------------
head -c 1024 /dev/urandom > "$slurm/munge.key"
chmod 400 "$slurm/munge.key"
sed "s|@DIR@|$slurm|g; s/^SlurmctldHost=.*/SlurmctldHost=ma(10.99.0.1)/; /^NodeName/d; /^PartitionName/d" tests/e2e/cluster/slurm.conf > "$slurm/slurm.conf"
for n in 1 2; do
    machine=$(echo ma mb | cut -d ' ' -f $n)
    echo "NodeName=$machine NodeAddr=10.99.0.$n CPUs=4 RealMemory=3000 Gres=npu:1,$(sed -n "s/^NodeName=$machine Gres=//p" "$shared/plan/slurm/nodes.txt") State=UNKNOWN"
    echo "NodeName=$machine Name=npu Count=1" >> "$slurm/gres.conf"
done >> "$slurm/slurm.conf"
printf '%s\n' SlurmdParameters=config_overrides "PartitionName=main Nodes=ma,mb Default=YES OverSubscribe=FORCE:4 MaxTime=INFINITE State=UP" >> "$slurm/slurm.conf"
cat "$shared/plan/slurm/gres.conf" >> "$slurm/gres.conf"
munged --key-file="$slurm/munge.key" --socket="$slurm/munge.socket" --pid-file="$slurm/munge.pid" --log-file="$slurm/munge/log" \
    --seed-file="$slurm/munge/seed" --force 2> "$tmp/log"
on ma slurmctld -f "$SLURM_CONF"
for machine in ma mb; do on $machine slurmd -f "$SLURM_CONF" -N $machine >> "$slurm/log/start" 2>&1; done
waited=0
until [ "$(on ma sinfo -h -t idle -o %D 2> /dev/null)" = 2 ] || [ $waited -ge 60 ]; do
    sleep 1
    waited=$((waited + 1))
done
same "two nodes" "$(on ma sinfo -h -t idle -o %D)" 2
wait_all() {
    waited=0
    while [ "$(on ma squeue -h | wc -l)" -gt 0 ] && [ $waited -lt 600 ]; do
        sleep 1
        waited=$((waited + 1))
    done
}
make_film films/a.mp4 3
make_film films/b.mp4 3
make_film more.mkv 2
block Slurm > "$tmp/lines"
number=0
grep '^mona-slurm ' "$tmp/lines" > "$tmp/submits"
while read -r line; do
    number=$((number + 1))
    rm -rf "$shared/results"
    case $line in *'--device ascend'*) export LD_LIBRARY_PATH="$kit" MONA_ASCEND_KERNEL="$tmp/kernel.o" ;; esac
    types ma "$line" < /dev/null > "$tmp/log" 2>&1
    same "${line%% -- *}" "$? $(grep -c 'films in [0-9]* parts: job' "$tmp/log")" "0 1"
    types mb "$(sed -n 's/^\(squeue\) .*(\(squeue.*\)).*/\2/p' "$tmp/lines")" > "$tmp/queue" 2>&1
    same "squeue" "$?" 0
    wait_all
    options=${line##* -- } cpus=$(echo "$line" | sed -n 's/.*--cpus \([0-9]*\).*/\1/p')
    for film in films/a.mp4 films/b.mp4 $(echo "$line" | grep -o more.mkv); do
        types ma "mona enhance $film -o $tmp/whole.${film##*.} -y --resume --quiet --threads ${cpus:-4}:${cpus:-4}:${cpus:-4} $options" 2> /dev/null
        result=$(find "$shared/results" -name "$(basename $film)")
        same "$number: $film" "$(equal "$tmp/whole.${film##*.}" "${result:-none}")" equal
    done
    types ma "$(grep '^tail ' "$tmp/lines")" > "$tmp/log"
    same "who did what" "$(grep -o ' s on m[ab]$' "$tmp/log" | sort -u | wc -l)" 2
done < "$tmp/submits"
same "two ways to submit are shown" $number 2
unset LD_LIBRARY_PATH
types ma "$(named 'for job in')" > "$tmp/log"
waited=0
until [ -s "$shared/live-gate.mkv" ] || [ $waited -ge 120 ]; do
    sleep 1
    waited=$((waited + 1))
done
same "the camera runs" "$(grep -c Submitted "$tmp/log") $([ -s "$shared/live-gate.mkv" ] && echo yes)" "1 yes"
on ma scancel --user=root
wait_all
