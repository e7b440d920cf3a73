// SPDX-License-Identifier: Apache-2.0
/* The GStreamer element monaenhance: libmonavideo as a filter of raw video.
 *
 * Each frame is enhanced before the next is taken, so none waits; queues around the element let
 * decoders and encoders work meanwhile. The base class skips frames that QoS events call late. */
#include <string.h>

#include <gst/video/gstvideofilter.h>

#include "pipeline/monavideo.h"

#define FORMATS "{ I420, NV12, NV21, YV12, Y42B, Y444, GRAY8, I420_10LE, P010_10LE }"

/* From PROPERTY_FIRST on, those of the library's options. */
enum { PROPERTY_SCALE = 1, PROPERTY_OPTIONS, PROPERTY_FIRST };
enum { MAX_SCALE = 8, PLANES = 3 };

typedef struct MonaEnhance {
    GstVideoFilter parent;
    guint scale;
    gchar *options;
    GPtrArray *values; /* strings, in the order of the library's options; NULL: not set */
    mona_video *video;
    mona_video_format format, result;
    guint8 *scratch[PLANES]; /* planes of the input whose samples lie apart or shifted; or NULL */
} MonaEnhance;

typedef struct MonaEnhanceClass {
    GstVideoFilterClass parent;
} MonaEnhanceClass;

G_DEFINE_TYPE(MonaEnhance, mona_enhance, GST_TYPE_VIDEO_FILTER)

#define MONA_ENHANCE(object) ((MonaEnhance *)(object))

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(FORMATS)));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(FORMATS)));

/* ---- sizes ---------------------------------------------------------------------------------- */

/* The number on the other side of the element; 0: there is none. */
static gint scaled(gint value, guint scale, gboolean up)
{
    if (up)
        return value > G_MAXINT / (gint)scale ? G_MAXINT : value * (gint)scale;
    return value == G_MAXINT ? value : value / (gint)scale;
}

static void scale_field(GstStructure *s, const gchar *name, guint scale, gboolean up)
{
    const GValue *value = gst_structure_get_value(s, name);
    if (value && G_VALUE_HOLDS_INT(value)) {
        gst_structure_set(s, name, G_TYPE_INT, scaled(g_value_get_int(value), scale, up), NULL);
    } else if (value && GST_VALUE_HOLDS_INT_RANGE(value)) {
        const gint low = scaled(gst_value_get_int_range_min(value), scale, up);
        const gint high = scaled(gst_value_get_int_range_max(value), scale, up);
        gst_structure_set(s, name, GST_TYPE_INT_RANGE, MAX(low, 1), MAX(high, 2), NULL);
    }
}

