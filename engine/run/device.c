// SPDX-License-Identifier: Apache-2.0
/* The host device, and code common to all devices. */
#include "engine/run/device.h"

#include "engine/run/isas.h"
#include "engine/aicore/aicore.h"
#include "engine/arith.h"
#include "engine/libc.h"

static mona_status open_host(const mona_device *device, mona_device_properties *p)
{
    (void)device;
    p->cores = mona_port_cpu_count();
    p->cache_bytes = mona_port_cache_bytes();
    return MONA_OK;
}

static const mona_isa *host_isa(const char *highest)
{
    const uint32_t features = mona_port_cpu_features();
    const mona_isa *best = NULL;
    for (size_t i = 0; i < MONA_ISAS; i++) {
        const bool usable = !(mona_isas[i].needs & ~features);
        if (usable && (!highest || mona_names_equal(highest, mona_isas[i].isa->name)))
            best = mona_isas[i].isa;
    }
    return best;
}

const mona_device mona_device_host = {
    .name = "host",
    .description = "this machine's CPU",
    .target = &ac_target_host,
    .open = open_host,
    .isa = host_isa,
};

mona_status mona_device_query(const mona_device *device, mona_device_properties *properties)
{
    if (!device || !properties)
        return MONA_ERR_ARGUMENT;
    mona_device_properties p = {
        .name = device->name,
        .description = device->description,
        .isa = device->ai_core ? device->name : device->isa(NULL)->name,
        .unified_memory = !device->allocate,
    };
    const mona_status status = device->open(device, &p);
    if (!status)
        *properties = p;
    return status;
}

const mona_device *mona_device_find(const mona_device *const *devices, const char *name)
{
    mona_device_properties p;
    if (!devices || !name)
        return NULL;
    const bool any = mona_names_equal(name, "auto");
    for (; *devices; devices++)
        if ((any || mona_names_equal(name, (*devices)->name)) &&
            mona_device_query(*devices, &p) == MONA_OK)
            return *devices;
    return NULL;
}

const mona_device *mona_device_first(const mona_device *device)
{
    return device && device->first ? device->first : device;
}

unsigned mona_device_number(const mona_device *device)
{
    return device ? device->number : 0;
}

void mona_device_close(const mona_device *device)
{
    if (device && device->close)
        device->close(device);
}

mona_status mona_device_telemetry(const mona_device *device, mona_telemetry *telemetry)
{
    if (!device || !telemetry)
        return MONA_ERR_ARGUMENT;
    if (!device->telemetry)
        return MONA_ERR_UNSUPPORTED;
    *telemetry = (mona_telemetry){-1, -1, -1, -1, -1, -1};
    return device->telemetry(device, telemetry);
}

mona_status mona_device_allocate(const mona_device *device, size_t bytes, void **memory)
{
    if (!device || !memory)
        return MONA_ERR_ARGUMENT;
    *memory = NULL;
    return bytes && device->allocate ? device->allocate(device, bytes, memory) : MONA_OK;
}

void mona_device_free(const mona_device *device, void *memory)
{
    if (memory)
        device->free(device, memory);
}

/* Arrays have no gaps. */
static size_t row_bytes(const mona_tensor_info *info)
{
    const size_t bytes = info->width * mona_type_size(info->type);
    return info->array ? bytes : round_up(bytes, AC_BLOCK);
}

/* Rows of arrays begin anywhere, and a LOAD brings the last one with whole blocks, too. */
size_t mona_device_planes_bytes(const mona_tensor_info *info)
{
    const size_t bytes = info->channels * info->height * row_bytes(info);
    return info->array ? round_up(bytes, AC_BLOCK) + AC_BLOCK : bytes;
}

mona_buffer mona_device_planes(void *memory, const mona_buffer *host, const mona_tensor_info *info)
{
    const ptrdiff_t row = (ptrdiff_t)row_bytes(info);
    return memory ? (mona_buffer){memory, row, row * (ptrdiff_t)info->height} : *host;
}
