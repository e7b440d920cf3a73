// SPDX-License-Identifier: Apache-2.0
/* Denoising of frames by a network for 4:2:0. Its input includes the strength of the noise: the
 * estimated noise or the error that compression left, whichever is larger.
 *
 * A 4:2:0 frame is denoised as a whole. Planes of other formats are denoised one by one, each as
 * the luma of a grey picture, at its own resolution and with its own noise.
 *
 * Results may then be steadied with the previous frame (temporal.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/stages/noise.h"
#include "pipeline/stages/grain.h"
#include "pipeline/stages/noise_change.h"
#include "pipeline/stages/noise_evidence.h"
#include "pipeline/stages/plane_roles.h"
#include "pipeline/stages/pool.h"
#include "pipeline/stages/sample.h"
#include "pipeline/stages/stage.h"
#include "pipeline/stages/temporal.h"

/* The estimate follows changes of the noise within about a second of video, and does not
 * flicker. */
#define SMOOTHING 0.1f

/* Compression errors below this, the error of QP 24 in H.264, are ignored: below it, clips lost up
 * to 0.1 dB, while at CRF 24 all of them gain. A strength of 1.25 times the error gains another
 * 0.03 to 0.1 dB at CRF 32 (models/train/clips.py). */
#define MIN_ERROR 2.5f
#define ERROR_TOLD 1.25f

/* In film, a share of the repair is undone, from the first at small errors to the second at large
 * ones: a network that gets one error for a whole frame mistakes texture for damage, and where
 * there is little damage there is more texture. Twelve clips, doubled, gain 0.12, 0.05 and 0.02 dB
 * at CRF 23, 28 and 32 by this (mean errors 3.6, 5 and 6.5), and 0.005 of SSIM
 * (models/train/film.py). */
#define LITTLE_ERROR 3.0
#define LITTLE_DETAIL 0.75
#define LARGE_ERROR 8.0
#define LARGE_DETAIL 0.25

/* What compression left differs from frame to frame, and enlarging makes that more visible. So
 * frames are steadied as for noise of ERROR_STEADIED times the error, but of at least
 * LEAST_STEADIED steps, even where the error is unknown or too small to be repaired; not where it
 * is below MIN_STEADIED. Of twelve clips by x264 and x265 at CRF 18, 23 and 28, 23 flickered more
 * than bicubic interpolation of their input; now 10 do, by up to 0.04 steps. It costs 0.016 dB on
 * average (models/train/film.py). */
#define ERROR_STEADIED 0.7f
#define LEAST_STEADIED 3.0f
#define MIN_STEADIED 1.0f

/* Of coarse noise networks leave much, and frames differ more by it, so they are steadied as for
 * noise of so many times the strength, but of at most MOST_STEADIED unless there is more: otherwise
 * one scene would seem to stand still where another one follows. What moves in 60 noisy films gains
 * 0.4 dB by steadying so, and one block in 300 loses more than 0.5 dB; 0.2 dB and one in 5,000 with
 * 1, 0.6 dB and one in 80 with 2. */
#define NOISE_STEADIED 1.5f
#define MOST_STEADIED 24.0f

/* Noise below this is ignored. In pictures so little is hardly visible and easily confused with
 * texture. */
#define MIN_NOISE 0.5f
#define MIN_STILL_NOISE 1.5f

/* Chroma with less noise than this is ignored where luma is clean. */
#define MIN_CHROMA 2.2f

/* Below so much noise in it chroma is left as the network makes it. */
#define LEAST_BLOTCHES 1.3f

/* The ratio of chroma's compression error to luma's; for 4:2:0 by x264 between QP 20 and 50 it is
 * 0.6 to 0.3. */
#define CHROMA_ERROR 0.5f

/* See follow_pattern. */
#define PATTERN_SMOOTHING 0.2
#define PATTERN_MOST 4.0
#define PATTERN_SURE 0.9

enum { DENOISE_PLANES = 3 }; /* examined for noise, at most */

#define DENOISE_MAX_SIGMA 50.0 /* standard deviation in 8-bit steps at strength 1 */

