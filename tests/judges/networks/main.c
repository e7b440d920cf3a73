// SPDX-License-Identifier: Apache-2.0
/* Judges mona on random networks.
 *
 *   judge_networks [--first SEED] [--count N] [--ort FOLDER] [--torch] [--cc COMMAND] [--c-every N]
 *                  [--build FOLDER] [--keep FOLDER] [--save FOLDER] [--verbose]
 *                  [MODEL.onnx | FOLDER]...
 *
 *   --ort     ONNX Runtime is in FOLDER/node_modules
 *   --cc      also judges networks as C, one in N of them
 *   --save    where each network is written
 *   --keep    where the smallest network that still fails is written, for each that fails
 *
 * Exit status 1: something is wrong. Prints a line for each network that fails, the counts, and
 * what mona refuses. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "formats/file.h"
#include "formats/onnx/onnx_graph.h"
#include "tests/judges/networks/minimise.h"
#include "tests/judges/networks/net.h"
#include "tests/judges/networks/peers.h"

enum { TIMEOUT = 60, PEERS = 2, REASONS = 512 };

typedef struct session {
    uint64_t first, count;
    const char *ort, *cc, *build, *keep, *save;
    char folder[256];
    unsigned c_every;
    bool torch, verbose;
    peer peers[PEERS];
    verdict *shared; /* with the process that judges */
} session;

typedef struct totals {
    unsigned judged, passed, refused, wrong, crashed, overflows, noisy, fixed, apart, ways,
        by_peer[PEERS];
    struct reason {
        char text[256];
        unsigned count;
        uint64_t seed;
    } reasons[REASONS];
    unsigned reason_count;
} totals;

/* ---- networks ----------------------------------------------------------------------------- */

