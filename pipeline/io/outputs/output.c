// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/outputs/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pipeline/base/clock.h"
#include "pipeline/base/av_compat.h"
#include "pipeline/io/codecs/hdr.h"
#include "pipeline/io/containers/container.h"
#include "pipeline/io/outputs/contents.h"
#include "pipeline/base/outfile.h"
#include "pipeline/base/stop.h"
#include "pipeline/io/containers/url.h"
#include "pipeline/image/stills.h"

/* ---- packets of the encoder ----------------------------------------------------------------- */

/* Whether a broken connection is made again. */
static bool is_kept_up(const output *o)
{
    const mux_settings *m = &o->settings->container;
    return m->live && url_find(m->path);
}

static bool open_again(output *o, pipeline_error *error)
{
    mux_settings container = o->settings->container;
    const pipeline_notes silent = {0};
    container.notes = &silent;
    mux_close(&o->container);
    return mux_open(&o->container, &container, o->in->format, o->in->video, o->codec.codec, error);
}

/* Tries until the connection stands, at growing distances. broken: why it does not. */
static bool connect_again(output *o, const pipeline_error *broken, pipeline_error *error)
{
    enum { FIRST_MS = 100, LONGEST_MS = 5000 };
    const output_settings *s = o->settings;
    const double patience = s->input.live->patience;
    const uint64_t began = clock_ns();
    pipeline_error again = {0};
    pipeline_note(s->container.notes, "%s; trying again for %g s", broken->text, patience);
    for (unsigned ms = FIRST_MS; !open_again(o, &again);
         ms = ms < LONGEST_MS / 2 ? 2 * ms : LONGEST_MS) {
        const double passed = 1e-9 * (double)(clock_ns() - began) + 1e-3 * ms;
        if (passed > patience || (s->ends && atomic_load(s->ends)))
            return pipeline_fail(error, "%s", again.text);
        again = (pipeline_error){0};
        nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    }
    o->reconnects++;
    o->waits_for_key = true;
    pipeline_note(s->container.notes, "%s: connected again after %.1f s", s->container.path,
                  1e-9 * (double)(clock_ns() - began));
    return true;
}

static bool to_container(void *context, AVPacket *packet, AVRational time_base,
                         pipeline_error *error)
{
    output *o = context;
    pipeline_error broken = {0};
    o->bytes += (uint64_t)packet->size;
    if (!is_kept_up(o))
        return mux_write(&o->container, packet, time_base, error);
    if (o->waits_for_key && !(packet->flags & AV_PKT_FLAG_KEY)) {
        o->unsent++;
        av_packet_unref(packet);
        return true;
    }
    o->waits_for_key = false;
    pthread_mutex_lock(&o->lock);
    bool good = mux_write(&o->container, packet, time_base, &broken);
    o->unsent += !good;
    good = good || connect_again(o, &broken, error);
    pthread_mutex_unlock(&o->lock);
    return good;
}

static bool to_segment(void *context, AVPacket *packet, AVRational time_base, pipeline_error *error)
{
    output *o = context;
    (void)time_base;
    o->bytes += (uint64_t)packet->size;
    return segments_write(&o->parts, o->segment, packet, error);
}

static bool encode(output *o, const AVFrame *frame, pipeline_error *error)
{
    const packet_sink sink = {output_cuts(o) ? to_segment : to_container, o};
    return encoder_put(&o->codec, frame, &sink, error);
}

/* ---- opening -------------------------------------------------------------------------------- */

static bool open_encoder(output *o, pipeline_error *error)
{
    const output_settings *s = o->settings;
    return encoder_open(&o->codec, &s->encoder, o->in->video, s->container.format, error);
}

/* A few seconds of work at any size: 64 frames of 2560x1440. */
static uint64_t usual_length(const encoder_settings *s)
{
    const uint64_t frames = 64 * 2560 * 1440 / ((uint64_t)s->width * (uint64_t)s->height);
    return frames < 32 ? 32 : frames > 128 ? 128 : frames;
}

