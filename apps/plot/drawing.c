// SPDX-License-Identifier: Apache-2.0
/* The layout (Sugiyama's). The rank of a node is one more than the highest rank that it reads. An
 * edge over several ranks gets a bend in each rank between, which the edges of one source share.
 * Sweeps down and up order the bends and nodes of a rank by the mean position of their neighbours,
 * and keep distances between them. */
#include "apps/plot/drawing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/options.h"
#include "apps/cli/save.h"
#include "apps/plot/svg.h"

enum { BOX = 210, BOX_HEIGHT = 40, GAP = 24, STEP = 84, BEND = 8, MARGIN = 24, SWEEPS = 12 };
enum { MAX_ITEMS = 1 << 18 };

/* A node, or a bend in the edges of one. */
typedef struct item {
    uint32_t rank, node; /* index in the drawing; for a bend, of the edges' source */
    bool bend;
    double x, wish; /* of its middle */
} item;

typedef struct segment {
    uint32_t up, down; /* items one rank apart */
} segment;

typedef struct layout {
    const drawing *d;
    item *items;
    segment *segments;
    uint32_t *ranks; /* of nodes */
    uint32_t *order; /* items by rank, and in each rank from left to right */
    uint32_t *last;  /* the lowest item of each node so far, itself or a bend */
    uint32_t item_count, segment_count, rank_count;
} layout;

/* ---- the graph ------------------------------------------------------------------------------ */

static bool grow(void **items, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return true;
    const uint32_t larger = *room ? 2 * *room : 64;
    void *moved = realloc(*items, larger * size);
    if (!moved)
        return false;
    *items = moved;
    *room = larger;
    return true;
}

uint32_t drawing_node(drawing *d, const char *title, const char *detail, bool end)
{
    void *nodes = d->nodes;
    d->failed |= !grow(&nodes, d->node_count, &d->node_room, sizeof *d->nodes);
    d->nodes = nodes;
    if (d->failed)
        return 0;
    drawn_node *n = &d->nodes[d->node_count];
    snprintf(n->title, sizeof n->title, "%s", title);
    snprintf(n->detail, sizeof n->detail, "%s", detail);
    n->end = end;
    return d->node_count++;
}

void drawing_edge(drawing *d, uint32_t from, uint32_t to)
{
    void *edges = d->edges;
    d->failed |= !grow(&edges, d->edge_count, &d->edge_room, sizeof *d->edges);
    d->edges = edges;
    if (!d->failed && from < to)
        d->edges[d->edge_count++] = (drawn_edge){from, to};
}

void drawing_free(drawing *d)
{
    free(d->nodes);
    free(d->edges);
    *d = (drawing){0};
}

/* ---- ranks and bends ------------------------------------------------------------------------ */

static int by_target(const void *a, const void *b)
{
    const drawn_edge *x = a, *y = b;
    return x->to != y->to ? (x->to > y->to) - (x->to < y->to)
                          : (x->from > y->from) - (x->from < y->from);
}

static uint32_t add_item(layout *l, uint32_t rank, uint32_t node, bool bend)
{
    l->items[l->item_count] = (item){.rank = rank, .node = node, .bend = bend};
    return l->item_count++;
}

/* Nodes come after those that they read; edges are sorted by target. */
static void find_ranks(layout *l)
{
    for (uint32_t e = 0; e < l->d->edge_count; e++) {
        const drawn_edge *edge = &l->d->edges[e];
        if (l->ranks[edge->to] <= l->ranks[edge->from])
            l->ranks[edge->to] = l->ranks[edge->from] + 1;
    }
    for (uint32_t n = 0; n < l->d->node_count; n++)
        l->rank_count = l->ranks[n] >= l->rank_count ? l->ranks[n] + 1 : l->rank_count;
}

/* The largest possible number of items and segments. */
static uint64_t max_items(const layout *l)
{
    uint64_t count = l->d->node_count + (uint64_t)l->d->edge_count;
    for (uint32_t e = 0; e < l->d->edge_count; e++)
        count += l->ranks[l->d->edges[e].to] - l->ranks[l->d->edges[e].from];
    return count;
}

static int by_rank(const void *a, const void *b)
{
    const item *x = *(const item *const *)a, *y = *(const item *const *)b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->wish < y->wish || x->wish > y->wish)
        return x->wish < y->wish ? -1 : 1;
    return (x > y) - (x < y);
}

