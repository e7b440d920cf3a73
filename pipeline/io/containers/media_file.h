// SPDX-License-Identifier: Apache-2.0
/* Opens a file of unknown origin. What it is follows from a table of formats that hold their media
 * themselves: a name proves nothing, and a list of other files (a playlist, a manifest, a session
 * description) may come as holiday.mp4 and name what its sender must not see. */
#ifndef MONA_MEDIA_FILE_H
#define MONA_MEDIA_FILE_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "pipeline/base/error.h"

/* Before avformat_open_input: media, which is not open yet, and options accept only what the table
 * has. list: libav's name of one kind of list that the file may be too; NULL: none. Files that a
 * playlist of HLS names are opened only below its own folder, links followed; other media open no
 * second file. remote: of what a server sends, which may name what its protocol reaches
 * (url_options); a playlist that names itself ends. False: out of memory. */
__attribute__((warn_unused_result)) bool media_guard(AVFormatContext *media, bool remote,
                                                     const char *address, const char *list,
                                                     AVDictionary **options);
/* After media_guard: a playlist that has no end ends with the last file that it names when it is
 * opened. libav would wait for more, and begin with the last three. */
void media_end_lists(AVFormatContext *media);
/* Whether there was such a list. */
bool media_list_ended(const AVFormatContext *media);
/* Whether a list says that the clock may jump between two of its files (#EXT-X-DISCONTINUITY). That
 * of a server is asked for once more. */
bool media_list_has_breaks(AVFormatContext *media);
/* Files that a list names and that were not read: they are missing, or refused. */
unsigned media_lost_files(const AVFormatContext *media);
/* Counts them of another from now on, which outlives the first. */
void media_pass_lost(AVFormatContext *to, AVFormatContext *from);
/* Once what a server sends is open. */
void media_opened_remote(AVFormatContext *media);

/* Whether libav looks for the files of a pattern before it looks into the one of this name. It
 * takes any JPEG of this name for such a pattern. */
bool media_name_misleads(const char *address);

/* What a file is. The name helps where content says little, unless libav would take it for a
 * pattern. NULL: unknown, or no file. */
const AVInputFormat *media_format(const char *address);

/* Says what a file is that was not opened for its format. allowed: the list that was. false: it has
 * another fault. */
bool media_refused(const char *path, const char *address, const char *allowed,
                   pipeline_error *error);

/* Files of the MP4 and QuickTime family of which a part is missing, as after a download that broke
 * off. */

/* Whether the file's own lengths say that its end is missing, or there is no index in it, without
 * which nothing can be read. If so, an error says it. */
bool cut_off_found(const char *path, pipeline_error *error);

/* What is special about libav's readers. Nothing else knows a reader by its name. */

typedef struct reader {
    const char *name;   /* one of libav's; NULL: those about which nothing is special */
    const char *called; /* in messages, where it reads no media; NULL: as libav says */
    bool list;          /* names other files, */
    bool below;         /* which may be read where the user allows it and they lie in its folder */
    bool pattern;       /* opens all files of a pattern */
    bool bursts;        /* of a stream, packets come in files of seconds */
    bool drops_last;    /* an incomplete last frame is left out without a word */
    bool index;         /* describes the video after its frames, in many files */
    bool unsized;       /* tells no size of animations, which libav cannot decode */
    bool headers;       /* its index lists headers of codecs, at 0, as packets */
    bool ends;          /* its duration is the time of the end, also where it begins late */
    bool nested;        /* its parts lie in others: read from any other byte, it loses a part */
} reader;

const reader *reader_of(const AVInputFormat *format);

/* Microseconds from the first packet to the end, as the file announces; 0: it does not. Some
 * programs write the length where others write the end, so it may be too short; never too long. */
int64_t media_length(const AVFormatContext *media);

#endif
