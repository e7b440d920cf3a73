// SPDX-License-Identifier: Apache-2.0
/* The driver's telemetry. */
#include <stdio.h>

#include "tests/ascend/fake.h"

enum { DCMI_UNSUPPORTED = -8255, DCMI_ARGUMENT = -8001 };
static bool ready;

API int dcmi_init(void)
{
    ready = true;
    return (int)fake_knob("dcmi", 0);
}

API int dcmi_get_driver_version(char *text, unsigned int room)
{
    snprintf(text, room, "%s", fake_knob_text("driver", "22.0.4"));
    return ready ? 0 : DCMI_ARGUMENT;
}

API int dcmi_get_card_id_device_id_from_logicid(int *card, int *chip, unsigned int device)
{
    *card = 3;
    *chip = 1 + (int)device;
    return ready && (long)device < fake_knob("count", 1) ? 0 : DCMI_ARGUMENT;
}

static bool is_chip(int card, int chip)
{
    return ready && card == 3 && chip >= 1 && chip <= fake_knob("count", 1);
}

API int dcmi_get_device_temperature(int card, int chip, int *celsius)
{
    *celsius = (int)fake_knob("celsius", 51) + chip - 1;
    return is_chip(card, chip) ? 0 : DCMI_ARGUMENT;
}

API int dcmi_get_device_power_info(int card, int chip, int *tenths)
{
    *tenths = 127;
    return !is_chip(card, chip) ? DCMI_ARGUMENT : fake_knob("power", 1) ? 0 : DCMI_UNSUPPORTED;
}

API int dcmi_get_device_utilization_rate(int card, int chip, int kind, unsigned int *percent)
{
    *percent = 37;
    return is_chip(card, chip) && kind == 2 ? 0 : DCMI_ARGUMENT;
}

API int dcmi_get_device_frequency(int card, int chip, uint32_t kind, unsigned int *megahertz)
{
    *megahertz = 680;
    return is_chip(card, chip) && kind == 7 ? 0 : DCMI_ARGUMENT;
}

API int dcmi_get_device_health(int card, int chip, unsigned int *health)
{
    *health = fake_knob("chip", chip - 1) == chip - 1 ? (unsigned)fake_knob("health", 0) : 0;
    return is_chip(card, chip) ? 0 : DCMI_ARGUMENT;
}

API int dcmi_get_nve_level(int card, int chip, int *level)
{
    *level = 2;
    return is_chip(card, chip) ? 0 : DCMI_ARGUMENT;
}
