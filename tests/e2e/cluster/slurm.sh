#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona-slurm on a real Slurm: one controller and four nodes on this machine, and what happens on clusters.
. tests/tap.inc

if ! command -v slurmctld > /dev/null || ! command -v munged > /dev/null || [ "$(id -u)" != 0 ]; then
    skip "no root, no slurm-wlm or no munge"
    exit 0
fi
host=$(hostname -s)
slurm=$tmp/slurm
mkdir -p "$slurm/state" "$slurm/spool" "$slurm/log"
chmod 755 "$tmp" "$slurm"
head -c 1024 /dev/urandom > "$slurm/munge.key"
mkdir "$slurm/munge"
chmod 400 "$slurm/munge.key"
sed "s|@HOST@|$host|g; s|@DIR@|$slurm|g" tests/e2e/cluster/slurm.conf > "$slurm/slurm.conf"
for n in 1 2 3 4; do echo "NodeName=n$n Name=npu Count=1"; done > "$slurm/gres.conf"
# Six cameras, of which each node holds two.
mkdir "$tmp/films" "$tmp/live"
cat > "$tmp/cameras" << EOF
[{"name": "c", "count": 6, "size": "96x64", "fps": 25, "input": "$tmp/films/h1.mp4", "output": "$tmp/live/{name}.mkv", "options": "--preset ultrafast -j 1"}]
EOF
for n in 1 2 3 4; do echo "{\"name\": \"n$n\", \"size\": \"96x64\", \"fps\": 25, \"streams\": 2}" > "$tmp/n$n"; done
apps/cluster/mona-plan --cameras "$tmp/cameras" --machines "$tmp"/n[1234] -o "$tmp/plan" --emit slurm --sbatch=--partition=live > "$tmp/log"
same "six cameras, planned" "$? $(grep -c 'any one machine may fail' "$tmp/log")" "0 1"
cat "$tmp/plan/slurm/gres.conf" >> "$slurm/gres.conf"
sed -i "s/Gres=npu:1/&,$(sed -n 's/^NodeName=n1 Gres=//p' "$tmp/plan/slurm/nodes.txt")/" "$slurm/slurm.conf"
export SLURM_CONF="$slurm/slurm.conf"
munged --key-file="$slurm/munge.key" --socket="$slurm/munge.socket" --pid-file="$slurm/munge.pid" --log-file="$slurm/munge/log" \
    --seed-file="$slurm/munge/seed" --force 2> "$tmp/log"
node() { slurmd -f "$SLURM_CONF" -N "n$1" >> "$slurm/log/start" 2>&1; }
daemons="$slurm/d-*.pid $slurm/ctld.pid $slurm/dbd.pid $slurm/db.pid $slurm/munge.pid"
. tests/e2e/cluster/slurm.inc
# Accounting for sacct, where its daemon and a database are.
waited=0
ready() { # a command that must succeed within a minute and a half in all
    until "$@" > /dev/null 2>&1; do
        [ $waited -lt 90 ] || return
        sleep 1
        waited=$((waited + 1))
    done
}
sql() { mariadb --no-defaults --socket="$slurm/db.socket" -u root -e "$1"; }
database() {
    command -v slurmdbd && command -v mariadbd || return
    mariadb-install-db --no-defaults --user=root --datadir="$slurm/db" --skip-test-db || return
    mariadbd --no-defaults --user=root --datadir="$slurm/db" --socket="$slurm/db.socket" --pid-file="$slurm/db.pid" --port=16921 --bind-address=127.0.0.1 &
    ready sql "CREATE USER IF NOT EXISTS slurm@localhost IDENTIFIED BY 'slurm'; GRANT ALL ON slurm_acct_db.* TO slurm@localhost" || return
    printf '%s\n' AuthType=auth/munge "AuthInfo=socket=$slurm/munge.socket" DbdHost=localhost DbdPort=16920 SlurmUser=root "PidFile=$slurm/dbd.pid" \
        "LogFile=$slurm/log/dbd.log" StorageType=accounting_storage/mysql StorageHost=127.0.0.1 StoragePort=16921 StorageUser=slurm StoragePass=slurm \
        > "$slurm/slurmdbd.conf"
    chmod 600 "$slurm/slurmdbd.conf"
    cp "$slurm/slurm.conf" "$slurm/without.conf"
    printf '%s\n' AccountingStorageType=accounting_storage/slurmdbd AccountingStorageHost=localhost AccountingStoragePort=16920 "AccountingStoragePass=$slurm/munge.socket" \
        AccountingStoreFlags=job_comment JobAcctGatherType=jobacct_gather/linux >> "$slurm/slurm.conf"
    slurmdbd && ready sacctmgr -n show cluster || { cp "$slurm/without.conf" "$slurm/slurm.conf"; return 1; }
}
accounts=
! database > "$slurm/log/db" 2>&1 || accounts=yes
slurmctld -f "$SLURM_CONF"
for n in 1 2 3 4; do node $n; done
waited=0
until [ "$(sinfo -h -t idle -o %D 2> /dev/null)" = 4 ] || [ $waited -ge 60 ]; do
    sleep 1
    waited=$((waited + 1))
