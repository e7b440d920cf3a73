// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/programs.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/aicore/access.h"
#include "engine/model_format.h"
#include "engine/model310/model310.h"
#include "apps/cli/printable.h"

static void print_space(uint32_t space)
{
    static const char *const names[] = {"L1", "L0A", "L0B", "L0C", "UB", "const"};
    if (space < AC_GM)
        printf("%s", names[space]);
    else
        printf("GM%u", space - AC_GM);
}

static void print_address(const ac_program *p, const ac_record *r, uint32_t k, uint32_t depth)
{
    const ac_motion *motion = &p->motions[r->motion];
    const ac_form *f = &p->forms[r->form];
    if (f->space[k] == AC_NO_SPACE)
        return;
    putchar(' ');
    print_space(f->space[k]);
    printf("+%u", r->at[k]);
    bool moves = false;
    for (uint32_t d = 0; d < depth; d++)
        moves |= motion->step[d][k] != 0;
    for (uint32_t d = 0; d < depth && moves; d++)
        printf("%s%+d%s", d ? " " : "[", motion->step[d][k], d + 1 == depth ? "]" : "");
}

static void print_copy(const ac_copy *c)
{
    printf("%u x %u", c->bursts, c->blocks);
    if (c->bursts > 1)
        printf(", gaps %u to %u", c->src_gap, c->dst_gap);
}

static void print_vector(const ac_instruction *i)
{
    const ac_streams s = ac_streams_of(i);
    printf("%u x %u lanes", i->vector.repeat, i->vector.lanes);
    for (uint32_t k = 0; k < s.count; k++)
        printf(", %s every %u, %u", s.at[k].name, s.at[k].block, s.at[k].repeat);
    if (i->opcode == AC_OP_DUP)
        printf(", value 0x%04x", i->value);
    else if (ac_is_vecs(i->opcode))
        printf(", scalar %g", (double)i->scalar);
}

static void print_what(const ac_instruction *i)
{
    const uint32_t op = i->opcode;
    const ac_load3d *l = &i->load3d;
    if (ac_is_copy(op))
        print_copy(&i->copy);
    else if (op == AC_OP_LOAD2D)
        printf("%u fractals", i->fractals);
    else if (op == AC_OP_LOAD3D && l->rows)
        printf("column %u of %u, stride %u, dilation %u, along K: filter of %u x %u, %u apart",
               l->column, l->columns, l->stride, l->dilation, ac_load3d_taps(l), l->rows, l->jump);
    else if (op == AC_OP_LOAD3D)
        printf("column %u of %u, stride %u, dilation %u, c0 %u, %u fractals, %u apart", l->column,
               l->columns, l->stride, l->dilation, l->c0, l->repeat, l->jump);
    else if (op == AC_OP_BIAS_L0C)
        printf("%u rows of fractals of m %u, n %u", 1 + i->product.k, i->product.m, i->product.n);
    else if (ac_is_mmad(op))
        printf("m %u, k %u, n %u%s", i->product.m, i->product.k, i->product.n,
               i->product.from_zero ? ", from zero" : "");
    else if (ac_is_drain(op)) {
        print_copy(&i->copy);
        printf("%s", i->relu ? ", relu" : "");
    } else if (ac_is_vector(op))
        print_vector(i);
    else if (ac_turns(i->opcode))
        printf("%u x 16 blocks", i->turn.repeat);
    else if (op == AC_OP_MOVE)
        printf("%u x %u bytes every %u to every %u", i->move.count, i->move.bytes, i->move.src_step,
               i->move.dst_step);
    else if (op == AC_OP_FILL)
        printf("%u x %u bytes every %u, value 0x%x", i->fill.count, i->fill.bytes, i->fill.step,
               i->fill.value);
    else if (op == AC_OP_BARRIER)
        printf("%s", ac_pipe_name(i->flag.src));
    else
        printf("%s to %s, event %u", ac_pipe_name(i->flag.src), ac_pipe_name(i->flag.dst),
               (unsigned)i->flag.event);
}

static void print_instruction(const ac_program *p, const ac_record *r, uint32_t depth)
{
    const ac_form *f = &p->forms[r->form];
    const ac_address at[AC_OPERANDS] = {0};
    ac_turned turned[2];
    for (uint32_t k = 0; k < f->flag_count; k++) {
        const ac_instruction flag = ac_flag_instruction(f->flags[k]);
        printf("%s; ", ac_operations[flag.opcode].name);
        print_what(&flag);
        if (k + 1 < f->flag_count || f->opcode != AC_OP_NONE)
            printf("\n%*s", (int)depth * 2 + 8, "");
    }
    if (f->opcode == AC_OP_NONE) {
        putchar('\n');
        return;
    }
    const ac_instruction i = ac_form_instruction(p, f, at, turned);
    printf("%s", ac_operations[f->opcode].name);
    for (uint32_t k = 0; k < AC_OPERANDS; k++)
        print_address(p, r, k, depth);
    printf("; ");
    print_what(&i);
    putchar('\n');
}

static void print_records(const mona_model *m, const ac_program *p, uint32_t first, uint32_t count,
                          uint32_t depth)
{
    for (uint32_t i = first; i < first + count; i++) {
        const ac_record *r = &p->records[i];
        printf("%6u  %*s", i, (int)depth * 2, "");
        if (r->form == AC_RECORD_OPERATOR) {
            printable_print(stdout, "; operator %u, %s", r->at[0],
                            m->strings + m->ops[r->at[0]].name);
            putchar('\n');
        } else if (r->form == AC_RECORD_LOOP) {
            printf("loop %u times\n", r->at[0]);
            print_records(m, p, i + 1, r->at[1], depth + 1);
            i += r->at[1];
        } else
            print_instruction(p, r, depth);
    }
}

void disassemble(const mona_model *m, const ac_program *p, uint64_t instructions)
{
    const ac_program_header *h = &p->header;
    printf("program for ascend310 at %ux%u: %u bytes and %u of constants; %" PRIu64
           " instructions from %u records; %u bytes of L1 besides constants\n",
           p->buffers[0].width, p->buffers[0].height, h->bytes - h->constants_bytes,
           h->constants_bytes, instructions, h->records, h->l1_bytes + h->constants_bytes);
    for (uint32_t i = 0; i < h->buffers; i++)
        printf("; GM%u: %s, %u bytes\n", i,
               i < h->inputs         ? "input"
               : i + 1 == h->buffers ? "between groups"
                                     : "output",
               p->buffers[i].bytes);
    for (uint32_t s = 0; s < h->segments; s++)
        for (uint32_t core = 0; core < AC_PROGRAM_CORES; core++) {
            const ac_segment *g = &p->segments[s];
            if (g->array) {
                if (!core) {
                    printable_print(stdout, "; segment %u: AI CPUs run operator %u, %s", s,
                                    g->array - 1, m->strings + m->ops[g->array - 1].name);
                    putchar('\n');
                }
                continue;
            }
            printf("; segment %u, core %u: %u bytes of constants from %u on\n", s, core,
                   g->constants, g->first_constant);
            print_records(m, p, g->core[core].first, g->core[core].count, 0);
        }
}
