// SPDX-License-Identifier: Apache-2.0
/* Enlarges frames of 64x48 line by line, as a camera would deliver them, and prints how long a
 * frame takes. enlarge_net.c is from mona compile --emit c. */
#include <mona.h>
#include "enlarge_net.h"

static uint8_t arena[ENLARGE_NET_ARENA_BYTES] __attribute__((aligned(64)));
static uint8_t line[ENLARGE_NET_LUMA_WIDTH], enlarged[2][2 * ENLARGE_NET_LUMA_WIDTH];
static mona_session *session;

void setup()
{
    Serial.begin(115200);
    const mona_status status = enlarge_net_open(&session, arena, sizeof arena);
    if (status)
        Serial.println(mona_status_text(status));
}

void loop()
{
    const unsigned long begin = micros();
    unsigned long sum = 0;
    for (unsigned y = 0; session && y < ENLARGE_NET_LINES; y++) {
        for (unsigned x = 0; x < sizeof line; x++)
            line[x] = (uint8_t)(x * 3 + y * 5);
        bool ready = !enlarge_net_push(session, line, 0);
        while (ready && !enlarge_net_pull(session, enlarged[0], sizeof enlarged[0], &ready) && ready)
            sum += enlarged[0][y];
    }
    Serial.println(micros() - begin);
    Serial.println(sum);
}
