// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/outputs/metadata_support.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "pipeline/io/containers/container.h"

/* Tags that writers add about the file itself, and statistics of the old file; they are not
 * kept. */
static const char *const own[] = {
    "encoder",       "major_brand",  "minor_version", "compatible_brands",
    "creation_time", "handler_name", "vendor_id",     "filename",
    "mimetype",      "BPS",          "DURATION",      "NUMBER_OF_",
    "_STATISTICS",   "timecode",     "rotate",        NULL};

/* Names that players look for in QuickTime's containers. */
static const char *const mov_file[] = {
    "title",    "artist",           "album_artist", "composer",      "album",
    "date",     "comment",          "genre",        "copyright",     "grouping",
    "lyrics",   "description",      "synopsis",     "show",          "episode_id",
    "network",  "keywords",         "episode_sort", "season_number", "media_type",
    "hd_video", "gapless_playback", "compilation",  "track",         "disc",
    NULL};
static const char *const avi_file[] = {
    "title", "artist", "album",      "comment",  "copyright", "date",
    "genre", "track",  "encoded_by", "language", "software", /* set by its own writer */
    NULL};
static const char *const ts_file[] = {"service_name", "service_provider", NULL};
static const char *const language[] = {"language", NULL}, *const title[] = {"title", NULL};
static const char *const none[] = {NULL};

enum {
    MARKS_MATROSKA = AV_DISPOSITION_DEFAULT | AV_DISPOSITION_FORCED | AV_DISPOSITION_ORIGINAL |
                     AV_DISPOSITION_COMMENT | AV_DISPOSITION_HEARING_IMPAIRED |
                     AV_DISPOSITION_VISUAL_IMPAIRED | AV_DISPOSITION_DESCRIPTIONS,
    MARKS_MOV = AV_DISPOSITION_DEFAULT | AV_DISPOSITION_FORCED | AV_DISPOSITION_DUB |
                AV_DISPOSITION_COMMENT | AV_DISPOSITION_HEARING_IMPAIRED |
                AV_DISPOSITION_VISUAL_IMPAIRED | AV_DISPOSITION_CAPTIONS |
                AV_DISPOSITION_DESCRIPTIONS,
    /* These cannot store "default" either; it is not reported, as nobody set it on purpose. */
    MARKS_TS = AV_DISPOSITION_DEFAULT | AV_DISPOSITION_HEARING_IMPAIRED |
               AV_DISPOSITION_VISUAL_IMPAIRED | AV_DISPOSITION_CLEAN_EFFECTS,
    MARKS_NONE = AV_DISPOSITION_DEFAULT
};

/* Metadata that a container's writer in libav 59 stores. */
typedef struct holding {
    const char *format;
    const char *const *file, *const *stream; /* names; NULL: any */
    int marks;                               /* dispositions */
} holding;

static const holding holdings[] = {{"matroska", NULL, NULL, MARKS_MATROSKA},
                                   {"webm", NULL, NULL, MARKS_MATROSKA},
                                   {"avi", avi_file, title, MARKS_NONE},
                                   {"mpegts", ts_file, language, MARKS_TS},
                                   {"flv", NULL, none, MARKS_NONE}};
static const holding mov_holding = {NULL, mov_file, language, MARKS_MOV};

/* NULL: it stores everything, or nothing, like raw frames; nobody expects metadata in those. */
static const holding *holding_of(const AVOutputFormat *format)
{
    if (container_is_quicktime(format))
        return &mov_holding;
    for (size_t i = 0; i < sizeof holdings / sizeof *holdings; i++)
        if (!strcmp(holdings[i].format, format->name))
            return &holdings[i];
    return NULL;
}

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

static const char *first_lost(const AVDictionary *tags, const char *const *names)
{
    const AVDictionaryEntry *entry = NULL;
    while (names && (entry = av_dict_get(tags, "", entry, AV_DICT_IGNORE_SUFFIX)))
        if (!is_held(entry->key, names) &&
            !(!strcasecmp(entry->key, "language") && !strcmp(entry->value, "und")))
            return entry->key;
    return NULL;
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
    return container_is_quicktime(output->oformat) && !has_cover(output) &&
           first_lost(output->metadata, mov_file);
}

static void tell_stream(const AVFormatContext *output, unsigned i, const holding *h,
                        const char *name, const pipeline_notes *notes)
{
    const AVStream *stream = output->streams[i];
    const char *format = output->oformat->name;
    const char *lost = first_lost(stream->metadata, h->stream);
    const int marks = stream->disposition & ~h->marks & ~AV_DISPOSITION_ATTACHED_PIC;
    if (lost)
        pipeline_note(notes, "%s: %s cannot hold the tag '%s' of stream %u; .mkv would", name,
                      format, lost, i);
    if (marks)
        pipeline_note(notes, "%s: %s cannot store that stream %u is marked as '%s'%s", name, format,
                      i, av_disposition_to_string(marks & -marks),
                      marks & MARKS_MATROSKA ? "; .mkv would" : "");
}

void metadata_support_tell_lost(const AVFormatContext *output, const char *name,
                                const pipeline_notes *notes)
{
    const holding *h = holding_of(output->oformat);
    if (!h)
        return;
    const char *lost = first_lost(output->metadata, h->file);
    if (lost && !metadata_support_any_name(output))
        pipeline_note(notes, "%s: %s cannot hold the tag '%s'%s; .mkv would", name,
                      output->oformat->name, lost, has_cover(output) ? " beside a cover" : "");
    for (unsigned i = 0; i < output->nb_streams; i++)
        tell_stream(output, i, h, name, notes);
}
