#include "importer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *node_name(const Onnx__NodeProto *node)
{
    const char *name = onnx_text(node->name);
    return name[0] || !node->n_output ? name : onnx_text(node->output[0]);
}

bool import_fail(importer *im, const Onnx__NodeProto *node, const char *format, ...)
{
    char text[384];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const graph_node stand_in = {.name = node_name(node), .op_type = onnx_text(node->op_type)};
    return graph_fail(&stand_in, im->error, "%s", text);
}

/* ---- names -------------------------------------------------------------------------------- */

static import_name *find_name(const importer *im, const char *name)
{
    for (size_t i = im->name_count; i-- > 0;)
        if (!strcmp(im->names[i].name, name))
            return &im->names[i];
    return NULL;
}

uint32_t import_find_name(const importer *im, const char *name)
{
    const import_name *found = find_name(im, name);
    return found ? found->value : UINT32_MAX;
}

void import_make_flat(importer *im, const Onnx__NodeProto *node)
{
    find_name(im, node->output[0])->flat = true;
}

bool import_is_flat(const importer *im, const Onnx__NodeProto *node, size_t i)
{
    const import_name *found = import_has(node, i) ? find_name(im, node->input[i]) : NULL;
    return found && found->flat;
}

static bool has_flat_input(const importer *im, const Onnx__NodeProto *node)
{
    for (size_t i = 0; i < node->n_input; i++)
        if (import_is_flat(im, node, i))
            return true;
    return false;
}

bool import_add_name(importer *im, const char *name, uint32_t value)
{
    if (import_find_name(im, name) != UINT32_MAX)
        return format_fail(im->error, "value '%s' is made twice", name);
    if (im->name_count == im->name_room) {
        const size_t room = im->name_room ? im->name_room * 2 : 256;
        import_name *names = realloc(im->names, room * sizeof *names);
        if (!names)
            return format_fail(im->error, "out of memory");
        im->names = names;
        im->name_room = room;
    }
    im->names[im->name_count++] = (import_name){name, value, false};
    return true;
}

bool import_bind(importer *im, const Onnx__NodeProto *node, size_t i, uint32_t value)
{
    if (i >= node->n_output || !onnx_text(node->output[i])[0])
        return import_fail(im, node, "has no output %zu", i);
    const bool flat = has_flat_input(im, node), ok = import_add_name(im, node->output[i], value);
    if (ok)
        im->names[im->name_count - 1].flat = flat;
    return ok;
}

/* ---- attributes --------------------------------------------------------------------------- */

const Onnx__AttributeProto *import_attribute(const Onnx__NodeProto *node, const char *name)
{
    for (size_t i = 0; i < node->n_attribute; i++)
        if (!strcmp(onnx_text(node->attribute[i]->name), name))
            return node->attribute[i];
    return NULL;
}

int64_t import_int(const Onnx__NodeProto *node, const char *name, int64_t otherwise)
{
    const Onnx__AttributeProto *a = import_attribute(node, name);
    return a && a->has_i ? a->i : otherwise;
}

float import_float(const Onnx__NodeProto *node, const char *name, float otherwise)
{
    const Onnx__AttributeProto *a = import_attribute(node, name);
    return a && a->has_f ? a->f : otherwise;
}

bool import_text_is(const Onnx__NodeProto *node, const char *name, const char *value,
                    const char *otherwise)
{
    const Onnx__AttributeProto *a = import_attribute(node, name);
    if (!a || !a->has_s)
        return !strcmp(value, otherwise);
    return a->s.len == strlen(value) && !memcmp(a->s.data, value, a->s.len);
}

/* ---- inputs ------------------------------------------------------------------------------- */

bool import_has(const Onnx__NodeProto *node, size_t i)
{
    return i < node->n_input && onnx_text(node->input[i])[0];
}

const graph_value *import_constant(const importer *im, const Onnx__NodeProto *node, size_t i)
{
    const uint32_t value = import_has(node, i) ? import_find_name(im, node->input[i]) : UINT32_MAX;
    return value != UINT32_MAX && im->g->values[value].data ? &im->g->values[value] : NULL;
}

bool import_elements(importer *im, const Onnx__NodeProto *node, size_t i, uint32_t *value)
{
    if (!import_has(node, i))
        return import_fail(im, node, "has no input %zu", i);
    *value = import_find_name(im, node->input[i]);
    if (*value == UINT32_MAX)
        return import_fail(im, node, "reads '%.60s', which nothing before it makes",
                           node->input[i]);
    const graph_value *v = &im->g->values[*value];
    if (v->data)
        return import_fail(im, node, "works on the constant '%.60s'; expected a computed tensor",
                           node->input[i]);
    if (!v->channels)
        return import_fail(im, node,
                           "reads '%.60s', whose shape is not [1, channels, height, "
                           "width]; Reshape and Transpose are supported only as the "
                           "parts of depth-to-space or space-to-depth, and Reshape to "
                           "[1, n]",
                           node->input[i]);
    return true;
}

bool import_tensor(importer *im, const Onnx__NodeProto *node, size_t i, uint32_t *value)
{
    if (!import_elements(im, node, i, value))
        return false;
    return !import_is_flat(im, node, i) ||
           import_fail(im, node,
                       "reads '%.60s', which is flattened to [1, n]; expected [1, channels, "
                       "height, width]",
                       node->input[i]);
}