done
if [ "$(sinfo -h -t idle -o %D 2> /dev/null)" != 4 ]; then
    skip "Slurm does not start here: $(tail -n 1 "$slurm/log/ctld.log" 2>&1)"
    exit 0
fi

export MONA="$PWD/$mona"
options="--quiet --threads 1:1:1"
contents() {
    ffmpeg -v error -i "$1" -map 0 -c copy -f framemd5 - < /dev/null
    frames_md5 "$1"
    ffprobe -v error -show_entries format=duration:stream=codec_name,duration,nb_read_frames -count_frames -of csv "$1"
}
jobs_left() { squeue -h | wc -l; }
wait_all() {
    waited=0
    while [ "$(jobs_left)" -gt 0 ] && [ $waited -lt "${1:-400}" ]; do
        sleep 1
        waited=$((waited + 1))
    done
}
make_film() {
    film=$1
    shift
    ffmpeg -v error -y -f lavfi -i "testsrc2=s=${size:-96x64}:r=25:d=$seconds,noise=alls=15:allf=t:all_seed=5" \
        -f lavfi -i "sine=400:duration=$seconds" "$@" "$tmp/films/$film" < /dev/null
}

# ---- two minutes in 16 parts, and all that may happen ---------------------------------------------------
seconds=120
make_film a.mp4 -c:v libx264 -preset veryfast -g 50 -bf 2 -pix_fmt yuv420p -c:a aac
make_film b.mkv -vf interlace=lowpass=off -c:v libx264 -preset veryfast -g 50 -flags +ildct+ilme -pix_fmt yuv420p -c:a libopus
make_film c.ts -vf "select='mod(n\,7)*mod(n\,5)'" -fps_mode vfr -c:v libx265 -preset ultrafast -x265-params log-level=none:keyint=50 -pix_fmt yuv420p -c:a mp2
preset() {
    case $1 in h264 | hevc) echo --preset ultrafast ;; esac
}
for one in a.mp4:h264 b.mkv:ffv1 c.ts:hevc; do
    film=${one%:*} codec=${one#*:}
    # shellcheck disable=SC2046,SC2086
    "$mona" enhance "$tmp/films/$film" -o "$tmp/whole-$film" --resume -c $codec $(preset $codec) $options || not_ok "$film in one run" "$?"
done
disturb() {
    case $1 in
        killed) # a task's mona, and a task itself
            sleep 2
            pkill -9 -P "$(cat "$slurm/d-n1.pid")" -f mona-task 2> /dev/null
            for pid in $(pgrep -x mona); do
                if tr '\0' ' ' < "/proc/$pid/cmdline" 2> /dev/null | grep -q -- "$tmp.*--part"; then
                    kill -9 "$pid" && break
                fi
            done
            ;;
        nodes) # one set down, and another one's slurmd killed
            sleep 2
            scontrol update nodename=n2 state=down reason=test
            kill -9 "$(cat "$slurm/d-n3.pid")"
            sleep 15
            scontrol update nodename=n2 state=resume 2> /dev/null # it may have come back by itself
            node 3
            ;;
        controller) # restarted in mid-run, and a task done again by the user
            sleep 2
            kill "$(cat "$slurm/ctld.pid")"
            sleep 3
            slurmctld -f "$SLURM_CONF"
            sleep 2
            scontrol requeue "$(squeue -h -t R -o %A | head -n 1)" 2> /dev/null
            ;;
    esac
}
for one in a.mp4:h264:killed b.mkv:ffv1:nodes c.ts:hevc:controller; do
    film=${one%%:*} rest=${one#*:}
    # shellcheck disable=SC2046,SC2086
    apps/cluster/mona-slurm "$tmp/films/$film" -o "$tmp/out" --parts 16 --cpus 1 --mem 300M --gres npu:1 --time 5 -- -c ${rest%:*} $(preset ${rest%:*}) $options \
        2> "$tmp/log" || not_ok "$film: submitted" "$(cat "$tmp/log")"
    same "$film: 16 parts and a join" "$(grep -c '1 films in 16 parts: job [0-9]*, then job [0-9]* joins them' "$tmp/log")" 1
    disturb "${rest#*:}"
    wait_all
    contents "$tmp/whole-$film" > "$tmp/wanted"
    contents "$tmp/out/$film" > "$tmp/found"
    same "$film, ${rest#*:}: as the whole film in one run" "$(cmp "$tmp/wanted" "$tmp/found" && wc -l < "$tmp/wanted") $(ls -d "$tmp/out/$film"*)" \
        "$(wc -l < "$tmp/found") $tmp/out/$film"
    if [ -n "$accounts" ]; then
        job=$(sed -n 's/.*: job \([0-9]*\), then.*/\1/p' "$tmp/log")
        same "$film: sacct tells of all parts" "$(sacct -X -n -P -j "$job" -o JobID,State,Comment | grep -c "^${job}_[0-9]*|COMPLETED|mona: 1 films in 16 parts")" 16
    else
        skip "no slurmdbd, or no mariadb-server: sacct is not asked"
    fi
    at_least "$film: a line a part" "$(cat "$tmp"/out/.mona/*/log/part-* | grep -c "$film, [0-9]*/16: [0-9]* s on")" 12
done

# ---- a task that hangs, and a disk that is full ----------------------------------------------------------
# A mona that hangs in its first try of part 3, and finds no room in its first of part 5.
cat > "$tmp/mona" << EOF
#!/bin/sh
case "\$*" in
    *' --part 3/6 '*) [ -e "$tmp/hung" ] || { : > "$tmp/hung"; exec sleep 1000; } ;;
    *' --part 5/6 '*) [ -e "$tmp/full" ] || { : > "$tmp/full"; ulimit -f 8; trap '' XFSZ; } ;;
