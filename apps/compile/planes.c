// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/arrays.h"

#include <math.h>
#include <stdlib.h>

#include "formats/element.h"

bool planes_open(planes *p, mona_tensor_info info)
{
    return planes_repeat(p, info, 1);
}

bool planes_repeat(planes *p, mona_tensor_info info, size_t images)
{
    const size_t element = mona_type_size(info.type), row = info.width * element;
    const size_t each = (size_t)info.channels * info.height * info.width;
    *p = (planes){.info = info};
    if (each && images > SIZE_MAX / each)
        return false;
    p->count = each * images;
    p->buffer =
        (mona_buffer){calloc(p->count, element), (ptrdiff_t)row, (ptrdiff_t)(row * info.height)};
    return p->buffer.data;
}

void planes_close(planes *p)
{
    free(p->buffer.data);
    p->buffer.data = NULL;
}

/* Where an element lies: aligned for its type. */
static void *element_at(const planes *p, size_t i)
{
    return (uint8_t *)p->buffer.data + i * mona_type_size(p->info.type);
}

double planes_get(const planes *p, size_t i)
{
    if (p->info.type == MONA_F16)
        return half_value(*(const uint16_t *)element_at(p, i));
    const double value = element_number(element_of(p->info.type), element_at(p, i));
    return p->info.type == MONA_F32 ? value : (double)p->info.scale * value;
}

/* The smallest and the largest number of each type, in units of the scale. */
static const struct {
    double low, high;
} bounds[MONA_TYPE_COUNT] = {
    [MONA_U8] = {0, 0xff},
    [MONA_S8] = {-0x80, 0x7f},
    [MONA_F16] = {-65504, 65504},
    [MONA_U16] = {0, 0xffff},
    [MONA_S16] = {-0x8000, 0x7fff},
    [MONA_S32] = {-0x1p31, 0x1p31 - 1},
    [MONA_U32] = {0, 0x1p32 - 1},
    [MONA_S64] = {-0x1p63, 0x1p63 - 0x1p10}, /* largest that a double can represent */
    [MONA_U64] = {0, 0x1p64 - 0x1p11},
};

double planes_low(const mona_tensor_info *info)
{
    return bounds[info->type].low * (double)info->scale;
}

double planes_high(const mona_tensor_info *info)
{
    return bounds[info->type].high * (double)info->scale;
}

bool planes_hold(const planes *p, double value)
{
    const double half = p->info.type == MONA_F16 ? 16 : 0.5 * (double)p->info.scale;
    if (p->info.type == MONA_F32)
        return true;
    return value >= planes_low(&p->info) - half && value <= planes_high(&p->info) + half;
}

/* The nearest integer of the type; NaN becomes the smallest. */
static double quantised(const planes *p, double value)
{
    const double low = bounds[p->info.type].low, high = bounds[p->info.type].high;
    const double q = nearbyint(value / (double)p->info.scale);
    return q > low ? (q < high ? q : high) : low;
}

void planes_set(planes *p, size_t i, double value)
{
    void *at = element_at(p, i);
    if (p->info.type == MONA_F16) {
        *(uint16_t *)at = half_from_double(isnan(value) ? 0 : value);
    } else if (p->info.type == MONA_F32) {
        *(float *)at = (float)value;
    } else {
        const double q = quantised(p, value);
        element_store_int(element_of(p->info.type), at, q < 0 ? (int64_t)q : (int64_t)(uint64_t)q);
    }
}

/* ---- all of a plan --------------------------------------------------------------------------- */

bool plan_planes_open(plan_planes *p, const mona_model *model, const mona_plan *plan)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < mona_model_input_count(model); i++)
        ok = planes_open(&p->in[i], mona_plan_input(plan, i));
    for (unsigned i = 0; ok && i < mona_model_output_count(model); i++)
        ok = planes_open(&p->out[i], mona_plan_output(plan, i));
    return ok;
}

void plan_planes_close(plan_planes *p)
{
    for (unsigned i = 0; i < MONA_MAX_IO; i++) {
        planes_close(&p->in[i]);
        planes_close(&p->out[i]);
    }
}

mona_status plan_planes_run(plan_planes *p, mona_session *session)
{
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    for (unsigned i = 0; i < MONA_MAX_IO; i++) {
        in[i] = p->in[i].buffer;
        out[i] = p->out[i].buffer;
    }
    return mona_session_run(session, in, out);
}
