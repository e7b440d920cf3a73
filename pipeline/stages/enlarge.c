// SPDX-License-Identifier: Apache-2.0
/* Super-resolution: luma is enlarged by a network, which works in studio range (frame.h), chroma
 * and alpha by bicubic interpolation; luma then guides subsampled chroma, if settings want that
 * (chroma_guide.h). In a video only parts that differ from the previous frame are enlarged
 * (changes.h). */
#include <stdlib.h>
#include <string.h>

#include "engine/model_format.h"
#include "pipeline/stages/changes.h"
#include "pipeline/stages/chroma_guide.h"
#include "pipeline/stages/chroma_location.h"
#include "pipeline/stages/plane_roles.h"
#include "pipeline/stages/pool.h"
#include "pipeline/stages/frame.h"
#include "pipeline/stages/stage.h"

enum { LUMA_ONLY = 1 << PLANE_ROLE_LUMA };

/* The conversion of a frame's luma to studio range, or back. */
typedef struct conversion {
    const frame *to, *from;
} conversion;

/* The frames whose chroma is guided. */
typedef struct guided {
    const chroma_guide *guide;
    const frame *in, *out, *previous; /* the result for the frame before; NULL: there is none, or it
                                         is not known what changed */
    const plane_change *changes;
    bool changed;
} guided;

typedef struct enlarger {
    session_binding luma, chroma, alpha;
    pool pool;      /* what runs luma, if that is on chips */
    void *sited[2]; /* the models that chroma and alpha are bound to */
    plane_change changes[STAGE_SLOTS][FRAME_MAX_PLANES];
    mona_rect *rects;             /* of the plane being processed */
    frame studio[STAGE_SLOTS][2]; /* luma as the network reads and writes it, of several frames */
    mona_event left[STAGE_SLOTS]; /* when these may be overwritten, for a pool */
    unsigned studios;             /* 0: frames already have studio range */
    uint64_t converted;           /* frames so far */
    conversion conversions[STAGE_SLOTS][2];
    chroma_guide guide;
    guided guided[STAGE_SLOTS];
} enlarger;

/* Binds a model of one plane to a plane's size and checks that it enlarges as much as the stage
 * does. */
static bool open_plane(session_binding *bound, const named_model *model, const stage *s,
                       const stage_settings *settings, unsigned plane, unsigned bits,
                       pipeline_error *error)
{
    const mona_size size = frame_plane_size(&s->in, plane);
    mona_config config = stage_config(settings);
    config.sizes[0] = size;
    /* Interpolating a plane is less work for a CPU than sending it to a chip. */
    if (plane && (settings->devices.count > 1 || device_is_ascend(config.device)))
        config.device = &mona_device_host;
    if (!plane_roles_check(model, LUMA_ONLY, LUMA_ONLY, error) ||
        !session_binding_open_deep(bound, &model->model, model->name, bits, settings->or_host,
                                   &config, error))
        return false;
    mona_tensor_info out = mona_plan_output(bound->plan, 0);
    if (out.width != s->scale * size.width || out.height != s->scale * size.height)
        return pipeline_fail(
            error,
            "%s: expected a model that enlarges %u times, found one that makes %ux%u from %ux%u",
            model->name, s->scale, out.width, out.height, size.width, size.height);
    return true;
}

/* For chroma and alpha, by interpolation. *memory: the model's. */
static bool open_interpolated(session_binding *bound, void **memory, const stage *s,
                              const stage_settings *settings, unsigned plane, pipeline_error *error)
{
    const bool chroma = plane == 1;
    named_model sited = {.name = settings->bicubic->name};
    return chroma_location_model(&sited.model, memory, &settings->bicubic->model, MONA_RESIZE_CUBIC,
                                 s->scale, settings->chroma_location, chroma ? s->in.shift_x : 0,
                                 chroma ? s->in.shift_y : 0, error) &&
           open_plane(bound, &sited, s, settings, plane, s->in.bits, error);
}

static bool make_studio(enlarger *e, stage *s, bool still, pipeline_error *error)
{
    frame_format in = s->in, out = s->out;
    in.planes = out.planes = 1;
    in.bits = out.bits = RANGE_BITS;
    const size_t bytes = frame_bytes(&in) + frame_bytes(&out);
    e->studios = s->entry && !still ? s->ahead + 3 : 1;
    e->studios = e->studios < STAGE_SLOTS ? e->studios : STAGE_SLOTS;
    uint8_t *next = stage_take(s, e->studios * bytes);
    if (!next)
        return pipeline_fail(error, "out of memory");
    for (unsigned i = 0; i < e->studios; i++, next += bytes) {
        frame_place(&e->studio[i][0], &in, next);
        frame_place(&e->studio[i][1], &out, next + frame_bytes(&in));
    }
    return true;
}

