// SPDX-License-Identifier: Apache-2.0
/* mona run: runs a model on arrays in .npy files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/compile/arrays.h"
#include "apps/cli/commands.h"
#include "formats/compiler/compiler.h"
#include "pipeline/job/model_source.h"
#include "apps/compile/onnx_source.h"
#include "apps/compile/atc.h"
#include "pipeline/job/devices.h"

typedef struct run_job {
    const char *model, *precision, *kernels;
    option_list inputs, outputs;
    option_computing computing;
    bool raw, reference;
    mona_config config;
    const tensor *shapes[MONA_MAX_IO]; /* of an .onnx model's outputs */
    size_t batch;                      /* of an .onnx model; 1: unknown */
    size_t images;                     /* in each input: the model runs once for each */
} run_job;

/* ---- options ------------------------------------------------------------------------------ */

static bool check_options(run_job *job)
{
    const bool onnx = ends_in(job->model, ".onnx");
    if (job->precision && strcmp(job->precision, "fp16"))
        return cli_misuse("--precision: expected fp16, found '%s'; int8 needs "
                          "calibration: mona compile",
                          job->precision);
    if ((job->precision || job->reference) && !onnx)
        return cli_misuse("%s is for .onnx models; found %s",
                          job->reference ? "--reference" : "--precision", job->model);
    if (!job->inputs.count || !job->outputs.count)
        return cli_misuse("expected arrays: -i IN.npy and -o OUT.npy");
    job->computing.device = devices_asked(job->computing.device, job->model);
    return options_config(&job->computing, &job->config);
}

/* All inputs have as many images. */
static bool count_images(run_job *job, const array_sides *sides, input_array *inputs)
{
    for (unsigned i = 0; i < job->inputs.count; i++) {
        const size_t images = array_images(&inputs[i].array, &sides[i], job->batch);
        if (i && images != job->images)
            return cli_fail(0, "%s: expected as many images as in %s, %zu, found %zu",
                            job->inputs.items[i], job->inputs.items[0], job->images, images);
        job->images = images;
    }
    return true;
}

static bool suits(const run_job *job, const npy_array *array, const array_sides *sides)
{
    uint64_t dims[MONA_MAX_RANK];
    for (uint32_t i = 0; i < sides->rank; i++)
        dims[i] = sides->dims[i];
    return !sides->rank || array_suits(array, job->model, sides->name, dims, sides->rank);
}

static bool read_inputs(run_job *job, unsigned wanted_in, unsigned wanted_out,
                        const array_sides *sides, input_array *inputs)
{
    if (job->inputs.count != wanted_in || job->outputs.count != wanted_out)
        return cli_misuse("%s takes %u inputs and gives %u outputs; found %zu -i and %zu -o",
                          job->model, wanted_in, wanted_out, job->inputs.count, job->outputs.count);
    for (unsigned i = 0; i < wanted_in; i++)
        if (!inputs[i].file && !array_open(&inputs[i], job->inputs.items[i]))
            return false;
    bool ok = job->reference || count_images(job, sides, inputs);
    for (unsigned i = 0; ok && i < wanted_in; i++) {
        inputs[i].array = array_first_of(&inputs[i].array, job->images, &sides[i]);
        ok = suits(job, &inputs[i].array, &sides[i]) &&
             array_take(&inputs[i], job->inputs.items[i], &sides[i]);
        inputs[i].array.count *= job->images;
    }
    return ok;
}

/* ---- the engine --------------------------------------------------------------------------- */

/* Image k of planes of several, which are of one type. */
static void *image_of(const planes *all, const planes *one, size_t k)
{
    return (uint8_t *)all->buffer.data + k * one->count * mona_type_size(one->info.type);
}

