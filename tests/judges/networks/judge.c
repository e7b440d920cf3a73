// SPDX-License-Identifier: Apache-2.0
/* The reference against other programs, then every way in which mona computes against that: FP16
 * and INT8 within what rounding explains, and all ways of one precision the same bytes. */
#include "tests/judges/networks/judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/compile/arrays.h"
#include "formats/compiler/compiler.h"
#include "formats/reference/execute.h"
#include "pipeline/stages/session_binding.h"
#include "tests/judges/networks/emitted.h"

/* ---- networks ----------------------------------------------------------------------------- */

void network_free(network *n)
{
    for (uint32_t i = 0; i < n->input_count; i++)
        tensor_free(&n->inputs[i]);
    free(n->bytes);
    *n = (network){0};
}

static double chance(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (double)(*random >> 11) * 0x1p-53;
}

void network_fill(network *n, uint64_t seed)
{
    uint64_t random = seed * 0x9e3779b97f4a7c15u + 7;
    for (uint32_t i = 0; i < n->input_count; i++) {
        tensor *t = &n->inputs[i];
        /* Pictures from 0 to 1, or numbers around 0. */
        const bool around = chance(&random) < 0.4;
        for (size_t k = 0; k < t->count; k++) {
            const double x = chance(&random);
            if (element_is_float(t->type))
                tensor_set_number(t, k, around ? 4 * x - 2 : x);
            else
                tensor_set_int(t, k, (int64_t)(x * (t->type == ELEMENT_BOOL ? 2 : 256)));
        }
    }
}

/* ---- one judgement ------------------------------------------------------------------------ */

typedef struct judgement {
    const network *n;
    const judge_options *options;
    verdict *v;
    onnx_graph g;
    tensor wanted[MONA_MAX_IO];
    spread fp32[MONA_MAX_IO], fp16[MONA_MAX_IO], int8[MONA_MAX_IO];
    uint32_t count; /* of outputs */
    int64_t images; /* of a batch, each of which is run by itself; 1: the network is run as it is */
    bool steps;     /* the network has steps, at which rounding decides between two numbers */
} judgement;