/* The network bound to one size. */
typedef struct denoise_pass {
    session_binding bound;
    pool pool;               /* runs it, if that is on chips */
    frame_format format;     /* the 4:2:0 frame that the network sees */
    void *grey;              /* one row of its chroma if the frame has none of its own; else NULL */
    frame unused;            /* receives that chroma: planes 0 and 1 */
    uint8_t *memory;         /* of grey and unused */
    temporal_work *temporal; /* NULL: frames are not steadied */
    chroma_noise blotches;   /* open for whole 4:2:0 frames */
} denoise_pass;

struct denoiser;

/* The grain that is removed: what was measured, and of each slot the result. */
typedef struct denoise_grain {
    grain_meter meters[GRAIN_PLANES];
    grain_model models[STAGE_SLOTS];
} denoise_grain;

/* The work before the network's run on one plane, or on all of a 4:2:0 frame. */
typedef struct noise_job {
    struct denoiser *denoiser;
    denoise_pass *pass;
    const frame *in, *out;
    const frame *beside, *previous; /* as in stage_work */
    unsigned plane;
    float error;    /* what compression left, in steps of 8 bits; 0: too little to be repaired */
    float steadied; /* because of compression, as for noise of this sigma; 0: it is not */
    float noise;    /* its strength as given or estimated, in steps of 8 bits */
    float found[DENOISE_PLANES]; /* of noise in each plane, as for display */
    bool begins;                 /* as in stage_work */
    bool told;          /* the decoder reports what compression left, even if it is little */
    bool noisy;         /* whether to run the network */
    bool only_chroma;   /* and leave luma as it is */
    bool only_luma;     /* and leave chroma as it is */
    grain_model *grain; /* of the frame; NULL: it is not measured */
    uint8_t *row;       /* one row of the network's noise input, which all rows share */
} noise_job;

typedef struct denoiser {
    const named_model *model;
    frame_format frame;
    denoise_pass luma, chroma; /* whole 4:2:0 frames use luma alone */
    double fixed;              /* strength, 0..1 of DENOISE_MAX_SIGMA; negative: estimated */
    bool still;                /* a picture */
    bool compressed;           /* compression's error is a lower bound of the estimate */
    double detail;             /* share of its repair that is undone; negative: the usual one */
    unsigned spacing;
    float strength[DENOISE_PLANES]; /* estimates so far, negative before the first frame */
    float sigma[DENOISE_PLANES];    /* what they are based on, for display */
    float error;                    /* of compression in luma, likewise */
    double odds;                    /* of a pattern in film so far, as a logarithm */
    bool pattern;                   /* the finest detail of luma, see noise_evidence.h */
    noise_work *work;
    denoise_grain *grain; /* NULL: none is measured */
    uint8_t *rows;
    noise_job jobs[STAGE_SLOTS][DENOISE_PLANES];
} denoiser;

/* The network halves a plane, and a frame's planes that are denoised one by one are chroma too. */
static uint32_t multiple(const frame_format *format)
{
    if (frame_is_420(format))
        return 2;
    return 2u << (format->shift_x > format->shift_y ? format->shift_x : format->shift_y);
}

/* How many planes the network denoises one by one; 1: the whole frame at once, or there is only
 * luma. */
static unsigned runs(const denoiser *d)
{
    return d->frame.planes >= 3 && !frame_is_420(&d->frame) ? 3 : 1;
}

/* ---- opening -------------------------------------------------------------------------------- */

static bool check_outputs(const denoise_pass *pass, const named_model *model, pipeline_error *error)
{
    for (unsigned i = 0; i < mona_model_output_count(&model->model); i++) {
        mona_tensor_info out = mona_plan_output(pass->bound.plan, i);
        mona_size want = plane_role_size(plane_role_of(out.name), &pass->format);
        if (out.width != want.width || out.height != want.height)
            return pipeline_fail(error, "%s: expected '%s' of %ux%u, found %ux%u", model->name,
                                 out.name, want.width, want.height, out.width, out.height);
    }
    return true;
}

