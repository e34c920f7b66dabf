"""Drives headless Chromium through its debugging pipe, for the tests of the viewer.

usage: browser.py CHROMIUM URL SCENARIO WIDTH HEIGHT SCREENSHOT

Prints one JSON object with what the scenario saw. A scenario is a function below. Uses only the standard library.
"""

import base64
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe",
]


class Browser:
    def __init__(self, program, width, height):
        self.profile = tempfile.mkdtemp()
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def connect():
            # The browser reads commands from descriptor 3 and writes answers to 4.
            low, high = os.dup(to_browser), os.dup(from_browser)
            os.dup2(low, 3)
            os.dup2(high, 4)

        command = [program, *FLAGS, f"--user-data-dir={self.profile}", f"--window-size={width},{height}"]
        self.process = subprocess.Popen(command, preexec_fn=connect, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.buffer, self.events = 0, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Network", "Log"]:
            self.call(f"{domain}.enable")
        self.is_phone = width < 600
        if self.is_phone:
            self.call("Emulation.setTouchEmulationEnabled", enabled=True)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=self.is_phone)

    def message(self):
        while b"\0" not in self.buffer:
            part = os.read(self.into, 1 << 16)
            if not part:
                raise SystemExit("the browser stopped")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            command["sessionId"] = self.session
        os.write(self.out, json.dumps(command).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def run(self, script):
        """Returns the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise SystemExit(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, condition, seconds=20):
        end = time.time() + seconds
        while not self.run(condition):
            if time.time() > end:
                raise SystemExit(f"still not after {seconds} s: {condition}\n{self.problems()}")
            time.sleep(0.05)

    def mouse(self, kind, x, y):
        buttons = {"mousePressed": 1, "mouseMoved": 1, "mouseReleased": 0}[kind]
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1)

    def drag(self, points):
        self.mouse("mousePressed", *points[0])
        for point in points[1:]:
            self.mouse("mouseMoved", *point)
        self.mouse("mouseReleased", *points[-1])

    def swipe(self, points):
        """Draws with one finger."""
        touch = lambda kind, at: self.call("Input.dispatchTouchEvent", type=kind, touchPoints=at)
        touch("touchStart", [{"x": points[0][0], "y": points[0][1]}])
        for x, y in points[1:]:
            touch("touchMove", [{"x": x, "y": y}])
        touch("touchEnd", [])

    def hover(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def key(self, key, code, number):
        for kind in ["keyDown", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number)

    def problems(self):
        """Returns errors of scripts and requests that failed."""
        self.run("1")
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"].get("exception", {}).get("description", "exception"))
            elif method == "Network.loadingFailed":
                found.append(f"request failed: {parameters.get('errorText')}")
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ["error", "warning"]:
                found.append(parameters["entry"]["text"])
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ["error", "warning", "assert"]:
                found.append(str([value.get("value") for value in parameters["args"]]))
            elif method == "Network.responseReceived" and parameters["response"]["status"] >= 400:
                found.append(f"{parameters['response']['status']} {parameters['response']['url']}")
        return found

    def requests(self):
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


LOADED = ("[...document.querySelectorAll('#map img.leaflet-tile')].length > 0 && "
          "[...document.querySelectorAll('#map img.leaflet-tile')].every((tile) => tile.complete)")
BROKEN = "[...document.querySelectorAll('#map img.leaflet-tile')].filter((tile) => tile.naturalWidth === 0).length"
SCREEN = "(x, z) => { const at = viewer.map.latLngToContainerPoint(toLatLng(x, z)); return [at.x, at.y]; }"


def opened(browser, url):
    browser.call("Page.navigate", url=url)
    browser.wait("document.body?.dataset.ready === 'yes'")
    browser.wait(LOADED)


def settle(browser):
    """Waits for the end of animations, after which the hash is that of the view."""
    browser.wait("!viewer.map._panAnim?._inProgress && !viewer.map._animatingZoom")
    browser.wait(LOADED)


def screen(browser, x, z):
    return browser.run(f"({SCREEN})({x}, {z})")


def look(browser, url):
    """Opens the map, zooms, switches layers, and uses the keyboard, the hash and the cursor."""
    opened(browser, url)
    seen = {"title": browser.run("document.title"), "broken": browser.run(BROKEN), "hash": browser.run("location.hash")}
    browser.run("void viewer.map.setView(toLatLng(16, 16), 2, { animate: false })")
    browser.wait(LOADED)
    seen["zoomed"] = browser.run("location.hash")
    browser.hover(*screen(browser, 16.5, 16.5))
    browser.wait("element('cursor').textContent.includes('height')")
    seen["cursor"] = browser.run("element('cursor').textContent")
    browser.key("2", "Digit2", 50)
    browser.wait("viewer.layer.id === viewer.world.layers[1].id")
    browser.wait(LOADED)
    seen["layer"] = browser.run("viewer.layer.id")
    seen["layer_hash"] = browser.run("location.hash")
    browser.run("viewer.map.getContainer().focus()")
    before = browser.run("viewer.map.getCenter().lng")
    browser.key("ArrowRight", "ArrowRight", 39)
    browser.wait(f"viewer.map.getCenter().lng > {before}")
    settle(browser)
    seen["moved"] = browser.run("viewer.map.getCenter().lng") - before
    zoom = browser.run("viewer.map.getZoom()")
    browser.key("+", "Equal", 187)
    browser.wait(f"viewer.map.getZoom() > {zoom}")
    settle(browser)
    seen["keyboard_zoom"] = browser.run("viewer.map.getZoom()") - zoom
    browser.key("g", "KeyG", 71)
    seen["grid"] = browser.run("viewer.hasChunkGrid")
    # A link shows the same view again.
    hash_then = browser.run("location.hash")
    opened(browser, url + hash_then)
    browser.call("Page.reload")
    browser.wait("document.body?.dataset.ready === 'yes'")
    browser.wait(LOADED)
    seen["again"] = [hash_then, browser.run("location.hash")]
    seen["markers"] = browser.run("viewer.world.markers.map((marker) => marker.kind)")
    seen["shown_markers"] = browser.run("document.querySelectorAll('.marker').length")
    search(browser, "40 -60")
    browser.wait("Math.abs(viewer.map.getCenter().lng - 40) < 2 && Math.abs(viewer.map.getCenter().lat - 60) < 2")
    if seen["markers"]:
        seen["popup"] = popup(browser)
    return seen


def search(browser, text):
    """Searches for a text and clicks on the first result."""
    browser.run(f"element('search').value = {json.dumps(text)}; element('search').oninput(); 1")
    browser.run("element('results').querySelector('button').click()")
    settle(browser)


def popup(browser):
    """Finds the first marker by its name, clicks on it, and returns the text that appears."""
    marker = browser.run("viewer.world.markers[0]")
    search(browser, marker["name"].upper()[1:])
    at = f"toLatLng({marker['x']}, {marker['z']})"
    browser.wait(f"viewer.map.distance(viewer.map.getCenter(), {at}) < 2")
    x, y = screen(browser, marker["x"], marker["z"])
    browser.drag([(x, y), (x, y)])
    browser.wait("document.querySelector('.leaflet-popup-content') !== null")
    return browser.run("document.querySelector('.leaflet-popup-content').innerText")


def select(browser, url):
    """Selects chunks in all three ways and reads the texts."""
    opened(browser, url)
    browser.run("void viewer.map.setView(toLatLng(0, 0), 0, { animate: false })")
    seen = {}
    texts = ("({ text: element('selection-text').value, csv: element('selection-csv').value, "
             "command: element('selection-command').value, count: viewer.selection.chunks.size })")
    draw = browser.swipe if browser.is_phone else browser.drag
    browser.key("r", "KeyR", 82)
    draw([screen(browser, -40, -40), screen(browser, 5, 5), screen(browser, 40, 70)])
    seen["rectangle"] = browser.run(texts)
    browser.run("clearSelection()")
    browser.key("l", "KeyL", 76)
    draw([screen(browser, x, z) for x, z in [(-70, -70), (80, -70), (0, 90), (-70, -70)]])
    seen["lasso"] = browser.run(texts)
    browser.run("clearSelection()")
    browser.key("c", "KeyC", 67)
    for x, z in [(16, 16), (80, 16), (16, 16), (-16, -16)]:
        browser.drag([screen(browser, x, z), screen(browser, x, z)])
    seen["chunk"] = browser.run(texts)
    browser.key("Escape", "Escape", 27)
    seen["mode"] = browser.run("viewer.mode === undefined")
    return seen


class EmptyPage(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>another site</title><body></body>")

    def log_message(self, *_):
        pass


def foreign(browser, url):
    """Tries to read a map from a page of another site: with scripts, a picture, and a frame."""
    site = http.server.HTTPServer(("127.0.0.1", 0), EmptyPage)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    browser.call("Page.navigate", url=f"http://localhost:{site.server_port}/")
    browser.wait("document.title === 'another site'")
    browser.run("window.read = []; for (const name of ['hyworldMap', 'hyworldWorld']) "
                "{ window[name] = () => { read.push(name); }; } 1")
    load = ("(kind, path) => new Promise((done) => { const it = document.createElement(kind); it.onload = it.onerror = "
            f"() => done(it.naturalWidth ?? 0); it.src = {json.dumps(url)} + path; document.body.append(it); }})")
    for path in ["map.js", "worlds/world.js"]:
        browser.run(f"({load})('script', '{path}')")
    tile = browser.run(f"({load})('img', 'tiles/world/surface/0/0/0.webp')")
    browser.run(f"({load})('iframe', '')")
    # The time in which a page in the frame loads its files.
    time.sleep(2)
    return {"read": browser.run("window.read"), "tile": tile}


def keys(browser, url):
    """Uses the keyboard before any click, after a click on a checkbox, and in the search."""
    opened(browser, url)
    seen = {}

    def move(name):
        before = browser.run("viewer.map.getCenter().lng")
        browser.key("ArrowRight", "ArrowRight", 39)
        time.sleep(0.5)
        settle(browser)
        seen[name] = browser.run("viewer.map.getCenter().lng") - before

    move("before_click")
    if browser.is_phone:
        browser.run("element('menu').click()")
    x, y = browser.run("(() => { const at = element('region-grid').getBoundingClientRect(); return [at.x + 5, at.y + 5]; })()")
    browser.drag([(x, y), (x, y)])
    seen["checked"] = browser.run("viewer.hasRegionGrid && document.activeElement === element('region-grid')")
    browser.key("2", "Digit2", 50)
    seen["layer"] = browser.run("viewer.layer.id")
    browser.key("g", "KeyG", 71)
    seen["grid"] = browser.run("viewer.hasChunkGrid")
    move("after_checkbox")
    browser.run("element('search').focus()")
    browser.call("Input.insertText", text="harb")
    enter = dict(key="Enter", code="Enter", windowsVirtualKeyCode=13)
    browser.call("Input.dispatchKeyEvent", type="keyDown", text="\r", **enter)
    browser.call("Input.dispatchKeyEvent", type="keyUp", **enter)
    time.sleep(0.5)
    settle(browser)
    seen["found"] = browser.run("[Math.round(viewer.map.getCenter().lng), Math.round(-viewer.map.getCenter().lat)]")
    move("after_search")
    # Keys that are typed into the search do not move the map.
    browser.run("element('search').value = ''; element('search').focus()")
    browser.call("Input.insertText", text="1")
    move("while_typing")
    browser.key("g", "KeyG", 71)
    seen["typed_grid"] = browser.run("viewer.hasChunkGrid")
    return seen


def live(browser, url):
    """Waits for a change that the test makes after it reads `ready`."""
    opened(browser, url)
    before = browser.run("document.body.dataset.version ?? ''")
    print("ready", flush=True)
    sys.stdin.readline()
    start = time.time()
    browser.wait(f"(document.body.dataset.version ?? '') !== '{before}'", 30)
    seen = {"seconds": time.time() - start}
    browser.wait(LOADED)
    seen["broken"] = browser.run(BROKEN)
    return seen


def main():
    program, url, scenario, width, height, screenshot = sys.argv[1:]
    browser = Browser(program, int(width), int(height))
    try:
        seen = {"look": look, "select": select, "keys": keys, "foreign": foreign, "live": live}[scenario](browser, url)
        seen["problems"] = browser.problems()
        seen["requests"] = browser.requests()
        if screenshot != "-":
            browser.screenshot(screenshot)
        print(json.dumps(seen))
    finally:
        browser.close()


main()
