// SPDX-License-Identifier: Apache-2.0
/* Chroma sample j of a group of n luma samples lies at luma position n j + p, where p is 0, (n - 1)
 * / 2 or n - 1. In a frame enlarged s times it must lie there too. Luma position X of the enlarged
 * frame shows what was at (X + 1/2) / s - 1/2. So output chroma sample i, at X = n i + p, shows
 * chroma position
 *
 *     ((n i + p + 1/2) / s - 1/2 - p) / n  =  i / s + ((p + 1/2) / s - 1/2 - p) / n,
 *
 * while half-pixel coordinates give (i + 1/2) / s - 1/2. The difference,
 *
 *     (1 - 1/s) (n - 1 - 2 p) / 2n,
 *
 * is 0 for samples in the middle and +-(1 - 1/s) (n - 1) / 2n for the first or last: 1/8 for 4:2:0
 * chroma sited left and doubled. */
#include "pipeline/stages/chroma_location.h"

#include <string.h>

#include "pipeline/stages/session_binding.h"
#include "engine/model_format.h"

static float offset_of(chroma_position site, unsigned shift, unsigned scale)
{
    const float n = (float)(1u << shift), s = (float)scale;
    return -(float)site * (1 - 1 / s) * (n - 1) / (2 * n);
}

bool chroma_location_model(mona_model *sited, void **memory, const mona_model *bicubic,
                           unsigned mode, unsigned scale, chroma_location location,
                           unsigned shift_x, unsigned shift_y, pipeline_error *error)
{
    const mona_file_header *old = bicubic->header;
    const size_t size = (size_t)old->file_bytes;
    mona_file_header *header = *memory = session_binding_allocate(size);
    if (!header)
        return pipeline_fail(error, "out of memory");
    memcpy(header, old, size);
    mona_file_op *ops = (mona_file_op *)(void *)((uint8_t *)*memory + header->ops_offset);
    for (uint32_t i = 0; i < header->op_count; i++)
        if (ops[i].kind == MONA_OP_RESIZE) {
            ops[i].resize.scale_w[0] = ops[i].resize.scale_h[0] = scale;
            ops[i].resize.scale_w[1] = ops[i].resize.scale_h[1] = 1;
            ops[i].resize.mode = (uint8_t)mode;
            ops[i].resize.offset_w = offset_of(location.x, shift_x, scale);
            ops[i].resize.offset_h = offset_of(location.y, shift_y, scale);
        }
    header->crc32 = 0;
    header->crc32 = mona_crc32(0, header, size);
    const mona_status status = mona_model_open(sited, header, size);
    return !status ||
           pipeline_fail(error, "chroma cannot be enlarged: %s", mona_status_text(status));
}
