// SPDX-License-Identifier: Apache-2.0
/* Loss and gradient of a chain of 3x3 convolutions (`Net` of nets.py), on a core with AVX-512 BF16
 * or AMX: three to four times as fast as torch, which carries every narrow layer through memory.
 *
 * One patch is carried forwards and back before the next is begun, so that its maps stay in the
 * cache. Maps, kernels and gradients are held in bfloat16 and summed in fp32 (products.h); pixels
 * and quantised values, whole numbers up to 255, are exact in bfloat16, so quantised layers add up
 * as the engine does.
 *
 * A map's border of zeros is the padding of the convolution. What a map holds are codes: the value
 * is the code times the map's step (1/255 for pixels; what INT8 stores; 1 where nothing is
 * quantised). Likewise the codes of a kernel times `grid`, one for each output, are its values.
 *
 * losses.py compiles this file and products.c, and calls them. */
#include "models/train/avx512/chain.h"
#include "models/train/avx512/products.h"

#include <immintrin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of one convolution: its codes as convolve_row() takes them, backwards of the transposed one. */
struct convolution {
    int in, out;             /* channels */
    int in_lanes, out_lanes; /* of the maps they are in */
    bf16 *forwards, *backwards;
    float *sums;   /* gradient of the codes: [tap][correlated_inputs()][out_lanes] */
    float *d_bias; /* out */
    const float *grid, *bias;
};

static bf16 to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void store_bf16(bf16 *to, __m512 x)
{
    _mm256_storeu_si256((__m256i *)to, (__m256i)_mm512_cvtneps_pbh(x));
}

