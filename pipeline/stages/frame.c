// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/frame.h"

#include <string.h>

#include "engine/arith.h"

static unsigned shift_across(const frame_format *format, unsigned plane)
{
    return plane == 1 || plane == 2 ? format->shift_x : 0;
}

static unsigned shift_down(const frame_format *format, unsigned plane)
{
    return plane == 1 || plane == 2 ? format->shift_y : 0;
}

static uint32_t shifted_up(uint32_t size, unsigned shift)
{
    return (size + (1u << shift) - 1) >> shift;
}

mona_size frame_shown_size(const frame_format *format, unsigned plane)
{
    return (mona_size){shifted_up(format->width, shift_across(format, plane)),
                       shifted_up(format->height, shift_down(format, plane))};
}

mona_size frame_plane_size(const frame_format *format, unsigned plane)
{
    const uint32_t multiple = format->multiple;
    const uint32_t w = (format->width + multiple - 1) / multiple * multiple;
    const uint32_t h = (format->height + multiple - 1) / multiple * multiple;
    return (mona_size){w >> shift_across(format, plane), h >> shift_down(format, plane)};
}

/* Distance in bytes between rows of a plane. */
static size_t plane_stride(const frame_format *format, unsigned plane)
{
    return align_up(frame_plane_size(format, plane).width * frame_sample_bytes(format));
}

size_t frame_bytes(const frame_format *format)
{
    size_t bytes = 0;
    for (unsigned p = 0; p < format->planes; p++)
        bytes += plane_stride(format, p) * frame_plane_size(format, p).height;
    return bytes;
}

void frame_place(frame *f, const frame_format *format, uint8_t *memory)
{
    *f = (frame){.format = *format};
    for (unsigned p = 0; p < format->planes; p++) {
        size_t stride = plane_stride(format, p);
        f->data[p] = memory;
        f->stride[p] = (ptrdiff_t)stride;
        memory += stride * frame_plane_size(format, p).height;
    }
}

/* Copies the sample before `to` count times. */
static void repeat_sample(uint8_t *to, size_t sample, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, to += sample)
        memcpy(to, to - sample, sample);
}

void frame_fill_plane(frame *f, unsigned plane, const uint8_t *source, ptrdiff_t source_stride)
{
    const mona_size shown = frame_shown_size(&f->format, plane);
    for (uint32_t y = 0; y < shown.height; y++)
        memcpy(frame_row(f, plane, y), source + (ptrdiff_t)y * source_stride,
               shown.width * frame_sample_bytes(&f->format));
    frame_pad_plane(f, plane);
}

bool frame_samples_fit(const frame_format *format, unsigned plane, const uint8_t *source,
                       ptrdiff_t source_stride)
{
    const mona_size shown = frame_shown_size(format, plane);
    uint64_t seen = 0, four;
    uint16_t one;
    for (uint32_t y = 0; format->bits > 8 && y < shown.height; y++) {
        const uint8_t *row = source + (ptrdiff_t)y * source_stride;
        uint32_t x = 0;
        for (; x + 4 <= shown.width; x += 4) {
            memcpy(&four, row + x * sizeof one, sizeof four);
            seen |= four;
        }
        for (; x < shown.width; x++) {
            memcpy(&one, row + x * sizeof one, sizeof one);
            seen |= one;
        }
    }
    return !(seen & (UINT16_MAX & UINT16_MAX << format->bits) * 0x0001000100010001u);
}

void frame_pad_plane(const frame *f, unsigned plane)
{
    const mona_size size = frame_plane_size(&f->format, plane);
    const mona_size shown = frame_shown_size(&f->format, plane);
    const size_t sample = frame_sample_bytes(&f->format);
    for (uint32_t y = 0; y < size.height; y++) {
        uint8_t *row = frame_row(f, plane, y);
        if (y < shown.height)
            repeat_sample(row + shown.width * sample, sample, size.width - shown.width);
        else
            memcpy(row, row - f->stride[plane], size.width * sample);
    }
}

void frame_set_samples(void *row, const frame_format *format, unsigned value, size_t count)
{
    const uint16_t wide = (uint16_t)value;
    if (frame_sample_bytes(format) == 1)
        memset(row, (int)value, count);
    else
        for (size_t i = 0; i < count; i++)
            memcpy((uint8_t *)row + 2 * i, &wide, sizeof wide);
}

mona_buffer frame_buffer(const frame *f, unsigned plane)
{
    return (mona_buffer){.data = f->data[plane], .row_stride = f->stride[plane]};
}

mona_status frame_copy_plane(mona_stream *stream, const frame *in, const frame *out, unsigned plane)
{
    const mona_size size = frame_plane_size(&in->format, plane);
    return mona_stream_copy(stream, out->data[plane], out->stride[plane], in->data[plane],
                            in->stride[plane], size.width * frame_sample_bytes(&in->format),
                            size.height);
}
