#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command on a bare Debian: a root made by debootstrap, with nothing but git, make and gcc, in which the
# last commit of this checkout lies in /mona. Needs root and debootstrap.
#
#   sh tests/bare_root.sh SUITE [COMMAND]...       bookworm is Debian 12, trixie 13
#
# Without a COMMAND: make demo, then make test, with the minutes of each. A COMMAND that fails ends the script with
# its exit status.
#
# ROOTS: where the pristine roots are kept (build-roots); each run works on a copy, which it removes unless KEEP=1.
# MIRROR: a Debian mirror in place of debootstrap's own choice.
# SHARED: a folder that is seen there as /shared, as ../shared of the checkout.
set -eu
suite=${1:?a suite is needed, such as bookworm or trixie}
shift
[ $# -gt 0 ] || set -- "make demo" "make test"
ROOTS=${ROOTS:-build-roots}
[ "$(id -u)" = 0 ] || { echo "bare_root.sh: only root can make and enter another Debian" >&2; exit 1; }
command -v debootstrap > /dev/null || { echo "bare_root.sh needs debootstrap; apt-get install debootstrap" >&2; exit 1; }

pristine=$ROOTS/$suite
if [ ! -e "$pristine/.done" ]; then
    rm -rf "$pristine"
    mkdir -p "$ROOTS"
    debootstrap --variant=minbase --include=ca-certificates,gcc,git,make "$suite" "$pristine" ${MIRROR:+"$MIRROR"}
    touch "$pristine/.done"
fi

root=$(mktemp -d "$ROOTS/$suite.XXXXXX")
enter=$(mktemp)
trap 'rm -f "$enter"; [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$root"' EXIT
trap 'exit 1' INT TERM HUP
cp -a "$pristine/." "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"
git clone -q . "$root/mona"
# The checkout must belong to the user who works in it.
chown -R 0:0 "$root/mona"
mkdir "$root/shared"

# What is mounted here is unmounted when the last process ends.
cat > "$enter" << 'END'
set -eu
cd "$1"
mount -t proc proc proc
mount --rbind /dev dev
[ -z "$2" ] || mount --bind "$2" shared
shift 2
exec chroot . sh -c 'cd /mona && exec sh -c "$1"' sh "$@"
END
for command in "$@"; do
    echo "== $suite: $command"
    start=$(date +%s)
    status=0
    env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM="${TERM:-dumb}" DEBIAN_FRONTEND=noninteractive \
        unshare --mount --pid --fork sh "$enter" "$root" "${SHARED:-}" "$command" || status=$?
    end=$(date +%s)
    echo "== $suite: $command: exit $status, $(((end - start) / 60)) min $(((end - start) % 60)) s"
    [ $status -eq 0 ] || exit $status
done
