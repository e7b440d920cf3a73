/* ONNX's own conformance cases, where ../shared/data has them: whatever the compiler accepts must
 * give the expected numbers, by the judge and by the engine.
 *
 * Cases are brought to the form of a deployed model first: every input but the first becomes a
 * constant, and a batch is run frame by frame. */
#include "compiler_check.h"

#include <dirent.h>

#include "formats/file.h"
#include "formats/onnx_reader.h"

#define CASES "../shared/data/onnx_cases"

enum { CASE_LIMIT = 1 << 24 }; /* bytes of a file */

/* Cases that must be among those that run. */
static const char *const wanted[] = {
    "test_averagepool_2d_ceil",
    "test_averagepool_2d_ceil_last_window_starts_on_pad",
    "test_averagepool_2d_pads_count_include_pad",
    "test_averagepool_2d_precomputed_pads",
    "test_averagepool_2d_precomputed_pads_count_include_pad",
    "test_averagepool_2d_precomputed_same_upper",
    "test_averagepool_2d_same_lower",
    "test_averagepool_2d_same_upper",
    "test_conv_with_autopad_same",
    "test_conv_with_strides_padding",
    "test_globalaveragepool",
    "test_globalaveragepool_precomputed",
    "test_globalmaxpool_precomputed",
    "test_maxpool_2d_default",
    "test_maxpool_2d_dilations",
    "test_maxpool_2d_pads",
    "test_maxpool_2d_precomputed_same_upper",
    "test_maxpool_2d_precomputed_strides",
    "test_maxpool_2d_same_lower",
    "test_maxpool_2d_same_upper",
    "test_maxpool_2d_uint8",
    "test_AvgPool2d",
    "test_AvgPool2d_stride",
    "test_Conv2d_depthwise",
    "test_Conv2d_dilated",
    "test_Conv2d_groups_thnn",
    "test_MaxPool2d",
    "test_operator_flatten",
};

enum { WANTED = sizeof wanted / sizeof *wanted };

static bool ran[WANTED];

/* Cases whose align_corners stretches by the size times the scale as it is, 3.2 columns, where mona
 * takes the columns the result has. */
static bool is_unlike(const char *name)
{
    return !strncmp(name, "test_resize_downsample_scales", 29) && strstr(name, "align_corners");
}

/* ---- files -------------------------------------------------------------------------------- */

/* NULL: there is no such file. */
static Onnx__TensorProto *read_tensor(const char *folder, const char *kind, unsigned index)
{
    char path[1024];
    uint8_t *bytes;
    size_t size;
    format_error error = {0};
    snprintf(path, sizeof path, "%.900s/test_data_set_0/%s_%u.pb", folder, kind, index);
    if (!file_read(path, "a tensor", CASE_LIMIT, &bytes, &size, &error))
        return NULL;
    Onnx__TensorProto *tensor = onnx__tensor_proto__unpack(NULL, size, bytes);
    free(bytes);
    return tensor;
}

static Onnx__ModelProto *read_model(const char *folder)
{
    char path[1024];
    uint8_t *bytes;
    size_t size;
    format_error error = {0};
    snprintf(path, sizeof path, "%.900s/model.onnx", folder);
    if (!file_read(path, "a model", CASE_LIMIT, &bytes, &size, &error))
        return NULL;
    Onnx__ModelProto *model = onnx_parse(bytes, size, &error);
    free(bytes);
    return model;
}

static bool is_constant(const Onnx__GraphProto *g, const char *name)
{
    for (size_t i = 0; i < g->n_initializer; i++)
        if (!strcmp(g->initializer[i]->name, name))
            return true;
    return false;
}

/* The tensor becomes a constant of the graph, which takes it over. */
static void add_constant(Onnx__GraphProto *g, Onnx__TensorProto *tensor, const char *name)
{
    free(tensor->name);
    tensor->name = strdup(name);
    g->initializer = realloc(g->initializer, (g->n_initializer + 1) * sizeof *g->initializer);
    g->initializer[g->n_initializer++] = tensor;
}

/* Makes constants of all inputs but the first, and one frame of its batch. The first is returned;
 * NULL: the case has none that is a tensor. */
static Onnx__TensorProto *deploy(Onnx__GraphProto *g, const char *folder)
{
    Onnx__TensorProto *first = NULL;
    unsigned file = 0;
    for (size_t i = 0; i < g->n_input; i++) {
        const char *name = g->input[i]->name;
        if (is_constant(g, name))
            continue;
        Onnx__TensorProto *tensor = read_tensor(folder, "input", file++);
        Onnx__TypeProto *type = g->input[i]->type;
        if (tensor && first) {
            add_constant(g, tensor, name);
        } else if (tensor && type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE) {
            first = tensor;
            Onnx__TensorShapeProto *shape = type->tensor_type->shape;
            if (shape && shape->n_dim == 4 && shape->dim[0]->dim_value > 1)
                shape->dim[0]->dim_value = 1;
        } else if (tensor) {
            onnx__tensor_proto__free_unpacked(tensor, NULL);
        }
    }
    return first;
}

