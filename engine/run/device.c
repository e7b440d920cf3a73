// SPDX-License-Identifier: Apache-2.0
/* The host, and what is common to all devices. */
#include "engine/run/device.h"

#include "engine/run/isas.h"
#include "engine/name.h"

static bool host_answers(void)
{
    return true;
}

static const ac_isa *host_isa(const char *highest)
{
    const uint32_t features = mona_port_cpu_features();
    const ac_isa *best = NULL;
    for (size_t i = 0; i < MONA_ISAS; i++) {
        const bool usable = !(mona_isas[i].needs & ~features);
        if (highest && mona_names_equal(highest, mona_isas[i].isa->name))
            return usable ? mona_isas[i].isa : NULL;
        if (usable)
            best = mona_isas[i].isa;
    }
    return highest ? NULL : best;
}

const mona_device mona_device_host = {
    .name = "host",
    .description = "this machine's CPU",
    .target = &ac_target_host,
    .unified_memory = true,
    .answers = host_answers,
    .cores = mona_port_cpu_count,
    .cache_bytes = mona_port_cache_bytes,
    .isa = host_isa,
};

const mona_device *mona_device_find(const mona_device *const *devices, const char *name)
{
    if (!devices || !name)
        return NULL;
    const bool any = mona_names_equal(name, "auto");
    for (; *devices; devices++)
        if ((any || mona_names_equal(name, (*devices)->name)) && (*devices)->answers())
            return *devices;
    return NULL;
}

mona_status mona_device_query(const mona_device *device, mona_device_properties *properties)
{
    if (!device || !properties)
        return MONA_ERR_ARGUMENT;
    if (!device->answers())
        return MONA_ERR_DEVICE;
    *properties = (mona_device_properties){
        .name = device->name,
        .description = device->description,
        .isa = device->ai_core ? device->name : device->isa(NULL)->name,
        .cores = device->cores(),
        .cache_bytes = device->cache_bytes(),
        .unified_memory = device->unified_memory,
    };
    return MONA_OK;
}
