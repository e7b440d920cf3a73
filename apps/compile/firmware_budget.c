// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/inspect.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/json_output.h"
#include "apps/cli/options.h"
#include "apps/cli/table.h"
#include "engine/op/op.h"
#include "formats/compiler/program/emit_c.h"
#include "pipeline/job/limits.h"

/* ---- what was measured ----------------------------------------------------------------------- */

#define CPU_ROW(name, target, cycles)                                                              \
    {                                                                                              \
        name, target, cycles                                                                       \
    }
#define COMMA ,
static const struct {
    const char *name, *target;
    double cycles; /* of an instruction */
} cpus[] = {FIRMWARE_CPU_LIST(CPU_ROW, COMMA)};

enum { CPUS = sizeof cpus / sizeof *cpus };

enum {
    MEASURED_OPERATORS =
#define OPERATORS(count) count
#include "apps/compile/firmware_costs.inc"
};
_Static_assert(MEASURED_OPERATORS == (int)MONA_OP_COUNT,
               "operators have changed: run tests/boards/networks.py costs");

/* Bytes of the objects that a network as C consists of, and of its functions: for each, and for
 * each of its planes. stack: the most that any network was seen to take, and any with operators on
 * arrays. */
static const struct {
    uint32_t op[CPUS], plan[CPUS], conv[CPUS], epilogue[CPUS], isa[CPUS], shape[CPUS];
    uint32_t entry[CPUS], entry_plane[CPUS], stack[CPUS], array_stack[CPUS];
} layout = {
#define LAYOUT(member, ...) .member = {__VA_ARGS__},
#include "apps/compile/firmware_costs.inc"
};

/* Pixels that row kernels of CONV compute together; 0: costs do without. */
static const uint8_t pixels[2][CPUS] = {
#define PIXELS(half, ...) [half] = {__VA_ARGS__},
#include "apps/compile/firmware_costs.inc"
};

/* Sections of the library, as one: they are linked where any of these roots is. */
static const struct {
    uint64_t roots; /* EMIT_C_ROW and so on; 0: always */
    uint32_t bytes[CPUS];
} code[] = {
#define CODE(roots, ...) {roots, {__VA_ARGS__}},
#include "apps/compile/firmware_costs.inc"
};

/* Instructions for each of what emit_c_op counts, or of all variants of an operator, or of all
 * operators on arrays. An operator without a row of its own was not measured. */
enum { ANY_VARIANT = UINT8_MAX, ANY_ARRAY = UINT8_MAX };
static const struct {
    uint8_t kind, variant, half;
    uint16_t member;
    float each[CPUS];
} costs[] = {
#define COST(kind, variant, half, member, ...)                                                     \
    {kind, variant, half, offsetof(emit_c_op, member), {__VA_ARGS__}},
#include "apps/compile/firmware_costs.inc"
};

/* The same for each element that passes through a function. */
static const float functions[MONA_ACT_COUNT][2][CPUS] = {
#define FUNCTION(activation, half, ...) [activation][half] = {__VA_ARGS__},
#include "apps/compile/firmware_costs.inc"
};

/* ---- sums ------------------------------------------------------------------------------------ */

typedef struct budget {
    size_t cpu;
    mona_size size;
    emit_c_needs n;
    size_t code, tables;
    uint64_t buffers; /* of the caller: planes of a frame, or of a line */
    bool counted;     /* instructions of all operators are known */
    double instructions;
} budget;

static size_t code_of(uint64_t roots, size_t cpu)
{
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (!code[i].roots || code[i].roots & roots)
            bytes += code[i].bytes[cpu];
    return bytes;
}

static size_t tables_of(const emit_c_needs *n, size_t c)
{
    return n->record_bytes + layout.plan[c] + layout.isa[c] + n->op_count * layout.op[c] +
           n->conv_count * layout.conv[c] + n->epilogue_count * layout.epilogue[c] +
           n->plane_count * (layout.shape[c] + layout.entry_plane[c]) + layout.entry[c];
}

static double count_of(const emit_c_op *op, uint16_t member)
{
    uint64_t count;
    memcpy(&count, (const char *)op + member, sizeof count);
    return (double)count;
}

/* Negative: not known. */
static double instructions_of(const emit_c_op *op, size_t c)
{
    const double function = op->function ? functions[op->function][op->half][c] : 0;
    double sum = function * (double)op->elements;
    bool known = !op->function || function > 0, found = false;
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        const bool all = costs[i].variant == ANY_VARIANT;
        const bool kind = costs[i].kind == op->kind || (costs[i].kind == ANY_ARRAY && op->array);
        if (!kind || costs[i].half != op->half || (!all && costs[i].variant != op->variant))
            continue;
        found |= !all && costs[i].each[c] > 0;
        sum += costs[i].each[c] * count_of(op, costs[i].member);
    }
    return known && found ? sum : -1;
}

