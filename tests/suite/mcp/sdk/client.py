"""The official Python SDK as client and server, with `guardc mcp-proxy` between them, in both protocol eras.

Usage: client.py GUARDC [SERVER…]. SERVER is the command of the server, and else that of server.py. Good calls pass, bad ones do not,
and the client sees why.
"""
import asyncio, contextlib, pathlib, subprocess, sys, tempfile

import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters

here = pathlib.Path(__file__).parent
guardc = sys.argv[1]
server = sys.argv[2:] or [sys.executable, str(here / "server.py")]


asked = []


def answered(params):
    """A person at the client."""
    asked.append(params.message)
    if "approve" in params.requested_schema["properties"]:
        assert "publish" in params.message and "editor" in params.message, params.message
        return types.ElicitResult(action="accept", content={"approve": True, "name": "kim"})
    return types.ElicitResult(action="accept", content={"title": "better"})


async def elicit(_context, params):
    return answered(params)


def text(result):
    return "".join(block.text for block in result.content if block.type == "text")


async def play(mode):
    """Over standard input and output."""
    store = tempfile.mkdtemp()
    proxy = StdioServerParameters(
        command=guardc,
        args=["mcp-proxy", "--plan", str(here / "notes.guard"), "--session", "s1", "--store", store, "--", *server],
    )
    await played(proxy, mode)
    print(f"{mode}: passed")


async def play_http(mode):
    """Over Streamable HTTP: the server listens, and so does the proxy before it."""
    with contextlib.ExitStack() as ended:
        listening = subprocess.Popen([*server, "http"], stdout=subprocess.PIPE, text=True)
        ended.callback(listening.kill)
        port = int(listening.stdout.readline())
        proxy = subprocess.Popen(
            [guardc, "mcp-proxy", "--plan", str(here / "notes.guard"), "--session", "s1", "--store", tempfile.mkdtemp(),
             "--upstream", f"http://127.0.0.1:{port}/mcp", "--listen", "127.0.0.1:0"],
            stderr=subprocess.PIPE, text=True)
        ended.callback(proxy.kill)
        note = proxy.stderr.readline()
        assert "listening on" in note, note
        await played(note.split()[-1], mode)
        proxy.terminate()
        assert proxy.wait(10) == 0
    print(f"{mode} over HTTP: passed")


async def played(proxy, mode):
    asked.clear()
    async with Client(proxy, mode=mode, elicitation_callback=elicit) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert sorted(tools) == ["account", "add", "publish", "read", "rename"], sorted(tools)
        assert tools["add"].input_schema["properties"]["a"]["maximum"] == 10
        assert tools["read"].input_schema["properties"]["sort"]["enum"] == ["asc", "desc"]
        assert "2 calls" in tools["read"].description or "2" in tools["read"].description

        good = await client.call_tool("add", {"a": 1, "b": 2})
        assert not good.is_error and text(good) == "3", good
        bad = await client.call_tool("add", {"a": 11, "b": 2})
        assert bad.is_error and "10" in text(bad), bad
        unknown = await client.call_tool("drop_all", {})
        assert unknown.is_error and "drop_all" in text(unknown), unknown
        for expected in (False, False, True):
            assert (await client.call_tool("read", {"title": "x"})).is_error is expected

        secret = await client.call_tool("account", {"id": 1})
        assert not secret.is_error and "hunter2" not in secret.model_dump_json(), secret
        assert "ann" in text(secret), secret

        published = await client.call_tool("publish", {"title": "x"})
        assert not published.is_error and text(published) == "published x", published

        renamed = await client.call_tool("rename", {"title": "x"})
        assert not renamed.is_error and text(renamed) == "x is better", renamed
        again = await client.call_tool("rename", {"title": "x"})
        assert again.is_error, again
        assert len(asked) == 2 and asked[1] == "Which title?", asked


for mode in ("legacy", "2026-07-28", "auto"):
    asyncio.run(asyncio.wait_for(play(mode), 120))
    asyncio.run(asyncio.wait_for(play_http(mode), 120))
