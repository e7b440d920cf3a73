// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/cli/table.h"
#include "apps/cli/json_output.h"
#include "apps/cli/printable.h"

enum {
    MAX_MEASURED = 4, /* samples on which layers are measured */
};

/* How losses are given and printed. */
static const struct {
    const char *name;
    double factor; /* from the loss to what is printed */
    int digits;
} units[] = {[ACCURACY_LOSS_DECIBEL] = {"dB", 1, 4}, [ACCURACY_LOSS_TOP1] = {"%", 100, 2}};

/* ---- the command line --------------------------------------------------------------------- */

static bool read_max_drop(const char *text, accuracy_loss_unit *unit, double *max)
{
    char *end;
    const double value = strtod(text, &end);
    const bool sound = end != text && isfinite(value) && value >= 0;
    for (size_t u = 0; sound && u < sizeof units / sizeof *units; u++)
        if (!strcmp(end, units[u].name)) {
            *max = value / units[u].factor;
            *unit = (accuracy_loss_unit)u;
            return true;
        }
    return cli_misuse("--max-drop: expected a loss such as 0.1dB or 1%%, found '%s'", text);
}

static bool pin(const precision_request *r, compiler *model, const compiler_options *options)
{
    for (size_t i = 0; i < r->pins.count; i++) {
        const char *text = r->pins.items[i], *sign = strrchr(text, '=');
        char name[256];
        format_error error = {0};
        const bool int8 = sign && !strcmp(sign, "=int8");
        if (!sign || (!int8 && strcmp(sign, "=fp16")) || sign == text ||
            (size_t)(sign - text) >= sizeof name)
            return cli_misuse("--pin: expected LAYER=fp16 or LAYER=int8, found '%s'", text);
        memcpy(name, text, (size_t)(sign - text));
        name[sign - text] = 0;
        if (!compiler_pin(model, options, name, int8, &error))
            return cli_fail(0, "%s: --pin: %s", r->name, error.text);
    }
    return true;
}

/* ---- auto --------------------------------------------------------------------------------- */

static bool measure_layers(const precision_request *r, compiler *model,
                           const compiler_options *options, const accuracy_loss *accuracy)
{
    format_error error = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < accuracy->count && i < MAX_MEASURED; i++)
        ok = compiler_measure_layers(model, options, accuracy->samples[i].inputs, &error);
    return ok || cli_fail(0, "%s: %s", r->name, error.text);
}

typedef struct watched {
    accuracy_loss *accuracy;
    unsigned trials;
    bool terminal;
} watched;

static bool judge_and_tell(void *context, const uint8_t *bytes, size_t size, bool quick,
                           compiler_loss *loss, format_error *error)
{
    watched *w = context;
    w->trials++;
    if (w->terminal)
        fprintf(stderr, "\r  trying plan %u\033[K", w->trials);
    return accuracy_loss_measure(w->accuracy, bytes, size, quick, loss, error);
}

/* What would help a network of which no plan stays within the largest drop. */
static void find_hint(const precision_result *result, const accuracy_loss *a, char *text,
                      size_t size)
{
    const double factor = units[result->unit].factor;
    const double ratio = result->choice.fp16.drop / result->max_drop;
    *text = 0;
    if (a->clipped)
        snprintf(text, size, "; most of it is what output '%s' clips, and --output-type f16 keeps",
                 a->clipped);
    else if (a->clipped_input)
        snprintf(text, size,
                 "; input '%s' clips some of the values that calibration saw, and --input-type f16 "
                 "keeps them",
                 a->clipped_input);
    else if (a->unit == ACCURACY_LOSS_TOP1 && a->changed <= result->max_drop && ratio < 1000)
        snprintf(text, size,
                 "; %.3g %% of decisions change on these %zu samples, but so few leave this much "
                 "in doubt: "
                 "give %.0f or more (--calibrate, --images), or a larger --max-drop",
                 factor * a->changed, a->count, ceil((double)a->count * ratio));
}

