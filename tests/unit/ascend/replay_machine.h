// SPDX-License-Identifier: Apache-2.0
/* Runs a program on the replay kernel, with the memory of a device. Included after cmocka.h. */
#ifndef MONA_TESTS_REPLAY_MACHINE_H
#define MONA_TESTS_REPLAY_MACHINE_H

#include <stdlib.h>
#include <string.h>

#include "engine/ascend/kernel/machine.h"
#include "engine/ascend/words.h"
#include "engine/model310/model310.h"

#define REPLAY_DEVICE UINT64_C(0x100000000) /* where the device's memory begins for the kernel */

typedef struct replay_machine {
    cce_machine machine;
    bool modelled;
    uint32_t readings; /* of machine.h */
    uint64_t control;  /* bits of CTRL that the programs set */
    uint8_t *memory;
    void *model;
    size_t constants, buffers[AC_SPACES], addresses, words, bytes; /* offsets in memory */
} replay_machine;

static inline size_t replay_place(replay_machine *r, size_t bytes)
{
    const size_t at = r->bytes;
    r->bytes += (bytes + 2 * 64) / 64 * 64;
    return at;
}

/* Places a program, and room for the largest image of its segments. */
static inline void replay_open(replay_machine *r, const ac_program *p)
{
    size_t largest = 0;
    memset(r, 0, sizeof *r);
    for (uint32_t s = 0; s < p->header.segments; s++) {
        const char *why;
        const size_t bytes = ascend_words_bytes(p, s, &why);
        if (!bytes)
            fail_msg("segment %u: %s", s, why);
        largest = bytes > largest ? bytes : largest;
    }
    r->constants = replay_place(r, p->header.constants_bytes);
    for (uint32_t b = 0; b < p->header.buffers; b++)
        r->buffers[b] = replay_place(r, p->buffers[b].bytes);
    r->addresses = replay_place(r, 8 * WORDS_BASES);
    r->words = replay_place(r, largest);
    r->memory = aligned_alloc(64, r->bytes);
    memset(r->memory, 0xa5, r->bytes);
    memcpy(r->memory + r->constants, p->constants, p->header.constants_bytes);
    uint64_t *addresses = (uint64_t *)(void *)(r->memory + r->addresses);
    *addresses++ = REPLAY_DEVICE + r->constants;
    for (uint32_t b = 0; b < p->header.buffers; b++)
        *addresses++ = REPLAY_DEVICE + r->buffers[b];
}

static inline uint8_t *replay_buffer(const replay_machine *r, uint32_t b)
{
    return r->memory + r->buffers[b];
}

/* Whether buffer b holds these samples. What follows them in a row may differ. */
static inline bool replay_has(const replay_machine *r, uint32_t b, mona_tensor_info t,
                              mona_buffer planes)
{
    const size_t row = t.width * mona_type_size(t.type), step = (size_t)planes.row_stride;
    bool same = true;
    for (size_t y = 0; y < (size_t)t.height * t.channels; y++)
        same &= !memcmp((uint8_t *)planes.data + y * step, replay_buffer(r, b) + y * step, row);
    return same;
}

/* The machine's buffers are empty whenever it begins. */
static inline void replay_begin(replay_machine *r, uint32_t block)
{
    static ac_target target;
    cce_machine *m = &r->machine;
    target = ac_target_ascend310;
    target.ub_bytes += AC_PROGRAM_UB_BYTES;
    const size_t sizes[AC_BUFFERS] = {target.l1_bytes, target.l0a_bytes, target.l0b_bytes,
                                      target.l0c_bytes, target.ub_bytes};
    *m = (cce_machine){.core = {.target = &target, .take = ac_execute},
                       .device = REPLAY_DEVICE,
                       .block = block,
                       .readings = r->readings};
    for (int i = 0; i < AC_BUFFERS; i++) {
        uint8_t *bytes = aligned_alloc(64, sizes[i]);
        memset(bytes, 0x5a, sizes[i]);
        m->core.memory[i] = (ac_memory){bytes, sizes[i], true};
    }
    m->core.memory[AC_GM] = (ac_memory){r->memory, r->bytes, true};
    if (!r->modelled)
        return;
    const ac_model_config config = {.core = block, .cores = AC_PROGRAM_CORES};
    r->model = aligned_alloc(64, (ac_model_bytes(&target) + 63) / 64 * 64);
    ac_model_init(&m->core, r->model, &config);
    /* The scalar unit fetches whole blocks of L1, also where nothing was written yet. */
    ac_model_written(&m->core, ac_at(AC_L1, 0), target.l1_bytes);
    ac_model_written(&m->core, ac_at(AC_UB, WORDS_UB), AC_PROGRAM_UB_BYTES);
}

static inline void replay_end(replay_machine *r)
{
    ac_model_report report;
    if (r->modelled) {
        report = *ac_model_finish(&r->machine.core);
        if (report.finding_count)
            fail_msg("%s of %s: %s", ac_finding_kind_name(report.findings[0].kind),
                     report.findings[0].instruction, report.findings[0].operand);
        free(r->model);
    }
    for (int i = 0; i < AC_BUFFERS; i++)
        free(r->machine.core.memory[i].bytes);
}

/* One segment on both cores. Returns the fault, or NULL. */
static inline const char *replay_segment(replay_machine *r, const ac_program *p, uint32_t segment)
{
    const char *fault = NULL;
    ascend_words_make(p, segment, r->memory + r->words);
    ((uint64_t *)(void *)(r->memory + r->words))[WORDS_CONTROL] = r->control;
    for (uint32_t block = 0; block < AC_PROGRAM_CORES && !fault; block++) {
        replay_begin(r, block);
        cce_run(&r->machine, REPLAY_DEVICE + r->words, REPLAY_DEVICE + r->addresses);
        fault = r->machine.fault;
        replay_end(r);
    }
    return fault;
}

static inline void replay_close(replay_machine *r)
{
    free(r->memory);
}

#endif
