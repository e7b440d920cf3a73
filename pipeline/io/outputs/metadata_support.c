// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/outputs/mux.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "pipeline/io/containers/container.h"

enum {
    LISTED = 4, /* characters of a language in a list */
    MORE = 24
};

/* Tags that writers add about the file itself, and statistics of the old file; they are not
 * kept. */
static const char *const own[] = {"encoder",
                                  "major_brand",
                                  "minor_version",
                                  "compatible_brands",
                                  "creation_time",
                                  "handler_name",
                                  "vendor_id",
                                  "filename",
                                  "mimetype",
                                  "BPS",
                                  "DURATION",
                                  "NUMBER_OF_",
                                  "_STATISTICS",
                                  "rotate",
                                  NULL};

static bool is_held(const char *key, const char *const *names)
{
    for (; *names; names++)
        if (!strcasecmp(key, *names))
            return true;
    for (const char *const *prefix = own; *prefix; prefix++)
        if (!strncasecmp(key, *prefix, strlen(*prefix)))
            return true;
    return false;
}

/* Whether a list, as container_tags has it, holds a code. */
static bool is_listed(const char *languages, const char *code)
{
    for (const char *at = languages; (at = strstr(at, code)); at++)
        if ((at - languages) % LISTED == 0)
            return true;
    return false;
}

static bool is_held_language(const char *code, const char *languages)
{
    char padded[LISTED + 1];
    if (languages && strlen(code) < LISTED) {
        snprintf(padded, sizeof padded, "%-*s", LISTED, code);
        return is_listed(languages, padded);
    }
    return strlen(code) == 3 && strspn(code, "abcdefghijklmnopqrstuvwxyz") == 3;
}

/* The first tag that is lost, and how many are. */
static const char *first_lost(const AVDictionary *tags, const char *const *names,
                              const char *languages, unsigned *count)
{
    const AVDictionaryEntry *entry = NULL;
    const char *first = NULL;
    *count = 0;
    while (names && (entry = av_dict_get(tags, "", entry, AV_DICT_IGNORE_SUFFIX))) {
        const bool language = !strcasecmp(entry->key, "language");
        if (language && !strcmp(entry->value, "und"))
            continue;
        if (is_held(entry->key, names) && (!language || is_held_language(entry->value, languages)))
            continue;
        if (!(*count)++)
            first = entry->key;
    }
    return first;
}

/* " and 2 more", of a number of tags of which one is named. */
static const char *and_more(unsigned count, char text[static MORE])
{
    text[0] = 0;
    if (count > 1)
        snprintf(text, MORE, " and %u more", count - 1);
    return text;
}

bool metadata_support_suit_language(AVDictionary **tags, const AVOutputFormat *format)
{
    static const char *const same[][2] = {
        {"sqi", "alb"}, {"hye", "arm"}, {"eus", "baq"}, {"mya", "bur"}, {"zho", "chi"},
        {"cze", "ces"}, {"nld", "dut"}, {"fre", "fra"}, {"kat", "geo"}, {"deu", "ger"},
        {"ell", "gre"}, {"isl", "ice"}, {"mkd", "mac"}, {"msa", "may"}, {"fas", "per"},
        {"rum", "ron"}, {"slo", "slk"}, {"bod", "tib"}, {"cym", "wel"}, {"swe", "sve"},
        {"hrv", "hr "}, {"srp", "sr "}, {"fao", "fo "}, {"pan", "pa "}};
    const container_tags *h = container_row_of(format)->tags;
    const AVDictionaryEntry *entry = av_dict_get(*tags, "language", NULL, 0);
    if (entry && h && h->languages)
        for (size_t i = 0; i < sizeof same / sizeof *same; i++)
            if (!strcmp(entry->value, same[i][0]))
                return av_dict_set(tags, "language", same[i][1], 0) >= 0;
    return true;
}

static bool has_cover(const AVFormatContext *output)
{
    for (unsigned i = 0; i < output->nb_streams; i++)
        if (container_is_cover(output->streams[i]))
            return true;
    return false;
}

bool metadata_support_any_name(const AVFormatContext *output)
{
    const container *row = container_row_of(output->oformat);
    unsigned count;
    return row->any_option && !has_cover(output) &&
           first_lost(output->metadata, row->tags->file, NULL, &count);
}

static void tell_stream(const AVFormatContext *output, unsigned i, const container_tags *h,
                        const char *name, const pipeline_notes *notes)
{
    const AVStream *stream = output->streams[i];
    const char *format = output->oformat->name;
    char more[MORE];
    unsigned count;
    const char *lost = first_lost(stream->metadata, h->stream, h->languages, &count);
    const int marks = stream->disposition & ~h->marks & ~AV_DISPOSITION_ATTACHED_PIC;
    if (lost)
        pipeline_note(notes, "%s: %s cannot hold the tag '%s'%s of stream %u; .mkv would", name,
                      format, lost, and_more(count, more), i);
    if (marks)
        pipeline_note(notes, "%s: %s cannot store that stream %u is marked as '%s'%s", name, format,
                      i, av_disposition_to_string(marks & -marks),
                      marks & container_at(0)->tags->marks ? "; .mkv would" : "");
}

void metadata_support_tell_lost(const AVFormatContext *output, const char *name,
                                const pipeline_notes *notes)
{
    const container_tags *h = container_row_of(output->oformat)->tags;
    if (!h)
        return;
    char more[MORE];
    unsigned count;
    const char *lost = first_lost(output->metadata, h->file, NULL, &count);
    if (lost && !metadata_support_any_name(output))
        pipeline_note(notes, "%s: %s cannot hold the tag '%s'%s%s; .mkv would", name,
                      output->oformat->name, lost, and_more(count, more),
                      has_cover(output) ? " beside a cover" : "");
    for (unsigned i = 0; i < output->nb_streams; i++)
        tell_stream(output, i, h, name, notes);
}
