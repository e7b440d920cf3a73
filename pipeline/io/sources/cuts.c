// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/sources/cuts.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/base/av_library.h"

/* A segment ends after so many frames even without a key frame. */
enum { LONGEST = 1024 };

/* ---- reading through the film --------------------------------------------------------------- */

typedef struct packet_time {
    int64_t pts; /* in the file; without one, as counted */
    bool key;
} packet_time;

typedef struct survey {
    packet_time *packets; /* in the order in which they are shown */
    size_t count, room;
    int64_t usual; /* length of a frame */
    bool timed;    /* all have their times */
} survey;

static bool note_packet(void *context, const AVPacket *packet, pipeline_error *error)
{
    survey *s = context;
    if (s->count == s->room) {
        const size_t room = s->room ? 2 * s->room : 4096;
        packet_time *more = realloc(s->packets, room * sizeof *more);
        if (!more)
            return pipeline_fail(error, "out of memory");
        s->packets = more;
        s->room = room;
    }
    const bool timed = packet->pts != AV_NOPTS_VALUE;
    s->timed = s->timed && timed;
    s->packets[s->count] =
        (packet_time){timed ? packet->pts : (int64_t)s->count * s->usual,
                      packet->flags & AV_PKT_FLAG_KEY && !(packet->flags & AV_PKT_FLAG_DISCARD)};
    s->count++;
    return true;
}

static int compare(const void *a, const void *b)
{
    const packet_time *x = a, *y = b;
    return (x->pts > y->pts) - (x->pts < y->pts);
}

/* Whether each frame is shown at a time of its own. */
static bool ascends(const survey *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (s->packets[i].pts == s->packets[i - 1].pts)
            return false;
    return true;
}

/* ---- cutting -------------------------------------------------------------------------------- */

enum { NOWHERE = -1 };

/* The last key frame that is at least lead frames before the frame at `at`, in packets. */
static ptrdiff_t entry_before(const survey *s, size_t at, unsigned lead)
{
    for (ptrdiff_t i = (ptrdiff_t)at - (ptrdiff_t)lead; i >= 0; i--)
        if (s->packets[i].key)
            return i;
    return NOWHERE;
}

/* The first frame of the segment after the one that begins at `from`: just so far behind a key
 * frame that no more is decoded from there than the segment needs. */
static size_t next_cut(const survey *s, size_t from, const cuts_wish *w)
{
    const size_t left = s->count - from;
    if (w->frames >= left)
        return s->count;
    size_t at = from + (size_t)w->frames;
    const size_t last = FFMIN(s->count, from + (size_t)FFMAX(w->frames, LONGEST));
    while (!w->exact && at < last && (at < w->lead || !s->packets[at - w->lead].key))
        at++;
    return at;
}

static bool add(cuts *c, cut one, pipeline_error *error)
{
    enum { PIECE = 256 };
    if (c->count % PIECE == 0) {
        cut *more = c->count <= UINT_MAX - PIECE
                        ? realloc(c->at, ((size_t)c->count + PIECE) * sizeof *more)
                        : NULL;
        if (!more)
            return pipeline_fail(error, "out of memory");
        c->at = more;
    }
    c->at[c->count++] = one;
    return true;
}

/* shift: from the file's times to those of frames; first: the first packet that is wanted. Entering
 * must not cost more than half as many frames as there are. */
static bool divide(cuts *c, const survey *s, size_t first, int64_t shift, const cuts_wish *w,
                   pipeline_error *error)
{
    uint64_t again = 0;
    size_t from = first;
    do {
        const size_t end = next_cut(s, from, w);
        const ptrdiff_t entry = c->count ? entry_before(s, from, w->lead) : 0;
        const cut one = {c->count ? s->packets[from].pts - shift : INT64_MIN,
                         c->count && entry >= 0 ? s->packets[entry].pts : INT64_MIN, end - from};
        c->searchable = c->searchable && entry >= 0;
        again += c->count && entry >= 0 ? from - (size_t)entry : 0;
        if (!add(c, one, error))
            return false;
        from = end;
    } while (from < s->count);
    c->searchable = c->searchable && again <= (s->count - first) / 2;
    return true;
}

static bool drop(void *context, AVPacket *packet, pipeline_error *error)
{
    (void)context, (void)packet, (void)error;
    return true;
}

/* Looks for interlaced frames that are not marked, in three places. A segment without much motion
 * cannot tell by itself. */
