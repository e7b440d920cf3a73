// SPDX-License-Identifier: Apache-2.0
/* Training: loss and gradient of models/train/avx512/chain.c equal those of the plain formulas. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/train/avx512/chain.h"

enum { SIDE = 24, PLANE = SIDE * SIDE, PATCHES = 2, MOST_CHANNELS = 32, MOST_WEIGHTS = 1 << 15 };

typedef struct net {
    struct chain chain;
    float kernels[MOST_WEIGHTS], biases[256], grids[256], steps[8];
    float d_kernels[MOST_WEIGHTS], d_biases[256], peaks[8];
    float input[PATCHES * 8 * PLANE], target[PATCHES * 16 * PLANE], units[PATCHES], weights[16];
    uint32_t random;
} net;

static float uniform(net *n) /* -1..1 */
{
    n->random = n->random * 1664525u + 1013904223u;
    return (float)(int32_t)n->random / 2147483648.0f;
}

static int inputs_of(const net *n, int conv)
{
    return conv ? n->chain.channels : n->chain.inputs;
}

static int outputs_of(const net *n, int conv)
{
    return conv == n->chain.body + 1 ? n->chain.outputs : n->chain.channels;
}

/* Quantised: kernels are whole multiples of steps, as training passes them. State: whether it uses
 * tiles. Skipped if the processor cannot. */
static net *make(void **state, int inputs, int channels, int body, int outputs, int squared,
                 int quantised)
{
    const int by_tiles = **(const int **)state;
    if (!__builtin_cpu_supports("avx512bf16") || (by_tiles && !has_tiles()))
        skip();
    net *n = calloc(1, sizeof *n);
    assert_non_null(n);
    n->random = 7;
    n->chain = (struct chain){inputs,   channels,     body,        outputs,    PATCHES,    SIDE,
                              SIDE,     squared,      by_tiles,    n->kernels, n->biases,  n->grids,
                              n->steps, n->input,     n->target,   n->units,   n->weights, 0,
                              0.1f,     n->d_kernels, n->d_biases, n->peaks};
    float *kernel = n->kernels, *bias = n->biases, *grid = n->grids;
    for (int i = 0; i < body + 2; i++)
        for (int o = 0; o < outputs_of(n, i); o++) {
            const int taps = inputs_of(n, i) * 9;
            const float most = 2 / sqrtf((float)taps);
            *grid = quantised ? most / 127 : 1;
            for (int k = 0; k < taps; k++, kernel++)
                *kernel = quantised ? rintf(127 * uniform(n)) * *grid : most * uniform(n);
            *bias++ = 0.2f * uniform(n);
            grid++;
        }
    for (int i = 0; i <= body; i++)
        n->steps[i] = quantised ? 2.0f / 255 : 0;
    for (int i = 0; i < PATCHES * inputs * PLANE; i++)
        n->input[i] = rintf(127.5f + 127.5f * uniform(n));
    for (int i = 0; i < PATCHES * outputs * PLANE; i++)
        n->target[i] = rintf(127.5f + 127.5f * uniform(n));
    for (int i = 0; i < PATCHES; i++)
        n->units[i] = 60 - 20 * (float)i;
    for (int o = 0; o < outputs; o++)
        n->weights[o] = 1 - 0.1f * (float)o;
    return n;
}

/* One convolution by its definition; pixels outside are 0. */
static void convolve(const double *in, int inputs, const float *kernel, const float *bias,
                     int outputs, double *out)
{
    for (int o = 0; o < outputs; o++)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                double sum = bias[o];
                for (int c = 0; c < inputs; c++)
                    for (int tap = 0; tap < 9; tap++) {
                        const int v = y + tap / 3 - 1, h = x + tap % 3 - 1;
                        if (v >= 0 && v < SIDE && h >= 0 && h < SIDE)
                            sum +=
                                in[c * PLANE + v * SIDE + h] * kernel[(o * inputs + c) * 9 + tap];
                    }
                out[o * PLANE + y * SIDE + x] = sum;
            }
}

