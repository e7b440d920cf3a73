// SPDX-License-Identifier: Apache-2.0
/* Decode -> stages -> encode. A still picture is a film of one frame.
 *
 * One thread decodes, fills frames and queues their work on the stages' streams; the caller's
 * thread waits for finished frames, encodes and writes. Jobs travel between the two. */
#include "pipeline/video.h"

#include <math.h>

#include "pipeline/base/clock.h"
#include "pipeline/base/av_compat.h"
#include "pipeline/base/av_library.h"
#include "pipeline/image/frame_convert.h"

/* ---- decoding side ------------------------------------------------------------------------ */

/* Copies everything of a frame except its samples: captions, time codes, colour. */
static bool copy_properties(AVFrame *to, const AVFrame *from)
{
    while (to->nb_side_data)
        av_frame_remove_side_data(to, to->side_data[0]->type);
    if (av_frame_copy_props(to, from) < 0)
        return false;
    to->colorspace = frame_convert_matrix(from); /* what is assumed depends on the input's size */
    av_frame_remove_side_data(to, AV_FRAME_DATA_VIDEO_ENC_PARAMS); /* of the input's coding */
    to->pict_type = AV_PICTURE_TYPE_NONE;
    avframe_clear_key(to);
    to->crop_top = to->crop_bottom = to->crop_left = to->crop_right = 0;
    return true;
}

/* The job for a frame of a live stream. NULL: none becomes free before the frame is too late. A
 * late frame that finds one is taken: it is the latest there is. */
static frame_job *take_live_job(video *v)
{
    const double left = input_patience(&v->in, 1e9 * v->settings->max_delay);
    frame_job *j = isinf(left) ? channel_pop(&v->idle)
                               : channel_pop_until(&v->idle, clock_ns() + (uint64_t)fmax(left, 0));
    v->late += !j;
    return j;
}

static bool succeeds(mona_status status, pipeline_error *error)
{
    return !status || pipeline_fail(error, "computing failed: %s", pipeline_reason(status));
}

static bool enter(video *v, frame_job *j)
{
    return succeeds(processor_enqueue(&v->processor, &j->work), &v->decode_error) &&
           channel_push(&v->busy, j);
}

static bool enter_first(video *v)
{
    frame_job *j = v->first;
    v->first = NULL;
    return !j || enter(v, j);
}

/* The first frame has none before it by which to tell noise from texture. It waits for the second
 * one where frames need not be in time, and so do those before a segment, of which another one may
 * be a stage's first. */
static bool waits(const video *v, const frame_job *j)
{
    const job *s = v->settings;
    const bool in_time = s->input.live || s->encoder.low_latency || (s->probe && s->probe->arrive);
    return (j->work.begins || j->work.before) && video_jobs(v) > 1 && !in_time;
}

/* Frames of a live stream, as far as the input knows. */
static live_counts count_live(const video *v)
{
    return (live_counts){.arrived = v->in.video_packets,
                         .dropped = v->in.skipped + v->late,
                         .reconnects = input_reconnects(&v->in)};
}

/* Gives a job the decoded frame: what lies beside its samples and, of a deep one, the samples,
 * which are needed until its result is complete. */
static bool load(video *v, frame_job *j, const AVFrame *decoded, const processor_job *work)
{
    const bool deep = processor_is_deep(&v->processor);
    av_frame_unref(j->source);
    if (!copy_properties(j->picture, decoded) || (deep && av_frame_ref(j->source, decoded) < 0))
        return pipeline_fail(&v->decode_error, "out of memory");
    if (!video_keeps_shape(v))
        j->picture->sample_aspect_ratio = v->out_settings.encoder.aspect;
    j->faults = v->in.faults;
    j->live = count_live(v);
    j->packet_came = v->settings->input.live ? input_arrival(&v->in) : 0;
    j->work = *work;
    if (deep) {
        j->work.planes = (const uint8_t *const *)j->source->data;
        j->work.strides = j->source->linesize;
    }
    return true;
}

/* before: it comes only so many frames before a segment; 0: it is part of one. */
static bool submit(video *v, const AVFrame *decoded, float error, unsigned before)
{
    const bool live = v->settings->input.live;
    frame_job *j = live ? take_live_job(v) : NULL;
    if (live && !j)
        return !atomic_load(&v->stop);
    const processor_job work = {.planes = (const uint8_t *const *)decoded->data,
                                .strides = decoded->linesize,
                                .error = error,
                                .begins = v->begins,
                                .before = before};
    v->begins = false;
    if (!succeeds(processor_fill(&v->processor, &work), &v->decode_error))
        return false;
    /* Jobs come back in the order of their frames, so this is the job of the next output slot. */
    j = live ? j : channel_pop(&v->idle);
    if (!j || !load(v, j, decoded, &work))
        return false;
    j->segment = v->segment;
    if (!enter_first(v))
        return false;
    if (!waits(v, j))
        return enter(v, j);
    v->first = j;
    return true;
}

