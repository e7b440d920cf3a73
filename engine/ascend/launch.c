// SPDX-License-Identifier: Apache-2.0
/* Three ways to launch a kernel: by the runtime under AscendCL, which all releases have; as a
 * custom operator; and, from CANN 8.0 on, as a binary in memory. (aclrtBinaryLoad is refused for
 * this chip.) */

#include <stdatomic.h>

#include "engine/ascend/acl.h"
#include "engine/ascend/words.h"
#include "engine/libc.h"
#include "engine/port/library.h"

enum { BLOCKS = 2 };

static const char failed[] = "the kernel cannot be launched", refused[] = "the kernel is refused";

struct ascend_kernel {
    const void *elf;
    size_t bytes;
    char name[ASCEND_KERNEL_NAME]; /* of its function */
    enum how { NOT_REGISTERED, BY_RUNTIME, AS_OPERATOR, AS_BINARY } how;
    void *handle, *function;
};

static struct {
    atomic_flag busy;
    uint32_t count;
    ascend_kernel kernel[MONA_ASCEND_KERNELS];
} known = {.busy = ATOMIC_FLAG_INIT};

bool mona_ascend_add_kernel(const void *elf, size_t bytes)
{
    if (known.count == MONA_ASCEND_KERNELS)
        return false;
    known.kernel[known.count++] = (ascend_kernel){.elf = elf, .bytes = bytes};
    return true;
}

/* ---- by the runtime -------------------------------------------------------------------------- */

static mona_status register_by_runtime(ascend_kernel *k)
{
    const ascend_binary binary = {ASCEND_ELF_BINARY, 0, k->elf, k->bytes};
    mona_status status = ascend_check(ascend.rtDevBinaryRegister(&binary, &k->handle), refused);
    if (status)
        return status;
    status =
        ascend_check(ascend.rtFunctionRegister(k->handle, k->name, k->name, k->name, 0), refused);
    if (status)
        ascend.rtDevBinaryUnRegister(k->handle);
    return status;
}

static int launch_by_runtime(const ascend_kernel *k, const ascend_task *task, void *stream)
{
    uint64_t arguments[] = {task->words, task->addresses};
    return ascend.rtKernelLaunch(k->name, BLOCKS, arguments, sizeof arguments, NULL, stream);
}

/* ---- as an operator -------------------------------------------------------------------------- */

static const char operator_name[] = "MonaReplay", kernel_id[] = "mona_replay";

/* A kernel gets the addresses of its inputs and outputs, and then these. */
static int choose_kernel(int inputs, const struct aclTensorDesc *const *input, int outputs,
                         const struct aclTensorDesc *const *output,
                         const struct aclopAttr *attribute, struct aclopKernelDesc *desc)
{
    static const uint64_t nothing = 0;
    (void)inputs, (void)input, (void)outputs, (void)output, (void)attribute;
    return ascend.aclopSetKernelArgs(desc, kernel_id, BLOCKS, &nothing, sizeof nothing);
}

static mona_status register_as_operator(ascend_kernel *k)
{
    for (uint32_t i = 0; i < known.count; i++)
        if (&known.kernel[i] != k && known.kernel[i].how == AS_OPERATOR)
            return ASCEND_REFUSE(
                "these libraries take one kernel alone: expected the replay kernel, for "
                "all programs");
    int code = ascend.aclopRegisterCompileFunc(operator_name, choose_kernel);
    if (!code)
        code =
            ascend.aclopCreateKernel(operator_name, kernel_id, k->name, (void *)(uintptr_t)k->elf,
                                     (int)k->bytes, ASCEND_ENGINE_AICORE, NULL);
    return ascend_check(code, refused);
}

static int launch_as_operator(const ascend_task *task, void *stream)
{
    static const int64_t shape[] = {32};
    struct aclTensorDesc *in = ascend.aclCreateTensorDesc(ASCEND_UINT8, 1, shape, ASCEND_ND);
    struct aclTensorDesc *out = ascend.aclCreateTensorDesc(ASCEND_UINT8, 1, shape, ASCEND_ND);
    struct aclDataBuffer *words =
        ascend.aclCreateDataBuffer((void *)(uintptr_t)task->words, (size_t)shape[0]);
    struct aclDataBuffer *addresses =
        ascend.aclCreateDataBuffer((void *)(uintptr_t)task->addresses, (size_t)shape[0]);
    const struct aclTensorDesc *inputs[] = {in}, *outputs[] = {out};
    int code = in && out && words && addresses ? 0 : ASCEND_NO_HOST_MEMORY;
    if (!code)
        code = ascend.aclopUpdateParams(operator_name, 1, inputs, 1, outputs, NULL);
    if (!code)
        code =
            ascend.aclopExecuteV2(operator_name, 1, &in, &words, 1, &out, &addresses, NULL, stream);
    if (in)
        ascend.aclDestroyTensorDesc(in);
    if (out)
        ascend.aclDestroyTensorDesc(out);
    if (words)
        ascend.aclDestroyDataBuffer(words);
    if (addresses)
        ascend.aclDestroyDataBuffer(addresses);
    return code;
}

/* ---- as a binary ----------------------------------------------------------------------------- */

