// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/graph/fusion.h"

#include <stdlib.h>
#include <string.h>

#include "formats/blocks.h"

static const fusion_row rows[FUSION_RULES] = {
    [FUSION_CONSTANTS] = {"constants", "reference/fold.c",
                          "values that depend only on constants and known shapes are computed",
                          true},
    [FUSION_DEAD_CODE] = {"dead-code", "reference/fold.c, compiler/import/import.c",
                          "operators that no output depends on are left out", true},
    [FUSION_VIEWS] = {"views", "compiler/import/import.c",
                      "operators that move no data, such as Reshape and Identity, only rename",
                      true},
    [FUSION_SHUFFLES] = {"shuffles", "compiler/import/import_depth.c",
                         "Reshape - Transpose - Reshape becomes one rearrangement of pixels", true},
    [FUSION_QUANTISED] = {"quantised",
                          "compiler/import/import_quantize.c, compiler/passes/absorb.c",
                          "QuantizeLinear, DequantizeLinear and QLinear operators on maps become "
                          "how layers store their results: as INT8 with the model's own scales",
                          false},
    [FUSION_TABLES] = {"quantised-functions", "compiler/passes/tabulate.c",
                       "what is computed from one 8-bit number up to another QuantizeLinear, such "
                       "as x * sigmoid(x), becomes a table",
                       false},
    [FUSION_COMMON] = {"common-subexpressions", "compiler/passes/common.c",
                       "of several operators that compute the same value, one is kept", false},
    [FUSION_PAD] = {"pad", "compiler/passes/fold.c",
                    "padding with zeros goes into the convolution after it", false},
    [FUSION_FOCUS] = {"focus", "compiler/passes/focus.c",
                      "slices of every n-th row and column, concatenated, go into the convolution "
                      "after them",
                      false},
    [FUSION_AFFINE] = {"affine", "compiler/passes/fold.c",
                       "batch normalisation, scales and offsets go into the convolution before or "
                       "after them",
                       false},
    [FUSION_DEPTH_ORDER] = {"depth-order", "compiler/passes/order.c",
                            "depth-first DepthToSpace permutes the convolution before it, and "
                            "SpaceToDepth of an input the one after it",
                            true},
    [FUSION_ACTIVATION] = {"activation", "compiler/passes/fuse.c",
                           "activations go into the operator before them", false},
    [FUSION_ADD] = {"residual-add", "compiler/passes/fuse.c",
                    "a sum goes into the convolution that makes one of its operands", false},
    [FUSION_ADD_SLICE] = {"residual-slice", "compiler/passes/fuse.c",
                          "the same where the other operand is a slice from channel 0, which is "
                          "read in place",
                          true},
    [FUSION_SPLIT] = {"split", "compiler/passes/split.c",
                      "slices of a convolution's results that are not whole blocks of 16 become "
                      "convolutions of their own",
                      false},
    [FUSION_LOAD] = {"load", "compiler/lower/lower.c",
                     "Concat and SpaceToDepth of inputs are done while their planes are loaded",
                     true},
    [FUSION_PLACE] = {"place", "compiler/lower/lower_channels.c",
                      "Concat and slices of computed channels that are whole blocks (16; on the "
                      "310 32 of 8 bits) are written and read in place, not copied",
                      false},
    [FUSION_DEPTH_STORE] = {"depth-store", "compiler/lower/lower.c",
                            "DepthToSpace at an output is done while its planes are stored", false},
    [FUSION_SLICE_STORE] = {"slice-store", "compiler/lower/lower.c",
                            "slices at an output select the channels that are stored", true},
    [FUSION_KERNEL] = {"kernel", "compiler/import/pattern_kernel.c",
                       "what the pattern beside a kernel of --kernels describes becomes a call of "
                       "it",
                       false},
};

const fusion_row *fusion_rule_row(fusion_rule rule)
{
    return &rows[rule];
}

void fusion_switch_off(fusion_switches *switches)
{
    for (int r = 0; r < FUSION_RULES; r++)
        switches->off[r] = !rows[r].mandatory;
}

/* ---- rule files ----------------------------------------------------------------------------- */

typedef struct word {
    const char *text;
    size_t length;
} word;

static bool equals(word w, const char *text)
{
    return w.length == strlen(text) && !memcmp(w.text, text, w.length);
}

static word trimmed(const char *begin, const char *end)
{
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    while (begin < end && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    return (word){begin, (size_t)(end - begin)};
}

static int rule_called(word name)
{
    for (int r = 0; r < FUSION_RULES; r++)
        if (equals(name, rows[r].name))
            return r;
    return -1;
}

/* Reads a line without its comment and its end. */
static bool read_line(fusion_switches *switches, unsigned line, word w, format_error *error)
{
    const char *colon = memchr(w.text, ':', w.length);
    const word name = trimmed(w.text, colon ? colon : w.text + w.length);
    const word value = colon ? trimmed(colon + 1, w.text + w.length) : (word){"", 0};
    const bool on = equals(value, "on"), all = equals(name, "all");
    const int rule = rule_called(name);
    if (!colon || (!on && !equals(value, "off")))
        return format_fail(error, "line %u: expected NAME:on or NAME:off, found '%.*s'", line,
                           (int)(w.length < 80 ? w.length : 80), w.text);
    if (!all && rule < 0)
        return format_fail(error, "line %u: no rule '%.*s'; mona ops --fusion lists them", line,
                           (int)(name.length < 80 ? name.length : 80), name.text);
    if (!all && !on && rows[rule].mandatory)
        return format_fail(error, "line %u: rule '%s' is mandatory", line, rows[rule].name);
    for (int r = 0; r < FUSION_RULES; r++)
        if (r == rule || (all && !rows[r].mandatory))
            switches->off[r] = !on;
    return true;
}

bool fusion_read(fusion_switches *switches, const char *text, size_t size, format_error *error)
{
    const char *end = text + size;
    for (unsigned line = 1; text < end; line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop ? stop : end;
        const char *comment = memchr(text, '#', (size_t)(stop - text));
        const word w = trimmed(text, comment ? comment : stop);
        if (w.length && !read_line(switches, line, w, error))
            return false;
        text = stop < end ? stop + 1 : end;
    }
    return true;
}

/* ---- the log -------------------------------------------------------------------------------- */

void fusion_log_add(fusion_log *log, const fusion_event *event)
{
    if (list_grow((void **)&log->events, &log->room, log->count, sizeof *log->events))
        log->events[log->count++] = *event;
    else
        log->failed = true;
}

bool fusion_log_copy(fusion_log *to, const fusion_log *from)
{
    *to = (fusion_log){.failed = from->failed};
    for (size_t i = 0; i < from->count; i++)
        fusion_log_add(to, &from->events[i]);
    return to->count == from->count;
}

void fusion_log_free(fusion_log *log)
{
    free(log->events);
    *log = (fusion_log){0};
}

fusion_count fusion_log_count(const fusion_log *log, fusion_rule rule)
{
    fusion_count count = {0, 0};
    for (size_t i = 0; i < log->count; i++)
        if (log->events[i].rule == rule) {
            count.matched++;
            count.applied += !log->events[i].why_not;
        }
    return count;
}
