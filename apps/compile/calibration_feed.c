// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/calibration.h"

#include <math.h>
#include <stdlib.h>

#include "apps/cli/options.h"

/* Parses one number for all three channels, or three separated by commas. */
static bool parse_channels(const char *option, const char *text, double min, float *numbers)
{
    int count = 0;
    bool good = true, more = true;
    for (const char *at = text; good && more && count < 3; count++) {
        char *end;
        const double x = strtod(at, &end);
        good = end != at && x >= min && x <= 1e6 && (!*end || *end == ',');
        numbers[count] = (float)x;
        more = *end;
        at = end + 1;
    }
    if (!good || more || count == 2)
        return cli_misuse(
            "%s: expected one number or three with commas between, each from %.16g to "
            "1000000, found '%s'",
            option, min, text);
    for (int i = count; i < 3; i++)
        numbers[i] = numbers[0];
    return true;
}

bool calibration_feed_read(calibration_feed *f, const char *mean, const char *deviation, bool bgr)
{
    f->bgr = bgr;
    f->normalised = mean || deviation;
    for (int i = 0; i < 3; i++) {
        f->mean[i] = 0;
        f->deviation[i] = 1;
    }
    return (!mean || parse_channels("--mean", mean, -1e6, f->mean)) &&
           (!deviation || parse_channels("--deviation", deviation, 1e-6, f->deviation));
}

bool calibration_feed_alike(const calibration_feed *f)
{
    bool alike = true;
    for (int i = 1; i < 3; i++)
        alike = alike && f->mean[i] == f->mean[0] && f->deviation[i] == f->deviation[0];
    return alike;
}

bool calibration_feed_suits(const calibration_feed *f, const compiler *model, const char *name)
{
    const bool alike = calibration_feed_alike(f);
    for (unsigned i = 0; !alike && i < compiler_input_count(model); i++) {
        const compiler_tensor t = compiler_input(model, i);
        if (t.channels != 3)
            return cli_fail(0,
                            "%s: --mean and --deviation have a number for each of 3 channels, "
                            "input '%s' has %u",
                            name, t.name, t.channels);
    }
    return true;
}

float calibration_fed(const calibration_feed *f, uint32_t channel, double sample)
{
    if (f->inside)
        return (float)sample;
    if (!f->normalised)
        return (float)(sample / 255) * f->range;
    return (float)((sample - (double)f->mean[channel]) / (double)f->deviation[channel]);
}

float calibration_fed_number(const calibration_feed *f, uint32_t channel, double number)
{
    return (float)(f->inside ? number * (double)f->deviation[channel] + (double)f->mean[channel]
                             : number);
}

float calibration_fed_stored(const calibration_feed *f, uint32_t channel, double stored)
{
    if (f->planes == MONA_U16)
        return calibration_fed(f, channel, stored * 255 / f->top);
    return (float)(stored / 127 * (double)(f->normalised ? calibration_feed_range(f) : f->range));
}

float calibration_feed_range(const calibration_feed *f)
{
    double range = 0; /* the numbers are from -128 to 127 */
    for (int c = 0; c < 3; c++) {
        const double low = (0 - (double)f->mean[c]) / (double)f->deviation[c];
        const double high = (255 - (double)f->mean[c]) / (double)f->deviation[c];
        range = fmax(range, fmax(high, -low * 127 / 128));
    }
    return (float)range;
}
