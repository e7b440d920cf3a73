// SPDX-License-Identifier: Apache-2.0
/* mona verify: runs test cases in the layout of the ONNX suite through the reference and the
 * engine. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

#include "apps/cli/commands.h"
#include "formats/reference/execute.h"
#include "apps/cli/json_output.h"
#include "apps/compile/onnx_source.h"
#include "apps/verify/verify_engine.h"
#include "apps/cli/printable.h"

typedef struct arguments {
    double rtol, atol;
    bool no_engine, quiet, json;
    option_list dims;
    const char *device_name;
    const mona_device *device; /* to be compared with the host; NULL: none */
} arguments;

typedef enum verdict { PASSED, FAILED, REFUSED } verdict;

typedef struct case_result {
    verdict verdict;
    conformance_difference difference; /* of the reference */
    format_error reason;               /* why it did not pass */
    engine_result engine;
} case_result;

typedef struct summary {
    unsigned verdicts[3];
    unsigned engine_passed, engine_failed, engine_constant, engine_frozen, engine_unrun,
        engine_alone;
} summary;

/* ---- one case ----------------------------------------------------------------------------- */

/* Runs a data set through the reference. */
static void judge(const arguments *a, const onnx_graph *g, const conformance_set *set,
                  case_result *r)
{
    const conformance_tolerance tolerance = {a->rtol, a->atol};
    tensor found[CONFORMANCE_MAX_TENSORS];
    if (set->input_count != g->input_count || set->output_count != g->output_count) {
        format_fail(&r->reason, "%u inputs and %u outputs in the data set; the model has %u and %u",
                    set->input_count, set->output_count, g->input_count, g->output_count);
        r->verdict = FAILED;
        return;
    }
    if (!reference_execute(g, set->inputs, found, NULL, &r->reason)) {
        r->verdict = REFUSED;
        return;
    }
    for (uint32_t i = 0; i < g->output_count; i++) {
        if (!conformance_compare(&found[i], &set->outputs[i], tolerance, &r->difference,
                                 &r->reason))
            r->verdict = FAILED;
        tensor_free(&found[i]);
    }
    if (r->difference.wrong) {
        format_fail(&r->reason, "%zu of %zu numbers differ", r->difference.wrong,
                    r->difference.count);
        r->verdict = FAILED;
    }
}

/* False: the folder is not a test case, which was reported. */
static bool run_case(const arguments *a, const char *folder, case_result *r)
{
    onnx_graph graph;
    conformance_set set;
    unsigned sets = 0;
    struct stat about;
    char path[4096];
    *r = (case_result){.engine.passed = true};
    if ((size_t)snprintf(path, sizeof path, "%s/model.onnx", folder) >= sizeof path)
        return cli_fail(0, "%.60s...: the path is too long", folder);
    if (!stat(folder, &about) && !S_ISDIR(about.st_mode))
        return cli_fail(
            0, "%s: expected a folder with model.onnx and test_data_set_0, found a file", folder);
    if (!onnx_source_read(&graph, path, &a->dims, &r->reason)) {
        r->verdict = REFUSED;
        return r->reason.text[0];
    }
    for (; r->verdict == PASSED && conformance_read(&set, folder, sets, &r->reason); sets++) {
        judge(a, &graph, &set, r);
        if (!a->no_engine && r->verdict == PASSED)
            verify_engine(folder, &set, a->device, &r->engine);
        conformance_free(&set);
    }
    onnx_graph_free(&graph);
    if (r->verdict == PASSED && r->reason.text[0])
        r->verdict = REFUSED;
    return sets || r->verdict != PASSED ||
           cli_fail(0, "%s: expected test_data_set_0 with output_0.pb in it", folder);
}

/* ---- results ------------------------------------------------------------------------------ */

static const char *const verdict_names[] = {"pass", "FAIL", "refused"};

