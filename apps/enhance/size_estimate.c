// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/dry_run.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "pipeline/io/containers/container.h"
#include "pipeline/io/containers/media_file.h"

/* Packets of the video, and of what goes beside it. */
typedef struct sample {
    double frames, keys;             /* keys: frames that depend on no other one */
    double bytes, key_bytes, beside; /* beside: bytes of the other streams */
} sample;

static bool is_wanted(const input *in, const AVPacket *packet)
{
    const int64_t ticks = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    return ticks == AV_NOPTS_VALUE || in->start == INT64_MIN ||
           av_compare_ts(ticks, in->format->streams[packet->stream_index]->time_base, in->start,
                         AV_TIME_BASE_Q) >= 0;
}

static void count(sample *s, const input *f, const AVPacket *packet)
{
    const bool key = packet->flags & AV_PKT_FLAG_KEY;
    if (packet->stream_index == f->video->index) {
        s->frames++;
        s->bytes += packet->size;
        s->keys += key;
        s->key_bytes += key ? packet->size : 0;
    } else if (!container_is_cover(f->format->streams[packet->stream_index])) {
        s->beside += packet->size;
    }
}

/* Reads up to this many frames from the wanted part's beginning on. */
static sample read_sample(input *f, double frames)
{
    sample s = {0};
    while (s.frames < frames && input_packet(f, f->packet) >= 0) {
        if (is_wanted(f, f->packet))
            count(&s, f, f->packet);
        av_packet_unref(f->packet);
    }
    return s;
}

/* The bytes of so many frames that are like those of the sample. A sample with one key frame may be
 * shorter than the distance of two; most encoders make one in 250 frames unless the scene changes.
 */
static double scaled_up(const sample *s, double frames)
{
    const double others = s->frames - s->keys;
    const double keys = s->keys > 1 || others <= 0 ? frames * s->keys / s->frames
                                                   : fmin(fmax(frames / 250, 1), frames);
    return (s->keys > 0 ? keys * s->key_bytes / s->keys : 0) +
           (others > 0 ? (frames - keys) * (s->bytes - s->key_bytes) / others : 0);
}

/* Bytes of the whole input's video over those of as many frames like the sample's. */
static double hardness(input *f, double frames)
{
    const AVFormatContext *format = f->format;
    const double rate = av_q2d(av_guess_frame_rate(f->format, f->video, NULL));
    const double seconds = (double)media_length(format) / AV_TIME_BASE;
    const sample s = read_sample(f, frames);
    const int64_t file = input_bytes(f);
    double bytes = (double)f->video->codecpar->bit_rate / 8 * seconds;
    if (bytes <= 0 && file > 0 && s.bytes > 0)
        bytes = (double)file * s.bytes / (s.bytes + s.beside);
    const double like = s.frames > 0 ? scaled_up(&s, rate * seconds) : 0;
    return bytes > 0 && like > 0 ? fmin(fmax(bytes / like, 0.25), 4) : 1;
}

double size_estimate(const test_run *t, input *source, double expected)
{
    struct stat status;
    pipeline_error unused = {0}; /* raw frames have no header, but are all of one size */
    input result;
    const double frames = (double)t->report.frames;
    const double all = stat(t->result, &status) ? 0 : (double)status.st_size;
    double bytes = all * expected / frames;
    if (all > 0 && frames >= expected)
        return all;
    if (input_open(&result, &(input_settings){.path = t->result, .as_decoded = true}, &unused)) {
        const sample s = read_sample(&result, INFINITY);
        const double header = fmax(all - s.bytes - s.beside, 0);
        const bool raw = result.video->codecpar->codec_id == AV_CODEC_ID_RAWVIDEO;
        const double taken = frames / av_q2d(fields_kinds[t->report.made].made);
        if (s.frames > 0)
            bytes = header + s.beside * expected / s.frames +
                    scaled_up(&s, expected) * (raw ? 1 : hardness(source, taken));
    }
    input_close(&result);
    return bytes;
}

void size_estimate_text(char *text, size_t size, double bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    unsigned unit = 0;
    if (bytes >= 10) {
        const double digit = pow(10, floor(log10(bytes)) - 1);
        bytes = digit * round(bytes / digit);
    }
    for (; bytes >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1000;
    snprintf(text, size, bytes < 10 && unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}
