// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/capacity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/cli/json_output.h"
#include "apps/timing/statistics.h"

enum { SHORT_S = 5, STREAMS_MAX = 10000, THOUSAND = 1000 };

typedef struct search {
    const capacity_job *job;
    cJSON *trials;
    double stream_bytes;
    double cpu_ms[CAPACITY_PARTS];
    bool broken;  /* one stream cannot be run */
    bool no_room; /* more streams than hold would not find memory */
} search;

static const char *percentile_key(double percentile, char text[24])
{
    snprintf(text, 24, "p%g_ms", percentile);
    return text;
}

/* Of the frames that were done. */
static double largest(const samples *times)
{
    double max = 0;
    for (size_t i = 0; i < times->count; i++)
        max = isinf(times->ms[i]) ? max : fmax(max, times->ms[i]);
    return max;
}

/* Adds the trial's row; its times become ordered. Whether it holds. */
static bool add_row(search *s, unsigned streams, double seconds, capacity_trial *t)
{
    const capacity_job *job = s->job;
    char key[24];
    const size_t count = t->times.count;
    const double value = statistics_select(t->times.ms, count, job->percentile);
    const bool holds = count > 0 && value <= job->budget_ms;
    cJSON *row = json_add_object(s->trials);
    JSON_ADD(row, NUMBER("streams", streams), ROUNDED("seconds", seconds), NUMBER("frames", count),
             NUMBER("left_out", t->left_out),
             ROUNDED("p50_ms", statistics_select(t->times.ms, count, 50)),
             ROUNDED(percentile_key(job->percentile, key), value),
             ROUNDED("max_ms", largest(&t->times)));
    if (!job->modelled)
        json_add_rounded(row, "others", machine_others(&t->times.before, &t->times.after));
    cJSON_AddBoolToObject(row, "holds", holds);
    return holds;
}

static void print_row(FILE *to, const cJSON *row, double percentile)
{
    char key[24];
    const cJSON *value = json_get(row, percentile_key(percentile, key));
    fprintf(to, "%.0f stream%s for %g s: ", json_number(row, "streams"),
            json_number(row, "streams") > 1 ? "s" : "", json_number(row, "seconds"));
    if (json_number(row, "frames") <= 0) {
        fputs("could not be run, fails", to);
        return;
    }
    if (cJSON_IsNumber(value) && isfinite(value->valuedouble))
        fprintf(to, "p%g %.1f ms, ", percentile, value->valuedouble);
    fprintf(to, "%.0f of %.0f frames left out, %s", json_number(row, "left_out"),
            json_number(row, "frames"), cJSON_IsTrue(json_get(row, "holds")) ? "holds" : "fails");
    if (json_number(row, "others") > 0.1)
        fprintf(to, " (other programs took %.1f CPUs)", json_number(row, "others"));
}

static void tell_last(const search *s)
{
    if (s->job->modelled)
        return;
    fputs("mona: ", stderr);
    print_row(stderr, cJSON_GetArrayItem(s->trials, cJSON_GetArraySize(s->trials) - 1),
              s->job->percentile);
    fputc('\n', stderr);
}

/* Whether so many streams hold. */
static bool holds(search *s, unsigned streams, double seconds)
{
    capacity_trial t = {0};
    const double room = s->job->free_bytes;
    s->no_room = room > 0 && streams * s->stream_bytes > room;
    if (s->broken || s->no_room || streams > STREAMS_MAX)
        return false;
    const bool ran = s->job->run(s->job->context, streams, seconds, &t);
    s->broken = !ran && streams == 1;
    const bool good = !s->broken && add_row(s, streams, seconds, &t) && ran;
    if (!s->broken)
        tell_last(s);
    if (ran && (good || streams == 1)) {
        s->stream_bytes = t.stream_bytes;
        memcpy(s->cpu_ms, t.cpu_ms, sizeof s->cpu_ms);
    }
    samples_free(&t.times);
    return good;
}

/* What to try after so many: twice as many, but hardly more than there is CPU time for, as far too
 * many take long to end. */
static unsigned next_after(const search *s, unsigned streams)
{
    const double margin = 1.25;
    double ms = 0;
    for (unsigned i = 0; i < CAPACITY_PARTS; i++)
        ms += s->cpu_ms[i];
    const double most =
        s->job->cores && ms > 0 ? margin * 1e3 * s->job->cores / (ms * s->job->fps) : STREAMS_MAX;
    return (unsigned)fmax(streams + 1.0, fmin(2.0 * streams, ceil(most)));
}

/* By short runs. */
static unsigned find_most(search *s)
{
    const double seconds = fmin(SHORT_S, s->job->seconds);
    unsigned good = 0, bad = 1;
    for (; holds(s, bad, seconds); bad = next_after(s, bad))
        good = bad;
    while (bad - good > 1) {
        const unsigned middle = good + (bad - good) / 2;
        *(holds(s, middle, seconds) ? &good : &bad) = middle;
    }
    return good;
}

