// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/sources/input.h"

#include <math.h>

#include "pipeline/image/picture_planes.h"
#include "pipeline/image/frame_convert.h"
#include "pipeline/base/av_compat.h"
#include "pipeline/base/av_library.h"
#include "pipeline/image/picture_kind.h"
#include "pipeline/io/codecs/codec.h"
#include "pipeline/io/containers/container.h"
#include "pipeline/io/containers/media_file.h"
#include "pipeline/image/pixels.h"
#include "pipeline/base/waiting.h"

static int64_t shift_in(const input *in, AVRational time_base)
{
    return av_rescale_q(in->shift, AV_TIME_BASE_Q, time_base);
}

/* The first tick that is not before a time. Times are typed to the millisecond and ticks are stored
 * to one, so up to half a tick is forgiven, and at most half a millisecond. */
static int64_t tick_from(int64_t time, AVRational time_base)
{
    const int64_t tick = av_rescale_q(1, time_base, AV_TIME_BASE_Q);
    return av_rescale_q_rnd(time - FFMAX(0, FFMIN(tick, 1000) - 1) / 2, AV_TIME_BASE_Q, time_base,
                            AV_ROUND_UP);
}

/* The beginning of the wanted part, shifted like copies and frames; INT64_MIN: everything is. */
static int64_t start_in(const input *in, AVRational time_base)
{
    return in->start == INT64_MIN ? INT64_MIN
                                  : tick_from(in->start, time_base) - shift_in(in, time_base);
}

/* Its end, likewise; INT64_MAX: none. */
static int64_t end_in(const input *in, AVRational time_base)
{
    return in->end == INT64_MAX ? INT64_MAX
                                : tick_from(in->end, time_base) - shift_in(in, time_base);
}

frame_format input_format(const input *in)
{
    const AVCodecParameters *video = in->video->codecpar;
    return in->from.kind->frame ? still_input_format(&in->from.still)
                                : pixels_frame_format(video->format, video->width, video->height);
}

orientation input_orientation(const input *in)
{
    return in->from.kind->frame ? still_input_orientation(&in->from.still)
                                : orientation_of(in->video);
}

const picture_list *input_pictures(const input *in)
{
    return in->from.kind->separate ? &in->from.pictures : NULL;
}

still_input *input_still(input *in)
{
    return in->from.kind->frame ? &in->from.still : NULL;
}

int64_t input_bytes(const input *in)
{
    return source_bytes(&in->from);
}

int input_packet(input *in, AVPacket *packet)
{
    return in->from.kind->next(&in->from, packet);
}

AVRational input_frame_rate(const input *in)
{
    AVRational rate = in->from.kind->frame ? (AVRational){0, 1}
                                           : av_guess_frame_rate(in->format, in->video, NULL);
    return rate.num > 0 && rate.den > 0 ? rate : (AVRational){25, 1};
}

int64_t input_bit_rate(const input *in)
{
    int64_t rate = in->format->bit_rate;
    if (in->video->codecpar->bit_rate > 0)
        return in->video->codecpar->bit_rate;
    for (unsigned i = 0; i < in->format->nb_streams; i++)
        rate -= FFMAX(in->format->streams[i]->codecpar->bit_rate, 0);
    return FFMAX(rate, 0);
}

/* Frames with start <= time < end, in seconds, of a video of constant rate. length 0: unknown; end
 * 0: no end. Returns 0 if the number is unknown. */
static double estimate(double length, double start, double end, double rate)
{
    const double clock = 0.01; /* of a frame: times are rounded to a container's clock */
    const double all = floor(length * rate + 0.5), first = ceil(start * rate - clock);
    const double cut = end > 0 ? ceil(end * rate - clock) : all;
    return fmax(0, (all > 0 ? fmin(all, cut) : cut) - first);
}

uint64_t input_frame_estimate(const input *in)
{
    const int64_t origin = avformat_origin(in->format);
    double seconds = 0, skipped = 0, end = 0;
    if (in->start != INT64_MIN)
        skipped = (double)(in->start - origin) / AV_TIME_BASE;
    if (in->end != INT64_MAX)
        end = (double)(in->end - origin) / AV_TIME_BASE;
    if (in->video->nb_frames > 0 && skipped <= 0 && end <= 0)
        return (uint64_t)av_rescale_rnd(in->video->nb_frames, fields_kinds[in->made].made.num,
                                        fields_kinds[in->made].made.den, AV_ROUND_UP);
    const int64_t whole = media_length(in->format);
    if (whole && !(in->format->iformat->flags & AVFMT_NOTIMESTAMPS))
        seconds = (double)whole / AV_TIME_BASE;
    if (in->video->duration > 0) {
        const double own = (double)in->video->duration * av_q2d(in->video->time_base);
        seconds = seconds > 0 ? fmin(own, seconds) : own;
    }
    return (uint64_t)estimate(seconds, skipped, end, av_q2d(input_frame_rate(in)));
}

