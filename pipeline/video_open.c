// SPDX-License-Identifier: Apache-2.0
/* Sets up a run: the input, the stages and the output. */
#include "pipeline/video.h"

#include <limits.h>
#include <string.h>

#include <libavutil/imgutils.h>

#include "pipeline/base/av_compat.h"
#include "pipeline/io/containers/container.h"
#include "pipeline/base/outfile.h"
#include "pipeline/io/codecs/hdr.h"
#include "pipeline/image/pixels.h"
#include "pipeline/stages/stage.h"

bool video_keeps_shape(const video *v)
{
    const frame_format in = input_format(&v->in), out = chain_format(&v->processor.stages);
    return resize_keeps_shape((mona_size){in.width, in.height}, (mona_size){out.width, out.height});
}

static bool copy_other(void *context, AVPacket *packet, pipeline_error *error)
{
    video *v = context;
    return output_copy(&v->out, packet, error);
}

/* The planes belong to the chain and outlive every reference. */
static void keep(void *opaque, uint8_t *data)
{
    (void)opaque;
    (void)data;
}

static bool wrap_output(video *v, int format, unsigned slot)
{
    const frame *f = processor_result(&v->processor, slot);
    AVFrame *picture = av_frame_alloc();
    v->jobs[slot].picture = picture;
    v->jobs[slot].source = av_frame_alloc();
    if (!picture || !v->jobs[slot].source)
        return false;
    picture->buf[0] = av_buffer_create(f->data[0], frame_bytes(&f->format), keep, NULL, 0);
    picture->format = format;
    picture->width = (int)f->format.width;
    picture->height = (int)f->format.height;
    for (unsigned p = 0; p < f->format.planes; p++) {
        picture->data[p] = f->data[p];
        picture->linesize[p] = (int)f->stride[p];
    }
    return picture->buf[0];
}

/* Opens what frames of a format need after the stages. */
static bool open_results(video *v, int format, unsigned bits, const stage_settings *stage,
                         pipeline_error *error)
{
    if (!processor_open_result(&v->processor, stage, bits, error))
        return false;
    for (unsigned i = 0; i < video_jobs(v); i++)
        if (!wrap_output(v, format, i))
            return pipeline_fail(error, "out of memory");
    return true;
}

/* Frames that the run will produce, according to the file; 0: unknown. */
static uint64_t expected_frames(const video *v)
{
    const uint64_t limit = (uint64_t)v->settings->frames;
    const segments *s = &v->out.parts;
    uint64_t frames = input_frame_estimate(&v->in);
    if (s->part.parts) {
        frames = 0;
        for (unsigned i = s->first; i < s->end; i++)
            frames += s->cuts.at[i].frames;
    }
    return limit && (!frames || frames > limit) ? limit : frames;
}

/* All of the file's frames, not only those of the part that is wanted. */
static uint64_t frames_of_file(const input *in)
{
    input whole = *in;
    whole.start = AV_NOPTS_VALUE;
    whole.end = INT64_MAX;
    return input_frame_estimate(&whole);
}

/* The size of raw frames is exact. Coded frames will probably take at least as many bytes as in the
 * input, and twice that if segments are kept until the end. */
static bool check_space(const video *v, const encoder_settings *e, pipeline_error *error)
{
    const job *s = v->settings;
    const uint64_t frames = expected_frames(v), all = frames_of_file(&v->in);
    const int64_t file = input_bytes(&v->in);
    const int raw = av_image_get_buffer_size(e->pix_fmt, e->width, e->height, 1);
    const bool exact = e->choice.codec->samples && v->in.video->nb_frames > 0;
    double bytes = all && file > 0 ? (double)file * (double)frames / (double)all : 0;
    if (exact && raw > 0)
        bytes = (double)raw * (double)frames;
    const char *what = s->work.key    ? "segments and a result as large as the input take"
                       : frames < all ? "this part of the input alone takes"
                                      : "the input alone takes";
    return !strcmp(s->output, "-") ||
           disk_space_check(
               s->output,
               (uint64_t)(s->work.key ? 2 * bytes / FFMAX(s->work.part.parts, 1) : bytes), exact,
               what, &s->notes, error);
}

