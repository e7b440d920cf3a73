// SPDX-License-Identifier: Apache-2.0
/* Measuring pictures as the published tables do: planes of real values in 8-bit steps, MATLAB's
 * rgb2ycbcr, rgb2gray and imresize, PSNR, SSIM, and noise that is the same on every machine. */
#ifndef MONA_MEASURE_H
#define MONA_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/image/stills.h"

typedef struct real_plane {
    uint32_t width, height;
    double *values; /* rows without gaps; released by real_plane_close */
} real_plane;

/* Values undefined. False: out of memory. A zeroed or opened plane may be closed. */
bool real_plane_open(real_plane *p, uint32_t width, uint32_t height);
void real_plane_close(real_plane *p);

/* Planes of an 8-bit image of 1 or 3 channels, its first p->width columns and p->height rows,
 * rounded to whole steps. Luma is that of BT.601 in studio range, 16..235, and grey 0.2989 R +
 * 0.587 G + 0.114 B; both leave an image of one channel as it is. */
void measure_luma(real_plane *p, const still *image);
void measure_grey(real_plane *p, const still *image);

/* Bicubic (a = -0.5) from one size to another with pixel centres aligned and borders mirrored; the
 * kernel widens where it reduces, so that nothing aliases. Not rounded. False: out of memory. */
bool measure_resize(real_plane *to, const real_plane *from);

/* 8-bit samples, rows without gaps: rounded to the nearest, saturated; and back. */
void measure_to_bytes(uint8_t *bytes, const real_plane *from);
void measure_from_bytes(real_plane *to, const uint8_t *bytes);

/* PSNR in dB against 255 of planes of one size over everything but border samples at each side;
 * infinite when they are equal. */
double measure_psnr(const real_plane *a, const real_plane *b, uint32_t border);

/* Mean SSIM (Wang et al. 2004) over the same area: Gaussian window of 11x11, sigma 1.5, K 0.01 and
 * 0.03, windows that lie inside only. False: out of memory. The area must be 11x11 or more. */
bool measure_ssim(const real_plane *a, const real_plane *b, uint32_t border, double *ssim);

/* Adds Gaussian noise and then clips and rounds to 8 bit, as a camera delivers it. state: any seed
 * at first; carries on from plane to plane. */
void measure_add_noise(real_plane *p, double sigma, uint64_t *state);

#endif
