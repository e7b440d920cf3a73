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

/* Frames of 320x360 without colorimetry, BT.601 for GStreamer, become ones of 720 rows. */
static void check_colours(void)
{
    GstHarness *h = gst_harness_new("monaenhance");
    GstVideoInfo in, out;
    gst_harness_set_src_caps_str(h, "video/x-raw,format=I420,width=320,height=360,framerate=25/1");
    GstBuffer *buffer = gst_harness_create_buffer(h, 320 * 360 * 3 / 2);
    gst_buffer_memset(buffer, 0, 90, 320 * 360 * 3 / 2);
    gst_buffer_add_video_region_of_interest_meta(buffer, "face", 8, 16, 24, 32);
    gst_harness_push(h, buffer);
    GstBuffer *made = gst_harness_try_pull(h);
    GstCaps *from = gst_pad_get_current_caps(h->srcpad), *to = gst_pad_get_current_caps(h->sinkpad);
    const gboolean known =
        made && gst_video_info_from_caps(&in, from) && gst_video_info_from_caps(&out, to);
    check("frames that name no colorimetry keep theirs when they grow beyond SD",
          known && gst_video_colorimetry_is_equal(&in.colorimetry, &out.colorimetry));
    check("and the place of chroma", known && in.chroma_site == out.chroma_site);
    const GstVideoRegionOfInterestMeta *face =
        made ? gst_buffer_get_video_region_of_interest_meta_id(made, 0) : NULL;
    check("a region of interest is enlarged too",
          face && face->x == 16 && face->y == 32 && face->w == 48 && face->h == 64);
    gst_clear_buffer(&made);
    gst_clear_caps(&from);
    gst_clear_caps(&to);
    gst_harness_teardown(h);
}

static void check_interlaced(void)
{
    GstHarness *h = gst_harness_new("monaenhance");
    gst_harness_set_src_caps_str(
        h, "video/x-raw,format=I420,width=64,height=48,framerate=25/1,interlace-mode=mixed");
    check("a progressive frame among interlaced ones passes",
          gst_harness_push(h, frame_at(h, 0)) == GST_FLOW_OK);
    GstBuffer *woven = frame_at(h, GST_SECOND / 25);
    GST_BUFFER_FLAG_SET(woven, GST_VIDEO_BUFFER_FLAG_INTERLACED);
    check("an interlaced one is refused", gst_harness_push(h, woven) == GST_FLOW_ERROR);
    gst_harness_teardown(h);
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
    check_colours();
    check_interlaced();
    g_print("1..%d\n", count);
    return failed != 0;
}