/* Whether the engine was not tried, as the reference did not pass. */
static bool is_unrun(const case_result *r)
{
    return r->verdict != PASSED && !r->engine.compiled && !r->engine.reason.text[0];
}

static void print_case(const char *folder, const case_result *r)
{
    const engine_result *e = &r->engine;
    printable_print(stdout, "%-8s %s: ", verdict_names[r->verdict], folder);
    if (r->verdict == REFUSED) {
        printable_put(stdout, r->reason.text);
        putchar('\n');
        return;
    }
    printf("abs %.3g rel %.3g", r->difference.absolute, r->difference.relative);
    if (r->verdict == FAILED)
        printable_print(stdout, ", %s", r->reason.text);
    if (e->constant)
        printf("; engine: constant, nothing left to run");
    else if (e->compiled && e->passed)
        printf("; engine abs %.3g of %.3g", e->error, e->bound);
    else if (e->compiled)
        printf("; engine FAIL abs %.3g of %.3g %s", e->error, e->bound, e->reason.text);
    else if (e->reason.text[0])
        printf("; engine: %s", e->reason.text);
    if (e->alone && e->passed)
        printable_print(stdout, "; on the host alone: %s", e->reason.text);
    printf("\n");
}

static void add_case(cJSON *list, const char *folder, const case_result *r)
{
    static const char *const names[] = {"pass", "fail", "refused"};
    cJSON *entry = json_add_object(list);
    JSON_ADD(entry, TEXT("case", folder), TEXT("reference", names[r->verdict]),
             NUMBER("absolute", r->difference.absolute), NUMBER("relative", r->difference.relative),
             TEXT("reason", r->reason.text));
    const engine_result *e = &r->engine;
    JSON_ADD(entry,
             TEXT("engine", e->constant    ? "constant"
                            : is_unrun(r)  ? "not run"
                            : !e->compiled ? "refused"
                                           : names[e->passed ? PASSED : FAILED]),
             NUMBER("engine_absolute", e->error), NUMBER("engine_bound", e->bound),
             TEXT("engine_reason", e->reason.text));
}

static void count(summary *s, const case_result *r)
{
    s->verdicts[r->verdict]++;
    s->engine_passed += r->engine.compiled && r->engine.passed;
    s->engine_constant += r->engine.compiled && r->engine.passed && r->engine.constant;
    s->engine_frozen += r->engine.compiled && r->engine.passed && r->engine.frozen;
    s->engine_alone += r->engine.passed && r->engine.alone;
    s->engine_failed += r->engine.compiled && !r->engine.passed;
    s->engine_unrun += is_unrun(r);
}

static void print_summary(const arguments *a, const summary *s)
{
    const unsigned cases = s->verdicts[PASSED] + s->verdicts[FAILED] + s->verdicts[REFUSED];
    printf("reference: %u of %u cases pass, %u fail, %u refused\n", s->verdicts[PASSED], cases,
           s->verdicts[FAILED], s->verdicts[REFUSED]);
    if (!a->no_engine)
        printf("engine, fp16: %u of %u cases pass, %u fail, %u do not compile, %u were not run as "
               "the reference does not pass them; of those that pass %u are constant and %u take "
               "some inputs as constants\n",
               s->engine_passed, cases, s->engine_failed,
               cases - s->engine_passed - s->engine_failed - s->engine_unrun, s->engine_unrun,
               s->engine_constant, s->engine_frozen);
    if (a->device)
        printf("%s: same bytes as the host in all cases that pass; %u have no program and were not "
               "run there\n",
               a->device_name, s->engine_alone);
}

/* The host is no second device, since it runs everything anyway. */
static bool find_device(arguments *a)
{
    const mona_device *device = options_device(a->device_name);
    a->device = device == &mona_device_host ? NULL : device;
    return device;
}

/* Bits of its modes. */
enum { VERIFY_REFERENCE = 1 << 0, VERIFY_JSON = 1 << 1 };

