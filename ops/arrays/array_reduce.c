// SPDX-License-Identifier: Apache-2.0
/* ARRAY_REDUCE. The numbers of an output are combined one after another, so the result does not
 * depend on which outputs are computed together. If the elements of one output lie closer together
 * than those of neighbouring outputs, outputs are computed one by one; otherwise in blocks, by
 * loops that compilers vectorise. */
#include "ops/arrays/arrays.h"
#include "ops/arrays/real.h"

static bool is_arg(uint32_t function)
{
    return function >= MONA_REDUCE_ARG_MAX;
}

static bool has_int(uint32_t function)
{
    return function != MONA_REDUCE_MEAN && function != MONA_REDUCE_L2 &&
           function != MONA_REDUCE_LOG_SUM && function != MONA_REDUCE_LOG_SUM_EXP;
}

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    if (!record_ok(op, sizeof(mona_array_reduce), data))
        return MONA_ERR_MODEL;
    const mona_array_reduce *r = (const void *)(data->bytes + op->array.record);
    const uint32_t dims = (uint32_t)r->kept + r->reduced;
    if (r->function >= MONA_REDUCE_COUNT || r->arithmetic >= MONA_ARITHMETIC_COUNT ||
        (r->arithmetic == MONA_INT && !has_int(r->function)) || !dims || dims > MONA_ARRAY_DIMS ||
        !mona_array_product(r->extent, dims) ||
        mona_array_product(r->extent, r->kept) != mona_shape_elements(output) ||
        !mona_array_inside(r->extent, r->stride, dims, 0, mona_shape_elements(&inputs[0])))
        return MONA_ERR_MODEL;
    return MONA_OK;
}

static array_walk kept_walk(const mona_array_reduce *r, uint64_t first)
{
    return walk_from(r->kept, r->extent, r->stride, 0, first);
}

/* A walk over the elements of an output, of which the first is at `at`. */
static array_walk reduced_walk(const mona_array_reduce *r, int64_t at)
{
    return walk_from(r->reduced, r->extent + r->kept, r->stride + r->kept, at, 0);
}

/* ---- floats: what has been made of the numbers so far -------------------------------------- */

typedef struct sums {
    union {
        double sum[WIDE_BLOCK];
        int64_t index[WIDE_BLOCK]; /* where is_arg(function) */
    };
    float best[WIDE_BLOCK]; /* largest or smallest */
} sums;

static void start(sums *s, uint32_t function, uint32_t count)
{
    const bool smallest = function == MONA_REDUCE_MIN || function == MONA_REDUCE_ARG_MIN ||
                          function == MONA_REDUCE_ARG_MIN_LAST;
    for (uint32_t i = 0; i < count; i++) {
        if (is_arg(function))
            s->index[i] = 0;
        else
            s->sum[i] = function == MONA_REDUCE_PRODUCT ? 1 : 0;
        s->best[i] = smallest ? __builtin_inff() : -__builtin_inff();
    }
}

/* Whether x replaces the best number so far. */
static inline bool is_better(uint32_t function, float x, float best)
{
    switch (function) {
    case MONA_REDUCE_ARG_MIN:
        return x < best || (x != x && best == best);
    case MONA_REDUCE_ARG_MIN_LAST:
        return x <= best || x != x;
    case MONA_REDUCE_ARG_MAX_LAST:
        return x >= best || x != x;
    default:
        return x > best || (x != x && best == best);
    }
}

