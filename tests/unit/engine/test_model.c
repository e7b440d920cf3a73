// SPDX-License-Identifier: Apache-2.0
/* Opening models: whatever the bytes, either a proof of bounds or a status. Built with the
 * sanitisers this also shows that nothing past the file is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "formats/mona_writer.h"
#include "tests/unit/sr_net.h"

/* A copy in a block of exactly its size, so that a sanitiser sees one byte too many. */
static uint8_t *copy_of(const uint8_t *bytes, size_t size)
{
    void *copy = NULL;
    assert_int_equal(posix_memalign(&copy, 64, size ? size : 1), 0);
    memcpy(copy, bytes, size);
    return copy;
}

/* Opens and, where that succeeds, plans and runs one small frame. */
static mona_status exercise(const uint8_t *bytes, size_t size)
{
    mona_model model;
    mona_status status = mona_model_open(&model, bytes, size);
    if (status)
        return status;
    enum { SIDE = 12 };
    void *memory = aligned_alloc(64, mona_plan_bytes(&model));
    mona_plan *plan;
    const mona_config config = {.threads = 1, .sizes = {{SIDE, SIDE}}};
    status = mona_plan_make(&plan, memory, &model, &config);
    if (!status && mona_plan_arena_bytes(plan) < 64u << 20) {
        const mona_tensor_info in = mona_plan_input(plan, 0), out = mona_plan_output(plan, 0);
        const size_t in_row = in.width * mona_type_size(in.type);
        const size_t out_row = out.width * mona_type_size(out.type);
        uint8_t *input = calloc(in.channels * in.height, in_row);
        uint8_t *output = calloc(out.channels * out.height, out_row);
        void *arena = aligned_alloc(64, (mona_plan_arena_bytes(plan) + 63) / 64 * 64);
        mona_session *session;
        assert_int_equal(mona_session_open(&session, plan, arena, mona_plan_arena_bytes(plan)),
                         MONA_OK);
        const mona_buffer from = {input, (ptrdiff_t)in_row, (ptrdiff_t)(in_row * in.height)};
        const mona_buffer to = {output, (ptrdiff_t)out_row, (ptrdiff_t)(out_row * out.height)};
        assert_int_equal(mona_session_run(session, &from, &to), MONA_OK);
        mona_session_close(session);
        free(arena), free(output), free(input);
    }
    free(memory);
    return status;
}

static uint8_t *small_model(size_t *size)
{
    sr_net *net = sr_net_new(4, 1, 2, 3);
    uint8_t *bytes = sr_net_model(net, size);
    free(net);
    return bytes;
}

static void the_model_itself_opens(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = small_model(&size);
    assert_int_equal(exercise(bytes, size), MONA_OK);
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    assert_int_equal(mona_model_input_count(&model), 1);
    assert_string_equal(mona_model_input(&model, 0).name, "luma");
    assert_string_equal(mona_model_output(&model, 0).name, "luma_x2");
    assert_int_equal(mona_model_output(&model, 0).type, MONA_U8);
    free(bytes);
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = small_model(&size);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *copy = copy_of(bytes, cut);
        mona_model model;
        assert_int_equal(mona_model_open(&model, copy, cut), MONA_ERR_TRUNCATED);
        free(copy);
    }
    free(bytes);
}

static void every_flipped_byte_is_refused(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = small_model(&size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= (uint8_t)(1 + i % 255);
        mona_model model;
        assert_true(mona_model_open(&model, bytes, size) < 0);
        bytes[i] ^= (uint8_t)(1 + i % 255);
    }
    free(bytes);
}

/* With the checksum made right again, only the loader's own proofs stand between a byte and the
 * kernels. */
static void every_sealed_change_is_survived(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = small_model(&size);
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0xff};
    unsigned refused = 0;
    const size_t weights = ((const mona_file_header *)bytes)->data_offset;
    for (size_t i = offsetof(mona_file_header, tensor_count) - 8; i < weights + 64; i++)
        for (size_t k = 0; k < sizeof values; k++) {
            uint8_t *copy = copy_of(bytes, size);
            copy[i] = values[k];
            builder_seal(copy);
            refused += exercise(copy, size) != MONA_OK;
            free(copy);
        }
    assert_true(refused > 500);
    free(bytes);
}

