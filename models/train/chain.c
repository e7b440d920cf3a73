/* Loss and gradient of a chain of 3x3 convolutions (`Net` of nets.py), on a core with AVX-512 BF16:
 * three to four times as fast as torch there, which carries every narrow layer through memory.
 *
 * One patch is carried forwards and back before the next is begun, so that its maps stay in the
 * cache. Maps, kernels and gradients are held in bfloat16 and summed in fp32; pixels and quantised
 * values, whole numbers up to 255, are exact in bfloat16, so quantised layers add up as the engine
 * does.
 *
 * A map is rows of pixels of `lanes` channels (a multiple of 16), with a border of zeros around it,
 * the padding of the convolution. What a map holds are codes: the value is the code times the map's
 * step (1/255 for pixels; what INT8 stores; 1 where nothing is quantised). Likewise the codes of a
 * kernel times `grid`, one for each output, are its values. vdpbf16ps adds two products to each of
 * 16 sums: of two input channels for 16 outputs on the way forwards and back to the inputs, of two
 * neighbouring pixels for 16 outputs on the way to the gradient of the kernels.
 *
 * train.py compiles this file and calls it through fast.py. */
#include "chain.h"

#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 16, TAPS = 9, SUMS = 24 }; /* SUMS: of 32 registers, what is left beside operands */

typedef uint16_t bf16;

#ifdef __clang__ /* all sums are in registers only where every loop over them is unrolled */
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 24")
#endif

struct map {
    bf16 *data;
    int lanes;
};

/* Of one convolution: its codes as the loops read them. A pair holds the same output's codes for
 * two neighbouring inputs; forwards is [tap][in/2][out][2], backwards, of the transposed
 * convolution, [tap][out/2][in][2]. */
struct convolution {
    int in, out;           /* channels that are read, even; channels that are written, whole lots */
    int real_in, real_out; /* channels that there are */
    bf16 *forwards, *backwards;
    float *sums;   /* gradient of the codes: [tap][summed_inputs][out] */
    float *d_bias; /* out */
    const float *grid, *bias;
};

static int whole(int n, int lot)
{
    return (n + lot - 1) / lot * lot;
}

static bf16 to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void row_to_bf16(const float *x, bf16 *out, int n)
{
    for (int i = 0; i < n; i += LANES)
        _mm256_storeu_si256((__m256i *)(out + i),
                            (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(x + i)));
}