/* Adds x, element `position` of the reduced ones, to sum `i`. */
static inline void take(sums *s, uint32_t function, uint32_t i, float x, int64_t position)
{
    const double d = (double)x;
    switch (function) {
    case MONA_REDUCE_MAX:
        s->best[i] = s->best[i] > x || s->best[i] != s->best[i] ? s->best[i] : x;
        break;
    case MONA_REDUCE_MIN:
        s->best[i] = s->best[i] < x || s->best[i] != s->best[i] ? s->best[i] : x;
        break;
    case MONA_REDUCE_PRODUCT:
        s->sum[i] *= d;
        break;
    case MONA_REDUCE_SUM_SQUARE:
    case MONA_REDUCE_L2:
        s->sum[i] += d * d;
        break;
    case MONA_REDUCE_L1:
        s->sum[i] += real_abs(d);
        break;
    case MONA_REDUCE_LOG_SUM_EXP:
        s->sum[i] += mona_real_exp(d - (double)s->best[i]);
        break;
    case MONA_REDUCE_SUM:
    case MONA_REDUCE_MEAN:
    case MONA_REDUCE_LOG_SUM:
        s->sum[i] += d;
        break;
    default:
        if (is_better(function, x, s->best[i])) {
            s->best[i] = x;
            s->index[i] = position;
        }
        break;
    }
}

static float result(const sums *s, uint32_t function, uint32_t i, uint64_t count)
{
    switch (function) {
    case MONA_REDUCE_MAX:
    case MONA_REDUCE_MIN:
        return s->best[i];
    case MONA_REDUCE_MEAN:
        return (float)(s->sum[i] / (double)count);
    case MONA_REDUCE_L2:
        return (float)mona_real_sqrt(s->sum[i]);
    case MONA_REDUCE_LOG_SUM:
        return (float)mona_real_log(s->sum[i]);
    case MONA_REDUCE_LOG_SUM_EXP:
        return (float)((double)s->best[i] + mona_real_log(s->sum[i]));
    default:
        return (float)s->sum[i];
    }
}

/* ---- floats: two orders of work ------------------------------------------------------------ */

/* Adds the next numbers of some outputs to sums from `i` on. */
static inline void take_turns(sums *s, uint32_t function, uint32_t i, uint32_t outputs,
                              const float *const *x, uint32_t count, int64_t position)
{
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t j = 0; j < outputs; j++)
            take(s, function, i + j, x[j][k], position + k);
}

/* The same with the common functions as constants. */
static void take_numbers(sums *s, uint32_t function, uint32_t i, uint32_t outputs,
                         const float *const *x, uint32_t count, int64_t position)
{
    if (outputs == REDUCED_TOGETHER && function == MONA_REDUCE_SUM)
        take_turns(s, MONA_REDUCE_SUM, i, REDUCED_TOGETHER, x, count, 0);
    else if (outputs == REDUCED_TOGETHER && function == MONA_REDUCE_SUM_SQUARE)
        take_turns(s, MONA_REDUCE_SUM_SQUARE, i, REDUCED_TOGETHER, x, count, 0);
    else if (outputs == REDUCED_TOGETHER && function == MONA_REDUCE_MAX)
        take_turns(s, MONA_REDUCE_MAX, i, REDUCED_TOGETHER, x, count, 0);
    else if (function == MONA_REDUCE_SUM)
        take_turns(s, MONA_REDUCE_SUM, i, outputs, x, count, 0);
    else
        take_turns(s, function, i, outputs, x, count, position);
}

/* Adds the numbers of at most REDUCED_TOGETHER outputs, of which each begins at an element `at`. */
static void take_output(const mona_array_call *call, const mona_array_reduce *r, sums *s,
                        uint32_t function, uint32_t i, uint32_t outputs, const int64_t *at)
{
    float room[REDUCED_TOGETHER][WIDE_BLOCK];
    const float *x[REDUCED_TOGETHER];
    array_walk walk[REDUCED_TOGETHER];
    const uint64_t all = mona_array_product(r->extent + r->kept, r->reduced);
    uint32_t count;
    for (uint32_t j = 0; j < outputs; j++)
        walk[j] = reduced_walk(r, at[j]);
    for (uint64_t done = 0; done < all; done += count) {
        count = all - done < WIDE_BLOCK ? (uint32_t)(all - done) : WIDE_BLOCK;
        for (uint32_t j = 0; j < outputs; j++)
            x[j] = mona_array_view(room[j], source_of(call, 0), &walk[j], count);
        take_numbers(s, function, i, outputs, x, count, (int64_t)done);
    }
}

