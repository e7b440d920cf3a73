// SPDX-License-Identifier: Apache-2.0
/* Which streams the chip's video decoder takes. */
#ifndef MONA_CHIP_STREAMS_H
#define MONA_CHIP_STREAMS_H

#include "pipeline/io/codecs/chip_decoder.h"

/* Whether the chip is wanted, has a decoder and may know the codec. */
bool chip_streams_are_asked(const chip_decoder_settings *settings);

/* Why the chip is not even tried with a stream; NULL: it is, and *stream is the stream's kind. */
const char *chip_streams_refuse(const chip_decoder_settings *settings, vdec_stream *stream);

extern const char chip_streams_interlaced[]; /* why it does not take interlaced video */

#endif
