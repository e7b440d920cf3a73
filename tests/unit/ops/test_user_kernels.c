// SPDX-License-Identifier: Apache-2.0
/* Kernels of an application's own: what they see, at edges too, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/cpu/c/f16.h"
#include "tests/unit/array_fixture.h"
#include "tests/unit/mix_model.h"

enum { MOST_ROWS = 9, MOST_COLUMNS = 40 };

static uint8_t a[MOST_ROWS * MOST_COLUMNS];
static uint16_t b[2 * 4 * MOST_ROWS * MOST_COLUMNS];
static int32_t table[USER_TABLE];

static void fill(void)
{
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        a[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
    for (size_t i = 0; i < sizeof b / sizeof *b; i++)
        b[i] = (uint16_t)((seed = seed * 1664525 + 1013904223) >> 16);
    for (size_t i = 0; i < USER_TABLE; i++)
        table[i] = (int32_t)(seed = seed * 1664525 + 1013904223);
}

static int clipped(int x, int max)
{
    return x < 0 ? 0 : x > max ? max : x;
}

/* What test::Sum makes of a cell, from whole arrays. */
static uint32_t wanted(int rows, int columns, int y, int x)
{
    uint32_t sum = (uint32_t)((y * columns + x) * rows), count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum = user_sum_add(
                sum, &count, a[clipped(y + dy, rows - 1) * columns + clipped(x + dx, columns - 1)]);
    for (int p = 0; p < 2; p++)
        for (int dy = -2; dy < 4; dy++)
            for (int dx = -2; dx < 4; dx++) {
                const int cell_y = clipped(y + (dy + 2) / 2 - 1, rows - 1);
                const int cell_x = clipped(x + (dx + 2) / 2 - 1, columns - 1);
                const int sample_y = 2 * cell_y + (dy + 2) % 2;
                const int sample_x = 2 * cell_x + (dx + 2) % 2;
                sum = user_sum_add(sum, &count,
                                   b[(p * 2 * rows + sample_y) * 2 * columns + sample_x]);
            }
    for (int k = 0; k < USER_TABLE; k++)
        sum = user_sum_add(sum, &count, (uint32_t)table[k]);
    return sum;
}

static char name[] = "test::Sum";

/* The case points at *k and at its name. */
static array_case case_of(mona_array_kernel *k, uint32_t rows, uint32_t columns, uint32_t output)
{
    const uint32_t cells = rows * columns;
    *k = (mona_array_kernel){
        .name_bytes = sizeof name, .output = output, .rows = rows, .columns = columns};
    return (array_case){.kind = MONA_OP_ARRAY_KERNEL,
                        .record = k,
                        .record_bytes = sizeof *k,
                        .operand_count = 3,
                        .operands = {{MONA_U8, a, cells, false},
                                     {MONA_U16, b, 8 * cells, false},
                                     {MONA_S32, table, USER_TABLE, true}},
                        .type = output ? MONA_U8 : MONA_S32,
                        .elements = output ? 4 * cells : cells,
                        .tables = name,
                        .table_bytes = sizeof name,
                        .offsets = {&k->name}};
}

static void check_size(uint32_t rows, uint32_t columns)
{
    static int32_t sums[MOST_ROWS * MOST_COLUMNS];
    static uint8_t bytes[4 * MOST_ROWS * MOST_COLUMNS];
    mona_array_kernel k;
    array_case c = case_of(&k, rows, columns, 0);
    array_run(&c, sums);
    c = case_of(&k, rows, columns, 1);
    c.operands[2].constant = false; /* the table is an input now */
    array_run(&c, bytes);
    for (uint32_t y = 0; y < rows; y++)
        for (uint32_t x = 0; x < columns; x++) {
            const uint32_t sum = wanted((int)rows, (int)columns, (int)y, (int)x);
            assert_int_equal(sums[y * columns + x], (int32_t)sum);
            for (uint32_t i = 0; i < 4; i++)
                assert_int_equal(bytes[(i / 2 * rows + y) * 2 * columns + 2 * x + i % 2],
                                 (uint8_t)(sum >> 8 * i));
        }
}

