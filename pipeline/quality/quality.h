// SPDX-License-Identifier: Apache-2.0
/* How much two frames differ, plane by plane.
 *
 * PSNR is 10 log10(peak^2 / MSE) with the peak 2^bits - 1, over all samples of a plane.
 *
 * SSIM (Wang, Bovik, Sheikh, Simoncelli, 2004) is taken as x264 and FFmpeg take it: windows of 8x8
 * samples, all weighted alike, 4 samples apart in both directions; of each window
 *
 *     (2 ma mb + C1) (2 cov + C2) / ((ma^2 + mb^2 + C1) (va + vb + C2))
 *
 * with means m, variances v and covariance cov over its 64 samples (divided by 63), C1 = (0.01
 * peak)^2 / 64 and C2 = (0.03 peak)^2; the plane's value is the mean over its windows. The paper's
 * windows are Gaussian, of 11x11 and one sample apart, and its C1 is not divided.
 * measure.h has that one, for pictures in the protocols of published tables.
 *
 * "all" joins the planes, each weighted by its samples. */
#ifndef MONA_QUALITY_H
#define MONA_QUALITY_H

#include <stdbool.h>

#include <libavutil/frame.h>

enum { QUALITY_MAX_PLANES = 4, QUALITY_ALL = QUALITY_MAX_PLANES, QUALITY_ROWS };

typedef struct quality {
    unsigned planes;
    double mse[QUALITY_ROWS];  /* in squared steps of the samples; [QUALITY_ALL]: all planes */
    double ssim[QUALITY_ROWS]; /* NAN: a plane smaller than a window */
} quality;

/* Whether frames of this pixel format can be measured: planes of 8 to 16 bits a sample. */
bool quality_takes(int pix_fmt);

/* "y", "u", "v", "a", "r", "g", "b", "grey"; of plane QUALITY_ALL "all". */
const char *quality_plane_name(int pix_fmt, unsigned plane);

/* Measures frames of the same size and of the same format, which quality_takes. */
quality quality_measure(const AVFrame *a, const AVFrame *b);

/* Of frames of this format; INFINITY when there is no difference. */
double quality_psnr(int pix_fmt, double mse);

#endif