static __m512 load_bf16(const bf16 *from)
{
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

static void row_to_bf16(const float *x, bf16 *out, int n)
{
    for (int k = 0; k < n; k += LANES)
        store_bf16(out + k, _mm512_loadu_ps(x + k));
}

/* What is needed to work on one patch. */
struct work {
    struct chain c;
    struct products products;
    struct convolution *all; /* body + 2 */
    struct map input, *maps; /* the maps between */
    /* What ReLU let through and the largest code did not cut, not 0: the map itself, but before it
     * is rounded to whole codes, or before the head's map is added to the last. */
    struct map *alive;
    int *peak_lines;        /* of each map: the line that holds its largest value */
    struct map gradient[3]; /* with respect to a convolution's sums, times its grid; [2]: tail's */
    struct map skipped;     /* with respect to the sum of the last and the first map */
    float *sums;            /* one row */
    float *errors;          /* of all outputs: [output][height][width] */
};

static struct map new_map(const struct work *w, int lanes)
{
    return (struct map){zeros((size_t)(pixels_of(&w->products) + SPARE) * lanes, sizeof(bf16)),
                        lanes};
}

/* The first pixel inside. */
static bf16 *line_of(const struct work *w, struct map m, int y)
{
    return m.data + ((long)(y + 1) * (w->c.width + 2) + 1) * m.lanes;
}

/* The step of the map that a convolution reads. */
static float step_into(const struct work *w, int conv)
{
    if (conv == 0)
        return 1 / 255.0f;
    return w->c.steps[conv - 1] > 0 ? w->c.steps[conv - 1] : 1;
}

static void load_input(struct work *w, const float *input)
{
    for (int c = 0; c < w->c.inputs; c++)
        for (int y = 0; y < w->c.height; y++) {
            bf16 *to = line_of(w, w->input, y) + c;
            for (int x = 0; x < w->c.width; x++, input++)
                to[x * w->input.lanes] = to_bf16(*input);
        }
}

/* Sums of a row to values of map `i`, stored as codes; returns the largest value. */
static float store(struct work *w, int i, int y)
{
    const struct convolution *v = &w->all[i];
    const int out = v->out_lanes, end = i == w->c.body;
    const __m512 none = _mm512_setzero_ps(), most = _mm512_set1_ps(255);
    const __m512 in_step = _mm512_set1_ps(step_into(w, i)),
                 codes = _mm512_set1_ps(1 / w->c.steps[i]);
    const __m512 first_step = _mm512_set1_ps(step_into(w, 1));
    const bf16 *first = line_of(w, w->maps[0], y);
    bf16 *alive = line_of(w, w->alive[i], y), *to = line_of(w, w->maps[i], y);
    __m512 peak = none;
    for (int lot = 0; lot < out; lot += LANES) {
        const __m512 bias = _mm512_loadu_ps(v->bias + lot);
        const __m512 factor = _mm512_mul_ps(_mm512_loadu_ps(v->grid + lot), in_step);
        for (int k = lot; k < w->c.width * out; k += out) {
            __m512 x = _mm512_fmadd_ps(_mm512_loadu_ps(w->sums + k), factor, bias);
            x = _mm512_max_ps(x, none);
            store_bf16(alive + k, x);
            if (end)
                x = _mm512_fmadd_ps(load_bf16(first + k), first_step, x);
            peak = _mm512_max_ps(peak, x);
            if (w->c.steps[i] > 0) {
                x = _mm512_roundscale_ps(_mm512_mul_ps(x, codes), 0);
                const __mmask16 kept = _mm512_cmp_ps_mask(x, most, _CMP_LE_OQ);
                if (kept != 0xffff)
                    store_bf16(alive + k, _mm512_maskz_mov_ps(kept, load_bf16(alive + k)));
                x = _mm512_min_ps(x, most);
            }
            store_bf16(to + k, x);
        }
    }
    return _mm512_reduce_max_ps(peak);
}

/* Gradient of a row with respect to a map's values, in w->sums, to that with respect to the sums of
 * the convolution that made it: what ReLU let through, times the grid. */
static void through_relu(struct work *w, int i, int y, struct map to)
{
    struct convolution *v = &w->all[i];
    const int out = v->out_lanes;
    const bf16 *alive = line_of(w, w->alive[i], y);
    bf16 *row = line_of(w, to, y);
    for (int lot = 0; lot < out; lot += LANES) {
        const __m512 grid = _mm512_loadu_ps(v->grid + lot);
        __m512 sum = _mm512_loadu_ps(v->d_bias + lot);
        for (int k = lot; k < w->c.width * out; k += out) {
            const __m256i a = _mm256_loadu_si256((const __m256i *)(alive + k));
            __m512 x = _mm512_maskz_loadu_ps(_mm256_test_epi16_mask(a, a), w->sums + k);
            sum = _mm512_add_ps(sum, x);
            store_bf16(row + k, _mm512_mul_ps(x, grid));
        }
        _mm512_storeu_ps(v->d_bias + lot, sum);
    }
}

/* Adds the cost of the peak to the gradient of the row that holds it. Codes are not negative, so
 * that their bits have their order. */
static void add_peak(struct work *w, int i)
{
    const bf16 *a = line_of(w, w->maps[i], w->peak_lines[i]);
    int peak = 0;
    for (int k = 1; k < w->c.width * w->maps[i].lanes; k++)
        if (a[k] > a[peak])
            peak = k;
    if (a[peak])
        w->sums[peak] += w->c.peak_cost / (float)w->c.count;
}

/* Errors of the tail, times the patch's unit, into w->errors; returns the mean of their sizes, or
 * squares, weighted. */
static float tail_errors(struct work *w, const float *input, const float *target, float unit)
{
    const struct chain *c = &w->c;
    const struct convolution *v = &w->all[c->body + 1];
    const float step = step_into(w, c->body + 1);
    const long plane = (long)c->height * c->width;
    float sums[LANES] = {0}, mean = 0;
    for (int y = 0; y < c->height; y++) {
        convolve_row(&w->products, w->maps[c->body], y, v->in, v->forwards, LANES, w->sums);
        for (int o = 0; o < v->out; o++) {
            const float *seen = input + (c->inputs == 1 ? 0 : o) * plane + (long)y * c->width;
            const float *wanted = target + o * plane + (long)y * c->width;
            const float factor = v->grid[o] * step, bias = v->bias[o];
            float *e = w->errors + o * plane + (long)y * c->width, sum = 0;
            for (int x = 0; x < c->width; x++)
                e[x] = w->sums[x * LANES + o];
#pragma omp simd reduction(+ : sum)
            for (int x = 0; x < c->width; x++) {
                e[x] = (e[x] * factor + bias + (seen[x] - wanted[x]) * (1 / 255.0f)) * unit;
                sum += c->squared ? e[x] * e[x] : fabsf(e[x]);
            }
            sums[o] += sum;
        }
    }
    for (int o = 0; o < v->out; o++)
        mean += sums[o] * c->weights[o];
    return mean / (float)(plane * v->out);
}

/* Loss of a patch whose mean (weighted) error is known, and its slope: that error itself, or of the
 * mean squared error the logarithm. PSNR is a logarithm too: an easy patch counts as much as one
 * full of detail that nothing could restore. Patches easier than `least` do not count for more. */
static float patch_loss(const struct chain *c, float mean, float *slope)
{
    *slope = c->squared ? 1 / (mean + c->least) : 1;
    return c->squared ? logf(mean + c->least) : mean;
}

/* Gradient of the tail's sums, times the grid, from its errors; factor: of the whole. */
static void tail_gradient(struct work *w, float factor)
{
    const struct chain *c = &w->c;
    struct convolution *v = &w->all[c->body + 1];
    const long plane = (long)c->height * c->width;
    memset(w->sums, 0, sizeof(float) * (size_t)c->width * LANES);
    for (int y = 0; y < c->height; y++) {
        for (int o = 0; o < v->out; o++) {
            const float *e = w->errors + o * plane + (long)y * c->width;
            const float slope = c->weights[o] * factor / (float)(plane * v->out);
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int x = 0; x < c->width; x++) {
                float g = slope * (c->squared ? 2 * e[x] : e[x] > 0 ? 1.0f : e[x] < 0 ? -1.0f : 0);
                sum += g;
                w->sums[x * LANES + o] = g * v->grid[o];
            }
            v->d_bias[o] += sum;
        }
        row_to_bf16(w->sums, line_of(w, w->gradient[2], y), c->width * LANES);
    }
}

