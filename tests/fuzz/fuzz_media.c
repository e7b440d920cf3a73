// SPDX-License-Identifier: Apache-2.0
/* What mona enhance does with films and pictures: reads, enlarges a few small frames and writes
 * them. */
#include "pipeline/base/av_library.h"
#include "pipeline/enhance.h"
#include "tests/fuzz/files.h"

static void set(job *j, const char *name, const char *text)
{
    pipeline_error error = {0};
    for (size_t i = 0; i < JOB_ROWS; i++)
        if (!strcmp(job_rows[i].name, name) && option_read(&job_rows[i], j, text, &error))
            return;
    abort();
}

static void run(const char *input, const char *output, bool picture)
{
    static const char *const asked[][2] = {
        {"--stages", "denoise,sr"},
        {"--sr", "bicubic_x2"},
        {"--device", "host"},
        {"--threads", "1"},
        {"--limit", "pixels=16K,streams=8"},
    };
    job_run work = {.job = JOB_NONE};
    job *j = &work.job;
    enhance_report report = {0};
    pipeline_error error = {0};
    option_defaults(job_rows, JOB_ROWS, j);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        set(j, asked[i][0], asked[i][1]);
    if (!picture) {
        set(j, "--frames", "3");
        set(j, "--grain", "keep");
        set(j, "--drop-unsupported", NULL);
    }
    if (strstr(output, ".mkv"))
        set(j, "--codec", "ffv1");
    j->input.path = input;
    j->output = output;
    if (job_complete(j, &error) && job_open(&work, picture ? JOB_MODE_PICTURE : 0, &error) &&
        enhance_run(j, &report, &error) && access(output, F_OK))
        abort(); /* a run that succeeds has made its output */
    job_close(&work);
    remove(output);
}

/* Which output: by the length, so that a file of the corpus is a file as it is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const pictures[] = {"out.png", "out.jpg", "out.webp"}, *const films[] = {
                                                                                  "out.mkv",
                                                                                  "out.gif",
                                                                                  "out.y4m"};
    char input[FUZZ_PATH], output[FUZZ_PATH];
    av_library_quiet();
    av_log_errors_silence();
    fuzz_save(input, "film", data, size);
    fuzz_path(output, pictures[size % 3]);
    const bool picture = job_takes_picture(input, output, false);
    if (!picture)
        fuzz_path(output, films[size % 3]);
    run(input, output, picture);
    return 0;
}
