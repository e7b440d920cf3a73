// SPDX-License-Identifier: Apache-2.0
/* Networks that take a mean from samples before a convolution that pads: the convolution takes it,
 * and the samples' padding is the mean of each channel. */
#include "tests/unit/compiler_check.h"

#include "tests/unit/model_builder.h"
#include "tests/unit/recorded.h"

enum { MAX_CHANNELS = 5 };

typedef struct stem {
    const char *dims; /* of the weights */
    int channels, outputs, filter;
    const char *pads, *strides, *dilations;
    int group;
    bool more;              /* a second layer, which pads, too */
    uint32_t height, width; /* that it is run on */
} stem;

static const stem stems[] = {
    {"8 3 3 3", 3, 8, 27, "1 1 1 1", "1 1", "1 1", 1, false, 22, 27},
    {"16 3 7 7", 3, 16, 147, "3 3 3 3", "2 2", "1 1", 1, true, 41, 35},
    {"4 1 5 5", 1, 4, 25, "2 2 2 2", "1 1", "1 1", 1, true, 23, 45},
    {"6 2 3 3", 2, 6, 18, "2 0 1 3", "1 1", "2 2", 1, true, 19, 30},
    {"8 1 3 3", 4, 8, 9, "1 1 1 1", "1 2", "1 1", 4, true, 17, 21},
    {"96 3 3 3", 3, 96, 27, "1 1 1 1", "1 1", "1 1", 1, true, 7, 6},
};

enum { STEMS = sizeof stems / sizeof *stems };

static const float means[MAX_CHANNELS] = {0.485f, 0.2f, 0.406f, 0.71f, 0.3f};
static const float deviations[MAX_CHANNELS] = {0.229f, 0.4f, 0.225f, 0.3f, 0.5f};

static onnx_builder *net_of(const stem *s)
{
    char dims[16];
    onnx_builder *b = ob_new(14);
    snprintf(dims, sizeof dims, "1 %d 1 1", s->channels);
    ob_input(b, "x", s->channels, 0, 0);
    ob_constant(b, "mean", dims, means);
    ob_constant(b, "deviation", dims, deviations);
    ob_node(b, "Sub", "x mean", "centred");
    ob_node(b, "Div", "centred deviation", "normal");
    ob_constant(b, "w", s->dims,
                noises(b, (size_t)s->outputs * s->filter, 1 / sqrtf((float)s->filter)));
    Onnx__NodeProto *conv = ob_node(b, "Conv", "normal w", s->more ? "c" : "y");
    ob_ints(b, conv, "pads", s->pads);
    ob_ints(b, conv, "strides", s->strides);
    ob_ints(b, conv, "dilations", s->dilations);
    ob_int(b, conv, "group", s->group);
    if (s->more) {
        ob_node(b, "Relu", "c", "a");
        add_conv(b, "a", "y", s->outputs, 4);
    }
    ob_output(b, "y");
    return b;
}

static unsigned convolutions_of(const mona_model *m)
{
    unsigned count = 0;
    for (uint32_t o = 0; o < m->header->op_count; o++)
        count += m->ops[o].kind == MONA_OP_CONV;
    return count;
}

/* The tensor with padding of its own. */
static const mona_file_tensor *padded(const mona_model *m)
{
    const mona_file_tensor *found = NULL;
    for (uint32_t t = 0; t < m->header->tensor_count; t++)
        if (mona_is_padded(m->tensors[t].padding)) {
            assert_null(found);
            found = &m->tensors[t];
        }
    assert_int_equal(m->header->version, found ? MONA_FILE_VERSION_PADDING : MONA_FILE_VERSION);
    return found;
}

static const compiler_options forms[] = {
    {.int8 = true, .output_type = MONA_F16},
    {.output_type = MONA_F16},
    {.input_type = MONA_U16, .output_type = MONA_F16},
};

enum { FORMS = sizeof forms / sizeof *forms };

/* dB of the results' squares to those of their errors. */
static double ratio(const reference_array *expected, const reference_array *found)
{
    double signal = 0, error = 0;
    for (size_t i = 0; i < reference_count(expected); i++) {
        const double d = (double)found->data[i] - (double)expected->data[i];
        signal += (double)expected->data[i] * (double)expected->data[i];
        error += d * d;
    }
    return 10 * log10(signal / error);
}

typedef struct compiled {
    compiler *c;
    uint8_t *bytes;
    size_t size;
    mona_model model;
    reference_array in;
} compiled;