/* Shifts a packet. The duration of a subtitle is cut to the wanted part. False: the whole packet
 * lies outside. */
static bool cut_packet(const input *in, AVPacket *packet, const AVStream *stream)
{
    const int64_t shift = shift_in(in, stream->time_base), start = start_in(in, stream->time_base),
                  end = end_in(in, stream->time_base);
    const bool subtitle = stream->codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE;
    if (packet->pts != AV_NOPTS_VALUE)
        packet->pts -= shift;
    if (packet->dts != AV_NOPTS_VALUE)
        packet->dts -= shift;
    const int64_t time = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    if (time == AV_NOPTS_VALUE)
        return true;
    const int64_t early = time < start ? start - time : 0;
    if (time >= end || (early && (!subtitle || packet->duration <= early)))
        return false;
    if (early) {
        packet->pts = packet->dts = start;
        packet->duration -= early;
    }
    if (subtitle && packet->duration > end - (time + early))
        packet->duration = end - (time + early);
    return true;
}

/* Passes a packet of another stream on. */
static bool copy_packet(input *in, pipeline_error *error)
{
    AVPacket *packet = in->packet;
    const AVStream *stream = in->format->streams[packet->stream_index];
    if (in->settings.as_decoded || (!container_is_cover(stream) && !cut_packet(in, packet, stream)))
        return true;
    return in->holding ? packet_queue_put(&in->held, packet, error)
                       : in->copy(in->copy_context, packet, error);
}

/* Whether a packet of another stream begins before end, in the video's time base, shifted like
 * copies. */
typedef struct packet_end {
    const input *in;
    int64_t end;
} packet_end;

static bool is_before(void *context, const AVPacket *packet)
{
    const packet_end *e = context;
    const AVStream *stream = e->in->format->streams[packet->stream_index];
    return packet->dts == AV_NOPTS_VALUE ||
           av_compare_ts(packet->dts, stream->time_base, e->end, e->in->video->time_base) < 0;
}

/* Passes on the held packets that begin before end. */
static bool release(input *in, int64_t end, pipeline_error *error)
{
    packet_end before = {in, end};
    const packet_queue_sink sink = {is_before, in->copy, &before, in->copy_context};
    return packet_queue_release(&in->held, &sink, error);
}

/* ---- packets ------------------------------------------------------------------------------ */

enum { MAX_READ_ERRORS = 64 }; /* in a row; then the file counts as ended */

/* Seconds from the beginning of the input. */
static double seconds_in(const input *in, int64_t time)
{
    return (double)(time - avformat_origin(in->format)) / AV_TIME_BASE;
}

/* Packets of raw streams have no times; their frames are counted. */
static double seconds_reached(const input *in)
{
    const int64_t counted = av_rescale_q(in->next_pts, in->video->time_base, AV_TIME_BASE_Q);
    return seconds_in(in, in->reached ? in->reached : counted + in->shift);
}

/* Counts a loss. False: the input ends or fails here. */
static bool lose_packet(input *in, int code, pipeline_error *error)
{
    if (!pixels_limit_kept(in->path, in->settings.max_pixels, error))
        return false;
    in->faults.lost_packets++;
    return in->settings.on_error == ON_ERROR_SKIP ||
           pipeline_fail_av(error, code, "%s: damaged near %.2f s (--on-error skip goes on)",
                            in->path, seconds_reached(in));
}

/* Frames of the video that an index lists beyond those that were found. Where libav has changed the
 * index for an edit list, it is no evidence; but it may have had no memory for the index. */
static uint64_t missing_frames(const input *in, uint64_t found)
{
    const int64_t listed = in->video->nb_frames;
    const bool whole = in->start == INT64_MIN && in->end == INT64_MAX && in->entry == INT64_MIN;
    const bool listing = in->from.faulty || listed == avformat_index_get_entries_count(in->video);
    return whole && listing && listed > 0 && found < (uint64_t)listed ? (uint64_t)listed - found
                                                                      : 0;
}

bool input_has_frames(const input *in, uint64_t found, pipeline_error *error)
{
    const uint64_t missing = missing_frames(in, found);
    return !missing ||
           pipeline_fail(error,
                         "%s: expected %" PRIu64 " frames, as the file announces, found %" PRIu64,
                         in->path, found + missing, found);
}

static bool check_frames(input *in, pipeline_error *error)
{
    const uint64_t missing = missing_frames(in, in->video_packets);
    if (in->settings.on_error == ON_ERROR_STOP)
        return input_has_frames(in, in->video_packets, error);
    if (missing)
        pipeline_note(in->notes,
                      "%s: cut short: of the %" PRIu64
                      " frames that the file announces, the last %" PRIu64 " are missing",
                      in->path, in->video_packets + missing, missing);
    return true;
}

