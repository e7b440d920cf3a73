// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/precision/layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Links layers that have the same source. */
static bool link_sources(layers *l, const graph *g)
{
    unsigned *last = malloc((g->value_count + 1) * sizeof *last); /* [values]: of this source */
    for (unsigned i = 0; last && i < l->count; i++)
        last[l->items[i].source] = UINT32_MAX;
    for (unsigned i = 0; last && i < l->count; i++) {
        layer *a = &l->items[i];
        const unsigned before = last[a->source];
        a->next = before == UINT32_MAX ? i : l->items[before].next;
        if (before != UINT32_MAX)
            l->items[before].next = i;
        last[a->source] = i;
    }
    free(last);
    return last;
}

bool layers_find(layers *l, graph *g, format_error *error)
{
    l->count = 0;
    l->items = graph_alloc(g, g->node_count ? g->node_count : 1, sizeof *l->items);
    if (!l->items)
        return format_fail(error, "out of memory");
    for (uint32_t i = 0; i < g->node_count; i++) {
        if (!kind_has_filter(&g->nodes[i]))
            continue;
        const uint32_t source = quantize_root(g, g->nodes[i].inputs[0]);
        const value_format prequantised = g->values[source].prequantised;
        l->items[l->count++] = (layer){
            .about = {.name = g->nodes[i].name,
                      .source = g->values[source].name,
                      .int8 = !(prequantised.scale > 0 && prequantised.type == MONA_F16),
                      .prequantised = prequantised.scale > 0,
                      .cosine = NAN,
                      .sqnr = NAN,
                      .saturated = NAN,
                      .drop = NAN,
                      .fp16_cost = NAN,
                      .int8_cost = NAN},
            .node = i,
            .source = source,
        };
    }
    return link_sources(l, g) || format_fail(error, "out of memory");
}

void layers_set_source(layers *l, graph *g, unsigned i, bool int8)
{
    unsigned k = i;
    g->values[l->items[i].source].half = !int8;
    do {
        l->items[k].about.int8 = int8;
        k = l->items[k].next;
    } while (k != i);
}

void layers_set(layers *l, graph *g, bool int8)
{
    for (uint32_t i = 0; i < g->value_count; i++)
        if (!(g->values[i].prequantised.scale > 0))
            g->values[i].half = !int8;
    for (unsigned i = 0; i < l->count; i++) {
        compiler_layer *a = &l->items[i].about;
        if (a->prequantised)
            continue;
        a->int8 = a->pinned ? a->int8 : int8; /* as all that read the same */
        g->values[l->items[i].source].half = !a->int8;
    }
}

bool layers_note_made(layers *l, const graph *g, const compiler_options *options,
                      format_error *error)
{
    value_format *formats = calloc(g->value_count + 1, sizeof *formats);
    if (!formats)
        return format_fail(error, "out of memory");
    const bool ok = quantize_values(g, options, formats, error);
    for (unsigned i = 0; ok && i < l->count; i++) {
        compiler_layer *a = &l->items[i].about;
        a->made_int8 = !format_is_half(formats[g->nodes[l->items[i].node].inputs[0]]);
        a->why_half = a->made_int8 ? NULL : quantize_why_half(g, options, l->items[i].source);
    }
    free(formats);
    return ok;
}

/* ---- pins --------------------------------------------------------------------------------- */

/* The Levenshtein distance between the first LONGEST characters. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t row[LONGEST + 1];
    const size_t n = strnlen(a, LONGEST), m = strnlen(b, LONGEST);
    for (size_t k = 0; k <= m; k++)
        row[k] = k;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t k = 1; k <= m; k++) {
            const size_t changed = corner + (a[i - 1] != b[k - 1]);
            const size_t shorter = (row[k] < row[k - 1] ? row[k] : row[k - 1]) + 1;
            corner = row[k];
            row[k] = changed < shorter ? changed : shorter;
        }
    }
    return row[m];
}

static bool no_such_layer(const layers *l, const char *name, format_error *error)
{
    enum { NEAR = 3 };
    const char *near[NEAR] = {0};
    for (int n = 0; n < NEAR; n++)
        for (unsigned i = 0; i < l->count; i++) {
            const char *found = l->items[i].about.name;
            bool taken = false;
            for (int k = 0; k < n; k++)
                taken = taken || (near[k] && !strcmp(near[k], found));
            if (!taken && (!near[n] || distance(name, found) < distance(name, near[n])))
                near[n] = found;
        }
    return format_fail(error, "no layer is called '%.80s'; near it are%s%.80s%s%.80s%s%.80s", name,
                       near[0] ? " " : " none", near[0] ? near[0] : "", near[1] ? ", " : "",
                       near[1] ? near[1] : "", near[2] ? ", " : "", near[2] ? near[2] : "");
}

bool layers_pin(layers *l, graph *g, const char *name, bool int8, format_error *error)
{
    unsigned i = l->count; /* the last: copies for a layer are before it and have its name */
    while (i && strcmp(l->items[i - 1].about.name, name))
        i--;
    if (!i--)
        return no_such_layer(l, name, error);
    if (int8 && !l->items[i].about.int8 && l->items[i].about.prequantised)
        return format_fail(
            error,
            "layer '%.80s' cannot be int8: 8 bits do not hold its weights, or what it "
            "reads is joined from several formats",
            name);
    for (uint32_t k = 0; k < g->node_count && !int8; k++)
        if (g->nodes[k].after_add.lookup &&
            quantize_root(g, g->nodes[k].output) == l->items[i].source)
            return format_fail(
                error,
                "layer '%.80s' cannot be fp16: a table of 8 bits makes '%.80s', which it reads; "
                "without the fusion rule quantised-functions it can",
                name, l->items[i].about.source);
    for (unsigned k = 0; k < l->count; k++) {
        const layer *other = &l->items[k];
        if (other->source == l->items[i].source && other->about.pinned && other->about.int8 != int8)
            return format_fail(
                error, "layer '%.80s' cannot be %s: layer '%.80s' is not, and both read '%.80s'",
                name, int8 ? "int8" : "fp16", other->about.name, other->about.source);
    }
    layers_set_source(l, g, i, int8);
    for (unsigned k = 0; k < l->count; k++)
        if (l->items[k].source == l->items[i].source)
            l->items[k].about.pinned = true;
    return true;
}

/* ---- cost --------------------------------------------------------------------------------- */

void layers_cost(layers *l, const graph *g, const cost_target *target)
{
    for (unsigned i = 0; i < l->count; i++) {
        const graph_node *node = &g->nodes[l->items[i].node];
        const observation *seen = g->values[node->output].seen;
        const uint64_t pixels = seen ? (uint64_t)seen->rows * seen->columns : 1;
        l->items[i].about.fp16_cost = cost_conv(target, g, node, pixels, false);
        l->items[i].about.int8_cost = cost_conv(target, g, node, pixels, true);
        bool first = true; /* the layer that pays for what makes its source */
        for (unsigned k = 0; k < i; k++)
            first = first && l->items[k].source != l->items[i].source;
        if (!first)
            continue;
        l->items[i].about.fp16_cost += cost_functions(target, g, l->items[i].source, false);
        l->items[i].about.int8_cost += cost_functions(target, g, l->items[i].source, true);
    }
}
