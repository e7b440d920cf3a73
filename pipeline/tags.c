#include "tags.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "container.h"
#include "edits.h"

/* Names a player looks for, and what the writer makes itself. */
static const char *const file_tags[] = {"title",
                                        "artist",
                                        "album_artist",
                                        "composer",
                                        "album",
                                        "date",
                                        "comment",
                                        "genre",
                                        "copyright",
                                        "grouping",
                                        "lyrics",
                                        "description",
                                        "synopsis",
                                        "show",
                                        "episode_id",
                                        "network",
                                        "keywords",
                                        "episode_sort",
                                        "season_number",
                                        "media_type",
                                        "hd_video",
                                        "gapless_playback",
                                        "compilation",
                                        "track",
                                        "disc",
                                        "encoder",
                                        "major_brand",
                                        "minor_version",
                                        "compatible_brands",
                                        "creation_time",
                                        "timecode",
                                        NULL};
static const char *const stream_tags[] = {"language", "handler_name", "vendor_id", "title",
                                          "rotate",   "timecode",     "encoder",   "creation_time",
                                          "filename", "mimetype",     NULL};
/* Statistics of the old file. */
static const char *const stale[] = {"BPS", "DURATION", "NUMBER_OF_", "_STATISTICS", NULL};

static bool is_held(const char *key, const char *const *names)
{
    for (; *names; names++)
        if (!strcasecmp(key, *names))
            return true;
    for (const char *const *prefix = stale; *prefix; prefix++)
        if (!strncasecmp(key, *prefix, strlen(*prefix)))
            return true;
    return false;
}

static const char *first_lost(const AVDictionary *tags, const char *const *names)
{
    const AVDictionaryEntry *entry = NULL;
    while ((entry = av_dict_get(tags, "", entry, AV_DICT_IGNORE_SUFFIX)))
        if (!is_held(entry->key, names))
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

bool tags_any_name(const AVFormatContext *output)
{
    return edits_known(output->oformat) && !has_cover(output) &&
           first_lost(output->metadata, file_tags);
}

void tags_tell_lost(const AVFormatContext *output, const char *name, const pipeline_notes *notes)
{
    if (!edits_known(output->oformat))
        return;
    const char *lost = first_lost(output->metadata, file_tags);
    if (lost && !tags_any_name(output))
        pipeline_note(notes, "%s: %s cannot hold the tag '%s' beside a cover; .mkv would", name,
                      output->oformat->name, lost);
    for (unsigned i = 0; i < output->nb_streams; i++) {
        lost = first_lost(output->streams[i]->metadata, stream_tags);
        if (lost)
            pipeline_note(notes, "%s: %s cannot hold the tag '%s' of stream %u; .mkv would", name,
                          output->oformat->name, lost, i);
    }
}
