/* The devices. `auto` takes the first that answers, so chips stand before the host. */
#include "device.h"

#include "name.h"
#include "port/port.h"

/* ---- host: this machine's CPU ---------------------------------------------------------------- */

static bool host_answers(void)
{
    return true;
}

static const ac_isa *host_isa(const char *highest)
{
    /* From worst to best. */
    static const struct {
        const ac_isa *isa;
        uint32_t needs;
    } rows[] = {
        {&ac_isa_instructions, 0},
        {&ac_isa_c, 0},
#if defined(__x86_64__)
        {&ac_isa_avx2, MONA_CPU_AVX2},
        {&ac_isa_avxvnni, MONA_CPU_AVXVNNI},
        {&ac_isa_avx512, MONA_CPU_AVX512},
#elif defined(__aarch64__)
        {&ac_isa_neon, MONA_CPU_NEON},
        {&ac_isa_dotprod, MONA_CPU_DOTPROD},
#endif
    };
    const uint32_t features = mona_port_cpu_features();
    const ac_isa *best = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool usable = (features & rows[i].needs) == rows[i].needs;
        if (highest && mona_names_equal(highest, rows[i].isa->name))
            return usable ? rows[i].isa : NULL;
        if (usable)
            best = rows[i].isa;
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

static const ac_isa *model310_isa(const char *highest)
{
    return !highest || mona_names_equal(highest, ac_isa_model310.name) ? &ac_isa_model310 : NULL;
}

static const mona_device devices[] = {
    {"host", "this machine's CPU", &ac_target_host, true, host_answers, mona_port_cpu_count,
     mona_port_cache_bytes, host_isa},
    {"model310", "the Ascend 310, modelled: checked instructions, predicted time",
     &ac_target_ascend310, true, host_answers, model310_cores, model310_cache_bytes, model310_isa},
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
        .isa = device->isa(NULL)->name,
        .cores = device->cores(),
        .cache_bytes = device->cache_bytes(),
        .unified_memory = device->unified_memory,
    };
    return MONA_OK;
}