static mona_status run_images(const run_job *job, plan_planes *one, const plan_planes *all,
                              mona_session *session)
{
    mona_status status = MONA_OK;
    for (size_t k = 0; !status && k < job->images; k++) {
        for (unsigned i = 0; i < job->inputs.count; i++)
            memcpy(one->in[i].buffer.data, image_of(&all->in[i], &one->in[i], k),
                   one->in[i].count * mona_type_size(one->in[i].info.type));
        status = plan_planes_run(one, session);
        for (unsigned i = 0; !status && i < job->outputs.count; i++)
            memcpy(image_of(&all->out[i], &one->out[i], k), one->out[i].buffer.data,
                   one->out[i].count * mona_type_size(one->out[i].info.type));
    }
    return status;
}

static bool run_bound(const run_job *job, const mona_model *model, const session_binding *bound,
                      const input_array *inputs)
{
    plan_planes one = {0}, all = {0};
    bool ok = plan_planes_open(&one, model, bound->plan);
    for (unsigned i = 0; ok && i < job->inputs.count; i++)
        ok = planes_repeat(&all.in[i], one.in[i].info, job->images);
    for (unsigned i = 0; ok && i < job->outputs.count; i++)
        ok = planes_repeat(&all.out[i], one.out[i].info, job->images);
    ok = ok || cli_fail(0, "out of memory");
    for (unsigned i = 0; ok && i < job->inputs.count; i++)
        ok = array_to_planes(&all.in[i], &inputs[i], job->inputs.items[i]);
    if (ok) {
        const mona_status status = run_images(job, &one, &all, bound->session);
        ok = !status || cli_fail(0, "%s: %s", job->model, pipeline_reason(status));
    }
    for (unsigned i = 0; ok && i < job->outputs.count; i++)
        ok = array_write_planes(&all.out[i], job->shapes[i], job->outputs.items[i], job->raw);
    plan_planes_close(&one);
    plan_planes_close(&all);
    return ok;
}

static bool run_engine(run_job *job, const mona_model *model, input_array *inputs)
{
    array_sides sides[MONA_MAX_IO] = {{0}};
    for (unsigned i = 0; i < mona_model_input_count(model); i++) {
        const mona_tensor_info t = mona_model_input(model, i);
        sides[i] = (array_sides){t.channels, t.height, t.width, t.array, t.name, t.rank, t.dims};
    }
    if (!read_inputs(job, mona_model_input_count(model), mona_model_output_count(model), sides,
                     inputs))
        return false;
    for (unsigned i = 0; i < job->inputs.count; i++)
        job->config.sizes[i] = (mona_size){inputs[i].width, inputs[i].height};
    session_binding bound = {0};
    pipeline_error error = {0};
    const bool opened = session_binding_open_deep(
        &bound, model, job->model, 8, devices_or_host(job->computing.device), &job->config, &error);
    if (!opened)
        cli_fail_of(&error);
    const bool ok = opened && run_bound(job, model, &bound, inputs);
    session_binding_close(&bound);
    return ok;
}

/* ---- ONNX --------------------------------------------------------------------------------- */

/* Fills the reference's input, which is float32, and warns where that holds only some integers, or
 * infinity in a number's place, and where an input of integers holds none of the numbers. */
static bool take_floats(reference_array *in, const input_array *from, const compiler_tensor *t,
                        const char *path)
{
    const npy_array *a = &from->array;
    const bool real = element_is_float(a->type);
    const element_type own = t->type == ELEMENT_BOOL ? ELEMENT_UINT8 : t->type;
    const bool whole = !element_is_float(own);
    const double low = whole ? (double)element_lowest(own) : 0,
                 high = whole ? (double)element_highest(own) : 0;
    uint64_t large = 0, outside = 0;
    *in = (reference_array){from->channels, from->height, from->width,
                            malloc(a->count * sizeof(float))};
    for (uint64_t k = 0; in->data && k < a->count; k++) {
        const double value = npy_value(a, k);
        in->data[k] = (float)value;
        outside += whole && !(value >= low - 0.5 && value <= high + 0.5);
        large += real ? isfinite(value) && !isfinite(in->data[k]) : fabs(value) > 0x1p24;
    }
    if (large)
        fprintf(stderr, "warning: %s: %.3g %% of the values lie beyond %s\n", path,
                100.0 * (double)large / (double)a->count,
                real ? "3.4e38, for which float32, in which --reference computes, has infinity"
                     : "16777216, where float32, in which --reference computes, does not hold "
                       "every integer");
    if (outside)
        array_tell_outside(path, (double)outside / (double)a->count, low, high, t->name, "");
    return in->data || cli_fail(0, "out of memory");
}