static void look_for_fields(cuts *c, input *in)
{
    enum { PLACES = 3, FRAMES = 4 * INTERLACE_DETECT_REACH };
    in->copy = drop;
    for (unsigned p = 1; p <= PLACES && c->fields != INTERLACE_FOUND; p++) {
        const unsigned segment = (unsigned)((uint64_t)(c->count - 1) * p / PLACES);
        pipeline_error unused = {0};
        if (!segment || !input_enter(in, c->at[segment].entry, INTERLACE_UNKNOWN))
            continue;
        for (unsigned n = 0; n < FRAMES && input_next(in, &unused) == INPUT_FRAME; n++)
            c->fields = in->fields.sight.found ? INTERLACE_FOUND : INTERLACE_NONE;
    }
}

bool cuts_find(cuts *c, const input_settings *film, const cuts_wish *wish, pipeline_error *error)
{
    input in;
    input_settings settings = *film;
    cuts_wish w = *wish;
    survey s = {.timed = true};
    *c = (cuts){0};
    settings.chip = NULL; /* nothing is decoded */
    settings.notes = &(const pipeline_notes){0};
    settings.on_error = ON_ERROR_SKIP; /* the reading for the frames tells of damage */
    bool good = input_open(&in, &settings, error);
    av_log_errors_pause(true);
    if (good) {
        s.usual = FFMAX(1, av_rescale_q(1, av_inv_q(input_frame_rate(&in)), in.video->time_base));
        /* Of an index that libav could not take in, for lack of memory too, it keeps a part. */
        const bool doubted = film->on_error == ON_ERROR_STOP && in.from.faulty;
        good = input_survey(&in, note_packet, &s, error) &&
               (!doubted || input_has_frames(&in, s.count, error));
    }
    if (good) {
        const int64_t shift = av_rescale_q(in.shift, AV_TIME_BASE_Q, in.video->time_base);
        size_t first = 0;
        if (s.count)
            qsort(s.packets, s.count, sizeof *s.packets, compare);
        while (in.start != INT64_MIN && first + 1 < s.count &&
               av_compare_ts(s.packets[first].pts, in.video->time_base, in.start, AV_TIME_BASE_Q) <
                   0)
            first++;
        w.lead += input_lead(&in);
        c->searchable = s.timed && !w.limit && input_is_searchable(&in) && ascends(&s);
        w.exact = w.exact || !c->searchable;
        good = divide(c, &s, first, s.timed ? shift : 0, &w, error);
        c->searchable =
            c->searchable &&
            (c->count < 2 || input_enter(&in, c->at[c->count - 1].entry, INTERLACE_UNKNOWN));
        if (good && !c->searchable && !w.exact) { /* key frames are of no use */
            w.exact = true;
            c->count = 0;
            good = divide(c, &s, first, shift, &w, error);
        }
        if (good && c->searchable && in.fields.possible && in.fields.wanted)
            look_for_fields(c, &in);
    }
    free(s.packets);
    input_close(&in);
    av_log_errors_pause(false);
    return good;
}

/* ---- the rest ------------------------------------------------------------------------------- */

static const char *const words[] = {
    [INTERLACE_UNKNOWN] = "", [INTERLACE_FOUND] = ",fields", [INTERLACE_NONE] = ",progressive"};

void cuts_print(const cuts *c, FILE *file)
{
    fprintf(file, "segments %u %s%s\n", c->count, c->searchable ? "searchable" : "in-order",
            words[c->fields]);
    for (unsigned i = 0; i < c->count; i++)
        fprintf(file, "%" PRId64 " %" PRId64 " %" PRIu64 "\n", c->at[i].begin, c->at[i].entry,
                c->at[i].frames);
}

bool cuts_parse(cuts *c, const char *text)
{
    char kind[32];
    unsigned count;
    int read = 0;
    *c = (cuts){0};
    if (sscanf(text, "segments %9u %31s\n%n", &count, kind, &read) != 2 || !read || !count)
        return false;
    c->searchable = !strncmp(kind, "searchable", strlen("searchable"));
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i], kind + strcspn(kind, ",")))
            c->fields = (interlace_known)i;
    for (unsigned i = 0; i < count; i++) {
        cut one;
        text += read;
        read = 0;
        if (sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNu64 "\n%n", &one.begin, &one.entry,
                   &one.frames, &read) != 3 ||
            !read || !add(c, one, &(pipeline_error){0}))
            return false;
    }
    return true;
}

unsigned cuts_of(const cuts *c, int64_t pts, unsigned from)
{
    while (from + 1 < c->count && pts >= c->at[from + 1].begin)
        from++;
    return from;
}

void cuts_free(cuts *c)
{
    free(c->at);
    *c = (cuts){0};
}
