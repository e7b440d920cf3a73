// SPDX-License-Identifier: Apache-2.0
/* A run that computes only what changed since an earlier one.
 *
 * The grid of the results is divided into cells. A cell has changed if a rectangle overlaps what it
 * depends on (plan_reach). Changed cells are joined into units, which are computed like whole
 * bands; samples between units are copied from the earlier outputs. A unit starts from scratch: the
 * rows and columns around it that it depends on are computed for it alone. So a few large units are
 * better than many small ones.
 *
 * Every share goes through the same rows of cells and takes its part of the work. A unit may lie in
 * another core's band: rings are as deep as any band needs, provided that strips lie at the same
 * places as in that band. */
#include "engine/run/session.h"

#include "engine/libc.h"

enum {
    WORDS = MONA_MAX_SIDE / PLAN_CELL_COLUMNS / 64,
    /* Columns of a row that could be computed in the time that it takes to begin one. */
    BEGIN_COLUMNS = 64,
    /* Cells that are copied in the time that one is computed. */
    COPIES = 32,
};

/* Some rows of the grid, inside one band, and which of their cells have changed. */
typedef struct part {
    uint32_t band;
    mona_span rows;
    uint64_t changed[WORDS];
} part;

/* State shared by all parts of a run. */
typedef struct sweep {
    worker *w;
    const plan_group *g;
    int64_t cells;                   /* columns of the grid, in cells */
    int64_t more_rows, more_columns; /* average cost of a unit beyond its own rows and columns */
} sweep;

/* ---- what has changed ------------------------------------------------------------------------ */

static bool is_changed(const part *p, int64_t cell)
{
    return p->changed[cell / 64] >> cell % 64 & 1;
}

/* Marks the cells that depend on the columns of a rectangle. */
static void mark_columns(const sweep *s, part *p, const mona_rect *rect)
{
    const mona_plan *plan = s->w->session->plan;
    const plan_reach *reach = &plan->reach[rect->input];
    const int64_t grid = s->g->grid_width, width = plan->shapes[rect->input].width;
    const int64_t begin = (int64_t)rect->x - reach->right;
    const int64_t end = (int64_t)rect->x + rect->width + reach->left;
    const int64_t first = clip_to(floor_div(begin * grid, width), 0, grid);
    const int64_t last = clip_to(ceil_div(end * grid, width), 0, grid);
    for (int64_t cell = first / PLAN_CELL_COLUMNS; cell * PLAN_CELL_COLUMNS < last; cell++)
        p->changed[cell / 64] |= UINT64_C(1) << cell % 64;
}

/* Rows of an input that rows `rows` of the grid depend on. The reach is known for whole cells. */
static mona_span read_rows(const sweep *s, uint32_t input, mona_span rows)
{
    const mona_plan *plan = s->w->session->plan;
    const plan_reach *reach = &plan->reach[input];
    const int64_t grid = s->g->grid_height, height = plan->shapes[input].height;
    const int64_t begin = rows.begin / PLAN_CELL_ROWS * PLAN_CELL_ROWS;
    const int64_t end = ceil_div(rows.end, PLAN_CELL_ROWS) * PLAN_CELL_ROWS;
    return (mona_span){floor_div(begin * height, grid) - reach->above,
                       ceil_div((end < grid ? end : grid) * height, grid) + reach->below};
}

static void mark(const sweep *s, part *p)
{
    const mona_session *session = s->w->session;
    mona_span read[MONA_MAX_IO];
    for (uint32_t i = 0; i < session->plan->model.header->input_count; i++)
        read[i] = read_rows(s, i, p->rows);
    for (size_t i = 0; i < session->change->count; i++) {
        const mona_rect *r = &session->change->rects[i];
        if (r->y < read[r->input].end && (int64_t)r->y + r->height > read[r->input].begin &&
            r->width && r->height)
            mark_columns(s, p, r);
    }
}

/* The cells that begin with row `row`. They end where cells of the grid end, or up to a strip
 * later, where a strip or the band ends. */
