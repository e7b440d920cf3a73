// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/kernel_interface.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/compile/onnx_source.h"
#include "engine/model_format.h"
#include "formats/file.h"

/* Of a kernel without code; nothing is run with it. */
static void has_no_code(const mona_kernel_call *call)
{
    (void)call;
}

/* A line "input NAME TYPE planes P cell H W around Y X" or "input NAME TYPE table N". */
static bool parse_operand(described *d, const char *line)
{
    char side[8], type[4];
    unsigned planes, h, w, y, x, elements;
    int end = 0;
    if (sscanf(line, "%7s %*s %3s", side, type) != 2)
        return false;
    const bool input = !strcmp(side, "input");
    if ((input ? d->kernel.inputs : d->kernel.outputs) == MONA_KERNEL_OPERANDS)
        return false;
    mona_kernel_operand *o = &d->operands[d->kernel.inputs + d->kernel.outputs];
    if ((o->type = type_named(type)) == MONA_TYPE_COUNT)
        return false;
    if (sscanf(line, "%*s %*s %*s planes %9u cell %9u %9u around %9u %9u%n", &planes, &h, &w, &y,
               &x, &end) == 5 &&
        planes <= MONA_KERNEL_ROWS && h <= MONA_KERNEL_CELL && w <= MONA_KERNEL_CELL &&
        y <= MONA_KERNEL_AROUND && x <= MONA_KERNEL_AROUND) {
        o->planes = planes;
        o->cell_rows = (uint8_t)h, o->cell_columns = (uint8_t)w;
        o->around_rows = (uint8_t)y, o->around_columns = (uint8_t)x;
    } else if (sscanf(line, "%*s %*s %*s table %9u%n", &elements, &end) == 1)
        o->elements = elements;
    if (!end || line[end])
        return false;
    input ? d->kernel.inputs++ : d->kernel.outputs++;
    return (input && !d->kernel.outputs) || !strcmp(side, "output");
}

/* ---- programs ------------------------------------------------------------------------------- */

/* The words behind an operation's name. */
typedef enum form {
    OF_TWO,   /* VALUE VALUE VALUE, and how many side by side unless 1 */
    OF_ONE,   /* VALUE VALUE */
    A_NUMBER, /* VALUE NUMBER */
    AN_ENTRY, /* VALUE INPUT NUMBER */
    A_VALUE,  /* VALUE */
    A_SAMPLE, /* INPUT PLANE ROW COLUMN */
    A_GATHER, /* VALUE VALUE NUMBER */
    A_STORE,  /* PLANE NUMBER VALUE */
    A_TERM,   /* PLANE ROW COLUMN VALUE NUMBER */
    A_SCALE,  /* PLANE ROW COLUMN VALUE */
} form;

static const struct operation {
    const char *name;
    uint16_t operation;
    form form;
} operations[] = {
    {"add", MONA_KERNEL_VECTOR + AC_VADD_F32, OF_TWO},
    {"sub", MONA_KERNEL_VECTOR + AC_VSUB_F32, OF_TWO},
    {"mul", MONA_KERNEL_VECTOR + AC_VMUL_F32, OF_TWO},
    {"max", MONA_KERNEL_VECTOR + AC_VMAX_F32, OF_TWO},
    {"min", MONA_KERNEL_VECTOR + AC_VMIN_F32, OF_TWO},
    {"iadd", MONA_KERNEL_VECTOR + AC_VADD_S32, OF_TWO},
    {"isub", MONA_KERNEL_VECTOR + AC_VSUB_S32, OF_TWO},
    {"imul", MONA_KERNEL_VECTOR + AC_VMUL_S32, OF_TWO},
    {"imax", MONA_KERNEL_VECTOR + AC_VMAX_S32, OF_TWO},
    {"imin", MONA_KERNEL_VECTOR + AC_VMIN_S32, OF_TWO},
    {"hadd", MONA_KERNEL_VECTOR + AC_VADD, OF_TWO},
    {"hsub", MONA_KERNEL_VECTOR + AC_VSUB, OF_TWO},
    {"hmul", MONA_KERNEL_VECTOR + AC_VMUL, OF_TWO},
    {"hmax", MONA_KERNEL_VECTOR + AC_VMAX, OF_TWO},
    {"hmin", MONA_KERNEL_VECTOR + AC_VMIN, OF_TWO},
    {"and", MONA_KERNEL_VECTOR + AC_VAND, OF_TWO},
    {"or", MONA_KERNEL_VECTOR + AC_VOR, OF_TWO},
    {"half", MONA_KERNEL_HALF, OF_ONE},
    {"const", MONA_KERNEL_CONST, A_NUMBER},
    {"entry", MONA_KERNEL_ENTRY, AN_ENTRY},
    {"width", MONA_KERNEL_WIDTH, A_VALUE},
    {"height", MONA_KERNEL_HEIGHT, A_VALUE},
    {"row", MONA_KERNEL_ROW, A_VALUE},
    {"column", MONA_KERNEL_COLUMN, A_VALUE},
    {"sample", MONA_KERNEL_SAMPLE, A_SAMPLE},
    {"gather", MONA_KERNEL_GATHER, A_GATHER},
    {"spread", MONA_KERNEL_SPREAD, A_GATHER},
    {"store", MONA_KERNEL_STORE, A_STORE},
    {"term", MONA_KERNEL_TERM, A_TERM},
    {"scale", MONA_KERNEL_SCALE, A_SCALE},
};

