// SPDX-License-Identifier: Apache-2.0
/* The time part of model310.h: what every instruction costs on dav-m100, and where each number
 * comes from. Everything computed here is modelled; nothing was measured on a chip. The names of
 * sources:
 *
 *   ini     the vendor's platform configuration Ascend310.ini (bytes per cycle of one core)
 *   TIK     cycle formulas of the vendor's kernel language for v100, read there from its
 *           simulator's logs
 *   fitted on published networks
 *           on the speeds of nine, batch 1, by tests/bench/published.c (make bench-published),
 *           which shows the error on others
 */
#include "engine/model310/model310.h"

#include "engine/arith.h"

/* Name, default, unit, whether a source gives it, and the source. 51.2 GB/s, the rate of 128 bits
 * of LPDDR4X-3200, at 680 MHz is 75.3 bytes per cycle. */
#define COSTS(X)                                                                                   \
    X(clock_mhz, 680, "MHz", true, "ini, cube_freq: the mode of 22 TOPS")                          \
    X(mmad_head, 15, "cycles", true, "TIK: head and tail of every mmad")                           \
    X(mmad_odd, 1, "share", true,                                                                  \
      "TIK: K1 - 2 cycles more when K1 > 1 and M1 or N1 is odd, on the 310 only")                  \
    X(load2d_fractal, 2, "cycles", true, "ini, l1 -> l0b 256 bytes per cycle; TIK agrees")         \
    X(load2d_latency, 10, "cycles", true, "TIK: 10 to 11 per instruction")                         \
    X(load3d_fractal, 1, "cycles", true,                                                           \
      "ini, l1 -> l0a 512 bytes per cycle; TIK, for 16 pixels of one row")                         \
    X(load3d_latency, 16, "cycles", true, "TIK: 15 to 16 per instruction")                         \
    X(drain_fractal, 4, "cycles", true,                                                            \
      "ini, l0c -> ub 256 bytes per cycle, fp32 fractals of 1 KiB")                                \
    X(drain_latency, 16, "cycles", false, "chosen: that of load3d")                                \
    X(vector_repeat, 1, "cycles", true, "ini, vec_calc_size 128: a repeat of 256 bytes per cycle") \
    X(vector_latency, 16, "cycles", false, "chosen: that of load3d")                               \
    X(transpose_block, 2, "cycles", false,                                                         \
      "chosen: 512 bytes at 256 per cycle, a lower bound; halves of blocks as whole ones")         \
    X(transpose_latency, 16, "cycles", false, "chosen: that of a vector instruction")              \
    X(l1_ub_bytes, 128, "bytes/cycle", true, "ini, l1 -> ub")                                      \
    X(ub_l1_bytes, 128, "bytes/cycle", true, "ini, ub -> l1")                                      \
    X(ub_gm_bytes, 64, "bytes/cycle", true, "ini, ub -> ddr and ub -> l2")                         \
    X(l2_read_bytes, 128, "bytes/cycle", true, "ini, l2_read_rate")                                \
    X(ddr_read_bytes, 67, "bytes/cycle", true, "ini, ddr_read_rate, taken as of one core")         \
    X(ddr_write_bytes, 64, "bytes/cycle", true, "ini, ddr_write_rate, taken as of one core")       \
    X(ddr_total_bytes, 75.3, "bytes/cycle", false,                                                 \
      "51.2 GB/s as quoted for LPDDR4X-3200 of 128 bits; fitted on published networks: no less")   \
    X(l2_bytes, 8388608, "bytes", true, "ini, l2_size")                                            \
    X(copy_latency, 358, "cycles", false,                                                          \
      "fitted on published networks; the other half of them gives 10 and a launch of 9 us")        \
    X(local_latency, 16, "cycles", false, "chosen: that of load3d")                                \
    X(copy_burst, 4, "cycles", false,                                                              \
      "chosen: a burst of 256 bytes takes no longer than its bytes")                               \
    X(flag, 2, "cycles", false, "chosen: that of any scalar instruction")                          \
    X(scalar_step, 2, "cycles", true, "TIK: 43 cycles for about 21 scalar instructions")           \
    X(issue, 2, "cycles", false, "chosen: one scalar instruction")                                 \
    X(load3d_issue, 43, "cycles", true, "TIK: about 21 scalar instructions per load3d")            \
    X(operands, 14, "cycles", false,                                                               \
      "counted: 4.4 to 6.8 ARMv8 instructions in kernels written for one program, taken as 7")     \
    X(replay, 52, "cycles", false, "counted: 26 to 53 ARMv8 instructions, taken as 26")            \
    X(turn, 8, "cycles", false,                                                                    \
      "derived: count, compare, jump and one address; others are among operands")                  \
    X(task_launch, 1, "microseconds", false,                                                       \
      "fitted on published networks, at the least allowed; those of short tasks ask for 5 to 9")   \
    X(serial_share, 0.478, "share", false,                                                         \
      "fitted on published networks; only in times with losses")

#define DEFAULT(field, value, unit, known, source) .field = value,
#define ROW(field, value, unit, known, source)                                                     \
    {#field, unit, source, offsetof(ac_costs, field), known},
const ac_costs ac_costs_310 = {COSTS(DEFAULT)};
const ac_cost_row ac_cost_rows[] = {COSTS(ROW)};
const size_t ac_cost_row_count = sizeof ac_cost_rows / sizeof *ac_cost_rows;

double ac_time_mmad(const ac_costs *costs, uint32_t m1, uint32_t k1, uint32_t n1)
{
    bool odd = k1 > 1 && (m1 % 2 || n1 % 2);
    return costs->mmad_head + (double)m1 * k1 * n1 + (odd ? costs->mmad_odd * (k1 - 2) : 0);
}

double ac_time_load2d(const ac_costs *costs, uint32_t fractals)
{
    return costs->load2d_latency + fractals * costs->load2d_fractal;
}

double ac_time_load3d(const ac_costs *costs, uint32_t fractals)
{
    return costs->load3d_latency + fractals * costs->load3d_fractal;
}

double ac_time_drain(const ac_costs *costs, uint32_t fractals)
{
    return costs->drain_latency + fractals * costs->drain_fractal;
}

double ac_time_vector(const ac_costs *costs, uint32_t repeats, double spread)
{
    return costs->vector_latency + repeats * costs->vector_repeat * max_f64(spread, 1);
}

double ac_time_transpose(const ac_costs *costs, uint32_t repeats)
{
    return costs->transpose_latency + repeats * costs->transpose_block;
}

/* Bytes per cycle of a path for one of `cores` cores that copy at the same time. */
static double path_rate(const ac_costs *costs, ac_path path, uint32_t cores)
{
    double share = costs->ddr_total_bytes / (cores ? cores : 1);
    switch (path) {
    case AC_L1_UB:
        return costs->l1_ub_bytes;
    case AC_UB_L1:
        return costs->ub_l1_bytes;
    case AC_UB_GM:
        return min_f64(costs->ub_gm_bytes, min_f64(costs->ddr_write_bytes, share));
    default:
        return min_f64(costs->ddr_read_bytes, share);
    }
}

double ac_time_copy(const ac_costs *costs, ac_path path, ac_copy copy, uint32_t cores)
{
    double bytes = (double)copy.bursts * copy.blocks * AC_BLOCK;
    double moving = bytes / path_rate(costs, path, cores);
    const bool local = path == AC_L1_UB || path == AC_UB_L1;
    return (local ? costs->local_latency : costs->copy_latency) +
           max_f64(moving, copy.bursts * costs->copy_burst);
}
