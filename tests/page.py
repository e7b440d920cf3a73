# SPDX-License-Identifier: Apache-2.0
"""Checks a page in headless Chromium, through ChromeDriver's WebDriver protocol: drags the slider, reads the
chart, looks at every picture, takes a screenshot.

    python3 tests/page.py PAGE.html SCREENSHOT.png        prints TAP lines; exits with 3 where no browser starts
"""
import base64
import json
import re
import signal
import struct
import subprocess
import sys
import urllib.error
import urllib.request

WIDTH, HEIGHT = 1280, 1700
count = 0


def check(name, good, found=''):
    global count
    count += 1
    print(f'ok {count} - {name}' if good else f'not ok {count} - {name}\n#   found: {found}')


class Browser:
    def __init__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # a time limit closes the browser too
        self.driver = subprocess.Popen(['chromedriver', '--port=0'], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            port = re.search(r'started successfully on port (\d+)', line)
            if port:
                break
        self.url = f'http://127.0.0.1:{port.group(1)}'
        arguments = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                     f'--window-size={WIDTH},{HEIGHT}', '--force-device-scale-factor=1']
        options = {'goog:chromeOptions': {'args': arguments}, 'goog:loggingPrefs': {'browser': 'ALL'}}
        self.url += '/session/' + self.call('/session', {'capabilities': {'alwaysMatch': options}})['sessionId']

    def call(self, path, body=None, method=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {'Content-Type': 'application/json'}, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)['value']

    def run(self, script):
        return self.call('/execute/sync', {'script': script, 'args': []})

    def drag(self, start, end):
        steps = [{'type': 'pointerMove', 'x': int(start[0]), 'y': int(start[1]), 'duration': 0},
                 {'type': 'pointerDown', 'button': 0},
                 {'type': 'pointerMove', 'x': int(end[0]), 'y': int(end[1]), 'duration': 100},
                 {'type': 'pointerUp', 'button': 0}]
        self.call('/actions', {'actions': [{'type': 'pointer', 'id': 'mouse', 'actions': steps}]})

    def hover(self, x, y, click=False):
        steps = [{'type': 'pointerMove', 'x': int(x), 'y': int(y), 'duration': 0}]
        steps += [{'type': 'pointerDown', 'button': 0}, {'type': 'pointerUp', 'button': 0}] if click else []
        self.call('/actions', {'actions': [{'type': 'pointer', 'id': 'mouse', 'actions': steps}]})

    def close(self):
        """Ends the session first: a driver that is only terminated leaves its browser running."""
        try:
            self.call('', method='DELETE')
        finally:
            self.driver.terminate()
            self.driver.wait()


def pixels(png):
    """The rows of a PNG of 8 bits, as bytes of RGB."""
    width, height = struct.unpack('>II', png[16:24])
    raw = subprocess.run(['ffmpeg', '-v', 'error', '-i', '-', '-pix_fmt', 'rgb24', '-f', 'rawvideo', '-'], input=png, capture_output=True,
                         check=True).stdout
    return [raw[y * width * 3:(y + 1) * width * 3] for y in range(height)]


def at_of(browser):
    return browser.run('return parseFloat(getComputedStyle(document.getElementById("stage")).getPropertyValue("--at"))')


def box(browser, selector):
    return browser.run(f'const b = document.querySelector("{selector}").getBoundingClientRect();'
                       'return [b.left, b.top, b.width, b.height]')


def slider(browser):
    left, top, width, height = box(browser, '#stage')
    middle = top + height / 2
    check('the slider begins in the middle', at_of(browser) == 50, at_of(browser))
    browser.drag((left + width / 2, middle), (left + width / 4, middle))
    check('dragged, it follows', abs(at_of(browser) - 25) < 0.5, at_of(browser))
    clip = browser.run('return getComputedStyle(document.getElementById("before")).clipPath')
    check('and so does the edge of the picture before', clip == 'inset(0px 75% 0px 0px)', clip)
    value = browser.run('return document.getElementById("handle").getAttribute("aria-valuenow")')
    check('which is said to those who cannot see', value == '25', value)
    browser.drag((left + width / 4, middle), (left + width + 15, middle))
    check('it stops at the edge', at_of(browser) == 100, at_of(browser))
    browser.call('/actions', {'actions': [{'type': 'key', 'id': 'keys', 'actions': [
        {'type': 'keyDown', 'value': '\ue012'}, {'type': 'keyUp', 'value': '\ue012'}]}]})
    check('the left arrow moves it too', at_of(browser) == 98, at_of(browser))
    browser.drag((left + width * 0.98, middle), (left + width / 2, middle))


def pictures(browser, data):
    sizes = browser.run('return Promise.all(["before", "after"].map(async id => { const i = document.getElementById(id);'
                        'await i.decode(); return [i.naturalWidth, i.naturalHeight] }))')
    check('both pictures are of the size said', sizes == [[data['width'], data['height']]] * 2, sizes)
    shown = browser.run('return [...document.querySelectorAll("#views button")].map(b => {'
                        'b.click(); return [document.getElementById("before").src, document.getElementById("after").src] })')
    check('every view shows its own two pictures',
          shown == [[v['a'], v['b']] for v in data['views']] and len(shown) >= min(2, len(data['time'])), len(shown))
    worst = [v['frame'] for v in data['views'] if v['worst']]
    check('the worst frame is among them', worst == [data['planes'][-1]['psnr_worst_frame']], worst)
    browser.run('document.querySelector("[data-zoom=\'1\']").click()')
    check('1:1 shows a pixel as a pixel', abs(box(browser, '#stage')[2] - data['width']) < 1, box(browser, '#stage'))
    browser.run('document.querySelector("[data-zoom=\'0\']").click()')


