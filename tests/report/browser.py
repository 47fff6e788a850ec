"""A headless Chromium, driven through its DevTools protocol."""

import asyncio
import base64
import itertools
import json
import re
import shutil
import subprocess
import tempfile

from tornado.websocket import websocket_connect

_SECONDS = 30
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_browser():
    """Return the path of an installed browser; None if there is none."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Page:
    """One tab that shows a file, with everything that it asked for and that went wrong."""

    def __init__(self, browser):
        self._loop = asyncio.new_event_loop()
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
        command += [f"--user-data-dir={self._folder.name}", "--disable-background-networking", "about:blank"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        for line in self._process.stderr:
            if found := re.search(r"ws://\S+", line):
                break
        self._socket = self._run(self._connect(found[0]))
        self._numbers, self._session = itertools.count(1), None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def _run(self, work):
        return self._loop.run_until_complete(asyncio.wait_for(work, _SECONDS))

    async def _connect(self, address):
        return await websocket_connect(address, max_message_size=2**28)

    def _read(self):
        return json.loads(self._run(self._socket_message()))

    async def _socket_message(self):
        return await self._socket.read_message()

    async def _send(self, message):
        await self._socket.write_message(json.dumps(message))

    async def _leave(self):
        self._socket.close()  # within the loop, or it would open another

    def call(self, method, **params):
        """Call a method of the protocol, and return its result."""
        number = next(self._numbers)
        session = {} if self._session is None else {"sessionId": self._session}
        self._run(self._send({"id": number, "method": method, "params": params, **session}))
        while True:
            message = self._read()
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def open(self, path, width=1000, **media):
        """Show a file at a width, once it is loaded."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
        self.call("Emulation.setEmulatedMedia", media="", features=features)
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())

    def ask(self, expression):
        """Return the value of an expression of JavaScript."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, key, code=0):
        """Press a key."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def type(self, text):
        """Type text into what has the focus."""
        self.call("Input.insertText", text=text)

    def picture(self, path):
        """Save a picture of the whole page."""
        content = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(content["data"]))

    @property
    def faults(self):
        """Errors, warnings of the console, and violations of the content policy."""
        self.call("Runtime.evaluate", expression="0")  # reads what has arrived
        wrong = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event for event in self.events if event.get("method") in wrong]

    @property
    def requests(self):
        """Addresses that the page asked for."""
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def close(self):
        """Stop the browser."""
        self._run(self._leave())
        self._process.terminate()
        self._process.wait(_SECONDS)
        self._process.stderr.close()
        self._run(asyncio.sleep(0))
        self._loop.close()
        self._folder.cleanup()
