// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/atc.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/cli/save.h"
#include "engine/mona_ascend.h"

enum { MAX_ARGUMENTS = 16 + OPTION_LIST_MAX, ARGUMENT = 4200, MAX_LINES = 4000 };

typedef struct atc_job {
    temp_folder folder;
    char program[ARGUMENT], aipp[TEMP_FOLDER_PATH];
    char text[MAX_ARGUMENTS][ARGUMENT];
    char *arguments[MAX_ARGUMENTS + 2];
    unsigned count;
    mona_size size; /* of the largest frame */
    bool several;
    const char *soc;
} atc_job;

/* ---- the compiler's program ------------------------------------------------------------------ */

static bool look_in(const char *folder, size_t length, const char *rest, char *found)
{
    snprintf(found, ARGUMENT, "%.*s%s/atc", (int)length, folder, rest);
    return !access(found, X_OK);
}

static bool find_atc(char *found)
{
    static const char *const homes[] = {"ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH"};
    for (const char *at = getenv("PATH"); at && *at;) {
        const size_t length = strcspn(at, ":");
        if (look_in(at, length, "", found))
            return true;
        at += length + (at[length] == ':');
    }
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        const char *home = getenv(homes[i]);
        if (home && look_in(home, strlen(home), "/bin", found))
            return true;
    }
    return cli_fail(0, "atc was not found: install the CANN toolkit, 5.0.4 to 8.1, and source its "
                       "set_env.sh");
}

/* ---- its options ----------------------------------------------------------------------------- */

