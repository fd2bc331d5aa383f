"""An agent loop through the official Python SDK: six tasks with only what tools/list says.

usage: agent.py GLASS {legacy|auto}     GLASS: the program, with glassd beside it

Each task ends with a proof by the page's own server, not by what Glass said.
"""

import asyncio
import http.server
import json
import os
import re
import sys
import tempfile
import threading

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

PAGES = {
    "/login": """<title>Log in</title><form method=post action=/session>
        <label>User <input name=user></label> <label>Password <input name=password type=password></label>
        <button>Log in</button></form>""",
    "/frame": "<title>Order</title><h1>Order</h1><iframe title=Address src=/address></iframe>",
    "/address": """<title>Address</title><form method=post action=/sent><label>Street <input name=street></label>
        <label><input type=checkbox name=gift> Gift</label><button>Send</button></form>""",
    "/dialog": """<title>Account</title><button onclick="
        if (confirm('Delete the account?')) fetch('/deleted', { method: 'POST' }).then(() => document.title = 'Gone')
        ">Delete account</button>""",
    "/popup": """<title>Shop</title><button onclick="window.open('/help')">Open help</button>""",
    "/help": "<title>Help</title><p>The code is 4711</p>",
    "/files": "<title>Files</title><a href=/report.txt download>Get report</a>",
    "/late": """<title>Report</title><button onclick="this.disabled = true; setTimeout(() => {
        document.body.insertAdjacentHTML('beforeend', '<p>Report is ready: 12 pages</p>') }, 1500)">Make report</button>""",
}


class Site(http.server.BaseHTTPRequestHandler):
    got = []

    def log_message(self, *_):
        pass

    def page(self, text):
        data = ("<!doctype html><meta charset=utf-8>" + text).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.path == "/report.txt":
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Disposition", "attachment; filename=report.txt")
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"12345")
            return
        self.page(PAGES.get(self.path, "<title>Nothing</title>"))

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        Site.got.append((self.path, body))
        self.page("<title>Done</title><p>Thank you")


class Agent:
    def __init__(self, client, base):
        self.client, self.base = client, base

    async def call(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        text = result.content[0].text if result.content and hasattr(result.content[0], "text") else ""
        return result, text

    async def ok(self, tool, **arguments):
        result, text = await self.call(tool, **arguments)
        assert not result.is_error, f"{tool} {arguments}: {text}"
        return text

    async def ref(self, outline, pattern):
        found = re.findall(pattern + r".*?\[(\w+)\]", outline)
        assert len(found) == 1, f"{pattern} in {outline}"
        return found[0]

    async def log_in(self):
        await self.ok("navigate", url=self.base + "/login")
        outline = await self.ok("observe")
        await self.ok("fill", target=await self.ref(outline, 'textbox "User"'), text="ann")
        await self.ok("fill", target=await self.ref(outline, 'textbox "Password"'), text="s3cret & more")
        await self.ok("click", target=await self.ref(outline, 'button "Log in"'))
        await self.ok("wait", condition="title=Done")
        assert Site.got[-1] == ("/session", "user=ann&password=s3cret+%26+more"), Site.got

    async def fill_in_a_frame(self):
        await self.ok("navigate", url=self.base + "/frame", waitUntil="load")
        outline = await self.ok("observe")
        await self.ok("fill", target=await self.ref(outline, 'textbox "Street"'), text="Karl Johans gate 1")
        await self.ok("click", target=await self.ref(outline, 'checkbox "Gift"'))
        await self.ok("click", target="role=button;name=Send")
        await self.ok("wait", condition="text=Thank you")
        assert Site.got[-1] == ("/sent", "street=Karl+Johans+gate+1&gift=on"), Site.got

    async def handle_a_dialog(self):
        await self.ok("navigate", url=self.base + "/dialog")
        text = await self.ok("click", target="Delete account")
        assert "Delete the account?" in text, text
        result, text = await self.call("click", target="Delete account")
        assert result.is_error and json.loads(text)["kind"] == "dialog_blocked", text
        await self.ok("acceptDialog")
        await self.ok("wait", condition="title=Gone")
        assert Site.got[-1][0] == "/deleted", Site.got

    async def use_a_popup(self):
        await self.ok("navigate", url=self.base + "/popup")
        result, text = await self.call("click", target="Open help")
        popups = result.structured_content["evidence"]["popups"]
        assert len(popups) == 1, text
        found = await self.ok("getText", targetId=popups[0]["targetId"])
        assert "4711" in found, found

    async def download_a_file(self):
        await self.ok("navigate", url=self.base + "/files")
        await self.ok("click", target="Get report")
        result, text = await self.call("download", destination=".")
        assert not result.is_error, text
        with open(result.structured_content["path"], "rb") as file:
            assert file.read() == b"12345"

    async def wait_for_what_is_late(self):
        await self.ok("navigate", url=self.base + "/late")
        await self.ok("click", target="Make report")
        await self.ok("wait", condition="text=Report is ready", timeoutMs=20000)
        assert "12 pages" in await self.ok("getText")


async def promised(parameters, mode, url):
    """Tools that list what they answer: the SDK holds each answer against its schema."""
    async with Client(stdio_client(parameters), mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        opened = await client.call_tool("navigate", {"url": url})
        execution = opened.structured_content["executionId"]
        for name, arguments in (
            ("health", {}),
            ("listSessions", {}),
            ("executionStatus", {"executionId": execution}),
            ("closeSession", {}),
        ):
            assert tools[name].output_schema, name
            result = await client.call_tool(name, arguments)
            assert not result.is_error and result.structured_content, f"{name}: {result}"
        # What is not a success is held against nothing.
        assert (await client.call_tool("cancelExecution", {"executionId": execution})).is_error
        print(f"python {mode}: answers as listed")


async def main(glass, mode):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    parameters = StdioServerParameters(command=glass, args=["--mcp"], env=dict(os.environ), cwd=tempfile.mkdtemp(dir=os.environ["HOME"]))
    async with Client(stdio_client(parameters), mode=mode) as client:
        tools = await client.list_tools()
        size = len(json.dumps([tool.model_dump(mode="json", exclude_none=True, by_alias=True) for tool in tools.tools]))
        agent = Agent(client, f"http://127.0.0.1:{server.server_port}")
        for task in (
            agent.log_in,
            agent.fill_in_a_frame,
            agent.handle_a_dialog,
            agent.use_a_popup,
            agent.download_a_file,
            agent.wait_for_what_is_late,
        ):
            await task()
            print(f"python {mode}: {task.__name__} done")
        # A client that gives up: the session goes on.
        try:
            await client.call_tool(
                "wait", {"condition": "text=never", "timeoutMs": 20000}, read_timeout_seconds=1.0
            )
            raise AssertionError("the wait ended")
        except AssertionError:
            raise
        except Exception:
            pass
        await agent.ok("evaluate", expression="1")
        print(f"python {mode}: {len(tools.tools)} tools, {size} bytes, six tasks done")
    session = parameters.model_copy(update={"args": ["--mcp", "--tools", "session"]})
    await promised(session, mode, f"http://127.0.0.1:{server.server_port}/login")


asyncio.run(main(sys.argv[1], sys.argv[2]))
