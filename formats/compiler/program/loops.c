// SPDX-License-Identifier: Apache-2.0
/* Finds the loops of a recorded program.
 *
 * A loop of T turns and L tokens is a run of T * L tokens in which token i + L has the form of
 * token i, and its offsets are token i's plus steps that are the same in every turn. Steps in a
 * ring are taken modulo the ring, so strips of a frame are turns even though rings wrap around at
 * different strips.
 *
 * The loop that saves the most records is found first; tokens before and after it are searched in
 * the same way, and so is its body, whose loops are a level deeper. Lengths worth trying are the
 * distances at which the same few forms recur. A run whose best loop is a small part of it is
 * searched in halves, as one of thousands of such loops would be searched thousands of times.
 *
 * A run of T * L tokens and some more may begin at any of these. It begins between tiles, of which
 * the replay kernel issues the load3ds and the mad at once (engine/ascend/words_instructions.c). */
#include <stdlib.h>
#include <string.h>

#include "engine/arith.h"
#include "formats/compiler/program/recorder.h"

enum { GRAM = 6, CANDIDATES = 64, SLOTS = 1 << 16, LEAST = 3, SMALL = 512 };

typedef struct finder {
    const ac_form *forms;
    const ac_ring *rings;
    token *tokens; /* with the steps found so far */
    item_list *records, *motions;
    uint32_t *last;    /* [SLOTS]: where a gram was seen last */
    uint64_t *repeats; /* [tokens]: by distance, tokens of grams that are seen again that far on */
} finder;

typedef struct loop {
    size_t begin, length, turns, more; /* tokens of another turn behind the last one */
} loop;

static bool same_form(const token *a, const token *b)
{
    return a->form == b->form && !memcmp(a->rings, b->rings, sizeof a->rings) &&
           (a->form != AC_RECORD_OPERATOR || a->at[0] == b->at[0]) &&
           !memcmp(&a->motion, &b->motion, sizeof a->motion);
}

/* Bytes from operand k of a to that of b. */
static int64_t distance(const finder *f, const token *a, const token *b, uint32_t k)
{
    const int64_t bytes = (int64_t)b->at[k] - a->at[k];
    return a->rings[k] ? floor_rest(bytes, f->rings[a->rings[k] - 1].bytes) : bytes;
}

/* ---- candidates ----------------------------------------------------------------------------- */

static uint32_t gram_at(const token *t)
{
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < GRAM; i++)
        hash = (hash ^ t[i].form) * 16777619u;
    return (hash ^ hash >> 16) % SLOTS;
}

/* The distances that most tokens lie between grams seen again. Returns how many. */
static uint32_t find_lengths(finder *f, size_t begin, size_t end, uint32_t lengths[CANDIDATES])
{
    const size_t count = end - begin;
    uint32_t found = 0;
    memset(f->last, 0, SLOTS * sizeof *f->last);
    memset(f->repeats, 0, (count + 1) * sizeof *f->repeats);
    for (size_t i = begin; i + GRAM <= end; i++) {
        uint32_t *last = &f->last[gram_at(&f->tokens[i])];
        if (*last)
            f->repeats[i - begin + 1 - *last] += i - begin + 1 - *last;
        *last = (uint32_t)(i - begin + 1);
    }
    for (uint32_t length = 1; length < GRAM && length <= count / 2; length++)
        f->repeats[length] = UINT64_MAX / 2;
    for (size_t i = 1; i <= count / 2; i++) {
        if (!f->repeats[i])
            continue;
        uint32_t place = found < CANDIDATES ? found++ : CANDIDATES;
        while (place && f->repeats[lengths[place - 1]] < f->repeats[i]) {
            if (place < CANDIDATES)
                lengths[place] = lengths[place - 1];
            place--;
        }
        if (place < CANDIDATES)
            lengths[place] = (uint32_t)i;
    }
    return found;
}

/* ---- the best loop -------------------------------------------------------------------------- */

static size_t saved_by(const loop *l)
{
    return l->turns > 1 ? (l->turns - 1) * l->length - 1 : 0;
}

/* Whether a token and those one and two turns on can be of one loop. */
static bool turns_at(const finder *f, size_t i, size_t length)
{
    const token *a = &f->tokens[i], *b = a + length, *c = b + length;
    if (!same_form(a, b) || !same_form(b, c))
        return false;
    for (uint32_t k = 0; k < AC_OPERANDS; k++) {
        const int64_t d = distance(f, a, b, k);
        if (d != distance(f, b, c, k) || d != (int32_t)d)
            return false;
    }
    return true;
}

/* The longest run of turns of this length in [begin, end). A run has at least `length` tokens that
 * turn, so where one does not, no run begins in the `length` tokens up to it: looked at from their
 * last to their first, most are skipped. */
