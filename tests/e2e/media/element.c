// SPDX-License-Identifier: Apache-2.0
/* The element monaenhance in a harness of GstCheck: sizes, latency, allocation, late frames. */
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

static int failed, count;

static void check(const char *name, gboolean good)
{
    g_print("%sok %d - %s\n", good ? "" : "not ", ++count, name);
    failed += !good;
}

static GstBuffer *frame_at(GstHarness *h, GstClockTime time)
{
    GstBuffer *buffer = gst_harness_create_buffer(h, 64 * 48 * 3 / 2);
    gst_buffer_memset(buffer, 0, 90, 64 * 48 * 3 / 2);
    GST_BUFFER_PTS(buffer) = time;
    GST_BUFFER_DURATION(buffer) = GST_SECOND / 25;
    return buffer;
}

int main(int argc, char **argv)
{
    gst_init(&argc, &argv);
    GstHarness *h = gst_harness_new("monaenhance");
    gst_harness_set_src_caps_str(
        h, "video/x-raw,format=NV12,width=64,height=48,framerate=25/1,chroma-site=mpeg2");
    check("a frame passes", gst_harness_push(h, frame_at(h, 0)) == GST_FLOW_OK);
    GstBuffer *made = gst_harness_pull(h);
    GstCaps *caps = gst_pad_get_current_caps(h->sinkpad);
    GstVideoInfo info;
    check("it has the format of the input",
          gst_video_info_from_caps(&info, caps) &&
              GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_NV12);
    check("and twice its size", info.width == 128 && info.height == 96);
    check("and its time", GST_BUFFER_PTS(made) == 0);
    gst_buffer_unref(made);
    check("the latency is a frame", gst_harness_query_latency(h) == GST_SECOND / 25);

    GstCaps *in = gst_pad_get_current_caps(h->srcpad);
    GstQuery *query = gst_query_new_allocation(in, TRUE);
    check("allocation is answered", gst_pad_peer_query(h->srcpad, query));
    check("with a pool", gst_query_get_n_allocation_pools(query) > 0);
    check("of buffers with strides",
          gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL));
    gst_query_unref(query);

    /* The sink says that it got the frame of 0.2 s half a second late. */
    gst_harness_push_upstream_event(
        h, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.0, GST_SECOND / 2, GST_SECOND / 5));
    gst_harness_push(h, frame_at(h, GST_SECOND / 5));
    check("a late frame is left out", gst_harness_try_pull(h) == NULL);
    gst_harness_push(h, frame_at(h, 3 * GST_SECOND));
    made = gst_harness_try_pull(h);
    check("one in time is not", made != NULL);
    gst_clear_buffer(&made);
    gst_caps_unref(caps);
    gst_caps_unref(in);
    gst_harness_teardown(h);
    g_print("1..%d\n", count);
    return failed != 0;
}
