// SPDX-License-Identifier: Apache-2.0
/* Finds the fastest plan within a budget.
 *
 * The choice is the format of every value that convolutions read: 8 bits or F16. The judge is asked
 * about all FP16, all INT8, and each value alone in 8 bits. If all INT8 loses too much, values are
 * changed to F16, beginning with those that alone cause the most noise for the time they save.
 * Bisection finds the smallest number that the judge accepts, since more FP16 loses less, apart
 * from chance. Some values may have been changed by chance, or needlessly because a later one was
 * the cause. So values are changed back to INT8 one by one, the last first, as long as the judge
 * accepts. */
#include <math.h>
#include <stdlib.h>

#include "formats/compiler/precision/layers.h"
#include "formats/compiler/lower/lower.h"

enum { MAX_GIVEN_BACK = 24 };

typedef struct unit {
    unsigned layer; /* any of those that read the value */
    double saved;   /* in cost */
    double noise;   /* of the 8 bits, if no other value has them */
} unit;

typedef struct search {
    graph *g;
    layers *l;
    const compiler_options *options;
    const cost_target *target;
    const compiler_judge *judge;
    compiler_choice *choice;
    double max_drop;
    unit *units; /* those whose format is free */
    unsigned count;
    format_error *error;
} search;

static bool ask(search *s, bool quick, compiler_loss *loss)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (!lower_graph(s->g, s->options, &bytes, &size, s->error))
        return false;
    const bool ok = s->judge->judge(s->judge->context, bytes, size, quick, loss, s->error);
    free(bytes);
    s->choice->trials++;
    return ok;
}

static double cost_of(const search *s)
{
    double sum = 0;
    for (unsigned i = 0; i < s->l->count; i++) {
        const compiler_layer *a = &s->l->items[i].about;
        sum += a->int8 ? a->int8_cost : a->fp16_cost;
    }
    return sum;
}

static void set(search *s, unsigned u, bool int8)
{
    layers_set_source(s->l, s->g, s->units[u].layer, int8);
}

/* ---- what there is to choose -------------------------------------------------------------- */

static bool read_by_conv(const search *s, uint32_t root)
{
    for (unsigned i = 0; i < s->l->count; i++)
        if (s->l->items[i].source == root)
            return true;
    return false;
}

static bool costs_more_in_half(const search *s, uint32_t root)
{
    return cost_functions(s->target, s->g, root, false) >
           cost_functions(s->target, s->g, root, true);
}

/* Values that no convolution reads gain nothing from 8 bits, unless they end as planes of 8 bits or
 * come from a function that takes less time so. */
static void keep_precise(search *s, const value_format *formats)
{
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        const uint32_t v = s->g->nodes[i].output;
        if (quantize_root(s->g, v) == v && !(s->g->values[v].prequantised.scale > 0) &&
            !read_by_conv(s, v) && !quantize_is_planes(s->g, s->options, v) &&
            !format_is_half(formats[v]) && quantize_fits_half(s->g, v) && !costs_more_in_half(s, v))
            s->g->values[v].half = true;
    }
}

/* Values that fp16 cannot hold can neither be stored as F16 nor be the sums of an FP16 layer. */
static bool needs_int8(const search *s, uint32_t source)
{
    bool needs = !quantize_fits_half(s->g, source);
    for (unsigned i = 0; i < s->l->count && !needs; i++) {
        const uint32_t made = quantize_root(s->g, s->g->nodes[s->l->items[i].node].output);
        needs = s->l->items[i].source == source && !quantize_fits_half(s->g, made);
    }
    return needs;
}

/* The saving of a single layer is modelled, but each switch of precision between layers costs too.
 * For savings that hardly show, noise decides. */
static void add_cost_of_switching(search *s)
{
    double mean = 0;
    for (unsigned u = 0; u < s->count; u++)
        mean += s->units[u].saved / s->count;
    for (unsigned u = 0; u < s->count; u++)
        s->units[u].saved += mean / 4;
}

static bool find_units(search *s, const value_format *formats)
{
    s->units = calloc(s->l->count ? s->l->count : 1, sizeof *s->units);
    if (!s->units)
        return format_fail(s->error, "out of memory");
    for (unsigned i = 0; i < s->l->count; i++) {
        const layer *a = &s->l->items[i];
        double saved = 0;
        bool first = true;
        for (unsigned k = 0; k < s->l->count; k++)
            if (s->l->items[k].source == a->source) {
                first = first && k >= i;
                saved += s->l->items[k].about.fp16_cost - s->l->items[k].about.int8_cost;
            }
        if (!first || a->about.pinned || a->about.prequantised)
            continue;
        const bool needed = needs_int8(s, a->source);
        const bool gains = saved > 0 && !format_is_half(formats[a->source]);
        layers_set_source(s->l, s->g, i, gains || needed);
        if (gains && !needed)
            s->units[s->count++] = (unit){i, saved, 0};
    }
    add_cost_of_switching(s);
    return true;
}

