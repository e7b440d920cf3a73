// SPDX-License-Identifier: Apache-2.0
/* Still images: RGB -> luma and chroma at full resolution -> stages -> RGB. Clean pictures pass the
 * denoiser unchanged, so that the result is the same as without it. */
#include "pipeline/enhance.h"

#include <stdlib.h>

#include "pipeline/image/colour.h"
#include "pipeline/image/orientation.h"
#include "pipeline/image/stills.h"
#include "pipeline/quality/model_run.h"
#include "pipeline/stages/processor.h"
#include "pipeline/stages/range.h"
#include "pipeline/stages/sample.h"

/* The format of the image's planes. It has more bits than an image of 8, so that only the result is
 * rounded. Alpha is stored in plane 3, so a frame with alpha has four planes. */
static frame_format working_format(const still *image)
{
    const bool alpha = image->channels % 2 == 0, colour = image->channels >= 3;
    return (frame_format){.width = image->width,
                          .height = image->height,
                          .planes = alpha    ? 4
                                    : colour ? 3
                                             : 1,
                          .bits = image->depth == 16 ? 16 : RANGE_BITS,
                          .multiple = 1};
}

/* As the picture lies, not as it is shown. */
static resize_scale resize_of(const enhance_settings *settings, const still *image)
{
    const resize_scale scale = settings->stage.resize;
    const bool swaps =
        orientation_swaps(orientation_of_exif(metadata_orientation(&image->metadata)));
    return swaps ? (resize_scale){scale.y, scale.x} : scale;
}

/* Colours of 16 bits are not restored exactly, so if the size is the same, the change of `whole`, as
 * split from source, is added to the source's samples. */
static bool add_change(still *image, const still *source, const frame *whole)
{
    const size_t samples = (size_t)image->width * image->height * image->channels;
    still same = *source;
    if (image->width != source->width || image->height != source->height)
        return true;
    same.pixels = malloc(samples * sizeof(uint16_t));
    if (!same.pixels)
        return false;
    colour_join(&same, whole);
    for (ptrdiff_t i = 0; i < (ptrdiff_t)samples; i++) {
        const int sum = plane_sample(source->pixels, i, true) +
                        plane_sample(image->pixels, i, true) - plane_sample(same.pixels, i, true);
        put_plane_sample(image->pixels, i, sum < 0 ? 0 : sum > UINT16_MAX ? UINT16_MAX : sum, true);
    }
    free(same.pixels);
    return true;
}

/* Writes the result with the channels and the metadata of the image that it was made from. whole: as
 * the stages saw an image of 16 bits; else NULL. */
static bool write_result(const enhance_settings *settings, const frame *result, const still *source,
                         const frame *whole, pipeline_error *error)
{
    still image = {.width = result->format.width,
                   .height = result->format.height,
                   .channels = source->channels,
                   .depth = source->depth,
                   .metadata = source->metadata};
    image.pixels = malloc((size_t)image.width * image.height * still_pixel_bytes(source));
    if (!image.pixels)
        return pipeline_fail(error, "out of memory");
    colour_join(&image, result);
    const bool good =
        (!whole || add_change(&image, source, whole) || pipeline_fail(error, "out of memory")) &&
        still_write(&image, settings->output, error);
    free(image.pixels); /* the metadata belongs to source */
    return good;
}

static stage_settings settings_for(const enhance_settings *settings, const still *image)
{
    stage_settings stage = settings->stage;
    stage.full_range = true;
    stage.resize = resize_of(settings, image);
    stage.still = true;
    stage.compressed = stage.strength < 0;
    return stage;
}

static bool open_stages(processor *p, const enhance_settings *settings, enhance_report *report,
                        const still *image, pipeline_error *error)
{
    const stage_settings stage = settings_for(settings, image);
    const frame_format in = working_format(image);
    if (!processor_open(p, settings->kinds, settings->count, &stage, &in, false, error))
        return false;
    frame_format out = chain_format(&p->stages);
    *report = (enhance_report){.in_width = image->width,
                               .in_height = image->height,
                               .out_width = out.width,
                               .out_height = out.height,
                               .engine_bytes = chain_engine_bytes(&p->stages),
                               .frame_bytes = p->stages.memory_bytes,
                               .expected = 1,
                               .noise = -1};
    return true;
}

static mona_status process(processor *p, const still *image, frame *whole)
{
    int strides[FRAME_MAX_PLANES];
    processor_job job = {.planes = (const uint8_t *const *)whole->data,
                         .strides = strides,
                         .error = image->compression};
    colour_split(whole, image);
    for (unsigned i = 0; i < whole->format.planes; i++)
        strides[i] = (int)whole->stride[i];
    mona_status status = processor_fill(p, &job);
    if (!status)
        status = processor_enqueue(p, &job);
    return status ? status : processor_finish(p, &job);
}

