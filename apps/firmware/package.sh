#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The library as packages for firmware, from the list of files in apps/firmware/Makefile. From the root of the tree:
#
#   sh apps/firmware/package.sh zephyr|esp-idf|arduino|cmsis FOLDER
#
# zephyr: a module (west, or ZEPHYR_EXTRA_MODULES=FOLDER). esp-idf: a component. arduino: a library, of which make
# arduino makes a zip. cmsis: what a CMSIS-Pack holds, with its description.
set -eu
kind=$1 folder=$2
version=$(sed -n 's/^#define MONA_VERSION "\(.*\)"/\1/p' engine/mona.h)
home=https://mona.example/
sources=$folder/src
mkdir -p "$sources"

# Sources that are the same everywhere, headers, and kernels, each with what a compiler must define for it.
plain=$(make -s -f apps/firmware/Makefile files)
headers=$(find engine ops -name '*.h' ! -path 'engine/cpu/x86/*' ! -path 'engine/model310/*' ! -path 'engine/ascend/*')
for file in $plain $headers; do
    mkdir -p "$sources/$(dirname "$file")"
    cp "$file" "$sources/$file"
done
make -s -f apps/firmware/Makefile kernels | while read -r file needs; do
    file=engine/cpu/$file
    mkdir -p "$sources/$(dirname "$file")"
    {
        echo "#if $needs"
        case $file in
        *dotprod*) echo '#pragma GCC target("arch=armv8.2-a+dotprod")' ;;
        *i8mm*) echo '#pragma GCC target("arch=armv8.2-a+dotprod+i8mm+fp16")' ;;
        esac
        cat "$file"
        echo '#endif'
    } > "$sources/$file"
done
# Files include "mona.h" from anywhere.
printf '%s\n' '// SPDX-License-Identifier: Apache-2.0' '#include "engine/mona.h"' > "$sources/mona.h"
cp LICENSE NOTICE "$folder/"
list() {
    (cd "$folder" && find src -name "$1" | LC_ALL=C sort)
}
flags="-ffreestanding -ffunction-sections -fdata-sections -ffp-contract=off"

zephyr() {
    mkdir -p "$folder/zephyr"
    cat > "$folder/zephyr/module.yml" << END
name: mona
build:
  cmake: zephyr
  kconfig: zephyr/Kconfig
END
    cat > "$folder/zephyr/Kconfig" << END
# SPDX-License-Identifier: Apache-2.0
config MONA
	bool "mona, an inference engine for networks as C"
	help
	  Runs networks that mona compile --emit c has written. It allocates nothing, and needs
	  memcpy, memmove, memset and memcmp of a C library.
END
    {
        printf '%s\n' '# SPDX-License-Identifier: Apache-2.0' 'if(CONFIG_MONA)' '  zephyr_library_named(mona)' \
            '  zephyr_include_directories(../src)' "  zephyr_library_compile_options($flags)" '  zephyr_library_sources('
        list '*.c' | sed 's|.*|    ../&|'
        printf '%s\n' '  )' 'endif()'
    } > "$folder/zephyr/CMakeLists.txt"
}

esp_idf() {
    cat > "$folder/idf_component.yml" << END
version: "$version"
description: mona, an inference engine for networks as C
license: Apache-2.0
url: $home
END
    {
        printf '%s\n' '# SPDX-License-Identifier: Apache-2.0' 'idf_component_register(' '  SRCS'
        list '*.c' | sed 's|.*|    "&"|'
        printf '%s\n' '  INCLUDE_DIRS "src")' "target_compile_options(\${COMPONENT_LIB} PRIVATE $flags)"
    } > "$folder/CMakeLists.txt"
}

arduino() {
    cat > "$folder/library.properties" << END
name=mona
version=$version
author=The mona authors
maintainer=The mona authors
sentence=An inference engine for networks as C
paragraph=Runs networks that mona compile --emit c has written. It allocates nothing.
category=Data Processing
url=$home
architectures=*
includes=mona.h
END
    mkdir -p "$folder/examples/enlarge"
    "${MONA:-build/mona}" compile sr_x2_tiny -o "$folder/examples/enlarge/enlarge_net.c" --emit c --target c --size 64x48 > "$folder/log" ||
        { cat "$folder/log"; exit 1; }
    rm -f "$folder/log"
    cp apps/firmware/enlarge.ino "$folder/examples/enlarge/"
}

cmsis() {
    {
        cat << END
<?xml version="1.0" encoding="UTF-8"?>
<package schemaVersion="1.7.7" xmlns:xs="http://www.w3.org/2001/XMLSchema-instance" xs:noNamespaceSchemaLocation="PACK.xsd">
  <vendor>mona</vendor>
  <name>mona</name>
  <description>An inference engine for networks as C</description>
  <url>$home</url>
  <license>LICENSE</license>
  <releases>
    <release version="$version" date="$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%Y-%m-%d)">mona $version</release>
  </releases>
  <conditions>
    <condition id="Cortex-M">
      <accept Dcore="Cortex-M4"/>
      <accept Dcore="Cortex-M7"/>
      <accept Dcore="Cortex-M33"/>
      <accept Dcore="Cortex-M55"/>
      <accept Dcore="Cortex-M85"/>
    </condition>
  </conditions>
  <components>
    <component Cclass="Machine Learning" Cgroup="mona" Cversion="$version" condition="Cortex-M">
      <description>The engine and its kernels</description>
      <files>
        <file category="include" name="src/"/>
END
        list '*.c' | sed 's|.*|        <file category="sourceC" name="&"/>|'
        printf '%s\n' '      </files>' '    </component>' '  </components>' '</package>'
    } > "$folder/mona.mona.pdsc"
}

case $kind in
zephyr) zephyr ;;
esp-idf) esp_idf ;;
arduino) arduino ;;
cmsis) cmsis ;;
*) echo "package.sh: expected zephyr, esp-idf, arduino or cmsis, found $kind" >&2 && exit 2 ;;
esac
