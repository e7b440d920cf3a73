// SPDX-License-Identifier: Apache-2.0
#include "pipeline/fields/fields.h"

/* Of the frames of a block at one place, at least FEWEST must move. Of the blocks with motion,
 * BLOCKS and most must be of film; after PLENTY of both kinds that is decided. */
enum { BLOCK = 5 * PULLDOWN_CYCLE, FEWEST = 3, BLOCKS = 2, PLENTY = 10 };

static uint32_t moving_at(const pulldown *p, unsigned place)
{
    return p->moving[place][0] + p->moving[place][1] + p->moving[place][2];
}

/* Whether the frames at this place repeat the first of fields in this order, those two later the
 * second, and no others any. One in five may differ. */
static bool is_film(const pulldown *p, unsigned place, int order)
{
    const int repeated[PULLDOWN_CYCLE] = {order, 0, -order};
    bool good = true;
    for (unsigned i = 0; i < PULLDOWN_CYCLE; i++) {
        const unsigned at = (place + i) % PULLDOWN_CYCLE;
        const uint32_t moving = moving_at(p, at), right = p->moving[at][repeated[i] + 1];
        good = good && moving >= FEWEST && 5 * (moving - right) <= moving;
    }
    return good;
}

static void judge(pulldown *p)
{
    uint32_t moving = 0;
    bool top = false, bottom = false;
    for (unsigned at = 0; at < PULLDOWN_CYCLE; at++) {
        moving += moving_at(p, at);
        top = top || is_film(p, at, 1);
        bottom = bottom || is_film(p, at, -1);
    }
    p->top_first += top;
    p->bottom_first += bottom;
    p->other += !top && !bottom && moving >= PULLDOWN_CYCLE * FEWEST;
}

void pulldown_count(pulldown *p, bool moves, int repeated)
{
    p->moving[p->frames % PULLDOWN_CYCLE][repeated + 1] += moves;
    if (++p->frames < BLOCK)
        return;
    judge(p);
    *p = (pulldown){.top_first = p->top_first, .bottom_first = p->bottom_first, .other = p->other};
}

int pulldown_order(const pulldown *p)
{
    const uint32_t film = p->top_first + p->bottom_first;
    return film < BLOCKS || film <= p->other    ? 0
           : p->top_first > 2 * p->bottom_first ? 1
           : p->bottom_first > 2 * p->top_first ? -1
                                                : 0;
}

bool pulldown_is_decided(const pulldown *p)
{
    return pulldown_order(p) || p->top_first + p->bottom_first + p->other >= PLENTY;
}
