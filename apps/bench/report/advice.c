// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/report/advice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/json_output.h"
#include "apps/cli/printable.h"

enum { SHOWN = 3 };

/* ---- parts ----------------------------------------------------------------------------------- */

static advice_unit busiest(const advice_part *p)
{
    unsigned longest = 0;
    for (unsigned unit = 1; unit < ADVICE_UNITS; unit++)
        longest = p->busy[unit] > p->busy[longest] ? unit : longest;
    return (advice_unit)longest;
}

static double unit_ms(const advice_part *p, advice_unit unit)
{
    return fmin(p->busy[unit], p->ms);
}

/* What a part takes if a unit has nothing to do: as long as the next one. */
static double without(const advice_part *p, advice_unit unit)
{
    double next = 0;
    for (unsigned u = 0; u < ADVICE_UNITS; u++)
        next = u == unit ? next : fmax(next, unit_ms(p, (advice_unit)u));
    return next;
}

/* ---- rules: the time of a part that a cause accounts for, and what of it can be gained ------- */

typedef double advice_rule(const advice_frame *f, const advice_part *p, advice_unit unit);

static double bound(const advice_frame *f, const advice_part *p, advice_unit unit)
{
    (void)f;
    return busiest(p) == unit && !p->small ? unit_ms(p, unit) : 0;
}

static double down_to_next(const advice_frame *f, const advice_part *p, advice_unit unit)
{
    return bound(f, p, unit) > 0 ? unit_ms(p, unit) - without(p, unit) : 0;
}

static double beyond_left(const advice_frame *f, const advice_part *p, advice_unit unit)
{
    return bound(f, p, unit) > 0 ? p->ms - p->left : 0;
}

/* The arithmetic of a narrow map is counted apart, whatever bounds that. */
static double computing(const advice_part *p)
{
    return busiest(p) == ADVICE_COMPUTE || p->small ? unit_ms(p, ADVICE_COMPUTE) : 0;
}

static double computing_fp16(const advice_frame *f, const advice_part *p, advice_unit unit)
{
    (void)f, (void)unit;
    return p->fp16 ? computing(p) : 0;
}

static double by_int8(const advice_frame *f, const advice_part *p, advice_unit unit)
{
    return (1 - f->int8) * computing_fp16(f, p, unit);
}

static double computing_int8(const advice_frame *f, const advice_part *p, advice_unit unit)
{
    (void)f, (void)unit;
    return p->fp16 ? 0 : computing(p);
}

static double narrow(const advice_frame *f, const advice_part *p, advice_unit unit)
{
    (void)f, (void)unit;
    return p->small ? p->ms - unit_ms(p, ADVICE_COMPUTE) : 0;
}

static double waiting(const advice_frame *f, const advice_part *p, advice_unit unit)
{
    (void)f, (void)unit;
    return p->small ? 0 : p->ms - unit_ms(p, busiest(p));
}

