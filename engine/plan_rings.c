/* Planning, second: how deep and how wide every ring must be, and into how many tiles a band is
 * cut. */
#include "plan.h"

/* Columns of a tile the planner will not go below: narrower ones recompute more than caches save.
 */
enum { MIN_TILE_COLUMNS = 128 };

static void choose_grid(mona_plan *plan)
{
    plan->grid_height = plan->grid_width = UINT32_MAX;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++) {
        if (plan->model.ops[o].kind != MONA_OP_STORE)
            continue;
        const mona_shape *s = &plan->ops[o].bound.input[0];
        plan->grid_height = s->height < plan->grid_height ? s->height : plan->grid_height;
        plan->grid_width = s->width < plan->grid_width ? s->width : plan->grid_width;
    }
}

static bool has_ring(const plan_op *op)
{
    return op->bound.op->kind != MONA_OP_STORE && op->store == MONA_NONE;
}

/* Runs the schedule without kernels, over every band, and keeps the deepest any ring gets. */
static void measure_depths(mona_plan *plan, plan_progress *progress)
{
    const uint32_t count = plan->model.header->op_count;
    for (uint32_t band = 0; band < plan->cores; band++) {
        const int64_t end = mona_schedule_rows(plan, band).end;
        mona_schedule_unit(plan, band, 0, progress);
        for (int64_t position = mona_schedule_start(plan, band, progress); position < end;) {
            position = position + plan->strip_rows < end ? position + plan->strip_rows : end;
            mona_schedule_strip(plan, position, progress);
            mona_schedule_oldest(plan, progress);
            for (uint32_t o = 0; o < count; o++) {
                plan_progress *p = &progress[o];
                if (p->need <= p->next)
                    continue;
                p->next = p->need;
                const uint32_t rows = (uint32_t)(p->next - p->oldest);
                if (has_ring(&plan->ops[o]) && rows > plan->ops[o].depth)
                    plan->ops[o].depth = rows;
            }
        }
    }
}

/* Sizes every ring for the current number of tiles; PLAN_MAX_BYTES or more: too large. */
static size_t size_rings(mona_plan *plan, plan_progress *progress)
{
    const uint32_t count = plan->model.header->op_count;
    for (uint32_t o = 0; o < count; o++)
        plan->ops[o].columns = 0;
    for (uint32_t tile = 0; tile < plan->tiles; tile++) {
        mona_schedule_unit(plan, 0, tile, progress);
        for (uint32_t o = 0; o < count; o++) {
            const int64_t columns = progress[o].x_end - progress[o].x_begin;
            if (columns > plan->ops[o].columns)
                plan->ops[o].columns = (uint32_t)columns;
        }
    }
    uint64_t total = 0;
    for (uint32_t o = 0; o < count; o++) {
        plan_op *op = &plan->ops[o];
        if (!has_ring(op))
            continue;
        const mona_shape *s = &op->bound.output;
        const uint32_t c0 = op->bound.output_c0;
        const uint64_t blocks = (s->channels + c0 - 1) / c0;
        /* At most 2^16 columns (a side and its padding) x 2^14 channels x 2 bytes, x 2^15 rows. */
        const uint64_t block = align_up((size_t)op->columns * c0 * mona_type_size(s->type));
        const uint64_t row = blocks * block;
        if (row >= PLAN_MAX_BYTES || row * op->depth >= PLAN_MAX_BYTES - total)
            return PLAN_MAX_BYTES;
        op->block_stride = (size_t)block;
        op->row_bytes = (size_t)row;
        op->ring_offset = (size_t)total;
        total += row * op->depth;
    }
    return (size_t)total;
}

static mona_status choose_tiles(mona_plan *plan, const mona_config *config, plan_progress *progress)
{
    const size_t budget = config->cache_bytes ? config->cache_bytes : plan->target->l1_bytes;
    uint32_t most = plan->grid_width / MIN_TILE_COLUMNS;
    plan->tiles = 1;
    if (config->tile_columns) {
        plan->tiles = (plan->grid_width + config->tile_columns - 1) / config->tile_columns;
        most = plan->tiles;
    }
    for (;; plan->tiles++) {
        plan->rings_bytes = size_rings(plan, progress);
        if (plan->rings_bytes <= budget || plan->tiles >= most)
            break;
    }
    return plan->rings_bytes < PLAN_MAX_BYTES ? MONA_OK : MONA_ERR_LIMIT;
}

mona_status mona_plan_rings(mona_plan *plan, const mona_config *config, plan_progress *progress)
{
    choose_grid(plan);
    if (plan->cores > plan->grid_height)
        plan->cores = plan->grid_height;
    plan->tiles = 1;
    measure_depths(plan, progress);
    return choose_tiles(plan, config, progress);
}