static float *numbers_of(const Onnx__TensorProto *tensor, size_t *count)
{
    format_error error = {0};
    if (!onnx_tensor_count(tensor, count, &error))
        return NULL;
    float *data = malloc((*count + 1) * sizeof *data);
    if (onnx_tensor_floats(tensor, data, *count, &error))
        return data;
    free(data);
    return NULL;
}

/* ---- one case ----------------------------------------------------------------------------- */

static void assert_close(const char *name, const char *by, const reference_array *found,
                         const float *expected, size_t count, double tolerance)
{
    double largest = 0;
    if ((size_t)found->channels * found->height * found->width != count)
        fail_msg("%s: %s gives %u x %u x %u, expected %zu numbers", name, by, found->channels,
                 found->height, found->width, count);
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)expected[i]));
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)found->data[i] - (double)expected[i]) <= tolerance * largest))
            fail_msg("%s: number %zu is %g by %s, expected %g", name, i, (double)found->data[i], by,
                     (double)expected[i]);
}

/* Runs every frame of the batch and compares, as closely as the suite itself does. */
static void run_frames(const char *name, const char *folder, compiler *c, const uint8_t *bytes,
                       size_t size, const Onnx__TensorProto *input)
{
    size_t in_count, out_count;
    Onnx__TensorProto *output = read_tensor(folder, "output", 0);
    float *in = numbers_of(input, &in_count),
          *expected = output ? numbers_of(output, &out_count) : NULL;
    assert_non_null(in);
    assert_non_null(expected);
    const size_t frames = input->n_dims == 4 && input->dims[0] > 1 ? (size_t)input->dims[0] : 1;
    for (size_t k = 0; k < frames; k++) {
        reference_array x = {(uint32_t)input->dims[1], (uint32_t)input->dims[2],
                             (uint32_t)input->dims[3], in + k * (in_count / frames)};
        const float *want = expected + k * (out_count / frames);
        reference_array judged, computed;
        run_reference(c, &x, &judged);
        assert_close(name, "the judge", &judged, want, out_count / frames, 1e-3);
        run_engine(bytes, size, &x, &computed);
        assert_close(name, "the engine", &computed, want, out_count / frames, 2e-3);
        free(judged.data), free(computed.data);
    }
    onnx__tensor_proto__free_unpacked(output, NULL);
    free(in), free(expected);
}

/* True: it ran. */
static bool try_case(const char *name, const char *folder)
{
    Onnx__ModelProto *model = read_model(folder);
    Onnx__TensorProto *input = model ? deploy(model->graph, folder) : NULL;
    bool done = false;
    if (input && input->n_dims == 4) {
        const size_t packed_size = onnx__model_proto__get_packed_size(model);
        uint8_t *packed = malloc(packed_size), *bytes = NULL;
        size_t size;
        format_error error = {0};
        onnx__model_proto__pack(model, packed);
        compiler *c = compiler_open(packed, packed_size, &error);
        done = c && compiler_output_count(c) == 1 &&
               compiler_emit(c, &half_planes, &bytes, &size, &error);
        if (done)
            run_frames(name, folder, c, bytes, size, input);
        free(bytes), free(packed);
        compiler_close(c);
    }
    onnx__tensor_proto__free_unpacked(input, NULL);
    onnx_release(model);
    return done;
}

static void what_compiles_conforms(void **state)
{
    (void)state;
    static const char *const groups[] = {"node", "pytorch-operator", "pytorch-converted", "simple"};
    unsigned cases = 0;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        char path[512];
        snprintf(path, sizeof path, CASES "/%s", groups[g]);
        DIR *folder = opendir(path);
        if (!folder) {
            print_message("# skip: the conformance cases are not there (%s)\n", path);
            return;
        }
        for (struct dirent *e; (e = readdir(folder));) {
            char one[1024];
            snprintf(one, sizeof one, "%s/%.400s", path, e->d_name);
            if (e->d_name[0] == '.' || is_unlike(e->d_name) || !try_case(e->d_name, one))
                continue;
            cases++;
            for (size_t w = 0; w < WANTED; w++)
                ran[w] = ran[w] || !strcmp(wanted[w], e->d_name);
        }
        closedir(folder);
    }
    for (size_t w = 0; w < WANTED; w++)
        if (!ran[w])
            fail_msg("%s does not run", wanted[w]);
    print_message("# %u conformance cases run\n", cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_compiles_conforms),
    };
    return cmocka_run_group_tests_name("conformance", tests, NULL, NULL);
}