/* Makes neutral chroma for a plane that is passed to the network as luma. */
static bool make_grey(denoise_pass *pass, pipeline_error *error)
{
    const mona_size size = frame_plane_size(&pass->format, 1);
    const frame_format unused = {.width = size.width,
                                 .height = size.height,
                                 .planes = 2,
                                 .bits = pass->format.bits,
                                 .multiple = 1};
    const size_t row = (size_t)size.width * frame_sample_bytes(&unused);
    pass->memory = session_binding_allocate(frame_bytes(&unused) + row);
    if (!pass->memory)
        return pipeline_fail(error, "out of memory");
    frame_place(&pass->unused, &unused, pass->memory);
    pass->grey = pass->memory + frame_bytes(&unused);
    frame_set_samples(pass->grey, &unused, 1u << (unused.bits - 1), size.width);
    return true;
}

static bool open_temporal(denoise_pass *pass, stage *s)
{
    const size_t blocks = motion_mask_blocks(&pass->format);
    temporal_work *t = pass->temporal = stage_take(s, sizeof *t);
    if (t) {
        t->blocks = stage_take(s, blocks * sizeof *t->blocks);
        t->light = stage_take(s, temporal_lights(&pass->format) * sizeof *t->light);
        t->vectors = stage_take(s, blocks * sizeof *t->vectors);
    }
    return t && t->blocks && t->light && t->vectors;
}

static bool open_pool(denoise_pass *pass, stage *s, const stage_settings *settings,
                      const mona_config *config, const char *name, pipeline_error *error)
{
    return !pool_is_wanted(&settings->devices, &pass->bound) ||
           (pool_open(&pass->pool, &settings->devices, &pass->bound, config, name, error) &&
            (s->entry || stage_open_entry(s, settings, pool_frames(&pass->pool), error)));
}

/* Binds the network to 4:2:0 frames with luma of this size. */
static bool open_pass(denoise_pass *pass, stage *s, const stage_settings *settings, mona_size luma,
                      bool grey, pipeline_error *error)
{
    const denoiser *d = s->state;
    const named_model *model = d->model;
    mona_config config = stage_config(settings);
    pass->format = (frame_format){.width = luma.width,
                                  .height = luma.height,
                                  .planes = 3,
                                  .shift_x = 1,
                                  .shift_y = 1,
                                  .bits = d->frame.bits,
                                  .multiple = 2};
    plane_roles_bind(&model->model, &pass->format, &config);
    return session_binding_open_deep(&pass->bound, &model->model, model->name, d->frame.bits,
                                     settings->or_host, &config, error) &&
           check_outputs(pass, model, error) && (!grey || make_grey(pass, error)) &&
           open_pool(pass, s, settings, &config, model->name, error) &&
           (((!settings->temporal || open_temporal(pass, s)) &&
             (grey || chroma_noise_open(&pass->blotches, s, &pass->format))) ||
            pipeline_fail(error, "out of memory"));
}

static size_t noise_row_bytes(const denoiser *d)
{
    return plane_role_size(PLANE_ROLE_NOISE, &d->luma.format).width * frame_sample_bytes(&d->frame);
}

static bool make_jobs(denoiser *d, bool measures_grain, pipeline_error *error)
{
    const size_t row = noise_row_bytes(d);
    d->rows = session_binding_allocate(row * STAGE_SLOTS * DENOISE_PLANES);
    d->work = session_binding_allocate(sizeof *d->work);
    d->grain = measures_grain ? session_binding_allocate(sizeof *d->grain) : NULL;
    if (!d->rows || !d->work || (measures_grain && !d->grain))
        return pipeline_fail(error, "out of memory");
    for (unsigned slot = 0; slot < STAGE_SLOTS; slot++)
        for (unsigned p = 0; p < DENOISE_PLANES; p++)
            d->jobs[slot][p] = (noise_job){.denoiser = d,
                                           .plane = p,
                                           .row = d->rows + (slot * DENOISE_PLANES + p) * row,
                                           .grain = d->grain ? &d->grain->models[slot] : NULL};
    return true;
}

/* Before the first frame nothing is known. */
static void forget(denoiser *d)
{
    for (unsigned p = 0; p < DENOISE_PLANES; p++)
        d->strength[p] = d->sigma[p] = -1;
    d->odds = d->pattern = 0;
}

