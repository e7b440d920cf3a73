#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints a bill of materials (SPDX 2.3, tag-value) of the mona in a build folder: its files with their checksums, and the libraries that
# it was built with. The same build gives the same bytes.
# usage: sbom.sh BUILD VERSION PKG_CONFIG LIBRARY...
set -eu
build=$1 version=$2 config=$3
shift 3

date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 0)}" +%Y-%m-%dT%H:%M:%SZ)
sum=$(cat "$build/mona" "$build/libmona.so" "$build/libmonavideo.so" | sha256sum | cut -c -32)
cat << END
SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: mona-$version
DocumentNamespace: https://spdx.org/spdxdocs/mona-$version-$sum
Creator: Tool: mona-make-sbom-$version
Created: $date

PackageName: mona
SPDXID: SPDXRef-mona
PackageVersion: $version
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageLicenseConcluded: NOASSERTION
PackageLicenseDeclared: Apache-2.0
PackageCopyrightText: NOASSERTION
Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-mona
END
for file in mona libmona.a libmona-plan.a libmona-model310.a libmona-ascend.a libmona.so libmonavideo.so; do
    [ -e "$build/$file" ] || continue
    cat << END

FileName: ./$file
SPDXID: SPDXRef-File-$file
FileChecksum: SHA1: $(sha1sum < "$build/$file" | cut -d ' ' -f 1)
FileChecksum: SHA256: $(sha256sum < "$build/$file" | cut -d ' ' -f 1)
LicenseConcluded: NOASSERTION
LicenseInfoInFile: NOASSERTION
FileCopyrightText: NOASSERTION
Relationship: SPDXRef-mona CONTAINS SPDXRef-File-$file
END
done
# The release of a distribution's package says more than the library's own version.
for library; do
    number=$("$config" --modversion "$library")
    package=
    if command -v dpkg-query > /dev/null; then
        folder=$("$config" --variable=pcfiledir "$library")
        package=$(dpkg-query -S "$folder/$library.pc" 2> /dev/null | sed 's/: .*//' | head -n 1)
    fi
    cat << END

PackageName: $library
SPDXID: SPDXRef-$library
PackageVersion: $number
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageLicenseConcluded: NOASSERTION
PackageLicenseDeclared: NOASSERTION
PackageCopyrightText: NOASSERTION
END
    if [ -n "$package" ]; then
        echo "PackageComment: <text>Debian package $package $(dpkg-query -W -f='${Version}' "$package")</text>"
        echo "ExternalRef: PACKAGE-MANAGER purl pkg:deb/debian/${package%:*}@$(dpkg-query -W -f='${Version}' "$package" | sed 's/+/%2B/g; s/:/%3A/g')"
    fi
    echo "Relationship: SPDXRef-mona DYNAMIC_LINK SPDXRef-$library"
done