static bool give(judgement *j, verdict_kind kind, const char *way, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Always returns false. */
static bool give(judgement *j, verdict_kind kind, const char *way, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    j->v->kind = kind;
    snprintf(j->v->way, sizeof j->v->way, "%s%s", way, j->images > 1 ? ", each image" : "");
    vsnprintf(j->v->why, sizeof j->v->why, format, arguments);
    va_end(arguments);
    return false;
}

static bool has_steps(const onnx_graph *g)
{
    static const char *const names[] = {"Floor",   "Ceil",   "Round",          "Sign",
                                        "Cast",    "ArgMax", "TopK",           "Where",
                                        "Greater", "Less",   "ThresholdedRelu"};
    for (uint32_t i = 0; i < g->node_count; i++) {
        if (strstr(g->nodes[i].op_type, "Quantize") || strstr(g->nodes[i].op_type, "QLinear"))
            return true;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (!strcmp(g->nodes[i].op_type, names[k]))
                return true;
    }
    return false;
}

/* ---- comparing ---------------------------------------------------------------------------- */

typedef double number_at(const void *from, size_t i);

static double of_tensor(const void *from, size_t i)
{
    return tensor_number(from, i);
}

static double of_planes(const void *from, size_t i)
{
    return planes_get(from, i);
}

static double held(double x)
{
    return fmax(-65504, fmin(x, 65504));
}

/* rounding: of the result itself, relative to it and to the largest number. */
typedef struct allowance {
    double snr; /* in dB, which is good whatever the spread */
    double rounding;
    double each, all; /* how many times the spread an element, and the mean, may be off */
    bool halves;
    double least; /* good everywhere: biases make up for rounded weights in padding, too */
} allowance;

typedef struct finding {
    double worst; /* largest excess, in units of what is allowed */
    size_t where, beyond, count;
    double found, wanted, snr;
} finding;

static finding compare(const tensor *wanted, const void *from, number_at *at, const spread *s,
                       const allowance *a)
{
    finding f = {.count = wanted->count};
    double peak = 0, noise = 0, signal = 0;
    for (size_t i = 0; i < wanted->count; i++)
        if (isfinite(tensor_number(wanted, i)))
            peak = fmax(peak, fabs(held(tensor_number(wanted, i))));
    for (size_t i = 0; i < wanted->count; i++) {
        double e = tensor_number(wanted, i), x = at(from, i);
        if (isnan(e) && (isnan(x) || a->halves))
            continue;
        e = a->halves ? held(e) : e, x = a->halves ? held(x) : x;
        const double error = e == x ? 0 : fabs(x - e);
        const double allowed =
            a->each * (s->most[i] + s->rms) + a->rounding * (fabs(e) + peak / 4) + a->least + 1e-30;
        const double excess = isfinite(error) ? error / allowed : 1e9;
        noise += isfinite(error) ? error * error : 0, signal += e * e;
        f.beyond += excess > 1;
        if (excess > f.worst)
            f.worst = excess, f.where = i, f.found = x, f.wanted = e;
    }
    const double mean = sqrt(noise / (double)(f.count ? f.count : 1));
    const double allowed = a->all * s->rms +
                           a->rounding * sqrt(signal / (double)(f.count ? f.count : 1)) + a->least +
                           1e-30;
    f.worst = fmax(f.worst, mean / allowed);
    f.snr = noise > 0 ? 10 * log10(signal / noise) : 200;
    return f;
}

/* Where a step decides between numbers, few of them may fall on its other side. */
static bool is_good(const judgement *j, const finding *f, const allowance *a)
{
    return f->worst <= 1 || f->snr >= a->snr || (j->steps && f->beyond * 50 <= f->count);
}

static bool tell(judgement *j, const char *way, uint32_t output, const finding *f)
{
    return give(j, VERDICT_WRONG, way,
                "output %u: %zu of %zu numbers are off, one by %.3g (found %g, expected %g at %zu; "
                "%.1f times what rounding explains; %.1f dB)",
                output, f->beyond, f->count, fabs(f->found - f->wanted), f->found, f->wanted,
                f->where, f->worst, f->snr);
}

/* Measures the spread once, and more thoroughly if `again`. */
static bool measure(judgement *j, spread *s, noise how, bool again)
{
    format_error error = {0};
    if (s->most && !again)
        return true;
    spread_free(s, j->count);
    if (again)
        how.runs *= 8, how.relative *= 2, how.steps *= 1.5;
    return spread_measure(&j->g, j->n, j->wanted, &how, s, &error) ||
           give(j, VERDICT_WRONG, "reference", "%s", error.text);
}

/* ---- the reference ------------------------------------------------------------------------ */

/* Numbers that are quantised with a zero point are rounded beside it, as coarsely as the largest
 * ones. */
static const noise single = {0x1p-21, 0, 3}, half = {0x1p-11, 0, 4},
                   half_steps = {0x1p-10, 0.12, 6}, eighths = {0x1p-11, 0.6, 4};

static bool same_dims(const tensor *a, const tensor *b)
{
    bool same = a->rank == b->rank;
    for (uint32_t i = 0; same && i < a->rank; i++)
        same = a->dims[i] == b->dims[i];
    return same;
}

static bool judge_reference(judgement *j, const peer_result *peer, const char *name)
{
    const allowance a = {200, 2e-6, 6, 6, false, 0};
    if (!peer->ran)
        return true;
    for (uint32_t o = 0; o < j->count; o++) {
        char mine[128], theirs[128];
        tensor_text(&j->wanted[o], mine, sizeof mine);
        tensor_text(&peer->outputs[o], theirs, sizeof theirs);
        if (!same_dims(&j->wanted[o], &peer->outputs[o]))
            return give(j, VERDICT_WRONG, "reference", "output %u is %s, %s has %s", o, mine, name,
                        theirs);
        finding f = {0};
        for (int again = 0; again < 2; again++) {
            if (!measure(j, j->fp32, single, again))
                return false;
            f = compare(&peer->outputs[o], &j->wanted[o], of_tensor, &j->fp32[o], &a);
            if (is_good(j, &f, &a))
                break;
        }
        if (!is_good(j, &f, &a)) {
            char way[64];
            snprintf(way, sizeof way, "reference beside %s", name);
            return tell(j, way, o, &f);
        }
    }
    return true;
}

/* ---- the engine --------------------------------------------------------------------------- */

typedef struct made {
    uint8_t *bytes;
    size_t size;
    mona_model model;
    uint8_t *outputs[MONA_MAX_IO]; /* of the first way, to which the others' must be equal */
    size_t output_bytes[MONA_MAX_IO];
} made;

static void set_input(planes *p, const tensor *t)
{
    if (p->info.array && !element_is_float(t->type) &&
        mona_type_size(p->info.type) == element_size(t->type))
        memcpy(p->buffer.data, t->data, tensor_bytes(t));
    else
        for (size_t k = 0; k < p->count; k++)
            planes_set(p, k, tensor_number(t, k));
}

static mona_size size_of(const tensor *t)
{
    return t->rank == 4 ? (mona_size){(uint32_t)t->dims[3], (uint32_t)t->dims[2]} : (mona_size){0};
}

static bool fill_inputs(judgement *j, const char *way, plan_planes *p)
{
    for (uint32_t i = 0; i < j->n->input_count; i++) {
        if (p->in[i].count != j->n->inputs[i].count)
            return give(j, VERDICT_WRONG, way, "input %u takes %zu numbers, the model %zu", i,
                        p->in[i].count, j->n->inputs[i].count);
        set_input(&p->in[i], &j->n->inputs[i]);
    }
    for (uint32_t o = 0; o < j->count; o++) {
        if (p->out[o].count != j->wanted[o].count)
            return give(j, VERDICT_WRONG, way, "output %u has %zu numbers, the model's %zu", o,
                        p->out[o].count, j->wanted[o].count);
        memset(p->out[o].buffer.data, 0xa5, p->out[o].count * mona_type_size(p->out[o].info.type));
    }
    return true;
}

/* Keeps the outputs of the first way, and holds those of others to them. */
static bool same_bytes(judgement *j, made *m, const char *way, const plan_planes *p)
{
    j->v->ways++;
    for (uint32_t o = 0; o < j->count; o++) {
        const size_t bytes = p->out[o].count * mona_type_size(p->out[o].info.type);
        if (!m->outputs[o]) {
            m->outputs[o] = malloc(bytes + 1);
            m->output_bytes[o] = bytes;
            memcpy(m->outputs[o], p->out[o].buffer.data, bytes);
        } else if (memcmp(m->outputs[o], p->out[o].buffer.data, bytes)) {
            return give(j, VERDICT_WRONG, way, "output %u has other bytes than with one thread", o);
        }
    }
    return true;
}

static mona_status run_lines(const session_binding *b, const plan_planes *p, uint32_t inputs,
                             uint32_t outputs)
{
    mona_lines lines;
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    mona_status status = mona_plan_lines(b->plan, &lines);
    for (uint32_t i = 0; i < inputs; i++)
        in[i] = p->in[i].buffer;
    for (uint32_t i = 0; i < outputs; i++)
        out[i] = p->out[i].buffer;
    for (uint32_t pushed = 0, pulled = 0;
         !status && (pulled < lines.count || pushed < lines.count);) {
        bool ready = false;
        status = mona_session_pull_line(b->session, out, &ready);
        if (status)
            break;
        if (ready) {
            pulled++;
            for (uint32_t i = 0; i < outputs; i++)
                out[i].data = (uint8_t *)out[i].data +
                              out[i].row_stride * (ptrdiff_t)(p->out[i].info.height / lines.count);
            continue;
        }
        if (pushed == lines.count)
            return MONA_ERR_STATE;
        status = mona_session_push_line(b->session, in);
        pushed++;
        for (uint32_t i = 0; i < inputs; i++)
            in[i].data = (uint8_t *)in[i].data +
                         in[i].row_stride * (ptrdiff_t)(p->in[i].info.height / lines.count);
    }
    return status;
}

/* The planes of each image. */
static bool open_planes(const judgement *j, const mona_model *model, const mona_plan *plan,
                        plan_planes *p)
{
    plan_planes one = {0};
    bool ok = plan_planes_open(&one, model, plan);
    for (uint32_t i = 0; ok && i < j->n->input_count; i++)
        ok = planes_repeat(&p->in[i], one.in[i].info, (size_t)j->images);
    for (uint32_t i = 0; ok && i < j->count; i++)
        ok = planes_repeat(&p->out[i], one.out[i].info, (size_t)j->images);
    plan_planes_close(&one);
    return ok;
}

static void move_to(planes *p, int64_t image, int64_t images)
{
    p->count /= (size_t)images;
    p->buffer.data =
        (uint8_t *)p->buffer.data + (size_t)image * p->count * mona_type_size(p->info.type);
}

static mona_status run_images(const judgement *j, const session_binding *b, const plan_planes *p,
                              bool lines)
{
    mona_status status = MONA_OK;
    for (int64_t image = 0; !status && image < j->images; image++) {
        plan_planes one = *p;
        for (uint32_t i = 0; i < j->n->input_count; i++)
            move_to(&one.in[i], image, j->images);
        for (uint32_t i = 0; i < j->count; i++)
            move_to(&one.out[i], image, j->images);
        status = lines ? run_lines(b, &one, j->n->input_count, j->count)
                       : plan_planes_run(&one, b->session);
    }
    return status;
}

/* The same numbers from the last to the first. */
static void turn(planes *p)
{
    const size_t size = mona_type_size(p->info.type);
    uint8_t *data = p->buffer.data, kept[16];
    for (size_t i = 0, k = p->count; i + 1 < k--; i++) {
        memcpy(kept, data + i * size, size);
        memcpy(data + i * size, data + k * size, size);
        memcpy(data + k * size, kept, size);
    }
}

/* After another frame, of which nothing may be left. */
static mona_status run_frames(const judgement *j, const session_binding *b, plan_planes *p,
                              bool lines)
{
    mona_status status = MONA_OK;
    for (int frame = 0; frame < 2; frame++) {
        for (uint32_t i = 0; i < j->n->input_count; i++)
            turn(&p->in[i]);
        status = status ? status : run_images(j, b, p, lines);
    }
    return status;
}

static bool run_way(judgement *j, made *m, const char *way, const mona_config *how, bool lines,
                    plan_planes *p)
{
    mona_config config = *how;
    session_binding bound = {0};
    pipeline_error error = {0};
    for (uint32_t i = 0; i < j->n->input_count; i++)
        if (!mona_model_input(&m->model, i).width)
            config.sizes[i] = size_of(&j->n->inputs[i]);
    plan_planes_close(p);
    *p = (plan_planes){0};
    bool ok = session_binding_open(&bound, &m->model, "model.onnx", &config, &error) ||
              give(j, VERDICT_REFUSED, way, "%s", error.text);
    ok = ok && (open_planes(j, &m->model, bound.plan, p) ||
                give(j, VERDICT_REFUSED, way, "out of memory"));
    ok = ok && fill_inputs(j, way, p);
    if (ok) {
        const mona_status status = run_frames(j, &bound, p, lines);
        if (lines && status == MONA_ERR_UNSUPPORTED) {
            session_binding_close(&bound);
            return true;
        }
        ok = !status || give(j, VERDICT_WRONG, way, "run: %s", pipeline_reason(status));
    }
    session_binding_close(&bound);
    return ok && same_bytes(j, m, way, p);
}

static const struct {
    const char *name;
    mona_config config;
    bool lines;
} others[] = {
    {"two threads", {.threads = 2}, false},
    {"strips of one row", {.threads = 1, .strip_rows = 1}, false},
    {"tiles of 5 columns", {.threads = 2, .tile_columns = 5}, false},
    {"portable C", {.threads = 1, .cpu = "c"}, false},
    {"line by line", {.threads = 1, .strip_rows = 64}, true},
};

/* C is written for one size, that of the first input: others must follow from it. */
static bool is_emitted(const judgement *j, const made *m)
{
    for (uint32_t i = 1; i < j->n->input_count; i++)
        if (!mona_model_input(&m->model, i).width)
            return false;
    return true;
}

static bool run_others(judgement *j, made *m, const char *precision)
{
    plan_planes p = {0};
    char way[64];
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof others / sizeof *others; i++) {
        snprintf(way, sizeof way, "%s, %s", precision, others[i].name);
        ok = run_way(j, m, way, &others[i].config, others[i].lines, &p);
    }
    snprintf(way, sizeof way, "%s, emitted C", precision);
    if (ok && j->options->cc && is_emitted(j, m)) {
        char why[256];
        emitted_case e = {&m->model, j->options, j->n, m->outputs, {0}, j->count};
        for (uint32_t o = 0; o < j->count; o++) /* of the first image */
            e.output_bytes[o] = m->output_bytes[o] / (size_t)j->images;
        ok = emitted_judge(&e, &p, why, sizeof why) || give(j, VERDICT_WRONG, way, "%s", why);
        j->v->ways++;
    }
    plan_planes_close(&p);
    return ok;
}

