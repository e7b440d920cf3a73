// SPDX-License-Identifier: Apache-2.0
/* The plan is made for a CPU that need not be this one: constants depend only on what
 * mona_isa says of it. Offsets are for a 64-bit machine; with shorter pointers everything
 * takes the same memory or less. */
#include "formats/compiler/program/emit_c.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/layout/layout.h"
#include "formats/kernel_symbol.h"
#include "formats/compiler/program/emit_fields.h"
#include "formats/compiler/program/emitter.h"
#include "formats/file.h"

/* ---- writing --------------------------------------------------------------------------------- */

/* An array of 32-bit words, little-endian as everything is. */
static void put_words(FILE *out, const char *name, const void *bytes, size_t size)
{
    const uint8_t *b = bytes;
    fprintf(out, "static const _Alignas(64) uint32_t %s[%zu] = {", name, word_count(size));
    for (size_t i = 0; i < size; i += 4) {
        uint32_t word = 0;
        memcpy(&word, b + i, size - i < 4 ? size - i : 4);
        fprintf(out, "%s0x%x,", i % 32 ? "" : "\n", word);
    }
    fputs(size ? "};\n\n" : "0};\n\n", out);
}

/* Writes the members of *p. `within`: what comes before their names. */
#define PUT(p, kind, member) PUT_##kind(p, member)
#define PUT_NUMBER(p, member) put_number(e->out, within, #member, (long long)(p)->member);
#define PUT_REAL(p, member) put_float(e->out, #member, (p)->member);
#define PUT_CONSTANT(p, member) put_pointer(e, #member, (p)->member);
#define PUT_BY_HAND(p, member)
#define PUT_UNUSED(p, member)
#define PUT_NESTED(p, member) put_##member(e, &(p)->member);
#define PUT_OBJECT(p, member)

static void put_number(FILE *out, const char *within, const char *member, long long value)
{
    if (value)
        fprintf(out, " .%s%s = %lld,", within, member, value);
}

static void put_number_at(FILE *out, const char *member, uint32_t i, long long value)
{
    if (value)
        fprintf(out, " .%s[%u] = %lld,", member, i, value);
}

COVERS(mona_shape, SHAPE_FIELDS)

static void put_shape(FILE *out, const mona_shape *s)
{
    fprintf(out, "{%u, %u, %u, %d, %u, {%u, %u, %u, %u}}", s->channels, s->height, s->width,
            (int)s->type, s->zero, s->padding[0], s->padding[1], s->padding[2], s->padding[3]);
}

/* Where constants of the session lie in the array of constants. */
static size_t offset_of(const emitter *e, const void *constant)
{
    return (size_t)((const uint8_t *)constant - e->session->arena) - e->session->plan->state_bytes;
}

static void put_pointer(const emitter *e, const char *member, const void *constant)
{
    if (constant)
        fprintf(e->out, " .%s = AT(%zu),", member, offset_of(e, constant));
}

static void put_float(FILE *out, const char *member, float value)
{
    fprintf(out, " .%s = %af,", member, (double)value);
}

COVERS(mona_epilogue, EPILOGUE_FIELDS)

static void put_epilogue(const emitter *e, const mona_epilogue *p)
{
    const char *within = "";
    fputs("{", e->out);
    EPILOGUE_FIELDS(PUT, p)
    fputs("}", e->out);
}

COVERS(mona_conv, CONV_FIELDS)

static void put_conv(const emitter *e, uint32_t o, const mona_conv *c)
{
    const char *within = "";
    fprintf(e->out, "static const mona_conv conv_%u = {", o);
    CONV_FIELDS(PUT, c)
    fputs(" .epilogue = ", e->out);
    put_epilogue(e, &c->epilogue);
    fputs("};\n", e->out);
}