/* ---- segments ---- */

/* Moves on to the next segment from `from` on that is still to be made. False: there is none. */
static bool aim(video *v, unsigned from)
{
    const segments *s = &v->out.parts;
    for (v->segment = from; v->segment < s->end && segments_has(s, v->segment);)
        v->segment++;
    return v->segment < s->end;
}

/* Enters the film where this segment asks for it; in->path lies open at its beginning for the
 * first. */
static bool enter_film(video *v)
{
    const cut *to = &v->out.parts.cuts.at[v->segment];
    v->passed = 0;
    v->known = v->in.faults;
    return !v->out.parts.cuts.searchable || !v->segment ||
           input_enter(&v->in, to->entry, v->out.parts.cuts.fields) ||
           pipeline_fail(&v->decode_error,
                         "%s: expected the key frame before segment %u again, "
                         "found none; was the file changed?",
                         v->in.path, v->segment);
}

/* Keeps the frame for the stages, which may need it before the next segment. */
static bool keep_frame(video *v)
{
    if (!v->warm_up)
        return true;
    decoded *d = &v->before[v->passed++ % v->warm_up];
    d->frame = d->frame ? d->frame : av_frame_alloc();
    d->error = input_compression(&v->in);
    if (d->frame)
        av_frame_unref(d->frame);
    return (d->frame && av_frame_ref(d->frame, v->in.frame) >= 0) ||
           pipeline_fail(&v->decode_error, "out of memory");
}

/* Begins a segment: the stages see the frames before it again. Damage there was counted with them,
 * or is another run's. */
static bool begin_segment(video *v)
{
    const uint64_t kept = FFMIN(v->passed, v->warm_up);
    bool good = enter_first(v);
    if (v->out.parts.cuts.searchable && v->segment)
        v->in.faults = v->known;
    v->begins = true;
    for (uint64_t n = v->passed - kept; good && n < v->passed; n++) {
        const decoded *d = &v->before[n % v->warm_up];
        good = submit(v, d->frame, d->error, (unsigned)(v->passed - n));
    }
    return good;
}

/* Passes the frame on if it belongs to a segment that is to be made. False: that is all, or an
 * error. */
static bool submit_segment(video *v)
{
    const segments *s = &v->out.parts;
    const unsigned now = cuts_of(&s->cuts, v->in.frame->pts, 0);
    bool good = true;
    if (now > v->segment) {
        v->begun = false;
        if (!aim(v, now))
            return false;
        if (s->cuts.searchable)
            return enter_film(v);
    }
    if (now == v->segment && !v->begun)
        good = v->begun = begin_segment(v);
    if (good && now == v->segment)
        good = submit(v, v->in.frame, input_compression(&v->in), 0);
    return good && keep_frame(v);
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
    const job *s = v->settings;
    return atomic_load(&v->stop) || (s->frames && frames >= (uint64_t)s->frames) ||
           (s->ends && atomic_load(s->ends));
}

static void *decode_all(void *argument)
{
    video *v = argument;
    const uint64_t limit = (uint64_t)v->settings->frames;
    uint64_t frames = 0;

    const bool cuts = output_cuts(&v->out);
    bool more = !cuts || (aim(v, v->out.parts.first) && enter_film(v));
    v->begins = true;
    while (more && !ends(v, frames)) {
        if (!decode(v, frames) ||
            !(cuts ? submit_segment(v) : submit(v, v->in.frame, input_compression(&v->in), 0)))
            break;
        frames++;
    }
    enter_first(v);
    v->ends_early = ends(v, frames);
    if (limit && frames == limit)
        input_copy_until(&v->in, v->in.frame->pts + avframe_duration(v->in.frame),
                         &v->decode_error);
    channel_close(&v->busy);
    return NULL;
}

/* ---- encoding side ------------------------------------------------------------------------ */

static void report_progress(video *v)
{
    if (v->settings->progress)
        v->settings->progress(v->settings->progress_context, v->report);
}

static bool encode(video *v, const frame_job *j, pipeline_error *error)
{
    const unsigned step = PROBE_STAGE + v->processor.stages.count;
    probe_mark(v->settings->probe, v->report->frames, step, false);
    if (!output_put(&v->out, j->picture, j->segment, error))
        return false;
    probe_mark(v->settings->probe, v->report->frames, step, true);
    return true;
}

/* input: as count_live said. */
static void report_live(video *v, live_counts input)
{
    v->report->live = input;
    v->report->live.dropped += v->out.unsent;
    v->report->live.reconnects += v->out.reconnects;
}

static bool finish_job(video *v, frame_job *j, pipeline_error *error)
{
    const uint64_t unsent = v->out.unsent;
    if (!succeeds(processor_finish(&v->processor, &j->work), error))
        return false;
    v->report->faults = j->faults;
    if (j->work.before)
        return true;
    if (!encode(v, j, error))
        return false;
    if (j->packet_came) {
        report_live(v, j->live);
        v->report->latency = clock_ns() - j->packet_came;
        v->report->time = (double)j->picture->pts * av_q2d(v->in.video->time_base);
    }
    if (v->out.unsent > unsent)
        return true;
    v->report->frames++;
    report_progress(v);
    return true;
}

