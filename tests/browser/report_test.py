#!/usr/bin/env python3
"""Opens a report in headless Chromium and asks: does it draw, does it answer, does anything overflow or complain?

usage: report_test.py [--has=FIGURE] CHROMIUM PAGE.html [FOLDER FOR SCREENSHOTS]

--has: a figure that the page must draw.

Speaks the DevTools protocol over a pipe, so that no package is needed. Exit code 1 with a line per problem.
"""
import base64
import os
import sys
import tempfile
import time

from browser import Browser

WIDTHS = (1280, 390)
SLICE = 1500  # pixels of a screenshot


DRAWN = """(() => { hindsightReport.drawAll(); return hindsightReport.views.map((view) => {
  const box = view.box.getBoundingClientRect();
  return {name: view.figure.name, marks: view.box.querySelectorAll('svg path, svg circle, svg rect').length,
          texts: view.box.querySelectorAll('svg text').length, width: box.width, height: box.height,
          label: view.box.getAttribute('aria-label')}; }); })()"""
CLIPPED = """[...document.querySelectorAll('h1,h2,h3,p,li,summary,button,select,td,th')].filter((one) => {
  const box = one.getBoundingClientRect();
  if (!box.width || one.closest('.scroll') || one.closest('nav') || one.closest('.skip')) return false;
  return box.right > innerWidth + 1 || box.left < -1 || one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0 && getComputedStyle(one).display !== 'inline';
}).map((one) => one.tagName + ' ' + one.textContent.slice(0, 60))"""
CLIPPED_PLOTS = """hindsightReport.views.flatMap((view) => { const box = view.box.getBoundingClientRect();
  return [...view.box.querySelectorAll('svg text')].filter((text) => { const own = text.getBoundingClientRect();
    return own.width > 0 && (own.right > box.right + 2 || own.left < box.left - 2 || own.bottom > box.bottom + 2 || own.top < box.top - 2); })
    .map((text) => view.figure.name + ': ' + text.textContent.slice(0, 40)); })"""
BROKEN_OPTIONS = """[...document.querySelectorAll('main .option')].filter((one) => one.getClientRects().length > 1)
  .map((one) => one.textContent)"""
LOOSE_OPTIONS = """(() => { const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT), loose = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (/(^|[ (])--[a-z]/.test(node.textContent) && !node.parentElement.closest('.option, svg, .plot')) loose.push(node.textContent.slice(0, 60));
  return loose; })()"""
CONTROLS = """(() => { const dead = []; hindsightReport.views.forEach((view) => {
  const home = view.box.closest('figure');
  home.querySelectorAll('select').forEach((list) => { if (list.options.length < 2) return;
    const before = view.box.innerHTML; list.value = (+list.value + 1) % list.options.length;
    list.dispatchEvent(new Event('change')); if (view.box.innerHTML === before) dead.push(view.figure.name + ': ' + list.parentElement.textContent.slice(0, 12)); });
  home.querySelectorAll('button').forEach((button) => button.click()); }); return dead; })()"""


def check(browser, page, width, dark, pictures, wanted):
    problems = []
    browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
    browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
    started = time.monotonic()
    browser.ask("Page.navigate", url="file://" + os.path.abspath(page))
    while browser.value("document.readyState") != "complete" or browser.value("typeof hindsightReport") != "object":
        if time.monotonic() - started > 30:
            return [f"{width} px: the page's script did not finish in 30 s"] + browser.complaints()
        time.sleep(0.02)
    paint = browser.value("new Promise((done) => requestAnimationFrame(() => setTimeout(() => done((performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime || null), 50)))")
    print(f"{width} px {'dark' if dark else 'light'}: first paint {paint if paint is None else round(paint)} ms")
    views = browser.value(DRAWN)
    time.sleep(0.3)
    for view in views:
        if view["marks"] < 4 or view["texts"] < 2 or view["width"] < 200 or view["height"] < 100 or not view["label"]:
            problems.append(f"{view['name']} is empty: {view}")
    problems += [f"{name} is not drawn" for name in wanted if name not in [view["name"] for view in views]]
    if browser.value("document.documentElement.scrollWidth") > width:
        problems.append(f"the page is {browser.value('document.documentElement.scrollWidth')} px wide")
    problems += ["clipped: " + text for text in browser.value(CLIPPED)]
    problems += ["clipped in a plot: " + text for text in browser.value(CLIPPED_PLOTS)]
    problems += ["broken over two lines: " + text for text in browser.value(BROKEN_OPTIONS)]
    problems += ["an option name that may break: " + text for text in browser.value(LOOSE_OPTIONS)]
    if pictures:
        height = browser.value("document.documentElement.scrollHeight")
        for slice_number, top in enumerate(range(0, height, SLICE)):
            shot = browser.ask("Page.captureScreenshot", captureBeyondViewport=True,
                               clip={"x": 0, "y": top, "width": width, "height": min(SLICE, height - top), "scale": 1})
            name = f"report-{width}-{'dark' if dark else 'light'}-{slice_number + 1}.png"
            with open(os.path.join(pictures, name), "wb") as file:
                file.write(base64.b64decode(shot["data"]))
    problems += ["this control changes nothing: " + text for text in browser.value(CONTROLS)]
    problems += browser.complaints()
    return [f"{width} px {'dark' if dark else 'light'}: {text}" for text in problems]


def main():
    wanted = [word.split("=", 1)[1] for word in sys.argv[1:] if word.startswith("--has=")]
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if len(words) not in (2, 3):
        raise SystemExit(__doc__)
    pictures = words[2] if len(words) == 3 else None
    problems = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(words[0], folder)
        try:
            for width in WIDTHS:
                for dark in (False, True):
                    problems += check(browser, words[1], width, dark, pictures, wanted)
        finally:
            browser.process.kill()
            browser.process.wait()
    for problem in problems:
        print(problem)
    if problems:
        raise SystemExit(1)
    print("the page draws, answers and fits")


main()