static float learn_patch(struct work *w, const float *input, const float *target, float unit)
{
    const struct chain *c = &w->c;
    const int body = c->body, n = c->width * c->channels;
    load_input(w, input);
    for (int i = 0; i <= body; i++) {
        float peak = 0;
        w->peak_lines[i] = 0;
        for (int y = 0; y < c->height; y++) {
            convolve_row(&w->products, i ? w->maps[i - 1] : w->input, y, w->all[i].in,
                         w->all[i].forwards, c->channels, w->sums);
            const float here = store(w, i, y);
            if (here > peak)
                peak = here, w->peak_lines[i] = y;
        }
        c->peaks[i] = fmaxf(c->peaks[i], peak);
    }
    float slope, loss = patch_loss(c, tail_errors(w, input, target, unit), &slope);
    tail_gradient(w, slope * unit / (float)c->count);

    int now = 2; /* gradient[now] is that of convolution i + 1, whose input is map i */
    for (int i = body; i >= 0; i--) {
        const int next = now == 0;
        struct convolution *v = &w->all[i + 1];
        correlate(&w->products, w->maps[i], w->gradient[now], v->in, v->sums);
        for (int y = 0; y < c->height; y++) {
            convolve_row(&w->products, w->gradient[now], y, v->out, v->backwards, c->channels,
                         w->sums);
            if (y == w->peak_lines[i])
                add_peak(w, i);
            if (i == body)
                row_to_bf16(w->sums, line_of(w, w->skipped, y), n);
            if (i == 0) {
                const bf16 *skipped = line_of(w, w->skipped, y);
                for (int k = 0; k < n; k += LANES)
                    _mm512_storeu_ps(w->sums + k, _mm512_add_ps(_mm512_loadu_ps(w->sums + k),
                                                                load_bf16(skipped + k)));
            }
            through_relu(w, i, y, w->gradient[next]);
        }
        now = next;
    }
    correlate(&w->products, w->input, w->gradient[now], w->all[0].in, w->all[0].sums);
    return loss;
}

