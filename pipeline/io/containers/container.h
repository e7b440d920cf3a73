// SPDX-License-Identifier: Apache-2.0
/* What each container holds, and what its writer in libav wants. Nothing else knows a container by
 * its name: all others ask its row. */
#ifndef MONA_CONTAINER_H
#define MONA_CONTAINER_H

#include <stdbool.h>

#include <libavformat/avformat.h>

/* Frames of raw samples are told apart by a tag. */
typedef enum container_raw {
    RAW_TAGGED,  /* by any that libav knows */
    RAW_KNOWN,   /* by one that readers of AVI know */
    RAW_COLOURS, /* the same, and its grey is another format */
    RAW_ANY      /* by none: whoever reads them has to know */
} container_raw;

/* Pictures that belong to the file, such as an album's. */
typedef enum container_covers {
    COVERS_NONE,
    COVERS_COMMON, /* PNG, JPEG and BMP */
    COVERS_FILES   /* any, as attached files */
} container_covers;

/* Names of tags, up to NULL, and dispositions. A list that is NULL: any name. */
typedef struct container_tags {
    const char *const *file, *const *stream;
    int marks;
    /* Those that it holds, of four characters with a space after the last letter; NULL: any code of
     * three letters. */
    const char *languages;
} container_tags;

typedef struct container {
    const char *name;   /* libav's; NULL: those that have no row of their own */
    const char *called; /* in messages; NULL: so */
    const char *suffix; /* of the file that is proposed where another holds less; NULL: none is */
    /* Codecs, up to AV_CODEC_ID_NONE, where libav is wrong about them: all that it holds, or some
     * that it does not hold; NULL: libav knows. */
    const enum AVCodecID *only, *never;
    container_raw raw;
    const container_tags *tags; /* NULL: nobody expects any, or all are held */
    /* "key=value:..." for the writer of a file and of a stream; NULL: none. */
    const char *options, *live_options;
    /* The one with which it holds tags of any name, but no cover; NULL: none does. */
    const char *any_option;
    /* Those of a file called .m2ts: libav looks at the suffix of the part that it writes. */
    const char *m2ts_options;

    bool one;       /* a video, and nothing else */
    bool frames;    /* the writer takes frames, not packets, and counts them */
    bool pictures;  /* each frame is a file */
    bool quicktime; /* of its family: has edit lists, the rotation of a video, and a clock */
    bool seeks;     /* its index is filled in later */
    bool counts;    /* frames, which come in the order of display */
    bool old;       /* its players expect no modern codec */
    bool itself;    /* the writer opens files or connections of its own */
    bool ids;       /* a stream keeps its number */
    bool bare;      /* stores only samples */
    bool mute;      /* nobody expects sound of it */
    bool loops;     /* is shown again and again; the last frame's duration is an option */

    bool programmes; /* of a broadcast, with their names */
    bool adts;       /* AAC as there, whose packets each tell their rate and channels */
    bool riff;       /* sound without a name of its own goes by its number in WAV */

    bool starts; /* when a stream begins, beside the others */
    bool text;   /* subtitles */
    bool files;  /* attached ones */
    bool data;   /* streams of it, as far as it holds their codecs */
    bool chapters;
    bool colours;  /* primaries, transfer, matrix, display: else only some codecs tell them */
    bool range;    /* of their samples, likewise */
    bool siting;   /* of chroma, likewise */
    bool layout;   /* of 3D and of 360 degrees */
    bool alpha;    /* VP9's, which lies beside the frames */
    bool lead;     /* what a decoder of sound needs before the first sample */
    bool whole;    /* the size that is shown, in whole pixels */
    bool speakers; /* of PCM */
    container_covers covers;
} container;

/* The row of a format. */
const container *container_row_of(const AVOutputFormat *format);

/* Options of its writer, "key=value", for a file or address; NULL: none. */
const char *container_options(const AVOutputFormat *format, const char *path, bool live);

/* Whether a stream can have the number: in a transport stream libav's own tables, one for each
 * programme, and the clock of .m2ts have some. */
bool container_takes_number(const AVOutputFormat *format, const char *path, unsigned programmes,
                            int number);

/* Row i, in the order in which they are proposed. NULL: there are no more. */
const container *container_at(unsigned i);

/* Whether it holds streams of the codec. */
bool container_holds_id(const AVOutputFormat *format, enum AVCodecID codec);

/* Whether it holds a copy of the stream, which is not the enhanced one. */
bool container_holds(const AVOutputFormat *format, const AVStream *stream);

/* Whether it holds a matrix by which players turn a video. AVIF does for a film and not for a still
 * picture, and which of them it becomes is known only at the end. */
bool container_keeps_matrix(const AVOutputFormat *format);

/* Whether it holds how players turn the stream. */
bool container_holds_rotation(const AVOutputFormat *format, const AVStream *stream);

/* Milliseconds before 0 at which a stream may begin. */
int64_t container_lead(const AVOutputFormat *format, const AVStream *stream);

/* ---- streams -------------------------------------------------------------------------------- */

/* Streams that are not copied because the container's writer creates them again: QuickTime time
 * codes, which it derives from the video's metadata, and tracks with the names of chapters. */
bool container_regenerates(const AVFormatContext *input, const AVStream *stream);

/* Whether the user leaves the stream out: the input does not read it either. */
bool container_leaves_out(const AVStream *stream);

/* Whether the stream is sound that the file announces and of which libav found nothing. */
bool container_is_unheard(const AVStream *stream);

/* Whether the stream is a picture that belongs to the file, such as an album cover, and not a
 * video. */
bool container_is_cover(const AVStream *stream);

#endif