/* Widths around those where the ends of a row meet. */
static void rows_see_their_windows(void **state)
{
    (void)state;
    for (uint32_t columns = 1; columns <= 9; columns++)
        for (uint32_t rows = 1; rows <= 4; rows++)
            check_size(rows, columns);
    check_size(MOST_ROWS, MOST_COLUMNS);
}

/* ---- line by line ---- */

/* The inputs at line y of a frame. */
static const mona_buffer *line_of(uint32_t rows, uint32_t columns, uint32_t y, mona_buffer in[3])
{
    in[0] = (mona_buffer){a + (size_t)y * columns, (ptrdiff_t)columns, 0};
    in[1] = (mona_buffer){b + (size_t)y * 4 * columns, (ptrdiff_t)(4 * columns),
                          (ptrdiff_t)(8 * rows * columns)};
    in[2] = (mona_buffer){table, 0, 0};
    return in;
}

/* Pulls line *y, if there is one, and compares it. */
static bool pull_line(mona_kernel_lines *l, uint32_t rows, uint32_t columns, uint32_t *y)
{
    int32_t sums[MOST_COLUMNS];
    uint8_t bytes[2][2 * MOST_COLUMNS];
    const mona_buffer out[] = {{sums, 0, 0}, {bytes[0], 0, sizeof *bytes}};
    bool ready;
    assert_int_equal(mona_kernel_lines_pull(l, out, &ready), MONA_OK);
    for (uint32_t x = 0; ready && x < columns; x++) {
        const uint32_t sum = wanted((int)rows, (int)columns, (int)*y, (int)x);
        assert_int_equal(sums[x], (int32_t)sum);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(bytes[i / 2][2 * x + i % 2], (uint8_t)(sum >> 8 * i));
    }
    *y += ready;
    return ready;
}

static void check_lines(uint32_t rows, uint32_t columns)
{
    static _Alignas(MONA_ALIGNMENT) uint8_t memory[1 << 14];
    mona_kernel_lines *l;
    mona_buffer in[3];
    const size_t bytes = mona_kernel_lines_bytes(&user_sum, columns);
    assert_true(bytes && bytes <= sizeof memory);
    assert_int_equal(mona_kernel_lines_open(&l, &user_sum, rows, columns, memory, bytes), MONA_OK);
    assert_int_equal(mona_kernel_lines_latency(l), 1);
    for (int frame = 0; frame < 2; frame++) {
        uint32_t pulled = 0;
        for (uint32_t y = 0; y < rows; y++) {
            assert_int_equal(mona_kernel_lines_push(l, line_of(rows, columns, y, in)), MONA_OK);
            assert_int_equal(pulled, y ? y - 1 : 0);
            if (y == 0 && rows > 1)
                assert_false(pull_line(l, rows, columns, &pulled));
            else /* a line waits to be pulled */
                assert_int_equal(mona_kernel_lines_push(l, line_of(rows, columns, y, in)),
                                 MONA_ERR_STATE);
            while (pull_line(l, rows, columns, &pulled))
                ;
        }
        assert_int_equal(pulled, rows);
        assert_int_equal(mona_kernel_lines_push(l, line_of(rows, columns, 0, in)), MONA_OK);
        mona_kernel_lines_drop(l); /* a frame that has begun */
    }
}

static void lines_are_those_of_frames(void **state)
{
    (void)state;
    for (uint32_t columns = 1; columns <= 6; columns++)
        for (uint32_t rows = 1; rows <= 5; rows++)
            check_lines(rows, columns);
    check_lines(MOST_ROWS, MOST_COLUMNS);
}

