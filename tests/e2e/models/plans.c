// SPDX-License-Identifier: Apache-2.0
/* For plans.sh: runs a model by the plan that it holds. It is linked with libmona.a alone.
 *
 *   plans MODEL.mona CPU WIDTH HEIGHT IN.raw OUT.raw     one input and one output */
#include <stdio.h>
#include <stdlib.h>

#include "mona.h"

static void *read_all(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    void *bytes = NULL;
    if (file && !fseek(file, 0, SEEK_END) && (*size = (size_t)ftell(file))) {
        rewind(file);
        bytes = aligned_alloc(MONA_ALIGNMENT, (*size + 63) / 64 * 64);
        if (bytes && fread(bytes, *size, 1, file) != 1)
            bytes = NULL;
    }
    if (file)
        fclose(file);
    return bytes;
}

static int stop(const char *what, mona_status status)
{
    fprintf(stderr, "%s: %s\n", what, mona_status_text(status));
    return 1;
}

/* What a run holds. */
typedef struct run {
    void *bytes, *memory, *arena;
    mona_buffer input, output;
} run;

static int run_file(run *r, char **argv)
{
    size_t size, frame;
    mona_model model;
    mona_plan *plan;
    mona_session *session;
    r->bytes = read_all(argv[1], &size);
    mona_status status = r->bytes ? mona_model_open(&model, r->bytes, size) : MONA_ERR_ARGUMENT;
    if (status)
        return stop(argv[1], status);
    const mona_config config = {.cpu = argv[2],
                                .sizes = {{(uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4])}}};
    r->memory = aligned_alloc(MONA_ALIGNMENT, mona_plan_bytes(&model));
    status = mona_plan_load(&plan, r->memory, &model, &config);
    if (status)
        return stop("the plan", status);
    const size_t arena_bytes = mona_plan_arena_bytes(plan);
    r->arena = aligned_alloc(MONA_ALIGNMENT, arena_bytes);
    status = mona_session_open(&session, plan, r->arena, arena_bytes);
    if (status)
        return stop("the session", status);
    const mona_tensor_info in = mona_plan_input(plan, 0), out = mona_plan_output(plan, 0);
    const size_t in_row = in.width * mona_type_size(in.type),
                 out_row = out.width * mona_type_size(out.type),
                 result = out_row * out.height * out.channels;
    r->input = (mona_buffer){read_all(argv[5], &frame), (ptrdiff_t)in_row,
                             (ptrdiff_t)(in_row * in.height)};
    r->output =
        (mona_buffer){malloc(result), (ptrdiff_t)out_row, (ptrdiff_t)(out_row * out.height)};
    if (!r->input.data || frame != in_row * in.height * in.channels)
        return stop(argv[5], MONA_ERR_SHAPE);
    status = mona_session_run(session, &r->input, &r->output);
    if (status)
        return stop("the run", status);
    mona_session_close(session);
    FILE *file = fopen(argv[6], "wb");
    return !file || fwrite(r->output.data, result, 1, file) != 1 || fclose(file);
}

int main(int argc, char **argv)
{
    run r = {0};
    const int status = argc == 7 ? run_file(&r, argv) : 2;
    free(r.output.data);
    free(r.input.data);
    free(r.arena);
    free(r.memory);
    free(r.bytes);
    return status;
}