/* Both losses are above the largest drop. */
static bool tell_loss(const precision_request *r, const precision_result *result,
                      const accuracy_loss *accuracy)
{
    const double factor = units[result->unit].factor;
    const char *unit = units[result->unit].name;
    char hint[512];
    find_hint(result, accuracy, hint, sizeof hint);
    return cli_fail(0,
                    "%s: no plan stays within --max-drop, %g %s: FP16 alone loses %.3g %s and INT8 "
                    "%.3g %s%s",
                    r->name, factor * result->max_drop, unit, factor * result->choice.fp16.drop,
                    unit, factor * result->choice.int8.drop, unit, hint);
}

static bool search(const precision_request *r, compiler *model, compiler_options *options,
                   const calibration *images, accuracy_loss *accuracy, precision_result *result)
{
    format_error error = {0};
    watched watched = {.accuracy = accuracy, .terminal = isatty(STDERR_FILENO)};
    const compiler_judge ask = {judge_and_tell, &watched};
    accuracy_loss_unit wanted = ACCURACY_LOSS_DECIBEL;
    if (r->max_drop && !read_max_drop(r->max_drop, &wanted, &result->max_drop))
        return false;
    if (!accuracy_loss_open(accuracy, images, model, r->name, r->max_drop ? &wanted : NULL) ||
        !measure_layers(r, model, options, accuracy))
        return false;
    if (!r->max_drop)
        result->max_drop = accuracy->unit == ACCURACY_LOSS_TOP1 ? 0.01 : 0.1;
    result->unit = accuracy->unit;
    result->judged = accuracy->count;
    const bool ok =
        compiler_choose(model, options, r->target, result->max_drop, &ask, &result->choice, &error);
    if (watched.terminal)
        fputs("\r\033[K", stderr);
    if (!ok && result->choice.fp16.drop > result->max_drop &&
        result->choice.int8.drop > result->max_drop)
        return tell_loss(r, result, accuracy);
    return ok || cli_fail(0, "%s: %s", r->name, error.text);
}

static bool choose(const precision_request *r, compiler *model, compiler_options *options,
                   const calibration *images, precision_result *result)
{
    accuracy_loss accuracy = {0};
    const bool ok = search(r, model, options, images, &accuracy, result);
    accuracy_loss_close(&accuracy);
    return ok;
}

#define NAME(constant, word) [constant] = word,
const char *precision_name(precision of)
{
    static const char *const names[] = {PRECISIONS(NAME, NAME)};
    return names[of];
}

bool precision_set(const precision_request *r, compiler *model, compiler_options *options,
                   const calibration *images, precision_result *result)
{
    format_error error = {0};
    *result = (precision_result){0};
    options->int8 = r->precision != PRECISION_FP16 || r->pins.count;
    if (!compiler_set_precision(model, options, r->precision != PRECISION_FP16, &error))
        return cli_fail(0, "%s: %s", r->name, error.text);
    if (!pin(r, model, options))
        return false;
    return r->precision != PRECISION_AUTO || choose(r, model, options, images, result);
}

/* ---- layers that stay FP16 ------------------------------------------------------------------ */

unsigned precision_exceptions(const compiler *model)
{
    unsigned count = 0;
    for (unsigned i = 0; i < compiler_layer_count(model); i++)
        count += !compiler_layer_at(model, i).made_int8;
    return count;
}

const char *precision_made(precision asked, const compiler *model, const char *mixed)
{
    const unsigned layers = compiler_layer_count(model), half = precision_exceptions(model);
    if (asked == PRECISION_AUTO || !layers)
        return precision_name(asked);
    return !half ? "int8" : half < layers || asked == PRECISION_INT8 ? mixed : "fp16";
}

static bool has_reason(const compiler_layer *l, const char *reason)
{
    return !l->made_int8 && !l->pinned && l->why_half && !strcmp(l->why_half, reason);
}

/* A line for each reason why layers are FP16, with the first of them. */
static void print_reasons(const compiler *model)
{
    for (unsigned i = 0; i < compiler_layer_count(model); i++) {
        const compiler_layer first = compiler_layer_at(model, i);
        unsigned alike[2] = {0}; /* before it, from it on */
        for (unsigned k = 0; first.why_half && k < compiler_layer_count(model); k++) {
            const compiler_layer l = compiler_layer_at(model, k);
            alike[k >= i] += has_reason(&l, first.why_half);
        }
        if (!has_reason(&first, first.why_half ? first.why_half : "") || alike[0])
            continue;
        printable_print(stdout, "      %s", first.name);
        if (alike[1] > 1)
            printf(", and %u more,", alike[1] - 1);
        printable_print(stdout, " %s", first.why_half);
        putchar('\n');
    }
}

