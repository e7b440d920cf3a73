# SPDX-License-Identifier: Apache-2.0
"""Checks a page of mona compile --report in headless Chromium: its figures and tables must match the data in it.

    python3 tests/compile_page.py PAGE.html SCREENSHOT.png     prints TAP lines; exits with 3 where no browser starts
"""
import base64
import sys

from page import check, visit


def cells(browser, selector):
    return browser.run(f'return [...document.querySelectorAll("{selector} tr")].map(r => [...r.cells].map(c => c.textContent))')


def main(page, screenshot):
    def look_at(browser, data):
        figures = dict(browser.run('return [...document.querySelectorAll(".figure")].map(f => [...f.children].map(c => c.textContent).reverse())'))
        wanted = {'precision': data['precision'], f'of {data["fusible"]} fusible operators fused': f'{100 * data["coverage"]:.1f} %',
                  'memory reuse of tensors': f'{100 * data["memory"]["reuse"]:.1f} %',
                  f'calls in place of {data["memory"]["plain"]["calls"]}': str(data['memory']['calls'])}
        check('the headline is the data\'s', wanted.items() <= figures.items(), figures)
        rows = cells(browser, '#rules')[1:]
        wanted = [[r['rule'] + ('' if r['on'] else ' (off)'), str(r['matched']), str(r['applied'])] for r in data['rules']]
        check('every rule is shown', [[r[0], r[2], r[3]] for r in rows] == wanted, rows)
        kept = cells(browser, '#kept')[1:]
        check('and what was left, with its reason', kept == [[k['rule'], k['operator'], k['type'], k['why']] for k in data['kept']], kept)
        check('the section is hidden where nothing was', browser.run('return document.getElementById("kept").hidden') == (not kept))
        layers = cells(browser, '#layers')[1:]
        check('every layer is shown', [r[0] for r in layers] == [l['layer'] for l in data['layers']], layers[:3])
        arrays = cells(browser, '#arrays')[1:]
        check('and every operator on arrays', [r[0] for r in arrays] == [a['operator'] for a in data['arrays']], arrays[:3])
        widths = browser.run('return [...document.querySelectorAll(".bars i")].map(b => b.getBoundingClientRect().width)')
        memory = data['memory']
        sizes = [memory['plain']['tensors_bytes'], memory['tensors_bytes'], memory['live_bytes'], memory['planned_bytes']]
        longest = max(widths)
        check('bars are as long as the bytes are many',
              len(widths) == 4 and all(abs(w - max(2, longest * s / max(sizes))) < 2 for w, s in zip(widths, sizes)), widths)
        with open(screenshot, 'wb') as out:
            out.write(base64.b64decode(browser.call('/screenshot')))

    return visit(page, look_at)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
