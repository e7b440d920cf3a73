// SPDX-License-Identifier: Apache-2.0
/* Writes the words of a model's first program to a file: words MODEL.mona FILE */
#include <stdio.h>
#include <stdlib.h>

#include "engine/ascend/words.h"
#include "engine/model/model.h"
#include "formats/file.h"

int main(int count, char **argv)
{
    uint8_t *bytes;
    size_t size;
    uint32_t programs = 0;
    format_error error;
    mona_model model;
    ac_program p;
    if (count != 3 || !file_read(argv[1], "a model", SIZE_MAX, &bytes, &size, &error) ||
        mona_model_open(&model, bytes, size))
        return 1;
    const mona_file_program *first = mona_model_programs(&model, &programs);
    if (!programs || !ac_program_open(&p, bytes + first->offset, first->bytes))
        return 2;
    const size_t words = ascend_words_bytes(&p, 0, NULL);
    void *image = malloc(words ? words : 1);
    FILE *f = fopen(argv[2], "wb");
    if (!words || !image || !f)
        return 3;
    ascend_words_make(&p, 0, image);
    return fwrite(image, 1, words, f) != words || fclose(f);
}