static part part_at(const sweep *s, int64_t row)
{
    const int64_t strip = s->w->session->plan->strip_rows;
    part p = {.rows.begin = row};
    while (mona_schedule_rows(s->g, p.band).end <= row)
        p.band++;
    const mona_span band = mona_schedule_rows(s->g, p.band);
    const int64_t end = (row / PLAN_CELL_ROWS + 1) * PLAN_CELL_ROWS;
    p.rows.end = band.begin + ceil_div(end - band.begin, strip) * strip;
    p.rows.end = p.rows.end < band.end ? p.rows.end : band.end;
    mark(s, &p);
    return p;
}

static int64_t count_changed(const sweep *s, const part *p)
{
    int64_t count = 0;
    for (int64_t cell = 0; cell < s->cells; cell++)
        count += is_changed(p, cell);
    return count;
}

/* The work of a part. The unit is a row of a cell that is copied. */
static int64_t work_of(const sweep *s, const part *p)
{
    return (p->rows.end - p->rows.begin) * (s->cells + COPIES * count_changed(s, p));
}

/* ---- units ----------------------------------------------------------------------------------- */

/* The next changed cells from `from` on, with gaps that cost less than beginning a unit. */
static mona_span next_changed(const sweep *s, const part *p, int64_t from)
{
    while (from < s->cells && !is_changed(p, from))
        from++;
    mona_span span = {from, from};
    for (int64_t cell = from;
         cell < s->cells && (cell - span.end) * PLAN_CELL_COLUMNS < s->more_columns; cell++)
        if (is_changed(p, cell))
            span.end = cell + 1;
    return span;
}

/* The cost of the units of a part, in samples of the grid. */
static int64_t cost_of(const sweep *s, const part *p)
{
    int64_t columns = 0;
    mona_span span = next_changed(s, p, 0);
    for (; span.begin < span.end; span = next_changed(s, p, span.end))
        columns += (span.end - span.begin) * PLAN_CELL_COLUMNS + s->more_columns;
    return columns * (p->rows.end - p->rows.begin + s->more_rows);
}

/* The rows or columns of a STORE's planes. */
static mona_span in_planes(mona_span span, uint32_t side, uint32_t grid, uint32_t block)
{
    return (mona_span){floor_div(span.begin * side, grid) * block,
                       floor_div(span.end * side, grid) * block};
}

static void copy_planes(const sweep *s, uint32_t store, mona_span rows, mona_span columns)
{
    const mona_session *session = s->w->session;
    const mona_bound_op *b = &session->plan->ops[store].bound;
    const uint32_t index = b->op->output - session->plan->model.header->input_count;
    const mona_buffer *from = &session->change->previous[index], *to = &session->outputs[index];
    const uint32_t block = b->op->store.block;
    const mona_span y = in_planes(rows, b->input[0].height, s->g->grid_height, block);
    const mona_span x = in_planes(columns, b->input[0].width, s->g->grid_width, block);
    const ptrdiff_t element = (ptrdiff_t)mona_type_size(b->output.type);
    if (from->data == to->data)
        return;
    for (uint32_t c = 0; c < b->output.channels; c++)
        for (int64_t row = y.begin; row < y.end; row++)
            memcpy((uint8_t *)to->data + c * to->channel_stride + row * to->row_stride +
                       x.begin * element,
                   (const uint8_t *)from->data + c * from->channel_stride + row * from->row_stride +
                       x.begin * element,
                   (size_t)((x.end - x.begin) * element));
}

static void keep(const sweep *s, mona_span rows, mona_span columns)
{
    for (uint32_t o = s->g->first; o < s->g->last; o++)
        if (s->w->session->plan->ops[o].bound.run->writes_planes)
            copy_planes(s, o, rows, columns);
}

/* Computes or keeps the columns of one tile. */
static void run_tile(const sweep *s, const part *p, mona_span tile)
{
    int64_t done = tile.begin;
    while (done < tile.end) {
        const mona_span span = next_changed(s, p, done / PLAN_CELL_COLUMNS);
        const mona_span make = {clip_to(span.begin * PLAN_CELL_COLUMNS, done, tile.end),
                                clip_to(span.end * PLAN_CELL_COLUMNS, done, tile.end)};
        if (done < make.begin)
            keep(s, p->rows, (mona_span){done, make.begin});
        if (make.begin < make.end)
            mona_session_run_unit(s->w, s->g, p->band, p->rows, make);
        done = make.end;
    }
}

