// SPDX-License-Identifier: Apache-2.0
/* Curves over the luma of a frame, for groups of luma rows with the chroma rows that share them.
 *
 * The luma of a chroma sample is the mean of the 2^(shift_x + shift_y) samples that share it,
 * whatever its location among them, since a curve changes little over half a sample. Chroma comes
 * first, in pieces of PIECE samples whose means lie on the stack, so that the frame may be changed
 * in place. */
#include "engine/run/device.h"
#include "engine/libc.h"

enum { PIECE = 512, MAX_SHIFT = 2 };

typedef struct curves_job {
    const mona_curves *curves;
    const mona_isa *isa;
    const mona_buffer *in, *out;
    mona_size size;
    unsigned shift_x, shift_y;
} curves_job;

static size_t sample_bytes(const curves_job *j)
{
    return j->curves->bits > 8 ? 2 : 1;
}

static uint8_t *at(const curves_job *j, const mona_buffer *plane, uint32_t y, uint32_t x)
{
    return (uint8_t *)plane->data + (ptrdiff_t)y * plane->row_stride +
           (ptrdiff_t)(x * sample_bytes(j));
}

/* Adds to each of count sums its 1 << shift samples of a row. */
static void add_bytes(uint16_t *sums, const uint8_t *row, uint32_t count, unsigned shift)
{
    if (shift == 0)
        for (uint32_t x = 0; x < count; x++)
            sums[x] = (uint16_t)(sums[x] + row[x]);
    else if (shift == 1)
        for (uint32_t x = 0; x < count; x++)
            sums[x] = (uint16_t)(sums[x] + row[2 * x] + row[2 * x + 1]);
    else
        for (uint32_t x = 0; x < 4 * count; x++)
            sums[x / 4] = (uint16_t)(sums[x / 4] + row[x]);
}

/* A word can hold the sum of 16 samples of 11 bits. */
static void add_words(uint16_t *sums, const uint8_t *row, uint32_t count, unsigned shift,
                      unsigned bits)
{
    for (uint32_t x = 0; x < count << shift; x++) {
        uint16_t sample;
        memcpy(&sample, row + 2 * (size_t)x, sizeof sample);
        sums[x >> shift] = (uint16_t)(sums[x >> shift] + (sample & ((1u << bits) - 1)));
    }
}

/* Luma means for chroma columns x to x + count - 1 of chroma row y. */
static void luma_means(uint16_t *means, const curves_job *j, uint32_t y, uint32_t x, uint32_t count)
{
    const unsigned shift = j->shift_x + j->shift_y;
    memset(means, 0, count * sizeof *means);
    for (uint32_t i = 0; i < 1u << j->shift_y; i++) {
        const uint8_t *row = at(j, &j->in[0], (y << j->shift_y) + i, x << j->shift_x);
        if (j->curves->bits == 8)
            add_bytes(means, row, count, j->shift_x);
        else
            add_words(means, row, count, j->shift_x, j->curves->bits);
    }
    for (uint32_t i = 0; i < count && shift; i++)
        means[i] = (uint16_t)((means[i] + (1u << (shift - 1))) >> shift);
}

static void chroma_rows(const curves_job *j, uint32_t y)
{
    const uint32_t width = j->size.width >> j->shift_x;
    uint16_t means[PIECE];
    for (uint32_t x = 0; x < width; x += PIECE) {
        const uint32_t count = width - x < PIECE ? width - x : PIECE;
        luma_means(means, j, y, x, count);
        for (unsigned c = 0; c < 2; c++) {
            const mona_chroma_row row = {.from = at(j, &j->in[1 + c], y, x),
                                         .to = at(j, &j->out[1 + c], y, x),
                                         .luma = means,
                                         .pixels = count,
                                         .bits = j->curves->bits,
                                         .gain = &j->curves->gain[c],
                                         .offset = &j->curves->offset[c]};
            j->isa->chroma_row(&row);
        }
    }
}

static void luma_rows(const curves_job *j, uint32_t begin, uint32_t end)
{
    for (uint32_t y = begin; y < end; y++) {
        const mona_luma_row row = {.from = at(j, &j->in[0], y, 0),
                                   .to = at(j, &j->out[0], y, 0),
                                   .pixels = j->size.width,
                                   .bits = j->curves->bits,
                                   .curve = &j->curves->luma};
        j->isa->luma_row(&row);
    }
}

static bool planes_given(const mona_buffer *buffers, unsigned planes)
{
    for (unsigned p = 0; p < planes; p++)
        if (!buffers[p].data)
            return false;
    return true;
}

mona_status mona_curves_apply(const mona_curves *curves, const mona_device *device, const char *cpu,
                              const mona_buffer *inputs, const mona_buffer *outputs,
                              unsigned planes, mona_size size, unsigned shift_x, unsigned shift_y)
{
    if (!curves || !inputs || !outputs || (planes != 1 && planes != 3) || curves->bits < 8 ||
        curves->bits > MONA_MAX_DEPTH || !planes_given(inputs, planes) ||
        !planes_given(outputs, planes))
        return MONA_ERR_ARGUMENT;
    if (shift_x > MAX_SHIFT || shift_y > MAX_SHIFT || size.width > MONA_MAX_SIDE ||
        size.height > MONA_MAX_SIDE || size.width & ((1u << shift_x) - 1) ||
        size.height & ((1u << shift_y) - 1))
        return MONA_ERR_SHAPE;
    device = device ? device : &mona_device_host;
    const mona_isa *isa = device->isa(cpu);
    if (!isa)
        return MONA_ERR_DEVICE;
    const curves_job job = {curves, isa, inputs, outputs, size, shift_x, shift_y};
    for (uint32_t y = 0; y < size.height >> shift_y; y++) {
        if (planes == 3)
            chroma_rows(&job, y);
        luma_rows(&job, y << shift_y, (y + 1) << shift_y);
    }
    return MONA_OK;
}
