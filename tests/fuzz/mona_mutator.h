// SPDX-License-Identifier: Apache-2.0
/* Changes fields of a .mona model where they are: in its headers, tensors, operators, plans and
 * programs. What its tables lie on stays, so that most of a changed file can still be read. */
#ifndef MONA_TESTS_FUZZ_MONA_MUTATOR_H
#define MONA_TESTS_FUZZ_MONA_MUTATOR_H

#include <string.h>

#include "engine/aicore/program.h"
#include "engine/model_format.h"
#include "tests/fuzz/fuzz.h"

/* count records of so many bytes, whose fields are of width bytes, from this offset on. */
typedef struct mona_part {
    size_t at, bytes, count;
    unsigned width;
} mona_part;

enum { MUTATOR_PARTS = 256 };

typedef struct mona_parts {
    mona_part of[MUTATOR_PARTS];
    unsigned count;
} mona_parts;

static inline void mutator_add(mona_parts *parts, size_t size, mona_part part)
{
    if (part.count && part.bytes && part.at < size && part.count <= (size - part.at) / part.bytes &&
        parts->count < MUTATOR_PARTS)
        parts->of[parts->count++] = part;
}

/* The parts of a program in the order in which they lie, each at a multiple of 8 bytes. */
static inline void mutator_add_program(mona_parts *parts, const uint8_t *file, size_t size,
                                       size_t at)
{
    ac_program_header h;
    if (at > size || size - at < sizeof h)
        return;
    memcpy(&h, file + at, sizeof h);
    mutator_add(parts, size, (mona_part){at, sizeof h, 1, 4});
    const mona_part rows[] = {
        {0, 1, h.constants_bytes, 1},           {0, sizeof(ac_buffer), h.buffers, 4},
        {0, sizeof(ac_form), h.forms, 1},       {0, sizeof(ac_pattern), h.patterns, 4},
        {0, sizeof(ac_motion), h.motions, 4},   {0, sizeof(ac_ring), h.rings, 4},
        {0, sizeof(ac_segment), h.segments, 4}, {0, sizeof(ac_record), h.records, 4},
    };
    at += sizeof h;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mona_part part = rows[i];
        part.at = at;
        mutator_add(parts, size, part);
        if (part.width == 1 && part.bytes > 1) { /* forms have wider fields, too */
            part.width = 2;
            mutator_add(parts, size, part);
        }
        at += (part.bytes * part.count + 7) / 8 * 8;
    }
}

static inline void mutator_add_programs(mona_parts *parts, const uint8_t *file, size_t size,
                                        const mona_file_header *h)
{
    mona_file_program p;
    mutator_add(parts, size, (mona_part){h->programs_offset, sizeof p, h->program_count, 4});
    for (uint32_t i = 0; i < h->program_count; i++) {
        const size_t at = h->programs_offset + i * sizeof p;
        if (at > size || size - at < sizeof p)
            return;
        memcpy(&p, file + at, sizeof p);
        if (!strncmp(p.target, "ascend310", sizeof p.target)) {
            mutator_add_program(parts, file, size, p.offset);
            continue;
        }
        mutator_add(parts, size, (mona_part){p.offset, sizeof(mona_file_plan), 1, 4});
        mutator_add(parts, size,
                    (mona_part){p.offset + sizeof(mona_file_plan), sizeof(mona_file_plan_op),
                                h->op_count, 4});
    }
}

static inline void mutator_find(mona_parts *parts, const uint8_t *file, size_t size)
{
    mona_file_header h;
    size_t at = 0;
    for (unsigned n = 0; n < 4 && at < size && size - at >= sizeof h; n++, at = h.next) {
        memcpy(&h, file + at, sizeof h);
        mutator_add(parts, size, (mona_part){at, sizeof h, 1, 4});
        for (unsigned width = 1; width <= 4; width *= 2) {
            mutator_add(
                parts, size,
                (mona_part){h.tensors_offset, sizeof(mona_file_tensor), h.tensor_count, width});
            mutator_add(parts, size,
                        (mona_part){h.ops_offset, sizeof(mona_file_op), h.op_count, width});
        }
        mutator_add(parts, size, (mona_part){h.data_offset, 64, h.data_bytes / 64, 4});
        mutator_add_programs(parts, file, size, &h);
        if (h.next <= at)
            return;
    }
}

static inline uint32_t mutator_change(uint32_t value, unsigned width, uint64_t *state)
{
    static const uint32_t edges[] = {
        0,     1,     2,     3,     7,       8,          15,         16,         17,
        31,    32,    63,    64,    65,      127,        128,        129,        255,
        256,   257,   1024,  4095,  4096,    0x3c00,     0x7c00,     0x7e00,     32767,
        32768, 65535, 65536, 65537, 1 << 30, 0x7fffffff, 0x80000000, 0xffffffc0, 0xffffffff};
    const uint32_t drawn = fuzz_draw(state);
    switch (drawn % 8) {
    case 0:
    case 1:
    case 2:
        return edges[drawn / 8 % (sizeof edges / sizeof *edges)];
    case 3:
    case 4:
        return value + (1u << (drawn / 8 % 9));
    case 5:
        return value - (1u << (drawn / 8 % 9));
    case 6:
        return value ^ 1u << (drawn / 8 % (8 * width));
    default:
        return fuzz_draw(state);
    }
}

static inline void mutate_part(uint8_t *file, const mona_part *part, uint64_t *state)
{
    uint32_t value = 0;
    uint8_t *record = file + part->at + part->bytes * (fuzz_draw(state) % part->count);
    const size_t fields = part->bytes / part->width;
    if (fuzz_draw(state) % 16 == 0) { /* a record twice */
        memmove(record, file + part->at + part->bytes * (fuzz_draw(state) % part->count),
                part->bytes);
        return;
    }
    uint8_t *field = record + part->width * (fuzz_draw(state) % fields);
    memcpy(&value, field, part->width); /* files and hosts are little-endian */
    value = mutator_change(value, part->width, state);
    memcpy(field, &value, part->width);
}

/* Changes 1 to 4 fields; a seed always the same ones. */
static inline void mutate_model(uint8_t *file, size_t size, unsigned seed)
{
    mona_parts parts = {.count = 0};
    uint64_t state = seed;
    mutator_find(&parts, file, size);
    for (unsigned n = fuzz_draw(&state) % 4 + 1; parts.count && n; n--)
        mutate_part(file, &parts.of[fuzz_draw(&state) % parts.count], &state);
}

#endif
