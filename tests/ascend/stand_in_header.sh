#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes acl/acl.h with the declarations that engine/ascend expects, into FOLDER: what a kit's headers must agree with.
folder=$1
mkdir -p "$folder/acl"
{
    echo '#include <stddef.h>
#include <stdint.h>
#define ACL_EVENT_SYNC 0x00000001u
typedef struct aclmdlIODims { char name[128]; size_t dimCount; int64_t dims[128]; } aclmdlIODims;
typedef struct aclmdlBatch { size_t batchCount; uint64_t batch[128]; } aclmdlBatch;
typedef struct aclmdlHW { size_t hwCount; uint64_t hw[128][2]; } aclmdlHW;
typedef struct tagRtDevBinary { uint32_t magic; uint32_t version; const void *data; uint64_t length; } rtDevBinary_t;
struct aclmdlDesc; struct aclmdlDataset; struct aclDataBuffer; struct aclrtBinaryLoadOptions; struct tagRtSmCtrl;
struct aclTensorDesc; struct aclopAttr; struct aclopKernelDesc;
struct aclvdecChannelDesc; struct acldvppStreamDesc; struct acldvppPicDesc; struct aclvdecFrameConfig;
typedef enum { STREAM_FORMAT } acldvppStreamFormat; typedef enum { PIXEL_FORMAT } acldvppPixelFormat;
typedef void aclvdecCallback(struct acldvppStreamDesc *, struct acldvppPicDesc *, void *);
typedef int choose(int, const struct aclTensorDesc *const *, int, const struct aclTensorDesc *const *, const struct aclopAttr *, struct aclopKernelDesc *);'
    sed -n 's/^VALUE([^,]*, \([A-Z0-9_]*\), \([0-9]*\))/\1 \2/p' engine/ascend/values.inc | while read -r name value; do
        case $name in
        ACL_EVENT_SYNC) ;;
        ACL_ERROR*) echo "static const int $name = $value;" ;;
        *) echo "enum { $name = $value };" ;;
        esac
    done
    sed -n 's/^FUNCTION([A-Z]*, [A-Z]*, "[^"]*", \(.*\), \([A-Za-z_0-9]*\), \((.*)\))$/\1 \2\3;/p' engine/ascend/functions.inc |
        sed 's/ascend_dims/aclmdlIODims/; s/ascend_batches/aclmdlBatch/; s/ascend_sizes/aclmdlHW/; s/ascend_binary/rtDevBinary_t/; s/ascend_choose/choose/;
             s/ascend_stream_format/acldvppStreamFormat/; s/ascend_pixel_format/acldvppPixelFormat/; s/ascend_decoded/aclvdecCallback/'
} > "$folder/acl/acl.h"
echo '#include "acl.h"' > "$folder/acl/acl_op.h"
echo '#include "acl.h"' > "$folder/acl/acl_mdl.h"
sed -i '1i #pragma once' "$folder/acl/acl.h"
