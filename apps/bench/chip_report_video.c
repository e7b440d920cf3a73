// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/chip_report.h"
#include "apps/cli/json_output.h"

#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/opt.h>

#include "engine/model_format.h"
#include "engine/mona_ascend.h"
#include "pipeline/io/codecs/chip_decoder.h"

enum { WIDTH = 320, HEIGHT = 240, FRAMES = 30 };

typedef struct film {
    AVCodecParameters *video;
    AVPacket *packets[FRAMES];
    unsigned count;
} film;

typedef struct decoded {
    unsigned frames;
    uint32_t crc;
} decoded;

/* ---- encoding -------------------------------------------------------------------------------- */

/* Stripes that move, and noise. */
static void draw(AVFrame *frame, unsigned number)
{
    static uint32_t state = 1;
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < HEIGHT >> (p > 0); y++)
            for (int x = 0; x < WIDTH >> (p > 0); x++) {
                state = state * 1664525 + 1013904223;
                frame->data[p][y * frame->linesize[p] + x] =
                    (uint8_t)(64 +
                              ((unsigned)x + (unsigned)y * (unsigned)(1 + p) + 3 * number) % 128 +
                              (state >> 28));
            }
    frame->pts = number;
}

static AVCodecContext *open_encoder(const char *name)
{
    const AVCodec *codec = avcodec_find_encoder_by_name(name);
    AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!c)
        return NULL;
    c->width = WIDTH;
    c->height = HEIGHT;
    c->pix_fmt = AV_PIX_FMT_YUV420P;
    c->time_base = (AVRational){1, 25};
    c->gop_size = 12;
    c->max_b_frames = 3;
    if (av_opt_set(c->priv_data, "preset", "veryfast", 0) < 0 ||
        (codec->id == AV_CODEC_ID_HEVC &&
         av_opt_set(c->priv_data, "x265-params", "log-level=none", 0) < 0) ||
        avcodec_open2(c, codec, NULL) < 0)
        avcodec_free_context(&c);
    return c;
}

/* False: the packets are fewer than FRAMES. */
static bool encode(AVCodecContext *c, film *f)
{
    AVFrame *frame = av_frame_alloc();
    frame->format = c->pix_fmt;
    frame->width = WIDTH;
    frame->height = HEIGHT;
    bool good = av_frame_get_buffer(frame, 0) >= 0;
    for (unsigned i = 0; i < FRAMES; i++)
        good = (f->packets[i] = av_packet_alloc()) && good;
    for (unsigned n = 0; n <= FRAMES && good; n++) {
        good = av_frame_make_writable(frame) >= 0;
        if (good && n < FRAMES)
            draw(frame, n);
        good = good && avcodec_send_frame(c, n < FRAMES ? frame : NULL) >= 0;
        while (good && f->count < FRAMES && avcodec_receive_packet(c, f->packets[f->count]) >= 0)
            f->count++;
    }
    av_frame_free(&frame);
    return f->count == FRAMES && avcodec_parameters_from_context(f->video, c) >= 0;
}

static void free_film(film *f)
{
    for (unsigned i = 0; i < FRAMES; i++)
        av_packet_free(&f->packets[i]);
    avcodec_parameters_free(&f->video);
}

/* ---- decoding -------------------------------------------------------------------------------- */

static void add_frame(decoded *d, const AVFrame *frame)
{
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < HEIGHT >> (p > 0); y++)
            d->crc = mona_crc32(d->crc, frame->data[p] + (ptrdiff_t)y * frame->linesize[p],
                                (size_t)(WIDTH >> (p > 0)));
    d->frames++;
}

/* A chip_decoder that does not want the chip is libavcodec's decoder. */
static bool decode(const film *f, bool on_chip, const pipeline_notes *notes, decoded *d)
{
    const AVCodec *codec = avcodec_find_decoder(f->video->codec_id);
    AVCodecContext *host = codec ? avcodec_alloc_context3(codec) : NULL;
    AVFrame *frame = av_frame_alloc();
    chip_decoder chip = {0};
    pipeline_error error = {0};
    const chip_decoder_settings settings = {.path = "the film",
                                            .notes = notes,
                                            .video = f->video,
                                            .time_base = {1, 25},
                                            .chip = on_chip ? &mona_device_ascend : NULL};
    bool good = host && frame && avcodec_parameters_to_context(host, f->video) >= 0 &&
                avcodec_open2(host, codec, NULL) >= 0 &&
                chip_decoder_open(&chip, host, &settings, &error);
    for (unsigned n = 0; good;) {
        const int code = chip_decoder_receive(&chip, frame);
        if (code == 0)
            add_frame(d, frame);
        else if (code == AVERROR(EAGAIN) && n <= f->count)
            good = chip_decoder_send(&chip, n < f->count ? f->packets[n] : NULL) >= 0, n++;
        else if (code != AVERROR_INVALIDDATA) /* a frame that is lost */
            break;
    }
    if (chip.failure.text[0])
        pipeline_note(notes, "%s", chip.failure.text);
    chip_decoder_close(&chip);
    avcodec_free_context(&host);
    av_frame_free(&frame);
    return good;
}

/* ---- the report ------------------------------------------------------------------------------ */

typedef struct said {
    char text[512];
} said;

static void hear(void *context, const char *line)
{
    said *s = context;
    snprintf(s->text, sizeof s->text, "%s", line);
}

static bool compare(cJSON *o, const char *encoder, int profile)
{
    film f = {.video = avcodec_parameters_alloc()};
    decoded host = {0}, chip = {0};
    said why = {""};
    const pipeline_notes notes = {hear, &why};
    AVCodecContext *c = open_encoder(encoder);
    bool equal = false;
    if (!c || !encode(c, &f)) {
        cJSON_AddStringToObject(o, "error", "this FFmpeg cannot encode it");
    } else {
        f.video->profile = profile;
        equal = decode(&f, false, &notes, &host) && decode(&f, true, &notes, &chip) &&
                host.frames == FRAMES && !memcmp(&host, &chip, sizeof host) && !why.text[0];
        JSON_ADD(o, NUMBER("frames", chip.frames), TEXT("error", why.text));
    }
    cJSON_AddBoolToObject(o, "equal", equal);
    avcodec_free_context(&c);
    free_film(&f);
    return equal;
}

bool chip_report_video(cJSON *report)
{
    static const struct {
        const char *codec, *encoder;
        int profile;
    } films[] = {{"H.264", "libx264", 100}, {"H.265", "libx265", 1}};
    cJSON *list = cJSON_AddArrayToObject(report, "video");
    mona_ascend_info info;
    bool good = true;
    if (mona_ascend_query(&mona_device_ascend, &info) || info.no_video)
        return true;
    for (size_t i = 0; i < sizeof films / sizeof *films; i++) {
        cJSON *o = json_add_object(list);
        cJSON_AddStringToObject(o, "codec", films[i].codec);
        const bool equal = compare(o, films[i].encoder, films[i].profile);
        printf("%s decoded on the chip: %s\n", films[i].codec,
               equal ? "the CPU's bytes" : "not as on the CPU");
        good = good && equal;
    }
    return good;
}