bool import_flat(importer *im, const Onnx__NodeProto *node, size_t i, uint32_t *value)
{
    if (!import_elements(im, node, i, value))
        return false;
    return import_is_flat(im, node, i) ||
           import_fail(im, node,
                       "reads '%.60s', a tensor of four sides; expected one flattened to "
                       "[1, n]",
                       node->input[i]);
}

bool import_numbers(importer *im, const Onnx__NodeProto *node, const char *name, size_t i,
                    int64_t *numbers, uint32_t most, uint32_t *count)
{
    *count = 0;
    const Onnx__AttributeProto *a = import_attribute(node, name);
    const graph_value *v = import_constant(im, node, i);
    if (import_has(node, i) && !v)
        return import_fail(im, node, "takes its %s from a computed value; expected a constant",
                           name);
    const size_t found = v ? v->count : a ? a->n_ints : 0;
    if (found > most)
        return import_fail(im, node, "has %zu numbers in %s; expected at most %u", found, name,
                           most);
    for (size_t k = 0; k < found; k++) {
        /* Constants are floats here: whole numbers up to 2^24 are exact, and "to the end", which is
         * often the largest integer, is brought into range. */
        const float limit = 1e9f;
        numbers[k] = v ? (int64_t)fmaxf(-limit, fminf(v->data[k], limit)) : a->ints[k];
    }
    *count = (uint32_t)found;
    return true;
}

float *import_per_channel(importer *im, const Onnx__NodeProto *node, const graph_value *constant,
                          uint32_t channels)
{
    const graph_value v = *constant;                         /* values move when one is added */
    const uint32_t sides = has_flat_input(im, node) ? 1 : 3; /* from the channels' on */
    const bool shaped =
        v.rank >= sides && v.count == channels && v.dims[v.rank - sides] == channels;
    float *numbers = shaped || v.count == 1 ? graph_alloc(im->g, channels, sizeof *numbers) : NULL;
    if (!shaped && v.count != 1)
        import_fail(im, node,
                    "has a constant operand of %zu elements; expected one, or %u as "
                    "[%u%s]",
                    v.count, channels, channels, sides > 1 ? ", 1, 1" : "");
    else if (!numbers)
        format_fail(im->error, "out of memory");
    for (uint32_t c = 0; numbers && c < channels; c++) {
        numbers[c] = v.data[v.count == 1 ? 0 : c];
        if (!isfinite(numbers[c])) {
            import_fail(im, node, "has an operand that is infinite or not a number");
            return NULL;
        }
    }
    return numbers;
}

/* ---- results ------------------------------------------------------------------------------ */

graph_node *import_node(importer *im, const Onnx__NodeProto *node, size_t i, graph_kind kind,
                        uint32_t channels, uint32_t height, uint32_t width)
{
    if (channels > MONA_MAX_CHANNELS || height > MONA_MAX_SIDE || width > MONA_MAX_SIDE) {
        import_fail(im, node, "makes %u channels of %ux%u; at most %d of %dx%d are supported",
                    channels, width, height, MONA_MAX_CHANNELS, MONA_MAX_SIDE, MONA_MAX_SIDE);
        return NULL;
    }
    const uint32_t value =
        i < node->n_output ? graph_add_value(im->g, onnx_text(node->output[i])) : UINT32_MAX;
    const char *name = graph_strdup(im->g, node_name(node));
    const char *op_type = graph_strdup(im->g, onnx_text(node->op_type));
    graph_node *made = value != UINT32_MAX && name && op_type ? graph_add_node(im->g) : NULL;
    if (!made) {
        import_fail(im, node, "is one too many: at most %d nodes are supported", GRAPH_MAX_NODES);
        return NULL;
    }
    im->g->values[value].channels = channels;
    im->g->values[value].height = height;
    im->g->values[value].width = width;
    made->kind = kind;
    made->name = name;
    made->op_type = op_type;
    made->output = value;
    return import_bind(im, node, i, value) ? made : NULL;
}

graph_node *import_node_like(importer *im, const Onnx__NodeProto *node, graph_kind kind,
                             uint32_t like)
{
    const graph_value v = im->g->values[like];
    graph_node *made = import_node(im, node, 0, kind, v.channels, v.height, v.width);
    if (made) {
        made->input_count = 1;
        made->inputs[0] = like;
    }
    return made;
}

bool import_add_constant(importer *im, const Onnx__TensorProto *tensor, const char *name)
{
    size_t count;
    if (!onnx_tensor_count(tensor, &count, im->error))
        return false;
    float *data = graph_alloc(im->g, count ? count : 1, sizeof *data);
    const uint32_t value = graph_add_value(im->g, name);
    if (!data || value == UINT32_MAX)
        return format_fail(im->error, "out of memory");
    graph_value *v = &im->g->values[value];
    v->data = data;
    v->count = count;
    v->rank = (uint32_t)tensor->n_dims;
    for (uint32_t i = 0; i < v->rank; i++)
        v->dims[i] = (uint64_t)tensor->dims[i];
    return onnx_tensor_floats(tensor, data, count, im->error) && import_add_name(im, name, value);
}