/* Warns where an output has integers of which float32 holds only some: they may be rounded. */
static void tell_rounded(const compiler_tensor *t, const reference_array *out, const char *path)
{
    const size_t count = reference_count(out);
    size_t large = 0;
    for (size_t k = 0; t->integers && k < count; k++)
        large += fabsf(out->data[k]) >= 0x1p24f;
    if (large)
        fprintf(stderr,
                "warning: %s: %.3g %% of the values of output '%s' lie beyond 16777216, where "
                "float32, in which --reference computes, does not hold every integer\n",
                path, 100.0 * (double)large / (double)count, t->name);
}

static bool run_reference(run_job *job, const compiler *model, input_array *inputs)
{
    reference_array in[MONA_MAX_IO] = {{0}}, out[MONA_MAX_IO] = {{0}};
    format_error error = {0};
    array_sides sides[MONA_MAX_IO] = {{0}};
    for (unsigned i = 0; i < compiler_input_count(model); i++) {
        const compiler_tensor t = compiler_input(model, i);
        sides[i] = (array_sides){t.channels, t.height, t.width, t.array, t.name, 0, NULL};
    }
    bool ok =
        read_inputs(job, compiler_input_count(model), compiler_output_count(model), sides, inputs);
    for (unsigned i = 0; ok && i < job->inputs.count; i++) {
        const compiler_tensor t = compiler_input(model, i);
        ok = take_floats(&in[i], &inputs[i], &t, job->inputs.items[i]);
    }
    if (ok && !compiler_reference(model, in, out, &error))
        ok = cli_fail(0, "%s: %s", job->model, error.text);
    for (unsigned i = 0; ok && i < job->outputs.count; i++) {
        const compiler_tensor t = compiler_output(model, i);
        tell_rounded(&t, &out[i], job->outputs.items[i]);
        ok = array_write_floats(job->outputs.items[i], t.computed, &out[i]);
    }
    reference_arrays_free(in, MONA_MAX_IO);
    reference_arrays_free(out, MONA_MAX_IO);
    return ok;
}

/* Compiles to FP16 with f16 planes, so that only the arithmetic rounds. */
static bool run_compiled(run_job *job, compiler *model, input_array *inputs)
{
    const compiler_options options = {COMPILER_FLOATS};
    format_error error = {0};
    mona_model opened;
    uint8_t *bytes;
    size_t size;
    if (!compiler_emit(model, &options, &bytes, &size, &error))
        return cli_fail(0, "%s: %s", job->model, error.text);
    const mona_status status = kernels_open(&opened, bytes, size);
    const bool ok = status ? cli_fail(0, "%s: the engine refuses the compiled model: %s",
                                      job->model, pipeline_reason(status))
                           : run_engine(job, &opened, inputs);
    free(bytes);
    return ok;
}

static bool run_onnx(run_job *job, input_array *inputs)
{
    const size_t count = job->inputs.count < MONA_MAX_IO ? job->inputs.count : MONA_MAX_IO;
    for (size_t i = 0; i < count; i++)
        if (!array_open(&inputs[i], job->inputs.items[i]))
            return false;
    compiler *model = onnx_source_for(job->model, inputs, count, !job->reference);
    if (!model)
        return false;
    job->batch = (size_t)compiler_images(model);
    for (unsigned i = 0; i < compiler_output_count(model); i++)
        job->shapes[i] = compiler_output(model, i).computed;
    const bool ok =
        job->reference ? run_reference(job, model, inputs) : run_compiled(job, model, inputs);
    compiler_close(model);
    return ok;
}

static bool run_mona(run_job *job, input_array *inputs)
{
    model_source source;
    const bool ok =
        kernels_model(&source, job->model) && run_engine(job, &source.model.model, inputs);
    model_source_close(&source);
    return ok;
}