esac
exec "$MONA" "\$@"
EOF
chmod +x "$tmp/mona"
# shellcheck disable=SC2086
MONA="$tmp/mona" apps/cluster/mona-slurm "$tmp/films/a.mp4" -o "$tmp/faulty" --parts 6 --cpus 1 --mem 300M --time 1 -- -c h264 --preset ultrafast $options 2> "$tmp/log"
wait_all 600
contents "$tmp/whole-a.mp4" > "$tmp/wanted"
contents "$tmp/faulty/a.mp4" > "$tmp/found"
same "a task that hangs past its limit, and a full disk" "$(cmp "$tmp/wanted" "$tmp/found" && wc -l < "$tmp/wanted")" "$(wc -l < "$tmp/found")"
same "what happened is in the lines of the tasks" "$(cat "$tmp"/faulty/.mona/*/log/part-3 | grep -c 'stopped, perhaps at its limit' | sed 's/[1-9]/some/') $(
    cat "$tmp"/faulty/.mona/*/log/* | grep -c 'cannot be written: File too large')" "some 1"

# ---- a folder of twenty, one of them broken ----------------------------------------------------------------
seconds=3
rm -rf "$tmp/films"/*
mkdir "$tmp/films/more"
for n in 1 2 3 4 5 6; do
    make_film "h$n.mp4" -c:v libx264 -preset veryfast -pix_fmt yuv420p -c:a aac
    make_film "more/m $n.mkv" -c:v mpeg4 -c:a flac
    make_film "v$n.webm" -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -pix_fmt yuv420p -c:a libopus
done
ffmpeg -v error -i "$tmp/films/h1.mp4" -frames:v 1 "$tmp/films/still.png"
head -c 3000 "$tmp/films/h1.mp4" > "$tmp/films/broken.mp4"
# shellcheck disable=SC2086
apps/cluster/mona-slurm "$tmp/films" -o "$tmp/results" --parts 2 --cpus 1 --mem 300M --time 5 --wait -- --strip-rows 8 2> "$tmp/log" < /dev/null
same "twenty films, one broken: 19 results, a line and the status for the one" \
    "$? $(find "$tmp/results" -type f -not -path '*/.mona/*' | wc -l) $(grep -c broken.mp4 "$tmp/log") $(grep -c '19 of 19 films are done' "$tmp/log")" "1 19 1 1"
apps/cluster/mona-slurm "$tmp/films" -o "$tmp/results" --parts 2 --cpus 1 -- --strip-rows 8 2> "$tmp/log"
same "again: nothing is to be done" "$? $(grep -c 'nothing is to be done; 1 films cannot be' "$tmp/log") $(jobs_left)" "1 1 0"

# ---- cameras: no node gets more than it holds, and those of a node that fails start elsewhere ----------------
# $1: how many run, $2: how many wait, $3: on which nodes; waits for that.
cameras_on() {
    waited=0
    until [ "$(squeue -h -t R -o %N | grep -c "n[$3]") $(squeue -h -t R | wc -l) $(squeue -h -t PD | wc -l)" = "$1 $1 $2" ] || [ $waited -ge 240 ]; do
        sleep 1
        waited=$((waited + 1))
    done
    squeue -h -o '%T %N' | sort | uniq -c | awk '{ n[$2] += $1; if ($2 == "RUNNING" && $1 > most) most = $1 } END { print n["RUNNING"] + 0, n["PENDING"] + 0, most }'
}
for job in "$tmp"/plan/slurm/*.sbatch; do
    sed -i "s,^    sleep 5\$,&; [ -e $tmp ] || exit," "$job" # none lives longer than this test
    (cd "$tmp/live" && sbatch "$job" > /dev/null)
done
same "six cameras on four nodes, two on each at most" "$(cameras_on 6 0 1234)" "6 0 2"
for n in 1 2; do
    kill -9 "$(cat "$slurm/d-n$n.pid")"
    [ $n -eq 2 ] || same "one node is gone: the cameras run on the others" "$(cameras_on 6 0 234)" "6 0 2"
done
same "two are gone: four cameras run, two wait" "$(cameras_on 4 2 34)" "4 2 2"
node 1
node 2
same "they are back: all run" "$(cameras_on 6 0 1234)" "6 0 2"
same "each camera was enhanced" "$(for n in 1 2 3 4 5 6; do video_times "$tmp/live/c-$n.mkv" 2> /dev/null | head -n 1; done | wc -l)" 6
scancel --user=root
wait_all 60
