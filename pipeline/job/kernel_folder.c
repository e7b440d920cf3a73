// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/model_source.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/kernel_symbol.h"

bool kernel_file(const char *path, pipeline_error *error)
{
    struct stat about;
    return stat(path, &about) || S_ISREG(about.st_mode) ||
           pipeline_fail(error, "%s: expected a file, found a folder, a pipe or a device", path);
}

/* Whether the file has all that a loader maps of it: dlopen() maps what a copy that was cut short
 * says it has, and reads behind its end. Of what is no library dlopen() says so itself. */
static bool has_all(const char *library)
{
    ElfW(Ehdr) head;
    struct stat status;
    FILE *file = fopen(library, "rb");
    bool all = true;
    if (file && !fstat(fileno(file), &status) && fread(&head, sizeof head, 1, file) == 1 &&
        !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_phentsize == sizeof(ElfW(Phdr)) &&
        !fseek(file, (long)head.e_phoff, SEEK_SET)) {
        const uint64_t size = (uint64_t)status.st_size;
        ElfW(Phdr) part;
        for (unsigned i = 0; all && i < head.e_phnum; i++)
            all = fread(&part, sizeof part, 1, file) == 1 && part.p_offset <= size &&
                  part.p_filesz <= size - part.p_offset;
    }
    if (file)
        fclose(file);
    return all;
}

/* Libraries stay open: a model may call them as long as the process lives. */
const mona_kernel *kernel_code(const char *path, const char *name, pipeline_error *error)
{
    char library[4096], symbol[MONA_KERNEL_SYMBOL];
    snprintf(library, sizeof library, "%.*s.so", (int)(strlen(path) - strlen(".kernel")), path);
    if (access(library, F_OK))
        return NULL;
    mona_kernel_symbol(name, symbol);
    if (!kernel_file(library, error))
        return NULL;
    if (!has_all(library)) {
        pipeline_fail(error, "%s: expected a library, found one that is cut short", library);
        return NULL;
    }
    void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    const mona_kernel *k = opened ? dlsym(opened, symbol) : NULL;
    if (!k)
        pipeline_fail(error, "%s: expected a library with %s, found %s", library, symbol,
                      opened ? "none" : dlerror());
    return k;
}

/* The name in the first line of what mona.kernel wrote. */
static bool read_name(const char *path, char name[MONA_KERNEL_NAME + 1])
{
    FILE *file = fopen(path, "r");
    const bool read = file && fscanf(file, "kernel %127s", name) == 1;
    if (file)
        fclose(file);
    return read;
}

static bool add(const mona_kernel *list[KERNELS_MAX + 1], size_t count, const char *path,
                pipeline_error *error)
{
    char name[MONA_KERNEL_NAME + 1];
    if (count == KERNELS_MAX)
        return pipeline_fail(error, "%s: expected up to %d kernels, found more", path, KERNELS_MAX);
    if (!kernel_file(path, error))
        return false;
    if (!read_name(path, name))
        return pipeline_fail(
            error, "%s: expected a kernel's interface, which python3 -m mona.kernel writes", path);
    list[count] = kernel_code(path, name, error);
    for (size_t i = 0; list[count] && i < count; i++)
        if (!strcmp(list[i]->name, name))
            return pipeline_fail(error, "%s: expected one kernel %s in the folder, found two", path,
                                 name);
    return list[count] ||
           pipeline_fail(
               error,
               "%s: expected its code beside it, which python3 -m mona.kernel --build writes",
               path);
}

bool kernel_folder(const mona_kernel *list[KERNELS_MAX + 1], const char *folder,
                   pipeline_error *error)
{
    struct dirent **names = NULL;
    const int found = scandir(folder, &names, NULL, alphasort);
    size_t count = 0;
    bool ok = found >= 0;
    for (int i = 0; i < found; free(names[i++])) {
        char path[4096];
        if (ok && ends_in(names[i]->d_name, ".kernel") &&
            snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name) < (int)sizeof path)
            ok = add(list, count++, path, error);
    }
    free(names);
    list[ok ? count : 0] = NULL;
    return (ok && count) ||
           pipeline_fail(error, "--kernels: %s: expected a folder with files *.kernel, found none",
                         folder);
}
