// SPDX-License-Identifier: Apache-2.0
/* mona compile: ONNX -> .mona, with calibration for INT8 and a measurement of the loss by
 * rounding. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/confine.h"
#include "apps/compile/accuracy.h"
#include "apps/compile/atc.h"
#include "apps/compile/calibration.h"
#include "apps/cli/commands.h"
#include "pipeline/job/model_source.h"
#include "apps/compile/compile_report.h"
#include "apps/compile/programs.h"
#include "formats/compiler/program/emit_c.h"
#include "formats/file.h"
#include "formats/mona_writer.h"
#include "models/embedded.h"
#include "apps/compile/onnx_source.h"
#include "apps/compile/arrays.h"
#include "apps/compile/precision.h"
#include "apps/cli/save.h"
#include "apps/cli/printable.h"

#define COMPILE_TARGETS(FIRST, NEXT)                                                               \
    FIRST(TARGET_HOST, "host")                                                                     \
    NEXT(TARGET_ASCEND310, "ascend310")                                                            \
    NEXT(TARGET_OM, "ascend310-om") /* the vendor's compiler makes it */
typedef enum compile_target {
    TARGET_NONE,
    WORDS_ENUM(COMPILE_TARGETS) TARGET_CPUS /* those of CPU_TARGETS from here on */
} compile_target;

#define TARGET_NAME(constant, word) [constant] = word,
#define COMMA ,
static const char *const target_names[] = {COMPILE_TARGETS(TARGET_NAME, TARGET_NAME)[TARGET_CPUS] =
                                               CPU_TARGET_LIST(CPU_TARGET_NAME, COMMA)};

typedef struct compile_job {
    precision_request request;
    precision_result chosen;
    const char *input, *output, *input_type, *output_type, *name, *fusion, *report;
    const char *mean, *deviation, *soc, *kernels;
    compile_target target;
    range_rule ranges;
    option_list atc;
    option_list calibrate, dims, sizes;
    long images, bits;
    double range, tolerance;
    bool emits_model, in_rgb;
    bool any_size, equalise, learn, picture;
    bool compiled; /* the input is a .mona model */
    unsigned equalised;
    compiler_options options;
    calibration_feed feed;
    calibration samples;
    compiler *model;
    uint8_t *bytes;
    size_t size, calibrated;
    long release; /* 0: not told */
} compile_job;

/* ---- options ------------------------------------------------------------------------------ */

/* Planes hold the network's own numbers unless an option says otherwise. */
static bool parse_type(const char *option, const char *text, bool picture, mona_type *type)
{
    *type = text ? type_named(text) : picture ? MONA_U8 : MONA_F16;
    return *type <= MONA_U16 ||
           cli_misuse("%s: expected u8, s8, f16 or u16, found '%s'", option, text);
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
        return cli_fail(0, "%s", error.text);
    const bool ok = fusion_read(&job->options.fusion, (const char *)text, size, &error);
    free(text);
    return ok || cli_fail(0, "%s: %s", job->fusion, error.text);
}

static bool read_kernels(const compile_job *job)
{
    if (!kernels_list(job->kernels))
        return false;
    if (job->target == TARGET_ASCEND310)
        kernels_keep_apart();
    if (!job->kernels || !job->calibrate.count || kernels_run())
        return true;
    return cli_misuse("--kernels: mona has no code of some, so it cannot calibrate a network with "
                      "them: expected no --calibrate, or libraries that python3 -m mona.kernel "
                      "--build writes");
}

static bool read_types(compile_job *job)
{
    compiler_options *o = &job->options;
    if (!parse_type("--input-type", job->input_type, job->picture, &o->input_type) ||
        !parse_type("--output-type", job->output_type, job->picture, &o->output_type))
        return false;
    const bool floats = o->input_type == MONA_F16 && o->output_type == MONA_F16;
    if (floats && o->range != 1 && !job->calibrate.count)
        return cli_misuse("--input-range: floats are the network's own numbers: expected "
                          "--picture or --input-type u8, or pictures to --calibrate");
    return true;
}

/* Planes of samples are normalised by the network itself, planes of other types hold normalised
 * numbers. */