def chart(browser, data):
    browser.run('document.querySelector(".chart").scrollIntoView()')
    left, top, width, height = box(browser, '.chart svg')
    scale = width / 1000
    frames, psnr = len(data['time']), list(data['psnr'].values())[-1]
    for frame in sorted({0, frames // 3, frames - 1}):
        x = 56 + (928 * frame / (frames - 1) if frames > 1 else 464)
        browser.hover(left + x * scale, top + height / 3)
        text = browser.run('return document.getElementById("readout").textContent')
        value = psnr[frame]
        wanted = 'identical' if value is None else f'{value:.2f} dB'
        check(f'the chart reads {wanted} at frame {frame}', text.startswith(f'frame {frame} ') and wanted in text, text)
        if data.get('latency') and data['latency'][frame] is not None:
            check('and how long it took', f'{data["latency"][frame]:.1f} ms' in text, text)
    titles = browser.run('return [...document.querySelectorAll(".chart .title")].map(t => t.textContent)')
    check('the chart has its panels', titles == ['PSNR, dB', 'SSIM'] + ['Latency, ms'] * bool(data.get('latency')), titles)
    lines = browser.run('return [...document.querySelectorAll(".chart .line")].map(t => t.getAttribute("d"))')
    planes = [v for quality in ('psnr', 'ssim') for v in data[quality].values()] + [v for v in [data.get('latency')] if v]
    ends = [('M56.0 ' if frames > 1 else 'M520.0 ') in d and (frames == 1 or 'L984.0 ' in d) for d in lines]
    check('with a line for each plane, from the left edge to the right', len(lines) == len(planes) and
          all(end or None in v for end, v in zip(ends, planes)), lines)
    if None not in psnr and min(psnr) < max(psnr):
        heights = [float(y) for y in re.findall(r'[ML][0-9.]+ ([0-9.]+)', lines[len(data['psnr']) - 1])]
        check('the better the higher', [i for _, i in sorted((-v, i) for i, v in enumerate(psnr))][:3] ==
              [i for _, i in sorted((y, i) for i, y in enumerate(heights))][:3], heights)
    browser.hover(left + (56 + 928) * scale, top + height / 3, click=True)
    last = max(data['views'], key=lambda v: v['frame'])
    same = browser.run('return document.getElementById("after").src') == last['b']
    check('a click on the chart shows the nearest view', same)
    browser.run('scrollTo(0, 0)')


def facts(browser, data):
    rows = browser.run('return [...document.querySelectorAll("#facts tr")].map(r => [...r.cells].map(c => c.textContent))')
    check('every fact is shown', rows == data['facts'] and len(rows) >= 4, rows)
    planes = browser.run('return [...document.querySelectorAll("#quality td:first-child")].map(c => c.textContent)')
    words, cards = browser.run('return [document.getElementById("words").textContent,'
                               '[...document.querySelectorAll(".figure span")].map(s => s.textContent)]')
    check('what was done leads in words, or else the quality does', words == data['words'] and
          bool(words) != ('PSNR' in cards) and len(cards) >= 3, [words, cards])
    check('every plane is shown', planes == [p['plane'] for p in data['planes']], planes)


def look(browser, path):
    png = base64.b64decode(browser.call('/screenshot'))
    with open(path, 'wb') as out:
        out.write(png)
    rows = pixels(png)
    left, top, width, height = (int(v) for v in box(browser, '#stage'))
    middle = rows[top + height // 4]
    line = middle[(left + width // 2) * 3:][:3]
    check('the line between the halves is white on the screenshot', min(line) > 200, list(line))
    colours = {bytes(middle[(left + x) * 3:][:3]) for x in range(0, width, 7)}
    check('and there is a picture beside it', len(colours) > 20, len(colours))


def visit(page, look_at):
    """Opens the page, checks what every page must have, and calls look_at(browser, the page's data). Returns the
    exit status."""
    try:
        browser = Browser()
    except (OSError, AttributeError, urllib.error.URLError) as error:
        print(f'# no browser: {error}')
        return 3
    try:
        browser.call('/url', {'url': 'file://' + page})
        look_at(browser, json.loads(browser.run('return document.getElementById("data").textContent')))
        loaded = browser.run('return performance.getEntriesByType("resource").filter(e => !e.name.startsWith("data:")).length')
        check('nothing was loaded from anywhere', loaded == 0, loaded)
        for width in WIDTH, 400:
            browser.call('/window/rect', {'width': width, 'height': HEIGHT})
            wide = browser.run('return [document.documentElement.scrollWidth, innerWidth]')
            check(f'nothing sticks out to the right of {width} pixels', wide[0] <= wide[1], wide)
        log = [m['message'] for m in browser.call('/se/log', {'type': 'browser'}) if m['level'] == 'SEVERE']
        check('no error was logged', not log, log)
    finally:
        browser.close()
    return 0


def main(page, screenshot):
    def look_at(browser, data):
        slider(browser)
        pictures(browser, data)
        chart(browser, data)
        facts(browser, data)
        browser.run('document.querySelector("#views button").click()')
        look(browser, screenshot)

    return visit(page, look_at)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
