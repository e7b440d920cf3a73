// SPDX-License-Identifier: Apache-2.0
/* Video: decode -> stages -> encode.
 *
 * One thread decodes, fills frames and queues their work on the stages' streams; the caller's
 * thread waits for finished frames, encodes and writes. Jobs travel between the two. There is one
 * for each output slot, which limits the number of frames in flight. */
#include "pipeline/enhance.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <libavutil/imgutils.h>

#include "pipeline/clock.h"
#include "pipeline/image/orientation.h"
#include "pipeline/stages/channel.h"
#include "pipeline/stages/processor.h"
#include "pipeline/io/av_compat.h"
#include "pipeline/io/av_log_errors.h"
#include "pipeline/io/container.h"
#include "pipeline/io/hdr.h"
#include "pipeline/io/input.h"
#include "pipeline/io/output.h"
#include "pipeline/io/pixels.h"
#include "pipeline/io/quantiser.h"
#include "pipeline/io/disk_space.h"
#include "pipeline/io/resume_key.h"

typedef struct job {
    AVFrame *picture; /* the output slot's planes as a frame of libav; made once */
    processor_job work;
    AVFrame *source; /* a deep frame itself; it is kept until it is through */
    uint64_t lost_packets, damaged_frames, moved_frames; /* of the input so far */
    uint64_t packet_came, arrived, dropped, reconnects;  /* of a live stream */
} job;

typedef struct video {
    const enhance_settings *settings;
    enhance_report *report;
    input in;
    processor processor;
    output out;
    output_settings out_settings;
    chain_memory memory;        /* after the last frame that was encoded */
    char work[RESUME_KEY_TEXT]; /* what must be the same when a run is resumed */
    job jobs[CHAIN_OUTPUTS];
    channel idle, busy; /* jobs waiting for a frame; jobs in the order of their frames */
    atomic_bool stop;
    pipeline_error decode_error;
    uint64_t late; /* frames of a live stream that were left out */
} video;

/* ---- decoding side ------------------------------------------------------------------------ */

static bool copy_other(void *context, AVPacket *packet, pipeline_error *error)
{
    video *v = context;
    return output_copy(&v->out, packet, error);
}

/* Copies everything of a frame except its samples: captions, time codes, colour. */
static bool copy_properties(AVFrame *to, const AVFrame *from)
{
    while (to->nb_side_data)
        av_frame_remove_side_data(to, to->side_data[0]->type);
    if (av_frame_copy_props(to, from) < 0)
        return false;
    av_frame_remove_side_data(to, AV_FRAME_DATA_VIDEO_ENC_PARAMS); /* of the input's coding */
    to->pict_type = AV_PICTURE_TYPE_NONE;
    avframe_clear_key(to);
    to->crop_top = to->crop_bottom = to->crop_left = to->crop_right = 0;
    return true;
}

/* Whether the result has the input's aspect ratio as it is stored. */
static bool keeps_shape(const video *v)
{
    const frame_format in = input_format(&v->in), out = chain_format(&v->processor.stages);
    return resize_keeps_shape((mona_size){in.width, in.height}, (mona_size){out.width, out.height});
}

/* The job for a frame of a live stream. NULL: none becomes free before the frame is too late. A late
 * frame that finds one is taken: it is the latest there is. While packets lie unread, none waits. */
static job *take_live_job(video *v)
{
    const double left =
        live_behind(&v->in.live) ? 0 : 1e9 * v->settings->max_delay - input_lag(&v->in);
    job *j = v->in.live.bursts ? channel_pop(&v->idle)
                               : channel_pop_until(&v->idle, clock_ns() + (uint64_t)fmax(left, 0));
    v->late += !j;
    return j;
}