static bool take_inputs(network *n, const shape *shapes)
{
    onnx_graph g;
    format_error error = {0};
    if (!onnx_graph_read(&g, n->bytes, n->size, NULL, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return false;
    }
    bool ok = g.input_count <= MONA_MAX_IO;
    for (uint32_t i = 0; ok && i < g.input_count; i++) {
        int64_t dims[TENSOR_MAX_RANK];
        for (uint32_t k = 0; k < g.inputs[i].rank; k++)
            dims[k] = shapes                    ? shapes[i].dims[k]
                      : g.inputs[i].dims[k] < 0 ? (k < 2 ? 1 : 12)
                                                : g.inputs[i].dims[k];
        snprintf(n->names[i], sizeof n->names[i], "%s", g.values[g.inputs[i].value].name);
        ok = tensor_make(&n->inputs[i], g.inputs[i].type, g.inputs[i].rank, dims);
        n->input_count = i + 1;
    }
    onnx_graph_free(&g);
    network_fill(n, n->seed);
    return ok;
}

/* False: the seed makes no network. */
static bool make_network(network *n, uint64_t seed)
{
    shape shapes[16];
    net *made = net_of_seed(seed);
    *n = (network){.seed = seed};
    snprintf(n->family, sizeof n->family, "%s", made->family);
    bool ok = made->b->graph.n_output && made->b->graph.n_input <= MONA_MAX_IO;
    for (size_t i = 0; ok && i < made->b->graph.n_input; i++)
        shapes[i] = made->shapes[atoi(made->b->inputs[i]->name + 1)];
    if (ok)
        n->bytes = ob_pack(made->b, &n->size);
    net_free(made);
    return ok && take_inputs(n, shapes);
}

/* The shapes and numbers of inputs that network_save wrote beside the model; false: it did not. */
static bool read_shapes(const char *folder, shape *shapes)
{
    char path[1024], line[256];
    snprintf(path, sizeof path, "%s/inputs.txt", folder);
    FILE *list = fopen(path, "r");
    for (uint32_t i = 0; list && i < MONA_MAX_IO && fgets(line, sizeof line, list); i++) {
        char *p = strchr(line, ' ') + 1; /* after the name */
        p += strcspn(p, " \n");
        for (uint32_t k = 0; k < NET_RANK; k++)
            shapes[i].dims[k] = strtoll(p, &p, 10);
    }
    return list && !fclose(list);
}

static void read_inputs(network *n, const char *folder)
{
    char path[1024];
    for (uint32_t i = 0; i < n->input_count; i++) {
        snprintf(path, sizeof path, "%s/in_%u.bin", folder, i);
        FILE *in = fopen(path, "rb");
        if (!in || fread(n->inputs[i].data, tensor_bytes(&n->inputs[i]), 1, in) != 1)
            fprintf(stderr, "%s: expected the numbers of input %u\n", path, i);
        if (in)
            fclose(in);
    }
}

/* A model, or a folder that network_save wrote. */
static bool read_network(network *n, const char *path)
{
    format_error error = {0};
    shape shapes[MONA_MAX_IO] = {0};
    char file[1024];
    struct stat about;
    const bool folder = !stat(path, &about) && S_ISDIR(about.st_mode);
    const bool saved = folder && read_shapes(path, shapes);
    *n = (network){.seed = 1};
    snprintf(n->family, sizeof n->family, "%s", path);
    snprintf(file, sizeof file, "%s%s", path, folder ? "/model.onnx" : "");
    if (!file_read(file, "an ONNX model", ONNX_MAX_BYTES, &n->bytes, &n->size, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return false;
    }
    const bool ok = take_inputs(n, saved ? shapes : NULL);
    if (ok && saved)
        read_inputs(n, path);
    return ok;
}

/* ---- judging ------------------------------------------------------------------------------ */

static void judge_apart(session *s, const network *n, peer_result *peers, verdict *v)
{
    const judge_options options = {.folder = s->folder,
                                   .cc = s->c_every && n->seed % s->c_every == 0 ? s->cc : NULL,
                                   .build = s->build};
    memset(s->shared, 0, sizeof *s->shared);
    fflush(NULL);
    const pid_t child = fork();
    if (!child) {
        alarm(TIMEOUT);
        judge(n, peers, PEERS, &options, s->shared);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    *v = *s->shared;
    if (WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status))) {
        v->kind = VERDICT_CRASHED;
        snprintf(v->way, sizeof v->way, "a process");
        snprintf(v->why, sizeof v->why,
                 WIFSIGNALED(status)
                     ? WTERMSIG(status) == SIGALRM ? "took more than %d s" : "ended by signal %d"
                     : "ended with status %d",
                 WIFSIGNALED(status) ? WTERMSIG(status) == SIGALRM ? TIMEOUT : WTERMSIG(status)
                                     : WEXITSTATUS(status));
    }
}

static void judge_network(void *context, const network *n, verdict *v, bool *by_peer)
{
    session *s = context;
    peer_result peers[PEERS] = {0};
    network_save(n, s->folder);
    for (int i = 0; i < PEERS; i++) {
        peer_run(&s->peers[i], s->folder, &peers[i]);
        if (by_peer)
            by_peer[i] = peers[i].ran;
        if (s->peers[i].to && !peers[i].ran && s->verbose)
            printf("# seed %llu: %s: %s\n", (unsigned long long)n->seed, s->peers[i].name,
                   peers[i].why);
    }
    judge_apart(s, n, peers, v);
    for (int i = 0; i < PEERS; i++)
        peer_result_free(&peers[i]);
}

static const char *const kinds[] = {"passed", "refused", "WRONG", "CRASHED"};

/* The reason without the names and numbers of this network. */
static void generalise(const char *why, char *text, size_t size)
{
    size_t used = 0;
    bool quoted = false;
    for (const char *p = why; *p && used + 2 < size; p++) {
        if (*p == '\'') {
            quoted = !quoted;
            if (!quoted)
                text[used++] = '_';
        } else if (!quoted && (*p < '0' || *p > '9')) {
            text[used++] = *p;
        } else if (!quoted && (!used || text[used - 1] != '#')) {
            text[used++] = '#';
        }
    }
    text[used] = 0;
}

static void count_refusal(totals *t, const network *n, const verdict *v)
{
    char text[256];
    generalise(v->why, text, sizeof text);
    unsigned i = 0;
    while (i < t->reason_count && strcmp(t->reasons[i].text, text))
        i++;
    if (i == REASONS)
        return;
    if (i == t->reason_count) {
        t->reason_count++;
        snprintf(t->reasons[i].text, sizeof text, "%s", text);
        t->reasons[i].seed = n->seed;
    }
    t->reasons[i].count++;
}

static void count(totals *t, const network *n, const verdict *v, const bool *by_peer)
{
    t->judged++;
    t->passed += v->kind == VERDICT_PASSED;
    t->refused += v->kind == VERDICT_REFUSED;
    t->wrong += v->kind == VERDICT_WRONG;
    t->crashed += v->kind == VERDICT_CRASHED;
    t->overflows += v->overflows;
    t->noisy += v->noisy;
    t->fixed += v->fixed;
    t->apart += v->apart;
    t->ways += v->ways;
    for (int i = 0; i < PEERS; i++)
        t->by_peer[i] += by_peer[i];
    if (v->kind == VERDICT_REFUSED)
        count_refusal(t, n, v);
}

static bool save(const network *n, const char *parent, char *folder, size_t size)
{
    snprintf(folder, size, "%s/%llu", parent, (unsigned long long)n->seed);
    mkdir(parent, 0777);
    mkdir(folder, 0777);
    return network_save(n, folder);
}

static void report(session *s, const network *n, const verdict *v)
{
    printf("# seed %llu (%s): %s, %s: %s\n", (unsigned long long)n->seed, n->family, kinds[v->kind],
           v->way, v->why);
    if (!s->keep || v->kind < VERDICT_WRONG)
        return;
    network small = {0};
    char folder[512];
    minimise(n, v, judge_network, s, &small);
    if (save(&small, s->keep, folder, sizeof folder))
        printf("#   the smallest network that fails: %s/model.onnx, %zu bytes\n", folder,
               small.size);
    network_free(&small);
}

static void judge_one(session *s, totals *t, network *n)
{
    verdict v;
    bool by_peer[PEERS] = {0};
    char folder[512];
    if (s->save)
        save(n, s->save, folder, sizeof folder);
    judge_network(s, n, &v, by_peer);
    count(t, n, &v, by_peer);
    if (v.kind >= VERDICT_WRONG || s->verbose)
        report(s, n, &v);
    if (s->verbose)
        printf("#   worst %.3f, %.1f and %.1f dB, %u ways%s%s\n", v.worst, v.snr[0], v.snr[1],
               v.ways, v.noisy ? ", noisy" : "", v.overflows ? ", overflows" : "");
    fflush(stdout);
}

static void print_totals(const session *s, const totals *t)
{
    printf(
        "# %u networks: %u passed, %u refused, %u wrong, %u crashed; %u ways of computing judged\n",
        t->judged, t->passed, t->refused, t->wrong, t->crashed, t->ways);
    for (int i = 0; i < PEERS; i++)
        if (s->peers[i].name)
            printf("# %u of them beside %s\n", t->by_peer[i], s->peers[i].name);
    if (t->apart)
        printf("# %u for batches, whose images were judged each by itself, too\n", t->apart);
    if (t->fixed)
        printf("# %u refused with open sizes and judged with fixed ones\n", t->fixed);
    if (t->overflows)
        printf("# %u beyond the range of FP16, judged by the reference alone\n", t->overflows);
    if (t->noisy)
        printf("# %u passed on a second look\n", t->noisy);
    for (unsigned i = 0; i < t->reason_count; i++)
        printf("# refused %u times (seed %llu): %s\n", t->reasons[i].count,
               (unsigned long long)t->reasons[i].seed, t->reasons[i].text);
}

/* ---- the program -------------------------------------------------------------------------- */

static bool open_session(session *s)
{
    char command[1024];
    snprintf(s->folder, sizeof s->folder, "/tmp/judge_networks.XXXXXX");
    s->shared =
        mmap(NULL, sizeof *s->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!mkdtemp(s->folder) || s->shared == MAP_FAILED)
        return false;
    signal(SIGPIPE, SIG_IGN);
    if (s->ort) {
        snprintf(command, sizeof command, "exec node tests/judges/networks/onnxruntime.js '%s'",
                 s->ort);
        if (!peer_open(&s->peers[0], "onnxruntime", command))
            return false;
    }
    return !s->torch ||
           peer_open(&s->peers[1], "torch", "exec python3 tests/judges/networks/torch_peer.py");
}

static void close_session(session *s)
{
    char command[512];
    for (int i = 0; i < PEERS; i++)
        peer_close(&s->peers[i]);
    snprintf(command, sizeof command, "rm -rf '%s'", s->folder);
    if (system(command))
        fprintf(stderr, "cannot remove %s\n", s->folder);
}

static const char *value_of(int argc, char **argv, int *i)
{
    if (++*i < argc)
        return argv[*i];
    fprintf(stderr, "%s: expected a value\n", argv[*i - 1]);
    exit(2);
}

static int take_options(session *s, int argc, char **argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *name = argv[i];
        if (!strcmp(name, "--first"))
            s->first = strtoull(value_of(argc, argv, &i), NULL, 10);
        else if (!strcmp(name, "--count"))
            s->count = strtoull(value_of(argc, argv, &i), NULL, 10);
        else if (!strcmp(name, "--ort"))
            s->ort = value_of(argc, argv, &i);
        else if (!strcmp(name, "--cc"))
            s->cc = value_of(argc, argv, &i);
        else if (!strcmp(name, "--c-every"))
            s->c_every = (unsigned)atoi(value_of(argc, argv, &i));
        else if (!strcmp(name, "--build"))
            s->build = value_of(argc, argv, &i);
        else if (!strcmp(name, "--keep"))
            s->keep = value_of(argc, argv, &i);
        else if (!strcmp(name, "--save"))
            s->save = value_of(argc, argv, &i);
        else if (!strcmp(name, "--torch"))
            s->torch = true;
        else if (!strcmp(name, "--verbose"))
            s->verbose = true;
        else {
            fprintf(stderr, "%s: no such option\n", name);
            exit(2);
        }
    }
    return i;
}

int main(int argc, char **argv)
{
    session s = {.first = 1, .count = 40, .build = "build", .c_every = 1};
    totals *t = calloc(1, sizeof *t);
    const int files = take_options(&s, argc, argv);
    if (!t || !open_session(&s)) {
        perror("judge_networks");
        return 2;
    }
    for (int i = files; i < argc; i++) {
        network n;
        if (read_network(&n, argv[i]))
            judge_one(&s, t, &n);
        network_free(&n);
    }
    for (uint64_t seed = s.first; files == argc && t->judged < s.count; seed++) {
        network n;
        if (make_network(&n, seed))
            judge_one(&s, t, &n);
        network_free(&n);
    }
    print_totals(&s, t);
    close_session(&s);
    const bool failed = t->wrong || t->crashed || !t->judged;
    free(t);
    return failed;
}
