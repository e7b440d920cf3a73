// SPDX-License-Identifier: Apache-2.0
/* Re-encodes sound if the user asks for it or the output cannot hold it as it is. */
#ifndef MONA_SOUND_H
#define MONA_SOUND_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "pipeline/base/error.h"

typedef enum sound_mode {
    SOUND_COPY, /* as it is, or without loss in another codec */
    SOUND_AUTO, /* the same, else with loss */
    SOUND_NONE, /* left out */
    SOUND_CODEC
} sound_mode;

typedef struct sound_choice {
    sound_mode mode;
    enum AVCodecID codec; /* SOUND_CODEC */
} sound_choice;

/* Reads "copy", "auto", "none" or the name of a codec that mona encodes to. */
bool sound_choice_read(sound_choice *choice, const char *text);

/* The names of these codecs, with commas between. */
const char *sound_codecs(void);

/* The codec to which sound is to be encoded; AV_CODEC_ID_NONE: it stays as it is, or the container
 * holds nothing that is allowed. */
enum AVCodecID sound_target(const AVOutputFormat *format, const AVCodecParameters *from,
                            const sound_choice *choice);

/* Tells where players guess the speakers of sound that is copied, and would guess others. name: of
 * the output. */
void sound_tell_speakers(const AVStream *from, const AVOutputFormat *format, const char *name,
                         const pipeline_notes *notes);

typedef struct sound sound;

/* Receives encoded packets, with timestamps in time_base. */
typedef bool (*sound_sink)(void *context, AVPacket *packet, AVRational time_base,
                           pipeline_error *error);

/* Sets the stream `to` up for codec. name: of the output. NULL: failed, see error. */
sound *sound_open(AVStream *to, const AVStream *from, enum AVCodecID codec,
                  const AVOutputFormat *format, const char *name, const pipeline_notes *notes,
                  pipeline_error *error);

/* Encodes a packet; NULL: the rest. */
bool sound_put(sound *s, const AVPacket *packet, sound_sink sink, void *context,
               pipeline_error *error);

void sound_close(sound *s);

#endif
