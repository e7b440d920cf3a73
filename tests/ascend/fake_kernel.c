// SPDX-License-Identifier: Apache-2.0
/* Kernels: registered and launched in three ways, all of which run the compiled replay kernel. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/ascend/acl.h"
#include "engine/ascend/kernel/machine.h"
#include "engine/ascend/words.h"
#include "tests/ascend/fake.h"

static atomic_long launches;

/* ---- running --------------------------------------------------------------------------------- */

typedef struct launch {
    uint64_t words, addresses;
} launch;

/* Computes all but one kind of instruction as the chip does. */
static void execute_wrongly(ac_core *core, const ac_instruction *i)
{
    ac_execute(core, i);
    if (!strcmp(ac_operations[i->opcode].name, fake_knob_text("wrong", "")))
        core->memory[ac_space_of(i->dst)].bytes[ac_offset_of(i->dst)] ^= 1;
}

/* What is in an AI Core's buffers when a task begins is unknown. */
static const char *run_block(const launch *l, uint32_t block)
{
    ac_target target = ac_target_ascend310;
    target.ub_bytes += AC_PROGRAM_UB_BYTES;
    const size_t sizes[AC_BUFFERS] = {target.l1_bytes, target.l0a_bytes, target.l0b_bytes,
                                      target.l0c_bytes, target.ub_bytes};
    cce_machine m = {.core = {.target = &target,
                              .take = fake_knob_text("wrong", NULL) ? execute_wrongly : ac_execute},
                     .device = (uint64_t)(uintptr_t)fake_base(),
                     .block = block,
                     .readings = (uint32_t)fake_knob("readings", 0)};
    for (int i = 0; i < AC_BUFFERS; i++) {
        uint8_t *bytes = aligned_alloc(64, sizes[i]);
        memset(bytes, 0x5a, sizes[i]);
        m.core.memory[i] = (ac_memory){bytes, sizes[i], true};
    }
    m.core.memory[AC_GM] = (ac_memory){fake_whole_memory(), FAKE_MEMORY, true};
    cce_run(&m, l->words, l->addresses);
    for (int i = 0; i < AC_BUFFERS; i++)
        free(m.core.memory[i].bytes);
    return m.fault;
}

static int run_kernel(void *argument)
{
    const launch *l = argument;
    const uint64_t begin = fake_now();
    const long number = fake_fails_here() ? ++launches : -1;
    if (fake_knob("hang", 0) == number)
        for (;;)
            pause();
    if (fake_knob("exception", 0) == number)
        return fake_fail(CORE_EXCEPTION, "aicore error, pc start: 0x1000\n");
    fake_delay("run_us");
    for (uint32_t block = 0; block < AC_PROGRAM_CORES; block++) {
        const char *fault = run_block(l, block);
        if (fault)
            return fake_fail(CORE_EXCEPTION, "block %u: %s", block, fault);
    }
    fake_trace("run", "kernel", begin);
    return 0;
}

__attribute__((unused)) static int enqueue(uint64_t words, uint64_t addresses, uint32_t blocks,
                                           void *stream)
{
    const void *at[] = {(const void *)(uintptr_t)words, (const void *)(uintptr_t)addresses};
    if (blocks != 2)
        return fake_fail(BAD_PARAMETER, "blockDim %u", blocks);
    if (!fake_memory(at[0], WORDS_HEADER) || !fake_memory(at[1], 8 * WORDS_BASES) || words % 32 ||
        addresses % 32)
        return fake_fail(BAD_PARAMETER, "an argument is no memory of the chip");
    launch *l = malloc(sizeof *l);
    *l = (launch){words, addresses};
    return fake_enqueue(stream, "kernel", run_kernel, l);
}

/* ---- kernels' files -------------------------------------------------------------------------- */

/* Those that are registered or loaded: a place without data is free. */
typedef struct kernel_file {
    const uint8_t *data;
    uint64_t bytes;
    const void *stub;
} kernel_file;

static kernel_file files[8];

__attribute__((unused)) static kernel_file *file_of(const void *handle)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (&files[i] == handle && files[i].data)
            return &files[i];
    return NULL;
}

__attribute__((unused)) static kernel_file *file_with(const void *stub)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i].data && files[i].stub && files[i].stub == stub)
            return &files[i];
    return NULL;
}

__attribute__((unused)) static void *hold(const uint8_t *data, uint64_t bytes)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!files[i].data) {
            files[i] = (kernel_file){data, bytes, NULL};
            fake_held_objects++;
            return &files[i];
        }
    return NULL;
}

