#include "frame.h"

#include <string.h>

static size_t align(size_t bytes)
{
    return (bytes + MONA_ALIGNMENT - 1) / MONA_ALIGNMENT * MONA_ALIGNMENT;
}

mona_size frame_plane_size(const frame_format *format, unsigned plane)
{
    const uint32_t multiple = format->multiple;
    const unsigned shift = plane == 1 || plane == 2 ? format->chroma_shift : 0;
    const uint32_t w = (format->width + multiple - 1) / multiple * multiple;
    const uint32_t h = (format->height + multiple - 1) / multiple * multiple;
    return (mona_size){w >> shift, h >> shift};
}

/* Bytes from one row of a plane to the next. */
static size_t plane_stride(const frame_format *format, unsigned plane)
{
    return align(frame_plane_size(format, plane).width);
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

void frame_fill_plane(frame *f, unsigned plane, const uint8_t *source, ptrdiff_t source_stride,
                      uint32_t width, uint32_t height)
{
    mona_size size = frame_plane_size(&f->format, plane);
    for (uint32_t y = 0; y < size.height; y++) {
        uint8_t *row = f->data[plane] + (ptrdiff_t)y * f->stride[plane];
        if (y < height) {
            memcpy(row, source + (ptrdiff_t)y * source_stride, width);
            memset(row + width, row[width - 1], size.width - width);
        } else {
            memcpy(row, row - f->stride[plane], size.width);
        }
    }
}

mona_buffer frame_buffer(const frame *f, unsigned plane)
{
    return (mona_buffer){.data = f->data[plane], .row_stride = f->stride[plane]};
}
