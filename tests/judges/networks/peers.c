// SPDX-License-Identifier: Apache-2.0
#include "tests/judges/networks/peers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool peer_open(peer *p, const char *name, const char *command)
{
    int in[2], out[2];
    *p = (peer){.name = name};
    if (pipe(in) || pipe(out))
        return false;
    p->process = fork();
    if (!p->process) {
        dup2(in[0], STDIN_FILENO), dup2(out[1], STDOUT_FILENO);
        close(in[0]), close(in[1]), close(out[0]), close(out[1]);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(in[0]), close(out[1]);
    /* Other peers that are begun later must not hold this one's input open. */
    fcntl(in[1], F_SETFD, FD_CLOEXEC), fcntl(out[0], F_SETFD, FD_CLOEXEC);
    p->to = fdopen(in[1], "w");
    p->from = fdopen(out[0], "r");
    return p->process > 0 && p->to && p->from;
}

void peer_close(peer *p)
{
    if (p->to)
        fclose(p->to);
    if (p->from)
        fclose(p->from);
    if (p->process > 0)
        waitpid(p->process, NULL, 0);
    *p = (peer){0};
}

static bool write_file(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    const bool ok = out && fwrite(bytes, 1, size, out) == size;
    return out && !fclose(out) && ok;
}

bool network_save(const network *n, const char *folder)
{
    char path[1024], name[32];
    bool ok = write_file(folder, "model.onnx", n->bytes, n->size);
    snprintf(path, sizeof path, "%s/inputs.txt", folder);
    FILE *list = fopen(path, "w");
    for (uint32_t i = 0; list && i < n->input_count; i++) {
        const tensor *t = &n->inputs[i];
        fprintf(list, "%s %s", n->names[i], element_name(t->type));
        for (uint32_t k = 0; k < t->rank; k++)
            fprintf(list, " %lld", (long long)t->dims[k]);
        fputc('\n', list);
        snprintf(name, sizeof name, "in_%u.bin", i);
        ok = ok && write_file(folder, name, t->data, tensor_bytes(t));
    }
    return list && !fclose(list) && ok;
}

/* The outputs that a peer wrote: dims in a line each, and doubles. */
static bool read_outputs(const char *folder, const char *name, peer_result *r)
{
    char path[1024], line[256];
    snprintf(path, sizeof path, "%s/%s.txt", folder, name);
    FILE *list = fopen(path, "r");
    bool ok = list;
    while (ok && r->output_count < MONA_MAX_IO && fgets(line, sizeof line, list)) {
        tensor *t = &r->outputs[r->output_count];
        int64_t dims[TENSOR_MAX_RANK];
        uint32_t rank = 0;
        for (char *p = line, *end; rank < TENSOR_MAX_RANK; p = end) {
            dims[rank] = strtoll(p, &end, 10);
            if (end == p)
                break;
            rank++;
        }
        snprintf(path, sizeof path, "%s/%s_%u.bin", folder, name, r->output_count++);
        FILE *in = fopen(path, "rb");
        ok = in && tensor_make(t, ELEMENT_DOUBLE, rank, dims) &&
             fread(t->data, sizeof(double), t->count, in) == t->count;
        if (in)
            fclose(in);
    }
    if (list)
        fclose(list);
    return ok;
}

void peer_run(peer *p, const char *folder, peer_result *r)
{
    *r = (peer_result){0};
    if (!p->to)
        return;
    fprintf(p->to, "%s\n", folder);
    if (fflush(p->to) || !fgets(r->why, sizeof r->why, p->from)) {
        snprintf(r->why, sizeof r->why, "ended");
        peer_close(p);
        return;
    }
    r->why[strcspn(r->why, "\n")] = 0;
    r->ran = !strcmp(r->why, "ok") && read_outputs(folder, p->name, r);
}

void peer_result_free(peer_result *r)
{
    for (uint32_t i = 0; i < r->output_count; i++)
        tensor_free(&r->outputs[i]);
    *r = (peer_result){0};
}