enum { RUN_REFERENCE = 1 << 0 }; /* the bit of its mode */

static int run(void *values, const command_line *line)
{
    run_job *job = values;
    job->model = line->operands[0];
    if (!options_suit(&command_run, &line->given, job->reference ? RUN_REFERENCE : 0) ||
        !check_options(job))
        return EXIT_USAGE;
    if (!kernels_load(job->kernels))
        return EXIT_FAILED;
    input_array inputs[MONA_MAX_IO] = {0};
    const bool ok = ends_in(job->model, ".onnx") ? run_onnx(job, inputs)
                    : ends_in(job->model, ".om") ? run_om(job->model, job->config.device,
                                                          &job->inputs, &job->outputs, job->raw)
                                                 : run_mona(job, inputs);
    for (unsigned i = 0; i < MONA_MAX_IO; i++)
        free(inputs[i].file);
    return ok ? EXIT_SUCCESS : EXIT_FAILED;
}

static const char arrays[] = "Arrays", model_group[] = "Model", computing[] = "Computing";

static const option options[] = {
    {"--input", "-i", OPTION_FILES, CHANGES_BYTES, offsetof(run_job, inputs), "FILE", arrays,
     .help = ".npy file for an input; given once for each input, in the model's order"},
    {"--output", "-o", OPTION_FILES, CHANGES_BYTES, offsetof(run_job, outputs), "FILE", arrays,
     .help = ".npy file for an output, in the shape that an .onnx model gives it, and NxCxHxW of a "
             ".mona; given once for each output",
     .written = true},
    {"--raw", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(run_job, raw), NULL, arrays,
     .help = "write outputs as they are stored, instead of as real values in float32"},
    {"--precision", NULL, OPTION_STRING, CHANGES_BYTES, offsetof(run_job, precision), "fp16",
     model_group, .help = "precision to compile an .onnx model for, in memory", .values = "fp16"},
    {"--reference", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(run_job, reference), NULL,
     model_group, .help = "run an .onnx model in fp32, with plain loops instead of the engine"},
    {"--kernels", NULL, OPTION_FILE, CHANGES_BYTES, offsetof(run_job, kernels), "FOLDER",
     model_group,
     .help =
         "kernels of your own that the model calls, as python3 -m mona.kernel --build writes them"},
    OPTIONS_COMPUTING(offsetof(run_job, computing), computing),
};

/* The reference has one precision and one way to compute. */
static const option_rule rules[] = {
    {"--raw", .never = RUN_REFERENCE},          {"--precision", .never = RUN_REFERENCE},
    {"--threads", .never = RUN_REFERENCE},      {"--device", .never = RUN_REFERENCE},
    {"--cpu", .never = RUN_REFERENCE},          {"--strip-rows", .never = RUN_REFERENCE},
    {"--tile-columns", .never = RUN_REFERENCE},
};

const command command_run = {
    .name = "run",
    .summary = "run a model on arrays in .npy files",
    .run = run,
    .values = &(run_job){.batch = 1, .images = 1},
    .confined = CONFINED_AT_ONCE,
    .lists = true,
    .usage = "MODEL -i IN.npy -o OUT.npy [OPTION]...",
    .description =
        "Runs a .mona or .onnx model, a built-in one, or on an Ascend 310 an .om model, on "
        "arrays. Float arrays hold "
        "real values and are rounded to the input's steps; a warning says how many "
        "values lie outside the input's range and are clipped. Arrays of the input's "
        "own integer type are taken as they are. Shapes are HxW, CxHxW or 1xCxHxW, or those of the "
        "inputs of an .onnx model, whose open dimensions become those of the arrays. Of NxCxHxW, "
        "the model runs on each image.",
    .examples = "mona run sr_x2_fast -i luma.npy -o luma_x2.npy\n"
                "mona run net.onnx -i x.npy -o y.npy --reference  # in fp32, with plain loops\n",
    .parts = {{OPTIONS(options), RULES(rules)}},
    .modes = {"--reference"},
    .operands_min = 1,
    .operands_max = 1,
    .takes_model = true,
};
