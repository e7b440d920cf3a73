// SPDX-License-Identifier: Apache-2.0
/* Turns AI Core instructions into tokens and collects forms and patterns on the way. */
#include "formats/compiler/program/recorder.h"

#include <stdlib.h>
#include <string.h>

/* Flags that a core waits for before its next instruction. */
typedef struct flag_list {
    uint16_t at[AC_FORM_FLAGS];
    uint8_t count;
} flag_list;

typedef struct segment {
    ac_segment places;
    token_list tokens[AC_PROGRAM_CORES];
    flag_list flags[AC_PROGRAM_CORES];
} segment;

struct recorder {
    ac_form *forms;
    size_t form_count, form_room;
    ac_pattern *patterns;
    size_t pattern_count, pattern_room;
    ac_ring *rings;
    size_t ring_count, ring_room;
    segment *segments;
    size_t segment_count, segment_room;
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
    for (size_t s = 0; s < r->segment_count; s++)
        for (uint32_t core = 0; core < AC_PROGRAM_CORES; core++)
            free(r->segments[s].tokens[core].items);
    free(r->forms);
    free(r->patterns);
    free(r->rings);
    free(r->segments);
    free(r);
}

static void fail(recorder *r, const char *why)
{
    r->why = r->why ? r->why : why;
}

/* ---- forms ---------------------------------------------------------------------------------- */

/* The index of an equal item, which is added if there is none. */
static uint32_t index_of(recorder *r, void **items, size_t *count, size_t *room, const void *item,
                         size_t bytes)
{
    for (size_t i = 0; i < *count; i++)
        if (!memcmp((const uint8_t *)*items + i * bytes, item, bytes))
            return (uint32_t)i;
    if (*count >= AC_FORMS - 1 || !list_grow(items, room, *count, bytes)) {
        fail(r, "too many kinds of instructions");
        return 0;
    }
    memcpy((uint8_t *)*items + *count * bytes, item, bytes);
    return (uint32_t)(*count)++;
}

static uint32_t pattern_of(recorder *r, const ac_turned *t)
{
    ac_pattern p;
    for (uint32_t i = 0; i < AC_FRACTAL; i++) {
        if (ac_space_of(t->at[i]) != ac_space_of(t->at[0]))
            fail(r, "a transpose of several buffers");
        p.at[i] = (int32_t)((int64_t)t->at[i] - (int64_t)t->at[0]);
    }
    return index_of(r, (void **)&r->patterns, &r->pattern_count, &r->pattern_room, &p, sizeof p);
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
    return (uint16_t)index_of(r, (void **)&r->forms, &r->form_count, &r->form_room, &f, sizeof f);
}

/* ---- tokens --------------------------------------------------------------------------------- */

static void add_token(recorder *r, uint32_t core, const token *t)
{
    if (r->why)
        return;
    token_list *l = &r->segments[r->segment_count - 1].tokens[core];
    if (!list_grow((void **)&l->items, &l->room, l->count, sizeof *l->items))
        fail(r, "out of memory");
    else
        l->items[l->count++] = *t;
}

/* Flags that no instruction follows get a record of their own. */
static void flush(recorder *r, uint32_t core)
{
    flag_list *flags = &r->segments[r->segment_count - 1].flags[core];
    const ac_instruction none = {.opcode = AC_OP_NONE};
    if (flags->count && !r->why)
        add_token(r, core, &(token){.form = form_of(r, &none, flags)});
}

static void flush_all(recorder *r)
{
    for (uint32_t core = 0; core < AC_PROGRAM_CORES && r->segment_count; core++)
        flush(r, core);
}

void recorder_segment(recorder *r, const ac_segment *places, const ac_ring *rings)
{
    flush_all(r);
    if (!list_grow((void **)&r->segments, &r->segment_room, r->segment_count,
                   sizeof *r->segments)) {
        fail(r, "out of memory");
        return;
    }
    segment *s = &r->segments[r->segment_count++];
    memset(s, 0, sizeof *s);
    s->places = *places;
    s->places.first_ring = (uint32_t)r->ring_count;
    for (uint32_t i = 0; i < places->rings; i++) {
        if (!list_grow((void **)&r->rings, &r->ring_room, r->ring_count, sizeof *r->rings)) {
            fail(r, "out of memory");
            return;
        }
        size_t at = r->ring_count++;
        for (; at > s->places.first_ring && r->rings[at - 1].begin > rings[i].begin; at--)
            r->rings[at] = r->rings[at - 1];
        r->rings[at] = rings[i];
    }
}

static void take_flag(recorder *r, uint32_t core, const ac_instruction *i)
{
    flag_list *flags = &r->segments[r->segment_count - 1].flags[core];
    if (flags->count == AC_FORM_FLAGS)
        flush(r, core);
    flags->at[flags->count++] = ac_flag_of(i);
}

