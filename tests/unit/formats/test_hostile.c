// SPDX-License-Identifier: Apache-2.0
/* Hostile ONNX models: whatever a file contains, the cost of reading it stays in proportion to its
 * size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/fuzz_onnx.c"
#include "formats/file.h"
#include "formats/onnx/onnx_graph.h"
#include "tests/unit/onnx_builder.h"

/* Reads the model, frees it, and returns the error; "": it was accepted. */
static const char *refusal_of(onnx_builder *b, const char *folder)
{
    static format_error error;
    const onnx_read_options options = {.folder = folder};
    onnx_graph g;
    size_t size;
    uint8_t *bytes = ob_pack(b, &size);
    error = (format_error){0};
    onnx_graph_read(&g, bytes, size, &options, &error);
    onnx_graph_free(&g);
    free(bytes);
    ob_free(b);
    return error.text;
}

static void expect(const char *text, const char *expected)
{
    if (!strstr(text, expected))
        fail_msg("'%s' does not say '%s'", text, expected);
}

static double seconds_since(clock_t begin)
{
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

/* ---- names -------------------------------------------------------------------------------- */

enum { PAIRS = 16, BLOCK = 4, COLLISIONS = 1 << PAIRS };

static uint32_t fnv(uint32_t h, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        h = (h ^ (uint8_t)text[i]) * 16777619u;
    return h;
}

/* Finds two blocks of letters, from this state on, that lead to the same hash: there are some among
 * 2^18. */
static void find_pair(uint32_t *state, char pair[2][BLOCK])
{
    enum { SEEN = 1 << 20 };
    uint32_t *seen = calloc(SEEN, sizeof *seen);
    for (uint32_t n = 1; n; n++) {
        char text[BLOCK], other[BLOCK];
        for (int i = 0; i < BLOCK; i++) {
            text[i] = (char)(33 + (n >> 6 * i & 63));
            other[i] = 0;
        }
        const uint32_t h = fnv(*state, text, BLOCK);
        uint32_t *slot = &seen[(h ^ h >> 12) % SEEN];
        for (int i = 0; i < BLOCK; i++)
            other[i] = (char)(33 + (*slot >> 6 * i & 63));
        if (*slot && fnv(*state, other, BLOCK) == h) {
            memcpy(pair[0], text, BLOCK);
            memcpy(pair[1], other, BLOCK);
            *state = h;
            free(seen);
            return;
        }
        *slot = n;
    }
    free(seen);
    fail();
}

/* One of each pair, joined: 2^PAIRS names with the same hash (FNV-1a, 32 bits). */
static char (*colliding_names(void))[PAIRS * BLOCK + 1]
{
    char pairs[PAIRS][2][BLOCK];
    uint32_t state = 2166136261u;
    for (int i = 0; i < PAIRS; i++)
        find_pair(&state, pairs[i]);
    char(*names)[PAIRS * BLOCK + 1] = calloc(COLLISIONS, sizeof *names);
    for (uint32_t n = 0; n < COLLISIONS; n++)
        for (int i = 0; i < PAIRS; i++)
            memcpy(names[n] + i * BLOCK, pairs[i][n >> i & 1], BLOCK);
    return names;
}

static void names_of_one_hash_are_refused_in_time(void **state)
{
    (void)state;
    char(*names)[PAIRS * BLOCK + 1] = colliding_names();
    onnx_names table = {0};
    format_error error = {0};
    const clock_t begin = clock();
    uint32_t added = 0;
    while (added < COLLISIONS && onnx_names_add(&table, names[added], added, &error))
        added++;
    assert_in_range(added, 100, COLLISIONS - 1);
    expect(error.text, "names");
    for (uint32_t n = 0; n < COLLISIONS; n++)
        assert_int_equal(onnx_names_find(&table, names[n]), n < added ? n : UINT32_MAX);
    assert_true(seconds_since(begin) < 2);
    onnx_names_free(&table);

    onnx_builder *b = ob_new(18);
    ob_input(b, "x", 4, 8, 8);
    Onnx__NodeProto *split = ob_node(b, "Split", "x", "y");
    char *outputs[1024];
    for (uint32_t n = 0; n < 1024; n++)
        outputs[n] = names[n];
    split->output = outputs;
    split->n_output = 1024;
    ob_output(b, names[0]);
    expect(refusal_of(b, NULL), "names");
    free(names);
}

/* Names as exporters make them. */
static void usual_names_are_all_found(void **state)
{
    (void)state;
    enum { COUNT = ONNX_MAX_VALUES };
    static const char *const forms[] = {"%u", "/model/layers.%u/self_attn/MatMul_output_0",
                                        "onnx::Conv_%u", "%08x"};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        char(*names)[64] = calloc(COUNT, sizeof *names);
        onnx_names table = {0};
        format_error error = {0};
        for (uint32_t n = 0; n < COUNT; n++) {
            snprintf(names[n], sizeof names[n], forms[f], n);
            assert_true(onnx_names_add(&table, names[n], n, &error));
        }
        for (uint32_t n = 0; n < COUNT; n += 97)
            assert_int_equal(onnx_names_find(&table, names[n]), n);
        onnx_names_free(&table);
        free(names);
    }
}

