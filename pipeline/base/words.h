// SPDX-License-Identifier: Apache-2.0
/* Words that a user chooses from, and their constants, as one list:
 *
 *     #define COLOURS(FIRST, NEXT) FIRST(RED, "red") NEXT(BLUE, "blue")
 *     typedef enum colour { WORDS_ENUM(COLOURS) } colour;
 *
 * WORDS_TEXT(COLOURS) is "red|blue". */
#ifndef MONA_WORDS_H
#define MONA_WORDS_H

#define WORDS_CONSTANT(constant, word) constant,
#define WORDS_FIRST(constant, word) word
#define WORDS_NEXT(constant, word) "|" word
#define WORDS_ENUM(LIST) LIST(WORDS_CONSTANT, WORDS_CONSTANT)
#define WORDS_TEXT(LIST) LIST(WORDS_FIRST, WORDS_NEXT)

#endif
