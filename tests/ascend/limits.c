// SPDX-License-Identifier: Apache-2.0
/* Prints what model310 and the proof of programs enforce, by trying: the greatest value of each
 * field that is legal, the alignment of each operand, and whether it may lie in global memory. */
#include <stdio.h>
#include <string.h>

#include "engine/aicore/access.h"

static ac_instruction i;

static void legal_again(ac_opcode op)
{
    i = (ac_instruction){.opcode = op, .b = AC_NOWHERE};
    if (ac_is_copy(op) || ac_is_drain(op))
        i.copy = (ac_copy){1, 1, 0, 0};
    else if (op == AC_OP_LOAD2D)
        i.fractals = 1;
    else if (op == AC_OP_LOAD3D)
        i.load3d = (ac_load3d){0, 1, 1, 1, 16, 2, 1, 1, 0};
    else if (ac_is_mmad(op) || op == AC_OP_BIAS_L0C)
        i.product =
            (ac_product){.m = op == AC_OP_BIAS_L0C ? 4095 : 1, .k = op != AC_OP_BIAS_L0C, .n = 1};
    else if (ac_is_vector(op))
        i.vector = (ac_vector){1, 1, 1, 1, 1, 1, 1, 1};
}

/* `size` bytes that grow until they are not legal. */
static void greatest(const char *name, ac_opcode op, void *field, size_t size)
{
    ac_fault fault;
    uint32_t most = 0;
    legal_again(op);
    const uint32_t end = size == 1 ? 256 : 65536;
    for (uint32_t value = 1; value < end; value++) {
        memcpy(field, &value, size);
        if (ac_legal(&i, &fault))
            most = value;
    }
    printf("%s %u\n", name, most);
}

static void operands(const char *name, ac_opcode op)
{
    ac_access accesses[AC_ACCESSES];
    static ac_turned turned[2];
    legal_again(op);
    if (ac_turns(op)) {
        i.turn.to = &turned[0], i.turn.from = &turned[1];
        i.turn.repeat = 1;
    } else if (op == AC_OP_MOVE)
        i.move = (ac_move){1, 1, 1, 1};
    const uint32_t count = ac_accesses_of(&i, accesses);
    for (uint32_t k = 0; k < count; k++) {
        const char *which = accesses[k].operand == 0   ? "dst"
                            : accesses[k].operand == 2 ? "b"
                                                       : "src";
        printf("%s.%s.align %u\n", name, which, accesses[k].align);
        printf("%s.%s.gm %d\n", name, which, ac_may_lie_in(&accesses[k], AC_GM));
    }
}

#define GREATEST(name, op, field) greatest(name, op, &i.field, sizeof i.field)

int main(void)
{
    GREATEST("copy.bursts", AC_OP_COPY + AC_GM_UB, copy.bursts);
    GREATEST("copy.blocks", AC_OP_COPY + AC_GM_UB, copy.blocks);
    GREATEST("copy.gap", AC_OP_COPY + AC_GM_UB, copy.src_gap);
    GREATEST("drain.bursts", AC_OP_DRAIN, copy.bursts);
    GREATEST("load2d.fractals", AC_OP_LOAD2D, fractals);
    GREATEST("load3d.columns", AC_OP_LOAD3D, load3d.columns);
    GREATEST("load3d.column", AC_OP_LOAD3D, load3d.column);
    GREATEST("load3d.stride", AC_OP_LOAD3D, load3d.stride);
    GREATEST("load3d.dilation", AC_OP_LOAD3D, load3d.dilation);
    GREATEST("load3d.jump", AC_OP_LOAD3D, load3d.jump);
    GREATEST("load3d.repeat", AC_OP_LOAD3D, load3d.repeat);
    GREATEST("mmad.m", AC_OP_MMAD, product.m);
    GREATEST("mmad.k", AC_OP_MMAD, product.k);
    GREATEST("mmad.n", AC_OP_MMAD, product.n);
    GREATEST("bias.n", AC_OP_BIAS_L0C, product.n);
    GREATEST("bias.k", AC_OP_BIAS_L0C, product.k);
    GREATEST("vec2.repeat", AC_OP_VEC2, vector.repeat);
    GREATEST("vec2.lanes", AC_OP_VEC2, vector.lanes);
    GREATEST("vec2.dst_repeat", AC_OP_VEC2, vector.dst_repeat);
    GREATEST("vec2_f32.lanes", AC_OP_VEC2 + AC_VADD_F32, vector.lanes);
    GREATEST("vconv.repeat", AC_OP_VCONV, vector.repeat);
    operands("copy_gm_ub", AC_OP_COPY + AC_GM_UB);
    operands("copy_gm_l1", AC_OP_COPY + AC_GM_L1);
    operands("copy_ub_gm", AC_OP_COPY + AC_UB_GM);
    operands("load2d", AC_OP_LOAD2D);
    operands("load3d", AC_OP_LOAD3D);
    operands("mmad", AC_OP_MMAD);
    operands("bias", AC_OP_BIAS_L0C);
    operands("drain", AC_OP_DRAIN);
    operands("vec2", AC_OP_VEC2);
    operands("transpose", AC_OP_TRANSPOSE);
    operands("scalar", AC_OP_MOVE);
    return 0;
}