static void random_sealed_changes_are_survived(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = small_model(&size);
    uint32_t seed = 5;
    for (int round = 0; round < 1000; round++) {
        uint8_t *copy = copy_of(bytes, size);
        const uint32_t changes = 1 + test_random(&seed) % 6;
        for (uint32_t k = 0; k < changes; k++) {
            const size_t at = 24 + test_random(&seed) % (size - 24);
            copy[at] = (uint8_t)test_random(&seed);
        }
        builder_seal(copy);
        exercise(copy, size);
        free(copy);
    }
    free(bytes);
}

/* ---- several sizes in one file --------------------------------------------------------------- */

static const mona_size file_sizes[] = {{12, 12}, {20, 16}, {7, 9}};
enum { SIZES = sizeof file_sizes / sizeof *file_sizes };

/* The small model for frames of this size alone. */
static uint8_t *sized_model(mona_size frame, size_t *size)
{
    uint8_t *bytes = small_model(size);
    const mona_file_header *h = (const mona_file_header *)bytes;
    mona_file_tensor *input = (mona_file_tensor *)(bytes + h->tensors_offset);
    input->width = frame.width;
    input->height = frame.height;
    builder_seal(bytes);
    return bytes;
}

static uint8_t *model_of_sizes(size_t *size)
{
    uint8_t *files[SIZES], *joined = NULL;
    format_error error = {0};
    for (int i = 0; i < SIZES; i++)
        files[i] = sized_model(file_sizes[i], size);
    assert_true(mona_writer_join(files, SIZES, &joined, size, &error));
    for (int i = 0; i < SIZES; i++)
        free(files[i]);
    return joined;
}

/* CRC-32 of what the model makes of a fixed frame of this size. */
static uint32_t result_of(const uint8_t *bytes, size_t size, mona_size frame)
{
    uint8_t input[1024], output[4096];
    mona_model model;
    mona_plan *plan;
    mona_session *session;
    const mona_config config = {.threads = 1, .sizes = {frame}};
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    void *memory = aligned_alloc(64, mona_plan_bytes(&model));
    assert_int_equal(mona_plan_make(&plan, memory, &model, &config), MONA_OK);
    const size_t arena_bytes = mona_plan_arena_bytes(plan);
    void *arena = aligned_alloc(64, (arena_bytes + 63) / 64 * 64);
    assert_int_equal(mona_session_open(&session, plan, arena, arena_bytes), MONA_OK);
    const uint32_t row = frame.width, count = row * frame.height;
    for (uint32_t i = 0; i < count; i++)
        input[i] = (uint8_t)(i * 37 + i / row * 11);
    const mona_buffer from = {input, row, (ptrdiff_t)count},
                      to = {output, 2 * row, 4 * (ptrdiff_t)count};
    assert_int_equal(mona_session_run(session, &from, &to), MONA_OK);
    mona_session_close(session);
    free(arena), free(memory);
    return mona_crc32(0, output, 4 * count);
}

static void every_size_of_a_file_runs(void **state)
{
    (void)state;
    size_t size, one_size;
    uint8_t *joined = model_of_sizes(&size);
    for (int i = 0; i < SIZES; i++) {
        uint8_t *one = sized_model(file_sizes[i], &one_size);
        assert_int_equal(result_of(joined, size, file_sizes[i]),
                         result_of(one, one_size, file_sizes[i]));
        assert_true(size < 3 * one_size); /* the data is there once */
        free(one);
    }
    mona_model m;
    assert_int_equal(mona_model_open(&m, joined, size), MONA_OK);
    int listed = 0;
    do
        assert_int_equal(mona_model_input(&m, 0).width, file_sizes[listed++].width);
    while (mona_model_next(&m, &m));
    assert_int_equal(listed, SIZES);
    free(joined);
}

static void a_size_the_file_has_not_is_refused(void **state)
{
    (void)state;
    size_t size;
    uint8_t *joined = model_of_sizes(&size);
    mona_model model;
    mona_plan *plan;
    const mona_config other = {.threads = 1, .sizes = {{13, 13}}};
    assert_int_equal(mona_model_open(&model, joined, size), MONA_OK);
    void *memory = aligned_alloc(64, mona_plan_bytes(&model));
    assert_int_equal(mona_plan_make(&plan, memory, &model, &other), MONA_ERR_SHAPE);
    const mona_config any = {.threads = 1};
    assert_int_equal(mona_plan_make(&plan, memory, &model, &any), MONA_OK);
    assert_int_equal(mona_plan_make(NULL, memory, &model, &any), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_plan_load(NULL, memory, &model, &any), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_plan_input(plan, 0).width, file_sizes[0].width);
    free(memory), free(joined);
}

