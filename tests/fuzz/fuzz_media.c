// SPDX-License-Identifier: Apache-2.0
/* What mona enhance does with films and pictures: reads, enlarges a few small frames and writes them. */
#include "pipeline/base/av_library.h"
#include "pipeline/base/av_log_errors.h"
#include "pipeline/job/job.h"
#include "tests/fuzz/files.h"

/* By the length of the input, so that a file of the corpus is a file as it is. */
static const char *const outputs[] = {"out.mkv", "out.png", "out.gif", "out.y4m"};

static void run(const char *input, const char *output, bool picture)
{
    job j = JOB_NONE;
    job_run work = {0};
    enhance_report report = {0};
    pipeline_error error = {0};
    option_defaults(job_rows, JOB_ROWS, &j);
    j.input = input;
    j.output = output;
    j.stages = "denoise,sr";
    j.sr = "bicubic_x2";
    j.codec = picture || !strstr(output, ".mkv") ? NULL : "ffv1";
    j.device = "host";
    j.threads = "1";
    j.frames = picture ? 0 : 3;
    j.limits = (limits){.pixels = 1 << 14, .streams = 8};
    if (job_complete(&j, &error) && job_open(&work, &j, picture ? JOB_MODE_PICTURE : 0, &error) &&
        enhance_run(&work.settings, &report, &error) && access(output, F_OK))
        abort(); /* a run that succeeds has made its output */
    job_close(&work);
    remove(output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char input[FUZZ_PATH], output[FUZZ_PATH];
    av_library_quiet();
    av_log_errors_silence();
    fuzz_save(input, "film", data, size);
    fuzz_path(output, outputs[size % (sizeof outputs / sizeof *outputs)]);
    run(input, output, job_takes_picture(input, output, false));
    return 0;
}