static bool read_feed(compile_job *job)
{
    compiler_options *o = &job->options;
    calibration_feed *feed = &job->feed;
    feed->range = (float)job->range;
    feed->planes = o->input_type;
    feed->top = (double)((1L << job->bits) - 1);
    if (!calibration_feed_read(feed, job->mean, job->deviation, !job->in_rgb))
        return false;
    if (!feed->normalised)
        return true;
    if (o->range != 1 && o->output_type == MONA_F16)
        return cli_misuse("--input-range: --mean and --deviation say what samples stand for");
    feed->inside = o->input_type == MONA_U8 || o->input_type == MONA_U16;
    if (feed->inside)
        o->input_range = feed->range = 255;
    else if (o->input_type == MONA_S8)
        o->input_range = calibration_feed_range(feed);
    else if (!job->calibrate.count)
        return cli_misuse("--mean and --deviation are of samples, and the input takes the "
                          "network's own numbers: expected --input-type u8, or --calibrate");
    return true;
}

static bool emits_c(const compile_job *job)
{
    return !job->emits_model;
}

static bool makes_om(const compile_job *job)
{
    return job->target == TARGET_OM;
}

/* A model that is compiled already can still get programs, or be written as C. */
static bool check_compiled(const compile_job *job)
{
    if (!job->target)
        return cli_misuse(
            "%s is compiled already: expected an ONNX model; or --target, to add plans "
            "and programs to this one, or to write it as C (--emit c)",
            job->input);
    return true;
}

static bool check_emit(const compile_job *job)
{
    if (!emits_c(job))
        return true;
    if (job->sizes.count > 1)
        return cli_misuse("--emit c works for one size: expected one --size");
    const char *target = target_names[job->target];
    if (job->target < TARGET_CPUS)
        return cli_misuse("--emit c: expected --target %s, found %s", CPU_TARGETS,
                          job->target ? target : "none");
    if (cpu_target_find(target)->isa.tiles)
        return cli_misuse("--emit c: a program has to ask the system for the tiles of %s, which C "
                          "alone does not: expected --target x86-avx512",
                          target);
    return emit_source_check(job->output);
}

static bool check_om(const compile_job *job)
{
    if (job->compiled || !ends_in(job->input, ".onnx"))
        return cli_misuse("--target %s: expected an ONNX model, found %s", target_names[TARGET_OM],
                          job->input);
    if (!ends_in(job->output, ".om"))
        return cli_misuse("--target %s: expected -o OUT.om, found %s", target_names[TARGET_OM],
                          job->output);
    return job->picture ||
           cli_misuse("--target %s: frames are sent to it as 8-bit samples: expected --picture",
                      target_names[TARGET_OM]);
}

/* Bits of its modes. */
enum {
    COMPILE_AGAIN = 1 << 0,
    COMPILE_OM = 1 << 1,
    COMPILE_FP16 = 1 << 2,
    COMPILE_INT8 = 1 << 3,
    COMPILE_AUTO = 1 << 4,
    COMPILE_U16 = 1 << 5,
};

static bool is_u16(const char *type)
{
    return type && !strcmp(type, "u16");
}

static unsigned modes_of(const compile_job *job)
{
    const precision_request *r = &job->request;
    const bool int8 = r->precision ? r->precision != PRECISION_FP16 : job->calibrate.count != 0;
    const unsigned made = makes_om(job) ? COMPILE_OM : job->compiled ? COMPILE_AGAIN : 0;
    return made |
           (int8            ? COMPILE_INT8
            : r->pins.count ? 0
                            : COMPILE_FP16) |
           (r->precision == PRECISION_AUTO ? COMPILE_AUTO : 0) |
           (is_u16(job->input_type) || is_u16(job->output_type) ? COMPILE_U16 : 0);
}

static bool check_sizes(const option_list *sizes)
{
    mona_size at[OPTION_LIST_MAX];
    for (size_t i = 0; i < sizes->count; i++) {
        if (!options_size(sizes->items[i], MONA_MAX_SIDE, &at[i]))
            return false;
        for (size_t k = 0; k < i; k++)
            if (at[k].width == at[i].width && at[k].height == at[i].height)
                return cli_misuse("--size %s is given twice", sizes->items[i]);
    }
    return true;
}

