#!/usr/bin/env python3
"""pydantic-ai behind Guard, for the conformance kit:

    guardc ack run -- python3 ack/adapters/pydantic_ai/adapter.py

The loop is the framework's own, with its `FunctionModel` as the model; `guardc.integrations.pydantic_ai` is judged.
"""
import json, sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from kit import approval, ended, execute, kit, main, session_of, take, told

from guardc.integrations.pydantic_ai import Approval, Guarded
from pydantic_ai import Agent, ModelRequestNode, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelResponse, RetryPromptPart, SystemPromptPart, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage, UsageLimits


class Later(AbstractCapability):
    """Words of the user while the agent works are part of the conversation when the model is asked next."""

    def __init__(self):
        self.words = []

    def say(self, ctx):
        words, self.words[:] = list(self.words), []
        for text in words:
            ctx.enqueue(text)

    async def after_model_request(self, ctx, *, request_context, response):
        if any(isinstance(part, ToolCallPart) for part in response.parts):
            self.say(ctx)
        return response

    async def after_node_run(self, ctx, *, node, result):
        # What is enqueued at the end of a run begins another turn: words on a stop are said only if it was blocked.
        if isinstance(result, ModelRequestNode):
            self.say(ctx)
        return result


def shown(messages):
    """The conversation as the framework sends it."""
    said = []
    for message in messages:
        if isinstance(message, ModelResponse):
            text = "".join(part.content for part in message.parts if isinstance(part, TextPart))
            calls = [{"call": part.tool_call_id, "tool": part.tool_name, "args": args_of(part)}
                     for part in message.parts if isinstance(part, ToolCallPart)]
            said.append({"role": "assistant", "text": text, **({"calls": calls} if calls else {})})
            continue
        for part in message.parts:
            if isinstance(part, (ToolReturnPart, RetryPromptPart)) and part.tool_name:
                text = part.model_response_str() if isinstance(part, ToolReturnPart) else part.model_response()
                said.append({"role": "tool", "text": text, "call": part.tool_call_id})
            elif isinstance(part, SystemPromptPart):
                said.append({"role": "system", "text": part.content})
            else:
                content = part.content if isinstance(part.content, str) else "\n".join(map(str, part.content))
                said.append({"role": "user", "text": content})
    return said


def args_of(part):
    return part.args if isinstance(part.args, dict) else json.loads(part.args or "{}")


def tool_of(tool):
    async def run(ctx, **args):
        succeeded, result = await execute(ctx.tool_call_id, tool["name"], args)
        if not succeeded:
            raise ToolFailed(told(result))
        return result

    return Tool.from_schema(run, tool["name"], tool["description"], tool["schema"], takes_ctx=True)


async def approve(pending, role):
    answer = await approval(pending, role)
    return Approval(answer["by"], answer.get("expires")) if answer["granted"] else None


async def loop(run):
    session = session_of(run)
    later, turns = Later(), []

    async def model(messages, info):
        turn = await kit.wait_for("model.next", messages=shown(messages))
        turns.append(turn)
        tokens = take(session, turn, later.words)
        text = turn.get("say") or turn.get("output") or ""
        parts = [TextPart(text)] if text else []
        parts += [ToolCallPart(call["tool"], json.dumps(call["args"]), call["call"]) for call in turn.get("calls", [])]
        reason = turn.get("finish_reason")
        # `scripted` keeps the framework's test model from making up a usage of its own.
        return ModelResponse(parts=parts, usage=RequestUsage(input_tokens=tokens, details={"scripted": 1}),
                             finish_reason="tool_call" if reason == "tool_calls" else reason)

    guarded = Guarded(session, approve=approve)
    agent = Agent(FunctionModel(model), output_type=str | None, tools=[tool_of(tool) for tool in run["tools"]], capabilities=[guarded, later], retries=100)
    # The framework's own limit of 50 requests is not the guard's.
    await agent.run(run["prompt"], usage_limits=UsageLimits(request_limit=None))
    return ended(session, run, turns[-1], guarded.stopped)


main("pydantic-ai", loop)
