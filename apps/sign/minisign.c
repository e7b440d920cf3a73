// SPDX-License-Identifier: Apache-2.0
#include "apps/sign/minisign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/base/outfile.h"

#ifdef MONA_SODIUM

#include <sodium.h>

enum { HASH = 64, LINE = MINISIGN_COMMENT + 64 };

/* What their base64 stands for. All fields are bytes. */
typedef struct public_key {
    uint8_t algorithm[2], id[8], key[crypto_sign_PUBLICKEYBYTES];
} public_key;

typedef struct signature {
    uint8_t algorithm[2], id[8], of_file[crypto_sign_BYTES];
} signature;

typedef struct secret_key {
    uint8_t algorithm[2], derived_by[2], checked_by[2], salt[32], operations[8], memory[8];
    uint8_t id[8], key[crypto_sign_SECRETKEYBYTES], checksum[32];
} secret_key;

static const char untrusted[] = "untrusted comment: ", trusted[] = "trusted comment: ";

static bool begin(pipeline_error *error)
{
    return sodium_init() >= 0 || pipeline_fail(error, "libsodium cannot start");
}

/* ---- files of lines -------------------------------------------------------------------------- */

/* Reads `count` lines of a file, without their ends. */
static bool read_lines(const char *path, char lines[][LINE], unsigned count, const char *what,
                       pipeline_error *error)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return pipeline_fail(error, "%s: expected %s, which cannot be read: %s", path, what,
                             strerror(errno));
    bool good = true;
    for (unsigned i = 0; i < count && good; i++) {
        good = fgets(lines[i], LINE, file);
        if (good)
            lines[i][strcspn(lines[i], "\r\n")] = 0;
    }
    fclose(file);
    return good || pipeline_fail(error, "%s: expected %s, found fewer lines", path, what);
}

static bool decode(const char *path, const char *text, void *to, size_t size, const char *what,
                   pipeline_error *error)
{
    size_t length;
    return (!sodium_base642bin(to, size, text, strlen(text), NULL, &length, NULL,
                               sodium_base64_VARIANT_ORIGINAL) &&
            length == size) ||
           pipeline_fail(error, "%s: expected %s, found other data", path, what);
}

static void encode(char text[LINE], const void *bytes, size_t size)
{
    sodium_bin2base64(text, LINE, bytes, size, sodium_base64_VARIANT_ORIGINAL);
}

/* A file that nobody else can read until it is complete; it must be new. */
static bool write_new(const char *path, const char *text, mode_t mode, pipeline_error *error)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    const size_t length = strlen(text);
    bool good = fd >= 0 && write(fd, text, length) == (ssize_t)length && !fsync(fd);
    const int reason = errno;
    if (fd >= 0 && close(fd))
        good = false;
    if (!good && fd >= 0)
        unlink(path);
    return good || pipeline_fail(error, "%s: cannot be created: %s", path, strerror(reason));
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void sum_of(const secret_key *k, uint8_t sum[32])
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, 32);
    crypto_generichash_update(&state, k->algorithm, sizeof k->algorithm);
    crypto_generichash_update(&state, k->id, sizeof k->id);
    crypto_generichash_update(&state, k->key, sizeof k->key);
    crypto_generichash_final(&state, sum, 32);
}

static uint64_t id_of(const uint8_t id[8])
{
    uint64_t number = 0;
    for (unsigned i = 8; i-- > 0;)
        number = number << 8 | id[i];
    return number;
}

bool minisign_new_key(const char *secret, pipeline_error *error)
{
    public_key open = {.algorithm = "Ed"};
    secret_key own = {.algorithm = "Ed", .checked_by = "B2"}; /* derived by nothing: no password */
    char line[LINE], text[2 * LINE], name[4096];
    if (!begin(error))
        return false;
    if (snprintf(name, sizeof name, "%s.pub", secret) >= (int)sizeof name)
        return pipeline_fail(error, "%s: the name is too long", secret);
    crypto_sign_keypair(open.key, own.key);
    randombytes_buf(own.id, sizeof own.id);
    memcpy(open.id, own.id, sizeof open.id);
    sum_of(&own, own.checksum);
    encode(line, &own, sizeof own);
    snprintf(text, sizeof text, "%sminisign secret key without a password\n%s\n", untrusted, line);
    bool good = write_new(secret, text, 0600, error);
    sodium_memzero(&own, sizeof own);
    encode(line, &open, sizeof open);
    snprintf(text, sizeof text, "%sminisign public key %016llX\n%s\n", untrusted,
             (unsigned long long)id_of(open.id), line);
    if (good && !write_new(name, text, 0666, error)) {
        unlink(secret);
        good = false;
    }
    return good;
}

static bool read_secret(secret_key *k, const char *path, pipeline_error *error)
{
    static const char what[] = "a secret key of minisign or mona sign --new";
    char lines[2][LINE];
    uint8_t sum[32];
    if (!read_lines(path, lines, 2, what, error) ||
        !decode(path, lines[1], k, sizeof *k, what, error))
        return false;
    if (k->derived_by[0] || k->derived_by[1])
        return pipeline_fail(
            error, "%s: expected a key without a password; minisign -S signs by this one", path);
    sum_of(k, sum);
    const bool summed = !sodium_is_zero(k->checksum, sizeof k->checksum); /* minisign's are not */
    return (!memcmp(k->algorithm, "Ed", 2) &&
            (!summed || !sodium_memcmp(sum, k->checksum, sizeof sum))) ||
           pipeline_fail(error, "%s: the key is damaged", path);
}

