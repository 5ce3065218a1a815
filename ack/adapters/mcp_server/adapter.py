#!/usr/bin/env python3
"""Servers of the MCP SDK for Python behind Guard, for the conformance kit:

    guardc ack run -- python3 ack/adapters/mcp_server/adapter.py

The tools are those of two servers in this process, one with typed functions and one with handlers that get arguments as
they are; `guardc.integrations.mcp` is judged. The protocol has no agent: the loop is the client's, and tells the session
what no server hears of, the words of the user, tokens and the stop.
"""
import asyncio, json, sys
from pathlib import Path
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).parent.parent))
from kit import approve, cancellable, cancelled, ended, execute, give_parameters, kit, main, session_of, take, tools_of

from guardc.integrations.mcp import Guarded
from mcp import Client, MCPError
from mcp.server import MCPServer, Server
from mcp.server.extension import compose_tool_call_handler
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool


def id_of(ctx):
    """The id of the model's call, which the client sends along."""
    return (ctx.meta or {}).get("call")


async def outcome(call, name, args, cancel):
    try:
        return await execute(call, name, {name: value for name, value in args.items() if value is not None}, cancel)
    except Exception as error:
        raise ToolError(f"error: {error}") from None


def typed_server(session, tools, cancel):
    """A server of functions, whose arguments the framework validates and converts."""
    guarded = Guarded(session, approve=approve, call_id=id_of)
    server = MCPServer("typed", extensions=[guarded])
    for tool in tools:
        async def run(ctx, name=tool["name"], **args):
            return await outcome(id_of(ctx.request_context), name, args, cancel)

        give_parameters(run, Context, tool["schema"])
        server.tool(tool["name"], structured_output=False)(guarded.tool(run, name=tool["name"]))
    return server


def plain_server(session, tools, cancel):
    """A server whose one handler gets all calls as they were written."""
    guarded = Guarded(session, approve=approve, call_id=id_of, others="as_written")
    names = {tool["name"] for tool in tools}

    async def listed(ctx, params):
        return ListToolsResult(tools=[Tool(name=name, input_schema={"type": "object"}) for name in names])

    async def called(ctx, params):
        try:
            if params.name not in names:
                raise ToolError(f"there is no tool `{params.name}`")
            result = await outcome(id_of(ctx), params.name, params.arguments or {}, cancel)
        except ToolError as error:
            return CallToolResult(content=[TextContent(text=str(error))], is_error=True)
        return CallToolResult(content=[TextContent(text=result if isinstance(result, str) else json.dumps(result))])

    return Server("plain", on_list_tools=listed, on_call_tool=compose_tool_call_handler([guarded], called))


class Conversation:
    """The client's loop: asks the model, calls tools at their servers, and asks the guard before it stops."""

    def __init__(self, session, run, typed, plain):
        self.session, self.typed, self.plain, self.turns = session, typed, plain, []
        self.named = {tool["name"] for tool in tools_of(run) if "properties" in tool["schema"]}
        self.messages = [{"role": "user", "text": run["prompt"]}]

    async def go(self):
        self.session.prompt(self.messages[0]["text"])
        while True:
            turn = await kit.wait_for("model.next", messages=self.messages)
            self.turns.append(turn)
            words = []
            tokens = take(self.session, turn, words)
            if tokens:
                self.session.usage("tokens", tokens)
            calls = turn.get("calls", [])
            self.messages.append({"role": "assistant", "text": turn.get("say") or turn.get("output") or "", "calls": calls})
            if calls:
                self.messages += await self.answers(calls)
            self.messages += [{"role": "user", "text": text} for text in words]
            if calls:
                continue
            stopped = self.session.stop(turn.get("finish_reason"))
            if stopped.allowed:
                return stopped
            self.messages.append({"role": "user", "text": stopped.message})

    async def answers(self, calls):
        tasks = [asyncio.ensure_future(self.answer(call)) for call in calls]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def answer(self, call):
        client = self.typed if call["tool"] in self.named else self.plain
        if isinstance(call["args"], dict):
            result = await client.call_tool(call["tool"], call["args"], meta={"call": call["call"] or f"nameless-{uuid4().hex[:8]}"})
            text, failed = "\n\n".join(part.text for part in result.content), result.is_error
        else:
            text, failed = "the arguments are no object", True  # No client can send them.
        return {"role": "tool", "text": text, "call": call["call"], "failed": failed}


async def loop(run):
    session = session_of(run)
    conversation = None

    async def work(cancel):
        nonlocal conversation
        typed = [tool for tool in tools_of(run) if "properties" in tool["schema"]]
        plain = [tool for tool in tools_of(run) if "properties" not in tool["schema"]]
        async with (Client(typed_server(session, typed, cancel), read_timeout_seconds=None) as first,
                    Client(plain_server(session, plain, cancel), read_timeout_seconds=None) as second):
            conversation = Conversation(session, run, first, second)
            return await conversation.go()

    was_cancelled, stopped = await cancellable(work)
    return cancelled(session) if was_cancelled else ended(session, run, conversation.turns[-1], stopped)


main("mcp-server", loop)
