# SPDX-License-Identifier: Apache-2.0
"""Gives every option of a command in every mode of it, beside a command line that is known to work, and looks what
comes of it. An option either changes what the run makes or says, or is refused in a line that names it, or stands in
the table's rules as without effect there. usage: settings_judge.py MONA ROWS.json FOLDER CHIP PART...

CHIP is a folder with the stand-in for the vendor's libraries, in "full", which runs with --device ascend load; they are left out
where there is none.

A PART is a command, a run of RUNS, or RUN-pairs: then every two options are given together, and each must still do what
it does alone.

Of runs that are no PART, only what the rules refuse is given, which takes no time; of that, with the part third, one in
three.

Prints a line for each option and mode that is none of these, and the number of all."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

mona, rows, folder, parts = os.path.abspath(sys.argv[1]), json.load(open(sys.argv[2])), sys.argv[3], set(sys.argv[5:])
chip = os.path.abspath(sys.argv[4] + '/full')
make_kernel = os.path.abspath('tests/ascend/make_kernel.py')
models = os.path.abspath('models')
conformance = os.path.abspath('tests/conformance/conv')
zeros, atc = os.path.abspath('tests/precision/zeros.onnx'), os.path.abspath('tests/ascend/atc.py')

# ---- what is given ---------------------------------------------------------------------------------------------------
# Of an option: its value, and where one command line cannot show its effect, another input or further options for it and
# for the run that it is compared with. A value in BAD is refused, which shows that an option is read where its effect
# cannot be seen in a result.
VALUES = {
    'enhance': {
        '--input': 'other.mkv', '--output': 'named.mkv', '--out-dir': 'elsewhere', '--raw': '96x54:nv12:10', '--fps': '10',
        '--on-error': 'stop', '--allow': 'playlist', '--part': '1/2', '--segment': '3', '--format': 'nut', '--start': '0.1', '--duration': '100ms', '--end': '0.2',
        '--frames': '3', '--stages': 'denoise', '--scale': '3', '--height': '100', '--width': '120', '--tier': 'best', '--content': 'anime',
        '--sr': 'sr_x2_tiny', '--denoise': 'denoise_balanced', '--strength': '1', '--detail': '1', '--grain': 'keep', '--colour': '0.5',
        '--colour-model': models + '/colour.mona', '--temporal': 'off', '--deinterlace': 'off', '--fields': 'double',
        '--rotate': '90', '--size': '128x128', '--kernels': 'folder', '--codec': 'hevc', '--crf': '44', '--preset': 'ultrafast',
        '--encoder-option': 'qmin=45', '--audio': 'none', '--threads': '1:1:1', '--device': 'model310', '--cpu': 'c',
        '--strip-rows': '8', '--max-delay': '1us', '--reconnect': '0', '--stall': '1', '--metrics': 'm.prom',
        '--metrics-label': 'door', '--preview': '0.1', '--quality': '40', '--html': 'page.html', '--progress': 'json', '--limit': 'pixels=99'},
    'bench': {
        '--size': '96x64', '--threads': '1', '--device': 'model310', '--cpu': 'c', '--strip-rows': '8', '--tile-columns': '32',
        '--streams': '2', '--onnx': 'none.onnx', '--pipeline': 'synthetic', '--fps': '500', '--jitter': 'none', '--late': 'none',
        '--burst': 'none', '--max-delay': '60', '--warmup': '3', '--iterations': '11', '--duration': '1ms', '--budget': '1us',
        '--compare': 'old.json', '--max-regression': '70%', '--trace': 'trace.json', '--costs': 'costs.json',
        '--report': 'report.json', '--html': 'page.html', '--audio': 'none'},
}
VALUES['compare'] = {'--start': '0.1', '--duration': '0.1', '--end': '0.2', '--frames': '5', '--html': 'page.html',
                     '--min-psnr': 'inf', '--min-ssim': '1'}
VALUES['inspect'] = {'--size': '64x48', '--threads': '1', '--device': 'model310', '--cpu': 'c', '--strip-rows': '8', '--tile-columns': '8',
                     '--firmware': 'cortex-m55', '--flash': '1K', '--ram': '1K', '--clock': '400M', '--fps': '15', '--dot': 'net.dot', '--verify': 'other.pub', '--least-release': '9'}
VALUES['sign'] = {'--key': 'other.key'}
VALUES['run'] = {'--input': 'x.npy', '--output': 'z.npy', '--precision': 'fp16', '--threads': '1', '--device': 'model310', '--cpu': 'c',
                 '--strip-rows': '8', '--tile-columns': '8'}
VALUES['compile'] = {
    '--output': 'named.mona', '--name': 'door', '--precision': 'auto', '--max-drop': '9dB', '--target': 'x86-avx2', '--emit': 'c',
    '--pin': 'body.1=int8', '--dim': 'h=50', '--size': '64x48', '--fusion': 'rules.cfg', '--report': 'report.json',
    '--calibrate': 'in', '--channel-order': 'bgr', '--images': '1',
    '--calibration': 'min-max', '--tolerance': '100', '--input-type': 'u16', '--mean': '128', '--deviation': '64',
    '--output-type': 's8', '--input-range': '2', '--bits': '12', '--soc': 'Ascend310P3', '--atc': 'log=error', '--release': '7', '--kernels': 'folder'}
VALUES['eval'] = {'--set': 'in', '--list': 'list.txt', '--protocol': 'denoise', '--scale': '2', '--sigma': '9', '--threads': '1',
                  '--device': 'model310', '--cpu': 'c', '--strip-rows': '8', '--tile-columns': '8'}
VALUES['verify'] = {'--rtol': '0', '--atol': '0', '--device': 'model310', '--dim': 'rows=3'}
VALUES['devices'] = {'--watch': '0.1', '--times': '2'}
VALUES['help'] = {'--completion': 'zsh'}
for command in ('run', 'bench', 'inspect'):
    VALUES[command]['--kernels'] = 'folder'
VALUES['bench'] = {**{o: v for o, v in VALUES['enhance'].items() if o not in ('--fps', '--size')}, **VALUES['bench']}
BAD = {'--threads': 'x', '--device': 'none', '--cpu': 'none', '--strip-rows': 'x', '--detail': 'x', '--grain': 'x', '--strength': 'x', '--audio': 'x',
       '--colour-model': 'none.mona', '--onnx': 'x', '--tile-columns': 'x', '--precision': 'x'}
VALUES['int8'] = {'--pin': 'body.1=fp16'}  # in this run
VALUES['live'] = {'--device': 'host'}  # model310 may be too slow and leave frames out
# (command, option): further options, another input.
BESIDE = {
    ('enhance', '--on-error'): ([], 'damaged.mkv'), ('enhance', '--verbose'): ([], 'damaged.mkv'),
    ('enhance', '--part'): ([], 'mute.mkv'), ('enhance', '--resume'): (['--on-error', 'stop'], 'damaged.mkv'), ('enhance', '--drop-unsupported'): ([], 'rich.mkv'), ('enhance', '--keep-start'): ([], 'late.ts'),
    ('enhance', '--deinterlace'): ([], 'fields.mkv'), ('enhance', '--fields'): ([], 'fields.mkv'),
    ('enhance', '--detail'): (['--strength', '1'], None), ('enhance', '--grain'): (['--strength', '1'], None), ('enhance', '--colour-model'): (['--stages', 'colour'], None),
    ('enhance', '--recursive'): (['--out-dir', 'out'], None),
    ('compile', '--any-size'): (['--dim', 'h=48', '--dim', 'w=64'], None), ('compile', '--channel-order'): ([], 'colours.onnx'),
    ('compile', '--bits'): (['--input-type', 'u16'], None), ('compile', '--max-drop'): (['--precision', 'auto', '--calibrate', 'in'], None),
    **{('inspect', o): (['--firmware', 'cortex-m55'], None) for o in ('--flash', '--ram', '--clock')},
    ('inspect', '--fps'): (['--firmware', 'cortex-m55', '--clock', '400M'], None),
    ('verify', '--atol'): (['--rtol', '0', '--atol', '1'], None),
    ('enhance', '--reconnect'): (['--live', '--reconnect', '1'], 'tcp://127.0.0.1:9'),
}
# Further values: what is given, further options, another input, and what is then said, or seen in the result.
MORE = {('enhance', '--fields'): [(['--fields', 'film'], [], 'pulled.mkv', '24 frames a second are restored')]}
# The file that lies under the output's name before the run.
OVERWRITES = {'--overwrite', '--no-overwrite'}
# Shown by other tests, for the reason.
ELSEWHERE = {
    ('films', '--scale'): 'both have one size',
    ('preview', '--on-error'): 'the damage lies behind the frame', ('preview', '--verbose'): 'so does what is said of it',
    ('pipeline', '--fields'): 'the synthetic clip is not interlaced', ('bench-live', '--fields'): 'the same',
    ('chip-pipeline', '--fields'): 'the same',
    **{('capacity', o): 'test_capacity: it changes times, and the number where they are near the budget'
       for o in ('--jitter', '--late', '--burst')},
    ('raw-out', '--encoder-option'): 'raw frames have no quantiser',
    ('pictures-out', '--drop-unsupported'): 'PNG holds alpha, and sound is left out with a line',
    ('atc', '--soc'): 'om.sh: the stand-in of atc makes the same for all chips',
    ('enhance', '--allow'): 'playlists.sh: only a playlist shows it',
    **{(command, '--kernels'): 'user_kernels.sh: only a node of another domain shows it' for command in ('compile', 'run', 'bench', 'inspect', 'enhance')},
    ('enhance', '--stall'): 'live.sh: only a connection without data shows it',
    ('enhance', '--max-delay'): 'live.sh: only a late frame shows it',
    **{(command, '--no-sandbox'): 'sandbox.sh: only an attempt to leave it shows it'
       for command in ('enhance', 'compare', 'compile', 'verify', 'inspect', 'run', 'eval')},
}

# Only what is refused there is judged: without a chip it fails.
FAILS = {'report'}

# Pairs of which one decides, for the reason.
PAIRS = {
    ('--iterations', '--duration'): 'whichever comes first', ('--advise', '--layers'): 'advice is on layers, which it lists',
    ('--live', '--low-latency'): 'a live stream always runs like that', ('--live', '--strip-rows'): 'latencies are reported without the bytes of memory',
    ('--content', '--stages'): 'there is no denoiser for drawn film', ('--content', '--sr'): 'the network is named',
    ('--content', '--scale'): 'networks for drawn film enlarge twice', ('--content', '--height'): 'the same',
}

# ---- runs ------------------------------------------------------------------------------------------------------------
# name, command, arguments (IN: the input, which an option may want otherwise), modes
INT8 = '--precision int8 or auto'
BENCH = ['--warmup', '1', '-n', '20', '--json']
RUNS = [
    ('film', 'enhance', ['IN=film.mkv', '-o', 'out.mp4'], []),
    ('picture', 'enhance', ['IN=photo.png', '-o', 'out.png'], ['a picture']),
    ('pictures-in', 'enhance', ['IN=in/%04d.png', '-o', 'out.mp4'], ['numbered pictures as IN']),
    ('pictures-out', 'enhance', ['IN=mute.mkv', '-o', 'out%04d.png'], ['numbered pictures as OUT']),
    ('raw-out', 'enhance', ['IN=mute.mkv', '-o', 'out.y4m'], []),
    ('preview', 'enhance', ['IN=film.mkv', '-o', 'out.png', '--preview', '0'], ['--preview']),
    ('dry-run', 'enhance', ['IN=film.mkv', '-o', 'out.mp4', '--dry-run'], ['--dry-run']),
    ('live', 'enhance', ['IN=mute.mkv', '-o', 'out.mp4', '--live', '--max-delay', '60'], ['--live']),
    ('folder', 'enhance', ['IN=folder', '--out-dir', 'out'], ['--out-dir']),
    ('model', 'bench', ['bicubic_x2', '--size', '64x48', '--warmup', '1', '-n', '400', '--json'], ['a model']),
    ('streams', 'bench', ['bicubic_x2', '--size', '64x48', '--streams', '2', '-n', '20', '--json'], ['a model', '--streams']),
    ('model310', 'bench', ['bicubic_x2', '--size', '64x48', '--device', 'model310', '--json'], ['a model', '--device model310']),
    ('capacity', 'bench', ['bicubic_x2', '--size', '64x48', '--capacity', '--device', 'model310', '--json'],
     ['a model', '--capacity', '--device model310']),
    ('pipeline', 'bench', ['--pipeline', 'synthetic', '--size', '64x48', *BENCH], ['--pipeline']),
    ('bench-live', 'bench', ['--pipeline', 'synthetic', '--size', '64x48', '--live', '--max-delay', '60', '--jitter', '1ms', *BENCH],
     ['--pipeline', '--live']),
    ('chip', 'bench', ['bicubic_x2', '--size', '64x48', '--device', 'ascend', *BENCH], ['a model', '--device ascend']),
    ('chip-pipeline', 'bench', ['--pipeline', 'synthetic', '--size', '64x48', '--device', 'ascend', *BENCH],
     ['--pipeline', '--device ascend']),
    ('chip-film', 'enhance', ['IN=film.mkv', '-o', 'out.mp4', '--device', 'ascend'], []),
    ('films', 'compare', ['film.mkv', 'twin.mkv', '--frames', '9'], []),
    ('sizes', 'compare', ['film.mkv', 'large.mkv', '--scale', '--frames', '9'], []),
    ('described', 'inspect', ['bicubic_x2'], ['no --size']),
    ('planned', 'inspect', ['bicubic_x2', '--size', '320x240'], []),
    ('nodes', 'inspect', ['conv.onnx'], ['an .onnx model', 'no --size']),
    ('operators', 'ops', [], []),
    ('signed', 'sign', ['net.mona', '--key', 'new.key'], []),
    ('fusion', 'ops', ['--fusion'], ['--fusion']),
    ('built-in', 'run', ['bicubic_x2', '-i', 'x.npy', '-o', 'y.npy'], []),
    ('onnx', 'run', ['conv.onnx', '-i', 'net.npy', '-o', 'y.npy'], []),
    ('reference', 'run', ['conv.onnx', '-i', 'net.npy', '-o', 'y.npy', '--reference'], ['--reference']),
    ('floats', 'compile', ['IN=net.onnx', '-o', 'out.mona'], ['FP16 alone']),
    ('picture-model', 'compile', ['IN=net.onnx', '-o', 'out.mona', '--picture'], ['FP16 alone']),
    ('int8', 'compile', ['IN=net.onnx', '-o', 'out.mona', '--picture', '--calibrate', 'in'], [INT8]),
    ('fp16', 'compile', ['IN=net.onnx', '-o', 'out.mona', '--picture', '--calibrate', 'in', '--precision', 'fp16'], ['FP16 alone']),
    ('sized', 'compile', ['IN=net.onnx', '-o', 'out.mona', '--size', '64x48'], ['FP16 alone']),
    ('plan', 'compile', ['IN=net.onnx', '-o', 'out.mona', '--target', 'host', '--size', '64x48'], ['FP16 alone']),
    ('program', 'compile', ['IN=net.onnx', '-o', 'out.mona', '--target', 'ascend310', '--size', '64x48'], ['FP16 alone']),
    ('emitted', 'compile', ['IN=net.onnx', '-o', 'out.c', '--emit', 'c', '--target', 'armv8', '--size', '64x48'], ['FP16 alone']),
    ('compiled', 'compile', ['bicubic_x2', '-o', 'out.mona', '--target', 'host', '--size', '64x48'], ['a model that is compiled already', 'FP16 alone']),
    ('atc', 'compile', ['IN=net.onnx', '-o', 'out.om', '--picture', '--target', 'ascend310-om', '--size', '64x48'],
     ['--target ascend310-om', 'FP16 alone']),
    ('enlarged', 'eval', ['sr_x2_tiny', '--set', 'in', '--protocol', 'sr', '--json'], ['--protocol sr']),
    ('bicubic', 'eval', ['bicubic', '--scale', '2', '--set', 'in', '--protocol', 'sr', '--json'], ['--protocol sr', 'bicubic']),
    ('denoised', 'eval', ['denoise_fast', '--set', 'in', '--protocol', 'denoise', '--json'], []),
    ('case', 'verify', ['case'], []),
    ('no-engine', 'verify', ['case', '--no-engine'], ['--no-engine']),
    ('case-json', 'verify', ['case', '--json'], ['--json']),
    ('listed', 'devices', [], []),
    ('checked', 'devices', ['--check'], ['--check']),
    ('commands', 'help', [], []),
    ('about', 'help', ['enhance'], []),
    ('manual', 'help', ['--man'], []),
    ('peak', 'bench', ['--peak', '--json'], ['--peak']),
    ('report', 'bench', ['--report', 'report.json'], ['--report']),
]


def ffmpeg(*arguments):
    subprocess.run(['ffmpeg', '-v', 'error', '-y', *arguments], check=True)


def make_inputs():
    film = ['-f', 'lavfi', '-i', 'color=gray:s=96x54:r=25:d=0.8,drawbox=x=t*75:y=9:w=20:h=20:c=red:t=fill,noise=alls=14:allf=t:all_seed=1']
    sound = ['-f', 'lavfi', '-i', 'sine=d=0.8']
    ffmpeg(*film, *sound, '-c:v', 'libx264', '-crf', '20', '-g', '5', '-c:a', 'aac', 'film.mkv')
    shutil.copy('film.mkv', 'other.mkv')
    ffmpeg('-i', 'film.mkv', '-an', '-c', 'copy', 'mute.mkv')
    with open('mute.mkv', 'rb') as f:
        content = bytearray(f.read())
    for at in range(len(content) * 7 // 10, len(content) * 9 // 10, 90):
        content[at:at + 30] = bytes(30)
    open('damaged.mkv', 'wb').write(content)
    ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=96x54:r=25:d=0.8,format=yuva420p', *sound, '-c:v', 'ffv1', 'rich.mkv')
    ffmpeg('-i', 'film.mkv', '-an', '-c', 'copy', '-output_ts_offset', '20', 'late.ts')
    ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=96x64:r=50:d=0.8,tinterlace=4', '-flags', '+ildct+ilme', '-c:v', 'mpeg2video', '-q:v', '3',
           'fields.mkv')
    ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=96x64:r=24000/1001:d=2.5,scroll=h=0.07:v=0.05,telecine', '-c:v', 'libx264', '-crf', '12', 'pulled.mkv')
    if os.path.isdir(chip):
        subprocess.run(['python3', make_kernel, 'kernel.o', 'mona_replay3__kernel0'], check=True)
    ffmpeg('-i', 'film.mkv', '-c:v', 'libx264', '-crf', '40', '-an', 'twin.mkv')
    ffmpeg('-i', 'film.mkv', '-vf', 'scale=192:108', '-c:v', 'libx264', '-crf', '40', '-an', 'large.mkv')
    shutil.copy(conformance + '/model.onnx', 'conv.onnx')
    shutil.copy(models + '/sr_x2_tiny.onnx', 'net.onnx')
    shutil.copy(models + '/bicubic_x2.mona', 'net.mona')
    for key in 'new.key', 'other.key':
        subprocess.run([mona, 'sign', '--new', '--key', key], check=True, capture_output=True)
    shutil.copy(zeros, 'colours.onnx')
    shutil.copytree(conformance, 'case')
    os.makedirs('bin')
    shutil.copy(atc, 'bin/atc')
    os.chmod('bin/atc', 0o755)
    open('rules.cfg', 'w').write('all:off\n')
    open('list.txt', 'w').write('0001.png\n')
    import numpy
    numpy.save('net.npy', (numpy.arange(10000) % 7 / 7).astype('float32')[:126].reshape(1, 3, 7, 6))
    numpy.save('x.npy', (numpy.arange(48 * 64) % 251).astype('uint8').reshape(48, 64))
    os.makedirs('in')
    os.makedirs('folder/deep')
    ffmpeg(*film, 'in/%04d.png')
    shutil.copy('in/0001.png', 'photo.png')
    shutil.copy('photo.png', 'folder/a.png')
    ffmpeg('-i', 'film.mkv', '-c', 'copy', 'folder/film.mp4')
    shutil.copy('photo.png', 'folder/deep/b.png')
    json.dump({'clock_mhz': 500}, open('costs.json', 'w'))


# ---- what comes of a command line ------------------------------------------------------------------------------------
KEPT = {'sigma', 'iterations', 'warm_up', 'threads', 'streams', 'at_once', 'width', 'height', 'out_width', 'out_height', 'source_fps', 'cores',
        'late_every', 'burst', 'burst_every', 'jitter_ms', 'late_ms', 'max_delay_ms', 'percentile', 'budget_ms', 'max_regression',
        'deadline_ms', 'strength', 'arena_bytes', 'engine_bytes', 'frame_bytes', 'modelled_cycles'}


def settled(value, key=''):
    """A result of bench without the times and other figures that differ from run to run."""
    if isinstance(value, dict):
        measured = {'telemetry', 'warnings', 'provenance', 'histogram', 'jitter_ms' if value.get('kind') == 'pipeline' else ''}
        return {k: settled(v, k) for k, v in value.items() if k not in measured}
    if isinstance(value, list):
        kept = [settled(v, key) for v in value]
        return [k for i, k in enumerate(kept) if k not in kept[:i]]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value if key in KEPT else 0
    return value


def settled_text(text):
    try:
        return json.dumps(settled(json.loads(text)))
    except ValueError:
        text = re.sub(r'[0-9.]+ %', '# %', re.sub(r' {2,}', ' ', text))
        if 'not written' in text:
            text = re.sub(r'[0-9]+:[0-9]+:[0-9]+|[0-9]+\.[0-9]+|about [0-9]+|by [0-9]+ %|up to [0-9]+', '#', text)
        text = re.sub(r'[0-9.]+ (s|ms|fps|frames a second|%|readings|GMAC/s|steps|of)\b', r'# \1', text)
        text = re.sub(r'(whole process|fps|ETA|after|busy|decode|upload|denoise|sr|encode|colour|resize|health unknown,) +[0-9:.]+', r'\1 #', text)
        return re.sub(r'"(fps|eta_s|ms|latency_ms|seconds|first_frame_ms|resident_mib|share|[a-z0-9.]*_ms)":[0-9.e-]+', r'"\1":0', text)


def content_of(path):
    with open(path, 'rb') as f:
        content = f.read()
    if path.endswith('.prom'):
        return ' '.join(line.split()[0] for line in content.decode().splitlines() if line[0] != '#')
    if path.endswith(('.dot', '.html', 'trace.json', 'report.json', 'manifest.json')):
        return 'written'
    if path.endswith('.minisig'):
        content = b''.join(content.splitlines()[:2])  # without the comment, which says when, and its own signature
    return hashlib.md5(content).hexdigest()


CHIP = {'LD_LIBRARY_PATH': chip, 'MONA_ASCEND_KERNEL': os.path.abspath(folder + '/kernel.o'), 'MONA_ASCEND_TIMEOUT': '60'}
ENVIRONMENT = {**os.environ, 'SOURCE_DATE_EPOCH': '0', 'MONA': mona,
               'PATH': os.path.abspath(folder + '/bin') + ':' + os.environ['PATH']}


class Outcome:
    @staticmethod
    def ended(line, environment, seconds):
        """Of a run that watches: what it has said within a second, unless it has complained and is about to end."""
        try:
            return subprocess.run(line, cwd='work', capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds, env=environment)
        except subprocess.TimeoutExpired as until:
            if seconds > 1:
                raise
            if until.stderr:
                return Outcome.ended(line, environment, 120)
            return subprocess.CompletedProcess([], 0, b'goes on: ' + (until.stdout or b''), b'')

    def __init__(self, command, arguments, before=()):
        work = 'work'
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        for name in os.listdir('.'):
            if name != work:
                os.symlink('../' + name, work + '/' + name)
        for name in before:
            os.makedirs(os.path.dirname(f'{work}/{name}'), exist_ok=True)
            open(f'{work}/{name}', 'w').write('precious')
            os.utime(f'{work}/{name}', (1, 1))
        environment = {**ENVIRONMENT, **(CHIP if 'ascend' in arguments else {})}
        run = self.ended([mona, command, *arguments], environment, 1 if '--watch' in arguments else 120)
        self.status = run.returncode
        self.said = run.stderr.decode(errors='replace')
        self.files = {}
        for at, _, names in os.walk(work):
            for name in names:
                path = os.path.join(at, name)
                if not os.path.islink(path):
                    self.files[os.path.relpath(path, work)] = content_of(path)
        self.raw = run.stdout
        self.printed = settled_text(run.stdout.decode(errors='replace'))
        self.seen = (self.status, self.files, self.printed, settled_text(self.said))
        self.bytes = (self.status, {n: c for n, c in self.files.items() if c != 'written' and not n.endswith('.prom')})

    def is_refused(self):
        """Whether it ended before it did anything; a verdict against a result is printed beside it."""
        return self.status == 2 or (self.status != 0 and not self.raw)

    def refuses(self, option):
        lines = [line for line in self.said.splitlines() if line.startswith('mona: ')]
        names = [option['name'], option['letter'] + ' '] if option['letter'] else [option['name']]
        return self.status != 0 and bool(lines) and any(n in lines[-1] + ' ' for n in names)


# ---- the walk --------------------------------------------------------------------------------------------------------
cache = {}


def outcome(command, arguments, before=()):
    key = (command, tuple(arguments), tuple(before))
    if key not in cache:
        cache[key] = Outcome(command, arguments, before)
    return cache[key]


USUAL = {'IN=film.mkv', 'IN=mute.mkv', 'IN=net.onnx'}  # what is replaced where another input shows an option's effect


def with_input(arguments, wanted):
    return [wanted if wanted and a in USUAL else a.removeprefix('IN=') for a in arguments]


def words(command, option, name=None):
    values = {**VALUES.get(command, {}), **VALUES.get(name, {})}
    return [option['name']] if option['kind'] == 'flag' else [option['name'], values[option['name']]]


def output_of(arguments):
    if '--out-dir' in arguments:
        return ['out/a.png']
    return [arguments[arguments.index('-o') + 1]] if '-o' in arguments else []


def ruled_out(option, modes):
    return bool(set(option['never']) & modes or (option['only'] and not set(option['only']) & modes))


def judge(run, option):
    """None: it is as it should be; else what is wrong."""
    usual = (words(run[1], option, run[0]), *BESIDE.get((run[1], option['name']), ([], None)))
    for way in [usual] + MORE.get((run[1], option['name']), []):
        fault = judge_way(run, option, *way)
        if fault:
            return f'{" ".join(way[0])}: {fault}'
    return None


def needs_of(option):
    """The options of which one must be there."""
    return option['needs'].split(' or ') if option['needs'] else []


def judge_way(run, option, value, beside, wanted, said=''):
    name, command, base, modes = run
    table = {o['name']: o for o in rows[command]['options']}
    films = USUAL & set(base)
    if wanted and not films and not set(option['idle'] + option['never'] + option['only']) & set(modes):
        return None  # this run has no place for what shows its effect
    base = with_input(base, wanted) + beside
    modes = modes + option['only'] * bool(beside)  # which it makes
    if option['name'] == '--json' and '--json' in base:
        base = [b for b in base if b != '--json']
        modes = [m for m in modes if m != '--json']
    needs = needs_of(option)
    if needs and not set(needs) & set(base):
        base = base + words(command, table[needs[0]])
        if needs == ['--calibrate'] and '--precision' not in base:
            modes = [m for m in modes if m != 'FP16 alone'] + [INT8]
    before = [name.replace('%04d', '0001') for name in output_of(base)] if option['name'] in OVERWRITES else ()
    given = outcome(command, base + value, before)
    if given.status > 2:
        return f'it ended with {given.status}: {given.said[:200]}'
    if given.refuses(option) or any(given.refuses(table[n]) for n in needs):
        return None
    if any(b in table and given.refuses(table[b]) for b in beside):
        return None
    if ruled_out(option, set(modes)):
        return f'its rule says that it is refused; it ended with {given.status}: {given.said[:200]}'
    plain = outcome(command, base, before)
    if films and said not in given.said and given.files == plain.files:
        return f'expected the line "{said}", found {given.said[-200:]}'
    if option['name'] in base and given.seen == plain.seen:
        return None  # it is what makes the mode
    if plain.status and name in FAILS:
        return None
    if plain.status and not before and not wanted:
        return f'the command line without it fails: {plain.said}'
    if set(option['idle']) & set(modes):
        return None if given.bytes == plain.bytes else 'its rule says that it has no effect; it has'
    if not option['changes'] and not before and given.status == plain.status and given.bytes != plain.bytes:
        return 'its row says KEEPS_BYTES; the bytes differ'
    if given.seen != plain.seen or {(command, option['name']), (name, option['name'])} & set(ELSEWHERE):
        return None
    if option['name'] in BAD:
        bad = outcome(command, base + [option['name'], BAD[option['name']]], before)
        if bad.status and (bad.refuses(option) or BAD[option['name']] in bad.said):
            return None
    return f'nothing comes of it (status {given.status}): {given.said[-200:]}'


def judge_pair(run, first, second):
    """What changes something alone must do so beside the other, or be refused."""
    name, command, base, _ = run
    base = with_input(base, None)
    one, other = words(command, first, name), words(command, second, name)
    plain, with_one, with_other = (outcome(command, base + given) for given in ([], one, other))
    if with_one.is_refused() or with_other.is_refused():
        return None
    both = outcome(command, base + one + other)
    for option, alone, without in ((first, with_one, with_other), (second, with_other, with_one)):
        if not both.is_refused() and alone.seen != plain.seen and both.seen == without.seen:
            return f'{option["name"]} is ignored beside it'
    return None


os.chdir(folder)
make_inputs()
count = wrong = refusals = 0
for command in rows:
    for option in rows[command]['options']:
        if option['kind'] != 'flag' and option['name'] not in VALUES.get(command, {}):
            print(f'not ok {command}: {option["name"]}: the judge has no value for it')
for run in RUNS:
    if 'ascend' in run[2] and not os.path.isdir(chip):
        continue
    missing = set(run[3]) - set(rows[run[1]]['modes'])
    whole = bool({run[0], run[1]} & parts)
    pairs = run[0] + '-pairs' in parts
    if missing:
        print(f'not ok {run[1]}, {run[0]}: the table has no mode {missing}')
    if whole or pairs:
        first = Outcome(run[1], with_input(run[2], None))
        again = [first.seen, Outcome(run[1], with_input(run[2], None)).seen]
        with open('old.json', 'wb') as f:
            f.write(first.raw)
        if again[0] != again[1]:
            print(f'not ok {run[1]}, {run[0]}: two runs differ: {again}')
    for option in rows[run[1]]['options']:
        if not whole and not ruled_out(option, set(run[3])):
            continue
        refusals += not whole
        if not whole and 'third' in parts and refusals % 3:
            continue
        count += 1
        fault = judge(run, option)
        if fault:
            wrong += 1
            print(f'not ok {run[1]}, {run[0]}: {option["name"]}: {fault}'.replace('\n', ' '), flush=True)
    if not pairs:
        continue
    able = [o for o in rows[run[1]]['options']
            if o['name'] not in run[2] and not '--live' in needs_of(o) and not ruled_out(o, set(run[3]))]
    for i, first in enumerate(able):
        for second in able[i + 1:]:
            if {(first['name'], second['name']), (second['name'], first['name'])} & set(PAIRS):
                continue
            count += 1
            fault = judge_pair(run, first, second)
            if fault:
                wrong += 1
                print(f'not ok {run[1]}, {run[0]}: {second["name"]} and {first["name"]}: {fault}', flush=True)
print(f'# {count} cells, {wrong} wrong')