/* What a list of files names and nobody read: told at the end, or a failure at once. */
static void describe_lost(const input *in, char *text, size_t size)
{
    snprintf(text, size,
             "of the files that it names, %u are missing, encrypted, empty or cut short, or not in "
             "or below its folder",
             media_lost_files(in->format));
}

static bool check_list(const input *in, pipeline_error *error)
{
    char text[128];
    if (in->settings.on_error != ON_ERROR_STOP || !media_lost_files(in->format))
        return true;
    describe_lost(in, text, sizeof text);
    return pipeline_fail(error, "%s: %s", in->path, text);
}

static void tell_lost(const input *in)
{
    char text[128];
    if (!in->video_packets || !media_lost_files(in->format) ||
        in->settings.on_error == ON_ERROR_STOP)
        return;
    describe_lost(in, text, sizeof text);
    pipeline_note(in->notes, "%s: %s; what they hold is left out", in->path, text);
}

/* At the end: a file that still arrives, or is written anew, in a container that announces no
 * length. */
static void tell_changed(const input *in)
{
    const struct stat *then = &in->file;
    struct stat now;
    if (S_ISREG(then->st_mode) && !stat(in->settings.path, &now) && now.st_dev == then->st_dev &&
        now.st_ino == then->st_ino &&
        (now.st_size != then->st_size || now.st_mtim.tv_sec != then->st_mtim.tv_sec ||
         now.st_mtim.tv_nsec != then->st_mtim.tv_nsec))
        pipeline_note(in->notes,
                      "%s: changed while it was read, from %lld to %lld bytes; the result has what "
                      "was there",
                      in->path, (long long)then->st_size, (long long)now.st_size);
}

/* At the end: a file that announces more than it holds was cut off. */
static bool check_length(input *in, pipeline_error *error)
{
    const AVFormatContext *format = in->format;
    const int64_t whole = media_length(format);
    if (!whole || format->duration_estimation_method != AVFMT_DURATION_FROM_STREAM ||
        format->iformat->flags & AVFMT_NOTIMESTAMPS || !in->reached)
        return true;
    /* Of the video alone, where only that is read. */
    const int64_t length =
        !in->settings.no_audio ? whole
        : in->video->duration > 0
            ? FFMIN(whole, av_rescale_q(in->video->duration, in->video->time_base, AV_TIME_BASE_Q))
            : 0;
    int64_t announced = length + avformat_origin(format);
    double missing = (double)(announced - in->reached) / AV_TIME_BASE;
    if (missing < 1)
        return check_frames(in, error);
    if (in->settings.on_error == ON_ERROR_STOP)
        return pipeline_fail(error, "%s: expected %.2f s, as the file announces, found %.2f s",
                             in->path, (double)announced / AV_TIME_BASE,
                             (double)in->reached / AV_TIME_BASE);
    pipeline_note(
        in->notes,
        "%s: cut short: of the %.2f s that the file announces, the last %.2f s are missing",
        in->path, (double)announced / AV_TIME_BASE, missing);
    return true;
}

static void remember_reached(input *in)
{
    const AVPacket *packet = in->packet;
    AVRational time_base = in->format->streams[packet->stream_index]->time_base;
    int64_t time = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    if (time != AV_NOPTS_VALUE)
        in->reached = FFMAX(in->reached, av_rescale_q(time + FFMAX(packet->duration, 0), time_base,
                                                      AV_TIME_BASE_Q));
    in->packet_end = packet->pos + packet->size;
}

/* At the end: libav silently leaves out the last frame of a y4m if it is incomplete. */
static bool check_last_frame(input *in, pipeline_error *error)
{
    const bool counts =
        in->packet_end > 0 && in->format->pb && reader_of(in->format->iformat)->drops_last;
    return !counts || avio_tell(in->format->pb) <= in->packet_end ||
           lose_packet(in, AVERROR_INVALIDDATA, error);
}

/* Reads the next packet. Damage is skipped and counted; an error of the system is a failure. */
static input_result read_packet(input *in, pipeline_error *error)
{
    for (int errors = 0;; errors++) {
        const waiting began = waiting_begin();
        int code = in->found ? 0 : input_packet(in, in->packet);
        in->found = false;
        waiting_end(began);
        if (!check_list(in, error))
            return INPUT_FAILED;
        if (code >= 0) {
            in->corrupt += in->packet->flags & AV_PKT_FLAG_CORRUPT ? 1 : 0;
            timestamp_joins_place(&in->times, in->format, in->packet);
            remember_reached(in); /* in the time of the pieces that were joined */
            return INPUT_FRAME;
        }
        if (in->from.kind->timed && code != AVERROR_EOF) {
            pipeline_fail_av(&in->broke, code, "%s: the stream broke off", in->path);
            return INPUT_END;
        }
        const AVIOContext *file = in->format->pb;
        if (file && file->error < 0 && file->error != AVERROR_EOF)
            code = file->error;
        if (code == AVERROR(EIO) || code == AVERROR(ENOMEM) || (file && code == file->error)) {
            pipeline_fail_av(error, code, "%s: reading failed", in->path);
            return INPUT_FAILED;
        }
        if (code == AVERROR_EOF)
            tell_changed(in);
        if (code == AVERROR_EOF || errors == MAX_READ_ERRORS)
            return check_last_frame(in, error) && check_length(in, error) ? INPUT_END
                                                                          : INPUT_FAILED;
        if (!lose_packet(in, code, error))
            return INPUT_FAILED;
    }
}