static unsigned modes_of(const arguments *a)
{
    return (a->no_engine ? VERIFY_REFERENCE : 0) | (a->json ? VERIFY_JSON : 0);
}

static int run(void *values, const command_line *line)
{
    arguments *a = values;
    summary s = {0};
    if (!options_suit(&command_verify, &line->given, modes_of(a)))
        return EXIT_USAGE;
    cJSON *list = cJSON_CreateArray();
    bool ok = find_device(a);
    for (const char **folder = line->operands; ok && *folder; folder++) {
        case_result r;
        ok = run_case(a, *folder, &r);
        if (!ok)
            break;
        count(&s, &r);
        if (a->json)
            add_case(list, *folder, &r);
        else if (!a->quiet || r.verdict != PASSED || (r.engine.compiled && !r.engine.passed))
            print_case(*folder, &r);
    }
    if (ok && a->json)
        ok = json_print(list) == EXIT_SUCCESS;
    else if (ok)
        print_summary(a, &s);
    cJSON_Delete(list);
    return ok && !s.verdicts[FAILED] && !s.verdicts[REFUSED] && !s.engine_failed ? EXIT_SUCCESS
                                                                                 : EXIT_FAILED;
}

/* ---- options ------------------------------------------------------------------------------ */

static const char judging[] = "Judging", output[] = "Output";

static const option options[] = {
    {"--rtol", NULL, OPTION_NUMBER, CHANGES_BYTES, offsetof(arguments, rtol), "X", judging,
     .help = "relative error that the reference may have", .initial = "1e-3", .maximum = 1},
    {"--atol", NULL, OPTION_NUMBER, CHANGES_BYTES, offsetof(arguments, atol), "X", judging,
     .help = "absolute error that it may have on top of that", .initial = "1e-7", .maximum = 1e6},
    {"--no-engine", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(arguments, no_engine), NULL, judging,
     .help = "run only the reference"},
    {"--device", NULL, OPTION_STRING, KEEPS_BYTES, offsetof(arguments, device_name), "NAME",
     judging,
     .help = "device whose results must equal the host's byte for byte, such as model310, where it "
             "has a program",
     .initial = "host"},
    {"--dim", NULL, OPTION_LIST, CHANGES_BYTES, offsetof(arguments, dims), "NAME=N", judging,
     .help = "size of the dimensions that the model calls NAME; can be given more than once"},
    {"--quiet", "-q", OPTION_FLAG, KEEPS_BYTES, offsetof(arguments, quiet), NULL, output,
     .help = "print only what does not pass, and the summary"},
    {"--json", NULL, OPTION_FLAG, KEEPS_BYTES, offsetof(arguments, json), NULL, output,
     .help = "print JSON"},
};

static const option_rule rules[] = {
    {"--device", .never = VERIFY_REFERENCE},
    {"--quiet", .never = VERIFY_JSON},
};

const command command_verify = {
    .name = "verify",
    .summary = "run test cases of ONNX models",
    .run = run,
    .values = &(arguments){0},
    .confined = CONFINED_AT_ONCE,
    .lists = true,
    .usage = "CASE... [OPTION]...",
    .description = "Runs test cases laid out as in the ONNX test suite: folders with model.onnx "
                   "and test_data_set_0/input_0.pb, output_0.pb and so on. The reference computes "
                   "in fp32. The engine runs the models that compile as FP16, and its results must "
                   "stay within a bound derived from FP16. The exit status is 0 if the reference "
                   "passes every case, and the engine every case that compiles.",
    .examples = "mona verify onnx/backend/test/data/node/*  # the whole suite\n"
                "mona verify super_resolution_10 --rtol 0 --atol 1e-5  # one model, closely\n",
    .parts = {{OPTIONS(options), RULES(rules)}},
    .modes = {"--no-engine", "--json"},
    .operands_min = 1,
    .operands_max = 100000,
};