/* A word that is a whole number from low to high. */
static bool whole(const char *word, int64_t low, int64_t high, int64_t *number)
{
    char *end;
    *number = strtoll(word, &end, 10);
    return end != word && !*end && *number >= low && *number <= high;
}

/* "f3", a value of each cell; "u3", a uniform one; "s3", a sample. */
static bool value_of(const char *word, mona_kernel_value *v)
{
    static const char kinds[] = {'f', 'u', 's'};
    int64_t index;
    for (v->kind = 0; v->kind < sizeof kinds && word[0] != kinds[v->kind];)
        v->kind++;
    const bool ok = v->kind < sizeof kinds && whole(word + 1, 0, UINT16_MAX, &index);
    v->index = ok ? (uint16_t)index : UINT16_MAX;
    return ok;
}

enum { MOST_WORDS = 6, WORD = 24 };

static bool parse_words(const struct operation *o, char words[MOST_WORDS][WORD],
                        mona_kernel_step *s)
{
    int64_t value = 1, input = 0, plane = 0, row = 0, column = 0;
    bool ok = true;
    switch (o->form) {
    case OF_TWO:
        ok = value_of(words[1], &s->to) && value_of(words[2], &s->a) && value_of(words[3], &s->b) &&
             (!words[4][0] || whole(words[4], 0, UINT32_MAX, &value));
        break;
    case OF_ONE:
        ok = value_of(words[1], &s->to) && value_of(words[2], &s->a);
        input = s->a.index;
        break;
    case A_GATHER:
        ok = value_of(words[1], &s->to) && value_of(words[2], &s->a) &&
             whole(words[3], 0, UINT32_MAX, &value);
        input = s->a.index;
        break;
    case AN_ENTRY:
        ok = value_of(words[1], &s->to) && whole(words[2], 0, UINT16_MAX, &input) &&
             whole(words[3], 0, UINT32_MAX, &value);
        break;
    case A_NUMBER:
        ok = value_of(words[1], &s->to) && whole(words[2], 0, UINT32_MAX, &value);
        break;
    case A_VALUE:
        ok = value_of(words[1], &s->to);
        break;
    case A_SAMPLE:
        ok = whole(words[1], 0, UINT16_MAX, &input) && whole(words[2], 0, UINT8_MAX, &plane) &&
             whole(words[3], INT8_MIN, INT8_MAX, &row) &&
             whole(words[4], INT8_MIN, INT8_MAX, &column);
        break;
    case A_STORE:
        ok = whole(words[1], 0, UINT8_MAX, &plane) && whole(words[2], 0, UINT32_MAX, &value) &&
             value_of(words[3], &s->a);
        input = s->a.index;
        break;
    case A_TERM:
    case A_SCALE:
        ok = whole(words[1], 0, UINT8_MAX, &plane) && whole(words[2], 0, INT8_MAX, &row) &&
             whole(words[3], 0, INT8_MAX, &column) && value_of(words[4], &s->a) &&
             (o->form == A_SCALE || whole(words[5], INT32_MIN, INT32_MAX, &value));
        input = s->a.index;
        break;
    }
    s->operation = o->operation;
    if (o->form != OF_TWO)
        s->a.index = (uint16_t)input;
    s->plane = (uint8_t)plane;
    s->row = (int8_t)row;
    s->column = (int8_t)column;
    s->value = o->form == A_VALUE || o->form == A_SAMPLE ? 0 : (uint32_t)value;
    return ok;
}