/* Whether a packet of the video is left out. */
static bool skip(input *in)
{
    const source_kind *kind = in->from.kind;
    const bool skips =
        kind->skips && kind->skips(&in->from, in->packet, in->video->time_base, in->decoder);
    in->skipped += skips;
    return skips;
}

double input_time(const input *in)
{
    const AVRational tick = in->video->time_base;
    return seconds_in(in, av_rescale_q(in->frame->pts + shift_in(in, tick), tick, AV_TIME_BASE_Q));
}

uint64_t input_arrival(const input *in)
{
    return live_arrival(&in->from.live, in->frame->pts + shift_in(in, in->video->time_base));
}

double input_patience(const input *in, double max_delay_ns)
{
    const live *l = &in->from.live;
    const AVRational tick = in->video->time_base;
    const int64_t dts = in->frame->pkt_dts;
    if (l->bursts)
        return INFINITY;
    /* While packets lie unread, no frame waits. */
    return live_behind(l)
               ? 0
               : max_delay_ns -
                     live_lag(l, dts != AV_NOPTS_VALUE ? dts : in->frame->pts + shift_in(in, tick),
                              tick);
}

uint64_t input_reconnects(const input *in)
{
    return in->from.live.reconnects;
}

float input_compression(const input *in)
{
    return in->from.kind->frame ? in->from.still.image.compression
                                : quantiser_error(in->frame, in->decoder->codec_id);
}

static void count_video(input *in)
{
    in->video_packets++;
    in->video_bytes += (uint64_t)in->packet->size;
}

/* Refuses the picture in in->packet if libav would decode it wrongly without a word. A film of
 * JPEGs may leave out the usual tables. */
static bool check_picture(input *in, pipeline_error *error)
{
    char name[4096];
    tiff_info info = {0};
    const char *path = source_file(&in->from, name, sizeof name);
    const bool good =
        in->from.kind->separate ? picture_list_check(path, in->packet, &info, error)
        : in->decoder->codec_id == AV_CODEC_ID_TIFF
            ? tiff_check(&info, path, in->packet->data, (size_t)in->packet->size, error)
            : true;
    if (!good || !info.pages)
        return good;
    if (in->video_packets && info.premultiplied != in->premultiplied)
        return pipeline_fail(error, "%s: expected alpha like that of the first picture, found %s",
                             path,
                             info.premultiplied ? "colours multiplied by it" : "separate colours");
    in->premultiplied = info.premultiplied;
    return true;
}

/* NULL: the last one. Decoders with threads may report with it what is wrong with one before. */
static bool decode_packet(input *in, const AVPacket *packet, pipeline_error *error)
{
    const int code = chip_decoder_send(&in->chip, packet);
    if (in->chip.failure.text[0])
        return pipeline_fail(error, "%s", in->chip.failure.text);
    if (code == AVERROR(ENOMEM))
        return pipeline_fail(error, "%s: out of memory while decoding", in->path);
    return code >= 0 || in->entering || lose_packet(in, code, error);
}

static bool check_log(const input *in, pipeline_error *error)
{
    char text[256];
    if (in->settings.on_error == ON_ERROR_SKIP || !av_log_errors_count())
        return true;
    av_log_errors_first(text, sizeof text);
    return pipeline_fail(error, "%s: damaged near %.2f s: %s (--on-error skip goes on)", in->path,
                         seconds_reached(in), text);
}

/* Reads a packet and passes it to the decoder or to copy. */
static bool feed(input *in, pipeline_error *error)
{
    input_result result = read_packet(in, error);
    if (result == INPUT_END) {
        in->draining = true;
        return decode_packet(in, NULL, error);
    }
    if (result != INPUT_FRAME)
        return false;

    bool passed = true;
    if (in->packet->stream_index != in->video->index) {
        passed = copy_packet(in, error);
    } else if (!check_picture(in, error)) {
        passed = false;
    } else if (count_video(in), !skip(in)) {
        passed = decode_packet(in, in->packet, error);
    }
    av_packet_unref(in->packet);
    return passed && check_log(in, error);
}

/* ---- frames ------------------------------------------------------------------------------- */

/* Demuxers skip what they cannot read and say no more than that there was a fault, or mark a packet
 * beside it: that of a transport stream which another should follow, as its counters say. Where a
 * list says that they begin again, neither counters nor clock tell that film is missing. */
