// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/processor.h"

#include <stdlib.h>

#include "engine/model_format.h"
#include "pipeline/stages/sample.h"

static int rounded(int sample, unsigned more, int max)
{
    const int value = (sample + (1 << more >> 1)) >> more;
    return value < max ? value : max;
}

/* ---- opening -------------------------------------------------------------------------------- */

/* How a network enlarges the picture that it corrects. */
static resize_kernel kernel_of(const mona_model *model)
{
    for (uint32_t o = 0; o < model->header->op_count; o++)
        if (model->ops[o].kind == MONA_OP_RESIZE &&
            model->ops[o].resize.mode != MONA_RESIZE_NEAREST)
            return RESIZE_CUBIC;
    return RESIZE_NEAREST;
}

static bool open_neutral(processor *p, unsigned i, const stage *s, const stage_settings *settings,
                         resize_kernel kernel, pipeline_error *error)
{
    const unsigned mode = kernel == RESIZE_CUBIC ? MONA_RESIZE_CUBIC : MONA_RESIZE_NEAREST;
    p->neutral[i].name = settings->bicubic->name;
    return chroma_location_model(&p->neutral[i].model, &p->models[i], &settings->bicubic->model,
                                 mode, s->scale, settings->chroma_location, 0, 0, error);
}

static frame_format deepened(frame_format format, unsigned bits)
{
    format.bits = bits;
    return format;
}

/* The frames between the filters, and the result. */
static bool allocate(processor *p, const frame_format *in, unsigned result_bits,
                     pipeline_error *error)
{
    const chain *c = &p->unchanged;
    frame_format formats[CHAIN_MAX_STAGES + 2];
    formats[0] = *in;
    for (unsigned i = 0; i < c->count; i++)
        formats[i + 1] = deepened(c->stages[i].out, in->bits);
    formats[c->count + 1] = deepened(formats[c->count], result_bits);
    size_t bytes = 0;
    for (unsigned i = 0; i < c->count + 2; i++)
        bytes += frame_bytes(&formats[i]);
    uint8_t *next = p->memory = session_binding_allocate(bytes);
    p->memory_bytes = bytes;
    if (!p->memory)
        return pipeline_fail(error, "the frames need %zu bytes of memory, more than there is",
                             bytes);
    for (unsigned i = 0; i < c->count + 2; i++) {
        frame_place(i == c->count + 1 ? &p->out : &p->frames[i], &formats[i], next);
        next += frame_bytes(&formats[i]);
    }
    return true;
}

bool processor_open(processor *p, const stage_kind *kinds, unsigned count,
                    const stage_settings *settings, const frame_format *in, bool overlap,
                    pipeline_error *error)
{
    *p = (processor){.in = *in, .full_range = settings->full_range};
    const unsigned bits = processor_is_deep(p) ? PROCESSOR_SEEN_BITS : in->bits;
    return chain_open(&p->stages, kinds, count, settings, deepened(*in, bits), overlap, error);
}

bool processor_open_result(processor *p, const stage_settings *settings, unsigned result_bits,
                           pipeline_error *error)
{
    const chain *c = &p->stages;
    stage_settings plain = *settings;
    plain.plain_chroma = true;
    stage_kind kinds[CHAIN_MAX_STAGES];
    resize_kernels kernels[CHAIN_MAX_STAGES];
    unsigned count = 0;
    if (!processor_is_deep(p))
        return true;
    for (unsigned i = 0; i < c->count; i++) {
        const stage *s = &c->stages[i];
        if (s->kind != STAGE_SR && s->kind != STAGE_RESIZE)
            continue;
        kernels[count] = (resize_kernels){RESIZE_LANCZOS, RESIZE_LANCZOS};
        if (s->kind == STAGE_SR) {
            if (settings->sr[i]->om)
                return pipeline_fail(error, "%s: expected frames of 8 bits a sample, found %u",
                                     settings->sr[i]->name, p->in.bits);
            kernels[count] = (resize_kernels){kernel_of(&settings->sr[i]->model), RESIZE_CUBIC};
            if (!open_neutral(p, count, s, settings, kernels[count].luma, error))
                return false;
            plain.sr[count] = &p->neutral[count];
        }
        kinds[count++] = s->kind;
    }
    frame_format seen = deepened(p->in, PROCESSOR_SEEN_BITS), in = p->in;
    if (count && !chain_open(&p->unchanged, kinds, count, &plain, seen, c->slots[0] > 1, error))
        return false;
    in.multiple = count ? p->unchanged.stages[0].in.multiple : c->stages[0].in.multiple;
    if (!allocate(p, &in, result_bits, error))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!resizer_open(&p->filters[i], &p->frames[i].format, &p->frames[i + 1].format,
                          settings->chroma_location, &kernels[i], error))
            return false;
    return true;
}

size_t processor_engine_bytes(const processor *p)
{
    return chain_engine_bytes(&p->stages) + chain_engine_bytes(&p->unchanged);
}

size_t processor_frame_bytes(const processor *p)
{
    return p->stages.memory_bytes + p->unchanged.memory_bytes + p->memory_bytes;
}

void processor_close(processor *p)
{
    chain_close(&p->stages);
    chain_close(&p->unchanged);
    for (unsigned i = 0; i < CHAIN_MAX_STAGES; i++) {
        resizer_close(&p->filters[i]);
        free(p->models[i]);
    }
    free(p->memory);
    *p = (processor){0};
}

