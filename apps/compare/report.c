// SPDX-License-Identifier: Apache-2.0
#include "apps/compare/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/base64.h>
#include <libavutil/pixdesc.h>

#include "apps/cli/options.h"
#include "apps/plot/page.h"
#include "apps/cli/save.h"
#include "pipeline/base/outfile.h"

__asm__(".pushsection .rodata\nreport_page:\n.incbin \"apps/compare/report.html\"\n.byte "
        "0\n.popsection\n");
extern const char report_page[];

#define MIB (1024.0 * 1024.0)

/* ---- facts ---------------------------------------------------------------------------------- */

void report_add(report *r, const char *name, const char *format, ...)
{
    if (r->fact_count == REPORT_MAX_FACTS)
        return;
    report_fact *fact = &r->facts[r->fact_count++];
    va_list arguments;
    fact->name = name;
    va_start(arguments, format);
    vsnprintf(fact->value, sizeof fact->value, format, arguments);
    va_end(arguments);
}

static void add_side(report *r, const char *label, const compare_side *s, const char *path)
{
    report_add(r, label, "%s: %dx%d %s, %s, %.4g frames a second, %.2f MiB", path, s->width,
               s->height, av_get_pix_fmt_name(s->pix_fmt), s->codec, s->rate,
               (double)s->file_bytes / MIB);
}

void report_add_sides(report *r, const comparison_log *log)
{
    add_side(r, r->labels[0], &log->result.a, r->a);
    add_side(r, r->labels[1], &log->result.b, r->b);
    report_add(r, "frames", "%" PRIu64, log->result.frames);
}

/* ---- data ----------------------------------------------------------------------------------- */

static void add_pair(cJSON *list, const char *name, const char *value)
{
    cJSON *pair = cJSON_CreateArray();
    cJSON_AddItemToArray(pair, cJSON_CreateString(name));
    cJSON_AddItemToArray(pair, cJSON_CreateString(value));
    cJSON_AddItemToArray(list, pair);
}

static void add_headline(cJSON *document, const report *page, const comparison_log *log)
{
    const compare_result *r = &log->result;
    const compare_row *all = &r->rows[QUALITY_ALL];
    cJSON *list = cJSON_AddArrayToObject(document, "headline");
    char text[64];
    if (!page->words) {
        const double psnr = quality_psnr(r->pix_fmt, all->mse);
        const double worst = quality_psnr(r->pix_fmt, all->worst_mse);
        snprintf(text, sizeof text, isinf(psnr) ? "identical" : "%.2f dB", psnr);
        add_pair(list, "PSNR", text);
        snprintf(text, sizeof text, isinf(worst) ? "identical" : "%.2f dB", worst);
        char name[64];
        snprintf(name, sizeof name, "PSNR of the %s frame", page->extreme);
        add_pair(list, name, text);
        snprintf(text, sizeof text, "%.4f", all->ssim);
        add_pair(list, "SSIM", text);
    }
    snprintf(text, sizeof text, "%dx%d", r->b.width, r->b.height);
    add_pair(list, "pixels", text);
    if (page->words) {
        snprintf(text, sizeof text, "%.2f MiB", (double)r->b.file_bytes / MIB);
        add_pair(list, "size of the file", text);
    }
    snprintf(text, sizeof text, "%" PRIu64, r->frames);
    add_pair(list, "frames", text);
}

/* Adds a picture as a data URI. */
static bool add_picture(cJSON *view, const char *name, const AVPacket *picture)
{
    static const char head[] = "data:image/jpeg;base64,";
    const size_t size = AV_BASE64_SIZE((size_t)picture->size);
    char *text = malloc(sizeof head + size);
    bool good = text;
    if (good) {
        memcpy(text, head, sizeof head);
        good = av_base64_encode(text + sizeof head - 1, (int)size, picture->data, picture->size) &&
               cJSON_AddStringToObject(view, name, text);
    }
    free(text);
    return good;
}

static bool add_views(cJSON *document, const comparison_log *log)
{
    cJSON *views = cJSON_AddArrayToObject(document, "views");
    const uint64_t worst = log->views[COMPARISON_SPREAD].frame;
    bool good = views;
    for (size_t i = 0; i < COMPARISON_VIEWS && good; i++) {
        const comparison_view *v = &log->views[i];
        /* The worst frame may be among the others already. */
        if (!v->b || (i < COMPARISON_SPREAD && v->frame == worst))
            continue;
        cJSON *view = cJSON_CreateObject();
        cJSON_AddNumberToObject(view, "frame", (double)v->frame);
        cJSON_AddBoolToObject(view, "worst", v->frame == worst);
        good = cJSON_AddItemToArray(views, view) && add_picture(view, "a", v->a) &&
               add_picture(view, "b", v->b);
    }
    return good;
}