/* Every byte of the header for the second size, and the chain led everywhere. */
static void sealed_changes_of_other_sizes_are_survived(void **state)
{
    (void)state;
    size_t size;
    uint8_t *joined = model_of_sizes(&size);
    const uint64_t second = ((const mona_file_header *)joined)->next;
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0xff};
    for (size_t i = 0; i < sizeof(mona_file_header); i++)
        for (size_t k = 0; k < sizeof values; k++) {
            uint8_t *copy = copy_of(joined, size);
            copy[second + i] = values[k];
            builder_seal(copy);
            exercise(copy, size);
            free(copy);
        }
    const uint64_t nexts[] = {1,         64,   second + 1, second + 64,
                              size - 64, size, size + 64,  UINT64_MAX};
    for (size_t k = 0; k < sizeof nexts / sizeof *nexts; k++) {
        uint8_t *copy = copy_of(joined, size);
        ((mona_file_header *)copy)->next = nexts[k];
        builder_seal(copy);
        assert_int_equal(exercise(copy, size), MONA_ERR_MODEL);
        ((mona_file_header *)copy)->next = second;
        ((mona_file_header *)(copy + second))->next = nexts[k] % second; /* back, or to itself */
        builder_seal(copy);
        assert_int_equal(exercise(copy, size), nexts[k] % second ? MONA_ERR_MODEL : MONA_OK);
        free(copy);
    }
    free(joined);
}

/* Copies planes of this size, or stores them as an array. */
static uint8_t *copying_model(mona_size frame, const char *in, const char *out, uint32_t channels,
                              bool array, size_t *size)
{
    model_builder *b = builder_new();
    const uint32_t input = builder_input(b, in, MONA_U8, channels, 1);
    const uint32_t output = builder_output(b, out, MONA_U8, channels, 1);
    const uint32_t map = builder_tensor(b, "map", MONA_U8, channels, 1);
    b->tensors[input].width = frame.width;
    b->tensors[input].height = frame.height;
    if (array) {
        b->tensors[output].width = frame.width;
        b->tensors[output].height = frame.height;
        b->tensors[output].array = 1;
    }
    mona_file_op *load = builder_op(b, MONA_OP_LOAD, map, 1, &input);
    load->load.block[0] = 1, load->load.scale[0] = 0x3c00;
    builder_op(b, MONA_OP_STORE, output, 1, &map)->store =
        (mona_file_store){.block = 1, .scale = 0x3c00, .maximum = 255};
    return builder_finish(b, size);
}

/* Who has looked at the first size's planes has made room for those. */
static void what_other_sizes_take_and_give_is_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
        uint32_t channels;
        bool array;
        mona_status status;
    } seconds[] = {
        {"y", "u", 1, false, MONA_OK},        {"x", "u", 1, false, MONA_ERR_MODEL},
        {"y", "y", 1, false, MONA_ERR_MODEL}, {"y", "uv", 1, false, MONA_ERR_MODEL},
        {"y", "u", 2, false, MONA_ERR_MODEL}, {"y", "u", 1, true, MONA_ERR_MODEL},
    };
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        size_t sizes[2], size;
        uint8_t *joined;
        format_error error = {0};
        uint8_t *files[2] = {copying_model((mona_size){12, 12}, "y", "u", 1, false, &sizes[0]),
                             copying_model((mona_size){20, 16}, seconds[i].in, seconds[i].out,
                                           seconds[i].channels, seconds[i].array, &sizes[1])};
        mona_model model;
        for (int k = 0; k < 2; k++)
            assert_int_equal(mona_model_open(&model, files[k], sizes[k]), MONA_OK);
        assert_true(mona_writer_join(files, 2, &joined, &size, &error));
        assert_int_equal(mona_model_open(&model, joined, size), seconds[i].status);
        free(files[0]), free(files[1]), free(joined);
    }
}