static void note_gap(input *in, int64_t gap)
{
    const uint64_t faults = av_log_errors_count() + in->corrupt;
    if (faults > in->gap_faults && !media_list_has_breaks(in->format))
        in->missing += gap;
    else
        in->uneven = true;
    in->gap_faults = faults;
}

double input_missing(const input *in)
{
    return in->uneven || in->from.kind->timed ? 0
                                              : (double)in->missing * av_q2d(in->video->time_base);
}

/* Sets the frame's final timestamp: its own or, if it has none, the end of the previous frame.
 * False: it lies before the wanted part. */
static bool place_frame(input *in)
{
    enum { MAX_GAP = 3 }; /* in frames of the usual length */
    AVFrame *frame = in->frame;
    const int64_t shift = shift_in(in, in->video->time_base);
    int64_t pts = frame->best_effort_timestamp;
    const int64_t usual =
        FFMAX(1, av_rescale_q(1, av_div_q(fields_kinds[in->made].made, input_frame_rate(in)),
                              in->video->time_base));
    /* FFmpeg 7 gives some frames of raw streams a duration of one tick, and one field is half a
     * frame. */
    if (avframe_duration(frame) <= 0 ||
        (pts == AV_NOPTS_VALUE && avframe_duration(frame) < usual / 2))
        avframe_set_duration(frame, usual);
    if (pts == AV_NOPTS_VALUE)
        pts = in->next_pts + shift;
    pts -= shift;
    /* The second field may belong to the result. */
    const int64_t late = in->fields.mode == FIELDS_DOUBLE ? avframe_duration(frame) / 2 : 0;
    if (pts + late < start_in(in, in->video->time_base)) {
        in->next_pts = pts + avframe_duration(frame);
        return false;
    }
    if (in->last_pts != INT64_MIN && pts - in->next_pts > MAX_GAP * usual)
        note_gap(in, pts - in->next_pts);
    if (pts <= in->last_pts) {
        pts = in->last_pts + 1;
        in->faults.moved_frames++;
    }
    frame->pts = in->last_pts = pts;
    in->next_pts = pts + avframe_duration(frame);
    return true;
}

static bool check_gaps(const input *in, pipeline_error *error)
{
    const double missing = input_missing(in);
    return missing <= 0 || in->settings.on_error == ON_ERROR_SKIP ||
           pipeline_fail(error,
                         "%s: damaged: %.2f s of film are missing before %.2f s (--on-error skip "
                         "goes on)",
                         in->path, missing, input_time(in));
}

/* Where the frame lies in the film, for messages. */
static double seconds_of_frame(const input *in)
{
    const int64_t pts = in->frame->best_effort_timestamp;
    return pts == AV_NOPTS_VALUE
               ? seconds_reached(in)
               : seconds_in(in, av_rescale_q(pts, in->video->time_base, AV_TIME_BASE_Q));
}

/* A photograph is stored as the camera was held, and EXIF tells how. Videos are turned by their
 * players. */
static bool turn_still(input *in, pipeline_error *error)
{
    AVFrame *frame = in->frame;
    const orientation turn = orientation_of_still(frame);
    const frame_convert_shape rgb = {frame->width, frame->height, AV_PIX_FMT_RGB24,
                                     AVCOL_RANGE_JPEG, AVCOL_SPC_RGB};
    return in->settings.rotate != ROTATION_AUTO || !orientation_changes(turn) ||
           orientation_changes(orientation_of(in->video)) ||
           (frame_convert_replace(frame, &rgb, error) && orientation_turn(frame, turn, error));
}

/* Where the container says nothing, frames may: photographs by EXIF, H.264 and HEVC by SEI. */
static bool take_turn(input *in, pipeline_error *error)
{
    const AVFrameSideData *own = av_frame_get_side_data(in->frame, AV_FRAME_DATA_DISPLAYMATRIX);
    if (!own || in->settings.rotate != ROTATION_AUTO || orientation_changes(in->turn) ||
        avstream_side_data(in->video, AV_PKT_DATA_DISPLAYMATRIX, NULL))
        return true;
    uint8_t *matrix = avstream_new_side_data(in->video, AV_PKT_DATA_DISPLAYMATRIX, own->size);
    if (!matrix)
        return pipeline_fail(error, "out of memory");
    memcpy(matrix, own->data, own->size);
    return in->settings.as_decoded || input_choose_turn(in, error);
}

static void tell_grain(const input *in)
{
    if (in->decoder->export_side_data & AV_CODEC_EXPORT_DATA_FILM_GRAIN &&
        av_frame_get_side_data(in->frame, AV_FRAME_DATA_FILM_GRAIN_PARAMS))
        pipeline_note(in->notes,
                      "%s: the film grain that a player would add is left out, as denoising would "
                      "remove it; --strength 0 keeps it",
                      in->path);
}