static void run_part(const sweep *s, const part *p)
{
    for (uint32_t tile = 0; tile < s->g->tiles && p->rows.begin < p->rows.end; tile++)
        run_tile(s, p, mona_schedule_columns(s->w->session->plan, s->g, tile));
}

/* Joins two parts, one below the other, if together they cost no more than separately. */
static bool join(const sweep *s, part *p, const part *below)
{
    part both = *p;
    both.rows.end = below->rows.end;
    for (uint32_t i = 0; i < WORDS; i++)
        both.changed[i] |= below->changed[i];
    if (p->rows.end != below->rows.begin || p->band != below->band ||
        cost_of(s, &both) > cost_of(s, p) + cost_of(s, below))
        return false;
    *p = both;
    return true;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static sweep sweep_of(worker *w, const plan_group *g)
{
    const mona_plan *plan = w->session->plan;
    sweep s = {.w = w, .g = g, .cells = ceil_div(g->grid_width, PLAN_CELL_COLUMNS)};
    for (uint32_t i = 0; i < plan->model.header->input_count; i++) {
        const plan_reach *r = &plan->reach[i];
        const mona_shape *input = &plan->shapes[i];
        const int64_t rows = (r->above + r->below) * g->grid_height / input->height / 2;
        const int64_t columns = (r->left + r->right) * g->grid_width / input->width / 2;
        s.more_rows = rows > s.more_rows ? rows : s.more_rows;
        s.more_columns = columns > s.more_columns ? columns : s.more_columns;
    }
    s.more_columns += BEGIN_COLUMNS;
    return s;
}

/* All work of a run, as work_of() counts it. 0: there is little to gain. */
static int64_t all_work(const sweep *s)
{
    const int64_t limit = (int64_t)s->g->grid_height * s->g->grid_width / 8 * 7;
    int64_t all = 0, cost = 0;
    part units = {0}, p;
    for (int64_t row = 0; row < s->g->grid_height && cost < limit; row = p.rows.end) {
        p = part_at(s, row);
        all += work_of(s, &p);
        if (join(s, &units, &p))
            continue;
        cost += cost_of(s, &units);
        units = p;
    }
    return cost + cost_of(s, &units) < limit ? all : 0;
}

static void run_changed(worker *w, const plan_group *g, uint32_t share)
{
    const sweep s = sweep_of(w, g);
    const int64_t all = w->session->changed_work;
    part p, own = {0};
    int64_t before = 0;
    for (int64_t row = 0; row < g->grid_height; row = p.rows.end) {
        p = part_at(&s, row);
        const bool is_own = before * g->parts / all == share;
        before += work_of(&s, &p);
        if (!is_own || join(&s, &own, &p))
            continue;
        run_part(&s, &own);
        own = p;
    }
    run_part(&s, &own);
}

static bool is_inside(const mona_plan *plan, const mona_rect *r)
{
    if (r->input >= plan->model.header->input_count)
        return false;
    const mona_shape *s = &plan->shapes[r->input];
    return r->x <= s->width && r->width <= s->width - r->x && r->y <= s->height &&
           r->height <= s->height - r->y;
}

static bool is_change(const mona_plan *plan, const mona_change *c)
{
    if (!c->previous || (c->count && !c->rects))
        return false;
    const mona_file_header *h = plan->model.header;
    for (uint32_t i = 0; i < h->output_count; i++)
        if (!mona_session_takes(plan, h->input_count + i, &c->previous[i]))
            return false;
    for (size_t i = 0; i < c->count; i++)
        if (!is_inside(plan, &c->rects[i]))
            return false;
    return true;
}

mona_status mona_session_run_changed(mona_session *s, const mona_buffer *inputs,
                                     const mona_buffer *outputs, const mona_change *change)
{
    if (!s || (change && !is_change(s->plan, change)))
        return MONA_ERR_ARGUMENT;
    if (change && s->plan->parts) {
        const sweep all = sweep_of(&s->workers[0], mona_plan_first_group(s->plan));
        s->change = change;
        s->changed_work = all_work(&all);
        if (s->changed_work)
            s->run_share = run_changed;
        else
            s->change = NULL;
    }
    const mona_status status = mona_session_run(s, inputs, outputs);
    s->run_share = mona_session_run_tiles;
    s->change = NULL;
    return status;
}