static void wrong_lines_are_refused(void **state)
{
    (void)state;
    static _Alignas(MONA_ALIGNMENT) uint8_t memory[1 << 14];
    mona_kernel_lines *l;
    mona_kernel unsound = user_sum;
    mona_buffer in[3], none[3] = {{0}};
    bool ready;
    unsound.row = NULL;
    const size_t bytes = mona_kernel_lines_bytes(&user_sum, 8);
    assert_int_equal(mona_kernel_lines_bytes(&unsound, 8), 0);
    assert_int_equal(mona_kernel_lines_bytes(&user_sum, 0), 0);
    assert_int_equal(mona_kernel_lines_bytes(&user_sum, MONA_MAX_SIDE + 1), 0);
    assert_int_equal(mona_kernel_lines_open(&l, &unsound, 4, 8, memory, bytes), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_kernel_lines_open(&l, &user_sum, 0, 8, memory, bytes), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_kernel_lines_open(&l, &user_sum, 4, 8, memory, bytes - 1),
                     MONA_ERR_ARENA);
    assert_int_equal(mona_kernel_lines_open(&l, &user_sum, 4, 8, memory + 1, bytes),
                     MONA_ERR_ARENA);
    assert_int_equal(mona_kernel_lines_open(&l, &user_sum, 4, 8, memory, bytes), MONA_OK);
    assert_int_equal(mona_kernel_lines_push(l, NULL), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_kernel_lines_push(l, none), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_kernel_lines_pull(l, none, &ready), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_kernel_lines_push(l, line_of(4, 8, 0, in)), MONA_OK);
    assert_int_equal(mona_kernel_lines_pull(l, NULL, &ready), MONA_ERR_ARGUMENT);
}

/* ---- on maps ---- */

enum { MAP_ROWS = 33, MAP_COLUMNS = 300 };

static uint8_t map_a[3 * MAP_ROWS * MAP_COLUMNS], map_b[2 * 4 * MAP_ROWS * MAP_COLUMNS];

/* What test::Mix adds up for a cell, from whole frames. */
static uint32_t mixed(int rows, int columns, int y, int x)
{
    uint32_t sum = (uint32_t)((y * columns + x) * rows), count = 0;
    for (int p = 0; p < 3; p++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -2; dx <= 2; dx++)
                sum = user_sum_add(sum, &count,
                                   map_a[(p * rows + clipped(y + dy, rows - 1)) * columns +
                                         clipped(x + dx, columns - 1)]);
    for (int p = 0; p < 2; p++)
        for (int dy = -2; dy < 4; dy++)
            for (int dx = -2; dx < 4; dx++) {
                const int row = 2 * clipped(y + (dy + 2) / 2 - 1, rows - 1) + (dy + 2) % 2;
                const int column = 2 * clipped(x + (dx + 2) / 2 - 1, columns - 1) + (dx + 2) % 2;
                sum = user_sum_add(sum, &count, map_b[(p * 2 * rows + row) * 2 * columns + column]);
            }
    for (int k = 0; k < USER_TABLE; k++)
        sum = user_sum_add(sum, &count, (uint32_t)mix_table[k]);
    return sum;
}

static void run_mix(const mona_config *config, uint8_t *y, uint16_t *z)
{
    size_t size;
    mona_model model;
    mona_plan *plan;
    mona_session *session;
    const ptrdiff_t h = config->sizes[0].height, w = config->sizes[0].width;
    const mona_buffer in[] = {{map_a, w, w * h}, {map_b, 2 * w, 4 * w * h}};
    const mona_buffer out[] = {{y, 2 * w, 4 * w * h}, {z, 2 * w, 2 * w * h}};
    uint8_t *bytes = builder_finish(mix_model(NULL), &size);
    assert_int_equal(mix_open(&model, bytes, size), MONA_OK);
    void *memory = aligned_alloc(64, (mona_plan_bytes(&model) + 63) / 64 * 64);
    assert_int_equal(mona_plan_make(&plan, memory, &model, config), MONA_OK);
    void *arena = aligned_alloc(64, (mona_plan_arena_bytes(plan) + 63) / 64 * 64);
    assert_int_equal(mona_session_open(&session, plan, arena, mona_plan_arena_bytes(plan)),
                     MONA_OK);
    assert_int_equal(mona_session_run(session, in, out), MONA_OK);
    mona_session_close(session);
    free(arena);
    free(memory);
    free(bytes);
}