/* The video is described as the last frame was that was looked at when the film was opened. */
static void describe_as_first(input *in)
{
    const AVFrame *first = in->frame;
    AVCodecParameters *video = in->video->codecpar;
    const AVRational pixel = first->sample_aspect_ratio;
    if (pixel.num > 0)
        video->sample_aspect_ratio = orientation_swaps(in->turn) ? av_inv_q(pixel) : pixel;
    if (in->planes != AV_PIX_FMT_NONE)
        return; /* what frames are converted to is described already */
    video->color_range = first->color_range;
    video->color_space = first->colorspace;
    video->color_primaries = first->color_primaries;
    video->color_trc = first->color_trc;
    video->chroma_location = orientation_chroma(first->chroma_location, in->turn);
}

/* The first frame determines the video's format, whatever the stream announced. */
static bool check_frame(input *in, pipeline_error *error)
{
    AVFrame *frame = in->frame;
    /* Where the film is entered anew, its first frame was seen before. */
    const bool first = in->last_pts == INT64_MIN && (in->entry == INT64_MIN || !in->like.pixel.num);
    if (in->settings.as_decoded && in->decoder->codec_id == AV_CODEC_ID_MJPEG)
        return turn_still(in, error);
    if (first && !take_turn(in, error))
        return false;
    if (in->settings.as_decoded)
        return true;
    AVCodecParameters *video = in->video->codecpar;
    int *const width = orientation_swaps(in->turn) ? &video->height : &video->width;
    int *const height = orientation_swaps(in->turn) ? &video->width : &video->height;
    if (first) {
        tell_grain(in);
        like_first_begin(&in->like, frame);
        describe_as_first(in);
    }
    const bool alike = frame->width == *width && frame->height == *height &&
                       pixels_plain(frame->format) == pixels_plain(video->format);
    if (alike && like_first_colours(&in->like, frame, video->format)) {
        like_first_tell(&in->like, frame, seconds_of_frame(in), in->path, in->notes);
        return true;
    }
    if (!first)
        return pixels_limit(in->path, in->settings.max_pixels, (uint32_t)frame->width,
                            (uint32_t)frame->height, error) &&
               like_first_convert(&in->like, frame, video, *width, *height, seconds_of_frame(in),
                                  in->path, in->notes, error);
    *width = frame->width;
    *height = frame->height;
    video->format = frame->format;
    return input_check_video(in, error);
}

static bool count_damage(input *in, pipeline_error *error)
{
    if (!in->frame->decode_error_flags && !(in->frame->flags & AV_FRAME_FLAG_CORRUPT))
        return true;
    in->faults.damaged_frames++;
    return in->settings.on_error == ON_ERROR_SKIP ||
           pipeline_fail(error, "%s: a damaged frame near %.2f s (--on-error skip goes on)",
                         in->path, seconds_reached(in));
}

/* Codecs of pictures whose colours do not depend on alpha. Of others that is unknown. */
static bool has_straight_alpha(const input *in)
{
    switch (in->decoder->codec_id) {
    case AV_CODEC_ID_PNG:
    case AV_CODEC_ID_APNG:
    case AV_CODEC_ID_GIF:
    case AV_CODEC_ID_WEBP:
    case AV_CODEC_ID_TIFF:
        return true;
    default:
        return false;
    }
}

/* Colours can be spread once each pixel has its own. */
static bool unpack_palette(input *in, pipeline_error *error)
{
    const AVFrame *f = in->frame;
    const frame_convert_shape shape = {f->width, f->height, AV_PIX_FMT_BGRA, AVCOL_RANGE_JPEG,
                                       AVCOL_SPC_RGB};
    return f->format != AV_PIX_FMT_PAL8 || frame_convert_replace(in->frame, &shape, error);
}

/* For the format that frames are converted to. */
static bool prepare_alpha(input *in, pipeline_error *error)
{
    const bool kept =
        in->planes != AV_PIX_FMT_NONE && pixels_without_alpha(in->planes) != in->planes;
    if (!in->filled && in->planes != AV_PIX_FMT_NONE && !kept && alpha_shows(in->frame)) {
        pipeline_note(in->notes,
                      "%s: transparent parts are filled, because none were found when "
                      "the input was opened",
                      in->path);
        in->filled = true;
    }
    if (!in->premultiplied && !(kept && has_straight_alpha(in)))
        return true;
    if (av_frame_make_writable(in->frame) < 0)
        return pipeline_fail(error, "out of memory");
    if (in->premultiplied)
        alpha_divide(in->frame);
    if (!kept || !has_straight_alpha(in))
        return true;
    return (unpack_palette(in, error) && alpha_spread(in->frame)) ||
           pipeline_fail(error, "out of memory");
}