static GstCaps *transform_caps(GstBaseTransform *base, GstPadDirection from, GstCaps *caps,
                               GstCaps *filter)
{
    const guint scale = MONA_ENHANCE(base)->scale;
    GstCaps *other = gst_caps_copy(caps);
    for (guint i = 0; i < gst_caps_get_size(other); i++) {
        GstStructure *s = gst_caps_get_structure(other, i);
        scale_field(s, "width", scale, from == GST_PAD_SINK);
        scale_field(s, "height", scale, from == GST_PAD_SINK);
    }
    if (!filter)
        return other;
    GstCaps *both = gst_caps_intersect_full(filter, other, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(other);
    return both;
}

/* Caps without colorimetry stand for that of SD up to 576 rows, else for HD's: the samples do not
 * become HD's when they are enlarged. The same for where chroma lies. */
static GstCaps *fixate_caps(GstBaseTransform *base, GstPadDirection from, GstCaps *caps,
                            GstCaps *other)
{
    GstVideoInfo in, out;
    other =
        GST_BASE_TRANSFORM_CLASS(mona_enhance_parent_class)->fixate_caps(base, from, caps, other);
    if (from != GST_PAD_SINK || !gst_video_info_from_caps(&in, caps) ||
        !gst_video_info_from_caps(&out, other))
        return other;
    other = gst_caps_make_writable(other);
    if (!gst_video_colorimetry_is_equal(&in.colorimetry, &out.colorimetry)) {
        gchar *name = gst_video_colorimetry_to_string(&in.colorimetry);
        gst_caps_set_simple(other, "colorimetry", G_TYPE_STRING, name, NULL);
        g_free(name);
    }
    if (in.chroma_site != out.chroma_site) {
        gchar *name = gst_video_chroma_site_to_string(in.chroma_site);
        gst_caps_set_simple(other, "chroma-site", G_TYPE_STRING, name, NULL);
        g_free(name);
    }
    return other;
}

/* ---- opening -------------------------------------------------------------------------------- */

static void close_video(MonaEnhance *self)
{
    mona_video_close(self->video);
    self->video = NULL;
    for (int i = 0; i < PLANES; i++)
        g_clear_pointer(&self->scratch[i], g_free);
}

static gboolean fail(MonaEnhance *self)
{
    char text[512];
    mona_video_error(self->video, text, sizeof text);
    GST_ELEMENT_ERROR(self, STREAM, FAILED, ("%s", text), (NULL));
    return FALSE;
}

/* Whether an option is a property: it works on frames, and does not say their size, which `scale`
 * alone does, since caps are fixed before frames come. */
static gboolean is_property(const mona_video_option *option)
{
    static const gchar *const sizes[] = {"scale", "width", "height", "size", NULL};
    return option->frames && option->value && !g_strv_contains(sizes, option->name);
}

static gboolean set_properties(MonaEnhance *self)
{
    mona_video_option option;
    gchar scale[16];
    g_snprintf(scale, sizeof scale, "%u", self->scale);
    gboolean good = !mona_video_set(self->video, "scale", scale);
    for (guint i = 0; good && mona_video_option_at(i, &option); i++) {
        const gchar *value = g_ptr_array_index(self->values, i);
        good = !value || !mona_video_set(self->video, option.name, value);
    }
    return good;
}

/* Options as in "tier=best strength=0.3". */
static gboolean set_options(MonaEnhance *self)
{
    gchar **items = g_strsplit_set(self->options ? self->options : "", " ", -1);
    gboolean good = set_properties(self);
    for (gchar **item = items; good && *item; item++) {
        gchar **parts = g_strsplit(*item, "=", 2);
        if (parts[0]) /* not two spaces */
            good = !mona_video_set(self->video, parts[0], parts[1]);
        g_strfreev(parts);
    }
    g_strfreev(items);
    return good;
}

static mona_video_format describe(const GstVideoInfo *info)
{
    const GstVideoFormatInfo *f = info->finfo;
    const guint planes = GST_VIDEO_FORMAT_INFO_N_COMPONENTS(f);
    return (mona_video_format){
        .width = (uint32_t)info->width,
        .height = (uint32_t)info->height,
        .planes = planes,
        .shift_x = planes > 1 ? f->w_sub[1] : 0,
        .shift_y = planes > 1 ? f->h_sub[1] : 0,
        .bits = GST_VIDEO_FORMAT_INFO_DEPTH(f, 0),
        .chroma = info->chroma_site == GST_VIDEO_CHROMA_SITE_JPEG      ? MONA_VIDEO_CHROMA_CENTRE
                  : info->chroma_site == GST_VIDEO_CHROMA_SITE_COSITED ? MONA_VIDEO_CHROMA_TOP_LEFT
                                                                       : MONA_VIDEO_CHROMA_LEFT,
        .full_range = info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255};
}

static gboolean set_info(GstVideoFilter *filter, GstCaps *in, GstVideoInfo *in_info, GstCaps *out,
                         GstVideoInfo *out_info)
{
    MonaEnhance *self = MONA_ENHANCE(filter);
    (void)in;
    (void)out;
    close_video(self);
    self->format = describe(in_info);
    self->video = mona_video_open();
    if (!self->video)
        return FALSE;
    if (!set_options(self) || mona_video_start(self->video, &self->format, &self->result))
        return fail(self);
    if ((gint)self->result.width == out_info->width &&
        (gint)self->result.height == out_info->height)
        return TRUE;
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("expected options that make the frames %u times as large, found %ux%u from "
                       "%ux%u",
                       self->scale, self->result.width, self->result.height, self->format.width,
                       self->format.height),
                      (NULL));
    return FALSE;
}