static bool submit(video *v)
{
    const AVFrame *decoded = v->in.frame;
    job *j = v->settings->live ? take_live_job(v) : NULL;
    if (v->settings->live && !j)
        return !atomic_load(&v->stop);
    processor_job work = {.planes = (const uint8_t *const *)decoded->data,
                          .strides = decoded->linesize,
                          .error = quantiser_error(decoded)};
    mona_status status = processor_fill(&v->processor, &work);
    if (status)
        return pipeline_fail(&v->decode_error, "computing failed: %s", pipeline_reason(status));

    /* Jobs come back in the order of their frames, so this is the job of the next output slot. */
    if (!j)
        j = channel_pop(&v->idle);
    if (!j)
        return false;
    if (!copy_properties(j->picture, decoded))
        return pipeline_fail(&v->decode_error, "out of memory");
    if (!keeps_shape(v))
        j->picture->sample_aspect_ratio = v->out_settings.encoder.aspect;
    j->lost_packets = v->in.lost_packets;
    j->damaged_frames = v->in.damaged_frames;
    j->moved_frames = v->in.moved_frames;
    j->packet_came = v->settings->live ? input_arrival(&v->in) : 0;
    j->arrived = v->in.video_packets;
    j->dropped = v->in.skipped + v->late;
    j->reconnects = v->in.live.reconnects;
    if (processor_is_deep(&v->processor)) {
        av_frame_unref(j->source);
        if (av_frame_ref(j->source, decoded) < 0)
            return pipeline_fail(&v->decode_error, "out of memory");
        work.planes = (const uint8_t *const *)j->source->data;
        work.strides = j->source->linesize;
    }
    status = processor_enqueue(&v->processor, &work);
    if (status)
        return pipeline_fail(&v->decode_error, "computing failed: %s", pipeline_reason(status));
    j->work = work;
    return channel_push(&v->busy, j);
}

/* Decodes the next frame into v->in.frame. False: there are no more, or an error. */
static bool decode(video *v, uint64_t number)
{
    const pipeline_probe *probe = v->settings->probe;
    if (probe && probe->arrive && !probe->arrive(probe->context, number))
        return false;
    probe_mark(probe, number, PROBE_DECODE, false);
    const input_result next = input_next(&v->in, &v->decode_error);
    if (next == INPUT_FRAME)
        probe_mark(probe, number, PROBE_DECODE, true);
    return next == INPUT_FRAME;
}

/* Whether no more frames are wanted. */
static bool ends(const video *v, uint64_t frames)
{
    const enhance_settings *s = v->settings;
    return atomic_load(&v->stop) || (s->frames && frames >= s->frames) ||
           (s->ends && atomic_load(s->ends));
}

static void *decode_all(void *argument)
{
    video *v = argument;
    const uint64_t limit = v->settings->frames;
    uint64_t frames = 0;

    const uint64_t done = output_done(&v->out);
    while (!ends(v, frames)) {
        if (!decode(v, frames) || (frames >= done && !submit(v)))
            break;
        frames++;
    }
    if (limit && frames == limit)
        input_copy_until(&v->in, v->in.frame->pts + avframe_duration(v->in.frame),
                         &v->decode_error);
    channel_close(&v->busy);
    return NULL;
}

/* ---- encoding side ------------------------------------------------------------------------ */

static void tell(video *v)
{
    if (v->settings->progress)
        v->settings->progress(v->settings->progress_context, v->report);
}

static bool encode(video *v, const job *j, pipeline_error *error)
{
    const unsigned step = PROBE_STAGE + v->processor.stages.count;
    probe_mark(v->settings->probe, v->report->frames, step, false);
    chain_remember(&v->processor.stages, j->work.number, &v->memory);
    if (!output_put(&v->out, j->picture, &v->memory, error))
        return false;
    probe_mark(v->settings->probe, v->report->frames, step, true);
    return true;
}

static bool finish_job(video *v, job *j, pipeline_error *error)
{
    const mona_status status = processor_finish(&v->processor, &j->work);
    if (status)
        return pipeline_fail(error, "computing failed: %s", pipeline_reason(status));
    v->report->lost_packets = j->lost_packets;
    v->report->damaged_frames = j->damaged_frames;
    v->report->moved_frames = j->moved_frames;
    const uint64_t unsent = v->out.unsent;
    if (!encode(v, j, error))
        return false;
    if (j->packet_came) {
        v->report->arrived = j->arrived;
        v->report->dropped = j->dropped + v->out.unsent;
        v->report->reconnects = j->reconnects + v->out.reconnects;
        v->report->latency = clock_ns() - j->packet_came;
        v->report->time = (double)j->picture->pts * av_q2d(v->in.video->time_base);
    }
    if (v->out.unsent > unsent)
        return true;
    v->report->frames++;
    tell(v);
    return true;
}

