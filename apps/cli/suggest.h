// SPDX-License-Identifier: Apache-2.0
/* "did you mean": the name that a misspelt word comes closest to. */
#ifndef MONA_SUGGEST_H
#define MONA_SUGGEST_H

#include <stddef.h>

typedef struct suggestion {
    const char *word; /* as it was typed */
    size_t length;    /* of its part that counts */
    size_t distance;  /* of nearest; before that, more than what may still be meant */
    char nearest[64]; /* "": no name is close */
} suggestion;

/* length: of the part of word that is a name. */
suggestion suggest_for(const char *word, size_t length);

/* One of the names there are. */
void suggest_name(suggestion *s, const char *name);

/* Several, with one of the separators between. */
void suggest_names(suggestion *s, const char *names, const char *separators);

/* "; did you mean 'NAME'?" in buffer, or "". */
const char *suggest_text(const suggestion *s, char *buffer, size_t size);

enum { SUGGEST_TEXT = 96 }; /* for any such text */

#endif
