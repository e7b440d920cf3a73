// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/kernel_interface.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/compile/onnx_source.h"
#include "engine/model_format.h"

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

/* The words behind an operation's name, a letter each: the value made (t) and those read (a, b),
 * input (i), plane (p), row and column around a cell (r, c) or in one (y, x), a number (v), one
 * with a sign (s), or how many side by side, one if it is left out (n); 1 is that number without a
 * word. */
static const struct operation {
    const char *name;
    uint16_t operation;
    const char *words;
} operations[] = {
    {"add", MONA_KERNEL_VECTOR + AC_VADD_F32, "tabn"},
    {"sub", MONA_KERNEL_VECTOR + AC_VSUB_F32, "tabn"},
    {"mul", MONA_KERNEL_VECTOR + AC_VMUL_F32, "tabn"},
    {"max", MONA_KERNEL_VECTOR + AC_VMAX_F32, "tabn"},
    {"min", MONA_KERNEL_VECTOR + AC_VMIN_F32, "tabn"},
    {"iadd", MONA_KERNEL_VECTOR + AC_VADD_S32, "tabn"},
    {"isub", MONA_KERNEL_VECTOR + AC_VSUB_S32, "tabn"},
    {"imul", MONA_KERNEL_VECTOR + AC_VMUL_S32, "tabn"},
    {"imax", MONA_KERNEL_VECTOR + AC_VMAX_S32, "tabn"},
    {"imin", MONA_KERNEL_VECTOR + AC_VMIN_S32, "tabn"},
    {"hadd", MONA_KERNEL_VECTOR + AC_VADD, "tabn"},
    {"hsub", MONA_KERNEL_VECTOR + AC_VSUB, "tabn"},
    {"hmul", MONA_KERNEL_VECTOR + AC_VMUL, "tabn"},
    {"hmax", MONA_KERNEL_VECTOR + AC_VMAX, "tabn"},
    {"hmin", MONA_KERNEL_VECTOR + AC_VMIN, "tabn"},
    {"and", MONA_KERNEL_VECTOR + AC_VAND, "tabn"},
    {"or", MONA_KERNEL_VECTOR + AC_VOR, "tabn"},
    {"half", MONA_KERNEL_HALF, "ta1"},
    {"const", MONA_KERNEL_CONST, "tv"},
    {"entry", MONA_KERNEL_ENTRY, "tiv"},
    {"width", MONA_KERNEL_WIDTH, "t"},
    {"height", MONA_KERNEL_HEIGHT, "t"},
    {"row", MONA_KERNEL_ROW, "t"},
    {"column", MONA_KERNEL_COLUMN, "t"},
    {"sample", MONA_KERNEL_SAMPLE, "iprc"},
    {"gather", MONA_KERNEL_GATHER, "tav"},
    {"spread", MONA_KERNEL_SPREAD, "tav"},
    {"store", MONA_KERNEL_STORE, "pva"},
    {"term", MONA_KERNEL_TERM, "pyxas"},
    {"scale", MONA_KERNEL_SCALE, "pyxa1"},
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

/* Reads a word by its letter. */
static bool parse_word(char letter, const char *word, mona_kernel_step *s)
{
    static const struct {
        char letter;
        int64_t low, high;
    } numbers[] = {{'i', 0, UINT16_MAX},        {'p', 0, UINT8_MAX},
                   {'r', INT8_MIN, INT8_MAX},   {'c', INT8_MIN, INT8_MAX},
                   {'y', 0, INT8_MAX},          {'x', 0, INT8_MAX},
                   {'s', INT32_MIN, INT32_MAX}, {'v', 0, UINT32_MAX},
                   {'n', 0, UINT32_MAX},        {'1', 1, 1}};
    int64_t number;
    size_t i = 0;
    if (letter == 't' || letter == 'a' || letter == 'b')
        return value_of(word, letter == 't' ? &s->to : letter == 'a' ? &s->a : &s->b);
    while (numbers[i].letter != letter)
        i++;
    if (!whole(word, numbers[i].low, numbers[i].high, &number))
        return false;
    if (letter == 'i')
        s->a.index = (uint16_t)number;
    else if (letter == 'p')
        s->plane = (uint8_t)number;
    else if (letter == 'r' || letter == 'y')
        s->row = (int8_t)number;
    else if (letter == 'c' || letter == 'x')
        s->column = (int8_t)number;
    else
        s->value = (uint32_t)number;
    return true;
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
    char words[MOST_WORDS][WORD] = {{0}};
    const int found = split(line, words);
    int used = 1;
    size_t i = 0;
    while (i < OPERATIONS && strcmp(words[0], operations[i].name))
        i++;
    if (i == OPERATIONS || !list_grow((void **)&d->steps, &d->room, d->count, sizeof *d->steps))
        return false;
    mona_kernel_step *s = &d->steps[d->count++];
    *s = (mona_kernel_step){.operation = operations[i].operation};
    d->now->count++;
    for (const char *letter = operations[i].words; *letter; letter++) {
        const bool given = *letter != '1' && (*letter != 'n' || used < found);
        if (!parse_word(*letter, given ? words[used++] : "1", s))
            return false;
    }
    return used == found;
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
