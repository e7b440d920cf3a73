// SPDX-License-Identifier: Apache-2.0
/* Describes what failed on the chip. */
#include "engine/ascend/acl.h"

#include <stdatomic.h>

#include "engine/mona_ascend.h"
#include "engine/port/library.h"
#include "engine/run/device.h"

/* Texts are made while `busy`, in the one of a chip that is not shown. */
static struct {
    atomic_flag busy;
    atomic_uint latest, patience; /* latest: the chip that failed last */
    struct {
        atomic_bool lost;
        atomic_uint shown;
        char text[2][512];
    } of[MONA_ASCEND_CHIPS];
} problem = {.busy = ATOMIC_FLAG_INIT, .patience = 30};

const char *mona_ascend_problem(void)
{
    return problem.of[problem.latest].text[problem.of[problem.latest].shown];
}

const char *mona_ascend_problem_of(const mona_device *chip)
{
    return problem.of[chip->number].text[problem.of[chip->number].shown];
}

static void report(uint32_t chip, const char *const *parts);

void mona_ascend_forget(void)
{
    const uint32_t chip = problem.latest;
    if (!problem.of[chip].lost)
        report(chip, (const char *const[]){"", NULL});
}

void mona_ascend_set_patience(unsigned seconds)
{
    problem.patience = seconds;
}

unsigned ascend_patience(void)
{
    return problem.patience;
}

bool ascend_lost(void)
{
    return problem.of[ascend_here()].lost;
}

/* The vendor's texts have several lines. */
static void report(uint32_t chip, const char *const *parts)
{
    while (atomic_flag_test_and_set(&problem.busy))
        mona_port_pause(100);
    char *text = problem.of[chip].text[!problem.of[chip].shown];
    size_t length = 0;
    for (; *parts; parts++)
        for (const char *c = *parts; *c && length < sizeof problem.of[0].text[0] - 1; c++)
            if (*c != '\n' && *c != '\r' && *c != '\t')
                text[length++] = *c;
            else if (length && text[length - 1] != ' ')
                text[length++] = ' ';
    while (length && (text[length - 1] == ' ' || text[length - 1] == '.'))
        length--;
    text[length] = 0;
    problem.of[chip].shown = !problem.of[chip].shown;
    problem.latest = chip;
    atomic_flag_clear(&problem.busy);
}

void ascend_report(const char *const *parts)
{
    report(ascend_here(), parts);
}

/* Decimal digits of a number, in text, which has room for 12. */
static const char *ascend_digits(int64_t number, char *text)
{
    char *at = text + 11;
    *at = 0;
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0 && at > text);
    return at;
}

/* ---- codes ---------------------------------------------------------------------------------- */

typedef struct meaning {
    int code;
    mona_status status;
    bool lost; /* nothing on the chip can be relied on any more */
    const char *text;
} meaning;

