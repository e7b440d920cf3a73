// SPDX-License-Identifier: Apache-2.0
/* The members of the structs that emit_c.c writes: each struct has a list of all of them,
 * F(x, kind, member). Kinds:
 *
 *   NUMBER    its value, unless that is 0
 *   REAL      a float
 *   CONSTANT  where it lies among the constants, unless it is NULL
 *   BY_HAND   the function after the list writes it
 *   UNUSED    0, as no session of a linked plan reads it
 *   NESTED    a struct: the put_ of its name writes it here
 *   OBJECT    a struct or an array, by hand or unused
 *
 * COVERS does not compile where a list lacks a member: the initializer needs as many as the struct
 * has, in its order where some are OBJECTs, and members_of_... that they exist and differ. */
#ifndef MONA_EMIT_FIELDS_H
#define MONA_EMIT_FIELDS_H

#include "engine/cpu/cpu.h"
#include "engine/run/plan.h"

// clang-format off
#define EPILOGUE_FIELDS(F, x) \
    F(x, CONSTANT, scale) F(x, CONSTANT, slope) F(x, NUMBER, activation) \
    F(x, NUMBER, activation_after_add) F(x, NUMBER, add) F(x, NUMBER, broadcast) \
    F(x, REAL, clip_min) F(x, REAL, clip_max) F(x, REAL, residual_scale) F(x, REAL, output_scale) \
    F(x, NUMBER, function) F(x, CONSTANT, table) F(x, REAL, alpha)

#define CONV_FIELDS(F, x) \
    F(x, NUMBER, source_type) F(x, NUMBER, c0) F(x, NUMBER, stride) F(x, NUMBER, pixel_bytes) \
    F(x, NUMBER, taps) F(x, NUMBER, channels) F(x, NUMBER, depthwise) F(x, NUMBER, blocks) \
    F(x, CONSTANT, run_elements) F(x, CONSTANT, first_run) F(x, CONSTANT, run_count) \
    F(x, CONSTANT, weights_offset) F(x, CONSTANT, weights) F(x, CONSTANT, bias) \
    F(x, CONSTANT, unsigned_bias) F(x, NUMBER, winograd_rows) F(x, NUMBER, winograd_whole) \
    F(x, NUMBER, winograd_height) F(x, NUMBER, winograd_pitch) F(x, CONSTANT, winograd) F(x, CONSTANT, narrow) F(x, CONSTANT, narrow_tiles) F(x, CONSTANT, mixed) \
    F(x, UNUSED, packing) F(x, NUMBER, operands) F(x, NUMBER, halves) F(x, NUMBER, spare_ports) F(x, NUMBER, small_sums) F(x, OBJECT, epilogue)

#define ISA_FIELDS(F, x) \
    F(x, BY_HAND, name) F(x, NUMBER, winograd) F(x, NUMBER, unsigned_bias) \
    F(x, NUMBER, spare_ports) F(x, NUMBER, operand_8bit) F(x, NUMBER, step_8bit) F(x, UNUSED, narrow_taps) \
    F(x, UNUSED, narrow_wide) F(x, UNUSED, narrow_rotated) F(x, NUMBER, operand_f16) \
    F(x, NUMBER, edges) F(x, NUMBER, halves) F(x, NUMBER, tiles) F(x, NUMBER, conv_scratch) \
    F(x, BY_HAND, conv_row) F(x, BY_HAND, depthwise_row) F(x, BY_HAND, pack_row) \
    F(x, BY_HAND, unpack_row) F(x, BY_HAND, resize_row) F(x, BY_HAND, elementwise_row) \
    F(x, BY_HAND, function_row) F(x, BY_HAND, normalise_row) F(x, BY_HAND, attention_row) \
    F(x, BY_HAND, fold_row) F(x, UNUSED, luma_row) F(x, UNUSED, chroma_row)

#define BOUND_FIELDS(F, x) \
    F(x, BY_HAND, op) F(x, BY_HAND, data) F(x, BY_HAND, run) F(x, BY_HAND, kernel) F(x, BY_HAND, target) \
    F(x, BY_HAND, isa) F(x, UNUSED, program) F(x, UNUSED, on_ai_core) F(x, OBJECT, input) \
    F(x, OBJECT, output) F(x, OBJECT, input_c0) F(x, NUMBER, output_c0) F(x, BY_HAND, store) \
    F(x, NUMBER, store_type) F(x, NUMBER, placed) F(x, BY_HAND, constants) F(x, UNUSED, resident)

