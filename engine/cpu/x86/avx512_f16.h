// SPDX-License-Identifier: Apache-2.0
/* FP16 convolutions: fp32 multiply-adds, one element of K at a time, in the order that mona_conv
 * defines. Part of avx512.c.
 *
 * A register block is 24 pixels x 16 outputs, or 14 x 32. Sources are converted to fp32 in a buffer
 * on the stack, a run or a part of a run at a time. */

/* Multiplies `steps` elements of all pixels, those of the first pixel at p. distance: elements
 * between pixels. */
INLINE void f16_steps(vf *acc, const uint32_t pixels, const uint32_t blocks,
                      const uint32_t distance, const float *p, uint32_t steps, const float *w[2])
{
    for (uint32_t s = 0; s < steps; s++, p++, w[0] += LANES) {
        FORGET(p);
        const vf b0 = _mm512_load_ps(w[0]);
        const vf b1 = blocks == 2 ? _mm512_load_ps(w[1]) : b0;
        if (blocks == 2) /* w[1] of a single block is NULL */
            w[1] += LANES;
        UNROLL
        for (uint32_t i = 0; i < pixels; i++) {
            const vf a = vf_set1(p[(size_t)i * distance]);
            acc[i * blocks] = _mm512_fmadd_ps(a, b0, acc[i * blocks]);
            KEEP_IN_PLACE(acc[i * blocks]);
            if (blocks == 2) {
                acc[i * 2 + 1] = _mm512_fmadd_ps(a, b1, acc[i * 2 + 1]);
                KEEP_IN_PLACE(acc[i * 2 + 1]);
            }
        }
    }
}

/* Whether a residual is added as it is stored. */
INLINE bool residual_in_halves(const mona_conv_row *row)
{
    return row->residual.type == MONA_F16 && row->residual.c0 == AC_FRACTAL &&
           !row->conv->epilogue.broadcast && row->conv->epilogue.residual_scale == 1;
}

/* Stores block b by an epilogue that only clamps, or adds a residual as it is stored between. */
INLINE void f16_clamp(const job *j, const bool add, const vf *acc, const uint32_t pixels,
                      const uint32_t blocks, const uint32_t b, uint32_t x)
{
    const mona_row *residual = &j->row->residual;
    const clamp first = j->limits->stage[0], last = j->limits->stage[1];
    const uint8_t *from =
        add ? residual->data + (j->n + b) * residual->block_stride + (size_t)x * 2 * AC_FRACTAL
            : NULL;
    uint8_t *out = result_of(j, b, x);
    UNROLL
    for (uint32_t i = 0; i < pixels; i++) {
        const size_t at = (size_t)i * 2 * AC_FRACTAL;
        vf t = apply(first, acc[i * blocks + b]);
        if (add)
            t = apply(last, vf_add(vf_round(t), vf_f16(from + at)));
        _mm256_storeu_si256((__m256i *)(void *)(out + at), to_half(t));
    }
}

/* Stores block b: fp16 results of simple epilogues at once, all others by way of memory. */
INLINE void f16_store(const job *j, const vf *acc, const uint32_t pixels, const uint32_t blocks,
                      const uint32_t b, uint32_t x)
{
    _Alignas(64) float tile[MAX_PIXELS * AC_FRACTAL];
    const clamps *limits = j->limits;
    const bool simple =
        limits->possible && j->row->output.type == MONA_F16 && !j->conv->epilogue.scale;
    if (simple && !limits->add) {
        f16_clamp(j, false, acc, pixels, blocks, b, x);
        return;
    }
    if (simple && residual_in_halves(j->row)) {
        f16_clamp(j, true, acc, pixels, blocks, b, x);
        return;
    }
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        _mm512_store_ps(tile + i * AC_FRACTAL, acc[i * blocks + b]);
    finish_block(j, b, x, pixels, tile);
}