/* A segments_find. */
static bool find_cuts(void *context, cuts *c, pipeline_error *error)
{
    const output *o = context;
    const output_settings *s = o->settings;
    const uint64_t frames = s->segment_frames;
    const cuts_wish wish = {.frames = frames ? frames : usual_length(&s->encoder),
                            .exact = frames,
                            .limit = s->frames,
                            .lead = s->warm_up};
    return cuts_find(c, &s->input, &wish, error);
}

/* Sets the line that an interrupted run prints. */
static void tell_resume(const output *o)
{
    char line[1024];
    snprintf(line, sizeof line,
             "%s: interrupted after %llu frames; the same command goes on from there",
             o->settings->container.path, (unsigned long long)o->parts.frames);
    stop_says(line);
}

static bool open_segments(output *o, pipeline_error *error)
{
    const mux_settings *m = &o->settings->container;
    if (!strcmp(m->path, "-") || container_row_of(m->format)->frames ||
        !strcmp(o->settings->input.path, "-"))
        return pipeline_misuse(
            error, "%s: expected files for input and output, and a container other than y4m",
            output_is_part(o) ? "--part" : "--resume");
    /* The folder lies beside the file that is finally renamed, not beside a link to it. */
    char *target = outfile_target(m->path);
    const bool opened =
        target ? segments_open(&o->parts, target, &o->settings->work, find_cuts, o, error)
               : pipeline_fail(error, "out of memory");
    free(target);
    if (opened)
        tell_resume(o);
    return opened && (!o->settings->join || segments_check(&o->parts, error));
}

/* Numbers continue from the input's first one, or start from 1. */
static bool open_pictures(output *o, pipeline_error *error)
{
    const output_settings *s = o->settings;
    const mux_settings *m = &s->container;
    const encoder_choice *choice = &s->encoder.choice;
    const picture_list *list = input_pictures(o->in);
    const char *option = output_cuts(o)          ? "--resume"
                         : choice->crf >= 0      ? "--crf"
                         : choice->preset        ? "--preset"
                         : choice->option_count  ? "--encoder-option"
                         : choice->match_bitrate ? "--match-bitrate"
                                                 : NULL;
    if (option)
        return pipeline_misuse(error, "%s: numbered pictures take no %s", m->path, option);
    const contents contents = {.format = m->format,
                               .path = m->path,
                               .input = o->in->format,
                               .video = o->in->video,
                               .sound = &m->sound,
                               .drop = m->drop,
                               .notes = m->notes};
    if (!contents_check(&contents, error) ||
        !picture_writer_check(m->path, s->encoder.pix_fmt, error))
        return false;
    o->pictures = (picture_writer){.pattern = m->path,
                                   .next = 1,
                                   .by_time = list,
                                   .jpeg_quality = o->settings->jpeg_quality,
                                   .threads = o->settings->encoder.choice.threads,
                                   .keep = m->keep};
    if (list) {
        o->pictures.input = m->input_path;
        o->pictures.upright = s->input.rotate != ROTATION_AUTO;
        o->pictures.notes = m->notes;
        o->pictures.first = list->numbers[0] + (uint32_t)av_rescale_q(m->shift, AV_TIME_BASE_Q,
                                                                      o->in->video->time_base);
    }
    return true;
}

/* Tells what the first of the pictures has that a video does not keep. */
static bool tell_metadata(const output *o, pipeline_error *error)
{
    char name[4096];
    picture_metadata m = {0};
    const picture_list *list = input_pictures(o->in);
    const bool good = !list || !picture_name(name, sizeof name, list->pattern, list->numbers[0]) ||
                      still_read_metadata(&m, name, error);
    const bool text = m.exif.data || m.xmp.data;
    if (text || m.profile.data)
        pipeline_note(o->settings->container.notes,
                      "%s: a video does not keep the %s of the pictures; numbered pictures would",
                      o->settings->container.path,
                      !m.profile.data ? "EXIF and XMP"
                      : text          ? "EXIF, XMP and colour profile"
                                      : "colour profile");
    metadata_free(&m);
    return good;
}

