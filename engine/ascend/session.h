// SPDX-License-Identifier: Apache-2.0
#ifndef MONA_ASCEND_SESSION_H
#define MONA_ASCEND_SESSION_H

#include "engine/run/device.h"

/* Sessions that run the AI Core programs of models. */
extern const mona_ai_core ascend_ai_core;

#endif