static bool open_pool(enlarger *e, stage *s, const named_model *model,
                      const stage_settings *settings, pipeline_error *error)
{
    mona_config config = stage_config(settings);
    config.sizes[0] = frame_plane_size(&s->in, 0);
    const bool opened =
        model->om
            ? pool_open_om(&e->pool, &settings->devices, model, config.sizes[0], &s->scale, error)
            : pool_open(&e->pool, &settings->devices, &e->luma, &config, model->name, error);
    return opened && stage_open_entry(s, settings, pool_frames(&e->pool), error);
}

static bool open_luma(enlarger *e, stage *s, const named_model *model,
                      const stage_settings *settings, pipeline_error *error)
{
    const unsigned bits = settings->full_range ? RANGE_BITS : s->in.bits;
    if (model->om)
        return s->in.bits == 8
                   ? open_pool(e, s, model, settings, error)
                   : pipeline_fail(error, "%s: expected frames of 8 bits a sample, found %u",
                                   model->name, s->in.bits);
    return open_plane(&e->luma, model, s, settings, 0, bits, error) &&
           (!pool_is_wanted(&settings->devices, &e->luma) ||
            open_pool(e, s, model, settings, error)) &&
           (!settings->full_range || make_studio(e, s, settings->still, error));
}

static bool open(stage *s, const stage_settings *settings, pipeline_error *error)
{
    enlarger *e = s->state;
    const named_model *model = settings->sr[s->number];
    s->scale = model_scale(model, settings->devices.at[0], error);
    if (!s->scale)
        return false;
    s->out.width *= s->scale;
    s->out.height *= s->scale;
    s->out.multiple *= s->scale;
    if (s->out.width > MONA_MAX_SIDE || s->out.height > MONA_MAX_SIDE)
        return pipeline_fail(error, "expected a result of at most %d pixels a side, found %ux%u",
                             MONA_MAX_SIDE, s->out.width, s->out.height);
    e->rects =
        session_binding_allocate(changes_most(frame_plane_size(&s->in, 0)) * sizeof *e->rects);
    if (!e->rects)
        return pipeline_fail(error, "out of memory");
    const bool guides = !settings->plain_chroma && chroma_guide_helps(&s->in, s->scale);
    return open_luma(e, s, model, settings, error) &&
           (!guides ||
            chroma_guide_open(&e->guide, &s->in, s->scale, settings->chroma_location, error)) &&
           (s->in.planes < 3 ||
            open_interpolated(&e->chroma, &e->sited[0], s, settings, 1, error)) &&
           (s->in.planes < 4 || open_interpolated(&e->alpha, &e->sited[1], s, settings, 3, error));
}

/* All run on the stream, before and after networks. */
static void enter_studio(void *argument)
{
    const conversion *c = argument;
    range_to_studio(c->to, c->from);
}

static void leave_studio(void *argument)
{
    const conversion *c = argument;
    range_to_full(c->to, c->from);
}

/* Runs a model from `from` to `to`; a chip computes whole frames. made: its result for the previous
 * frame, which may be `to`. */
static mona_status enqueue_model(stage *s, const session_binding *model, const stage_work *w,
                                 unsigned plane, const frame *from, const frame *to,
                                 const frame *made)
{
    enlarger *e = s->state;
    const mona_buffer source = frame_buffer(from, plane), target = frame_buffer(to, plane);
    plane_change *c = &e->changes[w->slot][plane];
    if (!w->before || device_is_ascend(model->device))
        return mona_stream_run(s->stream, model->session, &source, &target);
    *c = (plane_change){.in = *w->in,
                        .before = *w->before,
                        .plane = plane,
                        .previous = frame_buffer(made, plane),
                        .rects = e->rects};
    mona_status status = mona_stream_call(s->stream, changes_find, c);
    return status
               ? status
               : mona_stream_run_changed(s->stream, model->session, &source, &target, &c->change);
}

static mona_status enqueue_network(stage *s, const stage_work *w, const frame *from,
                                   const frame *to, const frame *made)
{
    enlarger *e = s->state;
    const mona_buffer source = frame_buffer(from, 0), target = frame_buffer(to, 0);
    return pool_is_open(&e->pool)
               ? pool_enqueue(&e->pool, s->entry, s->stream, NULL, &source, &target)
               : enqueue_model(s, &e->luma, w, 0, from, to, made);
}