static bool open_container(output *o, pipeline_error *error)
{
    const output_settings *s = o->settings;
    mux_settings container = s->container;
    char name[64] = "output.part";
    if (!tell_metadata(o, error) || !open_encoder(o, error) ||
        (output_cuts(o) && !open_segments(o, error)))
        return false;
    if (output_is_part(o)) /* only to see that all of the input fits; others make parts meanwhile */
        snprintf(name, sizeof name, "output-%lx-%" PRIx64 ".part", (long)getpid(), clock_ns());
    char *part = output_cuts(o) ? segments_path(&o->parts, name) : NULL;
    container.part = part;
    bool good =
        mux_open(&o->container, &container, o->in->format, o->in->video, o->codec.codec, error);
    free(part);
    return good;
}

static bool open_still(output *o, pipeline_error *error)
{
    (void)o, (void)error;
    return true;
}

/* ---- frames --------------------------------------------------------------------------------- */

static bool seal(output *o, pipeline_error *error)
{
    if (!encode(o, NULL, error) || !segments_seal(&o->parts, o->segment, o->filled, o->end, error))
        return false;
    tell_resume(o);
    o->filled = 0;
    encoder_close(&o->codec);
    return true;
}

/* Containers without timestamps play frames at a constant rate. */
static bool is_timeless(const output *o)
{
    const AVOutputFormat *format = o->settings->container.format;
    const container *row = container_row_of(format);
    return row->pictures ? !o->pictures.by_time : row->frames || format->flags & AVFMT_NOTIMESTAMPS;
}

static void measure_pace(output *o, const AVFrame *frame)
{
    const AVRational tick = o->in->video->time_base, rate = o->settings->encoder.rate;
    if (!o->frames)
        o->first = frame->pts;
    const int64_t even = av_rescale_q((int64_t)o->frames++, av_inv_q(rate), tick);
    const int64_t off = frame->pts - o->first - even,
                  half = av_rescale_q(1, av_inv_q(rate), tick) / 2;
    o->uneven += FFABS(off) > FFMAX(half, 1);
}

static void tell_pace(const output *o)
{
    const mux_settings *m = &o->settings->container;
    if (o->uneven && is_timeless(o))
        pipeline_note(m->notes,
                      "%s: stores no timestamps: %llu of %llu frames do not fit a steady %.4g "
                      "frames a second; .mkv would keep their times",
                      m->path, (unsigned long long)o->uneven, (unsigned long long)o->frames,
                      av_q2d(o->settings->encoder.rate));
}

static void tell_start(const output *o)
{
    const mux_settings *m = &o->settings->container;
    if (o->settings->input.keep_start && o->frames && o->first &&
        (is_timeless(o) || container_row_of(m->format)->loops))
        pipeline_note(m->notes,
                      "%s: stores no time at which the video starts, so it starts at 0 in spite of "
                      "--keep-start; .mkv would keep it",
                      m->path);
}

static void tell_captions(output *o, const AVFrame *frame)
{
    const mux_settings *m = &o->settings->container;
    const codec *c = o->settings->encoder.choice.codec;
    if (o->told_captions || c->captions != CAPTIONS_LOST ||
        !av_frame_get_side_data(frame, AV_FRAME_DATA_A53_CC))
        return;
    pipeline_note(m->notes,
                  "%s: %s has no place for the closed captions inside the video, from %.2f s on; "
                  "they are left out, and h264 and hevc would keep them",
                  m->path, c->name, (double)frame->pts * av_q2d(o->in->video->time_base));
    o->told_captions = true;
}

static void tell_dynamic(output *o, const AVFrame *frame)
{
    const mux_settings *m = &o->settings->container;
    if (o->told_dynamic || !hdr_is_dynamic(frame))
        return;
    pipeline_note(
        m->notes,
        "%s: has no place for the HDR metadata of every frame (HDR10+, HDR Vivid or Dolby "
        "Vision) from %.2f s on; it is left out",
        m->path, (double)frame->pts * av_q2d(o->in->video->time_base));
    o->told_dynamic = true;
}

