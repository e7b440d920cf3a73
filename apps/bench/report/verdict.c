// SPDX-License-Identifier: Apache-2.0
/* A run counts as slower than an earlier one if both its median and its fastest tenth are slower by
 * more than allowed, with 99 % confidence. Other load slows some frames but hardly affects the
 * fastest ones, while slower code affects all of them. */
#include "apps/bench/report/bench_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/file.h"
#include "apps/cli/options.h"
#include "apps/timing/statistics.h"
#include "apps/cli/json_output.h"

enum { RESULT_BYTES_MAX = 64 << 20 };

typedef struct series {
    double *ms;
    size_t count;
} series;

/* The result's samples. ms NULL, with an error: there are none, or they are not times. */
static series samples_of(const cJSON *result, const char *path)
{
    const cJSON *list = json_get(result, "samples_ms"), *item;
    const int count = cJSON_GetArraySize(list);
    series s = {.ms = count >= VERDICT_SAMPLES ? malloc((size_t)count * sizeof *s.ms) : NULL};
    if (!s.ms) {
        cli_fail(0, "%s: expected \"samples_ms\" with %d times or more, found %d", path,
                 VERDICT_SAMPLES, count);
        return s;
    }
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble) || item->valuedouble <= 0) {
            cli_fail(0, "%s: expected times above 0 in \"samples_ms\", found another at %zu", path,
                     s.count);
            free(s.ms);
            return (series){0};
        }
        s.ms[s.count++] = item->valuedouble;
    }
    return s;
}

static cJSON *read_result(const char *path)
{
    format_error error = {0};
    uint8_t *bytes;
    size_t size;
    if (!file_read(path, "a result of mona bench --json", RESULT_BYTES_MAX, &bytes, &size,
                   &error)) {
        cli_fail(0, "%s", error.text);
        return NULL;
    }
    cJSON *result = cJSON_ParseWithLength((const char *)bytes, size);
    free(bytes);
    if (!cJSON_IsObject(result)) {
        cli_fail(0, "%s: expected a result of mona bench --json, found no JSON object", path);
        cJSON_Delete(result);
        return NULL;
    }
    return result;
}

static const cJSON *find(const cJSON *result, const char *key)
{
    const cJSON *own = json_get(result, key);
    return own ? own : json_get(json_get(result, "provenance"), key);
}

static const char *text_of(const cJSON *item, char *buffer, size_t size)
{
    if (cJSON_IsNumber(item))
        snprintf(buffer, size, "%g", item->valuedouble);
    else
        snprintf(buffer, size, "%s", cJSON_IsString(item) ? item->valuestring : "none");
    return buffer;
}

/* Results of different models or sizes cannot be compared; those of different machines or builds
 * can, with a warning. */
static bool comparable(cJSON *now, const cJSON *old, const char *path)
{
    static const char *const same[] = {"kind",   "model",  "networks", "width",
                                       "height", "device", "threads",  "streams"};
    static const char *const alike[] = {"cpu",      "cores", "isa",         "governor",   "encoder",
                                        "compiler", "flags", "model_crc32", "input_crc32"};
    char a[256], b[256];
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (strcmp(text_of(find(old, same[i]), a, sizeof a),
                   text_of(find(now, same[i]), b, sizeof b)))
            return cli_fail(0, "%s: expected a result with %s %s, found %s", path, same[i], b, a);
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        if (strcmp(text_of(find(old, alike[i]), a, sizeof a),
                   text_of(find(now, alike[i]), b, sizeof b)))
            result_warn(now, "the earlier result is of another %s: %s, now %s", alike[i], a, b);
    return true;
}

static void add_interval(cJSON *object, const char *name, const ratio_interval *r)
{
    cJSON *o = cJSON_AddObjectToObject(object, name);
    JSON_ADD(o, ROUNDED("ratio", r->ratio), ROUNDED("low", r->low), ROUNDED("high", r->high));
}