static bool check_options(compile_job *job, const option_set *given)
{
    compiler_options *o = &job->options;
    precision_request *r = &job->request;
    job->compiled = embedded_model_find(job->input) || ends_in(job->input, ".mona");
    if (!options_suit(&command_compile, given, modes_of(job)) || !check_sizes(&job->sizes))
        return false;
    r->target = target_names[job->target == TARGET_ASCEND310 ? TARGET_ASCEND310 : TARGET_HOST];
    if (!job->output)
        return cli_misuse("expected an output: -o OUT.mona");
    if (!check_emit(job))
        return false;
    if (makes_om(job))
        return check_om(job);
    if (job->compiled)
        return check_compiled(job);
    if (!r->precision)
        r->precision = job->calibrate.count ? PRECISION_INT8 : PRECISION_FP16;
    if (!job->calibrate.count && r->precision == PRECISION_AUTO)
        return cli_misuse("--precision auto needs calibration images: expected --calibrate");
    if ((job->equalise || job->learn) && job->sizes.count > 1)
        return cli_misuse("%s works for one size only: expected one --size",
                          job->equalise ? "--equalise" : "--learn-rounding");
    r->name = job->input;
    o->ranges = job->ranges;
    o->correct_bias = true;
    o->range = (float)job->range;
    o->bits = (unsigned)job->bits;
    o->any_size = job->any_size;
    o->name = job->name;
    return read_types(job) && read_feed(job) && read_fusion(job) && read_kernels(job);
}

/* ---- steps -------------------------------------------------------------------------------- */

static compiler *open_size(const compile_job *job, size_t index)
{
    return onnx_source_compiler(job->input, &job->dims,
                                index < job->sizes.count ? job->sizes.items[index] : NULL,
                                &job->options.fusion, &job->feed, true);
}

static bool open_model(compile_job *job)
{
    job->model = open_size(job, 0);
    return job->model;
}

/* Shows sample n to the model: images are sorted by name, and similar images often have similar
 * names. So they are taken from all over the set, in an order that depends only on their number. Of
 * those that rounding is learnt from, every fourth is held out. */
static bool take_sample(compile_job *job, size_t n, bool learn)
{
    reference_array inputs[MONA_MAX_IO];
    format_error error = {0};
    const size_t index = calibration_spread(&job->samples, n);
    if (!calibration_sample(&job->samples, index, job->model, inputs))
        return false;
    const bool ok = learn ? compiler_learn(job->model, &job->options, inputs, n % 4 == 3, &error)
                          : compiler_calibrate(job->model, inputs, &error);
    reference_arrays_free(inputs, compiler_input_count(job->model));
    return ok || cli_fail(0, "%s: with %s: %s", job->input, calibration_name(&job->samples, index),
                          error.text);
}

static bool calibrate_all(compile_job *job)
{
    enum { SETTLED = 4 }; /* images in a row that change no range */
    job->calibrated = 0;
    for (size_t still = 0; job->calibrated < job->samples.count && still < SETTLED;) {
        if (!take_sample(job, job->calibrated, false))
            return false;
        job->calibrated++;
        const double moved =
            job->tolerance > 0 ? compiler_movement(job->model, job->options.ranges) : 1;
        still = moved * 100 <= job->tolerance ? still + 1 : 0;
    }
    return true;
}

static bool learn_all(compile_job *job)
{
    format_error error = {0};
    bool ok = job->samples.count >= 4 ||
              cli_fail(0,
                       "--learn-rounding holds back every fourth image of --calibrate: expected "
                       "at least 4, found %zu",
                       job->samples.count);
    for (size_t n = 0; ok && n < job->samples.count; n++)
        ok = take_sample(job, n, true);
    return ok && (compiler_learn_rounding(job->model, &job->options, &error) ||
                  cli_fail(0, "%s: %s", job->input, error.text));
}

static bool calibrate(compile_job *job)
{
    format_error error = {0};
    if (!calibration_feed_suits(&job->feed, job->model, job->input) ||
        !calibration_open(&job->samples, &job->calibrate, (size_t)job->images, &job->feed,
                          job->model))
        return false;
    if (!calibrate_all(job))
        return false;
    if (job->equalise && !compiler_equalise(job->model, &job->options, &job->equalised, &error))
        return cli_fail(0, "%s: %s", job->input, error.text);
    return (!job->equalise || calibrate_all(job)) && (!job->learn || learn_all(job));
}

static bool set_precision(compile_job *job)
{
    return precision_set(&job->request, job->model, &job->options, &job->samples, &job->chosen);
}

static bool emit_one(const compile_job *job, compiler *model, const calibration *samples,
                     uint8_t **bytes, size_t *size)
{
    format_error error = {0};
    mona_model opened;
    if (!compiler_emit(model, &job->options, bytes, size, &error))
        return cli_fail(0, "%s: %s", job->input, error.text);
    const mona_status status = kernels_open(&opened, *bytes, *size);
    if (status)
        return cli_fail(0, "%s: the engine refuses the compiled model: %s", job->input,
                        mona_status_text(status));
    return sanity_check(model, *bytes, *size, job->input, samples);
}