static void add(atc_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(atc_job *job, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(job->text[job->count], ARGUMENT, format, list);
    va_end(list);
    job->arguments[1 + job->count] = job->text[job->count];
    job->count++;
}

/* Samples of 0 to 255 become real values on the chip, so that frames are sent as they are. */
static bool write_aipp(atc_job *job, uint32_t channels, const calibration_feed *samples)
{
    snprintf(job->aipp, sizeof job->aipp, "%s/aipp.cfg", job->folder.path);
    FILE *file = fopen(job->aipp, "w");
    if (!file)
        return cli_fail(0, "%s cannot be written", job->aipp);
    fprintf(file, "aipp_op {\n  aipp_mode: static\n  related_input_rank: 0\n  input_format: %s\n",
            channels == 1 ? "YUV400_U8" : "RGB888_U8");
    if (!job->several)
        fprintf(file, "  src_image_size_w: %u\n  src_image_size_h: %u\n", job->size.width,
                job->size.height);
    fprintf(file, "  csc_switch: false\n");
    for (uint32_t c = 0; c < channels; c++) /* (x - mean - minimum) * reciprocal */
        fprintf(file, "  mean_chn_%u: 0\n  min_chn_%u: %.9g\n  var_reci_chn_%u: %.9g\n", c, c,
                samples->normalised ? (double)samples->mean[c] : 0.0, c,
                samples->normalised ? 1.0 / (double)samples->deviation[c]
                                    : (double)samples->range / 255);
    fprintf(file, "}\n");
    return !fclose(file) || cli_fail(0, "%s cannot be written", job->aipp);
}

static bool add_size(atc_job *job, const compiler_tensor *t, const option_list *sizes)
{
    char dynamic[512] = "";
    job->several = sizes->count > 1;
    job->size.width = t->width;
    job->size.height = t->height;
    if (!t->width && !sizes->count)
        return cli_fail(0, "the model takes frames of any size: expected --size WxH");
    for (size_t i = 0; i < sizes->count; i++) {
        if (!options_size(sizes->items[i], 4096, &job->size))
            return false;
        const size_t used = strlen(dynamic);
        snprintf(dynamic + used, sizeof dynamic - used, "%s%u,%u", i ? ";" : "", job->size.height,
                 job->size.width);
    }
    if (t->width && (job->size.width != t->width || job->size.height != t->height))
        return cli_fail(0, "the model takes frames of %ux%u only, --size asks for others", t->width,
                        t->height);
    if (job->several)
        add(job, "--dynamic_image_size=%s", dynamic);
    return true;
}

/* NULL: the chip's of this machine, or else an Ascend 310's. */
static const char *soc_of(const char *asked)
{
    mona_ascend_info info;
    const char *name = asked                                               ? asked
                       : !mona_ascend_query(&mona_device_ascend_om, &info) ? info.soc
                                                                           : NULL;
    return name ? name : "Ascend310";
}

/* Options for atc itself, as given: without dashes. */
static bool add_more(atc_job *job, const option_list *more)
{
    for (size_t i = 0; i < more->count; i++) {
        const char *o = more->items[i];
        for (unsigned k = 0; k < job->count; k++) {
            const size_t name = strcspn(job->text[k] + 2, "=");
            if (!strncmp(job->text[k] + 2, o, name) && o[name] == '=')
                return cli_fail(0, "--atc %s: mona sets this option itself", o);
        }
        if (!strchr(o, '=') || o[0] == '-' || o[0] == '=')
            return cli_fail(0, "--atc: expected OPTION=VALUE, found '%s'", o);
        add(job, "--%s", o);
    }
    return true;
}

static bool make_options(atc_job *job, const char *input, const compiler *model, const char *output,
                         const option_list *sizes, const atc_request *request)
{
    const compiler_tensor t = compiler_input(model, 0);
    if (compiler_input_count(model) != 1 || t.array || (t.channels != 1 && t.channels != 3))
        return cli_fail(0,
                        "%s: expected a network of one input with 1 or 3 channels; others can be "
                        "compiled by atc itself",
                        input);
    add(job, "--model=%s", input);
    add(job, "--framework=5");
    add(job, "--output=%.*s", (int)(strlen(output) - 3), output); /* atc adds .om */
    job->soc = soc_of(request->soc);
    add(job, "--soc_version=%s", job->soc);
    add(job, "--input_format=NCHW");
    add(job, "--output_type=FP16");
    add(job, "--enable_small_channel=1");
    add(job, "--log=error");
    if (!add_size(job, &t, sizes) || !write_aipp(job, t.channels, &request->samples))
        return false;
    if (job->several)
        add(job, "--input_shape=%s:1,%u,-1,-1", t.name, t.channels);
    else
        add(job, "--input_shape=%s:1,%u,%u,%u", t.name, t.channels, job->size.height,
            job->size.width);
    add(job, "--insert_op_conf=%s", job->aipp);
    return add_more(job, request->more);
}

/* ---- what it says ---------------------------------------------------------------------------- */

/* "E19010" and the like, alone or in brackets. NULL: the line has none. */
static const char *code_in(const char *line)
{
    for (; *line; line++)
        if (*line == 'E' && strspn(line + 1, "0123456789Z") == 5 && isdigit((unsigned char)line[5]))
            return line;
    return NULL;
}

static const char *hint(const char *code, const char *soc)
{
    const struct {
        const char *code, *text;
    } hints[] = {
        {"E10001", "; this CANN does not know an option's value"},
        {"E10007",
         strcmp(soc, "Ascend310")
             ? "; this CANN does not know the chip: atc --help lists those of --soc_version"
             : "; this CANN does not know Ascend310: 8.1 is the last that does"},
        {"E19010", "; this CANN has no such operator: an older opset may help"},
        {"EZ3003", "; the chip has no kernel for this operator"},
        {"EZ9010", "; the chip has no kernel for this operator"},
        {"E40021", "; install the Python packages that CANN asks for"},
        {"E40024", "; install the Python packages that CANN asks for"},
    };
    for (size_t i = 0; code && i < sizeof hints / sizeof *hints; i++)
        if (!strncmp(code, hints[i].code, 6))
            return hints[i].text;
    return "";
}

/* Keeps the first line with a code, else the last one that is not empty. */
static void read_output(FILE *from, char *kept, size_t room)
{
    char line[1024];
    bool coded = false;
    kept[0] = 0;
    while (fgets(line, sizeof line, from)) {
        line[strcspn(line, "\r\n")] = 0;
        if (coded || !line[strspn(line, " \t")])
            continue;
        coded = code_in(line);
        snprintf(kept, room, "%s", coded ? code_in(line) : line + strspn(line, " \t"));
    }
}

static bool run_atc(atc_job *job, const char *input)
{
    int ends[2] = {-1, -1}, status;
    char said[1024];
    FILE *from = pipe(ends) ? NULL : fdopen(ends[0], "r");
    job->arguments[0] = job->program;
    const pid_t child = from ? fork() : -1;
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        execv(job->program, job->arguments);
        _exit(127);
    }
    if (ends[1] >= 0)
        close(ends[1]);
    if (from) {
        read_output(from, said, sizeof said);
        fclose(from);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return cli_fail(0, "atc cannot be started");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    return cli_fail(0, "%s: atc failed: %s%s", input, said[0] ? said : "it said nothing",
                    hint(code_in(said), job->soc));
}

bool atc_compile(const char *input, const compiler *model, const char *output,
                 const option_list *sizes, const atc_request *request)
{
    atc_job *job = calloc(1, sizeof *job);
    if (!job)
        return cli_fail(0, "out of memory");
    bool ok = find_atc(job->program) && temp_folder_open(&job->folder) &&
              make_options(job, input, model, output, sizes, request) && run_atc(job, input);
    if (ok && access(output, R_OK))
        ok = cli_fail(0, "atc succeeded, but %s is not there", output);
    temp_folder_close(&job->folder);
    free(job);
    return ok;
}