/* Encodes jobs until the decoding side has no more. */
static bool encode_all(video *v, pipeline_error *error)
{
    bool good = true;
    for (job *j; (j = channel_pop(&v->busy));) {
        if (good && !finish_job(v, j, error)) {
            good = false;
            atomic_store(&v->stop, true);
            channel_close(&v->idle);
        }
        if (good)
            channel_push(&v->idle, j);
    }
    return good;
}

/* ---- setting up --------------------------------------------------------------------------- */

/* The planes belong to the chain and outlive every reference. */
static void keep(void *opaque, uint8_t *data)
{
    (void)opaque;
    (void)data;
}

static bool wrap_output(video *v, enum AVPixelFormat format, unsigned slot)
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

/* Frames that the run will produce, according to the file; 0: unknown. */
static uint64_t expected_frames(const video *v)
{
    const uint64_t frames = input_frame_estimate(&v->in), limit = v->settings->frames;
    return limit && (!frames || frames > limit) ? limit : frames;
}

/* The size of raw frames is exact. Coded frames will probably take at least as many bytes as in the
 * input, and twice that if segments are kept until the end. */
static bool check_space(const video *v, const encoder_settings *e, pipeline_error *error)
{
    const enhance_settings *s = v->settings;
    const uint64_t frames = expected_frames(v), all = input_frame_estimate(&v->in);
    const int64_t file = v->in.format->pb ? avio_size(v->in.format->pb) : 0;
    const int raw = av_image_get_buffer_size(e->pix_fmt, e->width, e->height, 1);
    const bool exact = e->choice.codec->id == AV_CODEC_ID_RAWVIDEO && v->in.video->nb_frames > 0;
    double bytes = all && file > 0 ? (double)file * (double)frames / (double)all : 0;
    if (exact && raw > 0)
        bytes = (double)raw * (double)frames;
    return !strcmp(s->output, "-") ||
           disk_space_check(s->output, (uint64_t)(s->resume ? 2 * bytes : bytes), exact, &s->notes,
                            error);
}

/* The aspect ratio of the result's pixels, so that the picture keeps its shape in any size. */
static AVRational sample_aspect(const video *v)
{
    const frame_format in = input_format(&v->in), out = chain_format(&v->processor.stages);
    const AVRational aspect = av_guess_sample_aspect_ratio(v->in.format, v->in.video, NULL);
    if (keeps_shape(v))
        return aspect;
    AVRational changed;
    av_reduce(&changed.num, &changed.den, (int64_t)in.width * out.height,
              (int64_t)in.height * out.width, INT_MAX);
    return aspect.num > 0 ? av_mul_q(aspect, changed) : changed;
}

/* The n-th best format for frames of pix_fmt: with as many bits, with more, with fewer.
 * AV_PIX_FMT_NONE: there is none. */
static enum AVPixelFormat nth_depth(enum AVPixelFormat pix_fmt, unsigned n)
{
    const unsigned bits = pixels_frame_format(pix_fmt, 1, 1).bits, more = PIXELS_MAX_BITS - bits;
    return pixels_with_bits(pix_fmt, n <= more ? bits + n : bits - (n - more));
}

/* The format in which a codec holds deep frames; pix_fmt if it holds none. */
static enum AVPixelFormat choose_depth(const codec *c, const AVOutputFormat *format,
                                       enum AVPixelFormat pix_fmt)
{
    for (unsigned n = 0; n <= PIXELS_MAX_BITS - 10; n++) {
        const enum AVPixelFormat held = nth_depth(pix_fmt, n);
        if (held != AV_PIX_FMT_NONE && codec_takes(c, format, held))
            return held;
    }
    return pix_fmt;
}

/* The codec that holds most bits of deep frames, in the order of codec_for. */
static const codec *codec_for_depth(const AVOutputFormat *format, enum AVPixelFormat pix_fmt)
{
    for (unsigned n = 0; n <= PIXELS_MAX_BITS - 10; n++) {
        const enum AVPixelFormat held = nth_depth(pix_fmt, n);
        const codec *c = held == AV_PIX_FMT_NONE ? NULL : codec_for(format, held);
        if (c && codec_takes(c, format, held))
            return c;
    }
    return codec_for(format, pix_fmt);
}