static void add_series(cJSON *document, const comparison_log *log)
{
    cJSON *time = cJSON_AddArrayToObject(document, "time");
    cJSON *psnr = cJSON_AddArrayToObject(document, "psnr");
    cJSON *ssim = cJSON_AddArrayToObject(document, "ssim");
    for (size_t i = 0; i < log->count; i++) {
        const comparison_frame *f = &log->frames[i];
        cJSON_AddItemToArray(time, cJSON_CreateNumber(f->time));
        cJSON_AddItemToArray(psnr, cJSON_CreateNumber(f->psnr[QUALITY_ALL]));
        cJSON_AddItemToArray(ssim, cJSON_CreateNumber(f->ssim[QUALITY_ALL]));
    }
}

static cJSON *document_of(const report *r, const comparison_log *log)
{
    const compare_side *b = &log->result.b;
    cJSON *document = comparison_json(log, r->a, r->b);
    char text[512];
    /* The page has its own arrays, which are shorter than an object per frame. */
    cJSON_DeleteItemFromObjectCaseSensitive(document, "per_frame");
    snprintf(text, sizeof text, "%s and %s", outfile_base_name(r->a), outfile_base_name(r->b));
    cJSON_AddStringToObject(document, "title", text);
    snprintf(text, sizeof text, "%s and %s, frame by frame", r->labels[0], r->labels[1]);
    cJSON_AddStringToObject(document, "subtitle", text);
    cJSON_AddStringToObject(document, "note", r->note);
    cJSON_AddStringToObject(document, "extreme", r->extreme);
    cJSON_AddStringToObject(document, "measured", r->measured);
    cJSON_AddStringToObject(document, "words", r->words ? r->words : "");
    cJSON_AddItemToObject(document, "labels", cJSON_CreateStringArray(r->labels, 2));
    const bool lying = orientation_swaps(b->turn);
    const double aspect = b->aspect.num > 0 && b->aspect.den > 0 ? av_q2d(b->aspect) : 1;
    cJSON_AddNumberToObject(document, "width", lying ? b->height : b->width);
    cJSON_AddNumberToObject(document, "height", lying ? b->width : b->height);
    cJSON_AddNumberToObject(document, "aspect", lying ? 1 / aspect : aspect);
    add_headline(document, r, log);
    add_series(document, log);
    if (r->latency_ms)
        cJSON_AddItemToObject(document, "latency",
                              cJSON_CreateDoubleArray(r->latency_ms, (int)r->latency_count));
    cJSON *facts = cJSON_AddArrayToObject(document, "facts");
    for (size_t i = 0; i < r->fact_count; i++)
        add_pair(facts, r->facts[i].name, r->facts[i].value);
    if (!add_views(document, log)) {
        cJSON_Delete(document);
        return NULL;
    }
    return document;
}

/* ---- the page ------------------------------------------------------------------------------- */

static bool put_chart(FILE *f, const report *r, comparison_log *log)
{
    chart c;
    if (!comparison_chart(log, &c))
        return false;
    /* Frames that were not timed have no point in the chart. */
    double *latency = malloc(log->count * sizeof *latency);
    for (size_t i = 0; latency && i < log->count; i++)
        latency[i] = r->latency_ms && i < r->latency_count ? r->latency_ms[i] : NAN;
    if (latency && r->latency_ms)
        c.panels[c.panel_count++] =
            (chart_panel){.title = "Latency, ms", .lines = {{"frame", latency}}, .line_count = 1};
    if (latency)
        chart_write(f, &c);
    free(latency);
    return latency;
}

static bool put_page(FILE *f, const report *r, comparison_log *log)
{
    page_begin(f);
    const char *rest = page_put_until(f, report_page, "<!--CHART-->");
    cJSON *document = put_chart(f, r, log) ? document_of(r, log) : NULL;
    const bool good = document && page_end(f, rest, document);
    cJSON_Delete(document);
    return good;
}

bool report_write(const report *r, comparison_log *log, const char *path)
{
    text_file t;
    text_file_begin(&t);
    return text_file_save(&t, t.f && put_page(t.f, r, log), path);
}
