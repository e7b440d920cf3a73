// SPDX-License-Identifier: Apache-2.0
/* ARRAY_NORMALISE. Rows stay in a cache while they are read several times. Those whose elements do
 * not lie side by side are gathered in scratch, some at a time, as are those of other types than
 * F32. */
#include "ops/arrays/arrays.h"
#include "ops/arrays/real.h"

enum { LANES = 32, TILE = 16 };

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    if (!record_ok(op, sizeof(mona_array_normalise), data))
        return MONA_ERR_MODEL;
    const mona_array_normalise *n = (const void *)(data->bytes + op->array.record);
    const uint64_t elements = mona_shape_elements(output);
    const uint64_t row = (uint64_t)n->extent * n->inner;
    bool sound = n->function < MONA_NORMALISE_COUNT && row && n->run && n->extent % n->run == 0 &&
                 elements % row == 0 && (n->inner == 1 || n->function != MONA_NORMALISE_MOMENTS) &&
                 mona_shape_elements(&inputs[0]) == elements &&
                 (op->input_count == 1 || n->function == MONA_NORMALISE_MOMENTS);
    for (uint32_t i = 2; i < op->input_count; i++)
        sound = sound && mona_shape_elements(&inputs[i]) == mona_shape_elements(&inputs[1]);
    return sound ? MONA_OK : MONA_ERR_MODEL;
}

static uint64_t items(const mona_bound_op *b)
{
    const mona_array_normalise *n = array_record(b);
    return mona_shape_elements(&b->output) / n->extent;
}

static uint32_t rows_at_once(const mona_array_normalise *n)
{
    return n->inner > 1 ? TILE : 1;
}

static size_t scratch_bytes(const mona_bound_op *b)
{
    const mona_array_normalise *n = array_record(b);
    return array_scratch(n->extent, rows_at_once(n) * sizeof(float));
}