/* Emits the model at another size, rounded like the first. */
static bool emit_like_first(const compile_job *job, size_t index, uint8_t **bytes)
{
    const calibration none = {.feed = job->feed}; /* samples may be arrays of the first size */
    size_t size;
    format_error error = {0};
    compiler *other = open_size(job, index);
    if (!other)
        return false;
    bool ok = compiler_adopt(other, job->model, &job->options, &error);
    if (!ok)
        cli_fail(EXIT_FAILED, "%s at %s: %s", job->input, job->sizes.items[index], error.text);
    ok = ok && emit_one(job, other, &none, bytes, &size);
    compiler_close(other);
    return ok;
}

static bool join(compile_job *job, uint8_t *const *files, size_t count)
{
    format_error error = {0};
    mona_model opened;
    job->bytes = NULL; /* files[0] has it now */
    if (!mona_writer_join(files, count, &job->bytes, &job->size, &error))
        return cli_fail(0, "%s: %s", job->input, error.text);
    const mona_status status = kernels_open(&opened, job->bytes, job->size);
    return !status || cli_fail(0, "%s: the sizes do not fit into one file: %s", job->input,
                               mona_status_text(status));
}

static bool emit(compile_job *job)
{
    uint8_t *files[OPTION_LIST_MAX] = {0};
    size_t count = 1;
    if (!emit_one(job, job->model, &job->samples, &job->bytes, &job->size))
        return false;
    files[0] = job->bytes;
    bool ok = true;
    for (; ok && count < job->sizes.count; count++) {
        job->options.like = files[count - 1];
        ok = emit_like_first(job, count, &files[count]);
    }
    job->options.like = NULL;
    if (count == 1)
        return true;
    ok = ok && join(job, files, count);
    for (size_t i = job->bytes == files[0]; i < count; i++)
        free(files[i]);
    return ok;
}

/* The operand is a model already, to which programs are added. */
static bool take_compiled(compile_job *job)
{
    model_source source;
    const bool ok = options_model(&source, job->input);
    if (ok) {
        job->size = (size_t)source.model.model.header->file_bytes;
        job->bytes = file_alloc(job->size);
        if (job->bytes)
            memcpy(job->bytes, source.model.model.file, job->size);
    }
    model_source_close(&source);
    return ok && (job->bytes || cli_fail(0, "out of memory"));
}

/* ---- what became of it --------------------------------------------------------------------- */

/* For a quantised model: how many layers have its scales, and what else does not. */
static void print_quantised(const compile_job *job)
{
    const fusion_log *log = compiler_log(job->model);
    unsigned prequantised = 0, exact = 0, near = 0;
    for (size_t i = 0; i < log->count; i++) {
        const fusion_event *e = &log->events[i];
        prequantised += e->outcome != NULL;
        exact += e->outcome && e->steps == 0;
        near += e->outcome && e->steps == 1;
    }
    if (prequantised)
        printf("  quantised by the model: %u results with its own scales, %u bit-exact, %u within "
               "one step, %u within more\n",
               prequantised, exact, near, prequantised - exact - near);
    for (size_t i = 0; i < log->count; i++) {
        const fusion_event *e = &log->events[i];
        if (e->rule == FUSION_QUANTISED && e->why_not) {
            printable_print(stdout, "  %s (%s) is an operator of its own: %s", e->node, e->op_type,
                            e->why_not);
            putchar('\n');
        }
    }
}

/* The value of the largest sample of planes. */
static double highest(const compile_job *job, const mona_tensor_info *t)
{
    return t->type == MONA_U16 ? (double)t->scale * ((1 << job->bits) - 1) : planes_high(t);
}

/* Values that planes cannot hold are lost: of an output unless calibration saw none, of an input
 * only if it saw some, since samples of pictures all fit. */
static void print_clipping(const compile_job *job, const mona_tensor_info *t, bool input,
                           unsigned index)
{
    const compiler_tensor about =
        input ? compiler_input(job->model, index) : compiler_output(job->model, index);
    const double half = (double)t->scale / 2, low = planes_low(t), high = highest(job, t);
    const bool seen = about.low <= about.high;
    if (seen ? (double)about.low >= low - half && (double)about.high <= high + half : input)
        return;
    printf("      values outside %g to %g are clipped", low, high);
    if (seen)
        printf("; calibration saw %g to %g", (double)about.low, (double)about.high);
    printf("; --%s-type f16 keeps them\n", input ? "input" : "output");
}

