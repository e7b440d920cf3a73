// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/batch.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <libavformat/avformat.h>

#include "apps/cli/json_output.h"
#include "apps/cli/options.h"
#include "apps/enhance/dry_run.h"
#include "pipeline/io/outputs/mux.h"
#include "pipeline/base/outfile.h"
#include "pipeline/base/stop.h"
#include "pipeline/image/stills.h"
#include "apps/cli/save.h"
#include "apps/cli/printable.h"

typedef struct batch_file {
    char *input, *output; /* owned */
} batch_file;

typedef struct batch {
    const batch_request *asked;
    const char *folder;
    char manifest[4096]; /* its path */
    size_t unreadable;   /* files and folders that were reported */
    size_t passed;       /* folders in folders, without --recursive */
    size_t linked;       /* links to folders */
    batch_file *files;
    size_t count;
    cJSON *results; /* plans of a dry run */
    char *done;     /* what the manifest says so far, without its last bracket */
    size_t done_bytes;
} batch;

/* ---- what there is to do -------------------------------------------------------------------- */

/* The suffix of videos in a container: the first of those that its files have. */
static void suffix_of(char *text, size_t size, const AVOutputFormat *format)
{
    const char *all = format && format->extensions ? format->extensions : "mkv";
    snprintf(text, size, ".%.*s", (int)strcspn(all, ","), all);
}

/* What stands between a folder's name and that of a file in it. */
static const char *gap(const char *folder)
{
    return *folder && folder[strlen(folder) - 1] == '/' ? "" : "/";
}

char *batch_output(const char *folder, const char *input, const char *name, const char *format)
{
    pipeline_error unused = {0};
    char video[32];
    const AVOutputFormat *named = mux_format(name, NULL, &unused);
    const AVOutputFormat *wanted = format ? mux_format(name, format, &unused) : named;
    size_t length = strlen(name), bytes = strlen(folder) + length + sizeof video + 8;
    const char *suffix = strrchr(name, '.');
    const bool image = still_is_image(input) && !still_is_animated(input);
    const bool known =
        (still_can_write(name) && (image || !format)) || (!image && named && named == wanted);
    char *path = malloc(bytes);
    suffix_of(video, sizeof video, wanted);
    if (path && known)
        snprintf(path, bytes, "%s%s%s", folder, gap(folder), name);
    else if (path)
        snprintf(path, bytes, "%s%s%.*s%s", folder, gap(folder),
                 (int)(suffix && suffix > name ? (size_t)(suffix - name) : length), name,
                 image ? ".png" : video);
    return path;
}

/* name: relative to the folder of results. */
static bool add_as(batch *b, const char *input, const char *name)
{
    batch_file *files = realloc(b->files, (b->count + 1) * sizeof *files);
    if (!files)
        return false;
    b->files = files;
    batch_file *f = &files[b->count++];
    *f = (batch_file){strdup(input), batch_output(b->folder, input, name, b->asked->format)};
    return f->input && f->output;
}

static bool add(batch *b, const char *input)
{
    return add_as(b, input, outfile_base_name(input));
}

/* Whether the suffix is that of a video or a picture. */
static bool looks_like_media(const char *name)
{
    const AVOutputFormat *format = av_guess_format(NULL, name, NULL);
    return format && format->video_codec != AV_CODEC_ID_NONE;
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool is_results(const batch *b, const struct stat *folder)
{
    struct stat results;
    return !stat(b->folder, &results) && results.st_dev == folder->st_dev &&
           results.st_ino == folder->st_ino;
}

/* The other files are processed nevertheless. */
static bool pass_over(batch *b, const char *path, int reason)
{
    cli_fail(0, "%s: cannot be read: %s", path, strerror(reason));
    b->unreadable++;
    return true;
}

/* One that was removed since it was found is not reported. */
static bool pass_over_found(batch *b, const char *path, int reason)
{
    return reason == ENOENT || pass_over(b, path, reason);
}

static bool add_folder(batch *b, const char *folder, const char *name);

/* Adds what is in a folder: path, which is called name relative to the operand. */
static bool add_entry(batch *b, const char *path, const char *name)
{
    struct stat status, target;
    if (lstat(path, &status))
        return pass_over_found(b, path, errno);
    if (stat(path, &target))
        return !looks_like_media(name) || pass_over(b, path, errno);
    /* A link to a folder may lead in circles. */
    if (S_ISDIR(status.st_mode) && b->asked->recursive)
        return is_results(b, &status) || add_folder(b, path, name);
    const bool passed = S_ISDIR(target.st_mode) && !is_results(b, &target);
    b->linked += passed && S_ISLNK(status.st_mode);
    b->passed += passed && !S_ISLNK(status.st_mode);
    return !S_ISREG(target.st_mode) || !looks_like_media(name) || add_as(b, path, name);
}

static bool add_folder(batch *b, const char *folder, const char *name)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, is_shown, alphasort);
    bool good = true;
    if (count < 0)
        return pass_over_found(b, folder, errno);
    for (int i = 0; i < count; i++) {
        char path[4096], below[4096];
        const int length =
            snprintf(path, sizeof path, "%s%s%s", folder, gap(folder), entries[i]->d_name);
        snprintf(below, sizeof below, "%s%s%s", name, *name ? "/" : "", entries[i]->d_name);
        if (length >= (int)sizeof path)
            pass_over(b, folder, ENAMETOOLONG);
        else if (good)
            good = add_entry(b, path, below);
        free(entries[i]);
    }
    free(entries);
    return good;
}

