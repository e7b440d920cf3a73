/* Sessions on planes of noise. */
#include "bench_session.h"

#include <stdlib.h>

#include "formats/file.h"
#include "model_format.h"
#include "options.h"

/* Planes of one tensor, filled with the same noise on every machine. */
static bool make_planes(uint8_t **memory, mona_buffer *buffer, const mona_tensor_info *info)
{
    const size_t row = (size_t)info->width * mona_type_size(info->type);
    const size_t plane = row * info->height, bytes = plane * info->channels;
    *memory = file_alloc(bytes);
    if (!*memory)
        return false;
    uint32_t state = 1;
    for (size_t i = 0; i < bytes; i++) {
        state = state * 1664525 + 1013904223;
        (*memory)[i] = (uint8_t)(state >> 24);
    }
    /* Of an fp16 the upper byte decides: 0x2c to 0x3b are 1/16 up to 1. */
    for (size_t i = 1; info->type == MONA_F16 && i < bytes; i += 2)
        (*memory)[i] = (uint8_t)(0x2c + (*memory)[i] % 16);
    *buffer = (mona_buffer){*memory, (ptrdiff_t)row, (ptrdiff_t)plane};
    return true;
}

static bool make_buffers(bench_session *s, const mona_model *model)
{
    const unsigned inputs = mona_model_input_count(model);
    const unsigned outputs = mona_model_output_count(model);
    for (unsigned i = 0; i < inputs; i++) {
        const mona_tensor_info info = mona_plan_input(s->plan, i);
        if (!make_planes(&s->planes[i], &s->inputs[i], &info))
            return false;
    }
    for (unsigned i = 0; i < outputs; i++) {
        const mona_tensor_info info = mona_plan_output(s->plan, i);
        if (!make_planes(&s->planes[inputs + i], &s->outputs[i], &info))
            return false;
    }
    return true;
}

bool bench_session_open(bench_session *s, const char *name, const mona_model *model,
                        const mona_config *config)
{
    s->plan_memory = file_alloc(mona_plan_bytes());
    if (!s->plan_memory)
        return cli_fail(0, "out of memory"), false;
    mona_status status = mona_plan_make(&s->plan, s->plan_memory, model, config);
    if (!status) {
        const size_t bytes = mona_plan_arena_bytes(s->plan);
        s->arena = file_alloc(bytes);
        if (!s->arena || !make_buffers(s, model))
            return cli_fail(0, "out of memory: %s needs %zu bytes", name, bytes), false;
        status = mona_session_open(&s->session, s->plan, s->arena, bytes);
    }
    if (status)
        cli_fail(0, "%s: %s", name, mona_status_text(status));
    return status == MONA_OK;
}

bool bench_session_run(bench_session *s, const char *name)
{
    const mona_status status = mona_session_run(s->session, s->inputs, s->outputs);
    if (status)
        cli_fail(0, "%s: %s", name, mona_status_text(status));
    return status == MONA_OK;
}

void bench_session_close(bench_session *s)
{
    mona_session_close(s->session);
    for (size_t i = 0; i < 2 * MONA_MAX_IO; i++)
        free(s->planes[i]);
    free(s->arena);
    free(s->plan_memory);
    *s = (bench_session){0};
}

static uint32_t add_crc(uint32_t crc, const mona_buffer *buffer, const mona_tensor_info *info)
{
    return mona_crc32(crc, buffer->data, (size_t)buffer->channel_stride * info->channels);
}

uint32_t bench_session_crc(const bench_session *s, const mona_model *model)
{
    uint32_t crc = 0;
    for (unsigned i = 0; i < mona_model_output_count(model); i++) {
        const mona_tensor_info info = mona_plan_output(s->plan, i);
        crc = add_crc(crc, &s->outputs[i], &info);
    }
    return crc;
}

uint32_t bench_session_input_crc(const bench_session *s, const mona_model *model)
{
    uint32_t crc = 0;
    for (unsigned i = 0; i < mona_model_input_count(model); i++) {
        const mona_tensor_info info = mona_plan_input(s->plan, i);
        crc = add_crc(crc, &s->inputs[i], &info);
    }
    return crc;
}

size_t bench_session_plane_bytes(const bench_session *s, const mona_model *model)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < mona_model_input_count(model); i++)
        bytes += (size_t)s->inputs[i].channel_stride * mona_plan_input(s->plan, i).channels;
    for (unsigned i = 0; i < mona_model_output_count(model); i++)
        bytes += (size_t)s->outputs[i].channel_stride * mona_plan_output(s->plan, i).channels;
    return bytes;
}