/* Adds number `position` of each of count outputs. */
static void take_lanes(sums *s, uint32_t function, const float *x, uint32_t count, int64_t position)
{
    switch (function) {
    case MONA_REDUCE_SUM:
        for (uint32_t i = 0; i < count; i++)
            take(s, MONA_REDUCE_SUM, i, x[i], 0);
        break;
    case MONA_REDUCE_SUM_SQUARE:
        for (uint32_t i = 0; i < count; i++)
            take(s, MONA_REDUCE_SUM_SQUARE, i, x[i], 0);
        break;
    case MONA_REDUCE_MAX:
        for (uint32_t i = 0; i < count; i++)
            take(s, MONA_REDUCE_MAX, i, x[i], 0);
        break;
    default:
        for (uint32_t i = 0; i < count; i++)
            take(s, function, i, x[i], position);
        break;
    }
}

static void take_outputs(const mona_array_call *call, const mona_array_reduce *r, sums *s,
                         uint32_t function, uint64_t first, uint32_t count)
{
    float room[WIDE_BLOCK];
    const uint64_t all = mona_array_product(r->extent + r->kept, r->reduced);
    const array_walk outputs = kept_walk(r, first);
    array_walk walk = reduced_walk(r, 0);
    for (uint64_t k = 0; k < all; k++) {
        array_walk lanes = outputs;
        lanes.at += walk.at;
        take_lanes(s, function, mona_array_view(room, source_of(call, 0), &lanes, count), count,
                   (int64_t)k);
        walk_pass(&walk, 1);
    }
}

static void take_block(const mona_array_call *call, const mona_array_reduce *r, sums *s,
                       uint32_t function, uint64_t first, uint32_t count)
{
    if (!reduces_by_output(r)) {
        take_outputs(call, r, s, function, first, count);
        return;
    }
    array_walk outputs = kept_walk(r, first);
    int64_t at[REDUCED_TOGETHER];
    for (uint32_t i = 0, some; i < count; i += some) {
        some = count - i < REDUCED_TOGETHER ? count - i : REDUCED_TOGETHER;
        for (uint32_t j = 0; j < some; j++, walk_pass(&outputs, 1))
            at[j] = outputs.at;
        take_output(call, r, s, function, i, some, at);
    }
}