/* The aspect ratio of the result's pixels, so that the picture keeps its shape in any size. */
static AVRational sample_aspect(const video *v)
{
    const frame_format in = input_format(&v->in), out = chain_format(&v->processor.stages);
    const AVRational aspect = av_guess_sample_aspect_ratio(v->in.format, v->in.video, NULL);
    if (video_keeps_shape(v))
        return aspect;
    AVRational changed;
    av_reduce(&changed.num, &changed.den, (int64_t)in.width * out.height,
              (int64_t)in.height * out.width, INT_MAX);
    return aspect.num > 0 ? av_mul_q(aspect, changed) : changed;
}

/* Chooses the codec, unless the user did, and the format of its frames. */
static bool choose_codec(const video *v, const AVOutputFormat *format, encoder_settings *e,
                         pipeline_error *error)
{
    const job *s = v->settings;
    const bool deep = processor_is_deep(&v->processor);
    const enum AVPixelFormat whole = e->pix_fmt;
    e->choice.codec = s->encoder.codec
                          ? s->encoder.codec
                          : codec_choice(s, v->in.video->codecpar, deep, format, whole);
    if (deep)
        e->pix_fmt = codec_choice_depth(e->choice.codec, format, whole);
    if (s->drop_unsupported && pixels_without_alpha(whole) != whole &&
        !codec_takes(e->choice.codec, format, e->pix_fmt)) {
        pipeline_note(&s->notes, "left out: the video's alpha");
        e->pix_fmt = pixels_without_alpha(whole);
        return (av_dict_set(&v->in.video->metadata, "alpha_mode", NULL, 0) >= 0 ||
                pipeline_fail(error, "out of memory")) &&
               choose_codec(v, format, e, error);
    }
    if (e->pix_fmt != whole)
        pipeline_note(&s->notes, "%s: %s has no %s; the result is %s", s->output,
                      e->choice.codec->name, pixels_name(whole), pixels_name(e->pix_fmt));
    return true;
}

/* The fields of frames that stay interlaced, as far as the input tells before they come. Other rows
 * than the input's are not those of fields. */
static enum AVFieldOrder fields_kept(const video *v, const AVOutputFormat *format,
                                     const encoder_settings *e)
{
    enum { H264_ROWS = 4 };
    const AVCodecParameters *from = v->in.video->codecpar;
    const AVFrame *first = v->in.frame;
    const bool told = from->field_order > AV_FIELD_PROGRESSIVE;
    const bool holds = e->choice.codec->fields || container_row_of(format)->frames;
    const bool same = e->height == from->height && e->height % H264_ROWS == 0 &&
                      !orientation_changes(input_orientation(&v->in));
    if (v->settings->input.deinterlace || !holds || !same ||
        (!told && !avframe_is_interlaced(first)))
        return AV_FIELD_UNKNOWN;
    return told ? from->field_order : avframe_top_first(first) ? AV_FIELD_TT : AV_FIELD_BB;
}

static void tell_hard_alpha(const video *v, const encoder_settings *e)
{
    if (e->choice.codec->colours && pixels_without_alpha(e->pix_fmt) != e->pix_fmt)
        pipeline_note(
            &v->settings->notes,
            "%s: pixels of a GIF are opaque or transparent; those that are less than half "
            "opaque become transparent",
            v->settings->output);
}