/* Words of a line; 0: more than any form has. */
static int split(const char *line, char words[MOST_WORDS][WORD])
{
    char more[2];
    const int found = sscanf(line, "%23s %23s %23s %23s %23s %23s %1s", words[0], words[1],
                             words[2], words[3], words[4], words[5], more);
    return found <= MOST_WORDS ? found : 0;
}

static bool parse_step(described *d, const char *line)
{
    enum { OPERATIONS = sizeof operations / sizeof *operations };
    static const int lengths[] = {
        [OF_TWO] = 4,   [OF_ONE] = 3,   [A_NUMBER] = 3, [AN_ENTRY] = 4, [A_VALUE] = 2,
        [A_SAMPLE] = 5, [A_GATHER] = 4, [A_STORE] = 4,  [A_TERM] = 6,   [A_SCALE] = 5};
    char words[MOST_WORDS][WORD] = {{0}};
    const int found = split(line, words);
    size_t i = 0;
    while (i < OPERATIONS && strcmp(words[0], operations[i].name))
        i++;
    if (i == OPERATIONS || found < lengths[operations[i].form] ||
        found > lengths[operations[i].form] + (operations[i].form == OF_TWO) ||
        !list_grow((void **)&d->steps, &d->room, d->count, sizeof *d->steps))
        return false;
    d->now->count++;
    memset(&d->steps[d->count], 0, sizeof *d->steps);
    return parse_words(&operations[i], words, &d->steps[d->count++]);
}

/* "program OUTPUT FULL UNIFORM", then "sums", or "halves" if it is of f16 numbers, and then "rows
 * INPUTS" if results and these inputs are rows */
static bool parse_program(described *d, const char *line)
{
    unsigned output, full, uniform, inputs = 0;
    int end = 0, all = 0;
    if (sscanf(line, "program %4u %5u %5u%n", &output, &full, &uniform, &end) != 3 ||
        output >= d->kernel.outputs)
        return false;
    const bool sums = !strcmp(line + end, " sums");
    const bool rows = sscanf(line + end, " halves%n rows %3u%n", &all, &inputs, &all) == 1;
    if (line[end + all] && !sums)
        return false;
    d->now = &d->programs[output];
    *d->now = (mona_kernel_program){.full = full,
                                    .uniform = uniform,
                                    .in_rows = inputs,
                                    .halves = line[end] && !sums,
                                    .rows = rows,
                                    .sums = sums};
    d->first[output] = d->count;
    return true;
}

static bool parse_line(described *d, const char *line)
{
    if (!d->name[0])
        return sscanf(line, "kernel %127s", d->name) == 1;
    if (!strncmp(line, "program ", strlen("program ")))
        return parse_program(d, line);
    return d->now ? parse_step(d, line) : parse_operand(d, line);
}

bool kernel_interface_whole(const char *text)
{
    const char *rest = strchr(text, '\n');
    unsigned crc;
    int end = 0;
    return rest && sscanf(text, "kernel %*s crc %8x%n", &crc, &end) == 1 && text + end == rest &&
           mona_crc32(0, rest + 1, strlen(rest + 1)) == crc;
}

bool kernel_interface_read(described *d, char *text)
{
    char *rest = text;
    for (char *line; (line = strtok_r(rest, "\n", &rest));)
        if (!parse_line(d, line))
            return false;
    for (uint32_t i = 0; i < d->kernel.outputs; i++)
        d->programs[i].steps = d->steps ? d->steps + d->first[i] : NULL;
    d->kernel.name = d->name;
    d->kernel.operands = d->operands;
    d->kernel.row = has_no_code;
    d->kernel.programs = d->programs;
    return mona_kernel_sound(&d->kernel);
}