static bool judge_numbers(judgement *j, const char *way, const plan_planes *p, spread *s,
                          const noise *how, const allowance *a, double *snr)
{
    for (uint32_t o = 0; o < j->count; o++) {
        finding f = {0};
        for (int again = 0; again < 2; again++) {
            if (!measure(j, s, *how, again))
                return false;
            f = compare(&j->wanted[o], &p->out[o], of_planes, &s[o], a);
            j->v->noisy = j->v->noisy || (again && is_good(j, &f, a));
            if (is_good(j, &f, a))
                break;
        }
        *snr = o && *snr < f.snr ? *snr : f.snr;
        j->v->worst = fmax(j->v->worst, f.worst);
        if (!is_good(j, &f, a))
            return tell(j, way, o, &f);
    }
    return true;
}

/* ---- compiling ---------------------------------------------------------------------------- */

static bool emit(judgement *j, compiler *c, const compiler_options *o, const char *way, made *m)
{
    format_error error = {0};
    uint8_t *bytes;
    if (!compiler_emit(c, o, &bytes, &m->size, &error))
        return give(j, VERDICT_REFUSED, way, "%s", error.text);
    m->bytes = bytes;
    const mona_status status = mona_model_open(&m->model, m->bytes, m->size);
    if (status)
        return give(j, VERDICT_REFUSED, way, "the engine refuses the model: %s",
                    mona_status_text(status));
    return mona_model_output_count(&m->model) == j->count ||
           give(j, VERDICT_WRONG, way, "%u outputs; the model has %u",
                mona_model_output_count(&m->model), j->count);
}

