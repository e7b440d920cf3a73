// SPDX-License-Identifier: Apache-2.0
/* The devices. `auto` takes the first one that answers, so chips come before the host. */
#include "engine/run/device.h"

#include "engine/run/isas.h"
#include "engine/name.h"

/* ---- host: this machine's CPU ---------------------------------------------------------------- */

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

/* ---- model310: the chip without the chip ----------------------------------------------------- */

static unsigned model310_cores(void)
{
    return ac_target_ascend310.cores;
}

static size_t model310_cache_bytes(void)
{
    return ac_target_ascend310.l1_bytes;
}

static const mona_device devices[] = {
    {"host", "this machine's CPU", &ac_target_host, true, host_answers, mona_port_cpu_count,
     mona_port_cache_bytes, host_isa},
    {"model310", "the Ascend 310, modelled: checked instructions, predicted time",
     &ac_target_ascend310, true, host_answers, model310_cores, model310_cache_bytes, NULL},
};

/* ---- public ---------------------------------------------------------------------------------- */

unsigned mona_device_count(void)
{
    return sizeof devices / sizeof *devices;
}

const mona_device *mona_device_at(unsigned index)
{
    return index < mona_device_count() ? &devices[index] : NULL;
}

const mona_device *mona_device_find(const char *name)
{
    if (!name)
        return NULL;
    const bool any = mona_names_equal(name, "auto");
    for (unsigned i = 0; i < mona_device_count(); i++)
        if ((any || mona_names_equal(name, devices[i].name)) && devices[i].answers())
            return &devices[i];
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
        .isa = device->isa ? device->isa(NULL)->name : device->name,
        .cores = device->cores(),
        .cache_bytes = device->cache_bytes(),
        .unified_memory = device->unified_memory,
    };
    return MONA_OK;
}
