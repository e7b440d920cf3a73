// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/changes.h"

#include <string.h>

#include "engine/arith.h"

size_t changes_most(mona_size size)
{
    return (size_t)ceil_div_u32(size.height, CHANGES_ROWS) *
           ceil_div_u32(size.width, CHANGES_COLUMNS);
}

/* Address of byte x of row y of a plane. */
static const uint8_t *at(const frame *f, unsigned plane, size_t x, uint32_t y)
{
    return frame_row(f, plane, y) + x;
}

static bool row_differs(const plane_change *c, const mona_rect *r, uint32_t y)
{
    const size_t sample = frame_sample_bytes(&c->in.format);
    return memcmp(at(&c->in, c->plane, r->x * sample, y),
                  at(&c->before, c->plane, r->x * sample, y), r->width * sample) != 0;
}

/* Removes unchanged rows from both ends of a rectangle; none may be left. */
static void shrink_rows(const plane_change *c, mona_rect *r)
{
    for (; r->height && !row_differs(c, r, r->y); r->height--)
        r->y++;
    while (r->height && !row_differs(c, r, r->y + r->height - 1))
        r->height--;
}

/* Removes unchanged columns; something must differ. */
static void shrink_columns(const plane_change *c, mona_rect *r)
{
    const size_t sample = frame_sample_bytes(&c->in.format);
    const size_t bytes = r->width * sample;
    size_t begin = bytes, end = 0; /* the bytes that differ */
    for (uint32_t y = r->y; y < r->y + r->height && (begin || end < bytes); y++) {
        const uint8_t *in = at(&c->in, c->plane, r->x * sample, y);
        const uint8_t *before = at(&c->before, c->plane, r->x * sample, y);
        size_t x = 0;
        while (x < begin && in[x] == before[x])
            x++;
        begin = x;
        for (x = bytes; x > end && in[x - 1] == before[x - 1];)
            x--;
        end = x;
    }
    r->x += (uint32_t)(begin / sample);
    r->width = (uint32_t)((end + sample - 1) / sample - begin / sample);
}

static uint64_t area(const mona_rect *r)
{
    return (uint64_t)r->width * r->height;
}

/* Joins two rectangles if the joint one has little more area than both. A few rectangles are
 * processed faster than many. */
static bool take_in(mona_rect *r, const mona_rect *other)
{
    const uint32_t right = max_u32(r->x + r->width, other->x + other->width);
    const uint32_t bottom = max_u32(r->y + r->height, other->y + other->height);
    mona_rect both = {.x = min_u32(r->x, other->x), .y = min_u32(r->y, other->y)};
    both.width = right - both.x;
    both.height = bottom - both.y;
    if (area(&both) * 4 > (area(r) + area(other)) * 5)
        return false;
    *r = both;
    return true;
}

/* Adds the changes in the row of blocks that begins with row y. */
static void find_in_row(const plane_change *c, mona_size size, uint32_t y, size_t *count)
{
    for (uint32_t x = 0; x < size.width; x += CHANGES_COLUMNS) {
        mona_rect r = {0, x, y, min_u32(CHANGES_COLUMNS, size.width - x),
                       min_u32(CHANGES_ROWS, size.height - y)};
        shrink_rows(c, &r);
        if (!r.height)
            continue;
        shrink_columns(c, &r);
        if (!*count || !take_in(&c->rects[*count - 1], &r))
            c->rects[(*count)++] = r;
    }
}

/* One row of blocks in four is compared first. If three quarters of their area differ, there is
 * little to gain, and the whole plane counts as changed. */
void changes_find(void *argument)
{
    enum { SAMPLED = 4 * CHANGES_ROWS };
    plane_change *c = argument;
    const mona_size size = frame_plane_size(&c->in.format, c->plane);
    const mona_rect whole = {0, 0, 0, size.width, size.height};
    uint64_t changed = 0;
    size_t count = 0;
    for (uint32_t y = 0; y < size.height; y += SAMPLED)
        find_in_row(c, size, y, &count);
    for (size_t i = 0; i < count; i++)
        changed += area(&c->rects[i]);
    if (changed * SAMPLED / CHANGES_ROWS >= area(&whole) / 4 * 3) {
        c->rects[0] = whole;
        count = 1;
    } else {
        for (uint32_t y = 0; y < size.height; y += CHANGES_ROWS)
            if (y % SAMPLED)
                find_in_row(c, size, y, &count);
    }
    c->change = (mona_change){&c->previous, c->rects, count};
}
