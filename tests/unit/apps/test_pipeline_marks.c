// SPDX-License-Identifier: Apache-2.0
/* Results derived from the marks of a pipeline, on timelines written by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "apps/bench/report/bench_result.h"
#include "apps/bench/report/pipeline_marks.h"
#include "apps/cli/json_output.h"

enum { MS = 1000000, FRAMES = 6, STEPS = 3 };

/* A source with a frame every 10 ms and three steps: the first takes 2 ms, the second takes
 * `second` ms for each frame, the third takes 1 ms. Each step handles one frame at a time. */
static void play(pipeline_marks *m, const unsigned second[FRAMES])
{
    uint64_t free_at[STEPS] = {0};
    assert_true(pipeline_marks_open(m, FRAMES, NULL, 0)); /* no stages */
    assert_int_equal(m->steps, STEPS);
    m->count = FRAMES;
    for (unsigned f = 0; f < FRAMES; f++) {
        uint64_t ready = m->arrival[f] = (uint64_t)f * 10 * MS;
        const uint64_t takes[STEPS] = {2, second[f], 1};
        for (unsigned s = 0; s < STEPS; s++) {
            step_mark *mark = pipeline_mark(m, f, s);
            mark->begin = ready > free_at[s] ? ready : free_at[s];
            mark->end = ready = free_at[s] = mark->begin + takes[s] * MS;
        }
    }
}

/* Frame 1 takes 27 ms in the second step: it ends at 12 + 27 = 39, frame 2 then at 39 + 5, frame 3,
 * ready at 32, at 49, frame 4, ready at 42, at 54, and frame 5, ready at 52, at 59. */
static const unsigned stumble[FRAMES] = {5, 27, 5, 5, 5, 5};

static void works_and_waits_add_up(void **state)
{
    (void)state;
    static const double frames[FRAMES] = {8, 30, 25, 20, 15, 10},
                        waits[FRAMES] = {0, 0, 17, 12, 7, 2};
    pipeline_marks m;
    play(&m, stumble);
    for (unsigned f = 0; f < FRAMES; f++) {
        double sum = 0;
        for (unsigned s = 0; s < STEPS; s++)
            sum += pipeline_work_ms(&m, f, s) + pipeline_wait_ms(&m, f, s);
        assert_true(fabs(sum - frames[f]) < 1e-9);
        assert_true(fabs(pipeline_frame_ms(&m, f) - frames[f]) < 1e-9);
        assert_true(fabs(pipeline_wait_ms(&m, f, 1) - waits[f]) < 1e-9);
        assert_true(pipeline_work_ms(&m, f, 1) == stumble[f]);
    }
    pipeline_marks_close(&m);
}

static void queues_are_counted(void **state)
{
    (void)state;
    static const unsigned queues[FRAMES] = {1, 1, 2, 2, 1, 1};
    pipeline_marks m;
    play(&m, stumble);
    /* When frame 2 begins its second step, at 39, frame 3 has been waiting since 32; at 44, frame 4
     * since 42. */
    for (unsigned f = 0; f < FRAMES; f++)
        assert_int_equal(pipeline_queue(&m, f, 1), queues[f]);
    pipeline_marks_close(&m);
}

static void misses_are_counted_in_runs(void **state)
{
    (void)state;
    static const struct {
        double budget;
        size_t first, misses, run;
    } cases[] = {{30, 0, 0, 0}, {29.9, 0, 1, 1}, {19, 0, 3, 3},
                 {9, 0, 5, 5},  {7, 0, 6, 6},    {19, 3, 1, 1}};
    pipeline_marks m;
    play(&m, stumble);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        m.first = cases[i].first;
        const deadline_misses found = pipeline_misses(&m, cases[i].budget);
        assert_int_equal(found.misses, cases[i].misses);
        assert_int_equal(found.longest_run, cases[i].run);
    }
    pipeline_marks_close(&m);
}

/* Frames are done at 8, 40, 45, 50, 55, 60: off the 10 ms period by 22, -5, -5, -5, -5. */
static void the_beat_is_judged(void **state)
{
    (void)state;
    pipeline_marks m;
    play(&m, stumble);
    cJSON *result = cJSON_CreateObject();
    assert_true(pipeline_marks_add(result, &m, 10, 19));
    assert_true(fabs(json_number(result, "jitter_ms") - sqrt((22 * 22 + 4 * 25) / 5.0)) < 1e-7);
    assert_true(fabs(json_number(result, "fps") - 5 / 0.052) < 1e-6);
    const cJSON *interval = json_get(result, "interval");
    assert_true(json_number(interval, "p50_ms") == 5 && json_number(interval, "max_ms") == 32);
    const cJSON *late = json_get(json_get(result, "deadline"), "frames");
    assert_int_equal(cJSON_GetArraySize(late), 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(cJSON_GetArrayItem(late, i)->valueint, i + 1);
    assert_int_equal(cJSON_GetArraySize(json_get(result, "timeline")), FRAMES);
    cJSON_Delete(result);
    pipeline_marks_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(works_and_waits_add_up),
        cmocka_unit_test(queues_are_counted),
        cmocka_unit_test(misses_are_counted_in_runs),
        cmocka_unit_test(the_beat_is_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