static bool measure(budget *b, const mona_model *model, size_t cpu, mona_size size,
                    format_error *error)
{
    const emit_c_request request = {.target = cpus[cpu].target,
                                    .name = "net",
                                    .size = size,
                                    .at_once = {pixels[0][cpu], pixels[1][cpu]}};
    *b = (budget){.cpu = cpu, .size = size, .counted = true};
    if (!emit_c_measure(model, &request, &b->n, error))
        return false;
    b->code = code_of(b->n.roots, cpu);
    b->tables = tables_of(&b->n, cpu);
    b->buffers = b->n.frame_bytes / (b->n.lines.count ? b->n.lines.count : 1);
    for (size_t o = 0; o < b->n.run_count; o++) {
        const double each = instructions_of(&b->n.ops[o], cpu);
        b->counted &= each >= 0;
        b->instructions += each > 0 ? each : 0;
    }
    return true;
}

static double flash_of(const budget *b)
{
    return (double)(b->code + b->tables + b->n.constant_bytes);
}

static uint32_t stack_of(const budget *b)
{
    uint32_t bytes = layout.stack[b->cpu];
    for (size_t o = 0; o < b->n.run_count; o++)
        if (b->n.ops[o].array && bytes < layout.array_stack[b->cpu])
            bytes = layout.array_stack[b->cpu];
    return bytes;
}

static double ram_of(const budget *b)
{
    return (double)(b->n.arena_bytes + stack_of(b));
}

/* ---- what a board has ------------------------------------------------------------------------ */

typedef struct board {
    double flash, ram, clock, fps; /* 0: not asked */
} board;

static bool read_board(const firmware_board *given, board *b)
{
    const struct {
        const char *option, *text;
        double thousand, *value;
    } rows[] = {{"--flash", given->flash, 1024, &b->flash},
                {"--ram", given->ram, 1024, &b->ram},
                {"--clock", given->clock, 1000, &b->clock}};
    *b = (board){.fps = given->fps};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].text && !limits_count(rows[i].text, rows[i].thousand, rows[i].value))
            return cli_misuse("%s: expected a number such as 512K, found %s", rows[i].option,
                              rows[i].text);
    return true;
}

static double frames_of(const budget *b, const board *on)
{
    return on->clock / (b->instructions * cpus[b->cpu].cycles);
}

enum { OVER_FLASH = 1, OVER_RAM = 2, OVER_TIME = 4 };

static unsigned excess(const budget *b, const board *on)
{
    return (on->flash && flash_of(b) > on->flash ? OVER_FLASH : 0) |
           (on->ram && ram_of(b) + (double)b->buffers > on->ram ? OVER_RAM : 0) |
           (on->fps && frames_of(b, on) < on->fps ? OVER_TIME : 0);
}

/* ---- what would make it fit ------------------------------------------------------------------ */

enum { SIZES = 16 };

static uint32_t scaled(uint32_t side, uint32_t share)
{
    const uint32_t even = side * share / SIZES / 8 * 8;
    return even ? even : side < 8 ? side : 8;
}

/* The largest of some smaller sizes that exceeds nothing of `limits`. */
static bool find_size(const budget *b, const mona_model *model, const board *on, unsigned limits,
                      budget *found)
{
    for (uint32_t share = SIZES - 1; share; share--) {
        const mona_size size = {scaled(b->size.width, share), scaled(b->size.height, share)};
        format_error error = {0};
        const bool measured = measure(found, model, b->cpu, size, &error);
        const bool fits = measured && !(excess(found, on) & limits);
        free(found->n.ops);
        if (fits)
            return true;
    }
    return false;
}

