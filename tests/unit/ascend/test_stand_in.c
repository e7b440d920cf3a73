// SPDX-License-Identifier: Apache-2.0
/* What the stand-in for the vendor's libraries answers to wrong calls is what the vendor's own
 * runtime was seen to answer; where that lets mistakes pass (memory freed twice, an unknown policy,
 * events never recorded), it is stricter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "engine/ascend/acl.h"

static ascend_functions call;
static void *context;

static void load(const char *kit)
{
    char file[512];
    const char *build = getenv("BUILD");
    snprintf(file, sizeof file, "%s/ascend/%s/libascendcl.so", build ? build : "build", kit);
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    void *symbol;
#define FUNCTION(library_, need, since, result, name, arguments)                                   \
    symbol = dlsym(library, #name);                                                                \
    memcpy(&call.name, &symbol, sizeof symbol);
#include "engine/ascend/functions.inc"
#undef FUNCTION
}

#define ANSWERS(code, expression) assert_int_equal(expression, code)

static void before_a_chip_is_chosen(void **state)
{
    void *at;
    (void)state;
    ANSWERS(0, call.aclInit(NULL));
    ANSWERS(100002, call.aclInit(NULL));
    ANSWERS(107002, call.aclrtMalloc(&at, 64, ASCEND_HUGE_PAGES_FIRST));
}

static void the_chip(void **state)
{
    uint32_t count, mode;
    int32_t version[3];
    (void)state;
    ANSWERS(0, call.aclrtGetDeviceCount(&count));
    ANSWERS(107001, call.aclrtSetDevice(7));
    ANSWERS(0, call.aclrtSetDevice(0));
    ANSWERS(0, call.aclrtGetRunMode(&mode));
    ANSWERS(0, call.aclrtGetVersion(&version[0], &version[1], &version[2]));
    assert_true(count == 1 && mode == ASCEND_MODE_CARD && version[0] == 1);
    assert_string_equal(call.aclrtGetSocName(), "Ascend310");
    ANSWERS(0, call.aclrtCreateContext(&context, 0));
}

static void memory(void **state)
{
    uint8_t *first, *second, *host;
    void *stream;
    (void)state;
    ANSWERS(100000, call.aclrtMalloc((void **)&first, 0, ASCEND_HUGE_PAGES_FIRST));
    ANSWERS(100000, call.aclrtMalloc(NULL, 64, ASCEND_HUGE_PAGES_FIRST));
    ANSWERS(100000, call.aclrtMalloc((void **)&first, 64, 77)); /* there: taken for the usual one */
    ANSWERS(0, call.aclrtMalloc((void **)&first, 4096, ASCEND_HUGE_PAGES_FIRST));
    ANSWERS(0, call.aclrtMalloc((void **)&second, 4096, ASCEND_HUGE_PAGES_FIRST));
    assert_int_equal(second - first, 0x1200);
    ANSWERS(0, call.aclrtMallocHost((void **)&host, 128));
    ANSWERS(0, call.aclrtCreateStream(&stream));
    memset(host, 1, 64), memset(host + 64, 2, 64);
    ANSWERS(107000, call.aclrtMemcpyAsync(first, 63, host, 64, ASCEND_TO_DEVICE, stream));
    ANSWERS(100000, call.aclrtMemcpyAsync(NULL, 64, host, 64, ASCEND_TO_DEVICE, stream));
    ANSWERS(100000, call.aclrtMemcpyAsync(first, 64, host, 64, 99, stream));
    ANSWERS(0, call.aclrtMemcpyAsync(first, 64, host, 64, ASCEND_TO_DEVICE, stream));
    ANSWERS(0, call.aclrtMemcpyAsync(host + 64, 64, first, 64, ASCEND_TO_HOST, stream));
    ANSWERS(0, call.aclrtSynchronizeStream(stream));
    assert_memory_equal(host, host + 64, 64);
    ANSWERS(0, call.aclrtDestroyStream(stream));
    ANSWERS(0, call.aclrtFreeHost(host));
    ANSWERS(0, call.aclrtFree(first));
    ANSWERS(0, call.aclrtFree(second));
}

