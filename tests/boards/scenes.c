// SPDX-License-Identifier: Apache-2.0
/* Writes the luma of the sensor's frames, for raw.py. */
#include <stdio.h>

#include "apps/firmware/sensor.h"

int main(void)
{
    sensor_line line;
    for (uint32_t n = 0; n < SENSOR_FRAMES * SENSOR_LINES; n++) {
        sensor_render(&line, n / SENSOR_LINES, n % SENSOR_LINES);
        fwrite(line.y, 1, sizeof line.y, stdout);
    }
    return 0;
}
