// SPDX-License-Identifier: Apache-2.0
/* Turns AI Core instructions into tokens and collects forms and patterns on the way. */
#include "formats/compiler/program/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "engine/arith.h"

/* Flags that a core waits for before its next instruction. */
typedef struct flag_list {
    uint16_t at[AC_FORM_FLAGS];
    uint8_t count;
} flag_list;

struct recorder {
#define LIST(part, counted, type) item_list part;
    AC_PROGRAM_LISTS(LIST)
    item_list tokens[AC_PROGRAM_CORES]; /* of the last segment */
    flag_list flags[AC_PROGRAM_CORES];
    uint32_t op[AC_PROGRAM_CORES],
        without;     /* operators: 1 + the one at work, and without program */
    const char *why; /* NULL: all is well */
};

recorder *recorder_new(void)
{
    return calloc(1, sizeof(recorder));
}

void recorder_free(recorder *r)
{
    if (!r)
        return;
#define FREE(part, counted, type) free(r->part.items);
    AC_PROGRAM_LISTS(FREE)
    for (uint32_t core = 0; core < AC_PROGRAM_CORES; core++)
        free(r->tokens[core].items);
    free(r);
}

static void fail(recorder *r, const char *why)
{
    r->why = r->why ? r->why : why;
}

/* ---- forms ---------------------------------------------------------------------------------- */

bool list_add(item_list *l, const void *item, size_t bytes)
{
    if (!list_grow(&l->items, &l->room, l->count, bytes))
        return false;
    memcpy((uint8_t *)l->items + l->count++ * bytes, item, bytes);
    return true;
}

/* From the last one on: most are like those. */
uint16_t list_index(item_list *l, const void *item, size_t bytes)
{
    for (size_t i = l->count; i-- > 0;)
        if (!memcmp((const uint8_t *)l->items + i * bytes, item, bytes))
            return (uint16_t)i;
    return l->count < AC_FORMS - 1 && list_add(l, item, bytes) ? (uint16_t)(l->count - 1)
                                                               : UINT16_MAX;
}

static uint16_t index_of(recorder *r, item_list *l, const void *item, size_t bytes)
{
    const uint16_t i = list_index(l, item, bytes);
    if (i == UINT16_MAX)
        fail(r, "too many kinds of instructions");
    return i;
}

static uint32_t pattern_of(recorder *r, const ac_turned *t)
{
    ac_pattern p;
    for (uint32_t i = 0; i < AC_FRACTAL; i++) {
        if (ac_space_of(t->at[i]) != ac_space_of(t->at[0]))
            fail(r, "a transpose of several buffers");
        p.at[i] = (int32_t)((int64_t)t->at[i] - (int64_t)t->at[0]);
    }
    return index_of(r, &r->patterns, &p, sizeof p);
}

/* Takes the flags over. */
static uint16_t form_of(recorder *r, const ac_instruction *i, flag_list *flags)
{
    const bool turns = ac_turns(i->opcode);
    const uint32_t to = turns ? pattern_of(r, i->turn.to) : 0;
    const uint32_t from = turns ? pattern_of(r, i->turn.from) : 0;
    ac_form f = ac_form_of(i, to, from);
    memcpy(f.flags, flags->at, flags->count * sizeof *flags->at);
    f.flag_count = flags->count;
    flags->count = 0;
    return index_of(r, &r->forms, &f, sizeof f);
}

/* ---- tokens --------------------------------------------------------------------------------- */

static void add_token(recorder *r, uint32_t core, const token *t)
{
    if (!r->why && !list_add(&r->tokens[core], t, sizeof *t))
        fail(r, "out of memory");
}

/* Flags that no instruction follows get a record of their own. */
static void flush(recorder *r, uint32_t core)
{
    const ac_instruction none = {.opcode = AC_OP_NONE};
    if (r->flags[core].count && !r->why)
        add_token(r, core, &(token){.form = form_of(r, &none, &r->flags[core])});
}

static ac_segment *last_segment(const recorder *r)
{
    return (ac_segment *)r->segments.items + r->segments.count - 1;
}

/* Makes records of the tokens. */
static void end_segment(recorder *r)
{
    for (uint32_t core = 0; core < AC_PROGRAM_CORES && r->segments.count; core++) {
        ac_segment *s = last_segment(r);
        flush(r, core);
        s->core[core].first = (uint32_t)r->records.count;
        if (!r->why &&
            !loops_find(&r->tokens[core], r->forms.items, r->rings.items, &r->records, &r->motions))
            fail(r, "out of memory");
        s->core[core].count = (uint32_t)r->records.count - s->core[core].first;
        r->tokens[core].count = 0;
    }
}