static mona_status register_as_binary(ascend_kernel *k)
{
    int code = ascend.aclrtBinaryLoadFromData(k->elf, k->bytes, NULL, &k->handle);
    if (code)
        return ascend_check(code, refused);
    code = ascend.aclrtBinaryGetFunction(k->handle, k->name, &k->function);
    if (code)
        ascend.aclrtBinaryUnLoad(k->handle);
    return ascend_check(code, refused);
}

/* ---- the first of them ----------------------------------------------------------------------- */

/* Whether a kernel has this function. */
static bool has_function(const ascend_kernel *k, const char *name)
{
    size_t length = 1, at = 0; /* with the byte that ends it */
    while (name[length - 1])
        length++;
    while (at + length <= k->bytes && memcmp((const char *)k->elf + at, name, length))
        at++;
    return at + length <= k->bytes;
}

static ascend_kernel *kernel_with(const char *function)
{
    for (uint32_t i = 0; i < known.count; i++)
        if (has_function(&known.kernel[i], function))
            return &known.kernel[i];
    return NULL;
}

bool mona_ascend_has_replay_kernel(void)
{
    return kernel_with(ASCEND_KERNEL);
}

static enum how how_to_launch(void)
{
    if (ascend.rtDevBinaryRegister && ascend.rtFunctionRegister && ascend.rtKernelLaunch)
        return BY_RUNTIME;
    if (ascend.aclopRegisterCompileFunc && ascend.aclopCreateKernel && ascend.aclopSetKernelArgs &&
        ascend.aclopUpdateParams && ascend.aclopExecuteV2 && ascend.aclCreateTensorDesc &&
        ascend.aclDestroyTensorDesc)
        return AS_OPERATOR;
    return ascend.aclrtBinaryLoadFromData && ascend.aclrtBinaryGetFunction &&
                   ascend.aclrtBinaryUnLoad && ascend.aclrtLaunchKernel
               ? AS_BINARY
               : NOT_REGISTERED;
}

/* The kernel for a program: the one that was written for it, else the replay kernel. Where one
 * kernel alone is taken, that is the replay kernel if there is one. */
static ascend_kernel *find_kernel(const ac_program *program)
{
    char name[ASCEND_KERNEL_NAME];
    ascend_own_kernel(program, name);
    ascend_kernel *replay = kernel_with(ASCEND_KERNEL), *k = kernel_with(name);
    if (replay && (!k || how_to_launch() == AS_OPERATOR)) {
        k = replay;
        memcpy(name, ASCEND_KERNEL, sizeof ASCEND_KERNEL);
    }
    if (k && k->how == NOT_REGISTERED) /* else others may read it */
        memcpy(k->name, name, sizeof name);
    return k;
}

static mona_status register_somehow(ascend_kernel *k)
{
    k->how = how_to_launch();
    const mona_status status =
        k->how == BY_RUNTIME    ? register_by_runtime(k)
        : k->how == AS_OPERATOR ? register_as_operator(k)
        : k->how == AS_BINARY
            ? register_as_binary(k)
            : ASCEND_REFUSE(
                  "these libraries cannot launch kernels: expected rtKernelLaunch, "
                  "aclopCreateKernel or aclrtBinaryLoadFromData; networks compiled by atc run");
    if (status)
        k->how = NOT_REGISTERED;
    return status;
}

mona_status ascend_register_kernel(const ac_program *program, const ascend_kernel **found)
{
    if (!known.count)
        return ASCEND_REFUSE(
            "there is no kernel for AI Core programs: make ascend-kernel CANN=FOLDER makes "
            "it, and MONA_ASCEND_KERNEL says where it is");
    while (atomic_flag_test_and_set(&known.busy))
        mona_port_pause(100);
    ascend_kernel *k = find_kernel(program);
    *found = k;
    mona_status status = MONA_OK;
    if (!k)
        status = ASCEND_REFUSE(
            "no kernel is this mona's, which make ascend-kernel CANN=FOLDER makes, or "
            "was written for this program");
    else if (k->how == NOT_REGISTERED)
        status = register_somehow(k);
    atomic_flag_clear(&known.busy);
    return status;
}

void ascend_forget_kernels(void)
{
    for (ascend_kernel *k = known.kernel; k < known.kernel + known.count; k++) {
        if (k->how == BY_RUNTIME)
            ascend.rtDevBinaryUnRegister(k->handle);
        else if (k->how == AS_BINARY)
            ascend.aclrtBinaryUnLoad(k->handle);
        if (k->how != AS_OPERATOR) /* which cannot be taken back */
            k->how = NOT_REGISTERED;
    }
}

mona_status ascend_launch(const ascend_kernel *k, const ascend_task *task, void *stream)
{
    int code;
    switch (k->how) {
    case BY_RUNTIME:
        code = launch_by_runtime(k, task, stream);
        break;
    case AS_OPERATOR:
        code = launch_as_operator(task, stream);
        break;
    case AS_BINARY:
        code = ascend.aclrtLaunchKernel(k->function, BLOCKS, task->on_chip, 2 * sizeof(uint64_t),
                                        stream);
        break;
    default:
        return MONA_ERR_STATE;
    }
    return ascend_check(code, failed);
}
