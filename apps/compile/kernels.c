// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/onnx_source.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/model_format.h"
#include "engine/op/kernel_program.h"
#include "formats/blocks.h"
#include "formats/file.h"
#include "pipeline/job/model_source.h"

enum { MOST_KERNELS = KERNELS_MAX, MOST_BYTES = 1 << 18, MOST_OPERANDS = 2 * MONA_KERNEL_OPERANDS };

typedef struct described {
    mona_kernel kernel;
    char name[MONA_KERNEL_NAME + 1];
    mona_kernel_operand operands[MOST_OPERANDS];
    mona_kernel_program programs[MONA_KERNEL_OPERANDS];
    mona_kernel_step *steps; /* of all programs */
    size_t count, room;
    size_t first[MONA_KERNEL_OPERANDS]; /* step of a program */
    mona_kernel_program *now;
} described;

/* Of the command, which compiles one model. */
static described descriptions[MOST_KERNELS];
static const mona_kernel *list[MOST_KERNELS + 1];
static size_t count, with_code;
static bool apart;
static onnx_graph graphs[MOST_KERNELS];
static onnx_pattern pattern_list[MOST_KERNELS];
static uint32_t pattern_count;

/* Of a kernel without code; nothing is run with it. */
static void has_no_code(const mona_kernel_call *call)
{
    (void)call;
}

mona_type type_named(const char *name)
{
    int t = 0;
    while (t < MONA_TYPE_COUNT && strcmp(name, mona_type_name((mona_type)t)))
        t++;
    return (mona_type)t;
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
    A_GATHER, /* VALUE VALUE INPUT */
    A_STORE,  /* PLANE NUMBER VALUE */
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
    {"store", MONA_KERNEL_STORE, A_STORE},
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

enum { MOST_WORDS = 5, WORD = 24 };

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
    const int found = sscanf(line, "%23s %23s %23s %23s %23s %1s", words[0], words[1], words[2],
                             words[3], words[4], more);
    return found <= MOST_WORDS ? found : 0;
}