static compiled compile(int net, int form)
{
    const stem *s = &stems[net];
    format_error error = {0};
    seed = 61;
    compiled k = {.c = open_good(net_of(s))};
    make_inputs(k.c, s->height, s->width, &k.in);
    assert_true(compiler_calibrate(k.c, &k.in, &error));
    emit(k.c, &forms[form], &k.bytes, &k.size);
    assert_int_equal(mona_model_open(&k.model, k.bytes, k.size), MONA_OK);
    return k;
}

static void release(compiled *k)
{
    free(k->in.data);
    free(k->bytes);
    compiler_close(k->c);
}

/* Of 8 bits, sums of samples with rounded weights and, beyond the edges, a rounded mean. */
static void the_mean_costs_no_layer(void **state)
{
    (void)state;
    static const double least[FORMS] = {44, 55, 55};
    for (int n = 0; n < STEMS; n++)
        for (int f = 0; f < FORMS; f++) {
            compiled k = compile(n, f);
            reference_array expected, found;
            const mona_file_tensor *t = padded(&k.model);
            assert_int_equal(convolutions_of(&k.model), stems[n].more ? 2 : 1);
            assert_non_null(t);
            assert_int_equal(t->type, f ? MONA_F16 : MONA_U8);
            run_reference(k.c, &k.in, &expected);
            run_engine(k.bytes, k.size, &k.in, &found);
            const double dB = ratio(&expected, &found);
            if (dB < (stems[n].more && !f ? 30 : least[f]))
                fail_msg("net %d, form %d: %g dB", n, f, dB);
            free(expected.data);
            free(found.data);
            release(&k);
        }
}

static bool runs_here(const compiled *k, mona_config how)
{
    void *memory = session_binding_allocate(mona_plan_bytes(&k->model)); /* aligned */
    mona_plan *plan;
    how.sizes[0] = (mona_size){k->in.width, k->in.height};
    const mona_status status = mona_plan_make(&plan, memory, &k->model, &how);
    free(memory);
    return status != MONA_ERR_DEVICE;
}

static void same(const compiled *k, const reference_array *expected, const uint8_t *bytes,
                 size_t size, const mona_config *how, const char *what)
{
    reference_array found;
    run_engine_as(bytes, size, how, &k->in, &found);
    if (largest_difference(expected, &found) > 0)
        fail_msg("%s differs", what);
    free(found.data);
}

/* However maps are cut into strips, tiles and groups, and whoever computes them. */
static void padding_is_the_same_everywhere(void **state)
{
    (void)state;
    static const mona_config configs[] = {
        {.threads = 1, .strip_rows = 1},
        {.threads = 1, .strip_rows = 5},
        {.threads = 2},
        {.threads = 1, .tile_columns = 7},
        {.threads = 2, .cache_bytes = 4096},
        {.cpu = "c"},
        {.cpu = "avx2"},
        {.cpu = "avxvnni"},
        {.cpu = "avx512"},
        {.cpu = "amx"},
        {.cpu = "neon"},
        {.device = &mona_device_model310, .threads = 1, .strip_rows = 1},
        {.device = &mona_device_model310, .tile_columns = 7},
        {.device = &mona_device_model310},
    };
    const mona_config on_chip = {.device = &mona_device_model310};
    for (int n = 0; n < STEMS; n++)
        for (int f = 0; f < FORMS; f++) {
            char what[64];
            reference_array expected;
            compiled k = compile(n, f);
            size_t size;
            run_engine(k.bytes, k.size, &k.in, &expected);
            for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
                snprintf(what, sizeof what, "net %d, form %d: configuration %zu", n, f, i);
                if (runs_here(&k, configs[i]))
                    same(&k, &expected, k.bytes, k.size, &configs[i], what);
            }
            uint8_t *file = recorded_file(&k.model, (mona_size){k.in.width, k.in.height}, &size);
            snprintf(what, sizeof what, "net %d, form %d: its program", n, f);
            same(&k, &expected, file, size, &on_chip, what);
            free(file);
            free(expected.data);
            release(&k);
        }
}

/* ---- frames in parts, and deeper samples ----------------------------------------------------- */

enum { SHADES = 256 };

typedef struct frame {
    mona_buffer buffer;
    size_t bytes;
} frame;

static frame make_frame(const mona_tensor_info *t)
{
    return (frame){make_buffer(t), count_of(t) * mona_type_size(t->type)};
}

static void *row_of(const frame *f, uint32_t y)
{
    return (uint8_t *)f->buffer.data + (ptrdiff_t)y * f->buffer.row_stride;
}