/* ---- running -------------------------------------------------------------------------------- */

/* Fills a plane with the rounded samples of a deep frame. */
static void round_plane(const processor *p, frame *seen, unsigned plane, const uint8_t *source,
                        ptrdiff_t source_stride)
{
    const mona_size shown = frame_shown_size(&seen->format, plane);
    const unsigned more = p->in.bits - PROCESSOR_SEEN_BITS;
    const int max = (1 << PROCESSOR_SEEN_BITS) - 1;
    for (uint32_t y = 0; y < shown.height; y++) {
        const uint8_t *from = source + (ptrdiff_t)y * source_stride;
        uint8_t *to = frame_row(seen, plane, y);
        for (uint32_t x = 0; x < shown.width; x++)
            put_plane_sample(to, x, rounded(plane_sample(from, x, true), more, max), true);
    }
    frame_pad_plane(seen, plane);
}

static mona_status fill(processor *p, chain *c, const processor_job *job)
{
    frame *seen;
    const mona_status status = chain_input(c, &seen);
    if (status)
        return status;
    const uint64_t number = c->filled - 1;
    probe_mark(c->probe, number, PROBE_UPLOAD, false);
    for (unsigned i = 0; i < seen->format.planes; i++)
        if (processor_is_deep(p))
            round_plane(p, seen, i, job->planes[i], job->strides[i]);
        else
            frame_fill_plane(seen, i, job->planes[i], job->strides[i]);
    probe_mark(c->probe, number, PROBE_UPLOAD, true);
    return MONA_OK;
}

mona_status processor_fill(processor *p, const processor_job *job)
{
    return fill(p, &p->stages, job);
}

mona_status processor_enqueue(processor *p, processor_job *job)
{
    job->number = p->stages.entered;
    job->unchanged = NULL;
    mona_status status =
        chain_enqueue(&p->stages, job->error, job->begins, job->before, &job->done);
    if (status || !p->unchanged.count)
        return status;
    status = fill(p, &p->unchanged, job);
    return status ? status
                  : chain_enqueue(&p->unchanged, 0, job->begins, job->before, &job->unchanged);
}

/* A sample with another number of bits. Where all of them are used, more are filled so that the
 * largest stays the largest. */
static int converted(int sample, unsigned from, unsigned to, bool full)
{
    if (to <= from)
        return rounded(sample, from - to, (1 << to) - 1);
    return sample << (to - from) | (full ? sample >> (2 * from - to) : 0);
}

/* Adds what was changed. unchanged: NULL: the frame itself, rounded. */
static void add_changes(const processor *p, const frame *whole, const frame *made,
                        const frame *unchanged, unsigned plane)
{
    const mona_size size = frame_shown_size(&p->out.format, plane);
    const unsigned more = p->in.bits - PROCESSOR_SEEN_BITS, bits = p->out.format.bits;
    const int max = (1 << p->in.bits) - 1, max_seen = (1 << PROCESSOR_SEEN_BITS) - 1;
    const bool full = p->full_range || plane == 3;
    for (uint32_t y = 0; y < size.height; y++) {
        const uint8_t *w = frame_row(whole, plane, y);
        const uint8_t *m = frame_row(made, plane, y);
        const uint8_t *u = unchanged ? frame_row(unchanged, plane, y) : NULL;
        uint8_t *to = frame_row(&p->out, plane, y);
        for (uint32_t x = 0; x < size.width; x++) {
            const int sample = plane_sample(w, x, true);
            const int before = u ? plane_sample(u, x, true) : rounded(sample, more, max_seen);
            const int sum = sample + (plane_sample(m, x, true) - before) * (1 << more);
            const int kept = sum < 0 ? 0 : sum > max ? max : sum;
            put_plane_sample(to, x, converted(kept, p->in.bits, bits, full), true);
        }
    }
}

/* Makes p->out of a deep frame when both chains are through with it. */
static void complete(processor *p, const processor_job *job)
{
    const unsigned all = p->stages.count, last = p->unchanged.count;
    const uint64_t n = job->number;
    const frame *made = &p->stages.edges[all][n % p->stages.slots[all]];
    const frame *unchanged = last ? &p->unchanged.edges[last][n % p->unchanged.slots[last]] : NULL;
    for (unsigned i = 0; i < p->out.format.planes; i++)
        frame_fill_plane(&p->frames[0], i, job->planes[i], job->strides[i]);
    for (unsigned i = 0; i < last; i++)
        resizer_run(&p->filters[i], &p->frames[i], &p->frames[i + 1]);
    for (unsigned i = 0; i < p->out.format.planes; i++)
        add_changes(p, &p->frames[last], made, unchanged, i);
}

mona_status processor_finish(processor *p, const processor_job *job)
{
    mona_status status = mona_event_synchronize(job->done);
    if (!status && job->unchanged)
        status = mona_event_synchronize(job->unchanged);
    if (!status && !job->before && processor_is_deep(p))
        complete(p, job);
    return status;
}

const frame *processor_result(const processor *p, uint64_t n)
{
    const chain *c = &p->stages;
    return processor_is_deep(p) ? &p->out : &c->edges[c->count][n % c->slots[c->count]];
}
