// SPDX-License-Identifier: Apache-2.0
/* mona ops: the operators that mona knows, from the table that the compiler and the reference
 * use. */
#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "apps/cli/commands.h"
#include "formats/compiler/graph/fusion.h"
#include "formats/compiler/import/operators.h"
#include "formats/reference/operators.h"
#include "apps/cli/json_output.h"
#include "apps/cli/table.h"

typedef struct arguments {
    bool engine, fusion, json;
} arguments;

/* Writes "2", "1-3" or "1 or more". */
static void inputs_text(const reference_row *row, char *text, size_t size)
{
    if (row->max_inputs == OPERATOR_ANY_COUNT)
        snprintf(text, size, "%u or more", row->min_inputs);
    else if (row->min_inputs == row->max_inputs)
        snprintf(text, size, "%u", row->min_inputs);
    else
        snprintf(text, size, "%u-%u", row->min_inputs, row->max_inputs);
}

static cJSON *describe(const operator_row *row)
{
    char types[384], inputs[32];
    const reference_row *about = reference_find(row->name);
    cJSON *entry = cJSON_CreateObject();
    reference_types(about->types, types, sizeof types);
    inputs_text(about, inputs, sizeof inputs);
    JSON_ADD(entry, TEXT("operator", row->name), NUMBER("since", about->since),
             TEXT("inputs", inputs), TEXT("maps", row->import ? row->maps : ""),
             TEXT("precisions", row->import ? "fp16, int8" : ""),
             TEXT("arrays", row->array ? row->arrays : ""), TEXT("types", types));
    return entry;
}

static cJSON *operators(bool engine)
{
    cJSON *list = cJSON_CreateArray();
    const operator_row *row;
    for (size_t i = 0; (row = operator_at(i)); i++)
        if (row->import || row->array || !engine)
            cJSON_AddItemToArray(list, describe(row));
    return list;
}

static cJSON *fusion_rules(void)
{
    cJSON *list = cJSON_CreateArray();
    for (int r = 0; r < FUSION_RULES; r++) {
        const fusion_row *row = fusion_rule_row((fusion_rule)r);
        cJSON *entry = json_add_object(list);
        JSON_ADD(entry, TEXT("rule", row->name), TEXT("may be off", row->mandatory ? "no" : "yes"),
                 TEXT("pass", row->pass), TEXT("does", row->does));
    }
    return list;
}

enum { OPS_FUSION = 1 << 0 }; /* the bit of its mode */

static int run(void *values, const command_line *line)
{
    arguments *a = values;
    static const char *const keys[] = {"operator",   "since",  "inputs", "maps",
                                       "precisions", "arrays", "types"};
    static const char *const rule_keys[] = {"rule", "may be off", "pass", "does"};
    if (!options_suit(&command_ops, &line->given, a->fusion ? OPS_FUSION : 0))
        return EXIT_USAGE;
    cJSON *list = a->fusion ? fusion_rules() : operators(a->engine);
    int status = EXIT_SUCCESS;
    if (a->json)
        status = json_print(list);
    else if (a->fusion)
        table_print(list, rule_keys, sizeof rule_keys / sizeof *rule_keys);
    else
        table_print(list, keys, sizeof keys / sizeof *keys);
    cJSON_Delete(list);
    return status;
}

static const char output[] = "Output";

static const option options[] = {
    {"--engine", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(arguments, engine), NULL, output,
     .help = "list only what the engine runs"},
    {"--fusion", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(arguments, fusion), NULL, output,
     .help = "list the rules by which mona compile merges operators"},
    {"--json", NULL, OPTION_FLAG, KEEPS_BYTES, offsetof(arguments, json), NULL, output,
     .help = "print JSON"},
};

static const option_rule rules[] = {{"--engine", .never = OPS_FUSION}};

const command command_ops = {
    .name = "ops",
    .summary = "list the ONNX operators that mona knows",
    .run = run,
    .values = &(arguments){0},
    .confined = CONFINED_NEVER,
    .usage = "[OPTION]...",
    .description =
        "Lists the ONNX operators that mona knows, from operator sets 6 to 28: the set that "
        "introduced each one, its inputs, the form in which the engine runs it on maps ([1, "
        "channels, height, width], any size; fast) and on arrays (any shape of fixed size, in fp32 "
        "or integers), and the types that its first input can have. mona uses the form on maps "
        "wherever it can. An operator without either form is computed at compile time if its "
        "inputs are constant, and is refused otherwise. The host and model310 run the same forms.",
    .examples = "mona ops --engine  # what a model may use to run as a whole\n",
    .parts = {{OPTIONS(options), RULES(rules)}},
    .modes = {"--fusion"},
};
