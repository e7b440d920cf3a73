// SPDX-License-Identifier: Apache-2.0
/* The compiler's fusions as a table of rules, which merge, move and remove nodes; which rules are
 * on; and what each did. */
#ifndef MONA_COMPILER_FUSION_H
#define MONA_COMPILER_FUSION_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/error.h"

typedef enum fusion_rule {
    FUSION_CONSTANTS,
    FUSION_DEAD_CODE,
    FUSION_VIEWS,
    FUSION_SHUFFLES,
    FUSION_QUANTISED,
    FUSION_TABLES,
    FUSION_COMMON,
    FUSION_PAD,
    FUSION_FOCUS,
    FUSION_AFFINE,
    FUSION_DEPTH_ORDER,
    FUSION_ACTIVATION,
    FUSION_ADD,
    FUSION_ADD_SLICE,
    FUSION_SPLIT,
    FUSION_LOAD,
    FUSION_PLACE,
    FUSION_DEPTH_STORE,
    FUSION_SLICE_STORE,
    FUSION_KERNEL,
    FUSION_RULES
} fusion_rule;

typedef struct fusion_row {
    const char *name, *pass; /* pass: the file that implements it */
    const char *does;
    bool mandatory; /* the engine has no operator for what would remain without it */
} fusion_row;

const fusion_row *fusion_rule_row(fusion_rule rule);

/* Zero-initialised: all rules are on. */
typedef struct fusion_switches {
    bool off[FUSION_RULES];
} fusion_switches;

/* Switches off all rules that are not mandatory. */
void fusion_switch_off(fusion_switches *switches);
/* Reads lines NAME:on or NAME:off in order. `all` stands for every rule that is not mandatory; #
 * starts a comment. */
bool fusion_read(fusion_switches *switches, const char *text, size_t size, format_error *error);

/* Why a rule did nothing. */
#define FUSION_IS_OFF "the rule is off"

/* A place where a rule applies: an operator that it is meant for. */
typedef struct fusion_event {
    fusion_rule rule;
    const char *node, *op_type; /* from ONNX; memory of the graph */
    const char *why_not;        /* NULL: the rule was applied */
    const char *outcome;        /* how close to the model's definition; NULL: equal */
    unsigned steps;             /* by how many steps the result may be off, according to outcome */
} fusion_event;

typedef struct fusion_log {
    fusion_event *events;
    size_t count, room;
    bool failed; /* out of memory: some events are missing */
} fusion_log;

void fusion_log_add(fusion_log *log, const fusion_event *event);
bool fusion_log_copy(fusion_log *to, const fusion_log *from);
void fusion_log_free(fusion_log *log);

/* How often a rule found an operator, and how often it was applied. */
typedef struct fusion_count {
    size_t matched, applied;
} fusion_count;

fusion_count fusion_log_count(const fusion_log *log, fusion_rule rule);

#endif
