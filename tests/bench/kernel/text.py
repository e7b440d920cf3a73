#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a kernel's object holds besides instructions, and how many bytes of those stay in use:

  text.py OBJECT [OBJDUMP]

Prints sections with contents other than .text, relocations but for calls of what counts copies, the bytes of .text, and
those of its largest loop: from the furthest jump backwards to where that leads. Once the cores are in it, only these come from the
instruction cache, which holds 32 KB.
"""
import re
import subprocess
import sys

UNUSED = re.compile(r"\.(comment|note.*|llvm_addrsig|symtab|strtab|shstrtab|rela?\.text)$")


def dump(tool, flag, path):
    return subprocess.run([tool, flag, path], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout.splitlines()


def main():
    path, tool = sys.argv[1], (sys.argv[2:] or ["aarch64-linux-gnu-objdump"])[0]
    sections = [l.split() for l in dump(tool, "-h", path) if re.match(r" +\d+ ", l)]
    sizes = {s[1]: int(s[2], 16) for s in sections}
    others = [n for n, size in sizes.items() if size and n != ".text" and not UNUSED.match(n)]
    relocations = [l.split() for l in dump(tool, "-r", path) if re.match(r"[0-9a-f]{8,} ", l)]
    bad = {f"{r[1]} {r[2]}" for r in relocations if r[2] != "counted_copy"}
    loop = 0
    for line in dump(tool, "-d", path):
        jump = re.match(r" +([0-9a-f]+):\t[0-9a-f ]+\t(?:b|b\.\w+|cbn?z|tbn?z)\t(?:.*, )?([0-9a-f]+) <", line)
        if jump:
            loop = max(loop, int(jump[1], 16) + 4 - int(jump[2], 16))
    print("others", ",".join(others + sorted(bad)) or "none")
    print("text", sizes[".text"])
    print("loop", loop)


if __name__ == "__main__":
    main()