static void streams_and_events(void **state)
{
    enum { EVENTS = 1023 }; /* of the 310 */
    static void *events[EVENTS + 1];
    void *stream;
    uint32_t status;
    int i = 0;
    (void)state;
    ANSWERS(100000, call.aclrtCreateStream(NULL));
    ANSWERS(100000, call.aclrtDestroyStream(NULL));
    ANSWERS(0, call.aclrtCreateStream(&stream));
    while (!call.aclrtCreateEventWithFlag(&events[i], ASCEND_EVENT_SYNC))
        i++;
    assert_int_equal(i, EVENTS);
    ANSWERS(0, call.aclrtRecordEvent(events[0], stream));
    ANSWERS(0, call.aclrtSynchronizeStream(stream));
    ANSWERS(0, call.aclrtQueryEvent(events[0], &status));
    assert_int_equal(status, ASCEND_EVENT_COMPLETE);
    while (i > 0)
        ANSWERS(0, call.aclrtDestroyEvent(events[--i]));
    ANSWERS(0, call.aclrtDestroyStream(stream));
}

static void times_of_events(void **state)
{
    void *stream, *sync, *times[2];
    float milliseconds = -1;
    (void)state;
    ANSWERS(0, call.aclrtCreateStream(&stream));
    ANSWERS(0, call.aclrtCreateEventWithFlag(&sync, ASCEND_EVENT_SYNC));
    for (int i = 0; i < 2; i++)
        ANSWERS(0, call.aclrtCreateEventWithFlag(&times[i], ASCEND_EVENT_TIME_LINE));
    ANSWERS(507000, call.aclrtEventElapsedTime(&milliseconds, times[0], times[1]));
    ANSWERS(0, call.aclrtRecordEvent(times[0], stream));
    ANSWERS(0, call.aclrtRecordEvent(sync, stream));
    ANSWERS(0, call.aclrtRecordEvent(times[1], stream));
    ANSWERS(0, call.aclrtSynchronizeStream(stream));
    ANSWERS(0, call.aclrtEventElapsedTime(&milliseconds, times[0], times[1]));
    assert_true(milliseconds >= 0 && milliseconds < 60000);
    ANSWERS(507000, call.aclrtEventElapsedTime(&milliseconds, sync, times[1])); /* has no time */
    ANSWERS(207000, call.aclrtResetEvent(times[0], stream));
    ANSWERS(0, call.aclrtResetEvent(sync, stream));
    ANSWERS(0, call.aclrtRecordEvent(sync, stream));
    ANSWERS(0, call.aclrtSynchronizeStream(stream));
    ANSWERS(0, call.aclrtDestroyEvent(sync));
    for (int i = 0; i < 2; i++)
        ANSWERS(0, call.aclrtDestroyEvent(times[i]));
    ANSWERS(0, call.aclrtDestroyStream(stream));
}

static uint8_t kernel[128] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\1\0\x29\x10\1\0\0\0a_kernel";

static void kernels(void **state)
{
    void *handle, *stream, *function;
    uint64_t arguments[2] = {0};
    const ascend_binary good = {ASCEND_ELF_BINARY, 0, kernel, sizeof kernel};
    ascend_binary bad = good;
    static const char stub[] = "stub";
    (void)state;
    bad.magic = 0x43554246;
    ANSWERS(107000, call.rtDevBinaryRegister(&bad, &handle));
    bad = good, bad.bytes = 0;
    ANSWERS(107000, call.rtDevBinaryRegister(&bad, &handle));
    ANSWERS(107000, call.rtDevBinaryRegister(&good, NULL));
    ANSWERS(0, call.rtDevBinaryRegister(&good, &handle));
    ANSWERS(507000, call.rtFunctionRegister(handle, stub, stub, "another", 0));
    ANSWERS(0, call.rtFunctionRegister(handle, stub, stub, "a_kernel", 0));
    ANSWERS(507028, call.rtFunctionRegister(handle, stub, stub, "a_kernel", 0));
    ANSWERS(0, call.aclrtCreateStream(&stream));
    ANSWERS(507000, call.rtKernelLaunch(kernel, 2, arguments, 16, NULL, stream));
    ANSWERS(107000, call.rtKernelLaunch(NULL, 2, arguments, 16, NULL, stream));
    ANSWERS(107000, call.rtKernelLaunch(stub, 0, arguments, 16, NULL, stream));
    ANSWERS(107000, call.rtKernelLaunch(stub, 2, NULL, 16, NULL, stream));
    ANSWERS(107000, call.rtKernelLaunch(stub, 2, arguments, 0, NULL, stream));
    ANSWERS(0, call.aclrtDestroyStream(stream));
    ANSWERS(0, call.rtDevBinaryUnRegister(handle));
    ANSWERS(100000, call.aclrtBinaryGetFunction(NULL, "a_kernel", &function));
    ANSWERS(0, call.aclrtBinaryLoadFromData(kernel, sizeof kernel, NULL, &handle));
    ANSWERS(0, call.aclrtBinaryGetFunction(handle, "a_kernel", &function));
    ANSWERS(0, call.aclrtBinaryUnLoad(handle));
}