void precision_print_exceptions(const precision_request *r, const compiler *model)
{
    enum { MAX_NAMED = 16 };
    const unsigned count = precision_exceptions(model);
    unsigned named = 0;
    if (r->precision != PRECISION_INT8)
        return;
    if (!compiler_layer_count(model) && compiler_has_arrays(model))
        puts("  no layer is int8: arrays are computed in fp32 or integers (mona ops)");
    if (!count)
        return;
    printf("  %u of %u layers are fp16:", count, compiler_layer_count(model));
    for (unsigned i = 0; i < compiler_layer_count(model) && named < MAX_NAMED; i++) {
        const compiler_layer l = compiler_layer_at(model, i);
        if (!l.made_int8)
            printable_print(stdout, "%s %s%s", named++ ? "," : "", l.name,
                            l.pinned ? " (pinned)" : "");
    }
    printf(count > named ? ", ...\n" : "\n");
    print_reasons(model);
}

/* ---- the evidence ------------------------------------------------------------------------- */

static void add_figure(cJSON *row, const char *key, double value, int digits, const char *unit)
{
    char text[32];
    snprintf(text, sizeof text, "%.*f%s%s", digits, value, *unit ? " " : "", unit);
    cJSON_AddStringToObject(row, key, isnan(value) ? "" : text);
}

static void print_layers(const compiler *model, const precision_result *result)
{
    static const char *const keys[] = {"layer",     "precision",  "cosine",   "SQNR dB",
                                       "saturated", "drop alone", "fp16/int8"};
    const accuracy_loss_unit u = result->unit;
    cJSON *rows = cJSON_CreateArray();
    for (unsigned i = 0; i < compiler_layer_count(model); i++) {
        const compiler_layer l = compiler_layer_at(model, i);
        cJSON *row = json_add_object(rows);
        JSON_ADD(row, TEXT(keys[0], l.name), TEXT(keys[1], l.made_int8 ? "int8" : "fp16"));
        add_figure(row, keys[2], l.cosine, 6, "");
        add_figure(row, keys[3], l.sqnr, 1, "");
        add_figure(row, keys[4], 100 * l.saturated, 4, "%");
        add_figure(row, keys[5], l.drop * units[u].factor, units[u].digits, units[u].name);
        add_figure(row, keys[6], l.fp16_cost / l.int8_cost, 2, "");
    }
    table_print(rows, keys, sizeof keys / sizeof *keys);
    cJSON_Delete(rows);
}

static void print_plan(const char *name, const precision_result *result, compiler_loss loss,
                       double cost)
{
    const accuracy_loss_unit u = result->unit;
    printf("  %-5s loses %.*f %s, signal to noise %.1f dB, cost %.2f of fp16's\n", name,
           units[u].digits, loss.drop * units[u].factor, units[u].name,
           loss.noise > 0 ? -10 * log10(loss.noise) : INFINITY, cost / result->choice.fp16_cost);
}

void precision_print(const precision_request *r, const compiler *model,
                     const precision_result *result)
{
    if (r->precision != PRECISION_AUTO)
        return;
    if (!compiler_layer_count(model)) {
        puts("  no layer can be int8, so there was nothing to choose");
        return;
    }
    const compiler_choice *c = &result->choice;
    const accuracy_loss_unit u = result->unit;
    print_layers(model, result);
    printf("%u plans on %zu sample%s, at most %g %s, cost on %s:\n", c->trials, result->judged,
           result->judged == 1 ? "" : "s", result->max_drop * units[u].factor, units[u].name,
           r->target);
    print_plan("fp16", result, c->fp16, c->fp16_cost);
    print_plan("int8", result, c->int8, c->int8_cost);
    print_plan("auto", result, c->chosen, c->chosen_cost);
}