static void tell_fields(output *o, const AVFrame *frame)
{
    if (o->told_fields || o->settings->encoder.fields || !avframe_is_interlaced(frame))
        return;
    pipeline_note(o->settings->container.notes,
                  "%s: is not marked as interlaced, although its frames are from %.2f s on; h264, "
                  "prores or ffv1 in the input's height would be",
                  o->settings->container.path,
                  (double)frame->pts * av_q2d(o->in->video->time_base));
    o->told_fields = true;
}

static bool put_still(output *o, const AVFrame *frame, unsigned segment, pipeline_error *error)
{
    const output_settings *s = o->settings;
    (void)segment;
    return still_input_write(input_still(o->in), o->in->frame, frame, s->jpeg_quality,
                             s->encoder.choice.threads, error);
}

static bool put_picture(output *o, const AVFrame *frame, unsigned segment, pipeline_error *error)
{
    (void)segment;
    measure_pace(o, frame);
    tell_captions(o, frame);
    tell_dynamic(o, frame);
    return picture_writer_put(&o->pictures, frame, error);
}

static bool put_coded(output *o, const AVFrame *frame, unsigned segment, pipeline_error *error)
{
    measure_pace(o, frame);
    tell_captions(o, frame);
    tell_dynamic(o, frame);
    tell_fields(o, frame);
    if (o->filled && segment != o->segment && !seal(o, error))
        return false;
    o->segment = segment;
    if (!o->codec.codec && !open_encoder(o, error))
        return false;
    if (!encode(o, frame, error))
        return false;
    o->filled++;
    o->end = frame->pts + avframe_duration(frame);
    return true;
}

/* While the connection is made again, nothing is kept for it. */
static bool copy_if_connected(output *o, AVPacket *packet)
{
    pipeline_error broken = {0}; /* the next packet of the video finds it out */
    if (pthread_mutex_trylock(&o->lock))
        return true;
    mux_copy(&o->container, packet, &broken);
    pthread_mutex_unlock(&o->lock);
    return true;
}

bool output_copy(output *o, AVPacket *packet, pipeline_error *error)
{
    if (is_kept_up(o))
        return copy_if_connected(o, packet);
    return output_cuts(o) || !o->container.format || mux_copy(&o->container, packet, error);
}

/* ---- putting segments together -------------------------------------------------------------- */

typedef struct assembly {
    output *o;
    AVPacket *packet; /* the next packet of the segments; size 0: not read yet */
    int64_t last_dts; /* the last one written */
    bool ended;
} assembly;

/* When the encoder restarts for a segment, its first packets may begin slightly before the end of
 * the previous segment. */
static bool write_next(assembly *a, pipeline_error *error)
{
    AVPacket *packet = a->packet;
    if (a->last_dts != AV_NOPTS_VALUE && packet->dts <= a->last_dts)
        packet->dts = a->last_dts + 1;
    a->last_dts = packet->dts;
    return mux_write(&a->o->container, packet, a->o->in->video->time_base, error);
}

/* Writes the packets of the segments that are due before time. */
static bool write_due(void *context, int64_t time, pipeline_error *error)
{
    assembly *a = context;
    while (!a->ended) {
        int found = a->packet->size ? 1 : segments_read(&a->o->parts, a->packet, error);
        if (found < 0)
            return false;
        a->ended = !found;
        if (a->ended || a->packet->dts > time)
            return true;
        if (!write_next(a, error))
            return false;
    }
    return true;
}

static bool copy_from(void *context, AVPacket *packet, pipeline_error *error)
{
    assembly *a = context;
    return mux_copy(&a->o->container, packet, error);
}

static bool assemble(output *o, pipeline_error *error)
{
    input again;
    assembly a = {.o = o, .packet = av_packet_alloc(), .last_dts = AV_NOPTS_VALUE};
    input_settings settings = o->settings->input;
    settings.chip = NULL; /* nothing is decoded */
    /* If the end is given as a number of frames, they determine it; if it is given as a time, the
     * input observes it. */
    int64_t end = INT64_MAX;
    if (settings.ends_early && !segments_end(&o->parts, &end, error))
        return false;
    settings.notes = &(const pipeline_notes){0};
    settings.on_error = ON_ERROR_SKIP; /* the first reading has succeeded */
    bool good = input_open(&again, &settings, error);
    again.copy = copy_from;
    again.copy_context = &a;
    good = good && a.packet && input_copy_rest(&again, end, write_due, &a, error) &&
           write_due(&a, INT64_MAX, error);
    av_packet_free(&a.packet);
    input_close(&again);
    return good || pipeline_fail(error, "out of memory");
}

