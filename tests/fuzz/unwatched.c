// SPDX-License-Identifier: Apache-2.0
/* libprotobuf-c is built without the sanitiser of bytes never written, which does not see what it
 * writes (make fuzz-memory): here it writes where all bytes count as written, unless
 * MONA_FUZZ_SEES_ALL asks for what the sanitiser says of such bytes. */
#include <protobuf-c/protobuf-c.h>
#include <sanitizer/msan_interface.h>
#include <stdlib.h>

ProtobufCMessage *__real_protobuf_c_message_unpack(const ProtobufCMessageDescriptor *descriptor,
                                                   ProtobufCAllocator *allocator, size_t bytes,
                                                   const uint8_t *data);
ProtobufCMessage *__wrap_protobuf_c_message_unpack(const ProtobufCMessageDescriptor *descriptor,
                                                   ProtobufCAllocator *allocator, size_t bytes,
                                                   const uint8_t *data);

static void *get(void *allocator, size_t bytes)
{
    const ProtobufCAllocator *from = allocator;
    void *block = from->alloc ? from->alloc(from->allocator_data, bytes) : malloc(bytes);
    if (block && !getenv("MONA_FUZZ_SEES_ALL"))
        __msan_unpoison(block, bytes);
    return block;
}

static void give_back(void *allocator, void *block)
{
    const ProtobufCAllocator *to = allocator;
    if (to->free)
        to->free(to->allocator_data, block);
    else
        free(block);
}

ProtobufCMessage *__wrap_protobuf_c_message_unpack(const ProtobufCMessageDescriptor *descriptor,
                                                   ProtobufCAllocator *allocator, size_t bytes,
                                                   const uint8_t *data)
{
    ProtobufCAllocator none = {0}, *own = allocator ? allocator : &none;
    ProtobufCAllocator watched = {get, give_back, own};
    return __real_protobuf_c_message_unpack(descriptor, &watched, bytes, data);
}

/* Tests make models with it. */
size_t __real_protobuf_c_message_pack(const ProtobufCMessage *message, uint8_t *out);
size_t __wrap_protobuf_c_message_pack(const ProtobufCMessage *message, uint8_t *out);
size_t __wrap_protobuf_c_message_pack(const ProtobufCMessage *message, uint8_t *out)
{
    const size_t bytes = __real_protobuf_c_message_pack(message, out);
    __msan_unpoison(out, bytes);
    return bytes;
}
