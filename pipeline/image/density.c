// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/metadata.h"

/* In JFIF. */
enum { RATIO, PER_INCH, PER_CENTIMETRE, MOST = 65535 };

void density_of_jfif(picture_density *d, unsigned unit, uint32_t x, uint32_t y)
{
    enum { INCHES = 10000, METRES = 254 };
    if (unit == PER_CENTIMETRE)
        *d = (picture_density){100 * x, 100 * y, true};
    else if (unit == PER_INCH)
        *d = (picture_density){(x * INCHES + METRES / 2) / METRES,
                               (y * INCHES + METRES / 2) / METRES, true};
    else if (x != y)
        *d = (picture_density){x, y, false};
}

bool density_to_jfif(unsigned *unit, uint32_t *x, uint32_t *y, const picture_density *d)
{
    const bool whole = d->x % 100 == 0 && d->y % 100 == 0;
    const double scale = !d->metres ? 1 : whole ? 0.01 : 0.0254;
    const double across = d->x * scale + 0.5, down = d->y * scale + 0.5;
    if (across < 1 || down < 1 || across >= MOST + 1 || down >= MOST + 1)
        return false;
    *unit = !d->metres ? RATIO : whole ? PER_CENTIMETRE : PER_INCH;
    *x = (uint32_t)across;
    *y = (uint32_t)down;
    return true;
}