/* Options that are wrong for frames of any size are told before there are frames: applications
 * learn it from the change of state, and need not wait for a message. */
static gboolean start(GstBaseTransform *base)
{
    MonaEnhance *self = MONA_ENHANCE(base);
    const mona_video_format any = {.width = 64, .height = 64, .planes = 1, .bits = 8};
    mona_video_format result;
    close_video(self);
    self->video = mona_video_open();
    const gboolean good = self->video && set_options(self) &&
                          mona_video_start(self->video, &any, &result) != MONA_VIDEO_ERR_OPTION;
    if (!good)
        fail(self);
    close_video(self);
    return good;
}

static gboolean stop(GstBaseTransform *base)
{
    close_video(MONA_ENHANCE(base));
    return TRUE;
}

/* ---- frames --------------------------------------------------------------------------------- */

/* The bits below a sample's lowest one. */
static guint shift_of(const GstVideoFrame *f, guint c)
{
    return GST_VIDEO_FORMAT_INFO_SHIFT(f->info.finfo, c);
}

/* Whether a component is a plane as the library has them. */
static gboolean is_plane(const GstVideoFrame *f, guint c, size_t sample)
{
    return GST_VIDEO_FRAME_COMP_PSTRIDE(f, c) == (gint)sample && !shift_of(f, c);
}

/* Its first sample. GStreamer 1.22 tells the offset of P010's second chroma in samples, not
 * bytes. */
static guint8 *first_sample(const GstVideoFrame *f, guint c, size_t sample)
{
    const gint offset = GST_VIDEO_FORMAT_INFO_POFFSET(f->info.finfo, c), bytes = (gint)sample;
    return (guint8 *)GST_VIDEO_FRAME_COMP_DATA(f, c) + (offset % bytes ? offset * (bytes - 1) : 0);
}

/* Copies a component out of a frame, or into it. */
static void copy_component(GstVideoFrame *f, guint c, size_t sample, guint8 *plane,
                           ptrdiff_t stride, gboolean into)
{
    const gint step = GST_VIDEO_FRAME_COMP_PSTRIDE(f, c), width = GST_VIDEO_FRAME_COMP_WIDTH(f, c);
    const guint shift = shift_of(f, c);
    guint8 *first = first_sample(f, c, sample);
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(f, c); y++) {
        guint8 *apart = first + (ptrdiff_t)y * GST_VIDEO_FRAME_COMP_STRIDE(f, c);
        guint8 *dense = plane + y * stride;
        if (is_plane(f, c, sample)) {
            memcpy(into ? apart : dense, into ? dense : apart, (size_t)width * sample);
        } else if (sample == 1) {
            for (gint x = 0; x < width; x++)
                *(into ? &apart[x * step] : &dense[x]) = into ? dense[x] : apart[x * step];
        } else {
            for (gint x = 0; x < width; x++) {
                guint16 *a = (guint16 *)(void *)(apart + x * step);
                guint16 *d = (guint16 *)(void *)dense + x;
                *(into ? a : d) = (guint16)(into ? *d << shift : *a >> shift);
            }
        }
    }
}