static bool open(stage *s, const stage_settings *settings, pipeline_error *error)
{
    denoiser *d = s->state;
    const bool whole = frame_is_420(&s->in);
    *d = (denoiser){.model = settings->denoise,
                    .frame = s->in,
                    .fixed = settings->strength,
                    .still = settings->still,
                    .compressed = settings->compressed && s->enlarged == 1,
                    .detail = settings->detail,
                    .spacing = s->enlarged,
                    .error = -1};
    forget(d);
    return plane_roles_check_denoiser(d->model, error) &&
           open_pass(&d->luma, s, settings, frame_plane_size(&s->in, 0), !whole, error) &&
           (runs(d) == 1 ||
            open_pass(&d->chroma, s, settings, frame_plane_size(&s->in, 1), true, error)) &&
           make_jobs(d, settings->grain > 0, error);
}

/* ---- running -------------------------------------------------------------------------------- */

/* A frame, or one of its planes with neutral chroma, as the network's input or output. */
static frame seen_by(const denoise_pass *pass, const frame *f, unsigned plane)
{
    if (!pass->grey)
        return *f;
    return (frame){.format = pass->format,
                   .data = {f->data[plane], pass->grey, pass->grey},
                   .stride = {f->stride[plane]}};
}

/* Whether luma's finest detail is a pattern rather than noise. A picture tells at once. Of film a
 * few frames must agree; and since what is left of coded noise looks like a pattern too, film that
 * lost much to its coder is believed to have none. (Noise of 5 and 10 through x264 at CRF 18: one
 * frame alone is mistaken in 1 of 6, six frames in none.) */
static void follow_pattern(denoiser *d, const noise_job *job, double odds)
{
    if (d->still) {
        d->pattern = odds > 0;
        return;
    }
    d->odds += PATTERN_SMOOTHING * (fmin(fmax(odds, -PATTERN_MOST), PATTERN_MOST) - d->odds);
    d->pattern = !job->error && d->odds > (d->pattern ? 0 : PATTERN_SURE);
}

/* The strength for a plane, smoothed over frames. Findings from the previous frame count at once.
 * What the very first one tells without one counts for itself alone, unless it is next to
 * nothing. */
static float follow_noise(const noise_job *job, unsigned plane)
{
    denoiser *d = job->denoiser;
    const mona_size size = frame_plane_size(&job->in->format, plane);
    noise_level seen =
        noise_measure(d->work, job->in->data[plane], job->in->stride[plane], size.width,
                      size.height, d->frame.bits, d->spacing, !plane && !job->told);
    double evidence[NOISE_EVIDENCE];
    const bool knows = d->spacing == 1 && (d->still || !plane) && d->work->flattest;
    if (knows)
        noise_collect(d->work, job->in, plane, evidence);
    if (d->spacing == 1 && !plane)
        follow_pattern(d, job, knows ? noise_like_pattern(evidence) : 0);
    if (d->pattern) {
        d->strength[plane] = d->sigma[plane] = 0;
        return 0;
    }
    if (d->still && d->spacing == 1)
        seen = knows ? noise_weigh(d->work, job->in, plane, evidence) : (noise_level){0};
    const bool compares = !plane && !d->still && d->spacing == 1;
    const bool told = compares && job->beside;
    const noise_level now = compares ? noise_change(d->work, seen, job->in, job->beside) : seen;
    float *follow = &d->strength[plane], *sigma = &d->sigma[plane];
    const bool begins =
        *follow < 0 ||
        (told && (now.strength < seen.strength / 2 || now.strength > 1.5f * *follow));
    *sigma = begins || *sigma < 0 ? now.sigma : *sigma + SMOOTHING * (now.sigma - *sigma);
    const float known = begins ? now.strength : *follow + SMOOTHING * (now.strength - *follow);
    if (!compares || told || known < 1)
        *follow = known;
    const float used = *follow < 0 ? known : *follow;
    return used < (d->still ? MIN_STILL_NOISE : MIN_NOISE) ? 0 : used;
}

