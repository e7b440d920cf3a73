// SPDX-License-Identifier: Apache-2.0
/* Measures pictures as published tables do: planes of real values in 8-bit steps, MATLAB's
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

/* The values are undefined at first. False: out of memory. A zeroed plane may be closed too. */
bool real_plane_open(real_plane *p, uint32_t width, uint32_t height);
void real_plane_close(real_plane *p);

/* Makes planes of the first p->width columns and p->height rows of an 8-bit image with 1 or 3
 * channels, rounded to integers. Luma is BT.601 in studio range, 16..235; grey is 0.2989 R + 0.587
 * G + 0.114 B. Both leave an image of one channel as it is. */
void measure_luma(real_plane *p, const still *image);
void measure_grey(real_plane *p, const still *image);

/* Resizes by bicubic interpolation (a = -0.5) with aligned pixel centres and mirrored borders. When
 * it reduces, the kernel widens to prevent aliasing. Results are not rounded. False: out of
 * memory. */
bool measure_resize(real_plane *to, const real_plane *from);

/* Converts to 8-bit samples, rounded to the nearest and saturated, in rows without gaps; and
 * back. */
void measure_to_bytes(uint8_t *bytes, const real_plane *from);
void measure_from_bytes(real_plane *to, const uint8_t *bytes);

/* The nearest 8-bit sample. */
double measure_to_8_bit(double value);

/* PSNR in dB, with a peak of 255, of planes of the same size without `border` samples at each side;
 * infinite if they are equal. */
double measure_psnr(const real_plane *a, const real_plane *b, uint32_t border);

/* Mean SSIM (Wang et al. 2004) over the same area, which must be at least 11x11: Gaussian window of
 * 11x11, sigma 1.5, K 0.01 and 0.03, only windows inside the area. False: out of memory. */
bool measure_ssim(const real_plane *a, const real_plane *b, uint32_t border, double *ssim);

/* Uniformly distributed 64-bit numbers: SplitMix64 (Steele, Lea, Flood 2014). state: any seed at
 * first. */
uint64_t measure_random(uint64_t *state);

/* Adds Gaussian noise, then clips and rounds to 8 bits, as cameras deliver it. state: any seed at
 * first; carries on from plane to plane. */
void measure_add_noise(real_plane *p, double sigma, uint64_t *state);

#endif