/* libav also writes modern codecs to AVI, whose players expect none. */
static bool suits(const codec *c, const AVOutputFormat *format, enum AVPixelFormat pix_fmt)
{
    return c && strcmp(format->name, "avi") != 0 && codec_fits(c, format) &&
           codec_takes(c, format, pix_fmt);
}

/* Without -c. A modern codec stays, unless --preset is one of another codec. HDR becomes HEVC, which
 * its players expect, and all else what the container usually holds. */
static const codec *choose_codec(const video *v, const AVOutputFormat *format,
                                 enum AVPixelFormat pix_fmt)
{
    const AVCodecParameters *p = v->in.video->codecpar;
    const codec *usual = codec_for(format, AV_PIX_FMT_NONE),
                *chosen = processor_is_deep(&v->processor) ? codec_for_depth(format, pix_fmt)
                                                           : codec_for(format, pix_fmt);
    const codec *same = codec_modern(p->codec_id), *hevc = codec_find("hevc");
    const bool hdr = p->color_trc == AVCOL_TRC_SMPTE2084 || p->color_trc == AVCOL_TRC_ARIB_STD_B67;
    const char *preset = v->settings->encoder.preset;
    const bool follows =
        suits(same, format, pix_fmt) && (!preset || codec_takes_preset(same, preset));
    const bool shows = !follows && hdr && suits(hevc, format, pix_fmt);
    chosen = follows ? same : shows ? hevc : chosen;
    if (chosen != usual)
        pipeline_note(&v->settings->notes, "%s: encoded as %s (-c chooses another), %s%s",
                      v->settings->output, chosen->name,
                      follows ? "like the input"
                      : shows ? "for HDR"
                              : "which can hold ",
                      follows || shows ? "" : pixels_name(pix_fmt));
    return chosen;
}

static bool open_output(video *v, const AVOutputFormat *format, const stage_settings *stage,
                        const input_settings *input, pipeline_error *error)
{
    const enhance_settings *s = v->settings;
    const frame_format size = chain_format(&v->processor.stages);
    encoder_settings settings = {.choice = s->encoder,
                                 .width = (int)size.width,
                                 .height = (int)size.height,
                                 .pix_fmt = pixels_plain(v->in.video->codecpar->format),
                                 .rate = input_frame_rate(&v->in),
                                 .aspect = sample_aspect(v),
                                 .bit_rate = input_bit_rate(&v->in)};
    mux_settings container = {.path = s->output,
                              .format = format,
                              .input_path = s->input,
                              .shift = v->in.start == AV_NOPTS_VALUE ? 0 : v->in.start,
                              .end = v->in.end,
                              .drop = s->drop_unsupported,
                              .sound = s->sound,
                              .flush = s->encoder.low_latency,
                              .live = s->live,
                              .notes = &s->notes};
    settings.choice.live = s->live;
    if (!settings.choice.codec)
        settings.choice.codec = choose_codec(v, format, settings.pix_fmt);
    if (processor_is_deep(&v->processor)) {
        const enum AVPixelFormat whole = settings.pix_fmt;
        settings.pix_fmt = choose_depth(settings.choice.codec, format, whole);
        if (settings.pix_fmt != whole)
            pipeline_note(&s->notes, "%s: %s has no %s; the result is %s", s->output,
                          settings.choice.codec->name, pixels_name(whole),
                          pixels_name(settings.pix_fmt));
    }
    if (!processor_open_result(&v->processor, stage,
                               pixels_frame_format(settings.pix_fmt, 1, 1).bits, error))
        return false;
    for (unsigned i = 0; i < CHAIN_OUTPUTS; i++)
        if (!wrap_output(v, settings.pix_fmt, i))
            return pipeline_fail(error, "out of memory");
    if (!codec_fits(settings.choice.codec, format))
        return pipeline_fail(error,
                             "%s: %s cannot hold %s; .mkv holds every codec that mona writes",
                             s->output, format->name, settings.choice.codec->name);
    encoder_tell_quality(&settings, s->output, &s->notes);
    resume_key_write(v->work, s, &settings);
    v->out_settings = (output_settings){.encoder = settings,
                                        .container = container,
                                        .input = *input,
                                        .ends = s->ends,
                                        .segmented = s->resume,
                                        .segment_frames = s->segment_frames,
                                        .work = v->work};
    return hdr_check(format, settings.choice.codec, v->in.video, v->in.frame, s->drop_unsupported,
                     &s->notes, error) &&
           check_space(v, &settings, error) &&
           output_open(&v->out, &v->out_settings, &v->in, error);
}

