// SPDX-License-Identifier: Apache-2.0
/* Packets held before the first frame: as many as the limit of memory allows, and no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/io/sources/source.h"

static bool all_are_due(void *context, const AVPacket *packet)
{
    (void)context;
    (void)packet;
    return true;
}

static bool count(void *context, AVPacket *packet, pipeline_error *error)
{
    (void)packet;
    (void)error;
    ++*(unsigned *)context;
    return true;
}

/* The packets share one buffer, which is never read. */
static void packets_are_held_up_to_a_bound(void **state)
{
    enum { PACKET = 64 << 20, BOUND = 256 << 20 };
    (void)state;
    packet_queue held = {0};
    pipeline_error error = {0};
    unsigned passed = 0;
    AVPacket *packet = av_packet_alloc();
    assert_non_null(packet);
    assert_int_equal(av_new_packet(packet, PACKET), 0);
    for (int i = 1; i < BOUND / PACKET; i++)
        assert_true(packet_queue_put(&held, packet, &error));
    assert_false(packet_queue_put(&held, packet, &error));
    assert_non_null(strstr(error.text, "within 256 MiB of other streams, found none"));

    const packet_queue_sink sink = {all_are_due, count, NULL, &passed};
    error = (pipeline_error){0};
    assert_true(packet_queue_release(&held, &sink, &error));
    assert_int_equal(passed, BOUND / PACKET - 1);
    packet_queue_free(&held);
    av_packet_free(&packet);
}

/* Packets without data cost memory too. */
static void empty_packets_count_too(void **state)
{
    (void)state;
    packet_queue held = {0};
    pipeline_error error = {0};
    AVPacket *packet = av_packet_alloc();
    assert_non_null(packet);
    held.bytes = (256 << 20) - 1000; /* as if there were many others */
    unsigned taken = 0;
    while (taken < 100 && packet_queue_put(&held, packet, &error))
        taken++;
    assert_in_range(taken, 1, 10);
    packet_queue_free(&held);
    av_packet_free(&packet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_are_held_up_to_a_bound),
        cmocka_unit_test(empty_packets_count_too),
    };
    return cmocka_run_group_tests_name("packet_queue", tests, NULL, NULL);
}
