/* mona compile: ONNX -> .mona, with calibration for INT8 and evidence of what the rounding cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibration.h"
#include "commands.h"
#include "formats/file.h"
#include "onnx_source.h"
#include "pipeline/bound.h"
#include "planes.h"
#include "save.h"

typedef struct compile_job {
    const char *input, *output, *precision, *input_type, *output_type, *name, *fusion;
    option_list calibrate, dims;
    long images, bits;
    double range, offset_h, offset_w;
    bool any_size;
    compiler_options options;
    calibration samples;
    compiler *model;
    uint8_t *bytes;
    size_t size;
} compile_job;

/* ---- options ------------------------------------------------------------------------------ */

static bool parse_type(const char *option, const char *text, bool *has, mona_type *type)
{
    *has = text;
    for (int t = 0; text && t <= MONA_U16; t++)
        if (!strcmp(text, mona_type_name((mona_type)t))) {
            *type = (mona_type)t;
            return true;
        }
    return !text ||
           !cli_fail(EXIT_USAGE, "%s: expected u8, s8, f16 or u16, found '%s'", option, text);
}

static bool read_fusion(compile_job *job)
{
    enum { MAX_RULES_BYTES = 1 << 20 };
    format_error error = {0};
    uint8_t *text;
    size_t size;
    if (!job->fusion)
        return true;
    if (!file_read(job->fusion, "a file of fusion rules", MAX_RULES_BYTES, &text, &size, &error))
        return !cli_fail(EXIT_FAILED, "%s", error.text);
    const bool ok = fusion_read(&job->options.fusion, (const char *)text, size, &error);
    free(text);
    return ok || !cli_fail(EXIT_FAILED, "%s: %s", job->fusion, error.text);
}

static bool check_options(compile_job *job)
{
    compiler_options *o = &job->options;
    if (!job->output)
        return !cli_fail(EXIT_USAGE, "expected an output: -o OUT.mona");
    if (!job->precision)
        job->precision = job->calibrate.count ? "int8" : "fp16";
    o->int8 = !strcmp(job->precision, "int8");
    o->range = (float)job->range;
    o->bits = (unsigned)job->bits;
    o->any_size = job->any_size;
    o->resize_offset[0] = (float)job->offset_h;
    o->resize_offset[1] = (float)job->offset_w;
    o->name = job->name;
    return parse_type("--input-type", job->input_type, &o->has_input_type, &o->input_type) &&
           parse_type("--output-type", job->output_type, &o->has_output_type, &o->output_type) &&
           read_fusion(job);
}

static options_result read_options(compile_job *job, int argc, char **argv)
{
    const char *operands[2];
    const options_result result = options_parse(&command_compile, job, argc, argv, operands);
    if (result != OPTIONS_RUN)
        return result;
    job->input = operands[0];
    return check_options(job) ? OPTIONS_RUN : OPTIONS_BAD;
}

/* ---- steps -------------------------------------------------------------------------------- */

static bool open_model(compile_job *job)
{
    job->model = onnx_source_compiler(job->input, &job->dims);
    return job->model;
}

static void free_arrays(reference_array *arrays, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        free(arrays[i].data);
}

static bool calibrate(compile_job *job)
{
    if (!calibration_open(&job->samples, &job->calibrate, (size_t)job->images))
        return false;
    for (size_t i = 0; i < job->samples.count; i++) {
        reference_array inputs[MONA_MAX_IO];
        format_error error = {0};
        if (!calibration_sample(&job->samples, i, job->model, (float)job->range, inputs))
            return false;
        const bool ok = compiler_calibrate(job->model, inputs, &error);
        free_arrays(inputs, compiler_input_count(job->model));
        if (!ok)
            return !cli_fail(EXIT_FAILED, "%s: with %s: %s", job->input, job->samples.files[i],
                             error.text);
    }
    return true;
}

static bool emit(compile_job *job)
{
    format_error error = {0};
    mona_model model;
    if (!compiler_emit(job->model, &job->options, &job->bytes, &job->size, &error))
        return !cli_fail(EXIT_FAILED, "%s: %s", job->input, error.text);
    const mona_status status = mona_model_open(&model, job->bytes, job->size);
    return !status || !cli_fail(EXIT_FAILED, "%s: compiles to something the engine refuses: %s",
                                job->input, mona_status_text(status));
}

/* ---- evidence ----------------------------------------------------------------------------- */