static bool open_output(video *v, const AVOutputFormat *format, const stage_settings *stage,
                        const input_settings *input, pipeline_error *error)
{
    const job *s = v->settings;
    const frame_format size = chain_format(&v->processor.stages);
    encoder_settings settings = {.choice = s->encoder,
                                 .width = (int)size.width,
                                 .height = (int)size.height,
                                 .pix_fmt = pixels_plain(v->in.video->codecpar->format),
                                 .decoded = v->in.decoder->pix_fmt,
                                 .rate = input_frame_rate(&v->in),
                                 .aspect = sample_aspect(v),
                                 .bit_rate = input_bit_rate(&v->in)};
    mux_settings container = {.path = s->output,
                              .keep = s->keep_output,
                              .format = format,
                              .input_path = s->input.path,
                              .shift = v->in.shift,
                              .start = v->in.start,
                              .end = v->in.end,
                              .drop = s->drop_unsupported,
                              .sound = s->sound,
                              .flush = s->encoder.low_latency,
                              .live = s->input.live,
                              .notes = &s->notes};
    settings.choice.live = s->input.live;
    if (!choose_codec(v, format, &settings, error) ||
        !open_results(v, settings.pix_fmt, pixels_frame_format(settings.pix_fmt, 1, 1).bits, stage,
                      error))
        return false;
    if (!codec_fits(settings.choice.codec, format))
        return pipeline_fail(error,
                             "%s: %s cannot hold %s; .mkv holds every codec that mona writes",
                             s->output, format->name, settings.choice.codec->name);
    settings.fields = fields_kept(v, format, &settings);
    encoder_tell_quality(&settings, s->output, &s->notes);
    tell_hard_alpha(v, &settings);
    hdr_tell_matrix(format, settings.choice.codec, v->in.video,
                    encoder_matrix(&settings, v->in.video->codecpar), &s->notes);
    v->out_settings = (output_settings){.encoder = settings,
                                        .jpeg_quality = s->jpeg_quality,
                                        .container = container,
                                        .input = *input,
                                        .ends = s->ends,
                                        .segment_frames = s->segment_frames,
                                        .frames = s->frames,
                                        .warm_up = chain_warm_up(&v->processor.stages),
                                        .work = s->work,
                                        .join = s->join};
    return hdr_check(format, settings.choice.codec, v->in.video, v->in.frame, s->drop_unsupported,
                     &s->notes, error) &&
           check_space(v, &settings, error) &&
           output_open(&v->out, &v->out_settings, &v->in, error);
}

/* Continues where earlier runs stopped. */
static void continue_after_earlier_runs(video *v)
{
    const uint64_t done = v->out.parts.frames;
    if (output_cuts(&v->out))
        v->warm_up = FFMIN(v->out_settings.warm_up, VIDEO_WARM_UP);
    if (v->out.parts.damaged)
        pipeline_note(&v->settings->notes, "%s: %u damaged or foreign segment%s made again",
                      v->settings->output, v->out.parts.damaged,
                      v->out.parts.damaged == 1 ? " is" : "s are");
    if (v->out.parts.first == v->out.parts.end && output_is_part(&v->out))
        pipeline_note(&v->settings->notes, "%s: part %u/%u is empty: the video has %u segment%s",
                      v->settings->output, v->out.parts.part.part, v->out.parts.part.parts,
                      v->out.parts.cuts.count, v->out.parts.cuts.count == 1 ? "" : "s");
    v->report->frames = v->report->resumed = done;
    if (!done || v->settings->join)
        return;
    pipeline_note(&v->settings->notes, "%s: continues after %llu frames", v->settings->output,
                  (unsigned long long)done);
}

static void begin_report(video *v)
{
    frame_format in = input_format(&v->in), out = chain_format(&v->processor.stages);
    const uint64_t expected = expected_frames(v);
    *v->report = (enhance_report){
        .in_width = in.width,
        .in_height = in.height,
        .out_width = out.width,
        .out_height = out.height,
        .engine_bytes = processor_engine_bytes(&v->processor),
        .frame_bytes = processor_frame_bytes(&v->processor) +
                       (v->settings->stage.still ? still_input_bytes(input_still(&v->in)) : 0),
        .expected = expected,
        .turned = v->in.turn,
        .made = v->in.made,
        .noise = -1};
    memcpy(v->report->encoder, v->out.codec.text, ENCODER_TEXT);
}

/* The caller may choose the stages only now. */
static bool tell_size(const video *v, pipeline_error *error)
{
    const job *s = v->settings;
    const frame_format in = input_format(&v->in);
    const bool swaps = orientation_swaps(input_orientation(&v->in));
    return !s->sized || s->sized(s->sized_context, swaps ? in.height : in.width,
                                 swaps ? in.width : in.height, error);
}

/* Whether noise is removed. */
static bool denoises(const job *s)
{
    bool found = false;
    for (unsigned i = 0; i < s->count; i++)
        found |= s->kinds[i] == STAGE_DENOISE;
    return found && s->stage.strength != 0;
}

static resize_scale resize_of(const video *v)
{
    const resize_scale scale = v->settings->stage.resize;
    return orientation_swaps(input_orientation(&v->in)) ? (resize_scale){scale.y, scale.x} : scale;
}

/* ---- a still picture ---- */

/* By how much the stages enlarge a picture; 0: an error. */
static unsigned scale_of(const job *settings, pipeline_error *error)
{
    unsigned scale = 1;
    for (unsigned i = 0; i < settings->count; i++)
        if (settings->kinds[i] == STAGE_SR)
            scale *= model_scale(settings->stage.sr[i], settings->stage.devices.at[0], error);
    return scale;
}

