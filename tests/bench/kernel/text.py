#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a kernel's object holds besides instructions, and how many bytes of those stay in use:

  text.py OBJECT [OBJDUMP]

Prints sections with contents other than .text, relocations but for calls of what counts copies, the bytes of .text, and
those of its largest loop: from the furthest jump backwards to where that leads. Once the cores are in it, only these come from the
instruction cache, which holds 32 KB. "inner" is the largest loop that holds no other but short ones: a loop over rows.
"""
import re
import subprocess
import sys

SHORT = 1000  # bytes
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
    loops = set()
    for line in dump(tool, "-d", path):
        jump = re.match(r" +([0-9a-f]+):\t[0-9a-f ]+\t(?:b|b\.\w+|cbn?z|tbn?z)\t(?:.*, )?([0-9a-f]+) <", line)
        if jump and int(jump[2], 16) <= int(jump[1], 16):
            loops.add((int(jump[2], 16), int(jump[1], 16) + 4))
    long = [l for l in loops if l[1] - l[0] >= SHORT]
    # What lies behind a loop's last jump may still be of it, so another is in it that begins there.
    inner = [l for l in long if not any(l[0] <= m[0] < l[1] and m[1] - m[0] < l[1] - l[0] for m in long)]
    print("others", ",".join(others + sorted(bad)) or "none")
    print("text", sizes[".text"])
    print("loop", max((end - begin for begin, end in loops), default=0))
    print("inner", max((end - begin for begin, end in inner), default=0))


if __name__ == "__main__":
    main()