/* As in ONNX Runtime, the computed shape counts. */
static void print_contradiction(const compile_job *job, unsigned index)
{
    const compiler_tensor output = compiler_output(job->model, index);
    char declared[128], computed[128];
    if (!output.declared)
        return;
    tensor_text(output.declared, declared, sizeof declared);
    tensor_text(output.computed, computed, sizeof computed);
    printf("      the model declares it as %s, but computes %s\n", declared, computed);
}

static void print_tensor(const compile_job *job, const mona_tensor_info *t, bool input,
                         unsigned index)
{
    const bool samples = !t->array && t->type != MONA_F16;
    printable_print(stdout, "  %s %s: %u x %s, scale %.6g", input ? "in " : "out", t->name,
                    t->channels, mona_type_name(t->type), (double)t->scale);
    if (samples)
        printf(", for values %g to %g", planes_low(t), highest(job, t));
    printf("\n");
    if (samples)
        print_clipping(job, t, input, index);
}

/* A program or plan is for one size. Where there is none, --target only tells --precision auto
 * which device to look at. */
static bool wants_programs(const compile_job *job)
{
    mona_model model;
    return job->target && !emits_c(job) &&
           (job->sizes.count || job->compiled ||
            (!kernels_open(&model, job->bytes, job->size) && mona_model_input(&model, 0).width));
}

static void print_summary(const compile_job *job)
{
    mona_model model;
    if (kernels_open(&model, job->bytes, job->size) || (job->compiled && emits_c(job)))
        return;
    if (job->compiled) {
        printable_put(stdout, job->output);
        printf(": %zu bytes\n", job->size);
        programs_print(&model);
        return;
    }
    printable_put(stdout, job->output);
    printf(": %s, %zu bytes\n", precision_made(job->request.precision, job->model, "int8 and fp16"),
           job->size);
    if (compiler_images(job->model) > 1)
        printf("  a batch of %lld: compiled for one image, which mona run and Python repeat for "
               "each\n",
               (long long)compiler_images(job->model));
    programs_print(&model);
    if (job->target && !emits_c(job) && !wants_programs(job))
        printf("  nothing for %s alone: the model takes frames of any size; --size WxH adds it\n",
               target_names[job->target]);
    precision_print_exceptions(&job->request, job->model);
    for (unsigned i = 0; i < mona_model_input_count(&model); i++) {
        const mona_tensor_info t = mona_model_input(&model, i);
        print_tensor(job, &t, true, i);
    }
    for (unsigned i = 0; i < mona_model_output_count(&model); i++) {
        const mona_tensor_info t = mona_model_output(&model, i);
        print_tensor(job, &t, false, i);
        print_contradiction(job, i);
    }
    if (job->calibrated)
        printf("  calibrated on %zu of %zu images%s\n", job->calibrated, job->samples.count,
               job->calibrated < job->samples.count ? ": no range changed any more" : "");
    if (job->equalise)
        printf("  equalised between %u pairs of convolutions\n", job->equalised);
    print_quantised(job);
    precision_print(&job->request, job->model, &job->chosen);
    if (job->kernels && !kernels_run())
        puts("  with kernels of your own, which mona has no code of: their results are not "
             "compared");
    else
        accuracy_print(job->model, job->bytes, job->size, job->output, &job->samples);
}

/* Called last, since it emits another model. */
static bool report(const compile_job *job)
{
    const compile_report r = {.onnx = job->input,
                              .output = job->output,
                              .precision = job->request.precision,
                              .options = &job->options,
                              .bytes = job->bytes,
                              .size = job->size};
    return !job->report || compile_report_save(&r, job->model, job->report);
}

static bool save(const compile_job *job)
{
    mona_model model;
    if (job->release)
        mona_writer_set_release(job->bytes, (uint32_t)job->release);
    if (!emits_c(job))
        return save_file(job->output, job->bytes, job->size);
    return kernels_open(&model, job->bytes, job->size) == MONA_OK &&
           emit_source(job->input, &model, job->output, target_names[job->target],
                       job->sizes.count ? job->sizes.items[0] : NULL);
}

static int compile_om(const compile_job *job)
{
    const char *size = job->sizes.count == 1 ? job->sizes.items[0] : NULL;
    atc_request request = {.soc = job->soc, .more = &job->atc, .samples.range = (float)job->range};
    if (!calibration_feed_read(&request.samples, job->mean, job->deviation, false))
        return EXIT_USAGE;
    if (request.samples.normalised && job->range != 1) {
        cli_misuse("--input-range: --mean and --deviation say what samples stand for");
        return EXIT_USAGE;
    }
    compiler *model = onnx_source_compiler(job->input, &job->dims, size, NULL, NULL, false);
    const bool ok = model && calibration_feed_suits(&request.samples, model, job->input) &&
                    atc_compile(job->input, model, job->output, &job->sizes, &request);
    compiler_close(model);
    return ok ? EXIT_SUCCESS : EXIT_FAILED;
}

