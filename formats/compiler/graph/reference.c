// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/graph/reference.h"

#include <math.h>
#include <stdlib.h>

#include "formats/reference/execute.h"

size_t reference_count(const reference_array *a)
{
    return (size_t)a->channels * a->height * a->width;
}

void reference_arrays_free(reference_array *arrays, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        free(arrays[i].data);
        arrays[i].data = NULL;
    }
}

/* ---- inputs and outputs ------------------------------------------------------------------- */

/* Stores a number as planes of the engine hold it: integers are rounded and saturate. */
static void store(tensor *t, size_t i, double value)
{
    const element_type type = t->type == ELEMENT_BOOL ? ELEMENT_UINT8 : t->type;
    if (element_is_float(type)) {
        tensor_set_number(t, i, value);
        return;
    }
    const double whole = fmax(nearbyint(value), (double)element_lowest(type));
    if (whole < (double)element_highest(type))
        tensor_set_number(t, i, whole);
    else
        tensor_set_int(t, i, (int64_t)element_highest(type));
}

/* The tensor that the model takes for an input. */
static bool make_input(const onnx_input *input, const graph_value *v, const reference_array *a,
                       tensor *t, format_error *error)
{
    const int64_t map[4] = {1, a->channels, a->height, a->width};
    int64_t dims[TENSOR_MAX_RANK];
    for (uint32_t i = 0; i < input->rank; i++)
        dims[i] = input->dims[i] > 0 ? input->dims[i] : input->rank == 4 ? map[i] : 1;
    if (a->channels != v->channels || (v->height && a->height != v->height) ||
        (v->width && a->width != v->width) || !tensor_shape(t, input->type, input->rank, dims) ||
        t->count != reference_count(a))
        return format_fail(
            error, "input '%s' takes %u channels of %ux%u (0: any); found %u of %ux%u", v->name,
            v->channels, v->width, v->height, a->channels, a->width, a->height);
    if (!tensor_make(t, input->type, input->rank, dims))
        return format_fail(error, "out of memory");
    for (size_t i = 0; i < t->count; i++)
        store(t, i, (double)a->data[i]);
    return true;
}

/* A tensor as channels, rows and columns of the value, whose rows and columns may be open; last:
 * the channels come last in t. */
static reference_array shape_of(const graph_value *v, const tensor *t, bool last)
{
    const bool open = !v->height && v->channels && t->count % v->channels == 0;
    const bool map = open && t->rank == 4;
    const int64_t *sides = &t->dims[last ? 1 : 2];
    return (reference_array){v->channels,
                             !open ? v->height
                             : map ? (uint32_t)sides[0]
                                   : 1,
                             !open ? v->width
                             : map ? (uint32_t)sides[1]
                                   : (uint32_t)(t->count / v->channels),
                             NULL};
}

/* Numbers of which channel c's come one after the other; last: the channels come last in t. */
static bool read_numbers(const tensor *t, const graph_value *v, bool last, reference_array *a,
                         format_error *error)
{
    *a = shape_of(v, t, last);
    if (reference_count(a) != t->count)
        return format_fail(error, "value '%s' has %zu numbers in the model; expected %zu", v->name,
                           t->count, reference_count(a));
    a->data = malloc((t->count ? t->count : 1) * sizeof *a->data);
    if (!a->data)
        return format_fail(error, "out of memory");
    const size_t pixels = t->count / a->channels;
    for (size_t i = 0; i < t->count && !last; i++)
        a->data[i] = (float)tensor_number(t, i);
    for (size_t i = 0; i < t->count && last; i++)
        a->data[i] = (float)tensor_number(t, i % pixels * a->channels + i / pixels);
    for (size_t i = 0; i < t->count && v->divisors; i++)
        a->data[i] /= v->divisors[i / pixels];
    return true;
}

/* ---- a run -------------------------------------------------------------------------------- */

/* The maps of each value of the model, as lists. */
typedef struct map_lists {
    const graph *g;
    uint32_t *first; /* of each value of the model: a value of g; UINT32_MAX: none */
    uint32_t *next;  /* of each value of g */
    const reference_observer *observer;
} map_lists;

static bool show(void *context, uint32_t value, const tensor *t, format_error *error)
{
    const map_lists *l = context;
    bool ok = true;
    for (uint32_t i = l->first[value]; ok && i != UINT32_MAX; i = l->next[i]) {
        const graph_value *v = &l->g->values[i];
        const bool same = t->type == ELEMENT_FLOAT32 && !v->channels_last && !v->divisors;
        reference_array a = shape_of(v, t, false);
        if (same && reference_count(&a) == t->count)
            a.data = t->data;
        else
            ok = read_numbers(t, v, v->channels_last, &a, error);
        ok = ok && l->observer->see(l->observer->context, i, &a, error);
        if (a.data != t->data)
            free(a.data);
    }
    return ok;
}

static bool make_lists(map_lists *l, const onnx_graph *model, const graph *g)
{
    l->first = malloc((model->value_count + 1) * sizeof *l->first);
    l->next = malloc((g->value_count + 1) * sizeof *l->next);
    if (!l->first || !l->next)
        return false;
    for (uint32_t i = 0; i < model->value_count; i++)
        l->first[i] = UINT32_MAX;
    for (uint32_t i = 0; i < g->value_count; i++) {
        const uint32_t source = g->values[i].source;
        if (source == UINT32_MAX)
            continue;
        l->next[i] = l->first[source];
        l->first[source] = i;
    }
    return true;
}

bool reference_run(const onnx_graph *model, const graph *g, const reference_array *inputs,
                   reference_array *outputs, const reference_observer *observer,
                   format_error *error)
{
    tensor in[MONA_MAX_IO] = {0}, out[MONA_MAX_IO] = {0};
    map_lists lists = {.g = g, .observer = observer};
    bool ok = true;
    for (uint32_t i = 0; ok && i < g->input_count; i++)
        ok = make_input(&model->inputs[i], &g->values[g->inputs[i]], &inputs[i], &in[i], error);
    if (ok && observer)
        ok = make_lists(&lists, model, g) || format_fail(error, "out of memory");
    ok = ok && reference_execute(model, in, out, observer ? &(tensor_observer){show, &lists} : NULL,
                                 error);
    for (uint32_t i = 0; ok && outputs && i < g->output_count; i++) {
        ok = read_numbers(&out[i], &g->values[g->outputs[i]], false, &outputs[i], error);
        if (!ok)
            reference_arrays_free(outputs, i);
    }
    for (uint32_t i = 0; i < MONA_MAX_IO; i++) {
        tensor_free(&in[i]);
        tensor_free(&out[i]);
    }
    free(lists.first);
    free(lists.next);
    return ok;
}