static double patch_loss(const net *n, int patch, double *peak)
{
    static double first[MOST_CHANNELS * PLANE], a[MOST_CHANNELS * PLANE], b[MOST_CHANNELS * PLANE];
    const struct chain *c = &n->chain;
    const float *input = n->input + patch * c->inputs * PLANE,
                *target = n->target + patch * c->outputs * PLANE;
    const float *kernel = n->kernels, *bias = n->biases;
    for (int i = 0; i < c->inputs * PLANE; i++)
        a[i] = input[i] / 255.0;
    for (int i = 0; i <= c->body; i++) {
        convolve(a, inputs_of(n, i), kernel, bias, c->channels, b);
        kernel += c->channels * inputs_of(n, i) * 9, bias += c->channels;
        for (int k = 0; k < c->channels * PLANE; k++) {
            a[k] = fmax(b[k], 0) + (i == c->body ? first[k] : 0);
            peak[i] = fmax(peak[i], a[k]);
            if (n->steps[i] > 0)
                a[k] = fmin(rint(a[k] / n->steps[i]), 255) * n->steps[i];
        }
        if (i == 0)
            memcpy(first, a, sizeof first);
    }
    convolve(a, c->channels, kernel, bias, c->outputs, b);
    double mean = 0;
    for (int o = 0; o < c->outputs; o++)
        for (int i = 0; i < PLANE; i++) {
            const int k = o * PLANE + i;
            const double e =
                (b[k] + (input[c->inputs == 1 ? i : k] - target[k]) / 255.0) * n->units[patch];
            mean += n->weights[o] * (c->squared ? e * e : fabs(e)) / (c->outputs * PLANE);
        }
    return c->squared ? log(mean + 0.1) : mean;
}

static double plain_loss(const net *n, double *peak)
{
    double sum = 0;
    for (int i = 0; i <= n->chain.body; i++)
        peak[i] = 0;
    for (int p = 0; p < PATCHES; p++)
        sum += patch_loss(n, p, peak) / PATCHES;
    return sum;
}

/* The slope with respect to a weight, by central differences. */
static double slope(net *n, float *weight)
{
    double peak[8];
    const float was = *weight, far = 1e-3f;
    *weight = was + far;
    const double above = plain_loss(n, peak);
    *weight = was - far;
    const double below = plain_loss(n, peak);
    *weight = was;
    return (above - below) / (2 * far);
}

/* Sampled in every convolution, the gradient points to where the loss rises. bfloat16 has 8 bits,
 * so with random weights it is off by a hundredth. */
static void check_gradient(void **state, int inputs, int channels, int body, int outputs,
                           int squared)
{
    net *n = make(state, inputs, channels, body, outputs, squared, 0);
    double peak[8];
    const double got = learn(&n->chain), expected = plain_loss(n, peak);
    assert_true(fabs(got - expected) < 1e-3 * fabs(expected));
    for (int i = 0; i <= body; i++)
        assert_true(fabs(n->peaks[i] - peak[i]) < 0.02 * peak[i]);
    int kernel = 0, bias = 0;
    for (int i = 0; i < body + 2; i++) {
        const int count = inputs_of(n, i) * outputs_of(n, i) * 9;
        double right = 0, off = 0;
        for (int k = 0; k < 6; k++) {
            const int at = kernel + (int)(n->random % (uint32_t)count);
            const double s = slope(n, n->kernels + at), t = n->d_kernels[at] - s;
            right += s * s, off += t * t;
            uniform(n);
        }
        const int o = bias + 1 + i % 2;
        const double s = slope(n, n->biases + o), t = n->d_biases[o] - s;
        assert_true(sqrt(off) < 0.03 * sqrt(right));
        assert_true(fabs(t) < 0.03 * fabs(s) + 1e-4);
        kernel += count, bias += outputs_of(n, i);
    }
    free(n);
}