static inline uint64_t at_most(uint64_t left, uint64_t most)
{
    return left < most ? left : most;
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* Adds numbers of which the first belongs to lane 0. */
static void add_numbers(double sum[LANES], const float *x, uint32_t count)
{
    uint32_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (uint32_t k = 0; k < LANES; k++)
            sum[k] += (double)x[i + k];
    for (uint32_t k = 0; i + k < count; k++)
        sum[k] += (double)x[i + k];
}

static void add_squares(double sum[LANES], const float *x, uint32_t count, double mean)
{
    uint32_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (uint32_t k = 0; k < LANES; k++) {
            const double d = (double)x[i + k] - mean;
            sum[k] += d * d;
        }
    for (uint32_t k = 0; i + k < count; k++) {
        const double d = (double)x[i + k] - mean;
        sum[k] += d * d;
    }
}

static double total(double sum[LANES])
{
    for (uint32_t half = LANES / 2; half; half /= 2)
        for (uint32_t k = 0; k < half; k++)
            sum[k] += sum[k + half];
    return sum[0];
}

/* ---- to a mean of 0 and a variance of 1 ----------------------------------------------------- */

/* Gains and shifts of elements, of which the first has number `at` among all. */
static void find_factors(const mona_array_call *call, const mona_array_normalise *n, uint64_t at,
                         uint32_t count, float *const factors[2])
{
    const mona_bound_op *b = call->bound;
    const uint64_t numbers = mona_shape_elements(&b->input[1]);
    for (uint32_t i = 0, same; i < count; i += same) {
        const uint64_t number = (at + i) / n->run % numbers;
        const bool each = n->run == 1;
        same = (uint32_t)at_most(each ? numbers - number : n->run - (at + i) % n->run, count - i);
        for (uint32_t k = 1; k < b->op->input_count; k++)
            mona_array_read_floats(factors[k - 1] + i, source_of(call, k), (int64_t)number, each,
                                   same);
    }
}

/* The row x, whose first element has number `first` among all. */
static void normalise_row(const mona_array_call *call, const mona_array_normalise *n,
                          const float *x, uint64_t first)
{
    float y[ARRAY_BLOCK], gain[ARRAY_BLOCK], shift[ARRAY_BLOCK];
    double sum[LANES] = {0}, squares[LANES] = {0};
    add_numbers(sum, x, n->extent);
    const double mean = total(sum) / n->extent;
    add_squares(squares, x, n->extent, mean);
    const double by = 1 / mona_real_sqrt(total(squares) / n->extent + (double)n->epsilon);
    for (uint32_t i = 0; i < ARRAY_BLOCK; i++) {
        gain[i] = 1;
        shift[i] = 0;
    }
    for (uint32_t i = 0; i < n->extent; i += ARRAY_BLOCK) {
        const uint32_t count = (uint32_t)at_most(n->extent - i, ARRAY_BLOCK);
        if (call->bound->op->input_count > 1)
            find_factors(call, n, first + i, count, (float *const[2]){gain, shift});
        for (uint32_t k = 0; k < count; k++)
            y[k] = (float)(((double)x[i + k] - mean) * (by * (double)gain[k]) + (double)shift[k]);
        mona_array_put_floats(call->output, call->bound->output.type, MONA_WRAP, first + i, y,
                              count);
    }
}

/* ---- to a sum of 1 -------------------------------------------------------------------------- */

static inline float larger(float a, float b) /* a NaN wins */
{
    return a > b || a != a ? a : b;
}

static float largest(const float *x, uint32_t count)
{
    float most[LANES];
    uint32_t i = 0;
    for (uint32_t k = 0; k < LANES; k++)
        most[k] = -__builtin_inff();
    for (; i + LANES <= count; i += LANES)
        for (uint32_t k = 0; k < LANES; k++)
            most[k] = larger(most[k], x[i + k]);
    for (uint32_t k = 0; i + k < count; k++)
        most[k] = larger(most[k], x[i + k]);
    for (uint32_t k = 1; k < LANES; k++)
        most[0] = larger(most[0], most[k]);
    return most[0];
}

/* y may be x. */
static void softmax_row(float *y, const float *x, uint32_t count, bool logs)
{
    float e[ARRAY_BLOCK];
    double sum[LANES] = {0};
    const float most = largest(x, count);
    for (uint32_t i = 0; i < count; i += ARRAY_BLOCK) {
        const uint32_t some = (uint32_t)at_most(count - i, ARRAY_BLOCK);
        float *to = logs ? e : y + i;
        mona_real_exp_row(to, x + i, most, some);
        add_numbers(sum, to, some);
    }
    const double all = total(sum), by = 1 / all, less = logs ? mona_real_log(all) : 0;
    for (uint32_t i = 0; i < count; i++)
        y[i] = (float)(logs ? (double)(x[i] - most) - less : (double)y[i] * by);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Rows from number `row` on, not beyond `end`, whose first elements lie side by side. Returns how
 * many. */
static uint32_t take_rows(const mona_array_call *call, const mona_array_normalise *n, uint64_t row,
                          uint64_t end)
{
    const array_source source = source_of(call, 0);
    const mona_type type = call->bound->output.type;
    const uint64_t in = row % n->inner, first = row / n->inner * n->extent * n->inner + in;
    const uint32_t count = (uint32_t)at_most(at_most(n->inner - in, end - row), rows_at_once(n));
    float *rows = (float *)(void *)call->scratch, some[TILE];
    const float *x = rows;
    if (n->inner > 1) {
        for (uint32_t i = 0; i < n->extent; i++) {
            mona_array_read_floats(some, source, (int64_t)(first + (uint64_t)i * n->inner), 1,
                                   count);
            for (uint32_t k = 0; k < count; k++)
                rows[(size_t)k * n->extent + i] = some[k];
        }
    } else if (source.type == MONA_F32)
        x = (const float *)(const void *)source.data + first;
    else
        mona_array_read_floats(rows, source, (int64_t)first, 1, n->extent);
    if (n->function == MONA_NORMALISE_MOMENTS) {
        normalise_row(call, n, x, first);
        return count;
    }
    for (uint32_t k = 0; k < count; k++)
        softmax_row(rows + (size_t)k * n->extent, x + (size_t)k * n->extent, n->extent,
                    n->function == MONA_NORMALISE_LOG_SOFTMAX);
    for (uint32_t i = 0; i < n->extent && n->inner > 1; i++) {
        for (uint32_t k = 0; k < count; k++)
            some[k] = rows[(size_t)k * n->extent + i];
        mona_array_put_floats(call->output, type, MONA_WRAP, first + (uint64_t)i * n->inner, some,
                              count);
    }
    if (n->inner == 1)
        mona_array_put_floats(call->output, type, MONA_WRAP, first, rows, n->extent);
    return count;
}

static void array(const mona_array_call *call)
{
    const mona_array_normalise *n = array_record(call->bound);
    for (uint64_t i = call->begin; i < call->end;)
        i += take_rows(call, n, i, call->end);
}

static uint64_t macs(const mona_bound_op *b)
{
    return 2 * mona_shape_elements(&b->output);
}

const mona_op_run mona_run_array_normalise = {
    .array = array,
    .items = items,
};

const mona_op_class mona_op_array_normalise = {
    .name = "array_normalise",
    .run = &mona_run_array_normalise,
    .min_inputs = 1,
    .max_inputs = 3,
    .check = check,
    .map_scratch_bytes = scratch_bytes,
    .macs = macs,
};