static void say(cJSON *advice, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(cJSON *advice, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cJSON_AddItemToArray(advice, cJSON_CreateString(text));
}

/* Sizes only where the model takes any. */
static void advise_sizes(cJSON *advice, const budget *b, const mona_model *model, const board *on)
{
    budget small;
    const unsigned over = excess(b, on);
    if (mona_model_input(model, 0).width || over & OVER_FLASH)
        return;
    if (find_size(b, model, on, OVER_RAM | OVER_TIME, &small))
        say(advice, "a smaller frame: %ux%u fits", small.size.width, small.size.height);
    if (over == OVER_RAM && find_size(b, model, on, OVER_RAM, &small))
        say(advice,
            "tiles: one of %ux%u fits the memory, each a frame of its own that overlaps its "
            "neighbours",
            small.size.width, small.size.height);
}

/* Most of the multiply-adds. */
static bool is_mostly_fp16(const budget *b)
{
    uint64_t half = 0;
    for (size_t o = 0; o < b->n.run_count; o++)
        half += b->n.ops[o].half && !b->n.ops[o].array ? b->n.ops[o].macs : 0;
    return half > b->n.macs / 2;
}

/* INT8 halves fp16 constants; code stays. */
static void advise_network(cJSON *advice, const budget *b, const board *on)
{
    const unsigned over = excess(b, on);
    const double constants = (double)b->n.constant_bytes, rest = flash_of(b) - constants;
    if (over & OVER_FLASH && rest >= on->flash)
        say(advice, "a flash of more than %.0f bytes, which code and tables take alone", rest);
    else if (is_mostly_fp16(b) && (!(over & OVER_FLASH) || rest + constants / 2 <= on->flash))
        say(advice,
            "INT8 (mona compile --calibrate): constants of about %.0f bytes in place of %.0f",
            constants / 2, constants);
    else if (over & OVER_FLASH)
        say(advice,
            "a smaller network: its constants take %.0f bytes, where there is room for %.0f",
            constants, on->flash - rest);
}

static void advise(cJSON *advice, const budget *b, const mona_model *model, const board *on)
{
    const unsigned over = excess(b, on);
    advise_network(advice, b, on);
    if (over & OVER_RAM && !b->n.lines.count)
        say(advice,
            "a size or a network that runs line by line: whole frames take %.0f bytes of memory",
            (double)b->buffers);
    advise_sizes(advice, b, model, on);
    if (over & OVER_TIME)
        say(advice, "a clock of %.0f MHz, or %.3g frames a second",
            on->fps * b->instructions * cpus[b->cpu].cycles / 1e6 + 0.5, frames_of(b, on));
}

/* "flash, ram" */
static void add_verdict(cJSON *to, const budget *b, const mona_model *model, const board *on)
{
    static const char *const names[] = {"flash", "ram", "time"};
    const unsigned over = excess(b, on);
    char text[64] = "";
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (over >> i & 1)
            table_append(text, sizeof text, names[i]);
    if (!on->flash && !on->ram && !on->fps)
        return;
    const bool known = b->counted || !on->fps;
    cJSON_AddStringToObject(to, "fits", over ? "no" : known ? "yes" : "not known");
    if (!over)
        return;
    cJSON_AddStringToObject(to, "exceeds", text);
    advise(cJSON_AddArrayToObject(to, "would_fit"), b, model, on);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_number(cJSON *to, const char *key, double value, bool known)
{
    known ? cJSON_AddNumberToObject(to, key, (double)(uint64_t)value)
          : cJSON_AddNullToObject(to, key);
}

static const char *type_of(const emit_c_op *op)
{
    static const char *const types[2][2] = {{"8-bit", "f16"}, {"arrays", "whole arrays"}};
    return types[op->array][op->half];
}

/* Of operators on arrays, as rows of COST have them. */
static void add_moves(cJSON *to, const emit_c_op *op)
{
    char key[32];
    if (!op->array)
        return;
    JSON_ADD(to, NUMBER("once", op->once), NUMBER("pieces", op->pieces));
    for (int t = 0; t < MONA_TYPE_COUNT; t++) {
        snprintf(key, sizeof key, "read[%d]", t);
        cJSON_AddNumberToObject(to, key, (double)op->read[t]);
        snprintf(key, sizeof key, "put[%d]", t);
        cJSON_AddNumberToObject(to, key, (double)op->put[t]);
    }
}

static void add_operators(cJSON *to, const budget *b)
{
    cJSON *rows = cJSON_AddArrayToObject(to, "operators");
    for (size_t o = 0; o < b->n.run_count; o++) {
        const emit_c_op *op = &b->n.ops[o];
        const double instructions = instructions_of(op, b->cpu);
        cJSON *row = json_add_object(rows);
        JSON_ADD(row, TEXT("op", mona_ops[op->kind]->name), TEXT("name", op->name),
                 TEXT("type", type_of(op)), NUMBER("variant", op->variant),
                 NUMBER("function", op->function), NUMBER("macs", op->macs),
                 NUMBER("steps", op->steps), NUMBER("padded", op->padded),
                 NUMBER("passes", op->passes), NUMBER("runs", op->runs), NUMBER("extra", op->extra),
                 NUMBER("elements", op->elements), NUMBER("converted", op->converted),
                 NUMBER("rows", op->rows), NUMBER("lines", op->lines));
        add_moves(row, op);
        add_number(row, "instructions", instructions, instructions >= 0);
    }
}

static void add_budget(cJSON *to, const budget *b, const mona_model *model, const board *on)
{
    const emit_c_needs *n = &b->n;
    const double cycles = b->instructions * cpus[b->cpu].cycles;
    const struct {
        const char *key;
        double value;
        bool known;
    } rows[] = {
        {"flash_code", (double)b->code, true},
        {"flash_tables", (double)b->tables, true},
        {"flash_constants", (double)n->constant_bytes, true},
        {"flash", flash_of(b), true},
        {"ram_arena", (double)n->arena_bytes, true},
        {"ram_stack", stack_of(b), true},
        {"ram", ram_of(b), true},
        {"ram_buffers", (double)b->buffers, true},
        {"lines", n->lines.count, true},
        {"latency_lines", n->lines.latency, true},
        {"macs", (double)n->macs, true},
        {"frame_bytes", (double)n->plane_bytes, true},
        {"row_bytes", (double)n->ring_bytes, true},
        {"instructions", b->instructions, b->counted},
        {"cycles", cycles, b->counted},
    };
    JSON_ADD(to, TEXT("cpu", cpus[b->cpu].name), TEXT("target", cpus[b->cpu].target));
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        add_number(to, rows[r].key, rows[r].value, rows[r].known);
    if (on->clock)
        b->counted ? cJSON_AddNumberToObject(to, "fps", (double)(long)(frames_of(b, on) * 10) / 10)
                   : cJSON_AddNullToObject(to, "fps");
    add_verdict(to, b, model, on);
    add_operators(to, b);
}

/* ---- public ---------------------------------------------------------------------------------- */

static bool add_cpu(cJSON *to, const char *name, const mona_model *model, size_t cpu,
                    mona_size size, const board *on)
{
    budget b;
    format_error error = {0};
    if (!measure(&b, model, cpu, size, &error))
        return cli_fail(0, "%s at %ux%u: %s", name, size.width, size.height, error.text);
    add_budget(to, &b, model, on);
    free(b.n.ops);
    return true;
}

bool firmware_budget(cJSON *document, const char *name, const mona_model *model, const char *cpu,
                     mona_size size, const firmware_board *given)
{
    size_t i = 0;
    board on;
    if (!read_board(given, &on))
        return false;
    if (!strcmp(cpu, FIRMWARE_ALL)) {
        cJSON *all = cJSON_AddArrayToObject(document, "firmware");
        for (; i < CPUS; i++)
            if (!add_cpu(json_add_object(all), name, model, i, size, &on))
                return false;
        return true;
    }
    while (i < CPUS && strcmp(cpus[i].name, cpu))
        i++;
    if (i == CPUS)
        return cli_misuse("--firmware: expected " FIRMWARE_CPUS "|" FIRMWARE_ALL ", found %s", cpu);
    return add_cpu(cJSON_AddObjectToObject(document, "firmware"), name, model, i, size, &on);
}

static void print_advice(const cJSON *of)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, json_get(of, "would_fit"))
        printf("  %s would fit with %s\n", json_string(of, "cpu"), item->valuestring);
}