/* The chroma of a 4:2:0 frame is considered where luma is clean. */
static float follow_chroma(const noise_job *job)
{
    const float u = follow_noise(job, 1), v = follow_noise(job, 2);
    const float more = fmaxf(u, v);
    return more < MIN_CHROMA ? 0 : more;
}

/* The strength that compression damage alone would need. */
static float error_told(const noise_job *job)
{
    return ERROR_TOLD * job->error;
}

/* Whether the strength is for compression damage rather than for noise. */
static bool repairs(const noise_job *job)
{
    return error_told(job) > job->noise;
}

/* Repair of compression leaves chroma alone: at the strength that luma needs, the network blurs it.
 * (Two clips by x264 at CRF 28 and 36 lost 0.2 to 0.7 dB in chroma, and never gained more than 0.05
 * at any strength.) */
static void measure_noise(noise_job *job)
{
    denoiser *d = job->denoiser;
    job->only_chroma = job->only_luma = false;
    if (d->fixed >= 0) {
        memset(job->found, 0, sizeof job->found);
        job->noise = (float)(d->fixed * DENOISE_MAX_SIGMA);
        return;
    }
    job->noise = follow_noise(job, job->plane);
    const float chroma = job->pass->grey ? 0 : follow_chroma(job);
    memcpy(job->found, d->sigma, sizeof job->found);
    if (job->pass->grey)
        return;
    job->only_chroma = chroma > 0 && !job->noise && !job->error;
    job->only_luma = !chroma && repairs(job);
    if (job->only_chroma)
        job->noise = chroma;
}

/* Converts noise to steps of the samples. */
static unsigned level_of(const denoiser *d, float noise)
{
    return (unsigned)lrintf(fminf(noise, (float)DENOISE_MAX_SIGMA) *
                            (float)(1u << (d->frame.bits - 8)));
}

/* Both run in the order of frames, just before the network and after it. */
static void prepare(void *argument)
{
    noise_job *job = argument;
    const denoiser *d = job->denoiser;
    if (job->begins && !job->plane)
        forget(job->denoiser);
    measure_noise(job);
    const unsigned level = level_of(d, fmaxf(job->noise, error_told(job)));
    job->noisy = level > 0;
    if (job->noisy)
        frame_set_samples(job->row, &d->frame, level,
                          noise_row_bytes(d) / frame_sample_bytes(&d->frame));
}

/* Restores the original samples of planes [first, end), counted from the job's. */
static void leave(const noise_job *job, unsigned first, unsigned end)
{
    for (unsigned p = job->plane + first; p < job->plane + end; p++) {
        const mona_size size = frame_plane_size(&job->in->format, p);
        for (uint32_t y = 0; y < size.height; y++)
            memcpy(frame_row(job->out, p, y), frame_row(job->in, p, y),
                   size.width * frame_sample_bytes(&job->in->format));
    }
}

enum { MIX_ONE = 256 };

static inline void mix_row(uint8_t *out, const uint8_t *in, uint32_t count, int share,
                           const bool wide)
{
    for (uint32_t x = 0; x < count; x++) {
        const int mixed = (MIX_ONE - share) * plane_sample(out, x, wide) +
                          share * plane_sample(in, x, wide) + MIX_ONE / 2;
        put_plane_sample(out, x, mixed / MIX_ONE, wide);
    }
}

static double usual_detail(const denoiser *d, double error)
{
    const double large = (error - LITTLE_ERROR) / (LARGE_ERROR - LITTLE_ERROR);
    return d->still ? 0 : LITTLE_DETAIL + (LARGE_DETAIL - LITTLE_DETAIL) * fmin(fmax(large, 0), 1);
}

/* Undoes a share of the repair, less of it the more noise there is, which is not to come back: none
 * from half the strength that the repair needs. (Up to the whole strength, 264 clips with noise
 * lose 0.02 dB.) */