/* Samples that are equal are equal in studio range too. */
static mona_status enqueue_luma(stage *s, const stage_work *w)
{
    enlarger *e = s->state;
    conversion *c = e->conversions[w->slot];
    if (!e->studios)
        return enqueue_network(s, w, w->in, w->out, w->previous);
    const uint64_t k = e->converted++ % e->studios;
    frame *studio = e->studio[k];
    c[0] = (conversion){.to = &studio[0], .from = w->in};
    c[1] = (conversion){.to = w->out, .from = &studio[1]};
    mona_status status = s->entry ? mona_stream_wait(s->entry, &e->left[k]) : MONA_OK;
    if (!status)
        status = mona_stream_call(stage_entry(s), enter_studio, &c[0]);
    if (!status)
        status = enqueue_network(s, w, &studio[0], &studio[1], &studio[1]);
    if (!status)
        status = mona_stream_call(s->stream, leave_studio, &c[1]);
    return status ? status : mona_stream_record(s->stream, &e->left[k]);
}

static void take_guide(void *argument)
{
    guided *c = argument;
    c->changed = !c->previous;
    for (unsigned p = 0; p < 3 && !c->changed; p++)
        c->changed = c->changes[p].change.count;
    if (c->changed)
        chroma_guide_take(c->guide, c->in);
}

static void apply_guide(void *argument)
{
    const guided *c = argument;
    if (c->changed)
        chroma_guide_apply(c->guide, c->in, c->out);
    for (unsigned p = 1; p < 3 && !c->changed; p++)
        memcpy(c->out->data[p], c->previous->data[p],
               (size_t)c->out->stride[p] * frame_plane_size(&c->out->format, p).height);
}

/* Chroma that was interpolated into the guide's planes becomes the result's. */
static mona_status enqueue_guide(stage *s, const stage_work *w)
{
    enlarger *e = s->state;
    guided *c = &e->guided[w->slot];
    const mona_buffer low = frame_buffer(&e->guide.low, 0), high = frame_buffer(&e->guide.high, 0);
    const bool compares = w->before && !pool_is_open(&e->pool) &&
                          !device_is_ascend(e->luma.device) && !device_is_ascend(e->chroma.device);
    *c = (guided){.guide = &e->guide,
                  .in = w->in,
                  .out = w->out,
                  .previous = compares ? w->previous : NULL,
                  .changes = e->changes[w->slot]};
    mona_status status = mona_stream_call(s->stream, take_guide, c);
    if (!status)
        status = mona_stream_run_if(s->stream, &c->changed, e->chroma.session, &low, &high);
    return status ? status : mona_stream_call(s->stream, apply_guide, c);
}

static mona_status enqueue(stage *s, const stage_work *w)
{
    const enlarger *e = s->state;
    const bool guides = e->guide.bytes;
    mona_status status = enqueue_luma(s, w);
    for (unsigned p = 1; p < w->in->format.planes && !status; p++)
        status = guides && p < 3
                     ? enqueue_model(s, &e->chroma, w, p, w->in, &e->guide.high, &e->guide.high)
                     : enqueue_model(s, p == 3 ? &e->alpha : &e->chroma, w, p, w->in, w->out,
                                     w->previous);
    return status || !guides ? status : enqueue_guide(s, w);
}

static void close_enlarger(void *state)
{
    enlarger *e = state;
    pool_close(&e->pool);
    chroma_guide_close(&e->guide);
    session_binding_close(&e->luma);
    session_binding_close(&e->chroma);
    session_binding_close(&e->alpha);
    free(e->sited[0]);
    free(e->sited[1]);
    free(e->rects);
}

static size_t bytes(const void *state)
{
    const enlarger *e = state;
    return session_binding_bytes(&e->luma) + session_binding_bytes(&e->chroma) +
           session_binding_bytes(&e->alpha) + pool_bytes(&e->pool) + e->guide.bytes;
}

static unsigned models(const void *state, stage_model list[STAGE_MAX_MODELS])
{
    const enlarger *e = state;
    list[0] = (stage_model){&e->luma, 1};
    list[1] = (stage_model){&e->chroma, e->guide.bytes ? 3 : 2};
    list[2] = (stage_model){&e->alpha, 1};
    return 3;
}

static const char *network(const stage_settings *settings, unsigned number)
{
    return settings->sr[number]->name;
}

const stage_row enlarge_stage = {.state_bytes = sizeof(enlarger),
                                 .network = network,
                                 .open = open,
                                 .enqueue = enqueue,
                                 .close = close_enlarger,
                                 .bytes = bytes,
                                 .models = models};
