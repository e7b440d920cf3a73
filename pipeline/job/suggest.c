// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/option.h"

#include <stdio.h>
#include <string.h>

enum { NAME_LENGTH = 63 };

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The number of letters to insert, delete, replace or swap with the next one to get from one word
 * to the other (optimal string alignment). Both have at most NAME_LENGTH letters. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned char d[NAME_LENGTH + 1][NAME_LENGTH + 1];
    for (size_t i = 0; i <= a_length; i++)
        for (size_t j = 0; j <= b_length; j++) {
            if (!i || !j) {
                d[i][j] = (unsigned char)(i + j);
                continue;
            }
            const size_t replaced = d[i - 1][j - 1] + (size_t)(a[i - 1] != b[j - 1]);
            size_t min = min_size(replaced, 1 + min_size(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                min = min_size(min, 1u + d[i - 2][j - 2]);
            d[i][j] = (unsigned char)min;
        }
    return d[a_length][b_length];
}

/* In a very short word no letter may be wrong, in a short one a single letter, in others a third of
 * them. */
suggestion suggest_for(const char *word, size_t length)
{
    return (suggestion){word, length, 1 + (length < 3 ? 0 : length < 6 ? 1 : length / 3), ""};
}

static void offer(suggestion *s, const char *name, size_t length)
{
    if (s->length > NAME_LENGTH || length > NAME_LENGTH)
        return;
    const size_t distance = edit_distance(s->word, s->length, name, length);
    if (distance >= s->distance || distance >= length)
        return;
    s->distance = distance;
    memcpy(s->nearest, name, length);
    s->nearest[length] = 0;
}

void suggest_name(suggestion *s, const char *name)
{
    offer(s, name, strlen(name));
}

void suggest_names(suggestion *s, const char *names, const char *separators)
{
    for (size_t length; *names; names += length + (names[length] != 0)) {
        length = strcspn(names, separators);
        offer(s, names, length);
    }
}

const char *suggest_text(const suggestion *s, char *buffer, size_t size)
{
    snprintf(buffer, size, s->nearest[0] ? "; did you mean '%s'?" : "%s", s->nearest);
    return buffer;
}
