// SPDX-License-Identifier: Apache-2.0
/* ARRAY_WINDOW: checks, and gathering of the samples that one tap reads. */
#include "ops/arrays/arrays.h"

/* ---- check --------------------------------------------------------------------------------- */

enum { WINDOW_MAX = 1 << 20 }; /* largest kernel, stride, dilation and padding */

static bool axis_ok(const mona_array_axis *a)
{
    return a->kernel && a->kernel <= WINDOW_MAX && a->stride && a->stride <= WINDOW_MAX &&
           a->dilation && a->dilation <= WINDOW_MAX && a->pad_before >= -WINDOW_MAX &&
           a->pad_before <= WINDOW_MAX && a->pad_after >= -WINDOW_MAX && a->pad_after <= WINDOW_MAX;
}

/* batch x channels x the extents of all axes; 0: too many. */
static uint64_t elements_of(const mona_array_window *w, uint32_t batch, uint32_t channels,
                            size_t side)
{
    uint32_t extent[5] = {batch, channels};
    for (uint32_t i = 0; i < w->axes; i++)
        memcpy(&extent[2 + i], (const uint8_t *)&w->axis[i] + side, sizeof *extent);
    return mona_array_product(extent, 2u + w->axes);
}

static bool channels_ok(const mona_file_op *op, const mona_array_window *w,
                        const mona_shape *inputs)
{
    if (w->function != MONA_WINDOW_CONV)
        return op->input_count == 1 && w->groups == 1 && w->outputs == w->channels;
    if (op->input_count < 2 || !w->groups || w->channels % w->groups || w->outputs % w->groups)
        return false;
    const uint64_t weights =
        elements_of(w, w->outputs, w->channels / w->groups, offsetof(mona_array_axis, kernel));
    return weights && weights == mona_shape_elements(&inputs[1]) &&
           (op->input_count < 3 || w->outputs == mona_shape_elements(&inputs[2]));
}

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    if (!record_ok(op, sizeof(mona_array_window), data))
        return MONA_ERR_MODEL;
    const mona_array_window *w = (const void *)(data->bytes + op->array.record);
    if (w->function >= MONA_WINDOW_COUNT || w->arithmetic >= MONA_ARITHMETIC_COUNT || !w->axes ||
        w->axes > 3 || w->count_include_pad > 1 ||
        (w->function == MONA_WINDOW_AVERAGE && w->arithmetic != MONA_FLOAT))
        return MONA_ERR_MODEL;
    for (uint32_t i = 0; i < w->axes; i++)
        if (!axis_ok(&w->axis[i]))
            return MONA_ERR_MODEL;
    const bool sound = elements_of(w, 1, 1, offsetof(mona_array_axis, kernel)) &&
                       elements_of(w, w->batch, w->channels, offsetof(mona_array_axis, in)) ==
                           mona_shape_elements(&inputs[0]) &&
                       elements_of(w, w->batch, w->outputs, offsetof(mona_array_axis, out)) ==
                           mona_shape_elements(output) &&
                       channels_ok(op, w, inputs);
    return sound ? MONA_OK : MONA_ERR_MODEL;
}

/* ---- positions ----------------------------------------------------------------------------- */

uint32_t mona_window_inputs(const mona_array_window *w)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < w->axes; i++)
        count *= w->axis[i].in;
    return count;
}

uint32_t mona_window_outputs(const mona_array_window *w)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < w->axes; i++)
        count *= w->axis[i].out;
    return count;
}

uint32_t mona_window_taps(const mona_array_window *w)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < w->axes; i++)
        count *= w->axis[i].kernel;
    return count;
}

void mona_window_indices(const mona_array_window *w, window_side side, uint32_t i,
                         uint32_t index[3])
{
    for (uint32_t d = w->axes; d-- > 0;) {
        const uint32_t extent = side == WINDOW_OUT ? w->axis[d].out : w->axis[d].kernel;
        index[d] = i % extent;
        i /= extent;
    }
}

/* ---- samples ------------------------------------------------------------------------------- */

/* Outputs side by side in the last axis. For the first `before` and those from `end` on the tap is
 * outside; for the others it reads elements from `at` on, `stride` apart. */
typedef struct window_run {
    uint32_t count, before, end;
    int64_t at;
    int32_t stride;
} window_run;

/* The run that begins with output `index`, of at most `max` outputs. */
static window_run run_at(const mona_array_window *w, const uint32_t tap[3], const uint32_t index[3],
                         uint32_t max)
{
    const uint32_t last = w->axes - 1;
    const mona_array_axis *x = &w->axis[last];
    window_run r = {.count = x->out - index[last], .stride = (int32_t)x->stride};
    r.count = r.count < max ? r.count : max;
    int64_t at = 0;
    for (uint32_t d = 0; d < last; d++) {
        const mona_array_axis *a = &w->axis[d];
        const int64_t y =
            (int64_t)index[d] * a->stride - a->pad_before + (int64_t)tap[d] * a->dilation;
        if (y < 0 || y >= a->in)
            return (window_run){.count = r.count, .before = r.count, .end = r.count};
        at = at * a->in + y;
    }
    const int64_t first =
        (int64_t)index[last] * x->stride - x->pad_before + (int64_t)tap[last] * x->dilation;
    r.before = (uint32_t)clip_to(ceil_div(-first, x->stride), 0, r.count);
    r.end = (uint32_t)clip_to(ceil_div(x->in - first, x->stride), r.before, r.count);
    r.at = at * x->in + first + (int64_t)r.before * x->stride;
    return r;
}

static const mona_array_window *window_of(const mona_array_call *call)
{
    return array_record(call->bound);
}

