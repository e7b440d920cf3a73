// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/calibration.h"

#include <math.h>
#include <stdlib.h>

#include "pipeline/quality/measure.h"
#include "pipeline/stages/plane_roles.h"

enum { MAX_NOISE = 50 }; /* in 8-bit steps */

/* ---- planes ------------------------------------------------------------------------------- */

/* An image with a known size, in 8-bit steps. */
typedef struct picture {
    still image;    /* RGB; for a clip, the clip's */
    uint32_t noise; /* its level */
    uint64_t random;
    const calibration_feed *feed;
} picture;

/* Box and Muller's normally distributed numbers, one of each pair. */
static double gaussian(uint64_t *state)
{
    const double u = ((double)(measure_random(state) >> 11) + 1) * 0x1p-53;
    const double v = (double)(measure_random(state) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* The RGB values of a pixel; the image repeats beyond its sides. */
static const uint8_t *pixel(const picture *p, uint32_t x, uint32_t y)
{
    return p->image.pixels +
           ((size_t)(y % p->image.height) * p->image.width + x % p->image.width) * 3;
}

/* BT.601, studio range: offset + the weights of R, G, B. */
static double component(const uint8_t *rgb, int role)
{
    static const double weights[3][4] = {
        [PLANE_ROLE_LUMA] = {16, 65.481, 128.553, 24.966},
        [PLANE_ROLE_U] = {128, -37.797, -74.203, 112.0},
        [PLANE_ROLE_V] = {128, 112.0, -93.786, -18.214},
    };
    const double *w = weights[role];
    return w[0] + (w[1] * rgb[0] + w[2] * rgb[1] + w[3] * rgb[2]) / 255;
}

static double sample_at(const picture *p, int role, uint32_t x, uint32_t y)
{
    if (role == PLANE_ROLE_LUMA)
        return component(pixel(p, x, y), role);
    double sum = 0;
    for (uint32_t i = 0; i < 4; i++)
        sum += component(pixel(p, 2 * x + i % 2, 2 * y + i / 2), role);
    return sum / 4;
}

static bool fill_input(picture *p, const compiler_tensor *t, reference_array *a)
{
    const int named = plane_role_of(t->name);
    const int role = named == PLANE_ROLE_UNKNOWN ? PLANE_ROLE_LUMA : named;
    const size_t plane = (size_t)a->height * a->width;
    a->data = malloc(t->channels * plane * sizeof *a->data);
    if (!a->data)
        return cli_fail(0, "out of memory");
    for (size_t i = 0; i < t->channels * plane; i++) {
        const uint32_t x = (uint32_t)(i % a->width), y = (uint32_t)(i % plane / a->width);
        double value = p->noise;
        const uint32_t channel = (uint32_t)(i / plane);
        if (t->channels == 3)
            value = pixel(p, x, y)[p->feed->bgr ? 2 - channel : channel];
        else if (role != PLANE_ROLE_NOISE)
            value = sample_at(p, role, x, y) + p->noise * gaussian(&p->random);
        /* Planes hold 8-bit samples. */
        value = measure_to_8_bit(value);
        a->data[i] = calibration_fed(p->feed, t->channels == 3 ? channel : 0, value);
    }
    return true;
}

static uint32_t side_of(uint32_t fixed, uint32_t image, bool half)
{
    const uint32_t even = (image < CALIBRATION_SIDE ? image : CALIBRATION_SIDE) & ~1u;
    return fixed ? fixed : half ? (even ? even : 2) / 2 : even ? even : 2;
}

static bool has_role(const compiler *model, int role)
{
    for (unsigned i = 0; i < compiler_input_count(model); i++)
        if (plane_role_of(compiler_input(model, i).name) == role)
            return true;
    return false;
}

/* Opens image `index`, with a level of noise if the model has a noise input. */
static bool open_picture(const calibration *c, size_t index, const compiler *model, picture *p)
{
    pipeline_error error = {0};
    *p = (picture){.random = index, .feed = &c->feed};
    const calibration_image *image = &c->images[index];
    if (image->kind == CALIBRATION_FRAME)
        p->image = image->frame;
    else if (!still_read(&p->image, image->name, &(still_wish){.channels = 3}, &error))
        return cli_fail(0, "%s", error.text);
    if (has_role(model, PLANE_ROLE_NOISE))
        p->noise = (uint32_t)(measure_random(&p->random) % (MAX_NOISE + 1));
    return true;
}

static void close_picture(const calibration *c, size_t index, picture *p)
{
    if (c->images[index].kind == CALIBRATION_STILL)
        still_free(&p->image);
}

/* The size of an input for this image reduced by `scale`. */
static reference_array sized(const compiler_tensor *t, const picture *p, uint32_t scale)
{
    const int role = plane_role_of(t->name);
    const bool half = role == PLANE_ROLE_U || role == PLANE_ROLE_V || role == PLANE_ROLE_NOISE;
    return (reference_array){t->channels, side_of(t->height, p->image.height / scale, half),
                             side_of(t->width, p->image.width / scale, half), NULL};
}

/* Resizes one channel of RGB. */
static bool resize_channel(const still *from, uint32_t channel, still *to)
{
    real_plane large = {0}, small = {0};
    bool ok = real_plane_open(&large, from->width, from->height) &&
              real_plane_open(&small, to->width, to->height);
    for (size_t i = 0; ok && i < (size_t)from->width * from->height; i++)
        large.values[i] = from->pixels[i * 3 + channel];
    ok = ok && measure_resize(&small, &large);
    for (size_t i = 0; ok && i < (size_t)to->width * to->height; i++)
        to->pixels[i * 3 + channel] = (uint8_t)measure_to_8_bit(small.values[i]);
    real_plane_close(&large);
    real_plane_close(&small);
    return ok;
}

/* A colour network that sees every picture at the same size gets a resized one. */
static bool fill_whole(const picture *p, const compiler_tensor *t, reference_array *a)
{
    picture resized = *p;
    resized.image = (still){.width = t->width,
                            .height = t->height,
                            .channels = 3,
                            .pixels = malloc((size_t)t->width * t->height * 3)};
    bool ok = resized.image.pixels;
    for (uint32_t c = 0; ok && c < 3; c++)
        ok = resize_channel(&p->image, c, &resized.image);
    ok = ok ? fill_input(&resized, t, a) : cli_fail(0, "out of memory");
    still_free(&resized.image);
    return ok;
}

static bool fill_inputs(picture *p, const compiler *model, reference_array *inputs)
{
    const unsigned count = compiler_input_count(model);
    bool ok = true;
    for (unsigned i = 0; i < count; i++)
        inputs[i].data = NULL;
    for (unsigned i = 0; ok && i < count; i++) {
        const compiler_tensor t = compiler_input(model, i);
        if (t.array)
            ok = cli_fail(0,
                          "input '%s' is an array, not an image: expected --calibrate %s%sFILE.npy",
                          t.name, count > 1 ? t.name : "", count > 1 ? "=" : "");
        inputs[i] = sized(&t, p, 1);
        const bool whole = t.channels == 3 && t.height && t.width;
        ok = ok && (whole ? fill_whole(p, &t, &inputs[i]) : fill_input(p, &t, &inputs[i]));
    }
    if (!ok)
        reference_arrays_free(inputs, count);
    return ok;
}

bool calibration_sample(const calibration *c, size_t index, const compiler *model,
                        reference_array *inputs)
{
    picture p;
    if (c->images[index].kind == CALIBRATION_ARRAY)
        return calibration_array(c, index, model, inputs);
    if (!open_picture(c, index, model, &p))
        return false;
    const bool ok = fill_inputs(&p, model, inputs);
    close_picture(c, index, &p);
    return ok;
}

/* ---- pairs -------------------------------------------------------------------------------- */

/* Reduces one channel of `large` and rounds it to 8 bits; both are in real values. */
static bool reduce(const reference_array *large, uint32_t channel, float range,
                   reference_array *small)
{
    const size_t from_count = (size_t)large->height * large->width;
    const size_t to_count = (size_t)small->height * small->width;
    real_plane from = {0}, to = {0};
    bool ok = real_plane_open(&from, large->width, large->height) &&
              real_plane_open(&to, small->width, small->height);
    for (size_t i = 0; ok && i < from_count; i++)
        from.values[i] = (double)(large->data[channel * from_count + i] / range) * 255;
    ok = (ok && measure_resize(&to, &from)) || cli_fail(0, "out of memory");
    for (size_t i = 0; ok && i < to_count; i++) {
        small->data[channel * to_count + i] = (float)(measure_to_8_bit(to.values[i]) / 255) * range;
    }
    real_plane_close(&from);
    real_plane_close(&to);
    return ok;
}

/* Fills the input with the picture reduced by `scale`, and the truth with the picture itself. */
static bool fill_reduced(picture *p, const compiler *model, uint32_t scale, reference_array *input,
                         reference_array *truth)
{
    const compiler_tensor t = compiler_input(model, 0);
    *input = sized(&t, p, scale);
    *truth = (reference_array){t.channels, input->height * scale, input->width * scale, NULL};
    if (!fill_input(p, &t, truth))
        return false;
    input->data =
        malloc((size_t)input->channels * input->height * input->width * sizeof *input->data);
    bool ok = input->data || cli_fail(0, "out of memory");
    for (uint32_t c = 0; ok && c < t.channels; c++)
        ok = reduce(truth, c, p->feed->range, input);
    return ok;
}

/* The truth for every output with the role of an input: that input's planes without noise. */
static bool fill_clean(picture *p, const compiler *model, const reference_array *inputs,
                       reference_array *truth)
{
    bool ok = true;
    p->noise = 0;
    for (unsigned o = 0; o < compiler_output_count(model); o++)
        for (unsigned i = 0; ok && i < compiler_input_count(model); i++) {
            const compiler_tensor t = compiler_input(model, i);
            const int role = plane_role_of(t.name);
            if (role == PLANE_ROLE_UNKNOWN ||
                role != plane_role_of(compiler_output(model, o).name) || truth[o].data)
                continue;
            truth[o] = inputs[i];
            truth[o].data = NULL;
            ok = fill_input(p, &t, &truth[o]);
        }
    return ok;
}

/* Whether the truth is known. The result for normalised numbers or for an array need not be a
 * picture. */
static bool has_truth(const calibration *c, size_t index)
{
    return !c->feed.normalised && c->images[index].kind != CALIBRATION_ARRAY;
}

bool calibration_pair(const calibration *c, size_t index, const compiler *model, uint32_t scale,
                      reference_array *inputs, reference_array *truth)
{
    picture p;
    for (unsigned i = 0; i < MONA_MAX_IO; i++)
        inputs[i] = truth[i] = (reference_array){0};
    if (!has_truth(c, index))
        return calibration_sample(c, index, model, inputs);
    if (!open_picture(c, index, model, &p))
        return false;
    bool ok;
    if (scale > 1)
        ok = fill_reduced(&p, model, scale, inputs, truth);
    else
        ok = fill_inputs(&p, model, inputs) &&
             (!has_role(model, PLANE_ROLE_NOISE) || fill_clean(&p, model, inputs, truth));
    close_picture(c, index, &p);
    return ok;
}