static double nothing(const advice_frame *f, const advice_part *p, advice_unit unit)
{
    (void)f, (void)p, (void)unit;
    return 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct cause {
    const char *key, *found;
    advice_rule *ms, *gain;
    advice_unit unit;
    const char *on_cpu, *on_chip; /* what to do; NULL: it does not arise there */
} cause;

#define CAUSE(key, unit, ms, gain, found, on_cpu, on_chip)                                         \
    {                                                                                              \
        key, found, ms, gain, unit, on_cpu, on_chip                                                \
    }

static const cause causes[] = {
    CAUSE("idle cores", ADVICE_THREADS, bound, beyond_left, "cores that the run leaves alone",
          "use all: leave out -j", "use both: leave out -j"),
    CAUSE("transfers", ADVICE_TRANSFER, bound, beyond_left,
          "a frame is sent, computed and fetched, one after the other", NULL,
          "keep several frames in flight, as mona enhance does; 8-bit planes are half as long to "
          "copy as 16-bit ones"),
    CAUSE(
        "launch", ADVICE_LAUNCH, bound, beyond_left, "time of a frame in none of its layers",
        "threads wait for each other at the ends of strips, and of layers that run whole: several "
        "streams with a thread each, --streams N -j 1, do not",
        "each group of layers and each operator on arrays is launched, once both cores have ended "
        "what came before: larger frames; run operators on arrays on the host"),
    CAUSE("replay kernel", ADVICE_KERNEL, bound, beyond_left,
          "what the kernel for all programs takes longer than one for this program alone", NULL,
          "compile a kernel for this program: make ascend-kernel CANN=FOLDER FOR=NET.mona"),
    CAUSE(
        "scalar bound", ADVICE_SCALAR, bound, down_to_next,
        "the scalar unit, which issues instructions and moves what no vector does, is the busiest",
        NULL,
        "planes of 8 bits instead of 16; INT8 layers, where functions such as SiLU are tables; "
        "wider frames"),
    CAUSE("vector bound", ADVICE_VECTOR, bound, down_to_next, "the vector unit is the busiest",
          NULL,
          "INT8 layers; ReLU rather than PReLU or a function; residuals in INT8 and of as many "
          "channels as the layer, which the cube adds"),
    CAUSE(
        "memory", ADVICE_MEMORY, bound, down_to_next,
        "frames, and maps between groups of layers, from and to memory, are the longest",
        "planes of 8 bits instead of 16 or 32; fewer copies between groups: --strip-rows",
        "planes of 8 bits instead of 16; weights within 1 MiB of L1, so that no maps go to memory "
        "between groups"),
    CAUSE("cache", ADVICE_FEED, bound, down_to_next,
          "rows of maps, from a core's cache or from L1, are the longest",
          "narrower tiles, whose rows stay in the nearest cache: --tile-columns",
          "more outputs a layer (32 or more), which share the samples that are loaded"),
    CAUSE("arrays", ADVICE_ARRAYS, bound, down_to_next,
          "operators on arrays, on the chip's AI CPUs: an estimate", NULL,
          "end the network before them and run them on the host"),
    CAUSE(
        "small maps", ADVICE_COMPUTE, narrow, narrow,
        "layers on maps of at most 32 columns, beyond their arithmetic",
        "weights are read for few samples: a batch of images in the network uses them more often",
        "instructions and weights serve few samples: the vendor's compiler keeps whole maps in L1, "
        "mona compile --target ascend310-om; or larger inputs"),
    CAUSE("precision", ADVICE_COMPUTE, computing_fp16, by_int8,
          "FP16 arithmetic is the longest, and INT8 is faster",
          "mona compile --calibrate PICTURES, or --precision auto",
          "mona compile --calibrate PICTURES, or --precision auto"),
    CAUSE(
        "idle units", ADVICE_COMPUTE, waiting, waiting,
        "the unit that bounds a layer, mostly its arithmetic, waits",
        "channels in multiples of 16, which fill the vectors; wider tiles: --tile-columns",
        "wider frames or tiles, longer instructions: --tile-columns; channels in multiples of 16"),
    CAUSE("at the limit", ADVICE_COMPUTE, computing_int8, nothing,
          "INT8 arithmetic at the machine's peak", "a network with fewer multiply-adds",
          "a network with fewer multiply-adds"),
};

enum { CAUSES = sizeof causes / sizeof *causes };

static const char *what_to_do(const advice_frame *f, const cause *c)
{
    return f->chip ? c->on_chip : c->on_cpu;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Adds a part's time to that of its layer, which may consist of several parts. */
static void add_to_layer(cJSON *layers, const char *name, double ms)
{
    cJSON *row;
    cJSON_ArrayForEach(row, layers)
    {
        if (strcmp(json_string(row, "name"), name) != 0)
            continue;
        cJSON_SetNumberValue(json_get(row, "ms"), json_number(row, "ms") + ms);
        return;
    }
    row = json_add_object(layers);
    JSON_ADD(row, TEXT("name", name), ROUNDED("ms", ms));
}

/* The array with its rows sorted by "ms", the largest first. */
static cJSON *sorted(cJSON *rows)
{
    cJSON *result = cJSON_CreateArray();
    while (cJSON_GetArraySize(rows)) {
        int largest = 0, index = 0;
        const cJSON *row, *first = rows->child;
        cJSON_ArrayForEach(row, rows)
        {
            if (json_number(row, "ms") > json_number(first, "ms"))
                first = row, largest = index;
            index++;
        }
        cJSON_AddItemToArray(result, cJSON_DetachItemFromArray(rows, largest));
    }
    cJSON_Delete(rows);
    return result;
}

/* A cause in a frame. */
typedef struct finding {
    const cause *cause;
    double ms, gain;
} finding;

static int costlier(const void *a, const void *b)
{
    const double x = ((const finding *)a)->ms, y = ((const finding *)b)->ms;
    return x > y ? -1 : x < y;
}

/* What can be gained from, the costliest first. Returns how many. */
static unsigned find_causes(const advice_frame *f, finding found[CAUSES], double *at_limit)
{
    unsigned count = 0;
    for (const cause *c = causes; c < causes + CAUSES; c++) {
        finding here = {.cause = c};
        for (unsigned i = 0; i < f->count; i++) {
            here.ms += c->ms(f, &f->parts[i], c->unit);
            here.gain += c->gain(f, &f->parts[i], c->unit);
        }
        if (c->unit != ADVICE_THREADS) /* parts are shares of what all cores could do */
            here.gain /= f->used;
        if (c->gain == nothing)
            *at_limit = here.ms / f->ms;
        else if (here.ms > 0 && what_to_do(f, c))
            found[count++] = here;
    }
    qsort(found, count, sizeof *found, costlier);
    return count;
}

static cJSON *layers_of(const advice_frame *f, const cause *c)
{
    cJSON *layers = cJSON_CreateArray();
    for (unsigned i = 0; i < f->count; i++) {
        const double ms = c->ms(f, &f->parts[i], c->unit);
        if (ms > 0 && f->parts[i].layer)
            add_to_layer(layers, f->parts[i].layer, ms);
    }
    return sorted(layers);
}

static bool add_cause(cJSON *list, const advice_frame *f, const finding *found, bool tried)
{
    cJSON *row = json_add_object(list);
    advice_trial trial = {0};
    JSON_ADD(row, TEXT("cause", found->cause->key), ROUNDED("ms", found->ms),
             ROUNDED("share", found->ms / f->ms), TEXT("found", found->cause->found),
             TEXT("do", what_to_do(f, found->cause)), ROUNDED("gain_ms", found->gain),
             ROUNDED("predicted_ms", f->ms - found->gain));
    cJSON_AddItemToObject(row, "layers", layers_of(f, found->cause));
    if (tried && !f->try(f->context, found->cause->unit, &trial))
        return false;
    if (trial.option) {
        JSON_ADD(row, TEXT("tried", trial.option), ROUNDED("tried_ms", trial.ms));
    }
    return true;
}

bool advice_add(cJSON *result, const advice_frame *f)
{
    finding found[CAUSES];
    double at_limit = 0;
    const unsigned count = find_causes(f, found, &at_limit);
    cJSON *advice = cJSON_AddObjectToObject(result, "advice");
    JSON_ADD(advice, ROUNDED("ms", f->ms), TEXT("how", f->how), ROUNDED("at_limit", at_limit));
    cJSON *list = cJSON_AddArrayToObject(advice, "causes");
    bool done = true;
    for (unsigned i = 0; i < count && done; i++)
        done = add_cause(list, f, &found[i], i < SHOWN);
    return done;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_layers(const cJSON *layers)
{
    enum { NAMED = 4 };
    char name[48];
    const int count = cJSON_GetArraySize(layers);
    for (int i = 0; i < count && i < NAMED; i++) {
        const cJSON *row = cJSON_GetArrayItem(layers, i);
        printf("%s%s %.3f ms", i ? ", " : "     layers   ",
               printable(name, sizeof name, json_string(row, "name")), json_number(row, "ms"));
    }
    if (count > NAMED)
        printf(", and %d more", count - NAMED);
    if (count)
        putchar('\n');
}

static void print_cause(const cJSON *row, int number, double ms)
{
    printf("  %d  %s: %.0f %% of the frame, %.3f ms\n", number, json_string(row, "cause"),
           100 * json_number(row, "share"), json_number(row, "ms"));
    printf("     why      %s\n", json_string(row, "found"));
    print_layers(json_get(row, "layers"));
    printf("     do       %s\n", json_string(row, "do"));
    printf("     gain     at most %.3f ms: %.3f to %.3f ms, predicted", json_number(row, "gain_ms"),
           ms, json_number(row, "predicted_ms"));
    if (json_get(row, "tried"))
        printf("; %.3f ms, tried with %s", json_number(row, "tried_ms"), json_string(row, "tried"));
    putchar('\n');
}

void advice_print(const cJSON *result)
{
    const cJSON *advice = json_get(result, "advice"), *list = json_get(advice, "causes"), *row;
    const double ms = json_number(advice, "ms");
    int number = 0;
    if (!advice)
        return;
    printf("advice for a frame of %.3f ms, %s\n", ms, json_string(advice, "how"));
    cJSON_ArrayForEach(row, list)
    {
        if (++number <= SHOWN)
            print_cause(row, number, ms);
        else
            printf("%s%s %.0f %%", number == SHOWN + 1 ? "  then  " : ", ",
                   json_string(row, "cause"), 100 * json_number(row, "share"));
    }
    if (number > SHOWN)
        putchar('\n');
    printf("  INT8 arithmetic at its peak: %.0f %% of the frame\n",
           100 * json_number(advice, "at_limit"));
}