void recorder_segment(void *recorder, const ac_segment *places)
{
    struct recorder *r = recorder;
    end_segment(r);
    if (!list_add(&r->segments, places, sizeof *places)) {
        fail(r, "out of memory");
        return;
    }
    last_segment(r)->first_ring = (uint32_t)r->rings.count;
}

void recorder_ring(void *recorder, ac_ring ring)
{
    struct recorder *r = recorder;
    if (r->why || !list_add(&r->rings, &ring, sizeof ring)) {
        fail(r, "out of memory");
        return;
    }
    ac_segment *s = last_segment(r);
    ac_ring *rings = (ac_ring *)r->rings.items + s->first_ring;
    uint32_t at = s->rings++;
    for (; at && rings[at - 1].begin > ring.begin; at--)
        rings[at] = rings[at - 1];
    rings[at] = ring;
}

static void take_flag(recorder *r, uint32_t core, const ac_instruction *i)
{
    flag_list *flags = &r->flags[core];
    if (flags->count == AC_FORM_FLAGS)
        flush(r, core);
    flags->at[flags->count++] = ac_flag_of(i);
}

void recorder_take(void *recorder, uint32_t core, const ac_instruction *i)
{
    struct recorder *r = recorder;
    if (r->why)
        return;
    if (i->opcode == AC_OP_WORK) {
        r->without = r->op[core];
        return;
    }
    if (i->opcode == AC_OP_OPERATOR) {
        r->op[core] = i->op + 1;
        flush(r, core);
        add_token(r, core, &(token){.form = AC_RECORD_OPERATOR, .at = {i->op}});
        return;
    }
    if (i->opcode >= AC_OP_SET_FLAG) {
        take_flag(r, core, i);
        return;
    }
    const bool turns = ac_turns(i->opcode);
    const ac_address at[AC_OPERANDS] = {turns ? i->turn.to->at[0] : i->dst,
                                        turns ? i->turn.from->at[0] : i->a, i->b};
    const ac_ring *rings = r->rings.items;
    token t = {.form = form_of(r, i, &r->flags[core])};
    for (uint32_t k = 0; k < ac_operations[i->opcode].operands; k++) {
        if (at[k] == AC_NOWHERE)
            continue;
        if (ac_offset_of(at[k]) > UINT32_MAX)
            fail(r, "an offset beyond 4 GiB");
        t.at[k] = (uint32_t)ac_offset_of(at[k]);
        const ac_ring *ring = ac_ring_of(rings, last_segment(r), ac_space_of(at[k]), t.at[k]);
        t.rings[k] = ring ? (uint16_t)(ring - rings + 1) : 0;
    }
    add_token(r, core, &t);
}

uint32_t recorder_without(const recorder *r)
{
    return r->without;
}

/* ---- the program's bytes -------------------------------------------------------------------- */

/* Appends a part at *at, if there is memory, and moves *at past it. */
static void put(uint8_t *bytes, size_t *at, const void *items, size_t count, size_t item_bytes)
{
    if (bytes && count)
        memcpy(bytes + *at, items, count * item_bytes);
    *at = round_up(*at + count * item_bytes, 8);
}

static size_t put_all(uint8_t *bytes, const ac_program *p)
{
    size_t at = 0;
    put(bytes, &at, &p->header, 1, sizeof p->header);
#define PUT(part, counted, type) put(bytes, &at, p->part, p->header.counted, sizeof(type));
    AC_PROGRAM_PARTS(PUT)
    return round_up(at, 64);
}

void *recorder_finish(recorder *r, const ac_program *places, size_t *size, const char **why)
{
    ac_program p = *places;
    end_segment(r);
    p.header.version = AC_PROGRAM_VERSION;
#define TAKE(part, counted, type)                                                                  \
    p.part = r->part.items;                                                                        \
    p.header.counted = (uint32_t)r->part.count;
    AC_PROGRAM_LISTS(TAKE)
    *size = put_all(NULL, &p);
    p.header.bytes = (uint32_t)*size;
    uint8_t *bytes = !r->why && *size <= UINT32_MAX ? aligned_alloc(MONA_ALIGNMENT, *size) : NULL;
    if (bytes)
        put_all(memset(bytes, 0, *size), &p);
    else
        fail(r, "out of memory");
    *why = r->why;
    return bytes;
}
