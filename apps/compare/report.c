// SPDX-License-Identifier: Apache-2.0
#include "apps/compare/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/base64.h>
#include <libavutil/pixdesc.h>

#include "apps/cli/json_output.h"
#include "apps/page/page.h"
#include "pipeline/base/outfile.h"

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
        JSON_ADD(view, NUMBER("frame", v->frame), TRUTH("worst", v->frame == worst));
        good = cJSON_AddItemToArray(views, view) && add_picture(view, "a", v->a) &&
               add_picture(view, "b", v->b);
    }
    return good;
}

/* Without digits that no chart shows. Infinite becomes null, as what was not measured does. */
static void add_value(cJSON *list, double value)
{
    cJSON_AddItemToArray(list, cJSON_CreateNumber(round(1e4 * value) / 1e4));
}

static void add_series(cJSON *document, const report *r, const comparison_log *log)
{
    cJSON *time = cJSON_AddArrayToObject(document, "time");
    for (size_t i = 0; i < log->count; i++)
        add_value(time, log->frames[i].time);
    comparison_add_columns(log, document, add_value);
    if (!r->latency_ms)
        return;
    cJSON *latency = cJSON_AddArrayToObject(document, "latency");
    for (size_t i = 0; i < log->count; i++)
        add_value(latency, i < r->latency_count ? r->latency_ms[i] : NAN);
}

static cJSON *document_of(const report *r, const comparison_log *log)
{
    const compare_side *b = &log->result.b;
    cJSON *document = comparison_json(log, r->a, r->b);
    char text[512];
    snprintf(text, sizeof text, "%s and %s", outfile_base_name(r->a), outfile_base_name(r->b));
    cJSON_AddStringToObject(document, "title", text);
    snprintf(text, sizeof text, "%s and %s, frame by frame", r->labels[0], r->labels[1]);
    JSON_ADD(document, TEXT("subtitle", text), TEXT("note", r->note), TEXT("extreme", r->extreme),
             TEXT("measured", r->measured), TEXT("words", r->words ? r->words : ""));
    cJSON_AddItemToObject(document, "labels", cJSON_CreateStringArray(r->labels, 2));
    const bool lying = orientation_swaps(b->turn);
    const double aspect = b->aspect.num > 0 && b->aspect.den > 0 ? av_q2d(b->aspect) : 1;
    JSON_ADD(document, NUMBER("width", lying ? b->height : b->width),
             NUMBER("height", lying ? b->width : b->height),
             NUMBER("aspect", lying ? 1 / aspect : aspect));
    add_headline(document, r, log);
    add_series(document, r, log);
    cJSON *facts = cJSON_AddArrayToObject(document, "facts");
    for (size_t i = 0; i < r->fact_count; i++)
        add_pair(facts, r->facts[i].name, r->facts[i].value);
    if (!add_views(document, log)) {
        cJSON_Delete(document);
        return NULL;
    }
    return document;
}

bool report_write(const report *r, const comparison_log *log, const char *path)
{
    cJSON *document = document_of(r, log);
    const bool good = page_save(PAGE_COMPARE, document, path);
    cJSON_Delete(document);
    return good;
}
