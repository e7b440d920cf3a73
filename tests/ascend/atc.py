#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for atc: checks its options as strictly as the vendor documents them, and writes an .om of the real
layout whose weights are a .mona for the stand-in libraries. MONA: the program that compiles it. ATC_FAILS=LINE: prints
LINE and fails. ATC_TYPE=u8: the output's type, for tests of models that others have made."""
import os
import re
import struct
import subprocess
import sys
import tempfile


def refuse(code, text):
    print('ATC start working now, please wait for a moment.\n...')
    print('ATC run failed, Please check the detail log, Try \'atc --help\'\n' + code + ': ' + text)
    sys.exit(255)


options = dict(a[2:].split('=', 1) for a in sys.argv[1:])
if os.environ.get('ATC_FAILS'):
    print('ATC start working now, please wait for a moment.\n' + os.environ['ATC_FAILS'] + '\n\tPossible Cause: none')
    sys.exit(255)
known = {'model', 'framework', 'output', 'soc_version', 'input_format', 'output_type', 'enable_small_channel', 'log',
         'input_shape', 'insert_op_conf', 'dynamic_image_size', 'precision_mode', 'compression_optimize_conf'}
if set(options) - known:
    refuse('E10001', 'unknown options: %s' % (set(options) - known))
if os.environ.get('ATC_LOG'):
    with open(os.environ['ATC_LOG'], 'w') as log:
        log.write(' '.join(sys.argv[1:]) + '\n')
if not re.fullmatch('Ascend(310|310P[1-7]|310B[1-4]|910[AB]?)', options.get('soc_version', '')) or options.get('framework') != '5' or options.get('input_format') != 'NCHW':
    refuse('E10001', 'Value for soc_version, framework or input_format is invalid')
if not os.path.exists(options['model']) or options['output'].endswith('.om'):
    refuse('E10016', 'model or output is invalid')
if 'compression_optimize_conf' in options:
    conf = options['compression_optimize_conf']
    text = open(conf).read() if os.path.exists(conf) else ''
    asked = dict(line.strip().split(': ') for line in text.split('\n') if ': ' in line)
    if not re.match(r'calibration:\s*{', text) or not {'input_data_dir', 'input_shape', 'infer_soc'} <= set(asked):
        refuse('E10001', 'compression_optimize_conf: %s' % conf)
    if not os.path.exists(asked['input_data_dir']) or asked['infer_soc'] != options['soc_version']:
        refuse('E10001', 'calibration: %s' % asked)
    if options.get('precision_mode') in ('force_fp32', 'must_keep_origin_dtype'):
        refuse('E10001', 'calibration does not go with this precision_mode')
name, shape = options['input_shape'].split(':')
shape = [int(d) for d in shape.split(',')]
sizes = [tuple(int(d) for d in s.split(',')) for s in options.get('dynamic_image_size', '').split(';') if s]
if (shape[2] < 0) != bool(sizes):
    refuse('E10001', 'input_shape and dynamic_image_size disagree')
aipp = dict(line.strip().split(': ') for line in open(options['insert_op_conf']) if ': ' in line)
if aipp['aipp_mode'] != 'static' or aipp['input_format'] != 'YUV400_U8' or shape[1] != 1:
    refuse('E10001', 'aipp: %s' % aipp)
if not sizes and (int(aipp['src_image_size_h']), int(aipp['src_image_size_w'])) != tuple(shape[2:]):
    refuse('E10001', 'aipp and input_shape disagree')

with tempfile.TemporaryDirectory() as folder:
    mona = os.path.join(folder, 'net.mona')
    size = ['--any-size'] if sizes else ['--size', '%dx%d' % (shape[3], shape[2])]
    subprocess.run([os.environ['MONA'], 'compile', options['model'], '-o', mona, '--input-type', 'u8', '--output-type',
                    os.environ.get('ATC_TYPE', 'f16'), '--input-range', '%.9g' % (255 * float(aipp['var_reci_chn_0']))] +
                   size, check=True, stdout=subprocess.DEVNULL)
    with open(mona, 'rb') as f:
        net = f.read()

batches = [int(b) for b in os.environ.get('ATC_BATCHES', '').split(',') if b]
settings = b'FAKE' + struct.pack('<4I', *(batches + [0] * 4)[:4])
flat = [d for s in sizes for d in s]
settings += struct.pack('<8I', *(flat + [0] * 8)[:8])
weights = settings + bytes(64 - len(settings)) + net
parts = [(0, b''), (1, weights)]
table, offset = struct.pack('<I', len(parts)), 0
for kind, data in parts:
    table += struct.pack('<III', kind, offset, len(data))
    offset += len(data)
body = table + b''.join(data for _, data in parts)
head = bytearray(256)
struct.pack_into('<4sII', head, 0, b'IMOD', 256, 0x20000000)
struct.pack_into('<I', head, 76, len(body))
with open(options['output'] + '.om', 'wb') as f:
    f.write(bytes(head) + body)
print('ATC run success, welcome to the next use.')
