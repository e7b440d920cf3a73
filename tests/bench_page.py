# SPDX-License-Identifier: Apache-2.0
"""Checks a page of mona bench --html in headless Chromium: its figures, pictures and tables must match the data in it.

    python3 tests/bench_page.py PAGE.html RESULT.json SCREENSHOT.png     prints TAP lines; exits with 3 where no browser starts
"""
import base64
import json
import sys

from page import check, pixels, visit


def cells(browser, selector):
    return browser.run(f'return [...document.querySelectorAll("{selector} tr")].map(r => [...r.cells].map(c => c.textContent))')


def count(browser, selector):
    return browser.run(f'return document.querySelectorAll("{selector}").length')


def titles(browser, selector):
    return browser.run(f'return [...document.querySelectorAll("{selector} title")].map(t => t.textContent)')


def headline(browser, data):
    shown = dict(browser.run('return [...document.querySelectorAll(".figure")].map(f => [f.dataset.name, f.querySelector("b").textContent])'))
    wanted = {'p50': f'{data["p50_ms"]:.3f} ms', 'p99': f'{data["p99_ms"]:.3f} ms', 'max': f'{data["max_ms"]:.3f} ms',
              'frames': str(data['iterations'])}
    check('the headline is the result\'s', wanted.items() <= shown.items(), shown)
    if 'verdict' in data:
        check('and so is the verdict', shown['verdict'] == ('PASS' if data['verdict']['pass'] else 'FAIL'), shown)


def frames(browser, data):
    bars = titles(browser, '#frames')
    wanted = [f'frame {i}: {ms:.3f} ms' for i, ms in enumerate(data['samples_ms'])]
    check('every frame has its bar', bars == wanted, bars[:3])
    deadline = data.get('deadline', {}).get('deadline_ms') or data.get('verdict', {}).get('budget_ms')
    if deadline:
        late = sum(ms > deadline for ms in data['samples_ms'])
        check(f'{late} late frames are marked', count(browser, '#frames .late') == late, count(browser, '#frames .late'))
    counts = [int(t.split(': ')[1]) for t in titles(browser, '#histogram')]
    check('the histogram shows all its bins', counts == data['histogram']['counts'] and sum(counts) == len(wanted), counts)
    rows = dict(r for r in cells(browser, '#times') if len(r) == 2)
    keys = {'mean': 'mean_ms', 'p90': 'p90_ms', 'p99.9': 'p99.9_ms', 'standard deviation': 'stddev_ms'}
    check('the table of times is right', all(rows[k] == f'{data[v]:.3f}' for k, v in keys.items()), rows)


def layers(browser, data):
    rows = cells(browser, '#layers')[1:]
    wanted = [[(r['stage'] + ': ' if 'stage' in r else '') + r['name'], f'{r["ms"]:.3f}'] for r in data['layers']]
    check('every operator has its row', [[r[0], r[4]] for r in rows] == wanted, rows)
    check('and its bar', count(browser, '#layers rect') == len(wanted))
    points = browser.run('return [...document.querySelectorAll("#roofline circle")].map(c => [c.dataset.name, +c.getAttribute("cx"), +c.getAttribute("cy")])')
    working = [r for r in data['layers'] if r.get('gmac', 0) > 0]
    check('operators that multiply lie on the roofline', [p[0] for p in points] == [r['name'] for r in working], points)
    check('inside of it', all(70 <= x <= 1180 and 0 <= y <= 380 for _, x, y in points), points)
    # Values that agree to a tenth of a pixel may be in either order.
    heights = [p[2] for p, _ in sorted(zip(points, working), key=lambda pair: -pair[1]['gmac_per_s'])]
    check('the faster the higher', heights == sorted(heights) and len(heights) == len(working), points)


def pipeline(browser, data):
    rows = cells(browser, '#steps')[1:]
    check('the table shows works and waits', [[r[0], r[1], r[4]] for r in rows] ==
          [[s['name'], f'{s["work"]["p50_ms"]:.3f}', f'{s["wait"]["p50_ms"]:.3f}'] for s in data['steps']], rows)


def main(page, result, screenshot):
    def look_at(browser, data):
        check('the page carries the result', data == json.load(open(result)))
        headline(browser, data)
        frames(browser, data)
        if 'layers' in data:
            layers(browser, data)
        if 'timeline' in data:
            pipeline(browser, data)
        if 'each' in data:
            check('every stream has its row', len(cells(browser, '#streams')) == 1 + len(data['each']))
        warnings = browser.run('return [...document.querySelectorAll("#warnings li")].map(l => l.textContent)')
        check('warnings are repeated', warnings == data.get('warnings', []), warnings)
        known = dict(cells(browser, '#facts'))
        check('it says where it comes from', all(v in known.values() for v in data['provenance'].values() if isinstance(v, str)), known)
        check('in words', not [name for name in known if '_' in name], known)
        png = base64.b64decode(browser.call('/screenshot'))
        with open(screenshot, 'wb') as out:
            out.write(png)
        colours = {row[i:i + 3] for row in pixels(png)[::7] for i in range(0, len(row), 7 * 3)}
        check('there is something to see', len(colours) > 12, len(colours))

    return visit(page, look_at)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