static void check_lines(const session_binding *bound, const frame *in, const frame *whole,
                        const frame *out)
{
    mona_lines lines;
    uint32_t pulled = 0;
    assert_int_equal(mona_plan_lines(bound->plan, &lines), MONA_OK);
    memset(out->buffer.data, 0, out->bytes);
    for (uint32_t y = 0; y < lines.count; y++) {
        mona_buffer line = in->buffer;
        line.data = row_of(in, y);
        assert_int_equal(mona_session_push_line(bound->session, &line), MONA_OK);
        for (bool ready = true; ready && pulled < lines.count; pulled += ready) {
            line = out->buffer;
            line.data = row_of(out, pulled);
            assert_int_equal(mona_session_pull_line(bound->session, &line, &ready), MONA_OK);
        }
    }
    assert_int_equal(pulled, lines.count);
    assert_memory_equal(out->buffer.data, whole->buffer.data, whole->bytes);
}

/* A rectangle in a corner, whose change reaches padding. */
static void check_change(const session_binding *bound, const frame *in, const frame *whole,
                         const frame *out)
{
    const mona_tensor_info t = mona_plan_input(bound->plan, 0);
    const mona_rect rect = {0, t.width - 2, t.height - 2, 2, 2};
    const mona_change change = {&whole->buffer, &rect, 1};
    for (uint32_t y = rect.y; y < t.height; y++)
        for (uint32_t x = rect.x; x < t.width; x++)
            ((uint8_t *)row_of(in, y))[x] ^= 0x55;
    assert_int_equal(mona_session_run_changed(bound->session, &in->buffer, &out->buffer, &change),
                     MONA_OK);
    assert_int_equal(mona_session_run(bound->session, &in->buffer, &whole->buffer), MONA_OK);
    assert_memory_equal(out->buffer.data, whole->buffer.data, whole->bytes);
}

/* Samples of 10 bits that are four times those of 8. */
static void check_deeper(const compiled *k, const frame *in, const frame *whole, const frame *out)
{
    session_binding bound;
    pipeline_error error = {0};
    const mona_config config = {.threads = 1, .sizes = {{k->in.width, k->in.height}}};
    if (!session_binding_open_deep(&bound, &k->model, "test", 10, false, &config, &error))
        fail_msg("%s", error.text);
    const mona_tensor_info t = mona_plan_input(bound.plan, 0);
    frame deep = make_frame(&t);
    for (size_t i = 0; i < count_of(&t); i++)
        ((uint16_t *)deep.buffer.data)[i] = (uint16_t)(4 * ((uint8_t *)in->buffer.data)[i]);
    assert_int_equal(mona_session_run(bound.session, &deep.buffer, &out->buffer), MONA_OK);
    assert_memory_equal(out->buffer.data, whole->buffer.data, whole->bytes);
    free(deep.buffer.data);
    session_binding_close(&bound);
}