static void free_made(made *m)
{
    free(m->bytes);
    for (uint32_t o = 0; o < MONA_MAX_IO; o++)
        free(m->outputs[o]);
}

/* What the compiler takes as samples. */
static bool calibrate(judgement *j, compiler *c, const char *way)
{
    format_error error = {0};
    bool ok = true;
    for (uint64_t sample = 0; ok && sample < 3 * (uint64_t)j->images; sample++) {
        const uint64_t round = sample / (uint64_t)j->images, image = sample % (uint64_t)j->images;
        network other = *j->n;
        reference_array in[MONA_MAX_IO];
        for (uint32_t i = 0; i < other.input_count; i++) {
            tensor *t = &other.inputs[i];
            const compiler_tensor about = compiler_input(c, i);
            t->data = NULL;
            tensor_make(t, t->type, t->rank, j->n->inputs[i].dims);
            memcpy(t->data, j->n->inputs[i].data, tensor_bytes(t));
            const mona_size size = size_of(t);
            in[i] = (reference_array){about.channels, about.height ? about.height : size.height,
                                      about.width ? about.width : size.width,
                                      malloc((t->count + 1) * sizeof(float))};
        }
        if (round) /* the same kind of numbers, in another order */
            network_fill(&other, j->n->seed);
        for (uint32_t i = 0; i < other.input_count; i++) {
            const size_t first = other.inputs[i].count / (size_t)j->images * image;
            for (size_t k = 0; k < other.inputs[i].count; k++)
                in[i].data[k] = (float)tensor_number(&other.inputs[i], (first + k + round * 17) %
                                                                           other.inputs[i].count);
            tensor_free(&other.inputs[i]);
        }
        ok = compiler_calibrate(c, in, &error) ||
             give(j, VERDICT_WRONG, way, "calibration: %s", error.text);
        reference_arrays_free(in, other.input_count);
    }
    return ok;
}