/* Frames that no codec wrote may have any bits. Larger samples would be taken for white. */
static bool check_samples(const input *in, pipeline_error *error)
{
    const AVFrame *f = in->frame;
    if (in->decoder->codec_id != AV_CODEC_ID_RAWVIDEO || !pixels_has_planes(f->format))
        return true;
    const frame_format format = pixels_frame_format(f->format, f->width, f->height);
    for (unsigned p = 0; p < format.planes; p++)
        if (!frame_samples_fit(&format, p, f->data[p], f->linesize[p]))
            return pipeline_fail(error,
                                 "%s: expected samples of %u bits, found larger ones; where these "
                                 "lie in the high bits, the format is p010le, p210le or p410le",
                                 in->path, format.bits);
    return true;
}

static bool widen(input *in, pipeline_error *error)
{
    const AVCodecParameters *video = in->video->codecpar;
    const frame_convert_shape shape = {.width = in->frame->width,
                                       .height = in->frame->height,
                                       .format = video->format,
                                       .range = AVCOL_RANGE_MPEG,
                                       .matrix = video->color_space};
    return frame_convert_replace(in->frame, &shape, error);
}

/* Whether the frame lies before the place where the file was entered. Then it may refer to what was
 * not read. */
static bool enters(input *in)
{
    const int64_t pts = in->frame->best_effort_timestamp;
    if (in->entering && pts != AV_NOPTS_VALUE && pts < in->entry) {
        av_frame_unref(in->frame);
        return true;
    }
    if (in->entering)
        av_log_errors_pause(false);
    in->entering = false;
    return false;
}

/* In a row, without a packet in between: a decoder reports at most one for each of its threads. */
enum { MAX_DECODER_ERRORS = 1024 };

/* Decodes the next frame that belongs to the result, without further processing. */
static input_result decode_next(input *in, pipeline_error *error)
{
    for (int errors = 0;; errors++) {
        int code = chip_decoder_receive(&in->chip, in->frame);
        if (code == AVERROR(EAGAIN)) {
            errors = 0;
            if (!feed(in, error))
                return INPUT_FAILED;
            continue;
        }
        if (code == AVERROR_EOF)
            return check_log(in, error) ? INPUT_END : INPUT_FAILED;
        if (in->chip.failure.text[0]) {
            pipeline_fail(error, "%s", in->chip.failure.text);
            return INPUT_FAILED;
        }
        if (code == AVERROR(ENOMEM)) {
            pipeline_fail(error, "%s: out of memory while decoding", in->path);
            return INPUT_FAILED;
        }
        if (code < 0) {
            if ((in->draining && code != AVERROR_INVALIDDATA) || errors == MAX_DECODER_ERRORS) {
                pipeline_fail_av(error, code, "%s: decoding failed", in->path);
                return INPUT_FAILED;
            }
            if (!in->entering && !lose_packet(in, code, error))
                return INPUT_FAILED;
            continue;
        }
        if (enters(in))
            continue;
        if (!prepare_alpha(in, error))
            return INPUT_FAILED;
        if (in->planes != AV_PIX_FMT_NONE && !picture_planes(in->frame, in->planes, error))
            return INPUT_FAILED;
        if (!check_samples(in, error) || (in->widened && !widen(in, error)))
            return INPUT_FAILED;
        if (!check_frame(in, error) || !count_damage(in, error))
            return INPUT_FAILED;
        if (!place_frame(in))
            continue;
        if (!check_gaps(in, error))
            return INPUT_FAILED;
        if (in->frame->pts < end_in(in, in->video->time_base))
            return INPUT_FRAME;
        av_frame_unref(in->frame);
        return INPUT_END;
    }
}

static input_result next_frame(input *in, pipeline_error *error)
{
    if (in->from.kind->frame)
        return in->from.kind->frame(&in->from, in->frame, error);
    if (in->settings.as_decoded)
        return decode_next(in, error);
    for (;;) {
        const int code = fields_get(&in->fields, in->frame, error);
        if (code >= 0 && in->frame->pts < start_in(in, in->video->time_base))
            continue;
        if (code >= 0 && in->frame->pts >= end_in(in, in->video->time_base))
            return INPUT_END;
        if (code >= 0)
            return orientation_turn(in->frame, in->turn, error) ? INPUT_FRAME : INPUT_FAILED;
        if (code != AVERROR(EAGAIN))
            return code == AVERROR_EOF ? INPUT_END : INPUT_FAILED;
        const input_result result = decode_next(in, error);
        if (result == INPUT_FAILED ||
            !fields_put(&in->fields, result == INPUT_END ? NULL : in->frame, error))
            return INPUT_FAILED;
    }
}

/* Whether the search for fields, which takes frames from further on, can wait until the frame is
 * wanted: they do not change how many frames there are. */
static bool fields_can_wait(const input *in)
{
    return !in->from.kind->frame && !in->settings.as_decoded && in->fields.mode == FIELDS_SINGLE;
}

