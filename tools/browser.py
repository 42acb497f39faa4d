"""A headless Chromium, driven by the DevTools protocol."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import websocket

SECONDS = 30.0
KEYS = {
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    "ArrowDown": (40, ""),
    "ArrowUp": (38, ""),
    "End": (35, ""),
    "Home": (36, ""),
}
LONG_TASKS = """
window.longTasks = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.longTasks.push(entry.duration);
}).observe({ type: "longtask", buffered: true });
"""
"""Record the tasks of a page that took over 50 ms."""


class BrowserError(Exception):
    """A script has thrown, or a page never came to a state."""


class Page:
    """A tab. Errors of its scripts, and whatever its policy has blocked, are in `problems`."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session
        self.problems: list[str] = []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Any:
        """Send a command; return its result. Raise BrowserError."""
        return self._browser.call(method, params, self._session)

    def on_event(self, method: str, params: dict[str, Any]) -> None:
        """Take an event."""
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and params["entry"]["source"] in ("security", "violation", "javascript"):
            self.problems.append(params["entry"]["text"])

    def open(self, url: str) -> None:
        """Go to an address, and wait until it is loaded."""
        # What nobody sees is not drawn.
        self.call("Page.bringToFront")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=LONG_TASKS)
        # Another fragment alone would load nothing.
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """Return the value of an expression, or of the promise that it is. Raise BrowserError."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise BrowserError(found["exceptionDetails"].get("exception", {}).get("description", script))
        return found["result"].get("value")

    def wait(self, script: str, seconds: float = SECONDS) -> None:
        """Wait until an expression is true. Raise BrowserError."""
        end = time.monotonic() + seconds
        while True:
            with contextlib.suppress(BrowserError):
                if self.run(f"Boolean({script})"):
                    return
            if time.monotonic() > end:
                text = self.run("document.body?.innerText ?? ''")
                raise BrowserError(f"never true: {script}; problems {self.problems}; the page says {text[:400]}")
            time.sleep(0.02)

    def press(self, key: str) -> None:
        """Press and release a key."""
        code, text = KEYS.get(key, (ord(key[0]), key))
        keys = {"key": key, "windowsVirtualKeyCode": code, **({"text": text} if text else {})}
        self.call("Input.dispatchKeyEvent", type="keyDown", **keys)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)

    def text(self, selector: str = "main") -> str:
        """Return the text of an element."""
        return str(self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def picture(self, path: Path, width: int = 1100, height: int = 640, *, dark: bool = False) -> None:
        """Take a picture."""
        self.set_dark(dark)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def set_dark(self, dark: bool) -> None:
        """Prefer dark colours, or light ones."""
        value = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])


class Browser:
    """A running browser."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=SECONDS, suppress_origin=True)
        self._ids = count(1)
        self._pages: dict[str, Page] = {}

    def call(self, method: str, params: dict[str, Any], session: str = "") -> Any:
        """Send a command; return its result, after the events that come before it. Raise BrowserError."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        self._socket.send(json.dumps(message))
        while True:
            found = json.loads(self._socket.recv())
            if found.get("id") == number:
                if "error" in found:
                    raise BrowserError(f"{method}: {found['error']['message']}")
                return found["result"]
            if (page := self._pages.get(found.get("sessionId", ""))) is not None:
                page.on_event(found["method"], found["params"])

    def page(self, url: str = "") -> Page:
        """Return a new tab."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self._pages[session] = Page(self, session)
        page.call("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)
        if url:
            page.open(url)
        return page

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


@contextlib.contextmanager
def browsing() -> Iterator[Browser]:
    """Yield a browser with a profile of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        flags = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
        line = ["chromium", *flags, "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"]
        with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
            assert running.stderr is not None
            try:
                for said in running.stderr:
                    if found := re.search(r"DevTools listening on (ws://\S+)", said):
                        break
                else:
                    raise BrowserError("chromium has no DevTools")
                browser = Browser(found[1])
                try:
                    yield browser
                finally:
                    with contextlib.suppress(BrowserError, OSError, websocket.WebSocketException):
                        browser.call("Browser.close", {})
                    browser.close()
            finally:
                running.kill()