static int run(void *values, const command_line *line)
{
    compile_job *job = values;
    job->input = line->operands[0];
    if (!check_options(job, &line->given))
        return EXIT_USAGE;
    confine(&command_compile, job, line->operands, makes_om(job) ? CONFINE_NOT : 0);
    if (makes_om(job))
        return compile_om(job);
    bool ok =
        (job->compiled ? take_compiled(job)
                       : open_model(job) && calibrate(job) && set_precision(job) && emit(job)) &&
        (!wants_programs(job) || programs_add(job->input, target_names[job->target], &job->bytes,
                                              &job->size, &job->sizes)) &&
        save(job);
    if (ok)
        print_summary(job);
    ok = ok && (job->compiled || report(job));
    calibration_close(&job->samples);
    compiler_close(job->model);
    free(job->bytes);
    return ok ? EXIT_SUCCESS : EXIT_FAILED;
}

static const char model_group[] = "Model", precision_group[] = "Precision",
                  calibrating[] = "Calibration", tensors[] = "Tensors";

static const option options[] = {
    {"--output", "-o", OPTION_FILE, CHANGES_BYTES, offsetof(compile_job, output), "FILE",
     model_group, .help = "file for the model", .written = true},
    {"--name", NULL, OPTION_STRING, CHANGES_BYTES, offsetof(compile_job, name), "TEXT", model_group,
     .help = "name to store in the model"},
    {"--precision", NULL, OPTION_CHOICE, CHANGES_BYTES, offsetof(compile_job, request.precision),
     WORDS_TEXT(PRECISIONS), precision_group,
     .help = "precision of weights and activations; auto finds the fastest mix that loses no more "
             "than --max-drop (default: int8 with --calibrate, else fp16)"},
    {"--max-drop", NULL, OPTION_STRING, CHANGES_BYTES, offsetof(compile_job, request.max_drop),
     "LOSS", precision_group,
     .help = "how much auto may lose: dB of PSNR, or % of decisions that change (default 0.1dB, "
             "for classifiers 1%)"},
    {"--target", NULL, OPTION_CHOICE, CHANGES_BYTES, offsetof(compile_job, target),
     WORDS_TEXT(COMPILE_TARGETS) "|" CPU_TARGETS, model_group,
     .help = "for every --size, or the only one of the model, write into the model an AI Core "
             "program (ascend310) or a plan for "
             "this or another CPU, from which libmona.a alone makes sessions; --precision auto "
             "looks at the speed of ascend310 or of this machine; ascend310-om: let the vendor's "
             "compiler, atc, make an .om",
     .again = "to add plans for another, compile the written model again"},
    {"--soc", NULL, OPTION_STRING, CHANGES_BYTES, offsetof(compile_job, soc), "NAME", model_group,
     .help = "the chip that atc compiles for: Ascend310, Ascend310P3, Ascend310B4 and what else it "
             "knows (default: this machine's, else Ascend310)"},
    {"--atc", NULL, OPTION_LIST, CHANGES_BYTES, offsetof(compile_job, atc), "OPTION=VALUE",
     model_group,
     .help =
         "an option for atc itself, such as precision_mode=allow_mix_precision; can be given more "
         "than once"},
    {"--emit", NULL, OPTION_SWITCH, CHANGES_BYTES, offsetof(compile_job, emits_model), "mona|c",
     model_group,
     .help = "c: write NAME.c and NAME.h, the network for one --target and --size as constants, to "
             "be linked with libmona.a",
     .initial = "mona"},
    {"--pin", NULL, OPTION_LIST, CHANGES_BYTES, offsetof(compile_job, request.pins),
     "LAYER=fp16|int8", precision_group,
     .help = "precision of one layer, by its name in the model; can be given more than once"},
    {"--any-size", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(compile_job, any_size), NULL,
     model_group, .help = "take frames of any size, even if the model names one size"},
    {"--dim", NULL, OPTION_LIST, CHANGES_BYTES, offsetof(compile_job, dims), "NAME=N", model_group,
     .help = "size of the dimensions that the model calls NAME; can be given more than once"},
    {"--size", NULL, OPTION_LIST, CHANGES_BYTES, offsetof(compile_job, sizes), "WxH", model_group,
     .help =
         "width and height of images where the model leaves them open; given more than once, one "
         "file serves all the sizes and holds the weights once (calibration uses the first)"},
    {"--fusion", NULL, OPTION_FILE, CHANGES_BYTES, offsetof(compile_job, fusion), "FILE",
     model_group,
     .help = "file with lines NAME:on or NAME:off for the rules that mona ops --fusion lists; the "
             "name all stands for every rule"},
    {"--kernels", NULL, OPTION_FILE, CHANGES_BYTES, offsetof(compile_job, kernels), "FOLDER",
     model_group,
     .help =
         "folder of kernels of your own (*.kernel, from python3 -m mona.kernel), which nodes of "
         "other domains call by name"},
    {"--report", NULL, OPTION_FILE, KEEPS_BYTES, offsetof(compile_job, report), "FILE", model_group,
     .help = "write what each rule did, the memory and the layers: a page if FILE ends in .html, "
             "else JSON",
     .written = true},
    {"--release", NULL, OPTION_WHOLE, CHANGES_BYTES, offsetof(compile_job, release), "N",
     model_group,
     .help = "store that this is version N of the model, by which devices refuse an older one "
             "(mona sign)",
     .minimum = 1, .maximum = UINT32_MAX},
    {"--calibrate", NULL, OPTION_FILES, CHANGES_BYTES, offsetof(compile_job, calibrate), "PATH",
     calibrating,
     .help = "image, clip, .npy array (of one input or of N), or folder of images and arrays, from "
             "which the range of every value is measured; can be given more than once; "
             "INPUT=FILE.npy for each of several inputs"},
    {"--channel-order", NULL, OPTION_SWITCH, CHANGES_BYTES, offsetof(compile_job, in_rgb),
     "rgb|bgr", calibrating, .help = "order of the colours in inputs with three channels",
     .initial = "rgb", .needs = "--calibrate"},
    {"--images", NULL, OPTION_WHOLE, CHANGES_BYTES, offsetof(compile_job, images), "N", calibrating,
     .help = "use at most N of the calibration images", .initial = "32", .minimum = 1,
     .maximum = 10000, .needs = "--calibrate"},
    {"--calibration", NULL, OPTION_CHOICE, CHANGES_BYTES, offsetof(compile_job, ranges),
     WORDS_TEXT(RANGE_RULES), calibrating,
     .help = "what the 8-bit range covers: all values seen, all but 1 in 10,000, or as many as "
             "minimise the divergence or the squared error",
     .initial = "mse", .needs = "--calibrate"},
    {"--tolerance", NULL, OPTION_NUMBER, CHANGES_BYTES, offsetof(compile_job, tolerance), "P",
     calibrating,
     .help = "stop calibrating when four images in a row move no range by more than P per cent; 0 "
             "uses all images",
     .initial = "1", .minimum = 0, .maximum = 100, .needs = "--calibrate"},
    {"--equalise", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(compile_job, equalise), NULL,
     calibrating, .help = "first bring the channels between two convolutions to similar ranges",
     .needs = "--calibrate"},
    {"--learn-rounding", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(compile_job, learn), NULL,
     calibrating,
     .help =
         "round weights together, such that the results of a layer change least (takes minutes)",
     .needs = "--calibrate"},
    {"--picture", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(compile_job, picture), NULL, tensors,
     .help =
         "the network makes pictures of pictures: the same as --input-type u8 --output-type u8, "
         "as mona enhance needs it"},
    {"--input-type", NULL, OPTION_STRING, CHANGES_BYTES, offsetof(compile_job, input_type), "TYPE",
     tensors,
     .help = "type of input planes: u8, u16, s8 or f16 (default f16, the network's own numbers)",
     .values = "u8 u16 s8 f16"},
    {"--mean", NULL, OPTION_STRING, CHANGES_BYTES, offsetof(compile_job, mean), "M[,M,M]", tensors,
     .help =
         "the network takes (x - mean) / deviation of samples x from 0 to 255, which --input-type "
         "u8 makes part of the network; one mean for all channels, or one for each in the "
         "network's order (default 0)"},
    {"--deviation", NULL, OPTION_STRING, CHANGES_BYTES, offsetof(compile_job, deviation), "D[,D,D]",
     tensors, .help = "the deviation in that formula (default 1)"},
    {"--output-type", NULL, OPTION_STRING, CHANGES_BYTES, offsetof(compile_job, output_type),
     "TYPE", tensors, .help = "type of output planes (default f16, the network's own numbers)",
     .values = "u8 u16 s8 f16"},
    {"--input-range", NULL, OPTION_NUMBER, CHANGES_BYTES, offsetof(compile_job, range), "X",
     tensors, .help = "real value of the largest sample of a plane", .initial = "1",
     .minimum = 1e-6, .maximum = 1e6},
    {"--bits", NULL, OPTION_WHOLE, CHANGES_BYTES, offsetof(compile_job, bits), "N", tensors,
     .help = "bits of u16 samples", .initial = "10", .minimum = 9, .maximum = 16},
};