static void float_block(const mona_array_call *call, const mona_array_reduce *r, uint64_t first,
                        uint32_t count)
{
    const mona_type type = call->bound->output.type;
    const uint64_t all = mona_array_product(r->extent + r->kept, r->reduced);
    /* Sums and logarithms are in fp64. Means and others that build on a sum begin as that sum. */
    uint32_t function = r->function;
    if (function == MONA_REDUCE_MEAN || function == MONA_REDUCE_LOG_SUM)
        function = MONA_REDUCE_SUM;
    if (function == MONA_REDUCE_L2)
        function = MONA_REDUCE_SUM_SQUARE;
    sums s;
    start(&s, function, count);
    if (function == MONA_REDUCE_LOG_SUM_EXP) {
        take_block(call, r, &s, MONA_REDUCE_MAX, first, count);
        for (uint32_t i = 0; i < count; i++)
            s.best[i] = s.best[i] - s.best[i] == 0 ? s.best[i] : 0;
    }
    take_block(call, r, &s, function, first, count);
    if (is_arg(function)) {
        mona_array_put_ints(call->output, type, MONA_WRAP, false, first, s.index, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        s.best[i] = result(&s, r->function, i, all);
    mona_array_put_floats(call->output, type, MONA_WRAP, first, s.best, count);
}

/* ---- integers ------------------------------------------------------------------------------ */

static bool is_before(int64_t a, int64_t b, bool is_unsigned)
{
    return is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
}

/* Whether x replaces the best number so far. */
static bool whole_is_better(uint32_t function, int64_t x, int64_t best, bool is_unsigned)
{
    switch (function) {
    case MONA_REDUCE_MIN:
    case MONA_REDUCE_ARG_MIN:
        return is_before(x, best, is_unsigned);
    case MONA_REDUCE_ARG_MIN_LAST:
        return !is_before(best, x, is_unsigned);
    case MONA_REDUCE_ARG_MAX_LAST:
        return !is_before(x, best, is_unsigned);
    default:
        return is_before(best, x, is_unsigned);
    }
}

/* The result so far combined with x. */
static uint64_t combined(uint32_t function, uint64_t sum, int64_t x, bool is_unsigned)
{
    const uint64_t u = (uint64_t)x;
    switch (function) {
    case MONA_REDUCE_PRODUCT:
        return sum * u;
    case MONA_REDUCE_SUM_SQUARE:
        return sum + u * u;
    case MONA_REDUCE_L1:
        return sum + (!is_unsigned && x < 0 ? 0 - u : u);
    default:
        return sum + u;
    }
}

static int64_t whole_output(const mona_array_call *call, const mona_array_reduce *r, int64_t at)
{
    int64_t x[WIDE_BLOCK], best = 0, index = 0;
    const bool is_unsigned = call->bound->input[0].type == MONA_U64;
    const uint64_t all = mona_array_product(r->extent + r->kept, r->reduced);
    const bool picks =
        is_arg(r->function) || r->function == MONA_REDUCE_MAX || r->function == MONA_REDUCE_MIN;
    uint64_t sum = r->function == MONA_REDUCE_PRODUCT ? 1 : 0;
    array_walk walk = reduced_walk(r, at);
    uint32_t count;
    for (uint64_t done = 0; done < all; done += count) {
        count = all - done < WIDE_BLOCK ? (uint32_t)(all - done) : WIDE_BLOCK;
        mona_array_ints(x, source_of(call, 0), &walk, count);
        for (uint32_t k = 0; k < count; k++) {
            if (!picks)
                sum = combined(r->function, sum, x[k], is_unsigned);
            else if (done + k == 0 || whole_is_better(r->function, x[k], best, is_unsigned)) {
                best = x[k];
                index = (int64_t)(done + k);
            }
        }
    }
    return is_arg(r->function) ? index : picks ? best : (int64_t)sum;
}

static void int_block(const mona_array_call *call, const mona_array_reduce *r, uint64_t first,
                      uint32_t count)
{
    int64_t y[WIDE_BLOCK];
    const bool is_unsigned = call->bound->input[0].type == MONA_U64;
    array_walk outputs = kept_walk(r, first);
    for (uint32_t i = 0; i < count; i++, walk_pass(&outputs, 1))
        y[i] = whole_output(call, r, outputs.at);
    mona_array_put_ints(call->output, call->bound->output.type, MONA_WRAP,
                        is_unsigned && !is_arg(r->function), first, y, count);
}

static void array(const mona_array_call *call)
{
    const mona_array_reduce *r = array_record(call->bound);
    uint32_t count;
    for (uint64_t i = call->begin; i < call->end; i += count) {
        count = call->end - i < WIDE_BLOCK ? (uint32_t)(call->end - i) : WIDE_BLOCK;
        if (r->arithmetic == MONA_FLOAT)
            float_block(call, r, i, count);
        else
            int_block(call, r, i, count);
    }
}

/* One for each element. */
static uint64_t macs(const mona_bound_op *b)
{
    const mona_array_reduce *r = array_record(b);
    return mona_array_product(r->extent, (uint32_t)r->kept + r->reduced);
}

const mona_op_run mona_run_array_reduce = {
    .array = array,
};

const mona_op_class mona_op_array_reduce = {
    .name = "array_reduce",
    .run = &mona_run_array_reduce,
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check,
    .macs = macs,
};