/* A model whose value, node or input dimension has a name of this length. */
static onnx_builder *model_with_name(char kind, size_t length)
{
    onnx_builder *b = ob_new(18);
    char *name = ob_alloc(b, length + 1);
    memset(name, 'n', length);
    ob_input(b, "x", 4, 0, 8);
    Onnx__NodeProto *node = ob_node(b, "Relu", "x", "y");
    if (kind == 'v')
        node->output[0] = name;
    else if (kind == 'n')
        node->name = name;
    else
        b->inputs[0]->type->tensor_type->shape->dim[2]->dim_param = name;
    ob_output(b, node->output[0]);
    return b;
}

static void names_have_a_longest(void **state)
{
    (void)state;
    for (const char *kind = "vnd"; *kind; kind++) {
        assert_string_equal(refusal_of(model_with_name(*kind, 1024), NULL), "");
        expect(refusal_of(model_with_name(*kind, 1025), NULL),
               "has 1025 characters; names may have 1024");
    }
}

/* ---- other files -------------------------------------------------------------------------- */

/* This many constants with this many elements, all at the beginning of one file beside the
 * model. */
static onnx_builder *external_model(uint32_t tensors, int64_t elements)
{
    const float none[1] = {0};
    onnx_builder *b = ob_new(18);
    for (uint32_t i = 0; i < tensors; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%u", i);
        Onnx__TensorProto *t = ob_constant(b, name, "", none);
        t->n_float_data = 0;
        t->dims[t->n_dims++] = elements;
        t->external_data = ob_alloc(b, sizeof *t->external_data);
        t->external_data[t->n_external_data++] = ob_alloc(b, sizeof **t->external_data);
        onnx__string_string_entry_proto__init(t->external_data[0]);
        t->external_data[0]->key = ob_text(b, "location");
        t->external_data[0]->value = ob_text(b, "weights");
    }
    ob_node(b, "Identity", "w0", "y");
    ob_output(b, "y");
    return b;
}

static void other_files_have_a_total_limit(void **state)
{
    (void)state;
    char folder[] = "/tmp/mona-hostile-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/weights", folder);
    const int file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, (off_t)1 << 40), 0); /* sparse */
    close(file);
    const clock_t begin = clock();
    assert_string_equal(refusal_of(external_model(500, 1024), folder), "");
    expect(refusal_of(external_model(500, 1 << 26), folder),
           "134217728000 bytes of tensors in other files and in functions; at most 2147483648 are "
           "supported");
    expect(refusal_of(external_model(3, 1 << 28), folder), "3221225472 bytes");
    onnx_builder *wrong = external_model(1, 1024);
    wrong->graph.initializer[0]->external_data[0]->key = ob_text(wrong, "offset");
    wrong->graph.initializer[0]->external_data[0]->value = ob_text(wrong, "-5");
    expect(refusal_of(wrong, folder),
           "expected a whole number as the offset of its data in another file, found '-5'");
    assert_true(seconds_since(begin) < 1);
    unlink(path);
    rmdir(folder);
}

