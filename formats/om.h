// SPDX-License-Identifier: Apache-2.0
/* The container that the vendor's compiler writes for the Ascend 310 (.om): its contents by name.
 *
 *   header, 256 bytes   magic "IMOD" at 0, headsize 256 at 4, version at 8, length of what follows
 *                       the header at 76 (u32), encrypted at 80, kind at 82, name at 84 (32 bytes),
 *                       platform at 160 (20 bytes), the same length at 184 (u64; 0: see above)
 *   partition table     u32 count, then type, offset and size of each, u32 each; or, where the
 *                       length at 184 is not 0, u32 count, 4 bytes of padding, then u32 type,
 *                       4 bytes of padding, u64 offset and u64 size of each; offsets count from
 *                       the table's end
 *   partitions          MODEL_DEF, a protobuf message whose field 11 maps names to attributes;
 *                       TBE_KERNELS: records of magic 0x5d776efd, bytes of the name, bytes of the
 *                       binary (u32 each), name, ELF file; and others, which are not looked into
 *
 * All numbers are little-endian. A file of several models has their tables one after another; the
 * first is read. */
#ifndef MONA_OM_H
#define MONA_OM_H

#include <stddef.h>
#include <stdint.h>

#include "formats/error.h"

enum { OM_MAX_PARTITIONS = 32 };

typedef struct om_partition {
    uint32_t type;
    const uint8_t *data;
    size_t size;
} om_partition;

typedef struct om_file {
    uint32_t version;
    bool encrypted;
    uint8_t kind;
    char name[33], platform[21];
    const uint8_t *bytes; /* the caller's */
    size_t size;
    om_partition partitions[OM_MAX_PARTITIONS];
    uint32_t partition_count;
} om_file;

/* The bytes must stay valid. */
bool om_open(om_file *om, const uint8_t *bytes, size_t size, format_error *error);

/* "MODEL_DEF", ...; "unknown". */
const char *om_partition_name(uint32_t type);

/* A text or an integer in the model's definition. */
typedef struct om_attribute {
    const char *name, *text; /* without a terminator; text NULL: it is a number */
    size_t name_length, text_length;
    int64_t number;
} om_attribute;

/* Finds the next attribute from *at on; *at is 0 at first. False: there are no more, or none that
 * can be read. Attributes of other kinds are skipped. */
bool om_next_attribute(const om_file *om, size_t *at, om_attribute *attribute);

typedef struct om_kernel {
    const char *name; /* without a terminator */
    size_t name_length, bytes;
    unsigned machine; /* from the ELF header; 0: there is none */
} om_kernel;

/* Finds the next kernel in the same way. */
bool om_next_kernel(const om_file *om, size_t *at, om_kernel *kernel);

#endif