/* Squared error and largest magnitude of one output over all samples. */
typedef struct accuracy {
    double squares, peak;
    size_t count;
} accuracy;

/* What the planes can hold of a value: overshoot that saturates in them is not a loss. */
static double held(const planes *p, double value)
{
    const double step = (double)p->info.scale;
    switch (p->info.type) {
    case MONA_U8:
        return fmax(0, fmin(value, 255 * step));
    case MONA_U16:
        return fmax(0, fmin(value, 65535 * step));
    case MONA_S8:
        return fmax(-128 * step, fmin(value, 127 * step));
    default:
        break;
    }
    return value;
}

static void compare(const planes *found, const reference_array *expected, accuracy *a)
{
    for (size_t i = 0; i < found->count; i++) {
        const double e = held(found, (double)expected->data[i]), d = planes_get(found, i) - e;
        a->squares += d * d;
        a->peak = fmax(a->peak, fabs(e));
    }
    a->count += found->count;
}

/* Runs one sample through the engine and through the fp32 judge. */
static bool measure_sample(const compile_job *job, const mona_model *model, reference_array *inputs,
                           accuracy *results)
{
    planes in[MONA_MAX_IO] = {0}, out[MONA_MAX_IO] = {0};
    mona_buffer in_buffers[MONA_MAX_IO], out_buffers[MONA_MAX_IO];
    reference_array expected[MONA_MAX_IO] = {0};
    const unsigned in_count = mona_model_input_count(model);
    const unsigned out_count = mona_model_output_count(model);
    mona_config config = {0};
    bound_model bound = {0};
    pipeline_error error = {0};
    format_error reference_error = {0};
    for (unsigned i = 0; i < in_count; i++)
        config.sizes[i] = (mona_size){inputs[i].width, inputs[i].height};
    bool ok = bound_open(&bound, model, job->input, &config, &error);
    for (unsigned i = 0; ok && i < in_count; i++) {
        ok = planes_open(&in[i], mona_plan_input(bound.plan, i));
        for (size_t k = 0; ok && k < in[i].count; k++)
            planes_set(&in[i], k, (double)inputs[i].data[k]);
        in_buffers[i] = in[i].buffer;
    }
    for (unsigned i = 0; ok && i < out_count; i++) {
        ok = planes_open(&out[i], mona_plan_output(bound.plan, i));
        out_buffers[i] = out[i].buffer;
    }
    ok = ok && compiler_reference(job->model, inputs, expected, &reference_error);
    ok = ok && mona_session_run(bound.session, in_buffers, out_buffers) == MONA_OK;
    for (unsigned i = 0; ok && i < out_count; i++)
        compare(&out[i], &expected[i], &results[i]);
    for (unsigned i = 0; i < in_count; i++)
        planes_close(&in[i]);
    for (unsigned i = 0; i < out_count; i++)
        planes_close(&out[i]);
    free_arrays(expected, out_count);
    bound_close(&bound);
    if (!ok)
        cli_fail(EXIT_FAILED, "%s: the accuracy could not be measured: %s%s", job->output,
                 error.text, reference_error.text);
    return ok;
}

static void print_accuracy(const compile_job *job, const mona_model *model)
{
    accuracy results[MONA_MAX_IO] = {0};
    for (size_t s = 0; s < job->samples.count; s++) {
        reference_array inputs[MONA_MAX_IO];
        if (!calibration_sample(&job->samples, s, job->model, (float)job->range, inputs))
            return;
        const bool ok = measure_sample(job, model, inputs, results);
        free_arrays(inputs, compiler_input_count(job->model));
        if (!ok)
            return;
    }
    for (unsigned i = 0; i < mona_model_output_count(model) && job->samples.count; i++) {
        const accuracy *a = &results[i];
        const double mean = a->squares / (double)a->count;
        printf("  %s: %.1f dB against fp32 on the calibration images\n",
               mona_model_output(model, i).name,
               mean > 0 ? 10 * log10(a->peak * a->peak / mean) : INFINITY);
    }
}

static void print_summary(const compile_job *job)
{
    mona_model model;
    if (mona_model_open(&model, job->bytes, job->size))
        return;
    printf("%s: %s, %zu bytes\n", job->output, job->precision, job->size);
    for (unsigned i = 0; i < mona_model_input_count(&model) + mona_model_output_count(&model);
         i++) {
        const unsigned inputs = mona_model_input_count(&model);
        const bool input = i < inputs;
        const mona_tensor_info t =
            input ? mona_model_input(&model, i) : mona_model_output(&model, i - inputs);
        printf("  %s %s: %u x %s, step %.6g\n", input ? "in " : "out", t.name, t.channels,
               mona_type_name(t.type), (double)t.scale);
    }
    print_accuracy(job, &model);
}

