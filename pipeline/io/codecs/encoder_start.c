// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/codecs/encoder_start.h"

#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include <libavutil/error.h>

#include "pipeline/base/clock.h"
#include "pipeline/base/refused_thread.h"
#include "pipeline/stages/channel.h"

/* An encoder that opens works, or waits for threads that do, for less than a tenth of a second. One
 * that has used no processor in so many looks, each after so long, waits for ever. Looks are
 * counted, not time: neither a process that was stopped nor a machine that slept took any. */
enum { LOOKS = 100, LOOKS_REFUSED = 3, LOOK_NS = 100000000 };

typedef struct opening {
    AVCodecContext *encoder;
    AVDictionary *options;
    locale_t locale; /* of the thread that asks: numbers among the options have points */
    int code;
    atomic_bool refused;
    channel done;
} opening;

static void *open_encoder(void *argument)
{
    opening *o = argument;
    refused_thread = &o->refused;
    uselocale(o->locale);
    o->code = avcodec_open2(o->encoder, o->encoder->codec, &o->options);
    channel_push(&o->done, o);
    return NULL;
}

static bool comes_back(opening *o, pthread_t thread)
{
    clockid_t clock;
    const bool known = !pthread_getcpuclockid(thread, &clock);
    uint64_t worked = 0;
    for (int looks = 0; looks < (atomic_load(&o->refused) ? LOOKS_REFUSED : LOOKS); looks++) {
        if (channel_pop_until(&o->done, clock_ns() + LOOK_NS))
            return !atomic_load(&o->refused) || o->code < 0;
        const uint64_t now = known ? clock_ns_of(clock) : 0;
        if (now != worked)
            looks = 0;
        worked = now;
    }
    return false;
}

int encoder_start(AVCodecContext **encoder, AVDictionary **options)
{
    opening *o = malloc(sizeof *o);
    pthread_t thread;
    if (!o)
        return AVERROR(ENOMEM);
    *o = (opening){.encoder = *encoder, .options = *options, .locale = uselocale((locale_t)0)};
    channel_open(&o->done);
    int code = AVERROR(pthread_create(&thread, NULL, open_encoder, o));
    if (!code && !comes_back(o, thread)) {
        pthread_detach(thread);
        *encoder = NULL;
        *options = NULL;
        return AVERROR(ETIMEDOUT);
    }
    if (!code) {
        pthread_join(thread, NULL);
        code = o->code;
        *options = o->options;
    }
    channel_destroy(&o->done);
    free(o);
    return code;
}