static loop longest(const finder *f, size_t begin, size_t end, size_t length)
{
    loop best = {0};
    for (size_t i = begin, to; i + 3 * length <= end; i = to) {
        to = i + length;
        while (to > i && turns_at(f, to - 1, length))
            to--;
        if (to > i)
            continue;
        for (to = i + length; to + 2 * length < end && turns_at(f, to, length);)
            to++;
        const loop l = {i, length, (to - i) / length + 2, (to - i) % length};
        if (saved_by(&l) > saved_by(&best))
            best = l;
    }
    return best;
}

/* Whether a body that begins with this token cuts a tile. */
static bool cuts_tile(const finder *f, const token *t)
{
    const ac_form *form = t->form < AC_RECORD_OPERATOR ? &f->forms[t->form] : NULL;
    return form && (ac_is_mmad((ac_opcode)form->opcode) ||
                    (form->opcode == AC_OP_LOAD3D && !form->flag_count));
}

/* The same run with a begin that cuts no tile, for a turn less if it has many. */
static loop between_tiles(const finder *f, loop l)
{
    enum { MANY = 4 };
    const size_t last = l.begin + l.more, end = last + (l.turns >= MANY ? l.length : 0);
    size_t begin = l.begin;
    while (begin < end && cuts_tile(f, &f->tokens[begin]))
        begin++;
    return cuts_tile(f, &f->tokens[begin]) ? l
                                           : (loop){begin, l.length, l.turns - (begin > last), 0};
}

static loop best_loop(finder *f, size_t begin, size_t end)
{
    uint32_t lengths[CANDIDATES];
    const uint32_t count = find_lengths(f, begin, end, lengths);
    loop best = {0};
    for (uint32_t i = 0; i < count; i++) {
        const loop l = longest(f, begin, end, lengths[i]);
        if (saved_by(&l) > saved_by(&best) ||
            (saved_by(&l) == saved_by(&best) && l.length < best.length))
            best = l;
    }
    return best.turns ? between_tiles(f, best) : best;
}

/* ---- records -------------------------------------------------------------------------------- */

static bool add_tokens(finder *f, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        const token *t = &f->tokens[i];
        ac_record record = {.form = t->form,
                            .motion = list_index(f->motions, &t->motion, sizeof t->motion)};
        memcpy(record.at, t->at, sizeof record.at);
        if (record.motion == UINT16_MAX || !list_add(f->records, &record, sizeof record))
            return false;
    }
    return true;
}

static void set_steps(finder *f, const loop *l, uint32_t level)
{
    for (size_t i = l->begin; i < l->begin + l->length; i++)
        for (uint32_t k = 0; k < AC_OPERANDS; k++)
            f->tokens[i].motion.step[level][k] =
                f->tokens[i].form == AC_RECORD_OPERATOR
                    ? 0
                    : (int32_t)distance(f, &f->tokens[i], &f->tokens[i + l->length], k);
}

/* Recurs into the part before a loop and into its body; what lies behind is the next turn. */
static bool find(finder *f, size_t begin, size_t end, uint32_t level)
{
    while (begin < end) {
        const loop l =
            level < AC_LOOPS && end - begin >= LEAST ? best_loop(f, begin, end) : (loop){0};
        if (saved_by(&l) < LEAST)
            return add_tokens(f, begin, end);
        if (saved_by(&l) < (end - begin) / SMALL) {
            const size_t middle = begin + (end - begin) / 2;
            return find(f, begin, middle, level) && find(f, middle, end, level);
        }
        if (!find(f, begin, l.begin, level))
            return false;
        const size_t at = f->records->count;
        const ac_record head = {.form = AC_RECORD_LOOP, .at = {(uint32_t)l.turns}};
        if (!list_add(f->records, &head, sizeof head))
            return false;
        set_steps(f, &l, level);
        if (!find(f, l.begin, l.begin + l.length, level + 1))
            return false;
        ((ac_record *)f->records->items)[at].at[1] = (uint32_t)(f->records->count - at - 1);
        begin = l.begin + l.turns * l.length;
    }
    return true;
}

bool loops_find(const item_list *tokens, const ac_form *forms, const ac_ring *rings,
                item_list *records, item_list *motions)
{
    finder f = {.forms = forms,
                .rings = rings,
                .tokens = tokens->items,
                .records = records,
                .motions = motions};
    f.last = malloc(SLOTS * sizeof *f.last);
    f.repeats = malloc((tokens->count + 1) * sizeof *f.repeats);
    const bool found = f.last && f.repeats && find(&f, 0, tokens->count, 0);
    free(f.last);
    free(f.repeats);
    return found;
}