#define GROUP_FIELDS(F, x) \
    F(x, NUMBER, first) F(x, NUMBER, last) F(x, NUMBER, parts) F(x, NUMBER, whole_maps) \
    F(x, NUMBER, by_channels) F(x, UNUSED, side) F(x, NUMBER, tiles) F(x, UNUSED, strip_rows) F(x, NUMBER, grid_height) \
    F(x, NUMBER, grid_width) F(x, UNUSED, rings_bytes)

#define OP_FIELDS(F, x) \
    F(x, OBJECT, bound) F(x, OBJECT, group) F(x, OBJECT, writer) F(x, OBJECT, array_writer) \
    F(x, NUMBER, first_reader) F(x, NUMBER, last_reader) F(x, NUMBER, store) F(x, NUMBER, leaves) \
    F(x, UNUSED, read_outside) F(x, UNUSED, read_in_blocks) F(x, NUMBER, home) \
    F(x, NUMBER, home_block) F(x, UNUSED, may_begin) F(x, UNUSED, begins) F(x, UNUSED, shared) F(x, NUMBER, map) \
    F(x, NUMBER, array) F(x, NUMBER, map_x_begin) F(x, NUMBER, depth) F(x, UNUSED, turned) F(x, UNUSED, row_outside) \
    F(x, NUMBER, columns) F(x, UNUSED, group_first) F(x, NUMBER, block_stride) \
    F(x, NUMBER, row_bytes) F(x, NUMBER, zero_offset) F(x, NUMBER, ring_offset) \
    F(x, UNUSED, map_bytes) F(x, UNUSED, constants_offset) F(x, UNUSED, constants_bytes) \
    F(x, UNUSED, tables_offset) F(x, UNUSED, tables_bytes)

#define REACH_FIELDS(F, x) \
    F(x, BY_HAND, above) F(x, BY_HAND, below) F(x, BY_HAND, left) F(x, BY_HAND, right)

#define LINES_FIELDS(F, x) \
    F(x, NUMBER, count) F(x, NUMBER, latency)

#define PLAN_FIELDS(F, x) \
    F(x, OBJECT, model) F(x, BY_HAND, target) F(x, BY_HAND, isa) F(x, UNUSED, device) \
    F(x, UNUSED, shared) F(x, NUMBER, cores) F(x, BY_HAND, crew) F(x, NUMBER, strip_rows) \
    F(x, OBJECT, program) F(x, UNUSED, group_constants) F(x, UNUSED, all_constants) F(x, UNUSED, sixteenths) \
    F(x, UNUSED, copies) F(x, BY_HAND, linked) F(x, UNUSED, cache_bytes) \
    F(x, NUMBER, state_bytes) F(x, NUMBER, zero_offset) F(x, NUMBER, zero_bytes) \
    F(x, NUMBER, maps_offset) F(x, NUMBER, maps_bytes) F(x, UNUSED, planes_offset) \
    F(x, UNUSED, planes_bytes) F(x, NUMBER, core_offset) F(x, NUMBER, core_bytes) \
    F(x, UNUSED, rings_bytes) F(x, NUMBER, progress_offset) F(x, NUMBER, scratch_offset) \
    F(x, NUMBER, scratch_bytes) F(x, NUMBER, window_offset) F(x, NUMBER, window_bytes) \
    F(x, UNUSED, device_offset) F(x, NUMBER, arena_bytes) F(x, NESTED, lines) F(x, NUMBER, parts) \
    F(x, OBJECT, reach) F(x, BY_HAND, shapes) F(x, BY_HAND, ops)

#define SHAPE_FIELDS(F, x) \
    F(x, BY_HAND, channels) F(x, BY_HAND, height) F(x, BY_HAND, width) F(x, BY_HAND, type) \
    F(x, BY_HAND, zero) F(x, BY_HAND, padding)
// clang-format on

#define COVERS(type, LIST)                                                                         \
    struct members_of_##type {                                                                     \
        LIST(MEMBER, type)                                                                         \
    };                                                                                             \
    static const __attribute__((unused)) type none_of_##type = {LIST(ZERO, type)};
#define MEMBER(type, kind, member) char member[sizeof(((type *)0)->member)];
#define ZERO(type, kind, member) ZERO_##kind,
#define ZERO_NUMBER 0
#define ZERO_REAL 0
#define ZERO_CONSTANT NULL
#define ZERO_BY_HAND 0
#define ZERO_UNUSED 0
#define ZERO_NESTED ZERO_OBJECT
#define ZERO_OBJECT                                                                                \
    {                                                                                              \
        0                                                                                          \
    }
#pragma GCC diagnostic error "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wmissing-braces"

#endif
