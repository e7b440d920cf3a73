// SPDX-License-Identifier: Apache-2.0
/* Statistics and tests of significance, compared with their definitions computed in another way. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "apps/timing/statistics.h"

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static double uniform(uint64_t *state)
{
    return (double)next_random(state) / (double)(1u << 31);
}

/* The sum of twelve uniform numbers is close enough to a normal one. */
static double normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform(state);
    return sum;
}

/* Frames of about `ms`, with slow ones now and then, in phases, as on a busy machine. */
static void frames(double *samples, size_t count, double ms, double noise, uint64_t seed)
{
    uint64_t state = seed * 77777 + 1;
    double phase = 0;
    for (size_t i = 0; i < count; i++) {
        phase = 0.8 * phase + 0.2 * noise * normal(&state);
        samples[i] = ms * (1 + noise * normal(&state) * 0.5 + phase);
        if (next_random(&state) % 50 == 0)
            samples[i] *= 1.8;
    }
}

/* ---- descriptive ----------------------------------------------------------------------------- */

/* The definition: the smallest sample such that enough of all samples do not exceed it. */
static double percentile_by_counting(const double *samples, size_t count, double percent)
{
    double best = INFINITY;
    for (size_t i = 0; i < count; i++) {
        size_t below = 0;
        for (size_t k = 0; k < count; k++)
            below += samples[k] <= samples[i];
        if ((double)below * 1000 >= round(percent * 10) * (double)count && samples[i] < best)
            best = samples[i];
    }
    return best;
}

static void percentiles_match_their_definition(void **state)
{
    (void)state;
    static const double percents[] = {0.1, 1, 25, 50, 75, 90, 95, 99, 99.9, 100};
    static const size_t counts[] = {1, 2, 3, 7, 10, 99, 100, 101, 999, 1000, 1001};
    double samples[1001];
    uint64_t random = 5;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (size_t i = 0; i < counts[c]; i++)
            samples[i] = (double)(next_random(&random) % 200); /* with ties */
        double *sorted = statistics_sort(samples, counts[c]);
        for (size_t p = 0; p < sizeof percents / sizeof *percents; p++)
            assert_true(statistics_percentile(sorted, counts[c], percents[p]) ==
                        percentile_by_counting(samples, counts[c], percents[p]));
        free(sorted);
    }
}

static void a_run_is_described(void **state)
{
    (void)state;
    const double samples[] = {2, 4, 4, 4, 5, 5, 7, 9};
    double *sorted = statistics_sort(samples, 8);
    const statistics s = statistics_of(sorted, 8);
    assert_int_equal(s.count, 8);
    assert_true(s.minimum == 2 && s.maximum == 9 && s.mean == 5 && s.p50 == 4 && s.p90 == 9);
    assert_true(fabs(s.deviation - sqrt(32.0 / 7)) < 1e-12);
    assert_true(fabs(s.variation - sqrt(32.0 / 7) / 5) < 1e-12);
    free(sorted);
    const statistics one = statistics_of((double[]){3}, 1);
    assert_true(one.deviation == 0 && one.p999 == 3 && one.minimum == 3);
    assert_int_equal(statistics_of(NULL, 0).count, 0);
}

static void the_deviation_does_not_cancel(void **state)
{
    (void)state;
    /* The squares of these lose the last digits of a double: the naive formula gives 0 or NaN. */
    const double sorted[] = {1e9, 1e9 + 1e-3, 1e9 + 2e-3};
    assert_true(fabs(statistics_of(sorted, 3).deviation - 1e-3) < 1e-5);
}

static void enough_samples_for_a_percentile(void **state)
{
    (void)state;
    assert_int_equal(statistics_samples_for(50), 5);
    assert_int_equal(statistics_samples_for(95), 59);
    assert_int_equal(statistics_samples_for(99), 299);
    assert_int_equal(statistics_samples_for(99.9), 2995);
}

static void a_histogram_counts_every_sample_once(void **state)
{
    (void)state;
    double samples[3000];
    for (size_t count = 1; count <= 3000; count = count * 3 + 1) {
        frames(samples, count, 12, 0.1, count);
        double *sorted = statistics_sort(samples, count);
        const histogram h = statistics_histogram(sorted, count);
        size_t sum = 0, at = 0;
        for (unsigned b = 0; b < h.bins; b++) {
            const double end = h.begin + (b + 1) * h.width * (1 + 1e-12);
            size_t inside = 0;
            while (at < count && (b + 1 == h.bins || sorted[at] < end))
                inside++, at++;
            /* Rounding may put a sample on a border on either side of it. */
            assert_true(llabs((long long)inside - (long long)h.counts[b]) <= 1);
            sum += h.counts[b];
        }
        assert_int_equal(sum, count);
        assert_true(h.bins >= 1 && h.bins <= HISTOGRAM_BINS);
        free(sorted);
    }
    const histogram flat = statistics_histogram((double[]){4, 4, 4}, 3);
    assert_true(flat.bins == 1 && flat.counts[0] == 3 && flat.width == 0);
}

/* ---- significance ---------------------------------------------------------------------------- */

/* The share of all ways to choose b's samples for which U is at least as large; Mann and Whitney's
 * test approximates it. */