static int run(int argc, char **argv)
{
    compile_job job = {0};
    const options_result result = read_options(&job, argc, argv);
    if (result != OPTIONS_RUN)
        return result == OPTIONS_HELP ? EXIT_SUCCESS : EXIT_USAGE;
    const bool ok = open_model(&job) && calibrate(&job) && emit(&job) &&
                    save_file(job.output, job.input, job.bytes, job.size);
    if (ok)
        print_summary(&job);
    calibration_close(&job.samples);
    compiler_close(job.model);
    free(job.bytes);
    return ok ? EXIT_SUCCESS : EXIT_FAILED;
}

static const char model_group[] = "Model", calibrating[] = "Calibration", tensors[] = "Tensors";

static const option options[] = {
    {"--output", "-o", OPTION_FILE, offsetof(compile_job, output), "FILE", model_group,
     .help = "where the model goes"},
    {"--name", NULL, OPTION_STRING, offsetof(compile_job, name), "TEXT", model_group,
     .help = "name inside the model"},
    {"--precision", NULL, OPTION_CHOICE, offsetof(compile_job, precision), "int8|fp16", model_group,
     .help = "of weights and activations (default int8 with --calibrate, else fp16)"},
    {"--any-size", NULL, OPTION_FLAG, offsetof(compile_job, any_size), NULL, model_group,
     .help = "take frames of any size even if the model names one"},
    {"--dim", NULL, OPTION_LIST, offsetof(compile_job, dims), "NAME=N", model_group,
     .help = "size of the sides that the model calls NAME; repeatable"},
    {"--fusion", NULL, OPTION_FILE, offsetof(compile_job, fusion), "FILE", model_group,
     .help = "lines NAME:on or NAME:off for rules that mona ops --fusion lists, or for all"},
    {"--resize-offset-h", NULL, OPTION_NUMBER, offsetof(compile_job, offset_h), "X", model_group,
     .help = "added to the input row of every Resize", .initial = "0", .minimum = -1, .maximum = 1},
    {"--resize-offset-w", NULL, OPTION_NUMBER, offsetof(compile_job, offset_w), "X", model_group,
     .help = "added to the input column of every Resize", .initial = "0", .minimum = -1,
     .maximum = 1},
    {"--calibrate", NULL, OPTION_FILES, offsetof(compile_job, calibrate), "PATH", calibrating,
     .help = "image, or folder of images, that shows the range of every value; repeatable"},
    {"--images", NULL, OPTION_WHOLE, offsetof(compile_job, images), "N", calibrating,
     .help = "use N of the calibration images", .initial = "32", .minimum = 1, .maximum = 10000},
    {"--input-type", NULL, OPTION_STRING, offsetof(compile_job, input_type), "TYPE", tensors,
     .help = "of input planes: u8, u16, s8 or f16 (default u8)", .values = "u8 u16 s8 f16"},
    {"--output-type", NULL, OPTION_STRING, offsetof(compile_job, output_type), "TYPE", tensors,
     .help = "of output planes (default u8 for images, else what is computed)",
     .values = "u8 u16 s8 f16"},
    {"--input-range", NULL, OPTION_NUMBER, offsetof(compile_job, range), "X", tensors,
     .help = "real value of the largest sample of a plane", .initial = "1", .minimum = 1e-6,
     .maximum = 1e6},
    {"--bits", NULL, OPTION_WHOLE, offsetof(compile_job, bits), "N", tensors,
     .help = "of u16 samples", .initial = "10", .minimum = 9, .maximum = 16},
};

const command command_compile = {
    .name = "compile",
    .summary = "turn an ONNX model into a .mona model",
    .run = run,
    .usage = "IN.onnx -o OUT.mona [OPTION]...",
    .description = "Turns an ONNX model into a .mona model. Batch normalisation, activations, "
                   "additions and pixel shuffles are merged into the operators before or after "
                   "them.",
    .examples =
        "mona compile net.onnx -o net.mona  # FP16\n"
        "mona compile net.onnx -o net.mona --calibrate photos/  # INT8\n"
        "echo all:off > rules.cfg; mona compile net.onnx -o plain.mona --fusion rules.cfg\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operands_min = 1,
    .operands_max = 1,
};