/* ---- the search --------------------------------------------------------------------------- */

/* Sorts by noise per time saved, most first, and then by layer, so that the order is the same
 * everywhere. */
static int by_worth(const void *a, const void *b)
{
    const unit *x = a, *y = b;
    const double p = x->noise / x->saved, q = y->noise / y->saved;
    return p > q ? -1 : p < q ? 1 : (x->layer > y->layer) - (x->layer < y->layer);
}

static void set_all(search *s, bool int8)
{
    for (unsigned u = 0; u < s->count; u++)
        set(s, u, int8);
}

/* Tries every unit alone, and leaves all FP16. Noise that all FP16 has, too, is none of a unit's:
 * where little is saved it would look like much for that. */
static bool try_alone(search *s)
{
    compiler_loss none;
    set_all(s, false);
    if (!ask(s, true, &none))
        return false;
    for (unsigned u = 0; u < s->count; u++) {
        compiler_loss loss;
        set(s, u, true);
        if (!ask(s, true, &loss))
            return false;
        set(s, u, false);
        s->units[u].noise = fmax(loss.noise - none.noise, 0);
        const uint32_t source = s->l->items[s->units[u].layer].source;
        for (unsigned i = 0; i < s->l->count; i++)
            if (s->l->items[i].source == source)
                s->l->items[i].about.drop = loss.drop;
    }
    return true;
}

/* Tries the first n units in FP16 and the others in INT8. */
static bool try_prefix(search *s, unsigned n, compiler_loss *loss)
{
    for (unsigned u = 0; u < s->count; u++)
        set(s, u, u >= n);
    return ask(s, false, loss);
}

/* Finds the fewest units that must be FP16: too few at `low`, enough at `high`. */
static bool bisect(search *s)
{
    unsigned low = 0, high = s->count;
    while (high - low > 1) {
        compiler_loss loss;
        const unsigned middle = low + (high - low) / 2;
        if (!try_prefix(s, middle, &loss))
            return false;
        if (loss.drop <= s->max_drop) {
            high = middle;
            s->choice->chosen = loss;
        } else {
            low = middle;
        }
    }
    for (unsigned u = 0; u < s->count; u++)
        set(s, u, u >= high);
    return true;
}

static bool give_back(search *s)
{
    unsigned tried = 0;
    /* Units are sorted by worth, so the last FP16 ones mattered least. */
    for (unsigned u = s->count; u-- > 0 && tried < MAX_GIVEN_BACK;) {
        compiler_loss loss;
        if (s->l->items[s->units[u].layer].about.int8)
            continue;
        tried++;
        set(s, u, true);
        if (!ask(s, false, &loss))
            return false;
        if (loss.drop <= s->max_drop)
            s->choice->chosen = loss;
        else
            set(s, u, false);
    }
    return true;
}

static bool choose(search *s)
{
    compiler_choice *c = s->choice;
    set_all(s, true);
    c->int8_cost = cost_of(s);
    if (!ask(s, false, &c->int8))
        return false;
    set_all(s, false);
    c->fp16_cost = cost_of(s);
    if (!ask(s, false, &c->fp16) || !try_alone(s))
        return false;
    if (c->int8.drop <= s->max_drop) {
        set_all(s, true);
        c->chosen = c->int8;
    } else if (c->fp16.drop <= s->max_drop) {
        c->chosen = c->fp16;
        qsort(s->units, s->count, sizeof *s->units, by_worth);
        if (!bisect(s) || !give_back(s))
            return false;
    } else {
        return format_fail(s->error,
                           "no plan stays within the largest drop of %g: FP16 alone loses %.3g and "
                           "INT8 %.3g",
                           s->max_drop, c->fp16.drop, c->int8.drop);
    }
    c->chosen_cost = cost_of(s);
    return true;
}

bool layers_choose(layers *l, graph *g, const compiler_options *options, const cost_target *target,
                   double max_drop, const compiler_judge *judge, compiler_choice *choice,
                   format_error *error)
{
    search s = {.g = g,
                .l = l,
                .options = options,
                .target = target,
                .judge = judge,
                .choice = choice,
                .max_drop = max_drop,
                .error = error};
    value_format *formats = calloc(g->value_count, sizeof *formats);
    *choice = (compiler_choice){0};
    layers_cost(l, g, target);
    bool ok = formats || format_fail(error, "out of memory");
    ok = ok && layers_formats(g, options, formats, error) && find_units(&s, formats);
    if (ok)
        keep_precise(&s, formats);
    ok = ok && choose(&s);
    free(s.units);
    free(formats);
    return ok;
}