static bool run_image(processor *p, const enhance_settings *settings, const still *image,
                      pipeline_error *error)
{
    frame whole;
    const stage_settings stage = settings_for(settings, image);
    uint8_t *memory = session_binding_allocate(frame_bytes(&p->in));
    bool good = (memory || pipeline_fail(error, "out of memory")) &&
                processor_open_result(p, &stage, p->in.bits, error);
    if (good) {
        frame_place(&whole, &p->in, memory);
        const mona_status status = process(p, image, &whole);
        good = status ? pipeline_fail(error, "computing failed: %s", pipeline_reason(status))
                      : write_result(settings, processor_result(p, 0), image,
                                     processor_is_deep(p) ? &whole : NULL, error);
    }
    free(memory);
    return good;
}

static bool enhance_image(const enhance_settings *settings, enhance_report *report,
                          const still *image, pipeline_error *error)
{
    processor p = {0};
    bool good = open_stages(&p, settings, report, image, error);
    if (good) {
        if (settings->progress)
            settings->progress(settings->progress_context, report);
        good = run_image(&p, settings, image, error);
        report->frames = good;
        chain_estimate(&p.stages, &report->noise, &report->compression);
    }
    processor_close(&p);
    return good;
}

/* By how much the stages enlarge a picture; 0: an error. */
static unsigned scale_of(const enhance_settings *settings, pipeline_error *error)
{
    const mona_config config = stage_config(&settings->stage);
    unsigned scale = 1;
    for (unsigned i = 0; i < settings->count; i++)
        if (settings->kinds[i] == STAGE_SR)
            scale *= model_scale(settings->stage.sr[i], &config, error);
    return scale;
}

static mona_size result_size_of(const enhance_settings *settings, const still *image,
                                unsigned scale)
{
    const frame_format format = working_format(image);
    const resize_scale resize = resize_of(settings, image);
    return resize.x > 0 ? resize_target(&format, resize)
                        : (mona_size){scale * image->width, scale * image->height};
}

/* Refuses what cannot be written before the work is done. */
static bool check_result(const enhance_settings *settings, const still *image,
                         pipeline_error *error)
{
    const unsigned scale = scale_of(settings, error);
    const mona_size size = result_size_of(settings, image, scale);
    const still result = {.width = size.width,
                          .height = size.height,
                          .channels = image->channels,
                          .depth = image->depth};
    return scale && still_check(settings->output, &result, error);
}

/* Pictures cannot say what shape their pixels have. */
static void tell_shape(const enhance_settings *settings, const still *image)
{
    const mona_size size = result_size_of(settings, image, 1);
    if (!resize_keeps_shape(size, (mona_size){image->width, image->height}))
        pipeline_note(&settings->notes,
                      "%s: --size %ux%u distorts the picture of %ux%u; --height keeps its shape",
                      settings->output, size.width, size.height, image->width, image->height);
}

/* Viewers turn a JPEG as its EXIF says, but few turn a PNG. */
static bool prepare(still *image, const enhance_settings *settings, pipeline_error *error)
{
    const picture_kind kind = still_kind(settings->output);
    tell_shape(settings, image);
    if (kind != PICTURE_PNG && image->depth == 16) {
        pipeline_note(&settings->notes, "%s: %s holds 8 of the picture's 16 bits", settings->output,
                      kind == PICTURE_JPEG ? "JPEG" : "WebP");
        still_make_shallow(image);
    }
    metadata_fit(&image->metadata, kind, image->channels, settings->output, &settings->notes);
    return kind == PICTURE_JPEG || image->metadata.kind == kind || still_turn_upright(image, error);
}

static bool check_settings(const enhance_settings *settings, pipeline_error *error)
{
    if (settings->start > 0)
        return pipeline_fail(error, "%s: --start works only on videos, found a picture",
                             settings->input);
    if (!still_can_write(settings->output))
        return pipeline_fail(error, STILL_NAMES, settings->output);
    if (still_is_animated(settings->input))
        pipeline_note(
            &settings->notes,
            "%s: animated; only its first picture is used, because the output is a single one",
            settings->input);
    return true;
}

bool enhance_still_plan(const enhance_settings *settings, enhance_report *report, still *head,
                        pipeline_error *error)
{
    processor p = {0};
    const bool good = check_settings(settings, error) && check_result(settings, head, error) &&
                      prepare(head, settings, error) &&
                      open_stages(&p, settings, report, head, error);
    processor_close(&p);
    return good;
}

bool enhance_still(const enhance_settings *settings, enhance_report *report, pipeline_error *error)
{
    still image;
    if (!check_settings(settings, error))
        return false;
    bool good = !still_read_head(&image, settings->input) || check_result(settings, &image, error);
    still_free(&image);
    good = good && still_read(&image, settings->input, 0, &settings->notes, error) &&
           check_result(settings, &image, error) && prepare(&image, settings, error) &&
           enhance_image(settings, report, &image, error);
    still_free(&image);
    return good;
}
