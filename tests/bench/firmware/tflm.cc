// SPDX-License-Identifier: Apache-2.0
// A frame of noise through TensorFlow Lite Micro on an emulated controller, by the clock of SysTick: prints ticks, those of
// a clock of 24 bits and whether it began anew, and the arena's bytes. OPS adds the operators of the network to `r`; EMPTY:
// what is there without it.
#include <cstdarg>
#include <cstdint>
#include <cstdio>

#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/schema/schema_generated.h"

extern "C" void DebugLog(const char *format, va_list arguments)
{
    vprintf(format, arguments);
}

extern "C" int DebugVsnprintf(char *to, size_t size, const char *format, va_list arguments)
{
    return vsnprintf(to, size, format, arguments);
}

extern "C" const unsigned char model_begin[];
extern "C" void *__dso_handle;
void *__dso_handle;

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define TICK_CONTROL REGISTER(0xe000e010)
#define TICK_RELOAD REGISTER(0xe000e014)
#define TICK_VALUE REGISTER(0xe000e018)

int main()
{
#ifdef EMPTY
    printf("empty %u\n", (unsigned)TICK_VALUE);
#else
    alignas(16) static uint8_t arena[1 << 20];
    static tflite::MicroMutableOpResolver<9> r;
    OPS
    static tflite::MicroInterpreter network(tflite::GetModel(model_begin), r, arena, sizeof arena);
    if (network.AllocateTensors() != kTfLiteOk)
        return 1;
    TfLiteTensor *in = network.input(0);
    uint32_t seed = 1;
    for (size_t i = 0; i < in->bytes; i++)
        in->data.int8[i] = (int8_t)((seed = seed * 1103515245u + 12345u) >> 16);
    TICK_RELOAD = (1 << 24) - 1, TICK_VALUE = 0, TICK_CONTROL = 5;
    const uint32_t begin = TICK_VALUE;
    const int status = network.Invoke();
    const uint32_t end = TICK_VALUE, again = TICK_CONTROL >> 16 & 1;
    printf("status %d ticks %u again %u arena %u\n", status, (unsigned)((begin - end) & 0xffffff), (unsigned)again,
           (unsigned)network.arena_used_bytes());
#endif
    return 0;
}
