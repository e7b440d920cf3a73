// SPDX-License-Identifier: Apache-2.0
/* Signatures of whole files, and keys, as the program minisign has them: Ed25519 over the
 * BLAKE2b-512 of a file, in FILE.minisig. Either program reads what the other wrote. Built without
 * libsodium, every function fails and says so. */
#ifndef MONA_MINISIGN_H
#define MONA_MINISIGN_H

#include "pipeline/base/error.h"

/* Makes a pair of keys: secret, which only its owner can read, and secret.pub. Replaces no file. */
bool minisign_new_key(const char *secret, pipeline_error *error);

/* Signs bytes[0, size), which came from the file `path`, and writes path.minisig. comment: one line
 * that is signed too. Keys with a password are minisign's to use. */
bool minisign_sign(const char *path, const void *bytes, size_t size, const char *secret,
                   const char *comment, pipeline_error *error);

/* Whether path.minisig is a signature of bytes[0, size) by the key in the file `key`. comment: gets
 * the line that was signed too, of at most MINISIGN_COMMENT bytes. */
enum { MINISIGN_COMMENT = 1024 };
bool minisign_verify(const char *path, const void *bytes, size_t size, const char *key,
                     char comment[MINISIGN_COMMENT], pipeline_error *error);

#endif