static bool finish_still(output *o, pipeline_error *error)
{
    (void)o, (void)error;
    return true;
}

static bool finish_pictures(output *o, pipeline_error *error)
{
    (void)error;
    tell_pace(o);
    tell_start(o);
    return true;
}

/* Completes the segments of this run. Damage may have left one without frames. */
static bool finish_segments(output *o, pipeline_error *error)
{
    segments *s = &o->parts;
    if (o->filled && !seal(o, error))
        return false;
    for (unsigned i = s->first; i < s->end; i++)
        if (!segments_has(s, i) && !segments_seal(s, i, 0, 0, error))
            return false;
    return true;
}

static bool finish_container(output *o, pipeline_error *error)
{
    tell_pace(o);
    tell_start(o);
    if (!output_cuts(o))
        return encode(o, NULL, error) && mux_finish(&o->container, error);
    if (!finish_segments(o, error))
        return false;
    if (output_is_part(o)) {
        stop_says(NULL);
        return true;
    }
    if (!assemble(o, error) || !mux_finish(&o->container, error))
        return false;
    stop_says(NULL);
    if (!segments_remove(&o->parts))
        pipeline_note(o->container.notes,
                      "%s: is complete; the folder with its segments cannot be removed: %s",
                      o->container.name, strerror(errno));
    return true;
}

struct output_kind {
    bool (*open)(output *o, pipeline_error *error);
    bool (*put)(output *o, const AVFrame *frame, unsigned segment, pipeline_error *error);
    bool (*finish)(output *o, pipeline_error *error);
};

bool output_open(output *o, const output_settings *settings, input *in, pipeline_error *error)
{
    static const output_kind still = {open_still, put_still, finish_still},
                             pictures = {open_pictures, put_picture, finish_pictures},
                             container = {open_container, put_coded, finish_container};
    const AVOutputFormat *format = settings->container.format;
    /* What the first frame has was told by hdr_check. */
    *o = (output){.settings = settings, .in = in, .told_dynamic = hdr_is_dynamic(in->frame)};
    o->kind = !format ? &still : container_row_of(format)->pictures ? &pictures : &container;
    pthread_mutex_init(&o->lock, NULL);
    return o->kind->open(o, error);
}

bool output_put(output *o, const AVFrame *frame, unsigned segment, pipeline_error *error)
{
    return o->kind->put(o, frame, segment, error);
}

bool output_finish(output *o, pipeline_error *error)
{
    return o->kind->finish(o, error);
}

static bool to_nowhere(void *context, AVPacket *packet, AVRational time_base, pipeline_error *error)
{
    (void)context, (void)time_base, (void)error;
    av_packet_unref(packet);
    return true;
}

bool output_fill(output *o, AVFrame *frame, uint64_t most, pipeline_error *error)
{
    enum { MOST_REFERENCES = 16 }; /* frames that an encoder keeps after their packets */
    const packet_sink sink = {to_nowhere, NULL};
    const AVRational rate = o->settings->encoder.rate, tick = o->in->video->time_base;
    const int64_t step = FFMAX(av_rescale_q(1, av_inv_q(rate), tick), 1);
    if (!most || !o->codec.codec)
        return true;
    encoder_close(&o->codec);
    bool good = open_encoder(o, error);
    frame->pts = 0;
    for (uint64_t i = 0; good && i < most && o->codec.packets < MOST_REFERENCES; i++) {
        good = encoder_put(&o->codec, frame, &sink, error);
        frame->pts += step;
    }
    return good;
}

void output_close(output *o)
{
    encoder_close(&o->codec);
    mux_close(&o->container);
    segments_close(&o->parts);
    pthread_mutex_destroy(&o->lock);
}