static void parts_of_frames_are_padded_alike(void **state)
{
    (void)state;
    for (int n = 0; n < STEMS; n++) {
        compiled k = compile(n, 0);
        const mona_config config = {
            .threads = 1, .sizes = {{k.in.width, k.in.height}}, .cache_bytes = 1 << 24};
        session_binding bound;
        pipeline_error error = {0};
        if (!session_binding_open(&bound, &k.model, "test", &config, &error))
            fail_msg("%s", error.text);
        const mona_tensor_info to = mona_plan_output(bound.plan, 0),
                               from = mona_plan_input(bound.plan, 0);
        const frame in = make_frame(&from), whole = make_frame(&to), out = make_frame(&to);
        for (size_t i = 0; i < in.bytes; i++)
            ((uint8_t *)in.buffer.data)[i] = (uint8_t)(noise() * SHADES / 2 + SHADES / 2);
        assert_int_equal(mona_session_run(bound.session, &in.buffer, &whole.buffer), MONA_OK);
        if (n == 0 || n == 2)
            check_lines(&bound, &in, &whole, &out);
        check_deeper(&k, &in, &whole, &out);
        check_change(&bound, &in, &whole, &out);
        free(in.buffer.data);
        free(whole.buffer.data);
        free(out.buffer.data);
        session_binding_close(&bound);
        release(&k);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static mona_status opened(compiled *k)
{
    mona_model m;
    builder_seal(k->bytes);
    return mona_model_open(&m, k->bytes, k->size);
}

/* In files before there was any, of planes, of what an operator computes, out of range, of channels
 * that there are not, and beside a zero. */
static void wrong_padding_is_refused(void **state)
{
    (void)state;
    compiled k = compile(0, 0), half = compile(0, 1), more = compile(1, 0);
    mona_file_header *h = (mona_file_header *)(void *)k.bytes;
    mona_file_tensor *t =
        (mona_file_tensor *)(void *)(k.bytes + ((const uint8_t *)padded(&k.model) - k.bytes));
    const mona_file_tensor was = *t;
    assert_int_equal(opened(&k), MONA_OK);
    h->version = MONA_FILE_VERSION_ZEROS;
    assert_int_equal(opened(&k), MONA_ERR_MODEL);
    h->version = MONA_FILE_VERSION_PADDING + 1;
    assert_int_equal(opened(&k), MONA_ERR_VERSION);
    h->version = MONA_FILE_VERSION_PADDING;
    t->padding[1] = 256;
    assert_int_equal(opened(&k), MONA_ERR_MODEL);
    *t = was, t->padding[3] = 1;
    assert_int_equal(opened(&k), MONA_ERR_MODEL);
    *t = was, t->zero = 1;
    assert_int_equal(opened(&k), MONA_ERR_MODEL);
    *t = was;
    assert_int_equal(opened(&k), MONA_OK);
    mona_file_tensor *tensors = (mona_file_tensor *)(void *)(k.bytes + h->tensors_offset);
    for (uint32_t i = 0; i < h->input_count + h->output_count; i++) {
        tensors[i].padding[0] = 1;
        assert_int_equal(opened(&k), MONA_ERR_MODEL);
        tensors[i].padding[0] = 0;
    }
    t = (mona_file_tensor *)(void *)(half.bytes +
                                     ((const uint8_t *)padded(&half.model) - half.bytes));
    t->padding[0] = 0x7c00;
    assert_int_equal(opened(&half), MONA_ERR_MODEL);
    h = (mona_file_header *)(void *)more.bytes;
    tensors = (mona_file_tensor *)(void *)(more.bytes + h->tensors_offset);
    for (uint32_t i = h->input_count + h->output_count; i < h->tensor_count; i++)
        if (!mona_is_padded(tensors[i].padding)) { /* made by a convolution */
            tensors[i].padding[0] = 1;
            assert_int_equal(opened(&more), MONA_ERR_MODEL);
            tensors[i].padding[0] = 0;
        }
    assert_int_equal(opened(&more), MONA_OK);
    release(&k);
    release(&half);
    release(&more);
}

/* What reads or makes a tensor with padding: LOADs and CONVs, and none of its residuals. */
static void only_convolutions_read_padding(void **state)
{
    (void)state;
    static const mona_op_kind kinds[] = {MONA_OP_ADD, MONA_OP_MAX_POOL, MONA_OP_AVERAGE_POOL,
                                         MONA_OP_STORE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const bool stores = kinds[i] == MONA_OP_STORE;
        model_builder *b = builder_new();
        const uint32_t in = builder_input(b, "x", MONA_U8, 3, 1),
                       out = builder_output(b, "y", MONA_U8, 3, 1),
                       loaded = builder_tensor(b, "loaded", MONA_U8, 3, 1);
        const uint32_t made = stores ? loaded : builder_tensor(b, "made", MONA_U8, 3, 1);
        mona_model m;
        size_t size;
        b->tensors[loaded].padding[2] = 9;
        const uint32_t operands[2] = {loaded, loaded};
        mona_file_op *load = builder_op(b, MONA_OP_LOAD, loaded, 1, &in);
        load->load.block[0] = 1, load->load.scale[0] = 0x3c00;
        if (!stores) {
            mona_file_op *op =
                builder_op(b, kinds[i], made, kinds[i] == MONA_OP_ADD ? 2 : 1, operands);
            if (kinds[i] == MONA_OP_ADD)
                op->elementwise.scale[0] = op->elementwise.scale[1] = 0x3c00;
            else
                op->pool = builder_pool_3x3();
        }
        builder_op(b, MONA_OP_STORE, out, 1, &made)->store =
            (mona_file_store){.block = 1, .scale = 0x3c00, .maximum = 255};
        uint8_t *file = builder_finish(b, &size);
        mona_file_header *h = (mona_file_header *)(void *)file;
        h->version = MONA_FILE_VERSION_PADDING;
        builder_seal(file);
        assert_int_equal(mona_model_open(&m, file, size), MONA_ERR_MODEL);
        ((mona_file_tensor *)(void *)(file + h->tensors_offset))[loaded].padding[2] = 0;
        builder_seal(file);
        assert_int_equal(mona_model_open(&m, file, size), MONA_OK);
        free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_costs_no_layer),
        cmocka_unit_test(padding_is_the_same_everywhere),
        cmocka_unit_test(parts_of_frames_are_padded_alike),
        cmocka_unit_test(wrong_padding_is_refused),
        cmocka_unit_test(only_convolutions_read_padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
