#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages from a tarball of the last commit, has lintian judge them, installs them here, and
# compiles and runs a program against them. It changes the machine it runs on: run it in a bare root,
#
#   sh tests/bare_root.sh trixie 'sh tests/packages.sh'
#
# The packages lie in BUILD/packages. The last line is "N passed, N failed, N skipped".
set -u
BUILD=${BUILD:-build}
[ "$(id -u)" = 0 ] || { echo "packages.sh installs packages, which only root can do" >&2; exit 1; }
passed=0
failed=0
check() {
    name=$1
    shift
    if "$@" > "$log" 2>&1; then
        passed=$((passed + 1))
        echo "ok - $name"
    else
        failed=$((failed + 1))
        echo "not ok - $name"
        tail -n 40 "$log" | sed 's/^/#   /'
    fi
}
install() {
    apt-get install -q -y --no-install-recommends "$@"
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
version=$(sed -n 's/^#define MONA_VERSION "\(.*\)"/\1/p' engine/mona.h)
folder=$BUILD/packages
rm -rf "$folder"
mkdir -p "$folder"

check "package lists" apt-get update -q
check "tools" install dpkg-dev debhelper lintian fakeroot pkgconf
make -s dist BUILD="$folder" && mv "$folder/mona-$version.tar.gz" "$folder/mona_$version.orig.tar.gz" &&
    tar -xf "$folder/mona_$version.orig.tar.gz" -C "$folder" || exit 1
check "what the build needs" sh -c "cd $folder/mona-$version && apt-get build-dep -q -y --no-install-recommends ./"
# A function that is not in debian/*.symbols, or no longer in a library, fails the build.
check "dpkg-buildpackage" sh -c "cd $folder/mona-$version && DPKG_GENSYMBOLS_CHECK_LEVEL=4 DEB_BUILD_OPTIONS='parallel=$(nproc) terse' \
    dpkg-buildpackage -us -uc"
# Distributors replace mona@localhost and mona.example by addresses of their own.
check "lintian finds no error" sh -c "lintian --allow-root --fail-on error \
    --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog $folder/mona_*.changes"
grep '^[EW]:' "$log"
check "the packages install" install "$(pwd)/$folder"/mona_*.deb "$(pwd)/$folder"/mona-cluster_*.deb "$(pwd)/$folder"/libmona0_*.deb "$(pwd)/$folder"/libmona-dev_*.deb \
    "$(pwd)/$folder"/libmonavideo0_*.deb "$(pwd)/$folder"/libmonavideo-dev_*.deb \
    "$(pwd)/$folder"/python3-mona_*.deb "$(pwd)/$folder"/gstreamer1.0-mona_*.deb
check "mona is hardened" sh -c "readelf -d /usr/bin/mona | grep -w NOW"
check "libraries say since which version each function is there" grep -l '^libmona' /var/lib/dpkg/info/libmona0*.symbols \
    /var/lib/dpkg/info/libmonavideo0*.symbols
check "the examples are there" ls /usr/share/doc/libmonavideo-dev/examples/frames.c /usr/share/doc/libmona-dev/examples/main.c \
    /usr/share/doc/python3-mona/examples/frames.py /usr/share/doc/gstreamer1.0-mona/examples/gstreamer.sh \
    /usr/share/doc/mona/examples/cameras.sh
check "mona runs" sh -c "mona --version | grep -F '$version'"
check "so do the programs of mona-cluster" sh -c "mona-slurm --help && mona-plan --help && mona-task --help && mona-cameras --help &&
    ls /usr/share/doc/mona-cluster/examples/k8s/parts/job.yaml"
check "its models are inside" mona inspect sr_x2_fast
check "the manual page and the completions are there" ls /usr/share/man/man1/mona.1.gz \
    /usr/share/bash-completion/completions/mona /usr/share/zsh/site-functions/_mona
cat > "$folder/program.c" << 'END'
#include <mona.h>
#include <stdio.h>

/* Opens the model whose file is the argument. */
int main(int argc, char **argv) {
    static _Alignas(MONA_ALIGNMENT) char bytes[1 << 22];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    mona_model model;
    mona_status status = mona_model_open(&model, bytes, size);
    printf("%s: %u inputs\n", mona_status_text(status), status == MONA_OK ? mona_model_input_count(&model) : 0);
    return status != MONA_OK;
}
END
check "a program compiles with pkg-config --cflags --libs mona" \
    sh -c "cc -Wall -Werror -o $folder/program $folder/program.c \$(pkg-config --cflags --libs mona)"
check "it runs" "$folder/program" models/sr_x2_fast.mona
check "with libmona.so.0 of the package" sh -c "ldd $folder/program | grep 'libmona\\.so\\.0 => /'"
check "and statically" sh -c "cc -o $folder/program-static $folder/program.c -l:libmona.a -pthread && $folder/program-static models/sr_x2_fast.mona"
check "the example of libmonavideo compiles with pkg-config" \
    sh -c "cc -Wall -Werror -o $folder/frames apps/examples/frames.c \$(pkg-config --cflags --libs monavideo)"
check "it enlarges frames" sh -c "$folder/frames 96x54 3 | grep -a -c FRAME | grep -x 3"
check "the example in Python runs" python3 apps/examples/frames.py
check "GStreamer and its tool" install gstreamer1.0-tools gstreamer1.0-plugins-base
check "gst-inspect-1.0 finds the element" gst-inspect-1.0 monaenhance
check "it enlarges frames" sh -c "gst-launch-1.0 -q videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=64,height=48 ! \
    monaenhance ! filesink location=$folder/larger.raw && test \$(wc -c < $folder/larger.raw) = $((3 * 128 * 96 * 3 / 2))"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
