// SPDX-License-Identifier: Apache-2.0
/* "did you mean": the name that is closest to a misspelt word. */
#ifndef MONA_SUGGEST_H
#define MONA_SUGGEST_H

#include <stddef.h>

typedef struct suggestion {
    const char *word; /* as typed */
    size_t length;    /* length of the part of it that counts */
    size_t distance;  /* distance of nearest; before that, one more than may still be meant */
    char nearest[64]; /* "": no name is close */
} suggestion;

/* length: that of the part of word that is a name. */
suggestion suggest_for(const char *word, size_t length);

/* Considers one of the existing names. */
void suggest_name(suggestion *s, const char *name);

/* Considers several, separated by any of the separators. */
void suggest_names(suggestion *s, const char *names, const char *separators);

/* "; did you mean 'NAME'?" in buffer, or "". */
const char *suggest_text(const suggestion *s, char *buffer, size_t size);

enum { SUGGEST_TEXT = 96 }; /* for any such text */

#endif