input_result input_first(input *in, pipeline_error *error)
{
    in->holding = in->ahead = true;
    const bool waits = fields_can_wait(in);
    in->first = waits ? decode_next(in, error) : next_frame(in, error);
    if (waits && in->first == INPUT_FRAME && !orientation_check(in->frame->format, in->turn, error))
        in->first = INPUT_FAILED;
    if (in->fields.mode != FIELDS_SINGLE && in->fields.whole.filters.graph) {
        const AVRational average = in->video->avg_frame_rate;
        const AVRational rate = average.num > 0 ? average : input_frame_rate(in);
        in->video->r_frame_rate = in->video->avg_frame_rate =
            av_mul_q(rate, fields_kinds[in->fields.mode].made);
        in->made = in->fields.mode;
    }
    return in->first;
}

/* The result of input_first, as input_next has it. */
static input_result take_first(input *in, pipeline_error *error)
{
    in->ahead = false;
    return in->first != INPUT_FRAME || !fields_can_wait(in) ? in->first
           : fields_put(&in->fields, in->frame, error)      ? next_frame(in, error)
                                                            : INPUT_FAILED;
}

input_result input_next(input *in, pipeline_error *error)
{
    const input_result result = in->ahead ? take_first(in, error) : next_frame(in, error);
    in->holding = in->settings.ends_early;
    const int64_t end = in->holding && result == INPUT_FRAME
                            ? in->frame->pts + avframe_duration(in->frame)
                            : INT64_MAX;
    if (!release(in, end, error) ||
        (result == INPUT_END && in->end != INT64_MAX && !in->settings.as_decoded &&
         !input_copy_until(in, end_in(in, in->video->time_base), error)))
        return INPUT_FAILED;
    return result;
}

/* Whether all sound streams have passed end. Subtitles and data come irregularly and are not waited
 * for. */
static bool all_audio_past(const input *in, const int64_t *last, int64_t end)
{
    for (unsigned i = 0; i < in->format->nb_streams && i < 64; i++) {
        const AVStream *stream = in->format->streams[i];
        if (stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO && !container_leaves_out(stream) &&
            av_compare_ts(last[i], stream->time_base, end, in->video->time_base) < 0)
            return false;
    }
    return true;
}

bool input_copy_until(input *in, int64_t end, pipeline_error *error)
{
    int64_t last[64] = {0}; /* latest timestamp of each stream, shifted like the copies */

    in->holding = false;
    if (!release(in, end, error))
        return false;
    while (!in->draining && !all_audio_past(in, last, end)) {
        input_result result = read_packet(in, error);
        if (result != INPUT_FRAME)
            return result == INPUT_END;
        unsigned index = (unsigned)in->packet->stream_index;
        AVRational time_base = in->format->streams[index]->time_base;
        int64_t dts = in->packet->dts;
        if (index < 64 && dts != AV_NOPTS_VALUE)
            last[index] = dts - shift_in(in, time_base);
        bool passed = true;
        if (index != (unsigned)in->video->index &&
            (dts == AV_NOPTS_VALUE || av_compare_ts(dts - shift_in(in, time_base), time_base, end,
                                                    in->video->time_base) < 0))
            passed = copy_packet(in, error);
        av_packet_unref(in->packet);
        if (!passed)
            return false;
    }
    return true;
}

bool input_survey(input *in, input_surveyor take, void *context, pipeline_error *error)
{
    for (;;) {
        const input_result result = read_packet(in, error);
        if (result != INPUT_FRAME)
            return result == INPUT_END;
        const AVPacket *p = in->packet;
        const int64_t time = p->dts == AV_NOPTS_VALUE ? p->pts : p->dts;
        const bool video = p->stream_index == in->video->index;
        const bool ends = video && time != AV_NOPTS_VALUE && in->end != INT64_MAX &&
                          av_compare_ts(time, in->video->time_base, in->end, AV_TIME_BASE_Q) >= 0;
        const bool taken = !video || ends || take(context, p, error);
        av_packet_unref(in->packet);
        if (!taken || ends)
            return taken;
    }
}

bool input_copy_rest(input *in, int64_t end, input_pace pace, void *pace_context,
                     pipeline_error *error)
{
    const int64_t shift = shift_in(in, in->video->time_base);
    end = FFMIN(end, end_in(in, in->video->time_base));
    for (;;) {
        input_result result = read_packet(in, error);
        if (result != INPUT_FRAME)
            return result == INPUT_END;
        const int64_t time = in->packet->dts;
        bool video = in->packet->stream_index == in->video->index;
        bool passed = !video ? copy_packet(in, error)
                             : time == AV_NOPTS_VALUE || pace(pace_context, time - shift, error);
        av_packet_unref(in->packet);
        if (!passed)
            return false;
        if (video && time != AV_NOPTS_VALUE && time - shift >= end)
            return input_copy_until(in, end, error);
    }
}

void input_close(input *in)
{
    tell_lost(in);
    fields_close(&in->fields);
    timestamp_joins_close(&in->times);
    packet_queue_free(&in->held);
    chip_decoder_close(&in->chip);
    avcodec_free_context(&in->decoder);
    source_close(&in->from);
    av_packet_free(&in->packet);
    av_frame_free(&in->frame);
}
