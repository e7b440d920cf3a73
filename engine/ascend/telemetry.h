// SPDX-License-Identifier: Apache-2.0
#ifndef MONA_ASCEND_TELEMETRY_H
#define MONA_ASCEND_TELEMETRY_H

#include "engine/mona_ascend.h"

/* As mona_device_telemetry(). */
mona_status ascend_telemetry(const mona_device *chip, mona_telemetry *telemetry);

#endif
