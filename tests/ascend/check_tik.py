#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what model310 enforces of instructions against what TIK, the vendor's kernel language, checks:

  check_tik.py FOLDER LIMITS     the folder that holds tik_lib and common, as python/site-packages/tbe/tik of a kit; the output of limits.c

Facts are taken from TIK's sources as text; nothing of it is run. Prints a line for each rule, with the file and line of the fact.
"""
import os
import re
import sys

PARAMS = "tik_lib/tik_params.py"
MOVES = "tik_lib/tik_data_move_api/tik_data_move_check.py"
CUBE = "tik_lib/tik_mmad_convert_api/tik_mmad_convert_operation.py"
BROADCAST = "tik_lib/tik_mmad_convert_api/tik_mmad_other_operation.py"
ALIGN = "tik_lib/tik_mmad_convert_api/tik_mmad_convert_common.py"
COMMON = "common/common_util.py"
VECTORS = "tik_lib/tik_vector_api/tik_params_check.py"

# A rule of ours, TIK's constant, the file that checks it, and what the line says that does.
GREATEST = [
    ("copy.bursts", "MAX_NBURST_DOUBLE_BYTE", MOVES, r"end = MAX_NBURST_DOUBLE_BYTE"),
    ("copy.blocks", "MAX_BURST_LEN_DOUBLE_BYTE", MOVES, r"end = MAX_BURST_LEN_DOUBLE_BYTE"),
    ("copy.gap", "MAX_BLK_STRIDE_DOUBLE_BYTE", MOVES, r"end = MAX_BLK_STRIDE_DOUBLE_BYTE"),
    ("drain.bursts", "MAX_NBURST_DOUBLE_BYTE", MOVES, r"end = MAX_NBURST_DOUBLE_BYTE"),
    ("load2d.fractals", "MAX_REPEAT_TIMES", CUBE, r"check_repeat_times\(self\.repeat_times\)"),
    ("load3d.columns", "MAX_TENSOR_WIDTH", CUBE, r"'l1_w'.*MAX_TENSOR_WIDTH"),
    ("load3d.column", "MAX_START_POINT", CUBE, r"'left_top_w'.*MAX_START_POINT"),
    ("load3d.stride", "MAX_STRIDE", CUBE, r"'stride_w'.*MAX_STRIDE"),
    ("load3d.dilation", "MAX_DILATION", CUBE, r"'dilation_filter_w'.*MAX_DILATION"),
    ("load3d.jump", "MAX_JUMP_OFFSET", CUBE, r"'jump_offset'.*MAX_JUMP_OFFSET"),
    ("load3d.repeat", "MAX_REPEAT_TIMES", CUBE, r"check_repeat_times\(self\.repeat_time"),
    ("mmad.m", "MAX_MATRIX", "tik_lib/tik_cube_api_.py", r"matrix_m\)\), var_range=.*MAX_MATRIX"),
    ("mmad.k", "MAX_MATRIX", "tik_lib/tik_cube_api_.py", r"matrix_k\)\), var_range=.*MAX_MATRIX"),
    ("mmad.n", "MAX_MATRIX", "tik_lib/tik_cube_api_.py", r"matrix_n\)\), var_range=.*MAX_MATRIX"),
    ("bias.bursts", "MAX_NBURST_SINGLE_BYTE", BROADCAST, r"'nburst'.*MAX_NBURST_SINGLE_BYTE"),
    ("bias.rows", "MAX_BURST_LEN_SINGLE_BYTE", BROADCAST, r"'burst_len'.*MAX_BURST_LEN_SINGLE_BYTE"),
    ("vec2.repeat", "MAX_REPEAT_TIMES", VECTORS, r"check_repeat_times\(self\.control_op\.repeat_times"),
    ("vec2.dst_repeat", "MAX_REP_STRIDE_SINGLE_BYTE", VECTORS, r"MAX_BLK_STRIDE_SINGLE_BYTE, MAX_REP_STRIDE_SINGLE_BYTE"),
    ("vconv.repeat", "MAX_REPEAT_TIMES", VECTORS, r"check_repeat_times\(self\.control_op\.repeat_times"),
    ("vec2.lanes", "MAX_MASK", PARAMS, r"^MAX_MASK ="),
    ("vec2_f32.lanes", "MAX_MASK_64", PARAMS, r"^MAX_MASK_64 ="),
]
# An operand of ours, and the space of DMA_V100_ALIGN that it lies in.
SPACES = [
    ("copy_gm_ub.src", "OUT"), ("copy_gm_ub.dst", "UB"), ("copy_gm_l1.dst", "L1"), ("copy_ub_gm.src", "UB"), ("copy_ub_gm.dst", "OUT"),
    ("load2d.dst", "L0B"), ("load3d.dst", "L0A"), ("mmad.src", "L0A"), ("mmad.b", "L0B"), ("mmad.dst", "L0C32"), ("bias.src", "UB"),
    ("bias.dst", "L0C32"), ("drain.src", "L0C32"), ("drain.dst", "UB"), ("vec2.src", "UB"), ("vec2.dst", "UB"), ("transpose.src", "UB"),
    ("transpose.dst", "UB"),
]


class Missing(Exception):
    pass


def find(folder, path, pattern):
    """The first line of a file that has the pattern: its number, and what matched."""
    try:
        with open(os.path.join(folder, path), encoding="utf-8", errors="replace") as f:
            for number, line in enumerate(f, 1):
                found = re.search(pattern, line)
                if found and "import " not in line:
                    return number, found
    except OSError as error:
        raise Missing(f"{path}: {error.strerror}") from error
    raise Missing(f"{path} has no line like {pattern}")


def greatest(folder, constant, path, pattern):
    _, value = find(folder, PARAMS, rf"^{constant} = (\d+)$")
    number, _ = find(folder, path, pattern)
    return int(value[1]), f"{path}:{number}"


def alignment(folder, space):
    start, _ = find(folder, COMMON, r"^DMA_V100_ALIGN = ")
    number, value = find(folder, COMMON, rf"^    '{space}': (\d+),?$")
    if not start < number < start + 12:
        raise Missing(f"{COMMON} has no alignment of {space}")
    return int(value[1]), f"{COMMON}:{number}"


def rules(folder, ours):
    """What each rule is, ours, theirs, whether theirs allows it, and where theirs is; or why it is not there."""
    ours["bias.bursts"] = (ours["bias.n"] + 15) // 16
    ours["bias.rows"] = ours["bias.k"] + 1
    for name, *fact in GREATEST:
        try:
            theirs, where = greatest(folder, *fact)
            yield f"{name}: at most {ours[name]}, TIK {theirs}", ours[name] <= theirs, where
        except Missing as error:
            yield f"{name}: {error}", None, ""
    for name, space in SPACES:
        try:
            theirs, where = alignment(folder, space)
            mine = ours[name + ".align"]
            yield f"{name}: aligned to {mine}, TIK {theirs}", mine % theirs == 0, where
        except Missing as error:
            yield f"{name}: {error}", None, ""
    for name in ("load2d.src", "load3d.src"):  # from L1
        try:
            find(folder, ALIGN, r"src\.scope in \[scope_ubuf, scope_cbuf\]")
            number, value = find(folder, ALIGN, r"^        src_align = (32)$")
            yield f"{name}: aligned to {ours[name + '.align']}, TIK {value[1]}", ours[name + ".align"] % int(value[1]) == 0, f"{ALIGN}:{number}"
        except Missing as error:
            yield f"{name}: {error}", None, ""
    try:
        number, _ = find(folder, "api/tik_tensor.py", r"set_as's value can't be GM Tensor")
        reaches = ours["scalar.src.gm"] or ours["scalar.dst.gm"]
        yield f"scalar unit: {'' if reaches else 'not '}in global memory, TIK not", not reaches, f"api/tik_tensor.py:{number}"
    except Missing as error:
        yield f"scalar unit: {error}", None, ""


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else ""
    if not os.path.isfile(os.path.join(folder, PARAMS)):
        sys.exit(f"expected TIK=FOLDER with tik_lib/tik_params.py, as in python/site-packages/tbe/tik of a kit, found "
                 f"{'none in ' + folder if folder else 'no folder'}")
    with open(sys.argv[2], encoding="utf-8") as f:
        ours = {name: int(value) for name, value in (line.split() for line in f)}
    checked = absent = bad = 0
    for what, good, where in rules(folder, ours):
        checked += good is not None
        absent += good is None
        bad += good is False
        print(f"{what}{' (' + where + ')' if where else ''}{'' if good else ': not found' if good is None else ': differs'}")
    print(f"{checked} rules compared, {absent} not in these sources, {bad} differ")
    sys.exit(bad != 0 or not checked)


if __name__ == "__main__":
    main()
