// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/stage.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/stages/chip.h"
#include "pipeline/stages/plane_roles.h"

#define STAGE_ROW(kind, row, name) extern const stage_row row;
STAGES(STAGE_ROW, STAGE_ROW, STAGE_ROW, STAGE_ROW)

#define STAGE_NAMED(kind, row, name) {&row, name, true},
#define STAGE_UNNAMED(kind, row, name) {&row, name, false},
static const struct {
    const stage_row *row;
    const char *name;
    bool named; /* by --stages */
} kinds[STAGE_KINDS] = {STAGES(STAGE_NAMED, STAGE_NAMED, STAGE_NAMED, STAGE_UNNAMED)};

const stage_row *stage_row_of(stage_kind kind)
{
    return kinds[kind].row;
}

const char *stage_name(stage_kind kind)
{
    return kinds[kind].name;
}

bool stage_find(const char *name, stage_kind *kind)
{
    for (*kind = 0; *kind < STAGE_KINDS; ++*kind)
        if (kinds[*kind].named && !strcmp(name, kinds[*kind].name))
            return true;
    return false;
}

bool stage_open(stage *s, stage_kind kind, unsigned number, const stage_settings *settings,
                frame_format in, unsigned enlarged, pipeline_error *error)
{
    const stage_row *row = stage_row_of(kind);
    *s = (stage){.row = row,
                 .kind = kind,
                 .in = in,
                 .out = in,
                 .number = number,
                 .enlarged = enlarged,
                 .scale = 1};
    s->state = session_binding_allocate(row->state_bytes);
    s->stream_memory = session_binding_allocate(mona_stream_bytes());
    if (!s->state || !s->stream_memory)
        return pipeline_fail(error, "out of memory");
    mona_status status = mona_stream_open(&s->stream, settings->devices.at[0], s->stream_memory,
                                          mona_stream_bytes());
    if (status)
        return pipeline_fail(error, "a stream cannot start: %s", pipeline_reason(status));
    return row->open(s, settings, error);
}

bool stage_open_entry(stage *s, const stage_settings *settings, unsigned frames,
                      pipeline_error *error)
{
    s->ahead = frames > 2 ? frames - 2 : 0; /* while one is read and another is written */
    s->entry_memory = session_binding_allocate(mona_stream_bytes());
    if (!s->entry_memory)
        return pipeline_fail(error, "out of memory");
    const mona_status status =
        mona_stream_open(&s->entry, settings->devices.at[0], s->entry_memory, mona_stream_bytes());
    return !status || pipeline_fail(error, "a stream cannot start: %s", pipeline_reason(status));
}

void stage_tell_models(const stage *s, const pipeline_probe *probe)
{
    stage_model models[STAGE_MAX_MODELS];
    const unsigned count = s->row->models ? s->row->models(s->state, models) : 0;
    for (unsigned i = 0; i < count; i++)
        if (models[i].bound->session)
            probe->bound(probe->context, s->number, models[i].bound, models[i].runs);
}

void *stage_take(stage *s, size_t bytes)
{
    void *memory = s->taken_count < STAGE_MAX_TAKEN ? session_binding_allocate(bytes) : NULL;
    if (memory) {
        s->taken[s->taken_count++] = memory;
        s->taken_bytes += bytes;
    }
    return memory;
}

mona_stream *stage_entry(const stage *s)
{
    return s->entry ? s->entry : s->stream;
}

void stage_close(stage *s)
{
    mona_stream_synchronize(s->stream);
    if (s->state && s->row->close)
        s->row->close(s->state);
    mona_stream_close(s->stream);
    mona_stream_close(s->entry); /* for whose events the other one waited */
    while (s->taken_count)
        free(s->taken[--s->taken_count]);
    free(s->state);
    free(s->stream_memory);
    free(s->entry_memory);
    *s = (stage){0};
}

size_t stage_bytes(const stage *s)
{
    return mona_stream_bytes() + s->taken_bytes + (s->row->bytes ? s->row->bytes(s->state) : 0);
}

unsigned model_scale(const named_model *model, const mona_device *device, pipeline_error *error)
{
    enum { SIDE = 16 };
    session_binding bound = {0};
    const mona_config small = {.sizes = {{SIDE, SIDE}}}; /* it is the same on all devices */
    unsigned scale = 0;
    if (model->om)
        return chip_om_scale(device, model, error);
    if (plane_roles_check(model, 1 << PLANE_ROLE_LUMA, 1 << PLANE_ROLE_LUMA, error) &&
        session_binding_plan(&bound, &model->model, model->name, 8, &small, error)) {
        const mona_tensor_info out = mona_plan_output(bound.plan, 0);
        scale = out.width / SIDE;
        if (out.width != out.height || out.width != scale * SIDE || scale < 2) {
            pipeline_fail(error,
                          "%s: expected a model that enlarges 2 to 4 times, found one that makes "
                          "%ux%u from %dx%d",
                          model->name, out.width, out.height, SIDE, SIDE);
            scale = 0;
        }
    }
    session_binding_close(&bound);
    return scale;
}
