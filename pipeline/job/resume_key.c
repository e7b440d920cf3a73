// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/job.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>

#include "engine/model_format.h"
#include "models/embedded.h"
#include "mona.h"
#include "pipeline/io/sources/picture_list.h"
#include "pipeline/io/containers/url.h"

/* ---- what makes the frames ------------------------------------------------------------------ */

/* Continues an FNV-1a hash. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

/* Continues a hash with the names and times of the encoders' own libraries: libx264.so.164. */
static int hash_library(struct dl_phdr_info *library, size_t size, void *context)
{
    static const char *const encoders[] = {"x264", "x265", "SvtAv1", "vpx", "avcodec"};
    uint64_t *hash = context;
    struct stat file = {0};
    (void)size;
    for (size_t i = 0; i < sizeof encoders / sizeof *encoders; i++)
        if (library->dlpi_name && strstr(library->dlpi_name, encoders[i])) {
            stat(library->dlpi_name, &file);
            *hash = hash_bytes(*hash, library->dlpi_name, strlen(library->dlpi_name) + 1);
            *hash = hash_bytes(*hash, &file.st_mtim.tv_sec, sizeof file.st_mtim.tv_sec);
        }
    return 0;
}

/* The built-in networks, which a build of the same version may have trained anew. */
static uint64_t hash_networks(uint64_t hash)
{
    for (size_t i = 0; i < embedded_model_count; i++) {
        const embedded_model *model = &embedded_models[i];
        hash = hash_bytes(hash, model->begin, sizeof(mona_file_header));
    }
    return hash;
}

static void put_makers(FILE *f)
{
    uint64_t hash = hash_networks(0xcbf29ce484222325u);
    /* These libraries may be opened only now, and are among those that are hashed. */
    const unsigned codec = avcodec_version(), format = avformat_version();
    dl_iterate_phdr(hash_library, &hash);
    fprintf(f, "mona=" MONA_VERSION " libav=%s,%u,%u libraries=%016llx", av_version_info(), codec,
            format, (unsigned long long)hash);
}

/* ---- options -------------------------------------------------------------------------------- */

/* Without spaces and what ends a line. */
static void put_text(FILE *f, const char *text)
{
    for (; *text; text++)
        fprintf(f, (unsigned char)*text <= ' ' || *text == '%' ? "%%%02x" : "%c",
                (unsigned char)*text);
}

/* Tells a file by its bytes. */
static bool put_identity(FILE *f, const char *path, pipeline_error *error)
{
    char identity[FILE_IDENTITY_TEXT];
    if (url_find(path) || url_is_playlist(path))
        return pipeline_misuse(
            error,
            "--resume and --part: expected a film in one file, found %s, behind which "
            "another film may be the next time; save it as a file first",
            path);
    if (!strcmp(path, "-") || embedded_model_find(path)) {
        fputs(path, f);
        return true;
    }
    if (!file_identity(identity, path, error))
        return false;
    fprintf(f, "@%s", identity);
    return true;
}

/* Tells a folder by the bytes of its files. */
static bool put_files(FILE *f, const char *path, pipeline_error *error)
{
    struct dirent **names = NULL;
    const int found = scandir(path, &names, NULL, alphasort);
    bool ok = true;
    if (found < 0)
        return put_identity(f, path, error);
    for (int i = 0; i < found; free(names[i++])) {
        char file[PATH_MAX];
        struct stat about;
        if (ok && snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name) < PATH_MAX &&
            !stat(file, &about) && S_ISREG(about.st_mode))
            ok = put_identity(f, file, error);
    }
    free(names);
    return ok;
}

/* Tells where it lies. */
static bool put_path(FILE *f, const char *path, pipeline_error *error)
{
    char folder[PATH_MAX];
    if (*path == '/' || !strcmp(path, "-") || embedded_model_find(path)) {
        put_text(f, path);
        return true;
    }
    if (!getcwd(folder, sizeof folder))
        return pipeline_fail(error, "the current folder is unknown: %s", strerror(errno));
    put_text(f, folder);
    fputc('/', f);
    put_text(f, path);
    return true;
}

typedef bool (*put_file)(FILE *f, const char *path, pipeline_error *error);

/* text: a value, or the path of a file. */
static bool put_word(FILE *f, const option *o, const char *text, put_file file,
                     pipeline_error *error)
{
    fprintf(f, " %s=", o->name);
    if (o->kind == OPTION_FILE || o->kind == OPTION_FILES)
        return file(f, text, error);
    put_text(f, text);
    return true;
}

/* A word for each value: a list has several. */
static bool put_option(FILE *f, const option *o, const void *values, put_file file,
                       pipeline_error *error)
{
    const option_list *list = (const void *)((const char *)values + o->field);
    char buffer[OPTION_TEXT];
    const char *text = option_text(o, values, buffer);
    if (o->kind == OPTION_FLAG)
        return fprintf(f, " %s", o->name) > 0;
    if (text)
        return put_word(f, o, text, file, error);
    for (size_t i = 0; i < list->count; i++)
        if (!put_word(f, o, list->items[i], file, error))
            return false;
    return true;
}

/* An input can also be given without its option. */
static bool counts(const option *o, const job *j, bool given)
{
    const void *field = (const char *)j + o->field;
    return o->effect == CHANGES_BYTES && !o->written &&
           (given || (o->kind == OPTION_FILE && *(const char *const *)field));
}

static bool put_all(FILE *f, const job *j, put_file file, pipeline_error *error)
{
    for (size_t i = 0; i < JOB_ROWS; i++)
        if (counts(&job_rows[i], j, j->given.has[i]) &&
            !put_option(f, &job_rows[i], j, file, error))
            return false;
    return true;
}

/* makers: what makes the frames comes first. */
static char *line_of(const job *j, bool makers, put_file file, pipeline_error *error)
{
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    if (f && makers)
        put_makers(f);
    bool good = f && put_all(f, j, file, error);
    if ((!f || fclose(f)) && good)
        good = false;
    if (good)
        return text;
    free(text);
    pipeline_fail(error, "out of memory");
    return NULL;
}

char *resume_key(const job *j, pipeline_error *error)
{
    return line_of(j, true, put_files, error);
}

char *resume_words(const job *j, pipeline_error *error)
{
    return line_of(j, false, put_path, error);
}

/* Undoes put_text. */
static void unescape(char *text)
{
    char *to = text;
    for (unsigned value; *text; text++)
        if (*text == '%' && sscanf(text + 1, "%2x", &value) == 1 && text[2]) {
            *to++ = (char)value;
            text += 2;
        } else {
            *to++ = *text;
        }
    *to = 0;
}

static bool read_word(job *j, char *word, pipeline_error *error)
{
    char *value = strchr(word, '=');
    if (value)
        *value++ = 0;
    for (job_field f = 0; f < JOB_ROWS; f++)
        if (!strcmp(job_rows[f].name, word)) {
            if (value)
                unescape(value);
            j->given.has[f] = true;
            return option_read(&job_rows[f], j, value, error);
        }
    return pipeline_fail(error, "expected an option of mona enhance, found '%s'", word);
}

bool resume_words_read(job *j, char *words, pipeline_error *error)
{
    char *rest = words;
    for (char *word; (word = strsep(&rest, " "));)
        if (*word && !read_word(j, word, error))
            return false;
    return true;
}