/* A compiled model only gets programs or plans; of an .om, atc decides the rest. */
static const option_rule rules[] = {
    {"--name", .never = COMPILE_AGAIN | COMPILE_OM},
    {"--precision", .never = COMPILE_AGAIN | COMPILE_OM},
    {"--max-drop", .never = COMPILE_AGAIN | COMPILE_OM, .only = COMPILE_AUTO},
    {"--pin", .never = COMPILE_AGAIN | COMPILE_OM},
    {"--any-size", .never = COMPILE_AGAIN | COMPILE_OM},
    {"--dim", .never = COMPILE_AGAIN},
    {"--fusion", .never = COMPILE_AGAIN | COMPILE_OM},
    {"--kernels", .never = COMPILE_AGAIN | COMPILE_OM},
    {"--report", .never = COMPILE_AGAIN | COMPILE_OM},
    {"--release", .never = COMPILE_OM},
    {"--calibrate", .never = COMPILE_AGAIN | COMPILE_OM},
    {"--channel-order", .never = COMPILE_AGAIN | COMPILE_OM},
    {"--images", .never = COMPILE_AGAIN | COMPILE_OM},
    {"--calibration", .never = COMPILE_AGAIN | COMPILE_OM | COMPILE_FP16},
    {"--tolerance", .never = COMPILE_AGAIN | COMPILE_OM},
    {"--equalise", .never = COMPILE_AGAIN | COMPILE_OM},
    {"--learn-rounding", .never = COMPILE_AGAIN | COMPILE_OM, .only = COMPILE_INT8},
    {"--picture", .never = COMPILE_AGAIN},
    {"--input-type", .never = COMPILE_AGAIN | COMPILE_OM},
    {"--mean", .never = COMPILE_AGAIN},
    {"--deviation", .never = COMPILE_AGAIN},
    {"--soc", .only = COMPILE_OM},
    {"--atc", .only = COMPILE_OM},
    {"--output-type", .never = COMPILE_AGAIN | COMPILE_OM},
    {"--input-range", .never = COMPILE_AGAIN},
    {"--bits", .never = COMPILE_AGAIN | COMPILE_OM, .only = COMPILE_U16},
};

