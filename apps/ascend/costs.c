// SPDX-License-Identifier: Apache-2.0
/* Measures the constants that model310 estimates, with programs that repeat one instruction. */
#include <stdio.h>
#include <stdlib.h>

#include "apps/ascend/light.h"

/* Seconds of one more instruction; with `alone`, each waits until the one before is done. */
static bool time_of(const light *l, const ac_instruction *i, bool alone, double *seconds)
{
    enum { FEW = 200, MANY = 20200 };
    double t[2];
    for (int many = 0; many < 2; many++) {
        size_t bytes;
        light_begin();
        for (int k = 0; k < (many ? MANY : FEW); k++) {
            light_take(i);
            if (alone)
                light_barrier();
        }
        light_barrier();
        uint8_t *program = light_finish(l, &bytes);
        const bool ok = program && light_run(l, program, bytes, 5, &t[many]);
        free(program);
        if (!ok)
            return false;
    }
    *seconds = t[1] > t[0] ? (t[1] - t[0]) / (MANY - FEW) : 0;
    return true;
}

/* A program that does nothing: what a task costs, with its copies. */
static bool time_of_nothing(const light *l, double *seconds)
{
    size_t bytes;
    light_begin();
    light_barrier();
    uint8_t *program = light_finish(l, &bytes);
    const bool ok = program && light_run(l, program, bytes, 20, seconds);
    free(program);
    return ok;
}

static double clock_mhz(void)
{
    mona_telemetry t;
    return mona_device_telemetry(&mona_device_ascend, &t) || !(t.clock_mhz > 0)
               ? 680
               : (double)t.clock_mhz;
}

/* The kernel takes `replay` cycles to read and issue an instruction before that can begin; its time
 * for a barrier passes while the instruction works. So latencies are at most these. */
static bool write_costs(const light *l, FILE *f)
{
    enum { ISSUE = 2, OF_WORK = 4 }; /* issuing, as model310 counts it; moving 32 bytes */
    const ac_copy block = {1, 1, 0, 0};
    const ac_instruction add = {.opcode = AC_OP_VEC2 + AC_VADD,
                                .dst = ac_at(AC_UB, 0),
                                .a = ac_at(AC_UB, 0),
                                .b = ac_at(AC_UB, 256),
                                .vector = {1, 128, 1, 1, 1, 8, 8, 8}};
    const struct {
        const char *cost;
        ac_instruction i;
        double work; /* cycles that a latency excludes */
    } rows[] = {
        {"vector_latency", add, 1},
        {"copy_latency",
         {.opcode = AC_OP_COPY + AC_GM_UB,
          .dst = ac_at(AC_UB, 0),
          .a = ac_at(AC_GM, 0),
          .copy = block},
         OF_WORK},
        {"local_latency",
         {.opcode = AC_OP_COPY + AC_UB_L1,
          .dst = ac_at(AC_L1, 0),
          .a = ac_at(AC_UB, 0),
          .copy = block},
         OF_WORK},
        {"drain_latency",
         {.opcode = AC_OP_DRAIN + AC_DRAIN_F32_F16,
          .dst = ac_at(AC_UB, 0),
          .a = ac_at(AC_L0C, 0),
          .b = AC_NOWHERE,
          .copy = block},
         OF_WORK},
    };
    const double mhz = clock_mhz();
    double task, seconds;
    if (!time_of_nothing(l, &task) || !time_of(l, &add, false, &seconds))
        return false;
    const double replay = 1e6 * seconds * mhz;
    fprintf(f, "{\n  \"clock_mhz\": %.0f,\n  \"task_launch\": %.3f,\n  \"replay\": %.1f", mhz,
            1e6 * task, replay > ISSUE ? replay - ISSUE : 0);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (!time_of(l, &rows[k].i, true, &seconds))
            return false;
        const double cycles = 1e6 * seconds * mhz - replay - rows[k].work;
        fprintf(f, ",\n  \"%s\": %.1f", rows[k].cost, cycles > 0 ? cycles : 0);
    }
    fprintf(f, "\n}\n");
    return true;
}

bool costs_measure(const light *l, const char *file)
{
    FILE *f = fopen(file, "w");
    const bool ok = f && write_costs(l, f);
    return (!f || !fclose(f)) && ok ? true : light_fail("the file of costs was not written");
}