/* A name that does not exist may be a pattern that the shell left alone. */
static bool add_pattern(batch *b, const char *pattern)
{
    glob_t found;
    bool good = true;
    if (glob(pattern, 0, NULL, &found))
        return add(b, pattern);
    for (size_t i = 0; i < found.gl_pathc && good; i++)
        good = add(b, found.gl_pathv[i]);
    globfree(&found);
    return good;
}

static bool add_operand(batch *b, const char *operand)
{
    struct stat status;
    if (stat(operand, &status))
        return add_pattern(b, operand);
    return S_ISDIR(status.st_mode) ? add_folder(b, operand, "") : add(b, operand);
}

/* Two inputs must not become one output. */
static bool check_names(const batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        for (size_t j = 0; j < i; j++)
            if (!strcmp(b->files[i].output, b->files[j].output))
                return cli_fail(0, "%s and %s would both be written to %s", b->files[j].input,
                                b->files[i].input, b->files[i].output);
    return true;
}

/* ---- one file ------------------------------------------------------------------------------- */

/* Makes the folders in which output lies, inside the folder of results. */
static bool make_folders(const batch *b, char *output)
{
    for (char *slash = output + strlen(b->folder); (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        const bool made = !mkdir(output, 0777) || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

/* The arguments for a file. The caller frees the NULL-terminated array, but not the strings. */
static char **arguments_for(const batch *b, const batch_file *f)
{
    const command_line *line = b->asked->line;
    char **to = malloc(((size_t)line->argc + 7) * sizeof *to);
    int n = 0;
    if (!to)
        return NULL;
    to[n++] = "mona";
    for (int k = 0; k < line->argc; k++) {
        const char *const *operand = line->operands;
        while (*operand && *operand != line->argv[k])
            operand++;
        if (!strcmp(line->argv[k], "--out-dir"))
            k++;
        else if (!*operand && strncmp(line->argv[k], "--out-dir=", 10) &&
                 strcmp(line->argv[k], "--recursive") && strcmp(line->argv[k], "--"))
            to[n++] = line->argv[k];
    }
    if (b->asked->dry_run && !b->asked->json)
        to[n++] = "--json";
    to[n++] = "-i";
    to[n++] = f->input;
    to[n++] = "-o";
    to[n++] = f->output;
    to[n] = NULL;
    return to;
}

/* Prints what the process for a file prints, and keeps mona's last message, else the last line. */
static void pass_on(FILE *from, char *last, size_t size)
{
    char line[1024];
    bool found = false;
    while (fgets(line, sizeof line, from)) {
        fputs(line, stderr);
        line[strcspn(line, "\n")] = 0;
        const bool text = !strncmp(line, "mona: ", 6), message = text || *line == '{';
        if (message || !found)
            snprintf(last, size, "%s", text ? line + 6 : line);
        found = found || message;
    }
}

/* Starts a process to which signals are passed on; none is started once a signal has come. */
static pid_t start(void)
{
    stop_hold();
    const pid_t child = stop_signal() ? -1 : fork();
    if (child > 0)
        stop_passes_to(child);
    stop_release();
    return child;
}

/* Returns the exit status. out: for standard output; NULL: mona's own. last: what was said last. */
static int run_one(const batch *b, const batch_file *f, FILE *out, char *last, size_t size)
{
    int ends[2] = {-1, -1}, status;
    char **arguments = arguments_for(b, f);
    FILE *from = NULL;
    if (!arguments || (!b->asked->dry_run && !make_folders(b, f->output)) || pipe(ends) ||
        !(from = fdopen(ends[0], "r"))) {
        snprintf(last, size, "no process could be started: %s", strerror(errno));
        free(arguments);
        for (int i = 0; i < 2 && ends[i] >= 0; i++)
            close(ends[i]);
        return EXIT_FAILED;
    }
    const pid_t child = start();
    if (child == 0) {
        if (out)
            dup2(fileno(out), STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv("/proc/self/exe", arguments);
        _exit(EXIT_FAILED);
    }
    free(arguments);
    close(ends[1]);
    pass_on(from, last, size);
    fclose(from);
    stop_hold();
    stop_passes_to(0);
    stop_release();
    if (child < 0 || waitpid(child, &status, 0) != child) {
        snprintf(last, size, "no process could be started");
        return EXIT_FAILED;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Adds a result and writes the manifest: as text, which takes a tenth of the memory. */
static bool write_manifest(batch *b, const cJSON *result)
{
    char *one = json_text(result, true);
    const size_t bytes = one ? strlen(one) : 0, before = b->done_bytes;
    char *done = one ? realloc(b->done, before + bytes + sizeof ", ]") : NULL;
    bool good = done;
    if (done) {
        b->done = done;
        b->done_bytes += (size_t)sprintf(done + before, "%s%s", before ? ", " : "[", one);
        memcpy(done + b->done_bytes, "]", sizeof "]");
        good = save_file(b->manifest, done, b->done_bytes + 1);
    } else {
        cli_fail(0, "%s: out of memory", b->manifest);
    }
    free(one);
    return good;
}

/* Whether the manifest's name is free, or an earlier run's manifest has it. That may hold names
 * that are no UTF-8, which JSON readers refuse; so only its beginning is read, as note_result makes
 * it. */
static bool may_write_manifest(const batch *b)
{
    char end;
    FILE *file = fopen(b->manifest, "r");
    if (!file)
        return errno == ENOENT ||
               cli_fail(0, "%s: cannot be read: %s", b->manifest, strerror(errno));
    const bool ours = fscanf(file, " [ { \"input\" : \"%*[^\n] \"output\" :%c", &end) == 1;
    fclose(file);
    return ours || cli_fail(0,
                            "%s: expected no such file or a manifest of mona, which --out-dir "
                            "replaces, found another file; move it, or choose another folder",
                            b->manifest);
}

/* Whether an existing result is kept. If it is the input itself it is not a result. */
static bool is_kept(const batch *b, const batch_file *f)
{
    struct stat in, out;
    if (b->asked->answer == OVERWRITE_YES || stat(f->output, &out) || !S_ISREG(out.st_mode) ||
        stat(f->input, &in) || outfile_is_same(f->input, f->output))
        return false;
    return b->asked->answer == OVERWRITE_NO || in.st_mtim.tv_sec < out.st_mtim.tv_sec ||
           (in.st_mtim.tv_sec == out.st_mtim.tv_sec && in.st_mtim.tv_nsec <= out.st_mtim.tv_nsec);
}

/* word: done, kept or failed. */
static bool note_result(batch *b, const batch_file *f, const char *word, int status,
                        const char *last)
{
    cJSON *result = cJSON_CreateObject();
    JSON_ADD(result, TEXT("input", f->input), TEXT("output", f->output), TEXT("result", word),
             NUMBER("status", status), TEXT(status ? "error" : "summary", last));
    const bool noted = write_manifest(b, result);
    cJSON_Delete(result);
    return noted;
}

/* "3 of 12" */
static void tell_place(const batch *b, size_t i)
{
    if (b->asked->quiet || b->count == 1)
        return;
    if (b->asked->progress != PROGRESS_JSON) {
        fprintf(stderr, "mona: %zu of %zu: ", i + 1, b->count);
        printable_put(stderr, b->files[i].input);
        fputc('\n', stderr);
        return;
    }
    cJSON *event = cJSON_CreateObject();
    JSON_ADD(event, TEXT("event", "file"), NUMBER("number", (double)(i + 1)),
             NUMBER("of", b->count), TEXT("input", b->files[i].input));
    char *text = json_text(event, false);
    if (text)
        fprintf(stderr, "%s\n", text);
    free(text);
    cJSON_Delete(event);
}

/* False: the manifest cannot be written. */
static bool run_file(batch *b, const batch_file *f, size_t *failed)
{
    char last[1024] = "";
    const int status = run_one(b, f, NULL, last, sizeof last);
    *failed += status != 0;
    return note_result(b, f, status ? "failed" : "done", status, last);
}

/* The plan that the process for a file prints. NULL: it failed. */
static cJSON *plan_of(const batch *b, const batch_file *f, char *last, size_t size)
{
    cJSON *plan = NULL;
    FILE *out = tmpfile();
    if (!out)
        snprintf(last, size, "no temporary file: %s", strerror(errno));
    if (out && run_one(b, f, out, last, size) == EXIT_SUCCESS) {
        const off_t bytes = lseek(fileno(out), 0, SEEK_END);
        char *text = bytes > 0 ? calloc((size_t)bytes + 1, 1) : NULL;
        rewind(out);
        if (text && fread(text, 1, (size_t)bytes, out) == (size_t)bytes)
            plan = cJSON_Parse(text);
        free(text);
    }
    if (out)
        fclose(out);
    return plan;
}

static bool plan_file(batch *b, const batch_file *f, size_t *failed)
{
    char last[1024] = "";
    cJSON *plan = plan_of(b, f, last, sizeof last);
    *failed += !plan;
    if (!plan && (plan = cJSON_CreateObject())) {
        JSON_ADD(plan, TEXT("file", f->input), TEXT("error", last));
    }
    return cJSON_AddItemToArray(b->results, plan);
}

static bool print_plans(const batch *b)
{
    if (b->asked->json)
        return !json_print(b->results);
    plan_table_print(b->results);
    return true;
}

/* The exit status, and the line for it. */
static int conclude(const batch *b, size_t failed)
{
    const bool plan = b->asked->dry_run;
    if (stop_signal())
        return plan ? 128 + stop_signal()
                    : cli_fail(128 + stop_signal(), "interrupted; %s says what was done",
                               b->manifest);
    if (failed && plan)
        return cli_fail(EXIT_FAILED, "%zu of %zu files would fail", failed, b->count);
    if (failed)
        return cli_fail(EXIT_FAILED, "%zu of %zu files failed; %s says which", failed, b->count,
                        b->manifest);
    return b->unreadable ? EXIT_FAILED : EXIT_SUCCESS;
}

static int do_all(batch *b)
{
    const bool plan = b->asked->dry_run;
    size_t failed = 0, kept = 0;
    for (size_t i = 0; i < b->count && !stop_signal(); i++) {
        const batch_file *f = &b->files[i];
        bool noted;
        if (is_kept(b, f)) {
            kept++;
            noted = plan || note_result(b, f, "kept", 0, "exists already");
        } else {
            tell_place(b, i);
            noted = plan ? plan_file(b, f, &failed) : run_file(b, f, &failed);
        }
        if (!noted)
            return EXIT_FAILED;
    }
    if (plan && !stop_signal() && !print_plans(b))
        return EXIT_FAILED;
    if (kept && !b->asked->quiet)
        cli_fail(0, "%zu of %zu results exist already and %s", kept, b->count,
                 plan ? "would be kept" : "were kept; -y would replace them");
    return conclude(b, failed);
}

static int prepare(batch *b)
{
    if (snprintf(b->manifest, sizeof b->manifest, "%s%smanifest.json", b->folder, gap(b->folder)) >=
        (int)sizeof b->manifest)
        return cli_fail(EXIT_FAILED, "--out-dir: the name is too long");
    for (const char *const *operand = b->asked->line->operands; *operand; operand++)
        if (!add_operand(b, *operand))
            return cli_fail(EXIT_FAILED, "%s: cannot be read: %s", *operand, strerror(errno));
    if (b->passed && !b->asked->quiet)
        cli_fail(0, "%zu folders below are left out (--recursive reads them)", b->passed);
    if (b->linked && !b->asked->quiet)
        cli_fail(0, "%zu links to folders are not followed; name the folders as IN too", b->linked);
    if (!b->count && b->unreadable)
        return EXIT_FAILED;
    if (!b->count)
        return cli_fail(EXIT_FAILED, "expected videos or pictures, found none");
    if (!check_names(b) || !may_write_manifest(b))
        return EXIT_FAILED;
    if (!b->asked->dry_run && mkdir(b->folder, 0777) && errno != EEXIST)
        return cli_fail(EXIT_FAILED, "%s: cannot be created: %s", b->folder, strerror(errno));
    b->results = cJSON_CreateArray();
    return b->results ? EXIT_SUCCESS : cli_fail(EXIT_FAILED, "out of memory");
}

int batch_run(const batch_request *request)
{
    batch b = {.asked = request, .folder = request->folder};
    int status = prepare(&b);
    if (!status)
        status = do_all(&b);
    for (size_t i = 0; i < b.count; i++) {
        free(b.files[i].input);
        free(b.files[i].output);
    }
    free(b.files);
    cJSON_Delete(b.results);
    free(b.done);
    return status;
}
