// SPDX-License-Identifier: Apache-2.0
/* How much two frames differ, plane by plane.
 *
 * PSNR is 10 log10(peak^2 / MSE) with the peak 2^bits - 1, over all samples of a plane.
 *
 * SSIM (Wang, Bovik, Sheikh, Simoncelli, 2004) is computed as x264 and FFmpeg do it: over windows
 * of 8x8 samples with equal weights, 4 samples apart in both directions; each window gives
 *
 *     (2 ma mb + C1) (2 cov + C2) / ((ma^2 + mb^2 + C1) (va + vb + C2))
 *
 * with means m, variances v and covariance cov over its 64 samples (divided by 63), C1 = (0.01
 * peak)^2 / 64 and C2 = (0.03 peak)^2. The plane's value is the mean over its windows. In the
 * paper, windows are Gaussian, of 11x11 samples and one sample apart, and C1 is not divided;
 * measure.h does that for the protocols of published tables.
 *
 * "all" joins the planes, each weighted by its number of samples. */
#ifndef MONA_QUALITY_H
#define MONA_QUALITY_H

#include <stdbool.h>

#include <libavutil/frame.h>

#include "pipeline/quality/measure.h"
#include "pipeline/stages/stage.h"

enum { QUALITY_MAX_PLANES = 4, QUALITY_ALL = QUALITY_MAX_PLANES, QUALITY_ROWS };

typedef struct quality {
    unsigned planes;
    double mse[QUALITY_ROWS];  /* in squared steps of the samples; [QUALITY_ALL]: all planes */
    double ssim[QUALITY_ROWS]; /* a plane that is smaller than a window counts as one */
} quality;

/* Whether frames of this pixel format can be measured: it has planes of 8 to 16 bits a sample. */
bool quality_takes(int pix_fmt);

/* "y", "u", "v", "a", "r", "g", "b" or "grey"; "all" for QUALITY_ALL. */
const char *quality_plane_name(int pix_fmt, unsigned plane);

/* Measures two frames of the same size and format; quality_takes must accept the format. */
quality quality_measure(const AVFrame *a, const AVFrame *b);

/* PSNR of frames in this format; INFINITY if they do not differ. */
double quality_psnr(int pix_fmt, double mse);

/* Runs one picture's luma through a model, as mona enhance would. */

/* Rounds `from` to 8 bits and runs the model on it. A denoiser gets neutral chroma and sigma as the
 * strength of the noise. `to` receives as much of the resulting luma as it has room for. or_host:
 * see session_binding_open_deep. */
bool model_run(real_plane *to, const real_plane *from, const named_model *model, bool or_host,
               const mona_config *config, unsigned sigma, pipeline_error *error);

#endif