static float from_bf16(bf16 x)
{
    uint32_t bits = (uint32_t)x << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static __m512bh broadcast(const void *pair)
{
    int32_t bits;
    memcpy(&bits, pair, sizeof bits);
    return (__m512bh)_mm512_set1_epi32(bits);
}

/* One row of a convolution. `in` is the first pixel of the border above and left of it; kernel is
 * [tap][used/2][16 * lots][2]; sums are [width][16 * lots]. SUMS pixels x lots stay in registers.
 */
static inline __attribute__((always_inline)) void
row_of(const bf16 *in, int width, int lanes, int used, const bf16 *kernel, int lots, float *sums)
{
    const int pixels = SUMS / lots;
    const long line = (long)(width + 2) * lanes;
    for (int x = 0; x < width; x += pixels) {
        __m512 sum[SUMS];
        UNROLL
        for (int i = 0; i < SUMS; i++)
            sum[i] = _mm512_setzero_ps();
        const bf16 *codes = kernel;
        for (int tap = 0; tap < TAPS; tap++) {
            const bf16 *at = in + tap / 3 * line + (long)(x + tap % 3) * lanes;
            for (int i = 0; i < used; i += 2, codes += 2 * LANES * lots) {
                __m512bh a = (__m512bh)_mm512_loadu_si512(codes);
                __m512bh b = lots == 2 ? (__m512bh)_mm512_loadu_si512(codes + 2 * LANES) : a;
                UNROLL
                for (int p = 0; p < pixels; p++) {
                    __m512bh pair = broadcast(at + i + p * lanes);
                    sum[p * lots] = _mm512_dpbf16_ps(sum[p * lots], a, pair);
                    if (lots == 2)
                        sum[p * lots + 1] = _mm512_dpbf16_ps(sum[p * lots + 1], b, pair);
                }
            }
        }
        UNROLL
        for (int i = 0; i < SUMS; i++)
            _mm512_storeu_ps(sums + (long)x * LANES * lots + i * LANES, sum[i]);
    }
}

static void row(const bf16 *in, int width, int lanes, int used, const bf16 *kernel, int out,
                float *sums)
{
    if (lanes == LANES && out == LANES)
        row_of(in, width, LANES, used, kernel, 1, sums);
    else if (lanes == LANES)
        row_of(in, width, LANES, used, kernel, 2, sums);
    else if (out == LANES)
        row_of(in, width, 2 * LANES, used, kernel, 1, sums);
    else
        row_of(in, width, 2 * LANES, used, kernel, 2, sums);
}

/* Adds to sums, [tap][used][16 * lots], the products of an input's codes, moved by the tap, and a
 * gradient, over all pixels. Both come as pairs of neighbours: pair p of `in` holds the pixels p
 * and p + 1. Of the gradient, which begins at the second pixel of a line, only every other pair
 * counts. For a row of taps, 8 / lots inputs at a time, all sums stay in registers. */
static inline __attribute__((always_inline)) void correlate_of(const uint32_t *in, int used,
                                                               const uint32_t *gradient, int lots,
                                                               int height, int width, float *sums)
{
    const int inputs = SUMS / 3 / lots, out = LANES * lots;
    for (int down = 0; down < 3; down++)
        for (int i = 0; i < used; i += inputs) {
            __m512 sum[SUMS];
            UNROLL
            for (int k = 0; k < SUMS; k++)
                sum[k] = _mm512_setzero_ps();
            for (int y = 0; y < height; y++) {
                const uint32_t *g = gradient + ((long)(y + 1) * (width + 2) + 1) * out;
                const uint32_t *a = in + (long)(y + down) * (width + 2) * used + i;
                for (int x = 0; x < width; x += 2, g += 2 * out, a += 2 * used) {
                    __m512bh low = (__m512bh)_mm512_loadu_si512(g);
                    __m512bh high = lots == 2 ? (__m512bh)_mm512_loadu_si512(g + LANES) : low;
                    UNROLL
                    for (int k = 0; k < 3 * inputs; k++) {
                        __m512bh pair = broadcast(a + (long)(k / inputs) * used + k % inputs);
                        sum[k * lots] = _mm512_dpbf16_ps(sum[k * lots], low, pair);
                        if (lots == 2)
                            sum[k * lots + 1] = _mm512_dpbf16_ps(sum[k * lots + 1], high, pair);
                    }
                }
            }
            UNROLL
            for (int k = 0; k < SUMS; k++) {
                const int tap = 3 * down + k / lots / inputs, input = i + k / lots % inputs;
                float *to = sums + ((long)tap * used + input) * out + k % lots * LANES;
                _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), sum[k]));
            }
        }
}

/* Pairs of all neighbouring pixels of a map, of its first `used` channels. */
static void pair_up(struct map m, int pixels, int used, uint32_t *pairs)
{
    if (used == m.lanes) {
        for (long i = 0; i < (long)(pixels - 1) * used; i++)
            pairs[i] = m.data[i] | (uint32_t)m.data[i + used] << 16;
        return;
    }
    for (long p = 0; p < pixels - 1; p++)
        for (int c = 0; c < used; c++)
            pairs[p * used + c] = m.data[p * m.lanes + c] | (uint32_t)m.data[(p + 1) * m.lanes + c]
                                                                << 16;
}

/* What is needed to work on one patch. */
struct work {
    struct chain c;
    int pixels;              /* of a map, border included */
    struct convolution *all; /* body + 2 */
    struct map input, *maps; /* the maps between */
    struct map *alive; /* what ReLU let through, not 0: the map itself, but before it is rounded to
                          whole codes, or before the head's map is added to the last */
    int *peak_lines;   /* of each map: the line that holds its largest value */
    struct map gradient[3]; /* with respect to a convolution's sums, times its grid; [2]: tail's */
    struct map skipped;     /* with respect to the sum of the last and the first map */
    uint32_t *in_pairs, *g_pairs;
    float *sums;   /* one row */
    float *errors; /* of all outputs: [output][height][width] */
};

