// SPDX-License-Identifier: Apache-2.0
/* Opens a model only if it is signed by a key that this program knows and not older than the last
 * one used, as a device does that loads models over a network.
 *
 *   cc -o signed apps/examples/signed.c $(pkg-config --cflags --libs mona libsodium)
 *   signed MODEL.mona KEY.pub RELEASE       MODEL.mona.minisig is from mona sign or minisign -S
 *
 * A device has the key in its firmware, and the release where it is kept when the power fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "mona.h"

typedef struct key {
    unsigned char algorithm[2], id[8], bytes[crypto_sign_PUBLICKEYBYTES];
} key;

typedef struct signature {
    unsigned char algorithm[2], key[8], bytes[crypto_sign_BYTES];
} signature;

typedef struct expected {
    key key;
    signature signature;
} expected;

/* A file in memory, at an address that the engine takes. */
static void *load(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    void *bytes = NULL;
    long length = -1;
    if (file && !fseek(file, 0, SEEK_END) && (length = ftell(file)) > 0)
        bytes =
            aligned_alloc(MONA_ALIGNMENT, ((size_t)length / MONA_ALIGNMENT + 1) * MONA_ALIGNMENT);
    if (bytes) {
        rewind(file);
        *size = fread(bytes, 1, (size_t)length, file);
    }
    if (file)
        fclose(file);
    return bytes;
}

/* What the second line of a file of minisign stands for. */
static int read_second(const char *name, void *to, size_t size)
{
    char line[512];
    size_t length;
    FILE *file = fopen(name, "r");
    const int good = file && fgets(line, sizeof line, file) && fgets(line, sizeof line, file) &&
                     !sodium_base642bin(to, size, line, strlen(line), "\r\n", &length, NULL,
                                        sodium_base64_VARIANT_ORIGINAL) &&
                     length == size;
    if (file)
        fclose(file);
    return good;
}

/* The guard's: whether these are the bytes that were signed by the key. */
static bool is_genuine(void *context, const void *bytes, size_t size)
{
    const expected *e = context;
    unsigned char hash[64];
    crypto_generichash(hash, sizeof hash, bytes, size, NULL, 0);
    return !memcmp(e->signature.algorithm, "ED", 2) &&
           !memcmp(e->signature.key, e->key.id, sizeof e->key.id) &&
           !crypto_sign_verify_detached(e->signature.bytes, hash, sizeof hash, e->key.bytes);
}

int main(int argc, char **argv)
{
    expected e;
    char name[4096];
    size_t size = 0;
    mona_model model;
    if (argc != 4 || sodium_init() < 0)
        return fprintf(stderr, "usage: signed MODEL.mona KEY.pub RELEASE\n"), 2;
    snprintf(name, sizeof name, "%s.minisig", argv[1]);
    void *bytes = load(argv[1], &size);
    if (!bytes || !read_second(argv[2], &e.key, sizeof e.key) ||
        !read_second(name, &e.signature, sizeof e.signature))
        return fprintf(stderr, "%s: expected a model, its signature and a key\n", argv[1]), 1;
    const mona_guard guard = {
        .genuine = is_genuine, .context = &e, .release = (uint32_t)strtoul(argv[3], NULL, 10)};
    const mona_status status = mona_model_open_guarded(&model, bytes, size, &guard);
    if (status)
        fprintf(stderr, "%s: %s\n", argv[1], mona_status_text(status));
    else
        printf("%s: release %u\n", argv[1], mona_model_release(&model));
    free(bytes);
    return status ? 1 : 0;
}