/* Refuses what cannot be written before the work is done. */
static bool check_still(video *v, pipeline_error *error)
{
    const frame_format read = input_format(&v->in);
    if (!pixels_limit(v->in.path, v->in.settings.max_pixels, read.width, read.height, error))
        return false;
    const resize_scale resize = resize_of(v);
    const frame_format in = input_format(&v->in);
    const unsigned scale = scale_of(v->settings, error);
    const mona_size size = resize.x > 0 ? resize_target(&in, resize)
                                        : (mona_size){scale * in.width, scale * in.height};
    return scale && still_input_check(input_still(&v->in), size, error);
}

static bool open_still(video *v, const stage_settings *stage, const input_settings *input,
                       pipeline_error *error)
{
    const frame_format in = input_format(&v->in), out = chain_format(&v->processor.stages);
    if (!video_keeps_shape(v)) /* pictures cannot say what shape their pixels have */
        pipeline_note(&v->settings->notes,
                      "%s: --size %ux%u distorts the picture of %ux%u; --height keeps its shape",
                      v->settings->output, out.width, out.height, in.width, in.height);
    v->out_settings = (output_settings){.encoder = {.choice.threads = v->settings->encoder.threads,
                                                    .width = (int)out.width,
                                                    .height = (int)out.height},
                                        .jpeg_quality = v->settings->jpeg_quality,
                                        .input = *input};
    return open_results(v, AV_PIX_FMT_NONE, in.bits, stage, error) &&
           output_open(&v->out, &v->out_settings, &v->in, error);
}

/* What is read, and how, for this output. format NULL: a picture. */
static input_settings input_of(const job *s, const AVOutputFormat *format)
{
    input_settings input = s->input;
    input.chip = mona_ascend_chip(s->stage.devices.at[0], 0) ? s->stage.devices.at[0] : NULL;
    input.quantisers = s->stage.compressed;
    input.no_grain = denoises(s) && !(s->stage.grain > 0);
    input.low_latency = s->encoder.low_latency;
    input.no_audio = s->sound.mode == SOUND_NONE;
    input.keeps_matrix = format && container_keeps_matrix(format);
    input.ends_early = s->frames;
    input.still_result = s->stage.still ? s->output : NULL;
    input.keep_result = s->keep_output;
    input.notes = &s->notes;
    if (format)
        input.chroma =
            (s->encoder.codec ? s->encoder.codec : codec_for(format, AV_PIX_FMT_NONE))->chroma;
    return input;
}

/* For a picture that is all decoding there is. */
static bool read_first(video *v, bool still, pipeline_error *error)
{
    const pipeline_probe *probe = still ? v->settings->probe : NULL;
    probe_mark(probe, 0, PROBE_DECODE, false);
    const bool good = input_first(&v->in, error) != INPUT_FAILED;
    probe_mark(probe, 0, PROBE_DECODE, true);
    return good;
}

bool video_open(video *v, pipeline_error *error)
{
    const job *s = v->settings;
    const bool still = s->stage.still;
    const AVOutputFormat *format = still ? NULL : mux_format(s->output, s->format, error);
    const input_settings input = input_of(s, format);
    if ((!format && !still) || !input_open(&v->in, &input, error) ||
        (still && !check_still(v, error)) || (!s->plan && !read_first(v, still, error)) ||
        (still && !check_still(v, error)))
        return false;
    if (!hdr_describe(v->in.video, v->in.frame))
        return pipeline_fail(error, "out of memory");
    if (!tell_size(v, error))
        return false;
    stage_settings stage = s->stage;
    stage.chroma_location = pixels_chroma_location(v->in.video->codecpar->chroma_location);
    stage.full_range = still || pixels_full_range(v->in.frame->format, v->in.frame->color_range);
    stage.resize = resize_of(v);
    v->in.copy = copy_other;
    v->in.copy_context = v;
    const frame_format format_in = input_format(&v->in);
    if (!processor_open(&v->processor, s->kinds, s->count, &stage, &format_in, !still, error) ||
        !(still ? open_still(v, &stage, &input, error)
                : open_output(v, format, &stage, &input, error)))
        return false;
    chain_watch(&v->processor.stages, s->probe);
    begin_report(v);
    continue_after_earlier_runs(v);
    return true;
}
