// SPDX-License-Identifier: Apache-2.0
/* A camera's sensor, rendered: frames with luma at full size and two planes of chroma at half, as
 * in NV12, which arrive in lines of two rows of luma and one of each chroma. They show moving
 * shapes under noise, the same on every machine. */
#ifndef FIRMWARE_SENSOR_H
#define FIRMWARE_SENSOR_H

#include <stdint.h>

enum {
    SENSOR_WIDTH = 160,
    SENSOR_HEIGHT = 120,
    SENSOR_LINES = SENSOR_HEIGHT / 2,
    SENSOR_FRAMES = 3,
    SENSOR_NOISE = 24, /* the noise level given to the denoiser, of 255 */
};

typedef struct sensor_line {
    uint8_t y[2][SENSOR_WIDTH];
    uint8_t u[SENSOR_WIDTH / 2], v[SENSOR_WIDTH / 2];
} sensor_line;

void sensor_render(sensor_line *to, uint32_t frame, uint32_t line);

/* CRC-32 of IEEE 802.3 of more bytes; begins with 0. */
uint32_t crc32_of(uint32_t crc, const uint8_t *bytes, uint32_t count);

#endif