/* The row kernels that a bound operator calls. */
static uint32_t kernels_of(const mona_bound_op *b)
{
    const uint32_t may = mona_ops[b->op->kind]->kernels;
    uint32_t idle =
        mona_is_function(b->op->epilogue.activation_after_add) ? 0 : MONA_KERNEL(function_row);
    if (may & MONA_KERNEL(depthwise_row))
        idle |= mona_conv_is_depthwise(b) ? MONA_KERNEL(conv_row) : MONA_KERNEL(depthwise_row);
    if (b->input[0].type != MONA_F16)
        idle |= MONA_KERNEL(fold_row);
    return may & ~idle;
}

/* All constants. What holds addresses is an object of its own, and its bytes among the others, with
 * which no session runs any more, become zeros. */
static void put_constants(const emitter *e)
{
    const mona_plan *bound = e->session->plan;
    const size_t size = bound->zero_offset - bound->state_bytes;
    if (!size)
        return;
    fprintf(e->out,
            "static const uint32_t constants[%zu];\n"
            "#define AT(offset) ((const void *)((const uint8_t *)constants + (offset)))\n\n",
            word_count(size));
    for (uint32_t o = 0; o < bound->model.header->op_count; o++) {
        const mona_bound_op *b = &bound->ops[o].bound;
        if (has_filter(b)) {
            put_conv(e, o, b->constants);
            memset(b->constants, 0, sizeof(mona_conv));
        }
        if (has_epilogue(b)) {
            fprintf(e->out, "static const mona_epilogue epilogue_%u = ", o);
            put_epilogue(e, b->constants);
            fputs(";\n", e->out);
            memset(b->constants, 0, sizeof(mona_epilogue));
        }
    }
    fputc('\n', e->out);
    put_words(e->out, "constants", e->session->arena + bound->state_bytes, size);
}

uint32_t emitter_kernels(const mona_plan *plan)
{
    uint32_t all = 0;
    for (uint32_t o = 0; o < plan->model.header->op_count; o++)
        all |= mona_plan_is_idle(plan, o) ? 0 : kernels_of(&plan->ops[o].bound);
    return all;
}

COVERS(mona_isa, ISA_FIELDS)

