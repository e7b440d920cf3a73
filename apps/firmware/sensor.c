// SPDX-License-Identifier: Apache-2.0
#include "apps/firmware/sensor.h"

/* A hash of the sample's place, so that every line can be rendered by itself. */
static uint32_t noise_at(uint32_t frame, uint32_t x, uint32_t y)
{
    uint32_t h = frame * 0x9e3779b1u + x * 0x85ebca77u + y * 0xc2b2ae3du;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    return h ^ h >> 12;
}

/* About normal, of standard deviation 8. */
static int32_t grain(uint32_t frame, uint32_t x, uint32_t y)
{
    const uint32_t h = noise_at(frame, x, y);
    return (int32_t)((h & 15) + (h >> 8 & 15) + (h >> 16 & 15)) - 22;
}

static uint8_t clipped(int32_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* A disc that moves, over stripes. */
static uint8_t luma(uint32_t frame, uint32_t x, uint32_t y)
{
    const int32_t dx = (int32_t)x - 50 - 12 * (int32_t)frame, dy = (int32_t)y - 60;
    const int32_t base =
        dx * dx + dy * dy < 30 * 30 ? 200 : 60 + (int32_t)((x * 3 + y) / 8 % 8) * 12;
    return clipped(base + grain(frame, x, y));
}

void sensor_render(sensor_line *to, uint32_t frame, uint32_t line)
{
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t x = 0; x < SENSOR_WIDTH; x++)
            to->y[i][x] = luma(frame, x, line * 2 + i);
    for (uint32_t x = 0; x < SENSOR_WIDTH / 2; x++) {
        to->u[x] = clipped(100 + (int32_t)(x / 4) + grain(frame, x, line + 1000) / 2);
        to->v[x] = clipped(160 - (int32_t)(line / 2) + grain(frame, x, line + 2000) / 2);
    }
}

uint32_t crc32_of(uint32_t crc, const uint8_t *bytes, uint32_t count)
{
    crc = ~crc;
    for (uint32_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
    }
    return ~crc;
}
