// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/firmware_budget.h"

#include <string.h>

#include "apps/cli/options.h"
#include "formats/compiler/program/emit_c.h"
#include "engine/op/op.h"

/* Code of what a program may hold, in bytes. Functions of kernels that several operators share are
 * counted with each. */
typedef struct code_sizes {
    uint32_t runtime;                    /* what runs the operators, LOAD and STORE */
    uint32_t conv, depthwise, functions; /* kernels */
    uint32_t
        of[MONA_OP_COUNT]; /* further operators, with their kernels; 0: not known, which goes for
                                   those on arrays */
} code_sizes;

/* Of linked programs and of frames that QEMU counted: tests/e2e/engine/boards.sh holds them against
 * both. */
static const struct {
    const char *cpu, *target;
    size_t stack_bytes;         /* of operators on maps */
    double per_mac, per_sample; /* instructions, of LOAD, convolutions that are not depthwise, and
                                   STORE */
    double cycles;              /* of an instruction */
    code_sizes code;
} cpus[] = {
#define OPERATORS(elementwise, resize, shuffle, max, average, channels, norm, attend)              \
    {                                                                                              \
        [MONA_OP_ADD] = elementwise, [MONA_OP_MUL] = elementwise, [MONA_OP_RESIZE] = resize,       \
        [MONA_OP_DEPTH_TO_SPACE] = shuffle, [MONA_OP_MAX_POOL] = max,                              \
        [MONA_OP_AVERAGE_POOL] = average, [MONA_OP_CONCAT] = channels, [MONA_OP_SLICE] = channels, \
        [MONA_OP_NORMALISE] = norm, [MONA_OP_ATTENTION] = attend, [MONA_OP_PAD] = 1300             \
    }
    {"cortex-m7",
     "armv7e-m",
     3 << 10,
     0.80,
     63,
     1.0,
     {10 << 10, 12 << 10, 4400, 2600, OPERATORS(2400, 5600, 1000, 2100, 2400, 700, 1600, 2600)}},
    {"cortex-m55",
     "armv8.1-m",
     7 << 10,
     0.16,
     14,
     1.8,
     {25 << 10, 13 << 10, 4700, 2500, OPERATORS(13200, 7100, 1000, 2000, 2500, 600, 1600, 2600)}},
    {"cortex-a53",
     "armv8",
     7 << 10,
     0.27,
     10.4,
     1.5,
     {24 << 10, 31 << 10, 10300, 10300,
      OPERATORS(10700, 5000, 1100, 2400, 2900, 1000, 11700, 9300)}},
    {"cortex-a55",
     "armv8-dot",
     7 << 10,
     0.085,
     8.2,
     1.5,
     {24 << 10, 30 << 10, 10300, 10700,
      OPERATORS(10700, 5000, 1100, 2400, 2900, 1000, 11700, 9300)}},
#undef OPERATORS
};

enum { CPUS = sizeof cpus / sizeof *cpus };

static bool is_base(uint32_t kind)
{
    const mona_op_class *class = mona_ops[kind];
    return class->run->reads_planes || class->run->writes_planes || class->has_filter;
}

/* False: it has operators whose code is not known. */
static bool add_code(const code_sizes *code, const emit_c_needs *n, const char *name, size_t *bytes)
{
    *bytes = code->runtime + n->conv * code->conv + n->depthwise * code->depthwise +
             n->functions * code->functions;
    for (uint32_t kind = 0; kind < MONA_OP_COUNT; kind++) {
        if (!n->uses[kind] || is_base(kind))
            continue;
        if (!code->of[kind])
            return cli_fail(0,
                            "%s: the size of the code of %s is not known; link the network as C to "
                            "learn it",
                            name, mona_ops[kind]->name);
        *bytes += code->of[kind];
    }
    return true;
}

/* Whether instructions were counted of all that the network does. */
static bool is_counted(const emit_c_needs *n)
{
    for (uint32_t kind = 0; kind < MONA_OP_COUNT; kind++)
        if (n->uses[kind] && !is_base(kind))
            return false;
    return !n->depthwise && !n->functions;
}

bool firmware_budget(cJSON *document, const char *name, const mona_model *model, const char *cpu,
                     mona_size size)
{
    size_t i = 0;
    while (i < CPUS && strcmp(cpus[i].cpu, cpu))
        i++;
    if (i == CPUS)
        return cli_misuse("--firmware: expected %s, found %s", FIRMWARE_CPUS, cpu);
    const emit_c_request request = {.target = cpus[i].target, .name = "net", .size = size};
    format_error error = {0};
    emit_c_needs n;
    size_t code;
    if (!emit_c_measure(model, &request, &n, &error))
        return cli_fail(0, "%s at %ux%u: %s", name, size.width, size.height, error.text);
    if (!add_code(&cpus[i].code, &n, name, &code))
        return false;
    const double instructions =
        (double)n.macs * cpus[i].per_mac + (double)n.samples * cpus[i].per_sample;
    const struct {
        const char *key;
        double value;
    } rows[] = {
        {"flash_code", (double)code},
        {"flash_tables", (double)n.table_bytes},
        {"flash_constants", (double)n.constant_bytes},
        {"flash", (double)(code + n.table_bytes + n.constant_bytes)},
        {"ram_arena", (double)n.arena_bytes},
        {"ram_stack", (double)cpus[i].stack_bytes},
        {"ram", (double)(n.arena_bytes + cpus[i].stack_bytes)},
        {"lines", n.lines.count},
        {"latency_lines", n.lines.latency},
        {"macs", (double)n.macs},
        {"frame_bytes", (double)n.plane_bytes},
        {"row_bytes", (double)n.ring_bytes},
    };
    const struct {
        const char *key;
        double value;
    } times[] = {
        {"instructions", (double)(uint64_t)instructions},
        {"cycles", (double)(uint64_t)(instructions * cpus[i].cycles)},
    };
    cJSON *budget = cJSON_AddObjectToObject(document, "firmware");
    cJSON_AddStringToObject(budget, "cpu", cpu);
    cJSON_AddStringToObject(budget, "target", cpus[i].target);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        cJSON_AddNumberToObject(budget, rows[r].key, rows[r].value);
    for (size_t t = 0; t < sizeof times / sizeof *times; t++)
        is_counted(&n) ? cJSON_AddNumberToObject(budget, times[t].key, times[t].value)
                       : cJSON_AddNullToObject(budget, times[t].key);
    return true;
}
