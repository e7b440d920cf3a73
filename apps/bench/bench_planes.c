// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench_model.h"

#include "engine/model_format.h"

/* Memory `place` for a tensor. */
static bool make(bench_planes *p, unsigned place, const mona_device *device, mona_tensor_info info,
                 mona_buffer *buffer)
{
    frame_memory *memory = &p->memory[place];
    const size_t row = (size_t)info.width * mona_type_size(info.type);
    const size_t plane = row * info.height, bytes = plane * info.channels;
    if (!frame_memory_open(memory, device, bytes))
        return false;
    uint32_t state = 1;
    for (size_t i = 0; i < bytes; i++) {
        state = state * 1664525 + 1013904223;
        memory->bytes[i] = (uint8_t)(state >> 24);
    }
    /* The upper byte of an fp16 number determines its size: 0x2c to 0x3b are 1/16 up to 1. */
    for (size_t i = 1; info.type == MONA_F16 && i < bytes; i += 2)
        memory->bytes[i] = (uint8_t)(0x2c + memory->bytes[i] % 16);
    *buffer = (mona_buffer){memory->bytes, (ptrdiff_t)row, (ptrdiff_t)plane};
    p->bytes[place] = bytes;
    return true;
}

bool bench_planes_open(bench_planes *p, const mona_device *device, const mona_plan *plan,
                       const mona_model *model)
{
    bool ok = true;
    *p = (bench_planes){.input_count = mona_model_input_count(model),
                        .output_count = mona_model_output_count(model)};
    for (unsigned i = 0; ok && i < p->input_count; i++)
        ok = make(p, i, device, mona_plan_input(plan, i), &p->inputs[i]);
    for (unsigned i = 0; ok && i < p->output_count; i++)
        ok = make(p, MONA_MAX_IO + i, device, mona_plan_output(plan, i), &p->outputs[i]);
    return ok;
}

void bench_planes_close(bench_planes *p)
{
    for (size_t i = 0; i < 2 * MONA_MAX_IO; i++)
        frame_memory_close(&p->memory[i]);
    *p = (bench_planes){0};
}

static uint32_t crc_of(const bench_planes *p, unsigned first, unsigned count)
{
    uint32_t crc = 0;
    for (unsigned i = first; i < first + count; i++)
        crc = mona_crc32(crc, p->memory[i].bytes, p->bytes[i]);
    return crc;
}

uint32_t bench_planes_input_crc(const bench_planes *p)
{
    return crc_of(p, 0, p->input_count);
}

uint32_t bench_planes_output_crc(const bench_planes *p)
{
    return crc_of(p, MONA_MAX_IO, p->output_count);
}

size_t bench_planes_bytes(const bench_planes *p)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < 2 * MONA_MAX_IO; i++)
        bytes += p->bytes[i];
    return bytes;
}