static bool compare(cJSON *result, cJSON *verdict, const verdict_rules *rules, bool *slower)
{
    cJSON *old = read_result(rules->old);
    series before = {0}, after = {0};
    ratio_interval middle, fastest;
    bool done = old && comparable(result, old, rules->old) &&
                (before = samples_of(old, rules->old)).ms &&
                (after = samples_of(result, "this run")).ms;
    if (done && (!significance_ratio(before.ms, before.count, after.ms, after.count, 50, &middle) ||
                 !significance_ratio(before.ms, before.count, after.ms, after.count, 10, &fastest)))
        done = cli_fail(0, "out of memory");
    if (done) {
        const double allowed = 1 + rules->regression;
        *slower = middle.low > allowed && fastest.low > allowed;
        json_add_rounded(verdict, "max_regression", rules->regression);
        add_interval(verdict, "p50", &middle);
        add_interval(verdict, "p10", &fastest);
        json_add_rounded(verdict, "p_slower",
                         significance_exceeds(before.ms, before.count, after.ms, after.count));
        if (!*slower && middle.ratio > allowed)
            result_warn(result, "slower than before, but within what chance or other load explain");
    }
    free(before.ms), free(after.ms);
    cJSON_Delete(old);
    return done;
}

static bool is_within(cJSON *verdict, const verdict_rules *rules, double value)
{
    JSON_ADD(verdict, ROUNDED("budget_ms", rules->budget_ms), ROUNDED("value_ms", value));
    return value <= rules->budget_ms;
}

static bool keeps_budget(const cJSON *result, cJSON *verdict, const verdict_rules *rules,
                         bool *kept)
{
    series s = samples_of(result, "this run");
    if (!s.ms)
        return false;
    json_add_rounded(verdict, "percentile", rules->percentile);
    *kept = is_within(verdict, rules, statistics_select(s.ms, s.count, rules->percentile));
    free(s.ms);
    return true;
}

bool verdict_reach(cJSON *result, const verdict_rules *rules, bool *pass)
{
    bool kept = true, slower = false;
    *pass = true;
    if (rules->budget_ms <= 0 && !rules->old)
        return true;
    cJSON *verdict = cJSON_AddObjectToObject(result, "verdict");
    if ((rules->budget_ms > 0 && !keeps_budget(result, verdict, rules, &kept)) ||
        (rules->old && !compare(result, verdict, rules, &slower)))
        return false;
    *pass = kept && !slower;
    cJSON_AddBoolToObject(verdict, "pass", *pass);
    return true;
}

bool verdict_modelled(cJSON *result, const verdict_rules *rules, double ms)
{
    if (rules->budget_ms <= 0)
        return true;
    cJSON *verdict = cJSON_AddObjectToObject(result, "verdict");
    const bool pass = is_within(verdict, rules, ms);
    cJSON_AddBoolToObject(verdict, "pass", pass);
    return pass;
}

void verdict_print(const cJSON *result)
{
    const cJSON *v = json_get(result, "verdict");
    const cJSON *p50 = json_get(v, "p50");
    const cJSON *p10 = json_get(v, "p10");
    if (!v)
        return;
    char what[32] = "the longest is, modelled,";
    if (json_get(v, "percentile"))
        snprintf(what, sizeof what, "p%g is", json_number(v, "percentile"));
    if (json_number(v, "budget_ms") > 0)
        printf("  budget     %s %.3f ms, %.3f ms are allowed\n", what, json_number(v, "value_ms"),
               json_number(v, "budget_ms"));
    if (p50)
        printf("  compared   median %+.1f %% (99 %% sure: %+.1f to %+.1f), fastest tenth %+.1f %% "
               "(%+.1f to %+.1f); %+.1f %% are allowed\n",
               100 * json_number(p50, "ratio") - 100, 100 * json_number(p50, "low") - 100,
               100 * json_number(p50, "high") - 100, 100 * json_number(p10, "ratio") - 100,
               100 * json_number(p10, "low") - 100, 100 * json_number(p10, "high") - 100,
               100 * json_number(v, "max_regression"));
    puts(cJSON_IsTrue(json_get(v, "pass")) ? "PASS" : "FAIL");
}
