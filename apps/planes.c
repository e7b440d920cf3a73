#include "planes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/half.h"

bool planes_open(planes *p, mona_tensor_info info)
{
    const size_t element = mona_type_size(info.type), row = info.width * element;
    *p = (planes){.info = info, .count = (size_t)info.channels * info.height * info.width};
    p->buffer =
        (mona_buffer){calloc(p->count, element), (ptrdiff_t)row, (ptrdiff_t)(row * info.height)};
    return p->buffer.data;
}

void planes_close(planes *p)
{
    free(p->buffer.data);
    p->buffer.data = NULL;
}

double planes_get(const planes *p, size_t i)
{
    const double step = (double)p->info.scale;
    uint16_t wide;
    switch (p->info.type) {
    case MONA_U8:
        return step * ((const uint8_t *)p->buffer.data)[i];
    case MONA_S8:
        return step * ((const int8_t *)p->buffer.data)[i];
    case MONA_F16:
    case MONA_U16:
        memcpy(&wide, (const uint8_t *)p->buffer.data + 2 * i, sizeof wide);
        return p->info.type == MONA_F16 ? half_value(wide) : step * wide;
    case MONA_TYPE_COUNT:
        break;
    }
    return 0;
}

void planes_set(planes *p, size_t i, double value)
{
    static const struct {
        double low, high;
    } bounds[MONA_TYPE_COUNT] = {
        [MONA_U8] = {0, 255}, [MONA_S8] = {-128, 127}, [MONA_U16] = {0, 65535}};
    const double low = bounds[p->info.type].low, high = bounds[p->info.type].high;
    const double steps = nearbyint(value / (double)p->info.scale);
    const double q = steps > low ? (steps < high ? steps : high) : low; /* a NaN becomes low */
    uint16_t wide;
    switch (p->info.type) {
    case MONA_U8:
        ((uint8_t *)p->buffer.data)[i] = (uint8_t)q;
        break;
    case MONA_S8:
        ((int8_t *)p->buffer.data)[i] = (int8_t)q;
        break;
    case MONA_F16:
    case MONA_U16:
        wide = p->info.type == MONA_U16 ? (uint16_t)q : half_from_double(isnan(value) ? 0 : value);
        memcpy((uint8_t *)p->buffer.data + 2 * i, &wide, sizeof wide);
        break;
    case MONA_TYPE_COUNT:
        break;
    }
}
