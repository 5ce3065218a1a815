#!/usr/bin/env python3
"""The OpenAI Agents SDK for Python behind Guard, for the conformance kit:

    guardc ack run -- python3 ack/adapters/openai_agents/adapter.py

The loop is the framework's own, with its `ScriptedModel`; `guardc.integrations.openai_agents` is judged. In a run that is
streamed the pieces of a turn go through the framework's own handler of streams.
"""
import sys
from pathlib import Path
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).parent.parent))
from kit import (approve, arguments, cancellable, cancelled, ended, execute, give_parameters, kit, main, pieces_of, session_of, take, tools_of,
                 written)

from agents import Agent, FunctionTool, RunConfig, Usage, set_tracing_disabled
from agents.models.chatcmpl_stream_handler import ChatCmplStreamHandler
from agents.run_config import ModelInputData
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from agents.tool_context import ToolContext
from guardc.integrations.openai_agents import Guarded
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import Response

set_tracing_disabled(True)


def shown(call):
    """The conversation as the framework sends it."""
    said = [{"role": "system", "text": call.system_instructions}] if call.system_instructions else []
    for item in call.input:
        if item.get("type") == "function_call":
            if said[-1]["role"] != "assistant":
                said.append({"role": "assistant", "text": ""})
            made = {"call": item["call_id"], "tool": item["name"], "args": arguments(item["arguments"])}
            said[-1].setdefault("calls", []).append(made)
        elif item.get("type") == "function_call_output":
            said.append({"role": "tool", "text": item["output"], "call": item["call_id"]})
        else:
            content = item["content"]
            text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
            said.append({"role": item["role"], "text": text})
    return said


def call_of(call):
    return function_call(call["tool"], written(call), call_id=call["call"] or f"nameless-{uuid4().hex[:8]}")


class Kit:
    """The kit as the model."""

    def __init__(self, session):
        self.session, self.turns, self.words = session, [], []
        self.model = ScriptedModel([ModelStep.respond(self.turn)])

    async def turn(self, call):
        self.model.enqueue(ModelStep.respond(self.turn))
        turn = await kit.wait_for("model.next", messages=shown(call))
        self.turns.append(turn)
        tokens = take(self.session, turn, self.words)
        usage = Usage(requests=1, input_tokens=tokens, total_tokens=tokens)
        if call.streamed:
            return ModelStep.stream(lambda call: streamed(turn, tokens))
        text, calls = turn.get("say") or turn.get("output") or "", turn.get("calls", [])
        # The framework knows one reason of a provider: an answer that is not complete.
        status = "incomplete" if turn.get("finish_reason") == "length" else "completed"
        said = [assistant_message(text).model_copy(update={"status": status})] if text or not calls else []
        return ModelStep(output=[*said, *map(call_of, calls)], usage=usage)


async def streamed(turn, tokens):
    """A turn in pieces, which the framework's handler puts together."""
    def chunk(delta, finish_reason=None, usage=None):
        choices = [{"index": 0, "delta": delta, "finish_reason": finish_reason}]
        return ChatCompletionChunk.model_validate({"id": "chunk", "object": "chat.completion.chunk", "created": 0, "model": "kit",
                                                   "choices": choices, "usage": usage})

    async def chunks():
        for piece in pieces_of(turn):
            if "say" in piece:
                yield chunk({"role": "assistant", "content": piece["say"]})
            if "at" in piece:
                function = {"name": piece.get("tool"), "arguments": piece.get("args", "")}
                yield chunk({"tool_calls": [{"index": piece["at"], "id": piece.get("call"), "type": "function", "function": function}]})
        usage = {"prompt_tokens": tokens, "completion_tokens": 0, "total_tokens": tokens}
        yield chunk({}, turn.get("finish_reason") or "stop", usage)

    response = Response(id="response", created_at=0, model="kit", object="response", output=[], tool_choice="auto", tools=[],
                        parallel_tool_calls=True)
    async for event in ChatCmplStreamHandler.handle_stream(response, chunks()):
        yield event


def failure(ctx, error):
    return f"error: {error}"


def tool_of(guarded, tool, cancel):
    name, schema = tool["name"], tool["schema"]

    async def run(ctx, **args):
        args = {name: value for name, value in args.items() if value is not None}
        return await execute(ctx.tool_call_id, name, args, cancel)

    if "properties" in schema:
        give_parameters(run, ToolContext, schema)
        return guarded.tool(run, name_override=name, description_override=tool["description"], strict_mode=False,
                            failure_error_function=failure)

    async def invoke(ctx, text):
        return await execute(ctx.tool_call_id, name, arguments(text), cancel)

    plain = FunctionTool(name, tool["description"], {"type": "object", "properties": {}, "additionalProperties": True}, invoke,
                         strict_json_schema=False)
    return guarded.tool(plain, failure_error_function=failure)


def speaking(words):
    """Puts what the user says while the agent works where it was said."""
    said = []

    def speak(asked):
        items = asked.model_data.input
        said.extend((len(items), {"role": "user", "content": text}) for text in words)
        words.clear()
        spoken = [[message for place, message in said if place == each] for each in range(len(items) + 1)]
        whole = [one for place, item in enumerate(items) for one in (*spoken[place], item)]
        return ModelInputData(input=whole + spoken[-1], instructions=asked.model_data.instructions)

    return speak


async def loop(run):
    session = session_of(run)
    guarded, model = Guarded(session, approve=approve), Kit(session)

    async def work(cancel):
        agent = Agent("agent", model=model.model, tools=[tool_of(guarded, tool, cancel) for tool in tools_of(run)])
        # The framework's own limit of 10 turns is not the guard's.
        options = {"max_turns": None, "run_config": RunConfig(call_model_input_filter=speaking(model.words))}
        if run.get("streamed"):
            async for _ in guarded.run_streamed(agent, run["prompt"], **options).stream_events():
                pass
        else:
            await guarded.run(agent, run["prompt"], **options)

    was_cancelled, _ = await cancellable(work)
    return cancelled(session) if was_cancelled else ended(session, run, model.turns[-1], guarded.stopped)


main("openai-agents", loop, "streaming")