/* With sizes that the model leaves open, or with those of the inputs. */
static compiler *open_with(const judgement *j, bool fixed, format_error *error)
{
    onnx_graph g;
    if (!onnx_graph_read(&g, j->n->bytes, j->n->size, NULL, error))
        return NULL;
    for (uint32_t i = 0; fixed && i < g.input_count; i++)
        for (uint32_t k = 0; k < g.inputs[i].rank; k++)
            onnx_graph_set_dim(&g, i, k, j->n->inputs[i].dims[k]);
    return j->images > 1 ? compiler_open_image(&g, NULL, error)
                         : compiler_open_graph(&g, NULL, error);
}

static bool is_open(const judgement *j)
{
    for (uint32_t i = 0; i < j->g.input_count; i++)
        for (uint32_t k = 0; k < j->g.inputs[i].rank; k++)
            if (j->g.inputs[i].dims[k] < 0)
                return true;
    return false;
}

static compiler *open_compiler(judgement *j, const char *way)
{
    format_error error = {0};
    compiler *c = open_with(j, j->v->fixed, &error);
    if (!c && is_open(j) && !j->v->fixed) {
        error = (format_error){0};
        c = open_with(j, true, &error);
        j->v->fixed = c;
    }
    if (!c)
        give(j, VERDICT_REFUSED, way, "%s", error.text);
    return c;
}

