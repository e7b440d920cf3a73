// SPDX-License-Identifier: Apache-2.0
#include "tests/judges/networks/emitted.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/compiler/program/emit_c.h"
#include "pipeline/stages/session_binding.h"

static bool save(const char *folder, const char *name, const char *text)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    const bool ok = out && fputs(text, out) >= 0;
    return out && !fclose(out) && ok;
}

static const char *target_of(const network *n)
{
#ifdef __x86_64__
    return n->seed % 2 && __builtin_cpu_supports("avx2") ? "x86-avx2" : "c";
#else
    (void)n;
    return "c";
#endif
}

/* The library's functions that the shared object has of its own. */
typedef struct functions {
    mona_status (*open)(mona_session **session, void *arena, size_t bytes);
    mona_status (*run)(mona_session *session, const mona_buffer *in, const mona_buffer *out);
    void (*close)(mona_session *session);
} functions;

static void *find(void *library, const char *name)
{
    return library ? dlsym(library, name) : NULL;
}

static bool run(const emitted_case *e, const functions *f, const plan_planes *p, size_t arena_bytes,
                char *why, size_t size)
{
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    mona_session *session = NULL;
    void *arena = session_binding_allocate(arena_bytes);
    for (uint32_t i = 0; i < e->n->input_count; i++)
        in[i] = p->in[i].buffer;
    for (uint32_t i = 0; i < e->output_count; i++) {
        out[i] = p->out[i].buffer;
        memset(out[i].data, 0x5a, e->output_bytes[i]);
    }
    mona_status status = f->open(&session, arena, arena_bytes);
    if (!status)
        status = f->run(session, in, out);
    if (session)
        f->close(session);
    free(arena);
    if (status)
        return snprintf(why, size, "run: %s", mona_status_text(status)) < 0;
    for (uint32_t i = 0; i < e->output_count; i++)
        if (memcmp(out[i].data, e->outputs[i], e->output_bytes[i]))
            return snprintf(why, size, "output %u has other bytes than a session's", i) < 0;
    return true;
}

/* The arena's size is a constant of the header. */
static size_t arena_of(const char *header)
{
    const char *at = strstr(header, "_ARENA_BYTES = ");
    return at ? strtoull(at + strlen("_ARENA_BYTES = "), NULL, 10) : 0;
}

static bool build(const emitted_case *e, const char *header, const char *source, char *path,
                  size_t room, char *why, size_t size)
{
    const judge_options *o = e->options;
    char command[4096];
    static unsigned count; /* a name that was loaded before stands for what was loaded */
    snprintf(path, room, "%s/net_%u.so", o->folder, count++);
    if (!save(o->folder, "net.h", header) || !save(o->folder, "net.c", source))
        return snprintf(why, size, "cannot write to %s", o->folder) < 0;
    snprintf(command, sizeof command,
             "%s -O0 -w -shared -fPIC -I. -Iengine -o %s %s/net.c %s/libmona.a -Wl,-Bsymbolic "
             "-Wl,--gc-sections -pthread > %s/cc.log 2>&1",
             o->cc, path, o->folder, o->build, o->folder);
    return !system(command) ||
           snprintf(why, size, "does not compile: see %s/cc.log", o->folder) < 0;
}

bool emitted_judge(const emitted_case *e, const plan_planes *p, char *why, size_t size)
{
    const mona_tensor_info first = p->in[0].info;
    const emit_c_request request = {.target = target_of(e->n),
                                    .name = "net",
                                    .size = first.array ? (mona_size){0}
                                                        : (mona_size){first.width, first.height},
                                    .threads = 1 + e->n->seed / 2 % 2};
    format_error error = {0};
    char *header, *source, path[1024];
    if (!emit_c(e->model, &request, &header, &source, &error))
        return snprintf(why, size, "%s", error.text) < 0;
    const size_t arena = arena_of(header);
    bool ok = build(e, header, source, path, sizeof path, why, size);
    free(header);
    free(source);
    void *library = ok ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (ok && !library)
        ok = snprintf(why, size, "%s", dlerror()) < 0;
    functions f;
    *(void **)&f.open = find(library, "net_open");
    *(void **)&f.run = find(library, "mona_session_run");
    *(void **)&f.close = find(library, "mona_session_close");
    ok = ok && ((f.open && f.run && f.close) || snprintf(why, size, "functions are missing") < 0);
    return ok && run(e, &f, p, arena, why, size);
}