static void keep_detail(const noise_job *job, unsigned planes)
{
    const denoiser *d = job->denoiser;
    if (!repairs(job))
        return;
    const double detail = d->detail < 0 ? usual_detail(d, job->error) : d->detail;
    const double noisy = fmin(2 * job->noise / error_told(job), 1);
    const int share = (int)lrint(detail * (1 - noisy) * MIX_ONE);
    if (!share)
        return;
    for (unsigned p = job->plane; p < job->plane + planes; p++) {
        const mona_size size = frame_plane_size(&job->in->format, p);
        for (uint32_t y = 0; y < size.height; y++) {
            const uint8_t *in = frame_row(job->in, p, y);
            uint8_t *out = frame_row(job->out, p, y);
            BY_WIDTH(job->in->format.bits > 8, mix_row, out, in, size.width, share);
        }
    }
}

/* Of the noise that was found in chroma. */
static void clean_chroma(const noise_job *job)
{
    if (fmaxf(job->found[1], job->found[2]) >= LEAST_BLOTCHES)
        chroma_noise_clean(&job->pass->blotches, job->out);
}

/* Without noise the network is not run, since it would change samples slightly. */
static void complete(const noise_job *job)
{
    const denoise_pass *pass = job->pass;
    const unsigned planes = pass->grey ? 1 : 3;
    if (!job->noisy || job->only_chroma)
        leave(job, 0, job->only_chroma ? 1 : planes);
    else
        keep_detail(job, job->only_luma ? 1 : planes);
    if (job->only_luma)
        leave(job, 1, planes);
    if (!pass->grey && job->noisy && !job->only_luma)
        clean_chroma(job);
    if (pass->temporal && !job->previous)
        memset(pass->temporal->vectors, 0,
               motion_mask_blocks(&pass->format) * sizeof *pass->temporal->vectors);
    if (!pass->temporal || !job->previous || job->only_chroma)
        return;
    const frame now = seen_by(pass, job->in, job->plane);
    const frame made = seen_by(pass, job->out, job->plane);
    const frame previous = seen_by(pass, job->previous, job->plane);
    const temporal_cause cause = job->noise > 0   ? TEMPORAL_NOISE
                                 : job->error > 0 ? TEMPORAL_CODING
                                                  : TEMPORAL_SUPPOSED;
    const float noise = fmaxf(job->noise, fminf(NOISE_STEADIED * job->noise, MOST_STEADIED));
    const unsigned sigma = level_of(job->denoiser, fmaxf(noise, job->steadied));
    temporal_filter(&made, &now, &previous, planes, sigma, job->denoiser->spacing, cause,
                    pass->temporal);
}

/* What repair of compression changes is no grain, nor what chroma without noise loses where the
 * network is told of luma's. At a given strength nothing tells which planes have noise. */
static void measure_grain(const noise_job *job)
{
    denoiser *d = job->denoiser;
    const unsigned planes = job->pass->grey ? 1 : 3;
    if (!job->plane)
        *job->grain = (grain_model){.format = job->in->format};
    if (!job->plane && job->begins)
        memset(d->grain->meters, 0, sizeof d->grain->meters);
    for (unsigned p = job->plane; p < job->plane + planes && job->noise > 0; p++)
        if (!p || job->found[p] > 0 || d->fixed >= 0)
            grain_measure(&d->grain->meters[p], job->in, job->out, p, job->grain);
}

static void finish(void *argument)
{
    const noise_job *job = argument;
    complete(job);
    if (job->grain)
        measure_grain(job);
}

static mona_status run_pass(const stage *s, noise_job *job)
{
    const denoiser *d = s->state;
    const mona_model *model = &d->model->model;
    denoise_pass *pass = job->pass;
    const frame in = seen_by(pass, job->in, job->plane);
    mona_buffer inputs[MONA_MAX_IO], outputs[MONA_MAX_IO];
    for (unsigned i = 0; i < mona_model_input_count(model); i++) {
        const int role = plane_role_of(mona_model_input(model, i).name);
        inputs[i] = role == PLANE_ROLE_NOISE ? (mona_buffer){.data = job->row}
                                             : frame_buffer(&in, (unsigned)role);
    }
    for (unsigned i = 0; i < mona_model_output_count(model); i++) {
        const unsigned role = (unsigned)plane_role_of(mona_model_output(model, i).name);
        outputs[i] = role == PLANE_ROLE_LUMA || !pass->grey
                         ? frame_buffer(job->out, job->plane + role)
                     : pool_is_open(&pass->pool) ? (mona_buffer){0} /* a chip keeps it */
                                                 : frame_buffer(&pass->unused, role - 1);
    }
    mona_status status = mona_stream_call(stage_entry(s), prepare, job);
    if (!status)
        status =
            pool_is_open(&pass->pool)
                ? pool_enqueue(&pass->pool, s->entry, s->stream, &job->noisy, inputs, outputs)
                : mona_stream_run_if(s->stream, &job->noisy, pass->bound.session, inputs, outputs);
    if (!status)
        status = mona_stream_call(s->stream, finish, job);
    return status;
}

