// SPDX-License-Identifier: Apache-2.0
/* Still images: RGB -> luma and chroma at full resolution -> stages -> RGB. Clean pictures pass the
 * denoiser unchanged, so that the result is the same as without it. */
#include "pipeline/enhance.h"

#include <stdlib.h>

#include "pipeline/image/colour.h"
#include "pipeline/image/stills.h"
#include "pipeline/quality/model_run.h"
#include "pipeline/stages/range.h"

/* The format that the stages work on. It has more bits than the image, so that only the result is
 * rounded to 8. Alpha is stored in plane 3, so a frame with alpha has four planes. */
static frame_format working_format(const still *image)
{
    const bool alpha = image->channels % 2 == 0, colour = image->channels >= 3;
    return (frame_format){.width = image->width,
                          .height = image->height,
                          .planes = alpha    ? 4
                                    : colour ? 3
                                             : 1,
                          .bits = RANGE_BITS};
}

/* Runs the stages on the image; the result is in c's output slot. */
static bool run_stages(chain *c, const still *image, pipeline_error *error)
{
    frame *in;
    mona_event *done;
    mona_status status = chain_input(c, &in);
    if (!status) {
        colour_split(in, image);
        status = chain_enqueue(c, image->compression, &done);
    }
    if (!status)
        status = mona_event_synchronize(done);
    return !status || pipeline_fail(error, "computing failed: %s", mona_status_text(status));
}

/* Writes the result with the channels and the metadata of the image that it was made from. */
static bool write_result(const enhance_settings *settings, const frame *result, const still *source,
                         mona_size size, pipeline_error *error)
{
    still image = {.width = size.width,
                   .height = size.height,
                   .channels = source->channels,
                   .metadata = source->metadata};
    image.pixels = malloc((size_t)size.width * size.height * source->channels);
    if (!image.pixels)
        return pipeline_fail(error, "out of memory");
    colour_join(&image, result);
    bool good = still_write(&image, settings->output, error);
    free(image.pixels); /* the metadata belongs to source */
    return good;
}

static bool finish(const enhance_settings *settings, const chain *c, const still *image,
                   pipeline_error *error)
{
    const frame *result = &c->edges[c->count][0];
    const mona_size size = {result->format.width, result->format.height};
    return write_result(settings, result, image, size, error);
}

static bool open_stages(chain *stages, const enhance_settings *settings, enhance_report *report,
                        const still *image, pipeline_error *error)
{
    stage_settings stage = settings->stage;
    stage.full_range = true;
    stage.still = true;
    stage.compressed = stage.strength < 0;
    if (!chain_open(stages, settings->kinds, settings->count, &stage, working_format(image), false,
                    error))
        return false;
    frame_format out = chain_format(stages);
    *report = (enhance_report){.in_width = image->width,
                               .in_height = image->height,
                               .out_width = out.width,
                               .out_height = out.height,
                               .engine_bytes = chain_engine_bytes(stages),
                               .frame_bytes = stages->memory_bytes,
                               .expected = 1,
                               .noise = -1};
    return true;
}

static bool enhance_image(const enhance_settings *settings, enhance_report *report,
                          const still *image, pipeline_error *error)
{
    chain stages;
    bool good = open_stages(&stages, settings, report, image, error);
    if (good) {
        if (settings->progress)
            settings->progress(settings->progress_context, report);
        good = run_stages(&stages, image, error) && finish(settings, &stages, image, error);
        report->frames = good;
        report->noise = chain_noise(&stages);
        report->compression = chain_compression(&stages);
    }
    chain_close(&stages);
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

/* Refuses what cannot be written before the work is done. */
static bool check_result(const enhance_settings *settings, const still *image,
                         pipeline_error *error)
{
    const unsigned scale = scale_of(settings, error);
    return scale && still_check(settings->output, scale * image->width, scale * image->height,
                                image->channels, error);
}

/* Viewers turn a JPEG as its EXIF says, but few turn a PNG. */
static bool prepare(still *image, const enhance_settings *settings, pipeline_error *error)
{
    const picture_kind kind = still_is_jpeg(settings->output) ? PICTURE_JPEG : PICTURE_PNG;
    metadata_fit(&image->metadata, kind, image->channels, settings->output, &settings->notes);
    return kind == PICTURE_JPEG || image->metadata.kind == kind || still_turn_upright(image, error);
}

static bool check_settings(const enhance_settings *settings, pipeline_error *error)
{
    if (settings->start > 0)
        return pipeline_fail(error, "%s: --start works only on videos, found a picture",
                             settings->input);
    if (!still_can_write(settings->output))
        return pipeline_fail(error,
                             "%s: expected a name that ends in .png, .jpg or .jpeg for a picture",
                             settings->output);
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
    chain stages = {0};
    const bool good = check_settings(settings, error) && check_result(settings, head, error) &&
                      prepare(head, settings, error) &&
                      open_stages(&stages, settings, report, head, error);
    chain_close(&stages);
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
