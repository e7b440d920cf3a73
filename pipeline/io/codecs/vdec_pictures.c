// SPDX-License-Identifier: Apache-2.0
/* Pictures from the chip's video decoder. */
#include "pipeline/io/codecs/vdec.h"

#include <string.h>

/* After the end: what was never reported is lost. */
static vdec_slot *take_unreported(vdec *c)
{
    for (vdec_slot *s = c->slots; s < c->slots + VDEC_SLOTS; s++)
        if (s->state == VDEC_SENT) {
            vdec_forget_descriptions(s);
            s->lost = true;
            return s;
        }
    return NULL;
}

static mona_status show(vdec *c, vdec_slot *s, vdec_picture *picture)
{
    *picture = (vdec_picture){s->number, s->lost};
    c->shown = s;
    return s->lost || ((!s->size.width || s->size.width == c->size.width) &&
                       (!s->size.height || s->size.height == c->size.height) &&
                       (!s->stride || s->stride == vdec_stride(c->size)))
               ? MONA_OK
               : vdec_refuse("the chip decoded a frame of another size");
}

/* NULL: *result and *status say why. */
static vdec_slot *next_slot(vdec *c, vdec_result *result, mona_status *status)
{
    for (;;) {
        vdec_slot *s = vdec_take(&c->reported);
        if (!s && c->ended)
            s = take_unreported(c);
        *result = s ? VDEC_PICTURE : c->ended ? VDEC_END : VDEC_MORE;
        if (s || c->ended || (!c->ending && c->in_flight < VDEC_SLOTS))
            return s;
        if (ascend_lost() || !vdec_has_time(c)) {
            *status = MONA_ERR_DEVICE;
            return NULL;
        }
        vdec_pause(c);
    }
}

mona_status vdec_receive(vdec *c, vdec_picture *picture, vdec_result *result)
{
    mona_status status = MONA_OK;
    ascend_enter(c->chip);
    mona_port_lock(&c->lock);
    if (c->shown)
        c->shown->state = VDEC_FREE;
    c->shown = NULL;
    vdec_slot *s = next_slot(c, result, &status);
    if (s)
        status = show(c, s, picture);
    mona_port_unlock(&c->lock);
    return status;
}

typedef struct vdec_planes {
    mona_size size;
    uint8_t *const *planes;
    const ptrdiff_t *strides;
} vdec_planes;

static void copy_planes(void *context, const uint8_t *row)
{
    const vdec_planes *p = context;
    const uint32_t stride = vdec_stride(p->size);
    for (uint32_t y = 0; y < p->size.height; y++, row += stride)
        memcpy(p->planes[0] + (ptrdiff_t)y * p->strides[0], row, p->size.width);
    for (uint32_t y = 0; y < p->size.height / 2; y++, row += stride) {
        uint8_t *u = p->planes[1] + (ptrdiff_t)y * p->strides[1];
        uint8_t *v = p->planes[2] + (ptrdiff_t)y * p->strides[2];
        for (uint32_t x = 0; x < p->size.width / 2; x++) {
            u[x] = row[2 * x];
            v[x] = row[2 * x + 1];
        }
    }
}

mona_status vdec_fetch(const vdec *c, uint8_t *const planes[3], const ptrdiff_t strides[3])
{
    vdec_planes to = {c->size, planes, strides};
    return c->shown && !c->shown->lost && ascend_enter(c->chip)
               ? ascend_read(c->shown->picture, vdec_picture_bytes(c->size), copy_planes, &to)
               : MONA_ERR_STATE;
}
