// SPDX-License-Identifier: Apache-2.0
/* Finds the vendor's libraries and brings the chip up. */
#include "engine/ascend/acl.h"

#include <stdatomic.h>

#include "engine/libc.h"
#include "engine/mona_ascend.h"
#include "engine/port/library.h"
#include "engine/run/device.h"

typedef enum library { ASCENDCL, RUNTIME, DCMI, DVPP, LIBRARIES } library;
typedef enum need { REQUIRED, OPTIONAL } need;

typedef struct entry {
    const char *name, *since;
    size_t offset;
    library library;
    need need;
} entry;

static const entry table[] = {
#define FUNCTION(library, need, since, result, name, arguments)                                    \
    {#name, since, offsetof(ascend_functions, name), library, need},
#include "engine/ascend/functions.inc"
#undef FUNCTION
};

ascend_functions ascend;

/* What all chips share. */
static struct {
    atomic_flag busy;
    bool found;   /* the libraries */
    unsigned up;  /* chips that are */
    bool remains; /* a chip was lost before it was closed: AscendCL is not ended */
    mona_ascend_info info;
} acl = {.busy = ATOMIC_FLAG_INIT};

static struct {
    atomic_bool up;
    void *context;
    const char *soc;
} chips[MONA_ASCEND_CHIPS];

/* The chip that this thread entered last. */
static _Thread_local uint32_t here;

static const char refused[] = "the chip cannot be used";

static void lock(void)
{
    while (atomic_flag_test_and_set(&acl.busy))
        mona_port_pause(100);
}

/* ---- libraries ------------------------------------------------------------------------------ */

static void *open_library(library which)
{
    static const char *const names[LIBRARIES][4] = {
        [ASCENDCL] = {"libascendcl.so"},
        [RUNTIME] = {"libruntime.so"},
        [DVPP] = {"libacl_dvpp.so"},
        [DCMI] = {"libdcmi.so", "/usr/local/dcmi/libdcmi.so",
                  "/usr/local/Ascend/driver/lib64/driver/libdcmi.so"},
    };
    void *handle = NULL;
    for (size_t i = 0; names[which][i] && !handle; i++)
        handle = mona_port_library(names[which][i]);
    return handle;
}

static bool has_prefix(const char *text, const char *prefix)
{
    while (*prefix && *text == *prefix)
        text++, prefix++;
    return !*prefix;
}

static bool refuse_library(void)
{
    const char *why = mona_port_library_error();
    if (has_prefix(why, "libascendcl.so: "))
        ASCEND_REPORT("libascendcl.so was not found: install CANN 5.0.4 to 8.1 (toolkit or nnrt) "
                      "and source its set_env.sh");
    else
        ASCEND_REPORT("libascendcl.so cannot be loaded: ", why,
                      ": install the driver, or the rest of CANN, and source its set_env.sh");
    return false;
}

/* The value of a pointer to a function is that of the symbol's address, on every system that has
 * dlsym(). */
static bool resolve(void *const *handles, const entry *e)
{
    void *symbol = handles[e->library] ? mona_port_symbol(handles[e->library], e->name) : NULL;
    memcpy((uint8_t *)&ascend + e->offset, &symbol, sizeof symbol);
    return symbol;
}

static bool find_functions(void)
{
    void *handles[LIBRARIES];
    if (acl.found)
        return true;
    for (unsigned i = 0; i < LIBRARIES; i++) {
        handles[i] = open_library(i);
        if (i == ASCENDCL && !handles[i])
            return refuse_library();
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const entry *e = &table[i];
        if (resolve(handles, e))
            continue;
        if (e->need == REQUIRED) {
            ASCEND_REPORT("libascendcl.so has no ", e->name, ", which it has since CANN ", e->since,
                          ": install a newer CANN, up to 8.1");
            return false;
        }
        if (!acl.info.missing && e->library == ASCENDCL) {
            acl.info.missing = e->name;
            acl.info.since = e->since;
        }
        if (!acl.info.no_video && e->library == DVPP)
            acl.info.no_video = handles[DVPP] ? e->name : "libacl_dvpp.so";
    }
    return acl.found = true;
}

/* ---- the chip ------------------------------------------------------------------------------- */

static bool initialise(void)
{
    const int code = ascend.aclInit(NULL);
    if (code == ASCEND_STUB)
        ASCEND_REPORT("libascendcl.so is the one to link with, not the one to run with: take the "
                      "stub folder out of LD_LIBRARY_PATH");
    return !code || code == ASCEND_REPEATED_INIT ||
           (code != ASCEND_STUB && !ascend_check(code, "AscendCL cannot start"));
}

/* "Ascend310P3" and "Ascend310B4" are other chips. */
static bool is_ascend310(const char *soc)
{
    static const char name[] = "Ascend310";
    return soc && has_prefix(soc, name) && soc[sizeof name - 1] != 'P' &&
           soc[sizeof name - 1] != 'B';
}

bool ascend_runs_programs(void)
{
    const char *soc = chips[here].soc;
    if (!is_ascend310(soc))
        ASCEND_REPORT(
            "the chip is ", soc ? soc : "unnamed",
            ", and mona's own programs are for Ascend310: --device ascend-om runs models of "
            "the vendor's compiler (.om)");
    return is_ascend310(soc);
}

uint32_t ascend_here(void)
{
    return here;
}

/* Of the chip that is entered. */
static bool find_chip(void)
{
    mona_ascend_info *info = &acl.info;
    uint32_t mode = ASCEND_MODE_CARD;
    int code = ascend.aclrtGetDeviceCount(&info->chips);
    if (code || !info->chips) {
        ASCEND_REPORT("no Ascend chip answers: load the driver, join the group HwHiAiUser, and see "
                      "what npu-smi info says");
        return false;
    }
    if (ascend_check(ascend.aclrtSetDevice((int)here), refused))
        return false;
    chips[here].soc = ascend.aclrtGetSocName();
    ascend.aclrtGetVersion(&info->acl[0], &info->acl[1], &info->acl[2]);
    code = ascend.aclrtGetRunMode(&mode);
    info->on_chip = mode == ASCEND_MODE_ON_CHIP;
    code = code ? code : ascend.aclrtCreateContext(&chips[here].context, (int)here);
    if (ascend_check(code, refused)) {
        ascend.aclrtResetDevice((int)here);
        return false;
    }
    if (ascend.dcmi_init && !ascend.dcmi_init() && ascend.dcmi_get_driver_version)
        ascend.dcmi_get_driver_version(info->driver, sizeof info->driver);
    return true;
}

bool ascend_open(uint32_t number)
{
    lock();
    here = number;
    if (!chips[number].up && find_functions() && (acl.up || initialise())) {
        if (find_chip()) {
            chips[number].up = true;
            acl.up++;
        } else if (!acl.up) {
            ascend.aclFinalize();
        }
    }
    const bool up = chips[number].up;
    atomic_flag_clear(&acl.busy);
    return up;
}

void ascend_close(uint32_t number)
{
    lock();
    if (chips[number].up) {
        acl.up--;
        if (ascend_enter(number)) {
            ascend_free_staging();
            if (!acl.up)
                ascend_forget_kernels();
            ascend.aclrtDestroyContext(chips[number].context);
            ascend.aclrtResetDevice((int)number);
        } else {
            acl.remains = true;
        }
        if (!acl.up && !acl.remains)
            ascend.aclFinalize();
    }
    chips[number].up = false;
    atomic_flag_clear(&acl.busy);
}

bool ascend_enter(uint32_t number)
{
    here = number;
    return chips[number].up && !ascend_lost() &&
           !ascend_check(ascend.aclrtSetCurrentContext(chips[number].context), refused);
}

bool ascend_on_chip(void)
{
    return acl.info.on_chip;
}

mona_status mona_ascend_query(const mona_device *device, mona_ascend_info *info)
{
    if (!device || !info)
        return MONA_ERR_ARGUMENT;
    if (!ascend_open(device->number))
        return MONA_ERR_DEVICE;
    *info = acl.info;
    info->soc = chips[device->number].soc;
    info->runs_programs = is_ascend310(info->soc);
    return MONA_OK;
}