static bool parse_step(described *d, const char *line)
{
    enum { OPERATIONS = sizeof operations / sizeof *operations };
    static const int lengths[] = {[OF_TWO] = 4,  [OF_ONE] = 3,   [A_NUMBER] = 3, [AN_ENTRY] = 4,
                                  [A_VALUE] = 2, [A_SAMPLE] = 5, [A_GATHER] = 4, [A_STORE] = 4};
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

/* "program OUTPUT FULL UNIFORM", then "halves" if it is of f16 numbers */
static bool parse_program(described *d, const char *line)
{
    unsigned output, full, uniform;
    int end = 0;
    if (sscanf(line, "program %4u %5u %5u%n", &output, &full, &uniform, &end) != 3 ||
        output >= d->kernel.outputs)
        return false;
    const bool halves = !strcmp(line + end, " halves");
    if (line[end] && !halves)
        return false;
    d->now = &d->programs[output];
    *d->now = (mona_kernel_program){.full = full, .uniform = uniform, .halves = halves};
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

/* Whether the text is as mona.kernel wrote it: the first line, "kernel NAME crc C", ends with the
 * CRC-32 of those behind it. */
static bool is_whole(const char *text)
{
    const char *rest = strchr(text, '\n');
    unsigned crc;
    int end = 0;
    return rest && sscanf(text, "kernel %*s crc %8x%n", &crc, &end) == 1 && text + end == rest &&
           mona_crc32(0, rest + 1, strlen(rest + 1)) == crc;
}

static bool parse(described *d, char *text)
{
    char *rest = text;
    for (char *line; (line = strtok_r(rest, "\n", &rest));)
        if (!parse_line(d, line))
            return false;
    for (uint32_t i = 0; i < d->kernel.outputs; i++)
        d->programs[i].steps = d->steps + d->first[i];
    d->kernel.name = d->name;
    d->kernel.operands = d->operands;
    d->kernel.row = has_no_code;
    d->kernel.programs = d->programs;
    return mona_kernel_sound(&d->kernel);
}

/* The code of a kernel, if there is any. */
static bool load(described *d, const char *path, format_error *error)
{
    pipeline_error why = {0};
    const mona_kernel *k = kernel_code(path, d->name, &why);
    if (!k)
        return !why.text[0] || format_fail(error, "%s", why.text);
    if (!mona_kernel_sound(k) || k->inputs != d->kernel.inputs || k->outputs != d->kernel.outputs ||
        memcmp(k->operands, d->operands, (k->inputs + k->outputs) * sizeof *k->operands) != 0)
        return format_fail(
            error, "%s: expected a library of this kernel beside it, found one with other operands",
            path);
    d->kernel.row = k->row;
    with_code++;
    return true;
}

/* What it may replace, NAME.onnx beside NAME.kernel. */
static bool read_pattern(const described *d, const char *path, format_error *error)
{
    char file[4096];
    uint8_t *bytes;
    size_t size;
    snprintf(file, sizeof file, "%.*s.onnx", (int)(strlen(path) - strlen(".kernel")), path);
    if (access(file, F_OK))
        return true;
    onnx_graph *g = &graphs[pattern_count];
    format_error why = {0};
    if (!file_read(file, "a pattern", ONNX_MAX_BYTES, &bytes, &size, error))
        return false;
    const bool ok = onnx_graph_read(g, bytes, size, NULL, &why);
    free(bytes);
    if (!ok)
        return format_fail(error, "%s: %s", file, why.text);
    if (g->input_count != d->kernel.inputs || g->output_count != 1 || d->kernel.outputs != 1 ||
        g->value_count > ONNX_PATTERN_VALUES)
        return format_fail(error,
                           "%s: expected the %u inputs of the kernel, one output of both and up to "
                           "%d values, found %u, %u and %u",
                           file, d->kernel.inputs, ONNX_PATTERN_VALUES, g->input_count,
                           g->output_count, g->value_count);
    pattern_list[pattern_count++] = (onnx_pattern){&d->kernel, g};
    return true;
}

static bool read_one(const char *path, format_error *error)
{
    uint8_t *bytes;
    size_t size;
    if (count == MOST_KERNELS)
        return format_fail(error, "%s: expected up to %d kernels, found more", path, MOST_KERNELS);
    if (!file_read(path, "a kernel's interface", MOST_BYTES, &bytes, &size, error))
        return false;
    char *text = calloc(size + 1, 1);
    if (text)
        memcpy(text, bytes, size);
    free(bytes);
    const bool whole_text = text && is_whole(text);
    const bool sound = whole_text && parse(&descriptions[count], text);
    free(text);
    if (!whole_text)
        return format_fail(error,
                           "%s: expected a kernel's interface as python3 -m mona.kernel wrote it, "
                           "found one without its checksum",
                           path);
    if (!sound)
        return format_fail(
            error, "%s: expected a kernel's interface, which python3 -m mona.kernel writes", path);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(descriptions[i].name, descriptions[count].name))
            return format_fail(error, "%s: expected one kernel %s in the folder, found two", path,
                               descriptions[count].name);
    list[count] = &descriptions[count].kernel;
    described *d = &descriptions[count++];
    return load(d, path, error) && read_pattern(d, path, error);
}

static bool read_all(const char *folder, format_error *error)
{
    if (!folder)
        return true;
    DIR *d = opendir(folder);
    if (!d)
        return format_fail(error, "%s: expected a folder with kernels, found none", folder);
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(d));) {
        char path[4096];
        if (!ends_in(e->d_name, ".kernel") ||
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= (int)sizeof path)
            continue;
        ok = read_one(path, error);
    }
    closedir(d);
    return ok && (count || format_fail(error,
                                       "%s: expected files *.kernel, which python3 -m mona.kernel "
                                       "writes; found none",
                                       folder));
}

void kernels_keep_apart(void)
{
    apart = true;
}

bool kernels_apart(void)
{
    return apart;
}

bool kernels_run(void)
{
    return count && with_code == count;
}

const onnx_pattern *kernels_patterns(uint32_t *patterns)
{
    *patterns = pattern_count;
    return pattern_list;
}

const mona_kernel *const *kernels_all(void)
{
    return count ? list : NULL;
}

bool kernels_list(const char *folder)
{
    format_error error = {0};
    return read_all(folder, &error) || cli_fail(0, "--kernels: %s", error.text);
}

bool kernels_load(const char *folder)
{
    return kernels_list(folder) &&
           (!folder || kernels_run() ||
            cli_fail(0,
                     "--kernels: %s: expected their code, which python3 -m mona.kernel --build "
                     "writes",
                     folder));
}

bool kernels_model(model_source *source, const char *name)
{
    pipeline_error error = {0};
    return model_source_open_with(source, name, kernels_all(), &error) || !cli_fail_of(&error);
}

mona_status kernels_open(mona_model *model, const void *bytes, size_t size)
{
    const mona_guard guard = {.kernels = kernels_all()};
    return mona_model_open_guarded(model, bytes, size, &guard);
}
