#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What survived of a file: one row with an input and mona's result.

survival.py IN OUT [LATER]      LATER: seconds that everything may be later than from 0 on, in step, because the
                                container holds nothing before 0; what an edit cut away before it is left out.
                                keep: the input's times, wherever they begin

The first video stream that is no cover picture was enhanced; every other stream must have kept its
packets, bit for bit, with their times. Prints the columns with tabs between; what differs is told on
lines of its own, which begin with "# ". The exit status is 0 only if everything is the same.
"""
import json
import subprocess
import sys

COLOUR = ("color_range", "color_space", "color_transfer", "color_primaries", "chroma_location")
# Tags that writers set themselves, or that describe how the old file was written.
OWN_TAGS = {"encoder", "major_brand", "minor_version", "compatible_brands", "duration", "creation_time",
            "handler_name", "vendor_id", "software", "number_of_frames", "number_of_bytes", "bps"}


def probe(path, *what):
    text = subprocess.run(["ffprobe", "-v", "quiet", "-of", "json", *what, path], check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    return json.loads(text or "{}")


def rotation(stream):
    return next((d["rotation"] for d in stream.get("side_data_list", []) if "rotation" in d), 0)


def is_cover(stream):
    return bool(stream.get("disposition", {}).get("attached_pic"))


class File:
    def __init__(self, path):
        self.path = path
        found = probe(path, "-show_streams", "-show_format", "-show_chapters", "-show_packets", "-show_frames",
                      "-show_data_hash", "md5")
        self.format, self.chapters = found.get("format", {}), found.get("chapters", [])
        # Writers create tracks with the names of chapters, and time codes, themselves.
        self.streams = [s for s in found.get("streams", [])
                        if s.get("codec_tag_string") not in ("tmcd",)
                        and not (s.get("codec_tag_string") == "text" and s["codec_type"] == "data")]
        read = found.get("packets_and_frames", [])
        self.packets = [r for r in read if r["type"] == "packet"]
        self.frames = [r for r in read if r["type"] == "frame"]
        self.video = next((s for s in self.streams
                           if s["codec_type"] == "video" and not is_cover(s)), None)

    def others(self):
        """In order, but covers and attachments last: some containers keep them apart."""
        rest = [s for s in self.streams if s is not self.video]
        apart = [s for s in rest if is_cover(s) or s["codec_type"] == "attachment"]
        return [s for s in rest if s not in apart] + apart

    def packets_of(self, stream):
        return [p for p in self.packets if p["stream_index"] == stream["index"]]

    def frame_times(self):
        return [f.get("best_effort_timestamp_time", f.get("pts_time")) for f in self.frames
                if f["stream_index"] == self.video["index"]]


def number(text):
    return None if text in (None, "N/A") else float(text)


def tick(stream):
    top, bottom = stream["time_base"].split("/")
    return int(top) / int(bottom)


def close(a, b, step, later=0.0):
    if a is None or b is None:
        return a is b
    return abs(a + later - b) <= step


def content(stream):
    """Describes an attachment or a cover, without its packets."""
    return stream.get("extradata_hash")


class Comparison:
    def __init__(self, source, result, later):
        self.a, self.b, self.complaints = source, result, []
        self.cut = later not in ("", "keep")
        start = number(source.format.get("start_time")) or 0.0
        self.later = 0.0 if later == "keep" else float(later or 0) - start

    def sources(self, stream):
        """The packets that must be there."""
        packets = self.a.packets_of(stream)
        if not self.cut or stream["codec_type"] != "audio":
            return packets
        return [p for p in packets if "D" not in p["flags"]
                or number(p["pts_time"]) + 2 * number(p["duration_time"]) > 0]

    def same(self, what, found, wanted):
        if found != wanted:
            self.complaints.append(f"{what}: expected {wanted}, found {found}")
        return "same" if found == wanted else "DIFFERS"

    def converted(self, x):
        """Matroska holds no mov_text: it becomes SubRip."""
        return x.get("codec_name") == "mov_text" and self.b.format.get("format_name", "").startswith("matroska")

    def streams(self):
        kinds = [[(s["codec_type"], "subrip" if f is self.a and self.converted(s) else s.get("codec_name"))
                  for s in f.others()] for f in (self.a, self.b)]
        self.same("other streams", kinds[1], kinds[0])
        return f"{len(self.a.streams)}/{len(self.b.streams)}"

    def pairs(self):
        return list(zip(self.a.others(), self.b.others()))

    def each(self, judge):
        verdicts = [judge(x, y) for x, y in self.pairs()]
        return "none" if not verdicts else "same" if set(verdicts) == {"same"} else "DIFFERS"

    def transported(self, x):
        """AAC has a header per packet in a transport stream and one per file elsewhere."""
        formats = [f.format.get("format_name") == "mpegts" for f in (self.a, self.b)]
        return x.get("codec_name") == "aac" and formats[0] != formats[1]

    def packets(self, x, y):
        if self.transported(x):
            copies = [subprocess.run(["ffmpeg", "-v", "quiet", "-i", f.path, "-map", f"0:{s['index']}", "-c",
                                      "copy", "-f", "adts", "-"], check=True, capture_output=True).stdout
                      for f, s in ((self.a, x), (self.b, y))]
            return self.same(f"stream {x['index']}: bytes", copies[1] == copies[0], True)
        if self.converted(x):
            texts = [subprocess.run(["ffmpeg", "-v", "quiet", "-i", f.path, "-map", f"0:{s['index']}", "-f", "srt",
                                     "-"], check=True, capture_output=True).stdout
                     for f, s in ((self.a, x), (self.b, y))]
            lines = [[line for line in text.splitlines() if b"-->" not in line] for text in texts]
            return self.same(f"stream {x['index']}: subtitles", lines[1], lines[0] or "some text")
        if x["codec_type"] == "attachment":
            return self.same(f"stream {x['index']}: contents", content(y), content(x))
        hashes = [[p["data_hash"] for p in packets]
                  for packets in (self.sources(x), self.b.packets_of(y))]
        if hashes[0] == hashes[1]:
            return "same"
        return self.same(f"stream {x['index']}: packets", f"{len(hashes[1])} {hashes[1][:3]}...",
                         f"{len(hashes[0])} {hashes[0][:3]}...")

    def times(self, x, y):
        """Within a tick of the coarser clock; durations too where the result states them."""
        step = max(tick(x), tick(y)) * 1.01
        sources = self.sources(x)
        if self.converted(x):  # what says that there is no text now is two bytes long
            sources = [p for p in sources if int(p["size"]) > 2]
        pairs = list(zip(sources, self.b.packets_of(y)))
        for p, q in pairs:
            if is_cover(x):
                continue
            for key in ("pts_time", "duration_time"):
                # QuickTime can store a part of the last sound packet, others cannot.
                if key == "duration_time" and (key not in q or key not in p or q is pairs[-1][1]):
                    continue
                # A duration has two ends, both of which are rounded.
                later, room = (self.later, step) if key == "pts_time" else (0, 2 * step)
                if not close(number(p.get(key)), number(q.get(key)), room, later):
                    return self.same(f"stream {x['index']}: {key}", q.get(key), p.get(key))
        return "same"

    def described(self, x, y):
        def of(s):
            tags = {k.lower(): v for k, v in s.get("tags", {}).items()}
            kept = {k: v for k, v in tags.items() if k in ("language", "title", "filename", "mimetype")}
            if kept.get("language") == "und":
                del kept["language"]
            if is_cover(s):
                kept = {}
            # If no stream is the default, a writer has to choose one.
            free = self.b.format.get("format_name") in ("mpegts", "avi") or not any(
                t.get("disposition", {}).get("default") for t in self.a.streams)
            return kept, sorted(k for k, v in s.get("disposition", {}).items()
                                if v and not (free and k == "default"))
        return self.same(f"stream {x['index']}: tags and dispositions", of(y), of(x))

    def frames(self):
        before, after = self.a.frame_times(), self.b.frame_times()
        self.same("frames", len(after), len(before))
        return f"{len(before)}/{len(after)}", self.frame_pts(before, after)

    def frame_pts(self, before, after):
        if self.a.format.get("format_name") in ("h264", "hevc", "mjpeg", "m4v"):
            top, bottom = map(int, self.a.video["r_frame_rate"].split("/"))
            rate = self.a.video["avg_frame_rate"].split("/")
            if int(rate[1]) and int(rate[0]):
                top, bottom = map(int, rate)
            before = [str(i * bottom / top) for i in range(len(after))]
        if None in before:
            return "none in input"
        step = max(tick(self.a.video), tick(self.b.video)) * 1.01
        for i, (t, u) in enumerate(zip(before, after)):
            if not close(number(t), number(u), step, self.later):
                return self.same(f"time of frame {i}", u, t)
        return "same"

    def colour(self):
        def of(s):
            full = "pc" if str(s.get("pix_fmt", "")).startswith("yuvj") else None
            return [full if k == "color_range" and full else s.get(k) for k in COLOUR]
        before, after = of(self.a.video), of(self.b.video)
        # One file may state explicitly what the other leaves at its default.
        before, after = ["tv" if v is None and i == 0 else v for i, v in enumerate(before)], [
            "tv" if v is None and i == 0 else v for i, v in enumerate(after)]
        for i, value in enumerate(before):
            if value in (None, "unknown", "unspecified"):
                before[i] = after[i]
        if self.turned():
            before[-1] = "top" if rotation(self.a.video) == -90 else "bottom"
        return self.same("colour", after, before)

    def turned(self):
        """Whether the frames are turned by a quarter instead of marked, as where the output has no place for the mark."""
        sides = [s["width"] > s["height"] for s in (self.a.video, self.b.video)]
        return rotation(self.a.video) in (-90, 90) and rotation(self.b.video) == 0 and sides[0] != sides[1]

    def shape(self):
        def of(s):
            aspect = s.get("sample_aspect_ratio", "1:1")
            return "1:1" if aspect in ("0:1", "N/A") else aspect, rotation(s)
        before = of(self.a.video)
        if self.turned():
            before = ":".join(reversed(before[0].split(":"))), 0
        return self.same("pixel aspect and rotation", of(self.b.video), before)

    def about(self):
        def tags(f):
            found = {k.lower(): v for k, v in f.format.get("tags", {}).items()}
            return {k: v for k, v in found.items() if k not in OWN_TAGS}
        marks = [[(round(max(float(c["start_time"]) + later, 0), 2), c.get("tags", {}).get("title"))
                  for c in f.chapters] for f, later in ((self.a, self.later), (self.b, 0))]
        verdicts = {self.same("chapters", marks[1], marks[0]), self.same("tags", tags(self.b), tags(self.a))}
        verdicts.add(self.each(self.described))
        return "same" if verdicts <= {"same", "none"} else "DIFFERS"


HEADER = ["streams", "packets", "times", "frames", "pts", "colour", "shape", "tags"]


def main():
    if len(sys.argv) < 3:
        print("\t".join(HEADER))
        return 0
    c = Comparison(File(sys.argv[1]), File(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "")
    if not c.a.video or not c.b.video:
        print("# no video")
        return 1
    row = [c.streams(), c.each(c.packets), c.each(c.times)]
    row += [*c.frames(), c.colour(), c.shape(), c.about()]
    print("\t".join(row))
    for line in c.complaints:
        print("# " + line[:300])
    return 1 if c.complaints else 0


sys.exit(main())