static void check_mix(uint32_t rows, uint32_t columns, uint32_t threads, uint32_t strip,
                      uint32_t tile)
{
    static uint8_t y[2 * 4 * MAP_ROWS * MAP_COLUMNS];
    static uint16_t z[5 * MAP_ROWS * MAP_COLUMNS];
    const mona_config config = {.threads = threads,
                                .strip_rows = strip,
                                .tile_columns = tile,
                                .sizes = {{columns, rows}, {2 * columns, 2 * rows}}};
    run_mix(&config, y, z);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t c = 0; c < columns; c++) {
            const uint32_t sum = mixed((int)rows, (int)columns, (int)r, (int)c);
            for (uint32_t k = 0; k < 8; k++)
                assert_int_equal(
                    y[((k / 4 * rows + r) * 2 + k / 2 % 2) * 2 * columns + 2 * c + k % 2],
                    user_mix_byte(sum, k));
            for (uint32_t k = 0; k < 5; k++)
                assert_int_equal(z[(k * rows + r) * columns + c],
                                 mona_f16_from_f32(user_mix_float(sum, k)));
        }
}

static void maps_run_row_by_row(void **state)
{
    (void)state;
    uint32_t seed = 3;
    for (size_t i = 0; i < sizeof map_a; i++)
        map_a[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
    for (size_t i = 0; i < sizeof map_b; i++)
        map_b[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
    for (uint32_t columns = 1; columns <= 6; columns++)
        for (uint32_t rows = 1; rows <= 6; rows++)
            check_mix(rows, columns, 1 + columns % 3, 1 + rows % 3, 0);
    for (uint32_t strip = 1; strip <= 9; strip += 2)
        check_mix(MAP_ROWS, MAP_COLUMNS, 1 + strip % 4, strip, strip % 4 == 1 ? 40 : 0);
}

/* The status of the model in which one number is another. */
static mona_status with_map(void (*change)(model_builder *b, mona_file_op *op))
{
    mona_file_op *op;
    model_builder *b = mix_model(&op);
    mona_model model;
    size_t size;
    change(b, op);
    uint8_t *bytes = builder_finish(b, &size);
    const mona_status status = mix_open(&model, bytes, size);
    free(bytes);
    return status;
}

static mona_array_kernel *record_of(model_builder *b, const mona_file_op *op)
{
    return (mona_array_kernel *)(void *)(b->data + op->array.record);
}

#define CHANGE(name, change)                                                                       \
    static void change_##name(model_builder *b, mona_file_op *op)                                  \
    {                                                                                              \
        (void)b;                                                                                   \
        change;                                                                                    \
    }
CHANGE(nothing, (void)op)
CHANGE(cell, op->kernel.cell[1][0] = 1)
CHANGE(no_cell, op->kernel.cell[0][1] = 0)
CHANGE(table_cell, op->kernel.cell[2][0] = 1)
CHANGE(table_elements, op->array.elements[2]--)
CHANGE(table_type, op->array.type[2] = MONA_U32)
CHANGE(table_offset, op->array.offset[2] = 1 << 19)
CHANGE(table_map, op->inputs[2] = op->inputs[1])
CHANGE(map_constant, op->inputs[0] = MONA_NONE)
CHANGE(maps, op->inputs[0] = op->inputs[1])
CHANGE(count, op->input_count = 2)
CHANGE(output, record_of(b, op)->output = 2)
CHANGE(other_output, record_of(b, op)->output = 0)
CHANGE(rows, record_of(b, op)->rows = 1)
CHANGE(columns, record_of(b, op)->columns = 1)
CHANGE(name, record_of(b, op)->name_bytes = 0)
CHANGE(channels, b->tensors[op->output].channels = 4)
CHANGE(type, b->tensors[op->output].type = MONA_U8)
CHANGE(record, op->array.record = MONA_NONE)

static void wrong_maps_are_refused(void **state)
{
    (void)state;
    static void (*const changes[])(model_builder * b, mona_file_op * op) = {
        change_cell,         change_no_cell,      change_table_cell, change_table_elements,
        change_table_type,   change_table_map,    change_maps,       change_count,
        change_table_offset, change_output,       change_rows,       change_columns,
        change_name,         change_channels,     change_type,       change_record,
        change_other_output, change_map_constant,
    };
    assert_int_equal(with_map(change_nothing), MONA_OK);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        assert_int_equal(with_map(changes[i]), MONA_ERR_MODEL);
}

/* Sizes that are no cells, or no common grid. */
static void wrong_grids_are_refused(void **state)
{
    (void)state;
    static const mona_size sizes[][2] = {{{8, 6}, {16, 13}},
                                         {{8, 6}, {15, 12}},
                                         {{8, 6}, {16, 10}},
                                         {{8, 6}, {18, 12}},
                                         {{8, 1}, {16, 1}}};
    size_t size;
    mona_model model;
    mona_plan *plan;
    uint8_t *bytes = builder_finish(mix_model(NULL), &size);
    assert_int_equal(mix_open(&model, bytes, size), MONA_OK);
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_ERR_KERNEL);
    assert_int_equal(mix_open(&model, bytes, size), MONA_OK);
    void *memory = aligned_alloc(64, (mona_plan_bytes(&model) + 63) / 64 * 64);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const mona_config config = {.threads = 1, .sizes = {sizes[i][0], sizes[i][1]}};
        assert_int_equal(mona_plan_make(&plan, memory, &model, &config), MONA_ERR_SHAPE);
    }
    free(memory);
    free(bytes);
}

