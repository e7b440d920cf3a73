// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/codecs/encode.h"

#include <dirent.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <libavutil/error.h>

#include "pipeline/base/clock.h"
#include "pipeline/base/waiting.h"
#include "pipeline/stages/channel.h"

/* An encoder that was called works, or waits for threads that do, for less than a tenth of a
 * second. One none of whose threads has worked in so many looks, each after so long, waits for
 * ever; those of x265 look up four times a second even then, each for less than 0.1 ms. Looks are
 * counted, not time: neither a process that was stopped nor a machine that slept took any. Before
 * a look counts, the thread that looks has worked for OWN_NS itself: where others leave this
 * process hardly any time, 100 looks then last until each of its threads could have had 100 ms. */
enum { LOOKS = 100, LOOKS_REFUSED = 3, LOOK_NS = 100000000, WORK_NS = 8000000, OWN_NS = 1000000 };
enum { MOST_THREADS = 1024 };

struct encoder_calls {
    AVCodecContext *encoder;
    AVDictionary *options;
    locale_t locale; /* of the thread that asks: numbers among the options have points */
    const AVFrame *frame;
    AVPacket *packet;
    int (*call)(encoder_calls *);
    int code;
    atomic_bool refused;
    bool stuck; /* a call never returned */
    channel asked, done;
    pthread_t thread;
    unsigned threads; /* 0: they cannot be watched; the first makes the calls */
    struct {
        clockid_t clock;
        uint64_t worked;
    } of[MOST_THREADS];
};

/* ---- in the thread that calls --------------------------------------------------------------- */

static int open_encoder(encoder_calls *c)
{
    uselocale(c->locale);
    const int code = avcodec_open2(c->encoder, c->encoder->codec, &c->options);
    uselocale(LC_GLOBAL_LOCALE);
    return code;
}

static int send_frame(encoder_calls *c)
{
    return avcodec_send_frame(c->encoder, c->frame);
}

static int receive_packet(encoder_calls *c)
{
    return avcodec_receive_packet(c->encoder, c->packet);
}

static int free_encoder(encoder_calls *c)
{
    avcodec_free_context(&c->encoder);
    return 0;
}

static void *call_encoder(void *argument)
{
    encoder_calls *c = argument;
    refused_thread = &c->refused;
    while (channel_pop(&c->asked)) {
        c->code = c->call(c);
        channel_push(&c->done, c);
    }
    return NULL;
}

/* ---- in the thread that asks ---------------------------------------------------------------- */

/* Whether a thread has worked since one last had. */
static bool works(encoder_calls *c)
{
    bool any = false;
    for (unsigned i = 0; i < c->threads; i++) /* one that has ended is back at 0 */
        any |= clock_ns_of(c->of[i].clock) - c->of[i].worked > WORK_NS;
    for (unsigned i = 0; any && i < c->threads; i++)
        c->of[i].worked = clock_ns_of(c->of[i].clock);
    return any;
}

static void work(void)
{
    const uint64_t end = clock_ns_of(CLOCK_THREAD_CPUTIME_ID) + OWN_NS;
    while (clock_ns_of(CLOCK_THREAD_CPUTIME_ID) < end)
        continue;
}

static bool comes_back(encoder_calls *c)
{
    for (int looks = 0; looks < (atomic_load(&c->refused) ? LOOKS_REFUSED : LOOKS); looks++) {
        if (channel_pop_until(&c->done, clock_ns() + LOOK_NS))
            return !atomic_load(&c->refused) || c->code < 0;
        work();
        if (works(c))
            looks = 0;
    }
    return false;
}

static int ask(encoder_calls *c, int (*call)(encoder_calls *))
{
    c->call = call;
    c->stuck = c->stuck || !channel_push(&c->asked, c) || !comes_back(c);
    return c->stuck ? AVERROR(ETIMEDOUT) : c->code;
}

/* Ends the thread. What never returns keeps what it may still use. */
static void end(encoder_calls *c)
{
    if (c->stuck) {
        pthread_detach(c->thread);
        return;
    }
    channel_close(&c->asked);
    pthread_join(c->thread, NULL);
    channel_destroy(&c->asked);
    channel_destroy(&c->done);
    av_packet_free(&c->packet);
    free(c);
}

/* Numbers of this process's threads. 0: the system does not tell, or they are too many. */
static unsigned list_threads(int ids[MOST_THREADS])
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder && count < MOST_THREADS && (entry = readdir(folder));)
        if (*entry->d_name != '.')
            ids[count++] = (int)strtol(entry->d_name, NULL, 10);
    if (folder)
        closedir(folder);
    return count < MOST_THREADS ? count : 0;
}

/* Watches threads that were not there before, of which some may be the caller's. */
static void watch_new(encoder_calls *c, const int *before, unsigned count)
{
    int now[MOST_THREADS];
    const unsigned all = list_threads(now);
    if (!count || !all)
        c->threads = 0;
    for (unsigned i = 0; c->threads && i < all; i++) {
        unsigned k = 0;
        while (k < count && before[k] != now[i])
            k++;
        /* Linux's name of the clock of a thread's work. */
        if (k == count && c->threads < MOST_THREADS)
            c->of[c->threads++].clock = (clockid_t)(~(unsigned)now[i] << 3 | 6);
    }
}

static encoder_calls *start(AVCodecContext *encoder, AVDictionary *options, int *code)
{
    encoder_calls *c = calloc(1, sizeof *c);
    *code = AVERROR(ENOMEM);
    if (!c)
        return NULL;
    c->encoder = encoder;
    c->options = options;
    c->locale = uselocale((locale_t)0);
    c->packet = av_packet_alloc();
    channel_open(&c->asked);
    channel_open(&c->done);
    if (c->packet && (*code = AVERROR(pthread_create(&c->thread, NULL, call_encoder, c))) >= 0)
        return c;
    channel_destroy(&c->asked);
    channel_destroy(&c->done);
    av_packet_free(&c->packet);
    free(c);
    return NULL;
}

int encoder_start(encoder_calls **calls, AVCodecContext **encoder, AVDictionary **options,
                  bool hangs)
{
    int before[MOST_THREADS];
    int code;
    encoder_calls *c = start(*encoder, *options, &code);
    if (!c)
        return code;
    const unsigned count = hangs ? list_threads(before) : 0;
    c->threads = !pthread_getcpuclockid(c->thread, &c->of[0].clock);
    code = ask(c, open_encoder);
    *options = c->stuck ? NULL : c->options;
    *encoder = c->stuck ? NULL : *encoder;
    if (code >= 0)
        watch_new(c, before, count);
    if (code >= 0 && c->threads)
        *calls = c;
    else
        end(c);
    return code;
}

int encoder_send(encoder_calls *calls, AVCodecContext *encoder, const AVFrame *frame)
{
    if (!calls)
        return avcodec_send_frame(encoder, frame);
    calls->frame = frame;
    return ask(calls, send_frame);
}

int encoder_receive(encoder_calls *calls, AVCodecContext *encoder, AVPacket *packet)
{
    if (!calls)
        return avcodec_receive_packet(encoder, packet);
    const int code = ask(calls, receive_packet);
    av_packet_unref(packet); /* as avcodec_receive_packet does */
    if (code >= 0)
        av_packet_move_ref(packet, calls->packet);
    return code;
}

void encoder_end(encoder_calls **calls, AVCodecContext **encoder)
{
    if (*calls) {
        (*calls)->stuck |= !*encoder;
        ask(*calls, free_encoder);
        end(*calls);
    } else {
        avcodec_free_context(encoder);
    }
    *calls = NULL;
    *encoder = NULL;
}
