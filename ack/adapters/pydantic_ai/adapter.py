#!/usr/bin/env python3
"""pydantic-ai behind Guard, for the conformance kit:

    guardc ack run -- python3 ack/adapters/pydantic_ai/adapter.py

The loop is the framework's own, with its `FunctionModel` as the model; `guardc.integrations.pydantic_ai` is judged. A run that
is streamed is `run` with a handler of events, for which the framework puts the pieces of a turn together.
"""
import sys
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from kit import (Failed, approve, arguments, cancellable, cancelled, ended, execute, give_parameters, kit, main, pieces_of, session_of, take,
                 tools_of, written)

from guardc.integrations.pydantic_ai import Guarded
from pydantic_ai import Agent, ModelRequestNode, RunContext, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.usage import RequestUsage, UsageLimits


class Later(AbstractCapability):
    """Words of the user while the agent works are part of the conversation when the model is asked next. A tool that raises
    does not end the run."""

    def __init__(self):
        self.words = []

    async def on_tool_execute_error(self, ctx, *, call, tool_def, args, error):
        if isinstance(error, (OSError, TimeoutError)):
            return f"error: {error}"
        raise error

    async def after_node_run(self, ctx, *, node, result):
        # What is enqueued at the end of a run begins another turn: words on a stop are said only if it was blocked.
        if isinstance(result, ModelRequestNode):
            words, self.words[:] = list(self.words), []
            for text in words:
                ctx.enqueue(text)
        return result


def shown(messages):
    """The conversation as the framework sends it."""
    said = []
    for message in messages:
        if isinstance(message, ModelResponse):
            text = "".join(part.content for part in message.parts if isinstance(part, TextPart))
            calls = [{"call": part.tool_call_id, "tool": part.tool_name, "args": arguments(part.args)}
                     for part in message.parts if isinstance(part, ToolCallPart)]
            said.append({"role": "assistant", "text": text, "calls": calls})
            continue
        for part in message.parts:
            if isinstance(part, (ToolReturnPart, RetryPromptPart)) and part.tool_name:
                text = part.model_response_str() if isinstance(part, ToolReturnPart) else part.model_response()
                failed = isinstance(part, RetryPromptPart) or part.outcome == "failed"
                said.append({"role": "tool", "text": text, "call": part.tool_call_id, "failed": failed})
            else:
                said.append({"role": "user", "text": part.content})
    return said


def tool_of(tool, cancel):
    async def run(ctx, **args):
        args = {name: value for name, value in args.items() if value is not None}
        try:
            return await execute(ctx.tool_call_id, tool["name"], args, cancel)
        except Failed as error:
            raise (ModelRetry if error.way == "retry" else ToolFailed)(str(error)) from None

    schema = tool["schema"]
    if "properties" not in schema:
        return Tool.from_schema(run, tool["name"], tool["description"], schema, takes_ctx=True)
    give_parameters(run, RunContext, schema)
    return Tool(run, name=tool["name"], description=tool["description"], takes_ctx=True)


def call_of(call):
    # The framework gives an id to a call that has none.
    return ToolCallPart(call["tool"], written(call), **({"tool_call_id": call["call"]} if call["call"] else {}))


class Scripted(FunctionModel):
    """The framework's model of functions, with the stream that is being read: the model makes up a usage for streams."""

    @asynccontextmanager
    async def request_stream(self, *given, **named):
        async with super().request_stream(*given, **named) as self.response:
            yield self.response


def usage_of(tokens):
    # `scripted` keeps the framework's model from making up a usage of its own.
    return RequestUsage(input_tokens=tokens, details={"scripted": 1})


async def loop(run):
    session = session_of(run)
    later, turns = Later(), []

    async def next_turn(messages):
        turn = await kit.wait_for("model.next", messages=shown(messages))
        turns.append(turn)
        return turn, take(session, turn, later.words)

    async def model(messages, info):
        turn, tokens = await next_turn(messages)
        text = turn.get("say") or turn.get("output") or ""
        parts = [TextPart(text)] if text else []
        parts += [call_of(call) for call in turn.get("calls", [])]
        reason = turn.get("finish_reason")
        return ModelResponse(parts=parts, usage=usage_of(tokens),
                             finish_reason="tool_call" if reason == "tool_calls" else reason)

    async def streamed(messages, info):
        turn, tokens = await next_turn(messages)
        yield ""  # The framework wants at least one piece.
        for piece in pieces_of(turn):
            if "say" in piece:
                yield piece["say"]
            if "at" in piece:
                yield {piece["at"]: DeltaToolCall(piece.get("tool"), piece.get("args"), tool_call_id=piece.get("call"))}
        scripted.response._usage = usage_of(tokens)

    async def events(ctx, stream):
        async for _ in stream:
            pass

    guarded, scripted = Guarded(session, approve=approve), Scripted(model, stream_function=streamed)

    def work(cancel):
        tools = [tool_of(tool, cancel) for tool in tools_of(run)]
        agent = Agent(scripted, output_type=str | None, tools=tools, capabilities=[guarded, later], retries=100)
        # The framework's own limit of 50 requests is not the guard's.
        handler = events if run.get("streamed") else None
        return agent.run(run["prompt"], usage_limits=UsageLimits(request_limit=None), event_stream_handler=handler)

    was_cancelled, _ = await cancellable(work)
    return cancelled(session) if was_cancelled else ended(session, run, turns[-1], guarded.stopped)


main("pydantic-ai", loop, "streaming")
