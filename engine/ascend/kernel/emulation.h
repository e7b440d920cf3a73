// SPDX-License-Identifier: Apache-2.0
/* An AI Core that runs the replay kernel on a CPU. The kernel, compiled with cce.h, calls the
 * functions below; they decode instructions from the registers' fields, as the chip does, and pass
 * them to a core (engine/aicore/aicore.h), which executes or models them. */
#ifndef MONA_EMULATION_H
#define MONA_EMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum cce_register_name {
    CCE_FMATRIX,
    CCE_DEQSCALE,
    CCE_MASK_HIGH,
    CCE_MASK_LOW,
    CCE_CONTROL,
    CCE_REGISTERS
};

/* Called by the kernel. Addresses are offsets in the core's buffers, or addresses of the device;
 * the scalar unit's are in UB. */
uint64_t cce_block(void);
void cce_scalar_load(uint64_t at, void *value, size_t bytes);
void cce_scalar_store(uint64_t at, const void *value, size_t bytes);
void cce_flag(int opcode, int src, int dst, int event);
void cce_register(int name, uint64_t value);
uint64_t cce_control(void);
void cce_va(int va, const uint64_t *addresses);
void cce_issue(int opcode, uint64_t dst, uint64_t a, uint64_t b, uint64_t config, uint32_t value);
void cce_load3d(uint64_t dst, uint64_t src, uint64_t xm, uint64_t xt, size_t element, bool small);
void cce_transpose(int dst, int src, uint64_t config, size_t element, bool dst_high, bool src_high);

#ifdef __cplusplus
}
#endif
#endif