static void take_planes(MonaEnhance *self, GstVideoFrame *in, size_t sample,
                        mona_video_frame *frame)
{
    for (guint c = 0; c < self->format.planes; c++) {
        const size_t stride = (size_t)GST_VIDEO_FRAME_COMP_WIDTH(in, c) * sample;
        frame->data[c] = GST_VIDEO_FRAME_COMP_DATA(in, c);
        frame->stride[c] = GST_VIDEO_FRAME_COMP_STRIDE(in, c);
        if (is_plane(in, c, sample))
            continue;
        if (!self->scratch[c])
            self->scratch[c] = g_malloc(stride * (size_t)GST_VIDEO_FRAME_COMP_HEIGHT(in, c));
        copy_component(in, c, sample, self->scratch[c], (ptrdiff_t)stride, FALSE);
        frame->data[c] = self->scratch[c];
        frame->stride[c] = (ptrdiff_t)stride;
    }
}

static GstFlowReturn transform_frame(GstVideoFilter *filter, GstVideoFrame *in, GstVideoFrame *out)
{
    MonaEnhance *self = MONA_ENHANCE(filter);
    const size_t sample = self->format.bits > 8 ? 2 : 1;
    mona_video_frame frame = {0}, made;
    if (GST_VIDEO_FRAME_IS_INTERLACED(in)) {
        GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                          ("expected progressive frames, found an interlaced one; the element "
                           "deinterlace before this one makes them progressive"),
                          (NULL));
        return GST_FLOW_ERROR;
    }
    take_planes(self, in, sample, &frame);
    if (mona_video_push(self->video, &frame) || mona_video_pull(self->video, &made)) {
        fail(self);
        return GST_FLOW_ERROR;
    }
    for (guint c = 0; c < self->format.planes; c++)
        copy_component(out, c, sample, made.data[c], made.stride[c], TRUE);
    return GST_FLOW_OK;
}

/* Regions of a frame lie elsewhere in a larger one. */
static gboolean transform_meta(GstBaseTransform *base, GstBuffer *out, GstMeta *meta, GstBuffer *in)
{
    GstVideoFilter *filter = GST_VIDEO_FILTER(base);
    GstVideoMetaTransform sizes = {&filter->in_info, &filter->out_info};
    if (meta->info->transform_func &&
        gst_meta_api_type_has_tag(meta->info->api,
                                  g_quark_from_static_string(GST_META_TAG_VIDEO_SIZE_STR)))
        meta->info->transform_func(out, meta, in, gst_video_meta_transform_scale_get_quark(),
                                   &sizes);
    return GST_BASE_TRANSFORM_CLASS(mona_enhance_parent_class)->transform_meta(base, out, meta, in);
}

/* A frame is through before the next one is due, or it is late: that is the latency. */
static gboolean query(GstBaseTransform *base, GstPadDirection direction, GstQuery *query)
{
    const gboolean done =
        GST_BASE_TRANSFORM_CLASS(mona_enhance_parent_class)->query(base, direction, query);
    const GstVideoInfo *info = &GST_VIDEO_FILTER(base)->in_info;
    if (!done || direction != GST_PAD_SRC || GST_QUERY_TYPE(query) != GST_QUERY_LATENCY ||
        info->fps_n <= 0)
        return done;
    gboolean live;
    GstClockTime least, most;
    const GstClockTime frame = gst_util_uint64_scale_int(GST_SECOND, info->fps_d, info->fps_n);
    gst_query_parse_latency(query, &live, &least, &most);
    gst_query_set_latency(query, live, least + frame,
                          most == GST_CLOCK_TIME_NONE ? most : most + frame);
    return TRUE;
}