/* Quantisers go up and down from frame to frame; detail that came and went with them would flicker.
 * What is unknown stays so. */
static float follow_error(denoiser *d, float error)
{
    if (error <= 0)
        return error;
    d->error += d->error < 0 ? error - d->error : SMOOTHING * (error - d->error);
    return d->error;
}

/* The noise as for which frames are steadied because of compression; 0: they are not. */
static float steadied_for(float error)
{
    return error < 0 || error >= MIN_STEADIED ? fmaxf(ERROR_STEADIED * error, LEAST_STEADIED) : 0;
}

static mona_status enqueue(stage *s, const stage_work *work)
{
    denoiser *d = s->state;
    mona_status status = MONA_OK;
    if (work->begins)
        d->error = -1;
    const float followed = d->compressed ? follow_error(d, work->error) : 0;
    const float repaired = followed < MIN_ERROR ? 0 : followed;
    for (unsigned p = 0; p < runs(d) && !status; p++) {
        noise_job *job = &d->jobs[work->slot][p];
        job->pass = p ? &d->chroma : &d->luma;
        job->in = work->in;
        job->out = work->out;
        job->beside = work->beside;
        job->previous = work->previous;
        job->begins = work->begins;
        job->told = work->error > 0;
        job->error = repaired * (p ? CHROMA_ERROR : 1);
        job->steadied = steadied_for(followed);
        status = run_pass(s, job);
    }
    if (!status && work->in->format.planes == 4)
        status = frame_copy_plane(s->stream, work->in, work->out, 3);
    return status;
}

/* ---- the rest ------------------------------------------------------------------------------- */

static void close_pass(denoise_pass *pass)
{
    pool_close(&pass->pool);
    session_binding_close(&pass->bound);
    free(pass->memory);
}

static void close_denoiser(void *state)
{
    denoiser *d = state;
    close_pass(&d->luma);
    close_pass(&d->chroma);
    free(d->rows);
    free(d->work);
    free(d->grain);
}

static size_t pass_bytes(const denoise_pass *pass)
{
    return session_binding_bytes(&pass->bound) + pool_bytes(&pass->pool);
}

static size_t bytes(const void *state)
{
    const denoiser *d = state;
    return pass_bytes(&d->luma) + pass_bytes(&d->chroma);
}

static unsigned models(const void *state, stage_model list[STAGE_MAX_MODELS])
{
    const denoiser *d = state;
    list[0] = (stage_model){&d->luma.bound, 1};
    list[1] = (stage_model){&d->chroma.bound, 2};
    return 2;
}

static const char *network(const stage_settings *settings, unsigned number)
{
    (void)number;
    return settings->denoise->name;
}

static bool estimate(const void *state, unsigned slot, float *noise, float *compression)
{
    const denoiser *d = state;
    *noise = d->sigma[0];
    *compression = d->jobs[slot][0].error;
    return d->fixed < 0;
}

static const grain_model *removed(const void *state, unsigned slot)
{
    const denoiser *d = state;
    return d->grain ? &d->grain->models[slot] : NULL;
}

const stage_row denoise_stage = {.state_bytes = sizeof(denoiser),
                                 .warm_up = 2,
                                 .multiple = multiple,
                                 .network = network,
                                 .open = open,
                                 .enqueue = enqueue,
                                 .close = close_denoiser,
                                 .bytes = bytes,
                                 .models = models,
                                 .estimate = estimate,
                                 .removed = removed};
