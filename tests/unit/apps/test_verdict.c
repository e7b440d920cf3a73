// SPDX-License-Identifier: Apache-2.0
/* Verdicts on recorded runs: an artificial slow-down is found, and two runs with the same
 * distribution are not called different, whatever other load there was. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "apps/bench/report/bench_result.h"

enum { FRAMES = 300, REPEATS = 20 };

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 33) / (double)(1u << 31);
}

/* Times of about `ms` with 2 % of noise. The share `load` of the frames meets another program,
 * which runs for about five frames at a time and makes them take up to twice as long. */
static cJSON *run_of(double ms, double load, uint64_t seed)
{
    uint64_t state = seed * 2654435761u + 12345;
    cJSON *result = cJSON_CreateObject();
    cJSON_AddStringToObject(result, "kind", "model");
    cJSON_AddStringToObject(result, "model", "recorded");
    cJSON *list = cJSON_AddArrayToObject(result, "samples_ms");
    bool busy = uniform(&state) < load;
    for (int i = 0; i < FRAMES; i++) {
        const double bell = uniform(&state) + uniform(&state) + uniform(&state) - 1.5;
        if (uniform(&state) < 0.2)
            busy = uniform(&state) < load;
        const double slowed = busy ? 1 + uniform(&state) : 1;
        cJSON_AddItemToArray(list, cJSON_CreateNumber(ms * slowed * (1 + 0.04 * bell)));
    }
    return result;
}

/* Whether `now` passes when compared with `before`, which goes through a file as for users. Takes
 * over both. */
static bool passes(cJSON *before, cJSON *now)
{
    char path[] = "/tmp/verdict-XXXXXX";
    const int handle = mkstemp(path);
    assert_true(handle >= 0);
    FILE *file = fdopen(handle, "w");
    char *text = cJSON_Print(before);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    const verdict_rules rules = {.old = path, .regression = 0.05};
    bool pass = false;
    assert_true(verdict_reach(now, &rules, &pass));
    const cJSON *verdict = cJSON_GetObjectItemCaseSensitive(now, "verdict");
    assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(verdict, "pass")), pass);
    unlink(path);
    free(text);
    cJSON_Delete(before), cJSON_Delete(now);
    return pass;
}

static void a_planted_slow_down_fails(void **state)
{
    (void)state;
    for (unsigned i = 0; i < REPEATS; i++)
        assert_false(passes(run_of(10, 0.1, 2 * i), run_of(11, 0.1, 2 * i + 1)));
}

static void repeats_of_one_build_pass(void **state)
{
    (void)state;
    for (unsigned i = 0; i < REPEATS; i++)
        assert_true(passes(run_of(10, 0.1, 2 * i), run_of(10, 0.1, 2 * i + 1)));
}

/* Most frames meet other load in the second run, few in the first. */
static void other_load_is_not_taken_for_a_slow_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < REPEATS; i++)
        assert_true(passes(run_of(10, 0.1, 2 * i), run_of(10, 0.6, 2 * i + 1)));
}

static void what_is_faster_passes(void **state)
{
    (void)state;
    assert_true(passes(run_of(10, 0.1, 1), run_of(8, 0.1, 2)));
}

/* With recorded times of 1 to 100 ms, percentiles are known exactly, and so is whether they keep a
 * budget. */
static void a_budget_is_kept_to_the_sample(void **state)
{
    (void)state;
    cJSON *result = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(result, "samples_ms");
    for (int i = 100; i > 0; i--)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(i));
    static const struct {
        double budget, percentile;
        bool pass;
    } cases[] = {
        {99, 99, true}, {98.999, 99, false}, {50, 50, true}, {49, 50, false}, {100, 100, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const verdict_rules rules = {.budget_ms = cases[i].budget,
                                     .percentile = cases[i].percentile};
        bool pass = !cases[i].pass;
        assert_true(verdict_reach(result, &rules, &pass));
        assert_int_equal(pass, cases[i].pass);
        cJSON_DeleteItemFromObjectCaseSensitive(result, "verdict");
    }
    cJSON_Delete(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planted_slow_down_fails),
        cmocka_unit_test(repeats_of_one_build_pass),
        cmocka_unit_test(other_load_is_not_taken_for_a_slow_down),
        cmocka_unit_test(what_is_faster_passes),
        cmocka_unit_test(a_budget_is_kept_to_the_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