/* ---- the element ---------------------------------------------------------------------------- */

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    MonaEnhance *self = MONA_ENHANCE(object);
    if (id == PROPERTY_SCALE) {
        self->scale = g_value_get_uint(value);
        gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(object));
    } else if (id == PROPERTY_OPTIONS) {
        g_free(self->options);
        self->options = g_value_dup_string(value);
    } else if (id >= PROPERTY_FIRST && id - PROPERTY_FIRST < self->values->len) {
        gpointer *kept = &g_ptr_array_index(self->values, id - PROPERTY_FIRST);
        g_free(*kept);
        *kept = g_value_dup_string(value);
    } else {
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    const MonaEnhance *self = MONA_ENHANCE(object);
    if (id == PROPERTY_SCALE)
        g_value_set_uint(value, self->scale);
    else if (id == PROPERTY_OPTIONS)
        g_value_set_string(value, self->options);
    else if (id >= PROPERTY_FIRST && id - PROPERTY_FIRST < self->values->len)
        g_value_set_string(value, g_ptr_array_index(self->values, id - PROPERTY_FIRST));
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void finalize(GObject *object)
{
    close_video(MONA_ENHANCE(object));
    g_free(MONA_ENHANCE(object)->options);
    g_ptr_array_unref(MONA_ENHANCE(object)->values);
    G_OBJECT_CLASS(mona_enhance_parent_class)->finalize(object);
}

/* A property for each option, whose value the library reads as it reads a command line's. */
static void install_options(GObjectClass *object, GParamFlags flags)
{
    mona_video_option o;
    for (guint i = 0; mona_video_option_at(i, &o); i++) {
        if (!is_property(&o))
            continue;
        gchar *help =
            g_strdup_printf("%s: %s%s%s%s", o.value, o.help, o.initial ? " (default " : "",
                            o.initial ? o.initial : "", o.initial ? ")" : "");
        g_object_class_install_property(object, PROPERTY_FIRST + i,
                                        g_param_spec_string(o.name, o.name, help, NULL, flags));
        g_free(help);
    }
}

static void mona_enhance_class_init(MonaEnhanceClass *class)
{
    GObjectClass *object = G_OBJECT_CLASS(class);
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    g_object_class_install_property(object, PROPERTY_SCALE,
                                    g_param_spec_uint("scale", "Scale",
                                                      "How many times larger frames become; 1 for "
                                                      "stages without sr",
                                                      1, MAX_SCALE, 2, flags));
    g_object_class_install_property(
        object, PROPERTY_OPTIONS,
        g_param_spec_string(
            "options", "Options",
            "Options of mona enhance without their dashes, as in \"stages=denoise,sr "
            "tier=best\"",
            NULL, flags));
    install_options(object, G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY);
    gst_element_class_add_static_pad_template(element, &sink_template);
    gst_element_class_add_static_pad_template(element, &src_template);
    gst_element_class_set_static_metadata(element, "mona video enhancer", "Filter/Effect/Video",
                                          "Enlarges and cleans video with neural networks",
                                          "The mona developers");
    GST_BASE_TRANSFORM_CLASS(class)->transform_caps = transform_caps;
    GST_BASE_TRANSFORM_CLASS(class)->fixate_caps = fixate_caps;
    GST_BASE_TRANSFORM_CLASS(class)->transform_meta = transform_meta;
    GST_BASE_TRANSFORM_CLASS(class)->query = query;
    GST_BASE_TRANSFORM_CLASS(class)->start = start;
    GST_BASE_TRANSFORM_CLASS(class)->stop = stop;
    GST_VIDEO_FILTER_CLASS(class)->set_info = set_info;
    GST_VIDEO_FILTER_CLASS(class)->transform_frame = transform_frame;
}

static void mona_enhance_init(MonaEnhance *self)
{
    mona_video_option option;
    self->scale = 2;
    self->values = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; mona_video_option_at(i, &option); i++)
        g_ptr_array_add(self->values, NULL);
    gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
}

static gboolean plugin_init(GstPlugin *plugin)
{
    return gst_element_register(plugin, "monaenhance", GST_RANK_NONE, mona_enhance_get_type());
}

#define PACKAGE "mona"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, mona,
                  "Video enhancement by neural networks", plugin_init, MONA_PLUGIN_VERSION,
                  "Apache-2.0", "mona", "mona")