__attribute__((unused)) static void let_go(kernel_file *f)
{
    *f = (kernel_file){0};
    fake_held_objects--;
}

__attribute__((unused)) static bool is_kernel(const uint8_t *elf, uint64_t bytes)
{
    return bytes >= 64 && !memcmp(elf, "\177ELF\2\1", 6) && elf[16] == 1 && elf[18] == 0x29 &&
           elf[19] == 0x10;
}

__attribute__((unused)) static bool has_symbol(const uint8_t *elf, uint64_t bytes, const char *name)
{
    return memmem(elf, bytes, name, strlen(name) + 1);
}

#ifndef FAKE_NO_RUNTIME
/* ---- libruntime.so --------------------------------------------------------------------------- */

API int32_t rtDevBinaryRegister(const ascend_binary *b, void **handle)
{
    const int code = fake_ready();
    if (code)
        return code;
    if (!b || !handle || b->magic != 0x43554245 || !b->bytes || !b->data)
        return fake_fail(BAD_PARAMETER, "binary register: a parameter is invalid");
    if (!is_kernel(b->data, b->bytes))
        return fake_fail(INTERNAL, "the binary is no kernel for this chip");
    *handle = hold(b->data, b->bytes);
    return *handle ? 0 : fake_fail(INTERNAL, "too many binaries");
}

API int32_t rtDevBinaryUnRegister(void *handle)
{
    kernel_file *f = file_of(handle);
    if (!f)
        return BAD_PARAMETER;
    let_go(f);
    return 0;
}

API int32_t rtFunctionRegister(void *handle, const void *stub, const char *name, const void *symbol,
                               uint32_t mode)
{
    const int code = fake_failing(__func__);
    if (code)
        return code;
    kernel_file *f = file_of(handle);
    if (!f || !stub || !name || !symbol || mode)
        return fake_fail(BAD_PARAMETER, "function register: a parameter is invalid");
    if (!has_symbol(f->data, f->bytes, symbol))
        return fake_fail(INTERNAL, "kernel %s is not in the binary", (const char *)symbol);
    if (f->stub || file_with(stub))
        return fake_fail(REGISTERED, "stub %s is registered", name);
    f->stub = stub;
    return 0;
}

API int32_t rtKernelLaunch(const void *stub, uint32_t blocks, void *arguments, uint32_t bytes,
                           void *l2, void *stream)
{
    uint64_t values[2];
    const int code = fake_ready();
    if (code)
        return code;
    if (!stub || !blocks || !arguments || bytes != sizeof values || l2)
        return fake_fail(BAD_PARAMETER, "kernel launch: a parameter is invalid");
    if (!file_with(stub))
        return fake_fail(INTERNAL, "the stub is not registered");
    memcpy(values, arguments, sizeof values);
    return enqueue(values[0], values[1], blocks, stream);
}
#endif

/* ---- operators of one's own ------------------------------------------------------------------ */

struct aclTensorDesc {
    int type, rank;
};
struct aclopKernelDesc {
    uint32_t blocks;
};
struct aclDataBuffer {
    void *memory;
    size_t bytes;
};

API struct aclDataBuffer *aclCreateDataBuffer(void *memory, size_t bytes)
{
    if (fake_failing(__func__))
        return NULL;
    struct aclDataBuffer *b = malloc(sizeof *b);
    *b = (struct aclDataBuffer){memory, bytes};
    ++fake_held_objects;
    return b;
}

API int aclUpdateDataBuffer(struct aclDataBuffer *b, void *memory, size_t bytes)
{
    const int code = fake_failing(__func__);
    if (code || !b || !memory || !bytes)
        return code ? code : BAD_ARGUMENT;
    char at[32];
    snprintf(at, sizeof at, "%p", memory);
    if (b->memory != memory)
        fake_trace("place", at, fake_now());
    *b = (struct aclDataBuffer){memory, bytes};
    return 0;
}

API int aclDestroyDataBuffer(const struct aclDataBuffer *b)
{
    if (!b)
        return BAD_ARGUMENT;
    --fake_held_objects;
    free((void *)(uintptr_t)b);
    return 0;
}

#ifndef FAKE_NO_OPERATORS
static ascend_choose *chooser;
static bool created;
static uint32_t chosen_blocks;

API struct aclTensorDesc *aclCreateTensorDesc(int type, int rank, const int64_t *dims, int format)
{
    (void)dims, (void)format;
    if (fake_failing(__func__))
        return NULL;
    struct aclTensorDesc *d = malloc(sizeof *d);
    *d = (struct aclTensorDesc){type, rank};
    ++fake_held_objects;
    return d;
}

