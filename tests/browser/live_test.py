#!/usr/bin/env python3
"""Opens the page of `hindsight serve` in headless Chromium while a sweep, and then a training, write to its log.

usage: live_test.py CHROMIUM HINDSIGHT [FOLDER FOR SCREENSHOTS]

Does it follow, keep what its reader chose, pause, and say when the server is gone? Exit code 1 with a line per problem.
"""
import base64
import os
import signal
import subprocess
import sys
import tempfile
import time

from browser import Browser

CHOOSE = """(() => { hindsightReport.drawAll();
  const view = hindsightReport.views.find((one) => one.figure.name === 'pareto');
  const lists = view.home.querySelectorAll('.controls select');
  lists[0].value = 1; lists[0].dispatchEvent(new Event('change'));
  view.legend.querySelectorAll('button')[0].click();
  view.home.querySelector('details').open = true;
  view.home.querySelector('details summary').focus();
  document.getElementById('reasons').scrollIntoView({behavior: 'instant'}); return lists.length; })()"""
CHOSEN = """(() => { const view = hindsightReport.views.find((one) => one.figure.name === 'pareto');
  return {panel: +view.home.querySelector('.controls select').value, open: view.home.querySelector('details').open,
    hidden: view.legend.querySelectorAll('button[aria-pressed=false]').length, drawn: view.box.querySelectorAll('svg path').length,
    focus: document.activeElement.tagName, top: Math.round(document.getElementById('reasons').getBoundingClientRect().top)}; })()"""
POINTS = "JSON.stringify(hindsightReport.views.find((one) => one.figure.name === 'pareto').figure.note)"


def wait(browser, condition, seconds, what, problems):
    started = time.monotonic()
    while not browser.value(condition):
        if time.monotonic() - started > seconds:
            problems.append(f"not within {seconds} s: {what}; the page says '{browser.value('document.getElementById(`live`).textContent')}'")
            return False
        time.sleep(0.1)
    return True


def picture(browser, folder, name):
    if folder:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(base64.b64decode(browser.ask("Page.captureScreenshot")["data"]))


def follow(browser, hindsight, log, server, address, pictures):
    problems = []
    sweep = [hindsight, "sweep", "--space", "edge", "--workloads", "mobilenet_v2,unet", "--max", "area_mm2=60",
             "--max", "peak_power_w=5", "--log", log, "--quiet"]
    browser.ask("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    browser.ask("Page.navigate", url=address)
    if not wait(browser, "typeof hindsightLive === 'object' && /live/.test(document.getElementById('live').textContent)", 30, "a live page", problems):
        return problems + browser.complaints(address.split("?")[0])
    browser.value(CHOOSE)
    note = browser.value(POINTS)
    time.sleep(0.2)
    before = browser.value(CHOSEN)
    subprocess.run(sweep + ["--samples", "3000", "--seed", "2"], check=True)
    if wait(browser, "hindsightLive.shown > 1 && hindsightLive.shown === hindsightLive.wanted", 30, "the rows of a sweep", problems):
        if browser.value(POINTS) == note:
            problems.append("the figure's note counts no new rows")
        after = browser.value(CHOSEN)
        for key in ("panel", "open", "hidden", "focus"):
            if after[key] != before[key]:
                problems.append(f"'{key}' was {before[key]} and is {after[key]} after an update")
        if abs(after["top"] - before["top"]) > 40:
            problems.append(f"the page moved by {after['top'] - before['top']} px under its reader")
        if after["drawn"] < 4:
            problems.append("the figure is empty after an update")
    picture(browser, pictures, "live-1280.png")

    browser.value("document.getElementById('live-pause').click()")
    shown = browser.value("hindsightLive.shown")
    subprocess.run(sweep + ["--samples", "1000", "--seed", "3"], check=True)
    if wait(browser, "hindsightLive.wanted > hindsightLive.shown", 30, "news while it pauses", problems) and browser.value("hindsightLive.shown") != shown:
        problems.append("a paused page changed")
    browser.value("document.getElementById('live-pause').click()")
    wait(browser, "hindsightLive.wanted === hindsightLive.shown", 30, "what came while it paused", problems)

    train = subprocess.Popen([hindsight, "train", "--log", log, "--workloads", "unet", "--recipe", "margins", "--set", "steps=4000",
                              "--out", os.path.join(os.path.dirname(log), "m.safetensors"), "--quiet"])
    curve = "hindsightReport.views.some((one) => one.figure.name === 'training-curves')"
    if wait(browser, curve, 60, "the curve of a training", problems) and train.poll() is not None:
        print("the training ended before its curve was seen")
    train.wait()

    browser.ask("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
    if browser.value("document.documentElement.scrollWidth") > 390:
        problems.append("the page is wider than 390 px")
    picture(browser, pictures, "live-390.png")
    problems += browser.complaints(address.split("?")[0])
    server.send_signal(signal.SIGTERM)
    if server.wait(10) != 0:
        problems.append(f"the server ended with {server.returncode}")
    wait(browser, "/not connected/.test(document.getElementById('live').textContent)", 15, "word that the server is gone", problems)
    return problems


def main():
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    chromium, hindsight = sys.argv[1:3]
    pictures = sys.argv[3] if len(sys.argv) == 4 else None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        log = os.path.join(folder, "study.sqlite")
        subprocess.run([hindsight, "sweep", "--space", "edge", "--workloads", "mobilenet_v2,unet", "--samples", "500", "--log", log, "--quiet"], check=True)
        server = subprocess.Popen([hindsight, "serve", "--log", log], stdout=subprocess.PIPE, text=True)
        browser = Browser(chromium, os.path.join(folder, "profile"))
        try:
            problems = follow(browser, hindsight, log, server, server.stdout.readline().strip(), pictures)
        finally:
            server.kill()
            browser.process.kill()
            browser.process.wait()
    for problem in problems:
        print(problem)
    if problems:
        raise SystemExit(1)
    print("the live page follows, keeps what was chosen, and says when its server is gone")


main()
