// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/chain.h"

#include <string.h>

#include "pipeline/stages/vector.h"

atomic_bool vector_unwanted;

_Static_assert((int)CHAIN_BETWEEN <= (int)CHAIN_INPUTS && (int)CHAIN_OUTPUTS <= (int)CHAIN_INPUTS,
               "an event per slot: frames_ahead() leaves room for CHAIN_INPUTS");

static const frame_format *edge_format(const chain *c, unsigned edge)
{
    return edge ? &c->stages[edge - 1].out : &c->stages[0].in;
}

/* Frames that stages have in work besides. */
static unsigned frames_ahead(const chain *c)
{
    unsigned ahead = 0;
    for (unsigned i = 0; i < c->count; i++)
        ahead += c->stages[i].ahead;
    return ahead < STAGE_SLOTS - CHAIN_INPUTS ? ahead : STAGE_SLOTS - CHAIN_INPUTS;
}

static bool allocate_frames(chain *c, const mona_device *device, bool overlap,
                            pipeline_error *error)
{
    for (unsigned e = 0; e <= c->count; e++) {
        unsigned slots = frames_ahead(c) + (e == 0          ? CHAIN_INPUTS
                                            : e == c->count ? CHAIN_OUTPUTS
                                                            : CHAIN_BETWEEN);
        c->slots[e] = overlap ? slots : 1;
        c->memory_bytes += c->slots[e] * frame_bytes(edge_format(c, e));
    }
    if (!frame_memory_open(&c->memory, device, c->memory_bytes))
        return pipeline_fail(error, "the frames need %zu bytes of memory, more than there is",
                             c->memory_bytes);

    uint8_t *next = c->memory.bytes;
    for (unsigned e = 0; e <= c->count; e++)
        for (unsigned slot = 0; slot < c->slots[e]; slot++) {
            frame_place(&c->edges[e][slot], edge_format(c, e), next);
            next += frame_bytes(edge_format(c, e));
        }
    return true;
}

/* The multiple for the stored sizes of the first frame; it grows with the enlarged frames. */
static uint32_t stored_multiple(const stage_kind *kinds, unsigned count, const frame_format *in)
{
    uint32_t multiple = 1u << (in->shift_x > in->shift_y ? in->shift_x : in->shift_y);
    for (unsigned i = 0; i < count; i++)
        if (stage_row_of(kinds[i])->multiple)
            multiple = stage_row_of(kinds[i])->multiple(in);
    return multiple;
}

bool chain_open(chain *c, const stage_kind *kinds, unsigned count, const stage_settings *settings,
                frame_format in, bool overlap, pipeline_error *error)
{
    unsigned enlarged = 1;
    *c = (chain){0};
    vector_hold(settings->cpu);
    in.multiple = stored_multiple(kinds, count, &in);
    for (unsigned i = 0; i < count; i++) {
        c->count = i + 1;
        if (!stage_open(&c->stages[i], kinds[i], i, settings, in, enlarged, error))
            return false;
        in = c->stages[i].out;
        enlarged *= c->stages[i].scale;
    }
    return allocate_frames(c, settings->devices.at[0], overlap, error);
}

void chain_watch(chain *c, const pipeline_probe *probe)
{
    c->probe = probe;
    for (unsigned i = 0; i < c->count && probe && probe->bound; i++)
        stage_tell_models(&c->stages[i], probe);
}

unsigned chain_name_steps(const char *names[CHAIN_MAX_STEPS], const stage_kind *kinds,
                          unsigned count)
{
    names[PROBE_DECODE] = "decode";
    names[PROBE_UPLOAD] = "upload";
    for (unsigned i = 0; i < count; i++)
        names[PROBE_STAGE + i] = stage_name(kinds[i]);
    names[PROBE_STAGE + count] = "encode";
    return PROBE_STAGE + count + 1;
}

frame_format chain_format(const chain *c)
{
    return c->stages[c->count - 1].out;
}

/* The number of the last frame for which a stage reads the slot of frame n on this edge: the frame
 * after n, which is compared with it. */
static uint64_t last_reader(const chain *c, unsigned edge, uint64_t n)
{
    return n - c->slots[edge] + 1;
}

mona_status chain_input(chain *c, frame **in)
{
    const uint64_t n = c->filled++;
    *in = &c->edges[0][n % c->slots[0]];
    if (n < c->slots[0])
        return MONA_OK;
    return mona_event_synchronize(&c->stages[0].done[last_reader(c, 0, n) % STAGE_SLOTS]);
}

/* Both run on the stage's stream, before and after its work. */
static void begin_turn(void *argument)
{
    const chain_turn *t = argument;
    probe_mark(t->chain->probe, t->frame, PROBE_STAGE + t->stage, false);
}

static void end_turn(void *argument)
{
    const chain_turn *t = argument;
    probe_mark(t->chain->probe, t->frame, PROBE_STAGE + t->stage, true);
}

/* The previous frame on an edge of stage i; NULL: it has worked on none. */
static const frame *frame_before(const chain *c, unsigned i, unsigned edge, uint64_t n)
{
    const unsigned slots = c->slots[edge];
    return n == c->past[i].first || slots < 2 ? NULL : &c->edges[edge][(n - 1) % slots];
}

/* The frame that stage i compares frame n with: the previous one or, for its first, the next if it
 * has been filled; NULL: there is none. */
static const frame *frame_beside(const chain *c, unsigned i, uint64_t n)
{
    return n == c->past[i].first && !i && c->filled > n + 1 ? &c->edges[0][(n + 1) % c->slots[0]]
                                                            : frame_before(c, i, i, n);
}