/* Codes of a convolution into the order of the loops. */
static struct convolution prepare(const struct work *w, int i, const float *kernel,
                                  const float *grid, const float *bias)
{
    const int tail = i == w->c.body + 1;
    const struct products *p = &w->products;
    struct convolution v = {.in = i ? w->c.channels : w->c.inputs,
                            .out = tail ? w->c.outputs : w->c.channels,
                            .grid = grid,
                            .bias = bias};
    v.in_lanes = whole(v.in, LANES), v.out_lanes = whole(v.out, LANES);
    v.forwards = zeros(kernel_size(p, v.in, v.out_lanes), sizeof(bf16));
    v.backwards = zeros(kernel_size(p, v.out, v.in_lanes), sizeof(bf16));
    v.sums = zeros((size_t)TAPS * v.in_lanes * v.out_lanes, sizeof(float));
    v.d_bias = zeros(v.out_lanes, sizeof(float));
    for (int o = 0; o < v.out; o++)
        for (int k = 0; k < v.in; k++)
            for (int tap = 0; tap < TAPS; tap++) {
                bf16 code = to_bf16(kernel[(o * v.in + k) * TAPS + tap] / grid[o]);
                v.forwards[kernel_place(p, v.in, v.out_lanes, tap, k, o)] = code;
                v.backwards[kernel_place(p, v.out, v.in_lanes, TAPS - 1 - tap, o, k)] = code;
            }
    return v;
}

static void hand_over(struct work *w, int i, float *d_kernel, float *d_bias)
{
    struct convolution *v = &w->all[i];
    const int used = correlated_inputs(&w->products, v->in, v->out_lanes);
    for (int o = 0; o < v->out; o++) {
        d_bias[o] = v->d_bias[o];
        for (int k = 0; k < v->in; k++)
            for (int tap = 0; tap < TAPS; tap++)
                d_kernel[(o * v->in + k) * TAPS + tap] =
                    v->sums[(tap * used + k) * v->out_lanes + o] * step_into(w, i) / v->grid[o];
    }
    free(v->forwards), free(v->backwards), free(v->sums), free(v->d_bias);
}

double learn(const struct chain *c)
{
    struct work w = {.c = *c};
    w.products = begin_products(c->height, c->width, c->channels, c->by_tiles);
    const int convolutions = c->body + 2;
    const float *kernel = c->kernels, *grid = c->grids, *bias = c->biases;
    w.all = zeros(convolutions, sizeof *w.all);
    w.maps = zeros(c->body + 1, sizeof *w.maps);
    for (int i = 0; i < convolutions; i++) {
        w.all[i] = prepare(&w, i, kernel, grid, bias);
        kernel += w.all[i].in * w.all[i].out * TAPS;
        grid += w.all[i].out, bias += w.all[i].out;
    }
    w.alive = zeros(c->body + 1, sizeof *w.alive);
    w.peak_lines = zeros(c->body + 1, sizeof *w.peak_lines);
    for (int i = 0; i <= c->body; i++) {
        w.maps[i] = new_map(&w, c->channels);
        w.alive[i] = c->steps[i] > 0 || i == c->body ? new_map(&w, c->channels) : w.maps[i];
    }
    w.input = new_map(&w, LANES);
    w.skipped = new_map(&w, c->channels);
    for (int i = 0; i < 3; i++)
        w.gradient[i] = new_map(&w, i == 2 ? LANES : c->channels);
    w.sums = zeros((size_t)c->width * c->channels, sizeof(float));
    w.errors = zeros((size_t)c->outputs * c->height * c->width, sizeof(float));

    double loss = 0;
    const long plane = (long)c->height * c->width;
    memset(c->peaks, 0, sizeof(float) * (size_t)(c->body + 1));
    for (int p = 0; p < c->count; p++)
        loss += learn_patch(&w, c->input + p * plane * c->inputs,
                            c->target + p * plane * c->outputs, c->units[p]);

    float *d_kernel = c->d_kernels, *d_bias = c->d_biases;
    for (int i = 0; i < convolutions; i++) {
        const int in = w.all[i].in, out = w.all[i].out;
        hand_over(&w, i, d_kernel, d_bias);
        d_kernel += in * out * TAPS, d_bias += out;
    }
    loss /= c->count;
    for (int i = 0; i <= c->body; i++) {
        if (w.alive[i].data != w.maps[i].data)
            free(w.alive[i].data);
        free(w.maps[i].data);
    }
    free(w.alive), free(w.peak_lines);
    free(w.input.data), free(w.skipped.data);
    for (int i = 0; i < 3; i++)
        free(w.gradient[i].data);
    end_products(&w.products);
    free(w.sums), free(w.errors), free(w.all), free(w.maps);
    return loss;
}