/* Prints rows, of which each may lack a figure that is not known. */
static void print_rows(const cJSON *rows, const char *const *columns, size_t count)
{
    cJSON *copy = cJSON_Duplicate(rows, true), *row;
    cJSON_ArrayForEach(row, copy)
    {
        for (size_t i = 0; i < count; i++)
            if (cJSON_IsNull(json_get(row, columns[i])))
                cJSON_ReplaceItemInObject(row, columns[i], cJSON_CreateString("not known"));
    }
    printf("\n%s\n", rows->string);
    table_print(copy, columns, count);
    cJSON_Delete(copy);
}

void firmware_budget_print(const cJSON *document)
{
    static const char *const columns[] = {"cpu",          "flash",  "ram", "ram_buffers",
                                          "instructions", "cycles", "fps", "fits"};
    static const char *const op_columns[] = {"op",   "name",     "type",
                                             "macs", "elements", "instructions"};
    const cJSON *firmware = json_get(document, "firmware"), *item;
    char text[256];
    if (cJSON_IsArray(firmware)) {
        print_rows(firmware, columns, sizeof columns / sizeof *columns);
        cJSON_ArrayForEach(item, firmware) print_advice(item);
        return;
    }
    if (!firmware)
        return;
    printf("\nfirmware\n");
    cJSON_ArrayForEach(item, firmware) if (!cJSON_IsArray(item)) printf(
        "  %-15s %s\n", item->string,
        cJSON_IsNull(item) ? "not known" : table_cell(firmware, item->string, text, sizeof text));
    print_advice(firmware);
    print_rows(json_get(firmware, "operators"), op_columns, sizeof op_columns / sizeof *op_columns);
}