static const compiler_options floats = {.input_type = MONA_F16, .output_type = MONA_F16};

static bool judge_fp16(judgement *j)
{
    const allowance a = {200, 0x1p-10, 5, 4, true, 0};
    made m = {0};
    plan_planes p = {0};
    compiler *c = open_compiler(j, "fp16");
    const bool ok =
        c && emit(j, c, &floats, "fp16", &m) &&
        run_way(j, &m, "fp16", &(mona_config){.threads = 1}, false, &p) &&
        judge_numbers(j, "fp16", &p, j->fp16, j->steps ? &half_steps : &half, &a, &j->v->snr[0]) &&
        run_others(j, &m, "fp16");
    plan_planes_close(&p);
    free_made(&m);
    compiler_close(c);
    return ok;
}

static bool judge_int8(judgement *j, bool equalised)
{
    const allowance a = {30, 0x1p-8, 8, 8, true, 0x1p-8};
    const char *way = equalised ? "int8, equalised" : "int8";
    made m = {0};
    plan_planes p = {0};
    format_error error = {0};
    unsigned pairs = 0;
    compiler_options o = floats;
    o.int8 = true;
    o.correct_bias = j->n->seed % 3 != 0;
    o.ranges = j->n->seed % 2 ? RANGE_MIN_MAX : RANGE_MSE; /* the others may cut off more */
    compiler *c = open_compiler(j, way);
    bool ok = c && calibrate(j, c, way);
    if (ok && equalised)
        ok = (compiler_equalise(c, &o, &pairs, &error) ||
              give(j, VERDICT_REFUSED, way, "%s", error.text)) &&
             calibrate(j, c, way);
    if (ok && equalised && !pairs) {
        compiler_close(c);
        return true;
    }
    ok = ok && emit(j, c, &o, way, &m) &&
         run_way(j, &m, way, &(mona_config){.threads = 1}, false, &p) &&
         judge_numbers(j, way, &p, j->int8, &eighths, &a, &j->v->snr[1]) && run_others(j, &m, way);
    plan_planes_close(&p);
    free_made(&m);
    compiler_close(c);
    return ok;
}

/* ---- all ---------------------------------------------------------------------------------- */

static bool judge_engine(judgement *j)
{
    return judge_fp16(j) && judge_int8(j, false) && judge_int8(j, true);
}

/* Of the batch that the network is for, if it does not mix them; else 1. */
static int64_t images_apart(judgement *j)
{
    format_error error = {0};
    int64_t images = j->n->inputs[0].rank ? j->n->inputs[0].dims[0] : 1;
    if (images > 1) {
        j->images = images;
        compiler *c = open_with(j, j->v->fixed, &error);
        images = c ? compiler_images(c) : 1;
        compiler_close(c);
    }
    return images;
}

static bool judge_all(judgement *j, const peer_result *peers, uint32_t peer_count)
{
    static const char *const names[] = {"ONNX Runtime", "torch"};
    format_error error = {0};
    double peak = 0;
    if (!onnx_graph_read(&j->g, j->n->bytes, j->n->size, NULL, &error))
        return give(j, VERDICT_REFUSED, "reading", "%s", error.text);
    j->count = j->g.output_count;
    j->steps = has_steps(&j->g);
    if (!reference_plain(&j->g, j->n, j->wanted, &peak, &error))
        return give(j, VERDICT_REFUSED, "reference", "%s", error.text);
    for (uint32_t i = 0; i < peer_count; i++)
        if (!judge_reference(j, &peers[i], names[i]))
            return false;
    j->v->overflows = !(peak < 30000);
    if (j->v->overflows)
        return true;
    if (!judge_engine(j))
        return false;
    j->images = images_apart(j);
    j->v->apart = j->images > 1;
    return j->images == 1 || judge_engine(j);
}

void judge(const network *n, const peer_result *peers, uint32_t peer_count,
           const judge_options *options, verdict *v)
{
    judgement j = {.n = n, .options = options, .v = v, .images = 1};
    *v = (verdict){0};
    judge_all(&j, peers, peer_count);
}
