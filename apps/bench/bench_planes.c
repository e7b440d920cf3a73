// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench_planes.h"

#include "engine/model_format.h"

/* mona_plan_input or mona_plan_output. */
typedef mona_tensor_info tensor_of(const mona_plan *plan, unsigned index);

static bool make(frame_memory *memory, const mona_device *device, mona_buffer *buffer,
                 const mona_tensor_info *info)
{
    const size_t row = (size_t)info->width * mona_type_size(info->type);
    const size_t plane = row * info->height, bytes = plane * info->channels;
    if (!frame_memory_open(memory, device, bytes))
        return false;
    uint32_t state = 1;
    for (size_t i = 0; i < bytes; i++) {
        state = state * 1664525 + 1013904223;
        memory->bytes[i] = (uint8_t)(state >> 24);
    }
    /* The upper byte of an fp16 number determines its size: 0x2c to 0x3b are 1/16 up to 1. */
    for (size_t i = 1; info->type == MONA_F16 && i < bytes; i += 2)
        memory->bytes[i] = (uint8_t)(0x2c + memory->bytes[i] % 16);
    *buffer = (mona_buffer){memory->bytes, (ptrdiff_t)row, (ptrdiff_t)plane};
    return true;
}

static bool make_all(frame_memory *memory, const mona_device *device, mona_buffer *buffers,
                     unsigned count, const mona_plan *plan, tensor_of *tensor)
{
    for (unsigned i = 0; i < count; i++) {
        const mona_tensor_info info = tensor(plan, i);
        if (!make(&memory[i], device, &buffers[i], &info))
            return false;
    }
    return true;
}

bool bench_planes_open(bench_planes *p, const mona_device *device, const mona_plan *plan,
                       const mona_model *model)
{
    *p = (bench_planes){.plan = plan,
                        .input_count = mona_model_input_count(model),
                        .output_count = mona_model_output_count(model)};
    return make_all(p->memory, device, p->inputs, p->input_count, plan, mona_plan_input) &&
           make_all(p->memory + MONA_MAX_IO, device, p->outputs, p->output_count, plan,
                    mona_plan_output);
}

void bench_planes_close(bench_planes *p)
{
    for (size_t i = 0; i < 2 * MONA_MAX_IO; i++)
        frame_memory_close(&p->memory[i]);
    *p = (bench_planes){0};
}

static size_t bytes_of(const mona_buffer *buffer, const mona_tensor_info *info)
{
    return (size_t)buffer->channel_stride * info->channels;
}

static uint32_t crc_of(const mona_buffer *buffers, unsigned count, const mona_plan *plan,
                       tensor_of *tensor)
{
    uint32_t crc = 0;
    for (unsigned i = 0; i < count; i++) {
        const mona_tensor_info info = tensor(plan, i);
        crc = mona_crc32(crc, buffers[i].data, bytes_of(&buffers[i], &info));
    }
    return crc;
}

uint32_t bench_planes_input_crc(const bench_planes *p)
{
    return crc_of(p->inputs, p->input_count, p->plan, mona_plan_input);
}

uint32_t bench_planes_output_crc(const bench_planes *p)
{
    return crc_of(p->outputs, p->output_count, p->plan, mona_plan_output);
}

static size_t bytes_of_all(const mona_buffer *buffers, unsigned count, const mona_plan *plan,
                           tensor_of *tensor)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < count; i++) {
        const mona_tensor_info info = tensor(plan, i);
        bytes += bytes_of(&buffers[i], &info);
    }
    return bytes;
}

size_t bench_planes_bytes(const bench_planes *p)
{
    return bytes_of_all(p->inputs, p->input_count, p->plan, mona_plan_input) +
           bytes_of_all(p->outputs, p->output_count, p->plan, mona_plan_output);
}
