// SPDX-License-Identifier: Apache-2.0
/* The chip's memory, and its sensors as the driver (DCMI) reads them. */
#include "engine/ascend/telemetry.h"

#include "engine/ascend/acl.h"
#include "engine/run/device.h"

enum { USE_OF_AI_CORES = 2, CLOCK_OF_AI_CORES = 7 }; /* kinds of rate and of frequency */

/* DCMI counts cards, and chips of a card. */
static bool find_card(uint32_t chip, int *card, int *at)
{
    return ascend.dcmi_get_card_id_device_id_from_logicid &&
           !ascend.dcmi_get_card_id_device_id_from_logicid(card, at, chip);
}

/* Figures that this driver does not have stay as they are. */
static void read_sensors(int card, int at, mona_telemetry *t)
{
    int number;
    unsigned int figure;
    if (ascend.dcmi_get_device_temperature &&
        !ascend.dcmi_get_device_temperature(card, at, &number))
        t->celsius = (float)number;
    if (ascend.dcmi_get_device_power_info && !ascend.dcmi_get_device_power_info(card, at, &number))
        t->watts = 0.1f * (float)number;
    if (ascend.dcmi_get_device_utilization_rate &&
        !ascend.dcmi_get_device_utilization_rate(card, at, USE_OF_AI_CORES, &figure))
        t->utilisation = 0.01f * (float)figure;
    if (ascend.dcmi_get_device_frequency &&
        !ascend.dcmi_get_device_frequency(card, at, CLOCK_OF_AI_CORES, &figure))
        t->clock_mhz = (float)figure;
}

mona_status ascend_telemetry(const mona_device *chip, mona_telemetry *t)
{
    int card, at;
    size_t left, total;
    if (!ascend_open(chip->number) || !ascend_enter(chip->number))
        return MONA_ERR_DEVICE;
    if (!ascend.aclrtGetMemInfo(ASCEND_DDR, &left, &total)) {
        t->memory_bytes = (int64_t)total;
        t->memory_free_bytes = (int64_t)left;
    }
    if (find_card(chip->number, &card, &at))
        read_sensors(card, at, t);
    return MONA_OK;
}

mona_status mona_ascend_health_of(const mona_device *chip, mona_ascend_health *health)
{
    int card, at, level;
    unsigned int state;
    *health = (mona_ascend_health){-1, -1};
    if (!ascend_open(chip->number))
        return MONA_ERR_DEVICE;
    if (!find_card(chip->number, &card, &at))
        return MONA_ERR_UNSUPPORTED;
    if (ascend.dcmi_get_device_health && !ascend.dcmi_get_device_health(card, at, &state))
        health->health = state <= 3 ? (int)state : 3;
    if (ascend.dcmi_get_nve_level && !ascend.dcmi_get_nve_level(card, at, &level))
        health->level = level;
    return MONA_OK;
}
