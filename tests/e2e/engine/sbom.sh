#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make sbom: the bill of materials has the build's files by their checksums, and the libraries by their versions; each name it uses is
# declared once.
. tests/tap.inc

sbom() { sh apps/static/sbom.sh "$BUILD" 1.2.3 pkg-config zlib libavcodec; }
succeeds "it is written" sh -c "sh apps/static/sbom.sh '$BUILD' 1.2.3 pkg-config zlib libavcodec > '$tmp/a.spdx'"
sleep 1
sbom > "$tmp/b.spdx"
succeeds "and the same again" cmp "$tmp/a.spdx" "$tmp/b.spdx"
same "the command by its checksum" "$(grep -A 2 '^FileName: ./mona$' "$tmp/a.spdx" | tail -n 1; sed -n '/^FileName: .\/mona$/,/SHA256/s/.*SHA256: //p' "$tmp/a.spdx")" \
    "FileChecksum: SHA1: $(sha1sum < "$mona" | cut -d ' ' -f 1)
$(sha256sum < "$mona" | cut -d ' ' -f 1)"
same "a library by its version" "$(grep -A 2 '^PackageName: libavcodec' "$tmp/a.spdx" | tail -n 1)" "PackageVersion: $(pkg-config --modversion libavcodec)"
same "names are declared once" "$(sed -n 's/^SPDXID: //p' "$tmp/a.spdx" | sort | uniq -d | wc -l)" 0
nothing "and those used are declared" "$(sed -n 's/^Relationship: \([^ ]*\) [A-Z_]* /\1 /p' "$tmp/a.spdx" | tr ' ' '\n' | sort -u |
    while read -r name; do grep -qx "SPDXID: $name" "$tmp/a.spdx" || echo "$name"; done)"
same "a library that is not there ends it" "$(sh apps/static/sbom.sh "$BUILD" 1.2.3 pkg-config nosuchlibrary > /dev/null 2>&1; echo $?)" 1
