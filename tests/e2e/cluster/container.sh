#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The container of apps/service/Containerfile: buildah builds it from this tree and runs it, confined by chroot only, which works in
# containers too. Its Debian comes from a registry or, where none is reached, from debootstrap.
. tests/tap.inc
if ! command -v buildah > /dev/null || [ "$(id -u)" != 0 ]; then
    skip "no root, or no buildah"
    exit 0
fi
store=$PWD/$BUILD/container
end() {
    status=$?
    containers rm -a > /dev/null 2>&1
    containers rmi -a -f > /dev/null 2>&1
    rm -rf --one-file-system "$store" "$tmp"
    [ $status -ne 0 ] || echo "1..$tests"
}
trap end EXIT
mkdir -p "$store"
containers() { buildah --root "$store/storage" --runroot "$store/run" "$@"; }
containers info > /dev/null 2>&1 || export STORAGE_DRIVER=vfs
debian=docker.io/library/debian
if ! containers pull -q $debian:trixie > "$tmp/log" 2>&1 || ! containers pull -q $debian:trixie-slim > "$tmp/log" 2>&1; then
    root=build-roots/trixie
    if [ ! -e $root/.done ]; then
        root=$store/trixie
        if ! debootstrap --variant=minbase --include=ca-certificates trixie "$root" > "$tmp/log" 2>&1; then
            skip "no Debian: neither a registry nor debootstrap has one ($(tail -n 1 "$tmp/log"))"
            exit 0
        fi
    fi
    base=$(containers from scratch)
    containers add -q "$base" "$root" / > /dev/null
    containers commit -q --rm "$base" $debian:trixie > /dev/null
    containers tag $debian:trixie $debian:trixie-slim
fi
containers bud --isolation chroot --pull-never --layers=false -f apps/service/Containerfile -t mona . > "$tmp/log" 2>&1
same "it is built" "$? $(tail -n 3 "$tmp/log" | grep -c -e 'Successfully tagged')" "0 1"

mkdir "$tmp/films"
chmod 755 "$tmp"
one=$(containers from --pull-never mona)
inside() { containers run --isolation chroot --network host -v "$tmp/films:/films" "$one" -- "$@" < /dev/null; }
same "its entry point is mona, and its user nobody" "$(containers inspect --type image --format '{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.User}}' mona)" \
    "[/usr/bin/mona] 65534:65534"
same "mona was built there, not here" "$(inside mona --version | grep -c 'runs with those of FFmpeg 7')" 1
ffmpeg -v error -f lavfi -i "testsrc2=s=96x64:r=25:d=12,noise=alls=9:allf=t" -f lavfi -i "sine=400:duration=12" -c:v libx264 -preset veryfast -g 25 -pix_fmt yuv420p \
    -c:a aac "$tmp/films/in.mp4"
chown 65534:65534 "$tmp/films"
inside mona enhance /films/in.mp4 -o /films/out.mp4 --quiet --threads 1 --resume > "$tmp/log" 2>&1
same "it enhances a film" "$? $(video_times "$tmp/films/out.mp4" | wc -l) $(stat -c %U "$tmp/films/out.mp4")" "0 300 nobody"
inside mona enhance /films/missing.mp4 -o /films/none.mp4 > "$tmp/log" 2>&1
same "and ends with the status of mona" "$? $(grep -c 'missing.mp4: ' "$tmp/log")" "1 1"
# What the pods of Kubernetes run.
mkdir "$tmp/films/plan"
printf '/films/in.mp4\t/films/parts.mp4\t%s\n' 1/2 2/2 > "$tmp/films/plan/parts"
printf '/films/in.mp4\t/films/parts.mp4\t2\n' > "$tmp/films/plan/films"
printf '%s\n' --threads 1 > "$tmp/films/plan/options"
for step in 'part /films/plan 2' 'part /films/plan 1' 'join /films/plan 1'; do
    # shellcheck disable=SC2086
    inside mona-task $step >> "$tmp/lines" 2>&1
done
same "parts of a film, as pods make them" "$(cmp "$tmp/films/out.mp4" "$tmp/films/parts.mp4" && grep -c ': [0-9]* s on ' "$tmp/lines")" 3
