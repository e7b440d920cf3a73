// SPDX-License-Identifier: Apache-2.0
/* mona sign: signatures of models, and keys for them. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "apps/cli/commands.h"
#include "apps/sign/minisign.h"
#include "engine/model_format.h"
#include "pipeline/base/outfile.h"
#include "pipeline/job/model_source.h"

enum { MAX_MODELS = 1024 };

typedef struct sign_job {
    const char *key;
    bool new_key;
} sign_job;

static bool sign(const char *path, const char *key)
{
    pipeline_error error = {0};
    model_source source;
    char comment[MINISIGN_COMMENT / 2];
    if (!options_model(&source, path))
        return false;
    const mona_model *m = &source.model.model;
    snprintf(comment, sizeof comment, "timestamp:%lld\tfile:%.255s\trelease:%u\thashed",
             (long long)time(NULL), outfile_base_name(path), mona_model_release(m));
    const bool good =
        minisign_sign(path, m->file, (size_t)m->header->file_bytes, key, comment, &error);
    if (!good)
        cli_fail_of(&error);
    model_source_close(&source);
    return good;
}

static int run(void *values, const command_line *line)
{
    sign_job *job = values;
    pipeline_error error = {0};
    if (!job->key)
        return cli_fail(EXIT_USAGE, "expected a key: --key FILE (with --new, mona makes one)");
    if (!line->operands[0] && !job->new_key)
        return cli_fail(EXIT_USAGE, "expected models to sign, or --new");
    if (job->new_key && !minisign_new_key(job->key, &error))
        return cli_fail_of(&error);
    bool good = true;
    for (const char **model = line->operands; *model; model++)
        good &= sign(*model, job->key);
    return good ? EXIT_SUCCESS : EXIT_FAILED;
}

static const char keys[] = "Keys";

static const option options[] = {
    {"--key", "-k", OPTION_FILE, CHANGES_BYTES, offsetof(sign_job, key), "FILE", keys,
     .help = "secret key, without a password"},
    {"--new", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(sign_job, new_key), NULL, keys,
     .help = "make it first, and FILE.pub, by which signatures are verified"},
};

const command command_sign = {
    .name = "sign",
    .summary = "sign models, for devices that take only those",
    .run = run,
    .values = &(sign_job){0},
    .confined = CONFINED_NEVER, /* it reads a secret, and models that it vouches for */
    .usage = "MODEL.mona... --key FILE [--new]",
    .description = "Writes MODEL.mona.minisig: an Ed25519 signature as the program minisign has "
                   "them. mona inspect --verify checks it, and so does minisign. A program checks "
                   "it before it opens a model: mona_model_open_guarded.",
    .examples =
        "mona sign --new --key models.key  # models.key and models.key.pub\n"
        "mona compile net.onnx -o net.mona --release 7 && mona sign net.mona --key models.key\n"
        "mona inspect net.mona --verify models.key.pub --least-release 7\n",
    .parts = {{OPTIONS(options)}},
    .operands_max = MAX_MODELS,
};