/* ---- signatures ------------------------------------------------------------------------------ */

/* The second signature is of the first and the trusted comment. Returns the length. */
static size_t join(uint8_t joined[crypto_sign_BYTES + LINE], const signature *s,
                   const char *comment)
{
    const size_t length = strlen(comment);
    memcpy(joined, s->of_file, sizeof s->of_file);
    memcpy(joined + sizeof s->of_file, comment, length);
    return sizeof s->of_file + length;
}

static bool name_signature(char name[4096], const char *path, pipeline_error *error)
{
    return snprintf(name, 4096, "%s.minisig", path) < 4096 ||
           pipeline_fail(error, "%s: the name is too long", path);
}

bool minisign_sign(const char *path, const void *bytes, size_t size, const char *secret,
                   const char *comment, pipeline_error *error)
{
    secret_key k;
    signature s = {.algorithm = "ED"}; /* of a hash of the file */
    uint8_t hash[HASH], joined[crypto_sign_BYTES + LINE], second[crypto_sign_BYTES];
    char first_line[LINE], last_line[LINE], text[4 * LINE], name[4096];
    if (!begin(error) || !name_signature(name, path, error) || !read_secret(&k, secret, error))
        return false;
    memcpy(s.id, k.id, sizeof s.id);
    crypto_generichash(hash, sizeof hash, bytes, size, NULL, 0);
    crypto_sign_detached(s.of_file, NULL, hash, sizeof hash, k.key);
    crypto_sign_detached(second, NULL, joined, join(joined, &s, comment), k.key);
    sodium_memzero(&k, sizeof k);
    encode(first_line, &s, sizeof s);
    encode(last_line, second, sizeof second);
    snprintf(text, sizeof text, "%ssignature by mona sign\n%s\n%s%s\n%s\n", untrusted, first_line,
             trusted, comment, last_line);
    return outfile_save(name, NULL, text, strlen(text), error);
}

static bool check_file(const signature *s, const public_key *k, const void *bytes, size_t size)
{
    uint8_t hash[HASH];
    if (!memcmp(s->algorithm, "Ed", 2))
        return !crypto_sign_verify_detached(s->of_file, bytes, size, k->key);
    crypto_generichash(hash, sizeof hash, bytes, size, NULL, 0);
    return !memcmp(s->algorithm, "ED", 2) &&
           !crypto_sign_verify_detached(s->of_file, hash, sizeof hash, k->key);
}

bool minisign_verify(const char *path, const void *bytes, size_t size, const char *key,
                     char comment[MINISIGN_COMMENT], pipeline_error *error)
{
    static const char of_key[] = "a public key of minisign", of_file[] = "a signature of minisign";
    public_key k;
    signature s;
    uint8_t joined[crypto_sign_BYTES + LINE], second[crypto_sign_BYTES];
    char key_lines[2][LINE], lines[4][LINE], name[4096];
    if (!begin(error) || !name_signature(name, path, error) ||
        !read_lines(key, key_lines, 2, of_key, error) ||
        !decode(key, key_lines[1], &k, sizeof k, of_key, error) ||
        !read_lines(name, lines, 4, of_file, error) ||
        !decode(name, lines[1], &s, sizeof s, of_file, error) ||
        !decode(name, lines[3], second, sizeof second, of_file, error))
        return false;
    if (memcmp(k.id, s.id, sizeof k.id) != 0)
        return pipeline_fail(error, "%s: signed by another key: expected %016llX, found %016llX",
                             path, (unsigned long long)id_of(k.id),
                             (unsigned long long)id_of(s.id));
    if (!check_file(&s, &k, bytes, size))
        return pipeline_fail(error, "%s: was changed since it was signed, or signed by another key",
                             path);
    const char *line = lines[2] + strlen(trusted);
    if (strncmp(lines[2], trusted, strlen(trusted)) != 0 ||
        crypto_sign_verify_detached(second, joined, join(joined, &s, line), k.key))
        return pipeline_fail(error, "%s: its trusted comment was changed", name);
    snprintf(comment, MINISIGN_COMMENT, "%.*s", MINISIGN_COMMENT - 1, line);
    return true;
}

#else

static bool fail(pipeline_error *error)
{
    return pipeline_fail(error, "signatures need a mona that was built with libsodium");
}

bool minisign_new_key(const char *secret, pipeline_error *error)
{
    (void)secret;
    return fail(error);
}

bool minisign_sign(const char *path, const void *bytes, size_t size, const char *secret,
                   const char *comment, pipeline_error *error)
{
    (void)path, (void)bytes, (void)size, (void)secret, (void)comment;
    return fail(error);
}

bool minisign_verify(const char *path, const void *bytes, size_t size, const char *key,
                     char comment[MINISIGN_COMMENT], pipeline_error *error)
{
    (void)path, (void)bytes, (void)size, (void)key, (void)comment;
    return fail(error);
}

#endif
