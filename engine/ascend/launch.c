// SPDX-License-Identifier: Apache-2.0
/* Three ways to launch a kernel: by the runtime under AscendCL, which all releases have; as a
 * custom operator; and, from CANN 8.0 on, as a binary in memory. (aclrtBinaryLoad is refused for
 * this chip.) */
#include "engine/ascend/launch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "engine/ascend/acl.h"
#include "engine/ascend/words.h"
#include "engine/port/library.h"

enum { BLOCKS = 2 };

static const char failed[] = "the kernel cannot be launched";

static struct {
    atomic_flag busy;
    const void *elf;
    size_t bytes;
    char name[40]; /* of its function */
    enum { NOT_REGISTERED, BY_RUNTIME, AS_OPERATOR, AS_BINARY } how;
    void *handle, *function;
} kernel = {.busy = ATOMIC_FLAG_INIT};

void mona_ascend_set_kernel(const void *elf, size_t bytes)
{
    kernel.elf = elf;
    kernel.bytes = bytes;
}

/* ---- by the runtime -------------------------------------------------------------------------- */

static mona_status register_by_runtime(void)
{
    const ascend_binary binary = {ASCEND_ELF_BINARY, 0, kernel.elf, kernel.bytes};
    mona_status status =
        ascend_check(ascend.rtDevBinaryRegister(&binary, &kernel.handle), "the kernel is refused");
    if (status)
        return status;
    status = ascend_check(
        ascend.rtFunctionRegister(kernel.handle, kernel.name, kernel.name, kernel.name, 0),
        "the kernel is refused");
    if (status)
        ascend.rtDevBinaryUnRegister(kernel.handle);
    return status;
}

static int launch_by_runtime(const ascend_task *task, void *stream)
{
    uint64_t arguments[] = {task->words, task->addresses};
    return ascend.rtKernelLaunch(kernel.name, BLOCKS, arguments, sizeof arguments, NULL, stream);
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

static mona_status register_as_operator(void)
{
    int code = ascend.aclopRegisterCompileFunc(operator_name, choose_kernel);
    if (!code)
        code = ascend.aclopCreateKernel(operator_name, kernel_id, kernel.name,
                                        (void *)(uintptr_t)kernel.elf, (int)kernel.bytes,
                                        ASCEND_ENGINE_AICORE, NULL);
    return ascend_check(code, "the kernel is refused");
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

static mona_status register_as_binary(void)
{
    int code = ascend.aclrtBinaryLoadFromData(kernel.elf, kernel.bytes, NULL, &kernel.handle);
    if (code)
        return ascend_check(code, "the kernel is refused");
    code = ascend.aclrtBinaryGetFunction(kernel.handle, kernel.name, &kernel.function);
    if (code)
        ascend.aclrtBinaryUnLoad(kernel.handle);
    return ascend_check(code, "the kernel is refused");
}

/* ---- the first of them ----------------------------------------------------------------------- */

static mona_status refuse(const char *why)
{
    ASCEND_REPORT(why);
    return MONA_ERR_UNSUPPORTED;
}

/* Whether the kernel has a function of kernel.name. */
static bool has_function(void)
{
    const size_t length = strlen(kernel.name) + 1;
    size_t at = 0;
    while (at + length <= kernel.bytes &&
           memcmp((const char *)kernel.elf + at, kernel.name, length))
        at++;
    return at + length <= kernel.bytes;
}

/* Finds the function for a program: the replay kernel's, or that of a kernel for it alone. */
static mona_status find_function(const ac_program *program)
{
    if (!kernel.elf)
        return refuse(
            "there is no kernel for AI Core programs: make ascend-kernel CANN=FOLDER makes "
            "it, and MONA_ASCEND_KERNEL says where it is");
    snprintf(kernel.name, sizeof kernel.name, "%s", ASCEND_KERNEL);
    if (has_function())
        return MONA_OK;
    snprintf(kernel.name, sizeof kernel.name, ASCEND_OWN_KERNEL, ac_program_crc(program));
    return has_function()
               ? MONA_OK
               : refuse("the kernel is neither this mona's, which make ascend-kernel CANN=FOLDER "
                        "makes, nor one that was written for this program");
}

static mona_status register_somehow(void)
{
    mona_status status = MONA_ERR_UNSUPPORTED;
    if (ascend.rtDevBinaryRegister && ascend.rtFunctionRegister && ascend.rtKernelLaunch) {
        kernel.how = BY_RUNTIME;
        status = register_by_runtime();
    } else if (ascend.aclopRegisterCompileFunc && ascend.aclopCreateKernel &&
               ascend.aclopSetKernelArgs && ascend.aclopUpdateParams && ascend.aclopExecuteV2 &&
               ascend.aclCreateTensorDesc && ascend.aclDestroyTensorDesc) {
        kernel.how = AS_OPERATOR;
        status = register_as_operator();
    } else if (ascend.aclrtBinaryLoadFromData && ascend.aclrtBinaryGetFunction &&
               ascend.aclrtBinaryUnLoad && ascend.aclrtLaunchKernel) {
        kernel.how = AS_BINARY;
        status = register_as_binary();
    } else {
        status =
            refuse("these libraries cannot launch kernels: expected rtKernelLaunch, "
                   "aclopCreateKernel or aclrtBinaryLoadFromData; networks compiled by atc run");
    }
    if (status)
        kernel.how = NOT_REGISTERED;
    return status;
}

mona_status ascend_register_kernel(const ac_program *program)
{
    while (atomic_flag_test_and_set(&kernel.busy))
        mona_port_pause(100);
    mona_status status = find_function(program);
    if (!status && kernel.how == NOT_REGISTERED)
        status = register_somehow();
    atomic_flag_clear(&kernel.busy);
    return status;
}

void ascend_forget_kernel(void)
{
    if (kernel.how == BY_RUNTIME)
        ascend.rtDevBinaryUnRegister(kernel.handle);
    else if (kernel.how == AS_BINARY)
        ascend.aclrtBinaryUnLoad(kernel.handle);
    if (kernel.how != AS_OPERATOR) /* which cannot be taken back */
        kernel.how = NOT_REGISTERED;
}

mona_status ascend_launch(const ascend_task *task, void *stream)
{
    int code;
    switch (kernel.how) {
    case BY_RUNTIME:
        code = launch_by_runtime(task, stream);
        break;
    case AS_OPERATOR:
        code = launch_as_operator(task, stream);
        break;
    case AS_BINARY:
        code = ascend.aclrtLaunchKernel(kernel.function, BLOCKS, task->on_chip,
                                        2 * sizeof(uint64_t), stream);
        break;
    default:
        return MONA_ERR_STATE;
    }
    return ascend_check(code, failed);
}