static const meaning meanings[] = {
    {100000, MONA_ERR_DEVICE, false, "CANN refuses an argument: this mona and this CANN differ"},
    {100001, MONA_ERR_STATE, false, "AscendCL was not started"},
    {100003, MONA_ERR_MODEL, false, "the file cannot be read"},
    {100005, MONA_ERR_MODEL, false, "the file has a wrong size"},
    {100011, MONA_ERR_STATE, false, "the model was unloaded"},
    {100012, MONA_ERR_MODEL, false, "the model cannot be read"},
    {100013, MONA_ERR_MODEL, false, "the model cannot be read"},
    {100014, MONA_ERR_MODEL, false, "the model cannot be read"},
    {100015, MONA_ERR_MODEL, false, "the model is cut off"},
    {100016, MONA_ERR_MODEL, false, "the model lacks a setting"},
    {100017, MONA_ERR_SHAPE, false, "the model takes other inputs"},
    {100018, MONA_ERR_SHAPE, false, "the model gives other outputs"},
    {100019, MONA_ERR_SHAPE, false, "the model takes one size only"},
    {100026, MONA_ERR_UNSUPPORTED, false, "this chip has no such type of numbers"},
    {100029, MONA_ERR_DEVICE, false, "the kernel was not found"},
    {100037, MONA_ERR_STATE, false, "AscendCL was ended before"},
    {145006, MONA_ERR_MODEL, false, "the model is cut off"},
    {545001, MONA_ERR_MODEL, false, "the model cannot be read"},
    {545005, MONA_ERR_MODEL, false, "the model is cut off, or for another chip"},
    {107000, MONA_ERR_DEVICE, false, "CANN refuses an argument: this mona and this CANN differ"},
    {107001, MONA_ERR_DEVICE, false, "there is no such chip: npu-smi info lists them"},
    {107002, MONA_ERR_STATE, false, "no chip was chosen"},
    {107003, MONA_ERR_STATE, false, "a stream is of another chip or process"},
    {107006, MONA_ERR_STATE, false, "an event was not recorded"},
    {107008, MONA_ERR_ARGUMENT, false, "memory is not aligned"},
    {107017, MONA_ERR_STATE, false, "what was asked for is closed"},
    {107019, MONA_ERR_DEVICE, false, "a wait took too long"},
    {107020, MONA_ERR_DEVICE, true, "a task took too long"},
    {200000, MONA_ERR_ARENA, false, "the host has no memory left"},
    {200001, MONA_ERR_UNSUPPORTED, false, "this release of CANN cannot do it"},
    {200006, MONA_ERR_UNSUPPORTED, false, "this release of CANN cannot do it"},
    {207000, MONA_ERR_UNSUPPORTED, false, "this chip cannot do it"},
    {207001, MONA_ERR_ARENA, false, "the chip has no memory left"},
    {207004, MONA_ERR_DEVICE, false, "there is no chip: load the driver"},
    {207005, MONA_ERR_LIMIT, false, "the chip has no resources left"},
    {207006, MONA_ERR_DEVICE, false, "not permitted: join the group HwHiAiUser"},
    {207007, MONA_ERR_LIMIT, false, "all events are in use"},
    {207008, MONA_ERR_LIMIT, false, "all streams are in use"},
    {207012, MONA_ERR_LIMIT, false, "a limit of the chip is exceeded"},
    {207018, MONA_ERR_ARENA, false, "the chip has no memory left"},
    {500000, MONA_ERR_DEVICE, false, "CANN does not know this chip: its release is too new or old"},
    {500001, MONA_ERR_DEVICE, false, "CANN failed inside"},
    {500002, MONA_ERR_DEVICE, false, "CANN's graph engine failed"},
    {500003, MONA_ERR_DEVICE, false, "CANN's runtime failed"},
    {500004, MONA_ERR_DEVICE, false, "the driver failed"},
    {507000, MONA_ERR_DEVICE, false, "CANN's runtime failed"},
    {507001, MONA_ERR_DEVICE, true, "the chip's scheduler failed"},
    {507008, MONA_ERR_DEVICE, false, "CANN is for another chip"},
    {507010, MONA_ERR_DEVICE, true, "the chip's heartbeat was lost"},
    {507011, MONA_ERR_DEVICE, false, "the model failed"},
    {507014, MONA_ERR_DEVICE, true, "an AI Core did not end in time"},
    {507015, MONA_ERR_DEVICE, false, "an AI Core refused an instruction or address"},
    {507016, MONA_ERR_DEVICE, false, "an AI Core met an instruction that it does not have"},
    {507017, MONA_ERR_DEVICE, true, "an AI CPU did not end in time"},
    {507018, MONA_ERR_DEVICE, false, "an AI CPU failed"},
    {507027, MONA_ERR_DEVICE, false, "the kernel is not in its file"},
    {507028, MONA_ERR_STATE, false, "the kernel was registered before"},
    {507033, MONA_ERR_DEVICE, true, "the chip cannot be set up"},
    {507046, MONA_ERR_DEVICE, true, "the chip does not answer"},
    {507053, MONA_ERR_DEVICE, true, "an AI Core's access to memory failed"},
    {507899, MONA_ERR_DEVICE, true, "the driver failed"},
    {507901, MONA_ERR_DEVICE, true, "the connection to the chip was lost"},
};

static const meaning *meaning_of(int code)
{
    static const meaning other = {
        0, MONA_ERR_DEVICE, false,
        "see the vendor's list of codes; with ASCEND_GLOBAL_LOG_LEVEL=1 and "
        "ASCEND_SLOG_PRINT_TO_STDOUT=1 in the environment CANN prints its log"};
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].code == code)
            return &meanings[i];
    return &other;
}

mona_status ascend_check(int code, const char *doing)
{
    char digits[12];
    if (!code)
        return MONA_OK;
    const meaning *m = meaning_of(code);
    const char *details = ascend.aclGetRecentErrMsg ? ascend.aclGetRecentErrMsg() : NULL;
    /* Errors after the loss of the chip add nothing. */
    if (!ascend_lost())
        ASCEND_REPORT(doing, ": ", m->text, " (code ", ascend_digits(code, digits), ")",
                      details && *details ? ": " : "", details ? details : "");
    if (m->lost)
        problem.of[ascend_here()].lost = true;
    return m->status;
}
