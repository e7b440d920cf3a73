#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether players show two files alike: the frames that edit lists leave, their times, and the sound beside them.

players.py RESULT REFERENCE LATE ROOM [FOLDER]
    LATE: seconds after 0 at which the result may begin at the latest
    ROOM: by which a frame may be off, for the container's clock
    FOLDER: where npm installed mp4box

REFERENCE says how many frames there are, how far apart, how long they last, and how much later than the
video the sound is heard. RESULT must begin at 0. FFmpeg's player decodes both; where GStreamer is installed,
its own readers must find the same frames in RESULT, and with FOLDER so must MP4Box's in an .mp4 or .mov. Prints what differs, a line each, and then fails.
"""
import json
import os
import re
import shutil
import subprocess
import sys

SYNC = 0.03  # encoders of sound begin with a packet that holds no sound yet
# Where there are no edit lists, the packet by which the decoder of sound warms up is heard, in sync.
WARM_UP = 0.047


def output_of(*command):
    return subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout


class Ffmpeg:
    """As ffplay shows it: libav applies the edit list."""

    def __init__(self, path):
        found = json.loads(output_of("ffprobe", "-v", "error", "-of", "json", "-show_entries",
                                     "frame=media_type,best_effort_timestamp_time,pkt_duration_time,duration_time",
                                     path) or "{}")
        frames = found.get("frames", [])
        self.video, self.sound = ([f for f in frames if f["media_type"] == kind] for kind in ("video", "audio"))
        self.times = [float(f["best_effort_timestamp_time"]) for f in self.video]
        heard = [float(f["best_effort_timestamp_time"]) for f in self.sound]
        self.first_sound, self.last_sound = (heard[0], heard[-1]) if heard else (None, None)

    def start(self):
        return min(t for t in (self.times[0], self.first_sound) if t is not None)


def gstreamer_times(path):
    """Times of the video's frames, as its own readers find them. An edit list leaves out frames."""
    text = output_of("timeout", "30", "gst-launch-1.0", "-v", "filesrc", f"location={path}", "!", "decodebin", "!",
                     "video/x-raw", "!", "fakesink", "silent=false", "sync=false")
    found = re.findall(r"chain .* pts: (\d+):(\d+):(\d+\.\d+)", text)
    return [int(hours) * 3600 + int(minutes) * 60 + float(seconds) for hours, minutes, seconds in found]


def apart(times):
    return [t - times[0] for t in times]


def differ(name, found, wanted, room):
    """Lines about two lists of times."""
    if len(found) != len(wanted):
        return [f"{name}: {len(found)} frames, expected {len(wanted)}"]
    off = [(abs(a - b), i) for i, (a, b) in enumerate(zip(found, wanted))]
    worst, where = max(off) if off else (0, 0)
    return [] if worst <= room else [f"{name}: frame {where} at {found[where]:.4f} s, expected {wanted[where]:.4f}"]


def mp4box(path, folder, seen, room):
    """Lines about an .mp4 or .mov as MP4Box reads it: it shows what FFmpeg shows, for as long as its headers say."""
    reader = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mp4box.cjs")
    found = json.loads(output_of("node", reader, folder, path) or "{}")
    if not found:
        return ["MP4Box: it cannot be read"]
    first = {track["kind"]: track for track in reversed(found["tracks"])}
    film, sound = first["vide"], first.get("soun")
    lines = differ("MP4Box", film["times"], seen.times, room)
    if sound and abs(sound["times"][0] - seen.first_sound) > room:
        lines.append(f"MP4Box: sound begins at {sound['times'][0]:.3f} s, expected {seen.first_sound:.3f}")
    lines += [f"MP4Box: {track['kind']} lasts {track['end']:.3f} s, its header says {track['header']:.3f}"
              for track in found["tracks"] if abs(track["end"] - track["header"]) > room]
    longest = max(track["header"] for track in found["tracks"])
    if abs(found["movie"] - longest) > room:
        lines.append(f"MP4Box: the movie lasts {found['movie']:.3f} s, its longest track {longest:.3f}")
    return lines


def judge(result, reference, late, room, folder=None):
    a, b = Ffmpeg(result), Ffmpeg(reference)
    if not a.times or not b.times:
        return [f"frames: {len(a.times)}, expected {len(b.times)}"]
    lines = differ("ffmpeg", apart(a.times), apart(b.times), room)
    if not -SYNC <= a.start() <= late:
        lines.append(f"starts at {a.start():.3f} s, expected 0 to {late}")
    if (a.first_sound is None) != (b.first_sound is None):
        lines.append(f"sound: first at {a.first_sound}, expected {b.first_sound}")
    elif a.first_sound is not None:
        for what, found, wanted, early in (
                ("begins", a.first_sound - a.times[0], b.first_sound - b.times[0], WARM_UP),
                ("ends", a.last_sound - a.times[0], b.last_sound - b.times[0], SYNC)):
            if not -early - room <= found - wanted <= SYNC + room:
                lines.append(f"sound {what} {found:.3f} s after the first frame, expected {wanted:.3f}")
    if shutil.which("gst-launch-1.0") and not result.endswith(".nut"):  # which it reads by libav
        shown = gstreamer_times(result)
        lines += differ("GStreamer", apart(shown) if shown else [], apart(a.times), room)
    if folder and result.endswith((".mp4", ".mov")):
        lines += mp4box(result, folder, a, room)
    return lines


def main():
    found = judge(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]), *sys.argv[5:])
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