static void gradient_of_an_enlarger(void **state)
{
    check_gradient(state, 1, 16, 2, 4, 1);
}

static void gradient_of_a_wide_enlarger_by_three(void **state)
{
    check_gradient(state, 1, 32, 1, 9, 0);
}

static void gradient_of_a_denoiser(void **state)
{
    check_gradient(state, 7, 32, 1, 6, 1);
}

/* Integers are exact: the loss equals that of the integers, except where fp32 rounds at the border
 * of two steps. */
static void quantised_layers_add_up(void **state)
{
    net *n = make(state, 1, 16, 3, 4, 1, 1);
    double peak[8];
    const double got = learn(&n->chain), expected = plain_loss(n, peak);
    assert_true(fabs(got - expected) < 1e-5 * fabs(expected));
    free(n);
}

/* Where the head's map is cut everywhere, no change of the head changes what is stored. */
static void what_is_cut_learns_nothing(void **state)
{
    net *n = make(state, 1, 16, 2, 4, 1, 1);
    n->steps[0] = 1e-9f;
    learn(&n->chain);
    for (int k = 0; k < 9 * 16; k++)
        assert_true(n->d_kernels[k] == 0);
    free(n);
}

/* The cost of a peak acts on what caused it: a step down the gradient of that cost alone lowers the
 * peaks. */
static void peaks_are_lowered(void **state)
{
    net *n = make(state, 1, 16, 2, 4, 1, 0);
    n->units[0] = n->units[1] = 1e-6f; /* the error has no weight */
    n->chain.peak_cost = 1;
    double before[8], after[8];
    plain_loss(n, before);
    learn(&n->chain);
    for (int k = 0; k < 9 * 16 * (1 + 2 * 16); k++)
        n->kernels[k] -= 1e-3f * n->d_kernels[k];
    plain_loss(n, after);
    for (int i = 0; i <= 2; i++)
        assert_true(after[i] < before[i]);
    free(n);
}

/* In a flat picture many values are as large as the peak: in each patch, one of them takes half of
 * the cost. */
static void one_of_many_pays(void **state)
{
    net *n = make(state, 1, 16, 2, 4, 1, 0);
    n->units[0] = n->units[1] = 1e-6f;
    n->chain.peak_cost = 1;
    for (int i = 0; i < PATCHES * PLANE; i++)
        n->input[i] = 128;
    learn(&n->chain);
    float paid =
        0; /* of the last convolution of the body, which sees only the cost of its own map */
    for (int o = 0; o < 16; o++)
        paid += n->d_biases[2 * 16 + o];
    assert_true(fabsf(paid - 1) < 1e-3f);
    free(n);
}

/* Values that are too small to be stored as more than 0 still get the gradient of ReLU. */
static void what_rounds_to_nothing_learns(void **state)
{
    net *n = make(state, 1, 16, 1, 4, 1, 1);
    n->steps[0] = 1000;
    learn(&n->chain);
    assert_true(n->peaks[0] > 0);
    int learns = 0;
    for (int o = 0; o < 16; o++)
        learns += n->d_biases[o] != 0;
    assert_true(learns > 8);
    free(n);
}

#define EITHER_WAY(f) cmocka_unit_test_prestate(f, &ways[0]), cmocka_unit_test_prestate(f, &ways[1])

int main(void)
{
    static int ways[] = {0, 1}; /* by pairs, by tiles */
    const struct CMUnitTest tests[] = {
        EITHER_WAY(gradient_of_an_enlarger),    EITHER_WAY(gradient_of_a_wide_enlarger_by_three),
        EITHER_WAY(gradient_of_a_denoiser),     EITHER_WAY(quantised_layers_add_up),
        EITHER_WAY(what_is_cut_learns_nothing), EITHER_WAY(peaks_are_lowered),
        EITHER_WAY(one_of_many_pays),           EITHER_WAY(what_rounds_to_nothing_learns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