/* Edges come in the order of their targets' ranks. The bends of a source reach as far down as its
 * last edge so far. */
static void add_edges_to(layout *l, uint32_t rank)
{
    for (uint32_t e = 0; e < l->d->edge_count; e++) {
        const drawn_edge *edge = &l->d->edges[e];
        if (l->ranks[edge->to] != rank)
            continue;
        while (l->items[l->last[edge->from]].rank + 1 < rank) {
            const uint32_t up = l->last[edge->from];
            l->last[edge->from] = add_item(l, l->items[up].rank + 1, edge->from, true);
            l->segments[l->segment_count++] = (segment){up, l->last[edge->from]};
        }
        l->segments[l->segment_count++] = (segment){l->last[edge->from], edge->to};
    }
}

/* ---- places --------------------------------------------------------------------------------- */

static double width_of(const item *i)
{
    return i->bend ? BEND : BOX;
}

/* Sorts the items of every rank by their wished positions. */
static void sort_items(layout *l, const item **sorted)
{
    for (uint32_t i = 0; i < l->item_count; i++)
        sorted[i] = &l->items[i];
    qsort(sorted, l->item_count, sizeof *sorted, by_rank);
    for (uint32_t i = 0; i < l->item_count; i++)
        l->order[i] = (uint32_t)(sorted[i] - l->items);
}

/* Places items [begin, end) of the order, which form a rank, as close to their wished positions as
 * their widths allow; where these conflict, at the mean. */
static void place_rank(layout *l, uint32_t begin, uint32_t end)
{
    double shift = 0;
    for (uint32_t i = begin; i < end; i++) {
        item *at = &l->items[l->order[i]];
        const item *before = i > begin ? &l->items[l->order[i - 1]] : NULL;
        const double min =
            before ? before->x + width_of(before) / 2 + GAP + width_of(at) / 2 : at->wish;
        at->x = at->wish > min ? at->wish : min;
        shift += at->wish - at->x;
    }
    for (uint32_t i = begin; i < end; i++)
        l->items[l->order[i]].x += shift / (end - begin);
}

/* Computes wished positions from the neighbours above or below. */
static void wish(layout *l, bool down, uint32_t *counts)
{
    memset(counts, 0, l->item_count * sizeof *counts);
    for (uint32_t s = 0; s < l->segment_count; s++) {
        const uint32_t to = down ? l->segments[s].down : l->segments[s].up;
        const uint32_t from = down ? l->segments[s].up : l->segments[s].down;
        l->items[to].wish = counts[to]++ ? l->items[to].wish + l->items[from].x : l->items[from].x;
    }
    for (uint32_t i = 0; i < l->item_count; i++)
        l->items[i].wish = counts[i] ? l->items[i].wish / counts[i] : l->items[i].x;
}

static void place_all(layout *l, const item **sorted, uint32_t *counts)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        if (sweep)
            wish(l, sweep % 2, counts);
        sort_items(l, sorted);
        for (uint32_t begin = 0, end; begin < l->item_count; begin = end) {
            for (end = begin + 1; end < l->item_count &&
                                  l->items[l->order[end]].rank == l->items[l->order[begin]].rank;)
                end++;
            place_rank(l, begin, end);
        }
    }
}

/* ---- drawing -------------------------------------------------------------------------------- */

static double top_of(const item *i)
{
    return MARGIN + (double)i->rank * STEP;
}

static void draw_segment(FILE *f, const layout *l, const segment *s)
{
    const item *up = &l->items[s->up], *down = &l->items[s->down];
    const double y0 = top_of(up) + (up->bend ? BOX_HEIGHT / 2.0 : BOX_HEIGHT);
    const double y1 = top_of(down) + (down->bend ? BOX_HEIGHT / 2.0 : 0), middle = (y0 + y1) / 2;
    fprintf(f, "<path class='edge' d='M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f'%s/>\n", up->x, y0,
            up->x, middle, down->x, middle, down->x, y1,
            down->bend ? "" : " marker-end='url(#tip)'");
}