/* What the last of the stages before stage i that measures it will have removed. */
static const grain_model *removed_before(const chain *c, unsigned i, uint64_t n)
{
    const grain_model *found = NULL;
    while (i-- && !found)
        if (c->stages[i].row->removed)
            found = c->stages[i].row->removed(c->stages[i].state, (unsigned)(n % STAGE_SLOTS));
    return found;
}

static mona_status enqueue_work(chain *c, unsigned i, uint64_t n, float error, const frame *in,
                                const frame *out)
{
    stage *s = &c->stages[i];
    chain_turn *turn = &c->turns[i][n % STAGE_SLOTS];
    *turn = (chain_turn){c, i, n};
    if (!c->past[i].worked)
        c->past[i].first = n;
    const stage_work work = {.in = in,
                             .out = out,
                             .before = frame_before(c, i, i, n),
                             .beside = frame_beside(c, i, n),
                             .previous = frame_before(c, i, i + 1, n),
                             .begins = !c->past[i].met,
                             .error = error,
                             .removed = removed_before(c, i, n),
                             .slot = (unsigned)(n % STAGE_SLOTS)};
    c->past[i].met = c->past[i].worked = true;
    mona_status status = mona_stream_call(s->stream, begin_turn, turn);
    if (!status)
        status = s->row->enqueue(s, &work);
    if (!status)
        status = mona_stream_call(s->stream, end_turn, turn);
    return status;
}

/* Enqueues stage i for frame n. It begins once stage i - 1 has written, and stage i + 1 no longer
 * needs the earlier frame in the slot of the result. */
static mona_status enqueue_stage(chain *c, unsigned i, uint64_t n, float error)
{
    const frame *in = &c->edges[i][n % c->slots[i]];
    const frame *out = &c->edges[i + 1][n % c->slots[i + 1]];
    stage *s = &c->stages[i];
    mona_status status = MONA_OK;

    if (i > 0)
        status = mona_stream_wait(stage_entry(s), &c->stages[i - 1].done[n % STAGE_SLOTS]);
    if (!status && i + 1 < c->count && n >= c->slots[i + 1])
        status = mona_stream_wait(stage_entry(s),
                                  &c->stages[i + 1].done[last_reader(c, i + 1, n) % STAGE_SLOTS]);
    if (!status)
        status = enqueue_work(c, i, n, error, in, out);
    if (!status)
        status = mona_stream_record(s->stream, &s->done[n % STAGE_SLOTS]);
    return status;
}

/* Whether stage i works on a frame that comes so many before those that are wanted: it or one that
 * follows needs the result. */
static bool works(const chain *c, unsigned i, unsigned before)
{
    for (unsigned k = i; k < c->count; k++)
        if (before <= c->stages[k].row->warm_up)
            return true;
    return false;
}

/* Passes stage i by, which may look at frame n. The first stage is done with it only then. */
static mona_status pass_by(chain *c, unsigned i, uint64_t n, unsigned before)
{
    stage *s = &c->stages[i];
    const stage_work work = {.in = &c->edges[0][n % c->slots[0]],
                             .begins = !c->past[i].met,
                             .slot = (unsigned)(n % STAGE_SLOTS)};
    const bool looks = before <= s->row->looks;
    mona_status status = looks ? s->row->look(s, &work) : MONA_OK;
    c->past[i].met = c->past[i].met || looks;
    if (!status)
        status = mona_stream_record(s->stream, &s->done[n % STAGE_SLOTS]);
    return status || !i || !looks
               ? status
               : mona_stream_wait(c->stages[0].stream, &s->done[n % STAGE_SLOTS]);
}

mona_status chain_enqueue(chain *c, float error, bool begins, unsigned before, mona_event **done)
{
    uint64_t n = c->entered;
    unsigned working = c->count;
    mona_status status = MONA_OK;
    if (begins)
        memset(c->past, 0, sizeof c->past);
    for (; !status && working && !works(c, working - 1, before); working--)
        status = pass_by(c, working - 1, n, before);
    for (unsigned i = 0; !status && i < working; i++)
        status = enqueue_stage(c, i, n, error);
    if (status)
        return status;
    c->entered++;
    *done = &c->stages[c->count - 1].done[n % STAGE_SLOTS];
    return MONA_OK;
}

void chain_close(chain *c)
{
    /* Streams wait for each other's events, so all must come to rest before the first is closed. */
    for (unsigned i = 0; i < c->count; i++)
        if (c->stages[i].stream) {
            mona_stream_synchronize(stage_entry(&c->stages[i]));
            mona_stream_synchronize(c->stages[i].stream);
        }
    for (unsigned i = 0; i < c->count; i++)
        stage_close(&c->stages[i]);
    frame_memory_close(&c->memory);
    *c = (chain){0};
}

size_t chain_engine_bytes(const chain *c)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < c->count; i++)
        bytes += stage_bytes(&c->stages[i]);
    return bytes;
}

void chain_estimate(const chain *c, float *noise, float *compression)
{
    for (unsigned i = 0; i < c->count && c->entered; i++) {
        const stage *s = &c->stages[i];
        if (s->row->estimate &&
            s->row->estimate(s->state, (c->entered - 1) % STAGE_SLOTS, noise, compression))
            return;
    }
    *noise = -1;
    *compression = 0;
}

unsigned chain_warm_up(const chain *c)
{
    unsigned frames = 0;
    for (unsigned i = 0; i < c->count; i++) {
        const stage_row *row = c->stages[i].row;
        frames = row->warm_up > frames ? row->warm_up : frames;
        frames = row->looks > frames ? row->looks : frames;
    }
    return frames;
}
