// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/deep.h"

#include <stdlib.h>
#include <string.h>

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

static bool open_neutral(deep *d, unsigned i, const stage *s, const stage_settings *settings,
                         resize_kernel kernel, pipeline_error *error)
{
    const unsigned mode = kernel == RESIZE_CUBIC ? MONA_RESIZE_CUBIC : MONA_RESIZE_NEAREST;
    d->neutral[i].name = settings->bicubic->name;
    return chroma_location_model(&d->neutral[i].model, &d->models[i], &settings->bicubic->model,
                                 mode, s->scale, settings->chroma_location, 0, 0, error);
}

static frame_format deepened(frame_format format, unsigned bits)
{
    format.bits = bits;
    return format;
}

/* The frames between the filters, and the result. */
static bool allocate(deep *d, const frame_format *in, unsigned result_bits, pipeline_error *error)
{
    const chain *c = &d->unchanged;
    frame_format formats[CHAIN_MAX_STAGES + 2];
    formats[0] = *in;
    for (unsigned i = 0; i < c->count; i++)
        formats[i + 1] = deepened(c->stages[i].out, in->bits);
    formats[c->count + 1] = deepened(formats[c->count], result_bits);
    size_t bytes = 0;
    for (unsigned i = 0; i < c->count + 2; i++)
        bytes += frame_bytes(&formats[i]);
    uint8_t *next = d->memory = session_binding_allocate(bytes);
    if (!d->memory)
        return pipeline_fail(error, "the frames need %zu bytes of memory, more than there is",
                             bytes);
    for (unsigned i = 0; i < c->count + 2; i++) {
        frame_place(i == c->count + 1 ? &d->out : &d->frames[i], &formats[i], next);
        next += frame_bytes(&formats[i]);
    }
    return true;
}

bool deep_open(deep *d, const chain *c, const stage_settings *settings, const frame_format *in,
               unsigned result_bits, pipeline_error *error)
{
    stage_settings plain = *settings;
    stage_kind kinds[CHAIN_MAX_STAGES];
    resize_kernels kernels[CHAIN_MAX_STAGES];
    unsigned count = 0;
    *d = (deep){.bits = in->bits, .full_range = settings->full_range};
    for (unsigned i = 0; i < c->count; i++) {
        const stage *s = &c->stages[i];
        if (s->kind != STAGE_SR && s->kind != STAGE_RESIZE)
            continue;
        kernels[count] = (resize_kernels){RESIZE_LANCZOS, RESIZE_LANCZOS};
        if (s->kind == STAGE_SR) {
            if (settings->sr[i]->om)
                return pipeline_fail(error, "%s: expected frames of 8 bits a sample, found %u",
                                     settings->sr[i]->name, in->bits);
            kernels[count] = (resize_kernels){kernel_of(&settings->sr[i]->model), RESIZE_CUBIC};
            if (!open_neutral(d, count, s, settings, kernels[count].luma, error))
                return false;
            plain.sr[count] = &d->neutral[count];
        }
        kinds[count++] = s->kind;
    }
    frame_format format = deepened(*in, DEEP_SEEN_BITS), deep_in = *in;
    if (count && !chain_open(&d->unchanged, kinds, count, &plain, format, c->slots[0] > 1, error))
        return false;
    deep_in.multiple = count ? d->unchanged.stages[0].in.multiple : c->stages[0].in.multiple;
    if (!allocate(d, &deep_in, result_bits, error))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!resizer_open(&d->filters[i], &d->frames[i].format, &d->frames[i + 1].format,
                          settings->chroma_location, &kernels[i], error))
            return false;
    return true;
}

void deep_close(deep *d)
{
    chain_close(&d->unchanged);
    for (unsigned i = 0; i < CHAIN_MAX_STAGES; i++) {
        resizer_close(&d->filters[i]);
        free(d->models[i]);
    }
    free(d->memory);
    *d = (deep){0};
}

/* ---- running -------------------------------------------------------------------------------- */

void deep_fill_plane(const deep *d, frame *seen, unsigned plane, const uint8_t *source,
                     ptrdiff_t source_stride)
{
    const mona_size shown = frame_shown_size(&seen->format, plane);
    const unsigned more = d->bits - DEEP_SEEN_BITS;
    const int max = (1 << DEEP_SEEN_BITS) - 1;
    for (uint32_t y = 0; y < shown.height; y++) {
        const uint8_t *from = source + (ptrdiff_t)y * source_stride;
        uint8_t *to = seen->data[plane] + (ptrdiff_t)y * seen->stride[plane];
        for (uint32_t x = 0; x < shown.width; x++)
            put_plane_sample(to, x, rounded(plane_sample(from, x, true), more, max), true);
    }
    frame_pad_plane(seen, plane);
}

mona_status deep_enqueue(deep *d, const uint8_t *const *planes, const int *strides,
                         mona_event **done)
{
    frame *seen;
    *done = NULL;
    if (!d->unchanged.count)
        return MONA_OK;
    const mona_status status = chain_input(&d->unchanged, &seen);
    for (unsigned p = 0; !status && p < seen->format.planes; p++)
        deep_fill_plane(d, seen, p, planes[p], strides[p]);
    return status ? status : chain_enqueue(&d->unchanged, 0, done);
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
static void add_changes(const deep *d, const frame *whole, const frame *made,
                        const frame *unchanged, unsigned plane)
{
    const mona_size size = frame_shown_size(&d->out.format, plane);
    const unsigned more = d->bits - DEEP_SEEN_BITS, bits = d->out.format.bits;
    const int max = (1 << d->bits) - 1, max_seen = (1 << DEEP_SEEN_BITS) - 1;
    const bool full = d->full_range || plane == 3;
    for (uint32_t y = 0; y < size.height; y++) {
        const uint8_t *w = whole->data[plane] + (ptrdiff_t)y * whole->stride[plane];
        const uint8_t *m = made->data[plane] + (ptrdiff_t)y * made->stride[plane];
        const uint8_t *u =
            unchanged ? unchanged->data[plane] + (ptrdiff_t)y * unchanged->stride[plane] : NULL;
        uint8_t *to = d->out.data[plane] + (ptrdiff_t)y * d->out.stride[plane];
        for (uint32_t x = 0; x < size.width; x++) {
            const int sample = plane_sample(w, x, true);
            const int before = u ? plane_sample(u, x, true) : rounded(sample, more, max_seen);
            const int sum = sample + (plane_sample(m, x, true) - before) * (1 << more);
            const int kept = sum < 0 ? 0 : sum > max ? max : sum;
            put_plane_sample(to, x, converted(kept, d->bits, bits, full), true);
        }
    }
}

void deep_finish(deep *d, uint64_t n, const frame *made, const uint8_t *const *planes,
                 const int *strides)
{
    const unsigned last = d->unchanged.count;
    const frame *unchanged = last ? &d->unchanged.edges[last][n % d->unchanged.slots[last]] : NULL;
    for (unsigned p = 0; p < d->out.format.planes; p++)
        frame_fill_plane(&d->frames[0], p, planes[p], strides[p]);
    for (unsigned i = 0; i < last; i++)
        resizer_run(&d->filters[i], &d->frames[i], &d->frames[i + 1]);
    for (unsigned p = 0; p < d->out.format.planes; p++)
        add_changes(d, &d->frames[last], made, unchanged, p);
}
