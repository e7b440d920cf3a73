// SPDX-License-Identifier: Apache-2.0
/* What a field brings, on an emulated board: models that flash has damaged, wrong sizes, too little
 * memory. Each gives a status; a fault ends the program, and boards.sh sees it. On a controller all
 * sizes are of 32 bits. */
#include <stdalign.h>

#include "apps/firmware/board.h"
#include "engine/libc.h"
#include "engine/model_format.h"
#include "enlarge.h"

enum { PLAN_BYTES = 8 * 1024, ARENA_BYTES = 64 * 1024 };

extern const uint8_t model_begin[], model_end[]; /* sr_x2_fast.mona */
static alignas(MONA_ALIGNMENT) uint8_t model[12 * 1024], plan_memory[PLAN_BYTES];
static alignas(MONA_ALIGNMENT) uint8_t arena[ARENA_BYTES];
static uint32_t failures;

void line_interrupt(void) {}

static void expect(const char *what, mona_status found, mona_status wanted)
{
    if (found != wanted)
        board_print("%s: %d, expected %d\n", what, found, wanted), failures++;
}

static size_t model_bytes(void)
{
    return (size_t)(model_end - model_begin);
}

/* Opens what lies in `model`, and plans it for a size. */
static mona_status plan_for(uint32_t width, uint32_t height, mona_plan **plan)
{
    const mona_config config = {.threads = 1, .sizes = {{width, height}}};
    mona_model m;
    const mona_status status = mona_model_open(&m, model, model_bytes());
    if (status)
        return status;
    if (mona_plan_bytes(&m) > sizeof plan_memory)
        return MONA_ERR_LIMIT;
    return mona_plan_make(plan, plan_memory, &m, &config);
}

/* Changes each word of the model before its weights. whole: the CRC is made right again, so that
 * the records are looked at. */
static void damage(bool whole)
{
    static const uint32_t masks[] = {0xffffffffu, 1, 0x80000000u, 0x00010000u};
    uint32_t refused = 0, taken = 0;
    mona_file_header *header = (mona_file_header *)(void *)model;
    memcpy(model, model_begin, model_bytes());
    const uint32_t end = (uint32_t)header->data_offset;
    for (uint32_t at = 0; at < end; at += 4)
        for (uint32_t i = 0; i < sizeof masks / sizeof *masks; i++) {
            uint32_t word;
            mona_plan *plan;
            memcpy(model, model_begin, model_bytes());
            memcpy(&word, model + at, 4);
            word ^= masks[i];
            memcpy(model + at, &word, 4);
            if (whole) {
                header->crc32 = 0;
                header->crc32 = mona_crc32(0, model, model_bytes());
            }
            if (plan_for(64, 32, &plan))
                refused++;
            else
                taken++;
        }
    board_print("# %u damaged models refused, %u taken\n", refused, taken);
    if (!refused || (!whole && taken))
        failures++;
}

static void sizes(void)
{
    static const mona_size impossible[] = {
        {0, 0}, {32769, 8}, {8, 32769}, {0xffffffffu, 0xffffffffu}};
    mona_plan *plan;
    mona_session *session;
    memcpy(model, model_begin, model_bytes());
    for (uint32_t i = 0; i < sizeof impossible / sizeof *impossible; i++)
        if (!plan_for(impossible[i].width, impossible[i].height, &plan))
            board_print("%u x %u was planned\n", impossible[i].width, impossible[i].height),
                failures++;
    expect("a size that fits", plan_for(64, 32, &plan), MONA_OK);
    const size_t bytes = mona_plan_arena_bytes(plan);
    expect("an arena one byte short", mona_session_open(&session, plan, arena, bytes - 1),
           MONA_ERR_ARENA);
    expect("an arena that is misaligned", mona_session_open(&session, plan, arena + 4, bytes),
           MONA_ERR_ARENA);
    expect("an arena that suffices",
           bytes <= sizeof arena ? mona_session_open(&session, plan, arena, bytes) : MONA_ERR_LIMIT,
           MONA_OK);
    mona_session_close(session);
    /* The largest frame takes more than a controller has, and is told so before. */
    if (!plan_for(32768, 32768, &plan) && mona_plan_arena_bytes(plan) < 1u << 20)
        board_print("the largest frame takes no memory\n"), failures++;
}

/* More lines than a frame has, in a network that is linked. */
static void lines(void)
{
    static uint8_t row[ENLARGE_LUMA_WIDTH], result[2][2 * ENLARGE_LUMA_WIDTH];
    mona_session *session;
    bool ready = false;
    expect("a linked network, one byte short",
           enlarge_open(&session, arena, ENLARGE_ARENA_BYTES - 1), MONA_ERR_ARENA);
    expect("a linked network", enlarge_open(&session, arena, ENLARGE_ARENA_BYTES), MONA_OK);
    mona_status status = MONA_OK;
    uint32_t pushed = 0;
    for (; !status && pushed < 4 * ENLARGE_LINES; pushed++)
        status = enlarge_push(session, row, 0);
    expect("lines that nobody pulls", status, MONA_ERR_STATE);
    expect("a line", enlarge_pull(session, result[0], sizeof result[0], &ready), MONA_OK);
    expect("no session", enlarge_push(NULL, row, 0), MONA_ERR_ARGUMENT);
    expect("no line", enlarge_push(session, NULL, 0), MONA_ERR_ARGUMENT);
    mona_session_close(session);
}

int firmware_main(void)
{
    damage(false);
    damage(true);
    sizes();
    lines();
    board_print("%u failures\n", failures);
    return failures != 0;
}
