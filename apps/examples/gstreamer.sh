#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# GStreamer pipelines with the element monaenhance.
#
#   sh gstreamer.sh IN.mkv OUT.mkv
#
# Encoder and container are in gstreamer1.0-plugins-bad and -good. The queues let decoding, enhancing and encoding work at the same time. A camera and a screen:
#
#   gst-launch-1.0 v4l2src ! videoconvert ! queue ! monaenhance options=stages=denoise,sr ! queue ! autovideosink
set -e
[ $# -eq 2 ] || { echo "usage: gstreamer.sh IN.mkv OUT.mkv" >&2; exit 2; }
gst-launch-1.0 -q filesrc location="$1" ! decodebin ! videoconvert ! queue ! \
    monaenhance scale=2 options="stages=denoise,sr tier=fast" ! queue ! \
    openh264enc bitrate=8000000 complexity=low ! h264parse ! matroskamux ! filesink location="$2"