/* ---- mistakes, for which the process ends with 99 -------------------------------------------- */

static void nothing_wrong(void) {}

static void twice_freed(void)
{
    void *at;
    call.aclrtMalloc(&at, 64, ASCEND_HUGE_PAGES_FIRST);
    call.aclrtFree(at);
    call.aclrtFree(at);
}

static void left_behind(void)
{
    void *at;
    call.aclrtMalloc(&at, 64, ASCEND_HUGE_PAGES_FIRST);
}

static void never_recorded(void)
{
    void *event;
    uint32_t status;
    call.aclrtCreateEventWithFlag(&event, ASCEND_EVENT_SYNC);
    call.aclrtQueryEvent(event, &status);
    call.aclrtDestroyEvent(event);
}

static void recorded_again(void)
{
    void *event, *stream;
    call.aclrtCreateStream(&stream);
    call.aclrtCreateEventWithFlag(&event, ASCEND_EVENT_SYNC);
    for (int i = 0; i < 2; i++) {
        call.aclrtRecordEvent(event, stream);
        call.aclrtSynchronizeStream(stream);
    }
    call.aclrtDestroyEvent(event);
    call.aclrtDestroyStream(stream);
}

static void reset_unreached(void)
{
    void *event, *stream;
    call.aclrtCreateStream(&stream);
    call.aclrtCreateEventWithFlag(&event, ASCEND_EVENT_SYNC);
    call.aclrtResetEvent(event, stream);
    call.aclrtDestroyEvent(event);
    call.aclrtDestroyStream(stream);
}

static void unknown_flag(void)
{
    void *event;
    if (!call.aclrtCreateEventWithFlag(&event, 2)) /* since CANN 7.0 it means another thing */
        call.aclrtDestroyEvent(event);
}

static void not_a_stream(void)
{
    call.aclrtSynchronizeStream(kernel);
}

static void give_back(void)
{
    ANSWERS(0, call.aclrtDestroyContext(context));
    ANSWERS(0, call.aclrtResetDevice(0));
    ANSWERS(0, call.aclFinalize());
}

static int status_after(void (*mistake)(void))
{
    int status;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            exit(1);
        mistake();
        give_back();
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    assert_int_equal(status_after(nothing_wrong), 0);
    assert_int_equal(status_after(twice_freed), 99);
    assert_int_equal(status_after(left_behind), 99);
    assert_int_equal(status_after(never_recorded), 99);
    assert_int_equal(status_after(recorded_again), 99);
    assert_int_equal(status_after(reset_unreached), 99);
    assert_int_equal(status_after(unknown_flag), 99);
    assert_int_equal(status_after(not_a_stream), 99);
}

static void the_end(void **state)
{
    (void)state;
    give_back();
    ANSWERS(100037, call.aclFinalize());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_a_chip_is_chosen),
        cmocka_unit_test(the_chip),
        cmocka_unit_test(memory),
        cmocka_unit_test(streams_and_events),
        cmocka_unit_test(times_of_events),
        cmocka_unit_test(kernels),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(the_end),
    };
    load("full");
    return cmocka_run_group_tests_name("stand-in", tests, NULL, NULL);
}
