// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/firmware_budget.h"

#include <string.h>

#include "apps/cli/options.h"
#include "engine/model_format.h"
#include "formats/compiler/program/emit_c.h"

/* Of linked programs and of frames that QEMU counted: tests/e2e/engine/boards.sh holds them against
 * both. */
static const struct {
    const char *cpu, *target;
    size_t code_bytes, stack_bytes; /* of LOAD, CONV and STORE, and all that runs them */
    double per_mac, per_sample;     /* instructions */
    double cycles;                  /* of an instruction */
} cpus[] = {
    {"cortex-m7", "armv7e-m", 22 << 10, 3 << 10, 0.80, 63, 1.0},
    {"cortex-m55", "armv8.1-m", 38 << 10, 7 << 10, 0.16, 14, 1.8},
    {"cortex-a53", "armv8", 55 << 10, 7 << 10, 0.27, 10.4, 1.5},
    {"cortex-a55", "armv8-dot", 54 << 10, 7 << 10, 0.085, 8.2, 1.5},
};

enum { CPUS = sizeof cpus / sizeof *cpus };

static bool is_known(const char *name, const mona_model *model)
{
    for (uint32_t o = 0; o < model->header->op_count; o++) {
        const uint32_t kind = model->ops[o].kind;
        if (kind != MONA_OP_LOAD && kind != MONA_OP_CONV && kind != MONA_OP_STORE)
            return cli_fail(0,
                            "%s: the size of the code is known of networks that consist of "
                            "convolutions; link this one to learn it",
                            name);
    }
    return true;
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
    if (!is_known(name, model))
        return false;
    if (!emit_c_measure(model, &request, &n, &error))
        return cli_fail(0, "%s at %ux%u: %s", name, size.width, size.height, error.text);
    const double instructions =
        (double)n.macs * cpus[i].per_mac + (double)n.samples * cpus[i].per_sample;
    const struct {
        const char *key;
        double value;
    } rows[] = {
        {"flash_code", (double)cpus[i].code_bytes},
        {"flash_tables", (double)n.table_bytes},
        {"flash_constants", (double)n.constant_bytes},
        {"flash", (double)(cpus[i].code_bytes + n.table_bytes + n.constant_bytes)},
        {"ram_arena", (double)n.arena_bytes},
        {"ram_stack", (double)cpus[i].stack_bytes},
        {"ram", (double)(n.arena_bytes + cpus[i].stack_bytes)},
        {"lines", n.lines.count},
        {"latency_lines", n.lines.latency},
        {"macs", (double)n.macs},
        {"frame_bytes", (double)n.plane_bytes},
        {"row_bytes", (double)n.ring_bytes},
        {"instructions", (double)(uint64_t)instructions},
        {"cycles", (double)(uint64_t)(instructions * cpus[i].cycles)},
    };
    cJSON *budget = cJSON_AddObjectToObject(document, "firmware");
    cJSON_AddStringToObject(budget, "cpu", cpu);
    cJSON_AddStringToObject(budget, "target", cpus[i].target);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        cJSON_AddNumberToObject(budget, rows[r].key, rows[r].value);
    return true;
}