/* A fifth more, rounded up. */
static unsigned more_than(unsigned streams)
{
    return streams + (streams + 4) / 5;
}

/* By runs of the full length: fewer, by a twentieth at most but by one at least, until they hold,
 * then more until they do not. */
static unsigned confirm(search *s, unsigned streams)
{
    const double seconds = s->job->seconds;
    while (streams && !holds(s, streams, seconds))
        streams -= streams < 40 ? 1 : streams / 20;
    while (streams && holds(s, more_than(streams), seconds))
        streams = more_than(streams);
    return streams;
}

/* The last run of so many streams. NULL: there is none. */
static const cJSON *last_of(const cJSON *trials, unsigned streams)
{
    const cJSON *row, *last = NULL;
    cJSON_ArrayForEach(row, trials) if (json_number(row, "streams") == streams) last = row;
    return last;
}

static void add_last(cJSON *result, const char *key, const search *s, unsigned streams)
{
    const cJSON *row = last_of(s->trials, streams);
    if (row)
        cJSON_AddItemToObject(result, key, cJSON_Duplicate(row, true));
}

static const char *bound_of(const search *s)
{
    capacity_part most = CAPACITY_DECODE;
    for (unsigned i = 0; i < CAPACITY_OTHER; i++)
        most = s->cpu_ms[i] > s->cpu_ms[most] ? (capacity_part)i : most;
    return s->no_room ? "memory" : capacity_part_names[most];
}

bool bench_capacity(cJSON *result, const capacity_job *job)
{
    search s = {.job = job, .trials = cJSON_CreateArray()};
    const unsigned streams = confirm(&s, find_most(&s));
    JSON_ADD(result, NUMBER("streams", streams), ROUNDED("fps", job->fps));
    cJSON *budget = cJSON_AddObjectToObject(result, "budget");
    JSON_ADD(budget, ROUNDED("percentile", job->percentile), ROUNDED("ms", job->budget_ms));
    json_add_rounded(result, "seconds", job->seconds);
    if (streams)
        add_last(result, "confirmed", &s, streams);
    add_last(result, "over", &s, streams ? more_than(streams) : 1);
    cJSON_AddItemToObject(result, "trials", s.trials);
    cJSON_AddStringToObject(result, "bound", bound_of(&s));
    if (!job->modelled) {
        capacity_parts_add(result, s.cpu_ms);
        JSON_ADD(result, ROUNDED("stream_bytes", s.stream_bytes),
                 ROUNDED("free_bytes", job->free_bytes));
    }
    if (streams) {
        cJSON *thousand = cJSON_AddObjectToObject(result, "thousand");
        JSON_ADD(thousand, NUMBER("streams", THOUSAND),
                 NUMBER(job->modelled ? "chips" : "machines", ceil((double)THOUSAND / streams)));
    }
    return !s.broken;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_run(const char *title, const cJSON *row, double percentile)
{
    if (!row)
        return;
    printf("  %-10s ", title);
    print_row(stdout, row, percentile);
    putchar('\n');
}

static void print_bound(const cJSON *result)
{
    const cJSON *cpu = json_get(result, "cpu_ms");
    printf("  bound by   %s", json_string(result, "bound"));
    if (cpu) {
        fputs("; CPU time is ", stdout);
        capacity_parts_print(cpu);
        printf("\n  memory     %.1f MB a stream; %.0f MB were free",
               1e-6 * json_number(result, "stream_bytes"),
               1e-6 * json_number(result, "free_bytes"));
    } else {
        printf(": %.3f ms a frame; decoding and encoding are not modelled",
               json_number(result, "frame_ms"));
    }
    putchar('\n');
}

void bench_capacity_print(const cJSON *result)
{
    const double streams = json_number(result, "streams");
    const cJSON *budget = json_get(result, "budget"), *thousand = json_get(result, "thousand");
    const double percentile = json_number(budget, "percentile");
    const char *const unit = json_get(thousand, "chips") ? "chips" : "machines";
    const char *const networks = json_string(result, "networks");
    printf("%s: %.0f stream%s of %s, %g frames a second, through %s, with p%g within %g ms\n",
           json_string(result, "name"), streams, streams == 1 ? "" : "s",
           json_string(result, "size"), json_number(result, "fps"),
           *networks ? networks : json_string(result, "model"), percentile,
           json_number(budget, "ms"));
    print_run("confirmed", json_get(result, "confirmed"), percentile);
    print_run(streams > 0 ? "over" : "failed", json_get(result, "over"), percentile);
    print_bound(result);
    if (thousand)
        printf("  thousand   %.0f / %.0f = %.2f: %.0f %s like this one\n",
               json_number(thousand, "streams"), streams,
               json_number(thousand, "streams") / streams, json_number(thousand, unit), unit);
}