/* An axis of which nothing is read leaves strides of the next unread, not unused. */
static void strides_behind_an_empty_axis_are_checked(void **state)
{
    (void)state;
    const uint32_t none[2] = {MONA_NONE, MONA_NONE};
    model_builder *b = builder_new();
    const uint32_t in = builder_input(b, "x", MONA_U8, 1, 1);
    const uint32_t out = builder_output(b, "y", MONA_U8, 1, 1);
    b->tensors[in].array = b->tensors[out].array = 1;
    b->tensors[in].height = b->tensors[out].height = 2;
    b->tensors[in].width = b->tensors[out].width = 4;
    mona_array_pick pick = {.dims = 2, .source_axis = MONA_NONE, .source_table = MONA_NONE};
    pick.extent[0] = 2, pick.extent[1] = 4;
    for (int d = 0; d < MONA_ARRAY_DIMS; d++)
        pick.table[d] = MONA_NONE;
    pick.table[0] = builder_data(b, none, sizeof none);
    pick.stride[0][0] = 4, pick.stride[0][1] = INT32_MIN;
    const uint32_t record = builder_data(b, &pick, sizeof pick);
    mona_file_op *op = builder_op(b, MONA_OP_ARRAY_PICK, out, 1, &in);
    memset(&op->array, 0, sizeof op->array);
    op->array.record = record;
    size_t size;
    uint8_t *bytes = builder_finish(b, &size);
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_ERR_MODEL);
    ((mona_array_pick *)(bytes + ((mona_file_header *)bytes)->data_offset + record))->stride[0][1] =
        1;
    builder_seal(bytes);
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    free(bytes);
}

/* ---- work ------------------------------------------------------------------------------------ */

/* So many of ARRAY_PICK in a row, of one record and one table of this many positions. */
static uint8_t *chain_of_picks(uint32_t picks, uint32_t positions, size_t *size)
{
    model_builder *b = builder_new();
    mona_array_pick pick = {.dims = 1, .source_axis = MONA_NONE, .source_table = MONA_NONE};
    uint32_t *table = calloc(positions, sizeof *table);
    for (uint32_t i = 0; i < positions; i++)
        table[i] = positions - 1 - i;
    memset(pick.table, 0xff, sizeof pick.table);
    pick.extent[0] = positions;
    pick.stride[0][0] = 1;
    pick.table[0] = builder_data(b, table, positions * sizeof *table);
    const uint32_t record = builder_data(b, &pick, sizeof pick);
    uint32_t from = builder_input(b, "x", MONA_U8, 1, 1);
    const uint32_t last = builder_output(b, "y", MONA_U8, 1, 1);
    for (uint32_t i = 0; i < picks; i++) {
        const uint32_t to = i + 1 < picks ? builder_tensor(b, "t", MONA_U8, 1, 1) : last;
        mona_file_op *op = builder_op(b, MONA_OP_ARRAY_PICK, to, 1, &from);
        op->array = (mona_file_array){.record = record};
        from = to;
    }
    for (uint32_t t = 0; t < b->tensor_count; t++) {
        b->tensors[t].array = b->tensors[t].height = 1;
        b->tensors[t].width = positions;
    }
    free(table);
    return builder_finish(b, size);
}

/* The file with so many headers more, all of the same sections. */
static uint8_t *with_headers(uint8_t *bytes, uint32_t count, size_t *size)
{
    const size_t header = sizeof(mona_file_header), first = (*size + 63) / 64 * 64;
    uint8_t *file = aligned_alloc(64, first + count * header);
    memset(file, 0, first + count * header);
    memcpy(file, bytes, *size);
    *size = first + count * header;
    ((mona_file_header *)file)->file_bytes = *size;
    for (uint32_t i = 0; i < count; i++) {
        mona_file_header *h = (mona_file_header *)(file + first + i * header);
        memcpy(h, file, header);
        h->crc32 = 0;
        h->next = i + 1 < count ? first + (i + 1) * header : 0;
    }
    if (count)
        ((mona_file_header *)file)->next = first;
    builder_seal(file);
    free(bytes);
    return file;
}

