// SPDX-License-Identifier: Apache-2.0
/* What the header inside a coded stream says and its encoder gets wrong or leaves out. */
#ifndef MONA_CODED_HEADER_H
#define MONA_CODED_HEADER_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>

#include "pipeline/base/error.h"

/* Opens a filter for the encoder's packets and corrects its extradata. rate: frames a second, by
 * which frames are played in a format without times. *filter stays NULL where there is nothing to
 * correct in packets; av_bsf_free closes it. */
bool coded_header_open(AVBSFContext **filter, AVCodecContext *encoder, AVRational rate,
                       const AVOutputFormat *format, pipeline_error *error);

/* Corrects a packet, which stays as it is if filter is NULL. Returns an error of libav, or >= 0. */
int coded_header_correct(AVBSFContext *filter, AVPacket *packet);

#endif