static void fill(mona_arithmetic arithmetic, void *to, uint32_t begin, uint32_t end,
                 array_number value)
{
    for (uint32_t i = begin; i < end && arithmetic == MONA_FLOAT; i++)
        ((float *)to)[i] = value.as_float;
    for (uint32_t i = begin; i < end && arithmetic != MONA_FLOAT; i++)
        ((int64_t *)to)[i] = value.as_int;
}

void mona_window_samples(const mona_array_call *call, uint64_t plane, uint32_t tap, uint32_t first,
                         uint32_t count, array_number outside, void *to)
{
    const mona_array_window *w = window_of(call);
    const mona_arithmetic arithmetic = (mona_arithmetic)w->arithmetic;
    const size_t size = arithmetic == MONA_FLOAT ? sizeof(float) : sizeof(int64_t);
    uint32_t taps[3], index[3];
    window_run r;
    mona_window_indices(w, WINDOW_TAP, tap, taps);
    for (uint32_t done = 0; done < count; done += r.count) {
        mona_window_indices(w, WINDOW_OUT, first + done, index);
        r = run_at(w, taps, index, count - done);
        fill(arithmetic, to, done, done + r.before, outside);
        if (r.before < r.end)
            mona_array_read(arithmetic, (uint8_t *)to + (done + r.before) * size,
                            source_of(call, 0), (int64_t)plane + r.at, r.stride, r.end - r.before);
        fill(arithmetic, to, done + r.end, done + r.count, outside);
    }
}

/* ---- convolution -------------------------------------------------------------------------------
 *
 * Of one group and one of the batch: weights [outputs of the group][channel, tap] times samples
 * [channel, tap][output positions]. */
static uint32_t group_outputs(const mona_array_window *w)
{
    return w->outputs / w->groups;
}

static void row_of_weights(const panel_tile *t, uint32_t row, uint32_t k, uint32_t count, void *to)
{
    const mona_array_window *w = window_of(t->call);
    const uint64_t output = t->matrix % w->groups * group_outputs(w) + row;
    const int64_t at = (int64_t)(output * t->depth + k);
    mona_array_read(t->arithmetic, to, source_of(t->call, 1), at, 1, count);
}

static void row_of_samples(const panel_tile *t, uint32_t k, void *to)
{
    const mona_array_window *w = window_of(t->call);
    const uint32_t taps = mona_window_taps(w);
    /* matrix = index in the batch * groups + group */
    const uint64_t channel = t->matrix * (w->channels / w->groups) + k / taps;
    const uint64_t plane = channel * mona_window_inputs(w);
    mona_window_samples(t->call, plane, k % taps, t->column, t->columns,
                        (array_number){.as_int = 0}, to);
}

static array_number bias(const panel_tile *t, uint32_t row)
{
    const mona_array_window *w = window_of(t->call);
    const int64_t at = (int64_t)(t->matrix % w->groups * group_outputs(w) + row);
    array_number start = {.as_int = 0};
    if (t->call->bound->op->input_count == 3)
        mona_array_read(t->arithmetic, &start, source_of(t->call, 2), at, 1, 1);
    return start;
}

static uint64_t place(const panel_tile *t, uint32_t row)
{
    const mona_array_window *w = window_of(t->call);
    return (t->matrix * group_outputs(w) + row) * mona_window_outputs(w) + t->column;
}

uint64_t mona_window_conv_items(const mona_bound_op *b)
{
    const mona_array_window *w = array_record(b);
    return (uint64_t)w->batch * w->groups *
           mona_panel_tiles(group_outputs(w), mona_window_outputs(w));
}

void mona_window_conv(const mona_array_call *call)
{
    static const panel_reader reader = {row_of_weights, row_of_samples, bias, place};
    const mona_array_window *w = window_of(call);
    const uint32_t rows = group_outputs(w), columns = mona_window_outputs(w);
    const uint64_t tiles = mona_panel_tiles(rows, columns);
    for (uint64_t item = call->begin; item < call->end; item++) {
        panel_tile tile = {.call = call,
                           .arithmetic = (mona_arithmetic)w->arithmetic,
                           .matrix = item / tiles,
                           .depth = w->channels / w->groups * mona_window_taps(w)};
        mona_panel_locate(&tile, item % tiles, rows, columns);
        mona_panel_run(&reader, &tile, call->scratch);
    }
}

/* ---- the operator -------------------------------------------------------------------------- */

static bool is_conv(const mona_bound_op *b)
{
    return ((const mona_array_window *)array_record(b))->function == MONA_WINDOW_CONV;
}

static void array(const mona_array_call *call)
{
    if (is_conv(call->bound))
        mona_window_conv(call);
    else
        mona_window_pool(call);
}

static uint64_t items(const mona_bound_op *b)
{
    return is_conv(b) ? mona_window_conv_items(b) : mona_window_pool_items(b);
}

static uint64_t macs(const mona_bound_op *b)
{
    const mona_array_window *w = array_record(b);
    const uint64_t channels = is_conv(b) ? w->channels / w->groups : 1;
    return mona_shape_elements(&b->output) * channels * mona_window_taps(w);
}

static size_t scratch_bytes(const mona_bound_op *b)
{
    return is_conv(b) ? mona_panel_scratch_bytes() : 0;
}

const mona_op_run mona_run_array_window = {
    .array = array,
    .items = items,
};

const mona_op_class mona_op_array_window = {
    .name = "array_window",
    .run = &mona_run_array_window,
    .min_inputs = 1,
    .max_inputs = 3,
    .check = check,
    .map_scratch_bytes = scratch_bytes,
    .macs = macs,
};