static double exceeds_by_enumeration(const double *all, unsigned na, unsigned nb)
{
    unsigned long ways = 0, as_large = 0;
    double observed = 0;
    for (int pass = 0; pass < 2; pass++)
        for (unsigned mask = 0; mask < 1u << (na + nb); mask++) {
            if ((unsigned)__builtin_popcount(mask) != nb ||
                (pass == 0 && mask != ((1u << nb) - 1) << na))
                continue;
            double u = 0;
            for (unsigned i = 0; i < na + nb; i++)
                for (unsigned k = 0; k < na + nb; k++)
                    if ((mask >> i & 1) && !(mask >> k & 1))
                        u += all[i] > all[k] ? 1 : all[i] == all[k] ? 0.5 : 0;
            if (pass == 0)
                observed = u;
            ways += pass;
            as_large += pass && u >= observed;
        }
    return (double)as_large / (double)ways;
}

static void mann_whitney_matches_enumeration(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int round = 0; round < 12; round++) {
        double all[18];
        for (int i = 0; i < 18; i++)
            all[i] = floor(uniform(&random) * 30) + (i >= 9 ? round : 0); /* with ties */
        const double exact = exceeds_by_enumeration(all, 9, 9);
        assert_true(fabs(significance_exceeds(all, 9, all + 9, 9) - exact) < 0.012);
    }
    assert_true(significance_exceeds((double[]){1, 1}, 2, (double[]){1, 1}, 2) == 1);
    assert_true(significance_exceeds(NULL, 0, (double[]){1}, 1) == 1);
}

enum { FRAMES = 200, REPEATS = 20 };

static void a_planted_slow_down_is_found(void **state)
{
    (void)state;
    double before[FRAMES], after[FRAMES];
    for (unsigned seed = 0; seed < REPEATS; seed++) {
        ratio_interval r;
        frames(before, FRAMES, 10, 0.03, 2 * seed);
        frames(after, FRAMES, 11, 0.03, 2 * seed + 1);
        assert_true(significance_ratio(before, FRAMES, after, FRAMES, 50, &r));
        assert_true(r.low > 1.05 && r.low <= r.ratio && r.ratio <= r.high && r.high < 1.15);
        assert_true(significance_exceeds(before, FRAMES, after, FRAMES) < 1e-6);
    }
}

static void the_same_twice_is_not_slower(void **state)
{
    (void)state;
    double before[FRAMES], after[FRAMES];
    unsigned covered = 0;
    for (unsigned seed = 0; seed < 10 * REPEATS; seed++) {
        ratio_interval r;
        frames(before, FRAMES, 10, 0.05, 3 * seed);
        frames(after, FRAMES, 10, 0.05, 3 * seed + 1);
        assert_true(significance_ratio(before, FRAMES, after, FRAMES, 50, &r));
        assert_true(r.low < 1.05);
        covered += r.low <= 1 && 1 <= r.high;
    }
    /* 99 % of 200, less what a bootstrap may lack if samples are correlated. */
    assert_true(covered >= 190);
}

static void selection_finds_what_sorting_finds(void **state)
{
    (void)state;
    uint64_t random = 9;
    for (size_t count = 1; count < 400; count += 7) {
        double samples[400];
        for (size_t i = 0; i < count; i++)
            samples[i] = count % 3 ? (double)(next_random(&random) % (count + 5)) : (double)i;
        double *sorted = statistics_sort(samples, count);
        for (double percent = 0.5; percent <= 100; percent += 9.95)
            assert_true(statistics_select(samples, count, percent) ==
                        statistics_percentile(sorted, count, percent));
        free(sorted);
    }
}

static void warm_up_ends_when_times_settle(void **state)
{
    (void)state;
    const double settling[] = {30, 20, 14, 12, 10.3, 10.1, 10, 10.1, 10, 10.1};
    size_t settled = 1;
    while (settled <= 10 && !significance_settled(settling, settled, 2))
        settled++;
    assert_int_equal(settled, 8); /* 10 and 10.1 agree with 10.3 and 10.1 */
    assert_false(significance_settled(settling, 3, 2));
}

static void drift_is_told_from_noise(void **state)
{
    (void)state;
    double samples[300];
    unsigned alarms = 0;
    for (unsigned seed = 0; seed < REPEATS; seed++) {
        uint64_t random = seed;
        for (int i = 0; i < 300; i++)
            samples[i] = 10 + 0.3 * normal(&random);
        alarms += significance_drift(samples, 300) != 0;
        for (int i = 0; i < 300; i++)
            samples[i] *= 1 + 0.2 * i / 300;
        const double drift = significance_drift(samples, 300);
        assert_true(drift > 0.10 && drift < 0.16);
    }
    assert_true(alarms == 0);
    assert_true(significance_drift(samples, 9) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_match_their_definition),
        cmocka_unit_test(a_run_is_described),
        cmocka_unit_test(the_deviation_does_not_cancel),
        cmocka_unit_test(enough_samples_for_a_percentile),
        cmocka_unit_test(a_histogram_counts_every_sample_once),
        cmocka_unit_test(mann_whitney_matches_enumeration),
        cmocka_unit_test(a_planted_slow_down_is_found),
        cmocka_unit_test(the_same_twice_is_not_slower),
        cmocka_unit_test(selection_finds_what_sorting_finds),
        cmocka_unit_test(warm_up_ends_when_times_settle),
        cmocka_unit_test(drift_is_told_from_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