/* The row kernels in use. */
static void put_isa(const emitter *e)
{
    const uint32_t used = emitter_kernels(e->plan);
    const char *within = "";
#define DECLARE(row, whose)                                                                        \
    if (used & MONA_KERNEL(row))                                                                   \
        fprintf(e->out, "void %s(const mona_" #row " *);\n", e->target->kernels.row);
    MONA_ISA_KERNELS(DECLARE, , , )
#undef DECLARE
    fprintf(e->out, "\nstatic const mona_isa isa = {.name = \"%s\",", e->target->isa.name);
    ISA_FIELDS(PUT, &e->target->isa)
#define NAME(row, whose)                                                                           \
    if (used & MONA_KERNEL(row))                                                                   \
        fprintf(e->out, " ." #row " = %s,", e->target->kernels.row);
    MONA_ISA_KERNELS(NAME, , , )
#undef NAME
    fputs("};\n\n", e->out);
}

/* A name as part of a C identifier. */
static void put_name(FILE *out, const char *name, int (*letter)(int))
{
    for (size_t i = 0; name[i]; i++)
        fputc(isalnum((unsigned char)name[i]) ? letter((unsigned char)name[i]) : '_', out);
}

static int same(int c)
{
    return c;
}

/* The object that an application defines for a kernel (docs/kernels.md). */
static void put_kernel(FILE *out, const mona_kernel *kernel)
{
    char symbol[MONA_KERNEL_SYMBOL];
    mona_kernel_symbol(kernel->name, symbol);
    fputs(symbol, out);
}

static void declare_kernels(const emitter *e)
{
    for (uint32_t o = 0; o < e->plan->model.header->op_count; o++)
        if (e->plan->ops[o].bound.kernel) {
            fputs("extern const mona_kernel ", e->out);
            put_kernel(e->out, e->plan->ops[o].bound.kernel);
            fputs(";\n", e->out);
        }
}

COVERS(mona_bound_op, BOUND_FIELDS)

static void put_bound(const emitter *e, uint32_t o)
{
    FILE *out = e->out;
    const plan_op *op = &e->plan->ops[o];
    const mona_bound_op *b = &op->bound;
    const bool map = b->run == mona_ops[b->op->kind]->run_map;
    fprintf(
        out,
        "    {.bound.op = &((const mona_file_op *)(const void *)op_records)[%u],\n"
        "     .bound.run = &mona_run_%s%s, .bound.target = &ac_target_host, .bound.isa = &isa,\n"
        "     .bound.output = ",
        o, mona_ops[b->op->kind]->name, map ? "_map" : "");
    put_shape(out, &b->output);
    fputs(",", out);
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        fprintf(out, " .bound.input[%u] = ", i);
        put_shape(out, &b->input[i]);
        fputs(",", out);
        put_number_at(out, "bound.input_c0", i, b->input_c0[i]);
    }
    const char *within = "bound.";
    BOUND_FIELDS(PUT, b)
    if (b->store)
        fprintf(out, " .bound.store = &((const mona_file_op *)(const void *)op_records)[%u],",
                (unsigned)(b->store - e->plan->model.ops));
    if (e->data.size)
        fputs(" .bound.data = (const uint8_t *)data,", out);
    if (b->kernel) {
        fputs(" .bound.kernel = &", out);
        put_kernel(out, b->kernel);
        fputs(",", out);
    }
    const size_t offset = offset_of(e, e->session->plan->ops[o].bound.constants);
    if (has_filter(b))
        fprintf(out, " .bound.constants = (void *)&conv_%u,", o);
    else if (has_epilogue(b))
        fprintf(out, " .bound.constants = (void *)&epilogue_%u,", o);
    else if (op->constants_bytes)
        fprintf(out, " .bound.constants = (void *)AT(%zu),", offset);
    fputs("\n    ", out);
}

COVERS(plan_group, GROUP_FIELDS)

static void put_group(const emitter *e, const plan_group *group)
{
    const char *within = "group.";
    GROUP_FIELDS(PUT, group)
}

COVERS(plan_op, OP_FIELDS)

static void put_op(const emitter *e, uint32_t o)
{
    const plan_op *op = &e->plan->ops[o];
    const char *within = "";
    put_bound(e, o);
    put_group(e, &op->group);
    for (uint32_t i = 0; i < op->bound.op->input_count; i++) {
        put_number_at(e->out, "writer", i, op->writer[i]);
        put_number_at(e->out, "array_writer", i, op->array_writer[i]);
    }
    OP_FIELDS(PUT, op)
    fputs("},\n", e->out);
}

static void put_ops(const emitter *e)
{
    declare_kernels(e);
    fputs("\nstatic const plan_op ops[] = {\n", e->out);
    for (uint32_t o = 0; o < e->plan->model.header->op_count; o++)
        put_op(e, o);
    fputs("};\n\n", e->out);
}

COVERS(plan_reach, REACH_FIELDS)

COVERS(mona_lines, LINES_FIELDS)

static void put_lines(const emitter *e, const mona_lines *lines)
{
    const char *within = "lines.";
    LINES_FIELDS(PUT, lines)
}

COVERS(mona_plan, PLAN_FIELDS)

static void put_plan(const emitter *e)
{
    FILE *out = e->out;
    const mona_plan *p = e->plan;
    const mona_file_header *h = p->model.header;
    fputs("static const mona_shape shapes[] = {", out);
    for (uint32_t t = 0; t < h->input_count + h->output_count; t++) {
        put_shape(out, &p->shapes[t]);
        fputs(", ", out);
    }
    fputs("};\n\nstatic const mona_plan plan = {\n"
          "    .model = {.header = (const void *)header, .tensors = (const void *)tensors,\n"
          "              .ops = (const void *)op_records",
          out);
    fputs(e->data.size ? ", .data = (const uint8_t *)data},\n" : "},\n", out);
    fputs("    .target = &ac_target_host, .isa = &isa, .linked = true,\n"
          "    .shapes = (mona_shape *)shapes, .ops = (plan_op *)ops,\n   ",
          out);
    fputs(p->crew ? " .crew = &mona_threads," : "", out);
    const char *within = "";
    PLAN_FIELDS(PUT, p)
    for (uint32_t i = 0; i < h->input_count; i++)
        fprintf(out, " .reach[%u] = {%lld, %lld, %lld, %lld},", i, (long long)p->reach[i].above,
                (long long)p->reach[i].below, (long long)p->reach[i].left,
                (long long)p->reach[i].right);
    fputs("\n};\n\n", out);
}

/* ---- entry points ---------------------------------------------------------------------------- */

/* A name within a comment, which it neither ends nor begins, on one line. */
static void put_told(FILE *out, const char *name)
{
    for (size_t i = 0; name[i]; i++)
        fputc(isprint((unsigned char)name[i]) && name[i] != '*' && name[i] != '\\' ? name[i] : '_',
              out);
}

static mona_tensor_info tensor_of(const mona_plan *plan, uint32_t t)
{
    const uint32_t inputs = plan->model.header->input_count;
    return t < inputs ? mona_plan_input(plan, t) : mona_plan_output(plan, t - inputs);
}

/* What follows in `name` after `begin`, as parts of identifiers in any case; NULL: it begins
 * otherwise. */
static const char *rest_after(const char *name, const char *begin)
{
    for (; *begin; begin++, name++) {
        const int found = isalnum((unsigned char)*name) ? tolower((unsigned char)*name) : '_';
        const int wanted = isalnum((unsigned char)*begin) ? tolower((unsigned char)*begin) : '_';
        if (!*name || found != wanted)
            return NULL;
    }
    return name;
}

static bool is_alike(const char *a, const char *b)
{
    const char *rest = rest_after(a, b);
    return rest && !*rest;
}

static const char *const c_types[MONA_TYPE_COUNT] = {
    [MONA_U8] = "uint8_t",   [MONA_S8] = "int8_t",    [MONA_F16] = "uint16_t",
    [MONA_U16] = "uint16_t", [MONA_F32] = "float",    [MONA_S16] = "int16_t",
    [MONA_S32] = "int32_t",  [MONA_U32] = "uint32_t", [MONA_S64] = "int64_t",
    [MONA_U64] = "uint64_t"};

/* Whether a name makes an identifier that is free where the entry points have their parameters. */
static bool is_free(const char *name)
{
    static const char *const taken[] = {
        /* parameters */
        "session", "inputs", "outputs", "ready", "slice", "done",
        /* a type of parameters, beside c_types; macros of C's headers, and of compilers */
        "ptrdiff_t", "NULL", "EOF", "errno", "stdin", "stdout", "stderr", "NAN", "INFINITY",
        "linux", "unix", "i386",
        /* of C */
        "auto", "bool", "break", "case", "char", "const", "default", "continue", "do", "double",
        "else", "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
        "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "true",
        "false", "typedef", "typeof", "typeof_unqual", "union", "unsigned", "void", "volatile",
        "while", "_Alignas", "_Alignof", "_Atomic", "_Bool", "_Complex", "_Generic", "_Imaginary",
        "_Noreturn", "_Static_assert", "_Thread_local",
        /* of C++, whose programs include the header, too */
        "alignas", "alignof", "and", "and_eq", "asm", "bitand", "bitor", "catch", "char8_t",
        "char16_t", "char32_t", "class", "compl", "concept", "const_cast", "consteval", "constexpr",
        "constinit", "co_await", "co_return", "co_yield", "decltype", "delete", "dynamic_cast",
        "explicit", "export", "friend", "mutable", "namespace", "new", "noexcept", "not", "not_eq",
        "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "reinterpret_cast",
        "requires", "static_assert", "static_cast", "template", "this", "thread_local", "throw",
        "try", "typeid", "typename", "using", "virtual", "wchar_t", "xor", "xor_eq"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (is_alike(name, taken[i]))
            return false;
    for (size_t i = 0; i < MONA_TYPE_COUNT; i++)
        if (is_alike(name, c_types[i]))
            return false;
    return *name && !isdigit((unsigned char)*name) && !rest_after(name, "mona_");
}

/* Whether the tensors' names are no identifiers of their own: 128, as PyTorch counts them, or a.b
 * beside a/b. */
static bool needs_numbers(const mona_plan *plan)
{
    const uint32_t count = plan->model.header->input_count + plan->model.header->output_count;
    for (uint32_t t = 0; t < count; t++) {
        const char *name = tensor_of(plan, t).name;
        if (!is_free(name))
            return true;
        for (uint32_t k = 0; k < count; k++) {
            const char *rest = rest_after(name, tensor_of(plan, k).name);
            if (k != t && rest && (!*rest || is_alike(rest, "_stride")))
                return true;
        }
    }
    return false;
}

static void put_tensor(const emitter *e, FILE *out, uint32_t t, int (*letter)(int))
{
    const uint32_t inputs = e->plan->model.header->input_count;
    char number[32];
    snprintf(number, sizeof number, t < inputs ? "input_%u" : "output_%u",
             t < inputs ? t : t - inputs);
    put_name(out, e->numbered ? number : tensor_of(e->plan, t).name, letter);
}

/* The entry points that take planes: the tensors [first, end) of each, and what comes after. A line
 * has the same rows of each, 1 of `lines`. text: what the header says before it. */
typedef struct entry {
    const char *verb, *function, *more_parameters, *more_arguments;
    uint32_t first, end, lines;
    const char *text;
} entry;

static const char run_text[] =
    "\n/* Runs one frame. Strides are bytes from row to row; the planes of several channels lie\n"
    " * one after another. As mona_session_run(). */\n";
static const char step_text[] = "\n/* The same in slices of time: as mona_session_step(). */\n";
static const char line_text[] = "\n/* The same line by line: as mona_session_push_line() and\n"
                                " * mona_session_pull_line(). */\n";

enum { ENTRIES = 4 };

static void find_entries(const emitter *e, entry entries[ENTRIES])
{
    const mona_file_header *h = e->plan->model.header;
    const uint32_t end = h->input_count + h->output_count, lines = e->plan->lines.count;
    entries[0] = (entry){"run", "session_run", "", ", outputs", 0, end, 1, run_text};
    entries[1] = (entry){"step",
                         "session_step",
                         ",\n    const mona_slice *slice, bool *done",
                         ", outputs, slice, done",
                         0,
                         end,
                         1,
                         step_text};
    entries[2] = (entry){"push", "session_push_line", "", "", 0, h->input_count, lines, line_text};
    entries[3] = (entry){
        "pull", "session_pull_line", ",\n    bool *ready", ", ready", h->input_count, end, lines,
        ""};
}

static void put_prototype(const emitter *e, FILE *out, const entry *f)
{
    fprintf(out, "mona_status %s_%s(mona_session *session", e->request->name, f->verb);
    for (uint32_t t = f->first; t < f->end; t++) {
        const mona_tensor_info info = tensor_of(e->plan, t);
        const bool is_input = t < e->plan->model.header->input_count;
        fprintf(out, ",\n    %s%s *", is_input ? "const " : "", c_types[info.type]);
        put_tensor(e, out, t, same);
        fputs(", ptrdiff_t ", out);
        put_tensor(e, out, t, same);
        fputs("_stride", out);
    }
    fprintf(out, "%s)", f->more_parameters);
}

/* The network's name in capitals, behind `before`. */
static void put_capitals(const emitter *e, FILE *out, const char *before)
{
    fputs(before, out);
    put_name(out, e->request->name, toupper);
}

/* The same, and a tensor's. */
static void put_capitals_of(const emitter *e, FILE *out, const char *before, uint32_t t)
{
    put_capitals(e, out, before);
    fputc('_', out);
    put_tensor(e, out, t, toupper);
}

/* What the stored values of each tensor are worth. */
static void put_scales(const emitter *e, FILE *out)
{
    const mona_file_header *h = e->plan->model.header;
    fputs("/* A value is the stored one, less ZERO, times SCALE. */\n", out);
    for (uint32_t t = 0; t < h->input_count + h->output_count; t++) {
        put_capitals_of(e, out, "#define ", t);
        fprintf(out, "_SCALE %.9ef\n", (double)tensor_of(e->plan, t).scale);
        put_capitals_of(e, out, "#define ", t);
        fprintf(out, "_ZERO %u\n", e->plan->shapes[t].zero);
    }
    fputc('\n', out);
}

static void put_header(const emitter *e, FILE *out)
{
    const char *name = e->request->name;
    const mona_file_header *h = e->plan->model.header;
    entry entries[ENTRIES];
    find_entries(e, entries);
    fputs("/* The network '", out);
    put_told(out, e->session->plan->model.strings + h->name);
    fprintf(out,
            "' for frames of %ux%u on %s, written by mona %s. Link %s.c with\n"
            " * libmona.a and --gc-sections. */\n",
            e->request->size.width, e->request->size.height, e->request->target, MONA_VERSION,
            name);
    put_capitals(e, out, "#ifndef ");
    put_capitals(e, out, "_H\n#define ");
    put_capitals(e, out,
                 "_H\n\n#include \"mona.h\"\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
                 "enum {\n    ");
    fprintf(out, "_ARENA_BYTES = %zu, /* aligned to %d */\n", e->plan->arena_bytes, MONA_ALIGNMENT);
    if (e->plan->lines.count) {
        put_capitals(e, out, "    ");
        fprintf(out, "_LINES = %u, /* of a frame: see mona_lines */\n", e->plan->lines.count);
        put_capitals(e, out, "    ");
        fprintf(out, "_LATENCY = %u, /* lines */\n", e->plan->lines.latency);
    }
    for (uint32_t t = 0; t < h->input_count + h->output_count; t++) {
        const mona_tensor_info info = tensor_of(e->plan, t);
        const struct {
            const char *what;
            uint32_t value;
        } sides[] = {{"WIDTH", info.width}, {"HEIGHT", info.height}, {"CHANNELS", info.channels}};
        for (size_t i = 0; i < 3; i++) {
            put_capitals_of(e, out, "    ", t);
            fprintf(out, "_%s = %u,\n", sides[i].what, sides[i].value);
        }
    }
    fputs("};\n\n", out);
    put_scales(e, out);
    fprintf(
        out,
        "/* Places the network in the arena, which is the caller's; it needs no other memory. As\n"
        " * mona_session_open(); mona_session_close() ends it. */\n"
        "mona_status %s_open(mona_session **session, void *arena, size_t bytes);\n",
        name);
    for (uint32_t i = 0; i < ENTRIES && entries[i].lines; i++) {
        fputs(entries[i].text, out);
        put_prototype(e, out, &entries[i]);
        fputs(";\n", out);
    }
    fputs("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n", out);
}

static void put_entry(const emitter *e, const entry *f)
{
    FILE *out = e->out;
    const mona_file_header *h = e->plan->model.header;
    put_prototype(e, out, f);
    fputs("\n{\n", out);
    for (uint32_t t = f->first; t < f->end; t++) {
        const mona_tensor_info info = tensor_of(e->plan, t);
        if (t == f->first || t == h->input_count)
            fprintf(out, "    const mona_buffer %s[] = {\n",
                    t < h->input_count ? "inputs" : "outputs");
        fputs("        {(void *)", out);
        put_tensor(e, out, t, same);
        fputs(", ", out);
        put_tensor(e, out, t, same);
        fputs("_stride, ", out);
        put_tensor(e, out, t, same);
        fprintf(out, "_stride * %u},\n", info.height / f->lines);
        if (t + 1 == h->input_count || t + 1 == f->end)
            fputs("    };\n", out);
    }
    fprintf(out, "    return mona_%s(session, %s%s);\n}\n", f->function,
            f->first < h->input_count ? "inputs" : "outputs", f->more_arguments);
}

static void put_functions(const emitter *e)
{
    entry entries[ENTRIES];
    find_entries(e, entries);
    fprintf(e->out,
            "mona_status %s_open(mona_session **session, void *arena, size_t bytes)\n"
            "{\n    return mona_session_start(session, &plan, arena, bytes);\n}\n",
            e->request->name);
    for (uint32_t i = 0; i < ENTRIES && entries[i].lines; i++) {
        fputc('\n', e->out);
        put_entry(e, &entries[i]);
    }
}

static void put_source(const emitter *e)
{
    FILE *out = e->out;
    const mona_model *m = &e->plan->model;
    const uint32_t planes = m->header->input_count + m->header->output_count;
    fprintf(out,
            "/* Written by mona %s: see %s.h. */\n"
            "#include \"%s.h\"\n\n"
            "#include \"engine/run/plan.h\"\n\n"
            "#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n"
            "#error \"these constants are little-endian\"\n"
            "#endif\n\n",
            MONA_VERSION, e->request->name, e->request->name);
    put_words(out, "header", m->header, sizeof *m->header);
    put_words(out, "tensors", e->data.tensors, planes * sizeof *m->tensors);
    put_words(out, "op_records", e->data.ops, m->header->op_count * sizeof *m->ops);
    if (e->data.size)
        put_words(out, "data", e->data.bytes, e->data.size);
    put_constants(e);
    fputc('\n', out);
    put_isa(e);
    put_ops(e);
    put_plan(e);
    put_functions(e);
}

/* ---- public ---------------------------------------------------------------------------------- */

static bool write_both(emitter *e, char **header, char **source, format_error *error)
{
    size_t header_size, source_size;
    FILE *out = open_memstream(header, &header_size);
    e->out = out ? open_memstream(source, &source_size) : NULL;
    if (out)
        put_header(e, out);
    if (e->out)
        put_source(e);
    const bool ok = out && e->out && !ferror(out) && !ferror(e->out);
    if (out)
        fclose(out);
    if (e->out)
        fclose(e->out);
    return ok || format_fail(error, "out of memory");
}

bool emitter_open(emitter *e, const mona_model *model, const emit_c_request *request,
                  format_error *error)
{
    const mona_config config = {.device = &cpu_target_device,
                                .cpu = request->target,
                                .threads = request->threads,
                                .sizes = {request->size}};
    mona_plan *plan = NULL;
    *e = (emitter){.request = request,
                   .target = cpu_target_find(request->target),
                   .memory = file_alloc(mona_plan_bytes(model))};
    mona_status status =
        e->memory ? mona_plan_make(&plan, e->memory, model, &config) : MONA_ERR_ARENA;
    const size_t bytes = status ? 0 : mona_plan_arena_bytes(plan);
    e->plan = plan;
    if (!status && !(e->arena = file_alloc(bytes)))
        status = MONA_ERR_ARENA;
    if (!status)
        status = mona_session_open(&e->session, plan, e->arena, bytes);
    if (!status)
        status = mona_plan_link(plan);
    if (!status && !emit_data_open(&e->data, &plan->model))
        status = MONA_ERR_ARENA;
    e->numbered = !status && needs_numbers(plan);
    return !status || format_fail(error, "%s", mona_status_text(status));
}

void emitter_close(emitter *e)
{
    emit_data_close(&e->data);
    mona_session_close(e->session);
    free(e->arena);
    free(e->memory);
}

bool emit_c(const mona_model *model, const emit_c_request *request, char **header, char **source,
            format_error *error)
{
    emitter e;
    *header = *source = NULL;
    const bool ok =
        emitter_open(&e, model, request, error) && write_both(&e, header, source, error);
    emitter_close(&e);
    return ok;
}