/* Continues where earlier runs stopped. A segment begins without a frame before it, whether or not
 * this run made that frame, so it comes out the same whenever it is made. */
static void go_on(video *v)
{
    v->processor.stages.fresh = v->settings->resume ? v->out.length : 0;
    const uint64_t done = output_done(&v->out);
    if (!done)
        return;
    v->memory = v->out.parts.memory;
    chain_recall(&v->processor.stages, &v->memory);
    v->report->frames = v->report->resumed = done;
    pipeline_note(&v->settings->notes, "%s: continues after %llu frames", v->settings->output,
                  (unsigned long long)done);
}

static void begin_report(video *v)
{
    frame_format in = input_format(&v->in), out = chain_format(&v->processor.stages);
    const uint64_t expected = expected_frames(v);
    *v->report = (enhance_report){.in_width = in.width,
                                  .in_height = in.height,
                                  .out_width = out.width,
                                  .out_height = out.height,
                                  .engine_bytes = chain_engine_bytes(&v->processor.stages),
                                  .frame_bytes = v->processor.stages.memory_bytes,
                                  .expected = expected,
                                  .turned = v->in.turn,
                                  .doubled = v->in.doubled,
                                  .noise = -1};
    memcpy(v->report->encoder, v->out.codec.text, ENCODER_TEXT);
}

/* The caller may choose the stages only now. */
static bool tell_size(const video *v)
{
    const enhance_settings *s = v->settings;
    const frame_format in = input_format(&v->in);
    const bool swaps = orientation_swaps(orientation_of(v->in.video));
    return !s->sized ||
           s->sized(s->sized_context, swaps ? in.height : in.width, swaps ? in.width : in.height);
}

static bool open_all(video *v, pipeline_error *error)
{
    const enhance_settings *s = v->settings;
    const AVOutputFormat *format = mux_format(s->output, s->format, error);
    input_settings input = {.path = s->input,
                            .raw = s->raw,
                            .rate = s->rate,
                            .start = s->start,
                            .end = s->end,
                            .threads = s->decode_threads,
                            .on_chip = s->stage.device == &mona_device_ascend ||
                                       s->stage.device == &mona_device_ascend_om,
                            .quantisers = s->stage.compressed,
                            .low_latency = s->encoder.low_latency,
                            .deinterlace = s->deinterlace,
                            .double_fields = s->double_fields,
                            .no_audio = s->sound.mode == SOUND_NONE,
                            .rotate = s->rotate,
                            .keeps_matrix = format && container_holds_matrix(format),
                            .ends_early = s->frames,
                            .stop_on_error = s->stop_on_error,
                            .live = s->live,
                            .notes = &s->notes};
    if (format)
        input.chroma = picture_chroma_for(
            (s->encoder.codec ? s->encoder.codec : codec_for(format, AV_PIX_FMT_NONE))->id);
    if (!format || !input_open(&v->in, &input, error))
        return false;
    if (input_first(&v->in, error) == INPUT_FAILED)
        return false;
    if (!hdr_describe(v->in.video, v->in.frame))
        return pipeline_fail(error, "out of memory");
    if (!tell_size(v))
        return false;
    stage_settings stage = s->stage;
    stage.chroma_location = pixels_chroma_location(v->in.video->codecpar->chroma_location);
    stage.full_range = pixels_full_range(v->in.frame);
    if (orientation_swaps(orientation_of(v->in.video)))
        stage.resize = (resize_scale){stage.resize.y, stage.resize.x};
    v->in.copy = copy_other;
    v->in.copy_context = v;
    const frame_format format_in = input_format(&v->in);
    if (!processor_open(&v->processor, s->kinds, s->count, &stage, &format_in, true, error) ||
        !open_output(v, format, &stage, &input, error))
        return false;
    chain_watch(&v->processor.stages, s->probe);
    begin_report(v);
    go_on(v);
    return true;
}