void recorder_operator(recorder *r, uint32_t core, uint32_t op)
{
    flush(r, core);
    add_token(r, core, &(token){.form = AC_RECORD_OPERATOR, .at = {op}});
}

/* NULL: a program of first_light has none. */
static const ac_ring *rings_of(const recorder *r, const ac_segment *s)
{
    return r->rings ? r->rings + s->first_ring : NULL;
}

void recorder_take(recorder *r, uint32_t core, const ac_instruction *i)
{
    if (r->why)
        return;
    if (i->opcode >= AC_OP_SET_FLAG) {
        take_flag(r, core, i);
        return;
    }
    const bool turns = ac_turns(i->opcode);
    const ac_address at[AC_OPERANDS] = {turns ? i->turn.to->at[0] : i->dst,
                                        turns ? i->turn.from->at[0] : i->a, i->b};
    segment *segment = &r->segments[r->segment_count - 1];
    const ac_segment *s = &segment->places;
    token t = {.form = form_of(r, i, &segment->flags[core])};
    for (uint32_t k = 0; k < ac_operations[i->opcode].operands; k++) {
        if (at[k] == AC_NOWHERE)
            continue;
        if (ac_offset_of(at[k]) > UINT32_MAX)
            fail(r, "an offset beyond 4 GiB");
        t.at[k] = (uint32_t)ac_offset_of(at[k]);
        t.rings[k] = ac_space_of(at[k]) == AC_L1
                         ? (uint16_t)ac_ring_of(rings_of(r, s), s->rings, t.at[k])
                         : 0;
    }
    add_token(r, core, &t);
}

/* ---- the program's bytes -------------------------------------------------------------------- */

/* Appends a part at *at, if there is memory, and moves *at past it. */
static void put(uint8_t *bytes, size_t *at, const void *items, size_t count, size_t item_bytes)
{
    if (bytes && count)
        memcpy(bytes + *at, items, count * item_bytes);
    *at += (count * item_bytes + 7) / 8 * 8;
}

static size_t put_all(uint8_t *bytes, const recorder *r, const ac_program *places,
                      const ac_program_header *h, const motion_list *motions,
                      const record_list *records)
{
    size_t at = 0;
    put(bytes, &at, h, 1, sizeof *h);
    put(bytes, &at, places->constants, h->constants_bytes, 1);
    put(bytes, &at, places->buffers, h->buffers, sizeof *places->buffers);
    put(bytes, &at, r->forms, h->forms, sizeof *r->forms);
    put(bytes, &at, r->patterns, h->patterns, sizeof *r->patterns);
    put(bytes, &at, motions->items, h->motions, sizeof *motions->items);
    put(bytes, &at, r->rings, h->rings, sizeof *r->rings);
    for (size_t s = 0; s < r->segment_count; s++)
        put(bytes, &at, &r->segments[s].places, 1, sizeof r->segments[s].places);
    put(bytes, &at, records->items, h->records, sizeof *records->items);
    return (at + 63) / 64 * 64;
}

static bool find_all(recorder *r, record_list *records, motion_list *motions)
{
    for (size_t s = 0; s < r->segment_count; s++) {
        ac_segment *places = &r->segments[s].places;
        for (uint32_t core = 0; core < AC_PROGRAM_CORES; core++) {
            places->core[core].first = (uint32_t)records->count;
            const ac_ring *rings = rings_of(r, places);
            if (!loops_find(&r->segments[s].tokens[core], r->forms, rings, records, motions))
                return false;
            places->core[core].count = (uint32_t)records->count - places->core[core].first;
        }
    }
    return true;
}

void *recorder_finish(recorder *r, const ac_program *places, size_t *size, const char **why)
{
    record_list records = {0};
    motion_list motions = {0};
    uint8_t *bytes = NULL;
    flush_all(r);
    if (!r->why && !find_all(r, &records, &motions))
        fail(r, "out of memory");
    if (!r->why) {
        ac_program_header h = places->header;
        h.instructions = AC_OPCODES;
        h.forms = (uint32_t)r->form_count;
        h.patterns = (uint32_t)r->pattern_count;
        h.motions = (uint32_t)motions.count;
        h.rings = (uint32_t)r->ring_count;
        h.segments = (uint32_t)r->segment_count;
        h.records = (uint32_t)records.count;
        *size = put_all(NULL, r, places, &h, &motions, &records);
        h.bytes = (uint32_t)*size;
        bytes = *size <= UINT32_MAX ? aligned_alloc(MONA_ALIGNMENT, *size) : NULL;
        if (bytes)
            memset(bytes, 0, *size);
        if (bytes)
            put_all(bytes, r, places, &h, &motions, &records);
        else
            fail(r, "out of memory");
    }
    free(records.items);
    free(motions.items);
    *why = r->why;
    return bytes;
}