const command command_compile = {
    .name = "compile",
    .summary = "compile an ONNX model into a .mona model",
    .run = run,
    .values = &(compile_job){.input = NULL},
    .confined = CONFINED_LATER,
    .lists = true,
    .usage = "MODEL -o OUT.mona [OPTION]...",
    .description =
        "Compiles an ONNX model into a .mona model. Batch normalisation, activations, "
        "additions and pixel shuffles are merged into the operators next to them. The "
        "layers of a quantised model become INT8, with the model's own scales. Of a model "
        "that is compiled already, or built in, a copy with programs or plans for --target is "
        "written.",
    .examples =
        "mona compile net.onnx -o net.mona  # FP16, with floats in and out\n"
        "mona compile sr.onnx -o sr.mona --picture --calibrate photos/  # INT8, of 8-bit samples\n"
        "mona compile sr.onnx -o sr.mona --picture --calibrate film.mp4 --precision auto\n"
        "mona compile net.onnx -o net.mona --input-type u8 --mean 127 --deviation 128\n"
        "mona compile net.onnx -o net.mona --size 640x480 --size 320x240\n"
        "mona compile sr_x2_fast -o hd.mona --target ascend310 --size 1920x1080  # its program\n"
        "mona compile net.onnx -o net.om --picture --target ascend310-om --size 1280x720\n"
        "mona compile sr_x2_fast -o small.mona --target armv8 --size 320x180  # a plan\n"
        "mona compile sr_x2_fast -o net.c --emit c --target armv8 --size 320x180\n"
        "echo all:off > rules.cfg; mona compile net.onnx -o plain.mona --fusion rules.cfg\n",
    .parts = {{OPTIONS(options), RULES(rules)}},
    .modes = {"a model that is compiled already", "--target ascend310-om", "FP16 alone",
              "--precision int8 or auto", "--precision auto",
              "--input-type u16 or --output-type u16"},
    .operands_min = 1,
    .operands_max = 1,
};