API void aclDestroyTensorDesc(const struct aclTensorDesc *d)
{
    --fake_held_objects;
    free((void *)(uintptr_t)d);
}

API int aclopRegisterCompileFunc(const char *type, ascend_choose *choose)
{
    const int code = fake_failing(__func__);
    if (code || !type || !choose)
        return code ? code : BAD_ARGUMENT;
    if (chooser)
        return 100030;
    chooser = choose;
    return 0;
}

API int aclopCreateKernel(const char *type, const char *id, const char *symbol, void *elf,
                          int bytes, uint32_t engine, void (*release)(void *, size_t))
{
    const int code = fake_failing(__func__);
    (void)release;
    if (code)
        return code;
    if (!type || !id || !symbol || !elf || bytes <= 0 || engine != 1)
        return BAD_ARGUMENT;
    if (!is_kernel(elf, (uint64_t)bytes) || !has_symbol(elf, (uint64_t)bytes, symbol))
        return fake_fail(100029, "the kernel is not in the binary");
    if (created)
        return 100031;
    created = true;
    return 0;
}

API int aclopSetKernelArgs(struct aclopKernelDesc *d, const char *id, uint32_t blocks,
                           const void *arguments, uint32_t bytes)
{
    const int code = fake_failing(__func__);
    if (code || !d || !id || !arguments || !bytes)
        return code ? code : BAD_ARGUMENT;
    d->blocks = blocks;
    return 0;
}

API int aclopUpdateParams(const char *type, int inputs, const struct aclTensorDesc *const *input,
                          int outputs, const struct aclTensorDesc *const *output,
                          const struct aclopAttr *attributes)
{
    struct aclopKernelDesc d = {0};
    int code = fake_failing(__func__);
    if (code)
        return code;
    if (!type || !chooser || !created)
        return 100028;
    code = chooser(inputs, input, outputs, output, attributes, &d);
    chosen_blocks = d.blocks;
    return code;
}

API int aclopExecuteV2(const char *type, int inputs, struct aclTensorDesc **input,
                       struct aclDataBuffer **in, int outputs, struct aclTensorDesc **output,
                       struct aclDataBuffer **out, struct aclopAttr *attributes, void *stream)
{
    const int code = fake_ready();
    (void)type, (void)input, (void)output, (void)attributes;
    if (code)
        return code;
    if (inputs != 1 || outputs != 1 || !chosen_blocks)
        return 100021;
    return enqueue((uint64_t)(uintptr_t)in[0]->memory, (uint64_t)(uintptr_t)out[0]->memory,
                   chosen_blocks, stream);
}
#endif

#ifndef FAKE_OLD
/* ---- binaries, from 8.0 on ------------------------------------------------------------------- */

API int aclrtBinaryLoadFromData(const void *data, size_t bytes, const void *options, void **handle)
{
    const int code = fake_failing(__func__);
    if (code || !data || !bytes || !handle || options)
        return code ? code : BAD_ARGUMENT;
    if (!is_kernel(data, bytes))
        return fake_fail(INTERNAL, "the binary is no kernel for this chip");
    *handle = hold(data, bytes);
    return *handle ? 0 : fake_fail(INTERNAL, "too many binaries");
}

API int aclrtBinaryUnLoad(void *handle)
{
    kernel_file *f = file_of(handle);
    if (f)
        let_go(f);
    return f ? 0 : BAD_ARGUMENT;
}

API int aclrtBinaryGetFunction(void *handle, const char *name, void **function)
{
    const int code = fake_failing(__func__);
    kernel_file *f = file_of(handle);
    if (code || !f)
        return code ? code : BAD_ARGUMENT;
    if (!has_symbol(f->data, f->bytes, name))
        return fake_fail(INTERNAL, "the kernel is not in the binary");
    *function = f;
    return 0;
}

/* Its arguments lie on the chip. */
API int aclrtLaunchKernel(void *function, uint32_t blocks, const void *arguments, size_t bytes,
                          void *stream)
{
    uint64_t values[2];
    const int code = fake_ready();
    const uint8_t *at = fake_memory(arguments, sizeof values);
    if (code)
        return code;
    if (!file_of(function) || bytes != sizeof values || !at)
        return fake_fail(BAD_PARAMETER, "kernel launch: a parameter is invalid");
    memcpy(values, at, sizeof values);
    return enqueue(values[0], values[1], blocks, stream);
}
#endif
