// SPDX-License-Identifier: Apache-2.0
/* AVERAGE_POOL: the mean of every window. model_format.h defines the arithmetic.
 *
 * The sum of a window is the sum of the sums of its columns. First the window's rows are added up
 * to one row of sums, s32 for INT8 and fp32 for FP16; then every output is a sum of kernel_w of
 * these. The order of fp32 additions is therefore: down each column, then over the columns from the
 * left. */
#include "engine/cpu/isa_table.h"
#include "ops/pool.h"

#include "engine/cpu/c/epilogue.h"

enum { MAX_C0 = 32 }; /* of any target */

/* Sums are s32 for INT8 and fp32 for FP16: both have four bytes. */
enum { SUM_BYTES = 4 };

/* Adds one row of samples to the row of sums. */
static void add_row(const mona_bound_op *b, void *restrict sums, const uint8_t *row, size_t count)
{
    const mona_type type = b->input[0].type;
    const mona_fold_row halves = {true, row, sums, (uint32_t)count};
    int32_t *s = sums;
    const uint8_t *u8 = row;
    const int8_t *s8 = (const int8_t *)row;
    if (type == MONA_U8)
        for (size_t i = 0; i < count; i++)
            s[i] += u8[i];
    else if (type == MONA_S8)
        for (size_t i = 0; i < count; i++)
            s[i] += s8[i];
    else
        b->isa->fold_row(&halves);
}

/* Adds up the sums of the columns of output i's window, for count channels: *f for FP16, *s for
 * INT8, less the zeros of its samples. */
static inline void add_columns(const pool_window *w, uint32_t i, const void *restrict row,
                               bool half, int32_t zeros, uint32_t count, int32_t *restrict s,
                               float *restrict f)
{
    for (uint32_t c = 0; c < count; c++)
        s[c] = -zeros, f[c] = 0;
    const pool_span *span = &w->column[i];
    for (int64_t t = 0; t < span->count; t++) {
        const size_t at = (size_t)(span->first - w->columns.begin + t * w->step) * count;
        const int32_t *whole = (const int32_t *)row + at;
        const float *real = (const float *)row + at;
        if (half)
            for (uint32_t c = 0; c < count; c++)
                f[c] += real[c];
        else
            for (uint32_t c = 0; c < count; c++)
                s[c] += whole[c];
    }
    for (uint32_t c = 0; c < count && !half; c++)
        f[c] = (float)s[c];
}

/* mona_f16_round for |x| < 2^100, without branches so that loops over it become vector code. For x
 * in [2^e, 2^(e + 1)) the sum x + 2^(e + 13) has the ulp 2^(e - 10), that of fp16, so the addition
 * rounds; e is not below -14, where fp16 has its smallest ulp. */
static inline float round_to_half(float x)
{
    const uint32_t sign = mona_bits(x) & 0x80000000u, u = mona_bits(x) ^ sign;
    const uint32_t power = u & 0x7f800000u, smallest_normal = 0x38800000u; /* 2^-14 */
    const float large =
        mona_float((power > smallest_normal ? power : smallest_normal) + (13u << 23));
    const uint32_t rounded = mona_bits((mona_float(u) + large) - large);
    return mona_float(sign | (rounded < 0x477fe000u ? rounded : 0x477fe000u)); /* 65504 */
}

/* Converts sums of count channels to means in fp16, and stores these as `type`. */
static inline void store_means(float *restrict sums, float factor, mona_type type,
                               uint8_t *restrict to, uint32_t count)
{
    const int32_t low = type == MONA_U8 ? 0 : -128, high = type == MONA_U8 ? 255 : 127;
    for (uint32_t c = 0; c < count; c++)
        sums[c] = round_to_half(sums[c] * factor);
    if (type == MONA_F16) {
        for (uint32_t c = 0; c < count; c++)
            mona_put_element(to + 2 * c, type, sums[c], 0);
        return;
    }
    for (uint32_t c = 0; c < count;
         c++) { /* like mona_saturate_round, as the bounds are integers */
        const int32_t q = (int32_t)(mona_bits(sums[c] + 0x1.8p23f) - mona_bits(0x1.8p23f));
        const int32_t above = q > low ? q : low;
        to[c] = (uint8_t)(above < high ? above : high);
    }
}

/* Computes the outputs of channels first to first + c0 - 1, with c0 of the input, from one row of
 * sums. Zeros after the last channel stay zeros. Blocks of input and output begin together but may
 * differ in size: `chunk` channels lie side by side in both. */
static inline void reduce_columns(const mona_row_call *call, const pool_window *w, const void *row,
                                  uint32_t first, uint32_t c0, uint32_t chunk)
{
    const mona_bound_op *b = call->bound;
    const mona_file_pool *pool = &b->op->pool;
    const bool half = b->input[0].type == MONA_F16;
    const uint32_t out_c0 = b->output_c0;
    const uint32_t end = (b->output.channels + out_c0 - 1) / out_c0 * out_c0;
    const size_t element = mona_type_size(b->output.type);
    const mona_row out = output_row(call);
    const uint32_t pixels = (uint32_t)(call->x_end - call->x_begin);
    for (uint32_t i = 0; i < pixels; i++) {
        const int32_t divisor = w->rows.divisor * w->column[i].divisor;
        const int32_t zeros = b->input[0].zero * w->rows.count * w->column[i].count;
        const float factor = divisor ? pool->scale / (float)divisor : 0;
        int32_t whole[MAX_C0];
        float sums[MAX_C0];
        add_columns(w, i, row, half, zeros, c0, whole, sums);
        for (uint32_t c = first; c < first + c0 && c < end; c += chunk)
            store_means(sums + (c - first), factor, b->output.type,
                        out.data + c / out_c0 * out.block_stride +
                            ((size_t)i * out_c0 + c % out_c0) * element,
                        chunk);
    }
}

static size_t scratch_bytes(const mona_bound_op *b, uint32_t columns)
{
    (void)columns;
    return (size_t)b->input[0].width * b->input_c0[0] * SUM_BYTES;
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const pool_window w = mona_pool_window(call);
    const size_t count = pool_elements(call, &w);
    const uint32_t c0 = b->input_c0[0];
    for (uint32_t c = 0; c < b->output.channels; c += c0) {
        memset(call->scratch, 0, count * SUM_BYTES);
        for (int64_t k = 0; k < w.rows.count; k++)
            add_row(b, call->scratch, mona_pool_row(call, &w, k, c / c0), count);
        if (c0 == 16 && b->output_c0 == 16) /* lengths that the compiler knows */
            reduce_columns(call, &w, call->scratch, c, 16, 16);
        else
            reduce_columns(call, &w, call->scratch, c, c0, c0 < b->output_c0 ? c0 : b->output_c0);
    }
}

const mona_op_run mona_run_average_pool = {
    .rows = mona_pool_row_span,
    .columns = mona_pool_column_span,
    .row = row,
};

const mona_op_class mona_op_average_pool = {
    .name = "average_pool",
    .run = &mona_run_average_pool,
    .kernels = MONA_KERNEL(fold_row),
    .min_inputs = 1,
    .max_inputs = 1,
    .zeros = MONA_ZEROS_ANY,
    .picture = MONA_PICTURE_LOST,
    .check = mona_pool_check,
    .infer = mona_pool_infer,
    .constants_bytes = mona_pool_constants_bytes,
    .bind = mona_pool_bind,
    .scratch_bytes = scratch_bytes,
    .reads_maps = mona_pool_reads_maps,
};