static double seconds_to_open(const uint8_t *bytes, size_t size, mona_status expected)
{
    mona_model model;
    const clock_t begin = clock();
    assert_int_equal(mona_model_open(&model, bytes, size), expected);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

static void records_that_share_a_table_open_in_time(void **state)
{
    (void)state;
    static const struct {
        uint32_t picks, positions, headers;
        mona_status status;
    } files[] = {
        {1000, 100000, 0, MONA_ERR_LIMIT},    /* one table for all operators, */
        {1000, 100000, 3000, MONA_ERR_LIMIT}, /* and for all sizes */
        {1000, 10, 6000, MONA_ERR_LIMIT},     /* operators alone */
        {1, 200000, 3000, MONA_ERR_LIMIT},    /* headers */
        {100, 1000, 60, MONA_OK},             /* what a compiler may write */
        {1, 1000, 500, MONA_OK},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t size;
        uint8_t *bytes = with_headers(chain_of_picks(files[i].picks, files[i].positions, &size),
                                      files[i].headers, &size);
        assert_true(seconds_to_open(bytes, size, files[i].status) < 2);
        free(bytes);
    }
}

/* A name of a megabyte, compared with that of every other size. */
static void long_names_of_many_sizes_open_in_time(void **state)
{
    (void)state;
    enum { LENGTH = 1 << 20, HEADERS = 3000 };
    size_t size;
    uint8_t *small = with_headers(chain_of_picks(1, 10, &size), 0, &size);
    uint8_t *bytes = aligned_alloc(64, size + LENGTH);
    mona_file_header *h = (mona_file_header *)bytes;
    memset(bytes, 'a', size + LENGTH);
    memcpy(bytes, small, size);
    bytes[size] = bytes[size + LENGTH - 1] = 0;
    h->strings_offset = size;
    h->strings_bytes = LENGTH;
    h->file_bytes = size += LENGTH;
    h->name = h->producer = 0;
    for (uint32_t t = 0; t < h->tensor_count; t++)
        ((mona_file_tensor *)(bytes + h->tensors_offset))[t].name = 1;
    ((mona_file_op *)(bytes + h->ops_offset))->name = 1;
    bytes = with_headers(bytes, HEADERS, &size);
    assert_true(seconds_to_open(bytes, size, MONA_ERR_LIMIT) < 2);
    free(bytes), free(small);
}

static void misaligned_bytes_are_refused(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = small_model(&size), *block = aligned_alloc(64, (size + 127) / 64 * 64);
    memcpy(block + 8, bytes, size);
    mona_model model;
    assert_int_equal(mona_model_open(&model, block + 8, size), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_model_open(&model, NULL, size), MONA_ERR_ARGUMENT);
    free(block), free(bytes);
}

static void other_files_are_named_as_such(void **state)
{
    (void)state;
    uint8_t text[256] __attribute__((aligned(64))) = "This is a text file, not a model.\n";
    mona_model model;
    assert_int_equal(mona_model_open(&model, text, sizeof text), MONA_ERR_MAGIC);
    size_t size;
    uint8_t *bytes = small_model(&size);
    ((mona_file_header *)bytes)->version = 99;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_ERR_VERSION);
    free(bytes);
}

static void every_status_has_a_text(void **state)
{
    (void)state;
    for (int status = 0; status >= MONA_ERR_STATE; status--)
        assert_string_not_equal(mona_status_text((mona_status)status), "unknown status");
    assert_string_equal(mona_status_text((mona_status)-1000), "unknown status");
}

/* The check value of CRC-32: the checksum of "123456789". */
static void crc_is_the_usual_one(void **state)
{
    (void)state;
    assert_int_equal(mona_crc32(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(mona_crc32(mona_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_itself_opens),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_flipped_byte_is_refused),
        cmocka_unit_test(every_sealed_change_is_survived),
        cmocka_unit_test(random_sealed_changes_are_survived),
        cmocka_unit_test(every_size_of_a_file_runs),
        cmocka_unit_test(a_size_the_file_has_not_is_refused),
        cmocka_unit_test(sealed_changes_of_other_sizes_are_survived),
        cmocka_unit_test(what_other_sizes_take_and_give_is_the_same),
        cmocka_unit_test(strides_behind_an_empty_axis_are_checked),
        cmocka_unit_test(records_that_share_a_table_open_in_time),
        cmocka_unit_test(long_names_of_many_sizes_open_in_time),
        cmocka_unit_test(misaligned_bytes_are_refused),
        cmocka_unit_test(other_files_are_named_as_such),
        cmocka_unit_test(every_status_has_a_text),
        cmocka_unit_test(crc_is_the_usual_one),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