/* ---- models that are refused ---- */

static mona_status opened(const array_case *c)
{
    return array_open(c);
}

static void wrong_models_are_refused(void **state)
{
    (void)state;
    mona_array_kernel k;
    array_case c = case_of(&k, 4, 5, 0);
    assert_int_equal(opened(&c), MONA_OK);
    c.operands[0].elements--;
    assert_int_equal(opened(&c), MONA_ERR_MODEL);
    c = case_of(&k, 4, 5, 0), c.operands[0].type = MONA_S8;
    assert_int_equal(opened(&c), MONA_ERR_MODEL);
    c = case_of(&k, 4, 5, 0), c.operands[2].elements--;
    assert_int_equal(opened(&c), MONA_ERR_MODEL);
    c = case_of(&k, 4, 5, 0), c.operand_count = 2;
    assert_int_equal(opened(&c), MONA_ERR_MODEL);
    c = case_of(&k, 4, 5, 0), c.elements++;
    assert_int_equal(opened(&c), MONA_ERR_MODEL);
    c = case_of(&k, 4, 5, 1), c.type = MONA_S8;
    assert_int_equal(opened(&c), MONA_ERR_MODEL);
    c = case_of(&k, 4, 5, 0), k.output = 2;
    assert_int_equal(opened(&c), MONA_ERR_MODEL);
    c = case_of(&k, 4, 5, 0), k.rows = 0;
    assert_int_equal(opened(&c), MONA_ERR_MODEL);
    c = case_of(&k, 4, 5, 0), k.columns = UINT32_MAX;
    assert_int_equal(opened(&c), MONA_ERR_MODEL);
    c = case_of(&k, 4, 5, 0), k.name_bytes = sizeof name - 1; /* without its zero */
    assert_int_equal(opened(&c), MONA_ERR_MODEL);
    c = case_of(&k, 4, 5, 0), k.name_bytes = MONA_KERNEL_NAME + 2;
    assert_int_equal(opened(&c), MONA_ERR_MODEL);
    c = case_of(&k, 4, 5, 0), k.name_bytes = 0;
    assert_int_equal(opened(&c), MONA_ERR_MODEL);
}

