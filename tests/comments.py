#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""comments.py: names in comments, and the lines they stand on.

A word of a comment that looks like a name of the program (two parts joined by _, or one that () follows) must stand in
some code, at least as the end of a longer name, be that of a file, or one that the world outside gives (ABROAD). No line of
a comment is over 100 columns."""
import re
import subprocess
import sys

COLUMNS = 100
# Names of instruction sets, semihosting, standards and systems; words of formulas and of examples.
ABROAD = """
    ACL_PyTorch ADP_Stopped_ApplicationExit ADP_Stopped_RunTimeErrorUnknown ARCH_REQ_XCOMP_PERM CPACR_EL1 FEAT_DotProd FEAT_FP16 FEAT_I8MM KIND_0
    KIND_1 OP_TYPE PIPE_BUF SYS_EXIT SYS_EXIT_EXTENDED SYS_GET_CMDLINE TASK_TIER TASK_TIER_anime TASK_TIER_video TCR_EL1
    XFEATURE_XTILEDATA all_k arch_prctl block_dim chroma_format_idc general_profile_idc i_d in_N n_in n_out p_d profile_idc
    round_half_even sum_k
""".split()
C = (".c", ".h", ".inc", ".cce", ".S")
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
NAME = re.compile(r"(?<![\w./-])([A-Za-z]\w*_\w+|[a-z]\w+(?=\(\)))(?![\w*]|\.\.\.|/)")


def split(text):
    """The code of a file; its comments, with the number of the line where each begins; and the numbers of lines of these."""
    comments = [(text.count("\n", 0, m.start()) + 1, m[0]) for m in TOKEN.finditer(text) if m[0][0] == "/"]
    lines = {first + i for first, comment in comments for i in range(comment.count("\n") + 1)}
    return TOKEN.sub(lambda m: " " if m[0][0] == "/" else m[0], text), comments, lines


def main():
    folders = ["engine", "ops", "formats", "pipeline", "apps", "models", "tests", "Makefile"]
    files = subprocess.check_output(["git", "ls-files", *folders], text=True).split()
    code, comments, faults = set(ABROAD), [], 0
    for name in files:
        base = name.split("/")[-1]
        code.add(base.split(".")[0])
        if not name.endswith((*C, ".py", ".sh", ".js", ".html", "Makefile", ".ld")):
            continue
        text = open(name, errors="replace").read()
        if name.endswith(C):
            lines = text.split("\n")
            text, found, commented = split(text)
            comments += [(name, *comment) for comment in found]
            for line in sorted(commented):
                if len(lines[line - 1]) > COLUMNS:
                    print(f"{name}:{line}: a comment on a line of {len(lines[line - 1])} columns, over {COLUMNS}")
                    faults += 1
        code.update(re.findall(r"\w+", text))
    ends = {word[i + 1:] for word in code for i, letter in enumerate(word) if letter == "_"}
    for name, first, comment in comments:
        for match in NAME.finditer(comment):
            if match[1] not in code and match[1] not in ends:
                print(f"{name}:{first + comment.count(chr(10), 0, match.start())}: no code has {match[1]}")
                faults += 1
    if len(comments) < 1000 or len(code) < 10000:
        print(f"only {len(comments)} comments and {len(code)} names were found")
        faults += 1
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