/* ---- numbers ------------------------------------------------------------------------------ */

static void sides_of_inputs_are_bounded(void **state)
{
    (void)state;
    static const int64_t sides[] = {((int64_t)1 << 28) + 1, (int64_t)1 << 62, INT64_MAX};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        onnx_builder *b = ob_new(18);
        ob_input(b, "x", sides[i], 0, 0); /* the product depends on open dimensions */
        ob_node(b, "Relu", "x", "y");
        ob_output(b, "y");
        expect(refusal_of(b, NULL), "input 'x' has a dimension of");
    }
}

static const int64_t extremes[] = {
    INT64_MIN, INT64_MIN + 1, -((int64_t)1 << 62), INT32_MIN,        -1,       0, 3, 1 << 24,
    1 << 28,   INT32_MAX,     (int64_t)1 << 32,    (int64_t)1 << 62, INT64_MAX};

enum { MAX_NUMBERS = 64 };

/* The integers of a model: in attributes, constants, and the shapes of inputs. */
typedef struct numbers {
    int64_t *at[MAX_NUMBERS];
    size_t count;
} numbers;

static void add_numbers(numbers *n, int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count && n->count < MAX_NUMBERS; i++)
        n->at[n->count++] = &numbers[i];
}

static numbers find_numbers(Onnx__GraphProto *g)
{
    numbers n = {.count = 0};
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_attribute; k++) {
            Onnx__AttributeProto *a = g->node[i]->attribute[k];
            add_numbers(&n, a->ints, a->n_ints);
            add_numbers(&n, &a->i, a->has_i);
        }
    for (size_t i = 0; i < g->n_initializer; i++) {
        Onnx__TensorProto *t = g->initializer[i];
        if (t->data_type == ELEMENT_INT64)
            add_numbers(&n, (int64_t *)(void *)t->raw_data.data, t->raw_data.len / sizeof(int64_t));
        add_numbers(&n, t->dims, t->n_dims);
    }
    for (size_t i = 0; i < g->n_input; i++)
        for (size_t k = 0; k < g->input[i]->type->tensor_type->shape->n_dim; k++)
            add_numbers(&n, &g->input[i]->type->tensor_type->shape->dim[k]->dim_value, 1);
    return n;
}

static void run_model(const Onnx__ModelProto *model)
{
    const size_t size = onnx__model_proto__get_packed_size(model);
    uint8_t *bytes = malloc(size);
    onnx__model_proto__pack(model, bytes);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
}

/* Each number in each operator's model is set to each extreme, alone and together with the next
 * one. */
static void extreme_numbers_are_survived(void **state)
{
    (void)state;
    static const char folder[] = "tests/fuzz/corpus/onnx";
    DIR *seeds = opendir(folder);
    assert_non_null(seeds);
    unsigned runs = 0;
    for (struct dirent *e; (e = readdir(seeds));) {
        char path[512];
        uint8_t *bytes;
        size_t size;
        format_error error = {0};
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.' || !file_read(path, "a model", 1 << 20, &bytes, &size, &error))
            continue;
        Onnx__ModelProto *model = onnx_parse(bytes, size, &error);
        const numbers n = model ? find_numbers(model->graph) : (numbers){.count = 0};
        for (size_t i = 0; i < n.count; i++)
            for (size_t k = 0; k < sizeof extremes / sizeof *extremes; k++) {
                int64_t *second = n.at[(i + 1) % n.count];
                const int64_t before[2] = {*n.at[i], *second};
                *n.at[i] = extremes[k];
                run_model(model);
                *second = extremes[k];
                run_model(model);
                *second = before[1];
                *n.at[i] = before[0];
                runs += 2;
            }
        onnx_release(model);
        free(bytes);
    }
    closedir(seeds);
    assert_true(runs > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_one_hash_are_refused_in_time),
        cmocka_unit_test(usual_names_are_all_found),
        cmocka_unit_test(names_have_a_longest),
        cmocka_unit_test(other_files_have_a_total_limit),
        cmocka_unit_test(sides_of_inputs_are_bounded),
        cmocka_unit_test(extreme_numbers_are_survived),
    };
    return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
