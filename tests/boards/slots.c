// SPDX-License-Identifier: Apache-2.0
/* Updates of a model, good and bad, on an emulated board (apps/firmware/update.c). After each, the
 * frame must be that of the model that is to be in use. */
#include "apps/firmware/board.h"
#include "apps/firmware/sensor.h"
#include "apps/firmware/update.h"
#include "engine/libc.h"
#include "engine/model_format.h"

enum { WIDTH = 64, HEIGHT = 32 };

/* sr_x2_fast, sr_x2_fast_anime, sr_x4_fast */
extern const uint8_t model_begin[], model_end[], other_begin[], other_end[], wrong_begin[],
    wrong_end[];

static const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
static uint8_t frame[HEIGHT][WIDTH], result[2 * HEIGHT][2 * WIDTH];
static uint32_t failures;

void line_interrupt(void) {}

/* Puts a model of some release into the free slot, with its tag. */
static update_slot *put(const uint8_t *begin, const uint8_t *end, uint32_t release)
{
    update_slot *s = update_free_slot();
    mona_file_header *header = (mona_file_header *)(void *)s->model;
    s->size = (uint32_t)(end - begin);
    memcpy(s->model, begin, s->size);
    header->release = release;
    header->crc32 = 0;
    header->crc32 = mona_crc32(0, s->model, s->size);
    s->tag = update_tag(key, s->model, s->size);
    return s;
}

static uint32_t crc_of_frame(void)
{
    memset(result, 0, sizeof result);
    return update_frame(key, frame[0], result[0]) ? 0 : crc32_of(0, result[0], sizeof result);
}

static void expect(const char *what, mona_status found, mona_status wanted, uint32_t crc)
{
    const uint32_t now = crc_of_frame();
    board_print("# %s: status %d, frame %x\n", what, found, now);
    if (found != wanted || now != crc || !now)
        board_print("%s: expected status %d, frame %x\n", what, wanted, crc), failures++;
}

static mona_status commit(void)
{
    return update_commit(key, frame[0], result[0]);
}

int firmware_main(void)
{
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        frame[i / WIDTH][i % WIDTH] = (uint8_t)(i * 37 + i / WIDTH * 11);
    /* The vector of SipHash's authors: bytes 0 to 14. */
    static const uint8_t counted[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    if (update_tag(key, counted, sizeof counted) != UINT64_C(0xa129ca6149be45e5))
        board_print("SipHash is wrong\n"), failures++;

    put(model_begin, model_end, 3);
    if (commit())
        board_print("the first model was refused\n"), failures++;
    const uint32_t first = crc_of_frame();
    put(other_begin, other_end, 4)->model[4000] ^= 1;
    expect("a model that was changed", commit(), MONA_ERR_SIGNATURE, first);
    put(other_begin, other_end, 4)->size -= 64;
    expect("a model that is cut", commit(), MONA_ERR_SIGNATURE, first);
    put(other_begin, other_end, 4)->size = UINT32_MAX;
    expect("a size beyond the slot", commit(), MONA_ERR_LIMIT, first);
    update_slot *cut = put(other_begin, other_end, 4);
    cut->size -= 64;
    cut->tag = update_tag(key, cut->model, cut->size);
    expect("one that was cut before it was signed", commit(), MONA_ERR_TRUNCATED, first);
    put(other_begin, other_end, 2);
    expect("an older release", commit(), MONA_ERR_RELEASE, first);
    put(wrong_begin, wrong_end, 5);
    expect("a network of another kind", commit(), MONA_ERR_SHAPE, first);
    put(other_begin, other_end, 4);
    const mona_status status = commit();
    const uint32_t second = crc32_of(0, result[0], sizeof result);
    expect("a new release", status, MONA_OK, second);
    if (second == first)
        board_print("the new model makes the same frame\n"), failures++;
    put(model_begin, model_end, 3);
    expect("the first one again", commit(), MONA_ERR_RELEASE, second);
    board_print("%u failures\n", failures);
    return failures != 0;
}
