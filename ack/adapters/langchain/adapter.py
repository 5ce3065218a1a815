#!/usr/bin/env python3
"""LangChain behind Guard, for the conformance kit:

    guardc ack run -- python3 ack/adapters/langchain/adapter.py

The loop is the framework's own, with a scripted chat model; `guardc.integrations.langchain` is judged. A run that is streamed
is `astream`, for which the framework puts the pieces of a turn together.
"""
import inspect, sys
from contextvars import ContextVar
from pathlib import Path
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).parent.parent))
from kit import (Failed, approve, cancellable, cancelled, ended, execute, kit, main, pieces_of, session_of, take, tools_of, typed_parameters,
                 written)

from guardc.integrations.langchain import GuardMiddleware
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import StructuredTool, ToolException
from pydantic import create_model

current = ContextVar("current")


class Outer(AgentMiddleware):
    """A tool that raises does not end the run: the model is told."""

    async def awrap_tool_call(self, request, handler):
        try:
            return await handler(request)
        except (OSError, TimeoutError) as error:
            call = request.tool_call
            return ToolMessage(f"error: {error}", name=call["name"], tool_call_id=call["id"], status="error")


class Inner(AgentMiddleware):
    """The id of the current call, for the tools, and what the user says while the agent works."""

    def __init__(self):
        super().__init__()
        self.words = []

    async def awrap_tool_call(self, request, handler):
        current.set(request.tool_call["id"])
        return await handler(request)

    async def abefore_model(self, state, runtime):
        words, self.words[:] = list(self.words), []
        return {"messages": [HumanMessage(text) for text in words]} if words else None


def shown(messages):
    """The conversation as the framework sends it."""
    said = []
    for message in messages:
        if isinstance(message, AIMessage):
            calls = [{"call": call["id"] or "", "tool": call["name"], "args": call["args"]} for call in message.tool_calls + message.invalid_tool_calls]
            said.append({"role": "assistant", "text": message.content, "calls": calls})
        elif isinstance(message, ToolMessage):
            said.append({"role": "tool", "text": message.content, "call": message.tool_call_id, "failed": message.status == "error"})
        else:
            said.append({"role": "user", "text": message.content})
    return said


class Scripted(BaseChatModel):
    """The kit is the model."""

    session: object
    inner: object
    turns: list = []

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, *rest, **options):
        raise NotImplementedError("the kit is asked asynchronously")

    async def next_turn(self, messages):
        turn = await kit.wait_for("model.next", messages=shown(messages))
        self.turns.append(turn)
        return turn, take(self.session, turn, self.inner.words)

    async def _astream(self, messages, stop=None, run_manager=None, **options):
        turn, tokens = await self.next_turn(messages)
        for piece in pieces_of(turn):
            parts = [{"index": piece["at"], "id": piece.get("call"), "name": piece.get("tool"), "args": piece.get("args"),
                      "type": "tool_call_chunk"}] if "at" in piece else []
            yield ChatGenerationChunk(message=AIMessageChunk(piece.get("say", ""), tool_call_chunks=parts))
        yield ChatGenerationChunk(message=AIMessageChunk("", response_metadata={"finish_reason": turn.get("finish_reason")},
                                                         usage_metadata=used(tokens), chunk_position="last"))

    async def _agenerate(self, messages, stop=None, run_manager=None, **options):
        turn, tokens = await self.next_turn(messages)
        calls = [call_of(call) for call in turn.get("calls", [])]
        message = AIMessage(turn.get("say") or turn.get("output") or "",
                            tool_calls=[call for call in calls if call["type"] == "tool_call"],
                            invalid_tool_calls=[call for call in calls if call["type"] == "invalid_tool_call"],
                            response_metadata={"finish_reason": turn.get("finish_reason")},
                            usage_metadata=used(tokens))
        return ChatResult(generations=[ChatGeneration(message=message)])


def used(tokens):
    return {"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens} if tokens else None


def call_of(call):
    """A call as the framework's providers parse it: arguments that are no object are kept apart, as text."""
    args, id = call["args"], call["call"] or f"nameless-{uuid4().hex[:8]}"
    if isinstance(args, dict):
        return {"name": call["tool"], "args": args, "id": id, "type": "tool_call"}
    return {"name": call["tool"], "args": written(call), "id": id, "type": "invalid_tool_call", "error": "the arguments are no object"}


def model_of(tool):
    """The arguments of a typed tool, which the framework validates and converts."""
    fields = {name: (kind, ... if default is inspect.Parameter.empty else default)
              for name, kind, default in typed_parameters(tool["schema"])}
    return create_model(tool["name"], **fields)


def tool_of(tool, cancel):
    async def run(**args):
        args = {name: value for name, value in args.items() if value is not None}
        try:
            return await execute(current.get(), tool["name"], args, cancel)
        except Failed as error:
            raise ToolException(str(error)) from None

    schema = model_of(tool) if "properties" in tool["schema"] else tool["schema"]
    return StructuredTool.from_function(coroutine=run, name=tool["name"], description=tool["description"] or tool["name"],
                                        args_schema=schema, infer_schema=False, handle_tool_error=True)


async def loop(run):
    session = session_of(run)
    inner, guarded = Inner(), GuardMiddleware(session, approve=approve)
    model = Scripted(session=session, inner=inner)

    async def work(cancel):
        tools = [tool_of(tool, cancel) for tool in tools_of(run)]
        agent = create_agent(model, tools=tools, middleware=[Outer(), guarded, inner])
        # The framework's own limit of steps is not the guard's.
        given, options = {"messages": [HumanMessage(run["prompt"])]}, {"recursion_limit": 10_000}
        if not run.get("streamed"):
            await agent.ainvoke(given, options)
            return
        async for _ in agent.astream(given, options, stream_mode="messages"):
            pass

    was_cancelled, _ = await cancellable(work)
    return cancelled(session) if was_cancelled else ended(session, run, model.turns[-1], guarded.stopped)


main("langchain", loop, "streaming")
