// SPDX-License-Identifier: Apache-2.0
/* What an .mp4 or .mov shows by its edit lists, as MP4Box's reader (GPAC's, in JavaScript) finds them.
 *
 *   node mp4box.cjs FOLDER FILE    FOLDER: where npm installed mp4box
 *
 * Prints JSON: "movie", its duration, and for each track its kind, its duration in the header, when its frames are shown
 * and when the last of them ends. All in seconds. */
'use strict';
const fs = require('fs');
const mp4box = require('module').createRequire(require('path').resolve(process.argv[2], 'from'))('mp4box');

/* ISO/IEC 14496-12, 8.6.6: each edit shows a part of the track, or nothing where its media time is -1. */
function shown(file, track) {
    const movie = file.moov.mvhd.timescale, media = track.mdia.mdhd.timescale;
    const whole = {media_time: 0, segment_duration: Infinity};
    const edits = track.edts && track.edts.elst ? track.edts.elst.entries : [whole];
    const times = [];
    let at = 0, end = 0;
    for (const edit of edits) {
        const length = edit.segment_duration / movie, from = edit.media_time / media;
        for (const sample of edit.media_time < 0 ? [] : file.getTrackSamplesInfo(track.tkhd.track_id)) {
            const begin = sample.cts / media - from, last = begin + sample.duration / media;
            if (last <= 0 || begin >= length)
                continue;
            times.push(at + Math.max(begin, 0));
            end = Math.max(end, at + Math.min(last, length));
        }
        at += length;
    }
    return {kind: track.mdia.hdlr.handler, header: track.tkhd.duration / movie, times: times.sort((a, b) => a - b), end};
}

const file = mp4box.createFile();
const bytes = fs.readFileSync(process.argv[3]);
const whole = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
whole.fileStart = 0;
file.onError = (fault) => { throw new Error(fault); };
file.appendBuffer(whole);
file.flush();
console.log(JSON.stringify({movie: file.moov.mvhd.duration / file.moov.mvhd.timescale, tracks: file.moov.traks.map((track) => shown(file, track))}));