/* Encodes jobs until the decoding side has no more. */
static bool encode_all(video *v, pipeline_error *error)
{
    bool good = true;
    for (frame_job *j; (j = channel_pop(&v->busy));) {
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

/* ---- running ------------------------------------------------------------------------------ */

static bool run_threads(video *v, pipeline_error *error)
{
    pthread_t decoder;
    for (unsigned i = 0; i < video_jobs(v); i++)
        channel_push(&v->idle, &v->jobs[i]);
    report_progress(v);
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
    enum { MANY_BYTES = 1000000 };
    const encoder_choice *c = &v->out_settings.encoder.choice;
    const double in = (double)v->in.video_bytes, out = (double)v->out.bytes;
    if (c->codec && c->codec->quality && !c->match_bitrate && !v->settings->input.live &&
        !v->report->resumed && out >= MANY_BYTES && out >= ENHANCE_MANY_TIMES * in)
        pipeline_note(&v->settings->notes,
                      "%s: the video has %.0f times as many bytes as in %s; a --crf above %g makes "
                      "it smaller, --match-bitrate keeps the bit rate",
                      v->settings->output, out / in, v->in.path,
                      c->crf < 0 ? c->codec->quality_default : c->crf);
}

/* Frames neither out nor left out were lost by the decoder or in a connection's last moment, or are
 * still in the decoder when no more are wanted. */
static uint64_t undecoded(const video *v)
{
    const enhance_report *r = v->report;
    const uint64_t told = r->frames + r->live.dropped;
    return v->ends_early            ? r->faults.lost_packets
           : r->live.arrived > told ? r->live.arrived - told
                                    : 0;
}

static void tell_faults(const video *v)
{
    char text[256], gaps[64] = "";
    const unsigned long long count = av_log_errors_count();
    const double missing = input_missing(&v->in);
    if (v->settings->stage.still || (!count && missing <= 0))
        return;
    if (!count) {
        pipeline_note(&v->settings->notes, "%s: damaged: %.2f s of film are missing", v->in.path,
                      missing);
        return;
    }
    av_log_errors_first(text, sizeof text);
    if (missing > 0)
        snprintf(gaps, sizeof gaps, "; %.2f s of film are missing", missing);
    pipeline_note(&v->settings->notes, "%s: FFmpeg found %llu fault%s in the input%s: %s%s",
                  v->in.path, count, count == 1 ? "" : "s", count == 1 ? "" : ", the first", text,
                  gaps);
}

/* Once no frame is in the stages. */
static void complete_report(video *v)
{
    enhance_report *r = v->report;
    r->faults = v->in.faults;
    if (v->settings->input.live) {
        report_live(v, count_live(v));
        r->undecoded = undecoded(v);
    }
    r->clock_jumps = v->in.times.jumps;
    r->moved_packets = v->out.container.moved;
    chain_estimate(&v->processor.stages, &r->noise, &r->compression);
}

static bool fail_empty(const video *v, pipeline_error *error)
{
    const input_settings *in = &v->settings->input;
    if (in->end > 0)
        return pipeline_fail(error, "%s: expected frames from %g s to %g s, found none", v->in.path,
                             in->start, in->end);
    if (in->start > 0)
        return pipeline_fail(error, "%s: expected frames at %g s or later, found none", v->in.path,
                             in->start);
    return pipeline_fail(error, "%s: expected a video with frames, found none", v->in.path);
}

static bool run_video(video *v, pipeline_error *error)
{
    const job *s = v->settings;
    if (!video_open(v, error))
        return false;
    if (s->plan)
        return true;
    if (!run_threads(v, error))
        return false;
    tell_faults(v);
    complete_report(v);
    if (!v->report->frames && !output_is_part(&v->out))
        return fail_empty(v, error);
    if (!output_finish(&v->out, error) || !output_fill(&v->out, v->jobs[0].picture, s->fill, error))
        return false;
    tell_bytes(v);
    return !v->in.broke.text[0] ||
           pipeline_fail(error, "%s; what came before is in %s", v->in.broke.text, s->output);
}

bool enhance_run(const job *settings, enhance_report *report, pipeline_error *error)
{
    video v = {.settings = settings, .report = report};
    channel_open(&v.idle);
    channel_open(&v.busy);
    bool good = run_video(&v, error);

    output_close(&v.out);
    for (unsigned i = 0; i < STAGE_SLOTS; i++)
        av_frame_free(&v.jobs[i].picture), av_frame_free(&v.jobs[i].source);
    for (unsigned i = 0; i < VIDEO_WARM_UP; i++)
        av_frame_free(&v.before[i].frame);
    processor_close(&v.processor);
    input_close(&v.in);
    channel_destroy(&v.idle);
    channel_destroy(&v.busy);
    return good;
}