/* Other operators have no kernels, and a kernel's record is none of theirs. */
static void missing_kernels_are_named(void **state)
{
    (void)state;
    static const mona_kernel other = {"test::Su", 3, 2, user_sum_operands, user_sum_row, NULL};
    static const mona_kernel *const others[] = {&other, NULL}, *const none[] = {NULL};
    const mona_kernel *const *const lists[] = {NULL, none, others};
    mona_array_kernel k;
    array_case c = case_of(&k, 4, 5, 0);
    size_t size;
    uint8_t *bytes = array_model(&c, &size);
    mona_model model;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const mona_guard guard = {.kernels = lists[i]};
        assert_int_equal(mona_model_open_guarded(&model, bytes, size, &guard), MONA_ERR_KERNEL);
        assert_string_equal(mona_model_missing_kernel(bytes, size, lists[i]), "test::Sum");
    }
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_ERR_KERNEL);
    assert_string_equal(mona_status_text(MONA_ERR_KERNEL),
                        "model calls a kernel that this program does not have");
    assert_null(mona_model_missing_kernel(bytes, size, user_kernels));
    bytes[size - 1] ^= 1;
    assert_null(mona_model_missing_kernel(bytes, size, NULL));
    assert_null(mona_model_missing_kernel(NULL, 0, NULL));
    free(bytes);
}

/* The status of a model whose kernel has this table. */
static mona_status with_table(const mona_kernel *kernel)
{
    const mona_kernel *const kernels[] = {kernel, NULL};
    const mona_guard guard = {.kernels = kernels};
    mona_array_kernel k;
    array_case c = case_of(&k, 4, 5, 0);
    size_t size;
    uint8_t *bytes = array_model(&c, &size);
    mona_model model;
    const mona_status status = mona_model_open_guarded(&model, bytes, size, &guard);
    free(bytes);
    return status;
}

/* Every number of a kernel's own table that breaks a rule of mona_op.h. */
static void wrong_tables_are_refused(void **state)
{
    (void)state;
    mona_kernel_operand o[5];
    mona_kernel kernel = user_sum;
    assert_int_equal(with_table(&kernel), MONA_OK);
#define REFUSED(change)                                                                            \
    memcpy(o, user_sum_operands, sizeof o);                                                        \
    kernel = user_sum;                                                                             \
    kernel.operands = o;                                                                           \
    change;                                                                                        \
    assert_int_equal(with_table(&kernel), MONA_ERR_ARGUMENT);
    REFUSED(kernel.row = NULL)
    REFUSED(kernel.operands = NULL)
    REFUSED(kernel.inputs = 0)
    REFUSED(kernel.inputs = MONA_KERNEL_OPERANDS + 1)
    REFUSED(kernel.outputs = 0)
    REFUSED(kernel.outputs = UINT32_MAX)
    REFUSED(o[0].type = MONA_TYPE_COUNT)
    REFUSED(o[0].planes = MONA_KERNEL_ROWS + 1)
    REFUSED(o[0].planes = UINT32_MAX / 3 + 1)
    REFUSED(o[1].planes = 21) /* more rows than a call sees */
    REFUSED(o[0].elements = 1)
    REFUSED(o[0].cell_rows = 0)
    REFUSED(o[0].cell_columns = MONA_KERNEL_CELL + 1)
    REFUSED(o[0].around_rows = MONA_KERNEL_AROUND + 1)
    REFUSED(o[0].around_columns = UINT8_MAX)
    REFUSED(o[2].elements = 0)
    REFUSED(o[2].cell_rows = 1)
    REFUSED(o[2].around_columns = 1)
    REFUSED(o[3].around_rows = 1)
    REFUSED((o[3].planes = 0, o[3].elements = 1)) /* an output is no table */
#undef REFUSED
}

int main(void)
{
    fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_see_their_windows),    cmocka_unit_test(lines_are_those_of_frames),
        cmocka_unit_test(wrong_lines_are_refused),   cmocka_unit_test(wrong_models_are_refused),
        cmocka_unit_test(missing_kernels_are_named), cmocka_unit_test(wrong_tables_are_refused),
        cmocka_unit_test(maps_run_row_by_row),       cmocka_unit_test(wrong_maps_are_refused),
        cmocka_unit_test(wrong_grids_are_refused),
    };
    return cmocka_run_group_tests_name("user_kernels", tests, NULL, NULL);
}