INLINE void f16_block(const job *j, const uint32_t pixels, const uint32_t blocks,
                      const uint32_t distance, uint32_t x)
{
    _Alignas(64) float stage[STAGE + LANES];
    const uint16_t *elements = j->conv->run_elements + j->first_run;
    const uint32_t chunk = stage_elements(j->conv, pixels);
    const float *w[2] = {(const float *)(const void *)j->weights[0],
                         (const float *)(const void *)j->weights[1]};
    vf acc[MAX_SUMS];
    UNROLL
    for (uint32_t i = 0; i < pixels * blocks; i++)
        acc[i] = vf_load(j->start[i % blocks]);
    for (uint32_t r = 0; r < j->run_count && j->conv->operands; r++) {
        const float *operands = (const float *)(const void *)j->runs[r];
        f16_steps(acc, pixels, blocks, distance, operands + (size_t)x * distance, elements[r], w);
    }
    for (uint32_t r = 0; r < j->run_count && !j->conv->operands; r++)
        for (uint32_t first = 0, steps; first < elements[r]; first += steps) {
            steps = min_u32(chunk, elements[r] - first);
            widen(stage, j->runs[r] + ((size_t)x * distance + first) * 2,
                  (pixels - 1) * distance + steps);
            f16_steps(acc, pixels, blocks, distance, stage, steps, w);
        }
    UNROLL
    for (uint32_t b = 0; b < blocks; b++)
        f16_store(j, acc, pixels, blocks, b, x);
}

/* The job's only pixel, with weights of fp16. */
INLINE void f16_single_block(const job *j, const uint32_t blocks)
{
    _Alignas(64) float stage[STAGE + LANES];
    const uint16_t *elements = j->conv->run_elements + j->first_run;
    const uint32_t chunk = stage_elements(j->conv, 1), x = j->origin;
    const uint8_t *w[2] = {j->weights[0], j->weights[1]};
    vf acc[2];
    UNROLL
    for (uint32_t b = 0; b < blocks; b++)
        acc[b] = vf_load(j->start[b]);
    for (uint32_t r = 0; r < j->run_count; r++)
        for (uint32_t first = 0, steps; first < elements[r]; first += steps) {
            const float *p = (const float *)(const void *)j->runs[r] + first;
            steps = min_u32(chunk, elements[r] - first);
            if (!j->conv->operands) {
                widen(stage, j->runs[r] + (size_t)first * 2, steps);
                p = stage;
            }
            for (uint32_t s = 0; s < steps; s++) {
                UNROLL
                for (uint32_t b = 0; b < blocks; b++, w[b - 1] += 2 * LANES)
                    acc[b] = _mm512_fmadd_ps(vf_set1(p[s]), vf_f16(w[b]), acc[b]);
            }
        }
    UNROLL
    for (uint32_t b = 0; b < blocks; b++)
        f16_store(j, acc, 1, blocks, b, x);
}

static void f16_single(const job *j, uint32_t blocks)
{
    if (blocks == 2)
        f16_single_block(j, 2);
    else
        f16_single_block(j, 1);
}

/* Like int8_pixels(). */
INLINE void f16_pixels(const job *j, const uint32_t many, const uint32_t few, const uint32_t blocks,
                       const uint32_t distance)
{
    const uint32_t end = j->origin + j->pixels;
    uint32_t x = j->origin;
    for (; end - x >= many; x += many)
        f16_block(j, many, blocks, distance, x);
    for (; x < end; x += few)
        f16_block(j, few, blocks, distance, min_u32(x, end - few));
}

static void f16_pair(const job *j)
{
    const uint32_t distance = pixel_elements(j->conv);
    if (j->pixels < 7 || !stage_fits(j->conv, 14))
        f16_pixels(j, 1, 1, 2, distance);
    else if (distance == 16)
        f16_pixels(j, 14, 7, 2, 16);
    else
        f16_pixels(j, 14, 7, 2, distance);
}

static void f16_one(const job *j)
{
    const uint32_t distance = pixel_elements(j->conv);
    if (j->pixels < 8 || !stage_fits(j->conv, 24))
        f16_pixels(j, 1, 1, 1, distance);
    else if (distance == 16)
        f16_pixels(j, 24, 8, 1, 16);
    else if (distance == 8)
        f16_pixels(j, 24, 8, 1, 8);
    else if (distance == 1)
        f16_pixels(j, 24, 8, 1, 1);
    else
        f16_pixels(j, 8, 8, 1, distance);
}