/* ---- running ------------------------------------------------------------------------------ */

static bool run_threads(video *v, pipeline_error *error)
{
    pthread_t decoder;
    for (unsigned i = 0; i < CHAIN_OUTPUTS; i++)
        channel_push(&v->idle, &v->jobs[i]);
    tell(v);
    if (pthread_create(&decoder, NULL, decode_all, v))
        return pipeline_fail(error, "a thread cannot be started");
    bool good = encode_all(v, error);
    pthread_join(decoder, NULL);
    if (v->decode_error.text[0])
        good = pipeline_fail(error, "%s", v->decode_error.text);
    return good;
}

/* That a video has several times the bytes it had surprises. */
static void tell_bytes(const video *v)
{
    enum { MANY_BYTES = 1000000, MANY_TIMES = 4 };
    const encoder_choice *c = &v->out_settings.encoder.choice;
    const double in = (double)v->in.video_bytes, out = (double)v->out.bytes;
    if (c->codec->quality && !c->match_bitrate && !v->settings->live && !v->report->resumed &&
        out >= MANY_BYTES && out >= MANY_TIMES * in)
        pipeline_note(&v->settings->notes,
                      "%s: the video has %.0f times as many bytes as in %s; a --crf above %g makes "
                      "it smaller, --match-bitrate keeps the bit rate",
                      v->settings->output, out / in, v->in.path,
                      c->crf < 0 ? c->codec->quality_default : c->crf);
}

static bool run(video *v, pipeline_error *error)
{
    const enhance_settings *s = v->settings;
    if (!open_all(v, error) || !run_threads(v, error))
        return false;
    v->report->lost_packets = v->in.lost_packets;
    v->report->damaged_frames = v->in.damaged_frames;
    v->report->moved_frames = v->in.moved_frames;
    if (av_log_errors_count()) {
        char text[256];
        av_log_errors_first(text, sizeof text);
        pipeline_note(&s->notes, "%s: FFmpeg found %llu faults in the input, the first: %s",
                      v->in.path, (unsigned long long)av_log_errors_count(), text);
    }
    if (s->live) {
        v->report->arrived = v->in.video_packets;
        v->report->dropped = v->in.skipped + v->late + v->out.unsent;
        v->report->reconnects = v->in.live.reconnects + v->out.reconnects;
    }
    v->report->clock_jumps = v->in.times.jumps;
    v->report->moved_packets = v->out.container.moved;
    chain_estimate(&v->processor.stages, &v->report->noise, &v->report->compression);
    if (!v->report->frames && s->end > 0)
        return pipeline_fail(error, "%s: expected frames from %g s to %g s, found none", s->input,
                             s->start, s->end);
    if (!v->report->frames && s->start > 0)
        return pipeline_fail(error, "%s: expected frames at %g s or later, found none", s->input,
                             s->start);
    if (!v->report->frames)
        return pipeline_fail(error, "%s: expected a video with frames, found none", s->input);
    if (!output_finish(&v->out, &v->memory, error))
        return false;
    tell_bytes(v);
    return (!v->in.broke.text[0] ||
            pipeline_fail(error, "%s; what came before is in %s", v->in.broke.text, s->output));
}

bool enhance_video(const enhance_settings *settings, enhance_report *report, pipeline_error *error)
{
    video v = {.settings = settings, .report = report};
    channel_open(&v.idle);
    channel_open(&v.busy);
    bool good = run(&v, error);

    output_close(&v.out);
    for (unsigned i = 0; i < CHAIN_OUTPUTS; i++)
        av_frame_free(&v.jobs[i].picture), av_frame_free(&v.jobs[i].source);
    processor_close(&v.processor);
    input_close(&v.in);
    channel_destroy(&v.idle);
    channel_destroy(&v.busy);
    return good;
}