static void *zeros(size_t count, size_t size)
{
    const size_t bytes = (count * size + 63) / 64 * 64;
    void *p = aligned_alloc(64, bytes);
    if (!p) {
        fprintf(stderr, "chain.c: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memset(p, 0, bytes);
}

static struct map new_map(const struct work *w, int lanes)
{
    return (struct map){zeros((size_t)w->pixels * lanes, sizeof(bf16)), lanes};
}

/* The first pixel inside. */
static bf16 *line_of(const struct work *w, struct map m, int y)
{
    return m.data + ((long)(y + 1) * (w->c.width + 2) + 1) * m.lanes;
}

static void convolve(const struct work *w, struct map in, int y, int used, const bf16 *kernel,
                     int out, float *sums)
{
    row(in.data + (long)y * (w->c.width + 2) * in.lanes, w->c.width, in.lanes, used, kernel, out,
        sums);
}

/* Inputs for which correlate_of() sums: whole rounds of its registers. */
static int summed_inputs(const struct convolution *v)
{
    return whole(v->in, SUMS / 3 / (v->out / LANES));
}

static void correlate(struct work *w, struct map in, struct map gradient, struct convolution *v)
{
    const int used = summed_inputs(v);
    pair_up(in, w->pixels, used, w->in_pairs);
    pair_up(gradient, w->pixels, v->out, w->g_pairs);
    if (v->out == LANES)
        correlate_of(w->in_pairs, used, w->g_pairs, 1, w->c.height, w->c.width, v->sums);
    else
        correlate_of(w->in_pairs, used, w->g_pairs, 2, w->c.height, w->c.width, v->sums);
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
    const int out = v->out, n = w->c.width * out, end = i == w->c.body;
    const float step = w->c.steps[i], in_step = step_into(w, i);
    float factor[2 * LANES], peak[LANES] = {0};
    for (int o = 0; o < out; o++)
        factor[o] = v->grid[o] * in_step;
    float *s = w->sums;
    for (int k = 0; k < n; k += out)
        for (int o = 0; o < out; o++)
            s[k + o] = fmaxf(s[k + o] * factor[o] + v->bias[o], 0);
    if (w->alive[i].data != w->maps[i].data)
        row_to_bf16(s, line_of(w, w->alive[i], y), n);
    if (end) {
        const bf16 *first = line_of(w, w->maps[0], y);
        const float first_step = step_into(w, 1);
        for (int k = 0; k < n; k++)
            s[k] += from_bf16(first[k]) * first_step;
    }
    for (int k = 0; k < n; k += LANES)
        for (int o = 0; o < LANES; o++)
            peak[o] = fmaxf(peak[o], s[k + o]);
    if (step > 0)
        for (int k = 0; k < n; k++)
            s[k] = fminf(rintf(s[k] / step), 255);
    row_to_bf16(s, line_of(w, w->maps[i], y), n);
    for (int o = 1; o < LANES; o++)
        peak[0] = fmaxf(peak[0], peak[o]);
    return peak[0];
}

/* Gradient of a row with respect to a map's values, in w->sums, to that with respect to the sums of
 * the convolution that made it: what ReLU let through, times the grid. */
static void through_relu(struct work *w, int i, int y, struct map to)
{
    struct convolution *v = &w->all[i];
    const int out = v->out, n = w->c.width * out;
    const bf16 *a = line_of(w, w->alive[i], y);
    float *s = w->sums, sum[2 * LANES] = {0};
    for (int k = 0; k < n; k++)
        s[k] = a[k] ? s[k] : 0;
    for (int k = 0; k < n; k += LANES)
        for (int o = 0; o < LANES; o++) {
            sum[k % out + o] += s[k + o];
            s[k + o] *= v->grid[k % out + o];
        }
    for (int o = 0; o < out; o++)
        v->d_bias[o] += sum[o];
    row_to_bf16(s, line_of(w, to, y), n);
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
        convolve(w, w->maps[c->body], y, v->in, v->forwards, v->out, w->sums);
        for (int o = 0; o < v->real_out; o++) {
            const float *seen = input + (c->inputs == 1 ? 0 : o) * plane + (long)y * c->width;
            const float *wanted = target + o * plane + (long)y * c->width;
            const float factor = v->grid[o] * step, bias = v->bias[o];
            float *e = w->errors + o * plane + (long)y * c->width, sum = 0;
            for (int x = 0; x < c->width; x++)
                e[x] = w->sums[x * LANES + o];
            for (int x = 0; x < c->width; x++) {
                e[x] = (e[x] * factor + bias + (seen[x] - wanted[x]) * (1 / 255.0f)) * unit;
                sum += c->squared ? e[x] * e[x] : fabsf(e[x]);
            }
            sums[o] += sum;
        }
    }
    for (int o = 0; o < v->real_out; o++)
        mean += sums[o] * c->weights[o];
    return mean / (float)(plane * v->real_out);
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
        for (int o = 0; o < v->real_out; o++) {
            const float *e = w->errors + o * plane + (long)y * c->width;
            const float slope = c->weights[o] * factor / (float)(plane * v->real_out);
            float sum = 0;
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
            convolve(w, i ? w->maps[i - 1] : w->input, y, w->all[i].in, w->all[i].forwards,
                     w->all[i].out, w->sums);
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
        correlate(w, w->maps[i], w->gradient[now], v);
        for (int y = 0; y < c->height; y++) {
            convolve(w, w->gradient[now], y, whole(v->real_out, 2), v->backwards, c->channels,
                     w->sums);
            if (y == w->peak_lines[i])
                add_peak(w, i);
            if (i == body)
                row_to_bf16(w->sums, line_of(w, w->skipped, y), n);
            if (i == 0) {
                const bf16 *skipped = line_of(w, w->skipped, y);
                for (int k = 0; k < n; k++)
                    w->sums[k] += from_bf16(skipped[k]);
            }
            through_relu(w, i, y, w->gradient[next]);
        }
        now = next;
    }
    correlate(w, w->input, w->gradient[now], &w->all[0]);
    return loss;
}

/* Codes of a convolution into the order of the loops. */
static struct convolution prepare(const struct work *w, int i, const float *kernel,
                                  const float *grid, const float *bias)
{
    const int tail = i == w->c.body + 1;
    const int real_in = i ? w->c.channels : w->c.inputs,
              real_out = tail ? w->c.outputs : w->c.channels;
    struct convolution v = {.in = whole(real_in, 2),
                            .out = whole(real_out, LANES),
                            .real_in = real_in,
                            .real_out = real_out,
                            .grid = grid,
                            .bias = bias};
    const int out_pairs = whole(real_out, 2), lanes_in = whole(real_in, LANES);
    v.forwards = zeros((size_t)TAPS * v.in * v.out, sizeof(bf16));
    v.backwards = zeros((size_t)TAPS * out_pairs * lanes_in, sizeof(bf16));
    v.sums = zeros((size_t)TAPS * lanes_in * v.out, sizeof(float));
    v.d_bias = zeros(v.out, sizeof(float));
    for (int o = 0; o < real_out; o++)
        for (int k = 0; k < real_in; k++)
            for (int tap = 0; tap < TAPS; tap++) {
                bf16 code = to_bf16(kernel[(o * real_in + k) * TAPS + tap] / grid[o]);
                v.forwards[((tap * v.in / 2 + k / 2) * v.out + o) * 2 + k % 2] = code;
                v.backwards[(((TAPS - 1 - tap) * out_pairs / 2 + o / 2) * lanes_in + k) * 2 +
                            o % 2] = code;
            }
    return v;
}

static void hand_over(struct work *w, int i, float *d_kernel, float *d_bias)
{
    struct convolution *v = &w->all[i];
    const int used = summed_inputs(v);
    for (int o = 0; o < v->real_out; o++) {
        d_bias[o] = v->d_bias[o];
        for (int k = 0; k < v->real_in; k++)
            for (int tap = 0; tap < TAPS; tap++)
                d_kernel[(o * v->real_in + k) * TAPS + tap] =
                    v->sums[(tap * used + k) * v->out + o] * step_into(w, i) / v->grid[o];
    }
    free(v->forwards), free(v->backwards), free(v->sums), free(v->d_bias);
}

double learn(const struct chain *c)
{
    struct work w = {.c = *c, .pixels = (c->height + 2) * (c->width + 2)};
    const int convolutions = c->body + 2;
    const float *kernel = c->kernels, *grid = c->grids, *bias = c->biases;
    w.all = zeros(convolutions, sizeof *w.all);
    w.maps = zeros(c->body + 1, sizeof *w.maps);
    for (int i = 0; i < convolutions; i++) {
        w.all[i] = prepare(&w, i, kernel, grid, bias);
        kernel += w.all[i].real_in * w.all[i].real_out * TAPS;
        grid += w.all[i].real_out, bias += w.all[i].real_out;
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
    w.in_pairs = zeros((size_t)w.pixels * c->channels, sizeof(uint32_t));
    w.g_pairs = zeros((size_t)w.pixels * c->channels, sizeof(uint32_t));
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
        const int in = w.all[i].real_in, out = w.all[i].real_out;
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
    free(w.in_pairs), free(w.g_pairs), free(w.sums), free(w.errors), free(w.all), free(w.maps);
    return loss;
}