static void draw_node(FILE *f, const layout *l, const item *i)
{
    const drawn_node *n = &l->d->nodes[i->node];
    const double y = top_of(i);
    fprintf(f, "<g class='%s'><title>", n->end ? "end" : "node");
    svg_text(f, n->title);
    fputs(": ", f);
    svg_text(f, n->detail);
    fprintf(f,
            "</title><rect x='%.1f' y='%.1f' width='%d' height='%d' rx='%d'/><text x='%.1f' "
            "y='%.1f' class='title'>",
            i->x - BOX / 2.0, y, BOX, BOX_HEIGHT, n->end ? BOX_HEIGHT / 2 : 6, i->x, y + 17);
    svg_text(f, n->title);
    fprintf(f, "</text><text x='%.1f' y='%.1f'>", i->x, y + 32);
    svg_text(f, n->detail);
    fputs("</text></g>\n", f);
}

static void draw(FILE *f, layout *l)
{
    double left = 0, right = 0;
    for (uint32_t i = 0; i < l->item_count; i++) {
        const double half = width_of(&l->items[i]) / 2, x = l->items[i].x;
        left = !i || x - half < left ? x - half : left;
        right = !i || x + half > right ? x + half : right;
    }
    const double width = right - left + 2 * MARGIN;
    const double height =
        2 * MARGIN + BOX_HEIGHT + STEP * (l->rank_count ? l->rank_count - 1.0 : 0);
    fprintf(
        f,
        "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' viewBox='%.1f 0 "
        "%.1f %.1f' font-family='system-ui, sans-serif' font-size='11' text-anchor='middle'>\n"
        "<style>.edge { fill: none; stroke: #7f8b99; stroke-width: 1.4 } .node rect { fill: "
        "#e8f0fb; stroke: #3b7dd8 } .end rect { fill: #fdf1e3; stroke: #d9822b } text { fill: "
        "#445 } .title { font-weight: 600; font-size: 12px; fill: #123 }</style>\n"
        "<defs><marker id='tip' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' "
        "markerHeight='7' orient='auto'><path d='M0 0L8 4L0 8z' fill='#7f8b99'/></marker></defs>\n"
        "<rect x='%.1f' width='%.1f' height='%.1f' fill='white'/>\n",
        width, height, left - MARGIN, width, height, left - MARGIN, width, height);
    for (uint32_t s = 0; s < l->segment_count; s++)
        draw_segment(f, l, &l->segments[s]);
    for (uint32_t i = 0; i < l->item_count; i++)
        if (!l->items[i].bend)
            draw_node(f, l, &l->items[i]);
    fputs("</svg>\n", f);
}

static bool lay_out(layout *l, uint64_t max)
{
    const item **sorted = malloc((max + 1) * sizeof *sorted);
    uint32_t *counts = malloc((max + 1) * sizeof *counts);
    l->items = malloc((max + 1) * sizeof *l->items);
    l->segments = malloc((max + 1) * sizeof *l->segments);
    l->order = malloc((max + 1) * sizeof *l->order);
    l->last = malloc((l->d->node_count + 1) * sizeof *l->last);
    const bool ok = sorted && counts && l->items && l->segments && l->order && l->last;
    for (uint32_t n = 0; ok && n < l->d->node_count; n++)
        l->last[n] = add_item(l, l->ranks[n], n, false);
    for (uint32_t rank = 1; ok && rank < l->rank_count; rank++)
        add_edges_to(l, rank);
    if (ok)
        place_all(l, sorted, counts);
    free(sorted);
    free(counts);
    return ok;
}

bool drawing_save(const drawing *d, const char *path)
{
    layout l = {.d = d, .ranks = calloc(d->node_count + 1, sizeof *l.ranks)};
    char *text = NULL;
    size_t size = 0;
    bool ok = l.ranks && !d->failed;
    if (ok && d->edge_count)
        qsort(d->edges, d->edge_count, sizeof *d->edges, by_target);
    if (ok)
        find_ranks(&l);
    const uint64_t max = ok ? max_items(&l) : 0;
    FILE *f = max < MAX_ITEMS ? open_memstream(&text, &size) : NULL;
    ok = ok && f && lay_out(&l, max);
    if (ok)
        draw(f, &l);
    if (f && fclose(f))
        ok = false;
    if (!ok)
        cli_fail(EXIT_FAILED, "%s: %s", path,
                 max < MAX_ITEMS ? "out of memory for the picture"
                                 : "the graph is too large to draw");
    ok = ok && save_file(path, NULL, text, size);
    free(text);
    free(l.ranks), free(l.items), free(l.segments), free(l.order), free(l.last);
    return ok;
}
